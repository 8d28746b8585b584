#include "trail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

enum {
    GATHER_MS = 100, /* what comes meanwhile goes together */
    PATIENCE_MS = 2000,
    RETRY_MS = 1000,
    ADOPT_MS = 10000, /* a node that starts again brings its changes itself */
    BATCH_MAX = 500,
    BATCH_BYTES = 4 << 20, /* of definitions */
    WAITING_MAX = 10000,
};

struct trail_item {
    struct change_record change;
    char node[64]; /* that brings it to the history */
    uint64_t number;
    int64_t since_ms; /* boot time */
    bool is_mine;     /* this node brings it */
    bool is_under_way;
    bool is_recorded;
    bool is_gone; /* from the store */
    TAILQ_ENTRY(trail_item) link;
};

static const struct table_type items_type = {.key_at = offsetof(struct trail_item, change.id),
                                             .key_size = sizeof(struct id)};

static void step(void *context);
static void lose_patience(void *context);

/* The next step is at that time, or earlier if it is needed earlier. */
static void step_in(struct trail *trail, int64_t delay_ms)
{
    int64_t at_ms = clock_now().boot.ms + delay_ms;
    if (trail->due_ms && trail->due_ms <= at_ms)
        return;
    trail->due_ms = at_ms;
    loop_timer_set(trail->timer, delay_ms);
}

enum status trail_init(struct trail *trail, struct api *api)
{
    table_init(&trail->by_id, &items_type);
    TAILQ_INIT(&trail->unrecorded);
    TAILQ_INIT(&trail->readers);
    enum status st = loop_timer_new_patient(api->ports.loop, step, api, &trail->timer);
    if (st == OK)
        st = loop_timer_new_patient(api->ports.loop, lose_patience, api, &trail->patience);
    return st;
}

static void free_item(struct trail_item *item)
{
    change_record_release(&item->change);
    free(item);
}

static void free_batch(struct trail_batch *batch)
{
    free(batch->items);
    free(batch->records);
    free(batch->docs);
    *batch = (struct trail_batch){.items = NULL};
}

void trail_release(struct trail *trail)
{
    size_t at = 0;
    struct trail_item *item;
    for (size_t i = 0; i < trail->batch.count; i++) { /* else the table has them */
        if (trail->batch.items[i]->is_gone)
            free_item(trail->batch.items[i]);
    }
    free_batch(&trail->batch);
    while (trail->timer && (item = table_next(&trail->by_id, &at)))
        free_item(item);
    if (trail->timer)
        table_release(&trail->by_id);
    loop_timer_free(trail->timer);
    loop_timer_free(trail->patience);
}

bool trail_has_room(const struct trail *trail)
{
    return trail->by_id.count < WAITING_MAX;
}

/* ---- readers ---- */

static bool is_alive(const struct api *api, const char *node)
{
    const struct known_peer *known =
        api->ports.engine ? peers_find(engine_peers(api->ports.engine), node) : NULL;
    return known && !known->gone.ms;
}

/* Has every change up to that number been recorded that soon will be? */
static bool is_settled(const struct api *api, uint64_t number)
{
    const struct trail *trail = &api->trail;
    const struct trail_item *item;
    if (trail->is_unwell)
        return true;
    TAILQ_FOREACH (item, &trail->unrecorded, link) {
        if (item->number > number)
            break;
        if (item->is_mine || is_alive(api, item->node))
            return false;
    }
    return true;
}

/* Those that came first wait for the least. */
static void wake_readers(struct api *api)
{
    struct trail_readers *readers = &api->trail.readers;
    int64_t now_ms = clock_now().boot.ms;
    struct call *call;
    while ((call = TAILQ_FIRST(readers)) &&
           (call->trail_until_ms <= now_ms || is_settled(api, call->trail_number))) {
        TAILQ_REMOVE(readers, call, in_trail);
        call_later(call, call->then);
    }
    if (call)
        loop_timer_set(api->trail.patience, call->trail_until_ms - now_ms);
}

static void lose_patience(void *context)
{
    wake_readers(context);
}

