/* A command in place of a function, where there is no spawner. */
#ifndef PEAL_COMMAND_H
#define PEAL_COMMAND_H

#include "job.h"
#include "peal.h"
#include "run.h"

struct command;

/* `process` is what is run (outside/process.h), `job` the store's. */
MUST_CHECK enum status command_new(const struct job *process, const struct run *run,
                                   const struct job *job, const char *node, struct command **ret);
struct command *command_free(struct command *command);

/* Runs /bin/sh -c COMMAND in a process group of its own, in the environment that a spawner would
 * give it; its lines are the run's output. When the run is cancelled the group gets SIGTERM, and
 * SIGKILL after the job's grace. The exit status, 128 + the signal that ended it, or -1. */
int command_call(peal_run *run, void *command);

#endif
