#include "text/parsed.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct span {
    const char *text;
    size_t length;
};

/* ---- formats ---- */

enum { PIECES_MAX = 8 };

struct conversion {
    char kind;        /* s, d, x or c */
    size_t place;     /* of "%2$s", from 1; 0: none is given */
    size_t most;      /* the precision of a text */
    bool has_most;    /* there is one, or a '*' */
    const char *rest; /* of the format */
};

/* `at` is the percent sign. */
static struct conversion read_conversion(const char *at)
{
    struct conversion ret = {.most = SIZE_MAX};
    char *end;
    unsigned long number = strtoul(++at, &end, 10);
    if (end != at && *end == '$') {
        ret.place = number;
        at = end + 1;
    }
    at += strspn(at, "-+ #0123456789");
    if (*at == '.') {
        ret.has_most = true;
        ret.most = at[1] == '*' ? SIZE_MAX : strtoul(at + 1, NULL, 10);
        at += 1 + strspn(at + 1, "*0123456789");
    }
    at += strspn(at, "hlzjt");
    ret.kind = strchr("diu", *at) ? 'd' : (char)tolower((unsigned char)*at);
    ret.rest = at + 1;
    return ret;
}

/* Length of the text up to the next conversion; a doubled percent sign is one letter of it. */
static size_t literal_length(const char *format)
{
    size_t length = strcspn(format, "%");
    return format[length] == '%' && format[length + 1] == '%' ? length + 1 : length;
}

static const char *behind_literal(const char *format, size_t length)
{
    format += length;
    return length && format[-1] == '%' && *format == '%' ? format + 1 : format;
}

static size_t count_literals(const char *format)
{
    size_t count = 0;
    while (*format) {
        size_t length = literal_length(format);
        count += length;
        format = behind_literal(format, length);
        if (!length && *format)
            format = read_conversion(format).rest;
    }
    return count;
}

/* ---- matching ---- */

struct piece {
    struct span span;
    bool is_quoted;
    bool has_most;
};

/* The lengths that a conversion may have printed at the start of the text. False: none. */
static bool measure(const struct conversion *conversion, struct span text, size_t *ret_least,
                    size_t *ret_most)
{
    size_t length = 0, sign;
    switch (conversion->kind) {
    case 's':
        *ret_least = 0;
        *ret_most = text.length < conversion->most ? text.length : conversion->most;
        return true;
    case 'd':
        sign = text.length && *text.text == '-';
        for (length = sign; length < text.length && isdigit((unsigned char)text.text[length]);)
            length++;
        length = length > sign ? length : 0;
        break;
    case 'x':
        while (length < text.length && isxdigit((unsigned char)text.text[length]))
            length++;
        break;
    default:
        length = text.length > 0;
    }
    *ret_least = *ret_most = length;
    return length > 0;
}

/* Whether the format can have printed the text. Each piece is the shortest that fits. */
static bool match(const char *format, struct span text, struct piece *pieces, size_t count)
{
    size_t least, most, literal;
    char before = '\0';
    while ((literal = literal_length(format))) {
        if (text.length < literal || memcmp(text.text, format, literal) != 0)
            return false;
        before = format[literal - 1];
        text = (struct span){text.text + literal, text.length - literal};
        format = behind_literal(format, literal);
    }
    if (!*format)
        return text.length == 0;
    struct conversion conversion = read_conversion(format);
    if (count == PIECES_MAX || !measure(&conversion, text, &least, &most))
        return false;
    for (size_t length = least; length <= most; length++) {
        const struct span rest = {text.text + length, text.length - length};
        pieces[count] = (struct piece){.span = {text.text, length},
                                       .is_quoted = before == '"' || before == '\'',
                                       .has_most = conversion.has_most};
        if (match(conversion.rest, rest, pieces, count + 1))
            return true;
    }
    return false;
}

