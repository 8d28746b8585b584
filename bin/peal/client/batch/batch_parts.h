/* Splits a batch into calls of limited size: jobs that depend on each other must be in the same
 * call. */
#ifndef PEAL_BATCH_PARTS_H
#define PEAL_BATCH_PARTS_H

#include <stddef.h>

#include "job.h"
#include "status.h"

struct batch_put {
    const struct job *job; /* NULL: given up, once the calls are known (batch_give_up_jobs) */
    const char *name;
    char *text; /* its definition as it is sent */
    size_t length;
};

/* What goes into one call. */
struct batch_part {
    size_t from, count; /* of the puts */
};

/* Splits the puts into parts of about `size`, or `bytes` of text if that is less; larger where jobs
 * depend on each other (`after`), directly or indirectly. The puts are sorted, so that each part is
 * in one place; *ret is the caller's. */
MUST_CHECK enum status batch_split(struct batch_put *puts, size_t count, size_t size, size_t bytes,
                                   struct batch_part **ret, size_t *ret_count);

#endif
