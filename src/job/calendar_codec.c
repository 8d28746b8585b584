#include "calendar_codec.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "definition/job_fields.h"
#include "document/node.h"
#include "document/spot.h"

enum { TIMEZONE_MAX = 100 };

static const char *const field_names[] = {"dates", "weekdays", "windows", "timezone",
                                          "notes", "name",     NULL};

void calendar_definition_init(struct calendar_definition *definition)
{
    *definition = (struct calendar_definition){.notes = NULL};
}

void calendar_definition_release(struct calendar_definition *definition)
{
    calendar_release(&definition->calendar);
    free(definition->timezone);
    free(definition->notes);
    calendar_definition_init(definition);
}

/* ---- reading ---- */

struct decoder {
    const char *name; /* that the document may repeat; NULL: any */
    struct zone_db *zones;
    struct calendar_definition *definition;
    struct job_error *err;
};

static enum status add_item(const struct decoder *d, const struct spot *spot,
                            enum status (*add)(struct calendar *calendar, const char *text,
                                               struct parse_error *reterr))
{
    struct parse_error inside = {0};
    if (spot->node->kind != NODE_SCALAR)
        return spot_fail(d->err, spot, "expected a text, found %s", node_describe(spot->node));
    enum status st = add(&d->definition->calendar, spot->node->text, &inside);
    if (st == E_INVALID)
        spot_set_inside(d->err, spot, &inside);
    return st;
}

static enum status read_list(const struct decoder *d, const struct spot *spot, const char *like,
                             size_t most,
                             enum status (*add)(struct calendar *calendar, const char *text,
                                                struct parse_error *reterr))
{
    const struct node *list = spot->node;
    if (list->kind != NODE_LIST)
        return spot_fail(d->err, spot, "expected a list like %s, found %s", like,
                         node_describe(list));
    if (list->count > most)
        return spot_fail(d->err, spot, "expected at most %zu, found %zu", most, list->count);
    struct spot item = {.up = spot};
    for (const struct entry *entry = list->entries; entry; entry = entry->next, item.index++) {
        item.node = entry->value;
        enum status st = add_item(d, &item, add);
        if (st != OK)
            return st;
    }
    return OK;
}

/* A text that may be empty, which is as if it were not there. */
static enum status read_text(const struct decoder *d, const struct spot *spot, size_t most,
                             char **place)
{
    if (spot->node->kind != NODE_SCALAR)
        return spot_fail(d->err, spot, "expected a text, found %s", node_describe(spot->node));
    if (spot->node->length > most)
        return spot_fail(d->err, spot, "is longer than %d bytes", (int)most);
    char *text = spot->node->length ? strdup(spot->node->text) : NULL;
    if (spot->node->length && !text)
        return E_NOMEM;
    free(*place);
    *place = text;
    return OK;
}

static enum status read_timezone(const struct decoder *d, const struct spot *spot)
{
    struct parse_error inside = {0};
    struct calendar_definition *definition = d->definition;
    enum status st = read_text(d, spot, TIMEZONE_MAX, &definition->timezone);
    definition->calendar.zone = NULL;
    if (st != OK || !definition->timezone || !d->zones)
        return st;
    st = zone_db_get(d->zones, definition->timezone, &definition->calendar.zone, &inside);
    if (st == E_INVALID || st == E_CORRUPT || st == E_IO) {
        spot_set_inside(d->err, spot, &inside);
        return status_invalid();
    }
    return st;
}

static enum status check_name(const struct decoder *d, const struct spot *spot)
{
    if (spot->node->kind != NODE_SCALAR)
        return spot_fail(d->err, spot, "expected a text, found %s", node_describe(spot->node));
    if (d->name && strcmp(spot->node->text, d->name) != 0)
        return spot_fail(d->err, spot, "is \"%.63s\", but it is to be \"%.63s\"", spot->node->text,
                         d->name);
    return OK;
}

static enum status unknown_field(const struct decoder *d, const struct spot *root,
                                 const struct node *key)
{
    const char *nearest = word_nearest(field_names, key->text);
    struct spot field = {root, key->text, 0, key}, at_key = {.node = key};
    if (nearest)
        spot_set(d->err, &at_key, "unknown field \"%.60s\"; did you mean \"%s\"?", key->text,
                 nearest);
    else
        spot_set(d->err, &at_key,
                 "unknown field \"%.60s\"; known: dates, weekdays, windows, timezone, notes",
                 key->text);
    spot_point(d->err, &field);
    return status_invalid();
}

static enum status read_field(const struct decoder *d, const struct spot *root,
                              const struct entry *entry)
{
    const char *name = entry->key->text;
    struct spot spot = {root, name, 0, entry->value};
    if (strcmp(name, "dates") == 0)
        return read_list(d, &spot, "[2026-12-25]", CALENDAR_DATES_MAX, calendar_add_date);
    if (strcmp(name, "weekdays") == 0)
        return read_list(d, &spot, "[sat, sun]", 7, calendar_add_weekday);
    if (strcmp(name, "windows") == 0)
        return read_list(d, &spot, "[09:00-17:30]", CALENDAR_WINDOWS_MAX, calendar_add_window);
    if (strcmp(name, "timezone") == 0)
        return read_timezone(d, &spot);
    if (strcmp(name, "notes") == 0)
        return read_text(d, &spot, CALENDAR_NOTES_MAX, &d->definition->notes);
    return strcmp(name, "name") == 0 ? check_name(d, &spot) : unknown_field(d, root, entry->key);
}

