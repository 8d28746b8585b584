/* Which changes go together in one call: it takes so many only, and jobs that wait for each other
 * are checked together. */
#ifndef PEAL_BATCH_PARTS_H
#define PEAL_BATCH_PARTS_H

#include <jansson.h>

#include "status.h"

/* Splits a list of definitions into lists of about `size`; more where jobs wait for each other
 * (`after`), directly or by way of others. *ret is a list of lists, which the caller frees. */
MUST_CHECK enum status batch_split(const json_t *definitions, size_t size, json_t **ret);

#endif
