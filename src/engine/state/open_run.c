#include "state/open_run.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "group/group.h"
#include "heap.h"
#include "store.h"

#define TO(phase)      (1u << (phase))
#define ENDED_BY_STORE (TO(OPEN_FINISHED) | TO(OPEN_UNFOLLOWED))
/* In a restored store: see take_end() of engine_feed.c. */
#define UNFOLLOWED_AGAIN (TO(OPEN_UNFOLLOWED) | TO(OPEN_ENDED_ELSEWHERE))
#define ELSEWHERE        (TO(OPEN_BEGUN_ELSEWHERE) | TO(OPEN_CLAIMED_ELSEWHERE))

static const struct {
    const char *name;
    unsigned is;  /* enum phase_class */
    unsigned may; /* phases that may follow */
} phases[] = {
    [OPEN_BEGUN_ELSEWHERE] = {"begun elsewhere",
                              PHASE_OPEN | PHASE_FED | PHASE_ELSEWHERE | PHASE_RESTS |
                                  PHASE_EXECUTED,
                              TO(OPEN_CLAIMED_ELSEWHERE) | TO(OPEN_WAITING) | TO(OPEN_CLAIMED) |
                                  TO(OPEN_STARTED) | ENDED_BY_STORE | TO(OPEN_ENDED_ELSEWHERE)},
    [OPEN_CLAIMED_ELSEWHERE] = {"claimed elsewhere",
                                PHASE_OPEN | PHASE_FED | PHASE_ELSEWHERE | PHASE_RESTS |
                                    PHASE_TAKABLE,
                                TO(OPEN_BEGUN_ELSEWHERE) | TO(OPEN_WAITING) | TO(OPEN_TAKING) |
                                    TO(OPEN_CLAIMED) | TO(OPEN_ORPHAN) | ENDED_BY_STORE |
                                    TO(OPEN_ENDED_ELSEWHERE)},
    [OPEN_WAITING] = {"waiting",
                      PHASE_OPEN | PHASE_FED | PHASE_RESTS | PHASE_TAKABLE | PHASE_UNSTARTED,
                      ELSEWHERE | TO(OPEN_TAKING) | TO(OPEN_CLAIMED) | TO(OPEN_ENDED) |
                          TO(OPEN_GROUP) | ENDED_BY_STORE | TO(OPEN_ENDED_ELSEWHERE)},
    [OPEN_GROUP] = {"group", PHASE_OPEN | PHASE_FED | PHASE_RESTS,
                    TO(OPEN_WAITING) | ELSEWHERE | ENDED_BY_STORE | TO(OPEN_ENDED_ELSEWHERE)},
    [OPEN_TAKING] = {"taking", PHASE_OPEN | PHASE_FED | PHASE_OWNED,
                     TO(OPEN_CLAIMED) | TO(OPEN_WAITING) | TO(OPEN_GROUP) | ELSEWHERE |
                         TO(OPEN_ORPHAN) | ENDED_BY_STORE | TO(OPEN_ENDED_ELSEWHERE)},
    [OPEN_CLAIMED] = {"claimed", PHASE_OPEN | PHASE_OWNED | PHASE_UNBEGUN | PHASE_UNSTARTED,
                      TO(OPEN_WAITING) | TO(OPEN_BEGINNING) | TO(OPEN_BEGUN) | TO(OPEN_ENDED) |
                          ELSEWHERE | ENDED_BY_STORE | TO(OPEN_ENDED_ELSEWHERE)},
    [OPEN_BEGINNING] = {"beginning", PHASE_OPEN | PHASE_OWNED | PHASE_UNBEGUN,
                        TO(OPEN_WAITING) | TO(OPEN_BEGUN) | TO(OPEN_REFUSED) | TO(OPEN_CLAIMED) |
                            ELSEWHERE | ENDED_BY_STORE | TO(OPEN_ENDED_ELSEWHERE)},
    [OPEN_BEGUN] = {"begun", PHASE_OPEN | PHASE_OWNED | PHASE_UNSTARTED,
                    TO(OPEN_STARTING) | TO(OPEN_ENDED)},
    [OPEN_STARTING] = {"starting", PHASE_OPEN | PHASE_OWNED | PHASE_EXECUTED | PHASE_PROCESS,
                       TO(OPEN_HELD) | TO(OPEN_STARTED) | TO(OPEN_ENDED)},
    [OPEN_HELD] = {"held", PHASE_OPEN | PHASE_OWNED | PHASE_EXECUTED | PHASE_PROCESS,
                   TO(OPEN_STARTING) | TO(OPEN_STARTED) | TO(OPEN_ENDED)},
    [OPEN_STARTED] = {"started",
                      PHASE_OPEN | PHASE_OWNED | PHASE_RESTS | PHASE_EXECUTED | PHASE_PROCESS,
                      TO(OPEN_ENDED)},
    [OPEN_ORPHAN] = {"orphan", PHASE_OPEN | PHASE_OWNED | PHASE_EXECUTED,
                     TO(OPEN_STARTED) | TO(OPEN_ENDED) | ENDED_BY_STORE | TO(OPEN_ENDED_ELSEWHERE)},
    [OPEN_REFUSED] = {"refused", PHASE_OPEN | PHASE_UNBEGUN,
                      TO(OPEN_WAITING) | TO(OPEN_BEGUN) | ELSEWHERE | ENDED_BY_STORE |
                          TO(OPEN_ENDED_ELSEWHERE)},
    [OPEN_ENDED] = {"ended", PHASE_OPEN,
                    TO(OPEN_WAITING) | TO(OPEN_GROUP) | TO(OPEN_FINISHING) | ELSEWHERE |
                        TO(OPEN_ENDED_ELSEWHERE)},
    [OPEN_FINISHING] = {"finishing", PHASE_OPEN,
                        TO(OPEN_WAITING) | TO(OPEN_GROUP) | TO(OPEN_FINISHED) | TO(OPEN_ENDED) |
                            ELSEWHERE | TO(OPEN_ENDED_ELSEWHERE)},
    [OPEN_UNFOLLOWED] = {"unfollowed", 0, TO(OPEN_FOLLOWING)},
    [OPEN_FOLLOWING] = {"following", 0, TO(OPEN_UNFOLLOWED) | TO(OPEN_FINISHED)},
    [OPEN_FINISHED] = {"finished", 0, TO(OPEN_RECORDING) | UNFOLLOWED_AGAIN},
    [OPEN_RECORDING] = {"recording", 0,
                        TO(OPEN_RECORDED) | TO(OPEN_KEPT) | TO(OPEN_FINISHED) |
                            TO(OPEN_ENDED_ELSEWHERE)},
    [OPEN_RECORDED] = {"recorded", PHASE_RECORDED, TO(OPEN_FORGETTING) | UNFOLLOWED_AGAIN},
    [OPEN_KEPT] = {"kept", PHASE_RECORDED | PHASE_RESTS, TO(OPEN_RECORDED) | UNFOLLOWED_AGAIN},
    [OPEN_FORGETTING] = {"forgetting", PHASE_RECORDED, TO(OPEN_RECORDED) | UNFOLLOWED_AGAIN},
    [OPEN_ENDED_ELSEWHERE] = {"ended elsewhere", PHASE_ELSEWHERE | PHASE_RESTS,
                              TO(OPEN_WAITING) | TO(OPEN_GROUP) | ELSEWHERE | ENDED_BY_STORE |
                                  TO(OPEN_RECORDED)},
};

