/* The members of a schedule; for schedule.c, schedule_parse.c and schedule_search.c. */
#ifndef PEAL_SCHEDULE_INTERNAL_H
#define PEAL_SCHEDULE_INTERNAL_H

#include "schedule.h"

/* Everything happens in the years 1 to 9999. */
#define TIME_FIRST_S INT64_C(-62135596800)
#define TIME_END_S   INT64_C(253402300800)

struct schedule {
    const struct zone *zone;
    int64_t start_s, end_s; /* TIME_UNSET: no bound */
    int64_t value_s;        /* length of EVERY and AFTER, instant of AT */
    int64_t jitter_s;
    uint32_t jitter_ms;
    enum schedule_kind kind : 8;
    enum dst_policy dst : 8;
    struct cron_expr cron;
    uint32_t
        sharers; /* how often it was kept in a schedule_pool; 0: it is in none. The last member */
};

#endif
