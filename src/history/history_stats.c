#include "history_stats.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

static const int64_t hour_ms = 3600 * 1000;

/* ---- buckets ---- */

/* One bucket each for 0 to 3 ms, then four per doubling. */
int history_bucket(int64_t duration_ms)
{
    if (duration_ms < 4)
        return duration_ms > 0 ? (int)duration_ms : 0;
    int log2 = 63 - __builtin_clzll((unsigned long long)duration_ms);
    int bucket = 4 * (log2 - 1) + (int)(duration_ms >> (log2 - 2) & 3);
    return bucket < HISTORY_BUCKETS ? bucket : HISTORY_BUCKETS - 1;
}

int64_t history_bucket_ms(int bucket)
{
    return bucket < 4 ? bucket : (int64_t)(4 + bucket % 4) << (bucket / 4 - 1);
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

int64_t history_stats_percentile(const struct history_stats_row *row, int percent)
{
    int64_t rank = (row->timed * percent + 99) / 100, seen = 0;
    if (!row->timed)
        return 0;
    for (int i = 0; i < HISTORY_BUCKETS; i++) {
        seen += row->buckets[i];
        if (seen < rank || !row->buckets[i])
            continue;
        int64_t low = history_bucket_ms(i);
        int64_t high =
            i + 1 < HISTORY_BUCKETS ? history_bucket_ms(i + 1) - 1 : row->duration_max_ms;
        return clamp(low + (high - low) / 2, row->duration_min_ms, row->duration_max_ms);
    }
    return row->duration_max_ms;
}

/* ---- cells ---- */

/* Order by job, hour, state and bucket. */
static int compare_cells(const void *one, const void *other)
{
    const struct stats_cell *a = one, *b = other;
    int order = id_compare(&a->job_uid, &b->job_uid);
    if (!order)
        order = (a->hour > b->hour) - (a->hour < b->hour);
    if (!order)
        order = a->state - b->state;
    return order ? order : a->bucket - b->bucket;
}

/* Adds the numbers of `cell` to `to`. */
static void add_cell(struct stats_cell *to, const struct stats_cell *cell)
{
    to->count += cell->count;
    to->sum_ms += cell->sum_ms;
    to->punctual += cell->punctual;
    to->late_sum_ms += cell->late_sum_ms;
    if (cell->min_ms < to->min_ms)
        to->min_ms = cell->min_ms;
    if (cell->max_ms > to->max_ms)
        to->max_ms = cell->max_ms;
}

static void add_run(struct stats_cell *cell, const struct run *run, int sign)
{
    if (run->started_ms && run->finished_ms && run->state != RUN_LOST) {
        int64_t duration_ms = run->finished_ms - run->started_ms;
        if (duration_ms < 0)
            duration_ms = 0; /* the clock was set back during the run */
        cell->bucket = history_bucket(duration_ms);
        cell->sum_ms = sign * duration_ms;
        cell->min_ms = sign > 0 ? duration_ms : INT64_MAX;
        cell->max_ms = sign > 0 ? duration_ms : INT64_MIN;
    }
    /* Further runs of a tick may have waited for their turn. */
    if (run->started_ms && run->cause == CAUSE_TICK && run->attempt == 1 && !run->part) {
        int64_t late_ms = run->started_ms - run->tick_ms;
        cell->punctual = sign;
        cell->late_sum_ms = late_ms > 0 ? sign * late_ms : 0;
    }
}

static struct stats_cell cell_of(const struct history_row *row, int sign)
{
    struct stats_cell cell = {
        .job_uid = row->is_entry ? row->entry.job_uid : row->run.job_uid,
        .hour = history_id_made_ms(history_row_id(row)) / hour_ms,
        .state = (int)(row->is_entry ? row->entry.state : row->run.state),
        .bucket = BUCKET_NONE,
        .count = sign * (row->is_entry ? row->entry.count : 1),
        .min_ms = INT64_MAX,
        .max_ms = INT64_MIN,
    };
    if (!row->is_entry)
        add_run(&cell, &row->run, sign);
    return cell;
}

/* ---- changes ---- */

enum status stats_changes_reserve(struct stats_changes *changes, size_t rows)
{
    size_t needed = changes->count + 2 * rows;
    if (needed <= changes->capacity)
        return OK;
    size_t capacity = needed + changes->capacity;
    struct stats_cell *cells = realloc(changes->cells, capacity * sizeof(*cells));
    if (!cells)
        return E_NOMEM;
    changes->cells = cells;
    changes->capacity = capacity;
    return OK;
}

void stats_changes_add(struct stats_changes *changes, const struct history_row *row, int sign)
{
    if (!row->is_entry && run_is_step(&row->run)) /* its instance counts */
        return;
    struct stats_cell cell = cell_of(row, sign);
    assert(changes->count + 2 <= changes->capacity);
    changes->cells[changes->count++] = cell;
    cell.job_uid = (struct id){{0}};
    changes->cells[changes->count++] = cell;
}

static bool changes_nothing(const struct stats_cell *cell)
{
    return !cell->count && !cell->sum_ms && !cell->punctual && !cell->late_sum_ms;
}

void stats_changes_merge(struct stats_changes *changes)
{
    struct stats_cell *cells = changes->cells;
    size_t kept = 0;
    if (changes->count)
        qsort(cells, changes->count, sizeof(*cells), compare_cells);
    for (size_t i = 0; i < changes->count;) {
        struct stats_cell sum = cells[i++];
        for (; i < changes->count && compare_cells(&sum, &cells[i]) == 0; i++)
            add_cell(&sum, &cells[i]);
        if (!changes_nothing(&sum))
            cells[kept++] = sum;
    }
    changes->count = kept;
}

void stats_changes_release(struct stats_changes *changes)
{
    free(changes->cells);
    *changes = (struct stats_changes){0};
}

/* ---- requests ---- */

static int64_t span_hours(enum history_span span)
{
    return span == HISTORY_DAY ? 24 : 1;
}

void stats_request_hours(const struct history_stats *stats, int64_t *ret_from, int64_t *ret_to)
{
    *ret_from = stats->from_ms / hour_ms + (stats->from_ms % hour_ms != 0);
    *ret_to = stats->to_ms / hour_ms + (stats->to_ms % hour_ms != 0);
}

bool stats_request_is_valid(const struct history_stats *stats)
{
    int64_t from, to;
    if (stats->from_ms < 0 || stats->to_ms < stats->from_ms)
        return false;
    stats_request_hours(stats, &from, &to);
    return (to - from) / span_hours(stats->span) <= HISTORY_STATS_LIMIT;
}

enum status stats_answer_add(struct history_stats *answer, const struct stats_cell *cell)
{
    int64_t span_ms = span_hours(answer->span) * hour_ms;
    int64_t from_ms = cell->hour * hour_ms / span_ms * span_ms;
    if (cell->count <= 0 || cell->state < 0 || cell->state >= RUN_STATES)
        return OK;
    if (!answer->count || answer->rows[answer->count - 1].from_ms != from_ms) {
        if (array_grow(&answer->rows, answer->count, sizeof(*answer->rows)) != OK)
            return E_NOMEM;
        answer->rows[answer->count++] = (struct history_stats_row){.from_ms = from_ms};
    }
    struct history_stats_row *row = &answer->rows[answer->count - 1];
    row->ends[cell->state] += cell->count;
    row->punctual += cell->punctual;
    row->late_sum_ms += cell->late_sum_ms;
    if (cell->bucket < 0 || cell->bucket >= HISTORY_BUCKETS)
        return OK;
    if (!row->timed || cell->min_ms < row->duration_min_ms)
        row->duration_min_ms = cell->min_ms;
    if (!row->timed || cell->max_ms > row->duration_max_ms)
        row->duration_max_ms = cell->max_ms;
    row->timed += cell->count;
    row->duration_sum_ms += cell->sum_ms;
    row->buckets[cell->bucket] += cell->count;
    return OK;
}

void history_stats_release(struct history_stats *stats)
{
    history_absences_release(&stats->absent);
    free(stats->rows);
    stats->rows = NULL;
    stats->count = 0;
}

int64_t stats_prune_hour(const struct history_prune *prune)
{
    int64_t before_ms = prune->stats_before_ms ? prune->stats_before_ms : prune->before_ms;
    return before_ms > 0 ? before_ms / hour_ms : 0;
}
