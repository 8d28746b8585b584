/* Goes through the jobs by name. A job in a crowded second gets the first of its candidates that
 * has it start in less crowded ones; what it leaves and where it goes counts for the jobs after it,
 * so that the first of a herd move, and the last stay. */
#include <stdlib.h>
#include <string.h>

#include "civil.h"
#include "herd/herd.h"
#include "herd/herd_text.h"

enum { YEAR_S = 366 * 86400 };

/* Another schedule, or another jitter. */
struct candidate {
    char *schedule; /* NULL: the job's */
    int64_t jitter_s;
};

static enum status parse(const struct herd *herd, const struct herd_when *when,
                         const struct candidate *candidate, struct schedule_set *set)
{
    char uid[ID_TEXT + 1];
    struct schedule_options options = schedule_options_default();
    struct parse_error error;
    struct schedule *schedule;
    id_format(&when->uid, uid);
    options.default_tz = when->timezone;
    options.start_s = when->start_s;
    options.end_s = when->end_s;
    options.jitter_s = candidate->jitter_s;
    options.dst = when->dst;
    options.job_name = when->hash_name;
    options.job_uid = id_is_zero(&when->uid) ? NULL : uid;
    enum status st = schedule_parse(candidate->schedule ? candidate->schedule : when->schedule,
                                    &options, herd->zones, &schedule, &error);
    return st == OK ? schedule_set_add(set, schedule) : st;
}

static uint32_t worst_of(const struct crowd *crowd, const struct ticks *ticks, int64_t later_s)
{
    uint32_t worst = 0;
    for (size_t i = 0; i < ticks->count; i++) {
        uint32_t starts = crowd_at(crowd, ticks->at_s[i] + later_s);
        worst = starts > worst ? starts : worst;
    }
    return worst;
}

/* ---- as many ticks on each day ---- */

static int64_t local_day(const struct zone *zone, int64_t at_s)
{
    int64_t local_s = at_s + zone_span_at(zone, at_s).offset_s;
    return local_s / DAY_S - (local_s % DAY_S < 0);
}

/* Do both have as many ticks on each local day of [from_s, until_s)? The days at its ends may be
 * there in part, and do not count. */
static bool agree(const struct zone *zone, const struct ticks *old, const struct ticks *new,
                  int64_t from_s, int64_t until_s)
{
    int64_t first = local_day(zone, from_s) + 1, last = local_day(zone, until_s) - 1;
    size_t i = 0, j = 0;
    while (i < old->count && local_day(zone, old->at_s[i]) < first)
        i++;
    while (j < new->count && local_day(zone, new->at_s[j]) < first)
        j++;
    for (;; i++, j++) {
        int64_t day = i < old->count ? local_day(zone, old->at_s[i]) : last + 1;
        int64_t new_day = j < new->count ? local_day(zone, new->at_s[j]) : last + 1;
        if (day > last && new_day > last)
            return true;
        if (day != new_day)
            return false;
    }
}

static enum status agree_around(const struct zone *zone, const struct schedule_set *old,
                                const struct schedule_set *new, int64_t at_s, bool *ret)
{
    static const struct calendars none = {NULL, 0, 0};
    struct ticks before, after = {0};
    int64_t from_s = at_s - 2 * DAY_S, until_s = at_s + 2 * DAY_S;
    enum status st = ticks_collect(old, &none, from_s, until_s, SIZE_MAX, &before);
    if (st == OK)
        st = ticks_collect(new, &none, from_s, until_s, SIZE_MAX, &after);
    if (st == OK)
        *ret = agree(zone, &before, &after, from_s, until_s);
    ticks_release(&before);
    ticks_release(&after);
    return st;
}

/* On the days of a year on which the clock changes, too. */
static enum status keeps_days(const struct herd *herd, const struct herd_job *job,
                              const struct schedule_set *new, const struct ticks *new_ticks,
                              bool *ret)
{
    const struct candidate as_is = {NULL, 0};
    const struct zone *zone = schedule_zone(new->items[0]);
    const struct tick_groups *groups = &herd->groups;
    struct schedule_set old;
    schedule_set_init(&old);
    enum status st = parse(herd, &job->when, &as_is, &old);
    *ret = agree(zone, &job->ticks->ticks, new_ticks, groups->from_s, groups->until_s);
    struct zone_span span = zone_span_at(zone, groups->from_s);
    while (st == OK && *ret && span.end_s < groups->from_s + YEAR_S) {
        st = agree_around(zone, &old, new, span.end_s, ret);
        span = zone_span_at(zone, span.end_s);
    }
    schedule_set_release(&old);
    return st;
}

/* ---- candidates ---- */

