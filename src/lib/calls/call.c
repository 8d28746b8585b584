#include "calls/call.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "calls/calls.h"
#include "calls/command.h"
#include "clock.h"
#include "monotonic.h"

enum { OUTPUT_LIMIT = 2 << 20 }; /* at most; it is in memory, and handed over as a whole */

struct peal_run *call_free(struct peal_run *run)
{
    if (!run)
        return NULL;
    for (size_t i = 0; i < run->param_count; i++) {
        free(run->params[i].name);
        free(run->params[i].value);
    }
    free(run->params);
    command_free(run->command);
    call_output_release(&run->output);
    pthread_cond_destroy(&run->cancelled);
    pthread_mutex_destroy(&run->lock);
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
    run->calls = calls;
    run->id = of_engine->id;
    memcpy(run->job_name, of_engine->job_name, sizeof(run->job_name));
    run->tick_ms = of_engine->tick_ms;
    run->attempt = of_engine->attempt;
    run->fence = of_engine->fence;
    run->timeout_ms = job->timeout_s * 1000;
    run->stop_ms = INT64_MAX;
    id_format(&run->id, run->id_text);
    pthread_mutex_init(&run->lock, NULL);
    monotonic_cond_init(&run->cancelled);
    run->progress.percent = -1;
    enum status st = call_output_init(
        &run->output, job->output_limit < OUTPUT_LIMIT ? job->output_limit : OUTPUT_LIMIT);
    if (st == OK)
        st = copy_params(run, &job->params);
    if (st != OK)
        run = call_free(run);
    *ret = run;
    return st;
}

void call_cancel(struct peal_run *run, enum run_reason reason)
{
    pthread_mutex_lock(&run->lock);
    if (!atomic_load(&run->is_cancelled)) {
        run->cancelled_by = reason;
        atomic_store(&run->is_cancelled, true);
        pthread_cond_broadcast(&run->cancelled);
    }
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

const char *peal_run_id(const peal_run *run)
{
    return run->id_text;
}

const char *peal_run_job(const peal_run *run)
{
    return run->job_name;
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

const char *peal_param(const peal_run *run, const char *name)
{
    for (size_t i = 0; i < run->param_count; i++)
        if (strcmp(run->params[i].name, name) == 0)
            return run->params[i].value;
    return NULL;
}
