/* Checks of the fields `after` and `only_if`: their names must be names of jobs, and no job may
 * wait for itself, directly or by way of others. */
#ifndef PEAL_AFTER_CHECK_H
#define PEAL_AFTER_CHECK_H

#include "call.h"
#include "definition/job_codec.h"
#include "table.h"

/* Finds a job of the same request, which is not in the catalog yet. NULL: none of this name.
 * *ret_gone: the request deletes the job of this name. */
typedef const struct job *after_planned(void *context, const char *name, bool *ret_gone);

struct after_check {
    const struct call *call;
    after_planned *planned;
    void *context;
    struct table seen; /* visited jobs: each is visited once for all checks */
};
/* For a request with one job, which is the context. */
after_planned after_planned_alone;

void after_check_init(struct after_check *check, const struct call *call, after_planned *planned,
                      void *context);
void after_check_release(struct after_check *check);

/* Checks a job of the request. `definition` is the JSON that it was decoded from, for the path of
 * an error. E_INVALID: *reterr has the name, its path and a suggestion. */
MUST_CHECK enum status after_check_job(struct after_check *check, const struct job *job,
                                       const json_t *definition, struct job_error *reterr);

/* Checks a deleted job that is restored: the jobs that it waits for may be missing. */
MUST_CHECK enum status after_check_return(const struct call *call, struct job *job,
                                          struct job_error *reterr);

/* Checks the job `from` that is to be renamed: `job` has the new name, for which others may wait
 * already. */
MUST_CHECK enum status after_check_rename(const struct call *call, struct job *job,
                                          const char *from, struct job_error *reterr);

/* The name of a job that the caller sees, nearest to a mistyped one; NULL: none is near. */
const char *after_nearest_job(const struct call *call, const char *typed);

/* The name of the first missing job that `job` waits for, or has a condition on; NULL: none. */
const char *after_missing(const struct catalog *catalog, const struct catalog_job *job);

/* Has the other job (NULL: missing) ended as `on` wants since `job` was last due? */
bool after_is_met(const struct catalog_job *job, enum after_on on, const struct catalog_job *other);

#endif