bool open_phase_is(enum open_phase phase, unsigned classes)
{
    return (phases[phase].is & classes) != 0;
}

static const struct table_type by_id_type = {.key_at = offsetof(struct open_run, run.id),
                                             .key_size = sizeof(struct id)};

void open_runs_init(struct open_runs *runs, struct catalog *catalog)
{
    runs->catalog = catalog;
    table_init(&runs->by_id, &by_id_type);
    members_init(&runs->members);
    TAILQ_INIT(&runs->grouped);
    runs->is_regrouped = false;
    for (int i = 0; i < OPEN_PHASES; i++) {
        TAILQ_INIT(&runs->phases[i]);
        runs->counts[i] = 0;
    }
}

void open_runs_release(struct open_runs *runs)
{
    for (int i = 0; i < OPEN_PHASES; i++) {
        for (struct open_run *open; (open = TAILQ_FIRST(&runs->phases[i]));)
            open_runs_remove(runs, open);
    }
    table_release(&runs->by_id);
    members_release(&runs->members);
}

/* Counts the run as an open run of its job, or no longer. Of a workflow that is the instance. */
static void count(const struct open_runs *runs, const struct open_run *open, bool was_open,
                  bool is_open)
{
    if (was_open == is_open || run_is_step(&open->run))
        return;
    struct catalog_job *job = catalog_by_uid(runs->catalog, &open->run.job_uid);
    if (!job)
        return;
    const struct run *run = &open->run;
    catalog_job_count(job, is_open,
                      run->not_before_ms > run->tick_ms ? run->not_before_ms : run->tick_ms);
}

