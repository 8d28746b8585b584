/* One job of the catalog: its ticks, and the only functions that write to it. */
#include <stdlib.h>

#include "state/catalog.h"
#include "window/held.h"

/* Whole seconds, towards the past and towards the future. */
static int64_t floor_s(int64_t ms)
{
    return ms / 1000 - (ms % 1000 < 0);
}

static int64_t ceil_s(int64_t ms)
{
    return floor_s(ms + 999);
}

static bool is_open(const struct catalog_job *job, int64_t tick_ms)
{
    return !job->rewound || rewinds_is_open(&job->rewound->rewinds, tick_ms);
}

/* The first tick that has not started yet. */
static int64_t next_open(const struct catalog_job *job, const struct schedule *schedule,
                         const struct calendars *calendars, int64_t after_ms)
{
    int64_t tick_s;
    while ((tick_s = schedule_next_free(schedule, calendars, floor_s(after_ms))) != NEVER &&
           !is_open(job, tick_s * 1000))
        after_ms = rewinds_next_open(&job->rewound->rewinds, tick_s * 1000) - 1;
    return tick_s == NEVER ? NEVER_MS : tick_s * 1000;
}

/* An interval's tick gets a different number of milliseconds each time the clock passes it. */
static int64_t of_rhythm(const struct catalog_job *job, int64_t tick_s)
{
    if (tick_s == NEVER)
        return NEVER_MS;
    bool is_again = job->rewound && tick_s * 1000 <= job->rewound->rewinds.high_ms;
    return tick_s * 1000 + (is_again ? job->rewinds % RUN_NAMES_MS : 0);
}

/* Once the clock has passed all repeated ticks, an interval counts from there. */
static int64_t every_next(const struct catalog_job *job, const struct schedule *schedule,
                          const struct calendars *calendars, int64_t after_ms)
{
    bool is_over = job->rewound && job->rewound->is_over;
    if (is_over && job->rewound->rewinds.high_ms > after_ms)
        after_ms = job->rewound->rewinds.high_ms;
    return schedule_next_free(schedule, calendars, floor_s(after_ms));
}

static int64_t after_next(const struct catalog_job *job, const struct schedule *schedule,
                          const struct calendars *calendars, int64_t after_ms)
{
    if (job->last.ended_ms > after_ms)
        after_ms = job->last.ended_ms;
    int64_t tick_s = schedule_next_after_free(schedule, calendars, ceil_s(after_ms));
    bool is_over = job->rewound && job->rewound->is_over;
    if (!is_over || tick_s == NEVER || tick_s * 1000 > job->rewound->rewinds.high_ms)
        return tick_s;
    after_ms = job->rewound->rewinds.high_ms - schedule_interval(schedule) * 1000;
    return schedule_next_after_free(schedule, calendars, floor_s(after_ms) + 1);
}

static int64_t next_of(const struct catalog_job *job, const struct schedule *schedule,
                       const struct calendars *calendars, int64_t after_ms)
{
    switch (schedule_kind(schedule)) {
    case SCHEDULE_CRON:
    case SCHEDULE_AT:
        return next_open(job, schedule, calendars, after_ms);
    case SCHEDULE_EVERY:
        return of_rhythm(job, every_next(job, schedule, calendars, after_ms));
    case SCHEDULE_AFTER:
        return job->open_runs ? NEVER_MS
                              : of_rhythm(job, after_next(job, schedule, calendars, after_ms));
    case SCHEDULE_REBOOT:
    case SCHEDULE_MANUAL:
        break;
    }
    return NEVER_MS;
}

static int64_t first_next(const struct catalog_job *job, const struct calendars *calendars,
                          int64_t after_ms)
{
    int64_t first = NEVER_MS;
    for (uint32_t i = 0; i < job->schedule_count; i++) {
        int64_t tick_ms = next_of(job, job->schedules[i], calendars, after_ms);
        if (tick_ms < first)
            first = tick_ms;
    }
    return first;
}

int64_t catalog_job_next(const struct catalog_job *job, int64_t after_ms)
{
    static const struct calendars none = {NULL, 0, 0};
    return first_next(job, &none, after_ms);
}

