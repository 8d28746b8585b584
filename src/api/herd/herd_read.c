/* Counts over all jobs that the caller sees. A slice of a millisecond at a time, so that due jobs
 * are not delayed; jobs may come and go meanwhile. */
#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "definition/job_codec.h"
#include "handlers.h"
#include "herd/calendar_book.h"
#include "herd/herd_json.h"
#include "input.h"
#include "server.h"

enum {
    DAY_MS = 86400 * 1000,
    HORIZON_MAX_MS = 7 * DAY_MS,
    HORIZON_MIN_MS = 60 * 1000,
    TICKS_MAX = 2 * 1000 * 1000, /* of schedules that differ: 16 MB */
    JOBS_MAX = 200 * 1000,
    SLICE_MS = 1,
    AT_ONCE = 8, /* jobs between two clock reads */
};

struct reading {
    struct call *call;
    struct herd herd;
    struct calendar_book calendars;
    struct herd_view view;
    int64_t from_s, horizon_ms;
    int64_t slice_end_ms;
    size_t looks;
    enum status st; /* of the last job */
    bool is_cut;    /* the slice is over, the jobs are not */
    bool has_last;
    char last[JOB_NAME_SIZE];
};

static void release_reading(void *state)
{
    struct reading *reading = state;
    herd_release(&reading->herd);
    calendar_book_release(&reading->calendars);
    reading->call->api->counts_herd = false;
}

static void start(struct reading *reading)
{
    herd_release(&reading->herd);
    herd_init(&reading->herd, reading->call->api->ports.zones, reading->from_s,
              reading->from_s + reading->horizon_ms / 1000, TICKS_MAX);
    reading->looks = 0;
    reading->has_last = false;
    reading->st = OK;
}

static void fail(struct reading *reading, enum status st)
{
    struct call *call = reading->call;
    if (st == E_NOMEM)
        call_fail(call, 500, "out of memory");
    else
        call_fail(call, 422, "there are too many ticks to count; ask for a shorter horizon");
}

/* ---- the answer ---- */

static void propose(struct call *call)
{
    struct reading *reading = call->state;
    bool is_done = false;
    enum status st = OK;
    int64_t end_ms = clock_now().boot.ms + SLICE_MS;
    while (st == OK && !is_done && clock_now().boot.ms < end_ms)
        st = herd_propose(&reading->herd, &reading->view.wish, AT_ONCE, &is_done);
    if (st != OK)
        fail(reading, st);
    else if (!is_done)
        call_later(call, propose);
    else
        call_reply(call, 200, herd_json(&reading->herd, &reading->view));
}

/* ---- the jobs ---- */

static enum status know_calendar(struct reading *reading, const char *name)
{
    const struct catalog *catalog = engine_catalog(reading->call->api->ports.engine);
    const struct known_calendar *known = known_calendars_find(&catalog->calendars, name);
    struct calendar_definition definition;
    struct job_error error;
    if (!known || !known->json || calendar_book_has(&reading->calendars, name))
        return OK;
    enum status st = calendar_decode_text(known->json, strlen(known->json), NULL,
                                          reading->call->api->ports.zones, &definition, &error);
    if (st == OK)
        st = calendar_book_add(&reading->calendars, name, &definition);
    return st == E_INVALID ? OK : st;
}

/* Of calendars that the book lacks; those that are nowhere are left to it. */
static enum status know_calendars(struct reading *reading, const struct job *job)
{
    enum status st = OK;
    for (size_t i = 0; i < job->calendar_count && st == OK; i++)
        st = know_calendar(reading, job->calendars[i]);
    for (char **name = job->only_on; name && *name && st == OK; name++)
        st = know_calendar(reading, *name);
    return st;
}

