/* Instances that run a part of their workflow: what a request leaves out, and what an earlier
 * instance has done already. */
#ifndef PEAL_API_RESUME_H
#define PEAL_API_RESUME_H

#include "call.h"
#include "job.h"

struct run;

/* The steps that the body leaves out: `only` has those that are to run, `skip` those that are not;
 * of a workflow that is a step, all of its steps. *ret is {"done": {NAME: {}}}; NULL: the body says
 * nothing of them. False: the call has failed. */
bool resume_read(struct call *call, const struct job *definition, json_t **ret);

/* Can the workflow be planned with this input (run_input.h; NULL: none)? A job that is none always
 * can. False: the call has failed, with the reason. */
bool resume_is_good(struct call *call, const struct job *definition, const char *input);

/* Runs the workflow of an ended instance again. By the body's `steps`: "failed", the default,
 * leaves out what ended well, and uses what that has written; a list of steps has them run again,
 * too, with all that follow them; "all" leaves out nothing. `plan` is the input of the instance;
 * NULL: it is gone. */
void resume_instance(struct call *call, const struct run *instance, const char *plan);

#endif
