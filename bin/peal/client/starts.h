/* Whether the agent can start runs, as it says in GET /agent. */
#ifndef PEAL_STARTS_H
#define PEAL_STARTS_H

#include "client/client.h"

/* True also for an agent of an older version, which does not say it. */
bool starts_are_ok(const json_t *agent);
const char *starts_reason(const json_t *agent); /* a word, if they are not */
const char *starts_detail(const json_t *agent); /* what is wrong, and what to do */

/* Why a job that names no user would not be started; NULL: it would be, or that is not known. */
const char *starts_user_problem(const json_t *agent);

/* "note: nothing can start ..." on stderr, if that is so, and for a job that `needs_user` a note if
 * it would not be started without one. An agent that does not answer is not reported. */
void starts_warn(struct client *client, bool needs_user);

/* A note for each limit of whole runs, 1 << enum run_controller, that no node can enforce: jobs
 * with it do not run. */
void starts_warn_of_limits(struct client *client, unsigned needs);

#endif
