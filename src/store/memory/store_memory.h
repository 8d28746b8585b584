/* A store without a disk. Requests are done in store_dispatch. */
#ifndef PEAL_STORE_MEMORY_H
#define PEAL_STORE_MEMORY_H

#include "store.h"

MUST_CHECK enum status store_memory_new(struct store_wake wake, struct store **ret);

/* Another node's view of the data of `other`, which live until the last view is freed. */
MUST_CHECK enum status store_memory_attach(struct store *other, struct store_wake wake,
                                           struct store **ret);

/* Expires this node, as after 5 s without a heartbeat: it is gone for the others, and does not
 * lead. Its next store_announce registers it again. */
void store_memory_expire(struct store *store);

/* Feeds the initial state again, as after a start. */
void store_memory_reload(struct store *store);

#endif
