/* Items on their way through etcd: planned on the mirror, sent by the hundred, decided again when
 * somebody else was faster, answered when the feed has them. */
#include <string.h>

#include "store_etcd_internal.h"

enum {
    AGAIN_MS = 10,       /* after a lost race, if the watch does not tell earlier */
    FUTILE_ROUNDS = 300, /* then something else is wrong */
    PATIENCE_MS = 5000,  /* with a feed that does not tell what was done */
};

/* ---- which keys a transaction writes ---- */

static uint64_t *find_slot(struct batch *batch, uint64_t hash)
{
    uint64_t at = hash % WRITTEN_SLOTS;
    while (batch->written[at] && batch->written[at] != hash)
        at = (at + 1) % WRITTEN_SLOTS;
    return &batch->written[at];
}

static bool is_unwritten(void *context, uint64_t key_hash)
{
    return *find_slot(context, key_hash | 1) == 0;
}

static bool note_written(void *context, uint64_t key_hash)
{
    struct batch *batch = context;
    if (batch->writes < 2 * BATCH_WRITES_MAX) /* else this is the last item anyway */
        *find_slot(batch, key_hash | 1) = key_hash | 1;
    batch->writes++;
    return true;
}

static bool is_full(const struct batch *batch)
{
    return batch->bytes >= BATCH_BYTES_MAX || batch->writes >= BATCH_WRITES_MAX;
}

/* ---- answers ---- */

/* Answers all requests before the first that has something left to be done. */
static void answer_done(struct store_etcd *store)
{
    const struct batch *batch = &store->batch;
    const struct store_request *open = batch->count ? batch->items[0].request : store->next_request;
    while (store->waiting.first && store->waiting.first != open)
        store_etcd_answer_first(store, OK);
}

/* Answers all requests that have an item in the batch. One of which a part was done is unknown as
 * a whole. */
static void fail_batch(struct store_etcd *store, enum status st)
{
    const struct store_request *open = store->next_request;
    if (open && store->next_item > 0) { /* it is in the batch, in part */
        open = open->next;
        store->next_request = store->next_request->next;
        store->next_item = 0;
    }
    store->batch.count = store->batch.sent = 0;
    store->batch.await_revision = 0;
    store->batch.futile_rounds = 0;
    while (store->waiting.first && store->waiting.first != open) {
        bool in_part = store->waiting.first->answer == E_UNKNOWN;
        store_etcd_answer_first(store, in_part ? E_UNKNOWN : st);
    }
}

/* Answers the first request that waits, whatever has become of its items. */
static void fail_first(struct store_etcd *store, enum status st)
{
    struct batch *batch = &store->batch;
    const struct store_request *first = store->waiting.first;
    size_t kept = 0;
    for (size_t i = 0; i < batch->count; i++)
        if (batch->items[i].request != first)
            batch->items[kept++] = batch->items[i];
    batch->count = kept;
    if (store->next_request == first) {
        store->next_request = first->next;
        store->next_item = 0;
    }
    store_etcd_answer_first(store, first->answer == E_UNKNOWN ? E_UNKNOWN : st);
}

void batch_fail_all(struct store_etcd *store, enum status st)
{
    if (store->batch.call)
        return; /* it has an answer of its own */
    if (store->batch.await_revision)
        return; /* it is done; the new mirror will have it, or patience ends */
    store->next_request = NULL;
    store->next_item = 0;
    fail_batch(store, st);
}

/* ---- what came of it ---- */

/* Everything that was planned is true now, and a begin has its fence. */
static void settle(struct batch_item *item, int64_t revision, size_t place)
{
    struct store_request *request = item->request;
    if (item->is_write)
        request->answer = E_UNKNOWN; /* unless the rest is done as well */
    if (request->op != STORE_BEGIN)
        return;
    struct store_begin *begin = &request->items.begins[item->index];
    if (begin->begun)
        begin->fence = place_number(revision, (int)place);
}

/* Keeps those that were not done. */
static void read_results(struct store_etcd *store, const struct etcd_result *result)
{
    struct batch *batch = &store->batch;
    size_t kept = 0, place = 0;
    for (size_t i = 0; i < batch->count; i++) {
        struct batch_item *item = &batch->items[i];
        bool is_done = false;
        if (item->is_sent && place < result->op.txn.op_count) {
            is_done = result->op.txn.ops[place].txn.succeeded;
            if (is_done)
                settle(item, result->revision, place);
            if (is_done && item->is_write)
                batch->await_revision = result->revision;
            place++;
        }
        if (!is_done)
            batch->items[kept++] = *item;
    }
    batch->futile_rounds = kept == batch->count ? batch->futile_rounds + 1 : 0;
    batch->count = kept;
}

