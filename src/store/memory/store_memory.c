/* The simplest backend, a reference for the others. Out of memory in the middle of a request leaves
 * that request half done; nothing else can fail. */
#include "store_memory.h"

#include <stdlib.h>
#include <string.h>

#include "store_memory_tables.h"

static void wake(const struct store_memory *store)
{
    if (store->wake.wake)
        store->wake.wake(store->wake.context);
}

/* ---- requests ---- */

static void memory_submit(struct store *base, struct store_request *request)
{
    struct store_memory *store = (struct store_memory *)base;
    request->next = NULL;
    *store->waiting_end = request;
    store->waiting_end = &request->next;
    wake(store);
}

/* Feeds the change to every view. */
static void tell(struct memory_data *data, const struct store_change *change)
{
    struct store_memory *view;
    TAILQ_FOREACH (view, &data->views, link) {
        feed_add(&view->feed, change);
    }
}

static bool is_alone(const struct store_memory *store)
{
    return TAILQ_FIRST(&store->data->views) == store && !TAILQ_NEXT(store, link);
}

static void tell_all(struct store_memory *from, struct feed *changes)
{
    struct feed_item *held = NULL;
    struct store_change change;
    struct store_memory *view;
    if (is_alone(from)) {
        feed_move(&from->feed, changes);
        return;
    }
    while (feed_next(changes, &held, &change))
        tell(from->data, &change);
    feed_item_free(held);
    TAILQ_FOREACH (view, &from->data->views, link) {
        if (view != from)
            wake(view);
    }
}

/* Only the requests that wait now: those submitted meanwhile are for the next call. */
static void memory_dispatch(struct store *base)
{
    struct store_memory *store = (struct store_memory *)base;
    struct store_request *request = store->waiting;
    store->waiting = NULL;
    store->waiting_end = &store->waiting;
    while (request) {
        struct store_request *next = request->next;
        struct feed changes = {0};
        enum status st = E_UNREACHABLE;
        store->data->asking = store;
        if (!store->closing)
            st = rules_apply(&store->data->tables, &changes, request);
        tell_all(store, &changes);
        request->done(request, st);
        request = next;
    }
}

/* ---- changes ---- */

static bool memory_next_change(struct store *base, struct store_change *ret)
{
    struct store_memory *store = (struct store_memory *)base;
    if (!store->loaded) {
        store->loaded = true;
        *ret = (struct store_change){.kind = STORE_CHANGE_LOADED};
        return true;
    }
    return feed_next(&store->feed, &store->held, ret);
}

static void reload_nodes(struct store_memory *store)
{
    struct memory_data *data = store->data;
    const struct store_memory *view;
    for (size_t i = 0; i < store->meta_count; i++)
        feed_add(&store->feed,
                 &(struct store_change){.kind = STORE_CHANGE_META, .meta = &store->metas[i]});
    for (size_t i = 0; i < data->drain_count; i++)
        feed_add(&store->feed,
                 &(struct store_change){.kind = STORE_CHANGE_DRAIN, .drain = &data->drains[i]});
    TAILQ_FOREACH (view, &data->views, link) {
        if (view->self.is_alive)
            feed_add(&store->feed,
                     &(struct store_change){.kind = STORE_CHANGE_PEER, .peer = &view->self});
    }
    if (data->leader)
        feed_add(&store->feed, &(struct store_change){.kind = STORE_CHANGE_LEADER,
                                                      .leader = data->leader->self.name});
}

static void reload_docs(struct store_memory *store)
{
    const struct memory_doc *doc;
    for (size_t at = 0; (doc = table_next(&store->data->docs, &at));)
        feed_add(&store->feed, &(struct store_change){.kind = STORE_CHANGE_DOC, .doc = &doc->doc});
}

static void reload_runs(struct store_memory *store, const struct memory_job *job)
{
    const struct memory_run *run;
    TAILQ_FOREACH (run, &job->runs, of_job) {
        struct run_row row = run->row;
        feed_add_run(&store->feed, STORE_CHANGE_RUN, &row.run);
        if (state_is_open(row.run.state) && row.kill_reason != REASON_NONE) {
            run_row_to_kill(&row);
            feed_add_run(&store->feed, STORE_CHANGE_KILL, &row.run);
        }
    }
}

static void reload_job(struct store_memory *store, const struct memory_job *job)
{
    if (!job->purged)
        feed_add(&store->feed, &(struct store_change){.kind = STORE_CHANGE_JOB,
                                                      .job_uid = job->row.uid,
                                                      .job_revision = job->row.revision,
                                                      .cursor_ms = job->row.cursor_ms,
                                                      .rewinds = job->row.rewinds,
                                                      .last = job->row.last,
                                                      .last_node = job->row.last_node,
                                                      .job_name = job->name,
                                                      .job_json = job->json,
                                                      .job_deleted = job->row.deleted});
}

