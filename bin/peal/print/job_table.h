/* Jobs as a table: what runs next, and how the last run ended. */
#ifndef PEAL_JOB_TABLE_H
#define PEAL_JOB_TABLE_H

#include "cli/output.h"
#include "jobs/definition.h"

/* "running", "paused", "failed", ...: one word for how a job is doing. */
const char *job_status_word(const json_t *api_job);

/* Prints jobs (a list) in the form that was asked for. YAML are definitions that `peal apply`
 * takes; JSON has everything. */
MUST_CHECK enum exit_code jobs_print(struct client *client, const json_t *jobs, enum output output);

#endif
