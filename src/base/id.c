#include "id.h"

#include <ctype.h>
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
    unsigned bits = 0; /* that are left over from the bytes so far, and how many */
    int count = 0;
    size_t byte = sizeof(id->bytes);
    for (int i = ID_TEXT - 1; i >= 0; i--) {
        if (count < 5 && byte) {
            bits |= (unsigned)id->bytes[--byte] << count;
            count += 8;
        }
        text[i] = digits[bits & 31];
        bits >>= 5;
        count -= 5;
    }
    text[ID_TEXT] = '\0';
}

static int digit_value(char c)
{
    c = (char)toupper((unsigned char)c);
    if (c == 'I' || c == 'L')
        c = '1';
    if (c == 'O')
        c = '0';
    const char *found = c ? strchr(digits, c) : NULL;
    return found ? (int)(found - digits) : -1;
}

enum status id_parse(const char *text, struct id *ret)
{
    struct id id = {{0}};
    if (strnlen(text, ID_TEXT + 1) != ID_TEXT || digit_value(text[0]) > 7)
        return E_INVALID;
    for (int i = 0; i < ID_TEXT; i++) {
        int value = digit_value(text[i]);
        if (value < 0)
            return E_INVALID;
        for (int k = 0; k < 5; k++) {
            int bit = 5 * i - 2 + k;
            if (bit >= 0 && value >> (4 - k) & 1)
                id.bytes[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
        }
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
