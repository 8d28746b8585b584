/* peal cluster: its status, advancing after a restore, and importing jobs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/output.h"
#include "cli/when.h"
#include "client/client.h"
#include "client/quiet/maintenance.h"
#include "data_folder.h"
#include "jobs/cluster_import.h"
#include "print/state_words.h"
#include "service/daemon.h"
#include "text/tr.h"

struct request {
    struct request_base base;
    const char *from, *store, *config;
    enum output output;
    bool yes;
};

/* ---- status ---- */

static void print_nodes(const json_t *nodes)
{
    const char *state;
    json_t *count;
    struct strbuf text;
    strbuf_init(&text);
    json_object_foreach ((json_t *)nodes, state, count) {
        strbuf_adds(&text, text.length ? tr(", ") : "");
        strbuf_addf(&text, tr("%" JSON_INTEGER_FORMAT " %s"), json_integer_value(count),
                    node_word(state));
    }
    cli_line(8, "nodes", "%s", text.text);
    strbuf_release(&text);
}

/* `name` is the store's; the history has none. */
static void print_health(const char *label, const char *name, const json_t *health)
{
    bool is_ok = json_is_true(json_object_get(health, "ok"));
    const char *word = tr(is_ok ? "well" : "not well");
    if (*name)
        cli_line(8, label, "%s, %s", name, word);
    else
        cli_line(8, label, "%s", word);
    if (!is_ok)
        cli_line(8, "", "%s", answer_text(health, "detail"));
}

static void print_status(const json_t *cluster)
{
    const json_t *store = json_object_get(cluster, "store");
    const char *leader = answer_text(cluster, "leader");
    print_health("store", answer_text(store, "url"), store);
    if (json_is_true(json_object_get(store, "halted")))
        cli_line(8, "halted",
                 "nothing is started; when all is as it should be: peal cluster advance-cursors");
    print_health("history", "", json_object_get(cluster, "history"));
    cli_line(8, "node", json_is_true(json_object_get(cluster, "leads")) ? "%s, leads" : "%s",
             answer_text(cluster, "node"));
    cli_line(8, "leader", "%s", *leader ? leader : tr("none at the moment"));
    print_nodes(json_object_get(cluster, "nodes"));
    cli_line(8, "clock",
             json_is_true(json_object_get(cluster, "clock_ok"))
                 ? "%+" PRId64 " ms from the cluster's"
                 : "%+" PRId64 " ms from the cluster's: too far, set it",
             answer_int(cluster, "skew_ms", 0));
    cli_line(8, "jobs", "%" PRId64 ", open runs %" PRId64, answer_int(cluster, "jobs", 0),
             answer_int(cluster, "open_runs", 0));
    maintenance_print_active(8, json_object_get(cluster, "maintenance"));
}

static enum exit_code show_status(struct client *client, void *place)
{
    const struct request *request = place;
    json_t *cluster;
    enum exit_code code = client_get(client, "/cluster", &cluster);
    if (code != EXIT_OK)
        return code;
    bool is_ok = json_is_true(json_object_get(json_object_get(cluster, "store"), "ok"));
    if (request->output == OUTPUT_JSON || request->output == OUTPUT_YAML)
        code = output_print(cluster, request->output);
    else
        print_status(cluster);
    json_decref(cluster);
    return code == EXIT_OK && !is_ok ? EXIT_UNREACHABLE : code;
}

/* ---- advance-cursors ---- */

static enum exit_code advance(struct client *client, void *place)
{
    const struct request *request = place;
    if (!confirmed(request->yes,
                   "Runs that the restored store takes for open end as lost, and every job goes "
                   "on from now. Do it?")) {
        fprintf(stderr, "%s\n", tr("nothing was done"));
        return EXIT_ERROR;
    }
    enum exit_code code = client_post(client, "/cluster/advance-cursors", NULL, NULL);
    if (code == EXIT_OK)
        fprintf(stderr, "%s\n", tr("every job goes on from now; all nodes work again"));
    return code;
}

/* ---- import ---- */

static enum exit_code check_target(const struct request *request, const struct agent_config *config)
{
    const struct store_url *store = &config->store;
    if (store_url_is_keys(store) || (config->has_store && !store->shared && request->base.data))
        return EXIT_OK;
    return cli_usage(request->base.command,
                     "where to? --store etcd://HOST:PORT,.../PREFIX, --store "
                     "postgresql://USER@HOST/DATABASE, --store redis://HOST:PORT, or --store "
                     "sqlite --data DIR");
}

