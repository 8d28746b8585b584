/* The store: what all nodes must agree on. Jobs, cursors, open runs, small documents, and the
 * ledger entries and ended runs that the history has not taken over yet. A domain contract, not a
 * key-value API; each backend does it its native way, and test/contract/store_contract.c runs
 * against all of them.
 *
 * One thread (the loop's) calls everything here. A request is submitted, and answered later from
 * store_dispatch(), in the order of submission, through its `done`. `done` only stores the result
 * and asks for a step; it may submit further requests.
 *
 * Each item of a batch succeeds or fails by itself, in order; what one item does is atomic and
 * durable when `done` is called with OK. Any other status is for the whole request, whose results
 * then mean nothing. E_UNKNOWN: it may have been done; submit it again, which is harmless: a claim
 * that was done is STALE and the feed has its run, a begin is refused as BEGUN, the others answer
 * as before. All others (E_UNREACHABLE, E_IO ...): surely nothing was done. */
#ifndef PEAL_STORE_H
#define PEAL_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "boot_mark.h"
#include "job.h"
#include "peer.h"
#include "rewinds.h"
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
    STORE_DRAIN,    /* a node is to take nothing new, or may again */
    STORE_PUT_DOC,  /* create, change or delete a document */
    STORE_REWIND,   /* move a cursor back, because the clock was set back */
};

enum claim_result {
    CLAIM_STALE,   /* revision or cursor are not what the plan was made from: plan again */
    CLAIM_WON,     /* the run is ours */
    CLAIM_QUEUED,  /* overlap: queue; the run waits as QUEUED */
    CLAIM_SKIPPED, /* overlap: skip (or a full queue); a ledger entry was written instead */
    CLAIM_PASSED,  /* had no run: the cursor moved, the entries are written */
};

/* The ledger entries that a claim or a change of a job brings along are at most so many: they are
 * written together with it, and a transaction of etcd has a limit. */
enum { STORE_PASSED_MAX = 32 };

/* If the job's revision and cursor are `job_revision` and `cursor_ms`, the cursor was moved back
 * `rewinds` times, and the job is not deleted: the cursor becomes `tick_ms`, the `passed` entries
 * are written, and unless `without_run` the run is made, by the overlap rule: allow    always
 * CLAIMED skip     CLAIMED if no run of the job is open, else a ledger entry (SKIPPED, OVERLAP)
 *     queue    CLAIMED if none is open, else QUEUED; an entry (SKIPPED, QUEUE_FULL) when
 *              queue_limit of them are QUEUED already
 *     replace  CLAIMED if none is open; else all that are QUEUED or DUE end as SKIPPED (REPLACED)
 *              and a STORE_CHANGE_KILL (REPLACED) is fed for each of the others; this one is QUEUED
 *              behind those, CLAIMED if there are none
 * "Open" is any run of the job that is QUEUED, DUE, CLAIMED or BEGUN, or in a state that only a
 * newer peal has: such a run is in the way of others, but here and below it is nobody's to take,
 * begin, kill, end or forget. A run of this job, tick and attempt that is there already (a backfill
 * came first) is not made again: CLAIM_PASSED. The entry of a skipped tick has the id
 * `skip_entry_id` and was recorded at run.claimed_ms. At most one claim of a job's tick in a batch.
 * A claim whose run is there, and not begun yet, is a repeat: the result is that of the first.
 *
 * A claim of a `boot` is not of the job's ticks: the cursor is neither compared nor moved. Instead
 * the document that says whether the boot is decided must have the revision `boot.revision`, and is
 * written together with the run, or with the entries; else somebody was faster: CLAIM_PASSED,
 * unless it is a repeat. The run has the first millisecond from tick_ms on that has no run of the
 * job yet; `by` is the node that booted, and open runs of other nodes' boots are not in its way.
 * Without a run the job may be deleted, or gone (job_revision 0).
 *
 * A run that the store ends by itself (SKIPPED, here and below) never started: it has no
 * finished_ms, is not the job's last run, and stays until it is forgotten, like any ended run. */
