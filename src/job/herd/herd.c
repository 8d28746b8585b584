#include "herd/herd.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"

const char *herd_keep_name(enum herd_keep keep)
{
    static const char *const names[] = {
        [HERD_FREE] = "free",         [HERD_LABEL] = "label",   [HERD_AWAITED] = "awaited",
        [HERD_INSTANT] = "instant",   [HERD_SPREAD] = "spread", [HERD_SEVERAL] = "several",
        [HERD_DEADLINE] = "deadline", [HERD_NO_USE] = "no_use",
    };
    return names[keep];
}

void herd_init(struct herd *herd, struct zone_db *zones, int64_t from_s, int64_t until_s,
               size_t limit)
{
    *herd = (struct herd){.zones = zones};
    tick_groups_init(&herd->groups, from_s, until_s, limit);
}

static void job_release(struct herd_job *job)
{
    free(job->name);
    free(job->schedule);
    free(job->when.schedule);
    free(job->when.timezone);
    free(job->when.hash_name);
}

void herd_release(struct herd *herd)
{
    for (size_t i = 0; i < herd->count; i++)
        job_release(&herd->jobs[i]);
    free(herd->jobs);
    crowd_release(&herd->now);
    crowd_release(&herd->then);
    tick_groups_release(&herd->groups);
    *herd = (struct herd){0};
}

static bool has_keep_label(const struct job *job)
{
    for (size_t i = 0; i < job->labels.count; i++) {
        const struct job_pair *label = &job->labels.items[i];
        if (strcmp(label->name, HERD_LABEL_NAME) == 0 && strcmp(label->value, "keep") == 0)
            return true;
    }
    return false;
}

static enum herd_keep keep_of(const struct job *job, const struct schedule_set *set,
                              bool is_awaited)
{
    enum { SEEDED = CRON_NOTE_SEEDED_NAME | CRON_NOTE_SEEDED_UID };
    if (has_keep_label(job))
        return HERD_LABEL;
    if (is_awaited)
        return HERD_AWAITED;
    for (size_t i = 0; i < set->count; i++) {
        enum schedule_kind kind = schedule_kind(set->items[i]);
        if (kind == SCHEDULE_AT)
            return HERD_INSTANT;
        if (job->jitter_s ||
            (kind == SCHEDULE_CRON && schedule_cron(set->items[i])->notes & SEEDED))
            return HERD_SPREAD;
    }
    return set->count > 1 ? HERD_SEVERAL : HERD_FREE;
}

static enum status copy_when(const struct job *job, const struct calendars *calendars,
                             struct herd_when *ret)
{
    *ret = (struct herd_when){
        .schedule = strdup(job->schedules[0]),
        .timezone = strdup(job->timezone),
        .hash_name = strdup(job->hash_name ? job->hash_name : job->name),
        .uid = job->uid,
        .start_s = job->start_s,
        .end_s = job->end_s,
        .deadline_s = job->deadline_s,
        .dst = job->dst,
        .calendars = *calendars,
    };
    return ret->schedule && ret->timezone && ret->hash_name ? OK : E_NOMEM;
}

/* ---- maintenance ---- */

/* The first of the ticks that is not before it. */
static size_t first_from(const struct ticks *ticks, int64_t at_s)
{
    size_t low = 0, high = ticks->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ticks->at_s[middle] < at_s)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A start within a second counts for the whole second. */
static void count_skipped(struct herd *herd, const struct herd_job *job)
{
    for (size_t i = 0; i < herd->window_count; i++) {
        const struct maintenance *item = herd->windows[i].item;
        if (!maintenance_space_has(item->space, job->name))
            continue;
        int64_t from_s = item->from_ms / 1000 + (item->from_ms % 1000 > 0) - job->later_s;
        size_t first = first_from(&job->ticks->ticks, from_s), end = job->ticks->ticks.count;
        if (item->to_ms)
            end = first_from(&job->ticks->ticks,
                             item->to_ms / 1000 + (item->to_ms % 1000 > 0) - job->later_s);
        herd->windows[i].starts += end > first ? end - first : 0;
    }
}

