/* CSV with a header: RFC 4180, and what MySQL's and PostgreSQL's clients make of it. */
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "foreign/rows.h"
#include "strbuf.h"

struct reader {
    struct row_place place;
    char separator;
    char **columns;
    size_t count;
    struct strbuf field;
    bool is_quoted;            /* the field */
    struct row_place field_at; /* where it begins */
    struct parse_error *err;
};

static enum status fail_here(const struct reader *in, const struct row_place *at, const char *why)
{
    parse_error_set(in->err, at->column, "%s", why);
    if (in->err)
        in->err->line = at->line;
    return E_INVALID;
}

static bool is_end(const struct row_place *place)
{
    return place->at == place->end;
}

/* In quotes, a quote is doubled, or has a backslash before it as in MySQL. */
static enum status read_quoted(struct reader *in)
{
    in->is_quoted = true;
    for (row_step(&in->place, 1); !is_end(&in->place); row_step(&in->place, 1)) {
        char c = *in->place.at, next = in->place.at + 1 < in->place.end ? in->place.at[1] : '\0';
        if ((c == '"' && next == '"') || (c == '\\' && next == '"')) {
            row_step(&in->place, 1);
            strbuf_addc(&in->field, '"');
        } else if (c == '"') {
            row_step(&in->place, 1);
            return OK;
        } else {
            strbuf_addc(&in->field, c);
        }
    }
    return fail_here(in, &in->field_at, "the quote that starts here has no end");
}

/* A field, up to its separator, which is left, or the end of the line. */
static enum status read_field(struct reader *in)
{
    strbuf_reset(&in->field);
    in->is_quoted = false;
    in->field_at = in->place;
    if (!is_end(&in->place) && *in->place.at == '"') {
        enum status st = read_quoted(in);
        if (st != OK)
            return st;
    }
    for (; !is_end(&in->place) && *in->place.at != in->separator && *in->place.at != '\n';
         row_step(&in->place, 1)) {
        if (*in->place.at != '\r')
            strbuf_addc(&in->field, *in->place.at);
    }
    return strbuf_status(&in->field);
}

/* Steps over what ends the field. False: the line ends with it. */
static bool next_field(struct reader *in)
{
    bool is_more = !is_end(&in->place) && *in->place.at == in->separator;
    row_step(&in->place, 1);
    return is_more;
}

static enum status read_header(struct reader *in)
{
    enum status st;
    do {
        st = read_field(in);
        if (st == OK)
            st = array_grow(&in->columns, in->count, sizeof(*in->columns));
        if (st != OK)
            return st;
        in->columns[in->count] = strdup(in->field.text);
        if (!in->columns[in->count])
            return E_NOMEM;
        in->count++;
    } while (next_field(in));
    return OK;
}

static bool is_null(const struct reader *in)
{
    return !in->is_quoted &&
           (strcmp(in->field.text, "NULL") == 0 || strcmp(in->field.text, "\\N") == 0);
}

static enum status read_row(struct reader *in, struct row_lists *lists)
{
    struct node *row;
    enum status st = row_begin(lists, 0, &in->place, &row, in->err);
    struct entry **tail = st == OK ? &row->entries : NULL;
    size_t index = 0;
    bool is_more = true;
    for (; st == OK && is_more; index++) {
        st = read_field(in);
        if (st == OK && index == in->count)
            return fail_here(in, &in->field_at, "the line has more fields than the first one");
        if (st == OK)
            st = row_add(lists, row, &tail, in->columns[index], is_null(in) ? NULL : in->field.text,
                         in->field.length, !in->is_quoted, &in->field_at, in->err);
        is_more = st == OK && next_field(in);
    }
    if (st == OK && index < in->count)
        return fail_here(in, &in->field_at, "the line has fewer fields than the first one");
    return st;
}

static char find_separator(const char *text, size_t length)
{
    static const char separators[] = "\t;,";
    size_t line = 0;
    while (line < length && text[line] != '\n')
        line++;
    for (const char *each = separators; *each; each++) {
        if (memchr(text, *each, line))
            return *each;
    }
    return ',';
}

enum status rows_read_csv(struct row_lists *lists, const char *text, size_t length,
                          struct parse_error *reterr)
{
    struct reader in = {.place = {text, text + length, 1, 1},
                        .separator = find_separator(text, length),
                        .err = reterr};
    strbuf_init(&in.field);
    enum status st = read_header(&in);
    while (st == OK && !is_end(&in.place)) {
        if (*in.place.at == '\n' || *in.place.at == '\r')
            row_step(&in.place, 1); /* an empty line */
        else
            st = read_row(&in, lists);
    }
    for (size_t i = 0; i < in.count; i++)
        free(in.columns[i]);
    free(in.columns);
    strbuf_release(&in.field);
    return st;
}
