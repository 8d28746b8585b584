/* Requests on their way: a queue of items, and the transactions that carry them.
 *
 *     submitted -> next_request, next_item -> a batch -> answered, fed -> `left` is less by one
 *                          \-> again <-----------/ somebody was faster
 *
 * Several batches are under way at a time. An item that reads or writes what an earlier one writes,
 * or writes what that reads, waits (in `again`) until that is done and fed. So whatever touches the
 * same keys is done in the order of submission, and all else as it comes. */
#ifndef PEAL_STORE_ETCD_FLOW_H
#define PEAL_STORE_ETCD_FLOW_H

#include "etcd/store_etcd_epoch.h"
#include "etcd/store_etcd_keys.h"
#include "etcd/store_etcd_plan.h"

enum {
    BATCH_MAX = 100, /* items; they have BATCH_PLACES */
    BATCHES = 8,
    BATCHES_IN_FLIGHT = 4,        /* more don't make etcd quicker */
    BATCH_BYTES_MAX = 512 * 1024, /* etcd takes 1.5 MB */
    PASSED_OVER_MAX = 200,        /* then no new ones are looked at */
};

struct store_etcd;

struct item {
    struct store_request *request;
    size_t index; /* in the request */
    int losses;   /* how often somebody else was faster */
};

struct batch_item {
    struct item item;
    size_t group;    /* 1 + the place of the group that its transaction is in; 0: in none */
    size_t inner;    /* the place of its transaction, in its group or in the batch */
    bool is_write;   /* it would change something */
    bool is_partial; /* and is not done with that */
    bool is_done;
    bool is_refused; /* this node is not what it was: see nodes_guard */
};

enum batch_state {
    BATCH_FREE,
    BATCH_FILLING,
    BATCH_SENT,
    BATCH_ANSWERED, /* what was done is not fed yet */
};

struct batch {
    struct store_etcd *store;
    enum batch_state state;
    struct batch_item items[BATCH_MAX];
    size_t count, bytes;
    size_t op_count;    /* of the batch: inner transactions and groups of them */
    size_t inner_count; /* of all levels together */
    size_t group_count; /* of transactions in the group that is being filled; 0: there is none */
    size_t width;       /* of its widest plan */
    struct key_list written, compared;
    struct epoch_asked asked;
    int64_t revision; /* of the answer */
    int64_t until_ms; /* ANSWERED: when patience ends */
    bool has_put;     /* of the writes, some are no deletes */
    bool may_repeat;  /* while it is not answered */
    bool has_written;
    bool is_barred; /* in etcd, halt or epoch were not those of the mirror */
};

struct request_queue {
    struct store_request *first, **end;
};

void request_queue_init(struct request_queue *queue);

struct flow {
    struct request_queue waiting;
    struct store_request *next_request; /* of `waiting`: its item next_item goes next; NULL: none */
    size_t next_item;
    uint64_t item_count;                                      /* ever */
    struct item again[PASSED_OVER_MAX + BATCHES * BATCH_MAX]; /* in the order of submission */
    size_t again_count;
    struct batch batches[BATCHES];
    struct key_set written, compared; /* by the batches that are not free */
    struct key_set blocked;           /* by those that wait, while a batch is filled */
    struct etcd_plan plan;
    struct etcd_txn *txn;
    struct loop_timer *step_timer, *patience_timer;
};

MUST_CHECK enum status flow_init(struct store_etcd *store);
void flow_release(struct store_etcd *store);

/* Not OK: that is its answer, in its turn. */
void flow_submit(struct store_etcd *store, struct store_request *request, enum status st);

/* The feed has come further, or the mirror is new. */
void flow_feed_moved(struct store_etcd *store);

/* The mirror is new: what another cluster has answered is in no feed of this one. */
void flow_forget_others(struct store_etcd *store);

/* Nothing that waits can be done. What was sent has an answer of its own. */
void flow_fail_waiting(struct store_etcd *store, enum status st);

/* ---- between flow and batch ---- */

/* The answers to all requests that have an item in it. */
void flow_batch_failed(struct store_etcd *store, struct batch *batch, enum status st);
/* It has been answered: look at it again when it is fed, or patience ends. */
void flow_batch_answered(struct store_etcd *store, struct batch *batch);

/* ---- store_etcd_batch.c ---- */

enum batch_added {
    BATCH_ADDED,
    BATCH_LATER,  /* it needs what is under way */
    BATCH_FULL,   /* it does not fit; nor can it be said that it never will */
    BATCH_REFUSED /* it can't be planned, for *why */
};

void etcd_batch_open(struct batch *batch, struct store_etcd *store);

/* Adds the item, and up to `most` in all of those that follow it in its request and are best done
 * with it; *taken says how many. `is_first`: nothing before it is under way. */
enum batch_added etcd_batch_add(struct batch *batch, const struct item *item, size_t most,
                                bool is_first, size_t *taken, enum status *why);

void etcd_batch_send(struct batch *batch);
/* Gives its keys back. */
void etcd_batch_close(struct batch *batch);

#endif