struct store_claim {
    struct id job_uid;
    int64_t job_revision;
    int64_t cursor_ms, rewinds;
    int64_t tick_ms; /* > cursor_ms */
    struct store_boot {
        char name[BOOT_NAME_SIZE]; /* of its BOOT_DOC; empty: it is a claim of a tick */
        int64_t revision;
        struct boot_mark mark; /* what it becomes: is_due is false */
    } boot;
    bool without_run;
    struct run run; /* the caller fills all but state, which comes back as it was written. While
                       QUEUED it is nobody's: without node, nonce and claimed_ms */
    enum overlap_policy overlap;
    int queue_limit;
    struct id skip_entry_id;
    struct ledger_entry *passed; /* owned by the caller until done */
    size_t passed_count;         /* at most STORE_PASSED_MAX */
    enum claim_result result;
};

/* How far ahead of a right clock a tick can be claimed: its lead, and the skew of two clocks. One
 * that is further ahead was claimed by a clock that has been set back since, and is due now. */
enum { STORE_AHEAD_MS = 2000 };

/* If the run is DUE and not_before_ms has come, or its tick is more than STORE_AHEAD_MS ahead of
 * now_ms: it is CLAIMED by this node, for the definition that its job has now. So is one that is
 * CLAIMED with the nonce `from_nonce`, whether its owner lives or not: the nonce is another one
 * then, and the owner's begin is refused. */
struct store_take {
    struct id run_id;
    uint64_t from_nonce; /* 0: the run is DUE */
    char node[64];
    struct incarnation owner;
    uint64_t nonce;
    int64_t now_ms;
    bool taken;
    struct run run; /* as it was written */
};

/* If the run is CLAIMED with this nonce: BEGUN, with a new fence that is larger than every fence
 * before, and with `job_revision` of the definition that its job has now, which is the one to
 * start. But if the job is deleted or gone, or paused (manual and backfill runs: may be paused), or
 * somebody has ordered the run to be killed, the store ends it as SKIPPED (DELETED, PAUSED, or the
 * order's reason). Not begun: `refused` is the state that it is in; RUN_STATES: there is no such
 * run. One that is BEGUN with this nonce stays as it is (a repeat): this begin, or one before it
 * whose answer was lost, has done it. */
struct store_begin {
    struct id run_id;
    uint64_t nonce;
    bool begun, is_repeat;
    enum run_state refused;
    int64_t fence;
    int64_t job_revision;
};

/* Another job that must have ended as wanted, before the next one is made due. */
struct store_need {
    struct id job_uid;
    unsigned states; /* of its last run: a bit for each one wanted, 1 << state */
};

/* The jobs of a finish's nexts and of all their needs, each counted once, are at most so many: not
 * every store can do more in one go. */
enum { STORE_NEXT_JOBS_MAX = 96 };

/* A job that waits for the ends of others, of which this may be the last. If the run ends in one of
 * `states`, and each of the needs has a last run that ended in one of its own and later than this
 * job's cursor, then the job is due: tick_ms, which is when the run finished, or the first
 * millisecond after the cursor that has no run yet if that is later, becomes the cursor (up to
 * rewinds.high_ms the first one after that is the tick, so that no two have the same), and the
 * run is made: DUE where a claim would be CLAIMED, or by the overlap rule QUEUED, or an entry as
 * with a claim. Nothing of a job that is deleted or gone. */
struct store_next {
    struct id job_uid;        /* not the job of the run that ends, and only once in a finish */
    struct store_need *needs; /* owned by the caller until done */
    size_t need_count;
    struct run run; /* the caller fills all but state and tick_ms, which come back as written; node
                       and claimed_ms are for the entry: a run that is made is nobody's */
    unsigned states;
    enum overlap_policy overlap;
    int queue_limit;
    struct id skip_entry_id;
    bool made; /* a run or an entry */
};

/* The end of a run that has this nonce (0 while it is QUEUED or DUE): written whole, but for what
 * the run is (job, tick, attempt, cause, fence). One that has ended already stays as it is (a
 * repeat), unless it was LOST: then it is amended, also from NODE_DIED to SPAWNER_DIED or RESTORED,
 * but from RESTORED only by the end of a run that has started. Accepted, `run` comes back as it is
 * on record, which is what belongs into the history: the end before a repeat may be another one.
 * Becomes the job's last run, unless that finished later. Whenever a run ends, here or elsewhere,
 * the oldest QUEUED run of the job becomes DUE if nothing else of it is open.
 *
 * The nexts are made due with it, or not at all: a repeat makes none, and an amended end none that
 * the loss was good enough for already. A next is what its job's definition says: is that not
 * run.job_revision of the next any more, nothing is done, and the finish has to be filled anew. */
