/* The two clocks, as two types, so that they can't be mixed up. Wall time is what people mean and
 * can jump; boot time (CLOCK_BOOTTIME) only grows, also while the machine sleeps. Logic never reads
 * a clock: it is given a `struct now` that was sampled once for this turn. */
#ifndef PEAL_CLOCK_H
#define PEAL_CLOCK_H

#include <stdint.h>

struct wall_ms {
    int64_t ms; /* since 1970-01-01T00:00:00Z */
};

struct boot_ms {
    int64_t ms; /* since the machine started */
};

struct now {
    struct wall_ms wall;
    struct boot_ms boot;
};

/* What the wall clock shows at this boot time, unless it is set meanwhile. */
static inline int64_t wall_at(struct now now, struct boot_ms at)
{
    return now.wall.ms + at.ms - now.boot.ms;
}

/* The machine's clocks. For the outermost layers only. */
struct now clock_now(void);

/* The boot clock in microseconds: now, and when the wall clock shows this, unless it is set
 * meanwhile. */
int64_t clock_boot_us(void);
int64_t clock_boot_us_at(struct wall_ms wall);

/* The boot time `at` in microseconds; 0: it is past. `at` was made of clocks that were read to the
 * millisecond, and so may be off by one; the wall time that it stands for is exact, unless that
 * clock was set since. */
int64_t clock_boot_us_near(struct boot_ms at, struct wall_ms wall);

#endif