/* ---- calendars ---- */

struct calendars catalog_job_calendars(const struct catalog_job *job)
{
    return job->calendars ? job->calendars->set : (struct calendars){NULL, 0, 0};
}

int64_t catalog_job_next_run(const struct catalog_job *job, int64_t after_ms)
{
    struct calendars calendars = catalog_job_calendars(job);
    return first_next(job, &calendars, after_ms);
}

int64_t catalog_job_planned(const struct catalog_job *job)
{
    bool is_planned = job->next_ms != NEVER_MS;
    return is_planned && job->calendars ? job->calendars->next_run_ms : job->next_ms;
}

static int64_t planned_or(int64_t planned_ms, int64_t now_ms, int64_t next_ms)
{
    return planned_ms > now_ms && planned_ms < next_ms ? planned_ms : next_ms;
}

int64_t catalog_job_coming(const struct catalog_job *job, int64_t now_ms)
{
    return planned_or(job->next_ms, now_ms, catalog_job_next(job, now_ms));
}

int64_t catalog_job_coming_run(const struct catalog_job *job, int64_t now_ms)
{
    return planned_or(catalog_job_planned(job), now_ms, catalog_job_next_run(job, now_ms));
}

/* `@after` and a boot can be due at any time. */
static bool may_be_due(const struct schedule *schedule, int64_t at_s, bool is_boot)
{
    enum schedule_kind kind = schedule_kind(schedule);
    if (is_boot || kind == SCHEDULE_REBOOT)
        return is_boot && kind == SCHEDULE_REBOOT;
    return kind == SCHEDULE_AFTER || schedule_next(schedule, at_s - 1) == at_s;
}

static struct calendar_out which_out(const struct catalog_job *job, int64_t at_s, bool is_boot)
{
    struct calendars calendars = catalog_job_calendars(job);
    struct calendar_out out = {.calendar = NULL};
    for (uint32_t i = 0; calendars_matter(&calendars) && i < job->schedule_count; i++) {
        const struct schedule *schedule = job->schedules[i];
        if (!may_be_due(schedule, at_s, is_boot))
            continue;
        size_t which = calendars_which(&calendars, schedule_zone(schedule), at_s);
        if (which == CALENDARS_FREE)
            return (struct calendar_out){.calendar = NULL};
        if (out.calendar)
            continue;
        if (which == calendars.count)
            out.calendar = job->calendars->not_on;
        else
            out = (struct calendar_out){
                job->calendars->uses[which].known->name,
                calendar_window_at(calendars.items[which], schedule_zone(schedule), at_s)};
    }
    return out;
}

struct calendar_out catalog_job_out(const struct catalog_job *job, int64_t tick_ms)
{
    return which_out(job, floor_s(tick_ms), false);
}

struct calendar_out catalog_job_boot_out(const struct catalog_job *job, int64_t boot_ms)
{
    return which_out(job, floor_s(boot_ms), true);
}

bool catalog_job_has_reboot(const struct catalog_job *job)
{
    for (uint32_t i = 0; i < job->schedule_count; i++)
        if (schedule_kind(job->schedules[i]) == SCHEDULE_REBOOT)
            return true;
    return false;
}

const char *catalog_job_missing_calendar(const struct catalog_job *job)
{
    for (size_t i = 0; job->calendars && i < job->calendars->use_count; i++) {
        if (!job->calendars->uses[i].known->revision)
            return job->calendars->uses[i].known->name;
    }
    return NULL;
}

int64_t catalog_job_jitter_ms(const struct catalog_job *job)
{
    return job->schedule_count ? schedule_jitter_ms(job->schedules[0]) : 0;
}

/* ---- what changes ---- */

static void drop_rewound(struct catalog_job *job)
{
    free(job->rewound);
    job->rewound = NULL;
}

