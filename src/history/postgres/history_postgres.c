/* The history in PostgreSQL: history_worker.c with links to a PostgreSQL server. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "postgres/history_postgres_internal.h"

struct history_postgres {
    struct history_worker worker;
    struct place place;
    int stop_fd; /* an eventfd that cancels the reader's request */
    struct postgres_link writer, reader;
};

static void recover(struct history_link *link, enum status st)
{
    (void)st;
    link_roll_back(link_of(link));
}

static void interrupt_reader(struct history *history)
{
    eventfd_write(((struct history_postgres *)history)->stop_fd, 1);
}

static void release(struct history *history)
{
    struct history_postgres *postgres = (struct history_postgres *)history;
    link_close(&postgres->reader);
    link_close(&postgres->writer);
    history_worker_release(&postgres->worker);
    if (postgres->stop_fd >= 0)
        close(postgres->stop_fd);
    pg_address_release(&postgres->place.at);
    free(postgres);
}

static const struct history_driver driver = {
    .connect = link_open,
    .append = postgres_append,
    .read = postgres_read_request,
    .prune = &postgres_prune_driver,
    .recover = recover,
    .interrupt_reader = interrupt_reader,
    .release = release,
};

enum status history_postgres_open(const char *url, const struct history_server_limits *limits,
                                  struct history_wake wake, struct history **ret,
                                  struct strbuf *why)
{
    struct history_postgres *postgres = calloc(1, sizeof(*postgres));
    if (!postgres)
        return E_NOMEM;
    postgres->place.limits = history_server_limits_or_default(limits);
    enum status st = pg_address_read(url, "the history's address", &postgres->place.at, why);
    if (st != OK) {
        free(postgres);
        return st;
    }
    postgres->stop_fd = eventfd(0, EFD_CLOEXEC);
    link_init(&postgres->writer, &postgres->place, LINK_WRITES, -1);
    link_init(&postgres->reader, &postgres->place, LINK_READS, postgres->stop_fd);
    history_worker_init(&postgres->worker, &driver, &postgres->writer.base, &postgres->reader.base,
                        wake);
    postgres->worker.limits = postgres->place.limits;
    st = postgres->stop_fd >= 0 ? history_worker_start(&postgres->worker) : E_IO;
    if (st != OK) {
        strbuf_addf(why, "the history in PostgreSQL cannot be started: %s", strerror(errno));
        release(&postgres->worker.base);
        return st;
    }
    *ret = &postgres->worker.base;
    return OK;
}
