/* What the calls have written, and how far they are: for the history, and live. */
#include <stdlib.h>

#include "calls/call.h"
#include "calls/calls_internal.h"

enum {
    SPOOL_MS = 100,  /* output is on disk so long after it came */
    SPOOL_MAX = 256, /* calls whose output is written in one turn */
};

static enum status read_output(void *context, const struct id *run_id, struct output_chunk **ret,
                               size_t *ret_count)
{
    struct calls *calls = context;
    pthread_mutex_lock(&calls->lock);
    struct peal_run *call = table_find(&calls->runs, run_id);
    enum status st = call ? call_output_read(&call->output, ret, ret_count) : E_NOT_FOUND;
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
    struct peal_run *call = table_find(&calls->runs, run_id);
    if (call) {
        call->is_read = true;
        calls_forget_if_done(calls, call);
    }
    pthread_mutex_unlock(&calls->lock);
}

struct output_source calls_output(struct calls *calls)
{
    return (struct output_source){read_output, release_output, remove_output, calls};
}

/* Of a call that has begun. */
static enum status read_live(void *context, const struct id *run_id, int64_t offset, size_t limit,
                             struct output_chunk **ret, size_t *ret_count)
{
    struct calls *calls = context;
    pthread_mutex_lock(&calls->lock);
    struct peal_run *call = table_find(&calls->runs, run_id);
    bool has_begun = call && (call->phase == CALL_RUNS || call->phase == CALL_ENDED);
    enum status st = has_begun ? call_output_read_from(&call->output, offset, limit, ret, ret_count)
                               : E_NOT_FOUND;
    pthread_mutex_unlock(&calls->lock);
    return st;
}

struct live_output calls_live(struct calls *calls)
{
    return (struct live_output){read_live, calls};
}

void calls_note_progress(struct calls *calls)
{
    atomic_store(&calls->is_told, true);
}

void calls_note_output(struct calls *calls)
{
    if (calls->config.spool && !atomic_exchange(&calls->has_output, true))
        calls->config.wake(calls->config.context);
}

/* Only this thread frees what runs, or has run: the lock is for the table. */
static void spool_output(struct calls *calls)
{
    struct peal_run *call, *running[SPOOL_MAX];
    size_t at = 0, count = 0;
    pthread_mutex_lock(&calls->lock);
    while (count < SPOOL_MAX && (call = table_next(&calls->runs, &at)))
        if (call->phase == CALL_RUNS)
            running[count++] = call;
    pthread_mutex_unlock(&calls->lock);
    for (size_t i = 0; i < count; i++)
        call_spool_write(&calls->spool, running[i]->id_text, &running[i]->output,
                         &running[i]->file);
}

struct boot_ms calls_spool(struct calls *calls, struct boot_ms now)
{
    if (!calls->spool_ms && !atomic_load(&calls->has_output))
        return (struct boot_ms){INT64_MAX};
    if (!calls->spool_ms)
        calls->spool_ms = now.ms + SPOOL_MS;
    if (now.ms < calls->spool_ms)
        return (struct boot_ms){calls->spool_ms};
    calls->spool_ms = 0;
    atomic_store(&calls->has_output, false);
    spool_output(calls);
    return (struct boot_ms){INT64_MAX};
}

bool calls_progress(struct calls *calls, char *text)
{
    struct peal_run *call;
    size_t at = 0;
    pthread_mutex_lock(&calls->lock);
    bool has_calls = calls->runs.count > 0, is_told = atomic_exchange(&calls->is_told, false);
    while (is_told && (call = table_next(&calls->runs, &at))) {
        struct progress progress = call_progress(call);
        if (call->phase != CALL_RUNS || progress.percent < 0)
            continue;
        calls_note_progress(calls); /* to be told again */
        if (!progress_add(text, &call->id, &progress))
            break;
    }
    pthread_mutex_unlock(&calls->lock);
    return has_calls;
}
