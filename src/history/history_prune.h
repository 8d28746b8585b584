/* Retention for every driver: a state machine that runs its phases in short steps, with appends in
 * between, and the operations that a driver provides for it. */
#ifndef PEAL_HISTORY_PRUNE_H
#define PEAL_HISTORY_PRUNE_H

#include "history_columns.h"

struct history_link;

enum { PRUNE_ROWS = 200 }; /* most rows in one step */

struct prune_rows {
    struct id ids[PRUNE_ROWS];
    int64_t output_bytes[PRUNE_ROWS]; /* kept output of each run; from find_bytes */
    bool is_step[PRUNE_ROWS];         /* of a workflow; from find_kinds */
    size_t count;
};

/* The driver's position within a phase. Zero at the start of each phase. */
struct prune_place {
    struct id uid;
    int64_t number;
};

/* Small queries and short steps. A job is named by its uid; zero: all jobs. An operation with
 * *ret_done (false on entry) is called again until it sets *ret_done. */
struct prune_driver {
    /* The transaction around the steps of a turn, 10 ms of them. NULL: a turn is one step. */
    enum status (*begin)(struct history_link *link);
    enum status (*commit)(struct history_link *link);

    /* Drops expired rows of all jobs in bulk. May be NULL. */
    enum status (*drop_old)(struct history_link *link, int64_t before_ms, struct prune_place *place,
                            int64_t *removed, bool *ret_done);
    /* The job with the next larger uid; E_NOT_FOUND: none. */
    enum status (*next_job)(struct history_link *link, const struct id *after, struct id *ret);
    /* The id of the nth newest row of a job; zero if there are fewer. */
    enum status (*find_nth)(struct history_link *link, enum record_table table,
                            const struct id *uid, int64_t nth, struct id *ret);
    /* Rows with a smaller id that, unless before_ms is 0, ended before it. */
    enum status (*find_old)(struct history_link *link, enum record_table table,
                            const struct id *uid, const struct id *below, int64_t before_ms,
                            struct prune_rows *ret);
    /* The newest runs below an id, newest first, with the size of each one's kept output. */
    enum status (*find_bytes)(struct history_link *link, const struct id *uid,
                              const struct id *below, struct prune_rows *ret);
    /* The newest runs of a job below an id, newest first, with is_step. */
    enum status (*find_kinds)(struct history_link *link, const struct id *uid,
                              const struct id *below, struct prune_rows *ret);
    /* Removes rows with their output. *ret_count: how many of them were handled, at least one. */
    enum status (*remove)(struct history_link *link, enum record_table table,
                          const struct prune_rows *rows, int64_t *removed, size_t *ret_count);
    /* Drops jobs without rows. May be NULL. */
    enum status (*drop_jobs)(struct history_link *link, const struct id *uid,
                             struct prune_place *place, bool *ret_done);
    /* Removes statistics before the hour; for all jobs, also those of all jobs together. */
    enum status (*remove_stats)(struct history_link *link, const struct id *uid, int64_t hour,
                                struct prune_place *place, bool *ret_done);
    /* Removes changes made before a time. */
    enum status (*remove_changes)(struct history_link *link, int64_t before_ms, int64_t *removed,
                                  bool *ret_done);
    /* Returns free disk space to the file system. May be NULL. */
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

/* The position of a prune. Zero at the start. */
struct pruning {
    enum prune_phase phase;
    enum record_table table; /* of PRUNE_AGE and PRUNE_COUNT */
    struct id uid;           /* job of PRUNE_COUNT */
    struct id oldest;        /* oldest row that PRUNE_COUNT keeps; zero: not looked up yet */
    struct id counted_to;    /* of a job with steps: the runs down to this row are counted */
    int64_t counted;         /* those of them that are no steps */
    enum { COUNT_BEGINS, COUNT_ROWS, COUNT_KNOWN } state; /* of `oldest` */
    struct byte_count bytes;
    struct prune_place place;
    int conflicts; /* attempts at this turn that ended in E_CONFLICT */
    int64_t removed;
};

/* Runs steps for as long as an append may wait. After a failure the steps may be rolled back: retry
 * with `at` as it was before the call, or give up. */
MUST_CHECK enum status prune_turn(const struct prune_driver *driver, struct history_link *link,
                                  const struct history_prune *prune, struct pruning *at);

#endif
