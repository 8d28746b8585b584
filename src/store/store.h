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
 * are then undefined. E_UNKNOWN: it may have been done; submit it again, which is harmless: a claim
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
#include "store_steps.h"

struct store;

/* ---- requests ---- */

enum store_op {
    STORE_CLAIM,    /* own a tick; move the cursor past others */
    STORE_TAKE,     /* own a run that is DUE */
    STORE_BEGIN,    /* last step before the start */
    STORE_FINISH,   /* a run's end */
    STORE_FORGET,   /* remove a recorded run or entry */
    STORE_PUT_JOB,  /* create, change or delete a definition */
    STORE_ADD_RUN,  /* a manual or backfill run: QUEUED or DUE */
    STORE_ORDER,    /* order the owner of a run to kill it */
    STORE_SET_META, /* metadata of this node */
    STORE_DRAIN,    /* begin or end the drain of a node */
    STORE_PUT_DOC,  /* create, change or delete a document */
    STORE_REWIND,   /* move a cursor back after the clock was set back */
    STORE_CONFIRM,  /* is what the feed has told all that there is? Of one item, without members */
};

enum claim_result {
    CLAIM_STALE,   /* revision or cursor differ from those of the plan: plan again */
    CLAIM_WON,     /* this node owns the run */
    CLAIM_QUEUED,  /* overlap: queue; the run waits as QUEUED */
    CLAIM_SKIPPED, /* overlap: skip (or a full queue); a ledger entry was written instead */
    CLAIM_PASSED,  /* no run: the cursor was moved and the entries were written */
    CLAIM_SPREAD,  /* the parts of the tick are DUE, for whoever may take them; or the run is, which
                      waits for a slot of its groups */
};

/* The runs of a tick that is spread over several: parts, each with its own id and perhaps for one
 * node alone, but for their number otherwise the same. They are DUE; claimed_ms is when they were
 * made. Each ends by itself, with attempts of its own. The tick is over with the last of them, and
 * its result is the worst of their ends (run_worse_end): only the end of that part sets `outcome`,
 * becomes the job's last run, with the outcome as its state, and makes nexts, by the outcome. Until
 * then an open part keeps the worst end so far. A part that is amended later is so by itself alone.
 * If the last part is ended by the store, before its start, nobody has told what follows: the part
 * has the outcome and no finished_ms (run_is_unfollowed). The first STORE_FINISH of it, by whoever
 * is to record it, sets finished_ms and nothing else of it, makes it the job's last run, and makes
 * the nexts, in one transaction; all later ones are repeats.
 *
 * With `at_once` the tick is rolling: so many parts are DUE, and the others QUEUED, with no
 * claimed_ms. They wait for their turn, not for other ticks: they count as open, and not as QUEUED
 * in the overlap rule. Whenever a part that was not waiting is over with all its attempts, however
 * it ended and whoever wrote that, the next one, in the order of their numbers, becomes DUE in the
 * same transaction. But if it `stops` and the part was not OK, all that wait end as SKIPPED
 * (PART_FAILED) instead; likewise, with its reason, if the part was skipped because the job was
 * paused, deleted or replaced. A part that is ended while it waits makes room for nobody. */
struct store_part {
    struct id id;
    char pinned[64]; /* empty: any node that is eligible */
};

struct store_parts {
    struct store_part *parts; /* owned by the caller until done */
    size_t count;             /* at most RUN_PARTS_MAX; 0: the tick has one run */
    size_t at_once;           /* that are under way at the same time; 0: all */
    bool stops;               /* rolling: at the first that is not OK */
};

/* Limit of ledger entries with a claim or a change of a job: they are written in the same
 * transaction, whose size is limited in etcd. */
enum { STORE_PASSED_MAX = 32 };

