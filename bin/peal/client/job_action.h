/* What the commands share that do one thing to each job they are given. */
#ifndef PEAL_JOB_ACTION_H
#define PEAL_JOB_ACTION_H

#include "jobs/job_match.h"

/* Does /jobs/NAME/COMMAND to each that is named, or that the filter takes; `done` is what to say of
 * it. All are tried; the answer is that of the last which failed. */
enum exit_code job_action_run(struct client *client, const struct match_request *request,
                              const char *done);

#endif
