/* Output of runs that the history does not have yet: of this node, and of other nodes. Offsets
 * count all printed bytes, dropped ones included. */
#ifndef PEAL_LIVE_OUTPUT_H
#define PEAL_LIVE_OUTPUT_H

#include <stdbool.h>

#include "history.h"

/* On this node. */
struct live_output {
    /* At most `limit` bytes of chunks from `offset` on, less only at the end of the output; they
     * and their bytes are from malloc. E_NOT_FOUND: not started, or moved to the history. NULL:
     * this node runs nothing. */
    enum status (*read)(void *context, const struct id *run_id, int64_t offset, size_t limit,
                        struct output_chunk **ret, size_t *ret_count);
    void *context;
};

/* A request for it, also to another node. */
struct live_read {
    char node[64];
    struct id run_id;
    int64_t offset;
    size_t limit;
    bool found;                  /* answer; false: the node has no output of the run (any more) */
    struct output_chunk *chunks; /* freed by live_read_release */
    size_t count;
    const char *why; /* of a failure, as the rest of a sentence after the node's name */
    /* E_UNREACHABLE: that node may answer later; E_VERSION: it opens no port for this, or its peal
     * is too old. */
    void (*done)(struct live_read *read, enum status st);
    void *context;
};

struct live_elsewhere {
    /* Calls read->done once, within 2 s, perhaps at once. NULL: there are no other nodes. */
    void (*read)(void *context, struct live_read *read);
    void *context;
};

/* Frees the answer; the request can be used again. */
void live_read_release(struct live_read *read);

#endif
