/* coord.h for processes of many machines: keys below PREFIX/coord/.
 *
 *     locks/NAME/queue/LEASE    one per claim, with its lease; the oldest (create revision) holds
 *     locks/NAME/fence          "FENCE CLUSTER-ID" of the last holder; stays
 *     elections/NAME/...        the same
 *     select/NAME               the chosen one, with a lease that nobody renews
 *
 * A claim waits for the deletion of the key before its own, and for nothing else. It holds once a
 * transaction has raised the fence while its own key was there. It is lost when its lease could end
 * soon (coord_want.margin_ms), counted on the boot clock from when the last answered renewal was
 * sent, or when its key is gone. A lease of etcd has two seconds at least. */
#ifndef PEAL_COORD_KV_H
#define PEAL_COORD_KV_H

#include "coord.h"
#include "kv.h"

/* The client is the coord's from now on, also when this fails. Its deadline of requests is the
 * timeout: how long the store may be silent, also while a claim waits, before that is a failure.
 * E_NOMEM. */
MUST_CHECK enum status coord_kv_open(struct loop *loop, struct kv_client *client,
                                     const char *prefix, int64_t timeout_ms, struct coord **ret);

#endif
