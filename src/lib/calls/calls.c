#include "calls/calls.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "calls/call.h"
#include "calls/call_batch.h"
#include "calls/calls_internal.h"
#include "calls/command.h"
#include "function/job_function.h"
#include "monotonic.h"
#include "table.h"

enum {
    AHEAD_MS = 50,   /* a call waits for its time in the pool: no turn of the loop is in between */
    BRISK_MS = 100,  /* calls that are done within this time are worth having in the pool ... */
    BRISK_MAX = 256, /* ... up to so many for each thread */
    HELD_MS = 20,    /* threads that are all busy, and for so long with the same calls, are held */
};

static const struct table_type runs_type = {.key_at = offsetof(struct peal_run, id),
                                            .key_size = sizeof(struct id)};

static struct calls *of(struct executor *port)
{
    return (struct calls *)((char *)port - offsetof(struct calls, port));
}

/* Nobody needs it any more: its end is in the store, its output in the history. */
void calls_forget_if_done(struct calls *calls, struct peal_run *call)
{
    if (call->phase != CALL_ENDED || !call->is_acknowledged || !call->is_read)
        return;
    table_remove(&calls->runs, call);
    call_spool_end(&calls->spool, call->id_text, &call->file, false);
    call_free(call);
}

/* ---- events, with the lock ---- */

static void tell(struct calls *calls, struct peal_run *call)
{
    if (call->is_listed)
        return;
    bool is_first = STAILQ_EMPTY(&calls->events); /* else a turn is due, which takes them all */
    call->is_listed = true;
    STAILQ_INSERT_TAIL(&calls->events, call, in_events);
    if (is_first)
        calls->config.wake(calls->config.context);
}

static void tell_started(struct calls *calls, struct peal_run *call)
{
    call->tells_start = true;
    tell(calls, call);
}

static void tell_ended(struct calls *calls, struct peal_run *call, int code, struct wall_ms now)
{
    call->phase = CALL_ENDED;
    call->code = code;
    call->finished_ms = now.ms;
    tell(calls, call);
}

/* The next of what is to be told of a call. */
static struct executor_event take_event(struct peal_run *call)
{
    struct executor_event event = {.run_id = call->id};
    if (call->tells_start) {
        event.kind = EXECUTOR_STARTED;
        event.end.started_ms = call->started_ms;
        call->tells_start = false;
    } else if (call->phase == CALL_EXPIRED) {
        event.kind = EXECUTOR_EXPIRED;
    } else {
        event.kind = EXECUTOR_ENDED;
        call_fill_end(call, &event.end);
    }
    return event;
}

/* ---- calling ---- */

/* With the lock. False: it is too late, or was killed before it began. */
static bool may_begin(struct calls *calls, struct peal_run *call, struct now now)
{
    if (atomic_load(&call->is_cancelled)) {
        call->started_ms = now.wall.ms;
        tell_ended(calls, call, -1, now.wall);
        return false;
    }
    if (now.boot.ms >= call->deadline.ms) {
        call->phase = CALL_EXPIRED;
        tell(calls, call);
        return false;
    }
    call->started_ms = now.wall.ms;
    call->phase = CALL_RUNS;
    if (call->timeout_ms)
        call->stop_ms = now.boot.ms + call->timeout_ms;
    if (call->stop_ms < calls->stop_ms)
        calls->stop_ms = call->stop_ms;
    return true;
}

/* So many calls, of which the longest took that long. */
static void measure(struct calls *calls, int64_t mean_us, int64_t longest_us, int count)
{
    calls->mean_us += (mean_us - calls->mean_us) / 16;
    calls->seen_us =
        calls->seen_us ? calls->seen_us + (mean_us - calls->seen_us) / 16 : mean_us + 1;
    calls->brisk = longest_us > BRISK_MS * 1000 ? 0 : calls->brisk + (size_t)count;
}

static struct peal_run *call_of(struct pool_call *in_pool)
{
    return (struct peal_run *)((char *)in_pool - offsetof(struct peal_run, in_pool));
}

