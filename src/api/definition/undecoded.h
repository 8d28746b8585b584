/* Documents that are stored well, but that their readers here can't decode: a user of a role that
 * only a newer peal has, a channel of an unknown type, a calendar. Nobody acts by them; they are
 * named, so that somebody can look. */
#ifndef PEAL_API_UNDECODED_H
#define PEAL_API_UNDECODED_H

#include "store.h"
#include "table.h"

struct undecoded_doc {
    char key[DOC_KIND_SIZE + DOC_NAME_SIZE + 8]; /* as in the store: "docs/user/anna" */
    char why[200]; /* says where, and never what is there: it may be a secret */
};

struct undecoded {
    struct table docs; /* by key */
};

void undecoded_init(struct undecoded *undecoded);
void undecoded_release(struct undecoded *undecoded);

/* A change of the feed; only documents matter. Out of memory leaves one out. */
void undecoded_take(struct undecoded *undecoded, const struct store_change *change);

/* What to say of a definition that can't be read; `path` is where, or empty. */
void undecoded_print_why(const char *path, char why[200]);

#endif
