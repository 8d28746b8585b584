/* Starts and stops the agent of a data folder. */
#ifndef PEAL_DAEMON_H
#define PEAL_DAEMON_H

#include <sys/types.h>

#include "cli/cli.h"
#include "config/agent_config.h"
#include "service/daemon_options.h"

/* Reads the file (NULL: none) and --store (NULL: the file's, $PEAL_STORE) for commands that access
 * a store directly. Without any, config->has_store is false. Release *config in any case. */
MUST_CHECK enum exit_code daemon_configure_store(const char *file, const char *store,
                                                 struct agent_config *config);

/* Options over the configuration file over defaults. Release *config in any case. */
MUST_CHECK enum exit_code daemon_configure(const struct daemon_options *options, bool background,
                                           struct agent_config *config);

/* The same for an agent in the background: unless --fresh is given, options that are not given are
 * those of the last start in the data folder, and are appended to *kept, as on a command line. */
MUST_CHECK enum exit_code daemon_configure_kept(const struct daemon_options *options,
                                                struct agent_config *config, struct strbuf *kept);

/* Reports an agent in the background, and which options it kept. */
void daemon_tell_started(pid_t pid, const struct agent_config *config, const struct strbuf *kept);

/* Prints, on a terminal, the setup link for the first account, if there is none yet. */
void daemon_tell_setup(const char *data);

/* Runs the agent in this process until it stops. */
MUST_CHECK enum exit_code daemon_run(struct agent_config *config);

/* Could it start, with another agent still running in the folder? What is wrong is reported. */
MUST_CHECK enum exit_code daemon_try(const struct agent_config *config);

/* Starts the agent in a child with its own session, and waits until it is ready or has failed,
 * which is reported. *ret_pid is the child. `with_parent`: it ends with this process. */
MUST_CHECK enum exit_code daemon_start(struct agent_config *config, bool with_parent,
                                       pid_t *ret_pid);

/* The pid of the folder's agent; 0: none is running. */
pid_t daemon_find(const char *data);

/* Stops the agent and waits. EXIT_NOT_FOUND: none is running. EXIT_TIMED_OUT: it is still running.
 * Neither is reported. */
MUST_CHECK enum exit_code daemon_stop(const char *data, int64_t wait_ms);

#endif
