#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cli/when.h"
#include "definition/definition_changes.h"
#include "definition/job_text.h"
#include "herd/herd.h"

const char *const plan_action_names[] = {"create", "change", "delete", NULL};

enum { TOGETHER_TICKS = 10 * 1000 * 1000 }; /* looked at for starts in one second */

void job_plan_init(struct job_plan *plan, struct zone_db *zones, int64_t from_s, int64_t until_s)
{
    *plan = (struct job_plan){.from_s = from_s, .until_s = until_s};
    plan_clock_init(&plan->clock, zones, from_s, until_s);
    calendar_book_init(&plan->book);
}

void job_plan_release(struct job_plan *plan)
{
    for (size_t i = 0; i < plan->count; i++) {
        json_decref(plan->items[i].changes);
        free(plan->items[i].fields);
        free(plan->items[i].skipped);
        free(plan->items[i].crowded);
    }
    free(plan->items);
    plan_clock_release(&plan->clock);
    calendar_book_release(&plan->book);
    plan_gates_release(&plan->gates);
    *plan = (struct job_plan){0};
}

/* ---- field by field ---- */

/* The definition with its secrets masked; NULL: out of memory. */
static json_t *shown(const struct job *job)
{
    struct strbuf text;
    char *definition = job_encode_definition(job);
    if (!definition)
        return NULL;
    strbuf_init(&text);
    definition_text_write(&text, definition, SECRETS_MASKED);
    json_t *value = strbuf_status(&text) == OK ? json_loadb(text.text, text.length, 0, NULL) : NULL;
    strbuf_release(&text);
    free(definition);
    return value;
}

static enum status compare(const struct job *before, const struct job *after, json_t **ret)
{
    json_t *from = job_encode_json(before, false), *to = job_encode_json(after, false);
    json_t *shown_from = NULL, *shown_to = NULL, *changes = NULL;
    bool is_same = from && to && json_equal(from, to);
    if (from && to && !is_same) {
        shown_from = shown(before);
        shown_to = shown(after);
    }
    if (shown_from && shown_to)
        changes = definition_changes_shown(from, shown_from, to, shown_to);
    json_decref(from);
    json_decref(to);
    json_decref(shown_from);
    json_decref(shown_to);
    if (!changes && !is_same)
        return E_NOMEM;
    *ret = changes;
    return OK;
}

/* "/env/LANG" is looked for as "env/LANG". */
static enum status take_fields(struct plan_item *item, const struct job_sources *sources)
{
    const json_t *change;
    size_t i;
    item->fields = calloc(json_array_size(item->changes) + 1, sizeof(*item->fields));
    if (!item->fields)
        return E_NOMEM;
    json_array_foreach (item->changes, i, change) {
        const char *pointer = answer_text(change, "pointer");
        item->fields[item->field_count++] = (struct plan_field){
            .pointer = pointer,
            .before = json_object_get(change, "before"),
            .after = json_object_get(change, "after"),
            .place = job_sources_place(sources, item->name, pointer + (*pointer == '/')),
        };
    }
    return OK;
}

enum status job_plan_add(struct job_plan *plan, const struct job *before, const struct job *after,
                         const struct job_sources *sources)
{
    const struct job *named = after ? after : before;
    struct plan_item item = {.name = named->name, .before = before, .after = after};
    item.action = !before ? PLAN_CREATE : !after ? PLAN_DELETE : PLAN_CHANGE;
    enum status st = before && after ? compare(before, after, &item.changes) : OK;
    if (st != OK)
        return st;
    if (before && after && !item.changes) {
        plan->same++;
        return OK;
    }
    if (after)
        item.place = job_sources_place(sources, item.name, NULL);
    st = take_fields(&item, sources);
    if (st == OK)
        st = array_grow(&plan->items, plan->count, sizeof(*plan->items));
    if (st != OK) {
        json_decref(item.changes);
        free(item.fields);
        return st;
    }
    plan->items[plan->count++] = item;
    plan->counts[item.action]++;
    return OK;
}

/* ---- their ticks ---- */

static enum status look_at(struct job_plan *plan, struct plan_item *item, size_t left)
{
    struct plan_side before = {.job = item->before}, after = {.job = item->after};
    enum status st = OK;
    if (before.job)
        st = calendar_book_of_job(&plan->book, before.job, &before.calendars);
    if (st == OK && after.job)
        st = calendar_book_of_job(&plan->book, after.job, &after.calendars);
    if (st == OK)
        st = plan_ticks_of(&plan->clock, &before, &after, left, &item->ticks);
    if (st != OK || !item->ticks)
        return st;
    plan->kept += item->ticks->change.kept;
    plan->gained += item->ticks->change.gained;
    plan->lost += item->ticks->change.lost;
    plan->moved += item->ticks->change.moved;
    return OK;
}

