/* Is what this node shows what the store has? Whoever answers that something is so already, or that
 * there is no such thing to delete, asks the store first (STORE_CONFIRM): this node may be cut off,
 * others may have changed it, or the store was restored from a backup and knows nothing of it. */
#ifndef PEAL_API_CONFIRM_H
#define PEAL_API_CONFIRM_H

#include "call.h"

/* Calls that ask at the same time share one request; those that come while it is under way share
 * the next one. */
struct confirms {
    struct store_request request;
    struct call_list asked, waiting;
};

void confirms_init(struct confirms *confirms);

/* The call goes on in `then`, and decides anew: catalog and documents have all that the store had
 * when it asked. If call->answer is not OK it fails, with call_fail_unconfirmed. */
void call_confirm(struct call *call, call_then *then);

/* 503: why the store did not confirm it, and that it may have something else. */
void call_fail_unconfirmed(struct call *call);

#endif
