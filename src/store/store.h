/* The store: what all nodes must agree on. Jobs, cursors, open runs, and the ledger entries and
 * ended runs that the history has not taken over yet. A domain contract, not a key-value API; each
 * backend does it its native way, and test/contract/store_contract.c runs against all of them.
 *
 * One thread (the loop's) calls everything here. A request is submitted, and answered later from
 * store_dispatch(), in the order of submission, through its `done`. `done` only stores the result
 * and asks for a step; it may submit further requests.
 *
 * Each item of a batch succeeds or fails by itself; what one item does is atomic and durable when
 * `done` is called with OK. A status other than OK for the whole request: E_UNREACHABLE or E_IO,
 * surely nothing was done; E_UNKNOWN, it may have been: read back with STORE_READ_RUNS by nonce. */
#ifndef PEAL_STORE_H
#define PEAL_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "job.h"
#include "run.h"

struct store;

/* ---- requests ---- */

enum store_op {
    STORE_CLAIM,    /* own a tick; move the cursor past others */
    STORE_TAKE,     /* own a run that is DUE */
    STORE_BEGIN,    /* last step before the start */
    STORE_FINISH,   /* a run's end */
    STORE_FORGET,   /* the history has it */
    STORE_PUT_JOB,  /* create, change or delete a definition */
    STORE_ADD_RUN,  /* manual and backfill runs: QUEUED or DUE */
    STORE_ORDER,    /* tell the node that owns a run to kill it */
    STORE_SET_META, /* small facts of this node */
};

enum claim_result {
    CLAIM_STALE,   /* revision or cursor are not what the plan was made from: plan again */
    CLAIM_WON,     /* the run is ours */
    CLAIM_QUEUED,  /* overlap: queue; the run waits as QUEUED */
    CLAIM_SKIPPED, /* overlap: skip (or a full queue); a ledger entry was written instead */
    CLAIM_PASSED,  /* had no run: the cursor moved, the entries are written */
};

/* If the job's revision and cursor are `job_revision` and `cursor_ms`: the cursor becomes
 * `tick_ms`, the `passed` entries are written, and unless `without_run` the run is made, by the
 * overlap rule: allow    always CLAIMED skip     CLAIMED if no run of the job is open, else a
 * ledger entry (SKIPPED, OVERLAP) with the id `skip_entry_id` queue    CLAIMED if none is open,
 * else QUEUED, or (SKIPPED, QUEUE_FULL) when queue_limit wait replace  CLAIMED if none is open;
 * else all runs of the job that are QUEUED or DUE end as SKIPPED (REPLACED), this one is QUEUED,
 * and a STORE_CHANGE_KILL (REPLACED) is fed for each of the others "Open" is any run of the job
 * that is QUEUED, DUE, CLAIMED or BEGUN. At most one claim per job in a batch. */
struct store_claim {
    struct id job_uid;
    int64_t job_revision;
    int64_t cursor_ms;
    int64_t tick_ms; /* > cursor_ms */
    bool without_run;
    struct run run; /* the caller fills all but state; comes back as it was written */
    enum overlap_policy overlap;
    int queue_limit;
    struct id skip_entry_id;
    struct ledger_entry *passed; /* owned by the caller until done */
    size_t passed_count;
    enum claim_result result;
};

/* If the run is DUE and not_before_ms has come: it is CLAIMED by this node. */
struct store_take {
    struct id run_id;
    char node[64];
    uint64_t nonce;
    int64_t now_ms;
    bool taken;
    struct run run; /* as it was written */
};

/* If the run is CLAIMED with this nonce, and its job still has the revision that it was claimed
 * with (manual runs: still exists): BEGUN, with a new fence that is larger than every fence before.
 * Else `begun` is false and `refused` is the state that it is in instead; when it was ours and the
 * job was changed, paused or deleted meanwhile, the store ends it as SKIPPED (PAUSED or DELETED)
 * or, for a changed job, lets the caller run the new definition by setting job_revision to the new
 * one and begun to true. */
struct store_begin {
    struct id run_id;
    uint64_t nonce;
    bool begun;
    enum run_state refused;
    int64_t fence;
    int64_t job_revision;
};

/* The run's end: written whole, unless it has ended already with the same nonce (then it is a
 * repeat, and OK) or as LOST (then it is amended). Becomes the job's last run, and moves the oldest
 * QUEUED run of the job to DUE if nothing else of it is open. */
struct store_finish {
    struct run run; /* ended: state is an end */
    bool accepted;  /* false: no such run, or it is somebody else's now */
};

/* Ended runs and ledger entries, by id, that the history has acknowledged: removed. */
struct store_forget {
    struct id id;
    bool is_entry; /* a ledger entry, else a run */
};

enum put_result {
    PUT_OK,
    PUT_CONFLICT, /* the revision is not the expected one */
    PUT_EXISTS,   /* create: the name is taken */
    PUT_MISSING,  /* change: no such job */
};

