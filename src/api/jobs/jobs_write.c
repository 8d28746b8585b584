#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "conditions.h"
#include "confirm.h"
#include "definition/after_check.h"
#include "definition/definition_diff.h"
#include "definition/job_decode.h"
#include "definition/step_check.h"
#include "documents/channels.h"
#include "handlers.h"
#include "input.h"
#include "jobs/jobs.h"
#include "note.h"
#include "server.h"

/* ---- a definition, laid over what is there ---- */

void set_paused(struct job *job, bool paused, int64_t now_ms)
{
    if (paused && !job->paused)
        job->paused_ms = now_ms;
    if (!paused && job->paused)
        job->resumed_ms = now_ms;
    job->paused = paused;
}

void mark_deleted(struct job *job, int64_t now_ms)
{
    job->deleted_ms = now_ms;
}

/* What people see of a job; NULL: out of memory. */
static json_t *seen_definition(const struct job *job, enum secrets seen)
{
    char *stored = job_encode_text(job);
    json_t *definition = stored ? show_definition(stored, seen) : NULL;
    free(stored);
    return definition;
}

/* What `job` changes of `old`. Whether something else runs is judged by what was sent and what is
 * seen, asterisks for secrets included: `sent` is the job with them, NULL if there were none. */
static enum status find_changes(const struct job *job, const struct job *sent,
                                const struct job *old, enum secrets seen, struct job_changes *ret)
{
    json_t *now = job_encode_json(job, false), *before = job_encode_json(old, false);
    json_t *asked = sent ? job_encode_json(sent, false) : json_incref(now);
    json_t *shown = seen == SECRETS_CLEAR ? json_incref(before) : seen_definition(old, seen);
    bool is_complete = now && before && asked && shown;
    if (is_complete) {
        *ret = job_changes_find(before, now);
        ret->runs = job_changes_find(shown, asked).runs;
    }
    json_decref(now);
    json_decref(before);
    json_decref(asked);
    json_decref(shown);
    return is_complete ? OK : E_NOMEM;
}

/* Moves peal's own members (times, former names) from the old definition to the new one. */
static void inherit(struct job *job, struct job *old, bool says_paused, int64_t now_ms)
{
    bool paused = says_paused ? job->paused : old->paused;
    job->created_ms = old->created_ms;
    job->applied_ms = old->applied_ms;
    job->paused_ms = old->paused_ms;
    job->resumed_ms = old->resumed_ms;
    job->skip_until_ms = old->skip_until_ms;
    job->former_names = old->former_names;
    old->former_names = (struct job_pairs){0};
    job->hash_name = old->hash_name;
    old->hash_name = NULL;
    job->paused = old->paused;
    set_paused(job, paused, now_ms);
}

enum status passes_find(const struct call *call, struct catalog_job *job, enum run_reason reason,
                        struct passes *ret)
{
    struct passes passes = {.seen_cursor_ms = job->cursor_ms};
    enum status st = engine_pass(call->api->ports.engine, job, call->now_ms, reason,
                                 &passes.entries, &passes.count);
    if (st == OK)
        *ret = passes;
    return st;
}

void passes_put(const struct passes *passes, struct store_put_job *put)
{
    put->seen_cursor_ms = passes->seen_cursor_ms;
    put->passed = passes->entries;
    put->passed_count = passes->count;
}

bool put_met_a_tick(const struct store_put_job *put)
{
    return put->result == PUT_CONFLICT && put->revision == put->expected_revision;
}

/* From now on files define the job. False: they did already. */
static bool adopt(struct job *job, int64_t now_ms)
{
    if (job->applied_ms)
        return false;
    job->applied_ms = now_ms;
    return true;
}

