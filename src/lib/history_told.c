#include "history_told.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history_internal.h"
#include "lib_node.h"

struct history_told {
    struct history base;
    struct peal_node *peal;
    struct history_wake wake;
    struct history_queue waiting;
};

/* ---- telling ---- */

/* `who` is a function, or one and more. */
struct who {
    char name[JOB_NAME_SIZE], more[32];
};

static void print_more(struct who *who, size_t more)
{
    if (more)
        snprintf(who->more, sizeof(who->more), " and %zu more", more);
}

static bool find_who(struct peal_node *peal, const char *job, struct who *ret)
{
    size_t more;
    *ret = (struct who){0};
    bool is_somebody = functions_of_job(&peal->local.functions, job, ret->name, &more);
    print_more(ret, more);
    return is_somebody;
}

static void tell_lines(const struct peal_node *peal, const struct run *run,
                       const struct output_chunk *chunks, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *bytes = chunks[i].bytes, *end = bytes + chunks[i].length;
        while (bytes < end) {
            const char *line_end = memchr(bytes, '\n', (size_t)(end - bytes));
            int length = (int)((line_end ? line_end : end) - bytes);
            lib_log(peal, PEAL_INFO, "%s: %.*s", run->job_name, length, bytes);
            bytes += length + 1;
        }
    }
}

static void tell_end(const struct peal_node *peal, const struct who *who, const struct run *run)
{
    if (run->state == RUN_FAILED && run->exit_code < 0 && *run->detail)
        lib_log(peal, PEAL_WARNING, "function \"%s\"%s has failed: %s", who->name, who->more,
                run->detail);
    else if (run->state == RUN_FAILED)
        lib_log(peal, PEAL_WARNING, "function \"%s\"%s has failed: it returned %d", who->name,
                who->more, run->exit_code);
    else if (run->state != RUN_OK)
        lib_log(peal, PEAL_WARNING, "function \"%s\"%s has not run well: %s (%s)", who->name,
                who->more, run_state_name(run->state), run_reason_name(run->reason));
}

static void tell_passed(const struct peal_node *peal, const struct who *who, enum run_reason reason)
{
    lib_log(peal, PEAL_INFO, "function \"%s\"%s: a tick was passed over (%s)", who->name, who->more,
            run_reason_name(reason));
}

void history_told_end(void *context, const struct run *end, const struct output_chunk *chunks,
                      size_t count)
{
    const struct peal_node *peal = context;
    struct who who = {0};
    snprintf(who.name, sizeof(who.name), "%s", end->job_name);
    tell_lines(peal, end, chunks, count);
    tell_end(peal, &who, end);
}

void history_told_passed(void *context, const char *name, size_t more, enum run_reason reason)
{
    struct who who = {0};
    snprintf(who.name, sizeof(who.name), "%s", name);
    print_more(&who, more);
    tell_passed(context, &who, reason);
}

static void tell_record(struct peal_node *peal, const struct history_record *record)
{
    struct who who;
    if (record->run) {
        tell_lines(peal, record->run, record->chunks, record->chunk_count);
        if (record->run->state != RUN_OK && find_who(peal, record->run->job_name, &who))
            tell_end(peal, &who, record->run);
    } else if (record->entry && find_who(peal, record->entry->job_name, &who)) {
        tell_passed(peal, &who, record->entry->reason);
    }
}

static void tell(struct peal_node *peal, const struct history_append *append)
{
    for (size_t i = 0; i < append->count; i++)
        tell_record(peal, &append->records[i]);
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

enum status history_told_new(struct peal_node *peal, struct history_wake wake, struct history **ret)
{
    struct history_told *told = calloc(1, sizeof(*told));
    if (!told)
        return E_NOMEM;
    *told = (struct history_told){.base.ops = &told_ops, .peal = peal, .wake = wake};
    *ret = &told->base;
    return OK;
}
