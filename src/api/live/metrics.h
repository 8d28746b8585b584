/* What is counted, from the store's feed as it comes, for Prometheus. A scrape costs what it
 * prints, not what there was. */
#ifndef PEAL_METRICS_H
#define PEAL_METRICS_H

#include <stdint.h>

#include "state/catalog.h"
#include "strbuf.h"

enum { HISTOGRAM_ROOM = 16 };

struct histogram {
    const double *bounds;               /* seconds, ascending */
    size_t count;                       /* of them, at most HISTOGRAM_ROOM */
    uint64_t below[HISTOGRAM_ROOM + 1]; /* in each bucket alone; the last is without bound */
    double sum;
};

/* By state and reason; the last of each counts those that only a newer peal has. */
struct end_counts {
    uint64_t counts[RUN_STATES + 1][REASONS + 1];
};

struct metrics {
    struct end_counts ended;  /* runs */
    struct end_counts passed; /* ticks that no run was made for */
    uint64_t claims, begins, kills, changes_of_jobs;
    uint64_t logins, wrong_logins, throttled; /* of this node's API */
    struct histogram duration, lateness, store;
    char leader[64];
};

void metrics_init(struct metrics *metrics);

/* `job` is the one that the change is about, or NULL. */
void metrics_note(struct metrics *metrics, const struct store_change *change,
                  const struct catalog_job *job);

/* How long the store took for a request. */
void metrics_note_store(struct metrics *metrics, double seconds);

void metrics_print(const struct metrics *metrics, struct strbuf *out);

/* One number, which is now so or only grows: "# HELP ...", "# TYPE ... gauge", its value. */
void metrics_print_counter(struct strbuf *out, const char *name, const char *help, uint64_t value);
void metrics_print_gauge(struct strbuf *out, const char *name, const char *help, double value);

#endif
