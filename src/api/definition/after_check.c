#include "definition/after_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "definition/job_fields.h"
#include "server.h"
#include "stages/follow.h"
#include "text/hint.h"

/* ---- jobs of the catalog ---- */

const char *after_missing(const struct catalog *catalog, const struct catalog_job *job)
{
    for (size_t i = 0; job->waits && i < job->waits->count; i++) {
        if (!catalog_awaited(catalog, job->waits->waits[i].name))
            return job->waits->waits[i].name;
    }
    return conditions_missing(catalog, job);
}

bool after_is_met(const struct catalog_job *job, enum after_on on, const struct catalog_job *other)
{
    return other && !id_is_zero(&other->last.run_id) && other->last.ended_ms > job->cursor_ms &&
           after_wants(on, other->last.state);
}

/* ---- visited jobs ---- */

struct seen {
    char name[JOB_NAME_SIZE];
    bool is_done;      /* the search has left it */
    struct seen *down; /* the job that waits for it, before it on the path; NULL: the start */
    const struct job *planned;       /* the job, if the request has it; */
    const struct catalog_job *there; /* else from the catalog; else it is missing */
    size_t next;                     /* index of the next job that it waits for */
};

static const struct table_type seen_type = {.key_at = offsetof(struct seen, name)};

void after_check_init(struct after_check *check, const struct call *call, after_planned *planned,
                      void *context)
{
    *check = (struct after_check){.call = call, .planned = planned, .context = context};
    table_init(&check->seen, &seen_type);
}

void after_check_release(struct after_check *check)
{
    table_release_items(&check->seen);
}

static struct catalog *catalog_of(const struct after_check *check)
{
    return engine_catalog(check->call->api->ports.engine);
}

/* The name by which the awaited job is visited: that of the request, or else the one that it has
 * now. */
static const char *visited_name(const struct after_check *check, const char *name)
{
    bool is_gone = false;
    const struct job *planned = check->planned(check->context, name, &is_gone);
    const struct catalog_job *there =
        planned || is_gone ? NULL : catalog_awaited(catalog_of(check), name);
    if (there)
        planned = check->planned(check->context, there->name, &is_gone);
    return planned ? planned->name : there ? there->name : name;
}

static enum status look_at(struct after_check *check, const char *name, struct seen *down,
                           struct seen **ret)
{
    bool is_gone = false;
    struct seen seen = {.down = down, .planned = check->planned(check->context, name, &is_gone)};
    snprintf(seen.name, sizeof(seen.name), "%s", name);
    if (!seen.planned && !is_gone)
        seen.there = catalog_by_name(catalog_of(check), name);
    struct seen *added = table_add(&check->seen, &seen, sizeof(seen));
    if (!added)
        return E_NOMEM;
    *ret = added;
    return OK;
}

/* The name at this place of those in its conditions; NULL: no more. */
static const char *condition_name(const struct seen *seen, size_t at)
{
    const struct job_conditions *conditions = seen->there ? seen->there->conditions : NULL;
    char **names = seen->planned ? seen->planned->only_if.jobs : NULL;
    for (size_t i = 0; names && names[i]; i++) {
        if (i == at)
            return names[i];
    }
    return conditions && at < conditions->count ? conditions->items[at].name : NULL;
}

/* The next job that it waits for, or that it has a condition on; NULL: no more. */
static const char *next_name(struct seen *seen)
{
    const struct job_waits *waits = seen->there ? seen->there->waits : NULL;
    size_t at = seen->next++;
    size_t count = seen->planned ? seen->planned->after_count : waits ? waits->count : 0;
    if (at >= count)
        return condition_name(seen, at - count);
    return seen->planned ? seen->planned->after[at].job : waits->waits[at].name;
}

/* ---- errors ---- */

/* The JSON pointer of the name in the definition: /after, /after/1, /after/0/job, /after/jobs/2. */
static bool find_name(const json_t *value, const char *name, struct strbuf *pointer)
{
    size_t length = pointer->length, i;
    json_t *item;
    if (json_is_string(value))
        return strcmp(json_string_value(value), name) == 0;
    json_array_foreach (value, i, item) {
        strbuf_addf(pointer, "/%zu", i);
        if (find_name(item, name, pointer))
            return true;
        strbuf_truncate(pointer, length);
    }
    static const char *const keys[] = {"job", "jobs"};
    for (i = 0; i < 2; i++) {
        item = json_object_get(value, keys[i]);
        strbuf_addf(pointer, "/%s", keys[i]);
        if (item && find_name(item, name, pointer))
            return true;
        strbuf_truncate(pointer, length);
    }
    return false;
}

