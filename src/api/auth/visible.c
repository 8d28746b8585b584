#include "auth/visible.h"

#include <stdio.h>
#include <string.h>

#include "gates/maintenance.h"
#include "groups/slots.h"
#include "runs/encode.h"
#include "server.h"

bool call_sees(const struct call *call, const char *job_name)
{
    return scope_may(&call->principal.scope, RIGHT_VIEW, job_name);
}

bool call_sees_space(const struct call *call, const char *space)
{
    const struct scope *scope = &call->principal.scope;
    char job[NAMESPACE_SIZE + 2], inner[NAMESPACE_SIZE + 2];
    snprintf(job, sizeof(job), "%s/x", space);
    if (!*space || scope_may(scope, RIGHT_VIEW, job))
        return true;
    for (size_t i = 0; i < scope->grant_count; i++) {
        snprintf(inner, sizeof(inner), "%s/x", scope->grants[i].namespace);
        if (scope->grants[i].rights & RIGHT_VIEW && maintenance_space_has(space, inner))
            return true;
    }
    return false;
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

const char *job_name_now(const struct call *call, const struct id *uid, const char *then)
{
    const struct catalog_job *job = catalog_by_uid(engine_catalog(call->api->ports.engine), uid);
    return job ? job->name : then;
}

/* ---- runs ---- */

static bool sees_run(const struct call *call, const struct run *run)
{
    return call_sees(call, job_name_now(call, &run->job_uid, run->job_name));
}

const struct run *call_open_run(const struct call *call, const struct id *id)
{
    const struct run *run = engine_find_run(call->api->ports.engine, id);
    return run && sees_run(call, run) ? run : NULL;
}

/* As the program of the run's node has told it last. */
static bool find_progress(const struct call *call, const struct run *run, struct progress *ret)
{
    const struct known_peer *known = peers_find(engine_peers(call->api->ports.engine), run->node);
    return known && known->peer.is_alive && progress_find(known->peer.progress, &run->id, ret);
}

/* What follows from its end is not decided yet: another attempt, or the end of what the store has
 * ended by itself. */
static bool is_unsettled(const struct call *call, const struct run *run)
{
    return engine_may_retry(call->api->ports.engine, &run->id) || run_is_unfollowed(run);
}

json_t *json_group_label(const char *label)
{
    int length;
    return group_label_is_lacked(label, &length) ? json_sprintf("!%.*s", length, label)
                                                 : json_words_or_null(label);
}

/* "waits_for": the group whose slot it waits for. */
static json_t *add_slot_wait(const struct call *call, const struct run *run, json_t *value)
{
    struct slot_wait wait = engine_slot_wait(call->api->ports.engine, &run->id);
    if (!value || !wait.group)
        return value;
    json_t *told =
        json_pack("{s:s, s:b, s:s, s:o, s:i, s:I, s:I}", "group", wait.group->name, "on_node",
                  wait.limit == SLOT_OF_NODE, "limit", slot_limit_name(wait.limit), "label",
                  json_group_label(wait.label.label), "most", wait.most, "place",
                  (json_int_t)wait.place, "of", (json_int_t)wait.waiting);
    if (json_object_set_new(value, "waits_for", told) == 0)
        return value;
    json_decref(value);
    return NULL;
}

json_t *encode_open_run(const struct call *call, const struct run *run)
{
    struct progress progress;
    json_t *value = encode_run(run);
    if (!run_state_is_end(run->state) && find_progress(call, run, &progress))
        value = add_progress(value, &progress);
    value = add_slot_wait(call, run, value);
    if (value && is_unsettled(call, run) &&
        json_object_set_new(value, "retried", json_null()) != 0) {
        json_decref(value);
        return NULL;
    }
    return value;
}

struct run_visit {
    const struct call *call;
    void (*visit)(void *context, const struct run *run);
    void *context;
};

static void visit_run(void *context, const struct run *run)
{
    const struct run_visit *visit = context;
    const char *name = job_name_now(visit->call, &run->job_uid, run->job_name);
    if (!call_sees(visit->call, name))
        return;
    if (strcmp(name, run->job_name) == 0) {
        visit->visit(visit->context, run);
    } else {
        struct run renamed = *run;
        snprintf(renamed.job_name, sizeof(renamed.job_name), "%s", name);
        visit->visit(visit->context, &renamed);
    }
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
        struct history_row *row = &read->rows[i];
        char *shown = row->is_entry ? row->entry.job_name : row->run.job_name;
        const char *name =
            job_name_now(call, row->is_entry ? &row->entry.job_uid : &row->run.job_uid, shown);
        if (!call_sees(call, name))
            continue;
        if (name != shown)
            snprintf(shown, JOB_NAME_SIZE, "%s", name);
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
    const char *name = job_name_now(call, &log->run.job_uid, log->run.job_name);
    if (!log->found)
        return;
    if (call_sees(call, name)) {
        if (name != log->run.job_name)
            snprintf(log->run.job_name, sizeof(log->run.job_name), "%s", name);
        return;
    }
    history_log_release(log);
    log->found = false;
    log->count = 0;
}
