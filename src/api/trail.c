#include "trail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "server.h"

enum {
    GATHER_MS = 100, /* what comes meanwhile goes together */
    PATIENCE_MS = 2000,
    RETRY_MS = 1000,
    ADOPT_MS = 10000, /* a node that starts again brings its changes itself */
    READ_MS = 10000,
    STAND_BACK_MS = 2000, /* while a batch of jobs is written */
    BATCH_ITEMS = 500,
    BATCH_CHANGES = 500,   /* from so many on a batch is full */
    BATCH_BYTES = 1 << 20, /* of documents, likewise */
    WAITING_MAX = 10000,
    WAITING_BYTES = 64 << 20,
};

/* A document of changes. */
struct trail_item {
    struct id id;   /* its name */
    bool is_single; /* a CHANGE_DOC */
    char *json;     /* read when they are brought to the history */
    size_t bytes;   /* of that */
    struct change_record *changes;
    size_t count;  /* of changes; 0: they are not read yet */
    char node[64]; /* that brings them to the history */
    uint64_t number;
    int64_t since_ms; /* boot time */
    bool is_mine;     /* this node brings it */
    bool is_under_way;
    bool is_recorded;
    bool is_gone; /* from the store */
    TAILQ_ENTRY(trail_item) link;
};

static const struct table_type items_type = {.key_at = offsetof(struct trail_item, id),
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
    strbuf_init(&trail->head);
    change_records_head(api->node, &trail->head);
    enum status st = loop_timer_new_patient(api->ports.loop, step, api, &trail->timer);
    if (st == OK)
        st = loop_timer_new_patient(api->ports.loop, lose_patience, api, &trail->patience);
    return st;
}

static void forget_changes(struct trail_item *item)
{
    while (item->count)
        change_record_release(&item->changes[--item->count]);
    free(item->changes);
    item->changes = NULL;
}

static void free_item(struct trail_item *item)
{
    forget_changes(item);
    free(item->json);
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
    if (trail->head.capacity)
        strbuf_release(&trail->head);
    loop_timer_free(trail->timer);
    loop_timer_free(trail->patience);
}

