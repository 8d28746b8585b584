/* Checks of jobs in files that concern several of them, or what an agent has. */
#ifndef PEAL_JOB_CHECK_H
#define PEAL_JOB_CHECK_H

#include "client/client.h"
#include "jobs/check/job_sources.h"
#include "jobs/documents/file_docs.h"

/* Reports jobs that wait for themselves by way of others, workflows that contain themselves, and,
 * with an agent (`client` is not NULL), names of jobs, groups, calendars and channels that neither
 * the files nor the agent have. EXIT_INVALID: there are some. Warns of steps that can never run.
 * Without an agent, a note says what was not checked. */
MUST_CHECK enum exit_code job_check(struct client *client, const struct job_list *jobs,
                                    const struct file_docs *docs,
                                    const struct job_sources *sources);

#endif
