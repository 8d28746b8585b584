/* The rules of store.h's requests, written once for all backends: they work on a view of the
 * backend's tables (`struct tables`), inside one of its transactions. All checks of an item come
 * before its writes, so an item fails only when a table does; then the backend rolls back. */
#ifndef PEAL_RULES_H
#define PEAL_RULES_H

#include "feed.h"
#include "store.h"

/* The columns of a job that the rules need. */
struct job_row {
    struct id uid;
    int64_t revision;
    int64_t cursor_ms;
    struct rewinds rewinds;
    struct last_run last;
    uint32_t last_node; /* node_mark; not kept by a store of one node */
    bool paused, deleted;
};

struct run_row {
    int64_t seq; /* creation order, assigned by the table */
    struct run run;
    enum run_reason kill_reason; /* NONE: no kill was ordered */
    char kill_by[64];
};

struct tables;

enum { ANY_PART = -1 };

/* Each returns OK, E_NOT_FOUND from a lookup, or a fault of the table. A job, a name or a document
 * that can't be decoded is E_SET_ASIDE: no rule uses or writes it. A run or an entry like that is
 * not found. */
struct tables_ops {
    enum status (*get_job)(struct tables *tables, const struct id *uid, struct job_row *ret);
    /* The same, for a decision that depends on the job's cursor or last run without writing it. */
    enum status (*hold_job)(struct tables *tables, const struct id *uid, struct job_row *ret);
    /* Among the jobs that are not deleted. */
    enum status (*find_name)(struct tables *tables, const char *name, struct id *ret);
    enum status (*put_job)(struct tables *tables, const struct job_row *row, const char *name,
                           const char *json);
    /* A job that is not deleted, if neither it nor its name is there: then OK, else E_CONFLICT, and
     * nothing is written. NULL: the backend would have to look, too. */
    enum status (*add_job)(struct tables *tables, const struct job_row *row, const char *name,
                           const char *json);
    /* Updates cursor_ms, rewinds and last of an existing job. */
    enum status (*move_job)(struct tables *tables, const struct job_row *row);
    enum status (*remove_job)(struct tables *tables, const struct id *uid);

    enum status (*get_run)(struct tables *tables, const struct id *id, struct run_row *ret);
    /* `part`: ANY_PART, or exactly that one. */
    enum status (*find_run)(struct tables *tables, const struct id *job_uid, int64_t tick_ms,
                            int attempt, int part, struct id *ret);
    /* The same, with its row, as far as it is certain without the job's other runs having changed:
     * that there is none, or that it waits (QUEUED, DUE), or does no longer. A row in another state
     * is certain when it is written. NULL: find_run and get_run tell as much. */
    enum status (*find_row)(struct tables *tables, const struct id *job_uid, int64_t tick_ms,
                            int attempt, int part, struct run_row *ret);
    /* *ret_queued: those that run_row_is_queued; so in oldest_queued. */
    enum status (*count_open)(struct tables *tables, const struct id *job_uid, int64_t *ret_open,
                              int64_t *ret_queued);
    /* The job's first open run after (seq, part): parts that are made together may have the same
     * seq. */
    enum status (*next_open)(struct tables *tables, const struct id *job_uid, int64_t after_seq,
                             int after_part, struct run_row *ret);
    enum status (*oldest_queued)(struct tables *tables, const struct id *job_uid,
                                 struct run_row *ret);
    /* Visits the open runs that have groups, those that hold slots (run_holds_slots) first, until
     * `visit` returns false. */
    enum status (*each_grouped)(struct tables *tables,
                                bool (*visit)(void *context, const struct run_row *row),
                                void *context);
    /* A run gets a slot of the group in this transaction, which was decided by who holds the
     * others: of two that decide at the same time only one may do so. NULL: no two can. */
    enum status (*guard_group)(struct tables *tables, const char *group);
    enum status (*add_run)(struct tables *tables, const struct run *run);
    /* Updates all but its identity: id, job, tick, attempt, part, cause. */
    enum status (*set_run)(struct tables *tables, const struct run_row *row);
    enum status (*remove_ended_run)(struct tables *tables, const struct id *id);

