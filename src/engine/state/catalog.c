#include "state/catalog.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "definition/job_codec.h"
#include "expect/job_expect.h"
#include "function/eligible.h"
#include "function/job_function.h"
#include "heap.h"
#include "job_name.h"

static const struct table_type uid_type = {.key_at = offsetof(struct catalog_job, uid),
                                           .key_size = sizeof(struct id)};
static const struct table_type name_type = {.key_at = offsetof(struct catalog_job, name),
                                            .is_pointer = true};

/* Most jobs with a policy of their own have one that many others have, too. */
struct shared_policy {
    struct job_policy policy; /* first: the key */
    uint32_t sharers;
};

static const struct table_type policies_type = {.key_size = sizeof(struct job_policy)};

static struct job_policy policy_of(const struct job *definition)
{
    return (struct job_policy){
        .deadline_s = definition->deadline_s,
        .catch_up_window_s = definition->catch_up_window_s,
        .paused_ms = definition->paused_ms,
        .resumed_ms = definition->resumed_ms,
        .skip_until_ms = definition->skip_until_ms,
        .attempts = definition->retries.count ? definition->retries.count + 1 : 0,
        .spread = spread_read(definition->spread),
        .at_once = definition->rolling.at_once,
        .stops_on_failure = definition->rolling.stop_on_failure,
        .catch_up_limit = definition->catch_up_limit,
        .queue_limit = definition->queue_limit,
        .catch_up = definition->catch_up,
        .overlap = definition->overlap,
        .place = definition->place,
        .priority = definition->priority,
        .overlap_at_once = definition->overlap_at_once,
    };
}

static struct job_policy usual_policy(void)
{
    struct job usual = job_defaults();
    return policy_of(&usual);
}

void catalog_init(struct catalog *catalog)
{
    *catalog = (struct catalog){.usual = usual_policy()};
    table_init(&catalog->by_uid, &uid_type);
    table_init(&catalog->by_name, &name_type);
    known_calendars_init(&catalog->calendars);
    known_maintenance_init(&catalog->maintenance);
    known_groups_init(&catalog->groups);
    waits_init(&catalog->waits);
    namespaces_init(&catalog->namespaces);
    schedule_pool_init(&catalog->pool);
    table_init(&catalog->policies, &policies_type);
}

static void free_schedules(struct catalog *catalog, struct catalog_job *job)
{
    for (uint32_t i = 0; i < job->schedule_count; i++)
        schedule_pool_drop(&catalog->pool, job->schedules[i]);
    if (job->schedules != &job->only)
        free(job->schedules);
    job->schedules = NULL;
    job->schedule_count = 0;
}

static void drop_policy(struct catalog *catalog, struct catalog_job *job)
{
    struct shared_policy *shared = job->policy ? table_find(&catalog->policies, job->policy) : NULL;
    job->policy = NULL;
    if (!shared || --shared->sharers)
        return;
    table_remove(&catalog->policies, shared);
    free(shared);
}

static void free_job(struct catalog *catalog, struct catalog_job *job)
{
    free_schedules(catalog, job);
    catalog->json_bytes -= job->json ? strlen(job->json) + 1 : 0;
    job_calendars_free(&catalog->calendars, job->calendars);
    free(job->waits);
    free(job->conditions);
    free(job->former);
    drop_policy(catalog, job);
    free(job->rewound);
    free(job->json);
    free(job);
}

void catalog_release(struct catalog *catalog)
{
    size_t at = 0;
    for (struct catalog_job *job; (job = table_next(&catalog->by_uid, &at));)
        free_job(catalog, job);
    table_release(&catalog->by_uid);
    table_release(&catalog->by_name);
    known_calendars_release(&catalog->calendars);
    known_maintenance_release(&catalog->maintenance);
    known_groups_release(&catalog->groups);
    name_order_release(&catalog->in_order);
    waits_release(&catalog->waits);
    namespaces_release(&catalog->namespaces);
    schedule_pool_release(&catalog->pool);
    table_release(&catalog->policies);
    catalog_init(catalog);
}

/* The job's schedules, parsed; a single one without a list around it. */
static enum status read_schedules(struct catalog *catalog, struct catalog_job *job,
                                  const struct job *definition, struct zone_db *zones,
                                  struct parse_error *reterr)
{
    struct schedule_set set;
    schedule_set_init(&set);
    enum status st = job_schedules(definition, zones, &set, reterr);
    if (st != OK) {
        schedule_set_release(&set);
        return st;
    }
    free_schedules(catalog, job);
    for (size_t i = 0; i < set.count; i++)
        set.items[i] = schedule_pool_keep(&catalog->pool, set.items[i]);
    job->schedule_count = (uint8_t)set.count;
    if (set.count == 1) {
        job->only = set.items[0];
        job->schedules = &job->only;
        free(set.items);
    } else {
        job->schedules = set.items;
    }
    return OK;
}

