/* The history in PostgreSQL: history_remote.c with links to a PostgreSQL server. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "postgres/history_postgres_internal.h"

struct history_postgres {
    struct history_remote remote;
    struct place place;
    int stop_fd; /* an eventfd: the reader is to stop at once */
    struct link writer, reader;
};

static struct link *link_of(struct remote_link *link)
{
    return (struct link *)link;
}

static enum status postgres_connect(struct remote_link *link)
{
    return link_open(link_of(link));
}

static enum status postgres_append(struct remote_link *link, const struct history_append *append)
{
    return postgres_write_append(link_of(link), append);
}

static enum status postgres_read(struct remote_link *link, struct history_request *request)
{
    return postgres_read_request(link_of(link), request);
}

static enum status postgres_prune(struct remote_link *link, struct history_prune *prune,
                                  bool *ret_finished)
{
    struct pruning *at = &link_of(link)->pruning;
    enum status st = postgres_prune_step(link_of(link), prune, at, ret_finished);
    if (st != OK || *ret_finished)
        *at = (struct pruning){0};
    return st;
}

static void interrupt_reader(struct history *history)
{
    eventfd_write(((struct history_postgres *)history)->stop_fd, 1);
}

static void release(struct history *history)
{
    struct history_postgres *postgres = (struct history_postgres *)history;
    link_release(&postgres->reader);
    link_release(&postgres->writer);
    history_remote_release(&postgres->remote);
    if (postgres->stop_fd >= 0)
        close(postgres->stop_fd);
    place_release(&postgres->place);
    free(postgres);
}

static const struct remote_driver driver = {
    .connect = postgres_connect,
    .append = postgres_append,
    .read = postgres_read,
    .prune_step = postgres_prune,
    .interrupt_reader = interrupt_reader,
    .release = release,
};

enum status history_postgres_open(const char *url, const struct history_remote_limits *limits,
                                  struct history_wake wake, struct history **ret,
                                  struct strbuf *why)
{
    struct history_postgres *postgres = calloc(1, sizeof(*postgres));
    if (!postgres)
        return E_NOMEM;
    enum status st = place_read(url, limits, &postgres->place, why);
    if (st != OK) {
        free(postgres);
        return st;
    }
    postgres->stop_fd = eventfd(0, EFD_CLOEXEC);
    link_init(&postgres->writer, &postgres->place, LINK_WRITES, -1);
    link_init(&postgres->reader, &postgres->place, LINK_READS, postgres->stop_fd);
    postgres->remote.driver = &driver;
    postgres->remote.limits = postgres->place.limits;
    postgres->remote.writer = &postgres->writer.remote;
    postgres->remote.reader = &postgres->reader.remote;
    history_remote_init(&postgres->remote, wake);
    st = postgres->stop_fd >= 0 ? history_remote_start(&postgres->remote) : E_IO;
    if (st != OK) {
        strbuf_addf(why, "the history in PostgreSQL cannot be started: %s", strerror(errno));
        release(&postgres->remote.base);
        return st;
    }
    *ret = &postgres->remote.base;
    return OK;
}
