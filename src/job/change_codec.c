/* Changes as JSON, by their columns: numbers of words as they are, so that those of a newer peal
 * pass through. Members that are not known are left out. The time of a change is the one in its id.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "change.h"
#include "columns.h"
#include "document/json_quote.h"

/* ---- writing ---- */

/* `name` ends with a colon. */
static bool add_text(struct strbuf *out, const char *name, const char *text)
{
    strbuf_addc(out, ',');
    strbuf_adds(out, name);
    return json_quote(out, text);
}

static void add_number(struct strbuf *out, const char *name, int64_t number)
{
    strbuf_addc(out, ',');
    strbuf_adds(out, name);
    strbuf_add_number(out, number);
}

static bool add_column(struct strbuf *out, const struct column *column,
                       const struct change_record *change)
{
    char name[32], id[ID_TEXT + 1];
    size_t length = strlen(column->name);
    name[0] = '"';
    memcpy(name + 1, column->name, length);
    memcpy(name + 1 + length, "\":", 3);
    const char *text = column_is_text(column) ? column_field(column, change) : NULL;
    if (text)
        return !*text || add_text(out, name, text);
    if (column->kind == COLUMN_ID) {
        id_format(column_field(column, change), id);
        return add_text(out, name, id);
    }
    int64_t number = column_read_int(column, change);
    if (number)
        add_number(out, name, number);
    return true;
}

/* What is zero or empty is left out. */
static bool add_columns(struct strbuf *out, const struct change_record *change, const char *node)
{
    const struct column_set columns = change_columns(IN_RECORD, 0);
    strbuf_adds(out, "{\"node\":");
    bool is_text = json_quote(out, node);
    for (const struct column *column = NULL; is_text && (column = column_next(&columns, column));)
        is_text = add_column(out, column, change);
    strbuf_addc(out, '}');
    return is_text;
}

static bool add_definition(struct strbuf *out, const char *json)
{
    const char *text = json ? json : "null";
    strbuf_adds(out, "\n,");
    strbuf_adds(out, text);
    return !strchr(text, '\n');
}

bool change_write_record(const struct change_record *change, const char *node, struct strbuf *out)
{
    size_t before = out->length;
    bool is_written = add_columns(out, change, node) && add_definition(out, change->before) &&
                      add_definition(out, change->after);
    if (!is_written)
        strbuf_truncate(out, before);
    return is_written;
}

void change_records_head(const char *node, struct strbuf *out)
{
    strbuf_adds(out, "[{\"node\":");
    if (json_quote(out, node))
        strbuf_addc(out, ',');
    else
        strbuf_reset(out);
}

/* ---- reading ---- */

/* A column that is missing stays zero. */
static bool take_column(const struct column *column, const json_t *value,
                        struct change_record *change)
{
    struct id id;
    const char *text = json_string_value(value);
    if (!value)
        return true;
    if (column_is_text(column)) {
        if (text)
            column_write_text(column, change, text, strlen(text));
        return text != NULL;
    }
    if (column->kind != COLUMN_ID)
        return json_is_integer(value) && column_take_int(column, change, json_integer_value(value));
    if (!text || id_parse(text, &id) != OK)
        return false;
    column_write_id(column, change, &id);
    return true;
}

static enum status take_definition(const json_t *value, char **ret)
{
    if (!value)
        return OK;
    if (!json_is_string(value))
        return E_INVALID;
    *ret = strdup(json_string_value(value));
    return *ret ? OK : E_NOMEM;
}

static enum status take_members(const json_t *members, struct change_record *change,
                                char ret_node[64])
{
    const struct column_set columns = change_columns(IN_RECORD, 0);
    const char *node = json_string_value(json_object_get(members, "node"));
    if (!node || strlen(node) >= 64)
        return E_INVALID;
    memcpy(ret_node, node, strlen(node) + 1);
    for (const struct column *column = NULL; (column = column_next(&columns, column));) {
        if (!take_column(column, json_object_get(members, column->name), change))
            return E_INVALID;
    }
    enum status st = take_definition(json_object_get(members, "before"), &change->before);
    return st == OK ? take_definition(json_object_get(members, "after"), &change->after) : st;
}

