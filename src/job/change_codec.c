/* A change as JSON, by its columns: numbers of words as they are, so that those of a newer peal
 * pass through. Members that are not known are left out. Its time is the one in its id. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "change.h"
#include "columns.h"
#include "document/json_quote.h"

/* ---- writing ---- */

/* Behind another member. */
static bool add_text(struct strbuf *out, const char *name, const char *text)
{
    strbuf_addf(out, ",\"%s\":", name);
    return json_quote(out, text);
}

static bool add_column(struct strbuf *out, const struct column *column,
                       const struct change_record *change)
{
    char id[ID_TEXT + 1];
    if (column_is_text(column))
        return add_text(out, column->name, column_field(column, change));
    if (column->kind == COLUMN_ID) {
        id_format(column_field(column, change), id);
        return add_text(out, column->name, id);
    }
    strbuf_addf(out, ",\"%s\":%" PRId64, column->name, column_read_int(column, change));
    return true;
}

char *change_encode_text(const struct change_record *change, const char *node)
{
    const struct column_set columns = change_columns(IN_RECORD, 0);
    struct strbuf out;
    strbuf_init(&out);
    strbuf_adds(&out, "{\"node\":");
    bool is_text = json_quote(&out, node);
    for (const struct column *column = NULL; is_text && (column = column_next(&columns, column));)
        is_text = add_column(&out, column, change);
    if (is_text && change->before)
        is_text = add_text(&out, "before", change->before);
    if (is_text && change->after)
        is_text = add_text(&out, "after", change->after);
    strbuf_addc(&out, '}');
    if (is_text)
        return strbuf_detach(&out);
    strbuf_release(&out);
    return NULL;
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