bool trail_has_room(const struct trail *trail)
{
    return trail->by_id.count < WAITING_MAX && trail->bytes < WAITING_BYTES;
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

/* Until when the reader waits. While others are recorded, its own come nearer. */
static int64_t reader_until_ms(const struct trail *trail, const struct call *call)
{
    int64_t first_ms = call->trail_until_ms, last_ms = first_ms - PATIENCE_MS + READ_MS;
    int64_t until_ms = trail->moved_ms + PATIENCE_MS;
    return until_ms < first_ms ? first_ms : until_ms > last_ms ? last_ms : until_ms;
}

/* Those that came first wait for the least. */
static void wake_readers(struct api *api)
{
    struct trail_readers *readers = &api->trail.readers;
    int64_t now_ms = clock_now().boot.ms;
    struct call *call;
    while ((call = TAILQ_FIRST(readers)) &&
           (reader_until_ms(&api->trail, call) <= now_ms || is_settled(api, call->trail_number))) {
        TAILQ_REMOVE(readers, call, in_trail);
        call_later(call, call->then);
    }
    if (call)
        loop_timer_set(api->trail.patience, reader_until_ms(&api->trail, call) - now_ms);
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
static void leave_unread(struct api *api, const char *kind, const char *name, enum status st)
{
    const struct event_log *log = &api->ports.log;
    char particulars[DOC_NAME_SIZE + 100];
    if (st != E_NOMEM && strcmp(kind, RECORDS_DOC) == 0)
        undecoded_add(&api->undecoded, kind, name);
    if (!log->write)
        return;
    snprintf(particulars, sizeof(particulars), "change=%.*s error=\"%s\"", DOC_NAME_SIZE - 1, name,
             st == E_NOMEM ? status_text(st) : "this version can't read it");
    log->write(log->context, "change_unread", particulars);
}

/* Whose it is; of a document of this node nothing else is read before it is its turn. */
static enum status read_node(const struct api *api, struct trail_item *item)
{
    const struct strbuf *head = &api->trail.head;
    struct change_record change = {.before = NULL};
    char name[ID_TEXT + 1];
    if (!item->is_single && head->length && strncmp(item->json, head->text, head->length) == 0) {
        snprintf(item->node, sizeof(item->node), "%s", api->node);
        return OK;
    }
    if (!item->is_single)
        return change_records_node(item->json, item->node);
    id_format(&item->id, name);
    enum status st = change_decode_text(name, item->json, &change, item->node);
    if (st == OK)
        change_record_release(&change);
    return st;
}

static enum status new_item(const struct api *api, const struct store_doc *doc,
                            struct trail_item **ret)
{
    struct trail_item *item = calloc(1, sizeof(*item));
    if (!item)
        return E_NOMEM;
    item->is_single = strcmp(doc->kind, CHANGE_DOC) == 0;
    item->json = strdup(doc->json);
    enum status st = item->json ? id_parse(doc->name, &item->id) : E_NOMEM;
    if (st == OK)
        st = read_node(api, item);
    if (st == OK)
        *ret = item;
    else
        free_item(item);
    return st;
}

static bool has_full_batch(const struct trail *trail)
{
    return trail->mine_bytes >= BATCH_BYTES;
}

static void add_item(struct api *api, const struct store_doc *doc)
{
    struct trail *trail = &api->trail;
    struct trail_item *item = NULL;
    enum status st = new_item(api, doc, &item);
    if (st != OK) {
        leave_unread(api, doc->kind, doc->name, st);
        return;
    }
    if (table_find(&trail->by_id, &item->id) || table_insert(&trail->by_id, item) != OK) {
        free_item(item);
        return;
    }
    item->number = ++trail->last_number;
    item->since_ms = clock_now().boot.ms;
    item->is_mine = strcmp(item->node, api->node) == 0;
    item->bytes = strlen(item->json);
    trail->bytes += item->bytes;
    trail->mine_bytes += item->is_mine ? item->bytes : 0;
    TAILQ_INSERT_TAIL(&trail->unrecorded, item, link);
    if (!trail->is_asked)
        step_in(trail, item->is_mine ? GATHER_MS : ADOPT_MS);
}

/* It is no longer waiting to be brought to the history. */
static void leave_unrecorded(struct trail *trail, struct trail_item *item)
{
    TAILQ_REMOVE(&trail->unrecorded, item, link);
    if (item->is_mine && !item->is_under_way)
        trail->mine_bytes -= item->bytes;
}

static void remove_item(struct api *api, const char *name)
{
    struct trail *trail = &api->trail;
    struct id id = {{0}};
    struct trail_item *item = id_parse(name, &id) == OK ? table_find(&trail->by_id, &id) : NULL;
    if (!item)
        return;
    table_remove(&trail->by_id, item);
    trail->bytes -= item->bytes;
    item->is_gone = true;
    if (!item->is_recorded)
        leave_unrecorded(trail, item);
    if (!item->is_under_way)
        free_item(item);
    wake_readers(api);
}

void trail_take(struct api *api, const struct store_change *change)
{
    if (change->kind != STORE_CHANGE_DOC ||
        (strcmp(change->doc->kind, RECORDS_DOC) != 0 && strcmp(change->doc->kind, CHANGE_DOC) != 0))
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
        struct trail_item *item = batch->items[i];
        item->is_under_way = false;
        forget_changes(item);
        if (item->is_gone)
            free_item(item);
        else if (!item->is_recorded)
            trail->mine_bytes += item->bytes;
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
        step_in(trail, TAILQ_EMPTY(&trail->readers) && !has_full_batch(trail) ? GATHER_MS : 0);
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
            leave_unrecorded(trail, item);
        item->is_recorded = true;
    }
    trail->batch.is_recorded = st == OK;
    if (st == OK)
        trail->moved_ms = clock_now().boot.ms;
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
        *doc = (struct store_put_doc){.expected_revision = -1};
        snprintf(doc->kind, sizeof(doc->kind), "%s",
                 batch->items[i]->is_single ? CHANGE_DOC : RECORDS_DOC);
        id_format(&batch->items[i]->id, doc->name);
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
    batch->append = (struct history_append){
        .records = batch->records, .count = batch->record_count, .done = appended, .context = api};
    history_append(api->ports.history, &batch->append);
}

/* The changes of nodes that are gone are the leader's. */
static bool is_adopted(const struct api *api, const struct trail_item *item)
{
    return clock_now().boot.ms - item->since_ms >= ADOPT_MS && !is_alive(api, item->node) &&
           store_leads(api->ports.store);
}

static enum status read_changes(struct trail_item *item)
{
    char name[ID_TEXT + 1], node[64];
    if (!item->is_single)
        return change_records_read(item->json, &item->changes, &item->count);
    id_format(&item->id, name);
    item->changes = calloc(1, sizeof(*item->changes));
    enum status st =
        item->changes ? change_decode_text(name, item->json, item->changes, node) : E_NOMEM;
    item->count = st == OK;
    return st;
}

/* Reads the item's changes into the batch. False: there is no memory. */
static bool take_item(struct api *api, struct trail_item *item)
{
    struct trail *trail = &api->trail;
    struct trail_batch *batch = &trail->batch;
    enum status st = read_changes(item);
    if (st != OK && st != E_NOMEM) {
        char name[ID_TEXT + 1];
        id_format(&item->id, name);
        leave_unread(api, item->is_single ? CHANGE_DOC : RECORDS_DOC, name, st);
        leave_unrecorded(trail, item);
        table_remove(&trail->by_id, item);
        trail->bytes -= item->bytes;
        free_item(item);
        return true;
    }
    size_t count = batch->record_count;
    for (size_t i = 0; i < item->count && st == OK; i++) {
        st = array_grow(&batch->records, count, sizeof(*batch->records));
        if (st == OK)
            batch->records[count++] = (struct history_record){.change = &item->changes[i]};
    }
    if (st != OK) {
        forget_changes(item);
        return false;
    }
    batch->record_count = count;
    item->is_under_way = true;
    trail->mine_bytes -= item->bytes;
    batch->items[batch->count++] = item;
    return true;
}

/* False: there is nothing to bring, or no memory. */
static bool fill_batch(struct api *api)
{
    struct trail *trail = &api->trail;
    struct trail_batch *batch = &trail->batch;
    struct trail_item *item, *next;
    size_t bytes = 0;
    batch->count = 0;
    batch->items = calloc(BATCH_ITEMS, sizeof(struct trail_item *));
    batch->docs = calloc(BATCH_ITEMS, sizeof(*batch->docs));
    bool has_room = batch->items && batch->docs;
    for (item = TAILQ_FIRST(&trail->unrecorded); has_room && item; item = next) {
        next = TAILQ_NEXT(item, link);
        if (!item->is_mine && is_adopted(api, item)) {
            item->is_mine = true;
            trail->mine_bytes += item->bytes;
        }
        if (!item->is_mine)
            continue;
        bytes += item->bytes;
        has_room = take_item(api, item) && batch->count < BATCH_ITEMS &&
                   batch->record_count < BATCH_CHANGES && bytes < BATCH_BYTES;
    }
    if (!batch->count)
        free_batch(batch);
    return batch->count > 0;
}

/* ---- what is more urgent ---- */

void trail_begin_batch(struct trail *trail)
{
    trail->writing++;
}

void trail_end_batch(struct trail *trail)
{
    trail->writing--;
}

/* While jobs are written, processor and disk are for them. */
static bool stands_back(const struct trail *trail)
{
    const struct trail_item *oldest = TAILQ_FIRST(&trail->unrecorded);
    return trail->writing && oldest && TAILQ_EMPTY(&trail->readers) && !trail->batch.items &&
           trail->by_id.count < WAITING_MAX / 2 && trail->bytes < WAITING_BYTES / 4 * 3 &&
           clock_now().boot.ms - oldest->since_ms < STAND_BACK_MS;
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
    if (stands_back(trail)) {
        step_in(trail, GATHER_MS);
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
