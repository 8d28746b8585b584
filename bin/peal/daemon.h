/* Starting and stopping the agent of a data folder. */
#ifndef PEAL_DAEMON_H
#define PEAL_DAEMON_H

#include <sys/types.h>

#include "agent_config.h"
#include "cli.h"

/* The options of `peal start` and `peal restart`. */
enum { DAEMON_LABELS_MAX = 32, DAEMON_LISTEN_MAX = 8 };
struct daemon_options {
    const char *data, *config, *log;
    const char *store, *history, *role, *node_id, *capacity, *address;
    const char *labels[DAEMON_LABELS_MAX + 1]; /* one too many is told by daemon_configure */
    size_t label_count;
    const char *listen[DAEMON_LISTEN_MAX + 1];
    size_t listen_count;
};
extern const struct option daemon_options_table[];
#define DAEMON_HELP                                                                                \
    "  --data DIR       where everything is kept (else the file's, $PEAL_DATA, the default)\n"     \
    "  --config FILE    a configuration file (docs/CONFIG.md)\n"                                   \
    "  --log FILE       the agent's log (stderr; in the background DIR/peal.log)\n"                \
    "  --listen ADDR    where its API is on TCP: ADDR[:PORT], [V6]:PORT, or none; may be\n"        \
    "                   repeated (else the file's, $PEAL_LISTEN, 127.0.0.1:7325)\n"                \
    "  --history URL    sqlite (default: DIR/history.db), or postgresql://USER@HOST/DATABASE\n"    \
    "                   (else the file's, $PEAL_HISTORY, what the data folder was used with;\n"    \
    "                   docs/HISTORY.md)\n"                                                        \
    "\n"                                                                                           \
    "To be one node of a cluster (docs/CLUSTER.md):\n"                                             \
    "  --store URL      sqlite (default), or etcd://HOST:PORT,.../PREFIX, etcds:// with TLS\n"     \
    "                   (else the file's, $PEAL_STORE, what the data folder was used with)\n"      \
    "  --role R         api, worker or api,worker (default)\n"                                     \
    "  --node-id ID     the node's name (default: made once, and kept in the data folder)\n"       \
    "  --label K=V      what jobs may ask for; may be repeated\n"                                  \
    "  --capacity N     its weight when work is shared out (default: the processors)\n"            \
    "  --address ADDR   where its API can be reached from other machines\n"

/* Reads the file (NULL: none) and --store (NULL: the file's, $PEAL_STORE) for commands that look at
 * a store themselves. Without any, config->has_store is false. Release *config in any case. */
MUST_CHECK enum exit_code daemon_configure_store(const char *file, const char *store,
                                                 struct agent_config *config);

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