/* Creates (expected_revision 0: the uid is new and the name must be free) or replaces a definition.
 * expected_revision -1: whatever it is now. A definition with deleted_ms set frees its name and is
 * no longer planned, and its QUEUED and DUE runs end as SKIPPED (DELETED); it is kept so that it
 * can be brought back (put again with deleted_ms 0), or removed for good with `purge`. `cursor_ms`
 * is the new cursor, or -1 to keep it; a cursor never moves back. */
struct store_put_job {
    struct id uid;
    const char *name;
    const char *json; /* job_encode_text(); copied */
    bool deleted;
    bool paused;
    bool purge;
    int64_t expected_revision;
    int64_t cursor_ms;
    enum put_result result;
    int64_t revision; /* PUT_OK: the new one; PUT_CONFLICT: the one it is */
};

/* Adds a run that no tick made. It is DUE, or by the overlap rule QUEUED, or not made (added false,
 * `open_run` is in the way). A (job, tick, attempt) that exists already is not made again. */
struct store_add_run {
    struct run run;
    enum overlap_policy overlap;
    int queue_limit;
    bool added;
    struct id open_run;
};

struct store_order {
    struct id run_id;
    enum run_reason reason; /* USER, REPLACED */
    char by[64];
    bool known; /* such a run is open */
};

struct store_set_meta {
    char key[32];
    char value[128];
};

struct store_request {
    enum store_op op;
    size_t count;
    union {
        struct store_claim *claims;
        struct store_take *takes;
        struct store_begin *begins;
        struct store_finish *finishes;
        struct store_forget *forgets;
        struct store_put_job *puts;
        struct store_add_run *adds;
        struct store_order *orders;
        struct store_set_meta *metas;
    } items; /* the caller's; untouched by anyone else until done */
    void (*done)(struct store_request *request, enum status st);
    void *context;
    struct store_request *next; /* the store's, while it holds the request */
};

/* ---- the change feed: the only way from the store back to planning ---- */

enum store_change_kind {
    STORE_CHANGE_JOB,    /* put or restored: job_* are set */
    STORE_CHANGE_DELETE, /* deleted or purged: job_uid */
    STORE_CHANGE_CURSOR, /* moved by somebody else, or the job's last run changed */
    STORE_CHANGE_RUN,    /* a run is new or has a new state: run is set */
    STORE_CHANGE_ENTRY,  /* a ledger entry waits to be recorded: entry is set */
    STORE_CHANGE_KILL,   /* run.id is to be killed, with run.reason and run.by */
    STORE_CHANGE_META,   /* only while loading: meta is set */
    STORE_CHANGE_LOADED, /* everything that was there at the start has been fed */
};

/* Pointers are good until the next call of store_next_change. */
struct store_change {
    enum store_change_kind kind;
    struct id job_uid;
    int64_t job_revision;
    int64_t cursor_ms;
    struct last_run last; /* of the job */
    const char *job_name;
    const char *job_json;
    bool job_deleted; /* LOADED and JOB: kept for undelete, not planned */
    const struct run *run;
    const struct ledger_entry *entry;
    const struct store_set_meta *meta;
};

/* ---- the contract ---- */

struct store_ops {
    void (*submit)(struct store *store, struct store_request *request);
    void (*dispatch)(struct store *store);
    bool (*next_change)(struct store *store, struct store_change *ret);
    enum status (*health)(struct store *store, struct strbuf *why);
    struct store *(*free)(struct store *store);
};

/* Backends embed this as their first member. */
struct store {
    const struct store_ops *ops;
};

static inline void store_submit(struct store *store, struct store_request *request)
{
    store->ops->submit(store, request);
}

/* Calls `done` of what has been answered since. */
static inline void store_dispatch(struct store *store)
{
    store->ops->dispatch(store);
}

/* First everything there is (metas, jobs, open and unrecorded runs, entries), then LOADED, then
 * what changes, own changes included, in the order of the store. False: nothing new now. */
static inline bool store_next_change(struct store *store, struct store_change *ret)
{
    return store->ops->next_change(store, ret);
}

/* OK, or what is wrong (E_UNREACHABLE, E_IO: disk full ...) and in *why words with a next step.
 * While it is not OK nothing is claimed. */
static inline enum status store_health(struct store *store, struct strbuf *why)
{
    return store->ops->health(store, why);
}

/* Waits for what was submitted; requests that can't be done any more are answered E_UNREACHABLE. */
static inline struct store *store_free(struct store *store)
{
    return store ? store->ops->free(store) : NULL;
}

/* ---- backends ---- */

/* How a backend asks its owner to call store_dispatch and store_next_change soon, from any thread.
 */
struct store_wake {
    void (*wake)(void *context);
    void *context;
};

/* For tests and simulations. Nothing is kept. */
MUST_CHECK enum status store_memory_new(struct store_wake wake, struct store **ret);

/* DIR/peal.db. E_BUSY: another process has it (*why names its pid); E_VERSION: written by a newer
 * peal; E_CORRUPT: damaged; E_IO. *why says what to do; nothing is overwritten. */
MUST_CHECK enum status store_sqlite_open(const char *dir, struct store_wake wake,
                                         struct store **ret, struct strbuf *why);

#endif
