#include "calls.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include <time.h>
#include <unistd.h>

#include "call_output.h"
#include "function/job_function.h"
#include "table.h"

enum call_phase {
    CALL_WAITS, /* for a thread, or for its time */
    CALL_RUNS,
    CALL_ENDED, /* until the engine has acknowledged it, and the history has its output */
};

struct call_param {
    char *name, *value;
};

struct peal_run {
    struct id id;
    struct calls *calls;
    struct run run; /* as the engine has asked for it */
    char id_text[ID_TEXT + 1];
    peal_function *function;
    void *arg;
    struct call_param *params;
    size_t param_count;
    struct boot_ms at, deadline;
    enum call_phase phase;
    atomic_bool is_cancelled;
    enum run_reason cancelled_by; /* with the lock of `calls` */
    pthread_cond_t cancelled;     /* with that lock */
    bool is_acknowledged, is_read;
    struct call_output output;
    TAILQ_ENTRY(peal_run) in_queue;
};

struct call_event {
    struct executor_event event;
    STAILQ_ENTRY(call_event) next;
};

struct calls {
    struct executor port;
    struct calls_config config;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t work;  /* a call waits, or it ends */
    struct table runs;    /* peal_run by id */
    TAILQ_HEAD(, peal_run) queue;
    STAILQ_HEAD(, call_event) events;
    pthread_t *threads;
    int thread_count, idle;
    int waiting; /* in the queue */
    size_t running;
    int fd; /* an eventfd; -1: there are threads */
    bool is_closing;
};

static const struct table_type runs_type = {.key_at = offsetof(struct peal_run, id),
                                            .key_size = sizeof(struct id)};

static struct calls *of(struct executor *port)
{
    return (struct calls *)((char *)port - offsetof(struct calls, port));
}

/* ---- one run ---- */

static struct peal_run *run_free(struct peal_run *run)
{
    if (!run)
        return NULL;
    for (size_t i = 0; i < run->param_count; i++) {
        free(run->params[i].name);
        free(run->params[i].value);
    }
    free(run->params);
    call_output_release(&run->output);
    pthread_cond_destroy(&run->cancelled);
    free(run);
    return NULL;
}

static enum status copy_params(struct peal_run *run, const struct job_params *params)
{
    run->params = params->count ? calloc(params->count, sizeof(*run->params)) : NULL;
    if (params->count && !run->params)
        return E_NOMEM;
    for (size_t i = 0; i < params->count; i++) {
        const char *value = job_param_value(&params->items[i]);
        struct call_param *param = &run->params[run->param_count++];
        param->name = strdup(params->items[i].name);
        param->value = value ? strdup(value) : NULL;
        if (!param->name || (value && !param->value))
            return E_NOMEM;
    }
    return OK;
}

static enum status run_new(struct calls *calls, const struct run *of_engine, const struct job *job,
                           struct peal_run **ret)
{
    pthread_condattr_t attributes;
    struct peal_run *run = calloc(1, sizeof(*run));
    if (!run)
        return E_NOMEM;
    run->calls = calls;
    run->id = of_engine->id;
    run->run = *of_engine;
    id_format(&run->id, run->id_text);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&run->cancelled, &attributes);
    pthread_condattr_destroy(&attributes);
    enum status st = call_output_init(&run->output, job->output_limit);
    if (st == OK)
        st = copy_params(run, &job->params);
    if (st != OK)
        run = run_free(run);
    *ret = run;
    return st;
}

/* Nobody needs it any more: its end is in the store, its output in the history. */
static void forget_if_done(struct calls *calls, struct peal_run *run)
{
    if (run->phase != CALL_ENDED || !run->is_acknowledged || !run->is_read)
        return;
    table_remove(&calls->runs, run);
    run_free(run);
}

/* ---- events, with the lock ---- */

static void tell(struct calls *calls, const struct executor_event *event)
{
    struct call_event *item = malloc(sizeof(*item));
    while (!item) { /* an end must not get lost: the engine would wait for it */
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        item = malloc(sizeof(*item));
    }
    item->event = *event;
    STAILQ_INSERT_TAIL(&calls->events, item, next);
    calls->config.wake(calls->config.context);
}

