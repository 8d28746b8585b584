/* The conditions of jobs (`only_if`): of which jobs, and whether they hold for a tick as far as the
 * feed has told. The store looks again when the tick is claimed. */
#ifndef PEAL_CONDITIONS_H
#define PEAL_CONDITIONS_H

#include <sys/queue.h>

#include "job.h"
#include "store.h"

struct catalog;
struct catalog_job;
struct awaited;

struct condition {
    struct catalog_job *job; /* whose condition it is */
    const char *name;        /* of the other job, which need not exist */
    struct awaited *awaited; /* NULL: not linked */
    LIST_ENTRY(condition) link;
};

/* Those of one job, in one block of memory. */
struct job_conditions {
    unsigned states; /* after_states */
    int64_t within_ms, wait_ms;
    size_t count;
    struct condition items[];
};

/* Of a definition (NULL: it can't be decoded), not linked; *ret NULL: none. E_NOMEM. */
MUST_CHECK enum status conditions_read(struct catalog_job *job, const struct job *definition,
                                       struct job_conditions **ret);

/* How it is with a tick. */
struct conditions_look {
    int64_t since_ms;
    const struct condition *unmet; /* the first that does not hold; NULL: all do */
    bool is_missing;               /* there is no job of its name */
    int64_t met_ms;                /* since when all hold; 0: since before the tick */
};
struct conditions_look conditions_look(const struct catalog *catalog, const struct catalog_job *job,
                                       int64_t tick_ms);

/* "load: no success since 2026-03-08T00:00:00Z": the detail of a ledger entry. */
void conditions_tell(const struct job_conditions *conditions, const struct conditions_look *look,
                     char *ret, size_t size);

/* For the claim of that tick; the caller frees them. NULL: out of memory. */
struct store_condition *conditions_for_store(const struct catalog *catalog,
                                             const struct catalog_job *job, int64_t tick_ms);

/* The first missing job; NULL: none. */
const char *conditions_missing(const struct catalog *catalog, const struct catalog_job *job);

#endif
