/* Runs and instances of workflows are told to end. */
#ifndef PEAL_RUN_KILL_H
#define PEAL_RUN_KILL_H

#include "client/client.h"

enum run_kind { KIND_RUN, KIND_INSTANCE };

/* Says that it was told. */
MUST_CHECK enum exit_code run_kill(struct client *client, enum run_kind kind, const char *run_id);

/* Every run of the job that is not over; EXIT_NOT_FOUND, reported: there is none. */
MUST_CHECK enum exit_code run_kill_all(struct client *client, enum run_kind kind, const char *job);

#endif
