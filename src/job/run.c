#include "run.h"

#include <stdlib.h>
#include <string.h>

#include "hash.h"
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
    [CAUSE_WEBHOOK] = "webhook",   [CAUSE_STEP] = "step",
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
    [REASON_NOT_NEEDED] = "not_needed",
    [REASON_HTTP_STATUS] = "http_status",
    [REASON_HTTP_BODY] = "http_body",
    [REASON_HTTP_ERROR] = "http_error",
    [REASON_PART_FAILED] = "part_failed",
    [REASON_UPSTREAM] = "upstream",
    [REASON_WHEN] = "when",
    [REASON_STEP_FAILED] = "step_failed",
    [REASON_STEP_OUTPUT] = "step_output",
    [REASON_EXPECTATION] = "expectation",
    [REASON_MAINTENANCE] = "maintenance",
    [REASON_ONLY_IF] = "only_if",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

_Static_assert(COUNT(state_names) == RUN_STATES && COUNT(cause_names) == CAUSES &&
                   COUNT(reason_names) == REASONS,
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

int run_http_status(const struct run *run)
{
    static const char sign[] = "HTTP ";
    bool has_response = run->reason == REASON_HTTP_STATUS || run->reason == REASON_HTTP_BODY;
    if (!has_response || strncmp(run->detail, sign, sizeof(sign) - 1) != 0)
        return -1;
    int status = atoi(run->detail + sizeof(sign) - 1);
    return status >= 100 && status <= 599 ? status : -1;
}

bool run_is_asked_for(const struct run *run)
{
    return run->cause == CAUSE_MANUAL || run->cause == CAUSE_BACKFILL ||
           run->cause == CAUSE_WEBHOOK || run->cause == CAUSE_STEP;
}

bool run_is_instance(const struct run *run)
{
    return !id_is_zero(&run->instance) && !run->step[0];
}

bool run_is_step(const struct run *run)
{
    return !id_is_zero(&run->instance) && run->step[0];
}

bool run_may_be_spread(const struct run *run)
{
    return run->state == RUN_DUE && run->attempt == 1 && !run->parts && !run->pinned[0] &&
           run->cause != CAUSE_REBOOT && !run_is_step(run);
}

bool run_waits_for_turn(const struct run *run)
{
    return run->state == RUN_QUEUED && run->parts;
}

bool run_ends_tick(const struct run *run)
{
    return !run_is_step(run) && (!run->parts || run_state_is_end(run->outcome));
}

/* Of an attempt that was not needed after all the attempt before it has told what follows. */
bool run_is_unfollowed(const struct run *run)
{
    if (!id_is_zero(&run->instance))
        return run_state_is_end(run->state) && !run->finished_ms &&
               run->reason != REASON_NOT_NEEDED;
    return run->parts && run->state == RUN_SKIPPED && !run->finished_ms &&
           run_state_is_end(run->outcome);
}

enum run_state run_tick_result(const struct run *run)
{
    return run->parts ? run->outcome : run->state;
}

static int badness(enum run_state end)
{
    return end == RUN_QUEUED || end == RUN_OK ? 0 : end == RUN_SKIPPED ? 1 : 2;
}

enum run_state run_worse_end(enum run_state first, enum run_state second)
{
    if (badness(second) > badness(first))
        return second;
    return first == RUN_QUEUED ? second : first;
}

uint32_t node_mark(const char *node)
{
    uint32_t mark = (uint32_t)hash_text(0, node);
    return mark ? mark : 1;
}

struct last_run last_run_of(const struct run *run)
{
    enum run_state result = run_tick_result(run);
    return (struct last_run){
        .run_id = run->id,
        .started_ms = run->started_ms,
        .ended_ms = run->finished_ms,
        .succeeded_ms = result == RUN_OK ? run->finished_ms : 0,
        .state = result,
        .retried = run->retried,
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
