/* The parts of the store in etcd and how they hand over:
 *
 *     store_kv.c        open, submit, dispatch, health
 *        |  requests
 *     store_kv_flow.c   which items go next; answers in order
 *        |  items
 *     store_kv_batch.c  plans, sends, and takes in the results
 *        |  revision of the answer
 *     store_kv_load.c   list and watch: keeps mirror and feed up to date
 *
 *     store_kv_nodes.c     this node's own key, its lease, and the leader
 *     store_kv_suspects.c  other nodes that may be gone */
#ifndef PEAL_STORE_ETCD_INTERNAL_H
#define PEAL_STORE_ETCD_INTERNAL_H

#include "clock.h"
#include "kv/store_kv.h"
#include "kv/store_kv_flow.h"
#include "kv_watch.h"

struct health {
    enum status status;
    struct strbuf why;
    char *probe_key;
    struct kv_call *probe;
    unsigned probes;   /* sent since the fault began */
    int64_t probed_ms; /* when the last was sent */
    struct epoch_asked asked;
    int64_t probe_revision; /* of an accepted probe that the watch has not delivered yet; 0: none */
    int64_t heard_ms;       /* when the watch last delivered anything */
    int64_t restarted_ms;   /* when the watch was last restarted */
    struct loop_timer *timer;
};

struct epoch_memory {
    char *path; /* NULL: only in memory */
    struct id lineage;
    int64_t generation;
    uint64_t stamp;           /* of the generation; 0: none */
    int64_t key_revision;     /* of the last acknowledged write of this node's key; 0: none */
    int64_t old_key_revision; /* of the key before that write; 0: none */
    struct epoch_seen seen;
    uint64_t cluster_id;                   /* 0: not known yet */
    bool is_written;                       /* the file is up to date */
    int64_t epoch_revision, halt_revision; /* of the keys, when they were last checked */
    bool is_rolled_back;
    bool is_adopted;   /* this process has seen an epoch there */
    int64_t halted_ms; /* boot time since when everything is halted; 0: not halted */
    struct strbuf why;
    struct loop_timer *timer;
    bool is_timed;
};

struct note;
struct suspect;

struct check {
    bool is_under_way;
    struct kv_list *list; /* NULL: the list is complete */
    int64_t revision;     /* of the list; 0: no page yet */
    struct epoch_asked asked;
    struct mirror read;
    struct note *notes, **notes_end;
    size_t note_count;
    struct loop_timer *timer;
};

struct store_kv {
    struct store base;
    struct loop *loop;
    struct store_wake wake;
    char *prefix, *node, *range; /* the range: prefix with a slash */
    char *epoch_key, *halt_key;
    struct kv_client *client;

    struct flow flow;
    struct request_queue answered;
    bool is_closing;

    struct mirror mirror, loading;
    struct epoch_seen loading_seen; /* when the list was requested */
    struct epoch_sign
        loading_sign; /* of the list's first page, later of the mirror; revision 0: none yet */
    bool is_loaded;   /* the mirror is valid */
    bool was_loaded;  /* it was valid at least once */
    struct kv_list *list;
    struct kv_watch *watch;
    struct loop_timer *reload_timer;
    struct feed feed;
    struct feed_item *held;

    struct nodes *nodes;      /* NULL: no heartbeat yet */
    struct suspect *suspects; /* a list of other nodes */

    struct health health;
    bool is_watch_broken;
    bool is_half_told; /* the mirror has only a part of a revision: no decisions */
    struct epoch_memory epoch;
    struct advance *advance; /* NULL: none is under way */
    struct check check;
    struct {
        uint64_t checks;         /* full re-reads */
        uint64_t differences;    /* re-reads that differed from the mirror: should stay 0, as ... */
        uint64_t watch_restarts; /* ... those because the watch was silent */
    } counters;
    int64_t check_ms, silence_ms; /* 0: the default */
};

/* ---- store_kv.c ---- */

void store_kv_wake(struct store_kv *store);

/* ---- store_kv_health.c ---- */

MUST_CHECK enum status health_init(struct store_kv *store);
void health_release(struct store_kv *store);
void health_watch_client(struct store_kv *store); /* once there is a client */
/* Reports a fault; probes find out when it is over. */
void health_ail(struct store_kv *store, enum status st, const char *why);
void health_explain(const struct store_kv *store, struct strbuf *why);
void health_probe_now(struct store_kv *store);
void health_remove_probe(struct store_kv *store); /* best effort */
void health_feed_moved(struct store_kv *store);
void health_worked(
    struct store_kv *store); /* a change was accepted, and the watch has delivered it */

