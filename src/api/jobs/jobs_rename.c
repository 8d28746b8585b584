/* POST /jobs/{name}/rename. The rename itself is one write: the job keeps its former name, by which
 * the `after` of its dependents, and the steps of workflows, still find it. Then their definitions
 * are rewritten to the new name, in rounds; those that are not, since the agent or the store fails
 * in the middle, go on waiting for the same job, and the same request again, or a later rename,
 * rewrites them. */
#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "conditions.h"
#include "definition/after_check.h"
#include "handlers.h"
#include "input.h"
#include "job_name.h"
#include "jobs/jobs.h"
#include "jobs/step_names.h"
#include "note.h"
#include "runs/encode.h"
#include "server.h"
#include "workflow/steps.h"

enum {
    ROUNDS = 8,      /* of rewriting: a dependent may be changed by others meanwhile */
    ROUND_JOBS = 64, /* dependents in one request to the store */
};

/* A definition on its way to the store. */
struct rewrite {
    struct job *job;
    char *json, *before;
    char former[JOB_NAME_SIZE]; /* the name in `field` that is replaced */
    const char *field;          /* after, steps */
    struct store_want want;
};

struct rename {
    struct id uid;
    const char *to; /* in the body */
    char from[JOB_NAME_SIZE];
    int64_t wanted; /* revision of If-Match */
    bool dry_run, is_repeated;
    struct rewrite own;
    struct rewrite dependents[ROUND_JOBS];
    struct store_put_job puts[ROUND_JOBS];
    size_t count;
    int rounds;
    json_t *rewritten; /* names of dependents that the caller may see */
};

static void release_rewrite(struct rewrite *rewrite)
{
    job_free(rewrite->job);
    free(rewrite->json);
    free(rewrite->before);
    *rewrite = (struct rewrite){0};
}

static void release_dependents(struct rename *rename)
{
    for (size_t i = 0; i < rename->count; i++)
        release_rewrite(&rename->dependents[i]);
    rename->count = 0;
}

static void release_rename(void *state)
{
    struct rename *rename = state;
    release_rewrite(&rename->own);
    release_dependents(rename);
    json_decref(rename->rewritten);
}

static struct catalog *catalog_of(const struct call *call)
{
    return engine_catalog(call->api->ports.engine);
}

static struct catalog_job *renamed_job(const struct call *call)
{
    const struct rename *rename = call->state;
    return catalog_by_uid(catalog_of(call), &rename->uid);
}

/* The text for the store; the put keeps the cursor. E_NOMEM. */
static enum status encode_rewrite(const struct call *call, const struct catalog_job *there,
                                  struct rewrite *rewrite, struct store_put_job *ret)
{
    rewrite->job->updated_ms = call->now_ms;
    rewrite->json = job_encode_text(rewrite->job);
    rewrite->before = strdup(there->json);
    if (!rewrite->json || !rewrite->before)
        return E_NOMEM;
    *ret = (struct store_put_job){
        .uid = there->uid,
        .name = rewrite->job->name,
        .json = rewrite->json,
        .paused = rewrite->job->paused,
        .expected_revision = there->revision,
        .cursor_ms = -1,
    };
    return OK;
}

static void note_rewrite(struct call *call, enum change_action action,
                         const struct rewrite *rewrite, int64_t revision)
{
    struct noted_job job = {
        .uid = &rewrite->job->uid,
        .name = rewrite->job->name,
        .revision = revision,
        .before = rewrite->before,
        .after = rewrite->json,
    };
    note_job(call, action, &job);
}

/* ---- names ---- */

static const char *shown(const struct call *call, const char *name)
{
    return call_sees(call, name) ? name : "...";
}

enum status name_check_free(const struct call *call, const char *name, struct job_error *reterr)
{
    const struct waits *waits = &catalog_of(call)->waits;
    const struct catalog_job *renamed = waits_former(waits, name);
    if (!renamed || !waits_is_named(waits, name))
        return OK;
    snprintf(reterr->path, sizeof(reterr->path), "/name");
    snprintf(reterr->message, sizeof(reterr->message),
             message_in(call->language, "other jobs still wait for \"%.60s\" by this former name; "
                                        "finish that rename first: peal rename %.60s %.60s"),
             shown(call, renamed->name), name, shown(call, renamed->name));
    return E_INVALID;
}

