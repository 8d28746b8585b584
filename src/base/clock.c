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

int64_t clock_boot_us_near(struct boot_ms at, struct wall_ms wall)
{
    enum { OFF_US = 2000 };
    int64_t at_us = at.ms * 1000;
    if (at_us <= clock_boot_us())
        return 0;
    int64_t exact_us = clock_boot_us_at(wall);
    return exact_us > at_us - OFF_US && exact_us < at_us + OFF_US ? exact_us : at_us;
}
