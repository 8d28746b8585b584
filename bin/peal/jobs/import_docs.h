/* Documents to be imported into another store: what people have set. What belongs to runs, nodes or
 * the store itself is left. */
#ifndef PEAL_IMPORT_DOCS_H
#define PEAL_IMPORT_DOCS_H

#include "loop.h"
#include "store.h"

enum { IMPORT_DOC_KINDS_MAX = 24 };

struct import_docs {
    struct store_put_doc *puts; /* their json is malloc'ed */
    size_t count, capacity;
    size_t written[IMPORT_DOC_KINDS_MAX]; /* by the row of the kind; existing ones are skipped */
    char unknown[DOC_KIND_SIZE];          /* a kind that only a newer peal knows; "": none */
};

/* Adds a document of the feed, unless its kind is left. */
MUST_CHECK enum status import_docs_add(struct import_docs *docs, const struct store_doc *doc);

/* Waits for the store that was opened with this loop; NULL: it works in a thread of its own. */
void import_turn(struct loop *loop);

/* Existing documents are not overwritten. `store` has been read up to LOADED. */
MUST_CHECK enum status import_docs_write(struct import_docs *docs, struct loop *loop,
                                         struct store *store);

/* Prints how many of each kind were written, and what was not known. */
void import_docs_tell(const struct import_docs *docs);

void import_docs_release(struct import_docs *docs);

#endif