static void tell_started(struct calls *calls, struct peal_run *run)
{
    struct executor_event event = {.kind = EXECUTOR_STARTED, .run_id = run->id};
    event.end.started_ms = run->run.started_ms;
    tell(calls, &event);
}

/* The reason of a cancelled call stands, unless it has succeeded all the same. */
static void fill_end(struct peal_run *run, int code, struct run *end)
{
    end->exit_code = code;
    end->reason = code ? REASON_EXIT_CODE : REASON_NONE;
    end->state = code ? RUN_FAILED : RUN_OK;
    if (code && run->cancelled_by == REASON_TIMEOUT)
        end->state = RUN_TIMED_OUT;
    else if (code && run->cancelled_by != REASON_NONE)
        end->state = RUN_KILLED;
    if (end->state == RUN_TIMED_OUT || end->state == RUN_KILLED)
        end->reason = run->cancelled_by;
    end->output_bytes = call_output_bytes(&run->output, &end->output_truncated);
}

static void tell_ended(struct calls *calls, struct peal_run *run, int code)
{
    struct executor_event event = {.kind = EXECUTOR_ENDED, .run_id = run->id};
    event.end.started_ms = run->run.started_ms;
    event.end.finished_ms = clock_now().wall.ms;
    fill_end(run, code, &event.end);
    tell(calls, &event);
}

/* ---- calling ---- */

/* Its time has not come, though the engine hands it over ahead. */
static void wait_for(struct boot_ms at)
{
    struct timespec until = {.tv_sec = at.ms / 1000, .tv_nsec = at.ms % 1000 * 1000000};
    while (clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}

/* With the lock. False: it is too late, or was killed before it began. */
static bool may_begin(struct calls *calls, struct peal_run *run)
{
    struct now now = clock_now();
    if (now.boot.ms >= run->deadline.ms) {
        tell(calls, &(struct executor_event){.kind = EXECUTOR_EXPIRED, .run_id = run->id});
        table_remove(&calls->runs, run);
        run_free(run);
        return false;
    }
    run->run.started_ms = now.wall.ms;
    run->phase = CALL_RUNS;
    return true;
}

static void take_out(struct calls *calls, struct peal_run *run)
{
    TAILQ_REMOVE(&calls->queue, run, in_queue);
    calls->waiting--;
}

/* Takes the first that waits, and calls it. With the lock, which is released meanwhile. */
static void call_first(struct calls *calls)
{
    struct peal_run *run = TAILQ_FIRST(&calls->queue);
    take_out(calls, run);
    calls->running++;
    pthread_mutex_unlock(&calls->lock);
    wait_for(run->at);
    pthread_mutex_lock(&calls->lock);
    if (may_begin(calls, run)) {
        tell_started(calls, run);
        pthread_mutex_unlock(&calls->lock);
        int code = run->function(run, run->arg);
        pthread_mutex_lock(&calls->lock);
        run->phase = CALL_ENDED;
        tell_ended(calls, run, code);
    }
    calls->running--;
}

static void *serve(void *argument)
{
    struct calls *calls = argument;
    pthread_mutex_lock(&calls->lock);
    while (!calls->is_closing) {
        if (TAILQ_EMPTY(&calls->queue)) {
            calls->idle++;
            pthread_cond_wait(&calls->work, &calls->lock);
            calls->idle--;
        } else {
            call_first(calls);
        }
    }
    pthread_mutex_unlock(&calls->lock);
    return NULL;
}

/* Signals are the program's: none is handled on a thread of the library. */
static enum status start_thread(struct calls *calls)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&calls->threads[calls->thread_count], NULL, serve, calls);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed)
        return E_NOMEM;
    calls->thread_count++;
    return OK;
}

static void ring(const struct calls *calls)
{
    uint64_t one = 1;
    if (write(calls->fd, &one, sizeof(one)) < 0)
        return; /* EAGAIN: it is readable already */
}

