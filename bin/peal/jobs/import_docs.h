/* Documents to be imported into another store: users, tokens, calendars, channels and groups. The
 * secret of sessions is not: users log in again. */
#ifndef PEAL_IMPORT_DOCS_H
#define PEAL_IMPORT_DOCS_H

#include "loop.h"
#include "store.h"

struct import_docs {
    struct store_put_doc *puts; /* their json is malloc'ed */
    size_t count, capacity;
    size_t accounts, calendars, channels, groups; /* written; existing ones are skipped */
};

/* Adds a document of the feed; other kinds are ignored. */
MUST_CHECK enum status import_docs_add(struct import_docs *docs, const struct store_doc *doc);

/* Existing documents are not overwritten. `store` has been read up to LOADED. */
/* Waits for the store that was opened with this loop; NULL: it works in a thread of its own. */
void import_turn(struct loop *loop);

MUST_CHECK enum status import_docs_write(struct import_docs *docs, struct loop *loop,
                                         struct store *store);

void import_docs_release(struct import_docs *docs);

#endif
