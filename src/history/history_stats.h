/* Statistics as all backends gather them: cells, which are added up. A cell is what runs of one
 * job, hour, end and bucket of durations have in common; recording a run adds one to it, replacing
 * a run takes one away again. Each is added to the job's cells and to those of all jobs. */
#ifndef PEAL_HISTORY_STATS_H
#define PEAL_HISTORY_STATS_H

#include "history_internal.h"

enum { BUCKET_NONE = -1 };

struct stats_cell {
    struct id job_uid; /* zero: all jobs */
    int64_t hour;      /* since 1970 */
    int state;
    int bucket; /* BUCKET_NONE: without a duration */
    int64_t count;
    int64_t sum_ms;
    int64_t min_ms, max_ms; /* INT64_MAX and INT64_MIN: of none */
    int64_t punctual, late_sum_ms;
};

/* By job, hour, state and bucket. */
int stats_cell_compare(const struct stats_cell *a, const struct stats_cell *b);

/* Adds all numbers of a cell to another. */
void stats_cell_add(struct stats_cell *to, const struct stats_cell *cell);

/* ---- what an append changes ---- */

struct stats_changes {
    struct stats_cell *cells;
    size_t count, capacity;
};

/* Room for so many more rows. */
MUST_CHECK enum status stats_changes_reserve(struct stats_changes *changes, size_t rows);

/* `sign` is 1 for a row that is recorded and -1 for one that is replaced. There is room for it. */
void stats_changes_add(struct stats_changes *changes, const struct history_row *row, int sign);

/* Puts equal cells together, in order; those that changed nothing are left out. */
void stats_changes_merge(struct stats_changes *changes);

void stats_changes_release(struct stats_changes *changes);

/* ---- what a request asks for ---- */

bool stats_request_is_valid(const struct history_stats *stats);

/* The hours that are asked for: from inclusive, to exclusive. */
void stats_request_hours(const struct history_stats *stats, int64_t *ret_from, int64_t *ret_to);

/* Adds a cell to the answer; they come in the order of hours. */
MUST_CHECK enum status stats_answer_add(struct history_stats *answer,
                                        const struct stats_cell *cell);

/* Hours below this one go with a prune; 0: none does. */
int64_t stats_prune_hour(const struct history_prune *prune);

#endif
