/* Requests to the store. A stage gathers items of one kind in a batch and sends it; the answer is
 * kept until the engine hands the answers of a turn back, in the order in which they came, with the
 * time of that turn. */
#ifndef PEAL_OUTBOX_H
#define PEAL_OUTBOX_H

#include <sys/queue.h>

#include "clock.h"
#include "stages/outage.h"
#include "store.h"

enum {
    OUTBOX_MAX = 256, /* items in a batch; callers check before they add */
    OUTBOX_SPARE = 4, /* batches of that size that are kept for the next ones */
};

struct outbox_batch;
TAILQ_HEAD(outbox_list, outbox_batch);

/* Shared by all stages. */
struct outbox {
    struct store *store;
    struct outbox_list answered; /* not handed back yet */
    struct outbox_list spare;    /* empty, with room for OUTBOX_MAX */
    int spare_count;
};

/* One stage's way to the store. */
struct outbox_sender {
    struct outbox *outbox;
    void *stage;
    size_t in_flight;        /* batches sent and not handed back */
    struct boot_ms retry_at; /* the store failed: send nothing before */
    unsigned failures;       /* in a row */
};

/* A kind of batch. */
struct outbox_kind {
    enum store_op op;
    size_t item_size;
    size_t note_size; /* of the stage's own note on each item; 0: none */
    /* `sender->retry_at` is set already; the stage may postpone it. */
    void (*answered)(void *stage, struct outbox_batch *batch, enum status st, struct now now);
    void (*release)(struct outbox_batch *batch); /* frees what the items own; NULL: nothing */
};

struct outbox_batch {
    struct store_request request; /* with `count` items in `items` */
    const struct outbox_kind *kind;
    struct outbox_sender *sender;
    struct boot_ms sent;
    enum status answer;
    size_t room;
    void *notes; /* `count` of them; NULL: note_size is 0 */
    TAILQ_ENTRY(outbox_batch) link;
};

void outbox_init(struct outbox *outbox, struct store *store);
void outbox_release(struct outbox *outbox); /* and the answers that were not handed back */

/* Gives each answer to the stage that waits for it. */
void outbox_hand_back(struct outbox *outbox, struct now now);

void outbox_sender_init(struct outbox_sender *sender, struct outbox *outbox, void *stage);

/* Adds an item and its note, zeroed; *batch is made if it is NULL. The item is valid until the next
 * one is added. NULL: out of memory, nothing was added. */
void *outbox_add(struct outbox_batch **batch, struct outbox_sender *sender,
                 const struct outbox_kind *kind);

/* Removes the last item. */
void outbox_drop_last(struct outbox_batch *batch);

size_t outbox_count(const struct outbox_batch *batch); /* of items; accepts NULL */

/* Sends the batch, if there is one, and sets *batch to NULL. */
void outbox_send(struct outbox_batch **batch, struct now now);
void outbox_free(struct outbox_batch *batch); /* a batch that was not sent; accepts NULL */

/* Notes a failed or slow answer as an outage of the store. */
void outbox_note_outage(const struct outbox_batch *batch, enum status st, struct now now,
                        struct outage *away);

/* Takes the time of this answer into the smoothed latency. */
void outbox_learn_latency(const struct outbox_batch *batch, struct now now, double *latency_ms);

#endif