/* Slots of groups (group/group.h). A run that has groups holds a slot in each of them while it is
 * CLAIMED or BEGUN, and no longer: its end, also as LOST, gives them back in the same transaction.
 *
 * A claim or a take of such a run brings the limits of its groups, as the definition of the run and
 * the documents of the groups say. If a document has another revision (0: there is none), the
 * limits are out of date: the claim is STALE, the take not done. Else the run gets its slots, if in
 * no group so many other runs have one, on all nodes, on its own or on those that have the same
 * label. With its slots it gets the labels: by them, and not by the names of nodes, the store knows
 * who has the same one (groups_count_for). Of a claim, no run that waits, has a group in common
 * with it and goes before it may be DUE by then (run_goes_before).
 *
 * A claim that gets no slots makes the run DUE (CLAIM_SPREAD), and a take leaves it so: it waits
 * for whoever takes it when a slot is free. Whose turn it is, nodes see by run_goes_before. What
 * opens an instance, a fan-out or the parts of a tick needs no slots; the parts do, each its own.
 * Nor does a take that is only to end the run, which then has no groups. Who takes a claimed run
 * over needs its slots as others do; those that it has are not in its way. */
struct store_slot {
    char group[GROUP_NAME_MAX + 1];
    int64_t revision;          /* of the GROUP_DOC; 0: none */
    int cluster, node;         /* limits; 0: none */
    int alike[RUN_LABELS_MAX]; /* on the nodes that have this label of store_slots; 0: none */
};

struct store_slots {
    struct store_slot items[RUN_GROUPS_MAX];
    size_t count;
    char labels[RUN_LABELS_SIZE]; /* of the run's node, that limits are by: "rack=7 zone=eu" */
};

/* If the job's revision and cursor are `job_revision` and `cursor_ms`, the cursor was moved back
 * `rewinds` times, and the job is not deleted: the cursor becomes `tick_ms`, the `passed` entries
 * are written, and unless `without_run` the run is made, by the overlap rule:
 *     allow    CLAIMED, unless `at_once` ticks of the job are open: then an entry, as with skip
 *     skip     CLAIMED if no run of the job is open, else a ledger entry (SKIPPED, OVERLAP)
 *     queue    CLAIMED if none is open, else QUEUED; an entry (SKIPPED, QUEUE_FULL) when
 *              queue_limit of them are QUEUED already
 *     replace  CLAIMED if none is open; else all that are QUEUED or DUE end as SKIPPED (REPLACED)
 *              and a STORE_CHANGE_KILL (REPLACED) is fed for each of the others; this one is QUEUED
 *              behind those, CLAIMED if there are none
 * "Open" is any run of the job that is QUEUED, DUE, CLAIMED or BEGUN, or in an unknown state of a
 * newer version: such a run blocks others, but this version must not take, begin, kill, end or
 * forget it. If a run of this job, tick and attempt exists already (from a backfill), none is made:
 * CLAIM_PASSED. Where it would be CLAIMED and there are `parts`, those are made (CLAIM_SPREAD); one
 * that waits in the queue becomes them when it is taken. The entry of a skipped tick has the id
 * `skip_entry_id` and recorded_ms run.claimed_ms. At most one claim of a job's tick in a batch. A
 * claim whose run exists and is not begun yet is a repeat: the result is that of the first.
 *
 * With `conditions` all of them must hold, or with `expects_unmet` at least one must not; else it
 * is STALE, too: the feed that the plan was made from is behind.
 *
 * With `begins`, a run that would be CLAIMED is BEGUN in the same transaction, as by a STORE_BEGIN
 * with its nonce, whose window then counts from this request: run.state and run.fence say so. A
 * store whose fences are known only when a transaction is done leaves it CLAIMED. Neither for a
 * boot, nor with parts or an opening.
 *
 * A claim of a `boot` neither compares nor moves the cursor. Instead the document of the boot mark
 * must have the revision `boot.revision`, and is written together with the run or the entries; else
 * the boot is decided already: CLAIM_PASSED, unless it is a repeat. The run's tick is the first
 * millisecond from tick_ms on without a run of the job; `by` is the node that booted, and open runs
 * of other nodes' boots do not block it. Without a run the job may be deleted or purged
 * (job_revision 0).
 *
 * A run that the store ends by itself (SKIPPED, here and below) never started: it has no
 * finished_ms, is not the job's last run, and stays until STORE_FORGET, like any ended run. The
 * last part of a tick gets both with a finish: see struct store_part. */
