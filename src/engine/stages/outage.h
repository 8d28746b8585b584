/* Outages of the store, as the engine's stages note them, and the pauses between retries. */
#ifndef PEAL_OUTAGE_H
#define PEAL_OUTAGE_H

#include <stdint.h>

enum {
    OUTAGE_MS = 500,        /* an answer that takes this long counts as an outage */
    OUTAGE_MERGE_MS = 2000, /* two outages this close to each other are one */
    RETRY_FIRST_MS = 50,
    RETRY_LAST_MS = 1000,
};

/* The last outage, in wall time. */
struct outage {
    int64_t since_ms, until_ms;
};

/* A request of `since_ms` has failed, or was answered only now. */
static inline void outage_note(struct outage *outage, int64_t since_ms, int64_t now_ms)
{
    if (since_ms > outage->until_ms + OUTAGE_MERGE_MS || since_ms < outage->since_ms)
        outage->since_ms = since_ms;
    outage->until_ms = now_ms;
}

/* The pause before the next try after one more failure in a row. Most outages are short, as an
 * election in etcd: the first tries are close to each other, later ones a second apart. After an
 * answer the caller sets *failures to 0. */
static inline int64_t retry_after_ms(unsigned *failures)
{
    int64_t ms = *failures < 5 ? RETRY_FIRST_MS << *failures : RETRY_LAST_MS;
    ++*failures;
    return ms < RETRY_LAST_MS ? ms : RETRY_LAST_MS;
}

#endif
