/* Jobs sorted by name, then uid, in blocks: an insert or a remove moves at most one block of
 * pointers, however many jobs there are. */
#ifndef PEAL_NAME_ORDER_H
#define PEAL_NAME_ORDER_H

#include <stddef.h>

#include "status.h"
#include "table.h"

struct catalog_job;
struct name_block;

struct name_order {
    struct name_block **blocks; /* none is empty */
    size_t count, room;
};

void name_order_release(struct name_order *order);

/* Sorts all jobs of a table at once, which is faster than one by one. E_NOMEM: *ret is
 * untouched. */
MUST_CHECK enum status name_order_make(const struct table *jobs, struct name_order *ret);

/* The job's name and uid must not change while it is in. E_NOMEM: not inserted. */
MUST_CHECK enum status name_order_insert(struct name_order *order, struct catalog_job *job);

/* A job that is not in is ignored. */
void name_order_remove(struct name_order *order, const struct catalog_job *job);

/* ---- lookup; a place is valid until the order changes ---- */

struct name_place {
    size_t block, at;
};

/* The first job whose name comes after `name`; NULL: the first of all. */
struct name_place name_order_after(const struct name_order *order, const char *name);

/* The job at the place, which moves on to the next one; NULL: the end. */
const struct catalog_job *name_order_next(const struct name_order *order, struct name_place *place);

#endif