/* A job whose last end, or last success, must not be older than that (only_if_is_met). */
struct store_condition {
    struct id job_uid; /* zero: there is none, and it does not hold */
    unsigned states;
    int64_t since_ms;
};

struct store_claim {
    struct id job_uid;
    int64_t job_revision;
    int64_t cursor_ms, rewinds;
    int64_t tick_ms; /* > cursor_ms */
    struct store_boot {
        char name[BOOT_NAME_SIZE]; /* of the BOOT_DOC; empty: a claim of a tick */
        int64_t revision;
        struct boot_mark mark; /* the new mark: is_due is false */
    } boot;
    bool without_run;
    bool begins;
    struct run run; /* the caller fills all but state, which is set to the stored one. A QUEUED run
                       has no owner: no node, nonce and claimed_ms */
    struct store_parts parts;     /* the first has the id of `run`; not for a boot */
    struct store_opening opening; /* of a workflow: result is CLAIM_SPREAD, run.state RUNNING */
    struct store_slots slots;     /* of run.groups */
    enum overlap_policy overlap;
    int queue_limit;
    int at_once; /* of OVERLAP_ALLOW; 0: any number */
    struct id skip_entry_id;
    struct store_condition *conditions; /* owned by the caller until done; not for a boot */
    size_t condition_count;             /* at most ONLY_IF_MAX */
    bool expects_unmet;          /* the claim passes over ticks for which one does not hold */
    struct ledger_entry *passed; /* owned by the caller until done */
    size_t passed_count;         /* at most STORE_PASSED_MAX */
    enum claim_result result;
};

/* How far ahead of a right clock a tick can be claimed: the lead, and the skew of two clocks. A
 * tick that is further ahead was claimed by a clock that has been set back since, and is due
 * now. */
enum { STORE_AHEAD_MS = 2000 };

/* If the run is DUE and not_before_ms has come, or its tick is more than STORE_AHEAD_MS ahead of
 * now_ms: it becomes CLAIMED by this node, with the job's current definition. So does a run that is
 * CLAIMED with the nonce `from_nonce`, whether its owner is alive or not: the nonce changes, and
 * the owner's begin is refused.
 *
 * A run that may still be spread (run_may_be_spread) is taken only if the definition has the
 * revision `job_revision`, which says whether it is. If so there are `parts`: it becomes the first
 * of them, still DUE, and the others are made.
 *
 * With an `opening` the run must be DUE, and becomes RUNNING; if its begin would be refused, it
 * ends as SKIPPED instead, and `taken` is false. To become an instance it is taken only if the
 * definition has the revision `job_revision`; not a further attempt or a part, of a job that was
 * something else. A step keeps the job_revision of its instance: `job_revision` is 0. */
struct store_take {
    struct id run_id;
    int64_t job_revision;         /* 0: the run is taken to be ended */
    struct store_parts parts;     /* the first has the id of the run */
    struct store_opening opening; /* the run, which is DUE, becomes RUNNING, without an owner */
    uint64_t from_nonce;          /* 0: the run is DUE */
    char node[64];
    struct incarnation owner;
    uint64_t nonce;
    int64_t now_ms;
    char groups[RUN_GROUPS_SIZE]; /* as run.groups and run.priority, by the definition now */
    int priority;
    struct store_slots slots; /* of `groups` */
    bool ends;                /* it is only to be ended: it needs no slots */
    bool taken;
    struct run run; /* as stored; DUE: it was spread */
};

/* If the run is CLAIMED with this nonce: BEGUN, with a new fence that is larger than all before,
 * and with the `job_revision` of the job's current definition, which is the one to start. But if
 * the job is deleted or purged, or paused (unless the run is manual or a backfill), or a kill of
 * the run was ordered, the store ends it as SKIPPED (DELETED, PAUSED, or the order's reason). Of a
 * step, `job_revision` stays that of its instance, and a pause does not matter, but an order for
 * the instance does, unless the step has is_final; if the instance is over, it ends as SKIPPED
 * (NOT_NEEDED). Not begun: `refused` is the run's state; RUN_STATES: no such run. A run that is
 * BEGUN with this nonce is a repeat: this begin, or an earlier one whose answer was lost, has done
 * it. */