/* `sent` is the same job with its secrets as sent; NULL: the same as in the job. */
static enum status lay_over(const struct call *call, struct job_write *write,
                            const struct job *sent, const struct job_author *author,
                            bool says_paused, struct job_error *reterr)
{
    const struct api *api = call->api;
    struct job *job = write->job, *old = NULL;
    struct job_error error;
    struct job_changes changes;
    struct catalog_job *there = catalog_by_name(engine_catalog(api->ports.engine), job->name);
    job->updated_ms = call->now_ms;
    write->cursor_ms = call->now_ms;
    write->defines = true;
    write->waits_anew = job_depends(job);
    write->refers_anew = job_has_references(job);
    if (!there) {
        job->uid = call_make_id(call);
        job->created_ms = call->now_ms;
        job->applied_ms = author->is_file ? call->now_ms : 0;
        job->paused_ms = job->paused ? call->now_ms : 0;
        return name_check_free(call, job->name, reterr);
    }
    job->uid = there->uid;
    write->revision = there->revision;
    write->kind = WRITE_CHANGE;
    if (job_decode_stored(there->json, api->ports.zones, &old, &error) != OK) {
        job->created_ms = call->now_ms; /* the stored one can't be decoded: start again */
        job->applied_ms = author->is_file ? call->now_ms : 0;
        return OK;
    }
    inherit(job, old, says_paused, call->now_ms);
    bool is_adopted = author->is_file && adopt(job, call->now_ms);
    enum status st = find_changes(job, sent, old, author->seen, &changes);
    job_free(old);
    if (st != OK)
        return st;
    write->defines = changes.runs;
    write->waits_anew = job_depends(job) && changes.after;
    write->refers_anew = write->refers_anew && changes.steps;
    if (!changes.any)
        write->kind = is_adopted ? WRITE_ADOPT : WRITE_NOTHING;
    if (changes.ticks)
        return passes_find(call, there, REASON_EDITED, &write->passes);
    write->cursor_ms = -1;
    return OK;
}

static void add_want(const struct catalog *catalog, const char *name, struct job_write *write)
{
    const struct catalog_job *other = catalog_by_name(catalog, name);
    struct store_want *want = &write->wants[write->want_count];
    if (!other)
        return;
    snprintf(want->name, sizeof(want->name), "%s", other->name);
    want->job_uid = other->uid;
    write->want_count++;
}

/* A job of the same request is not there yet, and is not wanted. */
static enum status find_wants(const struct call *call, struct job_write *write)
{
    const struct catalog *catalog = engine_catalog(call->api->ports.engine);
    const struct job *job = write->job;
    write->wants = calloc(job->after_count + ONLY_IF_MAX + 1, sizeof(*write->wants));
    if (!write->wants)
        return E_NOMEM;
    for (size_t i = 0; i < job->after_count; i++)
        add_want(catalog, job->after[i].job, write);
    for (char **name = job->only_if.jobs; name && *name; name++)
        add_want(catalog, *name, write);
    return OK;
}

/* Decodes a definition with asterisks, which stand for the secrets of the job that is there. */
static enum status decode_masked(const struct call *call, const struct node *definition,
                                 const char *name, struct job **ret, struct job_error *reterr)
{
    const struct api *api = call->api;
    const struct catalog_job *there = catalog_by_name(engine_catalog(api->ports.engine), name);
    json_t *whole = node_to_json(definition);
    enum status st = whole ? secrets_restore(whole, there ? there->json : NULL, reterr) : E_NOMEM;
    if (st == OK)
        st = job_decode_json(whole, false, api->default_tz, api->ports.zones, ret, reterr);
    json_decref(whole);
    return st;
}

/* Decodes the definition, and also with its asterisks as sent; NULL: it has none. */
static enum status decode_sent(const struct call *call, const struct node *definition,
                               struct job **ret, struct job **ret_sent, struct job_error *reterr)
{
    const struct api *api = call->api;
    struct job *sent = NULL;
    enum status st =
        job_decode_node(definition, false, api->default_tz, api->ports.zones, &sent, reterr);
    if (st != OK)
        return st;
    if (!secrets_are_masked(definition)) {
        *ret = sent;
        return OK;
    }
    st = decode_masked(call, definition, sent->name, ret, reterr);
    if (st == OK)
        *ret_sent = sent;
    else
        job_free(sent);
    return st;
}

