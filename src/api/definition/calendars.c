/* Calendars: who may edit everywhere makes, changes and deletes them; everybody sees them. */
#include <stdlib.h>
#include <string.h>

#include "auth/accounts.h"
#include "auth/visible.h"
#include "conditions.h"
#include "definition/job_fields.h"
#include "handlers.h"
#include "input.h"
#include "jobs/jobs.h"
#include "note.h"
#include "runs/encode.h"
#include "server.h"

enum { NAMES_SHOWN = 5 };

static struct known_calendar *find(const struct call *call, const char *name)
{
    return known_calendars_find(&engine_catalog(call->api->ports.engine)->calendars, name);
}

/* NULL: the call has failed. */
static struct known_calendar *path_calendar(struct call *call)
{
    struct known_calendar *known = find(call, call->argument);
    if (!known)
        call_fail(call, 404, "there is no calendar \"%.63s\"", call->argument);
    return known;
}

/* ---- as they are shown ---- */

/* The jobs that go by it and that they may see; *ret_names are a few of them. NULL: out of memory.
 */
static json_t *job_names(const struct call *call, const struct known_calendar *known,
                         size_t *ret_count)
{
    json_t *names = json_array();
    const struct calendar_use *use;
    size_t count = 0;
    LIST_FOREACH(use, &known->uses, link)
    {
        if (use->job->deleted || !call_sees(call, use->job->name))
            continue;
        if (count++ < NAMES_SHOWN)
            json_array_append_new(names, json_string(use->job->name));
    }
    *ret_count = count;
    return names;
}

static json_t *encode_calendar(const struct call *call, const struct known_calendar *known)
{
    size_t count;
    json_t *names = job_names(call, known, &count);
    json_t *value =
        json_pack("{s:s, s:I, s:I, s:o}", "name", known->name, "revision",
                  (json_int_t)known->revision, "job_count", (json_int_t)count, "jobs", names);
    json_t *stored = json_loads(known->json, 0, NULL);
    bool whole = value && stored && json_object_update(value, stored) == 0;
    json_decref(stored);
    if (whole)
        return value;
    json_decref(value);
    return NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const struct known_calendar *const *)a)->name,
                  (*(const struct known_calendar *const *)b)->name);
}

void list_calendars(struct call *call)
{
    const struct table *table = &engine_catalog(call->api->ports.engine)->calendars;
    const struct known_calendar **list = calloc(table->count + 1, sizeof(*list)), *known;
    json_t *items = list ? json_array() : NULL;
    size_t count = 0;
    for (size_t at = 0; list && (known = table_next(table, &at));) {
        if (known->revision)
            list[count++] = known;
    }
    if (count)
        qsort(list, count, sizeof(*list), by_name);
    for (size_t i = 0; i < count; i++)
        json_array_append_new(items, encode_calendar(call, list[i]));
    free(list);
    call_reply(call, 200, json_pack("{s:o, s:n}", "items", items, "next"));
}

static void reply_calendar(struct call *call, int status, const struct known_calendar *known)
{
    call->revision = known->revision;
    call_reply(call, status, encode_calendar(call, known));
}

void get_calendar(struct call *call)
{
    const struct known_calendar *known = path_calendar(call);
    if (known)
        reply_calendar(call, 200, known);
}

/* ---- writing ---- */

struct calendar_edit {
    char *json, *before; /* as it will be and was; NULL: there is none */
    bool conditional;    /* If-Match, If-None-Match: the client wants to know of other changes */
    bool repeated;
    json_t *deleted; /* the answer */
    struct store_put_doc put;
};

static void release_edit(void *state)
{
    struct calendar_edit *edit = state;
    free(edit->json);
    free(edit->before);
    json_decref(edit->deleted);
}

static void reply_edit(struct call *call)
{
    struct calendar_edit *edit = call->state;
    const struct known_calendar *known = edit->json ? path_calendar(call) : NULL;
    if (!edit->json)
        call_reply(call, 200, json_incref(edit->deleted));
    else if (known)
        reply_calendar(call, edit->before ? 200 : 201, known);
}

static void prepare(struct call *call);

static void edit_done(struct call *call)
{
    struct calendar_edit *edit = call->state;
    if (call->answer != OK) {
        call_fail_store(call, call->answer);
    } else if (edit->put.result == PUT_OK) {
        note_calendar(call,
                      !edit->json    ? CHANGE_CALENDAR_DELETE
                      : edit->before ? CHANGE_CALENDAR_CHANGE
                                     : CHANGE_CALENDAR_CREATE,
                      call->argument, edit->json ? edit->put.revision : 0, edit->before,
                      edit->json);
        note_write(call, reply_edit);
    } else if (!edit->conditional && !edit->repeated) {
        edit->repeated = true; /* somebody was faster; the later one wins */
        prepare(call);
    } else {
        call_fail(call, edit->conditional ? 412 : 409,
                  "\"%s\" was changed meanwhile; read it again", call->argument);
    }
}