static void step_follow_rename(const struct waits *waits, struct job_step *step, int64_t at_ms)
{
    char **name = step->ref ? &step->ref : &step->workflow;
    const struct catalog_job *renamed = *name ? waits_former_at(waits, *name, at_ms) : NULL;
    bool is_beside = renamed && job_name_is_beside(renamed->name, *name);
    char *fresh = is_beside ? strdup(renamed->name) : NULL;
    if (!fresh)
        return;
    free(*name);
    *name = fresh;
}

void after_follow_renames(const struct call *call, struct job *definition, int64_t at_ms)
{
    const struct waits *waits = &catalog_of(call)->waits;
    for (size_t i = 0; i < definition->step_count; i++)
        step_follow_rename(waits, &definition->steps[i], at_ms);
    for (size_t i = 0; i < definition->after_count; i++) {
        struct job_after *after = &definition->after[i];
        const struct catalog_job *renamed = waits_former_at(waits, after->job, at_ms);
        if (renamed)
            snprintf(after->job, sizeof(after->job), "%s", renamed->name);
    }
    for (char **name = definition->only_if.jobs; name && *name; name++) {
        const struct catalog_job *renamed = waits_former_at(waits, *name, at_ms);
        char *fresh = renamed ? strdup(renamed->name) : NULL;
        if (!fresh)
            continue;
        free(*name);
        *name = fresh;
    }
}

/* ---- the answer ---- */

static bool knows_by_former_name(const struct job_wait *wait, const struct catalog_job *job)
{
    return strcmp(wait->name, job->name) != 0;
}

/* Unless the caller may not see it, or it is in the list. */
static void add_name(const struct call *call, json_t *list, const char *name)
{
    const json_t *there;
    size_t i;
    json_array_foreach (list, i, there) {
        if (strcmp(json_string_value(there), name) == 0)
            return;
    }
    if (call_sees(call, name))
        json_array_append_new(list, json_string(name));
}

struct naming_list {
    const struct call *call;
    json_t *names;
};

static bool list_workflow(void *context, const struct catalog_job *workflow)
{
    const struct naming_list *list = context;
    add_name(list->call, list->names, workflow->name);
    return true;
}

/* Visits the jobs with a condition on the job: by any name, or only by a former one. */
static void each_conditioned(const struct catalog *catalog, const struct catalog_job *job, bool all,
                             bool (*visit)(void *context, const struct catalog_job *job),
                             void *context)
{
    size_t former = job->former ? job->former->count : 0;
    for (size_t i = 0; i < former + all; i++) {
        const char *name = i < former ? job->former->names[i].name : job->name;
        const struct condition *condition = waits_first_condition(&catalog->waits, name);
        for (; condition; condition = LIST_NEXT(condition, link)) {
            if (catalog_awaited(catalog, name) == job && !visit(context, condition->job))
                return;
        }
    }
}

/* The dependents that the caller may see; all of them, or only those with a former name. */
static json_t *encode_dependents(const struct call *call, const struct catalog_job *job, bool all)
{
    struct dependents dependents = catalog_dependents(catalog_of(call), job->name);
    struct naming_list list = {call, json_array()};
    for (const struct job_wait *wait; list.names && (wait = dependents_next(&dependents));) {
        if (all || knows_by_former_name(wait, job))
            add_name(call, list.names, wait->job->name);
    }
    if (list.names)
        each_conditioned(catalog_of(call), job, all, list_workflow, &list);
    if (list.names)
        step_names_each(catalog_of(call), job, !all, list_workflow, &list);
    return list.names;
}

static void reply_renamed(struct call *call)
{
    struct rename *rename = call->state;
    const struct catalog_job *job = renamed_job(call);
    if (!job) {
        call_fail(call, 404, "\"%s\" no longer exists", call->argument);
        return;
    }
    json_t *rewritten =
        rename->dry_run ? encode_dependents(call, job, true) : json_incref(rename->rewritten);
    json_t *left = rename->dry_run ? json_array() : encode_dependents(call, job, false);
    call->revision = job->revision;
    call_reply(call, 200,
               json_pack("{s:s, s:o, s:I, s:o, s:o}", "name",
                         rename->dry_run ? rename->to : job->name, "uid", json_id(&job->uid),
                         "revision", (json_int_t)job->revision, "rewritten", rewritten, "left",
                         left));
}

