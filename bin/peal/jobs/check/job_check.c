#include "jobs/check/job_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "cli/suggest.h"
#include "cli/when.h"
#include "jobs/check/output_check.h"
#include "jobs/documents/doc_types.h"
#include "text/tr.h"
#include "workflow/steps.h"

struct check {
    const struct job_list *jobs;
    const struct job_sources *sources;
    bool has_agent;
    json_t *waits;            /* by the name of a job: those that it waits for */
    json_t *contained;        /* by the name of a workflow: those that are its steps */
    json_t *kinds;            /* by the name of a job: is it a workflow? */
    json_t *names[DOC_TYPES]; /* of groups, calendars and channels */
    bool is_wrong, is_unsure;
};

static void fail(struct check *check, const struct job_mistake *mistake)
{
    job_sources_tell(check->sources, mistake);
    check->is_wrong = true;
}

/* ---- what there is ---- */

static enum status add_waits(json_t *waits, const char *name, json_t *names)
{
    return json_object_set_new(waits, name, names) == 0 ? OK : E_NOMEM;
}

static json_t *names_waited_for(const json_t *after)
{
    json_t *names = json_array();
    const json_t *each;
    size_t i;
    json_array_foreach (after, i, each) {
        const char *name =
            json_is_string(each) ? json_string_value(each) : answer_text(each, "job");
        json_array_append_new(names, json_string(name));
    }
    return names;
}

/* Appends the workflows that are steps of the list. */
static void add_contained(const json_t *steps, json_t *names)
{
    const json_t *step;
    size_t i;
    json_array_foreach (steps, i, step) {
        const json_t *name = json_object_get(step, "workflow");
        if (json_is_string(name))
            json_array_append(names, (json_t *)name);
    }
}

static enum status add_kind(const struct check *check, const char *name, bool is_workflow,
                            json_t *contained)
{
    enum status st = add_waits(check->contained, name, contained);
    return json_object_set_new(check->kinds, name, json_boolean(is_workflow)) == 0 ? st : E_NOMEM;
}

static enum status add_job(const struct check *check, const json_t *job)
{
    const char *name = answer_text(job, "name");
    json_t *contained = json_array();
    enum status st = add_waits(check->waits, name, names_waited_for(json_object_get(job, "after")));
    add_contained(json_object_get(job, "steps"), contained);
    add_contained(json_object_get(job, "finally"), contained);
    enum status more =
        add_kind(check, name, strcmp(answer_text(job, "kind"), "workflow") == 0, contained);
    return st == OK ? more : st;
}

/* Steps are asked for only where some refer to other jobs. */
static enum exit_code read_jobs(struct client *client, const struct check *check, bool with_steps)
{
    json_t *there = NULL;
    const json_t *job;
    size_t i;
    const char *path =
        with_steps ? "/jobs?fields=name,after,kind,steps,finally&" : "/jobs?fields=name,after&";
    enum exit_code code = client_list(client, path, 0, &there);
    json_array_foreach (there, i, job) {
        if (code == EXIT_OK)
            code = cli_fail(add_job(check, job));
    }
    json_decref(there);
    return code;
}

static enum exit_code read_names(struct client *client, const char *path, json_t *names)
{
    json_t *there = NULL;
    const json_t *each;
    size_t i;
    enum exit_code code = client_get(client, path, &there);
    json_array_foreach (json_object_get(there, "items"), i, each) {
        if (code == EXIT_OK &&
            json_object_set_new(names, answer_text(each, "name"), json_true()) != 0)
            code = cli_fail(E_NOMEM);
    }
    json_decref(there);
    return code;
}

/* The documents of the files. */
static enum status add_docs(struct check *check, const struct file_docs *docs)
{
    int failed = 0;
    for (size_t i = 0; i < docs->count; i++)
        failed |= json_object_set_new(check->names[docs->items[i].type], docs->items[i].name,
                                      json_true());
    return failed ? E_NOMEM : OK;
}

