/* Decoded definitions of jobs that were started lately: a program whose functions are called
 * thousands of times a second does not decode them for each call. */
#ifndef PEAL_DEFINITIONS_H
#define PEAL_DEFINITIONS_H

#include "job.h"
#include "table.h"

struct definitions {
    struct table by_uid;
    size_t limit; /* how many are kept, the first ones; 0: none */
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
