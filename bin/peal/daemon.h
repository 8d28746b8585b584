/* Starting and stopping the agent of a data folder. */
#ifndef PEAL_DAEMON_H
#define PEAL_DAEMON_H

#include <sys/types.h>

#include "agent_config.h"
#include "cli.h"

/* The options of `peal start` and `peal restart`. */
struct daemon_options {
    const char *data, *config, *log;
};
extern const struct option daemon_options_table[];
#define DAEMON_HELP                                                                                \
    "  --data DIR       where everything is kept (else the file's, $PEAL_DATA, the default)\n"     \
    "  --config FILE    a configuration file (docs/CONFIG.md)\n"                                   \
    "  --log FILE       the agent's log (stderr; in the background DIR/peal.log)\n"

/* Takes one of the options; false: it is none of them. */
bool daemon_option(struct daemon_options *options, int opt, const char *value);

/* Options over the configuration file over defaults. Release *config in any case. */
MUST_CHECK enum exit_code daemon_configure(const struct daemon_options *options, bool background,
                                           struct agent_config *config);

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
