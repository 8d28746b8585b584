#include "outbox.h"

#include <stdlib.h>
#include <string.h>

void outbox_init(struct outbox *outbox, struct store *store)
{
    *outbox = (struct outbox){.store = store};
    TAILQ_INIT(&outbox->answered);
    TAILQ_INIT(&outbox->spare);
}

static struct outbox_batch *take_first(struct outbox_list *list)
{
    struct outbox_batch *batch = TAILQ_FIRST(list);
    if (batch)
        TAILQ_REMOVE(list, batch, link);
    return batch;
}

/* All members of the union are pointers to objects. */
static void *items_of(const struct outbox_batch *batch)
{
    return batch->request.items.claims;
}

static void free_batch(struct outbox_batch *batch)
{
    free(items_of(batch));
    free(batch->notes);
    free(batch);
}

void outbox_release(struct outbox *outbox)
{
    struct outbox_batch *batch;
    while ((batch = take_first(&outbox->answered)))
        outbox_free(batch);
    while ((batch = take_first(&outbox->spare)))
        free_batch(batch);
    outbox->spare_count = 0;
}

void outbox_hand_back(struct outbox *outbox, struct now now)
{
    for (struct outbox_batch *batch; (batch = take_first(&outbox->answered));) {
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

static struct outbox_batch *take_spare(struct outbox *outbox, const struct outbox_kind *kind)
{
    struct outbox_batch *batch;
    TAILQ_FOREACH (batch, &outbox->spare, link) {
        if (batch->kind != kind)
            continue;
        TAILQ_REMOVE(&outbox->spare, batch, link);
        outbox->spare_count--;
        return batch;
    }
    return NULL;
}

static struct outbox_batch *new_batch(struct outbox_sender *sender, const struct outbox_kind *kind)
{
    struct outbox_batch *batch = take_spare(sender->outbox, kind);
    if (!batch && !(batch = calloc(1, sizeof(*batch))))
        return NULL;
    *batch = (struct outbox_batch){
        .request = {.op = kind->op,
                    .items.claims = items_of(batch),
                    .done = keep_answer,
                    .context = batch},
        .kind = kind,
        .sender = sender,
        .room = batch->room,
        .notes = batch->notes,
    };
    return batch;
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

/* Large ones are kept: their memory would go back to the kernel, and come again page by page. */
void outbox_free(struct outbox_batch *batch)
{
    if (!batch)
        return;
    struct outbox *outbox = batch->sender->outbox;
    if (batch->kind->release)
        batch->kind->release(batch);
    if (batch->room < OUTBOX_MAX || outbox->spare_count == OUTBOX_SPARE) {
        free_batch(batch);
        return;
    }
    TAILQ_INSERT_HEAD(&outbox->spare, batch, link);
    outbox->spare_count++;
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