enum status job_write_prepare(const struct call *call, const struct node *definition,
                              const struct job_author *author, struct job_write *ret,
                              struct job_error *reterr)
{
    struct job_write write = {.kind = WRITE_CREATE};
    const struct api *api = call->api;
    struct job *sent = NULL;
    enum status st = decode_sent(call, definition, &write.job, &sent, reterr);
    if (st == OK)
        st = calendars_check(call, write.job, reterr);
    if (st == OK)
        st = groups_check(call, write.job, reterr);
    if (st == OK)
        st = channels_check(call, definition, write.job, reterr);
    if (st == OK)
        st = lay_over(call, &write, sent, author, node_get(definition, "paused") != NULL, reterr);
    if (st == OK && write.waits_anew)
        st = find_wants(call, &write);
    job_free(sent);
    if (st != OK) {
        job_write_release(&write);
        return st;
    }
    write.json = job_encode_text(write.job);
    const struct catalog_job *there =
        catalog_by_name(engine_catalog(api->ports.engine), write.job->name);
    write.before = there ? strdup(there->json) : NULL;
    if (!write.json || (there && !write.before)) {
        job_write_release(&write);
        return E_NOMEM;
    }
    write.uid = write.job->uid;
    write.paused = write.job->paused;
    *ret = write;
    return OK;
}

enum status job_write_prepare_json(const struct call *call, const json_t *definition,
                                   const struct job_author *author, struct job_write *ret,
                                   struct job_error *reterr)
{
    struct tree tree;
    struct parse_error error = {0};
    const struct node *node;
    tree_init(&tree);
    enum status st = tree_from_json(&tree, definition, &node, &error);
    if (st == OK)
        st = job_write_prepare(call, node, author, ret, reterr);
    else if (st != E_NOMEM)
        spot_set_tree(reterr, &error);
    tree_release(&tree);
    return st;
}

enum status job_write_edit(const struct call *call, struct catalog_job *job, job_edit *edit,
                           struct job_write *ret)
{
    struct job_error error;
    struct job_write write = {.kind = WRITE_CHANGE, .revision = job->revision, .cursor_ms = -1};
    enum status st = job_decode_stored(job->json, call->api->ports.zones, &write.job, &error);
    if (st != OK)
        return st;
    edit(write.job, call->now_ms);
    write.job->updated_ms = call->now_ms;
    write.json = job_encode_text(write.job);
    write.before = strdup(job->json);
    if (!write.json || !write.before)
        st = E_NOMEM;
    if (st == OK && write.job->deleted_ms) {
        write.cursor_ms = call->now_ms;
        st = passes_find(call, job, REASON_DELETED, &write.passes);
    }
    if (st != OK) {
        job_write_release(&write);
        return st;
    }
    write.uid = write.job->uid;
    write.paused = write.job->paused;
    *ret = write;
    return OK;
}

void job_write_lighten(struct job_write *write)
{
    write->job = job_free(write->job);
}

void job_write_release(struct job_write *write)
{
    job_free(write->job);
    free(write->json);
    free(write->before);
    free(write->passes.entries);
    free(write->wants);
    *write = (struct job_write){0};
}

struct store_put_job job_write_put(const struct job_write *write)
{
    struct store_put_job put = {
        .uid = write->uid,
        .name = write->job ? write->job->name : NULL,
        .json = write->json,
        .paused = write->paused,
        .expected_revision = write->revision,
        .cursor_ms = write->cursor_ms,
        .wants = write->wants,
        .want_count = write->want_count,
    };
    passes_put(&write->passes, &put);
    return put;
}

static struct noted_job noted(const struct job_write *write, int64_t revision)
{
    return (struct noted_job){
        .uid = &write->job->uid,
        .name = write->job->name,
        .revision = revision,
        .before = write->before,
        .after = write->json,
    };
}

void job_write_note(struct call *call, enum change_action action, const struct job_write *write,
                    int64_t revision)
{
    struct noted_job job = noted(write, revision);
    note_job(call, action, &job);
}

/* ---- PUT ---- */

struct put_state {
    struct job_write write;
    struct store_put_job put;
    struct strbuf record; /* of the change, for the store */
    json_t *patch;        /* to be merged into the stored definition; NULL: the body is complete */
    int64_t rollback;     /* the revision to roll back to; 0: none */
    bool conditional;     /* If-Match, If-None-Match: a concurrent change is a conflict */
    bool is_post;         /* the job must be new */
    bool repeated;
};

static void release_put(void *state)
{
    struct put_state *put = state;
    job_write_release(&put->write);
    if (put->record.capacity)
        strbuf_release(&put->record);
    json_decref(put->patch);
}

static bool prepare_put(struct call *call);
static void submit_put(struct call *call);

