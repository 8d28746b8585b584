/* Counts over all jobs that the caller sees. A slice of a millisecond at a time, so that due jobs
 * are not delayed; jobs may come and go meanwhile. */
#include <stdio.h>
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

enum {
    WINDOWS_MAX = 200,
    REFERRED_MAX = 1000, /* jobs that steps name, which are kept */
};

struct reading {
    struct call *call;
    struct herd herd;
    struct maintenance items[WINDOWS_MAX]; /* as they were at the start */
    struct herd_window windows[WINDOWS_MAX];
    size_t window_count;
    struct herd_limits limits;
    char (*labels)[512];   /* of the nodes that take runs */
    struct table referred; /* jobs that steps name, by name */
    size_t limit;          /* the next one to be counted */
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
    struct job *job;
    size_t at = 0;
    herd_limits_release(&reading->limits);
    herd_release(&reading->herd);
    calendar_book_release(&reading->calendars);
    while ((job = table_next(&reading->referred, &at)))
        job_free(job);
    table_release(&reading->referred);
    free(reading->labels);
    reading->call->api->counts_herd = false;
}

static void start(struct reading *reading)
{
    herd_release(&reading->herd);
    herd_init(&reading->herd, reading->call->api->ports.zones, reading->from_s,
              reading->from_s + reading->horizon_ms / 1000, TICKS_MAX);
    for (size_t i = 0; i < reading->window_count; i++)
        reading->windows[i].starts = 0;
    reading->herd.windows = reading->windows;
    reading->herd.window_count = reading->window_count;
    herd_limits_clear(&reading->limits);
    reading->herd.limits = &reading->limits;
    reading->looks = 0;
    reading->has_last = false;
    reading->st = OK;
}

/* Those that have not ended, and that the caller sees. */
static void take_windows(struct reading *reading)
{
    const struct call *call = reading->call;
    const struct table *all = &engine_catalog(call->api->ports.engine)->maintenance;
    const struct maintenance *item;
    for (size_t at = 0; reading->window_count < WINDOWS_MAX && (item = table_next(all, &at));) {
        bool is_over = item->to_ms && item->to_ms <= call->now_ms;
        if (is_over || !call_sees_space(call, item->space))
            continue;
        reading->items[reading->window_count] = *item;
        reading->windows[reading->window_count].item = &reading->items[reading->window_count];
        reading->window_count++;
    }
}

/* ---- groups ---- */

static const struct table_type referred_type = {.key_at = offsetof(struct job, name),
                                                .is_pointer = true};

/* A job that a step runs; of very many, only the first are looked at. */
static const struct job *find_job(void *context, const char *name)
{
    struct reading *reading = context;
    const struct catalog *catalog = engine_catalog(reading->call->api->ports.engine);
    struct job *job = table_find(&reading->referred, name);
    const struct catalog_job *known = job ? NULL : catalog_by_name(catalog, name);
    struct job_error error;
    if (job || !known || known->broken || reading->referred.count >= REFERRED_MAX ||
        job_decode_stored(known->json, NULL, &job, &error) != OK)
        return job;
    if (table_insert(&reading->referred, job) == OK)
        return job;
    job_free(job);
    return NULL;
}

static bool sees_group(const struct call *call, const char *name)
{
    char space[GROUP_NAME_MAX + 1];
    if (!group_is_space(name))
        return true;
    snprintf(space, sizeof(space), "%.*s", (int)strlen(name) - 1, name);
    return call_sees_space(call, space);
}

/* Groups that the caller sees, and the labels of the nodes that take runs. */
static enum status take_groups(struct reading *reading)
{
    const struct call *call = reading->call;
    const struct table *peers = &engine_peers(call->api->ports.engine)->by_name;
    const struct table *groups = &engine_catalog(call->api->ports.engine)->groups;
    const struct known_group *group;
    enum status st = OK;
    reading->limits.find = find_job;
    reading->limits.context = reading;
    reading->labels = calloc(peers->count + 1, sizeof(*reading->labels));
    if (!reading->labels)
        return E_NOMEM;
    size_t at = 0;
    for (const struct known_peer *known; (known = table_next(peers, &at));)
        if (known->peer.is_alive && peer_runs_jobs(&known->peer) && !peer_is_program(&known->peer))
            memcpy(reading->labels[reading->limits.node_count++], known->peer.labels,
                   sizeof(*reading->labels));
    reading->limits.labels = reading->labels;
    for (at = 0; st == OK && (group = table_next(groups, &at));)
        if (sees_group(call, group->name))
            st = herd_limits_add_group(&reading->limits, group->name, &group->limits);
    return st;
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

/* One limit at a time: each takes as long as all seconds of the span. */
static void count_limits(struct call *call)
{
    struct reading *reading = call->state;
    const struct tick_groups *span = &reading->herd.groups;
    enum status st = OK;
    if (reading->limit < reading->limits.count)
        st = herd_limit_count(&reading->limits.items[reading->limit++], &reading->limits,
                              span->from_s, span->until_s);
    if (st != OK)
        fail(reading, st);
    else
        call_later(call, reading->limit < reading->limits.count ? count_limits : propose);
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
        st = herd_limits_settle(&reading->limits);
    if (st == OK)
        call_later(call, count_limits);
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
    herd_limits_init(&reading->limits);
    table_init(&reading->referred, &referred_type);
    call->release = release_reading;
    take_windows(reading);
    if (take_groups(reading) != OK) {
        call_fail(call, 500, "out of memory");
        return;
    }
    start(reading);
    look(call);
}
