/* Starting and stopping the agent of a data folder. */
#ifndef PEAL_DAEMON_H
#define PEAL_DAEMON_H

#include <sys/types.h>

#include "cli/cli.h"
#include "config/agent_config.h"
#include "service/daemon_options.h"

/* Reads the file (NULL: none) and --store (NULL: the file's, $PEAL_STORE) for commands that look at
 * a store themselves. Without any, config->has_store is false. Release *config in any case. */
MUST_CHECK enum exit_code daemon_configure_store(const char *file, const char *store,
                                                 struct agent_config *config);

/* For a restart: what is not given is as it was for the last start in the data folder. *ret_text is
 * the caller's, and must stay as long as the options. */
MUST_CHECK enum exit_code daemon_recall(struct daemon_options *options, char **ret_text);

/* Options over the configuration file over defaults. Release *config in any case. */
MUST_CHECK enum exit_code daemon_configure(const struct daemon_options *options, bool background,
                                           struct agent_config *config);

/* Tells, on a terminal, the link that makes the first account, if there is none yet. */
void daemon_tell_setup(const char *data);

/* Runs the agent in this process until it is told to stop. */
MUST_CHECK enum exit_code daemon_run(struct agent_config *config);

/* Starts the agent in a child of its own session, and waits until it is ready or has failed, which
 * has been told. *ret_pid is the child. `with_parent`: it ends when this process does. */
MUST_CHECK enum exit_code daemon_start(struct agent_config *config, bool with_parent,
                                       pid_t *ret_pid);

/* The agent that uses the folder; 0: none is running. */
pid_t daemon_find(const char *data);

/* Tells it to stop and waits. EXIT_NOT_FOUND: none is running. EXIT_TIMED_OUT: it is still there.
 * Neither has been told. */
MUST_CHECK enum exit_code daemon_stop(const char *data, int64_t wait_ms);

#endif
