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
    char *json; /* as the store has it */

    /* Of struct slots: */
    int held, held_here;                      /* slots that are in use, and those of this node */
    struct group_label own[GROUP_LABELS_MAX]; /* limits of this node's labels ... */
    int held_alike[GROUP_LABELS_MAX];         /* ... and slots in use on nodes that have the same */
    size_t own_count;
};

void known_groups_init(struct table *known);
void known_groups_release(struct table *known);

/* NULL: none. */
struct known_group *known_groups_find(const struct table *known, const char *name);

/* Takes in a document that was put or deleted. E_INVALID: it can't be decoded, *reterr says why,
 * and it counts as missing. */
MUST_CHECK enum status known_groups_take(struct table *known, const struct store_doc *doc,
                                         struct job_error *reterr);

/* Appends the namespaces of the job that have a limit. */
void known_groups_add_spaces(const struct table *known, const char *job_name,
                             char groups[RUN_GROUPS_SIZE]);

/* The limits of the groups of a run on a node with these labels, for the store. There is room for
 * RUN_LABELS_MAX different labels in RUN_LABELS_SIZE bytes: the limit of one more is that of the
 * cluster. */
void known_groups_fill(const struct table *known, const char *groups, const char *node_labels,
                       struct store_slots *ret);

#endif