struct store_begin {
    struct id run_id;
    uint64_t nonce;
    bool begun, is_repeat;
    enum run_state refused;
    int64_t fence;
    int64_t job_revision;
};

/* A further job whose last run must have ended in one of these states before the next is due. */
struct store_need {
    struct id job_uid;
    unsigned states; /* accepted end states of its last run, as bits 1 << state */
};

/* Limit of distinct jobs in a finish's nexts and their needs, which must fit into one
 * transaction. */
enum { STORE_NEXT_JOBS_MAX = 96 };

/* A job that waits for the ends of others, of which this may be the last. If the run ends in one of
 * `states`, and the last run of each need ended in one of the need's states and later than this
 * job's cursor, then the job is due. Its tick is the time when the run finished, or the first
 * millisecond after the cursor without a run, if that is later; it becomes the cursor. (Up to
 * rewinds.high_ms the tick is the first one after that, so that no tick repeats.) The run is made
 * DUE where a claim would be CLAIMED, or by the overlap rule QUEUED, or an entry is written as with
 * a claim. Nothing happens for a job that is deleted or purged. */
struct store_next {
    struct id job_uid;        /* not the job of the ending run, and only once per finish */
    struct store_need *needs; /* owned by the caller until done */
    size_t need_count;
    struct run run; /* the caller fills all but state and tick_ms, which are set to the stored ones;
                       node and claimed_ms are for the entry: a new run has no owner */
    unsigned states;
    enum overlap_policy overlap;
    int queue_limit;
    int at_once; /* of OVERLAP_ALLOW; 0: any number */
    struct id skip_entry_id;
    bool made; /* a run or an entry was written */
};

/* The next attempt at the tick of a run that ends. If `is_wanted`, and the run was not retried
 * before, was not lost by a restore, is not a part that was lost and is amended, has no next
 * attempt already (from a backfill), and its job is neither deleted nor paused (a manual or
 * backfill run does not mind a pause): a run with this id, the next attempt, is made DUE at
 * not_before_ms, and no nexts are made: the tick has not ended. A step is retried whatever has
 * become of the definition, but not if its instance has ended or is to be killed. Whatever the
 * overlap rule says, the tick goes on; the queue of the job waits for its last attempt. The
 * definition that says so has `job_revision`: if that has changed, the finish is stale, as with
 * nexts. */
struct store_again {
    bool is_wanted;
    struct id id;
    int64_t not_before_ms;
    int attempts; /* that the tick may have in all */
    int64_t job_revision;
    bool made;
};

/* The end of a run that has this nonce (0 while it is QUEUED or DUE): all members are written
 * except for its identity (job, tick, attempt, cause, and the fence that it got with its begin; a
 * store that was restored to before the begin has none, and takes it). A run that has ended already
 * is left unchanged (a repeat), unless it was LOST: then it is amended, also from NODE_DIED to
 * SPAWNER_DIED or RESTORED, but from RESTORED only by the end of a run that has started. If
 * accepted, `run` is set to the stored one, which is to go to the history: a repeat may meet
 * another end. It becomes the job's last run, unless that finished later. Whenever a run ends, here
 * or elsewhere, the oldest QUEUED run of the job becomes DUE if no other run of it is open.
 *
 * A lost run that was retried and is amended as OK ends the next attempt, if that is still DUE, as
 * SKIPPED (NOT_NEEDED); if it is not, that attempt decides, and the amended end makes no nexts and
 * is not the job's last run.
 *
 * The nexts are made in the same transaction. A repeat makes none, and an amended end none that the
 * loss has made already. A next comes from its job's definition: if that no longer has the revision
 * run.job_revision of the next, nothing is done (is_stale), and the finish has to be filled
 * again. */
struct store_finish {
    struct run run; /* ended: state is an end */
    struct store_again again;
    struct store_next *nexts; /* owned by the caller until done; of a step: none */
    size_t next_count;
    struct store_link *links; /* likewise; of a step or a fan-out. They are followed when the run
                                 is over with all its attempts, once, as nexts are made */
    size_t link_count;        /* at most STORE_LINKS_MAX */
    const char *output;       /* of a step: becomes its OUTPUT_DOC, when the links are followed;
                                 likewise; NULL: none */
    bool accepted;            /* false: no such run, or another node owns it now, or: */
    bool is_stale;            /* the definition of a next has changed */
};

