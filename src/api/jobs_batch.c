/* Many jobs in one request: all are checked before any is written, and written as one. */
#include <stdlib.h>
#include <string.h>

#include "after_check.h"
#include "encode.h"
#include "handlers.h"
#include "hash.h"
#include "input.h"
#include "jobs.h"
#include "note.h"
#include "server.h"
#include "table.h"
#include "visible.h"

enum {
    SLICE = 50, /* definitions that are checked in one turn: jobs that are due must not wait */
    ERRORS_MAX = 100,
};

struct batch_item {
    char *name;
    bool is_delete;
    struct job_write write;    /* of a put; of a delete the old definition, marked */
    struct store_put_job *put; /* NULL: nothing to write */
};

struct batch {
    struct batch_item *items;
    size_t count, checked, linked;
    struct after_check after;
    struct table names;
    struct store_put_job *puts;
    size_t put_count;
    json_t *errors;
    bool dry_run;
    const char *refused; /* the name of one that they may not change so, for want of: */
    enum right needed;
};

static uint64_t item_hash(const void *item)
{
    return hash_text(0, ((const struct batch_item *)item)->name);
}

static bool item_has_name(const void *item, const void *key)
{
    return strcmp(((const struct batch_item *)item)->name, key) == 0;
}

static const struct table_type names_type = {item_hash, item_has_name};

static void release_batch(void *state)
{
    struct batch *batch = state;
    for (size_t i = 0; i < batch->count; i++) {
        free(batch->items[i].name);
        job_write_release(&batch->items[i].write);
    }
    free(batch->items);
    free(batch->puts);
    table_release(&batch->names);
    after_check_release(&batch->after);
    json_decref(batch->errors);
}

/* ---- checks ---- */

/* E_NOMEM, or OK: the error is on the list, if that is not full yet. */
static enum status add_error(struct call *call, const char *list, size_t index,
                             const struct job_error *error)
{
    struct batch *batch = call->state;
    char pointer[sizeof(error->path) + 40];
    if (json_array_size(batch->errors) == ERRORS_MAX)
        return OK;
    snprintf(pointer, sizeof(pointer), "/%s/%zu%s", list, index, error->path);
    json_t *item = job_error_item(call, pointer, error);
    return json_array_append_new(batch->errors, item) == 0 ? OK : E_NOMEM;
}

static enum status add_name(struct batch *batch, struct batch_item *item, const char *name,
                            struct job_error *reterr)
{
    if (table_find(&batch->names, hash_text(0, name), name)) {
        snprintf(reterr->message, sizeof(reterr->message), "\"%.128s\" is named twice", name);
        return E_INVALID;
    }
    item->name = strdup(name);
    return item->name ? table_insert(&batch->names, item) : E_NOMEM;
}

/* False: it is noted that they may not. */
static bool may_change(const struct call *call, enum right right, const char *name)
{
    struct batch *batch = call->state;
    if (scope_may(&call->principal.scope, right, name))
        return true;
    if (!batch->refused) {
        batch->refused = name;
        batch->needed = right;
    }
    return false;
}

static enum status check_put(struct call *call, struct batch_item *item, const json_t *definition,
                             struct job_error *reterr)
{
    const char *asked = json_string_value(json_object_get(definition, "name"));
    enum status st =
        job_write_prepare(call, definition, call_secrets(call, asked), &item->write, reterr);
    if (st != OK)
        return st;
    const char *name = item->write.job->name;
    if (may_change(call, RIGHT_EDIT, name) && item->write.defines)
        may_change(call, RIGHT_DEFINE, name);
    return add_name(call->state, item, name, reterr);
}