/* The clocks are read without the lock, which all threads want. */
static int make(struct pool_call *in_pool)
{
    struct peal_run *call = call_of(in_pool);
    struct calls *calls = call->calls;
    struct now now = clock_now();
    int64_t began_us = clock_boot_us();
    pthread_mutex_lock(&calls->lock);
    bool begins = may_begin(calls, call, now);
    if (begins) {
        calls->running++;
        calls->moved_us = began_us;
        tell_started(calls, call);
    }
    pthread_mutex_unlock(&calls->lock);
    if (!begins)
        return 0;
    int code = call->function(call, call->arg);
    call_leave_group(call);
    struct wall_ms ended = clock_now().wall;
    int64_t ended_us = clock_boot_us(), took_us = ended_us - began_us;
    pthread_mutex_lock(&calls->lock);
    calls->running--;
    tell_ended(calls, call, code, ended);
    calls->moved_us = ended_us;
    measure(calls, took_us, took_us, 1);
    pthread_mutex_unlock(&calls->lock);
    return 1;
}

/* ---- calling all functions of a group ---- */

static int make_group(struct pool_call *in_pool)
{
    struct peal_run *call = call_of(in_pool);
    struct calls *calls = call->calls;
    struct now now = clock_now();
    pthread_mutex_lock(&calls->lock);
    bool begins = may_begin(calls, call, now);
    if (begins)
        tell_started(calls, call);
    pthread_mutex_unlock(&calls->lock);
    if (!begins)
        return 0;
    struct call_batch *batch = call_batch_new(call, now);
    pthread_mutex_lock(&calls->lock);
    call->batch = batch;
    if (!batch)
        tell_ended(calls, call, -1, now.wall);
    pthread_mutex_unlock(&calls->lock);
    return batch ? call_batch_make(batch) : 0;
}

void calls_hand_begins(struct calls *calls, int64_t now_us)
{
    pthread_mutex_lock(&calls->lock);
    calls->running++;
    calls->moved_us = now_us;
    pthread_mutex_unlock(&calls->lock);
}

void calls_hand_rests(struct calls *calls, int64_t now_us, int64_t took_us, int64_t longest_us,
                      int made)
{
    pthread_mutex_lock(&calls->lock);
    calls->running--;
    calls->moved_us = now_us;
    if (made)
        measure(calls, took_us / made, longest_us, made);
    pthread_mutex_unlock(&calls->lock);
}

void calls_end_batch(struct peal_run *call)
{
    struct calls *calls = call->calls;
    struct wall_ms ended = clock_now().wall;
    pthread_mutex_lock(&calls->lock);
    call->batch = NULL;
    tell_ended(calls, call, 0, ended);
    pthread_mutex_unlock(&calls->lock);
}

/* ---- the executor ---- */

static bool is_known(struct calls *calls, const struct id *run_id)
{
    pthread_mutex_lock(&calls->lock);
    bool is_known = table_find(&calls->runs, run_id);
    pthread_mutex_unlock(&calls->lock);
    return is_known;
}

/* It may have ended by the time that this returns. */
static enum status add(struct calls *calls, struct peal_run *call)
{
    pthread_mutex_lock(&calls->lock);
    enum status st = table_insert(&calls->runs, call);
    pthread_mutex_unlock(&calls->lock);
    if (st != OK)
        return st;
    st = call_pool_add(calls->config.pool, &call->in_pool);
    if (st != OK) {
        pthread_mutex_lock(&calls->lock);
        table_remove(&calls->runs, call);
        pthread_mutex_unlock(&calls->lock);
    }
    return st;
}

