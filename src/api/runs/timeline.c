/* Past runs and coming ticks on one axis, and the seconds in which many jobs are due. */
#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "handlers.h"
#include "input.h"
#include "runs/encode.h"
#include "runs/pending.h"
#include "server.h"

enum {
    DAYS_MAX = 31,
    LIMIT = 500,
    LIMIT_MAX = 1000,    /* of runs, and of ticks */
    TICKS_MAX = 20000,   /* checked */
    TICKS_OF_JOB = 1000, /* of these, per job */
    LOOKS = 20000,       /* jobs checked */
    HERDS = 50,
    DENSE_MAX = 5000, /* jobs */
};

struct coming {
    int64_t at_ms;
    int nth; /* index among its job's ticks */
    const struct catalog_job *job;
};

struct timeline {
    int64_t from_ms, to_ms, limit, now_ms;
    const char *job_name; /* NULL: of all jobs */
    struct history_query query;
    bool with_herds;
    struct coming *ticks;
    size_t count, looks;
    bool is_cut; /* not all ticks or jobs were checked */
};

static void release_timeline(void *state)
{
    struct timeline *line = state;
    free(line->ticks);
}

/* ---- what is to come ---- */

static bool add_job(void *context, const struct catalog_job *job)
{
    struct timeline *line = context;
    if (line->looks++ == LOOKS) {
        line->is_cut = true;
        return false;
    }
    if (job->paused || job->broken || (line->job_name && strcmp(line->job_name, job->name) != 0))
        return true;
    int64_t at_ms = line->from_ms > line->now_ms ? line->from_ms - 1 : line->now_ms;
    for (int i = 0; i < TICKS_OF_JOB; i++) {
        at_ms = i == 0 ? catalog_job_coming_run(job, at_ms) : catalog_job_next_run(job, at_ms);
        if (at_ms == NEVER_MS || at_ms >= line->to_ms)
            return true;
        if (line->count == TICKS_MAX)
            break;
        line->ticks[line->count++] = (struct coming){at_ms, i, job};
    }
    line->is_cut = true;
    return line->count < TICKS_MAX;
}

static int by_time(const void *a, const void *b)
{
    const struct coming *one = a, *other = b;
    if (one->at_ms != other->at_ms)
        return one->at_ms < other->at_ms ? -1 : 1;
    return strcmp(one->job->name, other->job->name);
}

/* How many ticks per job are shown, at least one, so that a frequent job leaves room for the
 * others. */
static int share_of_job(const struct timeline *line)
{
    int64_t of_nth[TICKS_OF_JOB] = {0}, sum = 0;
    int share = 0;
    for (size_t i = 0; i < line->count; i++)
        of_nth[line->ticks[i].nth]++;
    while (share < TICKS_OF_JOB && (sum += of_nth[share]) <= line->limit)
        share++;
    return share ? share : 1;
}