/* The jobs of the files take precedence over those of the agent. */
static enum status add_own(struct check *check)
{
    enum status st = OK;
    for (size_t i = 0; st == OK && i < check->jobs->count; i++) {
        const struct job *job = check->jobs->items[i];
        json_t *names = json_array(), *contained = json_array();
        for (size_t j = 0; j < job->after_count; j++)
            json_array_append_new(names, json_string(job->after[j].job));
        for (char **name = job->only_if.jobs; name && *name; name++)
            json_array_append_new(names, json_string(*name));
        for (size_t j = 0; j < job->step_count; j++) {
            if (job->steps[j].workflow)
                json_array_append_new(contained, json_string(job->steps[j].workflow));
        }
        st = add_kind(check, job->name, job->kind == JOB_WORKFLOW, contained);
        enum status more = add_waits(check->waits, job->name, names);
        st = st == OK ? more : st;
    }
    return st;
}

static const char *name_in(const struct job_step *step)
{
    return step->ref ? step->ref : step->workflow;
}

/* To other jobs; outputs may be used by workflows of which this one is a step. */
static bool has_references(const struct job *job)
{
    for (size_t i = 0; i < job->step_count; i++) {
        if (name_in(&job->steps[i]) || job->steps[i].outputs)
            return true;
    }
    return false;
}

static bool has_groups(const struct job *job)
{
    bool has_some = job->groups != NULL;
    for (size_t i = 0; i < job->step_count && !has_some; i++)
        has_some = job->steps[i].job && job->steps[i].job->groups;
    return has_some;
}

/* Which types of documents the jobs name, as 1 << type. */
static unsigned named_types(const struct job_list *jobs)
{
    unsigned types = 0;
    for (size_t i = 0; i < jobs->count; i++) {
        const struct job *job = jobs->items[i];
        types |= (unsigned)has_groups(job) << DOC_GROUP;
        types |= (unsigned)(job->calendar_count || job->only_on) << DOC_CALENDAR;
        types |= (unsigned)(job->notify.to != NULL) << DOC_CHANNEL;
    }
    return types;
}

static enum exit_code read_all(struct client *client, struct check *check)
{
    bool waits = false, refers = false;
    unsigned types = named_types(check->jobs);
    enum exit_code code = EXIT_OK;
    for (size_t i = 0; i < check->jobs->count; i++) {
        const struct job *job = check->jobs->items[i];
        waits = waits || job_depends(job);
        refers = refers || has_references(job);
    }
    if (client && (waits || refers))
        code = read_jobs(client, check, refers);
    for (int type = 0; type < DOC_TYPES && code == EXIT_OK; type++) {
        if (client && types & 1u << type)
            code = read_names(client, doc_type_rows[type].path, check->names[type]);
    }
    return code == EXIT_OK ? cli_fail(add_own(check)) : code;
}

/* ---- names ---- */

static struct step_place field_place(const char *field)
{
    struct step_place place;
    snprintf(place.label, sizeof(place.label), "%s", field);
    snprintf(place.path, sizeof(place.path), "%s", field);
    return place;
}

/* `known` has the names as its keys. */
static void check_name(struct check *check, const struct job *job, struct step_place place,
                       const char *noun, const char *name, const json_t *known)
{
    char message[240];
    const char *key;
    const json_t *value;
    if (json_object_get(known, name))
        return;
    if (!check->has_agent) {
        check->is_unsure = true;
        return;
    }
    struct suggestion best = suggest_start(name, strlen(name));
    json_object_foreach ((json_t *)known, key, value) {
        suggest_offer(&best, key);
    }
    if (best.name)
        snprintf(message, sizeof(message), tr("%s: there is no %s \"%s\"; did you mean \"%s\"?"),
                 place.label, tr(noun), name, best.name);
    else
        snprintf(message, sizeof(message), tr("%s: there is no %s \"%s\""), place.label, tr(noun),
                 name);
    fail(check, &(struct job_mistake){job->name, place.path, name, message});
}

