/* What the library's threads share: conditions on CLOCK_MONOTONIC, and locks. */
#ifndef PEAL_MONOTONIC_H
#define PEAL_MONOTONIC_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

/* The time so many microseconds from now. */
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

/* For a lock that is held for less than a thread takes to sleep and to wake. */
static inline void brief_lock_init(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

#endif