/* Removes ended runs and ledger entries, by id, that the history has acknowledged. Open runs stay,
 * and a missing id is no error. The input of a run goes with the last attempt at its tick; see
 * "workflows" for those that stay. */
struct store_forget {
    struct id id;
    bool is_entry; /* a ledger entry, else a run */
};

/* The clock was set back to `to_ms`, and the job is ahead of it. If the cursor is still `cursor_ms`
 * and was moved back `rewinds` times: a later cursor is moved back to to_ms, and `entry` is written
 * as a note of that; the ticks that the cursor had passed, started or not, stay known (rewinds.h).
 * The times of the last run are limited to to_ms, so that delays after its end go on; the history
 * has the true times. Also for a deleted job. */
struct store_rewind {
    struct id job_uid;
    int64_t cursor_ms, rewinds;
    int64_t to_ms;
    struct ledger_entry entry;
    bool done; /* false: cursor or rewinds differ, or the job is not ahead */
};

enum put_result {
    PUT_OK,
    PUT_CONFLICT, /* the revision is not the expected one */
    PUT_EXISTS,   /* the name is taken (create, rename, restore) */
    PUT_MISSING,  /* change, purge: no such job */
};

/* A name that the put definition waits for, and the job that must still have it. */
struct store_want {
    char name[JOB_NAME_SIZE];
    struct id job_uid;
};

/* Creates (expected_revision 0: the uid is new and the name must be free) or replaces a definition.
 * expected_revision -1: any. `deleted` frees its name; the job is no longer planned, and its QUEUED
 * and DUE runs end as SKIPPED (DELETED); attempts after the first that are DUE, and parts that wait
 * for their turn, end as SKIPPED (PAUSED) when it comes to be `paused`, unless a person asked for
 * their run. It is kept, so that
 * it can be restored (put again without `deleted`), or removed for good with `purge`, which needs
 * neither name nor json, and takes its WEBHOOK_DOC with it. `cursor_ms` is the new cursor, or -1 to
 * keep it; this never moves it back. Ticks that it passes count as not started, unless the job is
 * imported with its cursor (`from_elsewhere`).
 *
 * `passed` are the entries of due ticks of the old definition that the new cursor passes, counted
 * from the cursor `seen_cursor_ms`. If that has moved meanwhile, nothing is done: PUT_CONFLICT,
 * with the revision that was expected. So it is if the job of one of the `wants` no longer has that
 * name: a definition never comes to wait for another job than the one that it was checked with.
 *
 * A definition that is written takes its `record` along: both are there, or neither. Records of one
 * transaction are gathered in documents, see RECORDS_DOC. */
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
    struct store_want *wants;    /* likewise */
    size_t want_count;
    const char *record;  /* of this change; copied; NULL: none; not with `purge` */
    struct id record_id; /* which no other record has */
    enum put_result result;
    int64_t revision; /* PUT_OK: the new one; PUT_CONFLICT: the current one */
};

/* Adds a run without a scheduled tick. It is DUE where a claim would be CLAIMED, or by the overlap
 * rule QUEUED, or not made: then added is false, and `open_run` is the run that blocks it; zero:
 * the job is deleted or purged. An existing run of the same (job, tick, attempt) blocks it, too,
 * unless the run is for now; the same run id is a repeat. A delivery makes one run at most, also
 * when several nodes get it at the same time. */
struct store_add_run {
    struct run run; /* the caller fills all but state, node, nonce and claimed_ms */
    bool
        is_for_now; /* its tick becomes the first millisecond that is free, from the given one on */
    enum overlap_policy overlap;
    int queue_limit;
    int at_once;          /* of OVERLAP_ALLOW; 0: any number */
    const char *input;    /* the document that run.input names (run_input.h), written with the run;
                             NULL: none. Owned by the caller until done; so are: */
    const char *delivery; /* the name of a DELIVERY_DOC, which is written with the run; NULL:
                             none. If there is one, no run is made: is_delivered */
    const char *delivery_json; /* its text */
    bool is_delivered;
    bool added;
    struct id open_run;
};