static void set_error(const struct strbuf *message, const json_t *definition, const char *name,
                      struct job_error *reterr)
{
    struct strbuf pointer;
    strbuf_init(&pointer);
    const char *field = json_object_get(definition, "only_if") ? "only_if" : "after";
    strbuf_addf(&pointer, "/%s", field);
    (void)find_name(json_object_get(definition, field), name, &pointer);
    snprintf(reterr->path, sizeof(reterr->path), "%s", pointer.text);
    snprintf(reterr->message, sizeof(reterr->message), "%s", message->text);
    strbuf_release(&pointer);
}

enum { CANDIDATES = 1000 }; /* names compared for a suggestion */

struct candidates {
    const char *names[CANDIDATES + 1];
    size_t count;
};

static bool add_candidate(void *context, const struct catalog_job *job)
{
    struct candidates *candidates = context;
    candidates->names[candidates->count++] = job->name;
    return candidates->count < CANDIDATES;
}

/* Of more than CANDIDATES jobs, compares only those from the first letter on, in order of names. */
const char *after_nearest_job(const struct call *call, const char *typed)
{
    struct candidates candidates = {.count = 0};
    const char before[] = {(char)(typed[0] - 1), 0x7F, '\0'};
    bool are_many = catalog_count(engine_catalog(call->api->ports.engine)) > CANDIDATES;
    call_each_job(call, are_many ? before : NULL, false, add_candidate, &candidates);
    return word_nearest(candidates.names, typed);
}

static enum status no_such_job(const struct after_check *check, const json_t *definition,
                               const char *name, struct job_error *reterr)
{
    const struct call *call = check->call;
    const char *nearest = after_nearest_job(call, name);
    struct strbuf message;
    strbuf_init(&message);
    const struct catalog_job *renamed = waits_former(&catalog_of(check)->waits, name);
    bool is_condition = json_object_get(definition, "only_if") != NULL;
    strbuf_addf(&message,
                message_in(call->language, is_condition ? "only_if: there is no job \"%.128s\""
                                                        : "after: there is no job \"%.128s\""),
                name);
    if (renamed && call_sees(call, renamed->name))
        nearest = renamed->name;
    if (nearest && strlen(nearest) < 80) {
        snprintf(reterr->hint, sizeof(reterr->hint), "did you mean \"%.80s\"?", nearest);
        strbuf_adds(&message, call->language == LANGUAGE_ZH ? "；" : "; ");
        hint_print(call->language, reterr->hint, &message);
    }
    set_error(&message, definition, name, reterr);
    strbuf_release(&message);
    return E_INVALID;
}

static enum status too_many(const struct after_check *check, const json_t *definition,
                            const char *name, struct job_error *reterr)
{
    struct strbuf message;
    strbuf_init(&message);
    strbuf_addf(&message,
                message_in(check->call->language,
                           "after: too many jobs wait for \"%.128s\": at most %d, with all that "
                           "they wait for"),
                name, STORE_NEXT_JOBS_MAX);
    set_error(&message, definition, name, reterr);
    strbuf_release(&message);
    return E_INVALID;
}

static const char *shown(const struct after_check *check, const char *name)
{
    return call_sees(check->call, name) ? name : "...";
}

/* Appends the path of the cycle, from `from` to `at`, which waits for `from` again. */
static void add_way(const struct after_check *check, const struct seen *at, const struct seen *from,
                    struct strbuf *out)
{
    if (at != from)
        add_way(check, at->down, from, out);
    strbuf_addf(out, "%s -> ", shown(check, at->name));
}

static enum status circle(const struct after_check *check, const struct seen *last,
                          const struct seen *from, const json_t *definition,
                          struct job_error *reterr)
{
    struct strbuf way, message;
    strbuf_init(&way);
    strbuf_init(&message);
    add_way(check, last, from, &way);
    strbuf_adds(&way, shown(check, from->name));
    strbuf_addf(
        &message,
        message_in(check->call->language, definition && json_object_get(definition, "only_if")
                                              ? "only_if: a job would need itself: %s"
                                              : "after: a job would wait for itself: %s"),
        way.text);
    const struct seen *first = last;
    while (first->down && first->down->down)
        first = first->down;
    set_error(&message, definition, first->down ? first->name : from->name, reterr);
    strbuf_release(&message);
    strbuf_release(&way);
    return E_INVALID;
}

