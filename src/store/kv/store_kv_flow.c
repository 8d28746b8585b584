#include "kv/store_kv_flow.h"

#include "kv/store_kv_internal.h"

enum { LOSSES_MAX = 300 }; /* more is a bug, not a race */

/* ---- requests ---- */

void request_queue_init(struct request_queue *queue)
{
    queue->first = NULL;
    queue->end = &queue->first;
}

static void request_queue_add(struct request_queue *queue, struct store_request *request)
{
    request->next = NULL;
    *queue->end = request;
    queue->end = &request->next;
}

static struct store_request *request_queue_take(struct request_queue *queue)
{
    struct store_request *request = queue->first;
    if (!request)
        return NULL;
    queue->first = request->next;
    if (!queue->first)
        queue->end = &queue->first;
    return request;
}

/* Skips requests whose items have all been tried, and failed ones, which only wait for sent
 * items. */
static void skip_looked_at(struct flow *flow)
{
    struct store_request *next;
    while ((next = flow->next_request) && (flow->next_item == next->count || next->answer != OK)) {
        next->left -= next->count - flow->next_item;
        flow->next_request = next->next;
        flow->next_item = 0;
    }
}

/* Answers finished requests, in the order of submission. A failed request of which a part was done
 * is E_UNKNOWN. */
static void answer_done(struct store_kv *store)
{
    struct flow *flow = &store->flow;
    skip_looked_at(flow);
    while (flow->waiting.first && flow->waiting.first != flow->next_request &&
           flow->waiting.first->left == 0) {
        struct store_request *request = request_queue_take(&flow->waiting);
        if (request->answer != OK && request->is_touched)
            request->answer = E_UNKNOWN;
        request_queue_add(&store->answered, request);
        store_kv_wake(store);
    }
}

void flow_submit(struct store_kv *store, struct store_request *request, enum status st)
{
    struct flow *flow = &store->flow;
    request->answer = st;
    request->is_touched = false;
    request->left = request->count;
    request->number = flow->item_count;
    flow->item_count += request->count;
    request_queue_add(&flow->waiting, request);
    if (!flow->next_request)
        flow->next_request = request;
    loop_timer_set(flow->step_timer, 0); /* together with the turn's other requests */
}

/* ---- failures ---- */

static void fail(struct store_request *request, enum status st)
{
    if (request->answer == OK)
        request->answer = st;
}

/* Drops the waiting items of failed requests. */
static void drop_failed(struct flow *flow)
{
    size_t kept = 0;
    for (size_t i = 0; i < flow->again_count; i++) {
        if (flow->again[i].request->answer == OK)
            flow->again[kept++] = flow->again[i];
        else
            flow->again[i].request->left--;
    }
    flow->again_count = kept;
    skip_looked_at(flow);
}

void flow_fail_waiting(struct store_kv *store, enum status st)
{
    struct flow *flow = &store->flow;
    for (size_t i = 0; i < flow->again_count; i++)
        fail(flow->again[i].request, st);
    skip_looked_at(flow);
    for (struct store_request *request = flow->next_request; request; request = request->next)
        fail(request, st);
    drop_failed(flow);
    answer_done(store);
}

void flow_batch_failed(struct store_kv *store, struct store_batch *batch, enum status st)
{
    for (size_t i = 0; i < batch->count; i++) {
        struct store_request *request = batch->items[i].item.request;
        fail(request, st);
        request->is_touched |= st == E_UNKNOWN;
        request->left--;
    }
    store_batch_close(batch);
    drop_failed(&store->flow);
    answer_done(store);
    loop_timer_set(store->flow.step_timer, 0);
}

/* ---- what goes round again ---- */

static uint64_t number_of(const struct item *item)
{
    return item->request->number + item->index;
}

static void put_again(struct flow *flow, struct item item)
{
    size_t at = flow->again_count++;
    for (; at > 0 && number_of(&flow->again[at - 1]) > number_of(&item); at--)
        flow->again[at] = flow->again[at - 1];
    flow->again[at] = item;
}

/* What a batch had is done, or goes round again. */
static void batch_over(struct store_kv *store, struct store_batch *batch)
{
    struct flow *flow = &store->flow;
    for (size_t i = 0; i < batch->count; i++) {
        struct store_batch_item *done = &batch->items[i];
        struct store_request *request = done->item.request;
        if (done->is_refused)
            fail(request, E_CONFLICT);
        if (done->is_refused || (done->is_done && !done->is_partial)) {
            request->left--;
            continue;
        }
        done->item.losses = done->is_done ? 0 : done->item.losses + 1;
        if (done->item.losses > LOSSES_MAX)
            fail(request, E_BUSY);
        put_again(flow, done->item);
    }
    store_batch_close(batch);
    drop_failed(flow);
}

