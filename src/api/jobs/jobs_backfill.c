/* Runs for past ticks that have not run: finds the ticks, reads their records, adds the missing
 * runs. They run one after another, oldest first. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "handlers.h"
#include "input.h"
#include "jobs/jobs.h"
#include "note.h"
#include "runs/encode.h"
#include "server.h"

enum {
    LIMIT = 1000,
    LIMIT_MAX = 10000,
    BATCH = 500,  /* runs in one request to the store */
    READS = 1000, /* rows of the history at a time */
};

struct backfill {
    struct id job_uid;
    int64_t from_ms, to_ms;
    bool dry_run;
    int64_t *ticks; /* in order */
    bool *done;     /* ticks that have run or have an open run */
    size_t count;
    bool more; /* ticks beyond the limit: from `next_ms` on */
    int64_t next_ms;
    enum status failure; /* of the store, after some were added */
    size_t at;           /* the next tick to add */
    size_t already, added;
    struct id last_id; /* of the last run: ids grow in the order of ticks */
    json_t *left_out;  /* by calendars */
    struct store_add_run adds[BATCH];
};

static void release_backfill(void *state)
{
    struct backfill *fill = state;
    free(fill->ticks);
    free(fill->done);
    json_decref(fill->left_out);
}

/* ---- ticks, without those that calendars exclude ---- */

static void find_ticks(struct backfill *fill, const struct catalog_job *job, size_t limit)
{
    int64_t tick_ms = fill->from_ms - 1;
    struct schedule_set set = {job->schedules, job->schedule_count};
    struct calendars calendars = catalog_job_calendars(job);
    for (;;) {
        int64_t after_s = tick_ms / 1000 - (tick_ms % 1000 < 0);
        int64_t tick_s = schedule_set_next_free(&set, &calendars, after_s);
        tick_ms = tick_s == NEVER ? NEVER_MS : tick_s * 1000;
        if (tick_ms >= fill->to_ms)
            return;
        if (fill->count == limit) {
            fill->more = true;
            fill->next_ms = tick_ms;
            return;
        }
        fill->ticks[fill->count++] = tick_ms;
    }
}

static void find_left_out(struct backfill *fill, const struct catalog_job *job)
{
    struct fire_source source = {
        .set = {job->schedules, job->schedule_count},
        .calendars = catalog_job_calendars(job),
        .uses = job->calendars ? job->calendars->uses : NULL,
        .ended_s = NEVER_BEFORE,
    };
    int64_t end_ms = fill->more ? fill->next_ms : fill->to_ms;
    fill->left_out = encode_left_out(&source, (fill->from_ms - 1) / 1000, (end_ms + 999) / 1000);
}

static int by_time(const void *a, const void *b)
{
    int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;
    return (one > other) - (one < other);
}

/* A tick that was skipped or missed has not run: that is what a backfill is for. */
static void mark(struct backfill *fill, const struct run *run)
{
    if (run->state == RUN_SKIPPED || run->state == RUN_MISSED)
        return;
    const int64_t *found =
        bsearch(&run->tick_ms, fill->ticks, fill->count, sizeof(*fill->ticks), by_time);
    if (found)
        fill->done[found - fill->ticks] = true;
}

static void mark_open(void *context, const struct run *run)
{
    struct backfill *fill = context;
    if (id_compare(&run->job_uid, &fill->job_uid) == 0)
        mark(fill, run);
}

/* ---- adding ---- */

static void reply_backfill(struct call *call)
{
    const struct backfill *fill = call->state;
    call_reply(call, 200,
               json_pack("{s:I, s:I, s:I, s:o, s:O}", "ticks", (json_int_t)fill->count, "already",
                         (json_int_t)fill->already, "added", (json_int_t)fill->added, "next_from",
                         fill->more ? json_tick(fill->next_ms) : json_null(), "left_out",
                         fill->left_out));
}

static void fail_stopped(struct call *call)
{
    const struct backfill *fill = call->state;
    call_fail_store(call, fill->failure);
}

static void fail_deleted(struct call *call)
{
    const struct backfill *fill = call->state;
    call_fail(call, 409, "\"%s\" was deleted meanwhile; %zu runs were added before", call->argument,
              fill->added);
}

/* The added runs are recorded, even if the rest failed. */
static void end_backfill(struct call *call, call_then *then)
{
    const struct backfill *fill = call->state;
    struct noted_job job = {.uid = &fill->job_uid, .name = call->argument};
    char from[TIME_TEXT], to[TIME_TEXT];
    time_format(fill->from_ms, from);
    time_format(fill->to_ms, to);
    if (fill->added) {
        note_job(call, CHANGE_BACKFILL, &job);
        note_detail(call, "%zu runs, from %s to %s", fill->added, from, to);
    }
    note_write(call, then);
}

