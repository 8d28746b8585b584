/* The time so many microseconds from now, for conditions on CLOCK_MONOTONIC. */
#ifndef PEAL_MONOTONIC_H
#define PEAL_MONOTONIC_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

static inline struct timespec monotonic_in_us(int64_t us)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    if (us > 0) {
        int64_t nsec = until.tv_nsec + us % 1000000 * 1000;
        until.tv_sec += us / 1000000 + nsec / 1000000000;
        until.tv_nsec = nsec % 1000000000;
    }
    return until;
}

static inline void monotonic_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
}

#endif
