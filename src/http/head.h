/* The head of an HTTP/1.1 request: its first line and its fields. Strict against request smuggling:
 * whatever a proxy could read in another way than this server is refused. Pure: no I/O, no memory
 * of its own. */
#ifndef PEAL_HEAD_H
#define PEAL_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bits, so that a path can have a set of them. */
enum http_method {
    HTTP_GET = 1 << 0,
    HTTP_PUT = 1 << 1,
    HTTP_POST = 1 << 2,
    HTTP_DELETE = 1 << 3,
    HTTP_PATCH = 1 << 4,
    HTTP_HEAD = 1 << 5,
    HTTP_OPTIONS = 1 << 6,
};

enum {
    HTTP_HEAD_MAX = 16 << 10, /* bytes */
    HTTP_FIELDS_MAX = 100,
};

/* Some of the head's bytes. */
struct http_span {
    uint16_t at, length;
};

struct http_field {
    struct http_span name, value;
};

enum http_head_state {
    HTTP_HEAD_MORE, /* the rest is still to come */
    HTTP_HEAD_WHOLE,
    HTTP_HEAD_REFUSED, /* nothing on this connection can be trusted any more */
};

struct http_head {
    /* REFUSED */
    int status;      /* 400, 417, 431, 501 or 505 */
    const char *why; /* for people */

    /* WHOLE */
    size_t size; /* of the head, with the empty line at its end */
    enum http_method method;
    struct http_span target; /* starts with a slash */
    bool is_old;             /* HTTP/1.0 */
    bool closes;             /* the connection is closed after the answer */
    bool is_chunked;         /* the body is in chunks; else it has body_length bytes */
    bool expects_continue;   /* the client waits for "100 Continue" before it sends the body */
    uint64_t body_length;
    size_t field_count;
    struct http_field fields[HTTP_FIELDS_MAX];

    /* The reader's state: bytes that were scanned, start of the current line, fields that were
     * met. */
    size_t scanned, line;
    unsigned met;
};

void http_head_init(struct http_head *head);

/* `bytes` are all of the request so far: those of the last call (perhaps at another address) and
 * more. An error is found with the first wrong byte. Not to be called again after WHOLE or
 * REFUSED. */
enum http_head_state http_head_read(struct http_head *head, const char *bytes, size_t length);

#endif