struct store_finish {
    struct run run;           /* ended: state is an end */
    struct store_next *nexts; /* owned by the caller until done */
    size_t next_count;
    bool accepted; /* false: no such run, or it is somebody else's now, or: */
    bool is_stale; /* the job of a next has changed */
};

/* Ended runs and ledger entries, by id, that the history has acknowledged: removed. Open runs stay,
 * and what is gone already is no error. */
struct store_forget {
    struct id id;
    bool is_entry; /* a ledger entry, else a run */
};

/* The clock was set back to `to_ms`, and the job is ahead of it. If the cursor is still `cursor_ms`
 * and was moved back `rewinds` times: it is moved back to to_ms, if it is later, and `entry` is
 * written, the note that it was; what the cursor went past before, and what of it was not started,
 * stays known (rewinds.h). The times of the last run are at most to_ms from then on, so that what
 * counts from its end goes on; the history has the true ones. Also of a deleted job. */
struct store_rewind {
    struct id job_uid;
    int64_t cursor_ms, rewinds;
    int64_t to_ms;
    struct ledger_entry entry;
    bool done; /* false: it is not as it was seen, or not ahead */
};

enum put_result {
    PUT_OK,
    PUT_CONFLICT, /* the revision is not the expected one */
    PUT_EXISTS,   /* the name is taken (create, rename, bring back) */
    PUT_MISSING,  /* change, purge: no such job */
};

/* Creates (expected_revision 0: the uid is new and the name must be free) or replaces a definition.
 * expected_revision -1: whatever it is now. `deleted` frees its name, it is no longer planned, and
 * its QUEUED and DUE runs end as SKIPPED (DELETED); it is kept so that it can be brought back (put
 * again without `deleted`), or removed for good with `purge`, which needs neither name nor json.
 * `cursor_ms` is the new cursor, or -1 to keep it; it is not moved back by this. What it goes past
 * was not started, unless the job comes `from_elsewhere` with it.
 *
 * Ticks that were due by the definition before, and that the new cursor leaves behind, are in
 * `passed`, counted from the cursor `seen_cursor_ms` on. Has that moved meanwhile, nothing is done:
 * PUT_CONFLICT, with the revision that was expected. */
struct store_put_job {
    struct id uid;
    const char *name;
    const char *json; /* job_encode_text(); copied */
    bool deleted;
    bool paused;
    bool purge;
    bool from_elsewhere; /* created with the cursor that it had in another store */
    int64_t expected_revision;
    int64_t cursor_ms;
    int64_t seen_cursor_ms;
    struct ledger_entry *passed; /* owned by the caller until done */
    size_t passed_count;         /* at most STORE_PASSED_MAX */
    enum put_result result;
    int64_t revision; /* PUT_OK: the new one; PUT_CONFLICT: the one it is */
};

/* Adds a run that no tick made. It is DUE where a claim would be CLAIMED, or by the overlap rule
 * QUEUED, or not made: added is false, `open_run` is in the way; zero: the job is deleted or gone.
 * A (job, tick, attempt) that exists already is in its own way; the same run id is a repeat. */
struct store_add_run {
    struct run run; /* the caller fills all but state, node, nonce and claimed_ms */
    enum overlap_policy overlap;
    int queue_limit;
    bool added;
    struct id open_run;
};

/* A STORE_CHANGE_KILL is fed, now and after every restart while the run is open. A run that nobody
 * owns yet, QUEUED or DUE, ends as SKIPPED with this reason at once. */
struct store_order {
    struct id run_id;
    enum run_reason reason; /* USER, REPLACED */
    char by[64];
    bool known; /* such a run is open */
};

/* Holds until it is taken back, also while the node is away. */
struct store_drain {
    char node[64];
    bool drained;
    char by[64];
};

