/* Metrics for Prometheus, counted from the store's feed. The cost of a scrape depends on its size,
 * not on the number of events. */
#ifndef PEAL_METRICS_H
#define PEAL_METRICS_H

#include <stdint.h>

#include "state/catalog.h"
#include "strbuf.h"

enum { HISTOGRAM_ROOM = 16 };

struct histogram {
    const double *bounds;               /* seconds, ascending */
    size_t count;                       /* of them, at most HISTOGRAM_ROOM */
    uint64_t below[HISTOGRAM_ROOM + 1]; /* per bucket, not cumulative; the last has no bound */
    double sum;
};

/* By state and reason; the last index counts unknown ones of newer versions. */
struct end_counts {
    uint64_t counts[RUN_STATES + 1][REASONS + 1];
};

struct metrics {
    struct end_counts ended;  /* runs */
    struct end_counts steps;  /* runs that are steps of workflows */
    struct end_counts passed; /* ticks without a run */
    uint64_t claims, begins, kills, changes_of_jobs;
    uint64_t logins, wrong_logins, throttled; /* of this node's API */
    struct histogram duration, lateness, store;
    char leader[64];
};

void metrics_init(struct metrics *metrics);

/* `job` is the job of the change, or NULL. */
void metrics_note(struct metrics *metrics, const struct store_change *change,
                  const struct catalog_job *job);

/* Latency of a store request. */
void metrics_note_store(struct metrics *metrics, double seconds);

void metrics_print(const struct metrics *metrics, struct strbuf *out);

/* One metric: "# HELP ...", "# TYPE ... gauge" or counter, and its value. */
void metrics_print_counter(struct strbuf *out, const char *name, const char *help, uint64_t value);
void metrics_print_gauge(struct strbuf *out, const char *name, const char *help, double value);

#endif