/* Excluded ticks stay excluded, even if the definition no longer names a calendar; unless the
 * cursor has passed them. */
static enum status read_calendars(struct catalog *catalog, struct catalog_job *job,
                                  const struct job *definition, int64_t cursor_ms)
{
    struct job_calendars *made = NULL;
    bool goes_on = job->calendars && cursor_ms <= job->cursor_ms;
    int64_t out_until_ms = goes_on ? job->calendars->out_until_ms : INT64_MIN;
    bool has_some = definition && (definition->calendar_count || definition->only_on);
    if (has_some || out_until_ms > job->cursor_ms) {
        enum status st = job_calendars_new(&catalog->calendars, job, definition, &made);
        if (st != OK)
            return st;
        made->out_until_ms = out_until_ms;
    }
    job_calendars_free(&catalog->calendars, job->calendars);
    job->calendars = made;
    return OK;
}

int catalog_job_attempts(const struct catalog_job *job)
{
    return job->policy ? (int)job->policy->attempts : 0;
}

void catalog_fill_groups(const struct catalog *catalog, const struct catalog_job *job,
                         const char *job_name, char ret[RUN_GROUPS_SIZE], int *ret_priority)
{
    snprintf(ret, RUN_GROUPS_SIZE, "%s", job->groups ? job->groups : "");
    if (!job->is_workflow)
        known_groups_add_spaces(&catalog->groups, job_name, ret);
    *ret_priority = ret[0] && job->policy ? job->policy->priority : 0;
}

enum place_choice catalog_job_place(const struct catalog_job *job)
{
    return job->policy ? job->policy->place : PLACE_EVEN;
}

struct job_policy catalog_job_policy(const struct catalog_job *job)
{
    return job->policy ? *job->policy : usual_policy();
}

/* `definition` NULL: it can't be decoded, and the job is not planned. */
static enum status read_policy(struct catalog *catalog, struct catalog_job *job,
                               const struct job *definition)
{
    struct shared_policy own = {.policy = definition ? policy_of(definition) : catalog->usual};
    struct shared_policy *shared = NULL;
    if (memcmp(&own.policy, &catalog->usual, sizeof(own.policy)) != 0) {
        shared = table_find(&catalog->policies, &own.policy);
        if (!shared)
            shared = table_add(&catalog->policies, &own, sizeof(own));
        if (!shared)
            return E_NOMEM;
        shared->sharers++;
    }
    drop_policy(catalog, job);
    job->policy = shared ? &shared->policy : NULL;
    return OK;
}

const char *catalog_job_function(const struct catalog_job *job)
{
    return eligible_is_program(job->where) ? job->where + strlen(job->where) + 1 : NULL;
}

/* The nodes that may run the job, and behind it the name of its function; empty: any agent. */
static void print_where(const struct job *definition, struct strbuf *out)
{
    if (!definition)
        return;
    eligible_print(definition, out);
    if (out->length)
        strbuf_addc(out, '\0');
    if (definition->kind == JOB_FUNCTION)
        strbuf_add(out, job_function_name(definition), strlen(job_function_name(definition)) + 1);
}

/* Behind that: the groups of its runs; nothing if there are none. */
static void print_groups(const struct job *definition, struct strbuf *out)
{
    char groups[RUN_GROUPS_SIZE];
    groups_join(definition ? definition->groups : NULL, groups);
    if (*groups)
        strbuf_add(out, groups, strlen(groups) + 1);
}

/* Copies the texts into one block. */
static enum status keep_texts(struct catalog *catalog, struct catalog_job *job,
                              const struct store_change *change, const struct job *definition)
{
    size_t json_size = strlen(change->job_json) + 1, name_size = strlen(change->job_name) + 1;
    struct strbuf where;
    strbuf_init(&where);
    print_where(definition, &where);
    size_t where_size = where.length;
    print_groups(definition, &where);
    char *block = strbuf_status(&where) == OK ? malloc(json_size + name_size + where.length) : NULL;
    if (!block) {
        strbuf_release(&where);
        return E_NOMEM;
    }
    memcpy(block, change->job_json, json_size);
    memcpy(block + json_size, change->job_name, name_size);
    memcpy(block + json_size + name_size, where.text, where.length);
    catalog->json_bytes += json_size - (job->json ? strlen(job->json) + 1 : 0);
    free(job->json);
    job->json = block;
    job->name = block + json_size;
    job->where = where_size ? block + json_size + name_size : NULL;
    job->groups = where.length > where_size ? block + json_size + name_size + where_size : NULL;
    strbuf_release(&where);
    return OK;
}