int herd_window_at(const struct herd *herd, const char *job_name, int64_t at_s)
{
    for (size_t i = 0; i < herd->window_count; i++)
        if (maintenance_covers(herd->windows[i].item, job_name, at_s * 1000))
            return (int)i;
    return -1;
}

static enum status add(struct herd *herd, const struct job *job, const struct schedule_set *set,
                       const struct calendars *calendars, bool is_awaited)
{
    struct herd_job new = {.keep = keep_of(job, set, is_awaited)};
    enum status st = tick_groups_get(&herd->groups, set, calendars, &new.ticks);
    if (st != OK || !new.ticks->ticks.count)
        return st;
    new.later_s = schedule_jitter_ms(set->items[0]) / 1000;
    new.name = strdup(job->name);
    st = new.name ? array_grow(&herd->jobs, herd->count, sizeof(*herd->jobs)) : E_NOMEM;
    if (st == OK && herd->limits)
        st = herd_limits_add_job(herd->limits, job, new.ticks, new.later_s);
    if (st == OK && new.keep == HERD_FREE)
        st = copy_when(job, calendars, &new.when);
    if (st != OK) {
        job_release(&new);
        return st;
    }
    new.ticks->prompt += new.later_s == 0;
    count_skipped(herd, &new);
    herd->jobs[herd->count++] = new;
    return OK;
}

enum status herd_add(struct herd *herd, const struct job *job, const struct calendars *calendars,
                     bool is_awaited)
{
    struct schedule_set set;
    struct parse_error error;
    if (job->paused || !job->schedule_count)
        return OK;
    schedule_set_init(&set);
    enum status st = job_schedules(job, herd->zones, &set, &error);
    if (st == OK)
        st = add(herd, job, &set, calendars, is_awaited);
    schedule_set_release(&set);
    return st;
}

static int compare_names(const void *a, const void *b)
{
    const struct herd_job *left = a, *right = b;
    return strcmp(left->name, right->name);
}

/* Those that start at their ticks are counted by group: a group of many takes as long as one. */
static void count_jobs(struct herd *herd)
{
    const struct tick_group *group;
    size_t at = 0;
    for (size_t i = 0; i < herd->count; i++) {
        const struct herd_job *job = &herd->jobs[i];
        if (job->later_s)
            crowd_add(&herd->now, &job->ticks->ticks, job->later_s, 1);
    }
    while ((group = table_next(&herd->groups.groups, &at))) {
        if (group->prompt)
            crowd_add(&herd->now, &group->ticks, 0, (int)group->prompt);
    }
}

enum status herd_count(struct herd *herd)
{
    enum status st = crowd_init(&herd->now, herd->groups.from_s, herd->groups.until_s);
    if (st == OK)
        st = crowd_init(&herd->then, herd->groups.from_s, herd->groups.until_s);
    if (st != OK)
        return st;
    bool is_sorted = true;
    for (size_t i = 1; i < herd->count && is_sorted; i++)
        is_sorted = strcmp(herd->jobs[i - 1].name, herd->jobs[i].name) < 0;
    if (!is_sorted)
        qsort(herd->jobs, herd->count, sizeof(*herd->jobs), compare_names);
    count_jobs(herd);
    memcpy(herd->then.starts, herd->now.starts, herd->now.seconds * sizeof(*herd->now.starts));
    return OK;
}

static int compare_ticks(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static bool starts_at(const struct herd_job *job, int64_t at_s)
{
    int64_t tick_s = at_s - job->later_s;
    return bsearch(&tick_s, job->ticks->ticks.at_s, job->ticks->ticks.count, sizeof(tick_s),
                   compare_ticks) != NULL;
}

size_t herd_skipped(const struct herd *herd, int64_t at_s)
{
    size_t count = 0;
    for (size_t i = 0; i < herd->count && herd->window_count; i++)
        count +=
            starts_at(&herd->jobs[i], at_s) && herd_window_at(herd, herd->jobs[i].name, at_s) >= 0;
    return count;
}

size_t herd_names(const struct herd *herd, int64_t at_s, size_t limit, const char **ret)
{
    size_t count = 0;
    for (size_t i = 0; i < herd->count && count < limit; i++)
        if (starts_at(&herd->jobs[i], at_s))
            ret[count++] = herd->jobs[i].name;
    return count;
}
