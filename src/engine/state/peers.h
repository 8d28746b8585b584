/* The nodes of the cluster as this one knows them from the store's feed: who is alive, who takes
 * runs, and how far their clocks differ.
 *
 * Clocks: a heartbeat carries both clocks of its node. Boot clocks are never set, so that only the
 * delay of heartbeats changes the difference between two of them; the least delayed of the last few
 * is the best estimate. That, and the sender's wall clock minus its boot clock, gives its wall
 * clock, and a step on either side shows at once. A heartbeat that may have lain in the feed while
 * this node slept is ignored, if that delay alone could make the clock look wrong. The cluster's
 * time is the median of all live agents that are workers; where there is none, programs compare
 * their clocks with each other. */
#ifndef PEAL_PEERS_H
#define PEAL_PEERS_H

#include "clock.h"
#include "peer.h"
#include "store.h"
#include "table.h"

enum { STEP_IN_MS = 300 }; /* how long each rank waits for the one before */

struct known_peer {
    struct peer peer; /* its last heartbeat; only a name: drained, and no heartbeat yet */
    bool is_drained;
    char drained_by[64];
    struct boot_ms heard;         /* when its last heartbeat came, by this node's clock */
    struct boot_ms gone;          /* since when it is known to be gone; 0: alive */
    struct boot_ms since;         /* since when its present incarnation is known */
    struct boot_ms looked;        /* when this node last looked whether it is silent ... */
    struct boot_ms looking_since; /* ... as it did all the time since then */
    int64_t offset_ms;            /* its wall clock minus ours, best estimate */
    int64_t offsets_ms[4];        /* its boot clock minus ours, at the last heartbeats */
    unsigned heard_count; /* heartbeats since this node is live; 0: its clock is not known */
    bool is_unsure;       /* its last heartbeat may be old: compare at the next one */
};

struct peers {
    struct table by_name;        /* of known_peer; gone nodes stay for a day */
    const struct peer *self;     /* this node */
    const struct known_peer *me; /* the entry of its name, looked up every turn; NULL: none */
    char leader[64];             /* empty: none, or not known */
    int64_t skew_ms;             /* this node's wall clock minus the cluster's */
    bool is_skewed;              /* too far off: it must not claim */
    bool is_doubted;             /* it jumped and is doubted, see engine_clock.c */
    bool is_settled;             /* this node's clock has been compared with the others' */
    bool is_live;                /* the initial state is loaded: changes are news now */
    struct boot_ms live_since;
    size_t alive_count;    /* including this node, if it has joined */
    bool has_agent;        /* one that can lead is alive */
    unsigned generation;   /* grows with every change that matters to placement ... */
    unsigned loads;        /* ... and this with every change of a node's free share */
    bool is_reckoned;      /* skew_ms is up to date */
    int64_t ahead_ms;      /* wall clock minus boot clock, when skew_ms was computed */
    struct boot_ms turned; /* boot time of the last turn */
    struct boot_ms slept_from, slept_to; /* the last two turns that were far apart */
    struct boot_ms woke; /* the last turn after so long that this node may have been gone */
    bool is_unsure;      /* of some peer's clock */
};

void peers_init(struct peers *peers, const struct peer *self);
void peers_release(struct peers *peers);

/* A node that is there, runs jobs and has not this knowledge; NULL: all have it. */
const struct peer *peers_without(const struct peers *peers, enum peer_knowledge knowledge);

/* Takes in the changes PEER, DRAIN and LEADER. E_NOMEM: not taken in. */
MUST_CHECK enum status peers_take(struct peers *peers, const struct store_change *change,
                                  struct now now);

/* The initial state is loaded. */
void peers_go_live(struct peers *peers, struct now now);

/* Compares the clocks, if there is news. To be called once per turn. */
void peers_reckon(struct peers *peers, struct now now);

/* Is this node's clock right, as far as known? */
bool peers_trust_clock(const struct peers *peers);

/* Do most of the other live workers have the time of this node's clock? */
bool peers_confirm(struct peers *peers, struct now now);

/* When peers_reckon has to be called without news, on the boot clock; INT64_MAX: never. */
struct boot_ms peers_settle_at(const struct peers *peers);

/* NULL: never heard of. */
const struct known_peer *peers_find(const struct peers *peers, const char *name);

/* This incarnation is registered in the store. */
bool peers_am_alive(const struct peers *peers);

/* Another agent is registered under this node's name. */
bool peers_am_shut_out(const struct peers *peers);

/* Visits all nodes by name, including gone ones; out of memory: in any order. */
void peers_each(const struct peers *peers,
                bool (*visit)(void *context, const struct known_peer *known), void *context);

/* False: that incarnation is over and its runs have no owner, unless another one of the same home
 * has followed. An unknown name is gone. */
bool peers_is_alive(const struct peers *peers, const char *name, const struct incarnation *owner);

/* The node is in exactly that incarnation: it may still begin its claims. */
bool peers_is_in_life(const struct peers *peers, const char *name, const struct incarnation *owner);

/* Does this node look after others, to see whether they are silent? The leader does, and for the
 * leader itself, or while there is none, the node that joined first of those that may lead. */
bool peers_am_lookout(const struct peers *peers);

/* Notes that this node looks whether that incarnation is silent. False: another node looks after
 * it, it was looked at in this turn, or it is gone already. */
bool peers_look_at(struct peers *peers, const char *name, const struct incarnation *owner,
                   struct now now);

/* The node went while this one was looking at it, in touch with the store: it was silent, and is
 * not about to register again after an outage. */
bool peers_was_silent(const struct peers *peers, const char *name);

/* How long the incarnation is gone; -1: it is alive. For an unknown name: since peers_go_live. */
int64_t peers_gone_for_ms(const struct peers *peers, const char *name,
                          const struct incarnation *owner, struct now now);

/* Does the node accept new runs, by its heartbeat, and is it not drained? */
bool known_peer_accepts(const struct known_peer *known);

#endif
