/* A load for any store: jobs in lanes, each of which takes its jobs through their ticks, one
 * request at a time. A run is a claim, a begin, a finish and a forget, as the engine sends them. */
#ifndef PEAL_BENCH_LANES_H
#define PEAL_BENCH_LANES_H

#include "store.h"

enum { LANES_MAX = 16, LANE_STEPS = 4 };

/* Fill the first three. */
struct lanes {
    struct store *store;
    void (*wait)(void *context); /* until the store may have something */
    void *context;
    int job_count;
    int64_t *cursors;
};

void lanes_put_jobs(struct lanes *lanes, int count);
void lanes_release(struct lanes *lanes);

/* Whichever comes first; what is under way then is finished. */
struct lanes_end {
    double seconds;
    int64_t runs;
};

/* Runs per second, with `batch` jobs in each of `count` lanes, until then. With one step of the
 * four they are only claimed, and the runs stay. */
double lanes_measure(struct lanes *lanes, int batch, int count, int steps, struct lanes_end end);

double now_s(void);
_Noreturn void die(const char *what);

#endif
