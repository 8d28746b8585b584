/* Retention, whichever the driver: a machine that goes through its phases in short steps, between
 * which appends are done, and what it asks of a driver. */
#ifndef PEAL_HISTORY_PRUNE_H
#define PEAL_HISTORY_PRUNE_H

#include "history_columns.h"

struct history_link;

enum { PRUNE_ROWS = 200 }; /* that a step looks at */

struct prune_rows {
    struct id ids[PRUNE_ROWS];
    int64_t output_bytes[PRUNE_ROWS]; /* of runs that are looked at for it */
    size_t count;
};

/* Where a driver is in a phase. Zero at the start of each. */
struct prune_place {
    struct id uid;
    int64_t number;
};

/* Small questions and short steps. A job is named by its uid; zero: all of them. What has
 * *ret_done, false before, is asked for again until that is true. Those that may be NULL are not
 * needed. */
struct prune_driver {
    /* A transaction for several steps, a hundredth of a second of them. NULL: each step is by
     * itself. */
    enum status (*begin)(struct history_link *link);
    enum status (*commit)(struct history_link *link);

    /* Of all jobs, what is too old and can go at once. May be NULL. */
    enum status (*drop_old)(struct history_link *link, int64_t before_ms, struct prune_place *place,
                            int64_t *removed, bool *ret_done);
    /* The next job that has rows; E_NOT_FOUND. */
    enum status (*next_job)(struct history_link *link, const struct id *after, struct id *ret);
    /* The id of the nth newest row of a job; zero if there are fewer. */
    enum status (*find_nth)(struct history_link *link, enum record_table table,
                            const struct id *uid, int64_t nth, struct id *ret);
    /* Rows that are below an id and, if a time is given, ended before it. */
    enum status (*find_old)(struct history_link *link, enum record_table table,
                            const struct id *uid, const struct id *below, int64_t before_ms,
                            struct prune_rows *ret);
    /* The newest runs below an id, newest first, with how much output is kept of each. */
    enum status (*find_bytes)(struct history_link *link, const struct id *uid,
                              const struct id *below, struct prune_rows *ret);
    /* Removes rows with their output. *ret_count: the first so many were dealt with, at least one.
     */
    enum status (*remove)(struct history_link *link, enum record_table table,
                          const struct prune_rows *rows, int64_t *removed, size_t *ret_count);
    /* Jobs that have no rows any more. May be NULL. */
    enum status (*drop_jobs)(struct history_link *link, const struct id *uid,
                             struct prune_place *place, bool *ret_done);
    /* Cells below the hour; of all jobs, those of all together, too. */
    enum status (*remove_stats)(struct history_link *link, const struct id *uid, int64_t hour,
                                struct prune_place *place, bool *ret_done);
    /* Changes from before then. */
    enum status (*remove_changes)(struct history_link *link, int64_t before_ms, int64_t *removed,
                                  bool *ret_done);
    /* Gives room on the disk back. May be NULL. */
    enum status (*shrink)(struct history_link *link, struct prune_place *place, bool *ret_done);
};

enum prune_phase {
    PRUNE_OLD,
    PRUNE_AGE,
    PRUNE_NEXT_JOB,
    PRUNE_COUNT,
    PRUNE_BYTES,
    PRUNE_JOBS,
    PRUNE_STATS,
    PRUNE_CHANGES,
    PRUNE_ROOM,
    PRUNE_FINISHED
};

/* Where a prune is. Zero at the start. */
struct pruning {
    enum prune_phase phase;
    enum record_table table; /* of PRUNE_AGE and PRUNE_COUNT */
    struct id uid;           /* of the job that is pruned by count */
    struct id oldest;        /* the oldest that is kept by count; zero: not looked for yet */
    struct byte_count bytes;
    struct prune_place place;
    int conflicts; /* how often this turn has been tried already */
    int64_t removed;
};

/* As many steps as an append may wait for. On failure they may be undone, and are to be tried again
 * from `at` as it was before, or given up. */
MUST_CHECK enum status prune_turn(const struct prune_driver *driver, struct history_link *link,
                                  const struct history_prune *prune, struct pruning *at);

#endif
