/* The flow of requests: a queue of items, and the batches that carry them.
 *
 *     submitted -> next_request, next_item -> a batch -> answered, fed -> `left` is less by one
 *                          \-> again <-----------/ somebody was faster
 *
 * Several batches are under way at a time. An item whose keys conflict with those of an earlier one
 * (either of them writes) waits in `again` until that one is done and fed. So items on the same
 * keys are done in the order of submission, others in any order. */
#ifndef PEAL_STORE_ETCD_FLOW_H
#define PEAL_STORE_ETCD_FLOW_H

#include "kv/store_kv_epoch.h"
#include "kv/store_kv_keys.h"
#include "kv/store_kv_plan.h"

enum {
    BATCH_MAX = 100, /* items; less than BATCH_PLACES */
    BATCHES = 8,
    BATCHES_IN_FLIGHT = 4,        /* more do not make etcd faster */
    BATCH_BYTES_MAX = 512 * 1024, /* etcd takes 1.5 MB */
    PASSED_OVER_MAX = 200,        /* items that wait in `again`, before no new ones are tried */
};

struct store_kv;

struct item {
    struct store_request *request;
    size_t index; /* in the request */
    int losses;   /* lost comparisons */
};

struct store_batch_item {
    struct item item;
    size_t group;    /* 1 + the index of its transaction's group; 0: in none */
    size_t inner;    /* index of its transaction, in its group or in the batch */
    bool is_write;   /* its plan has writes */
    bool is_partial; /* the plan does only a part of the item */
    bool is_done;
    bool is_refused; /* the guard of this node's key failed: see nodes_guard */
};

enum store_batch_state {
    BATCH_FREE,
    BATCH_FILLING,
    BATCH_SENT,
    BATCH_ANSWERED, /* its changes are not fed yet */
};

struct store_batch {
    struct store_kv *store;
    enum store_batch_state state;
    struct store_batch_item items[BATCH_MAX];
    size_t count, bytes;
    size_t op_count;    /* of the batch: inner transactions and groups of them */
    size_t inner_count; /* of all levels together */
    size_t group_count; /* transactions in the current group; 0: no group */
    size_t width;       /* of its widest plan */
    struct key_list written, compared;
    struct epoch_asked asked;
    int64_t revision; /* of the answer */
    int64_t until_ms; /* ANSWERED: time-out of the wait for the feed */
    bool has_put;     /* it has writes that are not deletes */
    bool may_repeat;  /* the call may be sent again while it is not answered */
    bool has_written;
    bool is_barred; /* halt or epoch in etcd differed from the mirror's */
};

struct request_queue {
    struct store_request *first, **end;
};

void request_queue_init(struct request_queue *queue);

struct flow {
    struct request_queue waiting;
    struct store_request *next_request; /* of `waiting`: next_item of it is next; NULL: none */
    size_t next_item;
    uint64_t item_count;                                      /* ever */
    struct item again[PASSED_OVER_MAX + BATCHES * BATCH_MAX]; /* in the order of submission */
    size_t again_count;
    struct store_batch batches[BATCHES];
    struct key_set written, compared; /* keys of the batches that are not free */
    struct key_set blocked;           /* keys of items that wait, while a batch is filled */
    struct store_plan plan;
    struct kv_txn *txn;
    struct loop_timer *step_timer, *patience_timer;
};

MUST_CHECK enum status flow_init(struct store_kv *store);
void flow_release(struct store_kv *store);

/* `st` not OK: the request is answered with it, in its turn. */
void flow_submit(struct store_kv *store, struct store_request *request, enum status st);

/* The feed has come further, or the mirror is new. */
void flow_feed_moved(struct store_kv *store);

/* The mirror was replaced: answers of another cluster will never be in its feed. */
void flow_forget_others(struct store_kv *store);

/* Fails all items that wait. Those that were sent get their own answers. */
void flow_fail_waiting(struct store_kv *store, enum status st);

/* ---- between flow and batch ---- */

/* The answers to all requests that have an item in it. */
void flow_batch_failed(struct store_kv *store, struct store_batch *batch, enum status st);
/* The batch was answered: it is over when it is fed, or at its time-out. */
void flow_batch_answered(struct store_kv *store, struct store_batch *batch);

/* ---- store_kv_batch.c ---- */

enum store_batch_added {
    BATCH_ADDED,
    BATCH_LATER,  /* conflicts with an item that is under way */
    BATCH_FULL,   /* does not fit now, perhaps later */
    BATCH_REFUSED /* can't be planned: *why */
};

void store_batch_open(struct store_batch *batch, struct store_kv *store);

/* Adds the item and those after it in its request that are best done with it, at most `most` in
 * all; *taken is their number. `is_first`: no earlier item is under way. */
enum store_batch_added store_batch_add(struct store_batch *batch, const struct item *item,
                                       size_t most, bool is_first, size_t *taken, enum status *why);

void store_batch_send(struct store_batch *batch);
/* Releases its keys. */
void store_batch_close(struct store_batch *batch);

#endif
