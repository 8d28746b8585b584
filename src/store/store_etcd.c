#include "store_etcd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store_etcd_internal.h"

enum { PROBE_MS = 1000 };

void store_etcd_wake(struct store_etcd *store)
{
    if (store->wake.wake)
        store->wake.wake(store->wake.context);
}

/* ---- health ---- */

static void on_probe(void *context, const struct etcd_result *result)
{
    struct store_etcd *store = context;
    store->probe = NULL;
    if (result->status != OK || !store->is_loaded || store->is_watch_broken) {
        loop_timer_set(store->probe_timer, PROBE_MS);
        return;
    }
    store->health = OK;
    store_etcd_wake(store);
}

static void send_probe(void *context)
{
    struct store_etcd *store = context;
    struct etcd_range range = {.key = etcd_text(store->range), .limit = 1, .keys_only = true};
    struct etcd_reply reply = {on_probe, store, 0};
    if (!store->probe && etcd_range(store->client, &range, &reply, &store->probe) != OK)
        loop_timer_set(store->probe_timer, PROBE_MS);
}

void store_etcd_ail(struct store_etcd *store, enum status st, const char *why)
{
    store->health = st == E_UNKNOWN ? E_UNREACHABLE : st;
    strbuf_reset(&store->health_why);
    strbuf_adds(&store->health_why, why);
    loop_timer_set(store->probe_timer, PROBE_MS);
    store_etcd_wake(store);
}

static void explain(const struct store_etcd *store, struct strbuf *why)
{
    strbuf_addf(why, "etcd: %s", store->health_why.text);
    if (store->health == E_VERSION)
        strbuf_addf(why, "; %s was written by a newer peal: upgrade this node", store->range);
    else if (store->health == E_CORRUPT)
        strbuf_addf(why, "; something else may write below %s", store->range);
    else if (store->health == E_BUSY)
        strbuf_adds(why, "; compact and defragment etcd, then disarm its alarm");
    else if (store->health == E_UNREACHABLE)
        strbuf_adds(why, "; look at the endpoints and whether etcd has a leader");
}

static enum status etcd_store_health(struct store *base, struct strbuf *why)
{
    const struct store_etcd *store = (const struct store_etcd *)base;
    if (store->health == OK)
        return nodes_health(store->nodes, why);
    explain(store, why);
    return store->health;
}

/* ---- requests ---- */

static void etcd_store_submit(struct store *base, struct store_request *request)
{
    struct store_etcd *store = (struct store_etcd *)base;
    flow_submit(store, request);
    if (store->is_closing || (!store->is_loaded && !store->list))
        flow_fail_waiting(store, E_UNREACHABLE);
}

/* Only what is answered now: what is submitted on the way is for a later call. */
static void etcd_store_dispatch(struct store *base)
{
    struct store_etcd *store = (struct store_etcd *)base;
    struct store_request *request = store->answered.first;
    request_queue_init(&store->answered);
    while (request) {
        struct store_request *next = request->next;
        request->done(request, request->answer);
        request = next;
    }
}

static bool etcd_store_next_change(struct store *base, struct store_change *ret)
{
    struct store_etcd *store = (struct store_etcd *)base;
    return feed_next(&store->feed, &store->held, ret);
}

/* ---- open and free ---- */

static struct store_etcd *release(struct store_etcd *store)
{
    etcd_watch_free(store->watch);
    etcd_list_cancel(store->list);
    etcd_client_free(store->client);
    flow_release(store);
    loop_timer_free(store->reload_timer);
    loop_timer_free(store->probe_timer);
    mirror_release(&store->mirror);
    mirror_release(&store->loading);
    feed_release(&store->feed);
    feed_item_free(store->held);
    strbuf_release(&store->health_why);
    free(store->prefix);
    free(store->node);
    free(store->range);
    free(store);
    return NULL;
}

static struct store *etcd_store_free(struct store *base)
{
    struct store_etcd *store = (struct store_etcd *)base;
    while (store->flow.waiting.first)
        loop_run_once(store->loop);
    store->is_closing = true;
    nodes_leave(store);
    while (store->answered.first)
        etcd_store_dispatch(base);
    release(store);
    return NULL;
}

static const struct store_ops etcd_store_ops = {
    .submit = etcd_store_submit,
    .dispatch = etcd_store_dispatch,
    .next_change = etcd_store_next_change,
    .announce = nodes_announce,
    .leads = nodes_lead,
    .health = etcd_store_health,
    .free = etcd_store_free,
};

static enum status copy_names(struct store_etcd *store, const struct store_etcd_config *config)
{
    const char *prefix = config->prefix ? config->prefix : "/peal";
    store->prefix = strdup(prefix);
    store->node = strdup(config->node ? config->node : "");
    if (asprintf(&store->range, "%s/", prefix) < 0)
        store->range = NULL;
    return store->prefix && store->node && store->range ? OK : E_NOMEM;
}

static enum status make_timers(struct store_etcd *store)
{
    enum status st = loop_timer_new(store->loop, load_start, store, &store->reload_timer);
    if (st == OK)
        st = loop_timer_new(store->loop, send_probe, store, &store->probe_timer);
    return st;
}

static enum status make_client(struct store_etcd *store, const struct store_etcd_config *config,
                               struct strbuf *why)
{
    struct parse_error error = {.line = 0};
    struct etcd_client_config client = {
        .endpoints = config->endpoints,
        .endpoint_count = config->endpoint_count,
        .user = config->user,
        .password = config->password,
        .ca_file = config->ca_file,
        .cert_file = config->cert_file,
        .key_file = config->key_file,
        .server_name = config->server_name,
    };
    enum status st = etcd_client_new(store->loop, &client, &store->client, &error);
    if (st != OK)
        strbuf_adds(why, error.message);
    return st;
}

/* Until everything is read, or the first attempt has failed. */
static enum status wait_for_load(struct store_etcd *store, struct strbuf *why)
{
    load_start(store);
    while (!store->is_loaded && store->health == OK)
        loop_run_once(store->loop);
    if (!store->is_loaded)
        explain(store, why);
    return store->health;
}

enum status store_etcd_open(struct loop *loop, const struct store_etcd_config *config,
                            struct store_wake wake, struct store **ret, struct strbuf *why)
{
    struct store_etcd *store = calloc(1, sizeof(*store));
    if (!store)
        return E_NOMEM;
    store->base.ops = &etcd_store_ops;
    store->loop = loop;
    store->wake = wake;
    request_queue_init(&store->answered);
    strbuf_init(&store->health_why);
    enum status st = copy_names(store, config);
    mirror_init(&store->mirror, store->prefix, store->node);
    mirror_init(&store->loading, store->prefix, store->node);
    if (st == OK)
        st = make_timers(store);
    if (st == OK)
        st = flow_init(store);
    if (st == OK)
        st = make_client(store, config, why);
    if (st == OK)
        st = wait_for_load(store, why);
    if (st != OK) {
        release(store);
        return st;
    }
    *ret = &store->base;
    return OK;
}
