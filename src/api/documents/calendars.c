/* Calendars: visible to everybody; editing needs the right to edit in all namespaces. */
#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "definition/job_fields.h"
#include "documents/documents.h"
#include "jobs/jobs.h"
#include "runs/encode.h"
#include "server.h"

static struct known_calendar *find(const struct call *call, const char *name)
{
    return known_calendars_find(&engine_catalog(call->api->ports.engine)->calendars, name);
}

/* ---- showing ---- */

/* Names of the first jobs with this calendar that the client may see; *ret_count counts all. */
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
        if (count++ < DOC_USERS_SHOWN)
            json_array_append_new(names, json_string(use->job->name));
    }
    *ret_count = count;
    return names;
}

static json_t *encode(const struct call *call, const char *name, int64_t revision, const char *json)
{
    const struct known_calendar *known = find(call, name);
    size_t count = 0;
    json_t *names = known ? job_names(call, known, &count) : json_array();
    json_t *value = json_pack("{s:s, s:I, s:I, s:o}", "name", name, "revision",
                              (json_int_t)revision, "job_count", (json_int_t)count, "jobs", names);
    return json_joined(value, json_loads(json, 0, NULL));
}

static json_t *show(const struct call *call, const void *item)
{
    const struct known_calendar *known = item;
    return encode(call, known->name, known->revision, known->json);
}

static const struct table *all_calendars(const struct call *call)
{
    return &engine_catalog(call->api->ports.engine)->calendars;
}

/* A calendar that only jobs name has no document, and so no revision. */
static bool is_there(const struct call *call, const void *item)
{
    (void)call;
    return ((const struct known_calendar *)item)->revision != 0;
}

/* ---- editing ---- */

static json_t *users(const struct call *call, const char *name, size_t *ret_count)
{
    return job_names(call, find(call, name), ret_count);
}

static enum status read(const struct call *call, char **ret, struct job_error *reterr)
{
    struct calendar_definition definition;
    enum status st = calendar_decode_json(call->body, call->argument, call->api->ports.zones,
                                          &definition, reterr);
    if (st != OK)
        return st;
    *ret = calendar_encode_text(&definition);
    calendar_definition_release(&definition);
    return *ret ? OK : E_NOMEM;
}

/* An older node takes a calendar with something new for one that is not there. */
static bool allow(struct call *call, const char *json)
{
    const struct peer *older =
        calendar_text_is_new(json)
            ? peers_without(engine_peers(call->api->ports.engine), PEER_KNOWS_WINDOWS)
            : NULL;
    if (older)
        call_fail(call, 409,
                  "node %s runs an older peal, which can't read windows and time zones of "
                  "calendars, and would run jobs as without the calendar: upgrade or stop it first",
                  older->name);
    return !older;
}

static const struct doc_text_kind text_kind = {
    .complain = calendar_name_complaint,
    .read = read,
    .allow = allow,
    .users = users,
    .encode = encode,
};

static bool prepare(struct call *call, const void *item)
{
    const struct known_calendar *known = item;
    return doc_text_prepare(call, &text_kind, known ? known->json : NULL);
}

static void reply(struct call *call, int status)
{
    doc_text_reply(call, &text_kind, status);
}

const struct doc_kind calendar_docs = {
    .name = CALENDAR_DOC,
    .target = TARGET_CALENDAR,
    .created = CHANGE_CALENDAR_CREATE,
    .changed = CHANGE_CALENDAR_CHANGE,
    .deleted = CHANGE_CALENDAR_DELETE,
    .is_recorded_whole = true,
    .has_revision = true,
    .edit_size = sizeof(struct doc_edit),
    .revision_at = offsetof(struct known_calendar, revision),
    .all = all_calendars,
    .sees = is_there,
    .show = show,
    .prepare = prepare,
    .reply = reply,
};

/* ---- calendars of jobs ---- */

/* *reterr names the nearest one; E_INVALID, or E_NOMEM. */
static enum status tell_missing(const struct call *call, const char *field, size_t place,
                                const char *name, struct job_error *reterr)
{
    const struct table *table = &engine_catalog(call->api->ports.engine)->calendars;
    const char **names = calloc(table->count + 1, sizeof(*names));
    const struct known_calendar *known;
    size_t count = 0;
    if (!names)
        return E_NOMEM;
    for (size_t at = 0; (known = table_next(table, &at));) {
        if (known->revision)
            names[count++] = known->name;
    }
    const char *nearest = word_nearest(names, name);
    snprintf(reterr->path, sizeof(reterr->path), "/%s/%zu", field, place);
    if (nearest)
        snprintf(reterr->hint, sizeof(reterr->hint), "did you mean \"%s\"?", nearest);
    else
        snprintf(reterr->hint, sizeof(reterr->hint), "make it with `peal calendar set`");
    snprintf(reterr->message, sizeof(reterr->message), "%s[%zu]: there is no calendar \"%s\"; %s",
             field, place, name, reterr->hint);
    free(names);
    return E_INVALID;
}

static bool is_known(const struct call *call, const char *name)
{
    return find(call, name) || call_assumes(call, "calendars", name);
}

enum status calendars_check(const struct call *call, const struct job *job,
                            struct job_error *reterr)
{
    for (size_t i = 0; i < job->calendar_count; i++) {
        if (!is_known(call, job->calendars[i]))
            return tell_missing(call, "calendars", i, job->calendars[i], reterr);
    }
    for (size_t i = 0; job->only_on && job->only_on[i]; i++) {
        if (!is_known(call, job->only_on[i]))
            return tell_missing(call, "only_on", i, job->only_on[i], reterr);
    }
    return OK;
}
