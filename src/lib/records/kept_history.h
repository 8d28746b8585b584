/* The history of a program: records are handed to an agent of the cluster, wait in DIR/spool while
 * there is none, and go to DIR/history.db, on this machine alone, when the spool is full. So a
 * program that never meets an agent keeps its records, too, as many as fit, and the store is not
 * kept waiting for either. */
#ifndef PEAL_KEPT_HISTORY_H
#define PEAL_KEPT_HISTORY_H

#include "history.h"

struct kept_history_config {
    const char *dir;       /* must outlive it */
    int64_t spool_bytes;   /* 0: 64 MiB */
    struct history *agent; /* records of the cluster's agents; taken over, also on failure */
    struct history_wake wake;
    void (*told)(void *context); /* once, when the spool is full; may be NULL */
    void *context;
};

MUST_CHECK enum status kept_history_open(const struct kept_history_config *config,
                                         struct history **ret, struct strbuf *why);

#endif
