/* All jobs, as the change feed told: by uid and by name, each with its next tick. Compact: a
 * million jobs fit in a few hundred megabytes. The definition is kept as the store's JSON and
 * decoded when it is needed. */
#ifndef PEAL_CATALOG_H
#define PEAL_CATALOG_H

#include <stdbool.h>
#include <stddef.h>

#include "job.h"
#include "run.h"

struct catalog;

/* Read-only for all but the planner. */
struct catalog_job {
    struct id uid;
    int64_t revision;
    int64_t cursor_ms;
    int64_t ended_ms;          /* end of the last run; 0: none */
    int64_t next_ms;           /* next tick; NEVER_MS: none */
    char *json;                /* the stored definition */
    const char *name;          /* inside `json`'s block */
    struct schedule *schedule; /* the only one, or NULL: `set` has several */
    struct schedule_set *set;
    struct run_summary *last; /* last ended run; NULL: none since the agent started */
    uint32_t open_runs;
    uint32_t heap_index;          /* the planner's */
    bool paused, deleted, broken; /* broken: the definition can't be read by this version */
    uint8_t overlap, catch_up;
};

#define NEVER_MS INT64_MAX

size_t catalog_count(const struct catalog *catalog);
const struct catalog_job *catalog_by_name(const struct catalog *catalog, const char *name);
const struct catalog_job *catalog_by_uid(const struct catalog *catalog, const struct id *uid);

/* Visits jobs in the order of their names, from `after` (exclusive; NULL: from the start), until
 * visit returns false. */
void catalog_each(const struct catalog *catalog, const char *after,
                  bool (*visit)(void *context, const struct catalog_job *job), void *context);

#endif
