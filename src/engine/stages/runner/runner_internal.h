/* What the files of the runner share: runner.c begins and starts, runner_watch.c hears what becomes
 * of it. */
#ifndef PEAL_RUNNER_INTERNAL_H
#define PEAL_RUNNER_INTERNAL_H

#include "stages/runner/runner.h"

/* Without the executor, or after it. */
void runner_end(struct runner *runner, struct now now, struct open_run *open, enum run_state state,
                enum run_reason reason, const char *detail);

/* Counts the processes that are made in a while: so many may be ahead. */
void runner_note_started(struct runner *runner, struct now now);

#endif
