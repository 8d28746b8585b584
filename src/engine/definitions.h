/* Decoded definitions of jobs that were started lately and will be again soon: those of jobs that
 * run each second, or of functions that are called thousands of times a second, are not decoded for
 * each run. */
#ifndef PEAL_DEFINITIONS_H
#define PEAL_DEFINITIONS_H

#include "job.h"
#include "table.h"

struct definitions {
    struct table by_uid;
    size_t limit; /* how many are kept; a further one replaces any of them */
    size_t hand;  /* the slot from which on the next one is replaced */
};

void definitions_init(struct definitions *definitions, size_t limit);
void definitions_release(struct definitions *definitions);

/* The caller's, until it is put back; NULL: there is none of this revision. */
struct job *definitions_take(struct definitions *definitions, const struct id *uid,
                             int64_t revision);

/* Takes it over, unchanged as it was decoded. Accepts NULL. */
void definitions_put(struct definitions *definitions, const struct id *uid, int64_t revision,
                     struct job *job);

#endif