/* Feeds a STORE_CHANGE_KILL, now and after every restart while the run is open. A run without an
 * owner, QUEUED or DUE, ends as SKIPPED with this reason at once; but a step that is QUEUED only
 * when its turn has come, since its end means that those before it have ended. */
struct store_order {
    struct id run_id;
    enum run_reason reason; /* USER, REPLACED */
    char by[64];
    bool known; /* an open run with this id exists */
};

/* A drain lasts until it is ended, also while the node is away. */
struct store_drain {
    char node[64];
    bool drained;
    char by[64];
};

struct store_set_meta {
    char key[32];
    char value[128];
};

/* Documents: small named values that all nodes share, such as accounts. Opaque to the store. */
enum { DOC_KIND_SIZE = 16, DOC_NAME_SIZE = 128, DOC_JSON_MAX = 64 * 1024 };

struct store_doc {
    char kind[DOC_KIND_SIZE]; /* [a-z-]: a namespace */
    char name[DOC_NAME_SIZE]; /* unique within the kind */
    const char *json;         /* NULL: deleted */
    int64_t revision;         /* 1 at creation, one more with each change */
};

/* Creates (expected_revision 0), replaces (its current revision) or writes unconditionally (-1) a
 * document. Without json it is deleted; a missing one is PUT_MISSING then. Over DOC_JSON_MAX bytes:
 * E_TOO_LARGE. */
struct store_put_doc {
    char kind[DOC_KIND_SIZE];
    char name[DOC_NAME_SIZE];
    const char *json; /* copied */
    int64_t expected_revision;
    enum put_result result; /* PUT_CONFLICT instead of PUT_EXISTS */
    int64_t revision;       /* PUT_OK: the new one; PUT_CONFLICT: the current one */
};

/* A document of records, "[RECORD\n,RECORD...]", of some puts of one transaction, at least one. Its
 * name is the id of the first. A record has no line breaks other than those before a comma, and
 * RECORD_MAX bytes at most, else: E_TOO_LARGE. Who has taken the records deletes the document. */
#define RECORDS_DOC "changes"
enum { RECORD_MAX = DOC_JSON_MAX - 2 };

/* STORE_CONFIRM changes nothing. Answered OK: when the request was submitted, or later, the store
 * was the one whose changes the feed has told, not halted, and the feed has all that it had then.
 * So whoever looks at what the feed has told may say that something is so already, or is not there;
 * without it they only know what was so once: others may have changed it since, the store may be
 * away, or was restored from a backup. E_UNKNOWN means no more than E_UNREACHABLE. E_CONFLICT: this
 * node's own key in the store is not as it has written it. */
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
    } items; /* owned by the caller, who must not touch them until done */
    void (*done)(struct store_request *request, enum status st);
    void *context;
    /* The store's, while it holds the request. */
    struct store_request *next;
    enum status answer;
    bool is_touched; /* a part of it may be done */
    size_t left;     /* number of items to be done */
    uint64_t number; /* sequence number of its first item */
};

/* ---- the change feed: the only way from the store back to planning ---- */

enum store_change_kind {
    STORE_CHANGE_JOB,    /* put or restored: job_* are set */
    STORE_CHANGE_DELETE, /* deleted (job_* are set) or purged (job_uid; no job_json) */
    STORE_CHANGE_CURSOR, /* the cursor or the job's last run has changed: job_uid, job_revision,
                            cursor_ms, rewinds, last. The pair (rewinds.count, cursor_ms) only
                            grows, unless is_restored; cursor_ms alone goes back with the clock */
    STORE_CHANGE_RUN,    /* a run is new or has a new state: run is set */
    STORE_CHANGE_ENTRY,  /* a ledger entry is to be recorded: entry is set */
    STORE_CHANGE_FORGET, /* a run or an entry was recorded and removed: gone_id */
    STORE_CHANGE_KILL,   /* run.id is to be killed, with run.reason and run.by */
    STORE_CHANGE_META,   /* only while loading: meta is set */
    STORE_CHANGE_PEER,   /* a node joined, sent a heartbeat or left: peer is set */
    STORE_CHANGE_DRAIN,  /* a drain began or ended: drain is set */
    STORE_CHANGE_LEADER, /* the leader has changed: leader */
    STORE_CHANGE_DOC,    /* a document was put or deleted: doc is set */
    STORE_CHANGE_ASIDE,  /* a value can't be decoded, or was replaced or removed since: aside */
    STORE_CHANGE_LOADED, /* the initial state has been fed */
};

