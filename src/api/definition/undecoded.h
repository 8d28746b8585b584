/* Documents in the store that this version can't decode: a user with a role of a newer peal, a
 * channel of an unknown type, a calendar, the record of a change. They have no effect; `/agent`
 * lists them, so that an operator can look into it. */
#ifndef PEAL_API_UNDECODED_H
#define PEAL_API_UNDECODED_H

#include "language.h"
#include "store.h"
#include "table.h"

struct undecoded_doc {
    char key[DOC_KIND_SIZE + DOC_NAME_SIZE + 8]; /* as in the store: "docs/user/anna" */
    char path[128]; /* of the field, or empty; never the value, which may be a secret */
};

struct undecoded {
    struct table docs; /* by key */
};

void undecoded_init(struct undecoded *undecoded);
void undecoded_release(struct undecoded *undecoded);

/* Handles a change of the feed; only documents matter. Drops the document when out of memory. */
void undecoded_take(struct undecoded *undecoded, const struct store_change *change);

/* Adds a document that its reader could not read, until it is deleted: for kinds that are read
 * later than they come. */
void undecoded_add(struct undecoded *undecoded, const char *kind, const char *name);

enum { UNDECODED_WHY = 200 };

/* The message for a definition that can't be decoded; `path` is the field, or empty. */
void undecoded_print_why(const char *path, enum language language, char why[UNDECODED_WHY]);

#endif