static json_t *encode_ticks(const struct timeline *line, int share)
{
    json_t *list = json_array();
    for (size_t i = 0; i < line->count && list && json_array_size(list) < (size_t)line->limit;
         i++) {
        if (line->ticks[i].nth >= share)
            continue;
        json_t *item = json_pack("{s:o, s:s}", "at", json_tick(line->ticks[i].at_ms), "job",
                                 line->ticks[i].job->name);
        if (json_array_append_new(list, item) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

static int by_job(const void *a, const void *b)
{
    const struct coming *one = a, *other = b;
    int order = strcmp(one->job->name, other->job->name);
    return order ? order : (one->at_ms > other->at_ms) - (one->at_ms < other->at_ms);
}

static json_t *encode_seconds(const struct coming *ticks, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count && list; i++) {
        json_t *item = json_integer((ticks[i].at_ms - ticks[0].at_ms) / 1000);
        if (json_array_append_new(list, item) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    return list;
}

/* What `ticks` leaves out: of each job the first tick, and how long after it each is. */
static json_t *encode_dense(struct timeline *line, int share)
{
    struct coming *left = calloc(line->count + 1, sizeof(*left));
    json_t *list = left ? json_array() : NULL;
    size_t count = 0, shown = 0;
    for (size_t i = 0; i < line->count && left; i++) {
        if (line->ticks[i].nth < share && shown < (size_t)line->limit)
            shown++;
        else
            left[count++] = line->ticks[i];
    }
    if (count)
        qsort(left, count, sizeof(*left), by_job);
    for (size_t i = 0, end; i < count && list; i = end) {
        for (end = i + 1; end < count && left[end].job == left[i].job; end++)
            ;
        if (json_array_size(list) == DENSE_MAX) {
            line->is_cut = true;
            break;
        }
        json_t *item =
            json_pack("{s:s, s:o, s:o}", "job", left[i].job->name, "from", json_tick(left[i].at_ms),
                      "seconds", encode_seconds(left + i, end - i));
        if (json_array_append_new(list, item) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    free(left);
    return list;
}

struct herd {
    int64_t at_ms;
    size_t count;
};

static int by_size(const void *a, const void *b)
{
    const struct herd *one = a, *other = b;
    if (one->count != other->count)
        return one->count > other->count ? -1 : 1;
    return (one->at_ms > other->at_ms) - (one->at_ms < other->at_ms);
}

/* The seconds in which most jobs are due, busiest first. */
static json_t *encode_herds(const struct timeline *line)
{
    struct herd *herds = calloc(line->count + 1, sizeof(*herds));
    json_t *list = herds ? json_array() : NULL;
    size_t count = 0;
    for (size_t i = 0; i < line->count && list; i++) {
        if (!count || herds[count - 1].at_ms != line->ticks[i].at_ms)
            herds[count++].at_ms = line->ticks[i].at_ms;
        herds[count - 1].count++;
    }
    if (count)
        qsort(herds, count, sizeof(*herds), by_size);
    for (size_t i = 0; i < count && i < HERDS && herds[i].count > 1 && list; i++) {
        json_t *item = json_pack("{s:o, s:I}", "at", json_tick(herds[i].at_ms), "jobs",
                                 (json_int_t)herds[i].count);
        if (json_array_append_new(list, item) != 0) {
            json_decref(list);
            list = NULL;
        }
    }
    free(herds);
    return list;
}

/* ---- what was ---- */

static void add_open(void *context, const struct run *run)
{
    struct call *call = ((void **)context)[0];
    json_t *runs = ((void **)context)[1];
    const struct timeline *line = call->state;
    if (run->tick_ms >= line->from_ms && run->tick_ms < line->to_ms &&
        (!line->query.job_name || strcmp(line->query.job_name, run->job_name) == 0) &&
        (id_is_zero(&line->query.job_uid) ||
         id_compare(&line->query.job_uid, &run->job_uid) == 0) &&
        json_array_size(runs) < (size_t)line->limit && !run_state_is_end(run->state) &&
        !run_is_step(run))
        json_array_append_new(runs, encode_run(run));
}

/* Ticks that were taken out and are not in the store yet. */
static enum status add_pending(const struct call *call, struct timeline *line, json_t *runs)
{
    struct pending_jobs jobs = {0};
    int64_t ticks = 0;
    pending_jobs_find(call, line->job_name, &jobs);
    enum status st = jobs.failed ? E_NOMEM : OK;
    for (size_t i = 0; i < jobs.count && st == OK; i++) {
        if (json_array_size(runs) >= (size_t)line->limit || ticks > PENDING_MAX) {
            line->is_cut = true;
            break;
        }
        st = pending_add(call, &jobs.items[i], &line->query, runs, &ticks);
    }
    pending_jobs_release(&jobs);
    return st;
}

static void reply_timeline(struct call *call)
{
    struct timeline *line = call->state;
    json_t *runs = json_array();
    if (call->answer != OK) {
        json_decref(runs);
        call_fail_history(call, call->answer);
        return;
    }
    void *context[] = {call, runs};
    call_each_open_run(call, add_open, context);
    if (add_pending(call, line, runs) != OK) {
        json_decref(runs);
        call_fail(call, 500, "out of memory");
        return;
    }
    for (size_t i = 0; i < call->read.count && runs; i++)
        json_array_append_new(runs, encode_row(&call->read.rows[i]));
    call_each_job(call, NULL, false, add_job, line);
    if (line->count)
        qsort(line->ticks, line->count, sizeof(*line->ticks), by_time);
    int share = share_of_job(line);
    json_t *dense = encode_dense(line, share);
    bool is_cut = line->is_cut || call->read.more || line->count > (size_t)line->limit;
    json_t *answer =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "from", json_tick(line->from_ms), "to",
                  json_tick(line->to_ms), "now", json_tick(line->now_ms), "runs", runs, "ticks",
                  encode_ticks(line, share), "dense", dense, "more", is_cut);
    answer = add_absent(answer, &call->read.absent);
    if (answer && line->with_herds && json_object_set_new(answer, "herds", encode_herds(line))) {
        json_decref(answer);
        answer = NULL;
    }
    call_reply(call, 200, answer);
}

static bool read_span(struct call *call, struct timeline *line)
{
    line->from_ms = call->now_ms - 3600000;
    line->to_ms = call->now_ms + 3600000;
    line->limit = LIMIT;
    line->now_ms = call->now_ms;
    line->job_name = query_get(&call->query, "job");
    if (!param_time(call, "from", zone_utc(), &line->from_ms) ||
        !param_time(call, "to", zone_utc(), &line->to_ms) ||
        !param_number(call, "limit", 1, LIMIT_MAX, &line->limit) ||
        !param_bool(call, "herd", &line->with_herds))
        return false;
    if (line->to_ms <= line->from_ms)
        call_fail_at(call, "?to", "to: is not after from");
    else if (line->to_ms - line->from_ms > DAYS_MAX * INT64_C(86400000))
        call_fail_at(call, "?to", "to: is more than %d days after from", DAYS_MAX);
    else
        return true;
    return false;
}

void get_timeline(struct call *call)
{
    struct timeline *line = call_state(call, sizeof(*line), release_timeline);
    if (!line || !read_span(call, line))
        return;
    line->ticks = calloc(TICKS_MAX, sizeof(*line->ticks));
    if (!line->ticks) {
        call_fail(call, 500, "out of memory");
        return;
    }
    line->query = (struct history_query){
        .since_ms = line->from_ms,
        .until_ms = line->to_ms,
        .with_entries = true,
        .limit = (size_t)line->limit,
    };
    call_select_job(call, line->job_name, &line->query.job_uid, &line->query.job_name);
    call->read.query = line->query;
    call_read_history(call, reply_timeline);
}