/* ---- filling and sending ---- */

static bool is_idle(const struct flow *flow)
{
    for (size_t i = 0; i < BATCHES; i++)
        if (flow->batches[i].state == BATCH_SENT || flow->batches[i].state == BATCH_ANSWERED)
            return false;
    return true;
}

/* The number of consecutive items of one request from `at` on. */
static size_t count_run(const struct flow *flow, size_t at)
{
    const struct item *first = &flow->again[at];
    size_t count = 1;
    while (at + count < flow->again_count && flow->again[at + count].request == first->request &&
           flow->again[at + count].index == first->index + count)
        count++;
    return count;
}

/* Fills in the items that waited or lost a comparison, in order. False: the batch is full. */
static bool fill_again(struct flow *flow, struct store_batch *batch, bool is_idle_now)
{
    size_t kept = 0, at = 0, taken;
    bool go_on = true;
    enum status why;
    while (at < flow->again_count) {
        struct item *item = &flow->again[at];
        enum store_batch_added added = BATCH_FULL;
        if (go_on && batch->count < BATCH_MAX)
            added = store_batch_add(batch, item, count_run(flow, at), is_idle_now && kept == 0,
                                    &taken, &why);
        if (added == BATCH_ADDED) {
            at += taken;
            continue;
        }
        if (added == BATCH_REFUSED)
            fail(item->request, why); /* the caller drops its items */
        go_on = added == BATCH_LATER;
        flow->again[kept++] = flow->again[at++];
    }
    flow->again_count = kept;
    return go_on;
}

static void fill_new(struct flow *flow, struct store_batch *batch, bool is_idle_now)
{
    bool go_on = true;
    size_t taken;
    enum status why;
    for (skip_looked_at(flow); go_on && flow->next_request && batch->count < BATCH_MAX &&
                               flow->again_count < PASSED_OVER_MAX;
         skip_looked_at(flow)) {
        struct item item = {.request = flow->next_request, .index = flow->next_item};
        switch (store_batch_add(batch, &item, item.request->count - item.index,
                                is_idle_now && flow->again_count == 0, &taken, &why)) {
        case BATCH_ADDED:
            flow->next_item += taken;
            break;
        case BATCH_LATER:
            if (plan_may_chain(&flow->plan, item.request, item.index)) {
                go_on = false; /* the rest waits with it */
                break;
            }
            flow->again[flow->again_count++] = item;
            flow->next_item++;
            break;
        case BATCH_REFUSED:
            fail(item.request, why); /* the caller drops its items */
            go_on = false;
            break;
        case BATCH_FULL:
            go_on = false;
            break;
        }
    }
}

/* False: nothing to send. */
static bool fill(struct store_kv *store, struct store_batch *batch)
{
    struct flow *flow = &store->flow;
    bool is_idle_now = is_idle(flow);
    for (;;) {
        size_t again = flow->again_count;
        const struct store_request *next = flow->next_request;
        store_batch_open(batch, store);
        key_set_clear(&flow->blocked);
        if (fill_again(flow, batch, is_idle_now))
            fill_new(flow, batch, is_idle_now);
        if (batch->count > 0)
            return true;
        store_batch_close(batch);
        drop_failed(flow);
        answer_done(store);
        bool has_dropped = again != flow->again_count || next != flow->next_request;
        if (!has_dropped || (!flow->again_count && !flow->next_request))
            return false;
    }
}

static struct store_batch *free_batch(struct flow *flow)
{
    struct store_batch *free = NULL;
    size_t in_flight = 0;
    for (size_t i = 0; i < BATCHES; i++) {
        if (flow->batches[i].state == BATCH_FREE)
            free = &flow->batches[i];
        in_flight += flow->batches[i].state == BATCH_SENT;
    }
    return in_flight < BATCHES_IN_FLIGHT ? free : NULL;
}

