#include "agent_trial.h"

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent_gather.h"
#include "agent_listen.h"
#include "config/agent_data.h"
#include "data_folder.h"
#include "node_store.h"

enum { PORTS_MAX = 20 }; /* of one agent: the addresses of its API, and one for other nodes */

/* Nothing is created. */
static enum status try_log(const char *path, struct strbuf *why)
{
    char *copy = path ? strdup(path) : NULL;
    if (!path)
        return OK;
    if (!copy)
        return E_NOMEM;
    bool ok = access(path, F_OK) == 0 ? access(path, W_OK) == 0 : access(dirname(copy), W_OK) == 0;
    if (!ok)
        strbuf_addf(why, "can't open the log %s: %s", path, strerror(errno));
    free(copy);
    return ok ? OK : E_IO;
}

/* False: the running agent, an older one, has not noted its ports. */
static bool read_ports(const char *folder, int ports[PORTS_MAX], size_t *ret_count)
{
    char *text = data_folder_read(folder, "ports"), *rest = NULL;
    if (!text)
        return false;
    for (char *line = strtok_r(text, "\n", &rest); line && *ret_count < PORTS_MAX;
         line = strtok_r(NULL, "\n", &rest))
        ports[(*ret_count)++] = (int)strtol(line, NULL, 10);
    free(text);
    return true;
}

static enum status try_addresses(const struct agent_config *config, struct strbuf *why)
{
    int held[PORTS_MAX];
    size_t held_count = 0;
    struct agent_listen listen;
    struct api_config api = {0};
    if (!read_ports(config->data, held, &held_count))
        return OK;
    enum status st = agent_listen_init(&listen, config);
    if (st != OK)
        return st;
    agent_listen_fill(&listen, &api);
    st = api_try_listen(&api, held, held_count, why);
    agent_listen_release(&listen);
    return st == OK ? agent_gather_try(config, held, held_count, why) : st;
}

enum status agent_try(const struct agent_config *config, struct strbuf *why)
{
    char node[64];
    const struct store_access access = agent_config_store(config);
    enum status st = try_log(config->log_file, why);
    if (st == OK)
        st = agent_data_node(config, node, why);
    if (st == OK)
        st = try_addresses(config, why);
    if (st == OK && store_url_is_keys(&config->store))
        st = node_store_try(&access, why);
    if (st != OK && !why->length)
        strbuf_adds(why, status_text(st));
    return st;
}