bool catalog_job_move(struct catalog_job *job, int64_t cursor_ms, const struct rewinds *rewinds)
{
    uint32_t count = (uint32_t)rewinds->count;
    if (count < job->rewinds || (count == job->rewinds && cursor_ms < job->cursor_ms))
        return false;
    job->cursor_ms = cursor_ms;
    job->rewinds = count;
    if (rewinds->high_ms <= cursor_ms) {
        drop_rewound(job);
        return true;
    }
    if (!job->rewound)
        job->rewound = calloc(1, sizeof(*job->rewound));
    if (job->rewound)
        *job->rewound = (struct rewound){.rewinds = *rewinds};
    else
        job->broken = true; /* else ticks that have started would start again */
    return true;
}

void catalog_job_claimed(struct catalog_job *job, int64_t tick_ms)
{
    if (tick_ms <= job->cursor_ms)
        return;
    job->cursor_ms = tick_ms;
    if (job->rewound && tick_ms >= job->rewound->rewinds.high_ms)
        drop_rewound(job);
}

void catalog_job_plan(struct catalog_job *job)
{
    int64_t before_ms = job->next_ms;
    job->next_ms = job->deleted || job->broken ? NEVER_MS : catalog_job_next(job, job->cursor_ms);
    if (job->calendars)
        job->calendars->next_run_ms =
            job->next_ms == NEVER_MS ? NEVER_MS : catalog_job_next_run(job, job->cursor_ms);
    if (job->next_ms != before_ms)
        job->looked_ms = 0;
}

int64_t catalog_job_look(struct catalog_job *job, int64_t now_ms)
{
    if (!job->looked_ms || job->looked_ms > now_ms)
        job->looked_ms = now_ms;
    return job->looked_ms;
}

void catalog_job_put_off(struct catalog_job *job)
{
    job->looked_ms = 0;
}

void catalog_job_set_claiming(struct catalog_job *job, bool is_claiming)
{
    job->claiming = is_claiming;
}

void catalog_job_catch_up(struct catalog_job *job, int64_t now_ms)
{
    job->caught_up_ms = now_ms;
}

void catalog_job_end_rewound(struct catalog_job *job)
{
    job->rewound->is_over = true;
}

void catalog_job_count(struct catalog_job *job, bool is_open, int64_t start_ms)
{
    if (is_open && !job->open_runs)
        job->open_since_ms = start_ms;
    job->open_runs += is_open ? 1 : -1u;
}

void catalog_job_count_none(struct catalog_job *job)
{
    job->open_runs = 0;
}

void catalog_job_keep_out(struct catalog_job *job, int64_t now_ms)
{
    struct job_calendars *calendars = job->calendars;
    if (!calendars || job->next_ms > now_ms || job->next_ms >= calendars->next_run_ms)
        return;
    calendars->out_until_ms = now_ms < calendars->next_run_ms ? now_ms : calendars->next_run_ms - 1;
}

void catalog_job_set_back(struct catalog_job *job, int64_t now_ms)
{
    if (job->caught_up_ms > now_ms)
        job->caught_up_ms = now_ms;
    if (job->calendars && job->calendars->out_until_ms > now_ms)
        job->calendars->out_until_ms = now_ms;
    if (job->rewound)
        job->rewound->is_over = false; /* the planner finds out */
}

/* A run that was killed or never started leaves the state as it was. */
static bool is_bad(enum run_state state, bool was_bad)
{
    if (state == RUN_FAILED || state == RUN_TIMED_OUT || state == RUN_LOST)
        return true;
    return state == RUN_OK ? false : was_bad;
}

void catalog_job_ended(struct catalog_job *job, const struct last_run *last)
{
    enum run_state before = job->last.state;
    bool was_retried = job->last.retried; /* people are told of a tick's last attempt */
    bool is_same = id_compare(&last->run_id, &job->last.run_id) == 0;
    bool is_amended = is_same && before == RUN_LOST && last->state != RUN_LOST;
    last_run_take(&job->last, last);
    bool is_last = id_compare(&last->run_id, &job->last.run_id) == 0;
    if (((!is_same && is_last) || is_amended) && !was_retried)
        job->was_bad = is_bad(before, job->was_bad);
}

void catalog_job_ran_on(struct catalog_job *job, uint32_t last_node)
{
    job->last_node = last_node;
}

void catalog_job_move_last(struct catalog_job *job, const struct last_run *last)
{
    catalog_job_ended(job, last);
    job->last = *last;
}
