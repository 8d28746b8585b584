/* The options of `peal start` and `peal restart`, and how a restart knows those of the start. */
#ifndef PEAL_DAEMON_OPTIONS_H
#define PEAL_DAEMON_OPTIONS_H

#include "cli/cli.h"
#include "strbuf.h"

enum { DAEMON_LABELS_MAX = 32, DAEMON_LISTEN_MAX = 8 };
struct daemon_options {
    const char *data, *config, *log, *default_user, *sandbox;
    const char *store, *history, *role, *node_id, *capacity, *address, *peer_listen, *facades;
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
    "  --default-user NAME\n"                                                                      \
    "                   whom jobs run as that name no user, if the agent is root: without one\n"   \
    "                   they are not started (else the file's, $PEAL_DEFAULT_USER;\n"              \
    "                   docs/SECURITY.md)\n"                                                       \
    "  --sandbox on|off whether it gives up what it does not need (default: on; else the "         \
    "file's,\n"                                                                                    \
    "                   $PEAL_SANDBOX); off is for debuggers and core dumps (docs/SECURITY.md)\n"  \
    "  --facade NAME    the API of another program, too: dkron, tutorial, or both with a\n"        \
    "                   comma between (docs/FROM-OTHERS.md)\n"                                     \
    "  --history URL    sqlite (default: DIR/history.db), postgresql://USER@HOST/DATABASE or\n"    \
    "                   mongodb://USER@HOST/DATABASE (else the file's, $PEAL_HISTORY, what\n"      \
    "                   the data folder was used with; docs/HISTORY.md)\n"                         \
    "\n"                                                                                           \
    "To be one node of a cluster (docs/CLUSTER.md):\n"                                             \
    "  --store URL      sqlite (default), or etcd://HOST:PORT,.../PREFIX, etcds:// with TLS\n"     \
    "                   (else the file's, $PEAL_STORE, what the data folder was used with)\n"      \
    "  --role R         api, worker or api,worker (default)\n"                                     \
    "  --node-id ID     the node's name (default: made once, and kept in the data folder)\n"       \
    "  --label K=V      what jobs may ask for; may be repeated\n"                                  \
    "  --capacity N     its weight when work is shared out (default: the processors)\n"            \
    "  --address ADDR   where its API can be reached from other machines\n"                        \
    "  --peer-listen ADDR\n"                                                                       \
    "                   where the other nodes read its history, unless that is in a database:\n"   \
    "                   ADDR[:PORT] or none (default: port 7326 of the address by which it\n"      \
    "                   reaches the others; none without the role api)\n"

/* Takes one of the options; false: it is none of them. */
bool daemon_option(struct daemon_options *options, int opt, const char *value);

/* A path that stays right when the agent goes to another folder. NULL: out of memory. */
char *daemon_absolute(const char *path);

/* All but the data folder, one on a line, as daemon_options_recall reads them. */
MUST_CHECK enum status daemon_options_print(const struct daemon_options *options,
                                            struct strbuf *out);

/* What is not given becomes what the last start in this folder was given; labels and addresses are
 * one each. `text` is the memory of it all: as printed by the above, and the caller's. */
void daemon_options_recall(struct daemon_options *options, char *text);

#endif
