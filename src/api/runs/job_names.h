/* The parameter `names` of a request: names of jobs with commas between, taken one after another.
 */
#ifndef PEAL_JOB_NAMES_H
#define PEAL_JOB_NAMES_H

#include "call.h"
#include "state/catalog.h"

struct job_names {
    const char *rest;
    char name[JOB_NAME_SIZE]; /* that job_names_next has taken */
};

/* False: there are none, or more than `most`; the call has failed. */
bool job_names_read(struct call *call, int most, struct job_names *ret);

/* The next job that is there and that the caller may see; NULL: that was the last. */
const struct catalog_job *job_names_next(const struct call *call, struct job_names *names);

#endif
