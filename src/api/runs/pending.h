/* Ticks that a pause, skip-next, maintenance or a calendar has taken out and that are not in the
 * store yet, which gathers them for up to an hour. Every node knows them from its catalog. */
#ifndef PEAL_API_PENDING_H
#define PEAL_API_PENDING_H

#include <jansson.h>

#include "call.h"
#include "history.h"

enum { PENDING_MAX = 200000 }; /* ticks that are counted for one answer, or those of one job */

/* A job with such ticks, perhaps. */
struct pending_job {
    struct id id; /* of its first entry */
    struct id uid;
};

/* Zeroed: empty. */
struct pending_jobs {
    struct pending_job *items;
    size_t count, capacity;
    bool failed; /* out of memory */
};

/* The jobs that the caller may see, or the one of this name, newest first tick first. */
void pending_jobs_find(const struct call *call, const char *job_name, struct pending_jobs *jobs);
void pending_jobs_release(struct pending_jobs *jobs);

/* Appends the entries of the job that the query asks for, newest first, and adds the number of its
 * ticks to *ticks. E_NOMEM. */
MUST_CHECK enum status pending_add(const struct call *call, const struct pending_job *job,
                                   const struct history_query *query, json_t *items,
                                   int64_t *ticks);

/* The entry of the job with this tick; false: there is none, or memory is short. */
bool pending_find(const struct call *call, const struct id *job_uid, int64_t tick_ms,
                  struct ledger_entry *ret);

#endif
