#include "chunked.h"

#include <string.h>

enum { DIGITS_MAX = 8 };

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static enum http_chunked_place read_size(struct http_chunked *chunked, char c)
{
    int digit = hex_digit(c);
    if (digit < 0)
        return c == '\r' && chunked->digits ? CHUNKED_SIZE_LF : CHUNKED_BAD;
    if (++chunked->digits > DIGITS_MAX)
        return CHUNKED_BAD;
    chunked->left = chunked->left << 4 | (uint64_t)digit;
    return CHUNKED_SIZE;
}

static enum http_chunked_place end_size(struct http_chunked *chunked)
{
    chunked->digits = 0;
    chunked->total += chunked->left;
    return chunked->left ? CHUNKED_DATA : CHUNKED_LAST_CR;
}

/* Moves on by one byte of framing, not of data. */
static enum http_chunked_place step(struct http_chunked *chunked, char c)
{
    switch (chunked->place) {
    case CHUNKED_SIZE:
        return read_size(chunked, c);
    case CHUNKED_SIZE_LF:
        return c == '\n' ? end_size(chunked) : CHUNKED_BAD;
    case CHUNKED_DATA_CR:
        return c == '\r' ? CHUNKED_DATA_LF : CHUNKED_BAD;
    case CHUNKED_DATA_LF:
        return c == '\n' ? CHUNKED_SIZE : CHUNKED_BAD;
    case CHUNKED_LAST_CR:
        return c == '\r' ? CHUNKED_LAST_LF : CHUNKED_BAD;
    case CHUNKED_LAST_LF:
        return c == '\n' ? CHUNKED_END : CHUNKED_BAD;
    case CHUNKED_DATA:
    case CHUNKED_END:
    case CHUNKED_BAD:
        break;
    }
    return CHUNKED_BAD;
}

void http_chunked_init(struct http_chunked *chunked)
{
    *chunked = (struct http_chunked){.place = CHUNKED_SIZE};
}

enum http_chunked_state http_chunked_read(struct http_chunked *chunked, const char *bytes,
                                          size_t length, char *out, size_t *ret_used,
                                          size_t *ret_held)
{
    size_t used = 0, held = 0;
    while (used < length && chunked->place != CHUNKED_END && chunked->place != CHUNKED_BAD) {
        if (chunked->place != CHUNKED_DATA) {
            chunked->place = step(chunked, bytes[used++]);
            continue;
        }
        size_t piece = length - used < chunked->left ? length - used : (size_t)chunked->left;
        memcpy(out + held, bytes + used, piece);
        used += piece;
        held += piece;
        chunked->left -= piece;
        if (!chunked->left)
            chunked->place = CHUNKED_DATA_CR;
    }
    *ret_used = used;
    *ret_held = held;
    return chunked->place == CHUNKED_END   ? HTTP_CHUNKED_WHOLE
           : chunked->place == CHUNKED_BAD ? HTTP_CHUNKED_BAD
                                           : HTTP_CHUNKED_MORE;
}