/* A job or a workflow that a step names: it is there, and it is the one or the other. */
static void check_step(struct check *check, const struct job *job, const struct job_step *step)
{
    char message[240];
    const char *name = name_in(step);
    struct step_place place = step_place(job, step, step->ref ? "job" : "workflow");
    const json_t *is_workflow = name ? json_object_get(check->kinds, name) : NULL;
    for (char **group = step->job ? step->job->groups : NULL; group && *group; group++)
        check_name(check, job, step_place(job, step, "groups"), TR("group"), *group,
                   check->names[DOC_GROUP]);
    if (!name || (!is_workflow && job_sources_have(check->sources, name)))
        return;
    if (!is_workflow) {
        check_name(check, job, place, TR("job"), name, check->kinds);
        return;
    }
    if (json_is_true(is_workflow) == (step->workflow != NULL))
        return;
    if (step->workflow)
        snprintf(message, sizeof(message), tr("%s: \"%s\" is not a workflow; use \"job\" instead"),
                 place.label, name);
    else
        snprintf(message, sizeof(message), tr("%s: \"%s\" is a workflow; use \"workflow\" instead"),
                 place.label, name);
    fail(check, &(struct job_mistake){job->name, place.path, name, message});
}

static void check_names(struct check *check, const struct job *job)
{
    for (size_t i = 0; i < job->calendar_count; i++)
        check_name(check, job, field_place("calendars"), TR("calendar"), job->calendars[i],
                   check->names[DOC_CALENDAR]);
    for (size_t i = 0; job->only_on && job->only_on[i]; i++)
        check_name(check, job, field_place("only_on"), TR("calendar"), job->only_on[i],
                   check->names[DOC_CALENDAR]);
    for (size_t i = 0; job->notify.to && job->notify.to[i]; i++)
        check_name(check, job, field_place("notify"), TR("channel"), job->notify.to[i],
                   check->names[DOC_CHANNEL]);
    for (char **name = job->groups; name && *name; name++)
        check_name(check, job, field_place("groups"), TR("group"), *name, check->names[DOC_GROUP]);
    for (size_t i = 0; i < job->after_count; i++) {
        const char *name = job->after[i].job;
        if (!json_object_get(check->waits, name) && !job_sources_have(check->sources, name))
            check_name(check, job, field_place("after"), TR("job"), name, check->waits);
    }
    for (char **name = job->only_if.jobs; name && *name; name++) {
        if (!json_object_get(check->waits, *name) && !job_sources_have(check->sources, *name))
            check_name(check, job, field_place("only_if"), TR("job"), *name, check->waits);
    }
    for (size_t i = 0; i < job->step_count; i++)
        check_step(check, job, &job->steps[i]);
}

/* ---- steps that never run ---- */

struct dead {
    const struct job_sources *sources;
    const struct job *job;
};

static void warn_of_step(void *context, const struct job_step *step, const struct job_step *other)
{
    const struct dead *dead = context;
    char message[240];
    snprintf(message, sizeof(message),
             tr("warning: step \"%s\" can never run: it needs both the success and the failure of "
                "\"%s\""),
             step->name, other->name);
    struct step_place place = step_place(dead->job, step, "name");
    job_sources_tell(dead->sources,
                     &(struct job_mistake){dead->job->name, place.path, step->name, message});
}

static enum status warn_of_steps(const struct check *check)
{
    enum status st = OK;
    for (size_t i = 0; st == OK && i < check->jobs->count; i++) {
        struct dead dead = {check->sources, check->jobs->items[i]};
        if (dead.job->step_count)
            st = steps_find_dead(dead.job, warn_of_step, &dead);
    }
    return st;
}

static enum status check_outputs(struct check *check)
{
    const struct output_check outputs = {check->jobs, check->sources, check->contained};
    bool is_wrong = false;
    enum status st = output_check_references(&outputs, &is_wrong);
    check->is_wrong |= is_wrong;
    return st == OK ? output_check_unused(&outputs) : st;
}

/* ---- cycles ---- */

/* Jobs wait for each other, and workflows contain each other. */
enum relation { WAITS_FOR, CONTAINS };

/* A job on the path of the search; those below it are waited for by the ones above, or contained.
 */
struct step {
    const char *name;
    size_t next; /* of those that it waits for */
};

struct path {
    struct step *steps;
    size_t count, room;
    json_t *done; /* names: 0 on the path, 1 done */
    enum relation relation;
    const json_t *others; /* by the name of a job */
};

static enum status push(struct path *path, const char *name)
{
    enum status st = array_reserve(&path->steps, path->count, &path->room, sizeof(*path->steps));
    if (st != OK)
        return st;
    path->steps[path->count++] = (struct step){name, 0};
    return json_object_set_new(path->done, name, json_false()) == 0 ? OK : E_NOMEM;
}

