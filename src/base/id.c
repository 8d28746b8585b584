#include "id.h"

#include <string.h>

static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

struct id id_make(struct wall_ms now, const uint8_t random[10])
{
    struct id id;
    for (int i = 0; i < 6; i++)
        id.bytes[i] = (uint8_t)(now.ms >> (40 - 8 * i));
    memcpy(id.bytes + 6, random, 10);
    return id;
}

struct id id_next(const struct id *id)
{
    struct id next = *id;
    for (size_t i = sizeof(next.bytes); i-- > 0 && !++next.bytes[i];)
        continue;
    return next;
}

/* The 26 groups of five bits, last group first; the first has only three. */
void id_format(const struct id *id, char text[ID_TEXT + 1])
{
    unsigned __int128 bits = 0;
    for (size_t i = 0; i < sizeof(id->bytes); i++)
        bits = bits << 8 | id->bytes[i];
    for (int i = ID_TEXT - 1; i >= 0; i--) {
        text[i] = digits[(unsigned)bits & 31];
        bits >>= 5;
    }
    text[ID_TEXT] = '\0';
}

/* Upper or lower case; I and L are 1, O is 0; -1: not a digit. */
static int digit_value(char c)
{
    static const signed char letters[] = {
        10, 11, 12, 13, 14, 15, 16, 17, 1,  18, 19, 1,  20, /* A to M */
        21, 0,  22, 23, 24, 25, 26, -1, 27, 28, 29, 30, 31, /* N to Z */
    };
    if (c >= '0' && c <= '9')
        return c - '0';
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'z' ? letters[lower - 'a'] : -1;
}

enum status id_parse(const char *text, struct id *ret)
{
    struct id id;
    unsigned bits = 0;
    int count =
        -2; /* bits that are not in a byte yet; negative, since the first digit has only three */
    size_t byte = 0;
    if (strnlen(text, ID_TEXT + 1) != ID_TEXT || digit_value(text[0]) > 7)
        return E_INVALID;
    for (int i = 0; i < ID_TEXT; i++) {
        int value = digit_value(text[i]);
        if (value < 0)
            return E_INVALID;
        bits = bits << 5 | (unsigned)value;
        count += 5;
        if (count < 8)
            continue;
        count -= 8;
        id.bytes[byte++] = (uint8_t)(bits >> count);
    }
    *ret = id;
    return OK;
}

int id_compare(const struct id *a, const struct id *b)
{
    return memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

bool id_is_zero(const struct id *id)
{
    static const struct id zero;
    return id_compare(id, &zero) == 0;
}