static enum status add(struct reading *reading, const struct catalog_job *known)
{
    const struct catalog *catalog = engine_catalog(reading->call->api->ports.engine);
    struct dependents dependents = catalog_dependents(catalog, known->name);
    struct calendars calendars;
    struct job_error error;
    struct job *job;
    if (known->broken || known->paused || !known->schedule_count)
        return OK;
    enum status st = job_decode_stored(known->json, NULL, &job, &error);
    if (st != OK)
        return st == E_INVALID ? OK : st;
    st = know_calendars(reading, job);
    if (st == OK)
        st = calendar_book_of_job(&reading->calendars, job, &calendars);
    if (st == OK)
        st = herd_add(&reading->herd, job, &calendars, dependents_next(&dependents) != NULL);
    job_free(job);
    return st == E_INVALID ? OK : st;
}

static bool visit(void *context, const struct catalog_job *job)
{
    struct reading *reading = context;
    reading->is_cut =
        reading->looks % AT_ONCE == AT_ONCE - 1 && clock_now().boot.ms >= reading->slice_end_ms;
    reading->looks++;
    if (reading->is_cut)
        return false;
    reading->st = add(reading, job);
    reading->has_last = true;
    memcpy(reading->last, job->name, strlen(job->name) + 1);
    return reading->st == OK && reading->herd.count <= JOBS_MAX;
}

static void look(struct call *call)
{
    struct reading *reading = call->state;
    reading->slice_end_ms = clock_now().boot.ms + SLICE_MS;
    reading->is_cut = false;
    call_each_job(call, reading->has_last ? reading->last : NULL, false, visit, reading);
    if (reading->st == E_TOO_LARGE && reading->horizon_ms > HORIZON_MIN_MS) {
        reading->horizon_ms = reading->horizon_ms > DAY_MS ? DAY_MS : reading->horizon_ms / 24;
        start(reading);
        call_later(call, look);
        return;
    }
    enum status st = reading->st;
    if (reading->is_cut) {
        call_later(call, look);
        return;
    }
    if (reading->herd.count > JOBS_MAX) {
        call_fail(call, 422, "there are more than %d jobs, too many to count their starts",
                  JOBS_MAX);
        return;
    }
    if (st == OK)
        st = herd_count(&reading->herd);
    if (st == OK)
        call_later(call, propose);
    else
        fail(reading, st);
}

static bool read_input(struct call *call, struct reading *reading)
{
    int64_t at_most = 10, within_ms = 3600 * 1000, seconds = 10, proposals = 100;
    if (!param_duration(call, "horizon", &reading->horizon_ms) ||
        !param_duration(call, "within", &within_ms) ||
        !param_number(call, "at_most", 1, 1000000, &at_most) ||
        !param_number(call, "limit", 1, HERD_SECONDS_MAX, &seconds) ||
        !param_number(call, "proposals", 0, JOBS_MAX, &proposals))
        return false;
    if (reading->horizon_ms < HORIZON_MIN_MS || reading->horizon_ms > HORIZON_MAX_MS) {
        call_fail_at(call, "?horizon", "horizon: expected a minute to a week");
        return false;
    }
    if (within_ms < 1000 || within_ms > DAY_MS) {
        call_fail_at(call, "?within", "within: expected a second to a day");
        return false;
    }
    reading->view = (struct herd_view){
        .wish = {.at_most = (uint32_t)at_most, .within_s = within_ms / 1000},
        .seconds = (size_t)seconds,
        .proposals = (size_t)proposals,
    };
    return true;
}

/* One at a time: it holds some megabytes, and works in all turns of the loop. */
void get_herd(struct call *call)
{
    if (call->api->counts_herd) {
        call_fail_later(call, 1000, "starts are being counted for somebody else");
        return;
    }
    struct reading *reading = call_state(call, sizeof(*reading), NULL);
    if (!reading)
        return;
    *reading =
        (struct reading){.call = call, .from_s = call->now_ms / 1000, .horizon_ms = HORIZON_MAX_MS};
    if (!read_input(call, reading))
        return;
    call->api->counts_herd = true;
    calendar_book_init(&reading->calendars);
    call->release = release_reading;
    start(reading);
    look(call);
}
