/* The jobs and workflows that steps name: who names a job, and by which of its names. */
#ifndef PEAL_STEP_NAMES_H
#define PEAL_STEP_NAMES_H

#include "job.h"
#include "state/catalog.h"

/* Visits the workflows that name this job in a step, in the order of their names; `by_former`: only
 * those that name it by a former name. Until `visit` returns false. */
void step_names_each(struct catalog *catalog, const struct catalog_job *job, bool by_former,
                     bool (*visit)(void *context, const struct catalog_job *workflow),
                     void *context);

/* Replaces the former names of the job in the steps. NULL: there are none; else one of them, as it
 * was. */
const char *step_names_replace(const struct catalog *catalog, const struct catalog_job *job,
                               struct job *definition, char former[JOB_NAME_SIZE]);

#endif
