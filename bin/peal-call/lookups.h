/* Name lookups. libcurl looks each name up in a thread of its own; so that a burst of calls of one
 * host is one lookup, only the first of them goes ahead, and the others follow once libcurl has the
 * host's addresses in its cache. At most LOOKUPS_MAX hosts are looked up at the same time. */
#ifndef PEAL_CALLER_LOOKUPS_H
#define PEAL_CALLER_LOOKUPS_H

#include <stdbool.h>

#include "call.h"
#include "table.h"

#define LOOKUPS_MAX 64

/* A host that is being looked up, or waits for its turn. */
struct lookup {
    char *host;
    struct call *ahead;      /* the call that does it; NULL: waits for its turn */
    struct call_list behind; /* calls that wait for it */
    bool is_known;           /* libcurl has its addresses */
    TAILQ_ENTRY(lookup) line;
};

struct lookups {
    struct table by_host;
    TAILQ_HEAD(lookup_line, lookup) line; /* those that wait for their turn */
    TAILQ_HEAD(lookup_known, lookup) known;
    size_t count; /* under way */
};

void lookups_init(struct lookups *lookups);
void lookups_release(struct lookups *lookups);

/* True: the call may go ahead. False: it waits, or (out of memory) goes ahead as well. */
bool lookups_enter(struct lookups *lookups, struct call *call);

/* From libcurl's callback: the host of this call is known. */
void lookups_found(struct lookups *lookups, struct call *call);

/* The call has ended, or no longer waits. */
void lookups_leave(struct lookups *lookups, struct call *call);

/* The next call that may go ahead now; NULL: none. */
struct call *lookups_next(struct lookups *lookups);

/* The next call behind this one, which could not find the host; NULL: none is left. */
struct call *lookups_behind(struct lookups *lookups, const struct call *call);

#endif
