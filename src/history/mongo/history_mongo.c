/* The history in MongoDB: history_remote.c with links to a MongoDB server. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mongo/history_mongo_internal.h"

struct history_mongo {
    struct history_remote remote;
    struct mongo_place place;
    struct mongo_link writer, reader;
};

static struct mongo_link *link_of(struct remote_link *link)
{
    return (struct mongo_link *)link;
}

static enum status connect_link(struct remote_link *link)
{
    return mongo_link_open(link_of(link));
}

static enum status append(struct remote_link *link, const struct history_append *append)
{
    return mongo_write_append(link_of(link), append);
}

static enum status read_request(struct remote_link *link, struct history_request *request)
{
    return mongo_read_request(link_of(link), request);
}

static enum status prune_step(struct remote_link *link, struct history_prune *prune,
                              bool *ret_finished)
{
    struct mongo_pruning *at = &link_of(link)->pruning;
    enum status st = mongo_prune_step(link_of(link), prune, at, ret_finished);
    if (st != OK || *ret_finished)
        *at = (struct mongo_pruning){0};
    return st;
}

static void release(struct history *history)
{
    struct history_mongo *mongo = (struct history_mongo *)history;
    mongo_link_release(&mongo->reader);
    mongo_link_release(&mongo->writer);
    history_remote_release(&mongo->remote);
    mongo_place_release(&mongo->place);
    free(mongo);
}

static const struct remote_driver driver = {
    .connect = connect_link,
    .append = append,
    .read = read_request,
    .prune_step = prune_step,
    .release = release,
};

/* libmongoc wants to be set up once in a process; it says nothing by itself. */
static void set_up_client(void)
{
    mongoc_init();
    mongoc_log_set_handler(NULL, NULL);
}

enum status history_mongo_open(const char *url, const struct history_remote_limits *limits,
                               struct history_wake wake, struct history **ret, struct strbuf *why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_up_client);
    struct history_mongo *mongo = calloc(1, sizeof(*mongo));
    if (!mongo)
        return E_NOMEM;
    enum status st = mongo_place_read(url, limits, &mongo->place, why);
    if (st != OK) {
        free(mongo);
        return st;
    }
    mongo_link_init(&mongo->writer, &mongo->place, MONGO_WRITES);
    mongo_link_init(&mongo->reader, &mongo->place, MONGO_READS);
    mongo->remote.driver = &driver;
    mongo->remote.limits = mongo->place.limits;
    mongo->remote.writer = &mongo->writer.remote;
    mongo->remote.reader = &mongo->reader.remote;
    history_remote_init(&mongo->remote, wake);
    st = history_remote_start(&mongo->remote);
    if (st != OK) {
        strbuf_addf(why, "the history in MongoDB cannot be started: %s", strerror(errno));
        release(&mongo->remote.base);
        return st;
    }
    *ret = &mongo->remote.base;
    return OK;
}
