#include "coord/coord_place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/when.h"
#include "client/client.h"
#include "coord_file.h"
#include "coord_kv.h"
#include "data_folder.h"
#include "job_name.h"
#include "service/daemon.h"
#include "text/tr.h"
#include "text/tr_parsed.h"

const struct option_row coord_place_options[] = {
    OPTION_TEXT(coord_request, store, 0, "store", "URL",
                "where the processes meet: etcd://HOST:PORT,.../PREFIX (etcds:// with TLS), "
                "postgresql://USER@HOST/DATABASE, redis://HOST:PORT, or sqlite for the data "
                "folder (else from the configuration file, $PEAL_STORE, the last start of the "
                "agent, the data folder)"),
    OPTION_TEXT(
        coord_request, config, 0, "config", "FILE",
        "a configuration file with the user and certificates of etcd or Redis (docs/CONFIG.md)",
        .complete = COMPLETE_FILES),
    OPTION_DURATION(coord_request, timeout_s, "timeout",
                    "how long the store may be silent, also while waiting (default: 5s)"),
    {.group = data_option},
    {0},
};

/* ---- names ---- */

enum exit_code coord_check_name(const struct command *command, const char *name)
{
    const char *complaint = job_name_complaint(name);
    char text[240];
    if (!complaint)
        return EXIT_OK;
    snprintf(text, sizeof(text), "name: \"%.100s\" %s", name, complaint);
    tr_parsed(text, sizeof(text));
    return cli_usage(command, "%s", text);
}

enum exit_code coord_make_id(const struct command *command, const char *given, bool is_of_process,
                             char ret[COORD_ID_MAX])
{
    char host[COORD_HOST_SIZE] = "";
    if (given && coord_id_complaint(given))
        return cli_usage(command, "an id has 1 to 128 bytes, and neither blanks nor control "
                                  "characters");
    if (!given && (gethostname(host, sizeof(host) - 1) != 0 || coord_id_complaint(host)))
        snprintf(host, sizeof(host), "localhost");
    if (given)
        snprintf(ret, COORD_ID_MAX, "%s", given);
    else if (is_of_process)
        snprintf(ret, COORD_ID_MAX, "%s-%d", host, (int)getpid());
    else
        snprintf(ret, COORD_ID_MAX, "%s", host);
    return EXIT_OK;
}

/* ---- which place ---- */

/* The agent's own options are taken where none is given, so that on a node of a cluster a lock is
 * the cluster's. */
static enum exit_code configure(const struct coord_request *request, const char *folder,
                                struct agent_config *config)
{
    const char *named = getenv("PEAL_STORE");
    bool is_told = request->store || request->config || (named && *named);
    struct daemon_options known = {.config = NULL};
    char *text = is_told ? NULL : data_folder_read(folder, "options");
    char *url = is_told ? NULL : data_folder_recall(folder, "store");
    struct parse_error err = {0};
    daemon_options_recall(&known, text);
    const char *file = request->config ? request->config : known.config;
    enum exit_code code = daemon_configure_store(file, request->store, config);
    if (code == EXIT_OK && url && !config->has_store &&
        agent_config_set_store(config, url, &err) != OK) {
        cli_error("%s: %s", url, err.message);
        code = EXIT_INVALID;
    }
    free(text);
    free(url);
    return code;
}

static enum exit_code open_keys(const struct coord_request *request, struct coord_place *place)
{
    struct kv_client *kv;
    struct strbuf why;
    strbuf_init(&why);
    store_url_print(&place->config.store, &place->where);
    const struct store_access access = agent_config_store(&place->config);
    int64_t timeout_ms = request->timeout_s * 1000;
    enum status st = node_kv_open(&access, place->loop, timeout_ms, &kv, &why);
    if (st == OK)
        st = coord_kv_open(place->loop, kv, place->config.store.prefix, timeout_ms, &place->coord);
    if (st != OK)
        cli_error("%s", why.length ? why.text : tr(status_text(st)));
    strbuf_release(&why);
    return st == OK ? EXIT_OK : st == E_INVALID ? EXIT_INVALID : EXIT_ERROR;
}

/* Agents that share a store have data folders of their own, and meet in the store's. */
static enum exit_code open_folder(const struct coord_request *request, const char *data,
                                  struct coord_place *place)
{
    const char *shared = place->config.store.shared, *folder = shared ? shared : data;
    struct strbuf why;
    strbuf_init(&why);
    strbuf_addf(&place->where, "%s/coord", folder);
    enum status st = data_folder_make(folder);
    if (st == E_IO)
        strbuf_addf(&why, "%s: %s", folder, strerror(errno));
    if (st == OK)
        st = coord_file_open(place->loop, place->where.text, request->timeout_s * 1000,
                             &place->coord, &why);
    if (st != OK)
        cli_error("%s; name a folder of yours with --data, or an etcd with --store",
                  why.length ? why.text : tr(status_text(st)));
    strbuf_release(&why);
    return st == OK ? EXIT_OK : EXIT_ERROR;
}

enum exit_code coord_place_open(const struct coord_request *request, struct coord_place *place)
{
    struct strbuf folder;
    *place = (struct coord_place){.is_keys = false};
    agent_config_init(&place->config);
    strbuf_init(&place->where);
    strbuf_init(&folder);
    if (request->timeout_s < 1) {
        strbuf_release(&folder);
        return cli_usage(request->base.command, "--timeout must be 1s or more");
    }
    enum status st = data_folder_find(request->base.data, &folder);
    if (st == OK)
        st = loop_new(&place->loop);
    enum exit_code code = st == OK ? configure(request, folder.text, &place->config) : cli_fail(st);
    place->is_keys = store_url_is_keys(&place->config.store);
    if (code == EXIT_OK && place->is_keys)
        code = open_keys(request, place);
    else if (code == EXIT_OK)
        code = open_folder(request, folder.text, place);
    strbuf_release(&folder);
    return code;
}

void coord_place_close(struct coord_place *place)
{
    place->coord = coord_free(place->coord);
    place->loop = loop_free(place->loop);
    agent_config_release(&place->config);
    strbuf_release(&place->where);
}

enum exit_code coord_place_fail(const struct coord_place *place, const char *name, enum status st,
                                const char *message)
{
    struct strbuf why;
    strbuf_init(&why);
    tr_parsed_text(message, &why);
    if (st == E_UNREACHABLE && place->is_keys)
        cli_error("%s: the store can't be reached: %s; see: peal doctor --store %s", name, why.text,
                  place->where.text);
    else if (*message)
        cli_error("%s: %s", name, why.text);
    else
        cli_error("%s: %s", name, tr(status_text(st)));
    strbuf_release(&why);
    return st == E_UNREACHABLE ? EXIT_UNREACHABLE : st == E_INVALID ? EXIT_INVALID : EXIT_ERROR;
}