    enum status (*add_entry)(struct tables *tables, const struct ledger_entry *entry);
    enum status (*remove_entry)(struct tables *tables, const struct id *id);
    /* 0: it is known when the transaction is done. */
    enum status (*next_fence)(struct tables *tables, int64_t *ret);
    enum status (*set_meta)(struct tables *tables, const struct store_set_meta *meta);
    enum status (*set_drain)(struct tables *tables, const struct store_drain *drain);
    /* Makes the transaction one whose answer proves that the tables are those of the store. NULL:
     * they are read in it. */
    enum status (*confirm)(struct tables *tables);

    enum status (*get_doc)(struct tables *tables, const char *kind, const char *name,
                           int64_t *ret_revision);
    /* Without json: removes an existing document. */
    enum status (*put_doc)(struct tables *tables, const struct store_doc *doc);
};

/* The operations of a backend whose functions have their names; `hold` is its hold_job, `add` its
 * add_job or NULL, `find` its find_row or NULL, `guard` its guard_group or NULL, and `prove` its
 * confirm or NULL. */
#define TABLES_OPS(hold, add, find, guard, prove)                                                  \
    {                                                                                              \
        .get_job = get_job, .hold_job = (hold), .find_name = find_name, .put_job = put_job,        \
        .move_job = move_job, .remove_job = remove_job, .get_run = get_run, .find_run = find_run,  \
        .count_open = count_open, .next_open = next_open, .oldest_queued = oldest_queued,          \
        .each_grouped = each_grouped, .add_run = add_run, .set_run = set_run,                      \
        .remove_ended_run = remove_ended_run, .add_entry = add_entry,                              \
        .remove_entry = remove_entry, .next_fence = next_fence, .set_meta = set_meta,              \
        .set_drain = set_drain, .get_doc = get_doc, .put_doc = put_doc, .add_job = (add),          \
        .find_row = (find), .guard_group = (guard), .confirm = (prove),                            \
    }

/* Backends embed this. */
struct tables {
    const struct tables_ops *ops;
};

/* States are in the order of a run's life. */
_Static_assert(RUN_QUEUED == 0 && RUN_OK == 5 && RUN_MISSED == RUN_STATES - 1, "states on disk");

/* An unknown state of a newer version counts as open, so that nothing is started beside such a run;
 * but this version must not change the run. */
static inline bool state_is_open(enum run_state state)
{
    return state < RUN_OK || !run_state_is_known(state);
}

/* Does it wait for a run of another tick? A part of its own tick may wait for its turn, a step of a
 * workflow for other steps. */
static inline bool run_row_is_queued(const struct run_row *row)
{
    return row->run.state == RUN_QUEUED && !row->run.parts && !run_is_step(&row->run);
}

/* Is it that attempt at that tick, and that part of it, or any? */
static inline bool run_row_is(const struct run_row *row, int64_t tick_ms, int attempt, int part)
{
    const struct run *run = &row->run;
    return run->tick_ms == tick_ms && run->attempt == attempt &&
           (part == ANY_PART || run->part == part);
}

/* Was it made after the other, or with it as a later part? */
static inline bool run_row_is_after(const struct run_row *row, int64_t seq, int part)
{
    return row->seq > seq || (row->seq == seq && row->run.part > part);
}

/* Sets `by` and `reason` of the row's run to those of the kill order, for STORE_CHANGE_KILL. */
void run_row_to_kill(struct run_row *row);

/* Applies all items of a request; changes go to the feed. Not OK: the caller rolls back. */
MUST_CHECK enum status rules_apply(struct tables *tables, struct feed *feed,
                                   struct store_request *request);

/* Records of puts (store_put_job) that are not written yet. */
struct rules_records {
    struct strbuf text; /* of the next document, without its end */
    struct id first;    /* its name */
};

/* The same as rules_apply for one of several requests of a transaction, whose records are gathered
 * in few documents. Before the commit the caller writes the last of them. */
MUST_CHECK enum status rules_apply_one(struct tables *tables, struct feed *feed,
                                       struct rules_records *records,
                                       struct store_request *request);
MUST_CHECK enum status rules_records_write(struct tables *tables, struct feed *feed,
                                           struct rules_records *records);

#endif
