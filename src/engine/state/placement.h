/* The ranks of nodes for a job or a run, the same on every node (rendezvous hashing): rank 0 acts
 * first, and each further rank only when those before it have not. A node is first in proportion to
 * its capacity, and its coming or going does not change the order of the others.
 *
 * The job's choice (`place`) only changes the order: a node that sees another order than the
 * others, because a heartbeat is under way, makes a tick start a step later or sends a claim in
 * vain. The store decides who has it. */
#ifndef PEAL_PLACEMENT_H
#define PEAL_PLACEMENT_H

#include "id.h"
#include "state/catalog.h"
#include "state/peers.h"

struct placement_node {
    uint64_t hash; /* of its name */
    uint32_t mark; /* node_mark of it */
    double capacity;
    double free; /* share of the capacity, by its last heartbeat that came through the feed: that of
                    this node, too, or each would think of itself that it has more to do, or less */
    bool accepts;
    bool is_there; /* it accepts runs, or may do so soon: not drained, not about to end */
    char name[64];
    char program[64]; /* "": an agent */
    char labels[512];
    char lacks[256]; /* of its program's functions; of this node not looked at: it knows itself */
};

/* The nodes that match a job's `where` (eligible.h). */
struct placement_choice {
    char *where;
    bool fits[]; /* by node */
};

enum { PLACEMENT_CHOICES = 64 };

/* The live workers and programs; the first is this node, whether it is registered or not. */
struct placement {
    struct placement_node *nodes;
    size_t count, room;
    struct placement_choice
        *choices[PLACEMENT_CHOICES]; /* a cache by hash: many jobs have the same selector */
    unsigned generation;             /* grows with every placement_set; 0: none yet */
};

/* Zeroed: empty. */
void placement_release(struct placement *placement);

/* From the peers as known now; `self` is this node's own announcement. E_NOMEM: unchanged. */
MUST_CHECK enum status placement_set(struct placement *placement, const struct peers *peers,
                                     const struct peer *self);

/* The free shares of all nodes, from the peers as known now. */
void placement_weigh(struct placement *placement, const struct peers *peers);

/* What is to be placed. The order of the nodes: those on which it has not failed come before those
 * on which it has; then the node that a sticky job is kept on; then by score. */
struct placement_ask {
    const struct id *id;     /* hashed: of the job for its ticks, of a run that waits */
    const char *where;       /* as in eligible.h; NULL: all agents match */
    const char *function;    /* which it must not be known to lack; NULL: the job is none */
    const char *without;     /* the name of a node that does not count; NULL: all do */
    const char *failed_on;   /* names with spaces between them; NULL: none */
    int64_t tick_ms;         /* LEAST_LOADED: hashed, too, so that each tick is placed anew */
    enum place_choice place; /* EVEN: by id and capacity */
    uint32_t last_node;      /* STICKY: the mark of the node that comes first */
};

/* The job's next tick. Valid as long as the job. */
struct placement_ask placement_ask_of(const struct catalog_job *job);

enum { NOT_ELIGIBLE = -1 };

/* This node's rank among the nodes that accept runs and match `where`; or NOT_ELIGIBLE, if its own
 * labels do not match. */
int placement_rank(struct placement *placement, const struct placement_ask *ask);

/* The same for a part that any node may run, and no node has failed to: the parts of a job go to
 * its nodes in turn, so that each gets as many as the others. */
int placement_rank_part(struct placement *placement, const struct placement_ask *ask, int part);

/* Does the node match, as far as known also by its functions? */
bool placement_fits(struct placement *placement, size_t node, const struct placement_ask *ask);

/* Does the node of this name come before this one? False also if it takes no runs now. */
bool placement_is_before(struct placement *placement, const struct placement_ask *ask,
                         const char *name);

/* Does any node match, whether or not it accepts runs now? `has_it`: this one has the function, if
 * the job is one. Of another that lacks more functions than it could name, nothing is known but
 * that it would have claimed the tick, if it accepts runs. A program does not judge for agents: a
 * tick that none of them can run now is for their catch_up, when one is back. */
bool placement_has_node(struct placement *placement, const char *where, const char *function,
                        bool has_it);

/* A message that no node is one of its program, has the function, or has these labels. */
void placement_tell_nobody(struct placement *placement, const char *where, const char *function,
                           char *ret, size_t size);

/* The terms of the selector that no node of its kind matches, with commas between: "gpu" of
 * "zone=eu,gpu". *ret is empty if these are all of its terms, or none: then no node has all of them
 * at once. */
void placement_tell_unmatched(const struct placement *placement, const char *where, char *ret,
                              size_t size);

/* The node with the largest score has rank 0. `weight`: its share among all is that of the ids for
 * which it has. */
double placement_score(uint64_t name_hash, uint64_t id_hash, double weight);

/* The score of a node for this. */
double placement_node_score(const struct placement_node *node, const struct placement_ask *ask);

#endif
