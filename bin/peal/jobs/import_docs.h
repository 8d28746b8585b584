/* The documents of a store on their way into another one: users, tokens, calendars and channels.
 * The key of the sessions stays behind: who moves logs in again. */
#ifndef PEAL_IMPORT_DOCS_H
#define PEAL_IMPORT_DOCS_H

#include "loop.h"
#include "store.h"

struct import_docs {
    struct store_put_doc *puts; /* their json is malloc'ed */
    size_t count, capacity;
    size_t accounts, calendars, channels; /* written; others of their names are there already */
};

/* A document of the feed; other kinds are left out. */
MUST_CHECK enum status import_docs_add(struct import_docs *docs, const struct store_doc *doc);

/* Nothing that is there is overwritten. `store` has been read up to LOADED. */
MUST_CHECK enum status import_docs_write(struct import_docs *docs, struct loop *loop,
                                         struct store *store);

void import_docs_release(struct import_docs *docs);

#endif