static void add_runs(struct call *call);

static void runs_added(struct call *call)
{
    struct backfill *fill = call->state;
    if (call->answer != OK) {
        fill->failure = call->answer;
        end_backfill(call, fail_stopped);
        return;
    }
    for (size_t i = 0; i < call->store.count; i++) {
        if (fill->adds[i].added) {
            fill->added++;
        } else if (!id_is_zero(&fill->adds[i].open_run)) {
            fill->already++; /* it was created meanwhile */
        } else {
            end_backfill(call, fail_deleted);
            return;
        }
    }
    add_runs(call);
}

static void add_runs(struct call *call)
{
    struct backfill *fill = call->state;
    size_t count = 0;
    const struct catalog_job *job =
        catalog_by_uid(engine_catalog(call->api->ports.engine), &fill->job_uid);
    for (; job && fill->at < fill->count && count < BATCH; fill->at++) {
        if (fill->done[fill->at])
            continue;
        struct store_add_run *add = &fill->adds[count++];
        *add = (struct store_add_run){.overlap = OVERLAP_QUEUE, .queue_limit = INT_MAX};
        fill_run(call, job, CAUSE_BACKFILL, fill->ticks[fill->at], &add->run);
        if (!id_is_zero(&fill->last_id))
            add->run.id = id_next(&fill->last_id);
        fill->last_id = add->run.id;
    }
    if (count)
        call_submit(call, STORE_ADD_RUN, fill->adds, count, runs_added);
    else
        end_backfill(call, reply_backfill);
}

/* ---- the way of a backfill ---- */

static void history_read_done(struct call *call)
{
    struct backfill *fill = call->state;
    if (call->answer != OK) {
        call_fail_history(call, call->answer);
        return;
    }
    for (size_t i = 0; i < call->read.count; i++)
        mark(fill, &call->read.rows[i].run);
    if (call->read.more) {
        call->read.query.before = call->read.next;
        call_read_history(call, history_read_done);
        return;
    }
    engine_each_open_run(call->api->ports.engine, mark_open, fill);
    for (size_t i = 0; i < fill->count; i++)
        fill->already += fill->done[i];
    if (fill->dry_run)
        reply_backfill(call);
    else
        add_runs(call);
}

static bool read_fields(struct call *call, const struct catalog_job *job, struct backfill *fill,
                        int64_t *limit)
{
    const struct zone *zone = job->schedule_count ? schedule_zone(job->schedules[0]) : zone_utc();
    if (!field_time(call, "from", zone, &fill->from_ms) ||
        !field_time(call, "to", zone, &fill->to_ms) ||
        !field_bool(call, "dry_run", &fill->dry_run) ||
        !field_number(call, "limit", 1, LIMIT_MAX, limit))
        return false;
    if (fill->from_ms > call->now_ms)
        call_fail_at(call, "/from",
                     "from: is in the future; ticks that are to come run by themselves");
    else if (fill->to_ms <= fill->from_ms)
        call_fail_at(call, "/to", "to: is not after from");
    else if (fill->to_ms > call->now_ms + 1000)
        call_fail_at(call, "/to", "to: is in the future; ticks that are to come run by themselves");
    else
        return true;
    return false;
}

void backfill_job(struct call *call)
{
    const struct catalog_job *job = path_job(call);
    struct backfill *fill = job ? call_state(call, sizeof(*fill), release_backfill) : NULL;
    int64_t limit = LIMIT;
    if (!fill || !read_fields(call, job, fill, &limit))
        return;
    fill->job_uid = job->uid;
    fill->ticks = calloc((size_t)limit, sizeof(*fill->ticks));
    fill->done = calloc((size_t)limit, sizeof(*fill->done));
    if (!fill->ticks || !fill->done) {
        call_fail(call, 500, "out of memory");
        return;
    }
    find_ticks(fill, job, (size_t)limit);
    find_left_out(fill, job);
    if (!fill->count) {
        reply_backfill(call);
        return;
    }
    call->read.query = (struct history_query){
        .job_uid = job->uid,
        .since_ms = fill->ticks[0],
        .until_ms = fill->ticks[fill->count - 1] + 1,
        .limit = READS,
    };
    call_read_history(call, history_read_done);
}
