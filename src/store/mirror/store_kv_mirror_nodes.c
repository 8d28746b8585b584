#include "mirror/store_kv_mirror_nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the tables' keys ---- */

static const struct table_type peers_type = {.key_at = offsetof(struct mirror_peer, peer.name)};
static const struct table_type drains_type = {.key_at = offsetof(struct mirror_drain, drain.node)};

static struct mirror_peer *find_peer(const struct mirror_nodes *nodes, const char *name)
{
    return table_find(&nodes->peers, name);
}

const struct mirror_peer *mirror_find_peer(const struct mirror_nodes *nodes, const char *name)
{
    return find_peer(nodes, name);
}

struct mirror_drain *mirror_find_drain(const struct mirror_nodes *nodes, const char *name)
{
    return table_find(&nodes->drains, name);
}

/* ---- peers ---- */

static void feed_peer(struct feed *feed, const struct peer *peer)
{
    if (feed)
        feed_add(feed, &(struct store_change){.kind = STORE_CHANGE_PEER, .peer = peer});
}

static void feed_gone_peer(struct feed *feed, const struct mirror_peer *gone)
{
    struct peer peer = gone->peer;
    peer.is_alive = false;
    feed_peer(feed, &peer);
}

enum status mirror_put_peer(struct mirror_nodes *nodes, const char *name, const struct kv_pair *kv,
                            struct feed *feed)
{
    struct mirror_peer read = {.mod_revision = kv->mod_revision, .lease = kv->lease};
    enum status st = peer_decode(name, kv->value.data, kv->value.length, &read.peer);
    if (st != OK)
        return st;
    read.peer.is_alive = true;
    read.peer.joined = kv->create_revision;
    struct mirror_peer *peer = find_peer(nodes, name);
    if (peer)
        *peer = read;
    else if (!table_add(&nodes->peers, &read, sizeof(read)))
        return E_NOMEM;
    feed_peer(feed, &read.peer);
    return OK;
}

void mirror_delete_peer(struct mirror_nodes *nodes, const char *name, struct feed *feed)
{
    struct mirror_peer *peer = find_peer(nodes, name);
    if (!peer)
        return;
    feed_gone_peer(feed, peer);
    table_remove(&nodes->peers, peer);
    free(peer);
}

/* ---- drains ---- */

static void feed_drain(struct feed *feed, const struct store_drain *drain)
{
    if (feed)
        feed_add(feed, &(struct store_change){.kind = STORE_CHANGE_DRAIN, .drain = drain});
}

static void feed_gone_drain(struct feed *feed, const char *name)
{
    struct store_drain drain = {.drained = false};
    snprintf(drain.node, sizeof(drain.node), "%s", name);
    feed_drain(feed, &drain);
}

enum status mirror_put_drain(struct mirror_nodes *nodes, const char *name, const struct kv_pair *kv,
                             struct feed *feed)
{
    struct mirror_drain read = {.drain.drained = true, .mod_revision = kv->mod_revision};
    if (strlen(name) >= sizeof(read.drain.node))
        return OK; /* no node has such a name */
    snprintf(read.drain.node, sizeof(read.drain.node), "%s", name);
    snprintf(read.drain.by, sizeof(read.drain.by), "%.*s", (int)kv->value.length,
             (const char *)kv->value.data);
    struct mirror_drain *drain = mirror_find_drain(nodes, name);
    if (drain)
        *drain = read;
    else if (!table_add(&nodes->drains, &read, sizeof(read)))
        return E_NOMEM;
    feed_drain(feed, &read.drain);
    return OK;
}

void mirror_delete_drain(struct mirror_nodes *nodes, const char *name, struct feed *feed)
{
    struct mirror_drain *drain = mirror_find_drain(nodes, name);
    if (!drain)
        return;
    feed_gone_drain(feed, name);
    table_remove(&nodes->drains, drain);
    free(drain);
}

/* ---- all of them ---- */

static void feed_gone(const struct mirror_nodes *before, const struct mirror_nodes *now,
                      struct feed *feed)
{
    const struct mirror_drain *drain;
    const struct mirror_peer *peer;
    for (size_t at = 0; (drain = table_next(&before->drains, &at));)
        if (!mirror_find_drain(now, drain->drain.node))
            feed_gone_drain(feed, drain->drain.node);
    for (size_t at = 0; (peer = table_next(&before->peers, &at));)
        if (!find_peer(now, peer->peer.name))
            feed_gone_peer(feed, peer);
}

void mirror_nodes_feed_difference(const struct mirror_nodes *before, const struct mirror_nodes *now,
                                  struct feed *feed)
{
    const struct mirror_drain *drain, *old_drain;
    const struct mirror_peer *peer, *old_peer;
    for (size_t at = 0; (drain = table_next(&now->drains, &at));) {
        old_drain = before ? mirror_find_drain(before, drain->drain.node) : NULL;
        if (!old_drain || old_drain->mod_revision != drain->mod_revision)
            feed_drain(feed, &drain->drain);
    }
    for (size_t at = 0; (peer = table_next(&now->peers, &at));) {
        old_peer = before ? find_peer(before, peer->peer.name) : NULL;
        if (!old_peer || old_peer->mod_revision != peer->mod_revision)
            feed_peer(feed, &peer->peer);
    }
    if (before)
        feed_gone(before, now, feed);
}

void mirror_nodes_init(struct mirror_nodes *nodes)
{
    table_init(&nodes->peers, &peers_type);
    table_init(&nodes->drains, &drains_type);
}

void mirror_nodes_release(struct mirror_nodes *nodes)
{
    table_release_items(&nodes->peers);
    table_release_items(&nodes->drains);
}