/* Sends what can be sent. For a timer: the context is the store. */
static void flow_step(void *context)
{
    struct store_kv *store = context;
    struct flow *flow = &store->flow;
    struct store_batch *batch;
    if (store->is_half_told &&
        store->health.status != OK) { /* the rest of the revision may take long */
        flow_fail_waiting(store, E_UNREACHABLE);
        return;
    }
    while (store->is_loaded && !store->is_half_told && (flow->again_count || flow->next_request) &&
           (batch = free_batch(flow)) && fill(store, batch))
        store_batch_send(batch);
    answer_done(store);
}

/* ---- the feed ---- */

/* Sets the timer to the next batch's time-out. */
static void arm_patience(struct flow *flow)
{
    int64_t first_ms = INT64_MAX, now_ms = clock_now().boot.ms;
    for (size_t i = 0; i < BATCHES; i++)
        if (flow->batches[i].state == BATCH_ANSWERED && flow->batches[i].until_ms < first_ms)
            first_ms = flow->batches[i].until_ms;
    if (first_ms == INT64_MAX)
        loop_timer_stop(flow->patience_timer);
    else
        loop_timer_set(flow->patience_timer, first_ms > now_ms ? first_ms - now_ms : 0);
}

static void lose_patience(void *context)
{
    struct store_kv *store = context;
    int64_t now_ms = clock_now().boot.ms;
    for (size_t i = 0; i < BATCHES; i++) {
        struct store_batch *batch = &store->flow.batches[i];
        if (batch->state != BATCH_ANSWERED || batch->until_ms > now_ms)
            continue;
        if (!batch->has_written) { /* somebody was faster, and the watch has not told who */
            batch_over(store, batch);
            continue;
        }
        health_ail(store, E_UNREACHABLE,
                   "a change was accepted, but the watch has not delivered it");
        flow_batch_failed(store, batch, E_UNKNOWN);
    }
    arm_patience(&store->flow);
    flow_step(store);
}

/* The watch has passed the revision that barred the batch without delivering halt or epoch: it
 * resumed in an etcd that was restored since, with the same cluster id. */
static bool is_barred_untold(struct store_kv *store, struct store_batch *batch)
{
    bool is_untold = batch->is_barred && epoch_is_as_asked(store, &batch->asked);
    batch->is_barred = false;
    return is_untold;
}

void flow_feed_moved(struct store_kv *store)
{
    struct flow *flow = &store->flow;
    bool is_any_over = false;
    if (!store->is_loaded)
        return;
    int64_t next_revision = kv_watch_next_revision(store->watch);
    for (size_t i = 0; i < BATCHES; i++) {
        struct store_batch *batch = &flow->batches[i];
        if (batch->state != BATCH_ANSWERED || batch->revision >= next_revision)
            continue;
        if (is_barred_untold(store, batch)) {
            load_again(store);
            return;
        }
        if (batch->has_written)
            health_worked(store);
        batch_over(store, batch);
        is_any_over = true;
    }
    if (is_any_over)
        arm_patience(flow);
    flow_step(store);
}

void flow_forget_others(struct store_kv *store)
{
    for (size_t i = 0; i < BATCHES; i++) {
        struct store_batch *batch = &store->flow.batches[i];
        if (batch->state == BATCH_ANSWERED &&
            !epoch_is_same_cluster(store, batch->asked.cluster_id))
            flow_batch_failed(store, batch, E_UNKNOWN);
    }
}

void flow_batch_answered(struct store_kv *store, struct store_batch *batch)
{
    (void)batch;
    arm_patience(&store->flow);
    flow_feed_moved(store);
}

/* ---- all of it ---- */

enum status flow_init(struct store_kv *store)
{
    struct flow *flow = &store->flow;
    request_queue_init(&flow->waiting);
    store_plan_init(&flow->plan, &store->mirror);
    enum status st = loop_timer_new(store->loop, flow_step, store, &flow->step_timer);
    if (st == OK)
        st = loop_timer_new(store->loop, lose_patience, store, &flow->patience_timer);
    if (st == OK)
        st = kv_txn_new(&flow->txn);
    return st;
}

void flow_release(struct store_kv *store)
{
    struct flow *flow = &store->flow;
    loop_timer_free(flow->step_timer);
    loop_timer_free(flow->patience_timer);
    kv_txn_free(flow->txn);
    store_plan_release(&flow->plan);
    for (size_t i = 0; i < BATCHES; i++) {
        key_list_release(&flow->batches[i].written);
        key_list_release(&flow->batches[i].compared);
    }
    key_set_release(&flow->written);
    key_set_release(&flow->compared);
    key_set_release(&flow->blocked);
}
