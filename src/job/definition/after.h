/* Which ends of other jobs a job waits for, instead of the ticks of a schedule. */
#ifndef PEAL_AFTER_H
#define PEAL_AFTER_H

#include "job_name.h"
#include "run.h"

enum { JOB_AFTER_MAX = 32 };

/* How a run of the other job must have ended. Ticks that were skipped or missed are no runs. */
enum after_on {
    AFTER_SUCCESS, /* ok */
    AFTER_FAILURE, /* failed, timed out, lost */
    AFTER_ALWAYS,  /* either, or killed */
};

struct job_after {
    char job[JOB_NAME_SIZE];
    enum after_on on;
};

/* A bit for each wanted state: 1 << enum run_state. */
unsigned after_states(enum after_on on);
bool after_wants(enum after_on on, enum run_state state);

/* Notes in a new run what made it due: a run of that job. */
void after_note(struct run *run, const struct run *before, const char *job_name);
/* The job's name, until the run ends; empty: it is not of cause AFTER. The other's id is in `by`.
 */
const char *after_noted_job(const struct run *run);

extern const char *const after_on_names[]; /* by value; NULL at the end */

#endif