/* From `name`, which is on the path, to the end of it, which waits for `name`. Reported at a job of
 * the files: an agent has no cycles of its own. */
static enum status tell_cycle(struct check *check, const struct path *path, const char *name)
{
    struct strbuf names, message;
    size_t from = path->count;
    while (strcmp(path->steps[from - 1].name, name) != 0)
        from--;
    strbuf_init(&names);
    strbuf_init(&message);
    for (size_t i = from - 1; i < path->count; i++)
        strbuf_addf(&names, "%s -> ", path->steps[i].name);
    strbuf_adds(&names, name);
    if (path->relation == CONTAINS)
        strbuf_addf(&message, tr("steps: a workflow would contain itself: %s"), names.text);
    else
        strbuf_addf(&message, tr("after: a job would wait for itself: %s"), names.text);
    size_t at = path->count;
    while (at > from && !job_sources_have(check->sources, path->steps[at - 1].name))
        at--;
    enum status st = names.failed ? E_NOMEM : strbuf_status(&message);
    if (st == OK)
        fail(check, &(struct job_mistake){
                        path->steps[at - 1].name, path->relation == CONTAINS ? "steps" : "after",
                        at == path->count ? name : path->steps[at].name, message.text});
    strbuf_release(&message);
    strbuf_release(&names);
    return st;
}

/* Depth first; a job that is reached again while it is on the path waits for itself. */
static enum status search(struct check *check, struct path *path, const char *start)
{
    enum status st = json_object_get(path->done, start) ? OK : push(path, start);
    while (st == OK && path->count) {
        struct step *last = &path->steps[path->count - 1];
        const char *name = json_string_value(
            json_array_get(json_object_get(path->others, last->name), last->next++));
        const json_t *known = name ? json_object_get(path->done, name) : NULL;
        if (!name) {
            st = json_object_set_new(path->done, last->name, json_true()) == 0 ? OK : E_NOMEM;
            path->count--;
        } else if (!known) {
            st = push(path, name);
        } else if (json_is_false(known)) {
            st = tell_cycle(check, path, name);
        }
    }
    return st;
}

static enum status find_cycles(struct check *check, enum relation relation)
{
    struct path path = {.done = json_object(),
                        .relation = relation,
                        .others = relation == CONTAINS ? check->contained : check->waits};
    enum status st = path.done ? OK : E_NOMEM;
    for (size_t i = 0; st == OK && i < check->jobs->count; i++)
        st = search(check, &path, check->jobs->items[i]->name);
    free(path.steps);
    json_decref(path.done);
    return st;
}

enum exit_code job_check(struct client *client, const struct job_list *jobs,
                         const struct file_docs *docs, const struct job_sources *sources)
{
    struct check check = {.jobs = jobs,
                          .sources = sources,
                          .has_agent = client != NULL,
                          .waits = json_object(),
                          .contained = json_object(),
                          .kinds = json_object()};
    bool is_ready = check.waits && check.contained && check.kinds;
    for (int type = 0; type < DOC_TYPES; type++) {
        check.names[type] = json_object();
        is_ready = is_ready && check.names[type];
    }
    enum exit_code code = cli_fail(is_ready ? add_docs(&check, docs) : E_NOMEM);
    if (code == EXIT_OK)
        code = read_all(client, &check);
    for (size_t i = 0; code == EXIT_OK && i < jobs->count; i++)
        check_names(&check, jobs->items[i]);
    if (code == EXIT_OK)
        code = cli_fail(find_cycles(&check, WAITS_FOR));
    if (code == EXIT_OK)
        code = cli_fail(find_cycles(&check, CONTAINS));
    if (code == EXIT_OK)
        code = cli_fail(warn_of_steps(&check));
    if (code == EXIT_OK)
        code = cli_fail(check_outputs(&check));
    if (code == EXIT_OK && check.is_unsure)
        cli_note("groups, calendars, channels and jobs that are in no file were not checked: there "
                 "is no agent here");
    json_decref(check.waits);
    json_decref(check.contained);
    json_decref(check.kinds);
    for (int type = 0; type < DOC_TYPES; type++)
        json_decref(check.names[type]);
    return code == EXIT_OK && check.is_wrong ? EXIT_INVALID : code;
}
