/* What the engine's parts do about a store that fails, or does not answer for a while. */
#ifndef PEAL_OUTAGE_H
#define PEAL_OUTAGE_H

#include <stdint.h>

enum {
    OUTAGE_MS = 500,        /* a store that takes so long for an answer was away */
    OUTAGE_MERGE_MS = 2000, /* two that are so close to each other are one */
    RETRY_FIRST_MS = 50,
    RETRY_LAST_MS = 1000,
};

/* The last one, in wall time. */
struct outage {
    int64_t since_ms, until_ms;
};

/* What the store was asked at `since_ms` it has failed, or answered only now. */
static inline void outage_note(struct outage *outage, int64_t since_ms, int64_t now_ms)
{
    if (since_ms > outage->until_ms + OUTAGE_MERGE_MS || since_ms < outage->since_ms)
        outage->since_ms = since_ms;
    outage->until_ms = now_ms;
}

/* When to ask the store again after one more failure in a row. Most are over soon, as an election
 * in etcd is: the first tries are close to each other, those of a long outage a second apart.
 * Whoever is answered sets *failures to 0. */
static inline int64_t retry_after_ms(unsigned *failures)
{
    int64_t ms = *failures < 5 ? RETRY_FIRST_MS << *failures : RETRY_LAST_MS;
    ++*failures;
    return ms < RETRY_LAST_MS ? ms : RETRY_LAST_MS;
}

#endif
