/* Which nodes there are, as far as this one knows: who is alive, who may take work, whose clock is
 * right, and who goes first for what. It learns from the store's feed alone. */
#ifndef PEAL_PEERS_H
#define PEAL_PEERS_H

#include "clock.h"
#include "peer.h"
#include "store.h"
#include "table.h"

enum { STEP_IN_MS = 300 }; /* how long each rank waits for the one before it */

struct known_peer {
    struct peer peer; /* as it last spoke */
    bool is_drained;
    char drained_by[64];
    struct boot_ms heard; /* when it last spoke, by this node's clock */
    struct boot_ms gone;  /* since when it is known to be gone; 0: it is alive */
    int64_t offset_ms;    /* its wall clock minus ours, as well as can be known */
    int64_t offsets_ms[4];
    unsigned heard_count;
};

struct peers {
    struct table by_name; /* of known_peer; those that are gone stay for a day */
    const char *self;     /* this node's name */
    char leader[64];      /* empty: nobody leads, or it is not known */
    int64_t skew_ms;      /* this node's wall clock minus the cluster's */
    bool is_skewed;       /* too far: it must not claim */
};

void peers_init(struct peers *peers, const char *self);
void peers_release(struct peers *peers);

/* PEER, DRAIN and LEADER. E_NOMEM: not noted. */
MUST_CHECK enum status peers_take(struct peers *peers, const struct store_change *change,
                                  struct now now);

/* NULL: never heard of. */
const struct known_peer *peers_find(const struct peers *peers, const char *name);

/* By name, those that are gone too. */
void peers_each(const struct peers *peers,
                bool (*visit)(void *context, const struct known_peer *known), void *context);

/* False: there is no such node now, and what it owned is nobody's. An unknown name is gone. */
bool peers_is_alive(const struct peers *peers, const char *name);

/* May this node be given new runs, as far as it says itself and nobody has drained it? */
bool known_peer_accepts(const struct known_peer *known);

#endif
