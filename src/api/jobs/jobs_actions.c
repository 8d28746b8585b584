/* Changes to a job that are not a new definition: pause, resume, skip, delete, restore. Each is an
 * edit of the stored definition, repeated once after a conflict. */
#include <stdlib.h>
#include <string.h>

#include "conditions.h"
#include "confirm.h"
#include "definition/after_check.h"
#include "handlers.h"
#include "input.h"
#include "jobs/jobs.h"
#include "note.h"
#include "runs/encode.h"
#include "server.h"

enum edit_result {
    EDITED,
    EDIT_NOTHING, /* nothing to change */
    EDIT_FAILED,  /* the call was answered */
};

typedef enum edit_result edit_job(struct call *call, const struct catalog_job *job,
                                  struct job *definition);

struct edit {
    edit_job *edit;
    enum change_action action;
    call_then *reply; /* NULL: answers with the job */
    struct id uid;
    bool is_delete;
    int64_t cursor_ms; /* -1: it stays */
    int64_t wanted;    /* revision of If-Match */
    bool repeated;
    bool is_confirmed; /* the store has confirmed what this node knows, once */
    struct store_put_job put;
    struct passes passes; /* of a delete */
    struct job *definition;
    char *json, *before;
    json_t *ticks; /* of skip-next */
};

static void release_edit(void *state)
{
    struct edit *edit = state;
    job_free(edit->definition);
    free(edit->json);
    free(edit->before);
    free(edit->passes.entries);
    json_decref(edit->ticks);
}

static struct catalog_job *edited_job(const struct call *call)
{
    const struct edit *edit = call->state;
    return catalog_by_uid(engine_catalog(call->api->ports.engine), &edit->uid);
}

static void reply_edited(struct call *call)
{
    const struct edit *edit = call->state;
    const struct catalog_job *job = edited_job(call);
    if (!job)
        call_fail(call, 404, "\"%s\" no longer exists", call->argument);
    else if (edit->reply)
        edit->reply(call);
    else
        reply_job(call, 200, job);
}

static void note_edit(struct call *call)
{
    const struct edit *edit = call->state;
    struct noted_job job = {
        .uid = &edit->uid,
        .name = edit->definition->name,
        .revision = edit->put.revision,
        .before = edit->before,
        .after = edit->json,
    };
    note_job(call, edit->action, &job);
    if (json_array_size(edit->ticks))
        note_detail(call, "%zu ticks, the first at %s", json_array_size(edit->ticks),
                    json_string_value(json_array_get(edit->ticks, 0)));
    else if (edit->ticks)
        note_detail(call, "none any more");
    note_write(call, reply_edited);
}

static void make_edit(struct call *call);

static void edit_done(struct call *call)
{
    struct edit *edit = call->state;
    if (call->answer != OK) {
        call_fail_store(call, call->answer);
        return;
    }
    enum put_result result = edit->put.result;
    bool is_wanted = edit->wanted > 0 && !put_met_a_tick(&edit->put);
    if (result == PUT_OK) {
        note_edit(call);
    } else if (result == PUT_CONFLICT && !is_wanted && !edit->repeated) {
        edit->repeated = true;
        make_edit(call);
    } else {
        call_fail_unwritten(call, result, is_wanted, call->argument);
    }
}

static enum status find_passes(const struct call *call, struct catalog_job *job)
{
    struct edit *edit = call->state;
    free(edit->passes.entries);
    edit->passes = (struct passes){0};
    if (!edit->is_delete)
        return OK;
    edit->cursor_ms = call->now_ms;
    return passes_find(call, job, REASON_DELETED, &edit->passes);
}

static void submit_edit(struct call *call, struct catalog_job *job)
{
    struct edit *edit = call->state;
    edit->definition->updated_ms = call->now_ms;
    edit->json = job_encode_text(edit->definition);
    free(edit->before);
    edit->before = strdup(job->json);
    if (!edit->json || !edit->before || find_passes(call, job) != OK) {
        call_fail(call, 500, "out of memory");
        return;
    }
    edit->put = (struct store_put_job){
        .uid = edit->uid,
        .name = edit->definition->name,
        .json = edit->json,
        .deleted = edit->is_delete,
        .paused = edit->definition->paused,
        .expected_revision = job->revision,
        .cursor_ms = edit->cursor_ms,
    };
    passes_put(&edit->passes, &edit->put);
    struct quota_excess excess;
    enum status st = job_puts_submit(call, &edit->put, 1, PUT_TO_NOTE, edit_done, &excess);
    if (st != OK)
        call_fail_put(call, st, &excess);
}

static void confirmed(struct call *call)
{
    struct edit *edit = call->state;
    edit->is_confirmed = true;
    if (call->answer == OK)
        make_edit(call);
    else
        call_fail_unconfirmed(call);
}

/* Makes the edit from the current catalog. */
static void make_edit(struct call *call)
{
    struct edit *edit = call->state;
    struct catalog_job *job = edited_job(call);
    if (!job) {
        call_fail(call, 404, "\"%s\" no longer exists", call->argument);
        return;
    }
    if (edit->wanted > 0 && edit->wanted != job->revision) {
        call_fail(call, 412, "\"%s\" is at revision %lld by now; read it again", call->argument,
                  (long long)job->revision);
        return;
    }
    edit->definition = job_free(edit->definition);
    free(edit->json);
    edit->json = NULL;
    edit->definition = stored_job(call, job);
    if (!edit->definition)
        return;
    switch (edit->edit(call, job, edit->definition)) {
    case EDITED:
        submit_edit(call, job);
        return;
    case EDIT_NOTHING:
        if (edit->is_confirmed)
            reply_edited(call);
        else
            call_confirm(call, confirmed);
        return;
    case EDIT_FAILED:
        return;
    }
}