/* Takes over the definition: text, name, and the values that planning needs. */
static enum status read_definition(struct catalog *catalog, struct catalog_job *job,
                                   const struct store_change *change, struct zone_db *zones,
                                   struct parse_error *reterr)
{
    struct job *definition = NULL;
    struct job_waits *waits = NULL;
    struct job_former *former = NULL;
    struct job_conditions *conditions = NULL;
    struct job_error error = {0};
    enum status read = job_decode_stored(change->job_json, NULL, &definition, &error);
    if (read == E_NOMEM)
        return read;
    enum status st = keep_texts(catalog, job, change, definition);
    if (st == OK)
        st = read_calendars(catalog, job, definition, change->cursor_ms);
    if (st == OK)
        st = read_policy(catalog, job, definition);
    if (st == OK)
        st = waits_read(job, definition, &waits);
    if (st == OK)
        st = conditions_read(job, definition, &conditions);
    if (st == OK)
        st = former_read(job, definition, &former);
    if (st != OK) {
        free(waits);
        free(conditions);
        goto out;
    }
    free(job->waits);
    free(job->conditions);
    free(job->former);
    job->waits = waits;
    job->conditions = conditions;
    job->former = former;
    job->deleted = change->job_deleted;
    if (read == OK)
        read = read_schedules(catalog, job, definition, zones, reterr);
    else
        parse_fail(reterr, 0, "%s: %s", error.path, error.message);
    job->broken = read != OK;
    job->paused = definition && definition->paused;
    job->is_workflow = definition && definition->kind == JOB_WORKFLOW;
    job->expects = definition && job_expects_anything(&definition->expect);
    if (read == E_NOMEM)
        st = read;
out:
    job_free(definition);
    return st;
}

/* ---- the order of names ---- */

void catalog_sort(struct catalog *catalog)
{
    if (catalog->is_sorted)
        return;
    name_order_release(&catalog->in_order);
    catalog->is_sorted = name_order_make(&catalog->by_uid, &catalog->in_order) == OK;
}

/* ---- jobs in and out ---- */

static enum status index_name(struct catalog *catalog, struct catalog_job *job)
{
    if (catalog->is_sorted)
        catalog->is_sorted = name_order_insert(&catalog->in_order, job) == OK;
    if (job->deleted)
        return OK;
    enum status st = table_insert(&catalog->by_name, job);
    if (st == OK)
        st = namespaces_add(&catalog->namespaces, job->name, 1);
    return st == OK ? waits_link(&catalog->waits, job) : st;
}

static void unindex_name(struct catalog *catalog, struct catalog_job *job)
{
    if (catalog->is_sorted)
        name_order_remove(&catalog->in_order, job);
    if (table_find(&catalog->by_name, job->name) == job) {
        table_remove(&catalog->by_name, job);
        namespaces_add(&catalog->namespaces, job->name,
                       -1); /* allocates nothing: the namespace exists */
    }
    waits_unlink(&catalog->waits, job);
}

enum status catalog_put(struct catalog *catalog, const struct store_change *change,
                        struct zone_db *zones, struct catalog_job **ret, struct parse_error *reterr)
{
    struct catalog_job *job = catalog_by_uid(catalog, &change->job_uid);
    bool is_new = !job;
    enum status st;
    if (is_new) {
        job = calloc(1, sizeof(*job));
        if (!job)
            return E_NOMEM;
        job->uid = change->job_uid;
        job->heap_place = HEAP_NONE;
        job->next_ms = NEVER_MS;
        job->cursor_ms = INT64_MIN;
        job->group = (uint16_t)(catalog->added++ / CATALOG_GROUP);
    } else {
        unindex_name(catalog, job);
    }
    st = read_definition(catalog, job, change, zones, reterr);
    if (st != OK)
        goto out;
    job->revision = change->job_revision;
    catalog_job_move(job, change->cursor_ms, &change->rewinds);
    job->last = change->last;
    job->last_node = change->last_node;
    if (is_new && (st = table_insert(&catalog->by_uid, job)) != OK)
        goto out;
    is_new = false;
    st = index_name(catalog, job);
    if (st == OK)
        *ret = job;
out:
    if (st != OK && is_new)
        free_job(catalog, job);
    return st;
}