static int64_t made_ms(const struct id *id)
{
    int64_t ms = 0;
    for (int i = 0; i < 6; i++)
        ms = ms << 8 | id->bytes[i];
    return ms;
}

enum status change_decode_text(const char *name, const char *json, struct change_record *ret,
                               char ret_node[64])
{
    struct change_record change = {.before = NULL};
    struct id id = {{0}};
    json_t *members = json_loads(json, 0, NULL);
    enum status st = E_INVALID;
    if (members && id_parse(name, &id) == OK)
        st = take_members(members, &change, ret_node);
    json_decref(members);
    if (st == OK && id_compare(&id, &change.id) != 0)
        st = E_INVALID;
    if (st != OK) {
        change_record_release(&change);
        return st;
    }
    change.at_ms = made_ms(&id);
    *ret = change;
    return OK;
}

/* ---- documents of records ---- */

struct line {
    const char *text;
    size_t length;
};

/* The next element of the list at *at, which is in a line of its own. False: there is none. */
static bool next_line(const char **at, struct line *ret)
{
    const char *text = *at, *end = strchr(text, '\n');
    if (*text != '[' && *text != ',')
        return false;
    text++;
    size_t length = end ? (size_t)(end - text) : strlen(text);
    if (!end && (!length || text[length - 1] != ']'))
        return false;
    *at = end ? end + 1 : text + length;
    *ret = (struct line){text, end ? length : length - 1};
    return true;
}

static enum status read_columns(const struct line *line, struct change_record *change,
                                char ret_node[64])
{
    json_t *members = json_loadb(line->text, line->length, 0, NULL);
    enum status st = members ? take_members(members, change, ret_node) : E_INVALID;
    json_decref(members);
    return st;
}

static enum status read_line(const char **at, char **ret)
{
    struct line line;
    if (!next_line(at, &line))
        return E_INVALID;
    if (line.length == 4 && memcmp(line.text, "null", 4) == 0)
        return OK;
    free(*ret); /* a damaged record may have it twice */
    *ret = strndup(line.text, line.length);
    return *ret ? OK : E_NOMEM;
}

/* E_NOT_FOUND: that was the last one. */
static enum status read_record(const char **at, struct change_record *ret)
{
    struct change_record change = {.before = NULL};
    struct line line;
    char node[64];
    if (!**at)
        return E_NOT_FOUND;
    enum status st = next_line(at, &line) ? read_columns(&line, &change, node) : E_INVALID;
    if (st == OK)
        st = read_line(at, &change.before);
    if (st == OK)
        st = read_line(at, &change.after);
    if (st == OK && id_is_zero(&change.id))
        st = E_INVALID;
    if (st != OK) {
        change_record_release(&change);
        return st;
    }
    change.at_ms = made_ms(&change.id);
    *ret = change;
    return OK;
}

enum status change_records_node(const char *json, char ret_node[64])
{
    struct change_record change = {.before = NULL};
    struct line line;
    enum status st = next_line(&json, &line) ? read_columns(&line, &change, ret_node) : E_INVALID;
    change_record_release(&change);
    return st;
}

enum status change_records_read(const char *json, struct change_record **ret, size_t *ret_count)
{
    struct change_record *changes = NULL;
    size_t count = 0;
    enum status st;
    do {
        st = array_grow(&changes, count, sizeof(*changes));
        if (st == OK)
            st = read_record(&json, &changes[count]);
        count += st == OK;
    } while (st == OK);
    if (st == E_NOT_FOUND && count) {
        *ret = changes;
        *ret_count = count;
        return OK;
    }
    while (count)
        change_record_release(&changes[--count]);
    free(changes);
    return st == E_NOT_FOUND ? E_INVALID : st;
}