/* A value that can't be decoded: damaged, foreign, or of a newer version. It is set aside: left
 * unchanged and never written, and the rest goes on without it. A job whose definition or cursor is
 * set aside does not exist for the feed and for requests; its runs can end. */
struct store_aside {
    const char *key; /* as in the store: "cursors/01J..." */
    enum status why; /* E_CORRUPT; E_VERSION: of a newer version. In STORE_CHANGE_ASIDE, OK: no
                        longer set aside */
};

/* A position in the sequence of a store's writes: the same on all nodes, and growing even across
 * restores. All changes of one write have the same place. */
struct store_place {
    uint64_t lineage; /* identifies the store; 0: a store of one node, without numbers */
    int64_t number;
};

/* Pointers are valid until the next call of store_next_change. */
struct store_change {
    enum store_change_kind kind;
    struct store_place place; /* for listed values: that of the list */
    struct id job_uid;
    int64_t job_revision;
    int64_t cursor_ms;
    struct rewinds rewinds; /* of the cursor */
    struct last_run last;   /* of the job */
    uint32_t last_node;     /* node_mark of the node that runs it, or ran it last; 0: not known */
    bool is_restored; /* JOB, DELETE, CURSOR: read after the store was restored, so that cursor_ms,
                         rewinds and last may be older than what was told before; `last` counts */
    const char *job_name;
    const char *job_json;
    bool job_deleted; /* JOB, only while loading: a deleted job, kept for a restore. DELETE: true */
    const struct run *run;
    const struct ledger_entry *entry;
    const struct store_set_meta *meta;
    struct id gone_id;
    const struct peer *peer;
    const struct store_drain *drain;
    const char *leader; /* a node's name; empty: none */
    const struct store_doc *doc;
    struct store_aside aside;
};

/* ---- the contract ---- */

struct store_ops {
    void (*submit)(struct store *store, struct store_request *request);
    void (*dispatch)(struct store *store);
    bool (*next_change)(struct store *store, struct store_change *ret);
    enum status (*announce)(struct store *store, const struct peer *self);
    void (*beat)(struct store *store, bool is_often);       /* NULL: there are no other nodes */
    void (*suspect)(struct store *store, const char *node); /* likewise */
    bool (*leads)(const struct store *store);
    enum status (*health)(struct store *store, struct strbuf *why);
    size_t (*each_aside)(const struct store *store,
                         void (*visit)(void *context, const struct store_aside *aside),
                         void *context); /* NULL: none are ever set aside */
    struct store *(*free)(struct store *store);
    bool gathers_records;
    bool begins_claims;
};

/* Backends embed this as their first member. */
struct store {
    const struct store_ops *ops;
};

static inline void store_submit(struct store *store, struct store_request *request)
{
    store->ops->submit(store, request);
}

/* Does it gather the records of a batch of puts in few documents? Else each is a document, and it
 * costs less to bring the records of many puts to the history as soon as those are done. */
static inline bool store_gathers_records(const struct store *store)
{
    return store->ops->gathers_records;
}

/* Is a claim with `begins` worth to be asked for? Only where its outcome is known with its answer,
 * and no later than the feed tells: whoever finds a run begun that it has no answer for must not
 * start it. Elsewhere its begin is a request of its own. */
static inline bool store_begins_claims(const struct store *store)
{
    return store->ops->begins_claims;
}

/* Calls `done` of the requests that have been answered. */
static inline void store_dispatch(struct store *store)
{
    store->ops->dispatch(store);
}

/* First the initial state (metas, drains, docs, peers, jobs, open and unrecorded runs, entries),
 * then LOADED, then all changes, own ones included, in the store's order. Own changes are in the
 * feed when `done` of their request is called. False: nothing new. */