/* ---- the dependents ---- */

/* Replaces the former names of the renamed job. False: it has the name of today already, too, or is
 * of a newer version, and stays as it is. */
static bool replace_after(const struct call *call, const struct catalog_job *job,
                          struct rewrite *rewrite)
{
    struct job *definition = rewrite->job;
    struct job_after *found = NULL;
    for (size_t i = 0; i < definition->after_count; i++) {
        struct job_after *after = &definition->after[i];
        if (catalog_awaited(catalog_of(call), after->job) != job)
            continue;
        if (found || strcmp(after->job, job->name) == 0)
            return false;
        found = after;
    }
    if (!found)
        return false;
    snprintf(rewrite->former, sizeof(rewrite->former), "%s", found->job);
    snprintf(found->job, sizeof(found->job), "%s", job->name);
    rewrite->field = "after";
    return true;
}

/* The same in its conditions. */
static bool replace_condition(const struct call *call, const struct catalog_job *job,
                              struct rewrite *rewrite)
{
    char **found = NULL;
    for (char **name = rewrite->job->only_if.jobs; name && *name; name++) {
        if (catalog_awaited(catalog_of(call), *name) != job)
            continue;
        if (found || strcmp(*name, job->name) == 0)
            return false;
        found = name;
    }
    char *fresh = found ? strdup(job->name) : NULL;
    if (!fresh)
        return false;
    snprintf(rewrite->former, sizeof(rewrite->former), "%s", *found);
    free(*found);
    *found = fresh;
    rewrite->field = "only_if";
    return true;
}

/* In `after`, in its conditions, or in its steps; what is left is for the next round. */
static bool replace_names(const struct call *call, const struct catalog_job *job,
                          struct rewrite *rewrite)
{
    if (replace_after(call, job, rewrite) || replace_condition(call, job, rewrite))
        return true;
    rewrite->field = "steps";
    return step_names_replace(catalog_of(call), job, rewrite->job, rewrite->former) != NULL;
}

/* Adds the dependent to the round, if it can be rewritten. E_NOMEM. */
static enum status add_dependent(const struct call *call, const struct catalog_job *job,
                                 const struct catalog_job *dependent)
{
    struct rename *rename = call->state;
    struct job_error error;
    struct rewrite *rewrite = &rename->dependents[rename->count];
    struct store_put_job *put = &rename->puts[rename->count];
    enum status st =
        job_decode_stored(dependent->json, call->api->ports.zones, &rewrite->job, &error);
    if (st == OK && !replace_names(call, job, rewrite))
        st = E_INVALID;
    if (st == OK)
        st = encode_rewrite(call, dependent, rewrite, put);
    if (st != OK) {
        release_rewrite(rewrite);
        return st == E_NOMEM ? st : OK;
    }
    snprintf(rewrite->want.name, sizeof(rewrite->want.name), "%s", job->name);
    rewrite->want.job_uid = job->uid;
    put->wants = &rewrite->want;
    put->want_count = 1;
    rename->count++;
    return OK;
}

/* A workflow that names it in a step joins the round. */
struct round {
    const struct call *call;
    const struct catalog_job *job;
    enum status st;
};

static bool add_workflow(void *context, const struct catalog_job *workflow)
{
    struct round *round = context;
    const struct rename *rename = round->call->state;
    for (size_t i = 0; i < rename->count; i++) {
        if (id_compare(&rename->dependents[i].job->uid, &workflow->uid) == 0)
            return true; /* by its `after`: the steps are for the next round */
    }
    round->st = add_dependent(round->call, round->job, workflow);
    return round->st == OK && rename->count < ROUND_JOBS;
}

static void rewrite_dependents(struct call *call);