/* Somebody calls it: a thread that is idle, a new one, or the first that is free again. */
static enum status hand_over(struct calls *calls)
{
    if (calls->fd >= 0) {
        ring(calls);
        return OK;
    }
    if (calls->idle < calls->waiting && calls->thread_count < calls->config.threads &&
        start_thread(calls) != OK && !calls->thread_count)
        return E_BUSY;
    pthread_cond_signal(&calls->work);
    return OK;
}

/* ---- the executor ---- */

static enum status start(struct executor *port, const struct run *run, const struct job *job,
                         struct boot_ms at, struct boot_ms deadline)
{
    struct calls *calls = of(port);
    struct peal_run *call;
    peal_function *function;
    void *arg;
    if (!calls->config.find(calls->config.functions, job_function_name(job), &function, &arg))
        return E_NOT_FOUND;
    pthread_mutex_lock(&calls->lock);
    enum status st = OK;
    if (table_find(&calls->runs, &run->id))
        goto out; /* asked for again */
    st = run_new(calls, run, job, &call);
    if (st != OK)
        goto out;
    call->function = function;
    call->arg = arg;
    call->at = at;
    call->deadline = deadline;
    st = table_insert(&calls->runs, call);
    if (st != OK) {
        run_free(call);
        goto out;
    }
    TAILQ_INSERT_TAIL(&calls->queue, call, in_queue);
    calls->waiting++;
    st = hand_over(calls);
    if (st != OK) {
        take_out(calls, call);
        table_remove(&calls->runs, call);
        run_free(call);
    }
out:
    pthread_mutex_unlock(&calls->lock);
    return st;
}

/* A call can't be ended from outside: it is told, and returns. One that waits is not made. */
static void kill_run(struct executor *port, const struct id *run_id, enum run_reason reason)
{
    struct calls *calls = of(port);
    pthread_mutex_lock(&calls->lock);
    struct peal_run *run = table_find(&calls->runs, run_id);
    if (run && run->phase != CALL_ENDED && !atomic_load(&run->is_cancelled)) {
        run->cancelled_by = reason;
        atomic_store(&run->is_cancelled, true);
        pthread_cond_broadcast(&run->cancelled);
    }
    pthread_mutex_unlock(&calls->lock);
}

static void acknowledge(struct executor *port, const struct id *run_id)
{
    struct calls *calls = of(port);
    pthread_mutex_lock(&calls->lock);
    struct peal_run *run = table_find(&calls->runs, run_id);
    if (run) {
        run->is_acknowledged = true;
        forget_if_done(calls, run);
    }
    pthread_mutex_unlock(&calls->lock);
}

static bool next_event(struct executor *port, struct executor_event *ret)
{
    struct calls *calls = of(port);
    pthread_mutex_lock(&calls->lock);
    struct call_event *first = STAILQ_FIRST(&calls->events);
    if (first) {
        *ret = first->event;
        STAILQ_REMOVE_HEAD(&calls->events, next);
        free(first);
    }
    pthread_mutex_unlock(&calls->lock);
    return first;
}

static const struct executor_ops executor_ops = {
    .start = start, .kill = kill_run, .acknowledge = acknowledge, .next_event = next_event};

struct executor *calls_executor(struct calls *calls)
{
    return &calls->port;
}

/* ---- output ---- */

static enum status read_output(void *context, const struct id *run_id, struct output_chunk **ret,
                               size_t *ret_count)
{
    struct calls *calls = context;
    pthread_mutex_lock(&calls->lock);
    struct peal_run *run = table_find(&calls->runs, run_id);
    enum status st = run ? call_output_read(&run->output, ret, ret_count) : E_NOT_FOUND;
    pthread_mutex_unlock(&calls->lock);
    return st;
}

static void release_output(void *context, struct output_chunk *chunks, size_t count)
{
    (void)context;
    call_output_free_chunks(chunks, count);
}

static void remove_output(void *context, const struct id *run_id)
{
    struct calls *calls = context;
    pthread_mutex_lock(&calls->lock);
    struct peal_run *run = table_find(&calls->runs, run_id);
    if (run) {
        run->is_read = true;
        forget_if_done(calls, run);
    }
    pthread_mutex_unlock(&calls->lock);
}

