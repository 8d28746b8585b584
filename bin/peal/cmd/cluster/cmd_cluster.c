/* peal cluster: how it is, going on after a restore, and moving jobs into it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/output.h"
#include "cli/when.h"
#include "client/client.h"
#include "config/data_folder.h"
#include "jobs/cluster_import.h"
#include "service/daemon.h"

enum { OPTION_FROM = OPTION_LONG_ONLY, OPTION_STORE, OPTION_CONFIG };

static const struct option options[] = {
    CLIENT_OPTIONS,
    OUTPUT_OPTION,
    {"yes", no_argument, NULL, 'y'},
    {"from", required_argument, NULL, OPTION_FROM},
    {"store", required_argument, NULL, OPTION_STORE},
    {"config", required_argument, NULL, OPTION_CONFIG},
    {0},
};

struct request {
    const char *data, *from, *store, *config;
    enum output output;
    bool yes;
};

/* ---- status ---- */

static void print_nodes(const json_t *nodes)
{
    const char *state;
    json_t *count;
    const char *separator = "";
    printf("%-8s ", "nodes");
    json_object_foreach ((json_t *)nodes, state, count) {
        printf("%s%" JSON_INTEGER_FORMAT " %s", separator, json_integer_value(count), state);
        separator = ", ";
    }
    fputs("\n", stdout);
}

/* `name` says which one it is; the history has none. */
static void print_health(const char *label, const char *name, const json_t *health)
{
    bool is_ok = json_is_true(json_object_get(health, "ok"));
    printf("%-8s %s%s%s\n", label, name, *name ? ", " : "", is_ok ? "well" : "not well");
    if (!is_ok)
        printf("%-8s %s\n", "", answer_text(health, "detail"));
}

static void print_status(const json_t *cluster)
{
    const json_t *store = json_object_get(cluster, "store");
    const char *leader = answer_text(cluster, "leader");
    print_health("store", answer_text(store, "url"), store);
    if (json_is_true(json_object_get(store, "halted")))
        printf("%-8s nothing is started; when all is as it should be: peal cluster "
               "advance-cursors\n",
               "halted");
    print_health("history", "", json_object_get(cluster, "history"));
    printf("%-8s %s%s\n", "node", answer_text(cluster, "node"),
           json_is_true(json_object_get(cluster, "leads")) ? ", leads" : "");
    printf("%-8s %s\n", "leader", *leader ? leader : "nobody just now");
    print_nodes(json_object_get(cluster, "nodes"));
    printf("%-8s %+" PRId64 " ms from the cluster's%s\n", "clock",
           answer_int(cluster, "skew_ms", 0),
           json_is_true(json_object_get(cluster, "clock_ok")) ? "" : ": too far, set it");
    printf("%-8s %" PRId64 ", open runs %" PRId64 "\n", "jobs", answer_int(cluster, "jobs", 0),
           answer_int(cluster, "open_runs", 0));
}

