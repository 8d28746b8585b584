/* The history in MongoDB: history_worker.c with links to a MongoDB server. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mongo/history_mongo_internal.h"

struct history_mongo {
    struct history_worker worker;
    struct mongo_place place;
    struct mongo_link writer, reader;
};

static void release(struct history *history)
{
    struct history_mongo *mongo = (struct history_mongo *)history;
    mongo_link_release(&mongo->reader);
    mongo_link_release(&mongo->writer);
    history_worker_release(&mongo->worker);
    mongo_place_release(&mongo->place);
    free(mongo);
}

static const struct history_driver driver = {
    .connect = mongo_link_open,
    .append = mongo_append,
    .read = mongo_read_request,
    .prune = &mongo_prune_driver,
    .release = release,
};

/* Initialises libmongoc, once per process, and turns its own logging off. */
static void set_up_client(void)
{
    mongoc_init();
    mongoc_log_set_handler(NULL, NULL);
}

enum status history_mongo_open(const char *url, const struct history_server_limits *limits,
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
    history_worker_init(&mongo->worker, &driver, &mongo->writer.base, &mongo->reader.base, wake);
    mongo->worker.limits = mongo->place.limits;
    st = history_worker_start(&mongo->worker);
    if (st != OK) {
        strbuf_addf(why, "the history in MongoDB cannot be started: %s", strerror(errno));
        release(&mongo->worker.base);
        return st;
    }
    *ret = &mongo->worker.base;
    return OK;
}
