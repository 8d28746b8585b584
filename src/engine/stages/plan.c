#include "stages/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workflow/opening.h"

enum {
    PASSES_PER_PLAN = 100000, /* more ticks, or entries, take several claims */
};

void plan_release(struct plan *plan)
{
    free(plan->passed);
    free(plan->conditions);
    free(plan->parts.parts);
    opening_release(&plan->opening);
    *plan = (struct plan){0};
}

/* The decision about a tick. */
struct verdict {
    bool run;
    int64_t waits_until_ms; /* for a condition: not decided yet; 0: it is */
    enum run_cause cause;
    enum run_state state;
    enum run_reason reason;
    char detail[160];
};

static struct verdict passed_over(enum run_state state, enum run_reason reason)
{
    return (struct verdict){.state = state, .reason = reason};
}

static struct verdict with_detail(struct verdict verdict, const char *detail)
{
    snprintf(verdict.detail, sizeof(verdict.detail), "%s", detail);
    return verdict;
}

static struct verdict run_as(enum run_cause cause)
{
    return (struct verdict){.run = true, .cause = cause};
}

/* A tick that is due. */
struct due {
    int64_t tick_ms, now_ms;
    int64_t late_ms;           /* time since it should have started */
    bool is_late;              /* it was missed in an outage: catch_up decides */
    enum run_reason hindrance; /* why no run could start at its time; NONE: none is known */
    bool last;                 /* no later tick that could run is due yet */
    struct calendar_out out;   /* the calendar that excludes it */
    const struct maintenance *maintenance; /* in which it would start; NULL: none */
    int64_t start_ms;                      /* with jitter */
    struct conditions_look look;           /* of a job with conditions */
};

/* A past pause whose end lies in the future was ended by a clock that has been set back since. */
static bool was_paused(const struct catalog_job *job, const struct job_policy *policy,
                       const struct due *due)
{
    bool is_over = policy->resumed_ms > due->now_ms + STORE_AHEAD_MS;
    return job->paused || (policy->resumed_ms && !is_over && due->tick_ms >= policy->paused_ms &&
                           due->tick_ms <= policy->resumed_ms);
}

static struct verdict in_maintenance(const struct maintenance *maintenance)
{
    struct verdict verdict =
        passed_over(RUN_SKIPPED, maintenance->is_pause ? REASON_PAUSED : REASON_MAINTENANCE);
    maintenance_tell(maintenance, verdict.detail, sizeof(verdict.detail));
    return verdict;
}

static struct verdict out_of_calendar(const struct calendar_out *out)
{
    struct verdict verdict = passed_over(RUN_SKIPPED, REASON_CALENDAR);
    calendar_out_print(out, verdict.detail);
    return verdict;
}

/* Did an operator call the tick off (pause, skip, maintenance)? */
static bool is_called_off(const struct catalog_job *job, const struct job_policy *policy,
                          const struct due *due, struct verdict *ret)
{
    if (was_paused(job, policy, due))
        *ret = passed_over(RUN_SKIPPED, REASON_PAUSED);
    else if (due->tick_ms <= policy->skip_until_ms)
        *ret = passed_over(RUN_SKIPPED, REASON_SKIP_NEXT);
    else if (due->maintenance)
        *ret = in_maintenance(due->maintenance);
    else if (due->out.calendar)
        *ret = out_of_calendar(&due->out);
    else
        return false;
    return true;
}

/* A known hindrance at the tick's time is the reason of its entry; `detail` then names the limit of
 * catch_up. */
static struct verdict passed_over_late(const struct due *due, enum run_reason reason,
                                       const char *detail)
{
    if (due->hindrance == REASON_NONE)
        return passed_over(RUN_MISSED, reason);
    return with_detail(passed_over(RUN_MISSED, due->hindrance), detail);
}

/* `oldest_ms`: the oldest tick that catch_up: all may still run; `nobody`: no node is eligible. */
static struct verdict judge(const struct catalog_job *job, const struct job_policy *policy,
                            const struct due *due, int64_t oldest_ms, bool nobody)
{
    int64_t tick_ms = due->tick_ms, late_ms = due->late_ms;
    struct verdict verdict;
    if (is_called_off(job, policy, due, &verdict))
        return verdict;
    if (nobody)
        return passed_over(RUN_MISSED, REASON_NO_NODE);
    if (policy->deadline_s && late_ms > policy->deadline_s * 1000)
        return passed_over(RUN_MISSED, REASON_DEADLINE);
    if (!due->is_late)
        return run_as(CAUSE_TICK);
    if (policy->catch_up == CATCH_UP_SKIP || (policy->catch_up == CATCH_UP_LAST && !due->last))
        return passed_over_late(due, REASON_CATCH_UP, "");
    if (late_ms > policy->catch_up_window_s * 1000)
        return passed_over_late(due, REASON_TOO_OLD, "older than the catch_up window");
    if (policy->catch_up == CATCH_UP_ALL && tick_ms < oldest_ms)
        return passed_over_late(due, REASON_TOO_MANY, "more than the catch_up limit");
    return run_as(CAUSE_CATCH_UP);
}

