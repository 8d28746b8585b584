#include "batch/batch_scan.h"

#include <jansson.h>
#include <string.h>

enum {
    /* The decoder's limit, without the object and the list around an item. */
    DEPTH_MAX = 2048 - 2,
    NAME_TEXT_MAX = 64, /* of a field, in its quotes; each letter may be an escape */
};

void batch_scan_init(struct batch_scan *scan, const char *text, size_t length)
{
    *scan = (struct batch_scan){.text = text, .length = length, .state = BATCH_AT_START};
}

void batch_scan_place(const struct batch_scan *scan, size_t at, int *ret_line, int *ret_column)
{
    const char *line = scan->text, *end = scan->text + at;
    int lines = 1, column = 1;
    for (const char *next; (next = memchr(line, '\n', (size_t)(end - line))); line = next + 1)
        lines++;
    for (; line < end; line++)
        column += ((unsigned char)*line & 0xC0) != 0x80;
    *ret_line = lines;
    *ret_column = column;
}

static enum batch_part bad(struct batch_scan *scan, const char *mistake)
{
    scan->mistake = mistake;
    return BATCH_BAD;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_blanks(struct batch_scan *scan)
{
    while (scan->at < scan->length && is_blank(scan->text[scan->at]))
        scan->at++;
}

/* Takes the next character that is not a blank, if it is `c`. */
static bool take(struct batch_scan *scan, char c)
{
    skip_blanks(scan);
    if (scan->at == scan->length || scan->text[scan->at] != c)
        return false;
    scan->at++;
    return true;
}

/* From its opening quote to behind the closing one; false: it has none. */
static bool skip_string(struct batch_scan *scan)
{
    const char *end = scan->text + scan->length, *c = scan->text + scan->at + 1;
    for (; c < end && *c != '"'; c++)
        c += *c == '\\' && c + 1 < end;
    scan->at = (size_t)(c - scan->text) + (c < end);
    return c < end;
}

/* Skips a number, a word, or garbage, which the decoder will refuse. A NUL ends it, since strchr
 * finds that, too. */
static void skip_word(struct batch_scan *scan)
{
    while (scan->at < scan->length && !is_blank(scan->text[scan->at]) &&
           !strchr(",:[]{}\"", scan->text[scan->at]))
        scan->at++;
}

/* Skips the value at `at`; whether brackets match is left to the decoder. */
static enum batch_part skip_value(struct batch_scan *scan, enum batch_part part)
{
    size_t depth = 0;
    scan->from = scan->at;
    do {
        skip_blanks(scan);
        if (scan->at == scan->length)
            return bad(scan, "the end of the body is missing");
        char c = scan->text[scan->at];
        if (!c) /* the decoder would take it for the end of the text */
            return bad(scan, "a zero byte is not allowed");
        bool is_value = !strchr("]},:", c);
        if (is_value && depth + 1 > DEPTH_MAX)
            return bad(scan, "this is nested too deeply");
        if (c == '"' && !skip_string(scan))
            return bad(scan, "the closing quote of a text is missing");
        if (c == '[' || c == '{')
            depth++;
        else if (depth && (c == ']' || c == '}'))
            depth--;
        else if (!depth && !is_value)
            return bad(scan, "a value is expected here");
        if (!is_value || c == '[' || c == '{')
            scan->at++;
        else if (c != '"')
            skip_word(scan);
    } while (depth);
    return part;
}

/* ---- fields ---- */

static const struct {
    const char *name;
    enum batch_part part;
} fields[] = {{"put", BATCH_PUT},
              {"delete", BATCH_DELETE},
              {"dry_run", BATCH_DRY_RUN},
              {"assume", BATCH_ASSUME}};

/* The name of the field at [from, at), which is in its quotes. */
static enum batch_part which_field(const struct batch_scan *scan)
{
    size_t length = scan->at - scan->from;
    enum batch_part part = BATCH_UNKNOWN;
    if (length > NAME_TEXT_MAX)
        return part;
    json_t *name = json_loadb(scan->text + scan->from, length, JSON_DECODE_ANY, NULL);
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (name && strcmp(json_string_value(name), fields[i].name) == 0)
            part = fields[i].part;
    }
    json_decref(name);
    return part;
}

static enum batch_part next_member(struct batch_scan *scan)
{
    if (scan->is_first && take(scan, '}')) {
        scan->state = BATCH_AT_END;
        return batch_scan_next(scan);
    }
    scan->is_first = false;
    skip_blanks(scan);
    scan->from = scan->at;
    if (scan->at == scan->length || scan->text[scan->at] != '"')
        return bad(scan, "the name of a field is expected here");
    if (!skip_string(scan))
        return bad(scan, "the closing quote of a text is missing");
    enum batch_part part = which_field(scan);
    if (part == BATCH_UNKNOWN)
        return part;
    if (scan->seen & 1u << part)
        return bad(scan, "this field is given twice");
    scan->seen |= 1u << part;
    if (!take(scan, ':'))
        return bad(scan, "a colon is expected here");
    skip_blanks(scan);
    scan->state = BATCH_BEHIND;
    if (part == BATCH_DRY_RUN || part == BATCH_ASSUME)
        return skip_value(scan, part);
    scan->list = part;
    if (!take(scan, '['))
        return scan->at < scan->length ? BATCH_NO_LIST : bad(scan, "a list is expected here");
    scan->state = BATCH_AT_ELEMENT;
    scan->is_first = true;
    return batch_scan_next(scan);
}

static enum batch_part next_element(struct batch_scan *scan)
{
    if (scan->is_first && take(scan, ']')) {
        scan->state = BATCH_BEHIND;
        return batch_scan_next(scan);
    }
    scan->is_first = false;
    skip_blanks(scan);
    scan->state = BATCH_BEHIND_ELEMENT;
    return skip_value(scan, scan->list);
}

/* After a member or an element: a comma, or the end of the object or the list. */
static enum batch_part next_behind(struct batch_scan *scan)
{
    bool in_list = scan->state == BATCH_BEHIND_ELEMENT;
    scan->is_first = false;
    if (take(scan, ','))
        scan->state = in_list ? BATCH_AT_ELEMENT : BATCH_AT_MEMBER;
    else if (take(scan, in_list ? ']' : '}'))
        scan->state = in_list ? BATCH_BEHIND : BATCH_AT_END;
    else
        return bad(scan, in_list ? "a comma, or the end of the list, is expected here"
                                 : "a comma, or the end of the object, is expected here");
    return batch_scan_next(scan);
}

enum batch_part batch_scan_next(struct batch_scan *scan)
{
    switch (scan->state) {
    case BATCH_AT_START:
        if (!take(scan, '{'))
            return bad(scan, "the body must be a JSON object");
        scan->state = BATCH_AT_MEMBER;
        scan->is_first = true;
        return next_member(scan);
    case BATCH_AT_MEMBER:
        return next_member(scan);
    case BATCH_AT_ELEMENT:
        return next_element(scan);
    case BATCH_BEHIND:
    case BATCH_BEHIND_ELEMENT:
        return next_behind(scan);
    case BATCH_AT_END:
        break;
    }
    skip_blanks(scan);
    return scan->at == scan->length ? BATCH_END : bad(scan, "nothing may follow the object");
}
