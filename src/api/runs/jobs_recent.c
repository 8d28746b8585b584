/* The last runs of several jobs, for a list on the screen: a few rows of the history for each, one
 * job after another. */
#include <stdlib.h>
#include <string.h>

#include "handlers.h"
#include "runs/encode.h"
#include "runs/job_names.h"
#include "server.h"

enum { NAMES_MAX = 100, RUNS = 20 };

struct recent {
    struct job_names names;
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
    else if (json_array_append_new(recent->items, encode_recent(recent->names.name, &call->read)) !=
             0)
        call_fail(call, 500, "out of memory");
    else
        look_at_next(call);
}

/* Names without a job are left out. */
static void look_at_next(struct call *call)
{
    struct recent *recent = call->state;
    const struct catalog_job *job = job_names_next(call, &recent->names);
    if (!job) {
        call_reply(call, 200, json_pack("{s:O}", "items", recent->items));
        return;
    }
    call->read.query = (struct history_query){.job_uid = job->uid, .limit = RUNS};
    call_read_history(call, runs_read);
}

void list_recent(struct call *call)
{
    struct recent *recent = call_state(call, sizeof(*recent), release_recent);
    if (!recent || !job_names_read(call, NAMES_MAX, &recent->names))
        return;
    recent->items = json_array();
    if (recent->items)
        look_at_next(call);
    else
        call_fail(call, 500, "out of memory");
}
