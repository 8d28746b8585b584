/* A transaction of up to a hundred inner ones: filled from plans, sent, and what came of it. */
#include "store_etcd_internal.h"

enum {
    AGAIN_MS = 10,      /* after a lost race, if the watch does not tell earlier */
    PATIENCE_MS = 5000, /* with a feed that does not tell what was done */
};

/* ---- keys ---- */

static bool may_write(void *context, uint64_t hash)
{
    const struct flow *flow = context;
    return !key_set_has(&flow->written, hash) && !key_set_has(&flow->compared, hash) &&
           !key_set_has(&flow->blocked, hash);
}

static bool may_compare(void *context, uint64_t hash)
{
    const struct flow *flow = context;
    return !key_set_has(&flow->written, hash) && !key_set_has(&flow->blocked, hash);
}

static bool block(void *context, uint64_t hash)
{
    struct flow *flow = context;
    return key_set_add(&flow->blocked, hash) == OK;
}

static bool note_written(void *context, uint64_t hash)
{
    struct batch *batch = context;
    if (key_list_add(&batch->written, hash) != OK)
        return false;
    if (key_set_add(&batch->store->flow.written, hash) == OK)
        return true;
    batch->written.count--;
    return false;
}

static bool note_compared(void *context, uint64_t hash)
{
    struct batch *batch = context;
    if (key_list_add(&batch->compared, hash) != OK)
        return false;
    if (key_set_add(&batch->store->flow.compared, hash) == OK)
        return true;
    batch->compared.count--;
    return false;
}

static void give_back(struct key_set *set, struct key_list *list, size_t count)
{
    while (list->count > count)
        key_set_remove(set, list->hashes[--list->count]);
}

/* All or none. */
static enum status note_keys(struct batch *batch, const struct plan *plan)
{
    size_t written = batch->written.count, compared = batch->compared.count;
    if (plan_each_key(plan, true, note_written, batch) &&
        plan_each_key(plan, false, note_compared, batch))
        return OK;
    give_back(&batch->store->flow.written, &batch->written, written);
    give_back(&batch->store->flow.compared, &batch->compared, compared);
    return E_NOMEM;
}

/* ---- filling ---- */

void batch_open(struct batch *batch, struct store_etcd *store)
{
    batch->store = store;
    batch->state = BATCH_FILLING;
    batch->count = batch->inner_count = batch->bytes = 0;
    batch->has_written = false;
    etcd_txn_reset(store->flow.txn);
}

void batch_close(struct batch *batch)
{
    give_back(&batch->store->flow.written, &batch->written, 0);
    give_back(&batch->store->flow.compared, &batch->compared, 0);
    batch->state = BATCH_FREE;
}

static bool is_free_to_go(struct flow *flow)
{
    return plan_each_key(&flow->plan, true, may_write, flow) &&
           plan_each_key(&flow->plan, false, may_compare, flow);
}

/* Plans those that follow on top of the first, for as long as they have the same guard. */
static size_t plan_chain(struct batch *batch, const struct item *first, size_t most)
{
    struct plan *plan = &batch->store->flow.plan;
    size_t count = 1;
    if (plan->is_partial)
        return count;
    if (most > BATCH_MAX - batch->count)
        most = BATCH_MAX - batch->count;
    while (count < most && plan->bytes.length < BATCH_BYTES_MAX / 2 &&
           plan_may_chain(plan, first->request, first->index + count - 1)) {
        int place = (int)(batch->count + count);
        if (plan_add(plan, first->request, first->index + count, place, true) != OK)
            break;
        count++;
    }
    return count;
}

static void take_items(struct batch *batch, const struct item *first, size_t count)
{
    const struct plan *plan = &batch->store->flow.plan;
    for (size_t i = 0; i < count; i++) {
        batch->items[batch->count++] =
            (struct batch_item){.item = {first->request, first->index + i, first->losses},
                                .inner = batch->inner_count,
                                .is_write = plan_writes(plan),
                                .is_partial = plan->is_partial};
    }
    batch->inner_count++;
    batch->bytes += plan->bytes.length;
}

enum batch_added batch_add(struct batch *batch, const struct item *item, size_t most, bool is_first,
                           size_t *taken, enum status *why)
{
    struct flow *flow = &batch->store->flow;
    struct plan *plan = &flow->plan;
    enum batch_added added = BATCH_ADDED;
    is_first = is_first && batch->count == 0;
    plan_begin(plan);
    bool chain = most > 1 && plan_may_chain(plan, item->request, item->index);
    enum status st = plan_add(plan, item->request, item->index, (int)batch->count, chain);
    *taken = st == OK && chain ? plan_chain(batch, item, most) : 1;
    plan_end(plan);
    if (st == OK && !is_free_to_go(flow)) {
        added = plan_each_key(plan, true, block, flow) && plan_each_key(plan, false, block, flow)
                    ? BATCH_LATER
                    : BATCH_FULL;
    } else if (st == OK && batch->count > 0 &&
               batch->bytes + plan->bytes.length > BATCH_BYTES_MAX) {
        added = BATCH_FULL;
    } else if (st == OK) {
        st = note_keys(batch, plan);
    }
    if (st != OK) {
        *why = st;
        return is_first ? BATCH_REFUSED : BATCH_FULL;
    }
    if (added != BATCH_ADDED) {
        *taken = 0;
        return added;
    }
    plan_emit(plan, flow->txn);
    take_items(batch, item, *taken);
    return BATCH_ADDED;
}

/* ---- what came of it ---- */

/* Everything that was planned is true now, and a begin has its fence. */
static void settle(struct batch *batch, size_t place)
{
    struct batch_item *item = &batch->items[place];
    struct store_request *request = item->item.request;
    item->is_done = true;
    if (item->is_write) {
        batch->has_written = true;
        request->is_touched = true;
    }
    if (request->op != STORE_BEGIN)
        return;
    struct store_begin *begin = &request->items.begins[item->item.index];
    if (begin->begun)
        begin->fence = place_number(batch->revision, (int)place);
}

static void on_answer(void *context, const struct etcd_result *result)
{
    struct batch *batch = context;
    struct store_etcd *store = batch->store;
    const struct etcd_txn_result *txn = &result->op.txn;
    if (result->status != OK) {
        store_etcd_ail(store, result->status, result->message);
        flow_batch_failed(store, batch, result->status);
        return;
    }
    batch->revision = result->revision;
    for (size_t i = 0; i < batch->count; i++) {
        size_t inner = batch->items[i].inner;
        if (inner < txn->op_count && txn->ops[inner].txn.succeeded)
            settle(batch, i);
    }
    batch->state = BATCH_ANSWERED;
    batch->until_ms = clock_now().boot.ms + (batch->has_written ? PATIENCE_MS : AGAIN_MS);
    flow_batch_answered(store, batch);
}

void batch_send(struct batch *batch)
{
    struct store_etcd *store = batch->store;
    struct etcd_reply reply = {on_answer, batch, 0};
    batch->state = BATCH_SENT;
    enum status st = etcd_txn_send(store->client, store->flow.txn, &reply, NULL);
    if (st != OK)
        flow_batch_failed(store, batch, st);
}
