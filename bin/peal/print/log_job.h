/* Follows the output of a job from run to run, like `journalctl -f`. */
#ifndef PEAL_LOG_JOB_H
#define PEAL_LOG_JOB_H

#include "client/client.h"

/* Prints the newest run, and every later one as it happens, until the process is interrupted; a
 * line on stderr begins and ends each run. An agent that is away is waited for. Returns only if the
 * job can't be followed any more, which is reported. */
MUST_CHECK enum exit_code log_follow_job(struct client *client, const char *job, bool timestamps);

#endif