static void round_done(struct call *call)
{
    struct rename *rename = call->state;
    if (call->answer != OK) { /* the job is renamed; its dependents find it by its former name */
        reply_renamed(call);
        return;
    }
    for (size_t i = 0; i < rename->count; i++) {
        const struct rewrite *rewrite = &rename->dependents[i];
        if (rename->puts[i].result != PUT_OK)
            continue; /* changed by others meanwhile: in the next round */
        note_rewrite(call, CHANGE_CHANGE, rewrite, rename->puts[i].revision);
        note_detail(call, "%s: \"%.60s\" is \"%.60s\" now", rewrite->field, rewrite->former,
                    rewrite->want.name);
        add_name(call, rename->rewritten, rewrite->job->name);
    }
    release_dependents(rename);
    note_write(call, rewrite_dependents);
}

/* One round; the last one finds none. */
static void rewrite_dependents(struct call *call)
{
    struct rename *rename = call->state;
    const struct catalog_job *job = renamed_job(call);
    struct quota_excess excess;
    enum status st = OK;
    if (job && !job->deleted && rename->rounds++ < ROUNDS) {
        struct dependents all = catalog_dependents(catalog_of(call), job->name);
        for (const struct job_wait *wait;
             st == OK && rename->count < ROUND_JOBS && (wait = dependents_next(&all));) {
            if (knows_by_former_name(wait, job))
                st = add_dependent(call, job, wait->job);
        }
        struct round round = {call, job, st};
        if (st == OK && rename->count < ROUND_JOBS)
            each_conditioned(catalog_of(call), job, false, add_workflow, &round);
        st = round.st;
        if (st == OK && rename->count < ROUND_JOBS)
            step_names_each(catalog_of(call), job, true, add_workflow, &round);
        st = round.st;
    }
    if (st == OK && rename->count)
        st = job_puts_submit(call, rename->puts, rename->count, PUT_TO_NOTE, round_done, &excess);
    if (st != OK || !rename->count)
        reply_renamed(call);
}

/* ---- the job ---- */

static void make_rename(struct call *call);

static void rename_done(struct call *call)
{
    struct rename *rename = call->state;
    const struct store_put_job *put = &rename->puts[0];
    if (call->answer != OK) {
        call_fail_store(call, call->answer);
        return;
    }
    bool is_wanted = rename->wanted > 0;
    if (put->result == PUT_OK) {
        note_rewrite(call, CHANGE_RENAME, &rename->own, put->revision);
        note_detail(call, "from \"%s\"", rename->from);
        note_write(call, rewrite_dependents);
    } else if (put->result == PUT_CONFLICT && !is_wanted && !rename->is_repeated) {
        rename->is_repeated = true;
        make_rename(call);
    } else {
        call_fail_unwritten(call, put->result, is_wanted, rename->to);
    }
}

/* Does a dependent wait for the new name as well? False: the call has failed. */
static bool check_dependents(struct call *call, const struct catalog_job *job, const char *to)
{
    struct dependents all = catalog_dependents(catalog_of(call), job->name);
    for (const struct job_wait *wait; (wait = dependents_next(&all));) {
        const struct job_waits *waits = wait->job->waits;
        for (size_t i = 0; i < waits->count; i++) {
            if (strcmp(waits->waits[i].name, to) != 0 ||
                catalog_awaited(catalog_of(call), to) == job)
                continue;
            call_fail(call, 409,
                      "\"%.128s\" waits for \"%.128s\" and for \"%.128s\"; take one of them out of "
                      "its after first",
                      shown(call, wait->job->name), job->name, to);
            return false;
        }
    }
    return true;
}

/* The oldest former name is about to be dropped. False: the call has failed. */
static bool check_oldest(struct call *call, const struct catalog_job *job)
{
    const char *oldest =
        job->former && job->former->count == JOB_FORMER_MAX ? job->former->names[0].name : NULL;
    if (!oldest || catalog_awaited(catalog_of(call), oldest) != job ||
        !waits_is_named(&catalog_of(call)->waits, oldest))
        return true;
    call_fail(call, 409,
              "other jobs still wait for \"%s\" by its oldest name, \"%s\"; finish that rename "
              "first: peal rename %s %s",
              job->name, oldest, oldest, job->name);
    return false;
}

