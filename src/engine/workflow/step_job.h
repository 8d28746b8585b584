/* A step that is about to start, and one that has ended: the job that it runs, with the values of
 * its instance, and what it has written for later steps. */
#ifndef PEAL_STEP_JOB_H
#define PEAL_STEP_JOB_H

#include "ports.h"
#include "workflow/instances.h"

/* The job to start. E_BUSY: the plan has not come with the feed yet, or out of memory. E_INVALID:
 * `why` says which value is wrong. */
MUST_CHECK enum status step_job(struct instances *instances, const struct run *run,
                                struct job **ret, char *why, size_t size);

/* Why a run of a workflow, which is begun as if it had a process, could not be opened. */
void step_tell_unopened(const struct engine_ports *ports, struct instances *instances,
                        struct now now, const struct run *run, char *why, size_t size);

/* Asks the executor for what the step has written, and keeps it for its finish. A step that is OK
 * fails if that can't be read, or lacks an output that it declares: the steps after it would go by
 * values that are missing. */
void step_read_output(struct instances *instances, struct executor *executor,
                      struct open_run *open);

#endif
