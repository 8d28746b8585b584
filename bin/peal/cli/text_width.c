#include "cli/text_width.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct range {
    int32_t first, last;
};

/* Unicode's East Asian Wide and Fullwidth blocks, whole blocks at a time. */
static const struct range wide[] = {
    {0x1100, 0x115f},   {0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},
    {0x25fd, 0x25fe},   {0x2614, 0x2615},   {0x2648, 0x2653},   {0x26a1, 0x26a1},
    {0x26bd, 0x26be},   {0x26d4, 0x26d4},   {0x2705, 0x2705},   {0x274c, 0x274c},
    {0x2753, 0x2755},   {0x2757, 0x2757},   {0x2795, 0x2797},   {0x2b50, 0x2b50},
    {0x2e80, 0x303e},   {0x3041, 0x4dbf},   {0x4e00, 0xa4cf},   {0xa960, 0xa97c},
    {0xac00, 0xd7a3},   {0xf900, 0xfaff},   {0xfe10, 0xfe19},   {0xfe30, 0xfe6b},
    {0xff01, 0xff60},   {0xffe0, 0xffe6},   {0x16fe0, 0x18aff}, {0x1b000, 0x1b2fb},
    {0x1f18e, 0x1f19a}, {0x1f200, 0x1f320}, {0x1f32d, 0x1f64f}, {0x1f680, 0x1f6fc},
    {0x1f7e0, 0x1f7eb}, {0x1f90c, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x3fffd},
};

/* Combining marks of common scripts, joiners, direction marks and variation selectors. */
static const struct range zero[] = {
    {0x0300, 0x036f}, {0x0483, 0x0489},   {0x0591, 0x05bd}, {0x064b, 0x065f}, {0x0e34, 0x0e3a},
    {0x0e47, 0x0e4e}, {0x1ab0, 0x1aff},   {0x1dc0, 0x1dff}, {0x200b, 0x200f}, {0x202a, 0x202e},
    {0x2060, 0x2064}, {0x20d0, 0x20f0},   {0x3099, 0x309a}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
    {0xfeff, 0xfeff}, {0xe0100, 0xe01ef},
};

static bool in_ranges(const struct range *ranges, size_t count, int32_t c)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c > ranges[middle].last)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && c >= ranges[low].first;
}

int32_t text_decode(const char *text, size_t length, size_t *ret_bytes)
{
    static const int32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; /* no overlong forms */
    unsigned char first = (unsigned char)text[0];
    size_t bytes = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    *ret_bytes = 1;
    if (bytes == 1)
        return first;
    if (first < 0xc2 || first > 0xf4 || bytes > length)
        return NOT_UTF8;
    int32_t c = first & (0xff >> (bytes + 1));
    for (size_t i = 1; i < bytes; i++) {
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            return NOT_UTF8;
        c = c << 6 | ((unsigned char)text[i] & 0x3f);
    }
    if (c < least[bytes] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return NOT_UTF8;
    *ret_bytes = bytes;
    return c;
}

static int char_width(int32_t c)
{
    if (c < 0x300)
        return 1;
    if (in_ranges(zero, sizeof(zero) / sizeof(zero[0]), c))
        return 0;
    return in_ranges(wide, sizeof(wide) / sizeof(wide[0]), c) ? 2 : 1;
}

int text_width_of(const char *text, size_t length)
{
    int width = 0;
    size_t bytes;
    for (; length > 0; text += bytes, length -= bytes)
        width += char_width(text_decode(text, length, &bytes));
    return width;
}

int text_width(const char *text)
{
    return text_width_of(text, strlen(text));
}

static bool is_one_of(const char *characters, const char *text, size_t bytes)
{
    return memmem(characters, strlen(characters), text, bytes) != NULL;
}

size_t text_piece(const char *text)
{
    size_t length = strcspn(text, " \n"), used = 0, bytes = 0, before = 0;
    for (; used < length; used += bytes) {
        bool was_wide = before && text_width_of(text + used - before, before) == 2;
        bool is_wide = char_width(text_decode(text + used, length - used, &bytes)) == 2;
        if (before && (was_wide || is_wide) &&
            !is_one_of("，。；：、？！）”》…", text + used, bytes) &&
            !is_one_of("（“《", text + used - before, before))
            break;
        before = bytes;
    }
    return used;
}

size_t text_fit(const char *text, int columns)
{
    size_t length = strlen(text), used = 0, bytes;
    for (; used < length; used += bytes) {
        columns -= char_width(text_decode(text + used, length - used, &bytes));
        if (columns < 0)
            break;
    }
    return used;
}

void text_print_safe(const char *text, size_t length, struct strbuf *out)
{
    size_t bytes;
    for (; length > 0; text += bytes, length -= bytes) {
        int32_t c = text_decode(text, length, &bytes);
        if (c == NOT_UTF8)
            strbuf_adds(out, "\xef\xbf\xbd");
        else if (c == '\t' || c == '\n' || c == '\r')
            strbuf_addc(out, ' ');
        else if (c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e))
            strbuf_addc(out, '?');
        else
            strbuf_add(out, text, bytes);
    }
}
