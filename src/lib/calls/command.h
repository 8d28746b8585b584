/* A command in place of a function. */
#ifndef PEAL_COMMAND_H
#define PEAL_COMMAND_H

#include "peal.h"

/* Runs /bin/sh -c COMMAND in a process group of its own, with the program's environment and the
 * run's PEAL_... variables; its lines are the run's output. When the run is cancelled the group
 * gets SIGTERM, and 10 s later SIGKILL. The exit status, 128 + the signal that ended it, or -1. */
int command_call(peal_run *run, void *command);

#endif