void store_memory_reload(struct store *store)
{
    struct store_memory *memory = (struct store_memory *)store;
    const void *item;
    size_t at;
    feed_release(&memory->feed);
    reload_nodes(memory);
    reload_docs(memory);
    for (at = 0; (item = table_next(&memory->data->jobs, &at));)
        reload_job(memory, item);
    for (at = 0; (item = table_next(&memory->data->jobs, &at));)
        reload_runs(memory, item);
    for (at = 0; (item = table_next(&memory->data->entries, &at));)
        feed_add_entry(&memory->feed, item);
    feed_add(&memory->feed, &(struct store_change){.kind = STORE_CHANGE_LOADED});
    memory->loaded = true;
}

/* ---- nodes ---- */

/* The worker that joined first. */
static struct store_memory *find_leader(const struct memory_data *data)
{
    struct store_memory *view, *first = NULL;
    TAILQ_FOREACH (view, &data->views, link) {
        bool can_lead = view->self.is_alive && peer_can_lead(&view->self);
        if (can_lead && (!first || view->self.joined < first->self.joined))
            first = view;
    }
    return first;
}

static void tell_of_node(struct store_memory *store)
{
    struct memory_data *data = store->data;
    struct store_memory *view, *leader = find_leader(data);
    tell(data, &(struct store_change){.kind = STORE_CHANGE_PEER, .peer = &store->self});
    if (leader != data->leader)
        tell(data, &(struct store_change){.kind = STORE_CHANGE_LEADER,
                                          .leader = leader ? leader->self.name : ""});
    data->leader = leader;
    TAILQ_FOREACH (view, &data->views, link) {
        wake(view);
    }
}

static enum status memory_announce(struct store *base, const struct peer *self)
{
    struct store_memory *store = (struct store_memory *)base;
    int64_t joined = store->self.is_alive ? store->self.joined : ++store->data->last_joined;
    store->self = *self;
    store->self.is_alive = true;
    store->self.joined = joined;
    tell_of_node(store);
    return store->feed.failed ? E_NOMEM : OK;
}

static bool memory_leads(const struct store *base)
{
    const struct store_memory *store = (const struct store_memory *)base;
    return store->data->leader == store;
}

void store_memory_expire(struct store *store)
{
    struct store_memory *memory = (struct store_memory *)store;
    if (!memory->self.is_alive)
        return;
    memory->self.is_alive = false;
    tell_of_node(memory);
}

/* ---- the store ---- */

static enum status memory_health(struct store *base, struct strbuf *why)
{
    (void)base;
    (void)why;
    return OK;
}

static struct store *memory_free(struct store *base)
{
    struct store_memory *store = (struct store_memory *)base;
    for (memory_dispatch(base); store->waiting; memory_dispatch(base))
        store->closing = true;
    store_memory_expire(base);
    TAILQ_REMOVE(&store->data->views, store, link);
    if (TAILQ_EMPTY(&store->data->views))
        memory_data_free(store->data);
    feed_release(&store->feed);
    feed_item_free(store->held);
    free(store);
    return NULL;
}

static const struct store_ops memory_ops = {
    .submit = memory_submit,
    .dispatch = memory_dispatch,
    .next_change = memory_next_change,
    .announce = memory_announce,
    .leads = memory_leads,
    .health = memory_health,
    .free = memory_free,
    .gathers_records = true,
    .begins_claims = true,
};

static enum status new_view(struct memory_data *data, struct store_wake wake, struct store **ret)
{
    struct store_memory *store = calloc(1, sizeof(*store));
    if (!store)
        return E_NOMEM;
    store->base.ops = &memory_ops;
    store->data = data;
    store->wake = wake;
    store->waiting_end = &store->waiting;
    TAILQ_INSERT_TAIL(&data->views, store, link);
    *ret = &store->base;
    return OK;
}

enum status store_memory_new(struct store_wake wake, struct store **ret)
{
    struct memory_data *data = memory_data_new();
    if (!data)
        return E_NOMEM;
    enum status st = new_view(data, wake, ret);
    if (st != OK)
        memory_data_free(data);
    return st;
}

enum status store_memory_attach(struct store *other, struct store_wake wake, struct store **ret)
{
    enum status st = new_view(((struct store_memory *)other)->data, wake, ret);
    if (st == OK)
        store_memory_reload(*ret);
    return st;
}