/* A tick whose conditions do not hold waits for them, and is skipped then. They are not looked at
 * before its time. */
static struct verdict judge_conditions(const struct catalog_job *job, const struct due *due,
                                       struct verdict verdict)
{
    if (!verdict.run || !job->conditions || !due->look.unmet)
        return verdict;
    if (due->now_ms < due->start_ms + job->conditions->wait_ms)
        return (struct verdict){.waits_until_ms = due->start_ms + job->conditions->wait_ms};
    struct verdict skipped = passed_over(RUN_SKIPPED, REASON_ONLY_IF);
    conditions_tell(job->conditions, &due->look, skipped.detail, sizeof(skipped.detail));
    return skipped;
}

/* The oldest of the last `limit` ticks up to now that no calendar excludes; INT64_MIN when there
 * are fewer. */
static int64_t oldest_of_last(const struct catalog_job *job, int64_t now_ms, int limit)
{
    struct schedule_set set = {job->schedules, job->schedule_count};
    struct calendars calendars = catalog_job_calendars(job);
    int64_t tick_s = now_ms / 1000 + 1;
    for (int i = 0; i < limit; i++) {
        int64_t earlier = schedule_set_prev_free(&set, &calendars, tick_s);
        if (earlier == NEVER_BEFORE)
            return INT64_MIN;
        tick_s = earlier;
    }
    return tick_s * 1000;
}

/* Did a tick between the two start before the clock was set back? */
static bool is_apart(const struct catalog_job *job, int64_t one_ms, int64_t next_ms)
{
    const struct rewinds *rewinds = job->rewound ? &job->rewound->rewinds : NULL;
    return rewinds && rewinds_is_open(rewinds, one_ms) &&
           !rewinds_are_open(rewinds, one_ms, next_ms);
}

/* A start at that time is more than on_time_ms late, or was due during an absence of all nodes. */
static bool is_late(const struct plan_rules *rules, struct now now, int64_t start_ms)
{
    return now.wall.ms - start_ms > rules->on_time_ms ||
           attendance_has_missed(rules->attendance, start_ms, now.wall.ms);
}

/* The maintenance in which the job would start: at its time, or now if it is late. */
static const struct maintenance *maintenance_of(const struct plan_rules *rules,
                                                const struct catalog_job *job, int64_t start_ms,
                                                bool is_late, int64_t now_ms)
{
    const struct maintenance *found = known_maintenance_at(rules->maintenance, job->name, start_ms);
    return found || !is_late ? found : known_maintenance_at(rules->maintenance, job->name, now_ms);
}

/* Adds a passed tick to the last entry, or as a new one when its verdict differs. */
static enum status pass(struct plan *plan, int64_t tick_ms, struct verdict verdict)
{
    struct ledger_entry *last = plan->passed_count ? &plan->passed[plan->passed_count - 1] : NULL;
    if (!last || last->state != verdict.state || last->reason != verdict.reason ||
        strcmp(last->detail, verdict.detail) != 0 || is_apart(plan->job, last->to_ms, tick_ms)) {
        struct ledger_entry *entries =
            realloc(plan->passed, (plan->passed_count + 1) * sizeof(*entries));
        if (!entries)
            return E_NOMEM;
        plan->passed = entries;
        last = &entries[plan->passed_count++];
        *last = (struct ledger_entry){
            .from_ms = tick_ms, .state = verdict.state, .reason = verdict.reason};
        snprintf(last->detail, sizeof(last->detail), "%s", verdict.detail);
    }
    last->to_ms = tick_ms;
    last->count++;
    return OK;
}

/* A tick that may wait for its conditions could not start before they held. */
static int64_t could_start_ms(const struct catalog_job *job, const struct due *due)
{
    if (!job->conditions || !job->conditions->wait_ms)
        return due->start_ms;
    int64_t met_ms = due->look.unmet ? due->now_ms : due->look.met_ms;
    return met_ms > due->start_ms ? met_ms : due->start_ms;
}

/* The facts of a tick as of now. *run_ms is the first tick from `tick_ms` on that no calendar
 * excludes. */
