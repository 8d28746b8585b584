#include "document/utf8.h"

bool utf8_decode(const char *text, size_t length, uint32_t *ret, size_t *ret_length)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800,
                                     0x10000}; /* smaller values are overlong encodings */
    const unsigned char *at = (const unsigned char *)text;
    size_t size = at[0] < 0x80 ? 1 : at[0] < 0xC2 ? 0 : at[0] < 0xE0 ? 2 : at[0] < 0xF0 ? 3 : 4;
    if (size == 0 || size > length || at[0] > 0xF4)
        return false;
    uint32_t c = size == 1 ? at[0] : at[0] & (0x7FU >> size);
    for (size_t i = 1; i < size; i++) {
        if ((at[i] & 0xC0) != 0x80)
            return false;
        c = c << 6 | (at[i] & 0x3F);
    }
    if (c < least[size] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
        return false;
    *ret = c;
    *ret_length = size;
    return true;
}

size_t utf8_length(const char *text, size_t length)
{
    uint32_t c;
    size_t size;
    return utf8_decode(text, length, &c, &size) ? size : 1;
}

size_t utf8_count(const char *text, size_t length)
{
    size_t count = 0;
    for (size_t at = 0; at < length; at += utf8_length(text + at, length - at))
        count++;
    return count;
}

bool utf8_is_printable(uint32_t c)
{
    if (c < 0x20)
        return c == '\t' || c == '\n' || c == '\r';
    if (c >= 0x7F && c < 0xA0)
        return c == 0x85;
    return c != 0xFEFF && c != 0xFFFE && c != 0xFFFF;
}

enum status utf8_check(const char *text, size_t length, struct parse_error *reterr)
{
    int line = 1, column = 1;
    for (size_t at = 0; at < length;) {
        uint32_t c = 0;
        size_t size = 1;
        if (text[at] >= ' ' && text[at] <= '~') { /* nearly all */
            column++;
            at++;
            continue;
        }
        bool valid = utf8_decode(text + at, length - at, &c, &size);
        if (!valid || !utf8_is_printable(c)) {
            if (!valid)
                parse_error_set(reterr, column, "not UTF-8 text: byte 0x%02X",
                                (unsigned char)text[at]);
            else if (c == 0)
                parse_error_set(reterr, column, "a NUL byte: this is not a text file");
            else
                parse_error_set(reterr, column, "control character U+%04X; this is not a text file",
                                (unsigned)c);
            if (reterr)
                reterr->line = line;
            return E_INVALID;
        }
        column = c == '\n' ? 1 : column + 1;
        line += c == '\n';
        at += size;
    }
    return OK;
}