/* All dates and the notes fit into a document; with windows it is to be seen. */
static enum status check_length(const struct decoder *d, const struct spot *root)
{
    if (!d->definition->calendar.window_count)
        return OK;
    char *text = calendar_encode_text(d->definition);
    size_t length = text ? strlen(text) : 0;
    free(text);
    if (length > CALENDAR_TEXT_MAX)
        return spot_fail(d->err, root, "dates, windows and notes have %zu bytes; %d are the most",
                         length, CALENDAR_TEXT_MAX);
    return length ? OK : E_NOMEM;
}

static enum status decode_node(const struct node *node, const char *name, struct zone_db *zones,
                               struct calendar_definition *ret, struct job_error *reterr)
{
    struct calendar_definition definition;
    struct decoder d = {name, zones, &definition, reterr};
    struct spot root = {.node = node};
    enum status st = OK;
    if (node->kind != NODE_MAP)
        return spot_fail(reterr, &root,
                         "expected a calendar (a map with dates and weekdays), found %s",
                         node_describe(node));
    calendar_definition_init(&definition);
    for (const struct entry *entry = node->entries; entry && st == OK; entry = entry->next)
        st = read_field(&d, &root, entry);
    if (st == OK)
        st = calendar_settle(&definition.calendar);
    if (st == OK)
        st = check_length(&d, &root);
    if (st == OK)
        *ret = definition;
    else
        calendar_definition_release(&definition);
    return st;
}

enum status calendar_decode_json(const json_t *value, const char *name, struct zone_db *zones,
                                 struct calendar_definition *ret, struct job_error *reterr)
{
    struct tree tree;
    struct parse_error err = {0};
    const struct node *node;
    tree_init(&tree);
    enum status st = tree_from_json(&tree, value, &node, &err);
    if (st == OK)
        st = decode_node(node, name, zones, ret, reterr);
    else if (st != E_NOMEM)
        spot_set_tree(reterr, &err);
    tree_release(&tree);
    return st;
}

enum status calendar_decode_text(const char *text, size_t length, const char *name,
                                 struct zone_db *zones, struct calendar_definition *ret,
                                 struct job_error *reterr)
{
    struct tree tree;
    struct parse_error err = {0};
    const struct node *documents;
    struct spot root = {.node = NULL};
    tree_init(&tree);
    enum status st = tree_from_yaml(&tree, text, length, &documents, &err);
    if (st != OK && st != E_NOMEM)
        spot_set_tree(reterr, &err);
    root.node = st == OK ? documents : NULL;
    if (st == OK && documents->count != 1)
        st = spot_fail(reterr, &root, "expected one calendar, found %zu", documents->count);
    if (st == OK)
        st = decode_node(documents->entries->value, name, zones, ret, reterr);
    tree_release(&tree);
    return st;
}

/* ---- writing ---- */

/* Takes over the text that was printed; false: out of memory. */
static bool append_text(json_t *list, struct strbuf *text)
{
    bool is_added =
        strbuf_status(text) == OK && json_array_append_new(list, json_string(text->text)) == 0;
    strbuf_release(text);
    return is_added;
}

static json_t *encode_dates(const struct calendar *calendar)
{
    json_t *list = json_array();
    for (size_t i = 0; i < calendar->date_count && list; i++) {
        struct strbuf text;
        strbuf_init(&text);
        calendar_print_date(&calendar->dates[i], &text);
        if (!append_text(list, &text)) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

static json_t *encode_windows(const struct calendar *calendar)
{
    json_t *list = json_array();
    for (size_t i = 0; i < calendar->window_count && list; i++) {
        struct strbuf text;
        strbuf_init(&text);
        window_print(&calendar->windows[i], &text);
        if (!append_text(list, &text)) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

/* Monday first. */
static json_t *encode_weekdays(const struct calendar *calendar)
{
    json_t *list = json_array();
    for (int i = 1; i <= 7 && list; i++) {
        if (calendar->weekdays & 1U << i % 7 &&
            json_array_append_new(list, json_string(calendar_weekday_name(i % 7))) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

json_t *calendar_encode_json(const struct calendar_definition *definition)
{
    const struct calendar *calendar = &definition->calendar;
    json_t *value = json_pack("{s:o, s:o}", "dates", encode_dates(calendar), "weekdays",
                              encode_weekdays(calendar));
    int failed = !value;
    if (value && calendar->window_count)
        failed |= json_object_set_new(value, "windows", encode_windows(calendar));
    if (value && definition->timezone)
        failed |= json_object_set_new(value, "timezone", json_string(definition->timezone));
    if (value && definition->notes)
        failed |= json_object_set_new(value, "notes", json_string(definition->notes));
    if (!failed)
        return value;
    json_decref(value);
    return NULL;
}

bool calendar_text_is_new(const char *json)
{
    json_t *value = json_loads(json, 0, NULL);
    bool is_new = json_object_get(value, "windows") || json_object_get(value, "timezone");
    json_decref(value);
    return is_new;
}

char *calendar_encode_text(const struct calendar_definition *definition)
{
    json_t *value = calendar_encode_json(definition);
    char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
    json_decref(value);
    return text;
}