/* Prepares an edit of `job` (NULL: the call has failed already); NULL: the call has failed. */
static struct edit *new_edit(struct call *call, const struct catalog_job *job, edit_job *function,
                             enum change_action action)
{
    struct edit *edit = job ? call_state(call, sizeof(*edit), release_edit) : NULL;
    if (!edit)
        return NULL;
    edit->edit = function;
    edit->action = action;
    edit->uid = job->uid;
    edit->cursor_ms = -1;
    return if_match(call, &edit->wanted) ? edit : NULL;
}

/* ---- pause, resume ---- */

static enum edit_result set_pause(struct call *call, struct job *definition, bool paused)
{
    if (definition->paused == paused)
        return EDIT_NOTHING;
    set_paused(definition, paused, call->now_ms);
    return EDITED;
}

static enum edit_result edit_pause(struct call *call, const struct catalog_job *job,
                                   struct job *definition)
{
    (void)job;
    return set_pause(call, definition, true);
}

static enum edit_result edit_resume(struct call *call, const struct catalog_job *job,
                                    struct job *definition)
{
    (void)job;
    return set_pause(call, definition, false);
}

void pause_job(struct call *call)
{
    if (new_edit(call, path_job(call), edit_pause, CHANGE_PAUSE))
        make_edit(call);
}

void resume_job(struct call *call)
{
    if (new_edit(call, path_job(call), edit_resume, CHANGE_RESUME))
        make_edit(call);
}

/* ---- skip-next ---- */

/* Ticks that are due already stay skipped. */
static enum edit_result take_back_skips(const struct call *call, struct job *definition)
{
    if (definition->skip_until_ms <= call->now_ms)
        return EDIT_NOTHING;
    definition->skip_until_ms = call->now_ms;
    return EDITED;
}

static enum edit_result edit_skip(struct call *call, const struct catalog_job *job,
                                  struct job *definition)
{
    struct edit *edit = call->state;
    int64_t count = 1;
    if (!field_number(call, "count", 0, 1000, &count))
        return EDIT_FAILED;
    json_decref(edit->ticks);
    edit->ticks = json_array();
    if (!count)
        return take_back_skips(call, definition);
    int64_t tick_ms = job->cursor_ms > call->now_ms ? job->cursor_ms : call->now_ms;
    if (definition->skip_until_ms > tick_ms)
        tick_ms = definition->skip_until_ms; /* those are skipped already */
    for (int64_t i = 0; i < count; i++) {
        int64_t next_ms =
            i == 0 ? catalog_job_coming_run(job, tick_ms) : catalog_job_next_run(job, tick_ms);
        if (next_ms == NEVER_MS)
            break;
        tick_ms = next_ms;
        if (json_array_append_new(edit->ticks, json_tick(tick_ms)) != 0) {
            call_fail(call, 500, "out of memory");
            return EDIT_FAILED;
        }
    }
    if (!json_array_size(edit->ticks)) {
        call_fail(call, 409, "\"%s\" has no coming tick to skip", job->name);
        return EDIT_FAILED;
    }
    definition->skip_until_ms = tick_ms;
    return EDITED;
}

static void reply_skipped(struct call *call)
{
    const struct edit *edit = call->state;
    call_reply(call, 200, json_pack("{s:O}", "skipped", edit->ticks));
}

void skip_next(struct call *call)
{
    struct edit *edit = new_edit(call, path_job(call), edit_skip, CHANGE_SKIP_NEXT);
    if (!edit)
        return;
    edit->reply = reply_skipped;
    make_edit(call);
}

/* ---- delete, bring back ---- */

static enum edit_result edit_delete(struct call *call, const struct catalog_job *job,
                                    struct job *definition)
{
    if (job->deleted)
        return EDIT_NOTHING; /* already deleted */
    definition->deleted_ms = call->now_ms;
    return EDITED;
}

static void delete_known(struct call *call)
{
    struct edit *edit = new_edit(call, path_job(call), edit_delete, CHANGE_DELETE);
    if (!edit)
        return;
    edit->is_delete = true;
    make_edit(call);
}

static void absence_confirmed(struct call *call)
{
    if (call->answer == OK)
        delete_known(call);
    else
        call_fail_unconfirmed(call);
}

/* Whoever deletes a job takes a 404 for its end: only if the store has no such job. */
void delete_job(struct call *call)
{
    if (catalog_by_name(engine_catalog(call->api->ports.engine), call->argument))
        delete_known(call);
    else
        call_confirm(call, absence_confirmed);
}

static enum edit_result edit_undelete(struct call *call, const struct catalog_job *job,
                                      struct job *definition)
{
    struct job_error error = {0};
    if (!job->deleted)
        return EDIT_NOTHING;
    after_follow_renames(call, definition, definition->deleted_ms);
    definition->deleted_ms = 0;
    enum status st = name_check_free(call, definition->name, &error);
    if (st == OK)
        st = after_check_return(call, definition, &error);
    return call_check(call, st, &error) ? EDITED : EDIT_FAILED;
}

void undelete_job(struct call *call)
{
    if (catalog_by_name(engine_catalog(call->api->ports.engine), call->argument)) {
        call_fail(call, 409, "there is a job \"%s\" now; delete it first, or rename it",
                  call->argument);
        return;
    }
    const struct catalog_job *job = deleted_job(call, call->argument);
    if (!job)
        call_fail(call, 404, "there is no deleted job \"%.128s\"", call->argument);
    struct edit *edit = new_edit(call, job, edit_undelete, CHANGE_UNDELETE);
    if (!edit)
        return;
    edit->cursor_ms = call->now_ms; /* ticks since the deletion are not caught up */
    make_edit(call);
}
