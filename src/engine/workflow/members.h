/* The runs of each instance of a workflow that this node knows: which of them is the last attempt
 * at a part, and all of an instance. */
#ifndef PEAL_MEMBERS_H
#define PEAL_MEMBERS_H

#include <stdint.h>
#include <sys/queue.h>

#include "id.h"
#include "table.h"

struct open_run;
struct company;

/* Embedded in an open run; of a run that is not a workflow's all of it is zero. */
struct member {
    struct member_key {
        struct id instance;
        int64_t part;
    } key;
    struct company *of;
    TAILQ_ENTRY(open_run) link;
};

struct members {
    struct table companies; /* by instance */
    struct table by_part;   /* the last attempt at each part */
};

void members_init(struct members *members);
void members_release(struct members *members); /* when all runs are removed */

/* A run of a workflow was added to the open runs, or is about to be removed. E_NOMEM. */
MUST_CHECK enum status members_add(struct members *members, struct open_run *open);
void members_remove(struct members *members, struct open_run *open);

/* The last attempt at this part of the instance; NULL: there is none here. */
struct open_run *members_find(const struct members *members, const struct id *instance, int part);

/* All runs of the instance, itself among them: for (open = members_first(...); open; open =
 * members_next(open)). The next one must be asked for before a run is removed. */
struct open_run *members_first(const struct members *members, const struct id *instance);
struct open_run *members_next(const struct open_run *open);

#endif
