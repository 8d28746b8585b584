#include "service/daemon_options.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/client.h"

static const char *const on_off[] = {"on", "off", NULL};
static const char *const log_formats[] = {"text", "json", NULL};
static const char *const roles[] = {"api", "worker", "api,worker", NULL};
static const char *const facades[] = {"dkron", "tutorial", "dkron,tutorial", NULL};

/* Values are checked like those of a configuration file. */
const struct option_row daemon_rows[] = {
    OPTION_FLAG(daemon_options, detach, 'd', "detach",
                "run in the background; return once the agent is ready and has joined"),
    OPTION_FLAG(daemon_options, fresh, 0, "fresh",
                "in the background: with the given options alone, not with those of the last start "
                "in the data folder"),
    OPTION_TEXT(daemon_options, base.data, 0, "data", "DIR",
                "the data folder (else from the configuration file, $PEAL_DATA, the default)",
                .complete = COMPLETE_FILES),
    OPTION_TEXT(daemon_options, config, 0, "config", "FILE",
                "a configuration file (else $PEAL_CONFIG; docs/CONFIG.md)",
                .complete = COMPLETE_FILES),
    OPTION_TEXT(daemon_options, log, 0, "log", "FILE",
                "the agent's log file (default: stderr; in the background DIR/peal.log)",
                .complete = COMPLETE_FILES),
    OPTION_TEXT(daemon_options, log_format, 0, "log-format", "F",
                "lines of the log: text (default), or json", .choices = log_formats),
    OPTION_LIST(daemon_options, listen, 0, "listen", "ADDR",
                "the TCP address of the API: ADDR[:PORT], [V6]:PORT, or none; may be repeated "
                "(else from the configuration file, $PEAL_LISTEN, 127.0.0.1:7325)",
                .max = DAEMON_LISTEN_MAX + 1),
    OPTION_TEXT(
        daemon_options, default_user, 0, "default-user", "NAME",
        "the user of jobs that name none, if the agent is root; without a default user such jobs "
        "are not started (else from the configuration file, $PEAL_DEFAULT_USER; docs/SECURITY.md)"),
    OPTION_TEXT(daemon_options, sandbox, 0, "sandbox", "on|off",
                "whether the agent drops privileges and system calls that it does not need (else "
                "from the configuration file, $PEAL_SANDBOX, on); off is for debuggers and core "
                "dumps (docs/SECURITY.md)",
                .choices = on_off),
    OPTION_TEXT(daemon_options, facades, 0, "facade", "NAME",
                "serve the API of another program, too: dkron, tutorial, or both, separated by a "
                "comma (docs/FROM-OTHERS.md)",
                .choices = facades),
    OPTION_TEXT(
        daemon_options, history, 0, "history", "URL",
        "where the history is kept: sqlite (DIR/history.db), postgresql://USER@HOST/DATABASE or "
        "mongodb://USER@HOST/DATABASE (else from the configuration file, $PEAL_HISTORY, the last "
        "start with this data folder, sqlite; docs/HISTORY.md)"),
    OPTION_TEXT(daemon_options, store, 0, "store", "URL",
                "where jobs and claims are kept: sqlite, sqlite:///FOLDER (shared by agents of "
                "one machine), etcd://HOST:PORT,.../PREFIX, etcds:// with TLS, "
                "postgresql://USER@HOST/DATABASE, or redis://HOST:PORT (else from the "
                "configuration file, $PEAL_STORE, the last start with this data folder, sqlite)",
                .heading = "To be one node of a cluster (docs/CLUSTER.md):"),
    OPTION_FLAG(daemon_options, accept_loss, 0, "accept-loss",
                "take a Redis that may lose what it has acknowledged (docs/RELIABILITY.md); kept "
                "with the store's URL, as accept-loss=yes"),
    OPTION_TEXT(daemon_options, role, 0, "role", "R", "api, worker or api,worker (default)",
                .choices = roles),
    OPTION_TEXT(daemon_options, node_id, 0, "node-id", "ID",
                "the node's name (default: generated once, and kept in the data folder)"),
    OPTION_LIST(daemon_options, labels, 0, "label", "K=V",
                "a label of the node, which jobs select by `where`; may be repeated",
                .max = DAEMON_LABELS_MAX + 1),
    OPTION_TEXT(daemon_options, capacity, 0, "capacity", "N",
                "the node's weight in the distribution of runs (default: its processors)"),
    OPTION_TEXT(daemon_options, address, 0, "address", "ADDR",
                "the address of the API for other machines"),
    OPTION_TEXT(
        daemon_options, peer_listen, 0, "peer-listen", "ADDR",
        "the port on which other nodes read the output of this node's runs, and its history "
        "unless that is a database: ADDR[:PORT] or none (default: port 7326 of the address "
        "by which the node reaches the others; none without the role api)"),
    {0},
};

