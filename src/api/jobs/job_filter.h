/* Which jobs of a list are wanted: q, label, owner, status. */
#ifndef PEAL_JOB_FILTER_H
#define PEAL_JOB_FILTER_H

#include "call.h"

enum job_status { STATUS_ANY, IS_OK, IS_FAILED, IS_NEVER, IS_RUNNING, IS_PAUSED, IS_BROKEN };

struct job_filter {
    char *q, *q_in_json; /* the second as it stands within a JSON text */
    char *label, *value; /* value NULL: any */
    const char *owner;   /* the call's */
    enum job_status status;
    const struct catalog *catalog; /* which tells whether a job waits for one that is not there */
};

/* From the parameters of the call; false: the call has failed. */
bool job_filter_read(struct call *call, struct job_filter *filter);
void job_filter_release(struct job_filter *filter);

/* Most jobs are told apart without parsing anything. */
bool job_filter_takes(const struct job_filter *filter, const struct catalog_job *job);

/* The stored definition has this label; `value` NULL: whatever it says. */
bool job_has_label(const char *definition, const char *label, const char *value);

/* The place of a parameter's value in a list that NULL ends; false: it is not in there. Stays as it
 * is when the parameter is not given. */
bool param_choice(const struct call *call, const char *name, const char *const *words, int *inout);

#endif