static void on_answer(void *context, const struct etcd_result *result)
{
    struct store_etcd *store = context;
    store->batch.call = NULL;
    if (result->status != OK) {
        store_etcd_ail(store, result->status, result->message);
        fail_batch(store, result->status);
        loop_timer_set(store->step_timer, 0);
        return;
    }
    read_results(store, result);
    if (store->batch.futile_rounds) { /* until the watch tells, who was faster */
        loop_timer_set(store->step_timer, AGAIN_MS);
        return;
    }
    if (store->batch.await_revision)
        loop_timer_set(store->patience_timer, PATIENCE_MS);
    batch_feed_moved(store);
}

void batch_feed_moved(struct store_etcd *store)
{
    struct batch *batch = &store->batch;
    if (batch->call || !store->is_loaded)
        return;
    if (batch->await_revision >= etcd_watch_next_revision(store->watch))
        return;
    if (batch->await_revision)
        loop_timer_stop(store->patience_timer);
    batch->await_revision = 0;
    answer_done(store);
    batch_step(store);
}

void batch_lose_patience(void *context)
{
    struct store_etcd *store = context;
    if (!store->batch.await_revision)
        return;
    store_etcd_ail(store, E_UNREACHABLE, "etcd took a change but has not told it");
    fail_batch(store, E_UNKNOWN);
    batch_step(store);
}

/* ---- sending ---- */

enum added { ADDED, ADD_LATER, ADD_FAILED };

static enum added add_item(struct store_etcd *store, struct batch_item *item)
{
    struct batch *batch = &store->batch;
    struct plan *plan = &store->plan;
    item->is_sent = false;
    enum status st = plan_make(plan, item->request, item->index, (int)batch->sent);
    if (st != OK && batch->sent == 0) { /* all before it is done */
        answer_done(store);
        fail_first(store, st);
        return ADD_FAILED;
    }
    if (st != OK || (batch->sent > 0 && batch->bytes + plan->bytes.length > BATCH_BYTES_MAX))
        return ADD_LATER;
    if (!plan_each_key(plan, true, is_unwritten, batch) ||
        !plan_each_key(plan, false, is_unwritten, batch))
        return ADD_LATER;
    plan_each_key(plan, true, note_written, batch);
    plan_emit(plan, store->txn);
    batch->bytes += plan->bytes.length;
    batch->sent++;
    item->is_sent = true;
    item->is_write = plan_writes(plan);
    return ADDED;
}

/* The next item that was never sent; false: there is none. */
static bool next_new_item(struct store_etcd *store, struct batch_item *ret)
{
    while (store->next_request && store->next_item == store->next_request->count) {
        store->next_request = store->next_request->next;
        store->next_item = 0;
    }
    if (!store->next_request)
        return false;
    *ret = (struct batch_item){.request = store->next_request, .index = store->next_item};
    return true;
}

/* First those of the last round that were not done, in their order, then new ones. */
static enum added fill(struct store_etcd *store)
{
    struct batch *batch = &store->batch;
    struct batch_item item;
    enum added added = ADDED;
    memset(batch->written, 0, sizeof(batch->written));
    batch->sent = batch->bytes = batch->writes = 0;
    etcd_txn_reset(store->txn);
    for (size_t i = 0; i < batch->count; i++)
        batch->items[i].is_sent = false;
    for (size_t i = 0; added == ADDED && i < batch->count && !is_full(batch); i++)
        added = add_item(store, &batch->items[i]);
    while (added == ADDED && batch->count < BATCH_MAX && !is_full(batch) &&
           next_new_item(store, &item)) {
        added = add_item(store, &item);
        if (added != ADDED)
            break;
        batch->items[batch->count++] = item;
        store->next_item++;
    }
    return added;
}

void batch_step(void *context)
{
    struct store_etcd *store = context;
    struct batch *batch = &store->batch;
    struct etcd_reply reply = {on_answer, store, 0};
    if (batch->call || batch->await_revision || !store->is_loaded || !store->waiting.first)
        return;
    if (batch->futile_rounds > FUTILE_ROUNDS)
        fail_batch(store, E_BUSY);
    while (fill(store) == ADD_FAILED) /* its requests are answered; go on with the others */
        ;
    answer_done(store); /* those without items */
    if (batch->sent == 0)
        return;
    enum status st = etcd_txn_send(store->client, store->txn, &reply, &batch->call);
    if (st != OK)
        fail_batch(store, st);
}