/* False: the call has failed. */
static bool check_rename(struct call *call, const struct catalog_job *job)
{
    struct rename *rename = call->state;
    const struct catalog_job *other = catalog_by_name(catalog_of(call), rename->to);
    struct job_error error = {0};
    if (other) {
        call_fail(call, 409, "there is another job \"%s\" now", other->name);
        return false;
    }
    enum status st = waits_former(&catalog_of(call)->waits, rename->to) == job
                         ? OK /* back to a former name */
                         : name_check_free(call, rename->to, &error);
    if (st == OK)
        st = after_check_rename(call, rename->own.job, job->name, &error);
    if (st == E_INVALID)
        snprintf(error.path, sizeof(error.path), "/name");
    return call_check(call, st, &error) && check_dependents(call, job, rename->to) &&
           check_oldest(call, job);
}

/* Makes the rename from the current catalog. */
static void make_rename(struct call *call)
{
    struct rename *rename = call->state;
    const struct catalog_job *job = renamed_job(call);
    struct quota_excess excess;
    struct quota_item item;
    release_rewrite(&rename->own);
    if (!job || job->deleted || strcmp(job->name, rename->from) != 0) {
        fail_no_job(call, rename->from); /* it may have been renamed meanwhile */
        return;
    }
    if (rename->wanted > 0 && rename->wanted != job->revision) {
        call_fail(call, 412, "\"%s\" is at revision %lld by now; read it again", call->argument,
                  (long long)job->revision);
        return;
    }
    rename->own.job = stored_job(call, job);
    if (!rename->own.job)
        return;
    if (job_rename(rename->own.job, rename->to, call->now_ms) != OK ||
        encode_rewrite(call, job, &rename->own, &rename->puts[0]) != OK) {
        call_fail(call, 500, "out of memory");
        return;
    }
    if (!check_rename(call, job))
        return;
    if (rename->dry_run) {
        if (job_put_is_allowed(call, &rename->puts[0], NULL, &item, &excess))
            reply_renamed(call);
        else
            call_fail_quota(call, "/name", &excess);
        return;
    }
    enum status st = job_puts_submit(call, &rename->puts[0], 1, PUT_TO_NOTE, rename_done, &excess);
    if (st != OK)
        call_fail_put(call, st, &excess);
}

/* ---- the request ---- */

/* In another namespace, the job is a new definition for the people there. False: the call has
 * failed. */
static bool may_rename(struct call *call, const char *from, const char *to)
{
    bool stays = job_name_is_beside(from, to);
    return call_may_on(call, RIGHT_EDIT, to) && (stays || (call_may_on(call, RIGHT_DEFINE, from) &&
                                                           call_may_on(call, RIGHT_DEFINE, to)));
}

/* NULL: the call has failed. */
static const char *read_name(struct call *call)
{
    const char *to = json_string_value(json_object_get(call->body, "name"));
    const char *complaint = to ? job_name_complaint(to) : NULL;
    if (!to)
        call_fail_at(call, "/name", "name: expected the new name of the job");
    else if (complaint)
        call_fail_at(call, "/name", "name: %s", message_in(call->language, complaint));
    return complaint ? NULL : to;
}

void rename_job(struct call *call)
{
    struct rename *rename = call_state(call, sizeof(*rename), release_rename);
    const char *to = rename ? read_name(call) : NULL;
    if (!to || !may_rename(call, call->argument, to) || !if_match(call, &rename->wanted) ||
        !field_bool(call, "dry_run", &rename->dry_run))
        return;
    const struct catalog_job *job = catalog_by_name(catalog_of(call), call->argument);
    const struct catalog_job *done =
        job ? job : waits_former(&catalog_of(call)->waits, call->argument);
    rename->to = to;
    rename->rewritten = json_array();
    snprintf(rename->from, sizeof(rename->from), "%s", call->argument);
    if (!rename->rewritten) {
        call_fail(call, 500, "out of memory");
    } else if (done && strcmp(done->name, to) == 0) { /* a repeat */
        rename->uid = done->uid;
        if (rename->dry_run)
            reply_renamed(call);
        else
            rewrite_dependents(call);
    } else if (job) {
        rename->uid = job->uid;
        make_rename(call);
    } else {
        fail_no_job(call, call->argument);
    }
}
