/* The output of all steps of an instance of a workflow, each line with the name of its step. */
#ifndef PEAL_LOG_INSTANCE_H
#define PEAL_LOG_INSTANCE_H

#include "client/client.h"

struct instance_watch {
    const char *run_id; /* of the instance, which may not have begun yet */
    bool follow;        /* until it ends */
    bool with_output;   /* of its steps; without, only how they end, on stderr */
    bool timestamps;
    int64_t deadline_ms; /* wall; NO_TIME: none */
};

/* *ret is the instance as it was seen last. EXIT_TIMED_OUT: it goes on; reported. */
MUST_CHECK enum exit_code log_instance(struct client *client, const struct instance_watch *watch,
                                       json_t **ret);

/* The newest instance of a workflow and every later one, one after the other, until the process is
 * interrupted. Returns only if it can't be followed any more, which is reported. */
MUST_CHECK enum exit_code log_follow_workflow(struct client *client, const char *job,
                                              bool timestamps);

/* Is the run an instance? */
bool run_is_of_workflow(const json_t *run);

/* Is the job a workflow? */
bool job_is_workflow(const json_t *job);

#endif
