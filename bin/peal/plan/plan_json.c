/* The shape is documented in docs/CLI.md, and only grows. */
#include "cli/json_out.h"
#include "jobs/documents/doc_types.h"
#include "plan/plan.h"
#include "timestamp.h"

/* An instant as the API has it; NULL when out of memory. */
static json_t *instant(int64_t at_s)
{
    struct strbuf text;
    strbuf_init(&text);
    timestamp_print_utc(at_s, &text);
    json_t *value = strbuf_status(&text) == OK ? json_string(text.text) : NULL;
    strbuf_release(&text);
    return value;
}

static json_t *instant_or_null(bool is_there, int64_t at_s)
{
    return is_there ? instant(at_s) : json_null();
}

static json_t *place_json(const struct source_place *place)
{
    if (!place->file)
        return json_null();
    return json_pack("{s:o, s:i, s:i}", "file", json_text(place->file), "line", place->line,
                     "column", place->column);
}

static json_t *fields_json(const struct plan_field *fields, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const struct plan_field *field = &fields[i];
        json_t *one =
            json_pack("{s:s, s:O?, s:O?, s:o}", "pointer", field->pointer, "before", field->before,
                      "after", field->after, "place", place_json(&field->place));
        if (json_array_append_new(list, one) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *differences_json(const struct tick_change *change)
{
    static const char *const names[] = {
        [TICK_GAINED] = "gained", [TICK_LOST] = "lost", [TICK_SHIFTED] = "moved"};
    json_t *list = json_array();
    for (size_t i = 0; i < change->shown_count; i++) {
        const struct tick_difference *one = &change->shown[i];
        json_t *item = json_pack("{s:s, s:o, s:o}", "kind", names[one->kind], "before",
                                 instant_or_null(one->kind != TICK_GAINED, one->before_s), "after",
                                 instant_or_null(one->kind != TICK_LOST, one->after_s));
        if (json_array_append_new(list, item) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *clocks_json(const struct plan_ticks *ticks)
{
    json_t *list = json_array();
    for (size_t i = 0; i < ticks->clock_count; i++) {
        const struct clock_change *change = &ticks->clocks[i];
        json_t *item =
            json_pack("{s:o, s:s, s:I}", "at", instant(change->at_s), "effect",
                      clock_effect_name(change->effect), "times", (json_int_t)change->count);
        if (json_array_append_new(list, item) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *ticks_json(const struct plan_ticks *ticks, bool detail)
{
    const struct tick_change *change = &ticks->change;
    bool differs = change->gained + change->lost + change->moved > 0;
    json_t *value = json_pack(
        "{s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:I, s:I, s:I, s:s, s:o}", "until",
        instant(ticks->until_s), "before", (json_int_t)change->before, "after",
        (json_int_t)change->after, "kept", (json_int_t)change->kept, "gained",
        (json_int_t)change->gained, "lost", (json_int_t)change->lost, "moved",
        (json_int_t)change->moved, "first", instant_or_null(differs, change->first_s), "last",
        instant_or_null(differs, change->last_s), "moved_least_s", (json_int_t)change->least_s,
        "moved_most_s", (json_int_t)change->most_s, "excluded", (json_int_t)ticks->excluded,
        "excluded_before", (json_int_t)ticks->excluded_before, "timezone", zone_name(ticks->zone),
        "clock", clocks_json(ticks));
    if (value && detail &&
        json_object_set_new(value, "differences", differences_json(change)) != 0) {
        json_decref(value);
        return NULL;
    }
    return value;
}

static json_t *together_json(const struct plan_item *item)
{
    if (!item->together)
        return json_null();
    return json_pack("{s:I, s:o}", "others", (json_int_t)item->together, "at",
                     instant(item->together_s));
}

static json_t *window_json(const struct plan_skipped *skipped)
{
    const struct maintenance *window = skipped->window;
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:I}", "id", window->id, "kind",
                     window->is_pause ? "pause" : "maintenance", "namespace",
                     window->space[0] ? json_text(window->space) : json_null(), "from",
                     instant(window->from_ms / 1000), "to",
                     instant_or_null(window->to_ms != 0, window->to_ms / 1000), "reason",
                     window->reason[0] ? json_text(window->reason) : json_null(), "ticks",
                     (json_int_t)skipped->ticks);
}

static json_t *group_json(const struct plan_crowded *crowded)
{
    return json_pack("{s:s, s:o, s:i, s:I, s:o}", "group", crowded->group, "where",
                     *crowded->where ? json_text(crowded->where) : json_null(), "most",
                     crowded->most, "starts", (json_int_t)crowded->starts, "at",
                     instant(crowded->at_s));
}

static json_t *skipped_json(const struct plan_item *item)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < item->skipped_count; i++)
        if (json_array_append_new(list, window_json(&item->skipped[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *crowded_json(const struct plan_item *item)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < item->crowded_count; i++)
        if (json_array_append_new(list, group_json(&item->crowded[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static json_t *item_json(const struct plan_item *item, bool detail)
{
    return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "name", json_text(item->name),
                     "action", plan_action_names[item->action], "place", place_json(&item->place),
                     "fields", fields_json(item->fields, item->field_count), "ticks",
                     item->ticks ? ticks_json(item->ticks, detail) : json_null(), "together",
                     together_json(item), "maintenance", skipped_json(item), "groups",
                     crowded_json(item));
}

static json_t *doc_json(const struct plan_doc *doc)
{
    return json_pack("{s:s, s:o, s:s, s:o, s:o}", "kind", doc_type_rows[doc->type].kind, "name",
                     json_text(doc->name), "action", plan_action_names[doc->action], "place",
                     place_json(&doc->place), "fields", fields_json(doc->fields, doc->field_count));
}

/* NULL: out of memory. */
static json_t *docs_json(const struct plan_docs *docs)
{
    json_t *list = json_array();
    for (size_t i = 0; list && i < docs->count; i++)
        if (json_array_append_new(list, doc_json(&docs->items[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

enum status job_plan_print_json(const struct job_plan *plan, bool detail)
{
    json_t *jobs = json_array();
    enum status st = jobs ? OK : E_NOMEM;
    for (size_t i = 0; i < plan->count && st == OK; i++) {
        if (json_array_append_new(jobs, item_json(&plan->items[i], detail)) != 0)
            st = E_NOMEM;
    }
    json_t *root =
        st != OK ? NULL
                 : json_pack("{s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:{s:I, s:I, s:I, s:I}, s:O}",
                             "from", instant(plan->from_s), "until", instant(plan->until_s),
                             "together_until", instant(plan->together_until_s), "create",
                             (json_int_t)plan->counts[PLAN_CREATE], "change",
                             (json_int_t)plan->counts[PLAN_CHANGE], "delete",
                             (json_int_t)plan->counts[PLAN_DELETE], "same", (json_int_t)plan->same,
                             "ticks", "kept", (json_int_t)plan->kept, "gained",
                             (json_int_t)plan->gained, "lost", (json_int_t)plan->lost, "moved",
                             (json_int_t)plan->moved, "jobs", jobs);
    if (st == OK && (!root || json_object_set_new(root, "documents", docs_json(&plan->docs)) != 0))
        st = E_NOMEM;
    if (st == OK)
        st = json_print(root);
    json_decref(root);
    json_decref(jobs);
    return st;
}
