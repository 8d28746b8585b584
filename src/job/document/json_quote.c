#include "document/json_quote.h"

#include <string.h>

#include "document/utf8.h"

static void add_escape(struct strbuf *out, unsigned char c)
{
    static const char named[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *found = strchr(named, c);
    if (c && found)
        strbuf_add(out, (const char[]){'\\', letters[found - named]}, 2);
    else
        strbuf_addf(out, "\\u%04X", c);
}

/* Not 0 exactly if one of the eight bytes is below `limit`, which is at most 0x80. */
static uint64_t bytes_below(uint64_t bytes, uint64_t limit)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    return (bytes - ones * limit) & ~bytes & ones * 0x80;
}

/* Are all eight ASCII that stands for itself? */
static bool are_plain(const char *text)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t bytes;
    memcpy(&bytes, text, sizeof(bytes));
    return !((bytes & ones * 0x80) | bytes_below(bytes, ' ') | bytes_below(bytes ^ ones * '"', 1) |
             bytes_below(bytes ^ ones * '\\', 1));
}

/* Bytes at `text` that stand for themselves; *ret_valid is false before one that is not UTF-8. */
static size_t plain_length(const char *text, size_t length, bool *ret_valid)
{
    size_t at = 0;
    while (at < length) {
        while (length - at >= 8 && are_plain(text + at))
            at += 8;
        if (at == length)
            break;
        unsigned char c = (unsigned char)text[at];
        uint32_t code;
        size_t bytes = 1;
        if (c < ' ' || c == '"' || c == '\\')
            break;
        if (c >= 0x80 && !utf8_decode(text + at, length - at, &code, &bytes)) {
            *ret_valid = false;
            break;
        }
        at += bytes;
    }
    return at;
}

bool json_quote(struct strbuf *out, const char *text)
{
    size_t before = out->length, length = strlen(text), at = 0;
    bool is_valid = true;
    strbuf_addc(out, '"');
    for (;;) {
        size_t plain = plain_length(text + at, length - at, &is_valid);
        strbuf_add(out, text + at, plain);
        at += plain;
        if (at == length || !is_valid)
            break;
        add_escape(out, (unsigned char)text[at++]);
    }
    strbuf_addc(out, '"');
    if (!is_valid)
        strbuf_truncate(out, before);
    return is_valid;
}