struct store_set_meta {
    char key[32];
    char value[128];
};

/* Documents: small named values that all nodes share, such as accounts. The store does not look
 * into them. */
enum { DOC_KIND_SIZE = 16, DOC_NAME_SIZE = 128, DOC_JSON_MAX = 64 * 1024 };

struct store_doc {
    char kind[DOC_KIND_SIZE]; /* [a-z-]: who reads it */
    char name[DOC_NAME_SIZE]; /* of one kind, no two have the same */
    const char *json;         /* NULL: it was deleted */
    int64_t revision;         /* 1 when it is made, one more with each change */
};

/* Creates (expected_revision 0), replaces (the revision that it has) or, whatever is there, writes
 * (-1) a document. Without json it is deleted; one that is not there is PUT_MISSING then. Over
 * DOC_JSON_MAX bytes: E_TOO_LARGE. */
struct store_put_doc {
    char kind[DOC_KIND_SIZE];
    char name[DOC_NAME_SIZE];
    const char *json; /* copied */
    int64_t expected_revision;
    enum put_result result; /* not EXISTS, which is a CONFLICT here */
    int64_t revision;       /* PUT_OK: the new one; PUT_CONFLICT: the one it is */
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
        struct store_drain *drains;
        struct store_put_doc *docs;
        struct store_rewind *rewinds;
    } items; /* the caller's; untouched by anyone else until done */
    void (*done)(struct store_request *request, enum status st);
    void *context;
    /* The store's, while it holds the request. */
    struct store_request *next;
    enum status answer;
    bool is_touched; /* some of it may be done */
    size_t left;     /* items that are not done */
    uint64_t number; /* of its first item */
};

/* ---- the change feed: the only way from the store back to planning ---- */

enum store_change_kind {
    STORE_CHANGE_JOB,    /* put or restored: job_* are set */
    STORE_CHANGE_DELETE, /* deleted (job_* are set) or purged (job_uid; no job_json) */
    STORE_CHANGE_CURSOR, /* the cursor was moved or the job's last run changed: job_uid,
                            job_revision, cursor_ms, rewinds, last. In order are (rewinds.count,
                            cursor_ms): the cursor alone goes back when the clock is set back */
    STORE_CHANGE_RUN,    /* a run is new or has a new state: run is set */
    STORE_CHANGE_ENTRY,  /* a ledger entry waits to be recorded: entry is set */
    STORE_CHANGE_FORGET, /* a run or an entry is recorded and gone: gone_id */
    STORE_CHANGE_KILL,   /* run.id is to be killed, with run.reason and run.by */
    STORE_CHANGE_META,   /* only while loading: meta is set */
    STORE_CHANGE_PEER,   /* a node came, spoke or left: peer is set */
    STORE_CHANGE_DRAIN,  /* a node is to take nothing new, or may again: drain is set */
    STORE_CHANGE_LEADER, /* another node leads, or nobody: leader */
    STORE_CHANGE_DOC,    /* a document was put or deleted: doc is set */
    STORE_CHANGE_ASIDE,  /* a value was found that can't be read, or is not there any more: aside */
    STORE_CHANGE_LOADED, /* everything that was there at the start has been fed */
};

/* A value that can't be read: damaged, of something else, or of a version that this peal does not
 * know. It is left as it is and never written, and the rest goes on without it. A job of whose
 * definition or cursor this holds is not there for the feed and for requests; its runs can end. */
struct store_aside {
    const char *key; /* as in the store: "cursors/01J..." */
    enum status why; /* E_CORRUPT; E_VERSION: of a newer peal. ASIDE: OK when it is so no more */
};

/* Where in the history of a store something happened: the same on all nodes, and never going back,
 * not even when the store is restored. What one write did has one place. */
struct store_place {
    uint64_t lineage; /* whose history it is; 0: no other node shares it, and there is no number */
    int64_t number;
};

