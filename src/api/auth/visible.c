#include "auth/visible.h"

#include "server.h"

bool call_sees(const struct call *call, const char *job_name)
{
    return scope_may(&call->principal.scope, RIGHT_VIEW, job_name);
}

enum secrets call_secrets(const struct call *call, const char *job_name)
{
    bool may = scope_may(&call->principal.scope, RIGHT_DEFINE, job_name);
    return may && !call->repeatable ? SECRETS_CLEAR : SECRETS_MASKED;
}

bool call_may_on(struct call *call, enum right right, const char *job_name)
{
    const struct scope *scope = &call->principal.scope;
    if (scope_may(scope, right, job_name))
        return true;
    if (!scope->grant_count || !job_name)
        return call_may(call, right);
    call_fail(call, 403,
              "%s may not do this with \"%.128s\": it needs the right \"%s\" in its namespace",
              call->principal.name, job_name, right_word(right));
    return false;
}

/* ---- runs ---- */

const struct run *call_open_run(const struct call *call, const struct id *id)
{
    const struct run *run = engine_find_run(call->api->ports.engine, id);
    return run && call_sees(call, run->job_name) ? run : NULL;
}

struct run_visit {
    const struct call *call;
    void (*visit)(void *context, const struct run *run);
    void *context;
};

static void visit_run(void *context, const struct run *run)
{
    const struct run_visit *visit = context;
    if (call_sees(visit->call, run->job_name))
        visit->visit(visit->context, run);
}

void call_each_open_run(const struct call *call,
                        void (*visit)(void *context, const struct run *run), void *context)
{
    struct run_visit filtered = {call, visit, context};
    engine_each_open_run(call->api->ports.engine, visit_run, &filtered);
}

/* ---- jobs ---- */

struct job_visit {
    const struct call *call;
    bool (*visit)(void *context, const struct catalog_job *job);
    void *context;
};

static bool visit_job(void *context, const struct catalog_job *job)
{
    const struct job_visit *visit = context;
    return !call_sees(visit->call, job->name) || visit->visit(visit->context, job);
}

void call_each_job(const struct call *call, const char *after, bool with_deleted,
                   bool (*visit)(void *context, const struct catalog_job *job), void *context)
{
    struct job_visit filtered = {call, visit, context};
    catalog_each(engine_catalog(call->api->ports.engine), after, with_deleted, visit_job,
                 &filtered);
}

static bool count_job(void *context, const struct catalog_job *job)
{
    (void)job;
    ++*(size_t *)context;
    return true;
}

size_t call_count_jobs(const struct call *call)
{
    size_t count = 0;
    if (scope_is_whole(&call->principal.scope))
        return catalog_count(engine_catalog(call->api->ports.engine));
    call_each_job(call, NULL, false, count_job, &count);
    return count;
}

/* ---- the history ---- */

void hide_rows(const struct call *call, struct history_read *read)
{
    size_t kept = 0;
    for (size_t i = 0; i < read->count; i++) {
        const struct history_row *row = &read->rows[i];
        if (call_sees(call, row->is_entry ? row->entry.job_name : row->run.job_name))
            read->rows[kept++] = *row;
    }
    read->count = kept;
}

/* Changes that concern no job are only for callers who see everything. */
void hide_changes(const struct call *call, struct history_changes *changes)
{
    size_t kept = 0;
    for (size_t i = 0; i < changes->count; i++) {
        struct change_record *change = &changes->items[i];
        if (call_sees(call, change->job_name[0] ? change->job_name : NULL))
            changes->items[kept++] = *change;
        else
            change_record_release(change);
    }
    changes->count = kept;
}

void hide_log(const struct call *call, struct history_log *log)
{
    if (!log->found || call_sees(call, log->run.job_name))
        return;
    history_log_release(log);
    log->found = false;
    log->count = 0;
}
