#include "run.h"

#include <string.h>

#include "words.h"

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

static const char *const reason_names[] = {
    [REASON_NONE] = "",
    [REASON_EXIT_CODE] = "exit_code",
    [REASON_SIGNAL] = "signal",
    [REASON_NO_START] = "no_start",
    [REASON_TIMEOUT] = "timeout",
    [REASON_USER] = "user",
    [REASON_REPLACED] = "replaced",
    [REASON_OVERLAP] = "overlap",
    [REASON_QUEUE_FULL] = "queue_full",
    [REASON_PAUSED] = "paused",
    [REASON_SKIP_NEXT] = "skip_next",
    [REASON_DELETED] = "deleted",
    [REASON_CATCH_UP] = "catch_up",
    [REASON_TOO_OLD] = "too_old",
    [REASON_TOO_MANY] = "too_many",
    [REASON_DEADLINE] = "deadline",
    [REASON_START_WINDOW] = "start_window",
    [REASON_NODE_DIED] = "node_died",
    [REASON_SPAWNER_DIED] = "spawner_died",
    [REASON_SHUTDOWN] = "shutdown",
    [REASON_NO_NODE] = "no_node",
    [REASON_RESTORED] = "restored",
    [REASON_CALENDAR] = "calendar",
    [REASON_EDITED] = "edited",
    [REASON_CLOCK] = "clock",
    [REASON_DISK_FULL] = "disk_full",
    [REASON_STORE_AWAY] = "store_away",
    [REASON_CLOCK_DOUBTED] = "clock_doubted",
    [REASON_DRAINED] = "drained",
    [REASON_CPU_TIME] = "cpu_time",
    [REASON_OOM] = "oom",
};

static const char *const reason_texts[] = {
    [REASON_NONE] = "",
    [REASON_EXIT_CODE] = "the exit code was not 0",
    [REASON_SIGNAL] = "a signal from outside peal ended the process",
    [REASON_NO_START] = "the process could not be started",
    [REASON_TIMEOUT] = "the run exceeded its timeout",
    [REASON_USER] = "a user stopped the run",
    [REASON_REPLACED] = "a newer run replaced this one (overlap: replace)",
    [REASON_OVERLAP] = "the previous run was still running (overlap: skip)",
    [REASON_QUEUE_FULL] = "the queue of waiting runs was full (overlap: queue)",
    [REASON_PAUSED] = "the job was paused",
    [REASON_SKIP_NEXT] = "a user asked to skip this tick",
    [REASON_DELETED] = "the job was deleted before the start",
    [REASON_CATCH_UP] = "no agent could start it in time, and catch_up did not ask for a later run",
    [REASON_TOO_OLD] =
        "no agent could start it in time, and the tick is older than the catch_up window",
    [REASON_TOO_MANY] =
        "no agent could start it in time, and more ticks were missed than the catch_up limit",
    [REASON_DEADLINE] = "the run could not start before its deadline",
    [REASON_START_WINDOW] = "the process did not start within 5 s, and must not start later",
    [REASON_NODE_DIED] = "the node died during the run",
    [REASON_SPAWNER_DIED] = "the spawner died; the outcome is unknown",
    [REASON_SHUTDOWN] = "all runs on the node were stopped",
    [REASON_NO_NODE] = "no eligible node was available",
    [REASON_RESTORED] = "the store was restored from a backup",
    [REASON_CALENDAR] = "a calendar of the job excludes the date",
    [REASON_EDITED] = "the schedule was changed before the start",
    [REASON_CLOCK] = "the clock was set back: runs that had started are not started again",
    [REASON_DISK_FULL] = "the disk was full, and catch_up did not ask for a later run",
    [REASON_STORE_AWAY] = "the store was unavailable, and catch_up did not ask for a later run",
    [REASON_CLOCK_DOUBTED] = "the clock was not trusted, and catch_up did not ask for a later run",
    [REASON_DRAINED] = "the nodes were drained, and catch_up did not ask for a later run",
    [REASON_CPU_TIME] = "the process reached its limit of CPU time",
    [REASON_OOM] = "memory ran out: the kernel's OOM killer ended the process",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

_Static_assert(COUNT(state_names) == RUN_STATES && COUNT(cause_names) == CAUSES &&
                   COUNT(reason_names) == REASONS && COUNT(reason_texts) == REASONS,
               "every number has its word");

static const struct word_table state_words = {"state", state_names, COUNT(state_names)};
static const struct word_table cause_words = {"cause", cause_names, COUNT(cause_names)};
static const struct word_table reason_words = {"reason", reason_names, COUNT(reason_names)};

int64_t run_tick_of_now(int64_t now_ms)
{
    return now_ms % 1000 < RUN_NAMES_MS ? now_ms / 1000 * 1000 + RUN_NAMES_MS : now_ms;
}

const char *run_state_name(enum run_state state)
{
    return words_name(&state_words, state);
}

const char *run_reason_name(enum run_reason reason)
{
    return words_name(&reason_words, reason);
}

const char *run_cause_name(enum run_cause cause)
{
    return words_name(&cause_words, cause);
}

const char *run_reason_text(enum run_reason reason)
{
    return reason < REASONS ? reason_texts[reason] : "for a reason that only a newer peal knows";
}

enum status run_state_by_name(const char *name, enum run_state *ret)
{
    unsigned found;
    enum status st = words_find(&state_words, name, &found);
    if (st == OK)
        *ret = (enum run_state)found;
    return st;
}

enum status run_reason_by_name(const char *name, enum run_reason *ret)
{
    unsigned found;
    enum status st = words_read(&reason_words, name, &found);
    if (st == OK)
        *ret = (enum run_reason)found;
    return st;
}

bool run_state_is_known(enum run_state state)
{
    return state < RUN_STATES;
}

bool run_state_is_in(unsigned states, enum run_state state)
{
    return run_state_is_known(state) && states >> state & 1;
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