/* `group` NULL: all jobs. */
static enum status add_to_herd(struct job_plan *plan, struct herd *herd,
                               const struct job_list *jobs, const struct plan_group *group)
{
    enum status st = OK;
    for (size_t i = 0; i < jobs->count && st == OK; i++) {
        struct calendars calendars;
        if (group && !plan_group_has(group, jobs->items[i]))
            continue;
        st = calendar_book_of_job(&plan->book, jobs->items[i], &calendars);
        if (st == OK)
            st = herd_add(herd, jobs->items[i], &calendars, false);
    }
    return st;
}

static int compare_to_name(const void *name, const void *job)
{
    return strcmp(name, ((const struct herd_job *)job)->name);
}

/* The most crowded second in which the job starts, with how many others. */
static void find_worst(const struct herd *herd, const char *name, size_t *ret, int64_t *ret_s)
{
    const struct herd_job *job =
        herd->count ? bsearch(name, herd->jobs, herd->count, sizeof(*job), compare_to_name) : NULL;
    for (size_t i = 0; job && i < job->ticks->ticks.count; i++) {
        int64_t at_s = job->ticks->ticks.at_s[i] + job->later_s;
        uint32_t starts = crowd_at(&herd->now, at_s);
        if (starts > *ret + 1) {
            *ret = starts - 1;
            *ret_s = at_s;
        }
    }
}

static enum status note_worst(const struct herd *herd, const struct plan_group *group,
                              struct plan_item *item)
{
    struct plan_crowded crowded = {.group = group};
    if (!group) {
        find_worst(herd, item->name, &item->together, &item->together_s);
        return OK;
    }
    find_worst(herd, item->name, &crowded.starts, &crowded.at_s);
    crowded.starts += crowded.starts > 0; /* and itself */
    if (crowded.starts <= (size_t)group->most)
        return OK;
    enum status st = array_grow(&item->crowded, item->crowded_count, sizeof(crowded));
    if (st == OK)
        item->crowded[item->crowded_count++] = crowded;
    return st;
}

/* Its ticks change, or are new. */
static bool has_new_ticks(const struct plan_item *item, const struct plan_group *group)
{
    return item->ticks && item->after && (!group || plan_group_has(group, item->after));
}

/* Over a week; over less if there are too many ticks. */
static enum status look_together(struct job_plan *plan, const struct job_list *after,
                                 const struct job_list *others, const struct plan_group *group,
                                 int64_t *ret_until_s)
{
    static const int64_t spans_s[] = {7 * 86400, 86400, 3600};
    enum status st = E_TOO_LARGE;
    for (size_t i = 0; i < sizeof(spans_s) / sizeof(spans_s[0]) && st == E_TOO_LARGE; i++) {
        struct herd herd;
        *ret_until_s = plan->from_s + spans_s[i];
        herd_init(&herd, plan->clock.zones, plan->from_s, *ret_until_s, TOGETHER_TICKS);
        st = add_to_herd(plan, &herd, after, group);
        if (st == OK)
            st = add_to_herd(plan, &herd, others, group);
        if (st == OK)
            st = herd_count(&herd);
        for (size_t j = 0; j < plan->count && st == OK; j++) {
            if (has_new_ticks(&plan->items[j], group))
                st = note_worst(&herd, group, &plan->items[j]);
        }
        herd_release(&herd);
    }
    if (st == E_TOO_LARGE) {
        *ret_until_s = plan->from_s;
        st = OK;
    }
    return st;
}

static bool any_in(const struct job_plan *plan, const struct plan_group *group)
{
    bool any = false;
    for (size_t i = 0; i < plan->count; i++)
        any |= has_new_ticks(&plan->items[i], group);
    return any;
}

static enum status look_at_gates(struct job_plan *plan, const struct job_list *after,
                                 const struct job_list *others)
{
    int64_t until_s;
    enum status st = OK;
    for (size_t i = 0; i < plan->count && st == OK; i++) {
        struct plan_item *item = &plan->items[i];
        if (has_new_ticks(item, NULL))
            st = plan_gates_skipped(&plan->gates, item->after, &plan->book, plan->clock.zones,
                                    plan->from_s, plan->until_s, &item->skipped,
                                    &item->skipped_count);
    }
    for (size_t i = 0; i < plan->gates.group_count && st == OK; i++) {
        if (any_in(plan, &plan->gates.groups[i]))
            st = look_together(plan, after, others, &plan->gates.groups[i], &until_s);
    }
    return st;
}

enum status job_plan_look_ahead(struct job_plan *plan, const struct job_list *after,
                                const struct job_list *others)
{
    bool any = false;
    enum status st = OK;
    for (size_t i = 0; i < plan->count && st == OK; i++) {
        st = look_at(plan, &plan->items[i], plan->count - i);
        any = any || has_new_ticks(&plan->items[i], NULL);
    }
    if (st == OK && any)
        st = look_together(plan, after, others, NULL, &plan->together_until_s);
    return st == OK ? look_at_gates(plan, after, others) : st;
}
