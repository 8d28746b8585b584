/* A decoder of chunked bodies (Transfer-Encoding: chunked), strict: a size is 1 to 8 hexadecimal
 * digits and nothing else, without extensions or trailers. Pure. */
#ifndef PEAL_CHUNKED_H
#define PEAL_CHUNKED_H

#include <stddef.h>
#include <stdint.h>

enum http_chunked_state {
    HTTP_CHUNKED_MORE, /* the rest is still to come */
    HTTP_CHUNKED_WHOLE,
    HTTP_CHUNKED_BAD, /* nothing on this connection can be trusted any more */
};

/* What comes next:
 *
 *     SIZE -> SIZE_LF -> DATA -> DATA_CR -> DATA_LF -> SIZE ...
 *                    \-> LAST_CR -> LAST_LF -> END, behind a size of 0
 */
enum http_chunked_place {
    CHUNKED_SIZE,
    CHUNKED_SIZE_LF,
    CHUNKED_DATA,
    CHUNKED_DATA_CR,
    CHUNKED_DATA_LF,
    CHUNKED_LAST_CR,
    CHUNKED_LAST_LF,
    CHUNKED_END,
    CHUNKED_BAD,
};

struct http_chunked {
    uint64_t total; /* announced bytes of all chunks that have begun */

    /* The reader's state. */
    enum http_chunked_place place;
    int digits;    /* of the size that were read */
    uint64_t left; /* bytes of the chunk still to come */
};

void http_chunked_init(struct http_chunked *chunked);

/* Decodes the next bytes of the body, up to its end, to `out`, which has room for `length`. MORE:
 * all bytes were used. WHOLE: *ret_used were, and the rest belongs to the next request. *ret_held
 * is the number of decoded bytes in any case. */
enum http_chunked_state http_chunked_read(struct http_chunked *chunked, const char *bytes,
                                          size_t length, char *out, size_t *ret_used,
                                          size_t *ret_held);

#endif
