/* The last runs of several jobs, for a list on the screen: a few rows of the history for each, one
 * job after another. */
#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "handlers.h"
#include "runs/encode.h"
#include "server.h"

enum { NAMES_MAX = 100, RUNS = 20 };

struct recent {
    const char *rest;         /* of the names */
    char name[JOB_NAME_SIZE]; /* of the current job */
    json_t *items;
};

static void release_recent(void *state)
{
    json_decref(((struct recent *)state)->items);
}

static int by_length(const void *a, const void *b)
{
    int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
    return (one > other) - (one < other);
}

/* The median duration; null: no runs. */
static json_t *encode_median(const struct history_read *read)
{
    int64_t durations[RUNS];
    size_t count = 0;
    for (size_t i = 0; i < read->count && count < RUNS; i++) {
        const struct run *run = &read->rows[i].run;
        if (run->started_ms && run->finished_ms && run->state != RUN_LOST)
            durations[count++] = run->finished_ms - run->started_ms;
    }
    if (!count)
        return json_null();
    qsort(durations, count, sizeof(durations[0]), by_length);
    return json_integer(durations[(count - 1) / 2]);
}

static json_t *encode_recent(const char *name, const struct history_read *read)
{
    json_t *runs = json_array();
    for (size_t i = 0; i < read->count && runs; i++) {
        const struct run *run = &read->rows[i].run;
        json_t *item = json_pack("{s:o, s:s, s:o}", "run_id", json_id(&run->id), "state",
                                 run_state_name(run->state), "tick", json_tick(run->tick_ms));
        if (json_array_append_new(runs, item) != 0) {
            json_decref(runs);
            runs = NULL;
        }
    }
    return json_pack("{s:o, s:o, s:o}", "name", json_words(name), "recent", runs, "p50_ms",
                     encode_median(read));
}

static void look_at_next(struct call *call);

static void runs_read(struct call *call)
{
    struct recent *recent = call->state;
    if (call->answer != OK)
        call_fail_history(call, call->answer);
    else if (json_array_append_new(recent->items, encode_recent(recent->name, &call->read)) != 0)
        call_fail(call, 500, "out of memory");
    else
        look_at_next(call);
}

/* Names without a job are left out. */
static void look_at_next(struct call *call)
{
    struct recent *recent = call->state;
    while (*recent->rest) {
        size_t length = strcspn(recent->rest, ",");
        snprintf(recent->name, sizeof(recent->name), "%.*s",
                 (int)(length < JOB_NAME_MAX ? length : JOB_NAME_MAX), recent->rest);
        recent->rest += length;
        recent->rest += *recent->rest == ',';
        const struct catalog_job *job =
            catalog_by_name(engine_catalog(call->api->ports.engine), recent->name);
        if (!job || !call_sees(call, recent->name))
            continue;
        call->read.query = (struct history_query){.job_uid = job->uid, .limit = RUNS};
        call_read_history(call, runs_read);
        return;
    }
    call_reply(call, 200, json_pack("{s:O}", "items", recent->items));
}

void list_recent(struct call *call)
{
    struct recent *recent = call_state(call, sizeof(*recent), release_recent);
    const char *names = query_get(&call->query, "names");
    size_t count = 1;
    if (!recent)
        return;
    for (const char *c = names ? names : ""; *c; c++)
        count += *c == ',';
    recent->items = json_array();
    recent->rest = names;
    if (!recent->items)
        call_fail(call, 500, "out of memory");
    else if (!names || !*names)
        call_fail_at(call, "?names", "names: which jobs? Names with commas between");
    else if (count > NAMES_MAX)
        call_fail_at(call, "?names", "names: %d at most", NAMES_MAX);
    else
        look_at_next(call);
}