/* The least time between two ticks. */
static int64_t least_gap(const struct ticks *ticks)
{
    int64_t least_s = NEVER;
    for (size_t i = 1; i < ticks->count; i++) {
        int64_t gap_s = ticks->at_s[i] - ticks->at_s[i - 1];
        least_s = gap_s < least_s ? gap_s : least_s;
    }
    return least_s;
}

/* A jitter that neither reaches the next tick nor the deadline; 0: none is of use. */
static int64_t jitter_for(const struct herd_job *job, const struct herd_wish *wish)
{
    static const int64_t steps_s[] = {3600, 1800, 900, 600, 300, 120, 60, 30, 10, 5};
    int64_t limit_s = least_gap(&job->ticks->ticks);
    limit_s = wish->within_s < limit_s ? wish->within_s : limit_s;
    if (job->when.deadline_s && job->when.deadline_s < limit_s)
        limit_s = job->when.deadline_s;
    for (size_t i = 0; i < sizeof(steps_s) / sizeof(steps_s[0]); i++) {
        if (steps_s[i] <= limit_s)
            return steps_s[i];
    }
    return 0;
}

/* Takes the candidate if it is better. */
static enum status try(struct herd *herd, struct herd_job *job, struct candidate *candidate)
{
    struct schedule_set set;
    struct tick_group *group = NULL;
    bool is_same = true;
    schedule_set_init(&set);
    enum status st = parse(herd, &job->when, candidate, &set);
    if (st == OK)
        st = tick_groups_get(&herd->groups, &set, &job->when.calendars, &group);
    if (st == OK && candidate->schedule)
        st = keeps_days(herd, job, &set, &group->ticks, &is_same);
    if (st == OK && is_same) {
        int64_t later_s = schedule_jitter_ms(set.items[0]) / 1000;
        crowd_add(&herd->then, &job->ticks->ticks, job->later_s, -1);
        uint32_t worst = worst_of(&herd->then, &group->ticks, later_s) + 1;
        bool is_better = group->ticks.count > 0 && worst < job->worst;
        if (is_better) {
            job->schedule = candidate->schedule;
            candidate->schedule = NULL;
            job->jitter_s = candidate->jitter_s;
            job->new_ticks = group;
            job->new_later_s = later_s;
            job->new_worst = worst;
            herd->proposed++;
        }
        crowd_add(&herd->then, is_better ? &group->ticks : &job->ticks->ticks,
                  is_better ? later_s : job->later_s, 1);
    }
    schedule_set_release(&set);
    return st == E_TOO_LARGE ? OK : st; /* room for it is missing: then not this one */
}

static enum status try_text(struct herd *herd, struct herd_job *job, enum herd_form form)
{
    struct candidate candidate = {0};
    struct strbuf text;
    strbuf_init(&text);
    bool is_one = herd_text(job->when.schedule, form, &text);
    enum status st = strbuf_status(&text);
    if (st == OK && is_one) {
        candidate.schedule = strbuf_detach(&text);
        st = candidate.schedule ? try(herd, job, &candidate) : E_NOMEM;
    }
    free(candidate.schedule);
    strbuf_release(&text);
    return st;
}

static enum status propose(struct herd *herd, struct herd_job *job, const struct herd_wish *wish)
{
    enum { HOUR_S = 3600 };
    job->worst = worst_of(&herd->then, &job->ticks->ticks, job->later_s);
    if (job->keep != HERD_FREE || job->worst <= wish->at_most)
        return OK;
    enum status st = OK;
    /* Up to sixty jobs' worth of minutes; for more the seconds are needed, too. */
    bool is_many = job->worst > wish->at_most * 60;
    bool may_be_late = !job->when.deadline_s || job->when.deadline_s >= HOUR_S;
    for (int i = 0; i < HERD_FORMS && wish->within_s >= HOUR_S && may_be_late; i++) {
        enum herd_form form = (enum herd_form)(is_many ? HERD_SECOND - i : HERD_MINUTE + i);
        if (st == OK && !job->new_ticks)
            st = try_text(herd, job, form);
    }
    int64_t jitter_s = jitter_for(job, wish);
    if (st == OK && !job->new_ticks && jitter_s)
        st = try(herd, job, &(struct candidate){NULL, jitter_s});
    if (st == OK && !job->new_ticks)
        job->keep = jitter_s || !job->when.deadline_s ? HERD_NO_USE : HERD_DEADLINE;
    return st;
}

enum status herd_propose(struct herd *herd, const struct herd_wish *wish, size_t jobs,
                         bool *ret_is_done)
{
    enum status st = OK;
    for (size_t i = 0; i < jobs && herd->at < herd->count && st == OK; i++)
        st = propose(herd, &herd->jobs[herd->at++], wish);
    *ret_is_done = st != OK || herd->at == herd->count;
    return st;
}
