/* The parts of the store in etcd and how they hand over:
 *
 *     store_etcd.c        open, submit, dispatch, health
 *        |  requests
 *     store_etcd_flow.c   which items go next; answers in order
 *        |  items
 *     store_etcd_batch.c  plans, sends, and sees what came of it
 *        |  revision of the answer
 *     store_etcd_load.c   list and watch: keeps mirror and feed, says when they are there
 *
 *     store_etcd_nodes.c  beside them: this node's own key, its lease, and who leads */
#ifndef PEAL_STORE_ETCD_INTERNAL_H
#define PEAL_STORE_ETCD_INTERNAL_H

#include "clock.h"
#include "etcd/store_etcd.h"
#include "etcd/store_etcd_flow.h"
#include "etcd_watch.h"

struct health {
    enum status status;
    struct strbuf why;
    char *probe_key;
    struct etcd_call *probe;
    unsigned probes;   /* sent since something is wrong */
    int64_t probed_ms; /* when the last was sent */
    struct epoch_asked asked;
    int64_t probe_revision; /* taken, to be told by the watch; 0: none */
    int64_t heard_ms;       /* when the watch last told anything */
    int64_t restarted_ms;   /* when it was last started anew */
    struct loop_timer *timer;
};

struct epoch_memory {
    char *path; /* NULL: only in memory */
    struct id lineage;
    int64_t generation;
    uint64_t stamp;           /* of the generation; 0: none */
    int64_t key_revision;     /* with which this node's key was written last; 0: not in it */
    int64_t old_key_revision; /* with which it was found then, as before that; 0: it was not */
    struct epoch_seen seen;
    uint64_t cluster_id;                   /* 0: not known yet */
    bool is_written;                       /* all of that */
    int64_t epoch_revision, halt_revision; /* of the keys, when they were looked at */
    bool is_rolled_back;
    int64_t halted_ms; /* since when all has been halted, on the boot clock; 0: it is not */
    struct strbuf why;
    struct loop_timer *timer;
    bool is_timed;
};

struct note;

struct check {
    bool is_under_way;
    struct etcd_list *list; /* NULL: all is read */
    int64_t revision;       /* of the list; 0: no page yet */
    struct epoch_asked asked;
    struct mirror read;
    struct note *notes, **notes_end;
    size_t note_count;
    struct loop_timer *timer;
};

struct store_etcd {
    struct store base;
    struct loop *loop;
    struct store_wake wake;
    char *prefix, *node, *range; /* the range: prefix with a slash */
    char *epoch_key, *halt_key;
    struct etcd_client *client;

    struct flow flow;
    struct request_queue answered;
    bool is_closing;

    struct mirror mirror, loading;
    struct epoch_seen loading_seen; /* when it was asked for */
    struct epoch_sign loading_sign; /* of its first page; revision 0: none yet. Of the mirror */
    bool is_loaded;                 /* the mirror is good */
    bool was_loaded;                /* it has been, once */
    struct etcd_list *list;
    struct etcd_watch *watch;
    struct loop_timer *reload_timer;
    struct feed feed;
    struct feed_item *held;

    struct nodes *nodes; /* NULL: this node has not said anything of itself */

    struct health health;
    bool is_watch_broken;
    bool is_half_told; /* the mirror has a part of a revision: nothing can be decided on it */
    struct epoch_memory epoch;
    struct advance *advance; /* NULL: none is under way */
    struct check check;
    struct store_etcd_counters counters;
    int64_t check_ms, silence_ms; /* 0: as usual */
};

/* ---- store_etcd.c ---- */

void store_etcd_wake(struct store_etcd *store);

/* ---- store_etcd_health.c ---- */

MUST_CHECK enum status health_init(struct store_etcd *store);
void health_release(struct store_etcd *store);
void health_watch_client(struct store_etcd *store); /* there is one now */
/* Something is wrong; probes look whether it still is. */
void health_ail(struct store_etcd *store, enum status st, const char *why);
void health_explain(const struct store_etcd *store, struct strbuf *why);
void health_probe_now(struct store_etcd *store);
void health_remove_probe(struct store_etcd *store); /* if it stays, nobody minds */
void health_feed_moved(struct store_etcd *store);
void health_worked(struct store_etcd *store); /* a change was taken, and the watch has told it */

