/* Which nodes there are, as far as this one knows: who is alive, who may take work, and whose clock
 * is right. It learns from the store's feed alone.
 *
 * Clocks: what a node says carries both its clocks. Boot clocks are never set, so that the delay of
 * the news is all that moves the difference between two of them; the least delayed of the last few
 * is the best. With that, and what its wall clock was ahead of its boot clock, its wall clock is
 * known, and a step of either side shows at once. News that may have lain in the feed while this
 * node slept says nothing, if that alone could make its clock wrong. The cluster's time is the
 * median of all workers that are alive. */
#ifndef PEAL_PEERS_H
#define PEAL_PEERS_H

#include "clock.h"
#include "peer.h"
#include "store.h"
#include "table.h"

enum { STEP_IN_MS = 300 }; /* how long each rank waits for the one before it */

struct known_peer {
    struct peer peer; /* as it last spoke; nothing but the name: it is drained, and never spoke */
    bool is_drained;
    char drained_by[64];
    struct boot_ms heard;  /* when it last spoke, by this node's clock */
    struct boot_ms gone;   /* since when it is known to be gone; 0: it is alive */
    struct boot_ms since;  /* since when it is known to be in its present life */
    int64_t offset_ms;     /* its wall clock minus ours, as well as can be known */
    int64_t offsets_ms[4]; /* its boot clock minus ours, each time it spoke */
    unsigned heard_count;  /* how often it spoke while we listened; 0: its clock is not known */
    bool is_unsure;        /* what it said last may be old: to be compared when it speaks again */
};

struct peers {
    struct table by_name;    /* of known_peer; those that are gone stay for a day */
    const struct peer *self; /* this node */
    const struct known_peer
        *me;         /* and what is known of its name; NULL: nothing. Asked every turn */
    char leader[64]; /* empty: nobody leads, or it is not known */
    int64_t skew_ms; /* this node's wall clock minus the cluster's */
    bool is_skewed;  /* too far: it must not claim */
    bool is_doubted; /* it jumped: not believed yet, see engine_clock.c */
    bool is_settled; /* its clock has been compared with those of the others */
    bool is_live;    /* what is told now is news, not what was there before */
    struct boot_ms live_since;
    size_t alive_count;    /* this node too, if it has joined */
    unsigned generation;   /* grows with every change of who may be given what */
    bool is_reckoned;      /* skew_ms is up to date with what was told */
    int64_t ahead_ms;      /* of the boot clock was the wall clock, when skew_ms was reckoned */
    struct boot_ms turned; /* the last turn */
    struct boot_ms slept_from, slept_to; /* the last two that were long apart */
    bool is_unsure;                      /* of some peer */
};

void peers_init(struct peers *peers, const struct peer *self);
void peers_release(struct peers *peers);

/* PEER, DRAIN and LEADER. E_NOMEM: not noted. */
MUST_CHECK enum status peers_take(struct peers *peers, const struct store_change *change,
                                  struct now now);

/* Everything that was there at the start has been told. */
void peers_go_live(struct peers *peers, struct now now);

/* Compares the clocks, if there is something new. Once a turn. */
void peers_reckon(struct peers *peers, struct now now);

/* Is this node's clock right, as far as can be known? */
bool peers_trust_clock(const struct peers *peers);

/* Do most of the other workers that are alive have the time that this node's clock shows now? */
bool peers_confirm(struct peers *peers, struct now now);

/* When peers_reckon has to be called without news, on the boot clock; INT64_MAX: never. */
struct boot_ms peers_settle_at(const struct peers *peers);

/* NULL: never heard of. */
const struct known_peer *peers_find(const struct peers *peers, const char *name);

/* The store has let this node in, in this life, and keeps it. */
bool peers_am_alive(const struct peers *peers);

/* Another agent lives under this node's name. */
bool peers_am_shut_out(const struct peers *peers);

/* By name, those that are gone too; out of memory: in any order, but all of them. */
void peers_each(const struct peers *peers,
                bool (*visit)(void *context, const struct known_peer *known), void *context);

/* False: that life of the node is over, and what it owned is nobody's, unless another one of the
 * same home has followed. An unknown name is gone. */
bool peers_is_alive(const struct peers *peers, const char *name, const struct incarnation *owner);

/* It is in that very life: what it has claimed, it may still begin. */
bool peers_is_in_life(const struct peers *peers, const char *name, const struct incarnation *owner);

/* How long it is gone; -1: it is alive. Of an unknown name: since we listen. */
int64_t peers_gone_for_ms(const struct peers *peers, const char *name,
                          const struct incarnation *owner, struct now now);

/* May this node be given new runs, as far as it says itself and nobody has drained it? */
bool known_peer_accepts(const struct known_peer *known);

#endif
