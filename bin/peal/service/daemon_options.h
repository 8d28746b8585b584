/* The options of `peal start` and `peal restart`, and how a restart knows those of the start. */
#ifndef PEAL_DAEMON_OPTIONS_H
#define PEAL_DAEMON_OPTIONS_H

#include "cli/cli.h"
#include "strbuf.h"

enum { DAEMON_LABELS_MAX = 32, DAEMON_LISTEN_MAX = 8 };
struct daemon_options {
    struct request_base base;
    const char *config, *log, *default_user, *sandbox;
    const char *store, *history, *role, *node_id, *capacity, *address, *peer_listen, *facades;
    struct option_list labels, listen; /* one too many is told by daemon_configure */
    bool detach;
};
extern const struct option_row daemon_rows[];

/* A path that stays right when the agent goes to another folder. NULL: out of memory. */
char *daemon_absolute(const char *path);

/* All but the data folder, one on a line, as daemon_options_recall reads them. */
MUST_CHECK enum status daemon_options_print(const struct daemon_options *options,
                                            struct strbuf *out);

/* What is not given becomes what the last start in this folder was given; labels and addresses are
 * one each. `text` is the memory of it all: as printed by the above, and the caller's. */
void daemon_options_recall(struct daemon_options *options, char *text);

#endif
