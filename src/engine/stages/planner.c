#include "stages/planner.h"

enum {
    FLUSH_MS = 3600 * 1000, /* how long passed ticks are gathered before they are written */
    PUT_OFF_MS = 2000,      /* for a tick that is blocked by a run whose owner is silent */
};

/* Jobs that are due at the same time come group by group: a commit of their claims, begins and ends
 * then writes a few pages of the store, not one for each job. The key of a job is its time and its
 * group. */
enum { GROUPS = 1 << 14 };

static int64_t key_of(const struct catalog_job *job, int64_t at_ms)
{
    const int64_t last_ms = INT64_MAX / GROUPS - 1; /* beyond the year 9999 */
    int64_t ms = at_ms > last_ms ? last_ms : at_ms < -last_ms ? -last_ms : at_ms;
    return ms * GROUPS + job->group % GROUPS;
}

static int64_t first_ms(const struct heap *due)
{
    int64_t key = due->entries[0].key;
    return key / GROUPS - (key % GROUPS < 0);
}

static void job_moved(void *item, uint32_t place)
{
    ((struct catalog_job *)item)->heap_place = place;
}

void planner_init(struct planner *planner)
{
    *planner = (struct planner){.may_run = true};
    heap_init(&planner->due, job_moved);
}

void planner_release(struct planner *planner)
{
    heap_release(&planner->due);
}

/* In maintenance: at its end, unless that is far. */
static int64_t after_maintenance(const struct planner *planner, const struct catalog_job *job,
                                 const struct maintenance *maintenance, int64_t start_ms)
{
    int64_t end_ms = maintenance->to_ms - plan_lead_ms(&planner->rules, job);
    bool is_far = !maintenance->to_ms || end_ms > start_ms + FLUSH_MS;
    return is_far ? start_ms + FLUSH_MS : end_ms > start_ms ? end_ms : start_ms;
}

/* When to look at a job: a little ahead of its start. Ticks that are passed over, because the job
 * is paused, in maintenance or a calendar excludes them, are gathered up to the next one that
 * runs. */
static int64_t look_at(const struct planner *planner, const struct catalog_job *job)
{
    const struct job_calendars *calendars = job->calendars;
    int64_t jitter_ms = catalog_job_jitter_ms(job), start_ms = job->next_ms + jitter_ms;
    if (job->paused)
        return start_ms + FLUSH_MS;
    const struct maintenance *maintenance =
        known_maintenance_at(planner->rules.maintenance, job->name, start_ms);
    if (maintenance)
        return after_maintenance(planner, job, maintenance, start_ms);
    if (!calendars || job->next_ms >= calendars->next_run_ms ||
        job->next_ms <= calendars->out_until_ms)
        return start_ms - plan_lead_ms(&planner->rules, job);
    if (calendars->next_run_ms - job->next_ms > FLUSH_MS)
        return start_ms + FLUSH_MS;
    return calendars->next_run_ms + jitter_ms - plan_lead_ms(&planner->rules, job);
}

enum status planner_put(struct planner *planner, struct catalog_job *job, int64_t not_before_ms)
{
    catalog_job_plan(job);
    if (job->next_ms == NEVER_MS || job->claiming) {
        planner_remove(planner, job);
        return OK;
    }
    int64_t at_ms = look_at(planner, job);
    if (at_ms < not_before_ms)
        at_ms = not_before_ms;
    if (job->heap_place == HEAP_NONE)
        return heap_push(&planner->due, key_of(job, at_ms), job);
    heap_update(&planner->due, job->heap_place, key_of(job, at_ms));
    return OK;
}

void planner_remove(struct planner *planner, struct catalog_job *job)
{
    if (job->heap_place != HEAP_NONE)
        heap_remove(&planner->due, job->heap_place);
}

/* ---- whose turn it is ---- */

/* A function that this process of its program has not registered is for the next rank. */
static bool can_run(const struct planner *planner, const struct catalog_job *job)
{
    return !planner->ports || lacking_can_run(planner->lacking, planner->ports, job);
}

static int rank_of(const struct planner *planner, const struct catalog_job *job)
{
    if (!planner->may_run)
        return NOT_ELIGIBLE;
    if (!planner->placement)
        return 0;
    struct placement_ask ask = placement_ask_of(job);
    int rank = placement_rank(planner->placement, &ask);
    return rank != NOT_ELIGIBLE && can_run(planner, job) ? rank : NOT_ELIGIBLE;
}

static bool has_node(const struct planner *planner, const struct catalog_job *job)
{
    const char *function = catalog_job_function(job);
    return !planner->placement ||
           placement_has_node(planner->placement, job->where, function,
                              !planner->ports || ports_can_run(planner->ports, function));
}

