/* Groups, and who has their slots: visible to everybody, but for the names of jobs; setting one
 * needs an admin of all namespaces. */
#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "definition/job_fields.h"
#include "documents/documents.h"
#include "group/group.h"
#include "groups/slots.h"
#include "jobs/jobs.h"
#include "runs/encode.h"
#include "server.h"
#include "workflow/steps.h"

enum { JOBS_SHOWN = 5, RUNS_SHOWN = 50 };

static const struct table *all_groups(const struct call *call)
{
    return &engine_catalog(call->api->ports.engine)->groups;
}

/* ---- the jobs that name it ---- */

struct users {
    const struct call *call;
    const char *group;
    json_t *names; /* of the first that the client may see */
    size_t count;  /* of all of those */
};

static bool has_group(char *const *groups, const char *name)
{
    for (; groups && *groups; groups++)
        if (strcmp(*groups, name) == 0)
            return true;
    return false;
}

/* Does a step of the workflow name it? */
static bool has_step(const struct catalog_job *job, const char *name)
{
    struct job *definition;
    struct job_error error;
    bool is_found = false;
    if (!strstr(job->json, name) || job_decode_stored(job->json, NULL, &definition, &error) != OK)
        return false;
    for (size_t i = 0; i < definition->step_count && !is_found; i++)
        is_found = definition->steps[i].job && has_group(definition->steps[i].job->groups, name);
    job_free(definition);
    return is_found;
}

static bool add_user(void *context, const struct catalog_job *job)
{
    struct users *users = context;
    bool is_user = job->is_workflow ? has_step(job, users->group)
                                    : job->groups && groups_have(job->groups, users->group);
    if (!is_user || !call_sees(users->call, job->name))
        return true;
    if (users->count++ < JOBS_SHOWN)
        json_array_append_new(users->names, json_string(job->name));
    return true;
}

static struct users find_users(const struct call *call, const char *name)
{
    struct users users = {.call = call, .group = name, .names = json_array()};
    catalog_each(engine_catalog(call->api->ports.engine), NULL, false, add_user, &users);
    return users;
}

/* ---- the runs that have its slots, or wait for one ---- */

struct slots_view {
    const struct call *call;
    json_t *holders, *waiting;
    size_t held, waits; /* of all runs, whoever may see them */
};

/* In a line of this group; what it lacks may be a slot of another one. */
static void tell_place(const struct slots_view *view, const struct open_run *open, json_t *item)
{
    bool is_node;
    const struct known_group *group =
        slots_lack(engine_slots(view->call->api->ports.engine), open, &is_node);
    json_object_set_new(item, "place", json_integer((json_int_t)view->waits));
    json_object_set_new(item, "waits_for",
                        group ? json_pack("{s:s, s:b}", "group", group->name, "on_node", is_node)
                              : json_null());
}

/* Runs of jobs that the client may not see count, and are not named. */
static bool add_run(void *context, const struct open_run *open, bool holds)
{
    struct slots_view *view = context;
    const struct run *run = &open->run;
    const char *job = job_name_now(view->call, &run->job_uid, run->job_name);
    json_t *list = holds ? view->holders : view->waiting;
    size_t *count = holds ? &view->held : &view->waits;
    if (++*count > RUNS_SHOWN || !call_sees(view->call, job))
        return true;
    json_t *item = json_pack("{s:o, s:s, s:o, s:o, s:i}", "run_id", json_id(&run->id), "job", job,
                             "step", json_words_or_null(run->step), "tick", json_tick(run->tick_ms),
                             "priority", run->priority);
    if (item && holds)
        json_object_set_new(item, "node", json_words_or_null(run->node));
    else if (item)
        tell_place(view, open, item);
    json_array_append_new(list, item);
    return true;
}

static struct slots_view look_at_slots(const struct call *call, const char *name)
{
    struct slots_view view = {.call = call, .holders = json_array(), .waiting = json_array()};
    slots_each(engine_slots(call->api->ports.engine), name, add_run, &view);
    return view;
}

static json_t *encode(const struct call *call, const char *name, int64_t revision, const char *json)
{
    struct users users = find_users(call, name);
    struct slots_view view = look_at_slots(call, name);
    json_t *value =
        json_pack("{s:s, s:I, s:I, s:o, s:I, s:I, s:o, s:o, s:n, s:n}", "name", name, "revision",
                  (json_int_t)revision, "job_count", (json_int_t)users.count, "jobs", users.names,
                  "held", (json_int_t)view.held, "waiting", (json_int_t)view.waits, "holders",
                  view.holders, "queue", view.waiting, "cluster", "node");
    json_t *definition = json_loads(json, 0, NULL);
    if (value && definition)
        json_object_update(value, definition);
    json_decref(definition);
    return value;
}

static json_t *show(const struct call *call, const void *item)
{
    const struct known_group *known = item;
    return encode(call, known->name, known->revision, known->json);
}

