/* The history in DIR/history.db. Two threads with a connection each: the writer appends and prunes,
 * the reader answers; WAL lets neither wait for the other. They share the queues below with the
 * owner's thread, and nothing else. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "sqlite/history_sqlite.h"

struct history_sqlite {
    struct history base;
    struct history_wake wake;
    char *path;
    struct database writer, reader; /* each its thread's alone, once that runs */
    pthread_t writer_thread, reader_thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t work;
    struct history_queue appends, prunes, reads, answered;
    bool closing;
    enum status health;
    char error[256]; /* SQLite's words for it */
};

static struct history_sqlite *of(struct history *history)
{
    return (struct history_sqlite *)history;
}

/* ---- both threads ---- */

static void answer(struct history_sqlite *sqlite, struct history_request *request, enum status st)
{
    request->answer = st;
    pthread_mutex_lock(&sqlite->lock);
    history_queue_push(&sqlite->answered, request);
    pthread_mutex_unlock(&sqlite->lock);
    if (sqlite->wake.wake)
        sqlite->wake.wake(sqlite->wake.context);
}

/* How a write went is how the history is. A read says so only of damage, and never that all is
 * well. E_INVALID says something of the request, not of the file. */
static void note_health(struct history_sqlite *sqlite, struct database *database, enum status st)
{
    bool is_write = database == &sqlite->writer;
    if (st == E_INVALID || (!is_write && st != E_CORRUPT))
        return;
    pthread_mutex_lock(&sqlite->lock);
    sqlite->health = st;
    strncpy(sqlite->error, sqlite3_errmsg(database->db), sizeof(sqlite->error) - 1);
    pthread_mutex_unlock(&sqlite->lock);
}

/* ---- the writer's thread ---- */

/* Waits for work. NULL: the end, when all appends are done. */
static struct history_request *next_write(struct history_sqlite *sqlite, bool prune_waited)
{
    pthread_mutex_lock(&sqlite->lock);
    while (!sqlite->appends.first && !sqlite->prunes.first && !sqlite->closing)
        pthread_cond_wait(&sqlite->work, &sqlite->lock);
    struct history_request *request =
        sqlite->closing ? history_queue_pop(&sqlite->appends)
                        : history_next_write(&sqlite->appends, &sqlite->prunes, prune_waited);
    pthread_mutex_unlock(&sqlite->lock);
    return request;
}

static void do_append(struct history_sqlite *sqlite, struct history_request *request)
{
    enum status st = write_append(&sqlite->writer, history_request_of(request, history_append));
    note_health(sqlite, &sqlite->writer, st);
    if (st != OK)
        database_roll_back(&sqlite->writer);
    answer(sqlite, request, st);
}

static void do_prune_turn(struct history_sqlite *sqlite, struct history_request *request,
                          struct pruning *at)
{
    bool finished = false;
    enum status st =
        prune_turn(&sqlite->writer, history_request_of(request, history_prune), at, &finished);
    if (st != OK) {
        note_health(sqlite, &sqlite->writer, st);
        database_roll_back(&sqlite->writer);
    }
    if (st == OK && !finished)
        return;
    *at = (struct pruning){0};
    pthread_mutex_lock(&sqlite->lock);
    history_queue_pop(&sqlite->prunes);
    pthread_mutex_unlock(&sqlite->lock);
    answer(sqlite, request, st);
}

static void *run_writer(void *context)
{
    struct history_sqlite *sqlite = context;
    struct pruning at = {0};
    bool prune_waited = false;
    for (struct history_request *request; (request = next_write(sqlite, prune_waited));) {
        prune_waited = request->kind == HISTORY_APPEND;
        if (request->kind == HISTORY_APPEND)
            do_append(sqlite, request);
        else
            do_prune_turn(sqlite, request, &at);
    }
    return NULL;
}

/* ---- the reader's thread ---- */

static void *run_reader(void *context)
{
    struct history_sqlite *sqlite = context;
    for (;;) {
        pthread_mutex_lock(&sqlite->lock);
        while (!sqlite->reads.first && !sqlite->closing)
            pthread_cond_wait(&sqlite->work, &sqlite->lock);
        struct history_request *request =
            sqlite->closing ? NULL : history_queue_pop(&sqlite->reads);
        pthread_mutex_unlock(&sqlite->lock);
        if (!request)
            return NULL;
        enum status st = read_request(&sqlite->reader, request);
        note_health(sqlite, &sqlite->reader, st);
        answer(sqlite, request, st);
    }
}

/* ---- the owner's thread ---- */