/* The Location of the new job. */
static void name_place(struct call *call)
{
    struct strbuf path;
    strbuf_init(&path);
    strbuf_adds(&path, "/api/v1/jobs/");
    for (const char *at = call->argument; *at; at++) {
        unsigned char byte = (unsigned char)*at;
        if (byte == '/' || byte > 0x7E) /* nothing else in a name needs an escape */
            strbuf_addf(&path, "%%%02X", byte);
        else
            strbuf_addc(&path, *at);
    }
    if (strbuf_status(&path) == OK)
        call_header(call, "Location", path.text);
    strbuf_release(&path);
}

static void reply_put(struct call *call)
{
    const struct put_state *state = call->state;
    const struct catalog_job *job = path_job(call);
    if (job && state->is_post)
        name_place(call);
    if (job)
        reply_job(call, state->write.kind == WRITE_CREATE ? 201 : 200, job);
}

/* Before it is written: with the revision that it will have. */
static void note_put(struct call *call)
{
    struct put_state *state = call->state;
    enum change_action action = state->rollback                     ? CHANGE_ROLLBACK
                                : state->write.kind == WRITE_CREATE ? CHANGE_CREATE
                                                                    : CHANGE_CHANGE;
    struct noted_job job = noted(&state->write, state->write.revision + 1);
    char detail[48] = "";
    if (state->rollback)
        snprintf(detail, sizeof(detail), "to revision %lld", (long long)state->rollback);
    if (!state->record.capacity)
        strbuf_init(&state->record);
    note_drop(call); /* of a first attempt */
    strbuf_reset(&state->record);
    if (note_for_store(call, action, &job, detail, &state->record, &state->put.record_id)) {
        state->put.record = state->record.text;
        return;
    }
    note_job(call, action, &job);
    note_detail(call, "%s", detail);
}

static void put_done(struct call *call)
{
    struct put_state *state = call->state;
    if (call->answer != OK) {
        call_fail_store(call, call->answer);
    } else if (state->put.result == PUT_OK && state->put.record) {
        reply_put(call);
    } else if (state->put.result == PUT_OK) {
        note_write(call, reply_put);
    } else if ((!state->conditional || put_met_a_tick(&state->put)) &&
               !state->repeated) { /* a POST then finds the other job */
        state->repeated = true;    /* a concurrent change: the last writer wins */
        if (prepare_put(call))
            submit_put(call);
    } else {
        call_fail(call, state->conditional ? 412 : 409,
                  "\"%s\" was changed meanwhile; read it again", call->argument);
    }
}

static void submit_put(struct call *call)
{
    struct put_state *state = call->state;
    struct quota_excess excess;
    state->put = job_write_put(&state->write);
    note_put(call);
    enum status st = job_puts_submit(call, &state->put, 1, PUT_TO_DEFINE, put_done, &excess);
    if (st != OK)
        call_fail_put(call, st, &excess);
}

/* False: the call has failed. */
static bool may_put(struct call *call, struct put_state *state)
{
    bool is_new = state->write.kind == WRITE_CREATE;
    if (!state->is_post || is_new)
        return check_conditions(call, is_new ? 0 : state->write.revision, "job",
                                &state->conditional);
    fail_exists(call, 409, "job");
    return false;
}

/* The path names the job; the body may repeat it. */
static bool name_agrees(struct call *call)
{
    const json_t *name = json_object_get(call->body, "name");
    if (!json_is_object(call->body))
        return true; /* the decoder says what is wrong */
    if (!name) {
        if (json_object_set_new(call->body, "name", json_string(call->argument)) == 0)
            return true;
        call_fail(call, 500, "out of memory");
        return false;
    }
    if (!json_is_string(name) || strcmp(json_string_value(name), call->argument) == 0)
        return true;
    call_fail_at(call, "/name", "the path names \"%s\", the definition \"%.128s\"", call->argument,
                 json_string_value(name));
    return false;
}

static json_t *encode_outcome(const struct call *call, const struct job_write *write)
{
    json_t *value = show_definition(write->json, call_secrets(call, write->job->name));
    if (value && json_object_set_new(value, "revision", json_integer(write->revision)) == 0)
        return value;
    json_decref(value);
    return NULL;
}

/* The body becomes the definition as the caller sees it, with the patch applied. False: the call
 * has failed. */
