#include "config/agent_data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent_gather.h"
#include "data_dir.h"
#include "data_folder.h"
#include "history_open.h"
#include "node_store.h"
#include "store_look.h"

enum status agent_data_node(const struct agent_config *config, char node[64], struct strbuf *why)
{
    enum status st = data_folder_node(config->data, config->node_id, node);
    if (st == E_CONFLICT)
        strbuf_addf(why,
                    "the data folder %s belongs to node %s, not %s: what that node still owns in "
                    "the store would be nobody's. Leave out --node-id, or use a new folder",
                    config->data, node, config->node_id);
    else if (st != OK)
        strbuf_addf(why, "can't read the data folder %s: %s", config->data, strerror(errno));
    return st;
}

/* An agent that moved to etcd leaves its old database untouched; logs the jobs that are still in
 * it. */
static void look_for_jobs(const struct agent_config *config, struct agent_log *log)
{
    struct store_look look;
    struct strbuf url;
    if (store_sqlite_look(config->data, false, &look, NULL) != OK || !look.jobs)
        return;
    strbuf_init(&url);
    store_url_print(&config->store, &url);
    agent_log_event(log, "jobs_left_behind",
                    "jobs=%lld file=%s/peal.db next=\"if they are not in the store yet: peal stop, "
                    "then peal cluster import --from %s --store %s\"",
                    (long long)look.jobs, config->data, config->data, url.text);
    strbuf_release(&url);
}

/* The folder that agents share is none of theirs: each has its own for its history and its
 * spawner. */
static enum status open_shared(const struct agent_config *config, struct store_wake wake,
                               struct agent_data *data, struct strbuf *why)
{
    struct stat own, shared;
    const char *folder = config->store.shared;
    if (stat(config->data, &own) == 0 && stat(folder, &shared) == 0 &&
        own.st_dev == shared.st_dev && own.st_ino == shared.st_ino) {
        strbuf_addf(why,
                    "%s is this agent's own data folder: share another one, or choose another data "
                    "folder with --data",
                    folder);
        return E_INVALID;
    }
    return store_shared_open(folder, data->node, wake, &data->store, why);
}

static enum status open_store(const struct agent_config *config, struct loop *loop,
                              struct agent_log *log, struct store_wake wake,
                              struct agent_data *data, struct strbuf *why)
{
    if (!store_url_is_cluster(&config->store)) {
        enum status st = store_sqlite_open(config->data, wake, &data->store, why);
        return st == OK ? agent_data_node(config, data->node, why) : st;
    }
    const struct store_access access = agent_config_store(config);
    enum status st = data_dir_lock(config->data, &data->lock_fd, why);
    if (st == OK)
        st = agent_data_node(config, data->node, why);
    if (st == OK && config->store.shared)
        return open_shared(config, wake, data, why);
    if (st == OK)
        st = node_store_open(&access, loop, data->node, config->data, wake, &data->store, why);
    if (st == OK)
        look_for_jobs(config, log);
    return st;
}

enum status agent_data_open(const struct agent_config *config, struct loop *loop,
                            struct agent_log *log, void (*wake)(void *context), void *context,
                            struct agent_data *data, struct strbuf *why)
{
    enum status st = data_folder_make(config->data);
    if (st != OK) {
        strbuf_addf(why, "can't make the data folder %s: %s; choose another with --data",
                    config->data, strerror(errno));
        return st;
    }
    st = open_store(config, loop, log, (struct store_wake){wake, context}, data, why);
    if (st == OK)
        st = history_open_limited(config->history, config->data, config->spool_bytes,
                                  (struct history_wake){wake, context}, &data->history, why);
    if (st == OK)
        st = agent_gather(config, loop, log, (struct history_wake){wake, context}, data, why);
    if (st != OK)
        return st;
    /* Only now: a failed start leaves a new folder new. */
    st = data_folder_write_node(config->data, data->node);
    if (st == OK)
        st = data_folder_write_pid(config->data);
    if (st != OK)
        strbuf_addf(why, "can't write to the data folder %s: %s", config->data, strerror(errno));
    return st;
}

enum status agent_data_remember(const struct agent_config *config, const char *ports)
{
    struct strbuf url;
    strbuf_init(&url);
    store_url_print(&config->store, &url);
    enum status st = strbuf_status(&url);
    if (st == OK)
        st = data_folder_remember(config->data, "store", url.text);
    if (st == OK && config->history)
        st = data_folder_remember(config->data, "history",
                                  *config->history ? config->history : "sqlite");
    if (st == OK)
        st = data_folder_write(config->data, "options", config->options ? config->options : "");
    if (st == OK)
        st = data_folder_write(config->data, "ports", ports);
    strbuf_release(&url);
    return st;
}

void agent_data_close(struct agent_data *data)
{
    data->store = store_free(data->store);
    data->history = history_free(data->history);
    data->net = gather_net_free(data->net);
}

void agent_data_unlock(struct agent_data *data)
{
    data_dir_unlock(data->lock_fd);
    data->lock_fd = -1;
}
