/* The field `after`: the job runs after runs of other jobs, instead of by a schedule. */
#ifndef PEAL_AFTER_H
#define PEAL_AFTER_H

#include "job_name.h"
#include "run.h"

enum { JOB_AFTER_MAX = 32 };

/* How a run of the other job must have ended. Skipped and missed ticks do not count. */
enum after_on {
    AFTER_SUCCESS, /* ok */
    AFTER_FAILURE, /* failed, timed out, lost */
    AFTER_ALWAYS,  /* any of these, or killed */
};

struct job_after {
    char job[JOB_NAME_SIZE];
    enum after_on on;
};

/* A bit for each wanted state: 1 << enum run_state. */
unsigned after_states(enum after_on on);
bool after_wants(enum after_on on, enum run_state state);

/* Records in a new run the run of the other job that made it due. */
void after_note(struct run *run, const struct run *before, const char *job_name);
/* The other job's name, valid until the run ends; empty: the cause is not AFTER. */
const char *after_noted_job(const struct run *run);

extern const char *const after_on_names[]; /* by value; NULL at the end */

#endif