void trail_settle(struct call *call, call_then *then)
{
    struct trail *trail = &call->api->trail;
    if (is_settled(call->api, trail->last_number)) {
        then(call);
        return;
    }
    call_wait(call, then);
    call->trail_number = trail->last_number;
    call->trail_until_ms = clock_now().boot.ms + PATIENCE_MS;
    if (TAILQ_EMPTY(&trail->readers))
        loop_timer_set(trail->patience, PATIENCE_MS);
    TAILQ_INSERT_TAIL(&trail->readers, call, in_trail);
    if (!trail->is_asked)
        step_in(trail, 0);
}

/* ---- the feed ---- */

/* It stays in the store: a later start, or a newer peal, can read it. Until then `undecoded` counts
 * it, and `doctor` names it. */
static void log_unread(const struct api *api, const char *name, enum status st)
{
    const struct event_log *log = &api->ports.log;
    char particulars[DOC_NAME_SIZE + 100];
    if (!log->write)
        return;
    snprintf(particulars, sizeof(particulars), "change=%.*s error=\"%s\"", DOC_NAME_SIZE - 1, name,
             st == E_NOMEM ? status_text(st) : "this version can't read it");
    log->write(log->context, "change_unread", particulars);
}

static void add_item(struct api *api, const struct store_doc *doc)
{
    struct trail *trail = &api->trail;
    struct trail_item *item = calloc(1, sizeof(*item));
    enum status st =
        item ? change_decode_text(doc->name, doc->json, &item->change, item->node) : E_NOMEM;
    if (st != OK) {
        log_unread(api, doc->name, st);
        free(item);
        return;
    }
    if (table_find(&trail->by_id, &item->change.id) || table_insert(&trail->by_id, item) != OK) {
        free_item(item);
        return;
    }
    item->number = ++trail->last_number;
    item->since_ms = clock_now().boot.ms;
    item->is_mine = strcmp(item->node, api->node) == 0;
    TAILQ_INSERT_TAIL(&trail->unrecorded, item, link);
    if (!trail->is_asked)
        step_in(trail, item->is_mine ? GATHER_MS : ADOPT_MS);
}

static void remove_item(struct api *api, const char *name)
{
    struct trail *trail = &api->trail;
    struct id id = {{0}};
    struct trail_item *item = id_parse(name, &id) == OK ? table_find(&trail->by_id, &id) : NULL;
    if (!item)
        return;
    table_remove(&trail->by_id, item);
    item->is_gone = true;
    if (!item->is_recorded)
        TAILQ_REMOVE(&trail->unrecorded, item, link);
    if (!item->is_under_way)
        free_item(item);
    wake_readers(api);
}

void trail_take(struct api *api, const struct store_change *change)
{
    if (change->kind != STORE_CHANGE_DOC || strcmp(change->doc->kind, CHANGE_DOC) != 0)
        return;
    if (change->doc->json)
        add_item(api, change->doc);
    else
        remove_item(api, change->doc->name);
}

/* ---- to the history, and out of the store ---- */

static void end_batch(struct trail *trail)
{
    struct trail_batch *batch = &trail->batch;
    for (size_t i = 0; i < batch->count; i++) {
        batch->items[i]->is_under_way = false;
        if (batch->items[i]->is_gone)
            free_item(batch->items[i]);
    }
    free_batch(batch);
}

/* When to look again, for what is left. */
static void go_on_later(struct api *api)
{
    struct trail *trail = &api->trail;
    const struct trail_item *item;
    if (trail->is_unwell) {
        step_in(trail, RETRY_MS);
        return;
    }
    TAILQ_FOREACH (item, &trail->unrecorded, link) {
        if (item->is_mine)
            break;
    }
    if (item)
        step_in(trail, TAILQ_EMPTY(&trail->readers) ? GATHER_MS : 0);
    else if (!TAILQ_EMPTY(&trail->unrecorded))
        step_in(trail, ADOPT_MS);
}

/* The answer to what was asked; the rest is left to a step of the loop, since store or history may
 * be about to close. */
static void answered(struct api *api, enum status st)
{
    struct trail *trail = &api->trail;
    trail->is_asked = false;
    trail->is_unwell = st != OK;
    trail->due_ms = 0;
    wake_readers(api);
    api->ports.ended(api->ports.context); /* a graceful stop may wait for it */
}

