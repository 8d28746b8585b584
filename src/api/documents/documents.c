#include "documents/documents.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "confirm.h"
#include "handlers.h"
#include "input.h"
#include "note.h"
#include "routes.h"
#include "server.h"

/* By the route's path: "/api/v1/", and the plural of the kind's name. */
static const struct doc_kind *kind_of(const struct call *call)
{
    static const struct doc_kind *const kinds[] = {&calendar_docs, &channel_docs, &maintenance_docs,
                                                   &secret_docs,   &token_docs,   &user_docs,
                                                   &group_docs};
    const char *path = call->route->pattern + strlen(V1 "/");
    size_t i = 0, count = sizeof(kinds) / sizeof(kinds[0]);
    while (i < count && strncmp(path, kinds[i]->name, strlen(kinds[i]->name)) != 0)
        i++;
    assert(i < count);
    return kinds[i];
}

/* The item that call->argument names; NULL: none that the client may see. */
static const void *find(const struct call *call, const struct doc_kind *kind)
{
    const char *name = call->argument;
    if (kind->find)
        return kind->find(call, name);
    const void *item = table_find(kind->all(call), name);
    return item && kind->sees && !kind->sees(call, item) ? NULL : item;
}

static int64_t revision_of(const struct doc_kind *kind, const void *item)
{
    return item ? *(const int64_t *)(const void *)((const char *)item + kind->revision_at) : 0;
}

/* ---- reading ---- */