static inline bool store_next_change(struct store *store, struct store_change *ret)
{
    return store->ops->next_change(store, ret);
}

/* Sends this node's heartbeat. The first one registers the node: it is alive for the others (and,
 * through the feed, for itself) until the store has had no sign of it for 5 s or is freed. After an
 * outage the store registers it again with the last heartbeat. Only nodes with peer_can_lead can
 * lead: a program says itself whether it stands. Does not wait for the store: E_NOMEM is the only
 * failure. A node whose name another agent has is not registered: store_health is E_CONFLICT. */
MUST_CHECK static inline enum status store_announce(struct store *store, const struct peer *self)
{
    return store->ops->announce(store, self);
}

/* True: from now on this node shows signs of life every half second, and at once if there was none
 * for that long; false: as often as 5 s of silence require. For nodes with begun runs. Does nothing
 * before the first store_announce. */
static inline void store_beat(struct store *store, bool is_often)
{
    if (store->ops->beat)
        store->ops->beat(store, is_often);
}

/* Looks whether another node is silent: no sign of life for a second, though it has said that it
 * shows them more often (peer.beats_ms) and is not about to end. If it is at two looks, less than a
 * second apart, the store takes it for gone, as after 5 s, and the feed tells. A node that was only
 * slow learns that it is out, and registers again. To be called every STORE_LOOK_MS while it
 * matters. */
enum { STORE_LOOK_MS = 250, STORE_SILENT_MS = 1000 };
static inline void store_suspect(struct store *store, const char *node)
{
    if (store->ops->suspect)
        store->ops->suspect(store, node);
}

/* True only while surely no other node leads, unless this one was taken for gone before its time
 * (store_suspect) and has not heard of that yet. The leader does the chores of the cluster; after
 * its death another takes over within 5 s. */
static inline bool store_leads(const struct store *store)
{
    return store->ops->leads(store);
}

/* OK, or the fault (E_UNREACHABLE, E_IO: disk full ..., E_CORRUPT), with an explanation and a next
 * step in *why. While it is not OK nothing is claimed; it may recover by itself. A store that is
 * only short of disk space still takes requests, so that runs can finish. */
static inline enum status store_health(struct store *store, struct strbuf *why)
{
    return store->ops->health(store, why);
}

/* Visits the values that are set aside now; returns their number. `visit` may be NULL. */
static inline size_t store_each_aside(const struct store *store,
                                      void (*visit)(void *context, const struct store_aside *aside),
                                      void *context)
{
    return store->ops->each_aside ? store->ops->each_aside(store, visit, context) : 0;
}

/* Waits for all requests and calls their `done`; requests that are submitted from within `done` are
 * answered E_UNREACHABLE. A registered node leaves at once, unless its last heartbeat was
 * PEER_STOPPING with some `running`: then it stays for 5 s more, so that it still owns those runs
 * if its agent is only restarted. */
static inline struct store *store_free(struct store *store)
{
    return store ? store->ops->free(store) : NULL;
}

/* ---- backends ---- */

/* Called from any thread: asks the owner to call store_dispatch and store_next_change soon. */
struct store_wake {
    void (*wake)(void *context);
    void *context;
};

/* For a process that is all peal's, before any database is open: SQLite does not count its memory,
 * for which each allocation would take a lock. */
void store_sqlite_own_process(void);

/* Opens DIR/peal.db, with a thread of its own; DIR is created if need be. E_BUSY: another process
 * has it (*why names its pid); E_VERSION: written by a newer version; E_CORRUPT: damaged; E_IO;
 * E_NOMEM. *why says what to do; nothing is overwritten. */
MUST_CHECK enum status store_sqlite_open(const char *dir, struct store_wake wake,
                                         struct store **ret, struct strbuf *why);

/* The same database for several processes of one machine, each of them a node: shared/README.md. An
 * exclusive agent and they exclude each other (E_BUSY: *why names the pids). `node` is whose metas
 * these are; NULL: nobody's. E_VERSION also if programs with another version of peal have it. */
MUST_CHECK enum status store_shared_open(const char *dir, const char *node, struct store_wake wake,
                                         struct store **ret, struct strbuf *why);

#endif