static enum status start(struct executor *port, const struct run *run, const struct job *job,
                         struct boot_ms at, struct boot_ms deadline)
{
    struct calls *calls = of(port);
    struct peal_run *call;
    struct call_target target;
    struct call_order order = {job_function_name(job), run, job, calls->config.node};
    if (is_known(calls, &run->id)) /* asked for again */
        return OK;
    if (!calls->config.find(calls->config.functions, &order, &target))
        return E_NOT_FOUND;
    enum status st = call_new(calls, run, job, &call);
    if (st != OK) {
        command_free(target.command);
        if (target.member)
            call_group_leave(target.group_of, target.member, MEMBER_CALL);
        return st;
    }
    call->function = target.function;
    call->arg = target.command ? target.command : target.arg;
    call->command = target.command;
    call->group = target.group;
    call->member = target.member;
    call->group_of = target.group_of;
    call->deadline = deadline;
    call->in_pool.at_us = clock_boot_us_near(at, (struct wall_ms){run->not_before_ms});
    call->in_pool.make = call->group ? make_group : make;
    st = add(calls, call);
    if (st != OK)
        call_free(call);
    return st;
}

/* A call can't be ended from outside: it is told, and returns. One that waits is not made. */
static void kill_run(struct executor *port, const struct id *run_id, enum run_reason reason)
{
    struct calls *calls = of(port);
    pthread_mutex_lock(&calls->lock);
    struct peal_run *call = table_find(&calls->runs, run_id);
    if (call && call->phase != CALL_ENDED)
        call_cancel(call, reason);
    pthread_mutex_unlock(&calls->lock);
}

static void acknowledge(struct executor *port, const struct id *run_id)
{
    struct calls *calls = of(port);
    pthread_mutex_lock(&calls->lock);
    struct peal_run *call = table_find(&calls->runs, run_id);
    if (call) {
        call->is_acknowledged = true;
        calls_forget_if_done(calls, call);
    }
    pthread_mutex_unlock(&calls->lock);
}

static bool next_event(struct executor *port, struct executor_event *ret)
{
    struct calls *calls = of(port);
    pthread_mutex_lock(&calls->lock);
    struct peal_run *first = STAILQ_FIRST(&calls->events);
    bool is_there = calls->tells_ready || first;
    if (calls->tells_ready) {
        *ret = (struct executor_event){.kind = EXECUTOR_READY};
        calls->tells_ready = false;
    } else if (first) {
        *ret = take_event(first);
        bool is_told = ret->kind != EXECUTOR_STARTED || first->phase == CALL_RUNS;
        if (is_told) {
            STAILQ_REMOVE_HEAD(&calls->events, in_events);
            first->is_listed = false;
        }
        if (ret->kind == EXECUTOR_EXPIRED) {
            table_remove(&calls->runs, first);
            call_free(first);
        }
    }
    pthread_mutex_unlock(&calls->lock);
    return is_there;
}

static int64_t ahead_ms(const struct executor *port, const struct job *job)
{
    (void)port;
    (void)job;
    return AHEAD_MS;
}

/* With the lock. All threads are busy, and have been with the same calls for so long. */
static bool are_held(const struct calls *calls, int threads, int64_t for_ms)
{
    return calls->running >= (size_t)threads && clock_boot_us() - calls->moved_us > for_ms * 1000;
}

/* What is begun must be called within its window, whatever the calls before it do: one for each
 * idle thread, and, after calls that were brisk, so many for each of those as there are threads. */
static size_t starts_ahead(const struct executor *port)
{
    struct calls *calls = of((struct executor *)port);
    size_t threads = (size_t)calls->threads;
    pthread_mutex_lock(&calls->lock);
    size_t idle = calls->running < threads ? threads - calls->running : 0;
    size_t most = threads * (size_t)calls->each;
    size_t more = calls->brisk < most / threads ? calls->brisk * threads : most;
    if (are_held(calls, calls->threads, HELD_MS))
        more = 0;
    pthread_mutex_unlock(&calls->lock);
    return idle > more ? idle : more;
}

static const struct executor_ops executor_ops = {.start = start,
                                                 .kill = kill_run,
                                                 .acknowledge = acknowledge,
                                                 .next_event = next_event,
                                                 .ahead_ms = ahead_ms,
                                                 .starts_ahead = starts_ahead};

struct executor *calls_executor(struct calls *calls)
{
    return &calls->port;
}

bool calls_has(struct calls *calls, const struct id *run_id)
{
    pthread_mutex_lock(&calls->lock);
    bool has = table_find(&calls->runs, run_id);
    pthread_mutex_unlock(&calls->lock);
    return has;
}

