/* The options of `peal start` and `peal restart`, and how a restart recalls those of the start. */
#ifndef PEAL_DAEMON_OPTIONS_H
#define PEAL_DAEMON_OPTIONS_H

#include "cli/cli.h"
#include "strbuf.h"

enum { DAEMON_LABELS_MAX = 32, DAEMON_LISTEN_MAX = 8 };
struct daemon_options {
    struct request_base base;
    const char *config, *log, *log_format, *default_user, *sandbox;
    const char *store, *history, *role, *node_id, *capacity, *address, *peer_listen, *facades;
    struct option_list labels, listen; /* daemon_configure reports too many */
    bool detach, fresh, accept_loss;
};
extern const struct option_row daemon_rows[];

/* Makes a path absolute, since the agent changes its folder. NULL: out of memory. */
char *daemon_absolute(const char *path);

/* Prints all but the data folder, one per line, for daemon_options_recall. */
MUST_CHECK enum status daemon_options_print(const struct daemon_options *options,
                                            struct strbuf *out);

/* " --label zone=eu --history" for a message: the options of `all` that are not among the given
 * ones. URLs of databases, which may hold a password, are left out. */
void daemon_options_print_kept(const struct daemon_options *given, const struct daemon_options *all,
                               struct strbuf *out);

/* Options that are not given are set to those of the last start in this folder; all labels are one
 * option, and so are all addresses. `text`, as printed by the function above, holds the values and
 * must outlive *options. */
void daemon_options_recall(struct daemon_options *options, char *text);

#endif
