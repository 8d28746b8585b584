/* Statistics, the same in all backends. A cell holds the sums over the runs of one job, hour, state
 * and duration bucket. Recording a run adds to its cell, replacing a run subtracts the old record.
 * Each run counts in a cell of its job and in one of all jobs together; steps of workflows count in
 * none, since their instances do. */
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
    int64_t min_ms, max_ms; /* INT64_MAX and INT64_MIN: no duration */
    int64_t punctual, late_sum_ms;
};

/* ---- what an append changes ---- */

struct stats_changes {
    struct stats_cell *cells;
    size_t count, capacity;
};

/* Makes room for stats_changes_add of `rows` more rows. */
MUST_CHECK enum status stats_changes_reserve(struct stats_changes *changes, size_t rows);

/* `sign` is 1 for a recorded row and -1 for a replaced one. Room must have been reserved. */
void stats_changes_add(struct stats_changes *changes, const struct history_row *row, int sign);

/* Sorts the cells and sums up equal ones; cells that sum up to no change are left out. */
void stats_changes_merge(struct stats_changes *changes);

void stats_changes_release(struct stats_changes *changes);

/* ---- what a request asks for ---- */

bool stats_request_is_valid(const struct history_stats *stats);

/* The requested hours: from inclusive, to exclusive. */
void stats_request_hours(const struct history_stats *stats, int64_t *ret_from, int64_t *ret_to);

/* Adds a cell to the answer. Cells must come in the order of hours. */
MUST_CHECK enum status stats_answer_add(struct history_stats *answer,
                                        const struct stats_cell *cell);

/* A prune removes the hours before this one; 0: none. */
int64_t stats_prune_hour(const struct history_prune *prune);

#endif