char *daemon_absolute(const char *path)
{
    char cwd[PATH_MAX], *full;
    if (*path == '/')
        return strdup(path);
    if (!getcwd(cwd, sizeof(cwd)) || asprintf(&full, "%s/%s", cwd, path) < 0)
        return NULL;
    return full;
}

/* ---- for the next start ---- */

/* Skips values with line ends, which no real path, label or address has. */
static void print_line(const char *name, const char *value, struct strbuf *out)
{
    if (value && !strchr(value, '\n'))
        strbuf_addf(out, "%s %s\n", name, value);
}

static enum status print_path(const char *name, const char *path, struct strbuf *out)
{
    char *full = daemon_absolute(path);
    if (!full)
        return E_NOMEM;
    print_line(name, full, out);
    free(full);
    return OK;
}

/* Not --data, --detach and --fresh. */
static bool is_kept(const struct option_row *row)
{
    return row->value && strcmp(row->name, "data") != 0;
}

enum status daemon_options_print(const struct daemon_options *options, struct strbuf *out)
{
    enum status st = OK;
    for (const struct option_row *row = daemon_rows; row->name && st == OK; row++) {
        const void *place = (const char *)options + row->place;
        const struct option_list *list = place;
        const char *const *text = place;
        for (size_t i = 0; row->take == take_list && i < list->count; i++)
            print_line(row->name, list->items[i], out);
        if (row->take == take_list || !is_kept(row) || !*text)
            continue;
        if (row->complete == COMPLETE_FILES)
            st = print_path(row->name, *text, out);
        else
            print_line(row->name, *text, out);
    }
    return st == OK ? strbuf_status(out) : st;
}

static void take_line(struct daemon_options *options, char *line)
{
    char *value = strchr(line, ' ');
    if (!value)
        return;
    *value++ = '\0';
    for (const struct option_row *row = daemon_rows; row->name; row++) {
        const struct option_use use = {
            .row = row, .text = value, .place = (char *)options + row->place};
        const struct option_list *list = use.place;
        bool is_full = row->take == take_list && list->count == (size_t)row->max;
        if (is_kept(row) && !is_full && strcmp(row->name, line) == 0)
            row->take(&use);
    }
}

void daemon_options_recall(struct daemon_options *options, char *text)
{
    struct daemon_options known = {0};
    char *rest = NULL;
    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest))
        take_line(&known, line);
    for (const struct option_row *row = daemon_rows; row->name; row++) {
        void *given = (char *)options + row->place;
        const void *before = (const char *)&known + row->place;
        bool is_list = row->take == take_list;
        if (is_kept(row) &&
            (is_list ? !((struct option_list *)given)->count : !*(const char **)given))
            memcpy(given, before, is_list ? sizeof(struct option_list) : sizeof(const char *));
    }
}

static void print_option(const struct option_row *row, const char *value, struct strbuf *out)
{
    bool is_url = row->value && strcmp(row->value, "URL") == 0;
    strbuf_addf(out, " --%s", row->name);
    if (!is_url)
        strbuf_addf(out, " %s", value);
}

void daemon_options_print_kept(const struct daemon_options *given, const struct daemon_options *all,
                               struct strbuf *out)
{
    for (const struct option_row *row = daemon_rows; row->name; row++) {
        const void *mine = (const char *)given + row->place;
        const void *place = (const char *)all + row->place;
        const struct option_list *list = place;
        if (row->take == take_list) {
            bool is_given = ((const struct option_list *)mine)->count > 0;
            for (size_t i = 0; !is_given && i < list->count; i++)
                print_option(row, list->items[i], out);
        } else if (is_kept(row) && !*(const char *const *)mine && *(const char *const *)place) {
            print_option(row, *(const char *const *)place, out);
        }
    }
}
