#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cli/when.h"
#include "definition/definition_changes.h"
#include "definition/job_text.h"
#include "herd/herd.h"
#include "plan/plan_calendars.h"

const char *const plan_action_names[] = {"create", "change", "delete", "move", NULL};

enum { TOGETHER_TICKS = 10 * 1000 * 1000 }; /* looked at for starts in one second */

void job_plan_init(struct job_plan *plan, struct zone_db *zones, int64_t from_s, int64_t until_s)
{
    *plan = (struct job_plan){.from_s = from_s, .until_s = until_s};
    plan_clock_init(&plan->clock, zones, from_s, until_s);
    calendar_book_init(&plan->book);
    calendar_book_init(&plan->after);
    plan_gates_init(&plan->gates);
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
    calendar_book_release(&plan->after);
    calendar_book_release(&plan->book);
    plan_docs_release(&plan->docs);
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

/* Takes over the changes of the item. */
static enum status add_item(struct job_plan *plan, struct plan_item *item,
                            const struct job_sources *sources)
{
    enum status st = take_fields(item, sources);
    if (st == OK)
        st = array_grow(&plan->items, plan->count, sizeof(*plan->items));
    if (st != OK) {
        json_decref(item->changes);
        free(item->fields);
        return st;
    }
    plan->items[plan->count++] = *item;
    plan->counts[item->action]++;
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
        return job_plan_touch(plan, after);
    }
    if (after)
        item.place = job_sources_place(sources, item.name, NULL);
    return add_item(plan, &item, sources);
}

enum status job_plan_touch(struct job_plan *plan, const struct job *job)
{
    struct plan_item item = {.name = job->name, .action = PLAN_MOVE, .before = job, .after = job};
    return plan_calendars_touch(&plan->docs, job) ? add_item(plan, &item, NULL) : OK;
}

/* ---- their ticks ---- */

