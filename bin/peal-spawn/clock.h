/* The two clocks of the spawner. Boot time counts suspended time too and is never set. */
#ifndef PEAL_SPAWNER_CLOCK_H
#define PEAL_SPAWNER_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_ms(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static inline int64_t boot_ms(void)
{
    return clock_ms(CLOCK_BOOTTIME);
}

static inline int64_t wall_ms(void)
{
    return clock_ms(CLOCK_REALTIME);
}

#endif
