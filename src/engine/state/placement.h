/* The ranks of nodes for a job or a run, the same on every node (rendezvous hashing): rank 0 acts
 * first, and each further rank only when those before it have not. A node is first in proportion to
 * its capacity, and its coming or going does not change the order of the others. */
#ifndef PEAL_PLACEMENT_H
#define PEAL_PLACEMENT_H

#include "id.h"
#include "state/peers.h"

struct placement_node {
    uint64_t hash; /* of its name */
    double capacity;
    bool accepts;
    bool is_there; /* it accepts runs, or may do so soon: not drained, not about to end */
    char name[64];
    char labels[512];
};

/* The nodes that match a selector. */
struct placement_choice {
    char *where;
    bool fits[]; /* by node */
};

enum { PLACEMENT_CHOICES = 64 };

/* The live workers; the first is this node, whether it is registered or not. */
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

enum { NOT_ELIGIBLE = -1 };

/* This node's rank among the nodes that accept runs and match `where` (NULL: all do); or
 * NOT_ELIGIBLE, if its own labels do not match. `without`: the name of a node that does not count;
 * "": all do. */
int placement_rank(struct placement *placement, const struct id *id, const char *where,
                   const char *without);

/* The same for a run that has failed on some nodes: `failed_on`, their names with spaces between
 * them. All others rank before those. */
int placement_rank_again(struct placement *placement, const struct id *id, const char *where,
                         const char *without, const char *failed_on);

/* The same for a part that any node may run, and no node has failed to: the parts of a job go to
 * its nodes in turn, so that each gets as many as the others. */
int placement_rank_part(struct placement *placement, const struct id *job_uid, const char *where,
                        int part);

/* Does the node match `where` (NULL: all do)? */
bool placement_fits(struct placement *placement, size_t node, const char *where);

/* Does the node of this name come before this one? False also if it takes no runs now. */
bool placement_is_before(struct placement *placement, const struct id *id, const char *where,
                         const char *name);

/* Does any node match, whether or not it accepts runs now? */
bool placement_has_node(struct placement *placement, const char *where);

/* A message that no node has these labels. */
void placement_tell_nobody(const char *where, char *ret, size_t size);

/* The node with the largest score has rank 0. */
double placement_score(uint64_t name_hash, uint64_t id_hash, double capacity);

#endif
