/* Who goes first. For each job and each run the nodes are in an order of their own, the same on
 * every node (rendezvous hashing): the first one acts, and each further one only when those before
 * it have not. The more capacity, the more often first; and a node that comes or goes changes
 * nothing but its own places. */
#ifndef PEAL_PLACEMENT_H
#define PEAL_PLACEMENT_H

#include "id.h"
#include "state/peers.h"

struct placement_node {
    uint64_t hash; /* of its name */
    double capacity;
    bool accepts;
    char name[64];
    char labels[512];
};

/* Which of the nodes have the labels that a selector wants. */
struct placement_choice {
    char *where;
    bool fits[]; /* of each node */
};

enum { PLACEMENT_CHOICES = 64 };

/* Workers that are alive; the first is this node, whether the others know it or not. */
struct placement {
    struct placement_node *nodes;
    size_t count, room;
    struct placement_choice *choices[PLACEMENT_CHOICES]; /* by hash: many jobs want the same */
    unsigned generation; /* grows with every placement_set; 0: none yet */
};

/* Zeroed: empty. */
void placement_release(struct placement *placement);

/* From what is known now. `self` is what this node says of itself. E_NOMEM: as it was. */
MUST_CHECK enum status placement_set(struct placement *placement, const struct peers *peers,
                                     const struct peer *self);

enum { NOT_ELIGIBLE = -1 };

/* How many others that may be given runs go before this node; or NOT_ELIGIBLE, by its labels.
 * `where`: NULL: any node may run it. `without`: the name of one that does not count; "": all do.
 */
int placement_rank(struct placement *placement, const struct id *id, const char *where,
                   const char *without);

/* Is there a node at all whose labels fit, whether or not it takes runs now? */
bool placement_has_node(struct placement *placement, const char *where);

/* For people: which labels nobody has. */
void placement_tell_nobody(const char *where, char *ret, size_t size);

/* The larger goes first. */
double placement_score(uint64_t name_hash, uint64_t id_hash, double capacity);

#endif
