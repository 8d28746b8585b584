/* What the commands share that do one thing to each job they are given. */
#ifndef PEAL_JOB_ACTION_H
#define PEAL_JOB_ACTION_H

#include "cli/cli.h"

extern const struct option job_action_options[];
extern const struct option job_match_options[]; /* with a filter in the place of names, too */

/* Takes NAME..., or a filter, and does /jobs/NAME/COMMAND to each; `done` is what to say of it.
 * All are tried; the answer is that of the last which failed. */
enum exit_code job_action_run(const struct command *self, int argc, char **argv, const char *done);

#endif