/* Pointers are good until the next call of store_next_change. */
struct store_change {
    enum store_change_kind kind;
    struct store_place place; /* of what was found by listing: when it was listed */
    struct id job_uid;
    int64_t job_revision;
    int64_t cursor_ms;
    struct rewinds rewinds; /* of the cursor */
    struct last_run last;   /* of the job */
    const char *job_name;
    const char *job_json;
    bool job_deleted; /* JOB, only while loading: kept for undelete, not planned. DELETE: true */
    const struct run *run;
    const struct ledger_entry *entry;
    const struct store_set_meta *meta;
    struct id gone_id;
    const struct peer *peer;
    const struct store_drain *drain;
    const char *leader; /* a node's name; empty: nobody leads */
    const struct store_doc *doc;
    struct store_aside aside;
};

/* ---- the contract ---- */

struct store_ops {
    void (*submit)(struct store *store, struct store_request *request);
    void (*dispatch)(struct store *store);
    bool (*next_change)(struct store *store, struct store_change *ret);
    enum status (*announce)(struct store *store, const struct peer *self);
    bool (*leads)(const struct store *store);
    enum status (*health)(struct store *store, struct strbuf *why);
    size_t (*each_aside)(const struct store *store,
                         void (*visit)(void *context, const struct store_aside *aside),
                         void *context); /* NULL: never one */
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

/* First everything there is (metas, drains, docs, peers, jobs, open and unrecorded runs, entries),
 * then LOADED, then what changes, own changes included, in the order of the store. Own changes are
 * there when `done` of their request is called. False: nothing new now. */
static inline bool store_next_change(struct store *store, struct store_change *ret)
{
    return store->ops->next_change(store, ret);
}

/* What this node says of itself. The first time it joins: from then on it is alive for the others
 * (and, through the feed, for itself) until the store has not heard of it for 5 s or is freed; each
 * further time the news is passed on. A store that is away joins again by itself with what was said
 * last. Only those that peer_can_lead can. Not waited for, so what it answers is only whether it
 * could be noted: E_NOMEM. A node that another agent has joined under the same name is not let in:
 * store_health is E_CONFLICT. */
MUST_CHECK static inline enum status store_announce(struct store *store, const struct peer *self)
{
    return store->ops->announce(store, self);
}

/* True only while it is sure that no other node can lead. One node does the chores that need one
 * hand; another takes over within the 5 s. */
static inline bool store_leads(const struct store *store)
{
    return store->ops->leads(store);
}

/* OK, or what is wrong (E_UNREACHABLE, E_IO: disk full ..., E_CORRUPT) and in *why words with a
 * next step. While it is not OK nothing is claimed; it may become OK again by itself. A store that
 * is only short of room still takes requests, so that runs can finish. */
static inline enum status store_health(struct store *store, struct strbuf *why)
{
    return store->ops->health(store, why);
}

/* What is set aside now; how many. `visit` may be NULL. */
static inline size_t store_each_aside(const struct store *store,
                                      void (*visit)(void *context, const struct store_aside *aside),
                                      void *context)
{
    return store->ops->each_aside ? store->ops->each_aside(store, visit, context) : 0;
}

/* Waits for what was submitted, and answers it; what is submitted meanwhile, from within `done`, is
 * answered E_UNREACHABLE. A node that has joined leaves at once, unless it said last that it is
 * PEER_STOPPING with some `running`: then the others see it for 5 s more, so that those runs are
 * still its own if its agent is only restarted. */
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

/* For tests and simulations. Nothing is kept. Requests are done in store_dispatch. */
MUST_CHECK enum status store_memory_new(struct store_wake wake, struct store **ret);

/* Another node's view of what `other` holds, which lives until the last of them is freed. */
MUST_CHECK enum status store_memory_attach(struct store *other, struct store_wake wake,
                                           struct store **ret);

/* As if the store had not heard of this node for 5 s: it is gone for the others, and does not lead.
 * It is back with its next store_announce. */
void store_memory_expire(struct store *store);

/* Feeds everything anew, as to an agent that has just started. */
void store_memory_reload(struct store *store);

/* DIR/peal.db, with a thread of its own; DIR is made if need be. E_BUSY: another process has it
 * (*why names its pid); E_VERSION: written by a newer peal; E_CORRUPT: damaged; E_IO; E_NOMEM. *why
 * says what to do; nothing is overwritten. */
MUST_CHECK enum status store_sqlite_open(const char *dir, struct store_wake wake,
                                         struct store **ret, struct strbuf *why);

#endif