/* False: the call has failed. */
static bool may_edit(struct call *call, const struct known_calendar *known)
{
    struct calendar_edit *edit = call->state;
    switch (check_conditions(call, known ? known->revision : 0, &edit->conditional)) {
    case CONDITIONS_HOLD:
        return true;
    case CONDITIONS_NOT_NEW:
        call_fail(call, 412, "there is a calendar \"%s\" already", call->argument);
        return false;
    case CONDITIONS_NOT_THERE:
        call_fail(call, 412, "there is no calendar \"%.63s\"", call->argument);
        return false;
    case CONDITIONS_FAILED:
        break;
    }
    return false;
}

/* From what the catalog has now. */
static void prepare(struct call *call)
{
    struct calendar_edit *edit = call->state;
    const struct known_calendar *known =
        edit->json ? find(call, call->argument) : path_calendar(call);
    if ((!known && !edit->json) || !may_edit(call, known))
        return;
    if (known && edit->json && strcmp(known->json, edit->json) == 0) {
        reply_calendar(call, 200, known);
        return;
    }
    free(edit->before);
    edit->before = known ? strdup(known->json) : NULL;
    if (known && !edit->before) {
        call_fail(call, 500, "out of memory");
        return;
    }
    edit->put = (struct store_put_doc){.json = edit->json,
                                       .expected_revision = known ? known->revision : 0};
    doc_name(&edit->put, CALENDAR_DOC, call->argument);
    call_submit(call, STORE_PUT_DOC, &edit->put, 1, edit_done);
}

void put_calendar(struct call *call)
{
    struct calendar_definition definition;
    struct job_error error = {0};
    const char *complaint = calendar_name_complaint(call->argument);
    struct calendar_edit *edit = call_state(call, sizeof(*edit), release_edit);
    if (!edit)
        return;
    if (complaint) {
        call_fail_at(call, "/name", "name: \"%.63s\" %s", call->argument,
                     message_in(call->language, complaint));
        return;
    }
    enum status st = calendar_decode_json(call->body, call->argument, &definition, &error);
    if (st == OK) {
        edit->json = calendar_encode_text(&definition);
        calendar_definition_release(&definition);
    }
    if (st != OK && st != E_NOMEM)
        call_fail_job(call, &error);
    else if (!edit->json)
        call_fail(call, 500, "out of memory");
    else
        prepare(call);
}

/* ---- deleting ---- */

static void fail_in_use(struct call *call, const struct known_calendar *known, json_t *names,
                        size_t count)
{
    struct strbuf text;
    strbuf_init(&text);
    for (size_t i = 0; i < json_array_size(names); i++)
        strbuf_addf(&text, "%s%s", i ? ", " : "", json_string_value(json_array_get(names, i)));
    json_t *more = json_pack("{s:o, s:I}", "jobs", names, "job_count", (json_int_t)count);
    if (count > NAMES_SHOWN)
        call_fail_with(
            call, 409, more,
            "calendar \"%s\" is in use by %s and %zu more jobs; take it out of them first",
            known->name, text.text, count - NAMES_SHOWN);
    else
        call_fail_with(call, 409, more,
                       "calendar \"%s\" is in use by %s; take it out of those jobs first",
                       known->name, text.text);
    strbuf_release(&text);
}

void delete_calendar(struct call *call)
{
    size_t count;
    const struct known_calendar *known = path_calendar(call);
    struct calendar_edit *edit = known ? call_state(call, sizeof(*edit), release_edit) : NULL;
    if (!edit)
        return;
    json_t *names = job_names(call, known, &count);
    if (count) {
        fail_in_use(call, known, names, count);
        return;
    }
    json_decref(names);
    edit->deleted = encode_calendar(call, known);
    prepare(call);
}

/* ---- for jobs that name some ---- */

enum status calendars_check(const struct call *call, const struct job *job,
                            struct job_error *reterr)
{
    const struct table *table = &engine_catalog(call->api->ports.engine)->calendars;
    for (size_t i = 0; i < job->calendar_count; i++) {
        if (find(call, job->calendars[i]))
            continue;
        const char **names = calloc(table->count + 1, sizeof(*names));
        const struct known_calendar *known;
        size_t count = 0;
        if (!names)
            return E_NOMEM;
        for (size_t at = 0; (known = table_next(table, &at));) {
            if (known->revision)
                names[count++] = known->name;
        }
        const char *nearest = word_nearest(names, job->calendars[i]);
        snprintf(reterr->path, sizeof(reterr->path), "/calendars/%zu", i);
        if (nearest)
            snprintf(reterr->hint, sizeof(reterr->hint), "did you mean \"%s\"?", nearest);
        else
            snprintf(reterr->hint, sizeof(reterr->hint), "make it with `peal calendar set`");
        snprintf(reterr->message, sizeof(reterr->message),
                 "calendars[%zu]: there is no calendar \"%s\"; %s", i, job->calendars[i],
                 reterr->hint);
        free(names);
        return E_INVALID;
    }
    return OK;
}
