#include "chunked.h"

#include <string.h>

/* SIZE -> SIZE_LF -> DATA -> DATA_CR -> DATA_LF -> SIZE ...
 *                \-> END_CR -> END_LF -> END, behind a size of 0 */
enum place { SIZE, SIZE_LF, DATA, DATA_CR, DATA_LF, END_CR, END_LF, END, BAD };

enum { DIGITS_MAX = 8 };

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static enum place read_size(struct http_chunked *chunked, char c)
{
    int digit = hex_digit(c);
    if (digit < 0)
        return c == '\r' && chunked->digits ? SIZE_LF : BAD;
    if (++chunked->digits > DIGITS_MAX)
        return BAD;
    chunked->left = chunked->left << 4 | (uint64_t)digit;
    return SIZE;
}

static enum place end_size(struct http_chunked *chunked)
{
    chunked->digits = 0;
    chunked->total += chunked->left;
    return chunked->left ? DATA : END_CR;
}

/* One byte that is none of the data. */
static enum place step(struct http_chunked *chunked, char c)
{
    switch ((enum place)chunked->place) {
    case SIZE:
        return read_size(chunked, c);
    case SIZE_LF:
        return c == '\n' ? end_size(chunked) : BAD;
    case DATA_CR:
        return c == '\r' ? DATA_LF : BAD;
    case DATA_LF:
        return c == '\n' ? SIZE : BAD;
    case END_CR:
        return c == '\r' ? END_LF : BAD;
    case END_LF:
        return c == '\n' ? END : BAD;
    case DATA:
    case END:
    case BAD:
        break;
    }
    return BAD;
}

void http_chunked_init(struct http_chunked *chunked)
{
    *chunked = (struct http_chunked){.place = SIZE};
}

enum http_chunked_state http_chunked_read(struct http_chunked *chunked, const char *bytes,
                                          size_t length, char *out, size_t *ret_used,
                                          size_t *ret_held)
{
    size_t used = 0, held = 0;
    while (used < length && chunked->place != END && chunked->place != BAD) {
        if (chunked->place != DATA) {
            chunked->place = step(chunked, bytes[used++]);
            continue;
        }
        size_t piece = length - used < chunked->left ? length - used : (size_t)chunked->left;
        memcpy(out + held, bytes + used, piece);
        used += piece;
        held += piece;
        chunked->left -= piece;
        if (!chunked->left)
            chunked->place = DATA_CR;
    }
    *ret_used = used;
    *ret_held = held;
    return chunked->place == END   ? HTTP_CHUNKED_WHOLE
           : chunked->place == BAD ? HTTP_CHUNKED_BAD
                                   : HTTP_CHUNKED_MORE;
}
