/* The part of the mirror for nodes: those that are alive, and those that are drained. */
#ifndef PEAL_STORE_ETCD_MIRROR_NODES_H
#define PEAL_STORE_ETCD_MIRROR_NODES_H

#include "feed.h"
#include "kv.h"
#include "table.h"

struct mirror_peer {
    struct peer peer; /* alive: its key is there */
    int64_t mod_revision, lease;
};

struct mirror_drain {
    struct store_drain drain; /* drained: its key is there */
    int64_t mod_revision;
};

struct mirror_nodes {
    struct table peers, drains; /* by the node's name */
};

void mirror_nodes_init(struct mirror_nodes *nodes);
void mirror_nodes_release(struct mirror_nodes *nodes);

/* Takes in a node's key that was read or changed, and feeds it unless `feed` is NULL. E_CORRUPT:
 * the value can't be decoded, and the node is unchanged. E_NOMEM. */
MUST_CHECK enum status mirror_put_peer(struct mirror_nodes *nodes, const char *name,
                                       const struct kv_pair *kv, struct feed *feed);
void mirror_delete_peer(struct mirror_nodes *nodes, const char *name, struct feed *feed);

MUST_CHECK enum status mirror_put_drain(struct mirror_nodes *nodes, const char *name,
                                        const struct kv_pair *kv, struct feed *feed);
void mirror_delete_drain(struct mirror_nodes *nodes, const char *name, struct feed *feed);

/* As mirror_feed_difference. */
void mirror_nodes_feed_difference(const struct mirror_nodes *before, const struct mirror_nodes *now,
                                  struct feed *feed);

const struct mirror_peer *mirror_find_peer(const struct mirror_nodes *nodes, const char *name);
struct mirror_drain *mirror_find_drain(const struct mirror_nodes *nodes, const char *name);

#endif