void catalog_remove(struct catalog *catalog, struct catalog_job *job)
{
    unindex_name(catalog, job);
    table_remove(&catalog->by_uid, job);
    free_job(catalog, job);
}

/* ---- steps ---- */

/* Their texts are not definitions of jobs: quotas do not count them. */
static size_t text_size(const struct catalog_job *job)
{
    return job->json ? strlen(job->json) + 1 : 0;
}

struct catalog_job *catalog_new_aside(struct catalog *catalog, const struct id *uid,
                                      const char *name, const char *json, struct zone_db *zones)
{
    struct store_change change = {.job_uid = *uid, .job_name = name, .job_json = json};
    struct catalog_job *job = calloc(1, sizeof(*job));
    struct parse_error error;
    if (!job)
        return NULL;
    job->uid = *uid;
    job->heap_place = HEAP_NONE;
    job->next_ms = NEVER_MS;
    enum status st = read_definition(catalog, job, &change, zones, &error);
    catalog->json_bytes -= text_size(job);
    if (st == OK)
        return job;
    catalog_free_aside(catalog, job);
    return NULL;
}

void catalog_free_aside(struct catalog *catalog, struct catalog_job *job)
{
    if (!job)
        return;
    catalog->json_bytes += text_size(job);
    free_job(catalog, job);
}

size_t catalog_count(const struct catalog *catalog)
{
    return catalog->by_name.count;
}

enum status catalog_watch_namespace(struct catalog *catalog, const char *namespace)
{
    size_t length = strlen(namespace), at = 0;
    int64_t count = 0;
    if (namespaces_watches(&catalog->namespaces, namespace))
        return OK;
    for (const struct catalog_job *job; (job = table_next(&catalog->by_name, &at));)
        count += namespace_has(namespace, length, job->name);
    return namespaces_watch(&catalog->namespaces, namespace, count);
}

struct catalog_job *catalog_by_name(const struct catalog *catalog, const char *name)
{
    return table_find(&catalog->by_name, name);
}

struct catalog_job *catalog_by_uid(const struct catalog *catalog, const struct id *uid)
{
    return table_find(&catalog->by_uid, uid);
}

struct catalog_job *catalog_awaited(const struct catalog *catalog, const char *name)
{
    struct catalog_job *job = catalog_by_name(catalog, name);
    return job ? job : waits_former(&catalog->waits, name);
}

const char *catalog_step_text(void *context, const char *name)
{
    const struct catalog_job *job = catalog_awaited(context, name);
    bool is_there = job && !job->deleted && job_name_is_beside(job->name, name);
    return is_there ? job->json : NULL;
}

struct dependents catalog_dependents(const struct catalog *catalog, const char *name)
{
    const struct catalog_job *of = catalog_awaited(catalog, name);
    return (struct dependents){
        .catalog = catalog,
        .of = of,
        .next = waits_first(&catalog->waits, of ? of->name : name),
    };
}

/* Does the job wait for `of` by an earlier name of its list, too? */
static bool is_twice(const struct dependents *dependents, const struct job_wait *wait)
{
    const struct job_wait *before = wait->job->waits->waits;
    if (!dependents->of || !dependents->of->former)
        return false;
    while (before < wait && catalog_awaited(dependents->catalog, before->name) != dependents->of)
        before++;
    return before < wait;
}

const struct job_wait *dependents_next(struct dependents *dependents)
{
    const struct catalog *catalog = dependents->catalog;
    const struct job_former *former = dependents->of ? dependents->of->former : NULL;
    for (;;) {
        const struct job_wait *wait = dependents->next;
        if (wait) {
            dependents->next = waits_next(wait);
            if (!is_twice(dependents, wait))
                return wait;
            continue;
        }
        if (!former || dependents->next_former == former->count)
            return NULL;
        const char *name = former->names[dependents->next_former++].name;
        if (catalog_awaited(catalog, name) == dependents->of)
            dependents->next = waits_first(&catalog->waits, name);
    }
}

void catalog_each(struct catalog *catalog, const char *after, bool with_deleted,
                  bool (*visit)(void *context, const struct catalog_job *job), void *context)
{
    catalog_sort(catalog);
    if (!catalog->is_sorted)
        return;
    struct name_place place = name_order_after(&catalog->in_order, after);
    for (const struct catalog_job *job; (job = name_order_next(&catalog->in_order, &place));) {
        if ((with_deleted || !job->deleted) && !visit(context, job))
            return;
    }
}
