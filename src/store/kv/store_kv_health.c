/* Health of the server. The proof is a probe: a write to PREFIX/probe that is accepted and
 * delivered by the watch. Probes are sent while there is a fault, at once when the watch is back
 * and then less and less often, and when the watch has been silent for a while. Any other change
 * that is accepted and delivered counts as well. */
#include <stdio.h>
#include <stdlib.h>

#include "kv/store_kv_internal.h"

enum {
    PROBE_FIRST_MS = 50, /* most faults are elections, which are over soon */
    PROBE_MS = 1000,
    SILENCE_MS = 10000,
    TELL_MS = 2000,     /* how long the watch may take to deliver the probe */
    RESTART_MS = 15000, /* between restarts: time to detect a dead connection */
};

static int64_t until_probe_ms(const struct health *health)
{
    int64_t ms = PROBE_FIRST_MS;
    for (unsigned i = 0; i < health->probes && ms < PROBE_MS; i++)
        ms *= 2;
    return ms < PROBE_MS ? ms : PROBE_MS;
}

static void look_again(struct store_kv *store)
{
    struct health *health = &store->health;
    if (health->status != OK) {
        loop_timer_set(health->timer, until_probe_ms(health));
        return;
    }
    health->probes = 0;
    int64_t silence_ms = store->silence_ms ? store->silence_ms : SILENCE_MS;
    int64_t silent_ms = clock_now().boot.ms - health->heard_ms;
    loop_timer_set(health->timer, silent_ms < silence_ms ? silence_ms - silent_ms : PROBE_MS);
}

void health_ail(struct store_kv *store, enum status st, const char *why)
{
    struct health *health = &store->health;
    health->status = st == E_UNKNOWN ? E_UNREACHABLE : st;
    strbuf_reset(&health->why);
    strbuf_adds(&health->why, why);
    if (!health->probe && !health->probe_revision)
        look_again(store);
    if (store->is_half_told) /* requests would wait for the rest of the revision */
        flow_fail_waiting(store, E_UNREACHABLE);
    store_kv_wake(store);
}

void health_explain(const struct store_kv *store, struct strbuf *why)
{
    const struct health *health = &store->health;
    const struct kv_kind *kind = kv_client_kind(store->client);
    strbuf_addf(why, "%s: %s", kind->name, health->why.text);
    if (health->status == E_VERSION)
        strbuf_addf(why,
                    "; %s was written by a newer peal: upgrade this node, or restore the backup "
                    "from before",
                    store->range);
    else if (health->status == E_CORRUPT)
        strbuf_addf(why, "; something else may write below %s", store->range);
    else if (health->status == E_BUSY)
        strbuf_addf(why, "; %s", kind->when_full);
    else if (health->status == E_UNREACHABLE)
        strbuf_addf(why, "; %s", kind->when_away);
}

/* ---- the probe ---- */

static void ignore(void *context, const struct kv_result *result)
{
    (void)context;
    (void)result;
}

void health_remove_probe(struct store_kv *store)
{
    struct kv_delete gone = {.key = kv_text(store->health.probe_key)};
    struct kv_reply reply = {ignore, NULL, 0};
    if (kv_delete(store->client, &gone, &reply, NULL) != OK)
        return; /* out of memory */
}

static void pass(struct store_kv *store)
{
    struct health *health = &store->health;
    bool was_unwell = health->status != OK;
    health->probe_revision = 0;
    health_remove_probe(store);
    if (store->is_loaded && !store->is_watch_broken)
        health->status = OK;
    look_again(store);
    if (was_unwell)
        store_kv_wake(store);
}

void health_worked(struct store_kv *store)
{
    struct health *health = &store->health;
    if (health->status != E_UNREACHABLE || !store->is_loaded || store->is_watch_broken)
        return;
    health->status = OK;
    if (!health->probe && !health->probe_revision)
        look_again(store);
    store_kv_wake(store);
}

static void on_probe(void *context, const struct kv_result *result)
{
    struct store_kv *store = context;
    struct health *health = &store->health;
    health->probe = NULL;
    if (result->status != OK) {
        health_ail(store, result->status, result->message);
        return;
    }
    if (!epoch_saw(store, epoch_sign(result), &health->asked, true)) {
        look_again(store);
        return;
    }
    health->probe_revision = result->revision;
    loop_timer_set(health->timer, TELL_MS);
    health_feed_moved(store);
}

static void send_probe(struct store_kv *store)
{
    struct health *health = &store->health;
    struct kv_put put = {.key = kv_text(health->probe_key), .value = kv_text(store->node)};
    struct kv_reply reply = {on_probe, store, 0};
    health->probes++;
    health->probed_ms = clock_now().boot.ms;
    health->asked = epoch_ask(store);
    if (kv_put(store->client, &put, &reply, &health->probe) != OK)
        look_again(store);
    else
        kv_call_may_repeat(health->probe);
}

/* The probe was accepted, but the watch does not deliver it. */
static void restart_watch(struct store_kv *store)
{
    struct health *health = &store->health;
    int64_t now_ms = clock_now().boot.ms;
    health->probe_revision = 0;
    health_ail(store, E_UNREACHABLE, "the watch is silent; it is restarted");
    if (store->is_watch_broken || now_ms < health->restarted_ms + RESTART_MS)
        return;
    health->restarted_ms = now_ms;
    store->counters.watch_restarts++;
    kv_watch_restart(store->watch);
}

static void on_timer(void *context)
{
    struct store_kv *store = context;
    struct health *health = &store->health;
    int64_t silence_ms = store->silence_ms ? store->silence_ms : SILENCE_MS;
    if (health->probe)
        return;
    epoch_tick(store);
    if (health->probe_revision && store->is_loaded)
        restart_watch(store);
    else if (!store->is_loaded ||
             (health->status == OK && clock_now().boot.ms - health->heard_ms < silence_ms))
        look_again(store);
    else
        send_probe(store);
}

void health_probe_now(struct store_kv *store)
{
    if (!store->health.probe && !store->health.probe_revision)
        send_probe(store);
}

void health_feed_moved(struct store_kv *store)
{
    struct health *health = &store->health;
    health->heard_ms = clock_now().boot.ms;
    if (!store->is_loaded)
        return;
    bool is_told =
        health->probe_revision && kv_watch_next_revision(store->watch) > health->probe_revision;
    if (is_told)
        pass(store);
    else if (health->status == E_UNREACHABLE && !store->is_watch_broken &&
             health->heard_ms - health->probed_ms >= PROBE_FIRST_MS)
        health_probe_now(store);
}

static void on_away(void *context, const char *why)
{
    struct store_kv *store = context;
    if (store->is_loaded)
        health_ail(store, E_UNREACHABLE, why);
}

void health_watch_client(struct store_kv *store)
{
    kv_client_tell_away(store->client, on_away, store);
}

enum status health_init(struct store_kv *store)
{
    struct health *health = &store->health;
    strbuf_init(&health->why);
    health->heard_ms = clock_now().boot.ms;
    if (asprintf(&health->probe_key, "%s/probe", store->prefix) < 0) {
        health->probe_key = NULL;
        return E_NOMEM;
    }
    enum status st = loop_timer_new(store->loop, on_timer, store, &health->timer);
    if (st == OK)
        look_again(store);
    return st;
}

void health_release(struct store_kv *store)
{
    loop_timer_free(store->health.timer);
    strbuf_release(&store->health.why);
    free(store->health.probe_key);
}
