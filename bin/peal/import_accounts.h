/* The accounts of a store on their way into another one: users and tokens. The key of the sessions
 * stays behind: who moves logs in again. */
#ifndef PEAL_IMPORT_ACCOUNTS_H
#define PEAL_IMPORT_ACCOUNTS_H

#include "loop.h"
#include "store.h"

struct import_accounts {
    struct store_put_doc *puts; /* their json is malloc'ed */
    size_t count, capacity;
    size_t written; /* the others have another one of their name there */
};

/* A document of the feed; others than accounts are left out. */
MUST_CHECK enum status import_accounts_add(struct import_accounts *accounts,
                                           const struct store_doc *doc);

/* Nothing that is there is overwritten. `store` has been read up to LOADED. */
MUST_CHECK enum status import_accounts_write(struct import_accounts *accounts, struct loop *loop,
                                             struct store *store);

void import_accounts_release(struct import_accounts *accounts);

#endif