/* ---- editing ---- */

/* False: the call has failed. */
static bool is_unused(struct call *call, const char *name)
{
    struct users users = find_users(call, name);
    struct strbuf text;
    json_t *user;
    size_t i;
    if (!users.count) {
        json_decref(users.names);
        return true;
    }
    strbuf_init(&text);
    json_array_foreach (users.names, i, user) {
        strbuf_addf(&text, "%s%s", i ? ", " : "", json_string_value(user));
    }
    json_t *more =
        json_pack("{s:o, s:I}", "jobs", users.names, "job_count", (json_int_t)users.count);
    if (users.count > JOBS_SHOWN)
        call_fail_with(call, 409, more,
                       "group \"%s\" is in use by %s and %zu more jobs; take it out of them first",
                       name, text.text, users.count - JOBS_SHOWN);
    else
        call_fail_with(call, 409, more,
                       "group \"%s\" is in use by %s; take it out of those jobs first", name,
                       text.text);
    strbuf_release(&text);
    return false;
}

/* The body's group as text for the store. NULL: the call has failed. */
static char *read_group(struct call *call)
{
    struct group group;
    struct job_error error = {0};
    const char *complaint = group_name_complaint(call->argument);
    if (complaint) {
        call_fail_at(call, "/name", "name: \"%.63s\" %s", call->argument,
                     message_in(call->language, complaint));
        return NULL;
    }
    enum status st = group_decode_json(call->body, call->argument, &group, &error);
    if (!call_check(call, st, &error))
        return NULL;
    char *json = group_encode_text(&group);
    group_release(&group);
    if (!json)
        call_fail(call, 500, "out of memory");
    return json;
}

static bool prepare(struct call *call, const void *item)
{
    const struct known_group *known = item;
    struct doc_edit *edit = call->state;
    bool is_delete = edit->action == DOC_DELETE;
    char *json = is_delete ? NULL : read_group(call);
    if (is_delete ? !is_unused(call, call->argument) : !json)
        return false;
    edit->json = json;
    edit->is_same = known && json && strcmp(known->json, json) == 0;
    edit->before = known ? strdup(known->json) : NULL;
    if (!known || edit->before)
        return true;
    call_fail(call, 500, "out of memory");
    return false;
}

static void reply(struct call *call, int status)
{
    const struct doc_edit *edit = call->state;
    if (edit->json)
        call->revision = edit->put.revision;
    call_reply(call, status,
               encode(call, call->argument, edit->json ? edit->put.revision : edit->revision,
                      edit->json ? edit->json : edit->before));
}

const struct doc_kind group_docs = {
    .name = GROUP_DOC,
    .target = TARGET_GROUP,
    .created = CHANGE_GROUP_CREATE,
    .changed = CHANGE_GROUP_CHANGE,
    .deleted = CHANGE_GROUP_DELETE,
    .is_recorded_whole = true,
    .has_revision = true,
    .edit_size = sizeof(struct doc_edit),
    .revision_at = offsetof(struct known_group, revision),
    .all = all_groups,
    .show = show,
    .prepare = prepare,
    .reply = reply,
};

/* ---- groups of jobs ---- */

static enum status fail(const struct call *call, const char *name, int step, size_t i,
                        struct job_error *reterr)
{
    const struct table *table = all_groups(call);
    const char **names = calloc(table->count + 1, sizeof(*names));
    const struct known_group *known;
    size_t count = 0;
    if (!names)
        return E_NOMEM;
    for (size_t at = 0; (known = table_next(table, &at));)
        names[count++] = known->name;
    const char *nearest = word_nearest(names, name);
    if (step >= 0)
        snprintf(reterr->path, sizeof(reterr->path), "/steps/%d/groups/%zu", step, i);
    else
        snprintf(reterr->path, sizeof(reterr->path), "/groups/%zu", i);
    if (nearest)
        snprintf(reterr->hint, sizeof(reterr->hint), "did you mean \"%s\"?", nearest);
    else
        snprintf(reterr->hint, sizeof(reterr->hint), "make it with `peal group set`");
    snprintf(reterr->message, sizeof(reterr->message), "groups[%zu]: there is no group \"%s\"; %s",
             i, name, reterr->hint);
    free(names);
    return E_INVALID;
}

static enum status check(const struct call *call, char *const *groups, int step,
                         struct job_error *reterr)
{
    for (size_t i = 0; groups && groups[i]; i++)
        if (!known_groups_find(all_groups(call), groups[i]))
            return fail(call, groups[i], step, i, reterr);
    return OK;
}

enum status groups_check(const struct call *call, const struct job *job, struct job_error *reterr)
{
    enum status st = check(call, job->groups, -1, reterr);
    for (size_t i = 0; st == OK && i < job->step_count; i++)
        if (job->steps[i].job)
            st = check(call, job->steps[i].job->groups, (int)i, reterr);
    return st;
}
