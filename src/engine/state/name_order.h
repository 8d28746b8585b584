/* Jobs in the order of their names, then uids, in blocks: one that comes or goes moves a block's
 * worth of pointers, however many there are. */
#ifndef PEAL_NAME_ORDER_H
#define PEAL_NAME_ORDER_H

#include <stddef.h>

#include "status.h"

struct catalog_job;
struct name_block;

struct name_order {
    struct name_block **blocks; /* none is empty */
    size_t count, room;
};

void name_order_release(struct name_order *order);

/* Makes the order of all these jobs at once, which is quicker than one by one; brings `jobs` into
 * it, too. E_NOMEM: it is as it was. */
MUST_CHECK enum status name_order_make(struct catalog_job **jobs, size_t count,
                                       struct name_order *ret);

/* The job's name and uid stay as they are while it is in. E_NOMEM: it is not in. */
MUST_CHECK enum status name_order_insert(struct name_order *order, struct catalog_job *job);

/* One that is not in is left alone. */
void name_order_remove(struct name_order *order, const struct catalog_job *job);

/* ---- looking; a place is good until the order changes ---- */

struct name_place {
    size_t block, at;
};

/* The first job whose name comes after `name`; NULL: the first of all. */
struct name_place name_order_after(const struct name_order *order, const char *name);

/* The job at the place, which goes on to the next one; NULL: there are no more. */
const struct catalog_job *name_order_next(const struct name_order *order, struct name_place *place);

#endif
