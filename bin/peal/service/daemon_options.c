#include "service/daemon_options.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/client.h"

enum {
    OPTION_CONFIG = OPTION_LONG_ONLY + 800,
    OPTION_LOG,
    OPTION_STORE,
    OPTION_HISTORY,
    OPTION_ROLE,
    OPTION_NODE_ID,
    OPTION_LABEL,
    OPTION_CAPACITY,
    OPTION_ADDRESS,
    OPTION_LISTEN,
    OPTION_FACADE,
    OPTION_PEER_LISTEN,
    OPTION_DEFAULT_USER,
    OPTION_SANDBOX,
};

const struct option daemon_options_table[] = {
    DATA_OPTION,
    {"config", required_argument, NULL, OPTION_CONFIG},
    {"log", required_argument, NULL, OPTION_LOG},
    {"store", required_argument, NULL, OPTION_STORE},
    {"history", required_argument, NULL, OPTION_HISTORY},
    {"role", required_argument, NULL, OPTION_ROLE},
    {"node-id", required_argument, NULL, OPTION_NODE_ID},
    {"label", required_argument, NULL, OPTION_LABEL},
    {"capacity", required_argument, NULL, OPTION_CAPACITY},
    {"address", required_argument, NULL, OPTION_ADDRESS},
    {"listen", required_argument, NULL, OPTION_LISTEN},
    {"peer-listen", required_argument, NULL, OPTION_PEER_LISTEN},
    {"default-user", required_argument, NULL, OPTION_DEFAULT_USER},
    {"sandbox", required_argument, NULL, OPTION_SANDBOX},
    {"facade", required_argument, NULL, OPTION_FACADE},
    {"detach", no_argument, NULL, 'd'},
    {0},
};

static const char **member_of(struct daemon_options *options, int opt)
{
    switch (opt) {
    case OPTION_DATA:
        return &options->data;
    case OPTION_CONFIG:
        return &options->config;
    case OPTION_LOG:
        return &options->log;
    case OPTION_STORE:
        return &options->store;
    case OPTION_HISTORY:
        return &options->history;
    case OPTION_ROLE:
        return &options->role;
    case OPTION_NODE_ID:
        return &options->node_id;
    case OPTION_CAPACITY:
        return &options->capacity;
    case OPTION_ADDRESS:
        return &options->address;
    case OPTION_PEER_LISTEN:
        return &options->peer_listen;
    case OPTION_DEFAULT_USER:
        return &options->default_user;
    case OPTION_SANDBOX:
        return &options->sandbox;
    case OPTION_FACADE:
        return &options->facades;
    case OPTION_LABEL:
        if (options->label_count <= DAEMON_LABELS_MAX)
            options->label_count++;
        return &options->labels[options->label_count - 1];
    case OPTION_LISTEN:
        if (options->listen_count <= DAEMON_LISTEN_MAX)
            options->listen_count++;
        return &options->listen[options->listen_count - 1];
    default:
        return NULL;
    }
}

bool daemon_option(struct daemon_options *options, int opt, const char *value)
{
    const char **member = member_of(options, opt);
    if (member)
        *member = value;
    return member != NULL;
}

char *daemon_absolute(const char *path)
{
    char cwd[PATH_MAX], *full;
    if (*path == '/')
        return strdup(path);
    if (!getcwd(cwd, sizeof(cwd)) || asprintf(&full, "%s/%s", cwd, path) < 0)
        return NULL;
    return full;
}

/* ---- for a restart ---- */

/* A value with a line's end in it is no path, label or address that anybody uses. */
static void print_line(const char *name, const char *value, struct strbuf *out)
{
    if (value && !strchr(value, '\n'))
        strbuf_addf(out, "%s %s\n", name, value);
}

static enum status print_path(const char *name, const char *path, struct strbuf *out)
{
    char *full = path ? daemon_absolute(path) : NULL;
    if (path && !full)
        return E_NOMEM;
    print_line(name, full, out);
    free(full);
    return OK;
}

enum status daemon_options_print(const struct daemon_options *options, struct strbuf *out)
{
    enum status st = print_path("config", options->config, out);
    if (st == OK)
        st = print_path("log", options->log, out);
    print_line("store", options->store, out);
    print_line("history", options->history, out);
    print_line("role", options->role, out);
    print_line("node-id", options->node_id, out);
    print_line("capacity", options->capacity, out);
    print_line("address", options->address, out);
    print_line("peer-listen", options->peer_listen, out);
    print_line("default-user", options->default_user, out);
    print_line("sandbox", options->sandbox, out);
    print_line("facade", options->facades, out);
    for (size_t i = 0; i < options->label_count; i++)
        print_line("label", options->labels[i], out);
    for (size_t i = 0; i < options->listen_count; i++)
        print_line("listen", options->listen[i], out);
    return st == OK ? strbuf_status(out) : st;
}

static void take_line(struct daemon_options *options, char *line)
{
    char *value = strchr(line, ' ');
    if (!value)
        return;
    *value++ = '\0';
    for (const struct option *option = daemon_options_table; option->name; option++) {
        if (option->has_arg == required_argument && strcmp(option->name, line) == 0)
            daemon_option(options, option->val, value);
    }
}

static void otherwise(const char **member, const char *known)
{
    if (!*member)
        *member = known;
}

void daemon_options_recall(struct daemon_options *options, char *text)
{
    struct daemon_options known = {0};
    char *rest = NULL;
    for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest))
        take_line(&known, line);
    otherwise(&options->config, known.config);
    otherwise(&options->log, known.log);
    otherwise(&options->store, known.store);
    otherwise(&options->history, known.history);
    otherwise(&options->role, known.role);
    otherwise(&options->node_id, known.node_id);
    otherwise(&options->capacity, known.capacity);
    otherwise(&options->address, known.address);
    otherwise(&options->peer_listen, known.peer_listen);
    otherwise(&options->default_user, known.default_user);
    otherwise(&options->sandbox, known.sandbox);
    otherwise(&options->facades, known.facades);
    if (!options->label_count) {
        memcpy(options->labels, known.labels, sizeof(known.labels));
        options->label_count = known.label_count;
    }
    if (!options->listen_count) {
        memcpy(options->listen, known.listen, sizeof(known.listen));
        options->listen_count = known.listen_count;
    }
}
