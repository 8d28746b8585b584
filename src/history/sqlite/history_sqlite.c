/* The history in DIR/history.db: history_worker.c with two connections to one file. In WAL mode
 * the reader and the writer do not block each other. */
#include <stdlib.h>

#include "history_worker.h"
#include "sqlite/history_sqlite.h"

struct history_sqlite {
    struct history_worker worker;
    char *path;
    struct sqlite_link writer, reader;
};

static void recover(struct history_link *link, enum status st)
{
    struct database *database = database_of(link);
    database_explain(((struct sqlite_link *)link)->path, st, sqlite3_errmsg(database->db),
                     &link->words);
    database_roll_back(database);
}

static void interrupt_reader(struct history *history)
{
    sqlite3_interrupt(((struct history_sqlite *)history)->reader.database.db);
}

static void release(struct history *history)
{
    struct history_sqlite *sqlite = (struct history_sqlite *)history;
    database_close(&sqlite->reader.database);
    database_close(&sqlite->writer.database);
    history_worker_release(&sqlite->worker);
    free(sqlite->path);
    free(sqlite);
}

static void rest(struct history_link *link)
{
    sqlite3_db_release_memory(database_of(link)->db);
}

static const struct history_driver driver = {
    .append = sqlite_append,
    .read = sqlite_read_request,
    .prune = &sqlite_prune_driver,
    .recover = recover,
    .rest = rest,
    .interrupt_reader = interrupt_reader,
    .release = release,
};

enum status history_sqlite_open(const char *dir, struct history_wake wake, struct history **ret,
                                struct strbuf *why)
{
    struct strbuf path;
    struct history_sqlite *sqlite = calloc(1, sizeof(*sqlite));
    if (!sqlite)
        return E_NOMEM;
    strbuf_init(&path);
    strbuf_addf(&path, "%s/history.db", dir);
    sqlite->path = strbuf_detach(&path);
    sqlite->writer.path = sqlite->reader.path = sqlite->path;
    sqlite->writer.base.is_up = sqlite->reader.base.is_up =
        true; /* the threads start after both are open */
    history_worker_init(&sqlite->worker, &driver, &sqlite->writer.base, &sqlite->reader.base, wake);

    enum status st = sqlite->path ? OK : E_NOMEM;
    if (st == OK)
        st = database_open_writer(sqlite->path, &sqlite->writer.database, why);
    if (st == OK)
        st = database_open_reader(sqlite->path, &sqlite->reader.database, why);
    if (st == OK)
        st = history_worker_start(&sqlite->worker);
    if (st != OK) {
        release(&sqlite->worker.base);
        return st;
    }
    *ret = &sqlite->worker.base;
    return OK;
}

enum status history_sqlite_look(const char *dir, struct strbuf *why)
{
    struct strbuf path;
    strbuf_init(&path);
    strbuf_addf(&path, "%s/history.db", dir);
    enum status st = strbuf_status(&path);
    if (st == OK)
        st = database_look(path.text, why);
    strbuf_release(&path);
    return st;
}