/* Does it stand right among its neighbours? */
static bool is_in_order(const struct open_run *open)
{
    const struct open_run *before = TAILQ_PREV(open, open_list, in_groups);
    const struct open_run *after = TAILQ_NEXT(open, in_groups);
    return (!before || !run_goes_before(&open->run, &before->run)) &&
           (!after || !run_goes_before(&after->run, &open->run));
}

static void regroup(struct open_runs *runs, struct open_run *open, bool is_open)
{
    bool is_grouped = is_open && open->run.groups[0];
    runs->is_regrouped |= is_grouped || open->is_grouped;
    if (open->is_grouped && (!is_grouped || !is_in_order(open))) {
        TAILQ_REMOVE(&runs->grouped, open, in_groups);
        open->is_grouped = false;
    }
    if (!is_grouped || open->is_grouped)
        return;
    struct open_run *before = TAILQ_LAST(&runs->grouped, open_list);
    while (before && run_goes_before(&open->run, &before->run))
        before = TAILQ_PREV(before, open_list, in_groups);
    if (before)
        TAILQ_INSERT_AFTER(&runs->grouped, before, open, in_groups);
    else
        TAILQ_INSERT_HEAD(&runs->grouped, open, in_groups);
    open->is_grouped = true;
}

static enum status enlist(struct open_runs *runs, struct open_run *open)
{
    return id_is_zero(&open->run.instance) ? OK : members_add(&runs->members, open);
}

struct open_run *open_runs_add(struct open_runs *runs, const struct run *run, enum open_phase phase)
{
    struct open_run *open = calloc(1, sizeof(*open));
    if (!open)
        return NULL;
    open->run = *run;
    open->phase = phase;
    open->is_begun = phase == OPEN_ORPHAN;
    open->start_at_ms = run->tick_ms;
    open->heap_place = HEAP_NONE;
    if (enlist(runs, open) != OK) {
        free(open);
        return NULL;
    }
    if (table_insert(&runs->by_id, open) != OK) {
        members_remove(&runs->members, open);
        free(open);
        return NULL;
    }
    TAILQ_INSERT_TAIL(&runs->phases[phase], open, in_phase);
    runs->counts[phase]++;
    count(runs, open, false, open_phase_is(phase, PHASE_OPEN));
    regroup(runs, open, open_phase_is(phase, PHASE_OPEN));
    return open;
}

void open_runs_count_job(const struct open_runs *runs, struct catalog_job *job)
{
    const struct open_run *open;
    catalog_job_count_none(job);
    for (size_t at = 0; (open = table_next(&runs->by_id, &at));)
        if (open_phase_is(open->phase, PHASE_OPEN) &&
            id_compare(&open->run.job_uid, &job->uid) == 0)
            count(runs, open, false, true);
}

static void release_if_kept(struct open_runs *runs, struct open_run *open)
{
    if (open->phase == OPEN_KEPT && open_runs_recorded(runs, open) == OPEN_RECORDED)
        open_runs_move(runs, open, OPEN_RECORDED);
}

/* The instance has ended, or is gone. */
static void release_steps(struct open_runs *runs, const struct id *instance)
{
    struct open_run *next, *open = members_first(&runs->members, instance);
    for (; open; open = next) {
        next = members_next(open);
        release_if_kept(runs, open);
    }
}

