#include "history_told.h"

#include <stdlib.h>
#include <string.h>

#include "history_internal.h"
#include "lib_node.h"

struct history_told {
    struct history base;
    const struct peal_node *peal;
    struct history_wake wake;
    struct history_queue waiting;
};

/* ---- telling ---- */

static void tell_lines(const struct peal_node *peal, const struct history_record *record)
{
    for (size_t i = 0; i < record->chunk_count; i++) {
        const char *bytes = record->chunks[i].bytes, *end = bytes + record->chunks[i].length;
        while (bytes < end) {
            const char *line_end = memchr(bytes, '\n', (size_t)(end - bytes));
            int length = (int)((line_end ? line_end : end) - bytes);
            lib_log(peal, PEAL_INFO, "%s: %.*s", record->run->job_name, length, bytes);
            bytes += length + 1;
        }
    }
}

static void tell_run(const struct peal_node *peal, const struct history_record *record)
{
    const struct run *run = record->run;
    tell_lines(peal, record);
    if (run->state == RUN_FAILED && run->exit_code < 0 && *run->detail)
        lib_log(peal, PEAL_WARNING, "function \"%s\" has failed: %s", run->job_name, run->detail);
    else if (run->state == RUN_FAILED)
        lib_log(peal, PEAL_WARNING, "function \"%s\" has failed: it returned %d", run->job_name,
                run->exit_code);
    else if (run->state != RUN_OK)
        lib_log(peal, PEAL_WARNING, "function \"%s\" has not run well: %s (%s)", run->job_name,
                run_state_name(run->state), run_reason_name(run->reason));
}

static void tell(const struct peal_node *peal, const struct history_append *append)
{
    for (size_t i = 0; i < append->count; i++) {
        const struct history_record *record = &append->records[i];
        if (record->run)
            tell_run(peal, record);
        else if (record->entry)
            lib_log(peal, PEAL_INFO, "function \"%s\": a tick was passed over (%s)",
                    record->entry->job_name, run_reason_name(record->entry->reason));
    }
}

/* ---- the history ---- */

static struct history_told *of(struct history *history)
{
    return (struct history_told *)history;
}

static void submit(struct history *history, struct history_request *request)
{
    struct history_told *told = of(history);
    history_queue_push(&told->waiting, request);
    told->wake.wake(told->wake.context);
}

static void dispatch(struct history *history)
{
    struct history_told *told = of(history);
    struct history_queue now = told->waiting;
    told->waiting = (struct history_queue){0};
    for (struct history_request *request; (request = history_queue_pop(&now));) {
        bool is_append = request->kind == HISTORY_APPEND;
        if (is_append)
            tell(told->peal, history_request_of(request, history_append));
        request->answer = is_append ? OK : E_UNREACHABLE;
        history_request_done(request);
    }
}

static enum status health(struct history *history, struct strbuf *why)
{
    (void)history;
    (void)why;
    return OK;
}

static struct history *told_free(struct history *history)
{
    while (of(history)->waiting.first)
        dispatch(history);
    free(history);
    return NULL;
}

static const struct history_ops told_ops = {
    .submit = submit, .dispatch = dispatch, .health = health, .free = told_free};

enum status history_told_new(const struct peal_node *peal, struct history_wake wake,
                             struct history **ret)
{
    struct history_told *told = calloc(1, sizeof(*told));
    if (!told)
        return E_NOMEM;
    *told = (struct history_told){.base.ops = &told_ops, .peal = peal, .wake = wake};
    *ret = &told->base;
    return OK;
}