static void sqlite_submit(struct history *history, struct history_request *request)
{
    struct history_sqlite *sqlite = of(history);
    struct history_queue *const queues[] = {
        [HISTORY_APPEND] = &sqlite->appends, [HISTORY_READ] = &sqlite->reads,
        [HISTORY_LOG] = &sqlite->reads,      [HISTORY_STATS] = &sqlite->reads,
        [HISTORY_CHANGES] = &sqlite->reads,  [HISTORY_PRUNE] = &sqlite->prunes,
    };
    pthread_mutex_lock(&sqlite->lock);
    if (sqlite->closing) {
        request->answer = E_UNREACHABLE;
        history_queue_push(&sqlite->answered, request);
    } else {
        history_queue_push(queues[request->kind], request);
    }
    pthread_cond_broadcast(&sqlite->work);
    pthread_mutex_unlock(&sqlite->lock);
}

static void sqlite_dispatch(struct history *history)
{
    struct history_sqlite *sqlite = of(history);
    pthread_mutex_lock(&sqlite->lock);
    struct history_queue now = sqlite->answered;
    sqlite->answered = (struct history_queue){0};
    pthread_mutex_unlock(&sqlite->lock);
    history_queue_done(&now);
}

static enum status sqlite_health(struct history *history, struct strbuf *why)
{
    struct history_sqlite *sqlite = of(history);
    pthread_mutex_lock(&sqlite->lock);
    enum status st = sqlite->health;
    if (st != OK)
        database_explain(sqlite->path, st, sqlite->error, why);
    pthread_mutex_unlock(&sqlite->lock);
    return st;
}

/* ---- from open to free ---- */

static void release(struct history_sqlite *sqlite)
{
    database_close(&sqlite->reader);
    database_close(&sqlite->writer);
    pthread_cond_destroy(&sqlite->work);
    pthread_mutex_destroy(&sqlite->lock);
    free(sqlite->path);
    free(sqlite);
}

static void stop_threads(struct history_sqlite *sqlite, bool with_reader)
{
    pthread_mutex_lock(&sqlite->lock);
    sqlite->closing = true;
    pthread_cond_broadcast(&sqlite->work);
    pthread_mutex_unlock(&sqlite->lock);
    if (with_reader) {
        sqlite3_interrupt(sqlite->reader.db);
        pthread_join(sqlite->reader_thread, NULL);
    }
    pthread_join(sqlite->writer_thread, NULL);
}

static struct history *sqlite_free(struct history *history)
{
    struct history_sqlite *sqlite = of(history);
    struct history_queue *const left[] = {&sqlite->reads, &sqlite->prunes};
    stop_threads(sqlite, true);
    for (size_t i = 0; i < 2; i++) {
        for (struct history_request *request; (request = history_queue_pop(left[i]));) {
            request->answer = E_UNREACHABLE;
            history_queue_push(&sqlite->answered, request);
        }
    }
    while (sqlite->answered.first)
        sqlite_dispatch(history);
    release(sqlite);
    return NULL;
}

static const struct history_ops sqlite_ops = {
    .submit = sqlite_submit,
    .dispatch = sqlite_dispatch,
    .health = sqlite_health,
    .free = sqlite_free,
};

static enum status start_threads(struct history_sqlite *sqlite)
{
    if (pthread_create(&sqlite->writer_thread, NULL, run_writer, sqlite) != 0)
        return E_NOMEM;
    if (pthread_create(&sqlite->reader_thread, NULL, run_reader, sqlite) != 0) {
        stop_threads(sqlite, false);
        return E_NOMEM;
    }
    return OK;
}

enum status history_sqlite_open(const char *dir, struct history_wake wake, struct history **ret,
                                struct strbuf *why)
{
    struct strbuf path;
    struct history_sqlite *sqlite = calloc(1, sizeof(*sqlite));
    if (!sqlite)
        return E_NOMEM;
    strbuf_init(&path);
    strbuf_addf(&path, "%s/history.db", dir);
    sqlite->base.ops = &sqlite_ops;
    sqlite->wake = wake;
    sqlite->path = strbuf_detach(&path);
    pthread_mutex_init(&sqlite->lock, NULL);
    pthread_cond_init(&sqlite->work, NULL);

    enum status st = sqlite->path ? OK : E_NOMEM;
    if (st == OK)
        st = database_open_writer(sqlite->path, &sqlite->writer, why);
    if (st == OK)
        st = database_open_reader(sqlite->path, &sqlite->reader, why);
    if (st == OK)
        st = start_threads(sqlite);
    if (st != OK) {
        release(sqlite);
        return st;
    }
    *ret = &sqlite->base;
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
