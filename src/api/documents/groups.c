/* Groups, and who has their slots: visible to everybody, but for the names of jobs, and those of
 * namespaces to those who see one; setting one needs an admin of all namespaces. */
#include <stdio.h>
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

enum { RUNS_SHOWN = 50 };

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

/* Of the group of a namespace: is it in that? */
static bool is_user(const struct catalog_job *job, const char *group)
{
    if (group_is_space(group))
        return group_space_has(group, job->name);
    return job->is_workflow ? has_step(job, group) : job->groups && groups_have(job->groups, group);
}

static bool add_user(void *context, const struct catalog_job *job)
{
    struct users *users = context;
    if (!is_user(job, users->group) || !call_sees(users->call, job->name))
        return true;
    if (users->count++ < DOC_USERS_SHOWN)
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

/* The runs under way on the nodes that have one value of a label. */
struct label_view {
    struct group_label label;
    size_t held;
};

enum { LABELS_SHOWN = 50 };

struct slots_view {
    const struct call *call;
    json_t *holders, *waiting;
    size_t held, waits;                     /* of all runs, whoever may see them */
    struct label_view labels[LABELS_SHOWN]; /* of the nodes that are there */
    size_t label_count;
};

/* In a line of this group; what it lacks may be a slot of another one. */
static void tell_place(const struct slots_view *view, const struct open_run *open, json_t *item)
{
    struct slot_wait lack = engine_slot_lack(view->call->api->ports.engine, open);
    json_object_set_new(item, "place", json_integer((json_int_t)view->waits));
    json_object_set_new(item, "waits_for",
                        lack.group ? json_pack("{s:s, s:b}", "group", lack.group->name, "on_node",
                                               lack.limit == SLOT_OF_NODE)
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
    for (size_t i = 0; holds && i < view->label_count; i++)
        view->labels[i].held += groups_count_for(run->groups, view->labels[i].label.label);
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

static void add_label(struct slots_view *view, const struct group_label *label)
{
    for (size_t i = 0; i < view->label_count; i++)
        if (strcmp(view->labels[i].label.label, label->label) == 0)
            return;
    if (view->label_count < LABELS_SHOWN)
        view->labels[view->label_count++].label = *label;
}

/* The values of labels that the nodes have which run jobs. */
static void add_labels(struct slots_view *view, const struct group_limits *limits)
{
    const struct table *peers = &engine_peers(view->call->api->ports.engine)->by_name;
    struct group_label labels[GROUP_LABELS_MAX];
    size_t at = 0;
    for (const struct known_peer *known; (known = table_next(peers, &at));) {
        if (!known->peer.is_alive || !peer_runs_jobs(&known->peer))
            continue;
        size_t count = group_labels_of(limits, known->peer.labels, labels);
        for (size_t i = 0; i < count; i++)
            add_label(view, &labels[i]);
    }
}

static int by_label(const void *a, const void *b)
{
    const struct label_view *one = a, *other = b;
    return strcmp(one->label.label, other->label.label);
}

static void look_at_slots(const char *name, struct slots_view *view)
{
    const struct known_group *known = known_groups_find(all_groups(view->call), name);
    view->holders = json_array();
    view->waiting = json_array();
    if (known)
        add_labels(view, &known->limits);
    if (view->label_count)
        qsort(view->labels, view->label_count, sizeof(view->labels[0]), by_label);
    slots_each(engine_slots(view->call->api->ports.engine), name, add_run, view);
}

/* null: no limit is by label. */
static json_t *encode_labels(const struct slots_view *view)
{
    json_t *list = view->label_count ? json_array() : json_null();
    for (size_t i = 0; i < view->label_count; i++) {
        const struct label_view *row = &view->labels[i];
        json_array_append_new(list, json_pack("{s:o, s:i, s:I}", "label",
                                              json_group_label(row->label.label), "limit",
                                              row->label.most, "held", (json_int_t)row->held));
    }
    return list;
}

static json_t *encode(const struct call *call, const char *name, int64_t revision, const char *json)
{
    struct users users = find_users(call, name);
    struct slots_view view = {.call = call};
    look_at_slots(name, &view);
    json_t *value = json_pack(
        "{s:s, s:I, s:I, s:o, s:I, s:I, s:o, s:o, s:n, s:n, s:n, s:o}", "name", name, "revision",
        (json_int_t)revision, "job_count", (json_int_t)users.count, "jobs", users.names, "held",
        (json_int_t)view.held, "waiting", (json_int_t)view.waits, "holders", view.holders, "queue",
        view.waiting, "cluster", "node", "labels", "by_label", encode_labels(&view));
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

/* A namespace that the client sees nothing of stays unknown. */
static bool sees(const struct call *call, const void *item)
{
    const struct known_group *known = item;
    char space[GROUP_NAME_MAX + 1];
    if (!group_is_space(known->name))
        return true;
    snprintf(space, sizeof(space), "%.*s", (int)strlen(known->name) - 1, known->name);
    return call_sees_space(call, space);
}

/* ---- editing ---- */

/* Nobody names the group of a namespace: it can be deleted with jobs in it. */
static json_t *users_of(const struct call *call, const char *name, size_t *ret_count)
{
    struct users users = {.names = json_array()};
    if (!group_is_space(name)) {
        json_decref(users.names);
        users = find_users(call, name);
    }
    *ret_count = users.count;
    return users.names;
}

static enum status read(const struct call *call, char **ret, struct job_error *reterr)
{
    struct group group;
    enum status st = group_decode_json(call->body, call->argument, &group, reterr);
    if (st != OK)
        return st;
    *ret = group_encode_text(&group);
    group_release(&group);
    return *ret ? OK : E_NOMEM;
}

static const struct doc_text_kind text_kind = {
    .complain = group_any_name_complaint,
    .read = read,
    .users = users_of,
    .encode = encode,
};

static bool prepare(struct call *call, const void *item)
{
    const struct known_group *known = item;
    const struct doc_edit *edit = call->state;
    bool is_space = edit->action != DOC_DELETE && group_is_space(call->argument);
    const struct peer *older =
        is_space ? peers_without(engine_peers(call->api->ports.engine), PEER_KNOWS_SPACE_LIMITS)
                 : NULL;
    if (older) {
        call_fail(call, 409,
                  "node %s runs an older peal, which would not count the runs of a namespace: "
                  "upgrade or stop it first",
                  older->name);
        return false;
    }
    return doc_text_prepare(call, &text_kind, known ? known->json : NULL);
}

static void reply(struct call *call, int status)
{
    doc_text_reply(call, &text_kind, status);
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
    .sees = sees,
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
        if (!known_groups_find(all_groups(call), groups[i]) &&
            !call_assumes(call, "groups", groups[i]))
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
