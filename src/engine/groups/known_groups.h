/* The groups in the store, by name. A run may have a group that is not there: it has no limits. */
#ifndef PEAL_KNOWN_GROUPS_H
#define PEAL_KNOWN_GROUPS_H

#include "group/group.h"
#include "store.h"
#include "table.h"

struct known_group {
    char name[GROUP_NAME_MAX + 1];
    int64_t revision;
    struct group_limits limits;
    char *json;          /* as the store has it */
    int held, held_here; /* the claimer's: slots that are in use, and those of this node */
};

void known_groups_init(struct table *known);
void known_groups_release(struct table *known);

/* NULL: none. */
struct known_group *known_groups_find(const struct table *known, const char *name);

/* Takes in a document that was put or deleted. E_INVALID: it can't be decoded, *reterr says why,
 * and it counts as missing. */
MUST_CHECK enum status known_groups_take(struct table *known, const struct store_doc *doc,
                                         struct job_error *reterr);

/* The limits of the groups of a run, for the store. */
void known_groups_fill(const struct table *known, const char *groups, struct store_slots *ret);

#endif