static enum status check_delete(struct call *call, struct batch_item *item, const json_t *name,
                                struct job_error *reterr)
{
    const char *text = json_string_value(name);
    item->is_delete = true;
    if (!text) {
        snprintf(reterr->message, sizeof(reterr->message), "expected the name of a job");
        return E_INVALID;
    }
    if (!may_change(call, RIGHT_EDIT, text))
        return OK; /* nor are they told whether it is there */
    struct catalog_job *job = catalog_by_name(engine_catalog(call->api->ports.engine), text);
    if (!job) {
        snprintf(reterr->message, sizeof(reterr->message), "there is no job \"%.128s\"", text);
        return E_INVALID;
    }
    enum status st = job_write_edit(call, job, mark_deleted, &item->write);
    if (st == E_INVALID)
        snprintf(reterr->message, sizeof(reterr->message),
                 "the definition of \"%.128s\" can't be read by this version", text);
    return st == OK ? add_name(call->state, item, text, reterr) : st;
}

static enum status check_item(struct call *call, size_t index)
{
    struct batch *batch = call->state;
    struct job_error error = {0};
    const json_t *puts = json_object_get(call->body, "put");
    size_t put_count = json_array_size(puts);
    bool is_put = index < put_count;
    size_t place = is_put ? index : index - put_count;
    const json_t *value =
        json_array_get(is_put ? puts : json_object_get(call->body, "delete"), place);
    struct batch_item *item = &batch->items[index];
    enum status st =
        is_put ? check_put(call, item, value, &error) : check_delete(call, item, value, &error);
    return st == OK || st == E_NOMEM ? st
                                     : add_error(call, is_put ? "put" : "delete", place, &error);
}

/* Those of the batch come before those that are there. */
static const struct job *planned_here(void *context, const char *name, bool *ret_gone)
{
    const struct batch *batch = context;
    const struct batch_item *item = table_find(&batch->names, hash_text(0, name), name);
    *ret_gone = item && item->is_delete;
    return item && !item->is_delete ? item->write.job : NULL;
}

/* When all are known: what a job waits for may stand behind it. */
static enum status check_link(struct call *call, size_t index)
{
    struct batch *batch = call->state;
    struct job_error error = {0};
    const struct job_write *write = &batch->items[index].write;
    if (!write->waits_anew)
        return OK;
    const json_t *definition = json_array_get(json_object_get(call->body, "put"), index);
    enum status st = after_check_job(&batch->after, write->job, definition, &error);
    return st == OK || st == E_NOMEM ? st : add_error(call, "put", index, &error);
}

/* ---- results ---- */

static const char *outcome(const struct batch_item *item)
{
    if (item->is_delete)
        return "deleted";
    return item->write.kind == WRITE_CREATE   ? "created"
           : item->write.kind == WRITE_CHANGE ? "changed"
                                              : "unchanged";
}

static json_t *encode_item(const struct batch_item *item, bool written)
{
    bool failed = written && item->put && item->put->result != PUT_OK;
    json_t *error = json_null();
    if (failed)
        error = json_string(item->put->result == PUT_EXISTS
                                ? "somebody else made a job of this name meanwhile"
                                : "somebody else changed it meanwhile; try again");
    return json_pack("{s:s, s:s, s:o}", "name", item->name, "result",
                     failed ? "failed" : outcome(item), "error", error);
}

static void reply_results(struct call *call, bool written)
{
    const struct batch *batch = call->state;
    json_t *results = json_array();
    for (size_t i = 0; i < batch->count && results; i++) {
        if (json_array_append_new(results, encode_item(&batch->items[i], written)) != 0) {
            json_decref(results);
            results = NULL;
        }
    }
    call_reply(call, 200, json_pack("{s:o}", "results", results));
}

static void reply_written(struct call *call)
{
    reply_results(call, true);
}

static void batch_done(struct call *call)
{
    const struct batch *batch = call->state;
    if (call->answer != OK) {
        call_fail_store(call, call->answer);
        return;
    }
    for (size_t i = 0; i < batch->count; i++) {
        const struct batch_item *item = &batch->items[i];
        if (item->put && item->put->result == PUT_OK)
            job_write_note(call,
                           item->is_delete                    ? CHANGE_DELETE
                           : item->write.kind == WRITE_CREATE ? CHANGE_CREATE
                                                              : CHANGE_CHANGE,
                           &item->write, item->put->revision);
    }
    note_write(call, reply_written);
}

