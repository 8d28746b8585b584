#include "clock.h"

#include <time.h>

static int64_t milliseconds(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int64_t microseconds(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

struct now clock_now(void)
{
    struct now now = {{milliseconds(CLOCK_REALTIME)}, {milliseconds(CLOCK_BOOTTIME)}};
    return now;
}

int64_t clock_boot_us(void)
{
    return microseconds(CLOCK_BOOTTIME);
}

int64_t clock_boot_us_at(struct wall_ms wall)
{
    int64_t wall_us = microseconds(CLOCK_REALTIME); /* first: rather late than early */
    return microseconds(CLOCK_BOOTTIME) + wall.ms * 1000 - wall_us;
}
