/* Checks of the jobs and workflows that the steps of a workflow name: they must be there, the
 * caller must have the right to define them, since a step runs them as their user and with
 * variables of its own, and no workflow may contain itself, directly or by way of others. */
#ifndef PEAL_STEP_CHECK_H
#define PEAL_STEP_CHECK_H

#include "definition/after_check.h"

/* Does a step of the workflow name another job? */
bool job_has_references(const struct job *job);

/* Checks a workflow of the request; `check` says where other jobs are found. E_INVALID: *reterr has
 * the name, its path and a suggestion. */
MUST_CHECK enum status step_check_job(const struct after_check *check, const struct job *job,
                                      struct job_error *reterr);

#endif