/* ---- store_etcd_epoch.c ---- */

MUST_CHECK enum status epoch_init(struct store_etcd *store, const char *path);
void epoch_release(struct store_etcd *store);
/* What an answer says of the etcd that it comes from. Only of those that a quorum stands behind:
 * writes, transactions, and reads that are not serializable. */
struct epoch_sign epoch_sign(const struct etcd_result *result);
/* For what is asked now. */
struct epoch_asked epoch_ask(const struct store_etcd *store);
/* An answer to what was asked then, by which something was written or not. False: it is not the
 * etcd that it was, so that the answer counts for nothing, and everything is read again. */
bool epoch_saw(struct store_etcd *store, struct epoch_sign sign, const struct epoch_asked *asked,
               bool wrote);
/* The mirror is new, and store->loading_sign came with it. */
void epoch_loaded(struct store_etcd *store);
/* The watch has told of a halt, or of another epoch: what else is in the mirror may be of the etcd
 * before a restore, so that everything is to be read again. */
bool epoch_is_restore_told(const struct store_etcd *store);
/* Neither is another one in the mirror than when something was asked. */
bool epoch_is_as_asked(const struct store_etcd *store, const struct epoch_asked *asked);
void epoch_feed_moved(struct store_etcd *store);
void epoch_tick(struct store_etcd *store); /* now and then: what could not be written */
/* The key of this node was written with this revision, and that was acknowledged. */
void epoch_wrote_key(struct store_etcd *store, int64_t revision);
/* The key of this node, or of another agent of its name, is found with this revision. If that is
 * older than what was acknowledged, everything is read again, and then halted. */
void epoch_found_key(struct store_etcd *store, int64_t revision);
/* What comes from that cluster goes on from what was read: it is not of an etcd that was restored
 * meanwhile. */
bool epoch_is_same_cluster(const struct store_etcd *store, uint64_t cluster_id);
bool epoch_is_halted(const struct store_etcd *store);
void epoch_explain(const struct store_etcd *store, struct strbuf *why);

/* ---- store_etcd_advance.c ---- */

bool advance_owns(const struct store_etcd *store, const struct store_request *request);
void advance_release(struct store_etcd *store);

/* ---- store_etcd_check.c ---- */

MUST_CHECK enum status check_init(struct store_etcd *store);
void check_release(struct store_etcd *store);
void check_note(struct store_etcd *store, const struct etcd_event *event);
void check_feed_moved(struct store_etcd *store);
void check_abandon(struct store_etcd *store);

/* ---- store_etcd_nodes.c ---- */

enum status nodes_announce(struct store *base, const struct peer *self);
bool nodes_lead(const struct store *base);
/* Compares that hold while this node's key is what it wrote there last, or something newer of its
 * own: not after it was shut out by another agent of its name, nor in an etcd from before. */
void nodes_guard(const struct nodes *nodes, struct etcd_txn *txn);
/* They did not hold: finds out why. Accepts NULL. */
void nodes_look(struct nodes *nodes);
/* Not OK: this node is not among the others, and *why says why; E_CONFLICT: another agent has its
 * name. Accepts NULL. */
enum status nodes_health(const struct nodes *nodes, struct strbuf *why);
bool nodes_is_shut_out(const struct nodes *nodes); /* E_CONFLICT; accepts NULL */
/* The others see it at once if etcd can be asked, which is waited for, but not for long; a node
 * that stops and still has runs keeps its place for as long as it would count as alive. */
void nodes_leave(struct store_etcd *store);

/* ---- store_etcd_load.c ---- */

/* Reads everything, then watches. For a timer: the context is the store. */
void load_start(void *context);
/* Reads everything again at once, as the watch can't tell all that has changed; who waits waits on.
 */
void load_again(struct store_etcd *store);
/* What is in the mirror can't be relied on: reads everything again in a while. Who waits is told.
 */
void load_fail(struct store_etcd *store, enum status st, const char *why);

#endif