/* The row with the most literal characters of those that match. */
static const struct message *find_row(const struct message *table, struct span text,
                                      size_t *inout_literals, struct piece pieces[PIECES_MAX])
{
    const struct message *best = NULL;
    for (const struct message *row = table; row->en; row++) {
        struct piece tried[PIECES_MAX] = {0};
        size_t literals = count_literals(row->en);
        if (literals <= *inout_literals || !match(row->en, text, tried, 0))
            continue;
        best = row;
        *inout_literals = literals;
        memcpy(pieces, tried, sizeof(tried));
    }
    return best;
}

/* ---- printing ---- */

static bool translate(struct span text, bool is_part, struct strbuf *out);

/* A piece in quotes, or of limited length, is the user's text. */
static bool is_data(const struct piece *piece, bool is_wrapping)
{
    return piece->is_quoted || (piece->has_most && !is_wrapping);
}

/* True: at least one of the pieces was translated. */
static bool print(const char *format, const struct piece *pieces, bool is_wrapping,
                  struct strbuf *out)
{
    bool has_translated = false;
    size_t next = 0;
    while (*format) {
        size_t literal = literal_length(format);
        strbuf_add(out, format, literal);
        format = behind_literal(format, literal);
        if (literal || !*format)
            continue;
        struct conversion conversion = read_conversion(format);
        size_t at = conversion.place ? conversion.place - 1 : next++;
        format = conversion.rest;
        if (at >= PIECES_MAX || !pieces[at].span.text)
            continue;
        if (!is_data(&pieces[at], is_wrapping) && translate(pieces[at].span, !is_wrapping, out))
            has_translated = true;
        else
            strbuf_add(out, pieces[at].span.text, pieces[at].span.length);
    }
    return has_translated;
}

/* "%s (at column %d of the text)": only around a message that has a translation. */
static bool translate_wrapped(const struct message *table, struct span text, struct strbuf *out)
{
    for (const struct message *row = table; row->en; row++) {
        struct piece pieces[PIECES_MAX] = {0};
        size_t start = out->length;
        if (!match(row->en, text, pieces, 0))
            continue;
        if (print(row->zh, pieces, true, out))
            return true;
        strbuf_truncate(out, start);
    }
    return false;
}

/* "limits.memory: ...", "command[2]: ...", and the path of a file: a name before the message. */
static bool translate_labelled(struct span text, struct strbuf *out)
{
    size_t length = 0, start = out->length;
    while (length < text.length && text.text[length] != ':' && !strchr(" \"'=*", text.text[length]))
        length++;
    if (!length || length + 2 >= text.length || memcmp(text.text + length, ": ", 2) != 0)
        return false;
    strbuf_add(out, text.text, length);
    strbuf_adds(out, "：");
    if (translate((struct span){text.text + length + 2, text.length - length - 2}, false, out))
        return true;
    strbuf_truncate(out, start);
    return false;
}

static bool translate(struct span text, bool is_part, struct strbuf *out)
{
    struct piece pieces[PIECES_MAX] = {0};
    size_t literals = 0;
    if (translate_wrapped(parsed_wrappings, text, out) || translate_labelled(text, out))
        return true;
    const struct message *row = find_row(parsed_messages, text, &literals, pieces);
    const struct message *started = find_row(started_messages, text, &literals, pieces);
    row = started ? started : row;
    const struct message *foreign = find_row(foreign_messages, text, &literals, pieces);
    row = foreign ? foreign : row;
    const struct message *history = find_row(history_messages, text, &literals, pieces);
    row = history ? history : row;
    const struct message *word = is_part ? find_row(parsed_words, text, &literals, pieces) : NULL;
    row = word ? word : row;
    if (!row)
        return translate_wrapped(parsed_complaints, text, out);
    (void)print(row->zh, pieces, false, out);
    return true;
}

bool message_translate(enum language language, const char *english, struct strbuf *out)
{
    const struct span text = {english, strlen(english)};
    if (language == LANGUAGE_ZH && translate(text, false, out))
        return true;
    strbuf_adds(out, english);
    return false;
}
