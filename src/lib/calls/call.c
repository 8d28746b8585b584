#include "calls/call.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "calls/call_batch.h"
#include "calls/calls.h"
#include "calls/command.h"
#include "clock.h"
#include "machine.h"
#include "monotonic.h"

enum { OUTPUT_LIMIT = 2 << 20 }; /* at most; it is in memory, and handed over as a whole */

enum status call_init(struct peal_run *run, struct calls *calls, int64_t output_limit)
{
    run->calls = calls;
    run->stop_ms = INT64_MAX;
    run->progress.percent = -1;
    pthread_mutex_init(&run->lock, NULL);
    monotonic_cond_init(&run->cancelled);
    return call_output_init(&run->output,
                            output_limit < OUTPUT_LIMIT ? output_limit : OUTPUT_LIMIT);
}

void call_release(struct peal_run *run)
{
    call_output_release(&run->output);
    pthread_cond_destroy(&run->cancelled);
    pthread_mutex_destroy(&run->lock);
}

void call_leave_group(struct peal_run *run)
{
    if (run->member)
        call_group_note_end(run->member, clock_boot_us());
    if (run->member)
        call_group_leave(run->group_of, run->member, MEMBER_CALL);
    run->member = NULL;
}

struct peal_run *call_free(struct peal_run *run)
{
    if (!run)
        return NULL;
    call_leave_group(run);
    call_batch_free(run->batch);
    for (size_t i = 0; i < run->param_count; i++) {
        free(run->params[i].name);
        free(run->params[i].value);
    }
    free(run->params);
    command_free(run->command);
    call_release(run);
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

enum status call_new(struct calls *calls, const struct run *of_engine, const struct job *job,
                     struct peal_run **ret)
{
    struct peal_run *run = calloc(1, sizeof(*run));
    if (!run)
        return E_NOMEM;
    enum status st = call_init(run, calls, job->output_limit);
    run->id = of_engine->id;
    memcpy(run->job_name, of_engine->job_name, sizeof(run->job_name));
    run->name = run->job_name;
    run->tick_ms = of_engine->tick_ms;
    run->attempt = of_engine->attempt;
    run->fence = of_engine->fence;
    run->is_caught_up = of_engine->cause == CAUSE_CATCH_UP;
    run->timeout_ms = job->timeout_s * 1000;
    id_format(&run->id, run->id_text);
    run_trace_parent(of_engine, run->traceparent);
    if (st == OK)
        st = copy_params(run, &job->params);
    if (st != OK)
        run = call_free(run);
    *ret = run;
    return st;
}

void call_cancel_locked(struct peal_run *run, enum run_reason reason)
{
    if (atomic_load(&run->is_cancelled))
        return;
    run->cancelled_by = reason;
    atomic_store(&run->is_cancelled, true);
    pthread_cond_broadcast(&run->cancelled);
}

void call_cancel(struct peal_run *run, enum run_reason reason)
{
    pthread_mutex_lock(&run->lock);
    call_cancel_locked(run, reason);
    pthread_mutex_unlock(&run->lock);
}

struct progress call_progress(struct peal_run *run)
{
    pthread_mutex_lock(&run->lock);
    struct progress progress = run->progress;
    pthread_mutex_unlock(&run->lock);
    return progress;
}

void call_fill_end(struct peal_run *run, struct run *end)
{
    int code = run->code;
    end->started_ms = run->started_ms;
    end->finished_ms = run->finished_ms;
    end->exit_code = code;
    end->reason = code ? REASON_EXIT_CODE : REASON_NONE;
    end->state = code ? RUN_FAILED : RUN_OK;
    if (code && run->cancelled_by == REASON_TIMEOUT)
        end->state = RUN_TIMED_OUT;
    else if (code && run->cancelled_by != REASON_NONE)
        end->state = RUN_KILLED;
    if (end->state == RUN_TIMED_OUT || end->state == RUN_KILLED)
        end->reason = run->cancelled_by;
    struct progress progress = call_progress(run);
    if (progress.percent >= 0)
        progress_print(&progress, end->detail, sizeof(end->detail));
    end->output_bytes = call_output_bytes(&run->output, &end->output_truncated);
}

/* ---- within a function ---- */

void peal_log(peal_run *run, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    call_output_add(&run->output, clock_now().wall.ms, format, values);
    va_end(values);
    calls_note_output(run->calls);
}

void peal_progress(peal_run *run, int percent, const char *what)
{
    struct progress progress = progress_make(percent, what);
    pthread_mutex_lock(&run->lock);
    run->progress = progress;
    pthread_mutex_unlock(&run->lock);
    calls_note_progress(run->calls);
}

bool peal_cancelled(const peal_run *run)
{
    return atomic_load(&run->is_cancelled);
}

int peal_sleep(peal_run *run, int64_t ms)
{
    struct timespec until = monotonic_in_us(ms * 1000);
    int waited = 0;
    pthread_mutex_lock(&run->lock);
    while (!atomic_load(&run->is_cancelled) && waited != ETIMEDOUT)
        waited = pthread_cond_timedwait(&run->cancelled, &run->lock, &until);
    pthread_mutex_unlock(&run->lock);
    return atomic_load(&run->is_cancelled) ? PEAL_E_LOST : PEAL_OK;
}

/* A call with others has an id once it is asked for. */
static void make_id(struct peal_run *run)
{
    uint8_t random[10];
    machine_random(NULL, random, sizeof(random));
    run->id = id_make(clock_now().wall, random);
    id_format(&run->id, run->id_text);
}

const char *peal_run_id(const peal_run *run)
{
    if (!*run->id_text)
        make_id((struct peal_run *)run);
    return run->id_text;
}

const char *peal_run_job(const peal_run *run)
{
    return run->name;
}

int64_t peal_run_tick(const peal_run *run)
{
    return run->tick_ms;
}

int peal_run_attempt(const peal_run *run)
{
    return run->attempt;
}

int64_t peal_run_fence(const peal_run *run)
{
    return run->fence;
}

const char *peal_run_traceparent(const peal_run *run)
{
    return run->traceparent;
}

const char *peal_param(const peal_run *run, const char *name)
{
    for (size_t i = 0; i < run->param_count; i++)
        if (strcmp(run->params[i].name, name) == 0)
            return run->params[i].value;
    return NULL;
}