/* When it is this node's turn for a due job. Ranks of a late tick count from when it was first
 * seen, or all nodes would claim it at once. A job that this node may not run is looked at again
 * after on_time_ms: perhaps no node may run it. */
static int64_t turn_at(const struct planner *planner, struct now now, struct catalog_job *job,
                       bool *ret_nobody)
{
    int64_t start_ms = job->next_ms + catalog_job_jitter_ms(job);
    int rank = rank_of(planner, job);
    int64_t looked_ms = catalog_job_look(job, now.wall.ms);
    *ret_nobody = false;
    if (rank == 0)
        return now.wall.ms;
    int64_t base_ms = start_ms > looked_ms ? start_ms : looked_ms;
    if (rank != NOT_ELIGIBLE)
        return base_ms + rank * STEP_IN_MS;
    if (now.wall.ms <= start_ms + planner->rules.on_time_ms)
        return start_ms + planner->rules.on_time_ms + 1;
    *ret_nobody = planner->leads && !has_node(planner, job);
    return *ret_nobody ? now.wall.ms : now.wall.ms + planner->rules.on_time_ms;
}

/* The node that has begun the run is gone, or has not claimed the next tick, though it comes before
 * this one, whose turn it is. */
static bool is_left(const struct planner *planner, const struct catalog_job *job,
                    const struct run *run)
{
    struct placement_ask ask = placement_ask_of(job);
    return !peers_is_alive(planner->peers, run->node, &run->owner) ||
           placement_is_before(planner->placement, &ask, run->node);
}

/* Is the tick blocked by nothing but runs that may soon be lost? */
static bool is_put_off(const struct planner *planner, struct now now, const struct catalog_job *job)
{
    int64_t start_ms = job->next_ms + catalog_job_jitter_ms(job);
    const struct open_run *open;
    uint32_t left = 0;
    if (!planner->peers || !job->open_runs || now.wall.ms >= start_ms + PUT_OFF_MS ||
        catalog_job_policy(job).overlap != OVERLAP_SKIP)
        return false;
    TAILQ_FOREACH (open, &planner->runs->phases[OPEN_BEGUN_ELSEWHERE], in_phase) {
        left += !run_is_step(&open->run) && id_compare(&open->run.job_uid, &job->uid) == 0 &&
                is_left(planner, job, &open->run);
    }
    return left == job->open_runs;
}

/* When to look again at a job whose turn it is; now: it is not put off. An end of a run causes a
 * look at once, and counts as the first: not all nodes must claim then. */
static int64_t put_off(const struct planner *planner, struct now now, struct catalog_job *job)
{
    if (!is_put_off(planner, now, job))
        return now.wall.ms;
    catalog_job_put_off(job);
    return job->next_ms + catalog_job_jitter_ms(job) + PUT_OFF_MS;
}

/* The clock has just passed all repeated ticks: intervals count from there. */
static bool is_over_now(const struct catalog_job *job, struct now now)
{
    return job->rewound && !job->rewound->is_over && now.wall.ms > job->rewound->rewinds.high_ms;
}

enum status planner_next_due(struct planner *planner, struct now now, struct plan *ret)
{
    while (planner->due.count && first_ms(&planner->due) <= now.wall.ms) {
        struct catalog_job *job = planner->due.entries[0].item;
        bool nobody;
        if (is_over_now(job, now)) {
            catalog_job_end_rewound(job);
            enum status put = planner_put(planner, job, INT64_MIN);
            if (put != OK)
                return put;
            continue;
        }
        int64_t turn_ms = turn_at(planner, now, job, &nobody);
        if (turn_ms <= now.wall.ms && !nobody)
            turn_ms = put_off(planner, now, job);
        if (turn_ms > now.wall.ms) {
            heap_update(&planner->due, job->heap_place, key_of(job, turn_ms));
            continue;
        }
        enum status st = plan_ticks(&planner->rules, now, job, nobody, ret);
        if (st != OK)
            return st;
        if (ret->with_run || ret->passed_count) {
            heap_remove(&planner->due, job->heap_place);
            catalog_job_set_claiming(job, true);
            return OK;
        }
        if (ret->wait_until_ms) /* an end of the other job brings a look before */
            catalog_job_put_off(job);
        heap_update(&planner->due, job->heap_place,
                    key_of(job, ret->wait_until_ms ? ret->wait_until_ms : look_at(planner, job)));
    }
    return E_NOT_FOUND;
}

int64_t planner_wake_at(const struct planner *planner)
{
    return planner->due.count ? first_ms(&planner->due) : NEVER_MS;
}
