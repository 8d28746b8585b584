/* Splits a batch into calls of limited size: jobs that depend on each other must be in the same
 * call. */
#ifndef PEAL_BATCH_PARTS_H
#define PEAL_BATCH_PARTS_H

#include <jansson.h>

#include "status.h"

/* Splits a list of definitions into lists of about `size` definitions, or `bytes` of them if that
 * is less; larger where jobs depend on each other (`after`), directly or indirectly. *ret is a list
 * of lists, which the caller frees. */
MUST_CHECK enum status batch_split(const json_t *definitions, size_t size, size_t bytes,
                                   json_t **ret);

#endif
