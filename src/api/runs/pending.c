#include "runs/pending.h"

#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "runs/encode.h"
#include "server.h"

struct search {
    struct pending_jobs *jobs;
    int64_t now_ms;
    bool has_maintenance;
};

/* Most due jobs are being claimed right now: pending_add looks at their ticks. */
static bool may_have(const struct search *search, const struct catalog_job *job)
{
    return (search->has_maintenance || job->paused || job->calendars || job->policy) &&
           job->next_ms != NEVER_MS && job->next_ms + catalog_job_jitter_ms(job) <= search->now_ms;
}

static bool add_job(void *context, const struct catalog_job *job)
{
    struct search *search = context;
    struct pending_jobs *jobs = search->jobs;
    if (!may_have(search, job))
        return true;
    if (jobs->count == jobs->capacity) {
        size_t capacity = jobs->capacity ? 2 * jobs->capacity : 64;
        struct pending_job *grown = realloc(jobs->items, capacity * sizeof(*grown));
        if (!grown) {
            jobs->failed = true;
            return false;
        }
        jobs->items = grown;
        jobs->capacity = capacity;
    }
    jobs->items[jobs->count++] =
        (struct pending_job){id_make((struct wall_ms){job->next_ms}, job->uid.bytes + 6), job->uid};
    return true;
}

static int newest_first(const void *a, const void *b)
{
    const struct pending_job *one = a, *other = b;
    return id_compare(&other->id, &one->id);
}

void pending_jobs_find(const struct call *call, const char *job_name, struct pending_jobs *jobs)
{
    const struct catalog *catalog = engine_catalog(call->api->ports.engine);
    struct search search = {jobs, call->now_ms, catalog->maintenance.count > 0};
    if (job_name) {
        const struct catalog_job *job =
            catalog_by_name(engine_catalog(call->api->ports.engine), job_name);
        if (job && call_sees(call, job_name))
            add_job(&search, job);
        return;
    }
    call_each_job(call, NULL, false, add_job, &search);
    if (jobs->count)
        qsort(jobs->items, jobs->count, sizeof(*jobs->items), newest_first);
}

void pending_jobs_release(struct pending_jobs *jobs)
{
    free(jobs->items);
    *jobs = (struct pending_jobs){0};
}

static enum status entries_of(const struct call *call, const struct id *job_uid,
                              struct ledger_entry **ret, size_t *ret_count)
{
    struct catalog_job *job = catalog_by_uid(engine_catalog(call->api->ports.engine), job_uid);
    *ret = NULL;
    *ret_count = 0;
    return job ? engine_called_off(call->api->ports.engine, job, call->now_ms, ret, ret_count) : OK;
}

/* The filters of history_query, for an entry. */
static bool entry_matches(const struct history_query *query, const struct ledger_entry *entry)
{
    return query->with_entries && !query->node && !query->min_duration_ms &&
           (!query->states || run_state_is_in(query->states, entry->state)) &&
           (!query->since_ms || entry->to_ms >= query->since_ms) &&
           (!query->until_ms || entry->from_ms < query->until_ms) &&
           (!query->text || strcasestr(entry->job_name, query->text) ||
            strcasestr(entry->detail, query->text) ||
            strcasestr(run_reason_name(entry->reason), query->text));
}

static enum status append(json_t *items, const struct ledger_entry *entry)
{
    json_t *value = encode_entry(entry);
    if (!value || json_object_set_new(value, "pending", json_true()) != 0) {
        json_decref(value);
        return E_NOMEM;
    }
    return json_array_append_new(items, value) == 0 ? OK : E_NOMEM;
}

enum status pending_add(const struct call *call, const struct pending_job *job,
                        const struct history_query *query, json_t *items, int64_t *ticks)
{
    struct ledger_entry *entries;
    size_t count;
    enum status st = entries_of(call, &job->uid, &entries, &count);
    for (size_t i = count; st == OK && i; i--) {
        *ticks += entries[i - 1].count;
        if (entry_matches(query, &entries[i - 1]))
            st = append(items, &entries[i - 1]);
    }
    free(entries);
    return st;
}

bool pending_find(const struct call *call, const struct id *job_uid, int64_t tick_ms,
                  struct ledger_entry *ret)
{
    struct ledger_entry *entries;
    size_t count;
    bool is_found = false;
    if (entries_of(call, job_uid, &entries, &count) != OK)
        return false;
    for (size_t i = 0; i < count && !is_found; i++) {
        is_found = entries[i].from_ms <= tick_ms && tick_ms <= entries[i].to_ms;
        if (is_found)
            *ret = entries[i];
    }
    free(entries);
    return is_found;
}
