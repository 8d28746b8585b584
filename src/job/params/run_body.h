/* The body that a request sends for one run: bytes that the run finds in the file PEAL_INPUT, and
 * what is known of them. In the document of the input (run_input.h) it is an object:
 *
 *     {"data": BASE64, "type": "application/json", "source": "github", "event": "push",
 *      "delivery": "72d3162e-..."}
 *
 * All but `data` may be missing. */
#ifndef PEAL_RUN_BODY_H
#define PEAL_RUN_BODY_H

#include <jansson.h>
#include <stddef.h>

#include "status.h"

enum {
    RUN_BODY_MAX = 256 * 1024, /* bytes */
    RUN_BODY_WORD_SIZE = 64,   /* of an event */
    RUN_BODY_TEXT_SIZE = 128,  /* of the others */
};

struct run_body {
    char *bytes; /* NUL-terminated, which does not count */
    size_t length;
    char type[RUN_BODY_TEXT_SIZE];     /* content type; empty: not known, likewise: */
    char source[RUN_BODY_WORD_SIZE];   /* the kind of the webhook */
    char event[RUN_BODY_WORD_SIZE];    /* its name for what has happened */
    char delivery[RUN_BODY_TEXT_SIZE]; /* the id of the delivery */
};

/* The object of the document. NULL: out of memory. `bytes` may be NULL if there are none. */
json_t *run_body_encode(const struct run_body *body);

/* E_CORRUPT: it is no such object, or too large. *ret is the caller's. */
MUST_CHECK enum status run_body_decode(const json_t *document, struct run_body **ret);

/* The number of bytes that an encoded body has; -1: it is none. */
long long run_body_length(const json_t *document);

/* Accepts NULL; returns NULL. */
struct run_body *run_body_free(struct run_body *body);

/* Copies what a header of the request says, for the environment of a process and for people: only
 * letters, digits and what is common in names, types and ids ("-_.:/+;= "); any other byte becomes
 * "_". Cut to the size. */
void run_body_clean(const char *text, char *ret, size_t size);

/* Base 64 with padding. NULL: out of memory. */
char *run_body_base64(const void *bytes, size_t length);

/* The bytes of a base 64 text with padding, from malloc and NUL-terminated. E_INVALID: it is none.
 */
MUST_CHECK enum status run_body_from_base64(const char *text, size_t length, char **ret,
                                            size_t *ret_length);

#endif