/* ---- the way of a batch ---- */

static void submit_batch(struct call *call)
{
    struct batch *batch = call->state;
    for (size_t i = 0; i < batch->count; i++) {
        struct batch_item *item = &batch->items[i];
        if (item->write.kind == WRITE_NOTHING)
            continue;
        item->put = &batch->puts[batch->put_count++];
        *item->put = job_write_put(&item->write);
        item->put->deleted = item->is_delete;
    }
    if (batch->put_count)
        call_submit(call, STORE_PUT_JOB, batch->puts, batch->put_count, batch_done);
    else
        reply_results(call, false);
}

static void fail_checks(struct call *call)
{
    struct batch *batch = call->state;
    json_t *errors = json_pack("{s:O}", "errors", batch->errors);
    const json_t *first = json_array_get(batch->errors, 0);
    size_t count = json_array_size(batch->errors);
    call_fail_with(call, 422, errors,
                   "nothing was written: %zu%s mistake%s; the first is at %s: %s", count,
                   count == ERRORS_MAX ? " or more" : "", count == 1 ? "" : "s",
                   json_string_value(json_object_get(first, "pointer")),
                   json_string_value(json_object_get(first, "message")));
}

static void finish_checks(struct call *call)
{
    struct batch *batch = call->state;
    if (json_array_size(batch->errors))
        fail_checks(call);
    else if (batch->refused)
        call_may_on(call, batch->needed, batch->refused); /* which fails */
    else if (batch->dry_run)
        reply_results(call, false);
    else
        submit_batch(call);
}

static void link_slice(struct call *call)
{
    struct batch *batch = call->state;
    for (int i = 0; i < SLICE && batch->linked < batch->count; i++) {
        if (check_link(call, batch->linked++) != OK) {
            call_fail(call, 500, "out of memory");
            return;
        }
    }
    if (batch->linked < batch->count)
        call_later(call, link_slice);
    else
        finish_checks(call);
}

static void check_slice(struct call *call)
{
    struct batch *batch = call->state;
    for (int i = 0; i < SLICE && batch->checked < batch->count; i++) {
        if (check_item(call, batch->checked++) != OK) {
            call_fail(call, 500, "out of memory");
            return;
        }
    }
    if (batch->checked < batch->count)
        call_later(call, check_slice);
    else if (json_array_size(batch->errors) || batch->refused)
        finish_checks(call);
    else
        link_slice(call);
}

static bool read_list(struct call *call, const char *name, size_t *count)
{
    const json_t *list = json_object_get(call->body, name);
    if (list && !json_is_array(list)) {
        char pointer[16];
        snprintf(pointer, sizeof(pointer), "/%s", name);
        call_fail_at(call, pointer, "%s: expected a list", name);
        return false;
    }
    *count += json_array_size(list);
    return true;
}

void batch_jobs(struct call *call)
{
    struct batch *batch = call_state(call, sizeof(*batch), release_batch);
    if (!batch)
        return;
    size_t count = 0;
    table_init(&batch->names, &names_type);
    after_check_init(&batch->after, call, planned_here, batch);
    if (!read_list(call, "put", &count) || !read_list(call, "delete", &count) ||
        !field_bool(call, "dry_run", &batch->dry_run))
        return;
    batch->errors = json_array();
    batch->items = calloc(count + 1, sizeof(*batch->items));
    batch->puts = calloc(count + 1, sizeof(*batch->puts));
    if (!batch->errors || !batch->items || !batch->puts) {
        call_fail(call, 500, "out of memory");
        return;
    }
    batch->count = count;
    check_slice(call);
}