static struct due look_at_tick(const struct plan_rules *rules, struct now now,
                               const struct catalog_job *job, int64_t tick_ms, int64_t *run_ms)
{
    int64_t jitter_ms = catalog_job_jitter_ms(job), next_ms;
    struct due due = {
        .tick_ms = tick_ms, .now_ms = now.wall.ms, .late_ms = now.wall.ms - tick_ms - jitter_ms};
    if (*run_ms > tick_ms || (job->calendars && tick_ms <= job->calendars->out_until_ms)) {
        due.out = catalog_job_out(job, tick_ms);
        if (!due.out.calendar)
            due.out.calendar = "";
        next_ms = *run_ms;
    } else {
        next_ms = *run_ms = catalog_job_next_run(job, tick_ms);
    }
    due.last = next_ms == NEVER_MS || next_ms + jitter_ms > now.wall.ms;
    due.start_ms = tick_ms + jitter_ms;
    if (job->conditions)
        due.look = conditions_look(rules->catalog, job, tick_ms);
    due.is_late = is_late(rules, now, could_start_ms(job, &due));
    due.maintenance = maintenance_of(rules, job, tick_ms + jitter_ms, due.is_late, now.wall.ms);
    return due;
}

/* The tick after one that look_at_tick has looked at. */
static int64_t next_tick(const struct catalog_job *job, int64_t tick_ms, int64_t run_ms)
{
    return job->calendars ? catalog_job_next(job, tick_ms) : run_ms;
}

int64_t plan_lead_ms(const struct plan_rules *rules, const struct catalog_job *job)
{
    bool is_free = !job->open_runs && rules->free_lead_ms > rules->lead_ms;
    return is_free ? rules->free_lead_ms : rules->lead_ms;
}

/* If a condition does not hold for a tick, it does not for the later ones of the plan. */
static void note_condition(struct plan *plan, int64_t tick_ms)
{
    if (!plan->has_condition)
        plan->condition_tick_ms = tick_ms;
    plan->has_condition = true;
}

/* Walks the due ticks of a job, from its cursor up to the first that is to run. `nobody`: no node
 * is eligible now, but one may still come in time for the latest tick. */
static enum status walk(const struct plan_rules *rules, struct now now, bool nobody,
                        struct plan *plan)
{
    const struct catalog_job *job = plan->job;
    struct job_policy policy = catalog_job_policy(job);
    int64_t jitter_ms = catalog_job_jitter_ms(job);
    int64_t horizon_ms = now.wall.ms + (nobody ? -rules->on_time_ms - 1 : plan_lead_ms(rules, job));
    int64_t oldest_ms = INT64_MIN;
    if (policy.catch_up == CATCH_UP_ALL && is_late(rules, now, job->next_ms + jitter_ms))
        oldest_ms = oldest_of_last(job, now.wall.ms, policy.catch_up_limit);
    int64_t tick_ms = job->next_ms;
    int64_t run_ms = job->calendars ? job->calendars->next_run_ms : tick_ms;
    for (int i = 0; i < PASSES_PER_PLAN && tick_ms != NEVER_MS && tick_ms + jitter_ms <= horizon_ms;
         i++) {
        struct due due = look_at_tick(rules, now, job, tick_ms, &run_ms);
        due.hindrance = hindrances_at(rules->hindrances, job->where, tick_ms + jitter_ms);
        struct verdict verdict =
            judge_conditions(job, &due, judge(job, &policy, &due, oldest_ms, nobody));
        plan->wait_until_ms = verdict.waits_until_ms;
        if (verdict.waits_until_ms || (!verdict.run && plan->passed_count == STORE_PASSED_MAX))
            return OK;
        plan->tick_ms = tick_ms;
        if (job->conditions && (verdict.run || verdict.reason == REASON_ONLY_IF))
            note_condition(plan, tick_ms);
        if (verdict.run) {
            plan->with_run = true;
            plan->cause = verdict.cause;
            plan->start_at_ms = could_start_ms(job, &due);
            return OK;
        }
        enum status st = pass(plan, tick_ms, verdict);
        if (st != OK)
            return st;
        tick_ms = next_tick(job, tick_ms, run_ms);
    }
    return OK;
}

enum status plan_ticks(const struct plan_rules *rules, struct now now, struct catalog_job *job,
                       bool nobody, struct plan *ret)
{
    struct plan plan = {.job = job};
    enum status st = walk(rules, now, nobody, &plan);
    if (st == OK)
        *ret = plan;
    else
        plan_release(&plan);
    return st;
}

/* ---- boots ---- */

/* When the run is to start. A boot in the future was noticed by a clock that has been set back
 * since. */
static int64_t boot_start_ms(const struct catalog_job *job, struct now now, int64_t boot_ms)
{
    return boot_ms > now.wall.ms + STORE_AHEAD_MS ? now.wall.ms
                                                  : boot_ms + catalog_job_jitter_ms(job);
}

