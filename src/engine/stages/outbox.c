#include "stages/outbox.h"

#include <stdlib.h>
#include <string.h>

void outbox_init(struct outbox *outbox, struct store *store)
{
    *outbox = (struct outbox){.store = store};
    TAILQ_INIT(&outbox->answered);
}

static struct outbox_batch *take_first(struct outbox *outbox)
{
    struct outbox_batch *batch = TAILQ_FIRST(&outbox->answered);
    if (batch)
        TAILQ_REMOVE(&outbox->answered, batch, link);
    return batch;
}

void outbox_release(struct outbox *outbox)
{
    for (struct outbox_batch *batch; (batch = take_first(outbox));)
        outbox_free(batch);
}

void outbox_hand_back(struct outbox *outbox, struct now now)
{
    for (struct outbox_batch *batch; (batch = take_first(outbox));) {
        struct outbox_sender *sender = batch->sender;
        sender->in_flight--;
        if (batch->answer != OK)
            sender->retry_at.ms = now.boot.ms + retry_after_ms(&sender->failures);
        else
            sender->failures = 0;
        batch->kind->answered(sender->stage, batch, batch->answer, now);
        outbox_free(batch);
    }
}

void outbox_sender_init(struct outbox_sender *sender, struct outbox *outbox, void *stage)
{
    *sender = (struct outbox_sender){.outbox = outbox, .stage = stage};
}

static void keep_answer(struct store_request *request, enum status st)
{
    struct outbox_batch *batch = request->context;
    batch->answer = st;
    TAILQ_INSERT_TAIL(&batch->sender->outbox->answered, batch, link);
}

static struct outbox_batch *new_batch(struct outbox_sender *sender, const struct outbox_kind *kind)
{
    struct outbox_batch *batch = calloc(1, sizeof(*batch));
    if (!batch)
        return NULL;
    batch->kind = kind;
    batch->sender = sender;
    batch->request = (struct store_request){.op = kind->op, .done = keep_answer, .context = batch};
    return batch;
}

/* All members of the union are pointers to objects. */
static void *items_of(const struct outbox_batch *batch)
{
    return batch->request.items.claims;
}

/* Room for one more. Most batches are small. False: out of memory. */
static bool make_room(struct outbox_batch *batch)
{
    if (batch->request.count < batch->room)
        return true;
    size_t room = batch->room ? 4 * batch->room : 1; /* 1, 4, 16, 64, 256 */
    void *items = reallocarray(items_of(batch), room, batch->kind->item_size);
    if (!items)
        return false;
    batch->request.items.claims = items;
    if (batch->kind->note_size) {
        void *notes = reallocarray(batch->notes, room, batch->kind->note_size);
        if (!notes)
            return false;
        batch->notes = notes;
    }
    batch->room = room;
    return true;
}

void *outbox_add(struct outbox_batch **batch, struct outbox_sender *sender,
                 const struct outbox_kind *kind)
{
    if (!*batch && !(*batch = new_batch(sender, kind)))
        return NULL;
    if (!make_room(*batch))
        return NULL;
    size_t i = (*batch)->request.count++;
    if (kind->note_size)
        memset((char *)(*batch)->notes + i * kind->note_size, 0, kind->note_size);
    return memset((char *)items_of(*batch) + i * kind->item_size, 0, kind->item_size);
}

void outbox_drop_last(struct outbox_batch *batch)
{
    batch->request.count--;
}

size_t outbox_count(const struct outbox_batch *batch)
{
    return batch ? batch->request.count : 0;
}

void outbox_send(struct outbox_batch **batch, struct now now)
{
    struct outbox_batch *full = *batch;
    *batch = NULL;
    if (!outbox_count(full)) {
        outbox_free(full);
        return;
    }
    full->sent = now.boot;
    full->sender->in_flight++;
    store_submit(full->sender->outbox->store, &full->request);
}

void outbox_free(struct outbox_batch *batch)
{
    if (!batch)
        return;
    if (batch->kind->release)
        batch->kind->release(batch);
    free(items_of(batch));
    free(batch->notes);
    free(batch);
}

void outbox_note_outage(const struct outbox_batch *batch, enum status st, struct now now,
                        struct outage *away)
{
    int64_t took_ms = now.boot.ms - batch->sent.ms;
    if (st != OK || took_ms >= OUTAGE_MS)
        outage_note(away, now.wall.ms - took_ms, now.wall.ms);
}

/* One slow answer raises the estimate by half at most: an outage says nothing about the next
 * request, and a claim or begin that is too early costs something, too. */
void outbox_learn_latency(const struct outbox_batch *batch, struct now now, double *latency_ms)
{
    double took_ms = (double)(now.boot.ms - batch->sent.ms);
    double most_ms = 4 * *latency_ms + 10;
    *latency_ms += ((took_ms < most_ms ? took_ms : most_ms) - *latency_ms) / 8;
}
