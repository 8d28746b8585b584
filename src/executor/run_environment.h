/* Arguments, environment and working directory of a run's process. */
#ifndef PEAL_RUN_ENVIRONMENT_H
#define PEAL_RUN_ENVIRONMENT_H

#include "job.h"
#include "job_users.h"
#include "run.h"

struct run_environment {
    char **argv;      /* NULL-terminated */
    char **variables; /* NULL-terminated NAME=value */
    char *cwd;
    size_t variable_count;
    size_t secret_count; /* so many of the last variables are secrets, and are wiped */
    char *shell_argv[4];
    char **expanded;   /* argv with the values of parameters; NULL: the job's own */
    char **input_argv; /* argv of a run with a body; NULL: it has none */
};

/* A small environment, as cron gives: PATH of the agent, HOME, LOGNAME, USER and SHELL of the job's
 * user, LANG; then the job's own variables, then PEAL_JOB, PEAL_RUN_ID, PEAL_TICK, PEAL_ATTEMPT,
 * PEAL_FENCE, PEAL_NODE and PEAL_GRACE, of a tick with several runs PEAL_PART and PEAL_PARTS, and
 * of a shard PEAL_SHARD and PEAL_SHARDS; the TRACEPARENT of a run that has one, with its
 * TRACESTATE, and of a run that comes after another job's PEAL_AFTER_JOB and PEAL_AFTER_RUN_ID; and
 * PEAL_PARAM_NAME for each parameter. A run with a body (job->body, which is its standard input)
 * has PEAL_INPUT, the path of a file with it, PEAL_INPUT_TYPE, and that of a webhook PEAL_WEBHOOK,
 * PEAL_WEBHOOK_EVENT and PEAL_WEBHOOK_DELIVERY. (PEAL_OUTPUT of a step is set by the spawner, which
 * makes that file.) In the words of a command ${NAME} is replaced by the value. `user` is the user
 * of the run, `shell` what a script is for; NULL: bash, or sh where there is none. `job` and `run`
 * must outlive it. */
MUST_CHECK enum status run_environment_init(struct run_environment *environment,
                                            const struct run *run, const struct job *job,
                                            const struct job_user *user, const char *node,
                                            const char *shell);
/* Adds a variable behind all others, which is wiped in the end; one of that name before it goes. */
MUST_CHECK enum status run_environment_add_secret(struct run_environment *environment,
                                                  const char *name, const char *value);

void run_environment_release(struct run_environment *environment);

#endif