/* The steps of an instance go from the store when it has ended, and then the instance. */
static void release_others(struct open_runs *runs, const struct run *gone)
{
    struct open_run *instance = open_runs_instance(runs, gone);
    if (instance)
        release_if_kept(runs, instance);
    else if (run_is_instance(gone))
        release_steps(runs, &gone->instance);
}

void open_runs_regroup(struct open_runs *runs, struct open_run *open)
{
    regroup(runs, open, open_phase_is(open->phase, PHASE_OPEN));
}

void open_runs_remove(struct open_runs *runs, struct open_run *open)
{
    struct run gone = open->run;
    TAILQ_REMOVE(&runs->phases[open->phase], open, in_phase);
    runs->counts[open->phase]--;
    count(runs, open, open_phase_is(open->phase, PHASE_OPEN), false);
    regroup(runs, open, false);
    table_remove(&runs->by_id, open);
    members_remove(&runs->members, open);
    job_free(open->job);
    free(open->news);
    free(open->output);
    free(open);
    release_others(runs, &gone);
}

struct open_run *open_runs_find(const struct open_runs *runs, const struct id *id)
{
    return table_find(&runs->by_id, id);
}

struct open_run *open_runs_find_taking(const struct open_runs *runs, const struct id *id,
                                       uint64_t nonce)
{
    struct open_run *open = open_runs_find(runs, id);
    return open && open->phase == OPEN_TAKING && open->take_nonce == nonce ? open : NULL;
}

struct open_run *open_runs_first(const struct open_runs *runs, enum open_phase phase)
{
    return TAILQ_FIRST(&runs->phases[phase]);
}

size_t open_runs_count(const struct open_runs *runs, unsigned classes)
{
    size_t count = 0;
    for (int phase = 0; phase < OPEN_PHASES; phase++)
        count += open_phase_is((enum open_phase)phase, classes) ? runs->counts[phase] : 0;
    return count;
}

void open_runs_move(struct open_runs *runs, struct open_run *open, enum open_phase next)
{
    assert(phases[open->phase].may & TO(next));
    bool was_open = open_phase_is(open->phase, PHASE_OPEN);
    bool is_open = open_phase_is(next, PHASE_OPEN);
    TAILQ_REMOVE(&runs->phases[open->phase], open, in_phase);
    runs->counts[open->phase]--;
    count(runs, open, was_open, is_open);
    regroup(runs, open, is_open);
    open->phase = next;
    open->is_up &= next == OPEN_WAITING;
    open->is_begun |= next == OPEN_BEGUN || next == OPEN_ORPHAN || next == OPEN_STARTED;
    TAILQ_INSERT_TAIL(&runs->phases[next], open, in_phase);
    runs->counts[next]++;
    if (was_open && !is_open && run_is_instance(&open->run))
        release_steps(runs, &open->run.instance);
    else if (was_open && !is_open && open->run.state == RUN_LOST)
        release_others(runs, &open->run); /* its record may stay for longer than the instance */
    if (!open->member.of) /* a run that has become an instance; out of memory: it is found by id */
        (void)enlist(runs, open);
}

struct open_run *open_runs_instance(const struct open_runs *runs, const struct run *run)
{
    return run_is_step(run) ? open_runs_find(runs, &run->instance) : NULL;
}

enum run_reason open_runs_order(const struct open_runs *runs, const struct run *run)
{
    const struct open_run *instance = open_runs_instance(runs, run);
    return instance && !run->joins.is_final ? instance->kill : REASON_NONE;
}

/* Is a step of the instance still in the store? One that is lost stays there for its node, which
 * needs no instance to amend it. */
static bool has_steps(const struct open_runs *runs, const struct open_run *instance)
{
    const struct open_run *open = members_first(&runs->members, &instance->run.instance);
    while (open && (open == instance || open->run.state == RUN_LOST))
        open = members_next(open);
    return open != NULL;
}

