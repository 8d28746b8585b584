/* The parts of the store in etcd and how they hand over:
 *
 *     store_etcd.c        open, submit, dispatch, health
 *        |  requests that wait
 *     store_etcd_batch.c  plans, sends, and decides again what somebody else was faster with
 *        |  revision of the answer
 *     store_etcd_load.c   list and watch: keeps mirror and feed, says when they are there
 *
 *     store_etcd_nodes.c  beside them: this node's own key, its lease, and who leads */
#ifndef PEAL_STORE_ETCD_INTERNAL_H
#define PEAL_STORE_ETCD_INTERNAL_H

#include "etcd_watch.h"
#include "store_etcd.h"
#include "store_etcd_plan.h"

enum {
    BATCH_MAX = 100,
    WRITTEN_SLOTS = 4096,
    BATCH_WRITES_MAX = WRITTEN_SLOTS / 4,
    BATCH_BYTES_MAX = 512 * 1024, /* etcd takes 1.5 MB */
};

struct batch_item {
    struct store_request *request;
    size_t index;  /* in the request */
    bool is_sent;  /* its place in the transaction is the number of those sent before it */
    bool is_write; /* it would change something */
};

/* What is being worked on: items in the order of submission, the first ones that are not done. A
 * key is written once per transaction, so an item that needs what an earlier one of the same
 * transaction writes waits for the next. */
struct batch {
    struct batch_item items[BATCH_MAX];
    size_t count, sent;
    size_t bytes, writes;
    uint64_t written[WRITTEN_SLOTS]; /* a hash set; 0: free */
    int futile_rounds;               /* in which nothing at all was done */
    struct etcd_call *call;
    int64_t await_revision; /* done in etcd, to be fed before it is answered; 0: nothing */
};

struct request_queue {
    struct store_request *first, **end;
};

struct store_etcd {
    struct store base;
    struct loop *loop;
    struct store_wake wake;
    char *prefix, *node, *range; /* the range: prefix with a slash */
    struct etcd_client *client;

    struct request_queue waiting, answered;
    struct store_request *next_request; /* of `waiting`: its item next_item goes next; NULL: none */
    size_t next_item;
    bool is_closing;
    struct batch batch;
    struct plan plan;
    struct etcd_txn *txn;
    struct loop_timer *step_timer, *patience_timer;

    struct mirror mirror, loading;
    int64_t loading_revision; /* 0: no page yet */
    bool is_loaded;           /* the mirror is good */
    bool was_loaded;          /* it has been, once */
    struct etcd_list *list;
    struct etcd_watch *watch;
    struct loop_timer *reload_timer;
    struct feed feed;
    struct feed_item *held;

    struct nodes *nodes; /* NULL: this node has not said anything of itself */

    enum status health;
    bool is_watch_broken;
    struct strbuf health_why;
    struct loop_timer *probe_timer;
    struct etcd_call *probe;
};

void request_queue_init(struct request_queue *queue);
void request_queue_add(struct request_queue *queue, struct store_request *request);

/* ---- store_etcd.c ---- */

void store_etcd_wake(struct store_etcd *store);
/* Takes the first that waits out of the queue, to be answered by the next dispatch. */
void store_etcd_answer_first(struct store_etcd *store, enum status st);
/* Something is wrong; a probe looks every second whether it still is. */
void store_etcd_ail(struct store_etcd *store, enum status st, const char *why);

/* ---- store_etcd_batch.c ---- */

/* Sends what waits, unless something is under way. For a timer: the context is the store. */
void batch_step(void *context);
/* The feed has come further, or the mirror is new. */
void batch_feed_moved(struct store_etcd *store);
/* Patience has ended with what was done, but is not fed. For a timer: the context is the store. */
void batch_lose_patience(void *context);
/* Nothing that waits can be done. */
void batch_fail_all(struct store_etcd *store, enum status st);

/* ---- store_etcd_nodes.c ---- */

enum status nodes_announce(struct store *base, const struct peer *self);
bool nodes_lead(const struct store *base);
/* Not OK: this node is not among the others, and *why says why; E_CONFLICT: another agent has its
 * name. Accepts NULL. */
enum status nodes_health(const struct nodes *nodes, struct strbuf *why);
/* The others see it at once if etcd can be asked, which is waited for, but not for long. */
void nodes_leave(struct store_etcd *store);

/* ---- store_etcd_load.c ---- */

/* Reads everything, then watches. For a timer: the context is the store. */
void load_start(void *context);

#endif