/* ---- store_kv_epoch.c ---- */

MUST_CHECK enum status epoch_init(struct store_kv *store, const char *path);
void epoch_release(struct store_kv *store);
/* The sign of an answer. Only for answers with a quorum behind them: writes, transactions, and
 * linearizable reads. */
struct epoch_sign epoch_sign(const struct kv_result *result);
/* The state for a request that is sent now. */
struct epoch_asked epoch_ask(const struct store_kv *store);
/* Checks the answer to a request; `wrote`: it has written. False: etcd was restored; the answer is
 * void, and everything is read again. */
bool epoch_saw(struct store_kv *store, struct epoch_sign sign, const struct epoch_asked *asked,
               bool wrote);
/* Of the mirror and of the one that was read and is to take its place. */
enum mirror_past epoch_past(const struct store_kv *store);
/* The mirror was replaced; its sign is store->loading_sign. */
void epoch_loaded(struct store_kv *store);
/* The watch has delivered a halt, or another epoch: the rest of the mirror may be of the etcd
 * before a restore, so everything has to be read again. */
bool epoch_is_restore_told(const struct store_kv *store);
/* Epoch and halt in the mirror are those of when the request was sent. */
bool epoch_is_as_asked(const struct store_kv *store, const struct epoch_asked *asked);
void epoch_feed_moved(struct store_kv *store);
void epoch_tick(struct store_kv *store); /* periodic: retries failed writes */
/* A write of this node's key was acknowledged with this revision. */
void epoch_wrote_key(struct store_kv *store, int64_t revision);
/* The key of this node, or of another agent of its name, was found with this revision. If that is
 * older than the acknowledged one, everything is read again, and then halted. */
void epoch_found_key(struct store_kv *store, int64_t revision);
/* Is it the cluster that the mirror was read from, not one that was restored meanwhile? */
bool epoch_is_same_cluster(const struct store_kv *store, uint64_t cluster_id);
bool epoch_is_halted(const struct store_kv *store);
void epoch_explain(const struct store_kv *store, struct strbuf *why);

/* ---- store_kv_advance.c ---- */

bool advance_owns(const struct store_kv *store, const struct store_request *request);
void advance_release(struct store_kv *store);

/* ---- store_kv_check.c ---- */

MUST_CHECK enum status check_init(struct store_kv *store);
void check_release(struct store_kv *store);
void check_note(struct store_kv *store, const struct kv_event *event);
void check_feed_moved(struct store_kv *store);
void check_abandon(struct store_kv *store);

/* ---- store_kv_nodes.c ---- */

enum status nodes_announce(struct store *base, const struct peer *self);
void nodes_beat(struct store *base, bool is_often);
bool nodes_lead(const struct store *base);
/* Adds compares that hold while this node's key has its last write, or a newer one of its own: not
 * after another agent of its name has shut it out, nor in a restored etcd. */
void nodes_guard(const struct nodes *nodes, struct kv_txn *txn);
bool nodes_are_in(const struct nodes *nodes); /* this node is registered; accepts NULL */
/* The compares failed: finds out why. Accepts NULL. */
void nodes_look(struct nodes *nodes);
/* Not OK: this node is not registered, *why explains; E_CONFLICT: another agent has its name.
 * Accepts NULL. */
enum status nodes_health(const struct nodes *nodes, struct strbuf *why);
bool nodes_is_shut_out(const struct nodes *nodes); /* E_CONFLICT; accepts NULL */
/* Deregisters this node; waits a short time for etcd. A node that stops and still has runs stays
 * registered until its lease would have expired. */
void nodes_leave(struct store_kv *store);

/* ---- store_kv_suspects.c ---- */

void suspects_look(struct store *base, const char *node); /* store_suspect */
void suspects_release(struct store_kv *store);

/* ---- store_kv_load.c ---- */

/* Reads everything, then watches. A timer's callback: the context is the store. */
void load_start(void *context);
/* Reads everything again at once, since the watch can't deliver all changes; requests keep waiting.
 */
void load_again(struct store_kv *store);
/* The mirror is not reliable: fails the waiting requests, and reads everything again after a pause.
 */
void load_fail(struct store_kv *store, enum status st, const char *why);

#endif
