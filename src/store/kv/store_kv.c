#include "kv/store_kv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kv/store_kv_internal.h"

void store_kv_wake(struct store_kv *store)
{
    if (store->wake.wake)
        store->wake.wake(store->wake.context);
}

static enum status kv_store_health(struct store *base, struct strbuf *why)
{
    const struct store_kv *store = (const struct store_kv *)base;
    if (epoch_is_halted(store)) {
        epoch_explain(store, why);
        return E_ROLLED_BACK;
    }
    if (store->health.status == OK || nodes_is_shut_out(store->nodes))
        return nodes_health(store->nodes, why);
    health_explain(store, why);
    return store->health.status;
}

/* ---- requests ---- */

static void kv_store_submit(struct store *base, struct store_request *request)
{
    struct store_kv *store = (struct store_kv *)base;
    bool is_hopeless = store->is_closing || (!store->is_loaded && !store->list);
    bool is_refused = epoch_is_halted(store) && !advance_owns(store, request);
    flow_submit(store, request, is_hopeless ? E_UNREACHABLE : is_refused ? E_ROLLED_BACK : OK);
    if (is_hopeless) /* the loop may not run again */
        flow_fail_waiting(store, E_UNREACHABLE);
}

/* Only the requests that are answered now: those submitted meanwhile are for a later call. */
static void kv_store_dispatch(struct store *base)
{
    struct store_kv *store = (struct store_kv *)base;
    struct store_request *request = store->answered.first;
    request_queue_init(&store->answered);
    while (request) {
        struct store_request *next = request->next;
        request->done(request, request->answer);
        request = next;
    }
}

static bool kv_store_next_change(struct store *base, struct store_change *ret)
{
    struct store_kv *store = (struct store_kv *)base;
    return feed_next(&store->feed, &store->held, ret);
}

static size_t kv_store_each_aside(const struct store *base,
                                  void (*visit)(void *context, const struct store_aside *aside),
                                  void *context)
{
    const struct table *asides = &((const struct store_kv *)base)->mirror.asides;
    const struct mirror_aside *aside;
    for (size_t at = 0; visit && (aside = table_next(asides, &at));)
        visit(context, &(struct store_aside){aside->key, aside->why});
    return asides->count;
}

/* ---- open and free ---- */

static struct store_kv *release(struct store_kv *store)
{
    kv_watch_free(store->watch);
    kv_list_cancel(store->list);
    check_release(store);
    epoch_release(store); /* asks the client what it has seen last */
    kv_client_free(store->client);
    advance_release(store);
    health_release(store);
    flow_release(store);
    loop_timer_free(store->reload_timer);
    mirror_release(&store->mirror);
    mirror_release(&store->loading);
    feed_release(&store->feed);
    feed_item_free(store->held);
    free(store->prefix);
    free(store->node);
    free(store->range);
    free(store->epoch_key);
    free(store->halt_key);
    free(store);
    return NULL;
}

static struct store *kv_store_free(struct store *base)
{
    struct store_kv *store = (struct store_kv *)base;
    while (store->flow.waiting.first)
        loop_run_once(store->loop);
    store->is_closing = true;
    suspects_release(store);
    nodes_leave(store);
    while (store->answered.first)
        kv_store_dispatch(base);
    release(store);
    return NULL;
}

static const struct store_ops kv_store_ops = {
    .submit = kv_store_submit,
    .dispatch = kv_store_dispatch,
    .next_change = kv_store_next_change,
    .announce = nodes_announce,
    .beat = nodes_beat,
    .suspect = suspects_look,
    .leads = nodes_lead,
    .health = kv_store_health,
    .each_aside = kv_store_each_aside,
    .free = kv_store_free,
};

static enum status copy_names(struct store_kv *store, const struct store_kv_config *config)
{
    const char *prefix = config->prefix ? config->prefix : "/peal";
    store->prefix = strdup(prefix);
    store->node = strdup(config->node ? config->node : "");
    if (asprintf(&store->range, "%s/", prefix) < 0)
        store->range = NULL;
    if (asprintf(&store->epoch_key, "%s/epoch", prefix) < 0)
        store->epoch_key = NULL;
    if (asprintf(&store->halt_key, "%s/halt", prefix) < 0)
        store->halt_key = NULL;
    bool has_all = store->prefix && store->node && store->range && store->epoch_key;
    return has_all && store->halt_key ? OK : E_NOMEM;
}

static enum status make_parts(struct store_kv *store, const struct store_kv_config *config)
{
    store->check_ms = config->check_ms;
    store->silence_ms = config->silence_ms;
    enum status st = loop_timer_new(store->loop, load_start, store, &store->reload_timer);
    if (st == OK)
        st = flow_init(store);
    if (st == OK)
        st = health_init(store);
    if (st == OK)
        st = epoch_init(store, config->revision_file);
    if (st == OK)
        st = check_init(store);
    if (st == OK)
        health_watch_client(store);
    return st;
}

/* Runs the loop until everything is read, or the first attempt has failed. */
static enum status wait_for_load(struct store_kv *store, struct strbuf *why)
{
    load_start(store);
    while (!store->is_loaded && store->health.status == OK)
        loop_run_once(store->loop);
    if (!store->is_loaded)
        health_explain(store, why);
    return store->health.status;
}

enum status store_kv_open(struct loop *loop, const struct store_kv_config *config,
                          struct store_wake wake, struct store **ret, struct strbuf *why)
{
    struct store_kv *store = calloc(1, sizeof(*store));
    if (!store) {
        kv_client_free(config->client);
        return E_NOMEM;
    }
    store->base.ops = &kv_store_ops;
    store->loop = loop;
    store->client = config->client;
    store->wake = wake;
    request_queue_init(&store->answered);
    enum status st = copy_names(store, config);
    mirror_init(&store->mirror, store->prefix, store->node);
    mirror_init(&store->loading, store->prefix, store->node);
    if (st == OK)
        st = make_parts(store, config);
    if (st == OK)
        st = wait_for_load(store, why);
    if (st != OK) {
        release(store);
        return st;
    }
    *ret = &store->base;
    return OK;
}
