/* Shared by commands that perform one action on each given job. */
#ifndef PEAL_JOB_ACTION_H
#define PEAL_JOB_ACTION_H

#include "jobs/job_match.h"

/* POSTs /jobs/NAME/COMMAND for each named or matching job; `done` is the past participle for
 * messages, in English. All are tried; returns the last failure. */
enum exit_code job_action_run(struct client *client, const struct match_request *request,
                              const char *done);

#endif
