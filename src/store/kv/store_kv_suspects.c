/* Other nodes that may be gone. etcd itself knows when a node last renewed its lease, and tells
 * without a write or a quorum; whoever asks sees the same. A node that is silent at two looks has
 * its lease revoked: its key and its candidacy go, and all nodes hear of that, as if the lease had
 * expired. If it is only slow, its next renewal tells it, and it joins again. The second look is
 * for an etcd that stood still: the renewals that waited for it are counted by then.
 *
 * A lease that is found silent once, or is being looked at, is in the list. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kv/store_kv_internal.h"

enum {
    LOOKS = 2,
    ANSWER_MS = 2 * STORE_LOOK_MS, /* a later answer says nothing */
};

struct suspect {
    struct store_kv *store;
    int64_t lease;
    struct kv_call *call; /* a look, or the revocation; NULL: the next look is awaited */
    int silent;           /* looks in a row that found it silent */
    int64_t looked_ms;    /* boot time of the last one */
    struct suspect *next;
};

static int64_t now_ms(void)
{
    return clock_now().boot.ms;
}

static void drop(struct suspect *suspect)
{
    struct suspect **at = &suspect->store->suspects;
    while (*at != suspect)
        at = &(*at)->next;
    *at = suspect->next;
    kv_call_cancel(suspect->call);
    free(suspect);
}

void suspects_release(struct store_kv *store)
{
    while (store->suspects)
        drop(store->suspects);
}

/* What is left of the TTL is rounded down: two seconds less than all of it means that the last
 * renewal was more than STORE_SILENT_MS ago. */
static bool is_silent(const struct kv_lease_result *lease)
{
    int64_t silent_s = STORE_SILENT_MS / 1000;
    return lease->ttl_s >= 0 && lease->ttl_s < lease->granted_s - silent_s;
}

static void on_revoked(void *context, const struct kv_result *result)
{
    struct suspect *suspect = context;
    (void)result; /* not done: it is looked at again, or expires */
    suspect->call = NULL;
    drop(suspect);
}

static void on_looked(void *context, const struct kv_result *result)
{
    struct suspect *suspect = context;
    struct kv_reply reply = {.done = on_revoked, .context = suspect};
    suspect->call = NULL;
    if (result->status != OK || !is_silent(&result->lease) ||
        !epoch_is_same_cluster(suspect->store, result->cluster_id)) {
        drop(suspect);
        return;
    }
    if (++suspect->silent >= LOOKS &&
        kv_lease_revoke(suspect->store->client, suspect->lease, &reply, &suspect->call) != OK)
        drop(suspect);
}

static struct suspect *find_or_add(struct store_kv *store, int64_t lease)
{
    struct suspect *suspect = store->suspects;
    while (suspect && suspect->lease != lease)
        suspect = suspect->next;
    if (suspect)
        return suspect;
    suspect = calloc(1, sizeof(*suspect));
    if (!suspect)
        return NULL; /* with the next look */
    *suspect = (struct suspect){.store = store, .lease = lease, .next = store->suspects};
    store->suspects = suspect;
    return suspect;
}

/* Those that were not looked at for a while: what was found out about them is old. */
static void drop_old(struct store_kv *store)
{
    for (struct suspect *suspect, **at = &store->suspects; (suspect = *at);) {
        if (suspect->call || now_ms() - suspect->looked_ms <= STORE_SILENT_MS) {
            at = &suspect->next;
            continue;
        }
        *at = suspect->next;
        free(suspect);
    }
}

/* It must show signs of life so often that their absence says something. */
static bool may_be_suspected(const struct store_kv *store, const struct mirror_peer *peer)
{
    return store->nodes && peer && peer->lease && strcmp(peer->peer.name, store->node) != 0 &&
           peer->peer.beats_ms > 0 && peer->peer.beats_ms <= STORE_SILENT_MS / 2 &&
           peer->peer.refusal != PEER_STOPPING;
}

void suspects_look(struct store *base, const char *node)
{
    struct store_kv *store = (struct store_kv *)base;
    const struct mirror_peer *peer = mirror_find_peer(&store->mirror.nodes, node);
    drop_old(store);
    if (store->is_closing || epoch_is_halted(store) || !may_be_suspected(store, peer))
        return;
    struct suspect *suspect = find_or_add(store, peer->lease);
    if (!suspect || suspect->call)
        return;
    struct kv_reply reply = {.done = on_looked, .context = suspect, .deadline_ms = ANSWER_MS};
    suspect->looked_ms = now_ms();
    if (kv_lease_look(store->client, suspect->lease, &reply, &suspect->call) != OK)
        drop(suspect);
}