/* A source on servers; else *ret_url stays as it is. */
static enum exit_code read_source(const struct request *request, struct store_url *ret_url)
{
    struct parse_error error = {0};
    if (!strstr(request->from, "://"))
        return EXIT_OK;
    enum status st = store_url_parse(request->from, ret_url, &error);
    if (st == E_INVALID)
        return cli_usage(request->base.command, "--from %s: %s", request->from, error.message);
    if (st == OK && !store_url_is_keys(ret_url))
        return cli_usage(request->base.command,
                         "--from is a data folder, or etcd://, postgresql:// or redis://");
    return cli_fail(st);
}

static enum exit_code import(void *place)
{
    const struct request *request = place;
    struct agent_config config;
    struct store_url url = {.kind = STORE_OF_SQLITE};
    struct strbuf from, folder;
    if (!request->from)
        return cli_usage(request->base.command,
                         "whose jobs? --from DIR, a data folder, or --from URL, a store");
    strbuf_init(&from);
    strbuf_init(&folder);
    enum exit_code code = daemon_configure_store(request->config, request->store, &config);
    if (code == EXIT_OK)
        code = check_target(request, &config);
    if (code == EXIT_OK)
        code = read_source(request, &url);
    bool is_folder = url.kind == STORE_OF_SQLITE;
    if (code == EXIT_OK && is_folder)
        code = cli_fail(data_folder_find(request->from, &from));
    if (code == EXIT_OK)
        code = cli_fail(data_folder_find(
            is_folder && store_url_is_keys(&config.store) ? request->from : request->base.data,
            &folder));
    const struct cluster_import import = {
        .from = is_folder ? from.text : request->from,
        .from_url = is_folder ? NULL : &url,
        .folder = folder.text,
    };
    if (code == EXIT_OK)
        code = cluster_import(&import, &config);
    store_url_release(&url);
    strbuf_release(&from);
    strbuf_release(&folder);
    agent_config_release(&config);
    return code;
}

/* ---- the command ---- */

static const struct command subcommands[] = {
    {
        .name = "cluster status",
        .summary = "show the cluster's health; exit status 5: the store is unhealthy",
        .notes = "status: the store, the history, the leader, the nodes and their states.",
        .options = ROWS(OPTION_OUTPUT(request, output, OUTPUT_SHORT_TEXT),
                        OPTION_GROUP(request, base, client_options)),
        .with_agent = show_status,
    },
    {
        .name = "cluster advance-cursors",
        .summary = "resume after the store was restored from a backup",
        .notes = "advance-cursors: a restored store does not know which ticks have run since the "
                 "backup, so no runs start until this command. Open runs end as lost, every job "
                 "continues from now, and a missed entry per job in the ledger marks the time "
                 "whose ticks are unknown.",
        .options = ROWS(OPTION_FLAG(request, yes, 'y', "yes", YES_TEXT),
                        OPTION_GROUP(request, base, client_options)),
        .with_agent = advance,
    },
    {
        .name = "cluster import",
        .summary = "move the jobs of one store into another",
        .usage = "--from DIR|URL --store URL [--config FILE]",
        .notes =
            "import: copies the jobs of a store (a data folder with an embedded one, etcd, "
            "PostgreSQL, Redis) into another, each with its uid and its cursor, and the users, "
            "tokens, calendars and channels. Past runs stay in the history where they are, "
            "and what is read is not changed. No agent may use it meanwhile. Nothing in the "
            "target store is overwritten, and the import can be repeated. Exit status 4: the "
            "source is in use or has open runs, or some jobs could not be imported.",
        .options =
            ROWS(OPTION_TEXT(request, from, 0, "from", "DIR|URL",
                             "the data folder or the store to import", .complete = COMPLETE_FILES),
                 OPTION_TEXT(request, store, 0, "store", "URL",
                             "the target store (else from the configuration file, $PEAL_STORE)"),
                 OPTION_TEXT(request, config, 0, "config", "FILE",
                             "a configuration file with the user and certificates of etcd or Redis "
                             "(docs/CONFIG.md)",
                             .complete = COMPLETE_FILES),
                 OPTION_GROUP(request, base, client_options)),
        .run = import,
    },
    {0},
};

const struct command cmd_cluster = {
    .name = "cluster",
    .summary = "the cluster's health; resume after a restore; import jobs",
    .examples = EXAMPLES(
        {"peal cluster status", NULL},
        {"peal cluster import --from /var/lib/peal --store etcd://etcd-1,etcd-2,etcd-3", NULL},
        {"peal cluster import --from etcd://etcd-1 --store postgresql://peal@db/jobs", NULL},
        {"peal cluster import --from redis://cache-1 --store etcd://etcd-1", NULL},
        {"peal cluster advance-cursors", "after the store was restored from a backup"}),
    .options = client_options,
    .too_few = "which command? peal cluster status, advance-cursors or import",
    .subcommands = subcommands,
    .request_size = sizeof(struct request),
};
