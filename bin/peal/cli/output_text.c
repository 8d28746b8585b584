#include "cli/output_text.h"

#include <stdbool.h>
#include <string.h>

#include "cli/text_width.h"

/* The length of the colour sequence here, like "\033[1;31m"; 0: none. *ret_is_cut: it may be an
 * incomplete one. */
static size_t colour_length(const char *text, size_t length, bool *ret_is_cut)
{
    size_t at = 2;
    if (length == 1 || text[1] == '[') {
        while (at < length && strchr("0123456789;:", text[at]) && text[at])
            at++;
        *ret_is_cut = at >= length && length < OUTPUT_HELD_MAX;
        return at < length && at < OUTPUT_HELD_MAX && text[at] == 'm' ? at + 1 : 0;
    }
    *ret_is_cut = false;
    return 0;
}

/* Is it the incomplete start of a character? */
static bool is_cut_character(const char *text, size_t length)
{
    unsigned char first = (unsigned char)text[0];
    size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || length >= bytes)
        return false;
    for (size_t i = 1; i < length; i++) {
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            return false;
    }
    return true;
}

static void show_byte(unsigned char byte, struct strbuf *out)
{
    if (byte < 0x80)
        strbuf_addf(out, "^%c", byte ^ 0x40);
    else
        strbuf_addf(out, "<%02x>", byte);
}

/* Appends one character or sequence; returns its length. 0: wait for more input. */
static size_t take_one(const char *text, size_t length, bool is_end, struct strbuf *out)
{
    bool is_cut = false;
    size_t bytes = 0;
    if (*text == '\033' && (bytes = colour_length(text, length, &is_cut)) != 0) {
        strbuf_add(out, text, bytes);
        return bytes;
    }
    if (!is_end && (is_cut || (*text == '\r' && length == 1) || is_cut_character(text, length)))
        return 0;
    int32_t c = text_decode(text, length, &bytes);
    bool is_line_end = c == '\r' && length > 1 && text[1] == '\n';
    if (c == '\n' || c == '\t' || is_line_end || (c >= 0x20 && c < 0x7f) || c >= 0xa0)
        strbuf_add(out, text, bytes);
    else if (c >= 0x80)
        strbuf_addf(out, "<U+%04X>", (unsigned)c);
    else
        show_byte((unsigned char)*text, out);
    return bytes;
}

static void take_all(struct output_text *text, const char *bytes, size_t length, bool is_end,
                     struct strbuf *out)
{
    while (length) {
        size_t taken = take_one(bytes, length, is_end, out);
        if (!taken)
            break;
        bytes += taken;
        length -= taken;
    }
    memmove(text->held, bytes, length);
    text->length = length;
}

void output_text_add(struct output_text *text, const char *bytes, size_t length, struct strbuf *out)
{
    char joined[2 * OUTPUT_HELD_MAX];
    while (text->length && length) { /* completes the held bytes, step by step */
        size_t held = text->length;
        size_t part = length < OUTPUT_HELD_MAX ? length : OUTPUT_HELD_MAX;
        memcpy(joined, text->held, held);
        memcpy(joined + held, bytes, part);
        take_all(text, joined, held + part, false, out);
        bytes += part;
        length -= part;
    }
    if (length)
        take_all(text, bytes, length, false, out);
}

void output_text_end(struct output_text *text, struct strbuf *out)
{
    char held[OUTPUT_HELD_MAX];
    size_t length = text->length;
    memcpy(held, text->held, length);
    take_all(text, held, length, true, out);
}