void calls_tell_again(struct calls *calls)
{
    struct peal_run *call;
    size_t at = 0;
    pthread_mutex_lock(&calls->lock);
    while ((call = table_next(&calls->runs, &at)))
        if (call->phase == CALL_RUNS)
            tell_started(calls, call);
    pthread_mutex_unlock(&calls->lock);
}

/* ---- telling them to stop ---- */

/* Tells it, if its time is over; else when that will be. */
static int64_t time_out(struct peal_run *call, struct boot_ms now)
{
    if (call->batch)
        return call_batch_time_out(call->batch, now);
    if (call->stop_ms > now.ms)
        return call->stop_ms;
    if (!call->group) /* else it is just about to begin */
        call_cancel(call, REASON_TIMEOUT);
    return INT64_MAX;
}

struct boot_ms calls_time_out(struct calls *calls, struct boot_ms now)
{
    struct peal_run *call;
    size_t at = 0;
    pthread_mutex_lock(&calls->lock);
    if (now.ms >= calls->stop_ms) {
        calls->stop_ms = INT64_MAX;
        while ((call = table_next(&calls->runs, &at))) {
            bool is_told = call->phase != CALL_RUNS || atomic_load(&call->is_cancelled);
            int64_t stop_ms = is_told ? INT64_MAX : time_out(call, now);
            calls->stop_ms = stop_ms < calls->stop_ms ? stop_ms : calls->stop_ms;
        }
    }
    struct boot_ms next = {calls->stop_ms};
    pthread_mutex_unlock(&calls->lock);
    return next;
}

void calls_shut_down(struct calls *calls)
{
    struct peal_run *call;
    size_t at = 0;
    pthread_mutex_lock(&calls->lock);
    while ((call = table_next(&calls->runs, &at)))
        if (call->phase == CALL_RUNS) {
            call_cancel(call, REASON_SHUTDOWN);
            if (call->batch)
                call_batch_shut_down(call->batch);
        }
    pthread_mutex_unlock(&calls->lock);
}

/* ---- how many ---- */

size_t calls_running(struct calls *calls)
{
    pthread_mutex_lock(&calls->lock);
    size_t running = calls->running;
    pthread_mutex_unlock(&calls->lock);
    return running;
}

int calls_wanted(struct calls *calls, int threads, bool is_alone)
{
    pthread_mutex_lock(&calls->lock);
    int64_t mean_us = is_alone ? calls->seen_us : calls->mean_us;
    bool is_held = are_held(calls, threads, BRISK_MS);
    pthread_mutex_unlock(&calls->lock);
    int each = 1; /* and no more while all threads are held by calls that are not brisk */
    while (!is_held && each < BRISK_MAX && mean_us * each * 2 <= BRISK_MS * 1000)
        each *= 2; /* in few steps: a changed number is told to all nodes */
    calls->threads = threads;
    calls->each = each;
    return threads * each;
}

/* ---- beginning and end ---- */

enum status calls_new(const struct calls_config *config, struct calls **ret)
{
    struct calls *calls = calloc(1, sizeof(*calls));
    if (!calls)
        return E_NOMEM;
    calls->port.ops = &executor_ops;
    calls->config = *config;
    calls->mean_us = BRISK_MS * 1000 / 8;
    calls->threads = calls->each = 1;
    calls->stop_ms = INT64_MAX;
    table_init(&calls->runs, &runs_type);
    call_spool_init(&calls->spool, config->spool);
    STAILQ_INIT(&calls->events);
    brief_lock_init(&calls->lock);
    calls->tells_ready = true;
    config->wake(config->context);
    *ret = calls;
    return OK;
}

struct calls *calls_free(struct calls *calls)
{
    if (!calls)
        return NULL;
    struct peal_run *call;
    size_t at = 0;
    while ((call = table_next(&calls->runs, &at))) {
        call_spool_end(&calls->spool, call->id_text, &call->file, true);
        call_free(call);
    }
    call_spool_release(&calls->spool);
    table_release(&calls->runs);
    pthread_mutex_destroy(&calls->lock);
    free(calls);
    return NULL;
}
