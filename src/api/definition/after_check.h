/* What jobs wait for, as the API looks at it: the names must be those of jobs, and nobody may wait
 * for themselves by way of others. */
#ifndef PEAL_AFTER_CHECK_H
#define PEAL_AFTER_CHECK_H

#include "call.h"
#include "definition/job_codec.h"
#include "table.h"

/* A job of the same request, which is not in the catalog yet. NULL: there is none of this name;
 * *ret_gone: and there will be none. */
typedef const struct job *after_planned(void *context, const char *name, bool *ret_gone);

struct after_check {
    const struct call *call;
    after_planned *planned;
    void *context;
    struct table seen; /* what was looked at: each job once, however many are checked */
};
/* Of a request with one job, which is the context. */
after_planned after_planned_alone;

void after_check_init(struct after_check *check, const struct call *call, after_planned *planned,
                      void *context);
void after_check_release(struct after_check *check);

/* Checks a planned job. `definition` is what it was read from, for the place of a mistake.
 * E_INVALID: *reterr says which name, where, and what may have been meant. */
MUST_CHECK enum status after_check_job(struct after_check *check, const struct job *job,
                                       const json_t *definition, struct job_error *reterr);

/* Checks a deleted job that is brought back: what it waits for may be gone. */
MUST_CHECK enum status after_check_return(const struct call *call, struct job *job,
                                          struct job_error *reterr);

/* The first job that it waits for and that is not there; NULL: none. */
const char *after_missing(const struct catalog *catalog, const struct catalog_job *job);

/* Since it was last made due, the other job (NULL: there is none) has ended as wanted. */
bool after_is_met(const struct catalog_job *job, enum after_on on, const struct catalog_job *other);

#endif
