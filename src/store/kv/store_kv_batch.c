/* A transaction of up to a hundred inner ones: filled from plans, sent, and its results. */
#include "kv/store_kv_internal.h"

enum {
    AGAIN_MS = 10,      /* pause after a lost comparison, unless the watch is faster */
    PATIENCE_MS = 5000, /* time-out of the wait for the feed */
    DEADLINE_MS = 4000, /* longer than an election in etcd, even with a split vote */
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

static bool note(struct key_list *list, struct key_set *set, uint64_t hash)
{
    if (key_list_add(list, hash) != OK)
        return false;
    if (key_set_add(set, hash) == OK)
        return true;
    list->count--;
    return false;
}

static bool note_written(void *context, uint64_t hash)
{
    struct store_batch *batch = context;
    return note(&batch->written, &batch->store->flow.written, hash);
}

static bool note_compared(void *context, uint64_t hash)
{
    struct store_batch *batch = context;
    return note(&batch->compared, &batch->store->flow.compared, hash);
}

static void give_back(struct key_set *set, struct key_list *list, size_t count)
{
    while (list->count > count)
        key_set_remove(set, list->hashes[--list->count]);
}

/* All or none. */
static enum status note_keys(struct store_batch *batch, const struct store_plan *plan)
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

/* Compares the halt key and the epoch for the whole batch. */
static void guard_all(struct store_kv *store)
{
    struct kv_txn *txn = store->flow.txn;
    kv_txn_if_mod_revision(txn, kv_text(store->halt_key), KV_EQUAL, store->mirror.halt_revision);
    kv_txn_if_mod_revision(txn, kv_text(store->epoch_key), KV_EQUAL,
                           store->mirror.epoch.mod_revision);
}

/* A registered node makes or begins runs only while its key is unchanged; nor does it say that its
 * mirror is right. Who is not in, and may be in soon, may ask that all the same. */
static bool is_guarded(const struct store_kv *store, const struct store_request *request)
{
    bool is_a_start =
        request->op == STORE_CLAIM || request->op == STORE_TAKE || request->op == STORE_BEGIN;
    if (request->op == STORE_CONFIRM)
        return nodes_are_in(store->nodes);
    return is_a_start && store->nodes && !advance_owns(store, request);
}

/* Later items go into a group with this node's guard, or into none. */
static void set_group(struct store_batch *batch, bool is_guarded)
{
    struct kv_txn *txn = batch->store->flow.txn;
    if (is_guarded == (batch->group_count > 0))
        return;
    if (!is_guarded) {
        kv_txn_end(txn);
        batch->group_count = 0;
        return;
    }
    kv_txn_begin(txn);
    nodes_guard(batch->store->nodes, txn);
    batch->op_count++;
    batch->inner_count++;
}

void store_batch_open(struct store_batch *batch, struct store_kv *store)
{
    batch->store = store;
    batch->state = BATCH_FILLING;
    batch->count = batch->bytes = batch->width = 0;
    batch->op_count = batch->inner_count = batch->group_count = 0;
    batch->has_written = batch->has_put = batch->is_barred = false;
    batch->may_repeat = true;
    kv_txn_reset(store->flow.txn);
    guard_all(store);
}

void store_batch_close(struct store_batch *batch)
{
    give_back(&batch->store->flow.written, &batch->written, 0);
    give_back(&batch->store->flow.compared, &batch->compared, 0);
    batch->state = BATCH_FREE;
}

/* Does the plan fit into the batch? A single one always does, if it can be planned. */
static bool has_room(const struct store_batch *batch, const struct store_plan *plan)
{
    size_t width_max = kv_client_kind(batch->store->client)->limits.width;
    size_t width = plan_width(plan);
    if (width < batch->width)
        width = batch->width;
    return batch->count == 0 || (batch->bytes + plan->bytes.length <= BATCH_BYTES_MAX &&
                                 batch->inner_count + 4 + width <= width_max);
}

/* How many further jobs may be in a chain. Those that have lost a comparison go with fewer others:
 * the more jobs are compared, the sooner one of them changes. */
static size_t jobs_beside(const struct item *item)
{
    return item->losses < 8 ? (size_t)BATCH_MAX >> item->losses : 0;
}

/* Plans the following items on top of the first, as long as they have the same guard. */
static size_t plan_chain(struct store_batch *batch, const struct item *first, size_t most)
{
    struct store_plan *plan = &batch->store->flow.plan;
    size_t count = 1, jobs_left = jobs_beside(first);
    if (plan->is_partial)
        return count;
    if (most > BATCH_MAX - batch->count)
        most = BATCH_MAX - batch->count;
    while (count < most && plan->bytes.length < BATCH_BYTES_MAX / 2 &&
           plan_may_chain(plan, first->request, first->index + count - 1)) {
        bool is_of_another = !plan_is_same_job(plan, first->request, first->index + count - 1);
        if (is_of_another && jobs_left == 0)
            break;
        jobs_left -= is_of_another;
        int place = (int)(batch->count + count);
        if (plan_add(plan, first->request, first->index + count, place, true) != OK)
            break;
        count++;
    }
    return count;
}

/* Is the operation idempotent? A second copy then does nothing, and the item, when it is planned
 * again, finds that the first was done: by its nonce, or by what the feed has delivered. */
static bool knows_itself(enum store_op op)
{
    return op == STORE_CLAIM || op == STORE_TAKE || op == STORE_BEGIN || op == STORE_FINISH ||
           op == STORE_FORGET || op == STORE_CONFIRM;
}

static void take_items(struct store_batch *batch, const struct item *first, size_t count,
                       bool is_guarded)
{
    const struct store_plan *plan = &batch->store->flow.plan;
    for (size_t i = 0; i < count; i++) {
        batch->items[batch->count++] =
            (struct store_batch_item){.item = {first->request, first->index + i, first->losses},
                                      .group = is_guarded ? batch->op_count : 0,
                                      .inner = is_guarded ? batch->group_count : batch->op_count,
                                      .is_write = plan_writes(plan),
                                      .is_partial = plan->is_partial};
    }
    batch->has_put |= plan_puts(plan);
    batch->may_repeat &= knows_itself(first->request->op);
    batch->inner_count++;
    if (is_guarded)
        batch->group_count++;
    else
        batch->op_count++;
    if (batch->width < plan_width(plan))
        batch->width = plan_width(plan);
    batch->bytes += plan->bytes.length;
}

/* Can the plan go into the batch? An item that must wait blocks its keys, so that later ones do not
 * overtake it. */
static enum store_batch_added see_fit(struct store_batch *batch)
{
    struct flow *flow = &batch->store->flow;
    const struct store_plan *plan = &flow->plan;
    if (plan_each_key(plan, true, may_write, flow) && plan_each_key(plan, false, may_compare, flow))
        return has_room(batch, plan) ? BATCH_ADDED : BATCH_FULL;
    bool is_blocked =
        plan_each_key(plan, true, block, flow) && plan_each_key(plan, false, block, flow);
    return is_blocked ? BATCH_LATER : BATCH_FULL;
}

/* BATCH_REFUSED: *why says why it can't be planned. */
static enum store_batch_added plan_items(struct store_batch *batch, const struct item *item,
                                         size_t most, size_t *taken, enum status *why)
{
    struct store_plan *plan = &batch->store->flow.plan;
    bool chain = most > 1 && plan_may_chain(plan, item->request, item->index);
    *taken = 1;
    *why = plan_add(plan, item->request, item->index, (int)batch->count, chain);
    if (*why != OK)
        return BATCH_REFUSED;
    enum store_batch_added added = see_fit(batch);
    if (added != BATCH_ADDED || !chain)
        return added;
    *taken = plan_chain(batch, item, most);
    return *taken > 1 ? see_fit(batch) : BATCH_ADDED;
}

enum store_batch_added store_batch_add(struct store_batch *batch, const struct item *item,
                                       size_t most, bool is_first, size_t *taken, enum status *why)
{
    struct store_plan *plan = &batch->store->flow.plan;
    plan_begin(plan);
    enum store_batch_added added = plan_items(batch, item, most, taken, why);
    plan_end(plan);
    if (added == BATCH_ADDED) {
        *why = note_keys(batch, plan);
        added = *why == OK ? BATCH_ADDED : BATCH_REFUSED;
    }
    if (added == BATCH_REFUSED && (!is_first || batch->count > 0))
        added = BATCH_FULL; /* items under way may change that */
    if (added != BATCH_ADDED)
        return added;
    bool is_in_group = is_guarded(batch->store, item->request);
    set_group(batch, is_in_group);
    plan_emit(plan, batch->store->flow.txn);
    take_items(batch, item, *taken, is_in_group);
    return BATCH_ADDED;
}

/* ---- what came of it ---- */

/* The item's inner transaction; NULL: none. */
static const struct kv_txn_result *inner_of(const struct kv_txn_result *txn, size_t place)
{
    return txn->succeeded && place < txn->op_count ? &txn->ops[place].txn : NULL;
}

/* The plan was carried out: sets the results, with the fence of a begin. */
static void settle(struct store_batch *batch, size_t place)
{
    struct store_batch_item *item = &batch->items[place];
    struct store_request *request = item->item.request;
    item->is_done = true;
    if (item->is_write) {
        batch->has_written = true;
        request->is_touched = true;
    }
    if (request->op != STORE_BEGIN)
        return;
    struct store_begin *begin = &request->items.begins[item->item.index];
    if (begin->begun && !begin->is_repeat)
        begin->fence = place_number(&batch->store->mirror.epoch, batch->revision, (int)place);
}

/* Items that were not done are tried again; if an earlier copy was sent, they may be done
 * already. */
static void settle_all(struct store_batch *batch, const struct kv_txn_result *txn, bool is_repeated)
{
    bool is_any_refused = false;
    for (size_t i = 0; i < batch->count; i++) {
        struct store_batch_item *item = &batch->items[i];
        const struct kv_txn_result *level = item->group ? inner_of(txn, item->group - 1) : txn;
        const struct kv_txn_result *own = level ? inner_of(level, item->inner) : NULL;
        item->is_refused = item->group && level && !level->succeeded;
        is_any_refused |= item->is_refused;
        if (own && own->succeeded)
            settle(batch, i);
        else if (is_repeated)
            item->item.request->is_touched = true;
    }
    if (is_any_refused)
        nodes_look(batch->store->nodes);
}

static void on_answer(void *context, const struct kv_result *result)
{
    struct store_batch *batch = context;
    struct store_kv *store = batch->store;
    const struct kv_txn_result *txn = &result->op.txn;
    if (result->status != OK) {
        health_ail(store, result->status, result->message);
        flow_batch_failed(store, batch, result->status);
        return;
    }
    batch->revision = result->revision;
    batch->is_barred = !txn->succeeded;
    settle_all(batch, txn, result->is_repeated);
    if (!epoch_saw(store, epoch_sign(result), &batch->asked, batch->has_written)) {
        flow_batch_failed(store, batch, E_UNKNOWN);
        return;
    }
    if (!txn->succeeded && batch->has_put)
        health_remove_probe(store); /* see count_for_quota */
    batch->state = BATCH_ANSWERED;
    batch->until_ms = clock_now().boot.ms + (batch->has_written ? PATIENCE_MS : AGAIN_MS);
    flow_batch_answered(store, batch);
}

/* etcd ignores the writes of nested transactions when it checks its quota, both before the database
 * is full and after: it is_quota_shallow. So one put is at the top level, in the branch for a
 * changed halt, where it is counted but not done. */
static void count_for_quota(struct store_kv *store)
{
    struct kv_txn *txn = store->flow.txn;
    kv_txn_else(txn);
    kv_txn_put(txn, &(struct kv_put){.key = kv_text(store->health.probe_key),
                                     .value = kv_text(store->node)});
}

void store_batch_send(struct store_batch *batch)
{
    struct store_kv *store = batch->store;
    struct kv_reply reply = {on_answer, batch, batch->may_repeat ? DEADLINE_MS : 0};
    struct kv_call *call;
    batch->state = BATCH_SENT;
    batch->asked = epoch_ask(store);
    set_group(batch, false);
    if (batch->has_put && kv_client_kind(store->client)->is_quota_shallow)
        count_for_quota(store);
    enum status st = kv_txn_send(store->client, store->flow.txn, &reply, &call);
    if (st != OK)
        flow_batch_failed(store, batch, st);
    else if (batch->may_repeat)
        kv_call_may_repeat(call);
}