static enum status decide_boot(const struct plan_rules *rules, struct now now, bool may_run,
                               struct plan *plan)
{
    struct job_policy policy = catalog_job_policy(plan->job);
    struct due due = {.tick_ms = plan->tick_ms,
                      .now_ms = now.wall.ms,
                      .late_ms = now.wall.ms - plan->start_at_ms,
                      .is_late = now.wall.ms - plan->start_at_ms > rules->on_time_ms,
                      .hindrance = hindrances_here_at(rules->hindrances, plan->start_at_ms),
                      .last = true,
                      .out = catalog_job_boot_out(plan->job, plan->tick_ms)};
    due.maintenance = maintenance_of(rules, plan->job, plan->start_at_ms, due.is_late, now.wall.ms);
    struct verdict verdict = judge(plan->job, &policy, &due, INT64_MIN, false);
    if (!verdict.run)
        return pass(plan, plan->tick_ms, verdict);
    if (!may_run || now.wall.ms < plan->start_at_ms - rules->lead_ms)
        return E_NOT_FOUND;
    plan->with_run = true;
    plan->cause = CAUSE_REBOOT;
    return OK;
}

enum status plan_boot(const struct plan_rules *rules, struct now now, struct catalog_job *job,
                      int64_t boot_ms, bool may_run, struct plan *ret)
{
    struct plan plan = {
        .job = job, .tick_ms = boot_ms, .start_at_ms = boot_start_ms(job, now, boot_ms)};
    enum status st = decide_boot(rules, now, may_run, &plan);
    if (st == OK)
        *ret = plan;
    else
        plan_release(&plan);
    return st;
}

/* ---- a job that gets other times, or goes ---- */

/* One entry without a count, for more ticks than can be counted in time or fit a transaction. */
static enum status pass_rest(struct plan *plan, int64_t from_ms, int64_t until_ms,
                             enum run_reason reason)
{
    struct verdict verdict = passed_over(RUN_SKIPPED, reason);
    verdict = with_detail(verdict, "too many ticks to count");
    enum status st = pass(plan, from_ms, verdict);
    if (st != OK)
        return st;
    struct ledger_entry *rest = &plan->passed[plan->passed_count - 1];
    rest->to_ms = until_ms;
    rest->count = 0;
    return OK;
}

enum status plan_pass(const struct plan_rules *rules, struct catalog_job *job, int64_t until_ms,
                      enum run_reason reason, struct plan *ret)
{
    struct plan plan = {.job = job, .tick_ms = until_ms};
    struct job_policy policy = catalog_job_policy(job);
    struct now until = {.wall = {until_ms}};
    int64_t tick_ms = job->next_ms, run_ms = job->calendars ? job->calendars->next_run_ms : tick_ms;
    enum status st = OK;
    for (int i = 0; st == OK && tick_ms <= until_ms; i++) {
        if (i == PASSES_PER_PLAN || plan.passed_count == STORE_PASSED_MAX - 1) {
            st = pass_rest(&plan, tick_ms, until_ms, reason);
            break;
        }
        struct due due = look_at_tick(rules, until, job, tick_ms, &run_ms);
        struct verdict verdict = passed_over(RUN_SKIPPED, reason);
        is_called_off(job, &policy, &due, &verdict);
        st = pass(&plan, tick_ms, verdict);
        tick_ms = next_tick(job, tick_ms, run_ms);
    }
    if (st == OK)
        *ret = plan;
    else
        plan_release(&plan);
    return st;
}

/* ---- ticks that are gathered ---- */

enum status plan_called_off(const struct plan_rules *rules, struct catalog_job *job, int64_t now_ms,
                            struct plan *ret)
{
    struct plan plan = {.job = job};
    struct job_policy policy = catalog_job_policy(job);
    struct now now = {.wall = {now_ms}};
    int64_t jitter_ms = catalog_job_jitter_ms(job), tick_ms = job->next_ms;
    int64_t run_ms = job->calendars ? job->calendars->next_run_ms : tick_ms;
    enum status st = OK;
    for (int i = 0; st == OK && i < PASSES_PER_PLAN && plan.passed_count < STORE_PASSED_MAX &&
                    tick_ms != NEVER_MS && tick_ms + jitter_ms <= now_ms;
         i++) {
        struct due due = look_at_tick(rules, now, job, tick_ms, &run_ms);
        struct verdict verdict;
        if (!is_called_off(job, &policy, &due, &verdict))
            break;
        st = pass(&plan, tick_ms, verdict);
        tick_ms = next_tick(job, tick_ms, run_ms);
    }
    if (st == OK)
        *ret = plan;
    else
        plan_release(&plan);
    return st;
}