/* ---- the check ---- */

/* Marks the jobs of a failed path as done: other jobs that wait for them get no error. */
static void leave(struct seen *at)
{
    for (; at; at = at->down)
        at->is_done = true;
}

/* Depth-first search: a job that is reached again before it is done is part of a cycle. */
static enum status walk(struct after_check *check, struct seen *start, const json_t *definition,
                        struct job_error *reterr)
{
    struct seen *at = start;
    while (at) {
        const char *name = next_name(at);
        if (!name) {
            at->is_done = true;
            at = at->down;
            continue;
        }
        name = visited_name(check, name);
        struct seen *known = table_find(&check->seen, name);
        enum status st = OK;
        if (!known)
            st = look_at(check, name, at, &known);
        else if (!known->is_done)
            st = circle(check, at, known, definition, reterr);
        if (st != OK) {
            leave(at);
            return st;
        }
        if (!known->is_done)
            at = known;
    }
    return OK;
}

/* A job that the client may not see counts as missing. */
static bool is_there(const struct after_check *check, const char *name)
{
    bool is_gone = false;
    if (!call_sees(check->call, name))
        return false;
    return check->planned(check->context, name, &is_gone) ||
           (!is_gone && catalog_by_name(catalog_of(check), name));
}

/* Checks cycles and limits; jobs in `after` may be missing. */
static enum status check_way(struct after_check *check, const struct job *job,
                             const json_t *definition, struct job_error *reterr)
{
    struct seen *start = table_find(&check->seen, job->name);
    for (size_t i = 0; i < job->after_count; i++) {
        if (!follow_fits(catalog_of(check), job->after[i].job, &job->uid, job))
            return too_many(check, definition, job->after[i].job, reterr);
    }
    if (start)
        return OK; /* visited already, from another job */
    enum status st = look_at(check, job->name, NULL, &start);
    return st == OK ? walk(check, start, definition, reterr) : st;
}

enum status after_check_job(struct after_check *check, const struct job *job,
                            const json_t *definition, struct job_error *reterr)
{
    for (size_t i = 0; i < job->after_count; i++) {
        if (!is_there(check, job->after[i].job))
            return no_such_job(check, definition, job->after[i].job, reterr);
    }
    for (char **name = job->only_if.jobs; name && *name; name++) {
        if (!is_there(check, *name))
            return no_such_job(check, definition, *name, reterr);
    }
    return check_way(check, job, definition, reterr);
}

const struct job *after_planned_alone(void *context, const char *name, bool *ret_gone)
{
    const struct job *job = context;
    *ret_gone = false;
    return strcmp(job->name, name) == 0 ? job : NULL;
}

enum status after_check_return(const struct call *call, struct job *job, struct job_error *reterr)
{
    struct after_check check;
    after_check_init(&check, call, after_planned_alone, job);
    enum status st = check_way(&check, job, NULL, reterr);
    after_check_release(&check);
    return st;
}

/* ---- a rename ---- */

struct rename_plan {
    const struct catalog *catalog;
    struct job *job; /* with its new name */
};

/* All names of the job are planned as the new one. */
static const struct job *planned_renamed(void *context, const char *name, bool *ret_gone)
{
    const struct rename_plan *plan = context;
    const struct catalog_job *there = catalog_awaited(plan->catalog, name);
    *ret_gone = false;
    return strcmp(plan->job->name, name) == 0 ||
                   (there && id_compare(&there->uid, &plan->job->uid) == 0)
               ? plan->job
               : NULL;
}

enum status after_check_rename(const struct call *call, struct job *job, const char *from,
                               struct job_error *reterr)
{
    struct after_check check;
    struct seen *start;
    const struct catalog *catalog = engine_catalog(call->api->ports.engine);
    struct rename_plan plan = {catalog, job};
    if (!waits_first(&catalog->waits, job->name))
        return OK; /* nobody waits for the new name yet */
    after_check_init(&check, call, planned_renamed, &plan);
    enum status st = follow_fits_renamed(catalog, from, job->name)
                         ? look_at(&check, job->name, NULL, &start)
                         : too_many(&check, NULL, job->name, reterr);
    if (st == OK)
        st = walk(&check, start, NULL, reterr);
    after_check_release(&check);
    return st;
}
