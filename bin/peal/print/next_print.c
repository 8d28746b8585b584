#include "print/next_print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json_out.h"
#include "cli/text_table.h"
#include "print/state_words.h"
#include "text/tr.h"
#include "timestamp.h"

void next_list_init(struct next_list *list)
{
    *list = (struct next_list){0};
    specs_init(&list->specs);
    schedule_set_init(&list->set);
}

void next_list_release(struct next_list *list)
{
    free(list->fires);
    schedule_set_release(&list->set);
    specs_release(&list->specs);
}

enum status next_list_collect(struct next_list *list, size_t limit)
{
    static const struct calendars none = {NULL, 0, 0};
    struct fire fire;
    size_t count = 0;
    int64_t after_s = list->from_s;
    struct fire *fires = calloc(limit, sizeof(*fires));
    if (!fires)
        return E_NOMEM;
    list->more = false;
    while (fires_next(&list->set, &none, list->from_s, after_s, &fire) &&
           fire.at_s <= list->until_s) {
        list->more = count == limit;
        if (list->more)
            break;
        fires[count++] = fire;
        after_s = fire.at_s;
    }
    free(list->fires);
    list->fires = fires;
    list->count = count;
    return OK;
}

/* The zone of all schedules, or NULL when they differ. */
static const struct zone *common_zone(const struct next_list *list)
{
    const struct zone *zone = schedule_zone(list->set.items[0]);
    for (size_t i = 1; i < list->set.count; i++) {
        if (schedule_zone(list->set.items[i]) != zone)
            return NULL;
    }
    return zone;
}

/* "Sun 2026-03-08T03:00:00-04:00", with the weekday in the language of the command. */
static void print_local(const struct fire *fire, struct strbuf *out)
{
    struct strbuf text;
    char day[8];
    strbuf_init(&text);
    fire_local(fire, &text);
    size_t length = strcspn(text.text, " ");
    snprintf(day, sizeof(day), "%.*s", (int)length, text.text);
    strbuf_addf(out, "%s%s", tr(day), text.text + length);
    out->failed |= text.failed;
    strbuf_release(&text);
}

/* Cells that a list does not need stay empty, and the table leaves their columns out. */
static void add_row(struct text_table *table, const struct next_list *list, const struct fire *fire,
                    const struct zone *common)
{
    struct strbuf cell, note;
    strbuf_init(&cell);
    timestamp_print_utc(fire->at_s, &cell);
    text_table_cell(table, cell.text);

    strbuf_truncate(&cell, 0);
    print_local(fire, &cell);
    text_table_cell(table, cell.text);
    text_table_cell(table, common ? "" : zone_name(schedule_zone(fire->schedule)));

    strbuf_truncate(&cell, 0);
    span_print(fire->at_s - list->from_s, &cell);
    text_table_cell(table, cell.text);

    strbuf_truncate(&cell, 0);
    if (list->jitter)
        fire_start(fire, &cell);
    text_table_cell(table, cell.text);
    text_table_cell(table, list->set.count > 1 ? list->specs.items[fire->index].text : "");

    strbuf_truncate(&cell, 0);
    fire_note(fire, &cell);
    strbuf_init(&note);
    note_words(cell.text, &note);
    text_table_cell(table, note.text);
    if (strbuf_status(&cell) != OK || strbuf_status(&note) != OK)
        table->status = E_NOMEM;
    strbuf_release(&note);
    strbuf_release(&cell);
}

static enum status print_table(const struct next_list *list)
{
    const struct zone *common = common_zone(list);
    struct strbuf local;
    struct text_table table;
    if (list->count == 0)
        return OK;

    strbuf_init(&local);
    strbuf_adds(&local, tr("LOCAL"));
    if (common)
        strbuf_addf(&local, tr(" (%s)"), zone_name(common));
    const char *const headers[] = {"AT (UTC)",     local.text, "ZONE", "IN",
                                   "STARTS (UTC)", "SCHEDULE", "NOTE", NULL};
    text_table_init(&table, headers);
    for (size_t i = 0; i < list->count; i++)
        add_row(&table, list, &list->fires[i], common);
    enum status st = strbuf_status(&local);
    if (st == OK)
        st = text_table_print(&table, stdout);
    text_table_release(&table);
    strbuf_release(&local);
    return st;
}

/* Sets a text that `buf` holds, and empties `buf` for the next one. */
static int set_text(json_t *object, const char *key, struct strbuf *buf)
{
    int failed = strbuf_status(buf) != OK;
    failed |= json_object_set_new(object, key, json_text(buf->text));
    strbuf_truncate(buf, 0);
    return failed;
}

/* NULL when out of memory. */
static json_t *fire_json(const struct next_list *list, const struct fire *fire,
                         const struct zone *common)
{
    const struct zone *zone = schedule_zone(fire->schedule);
    json_t *object = json_object();
    struct strbuf text;
    int failed = 0;
    strbuf_init(&text);
    timestamp_print_utc(fire->at_s, &text);
    failed |= set_text(object, "at", &text);
    timestamp_print_local(fire->at_s, zone, &text);
    failed |= set_text(object, "local", &text);
    if (!common)
        failed |= json_object_set_new(object, "tz", json_text(zone_name(zone)));
    if (list->set.count > 1)
        failed |=
            json_object_set_new(object, "spec", json_text(list->specs.items[fire->index].text));
    if (list->jitter) {
        fire_start(fire, &text);
        failed |= set_text(object, "starts", &text);
    }
    fire_note(fire, &text);
    if (text.length)
        failed |= set_text(object, "note", &text);
    strbuf_release(&text);
    if (failed) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static int set_specs(json_t *root, const struct next_list *list)
{
    if (list->set.count == 1)
        return json_object_set_new(root, "spec", json_text(list->specs.items[0].text));
    json_t *specs = json_array();
    int failed = 0;
    for (size_t i = 0; i < list->set.count; i++)
        failed |= json_array_append_new(specs, json_text(list->specs.items[i].text));
    return failed | json_object_set_new(root, "specs", specs);
}

static enum status print_json(const struct next_list *list)
{
    const struct zone *common = common_zone(list);
    json_t *root = json_object();
    json_t *fires = json_array();
    int failed = set_specs(root, list);
    if (common)
        failed |= json_object_set_new(root, "tz", json_text(zone_name(common)));
    failed |= json_object_set_new(root, "fires", fires);
    for (size_t i = 0; i < list->count; i++)
        failed |= json_array_append_new(fires, fire_json(list, &list->fires[i], common));
    enum status st = failed ? E_NOMEM : json_print(root);
    json_decref(root);
    return st;
}

enum status next_list_print(const struct next_list *list, enum next_output output)
{
    return output == NEXT_JSON ? print_json(list) : print_table(list);
}