void doc_reply_items(struct call *call, json_t *items)
{
    call_reply(call, 200, json_pack("{s:o, s:n}", "items", items, "next"));
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void list_docs(struct call *call)
{
    const struct doc_kind *kind = kind_of(call);
    const struct table *table = kind->all(call);
    const void **list = calloc(table->count + 1, sizeof(*list)), *item;
    json_t *items = list ? json_array() : NULL;
    size_t count = 0;
    for (size_t at = 0; list && (item = table_next(table, &at));) {
        if (!kind->sees || kind->sees(call, item))
            list[count++] = item;
    }
    if (count)
        qsort(list, count, sizeof(*list), by_name);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(items, kind->show(call, list[i]));
    free(list);
    doc_reply_items(call, items);
}

static void reply_item(struct call *call, const struct doc_kind *kind, const void *item)
{
    if (kind->has_revision)
        call->revision = revision_of(kind, item);
    call_reply(call, 200, kind->show(call, item));
}

void get_doc(struct call *call)
{
    const struct doc_kind *kind = kind_of(call);
    if (kind->may && !kind->may(call))
        return;
    const void *item = find(call, kind);
    if (item)
        reply_item(call, kind, item);
    else
        fail_missing(call, 404, kind->name);
}

/* ---- writing ---- */

static void release_texts(struct doc_edit *edit)
{
    free(edit->json);
    free(edit->before);
    free(edit->detail);
    edit->json = edit->before = edit->detail = NULL;
}

static void release_edit(void *state)
{
    struct doc_edit *edit = state;
    release_texts(edit);
    if (edit->kind->release)
        edit->kind->release(state);
}

static void reply_edit(struct call *call)
{
    const struct doc_edit *edit = call->state;
    edit->kind->reply(call, edit->revision ? 200 : 201);
}

static void record(struct call *call)
{
    const struct doc_edit *edit = call->state;
    const struct doc_kind *kind = edit->kind;
    struct noted_doc doc = {.kind = kind->target, .name = call->argument};
    if (kind->is_recorded_whole) {
        doc.revision = edit->json ? edit->put.revision : 0;
        doc.before = edit->before;
        doc.after = edit->json;
    }
    note_doc(call,
             edit->action == DOC_DELETE ? kind->deleted
             : edit->revision           ? kind->changed
                                        : kind->created,
             &doc);
    if (edit->detail && *edit->detail)
        note_detail(call, "%s", edit->detail);
    note_write(call, reply_edit);
}

static void prepare(struct call *call);

/* A retry needs the client's rights again: the conflicting write may have revoked them. */
static bool may_repeat(const struct call *call)
{
    const struct doc_edit *edit = call->state;
    return !edit->is_conditional && !edit->is_repeated &&
           accounts_still_admit(&call->api->accounts, &call->principal, clock_now().wall.ms);
}

static void put_done(struct call *call)
{
    struct doc_edit *edit = call->state;
    if (call->answer != OK) {
        call_fail_store(call, call->answer);
    } else if (edit->put.result == PUT_OK || edit->revision == DOC_ANY_REVISION) {
        record(call);
    } else if (edit->action == DOC_CREATE) {
        fail_exists(call, 409, edit->kind->name);
    } else if (may_repeat(call)) {
        edit->is_repeated = true; /* the last writer wins */
        prepare(call);
    } else {
        call_fail(call, edit->is_conditional ? 412 : 409,
                  "\"%s\" was changed meanwhile; read it again", call->argument);
    }
}

/* Adds what a dry run is asked for: what the edit would do to the document.
   NOLINTNEXTLINE(readability-non-const-parameter): a call_shape */
static json_t *add_result(struct call *call, int *status, json_t *native)
{
    const struct doc_edit *edit = call->state;
    const char *result = edit->action == DOC_DELETE ? "deleted"
                         : edit->is_same            ? "unchanged"
                         : edit->revision           ? "changed"
                                                    : "created";
    (void)status;
    if (!native || json_object_set_new(native, "result", json_string(result)) == 0)
        return native;
    json_decref(native);
    return NULL;
}

void doc_submit(struct call *call)
{
    struct doc_edit *edit = call->state;
    if (!edit->json && edit->action != DOC_DELETE) {
        call_fail(call, 500, "out of memory");
        return;
    }
    edit->put = (struct store_put_doc){.json = edit->json, .expected_revision = edit->revision};
    doc_name(&edit->put, edit->kind->name, call->argument);
    if (edit->is_dry_run) { /* as it would be, with the revision that it has now; 0: it is new */
        edit->put.revision = edit->revision;
        edit->kind->reply(call, 200);
        return;
    }
    call_submit(call, STORE_PUT_DOC, &edit->put, 1, put_done);
}

/* Of what this node knows nothing would be written: only if the store has nothing else. */
static void confirmed(struct call *call)
{
    struct doc_edit *edit = call->state;
    edit->is_confirmed = true;
    if (call->answer != OK)
        call_fail_unconfirmed(call);
    else if (accounts_still_admit(&call->api->accounts, &call->principal, clock_now().wall.ms))
        prepare(call);
    else
        call_fail(call, 401, "these credentials are not valid; log in again, or use another token");
}

/* Starts from the document that is stored now. */
static void prepare(struct call *call)
{
    struct doc_edit *edit = call->state;
    const struct doc_kind *kind = edit->kind;
    const void *item = edit->action == DOC_CREATE ? NULL : find(call, kind);
    int64_t revision = revision_of(kind, item);
    if (!item && edit->action == DOC_DELETE && !edit->is_confirmed) {
        call_confirm(call, confirmed);
        return;
    }
    if (!item && (edit->action == DOC_CHANGE || edit->action == DOC_DELETE)) {
        fail_missing(call, 404, kind->name);
        return;
    }
    release_texts(edit);
    edit->revision = revision;
    if (!kind->prepare(call, item) ||
        (kind->has_revision &&
         !check_conditions(call, revision, kind->name, &edit->is_conditional)))
        return;
    if (edit->is_same && !edit->is_confirmed && !edit->is_dry_run)
        call_confirm(call, confirmed);
    else if (edit->is_same)
        reply_item(call, kind, item);
    else if (kind->ready)
        kind->ready(call);
    else
        doc_submit(call);
}

static void edit_doc(struct call *call, enum doc_action action)
{
    const struct doc_kind *kind = kind_of(call);
    if (kind->may && !kind->may(call))
        return;
    struct doc_edit *edit = call_state(call, kind->edit_size, release_edit);
    if (!edit)
        return;
    edit->kind = kind;
    edit->action = action;
    if (!param_bool(call, "dry_run", &edit->is_dry_run))
        return;
    if (edit->is_dry_run)
        call->shape = add_result;
    prepare(call);
}

void add_doc(struct call *call)
{
    edit_doc(call, DOC_CREATE);
}

void put_doc(struct call *call)
{
    edit_doc(call, DOC_PUT);
}

void change_doc(struct call *call)
{
    edit_doc(call, DOC_CHANGE);
}

void delete_doc(struct call *call)
{
    edit_doc(call, DOC_DELETE);
}

/* ---- documents that are one text ---- */

static void fail_in_use(struct call *call, json_t *names, size_t count)
{
    const struct doc_edit *edit = call->state;
    const char *noun = message_in(call->language, edit->kind->name);
    struct strbuf text;
    strbuf_init(&text);
    for (size_t i = 0; i < json_array_size(names); i++)
        strbuf_addf(&text, "%s%s", i ? ", " : "", json_string_value(json_array_get(names, i)));
    json_t *more = json_pack("{s:O, s:I}", "jobs", names, "job_count", (json_int_t)count);
    if (count > DOC_USERS_SHOWN)
        call_fail_with(call, 409, more,
                       "%s \"%s\" is in use by %s and %zu more jobs; take it out of them first",
                       noun, call->argument, text.text, count - DOC_USERS_SHOWN);
    else
        call_fail_with(call, 409, more,
                       "%s \"%s\" is in use by %s; take it out of those jobs first", noun,
                       call->argument, text.text);
    strbuf_release(&text);
}

/* False: the call has failed. */
static bool is_unused(struct call *call, const struct doc_text_kind *kind)
{
    size_t count;
    json_t *names = kind->users(call, call->argument, &count);
    if (count)
        fail_in_use(call, names, count);
    json_decref(names);
    return count == 0;
}

/* The body as text for the store. NULL: the call has failed. */
static char *read_text(struct call *call, const struct doc_text_kind *kind)
{
    struct job_error error = {0};
    char *json = NULL;
    const char *complaint = kind->complain(call->argument);
    if (complaint) {
        call_fail_at(call, "/name", "name: \"%.63s\" %s", call->argument,
                     message_in(call->language, complaint));
        return NULL;
    }
    enum status st = kind->read(call, &json, &error);
    if (!call_check(call, st, &error))
        return NULL;
    if (!kind->allow || kind->allow(call, json))
        return json;
    free(json);
    return NULL;
}

bool doc_text_prepare(struct call *call, const struct doc_text_kind *kind, const char *json)
{
    struct doc_edit *edit = call->state;
    bool is_delete = edit->action == DOC_DELETE;
    char *text = is_delete ? NULL : read_text(call, kind);
    if (is_delete ? !is_unused(call, kind) : !text) /* with that the call is gone */
        return false;
    edit->json = text;
    edit->is_same = json && edit->json && strcmp(json, edit->json) == 0;
    edit->before = json ? strdup(json) : NULL;
    if (!json || edit->before)
        return true;
    call_fail(call, 500, "out of memory");
    return false;
}

void doc_text_reply(struct call *call, const struct doc_text_kind *kind, int status)
{
    const struct doc_edit *edit = call->state;
    int64_t revision = edit->json ? edit->put.revision : edit->revision;
    if (edit->json)
        call->revision = revision;
    call_reply(
        call, status,
        kind->encode(call, call->argument, revision, edit->json ? edit->json : edit->before));
}