struct output_source calls_output(struct calls *calls)
{
    return (struct output_source){read_output, release_output, remove_output, calls};
}

/* ---- within a function ---- */

void peal_log(peal_run *run, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    call_output_add(&run->output, clock_now().wall.ms, format, values);
    va_end(values);
}

bool peal_cancelled(const peal_run *run)
{
    return atomic_load(&run->is_cancelled);
}

int peal_sleep(peal_run *run, int64_t ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&run->calls->lock);
    int waited = 0;
    while (!atomic_load(&run->is_cancelled) && waited != ETIMEDOUT)
        waited = pthread_cond_timedwait(&run->cancelled, &run->calls->lock, &until);
    pthread_mutex_unlock(&run->calls->lock);
    return atomic_load(&run->is_cancelled) ? PEAL_E_LOST : PEAL_OK;
}

const char *peal_run_id(const peal_run *run)
{
    return run->id_text;
}

const char *peal_run_job(const peal_run *run)
{
    return run->run.job_name;
}

int64_t peal_run_tick(const peal_run *run)
{
    return run->run.tick_ms;
}

int peal_run_attempt(const peal_run *run)
{
    return run->run.attempt;
}

int64_t peal_run_fence(const peal_run *run)
{
    return run->run.fence;
}

const char *peal_param(const peal_run *run, const char *name)
{
    for (size_t i = 0; i < run->param_count; i++)
        if (strcmp(run->params[i].name, name) == 0)
            return run->params[i].value;
    return NULL;
}

/* ---- the program's own thread ---- */

int calls_fd(const struct calls *calls)
{
    return calls->fd;
}

int calls_step(struct calls *calls)
{
    int made = 0;
    uint64_t count;
    if (read(calls->fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
        return 0;
    pthread_mutex_lock(&calls->lock);
    for (; !TAILQ_EMPTY(&calls->queue) && !calls->is_closing && made < INT_MAX; made++)
        call_first(calls);
    pthread_mutex_unlock(&calls->lock);
    return made;
}

size_t calls_running(struct calls *calls)
{
    pthread_mutex_lock(&calls->lock);
    size_t running = calls->running;
    pthread_mutex_unlock(&calls->lock);
    return running;
}

/* ---- beginning and end ---- */

enum status calls_new(const struct calls_config *config, struct calls **ret)
{
    struct calls *calls = calloc(1, sizeof(*calls));
    if (!calls)
        return E_NOMEM;
    calls->port.ops = &executor_ops;
    calls->config = *config;
    table_init(&calls->runs, &runs_type);
    TAILQ_INIT(&calls->queue);
    STAILQ_INIT(&calls->events);
    pthread_mutex_init(&calls->lock, NULL);
    pthread_cond_init(&calls->work, NULL);
    calls->fd = config->threads ? -1 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    calls->threads = calloc((size_t)config->threads + 1, sizeof(*calls->threads));
    if (!calls->threads || (!config->threads && calls->fd < 0)) {
        enum status st = calls->threads ? E_IO : E_NOMEM;
        calls_free(calls);
        return st;
    }
    tell(calls, &(struct executor_event){.kind = EXECUTOR_READY});
    *ret = calls;
    return OK;
}

struct calls *calls_free(struct calls *calls)
{
    if (!calls)
        return NULL;
    struct executor_event event;
    struct peal_run *run;
    size_t at = 0;
    pthread_mutex_lock(&calls->lock);
    calls->is_closing = true;
    pthread_cond_broadcast(&calls->work);
    pthread_mutex_unlock(&calls->lock);
    for (int i = 0; i < calls->thread_count; i++)
        pthread_join(calls->threads[i], NULL);
    while (next_event(&calls->port, &event))
        ;
    while ((run = table_next(&calls->runs, &at)))
        run_free(run);
    table_release(&calls->runs);
    free(calls->threads);
    if (calls->fd >= 0)
        close(calls->fd);
    pthread_cond_destroy(&calls->work);
    pthread_mutex_destroy(&calls->lock);
    free(calls);
    return NULL;
}
