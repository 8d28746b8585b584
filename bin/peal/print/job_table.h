/* Jobs as a table: next run, and result of the last run. */
#ifndef PEAL_JOB_TABLE_H
#define PEAL_JOB_TABLE_H

#include "cli/listing.h"
#include "jobs/definition.h"

/* "running", "paused", "failed", ...: one word for how a job is doing. */
const char *job_status_word(const json_t *api_job);

/* The columns of such a table. */
extern const struct list_form jobs_form;

/* Prints a list of jobs in the requested format. YAML has definitions for `peal apply`; JSON has
 * everything. */
MUST_CHECK enum exit_code jobs_print(struct client *client, const json_t *jobs, enum output output);

#endif
