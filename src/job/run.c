#include "run.h"

#include <string.h>

static const char *const state_names[] = {
    [RUN_QUEUED] = "queued",   [RUN_DUE] = "due",
    [RUN_CLAIMED] = "claimed", [RUN_BEGUN] = "begun",
    [RUN_RUNNING] = "running", [RUN_OK] = "ok",
    [RUN_FAILED] = "failed",   [RUN_TIMED_OUT] = "timed_out",
    [RUN_KILLED] = "killed",   [RUN_LOST] = "lost",
    [RUN_SKIPPED] = "skipped", [RUN_MISSED] = "missed",
};

static const char *const cause_names[] = {
    [CAUSE_TICK] = "tick",         [CAUSE_CATCH_UP] = "catch_up", [CAUSE_MANUAL] = "manual",
    [CAUSE_BACKFILL] = "backfill", [CAUSE_REBOOT] = "reboot",     [CAUSE_AFTER] = "after",
};

static const struct {
    const char *name, *text;
} reasons[] = {
    [REASON_NONE] = {"", ""},
    [REASON_EXIT_CODE] = {"exit_code", "it ended with an exit code other than 0"},
    [REASON_SIGNAL] = {"signal", "a signal from elsewhere ended it"},
    [REASON_NO_START] = {"no_start", "it could not be started"},
    [REASON_TIMEOUT] = {"timeout", "it ran longer than its timeout"},
    [REASON_USER] = {"user", "a person stopped it"},
    [REASON_REPLACED] = {"replaced", "a newer run took its place (overlap: replace)"},
    [REASON_OVERLAP] = {"overlap", "the previous run was still under way (overlap: skip)"},
    [REASON_QUEUE_FULL] = {"queue_full", "too many runs were waiting already (overlap: queue)"},
    [REASON_PAUSED] = {"paused", "the job was paused"},
    [REASON_SKIP_NEXT] = {"skip_next", "a person asked to skip it"},
    [REASON_DELETED] = {"deleted", "the job was deleted before it started"},
    [REASON_CATCH_UP] = {"catch_up", "no agent was there, and catch_up did not ask for it later"},
    [REASON_TOO_OLD] = {"too_old", "no agent was there, and it is older than the catch_up window"},
    [REASON_TOO_MANY] = {"too_many",
                         "no agent was there, and more were missed than the catch_up limit"},
    [REASON_DEADLINE] = {"deadline", "it could not start before its deadline"},
    [REASON_START_WINDOW] = {"start_window",
                             "it was begun but did not start within 5 s, and must not start later"},
    [REASON_NODE_DIED] = {"node_died", "its node died while it ran"},
    [REASON_SPAWNER_DIED] = {"spawner_died", "its spawner died; how it ended is not known"},
    [REASON_SHUTDOWN] = {"shutdown", "everything on its node was told to stop"},
    [REASON_NO_NODE] = {"no_node", "no node that may run it was there"},
    [REASON_RESTORED] = {"restored", "the store was restored from a backup"},
    [REASON_CALENDAR] = {"calendar", "its date is on a calendar of the job"},
    [REASON_EDITED] = {"edited", "the job was given other times before it started"},
    [REASON_CLOCK] = {"clock", "the clock was set back: what had started is not started again"},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

int64_t run_tick_of_now(int64_t now_ms)
{
    return now_ms % 1000 < RUN_NAMES_MS ? now_ms / 1000 * 1000 + RUN_NAMES_MS : now_ms;
}

const char *run_state_name(enum run_state state)
{
    return state_names[state];
}

const char *run_reason_name(enum run_reason reason)
{
    return reasons[reason].name;
}

const char *run_cause_name(enum run_cause cause)
{
    return cause_names[cause];
}

const char *run_reason_text(enum run_reason reason)
{
    return reasons[reason].text;
}

enum status run_state_by_name(const char *name, enum run_state *ret)
{
    for (size_t i = 0; i < COUNT(state_names); i++) {
        if (strcmp(name, state_names[i]) == 0) {
            *ret = (enum run_state)i;
            return OK;
        }
    }
    return E_NOT_FOUND;
}

enum status run_reason_by_name(const char *name, enum run_reason *ret)
{
    for (size_t i = 0; i < COUNT(reasons); i++) {
        if (strcmp(name, reasons[i].name) == 0) {
            *ret = (enum run_reason)i;
            return OK;
        }
    }
    return E_NOT_FOUND;
}

enum status run_cause_by_name(const char *name, enum run_cause *ret)
{
    for (size_t i = 0; i < COUNT(cause_names); i++) {
        if (strcmp(name, cause_names[i]) == 0) {
            *ret = (enum run_cause)i;
            return OK;
        }
    }
    return E_NOT_FOUND;
}

bool run_state_is_end(enum run_state state)
{
    return state >= RUN_OK && state < RUN_STATES;
}

struct last_run last_run_of(const struct run *run)
{
    return (struct last_run){
        .run_id = run->id,
        .started_ms = run->started_ms,
        .ended_ms = run->finished_ms,
        .succeeded_ms = run->state == RUN_OK ? run->finished_ms : 0,
        .state = run->state,
    };
}

bool last_run_take(struct last_run *last, const struct last_run *told)
{
    int64_t succeeded_ms = last->succeeded_ms;
    bool is_same = id_compare(&told->run_id, &last->run_id) == 0;
    bool is_last = is_same || told->ended_ms >= last->ended_ms;
    bool is_success = told->succeeded_ms > succeeded_ms;
    if (is_last)
        *last = *told;
    last->succeeded_ms = is_success ? told->succeeded_ms : succeeded_ms;
    return is_last || is_success;
}

static int64_t at_most(int64_t time_ms, int64_t limit_ms)
{
    return time_ms < limit_ms ? time_ms : limit_ms;
}

void last_run_set_back(struct last_run *last, int64_t to_ms)
{
    last->started_ms = at_most(last->started_ms, to_ms);
    last->ended_ms = at_most(last->ended_ms, to_ms);
    last->succeeded_ms = at_most(last->succeeded_ms, to_ms);
}