static bool apply_patch(struct call *call, json_t *patch)
{
    const struct catalog_job *there = path_job(call);
    struct job *old = there ? stored_job(call, there) : NULL;
    if (!old)
        return false;
    json_t *definition = seen_definition(old, call_secrets(call, there->name));
    job_free(old);
    if (!definition || !job_patch(definition, patch)) {
        json_decref(definition);
        call_fail(call, 500, "out of memory");
        return false;
    }
    json_decref(call->body);
    call->body = definition;
    return true;
}

static enum status check_waits(const struct call *call, const struct job_write *write,
                               struct job_error *reterr)
{
    struct after_check check;
    enum status st = OK;
    after_check_init(&check, call, after_planned_alone, write->job);
    if (write->waits_anew)
        st = after_check_job(&check, write->job, call->body, reterr);
    if (st == OK && write->refers_anew)
        st = step_check_job(&check, write->job, reterr);
    after_check_release(&check);
    return st;
}

/* False: the call has failed. */
static bool prepare_put(struct call *call)
{
    struct put_state *state = call->state;
    struct job_error error = {0};
    if (state->patch && (!apply_patch(call, state->patch) || !name_agrees(call)))
        return false;
    /* A rollback comes from peal's own record, with clear secrets. */
    const struct job_author author = {.seen = state->rollback ? SECRETS_CLEAR
                                                              : call_secrets(call, call->argument)};
    job_write_release(&state->write);
    enum status st = job_write_prepare_json(call, call->body, &author, &state->write, &error);
    if (st == OK)
        st = check_waits(call, &state->write, &error);
    return call_check(call, st, &error) &&
           (!state->write.defines || call_may_on(call, RIGHT_DEFINE, call->argument)) &&
           may_put(call, state);
}

/* A dry run fails for the same reasons as the write. */
static void reply_dry_run(struct call *call)
{
    const struct put_state *state = call->state;
    struct store_put_job put = job_write_put(&state->write);
    struct quota_item item;
    struct quota_excess excess;
    if (state->write.kind == WRITE_NOTHING || job_put_is_allowed(call, &put, NULL, &item, &excess))
        call_reply(call, 200, encode_outcome(call, &state->write));
    else
        call_fail_quota(call, "", &excess);
}

/* Of what this node knew the job had this definition: only if the store has nothing else. */
static void put_confirmed(struct call *call)
{
    const struct put_state *state = call->state;
    if (call->answer != OK)
        call_fail_unconfirmed(call);
    else if (!prepare_put(call))
        return;
    else if (state->write.kind == WRITE_NOTHING)
        reply_job(call, 200, path_job(call));
    else
        submit_put(call);
}

static void put_definition(struct call *call, bool dry_run)
{
    struct put_state *state = call->state;
    if (!prepare_put(call))
        return;
    if (dry_run)
        reply_dry_run(call);
    else if (state->write.kind == WRITE_NOTHING)
        call_confirm(call, put_confirmed);
    else
        submit_put(call);
}

void put_job(struct call *call)
{
    bool dry_run = false;
    if (call_state(call, sizeof(struct put_state), release_put) &&
        param_bool(call, "dry_run", &dry_run) && name_agrees(call))
        put_definition(call, dry_run);
}

/* The job is named by the definition, and must be new. */
void post_job(struct call *call)
{
    struct put_state *state = call_state(call, sizeof(*state), release_put);
    const char *name = json_string_value(json_object_get(call->body, "name"));
    bool dry_run = false;
    if (!state || !param_bool(call, "dry_run", &dry_run))
        return;
    if (!name) {
        call_fail_at(call, "/name", "name: expected the name of a job");
        return;
    }
    state->is_post = true;
    if (call_name(call, name) && call_may_on(call, RIGHT_EDIT, name))
        put_definition(call, dry_run);
}

void roll_back(struct call *call, int64_t revision, bool dry_run)
{
    struct put_state *state = call_state(call, sizeof(*state), release_put);
    if (!state || !name_agrees(call))
        return;
    state->rollback = revision;
    put_definition(call, dry_run);
}

void patch_job(struct call *call)
{
    struct put_state *state = call_state(call, sizeof(*state), release_put);
    bool dry_run = false;
    if (!state || !param_bool(call, "dry_run", &dry_run))
        return;
    if (!json_is_object(call->body)) {
        call_fail_at(call, "", "the body must be a JSON object");
        return;
    }
    state->patch = json_incref(call->body);
    put_definition(call, dry_run);
}
