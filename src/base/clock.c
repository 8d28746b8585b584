#include "clock.h"

#include <time.h>

static int64_t milliseconds(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

struct now clock_now(void)
{
    struct now now = {{milliseconds(CLOCK_REALTIME)}, {milliseconds(CLOCK_BOOTTIME)}};
    return now;
}
