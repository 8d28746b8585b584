/* What requests have handed over for open runs (run_input.h), from the store's feed. */
#ifndef PEAL_INPUTS_H
#define PEAL_INPUTS_H

#include "store.h"
#include "table.h"

struct inputs {
    struct table by_id;
    size_t bytes; /* of all of them */
};

void inputs_init(struct inputs *inputs);
void inputs_release(struct inputs *inputs);

/* A document of the kind INPUT_DOC was put or deleted. One with another name than an id is ignored.
 */
MUST_CHECK enum status inputs_take(struct inputs *inputs, const struct store_doc *doc);

/* The document; NULL: there is none. Valid until the next change of the feed. */
const char *inputs_find(const struct inputs *inputs, const struct id *id);

#endif