enum open_phase open_runs_recorded(const struct open_runs *runs, const struct open_run *open)
{
    const struct open_run *instance = open_runs_instance(runs, &open->run);
    bool is_needed = instance ? open_phase_is(instance->phase, PHASE_OPEN)
                              : run_is_instance(&open->run) && has_steps(runs, open);
    return is_needed ? OPEN_KEPT : OPEN_RECORDED;
}

enum open_phase open_phase_of_end(const struct run *run)
{
    return run_is_unfollowed(run) ? OPEN_UNFOLLOWED : OPEN_FINISHED;
}

void open_runs_take(struct open_runs *runs, struct open_run *open, uint64_t nonce)
{
    open->take_nonce = nonce;
    open_runs_move(runs, open, OPEN_TAKING);
}

int64_t open_run_kept_for_ms(const struct open_run *open, struct now now)
{
    int64_t since_ms = now.wall.ms - open->run.finished_ms;
    if (since_ms < 0)
        since_ms = now.boot.ms - open->seen.ms;
    return open->run.node[0] ? OPEN_RUN_KEEP_MS - since_ms : 0;
}

bool open_run_is_kept(const struct open_run *open, struct wall_ms now)
{
    return open->phase == OPEN_ENDED_ELSEWHERE && open->run.state == RUN_LOST &&
           now.ms - open->run.finished_ms > OPEN_RUN_ADOPT_MS;
}

bool open_run_ended_unbegun(const struct open_run *open)
{
    return !open->is_begun && (open->phase == OPEN_ENDED || open->phase == OPEN_FINISHING);
}

/* Runs of older versions do not name the node that booted. */
const char *open_run_only_node(const struct run *run)
{
    if (run->pinned[0])
        return run->pinned;
    return run->cause == CAUSE_REBOOT && run->by[0] ? run->by : NULL;
}

bool open_run_is_set_back(const struct open_run *open, struct wall_ms now)
{
    int64_t ahead_ms = now.ms + STORE_AHEAD_MS;
    return open->run.tick_ms > ahead_ms || open->run.claimed_ms > ahead_ms;
}

bool open_runs_are_behind(const struct open_runs *runs, struct wall_ms now)
{
    const struct open_run *open;
    TAILQ_FOREACH (open, &runs->phases[OPEN_CLAIMED], in_phase) {
        if (open->start_at_ms <= now.ms)
            return true;
    }
    return false;
}

int64_t open_run_too_late_at(const struct open_run *open, int64_t on_time_ms)
{
    int64_t since_ms = open->start_at_ms;
    if (open->run.claimed_ms > since_ms)
        since_ms = open->run.claimed_ms;
    return open->run.cause == CAUSE_TICK ? since_ms + on_time_ms + 1 : NEVER_MS;
}

/* A further attempt was not made with the others. One that has waited for its turn has no other
 * time than that at which this node has seen its turn come. */
int64_t open_run_untaken_at(const struct open_run *open, int64_t on_time_ms, struct now now)
{
    const struct run *run = &open->run;
    bool has_waited = run->rolling & ROLLING_WAITED && run->attempt == 1;
    bool is_plain = !run->parts || (!run->claimed_ms && !has_waited);
    if (run->state != RUN_DUE || is_plain || run->groups[0]) /* that waits for a slot */
        return NEVER_MS;
    int64_t late_at_ms = open_run_too_late_at(open, on_time_ms);
    return has_waited && late_at_ms != NEVER_MS ? wall_at(now, open->seen) + on_time_ms + 1
                                                : late_at_ms;
}

bool open_run_is_too_late(const struct open_run *open, int64_t on_time_ms, struct wall_ms now)
{
    return open_run_too_late_at(open, on_time_ms) <= now.ms;
}

void open_runs_end(struct open_runs *runs, struct open_run *open, enum run_state state,
                   enum run_reason reason, const char *detail, struct wall_ms now)
{
    open->run.state = state;
    open->run.reason = reason;
    open->run.exit_code = -1;
    open->run.finished_ms = now.ms;
    snprintf(open->run.detail, sizeof(open->run.detail), "%s", detail);
    open_runs_move(runs, open, OPEN_ENDED);
}