static enum status look_at(struct job_plan *plan, struct plan_item *item, size_t left)
{
    struct plan_side before = {.job = item->before}, after = {.job = item->after};
    enum status st = OK;
    if (before.job)
        st = calendar_book_of_job(&plan->book, before.job, &before.calendars);
    if (st == OK && after.job)
        st = calendar_book_of_job(&plan->after, after.job, &after.calendars);
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

static enum status add_to_herd(struct job_plan *plan, struct herd *herd,
                               const struct job_list *jobs)
{
    enum status st = OK;
    for (size_t i = 0; i < jobs->count && st == OK; i++) {
        struct calendars calendars;
        st = calendar_book_of_job(&plan->after, jobs->items[i], &calendars);
        if (st == OK)
            st = herd_add(herd, jobs->items[i], &calendars, false);
    }
    return st;
}

static int compare_to_name(const void *name, const void *job)
{
    return strcmp(name, ((const struct herd_job *)job)->name);
}

/* The second of the job's own starts in which most of the crowd start. */
static struct crowd_second worst_of(const struct herd *herd, const char *name,
                                    const struct crowd *crowd)
{
    struct crowd_second worst = {0};
    const struct herd_job *job =
        herd->count ? bsearch(name, herd->jobs, herd->count, sizeof(*job), compare_to_name) : NULL;
    for (size_t i = 0; job && i < job->ticks->ticks.count; i++) {
        int64_t at_s = job->ticks->ticks.at_s[i] + job->later_s;
        uint32_t starts = crowd_at(crowd, at_s);
        if (starts > worst.starts)
            worst = (struct crowd_second){at_s, starts};
    }
    return worst;
}

/* Its ticks change, or are new. */
static bool has_new_ticks(const struct plan_item *item)
{
    return item->ticks && item->after;
}

/* Others that start in one second with a job. */
static void look_at_crowd(struct job_plan *plan, const struct herd *herd)
{
    for (size_t i = 0; i < plan->count; i++) {
        struct plan_item *item = &plan->items[i];
        struct crowd_second worst = {0};
        if (has_new_ticks(item))
            worst = worst_of(herd, item->name, &herd->now);
        if (worst.starts > 1) {
            item->together = worst.starts - 1;
            item->together_s = worst.at_s;
        }
    }
}

/* ---- groups ---- */

static enum status note_crowded(struct job_plan *plan, const struct herd *herd,
                                const struct herd_limit *limit, const struct crowd *crowd,
                                struct plan_item *item)
{
    struct crowd_second worst = worst_of(herd, item->name, crowd);
    int own = 0;
    if (worst.starts <= (uint32_t)limit->most)
        return OK;
    enum status st = herd_limit_starts(limit, &plan->gates.groups, item->after, &own);
    if (st != OK || !own)
        return st;
    st = array_grow(&item->crowded, item->crowded_count, sizeof(*item->crowded));
    if (st == OK)
        item->crowded[item->crowded_count++] =
            (struct plan_crowded){limit->group->name, plan->gates.groups.nodes[limit->nodes].where,
                                  limit->most, worst.starts, worst.at_s};
    return st;
}

static enum status look_at_limit(struct job_plan *plan, const struct herd *herd,
                                 const struct herd_limit *limit)
{
    struct crowd crowd = {0};
    enum status st = crowd_init(&crowd, herd->now.from_s, crowd_until(&herd->now));
    if (st == OK)
        herd_limit_fill(limit, &plan->gates.groups, &crowd);
    if (st == OK && crowd_worst(&crowd).starts > (uint32_t)limit->most) {
        for (size_t i = 0; i < plan->count && st == OK; i++) {
            if (has_new_ticks(&plan->items[i]))
                st = note_crowded(plan, herd, limit, &crowd, &plan->items[i]);
        }
    }
    crowd_release(&crowd);
    return st;
}

static enum status look_at_groups(struct job_plan *plan, const struct herd *herd)
{
    struct herd_limits *limits = &plan->gates.groups;
    enum status st = herd_limits_settle(limits);
    for (size_t i = 0; i < limits->count && st == OK; i++)
        st = look_at_limit(plan, herd, &limits->items[i]);
    return st;
}

/* ---- all of it ---- */

/* All jobs that there will be, for steps that name one. */
struct all_jobs {
    struct table names;
};

static const struct table_type names_type = {.key_at = offsetof(struct job, name),
                                             .is_pointer = true};

static const struct job *find_job(void *context, const char *name)
{
    return table_find(&((struct all_jobs *)context)->names, name);
}

static enum status know_jobs(struct all_jobs *all, const struct job_list *jobs)
{
    enum status st = OK;
    for (size_t i = 0; i < jobs->count && st == OK; i++) {
        if (!table_find(&all->names, jobs->items[i]->name))
            st = table_insert(&all->names, jobs->items[i]);
    }
    return st;
}

static enum status count_starts(struct job_plan *plan, const struct job_list *after,
                                const struct job_list *others, int64_t until_s)
{
    struct herd herd;
    herd_init(&herd, plan->clock.zones, plan->from_s, until_s, TOGETHER_TICKS);
    herd.limits = &plan->gates.groups;
    herd_limits_clear(herd.limits);
    enum status st = add_to_herd(plan, &herd, after);
    if (st == OK)
        st = add_to_herd(plan, &herd, others);
    if (st == OK)
        st = herd_count(&herd);
    if (st == OK)
        look_at_crowd(plan, &herd);
    if (st == OK)
        st = look_at_groups(plan, &herd);
    herd_limits_clear(&plan->gates.groups); /* whose jobs have ticks of the herd */
    herd_release(&herd);
    return st;
}

/* Over a week; over less if there are too many ticks. */
static enum status look_together(struct job_plan *plan, const struct job_list *after,
                                 const struct job_list *others)
{
    static const int64_t spans_s[] = {7 * 86400, 86400, 3600};
    struct all_jobs all;
    table_init(&all.names, &names_type);
    enum status st = know_jobs(&all, after);
    if (st == OK)
        st = know_jobs(&all, others);
    plan->gates.groups.find = find_job;
    plan->gates.groups.context = &all;
    for (size_t i = 0; i < sizeof(spans_s) / sizeof(spans_s[0]) && (i == 0 || st == E_TOO_LARGE);
         i++) {
        plan->together_until_s = plan->from_s + spans_s[i];
        if (st == OK || st == E_TOO_LARGE)
            st = count_starts(plan, after, others, plan->together_until_s);
    }
    table_release(&all.names);
    plan->gates.groups.find = NULL;
    if (st != E_TOO_LARGE)
        return st;
    plan->together_until_s = plan->from_s;
    return OK;
}

static enum status look_at_windows(struct job_plan *plan)
{
    enum status st = OK;
    for (size_t i = 0; i < plan->count && st == OK; i++) {
        struct plan_item *item = &plan->items[i];
        if (has_new_ticks(item))
            st = plan_gates_skipped(&plan->gates, item->after, &plan->after, plan->clock.zones,
                                    plan->from_s, plan->until_s, &item->skipped,
                                    &item->skipped_count);
    }
    return st;
}

/* A calendar that changes need not change any tick of the year. */
static void drop_unmoved(struct job_plan *plan)
{
    size_t kept = 0;
    for (size_t i = 0; i < plan->count; i++) {
        struct plan_item *item = &plan->items[i];
        const struct tick_change *change = item->ticks ? &item->ticks->change : NULL;
        bool moves = change && change->gained + change->lost + change->moved > 0;
        if (item->action == PLAN_MOVE && !moves) {
            plan->counts[PLAN_MOVE]--;
            free(item->fields);
            continue;
        }
        plan->items[kept++] = *item;
    }
    plan->count = kept;
}

enum status job_plan_look_ahead(struct job_plan *plan, const struct job_list *after,
                                const struct job_list *others)
{
    bool any = false;
    enum status st = OK;
    for (size_t i = 0; i < plan->count && st == OK; i++)
        st = look_at(plan, &plan->items[i], plan->count - i);
    if (st == OK)
        drop_unmoved(plan);
    for (size_t i = 0; i < plan->count && st == OK; i++)
        any = any || has_new_ticks(&plan->items[i]);
    if (st == OK && any)
        st = look_together(plan, after, others);
    return st == OK ? look_at_windows(plan) : st;
}