static enum exit_code show_status(struct client *client, const struct request *request)
{
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

static enum exit_code advance(struct client *client, const struct request *request)
{
    if (!confirmed(request->yes,
                   "Runs that the restored store takes for open end as lost, and every job goes "
                   "on from now. Do it?")) {
        fputs("nothing was done\n", stderr);
        return EXIT_ERROR;
    }
    enum exit_code code = client_post(client, "/cluster/advance-cursors", NULL, NULL);
    if (code == EXIT_OK)
        fputs("every job goes on from now; all nodes work again\n", stderr);
    return code;
}

static enum exit_code with_agent(const struct request *request,
                                 enum exit_code (*action)(struct client *client,
                                                          const struct request *request))
{
    struct client *client;
    enum exit_code code = client_open(request->data, &client);
    if (code != EXIT_OK)
        return code;
    code = action(client, request);
    client_close(client);
    return code;
}

/* ---- import ---- */

static enum exit_code import(const struct command *self, const struct request *request)
{
    struct agent_config config;
    struct strbuf folder;
    if (!request->from)
        return cli_usage(self, "whose jobs? --from DIR, a data folder");
    strbuf_init(&folder);
    enum exit_code code = daemon_configure_store(request->config, request->store, &config);
    if (code == EXIT_OK && !config.store.is_etcd)
        code = cli_usage(self, "where to? --store etcd://HOST:PORT,.../PREFIX");
    if (code == EXIT_OK)
        code = cli_fail(data_folder_find(request->from, &folder));
    if (code == EXIT_OK)
        code = cluster_import(folder.text, &config);
    strbuf_release(&folder);
    agent_config_release(&config);
    return code;
}

/* ---- the command ---- */

static bool take_option(const struct command *self, int opt, struct request *request)
{
    switch (opt) {
    case OPTION_DATA:
        request->data = optarg;
        return true;
    case 'o':
        return output_take(self, optarg, &request->output);
    case 'y':
        return request->yes = true;
    case OPTION_FROM:
        request->from = optarg;
        return true;
    case OPTION_STORE:
        request->store = optarg;
        return true;
    case OPTION_CONFIG:
        request->config = optarg;
        return true;
    default:
        return false;
    }
}

static enum exit_code run(const struct command *self, int argc, char **argv)
{
    static const char *const actions[] = {"status", "advance-cursors", "import", NULL};
    struct request request = {0};
    int opt, action;
    while ((opt = cli_option(self, argc, argv)) != -1) {
        if (opt == '?' || !take_option(self, opt, &request))
            return EXIT_USAGE;
    }
    if (optind == argc)
        return cli_usage(self, "what about it? peal cluster status, advance-cursors or import");
    if (!cli_choice(self, "peal cluster", argv[optind], actions, &action))
        return EXIT_USAGE;
    if (argc - optind > 1)
        return cli_usage(self, "unexpected \"%s\"", argv[optind + 1]);
    if (action != 2 && (request.from || request.store || request.config))
        return cli_usage(self, "--from, --store and --config are for peal cluster import");
    return action == 0   ? with_agent(&request, show_status)
           : action == 1 ? with_agent(&request, advance)
                         : import(self, &request);
}

const struct command cmd_cluster = {
    .name = "cluster",
    .summary = "the cluster's state; go on after a restore; move jobs into it",
    .help =
        "Examples:\n"
        "  peal cluster status\n"
        "  peal cluster import --from /var/lib/peal --store etcd://etcd-1,etcd-2,etcd-3\n"
        "  peal cluster advance-cursors      after etcd was restored from a backup\n"
        "\n"
        "Usage: peal cluster status [-o F]\n"
        "       peal cluster advance-cursors [--yes]\n"
        "       peal cluster import --from DIR --store URL [--config FILE]\n"
        "\n"
        "status: the store, the history, who leads, how the nodes are. Exit status 5: the store\n"
        "is not well.\n"
        "\n"
        "advance-cursors: a restored store does not know what has run since the backup, so\n"
        "nothing is started until somebody says so. Open runs end as lost, every job goes on\n"
        "from now, and a missed entry per job says that ticks of that time are not known.\n"
        "\n"
        "import: the jobs of a data folder that was used with the embedded store, each with its\n"
        "identity and the time up to which it has run, and its users, tokens, calendars and\n"
        "channels. Past runs stay in the history of that folder, and its database stays as it is.\n"
        "No agent may use it meanwhile. Nothing in the store is overwritten, and it can be\n"
        "repeated. Exit status 4: the folder is in use, has runs that have not ended, or some "
        "jobs\n"
        "could not be imported.\n"
        "\n"
        "Options:\n"
        "  -o, --output F   of status: table (default), json or yaml\n"
        "  -y, --yes        do not ask (asked is on a terminal only)\n"
        "  --from DIR       the data folder that is imported\n"
        "  --store URL      where to (else the file's, $PEAL_STORE)\n"
        "  --config FILE    with etcd's user and certificates (docs/CONFIG.md)\n" CLIENT_HELP,
    .getopt_rows = options,
    .old_run = run,
};