static void appended(struct history_append *append, enum status st)
{
    struct api *api = append->context;
    struct trail *trail = &api->trail;
    for (size_t i = 0; st == OK && i < trail->batch.count; i++) {
        struct trail_item *item = trail->batch.items[i];
        if (!item->is_gone)
            TAILQ_REMOVE(&trail->unrecorded, item, link);
        item->is_recorded = true;
    }
    trail->batch.is_recorded = st == OK;
    answered(api, st);
    if (st == OK) {
        step_in(trail, 0);
        return;
    }
    end_batch(trail);
    go_on_later(api);
}

static void forgotten(struct store_request *request, enum status st)
{
    struct api *api = request->context;
    answered(api, st);
    if (st == OK)
        end_batch(&api->trail);
    go_on_later(api);
}

static void forget(struct api *api)
{
    struct trail_batch *batch = &api->trail.batch;
    for (size_t i = 0; i < batch->count; i++) {
        struct store_put_doc *doc = &batch->docs[i];
        *doc = (struct store_put_doc){.kind = CHANGE_DOC, .expected_revision = -1};
        id_format(&batch->items[i]->change.id, doc->name);
    }
    batch->forget = (struct store_request){.op = STORE_PUT_DOC,
                                           .count = batch->count,
                                           .items.docs = batch->docs,
                                           .done = forgotten,
                                           .context = api};
    store_submit(api->ports.store, &batch->forget);
}

static void append(struct api *api)
{
    struct trail_batch *batch = &api->trail.batch;
    for (size_t i = 0; i < batch->count; i++)
        batch->records[i] = (struct history_record){.change = &batch->items[i]->change};
    batch->append = (struct history_append){
        .records = batch->records, .count = batch->count, .done = appended, .context = api};
    history_append(api->ports.history, &batch->append);
}

/* The changes of nodes that are gone are the leader's. */
static bool is_adopted(const struct api *api, const struct trail_item *item)
{
    return clock_now().boot.ms - item->since_ms >= ADOPT_MS && !is_alive(api, item->node) &&
           store_leads(api->ports.store);
}

/* False: there is nothing to bring, or no memory. */
static bool fill_batch(struct api *api)
{
    struct trail_batch *batch = &api->trail.batch;
    struct trail_item *item;
    size_t bytes = 0;
    batch->items = calloc(BATCH_MAX, sizeof(struct trail_item *));
    batch->records = calloc(BATCH_MAX, sizeof(*batch->records));
    batch->docs = calloc(BATCH_MAX, sizeof(*batch->docs));
    if (!batch->items || !batch->records || !batch->docs) {
        free_batch(batch);
        return false;
    }
    TAILQ_FOREACH (item, &api->trail.unrecorded, link) {
        item->is_mine |= is_adopted(api, item);
        if (!item->is_mine)
            continue;
        item->is_under_way = true;
        batch->items[batch->count++] = item;
        bytes += change_record_bytes(&item->change);
        if (batch->count == BATCH_MAX || bytes >= BATCH_BYTES)
            break;
    }
    if (!batch->count)
        free_batch(batch);
    return batch->count > 0;
}

static void step(void *context)
{
    struct api *api = context;
    struct trail *trail = &api->trail;
    trail->due_ms = 0;
    if (trail->is_asked) { /* for too long */
        trail->is_unwell = true;
        wake_readers(api);
        api->ports.ended(api->ports.context);
        return;
    }
    if (!trail->batch.items && !fill_batch(api)) {
        go_on_later(api);
        return;
    }
    trail->is_asked = true;
    step_in(trail, PATIENCE_MS);
    if (trail->batch.is_recorded)
        forget(api);
    else
        append(api);
}

size_t trail_open(const struct trail *trail)
{
    const struct trail_item *item;
    size_t count = trail->batch.count;
    if (trail->is_unwell)
        return 0;
    TAILQ_FOREACH (item, &trail->unrecorded, link) {
        count += item->is_mine && !item->is_under_way; /* those are in the batch */
    }
    return count;
}
