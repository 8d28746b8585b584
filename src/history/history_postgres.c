/* The history in PostgreSQL. Two threads with a connection each: the writer appends and prunes, the
 * reader answers. They share the queues below with the owner's thread, and nothing else.
 *
 * The writer is UNTRIED -> UP or AWAY, and UP <-> AWAY. While it is AWAY, appends are refused at
 * once; the writer tries to connect again at growing intervals. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "history_postgres_internal.h"

struct history_postgres {
    struct history base;
    struct history_wake wake;
    struct place place;
    int stop_fd;                /* an eventfd: the reader is to stop at once */
    struct link writer, reader; /* each its thread's alone, once that runs */
    pthread_t writer_thread, reader_thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t work;
    struct history_queue appends, prunes, reads, answered;
    bool closing;
    enum { WRITER_UNTRIED, WRITER_UP, WRITER_AWAY } state;
    enum status health;
    struct strbuf words; /* for it */
};

static struct history_postgres *of(struct history *history)
{
    return (struct history_postgres *)history;
}

/* ---- both threads ---- */

static void answer(struct history_postgres *postgres, struct history_request *request,
                   enum status st)
{
    request->answer = st;
    pthread_mutex_lock(&postgres->lock);
    history_queue_push(&postgres->answered, request);
    pthread_mutex_unlock(&postgres->lock);
    if (postgres->wake.wake)
        postgres->wake.wake(postgres->wake.context);
}

/* ---- the writer's thread ---- */

/* How a write went is how the history is. E_INVALID says something of the request alone. */
static void note_health(struct history_postgres *postgres, enum status st)
{
    if (st == E_INVALID)
        return;
    pthread_mutex_lock(&postgres->lock);
    postgres->health = st;
    strbuf_reset(&postgres->words);
    if (st != OK)
        strbuf_adds(&postgres->words, postgres->writer.words.text);
    postgres->state = postgres->writer.conn ? WRITER_UP : WRITER_AWAY;
    pthread_mutex_unlock(&postgres->lock);
}

static enum status open_writer(struct history_postgres *postgres)
{
    enum status st = link_open(&postgres->writer);
    note_health(postgres, st);
    return st;
}

/* The server may have been restarted since the last request: then a new connection helps. A
 * statement that was not answered in time is not worth another. Recording twice is harmless. */
static enum status append_or_reconnect(struct history_postgres *postgres,
                                       const struct history_append *append)
{
    int64_t start_ms = link_now_ms();
    enum status st = postgres_write_append(&postgres->writer, append);
    bool is_quick = link_now_ms() - start_ms < postgres->place.limits.write_ms / 2;
    if (postgres->writer.conn || !is_quick)
        return st;
    st = link_open(&postgres->writer);
    return st == OK ? postgres_write_append(&postgres->writer, append) : st;
}

static void do_append(struct history_postgres *postgres, struct history_request *request)
{
    enum status st = postgres->health;
    const struct history_append *append = history_request_of(request, history_append);
    if (!history_append_is_valid(append)) {
        st = E_INVALID;
    } else if (postgres->writer.conn) {
        st = append_or_reconnect(postgres, append);
        note_health(postgres, st);
    }
    answer(postgres, request, st);
}

static void do_prune_step(struct history_postgres *postgres, struct history_request *request,
                          struct pruning *at)
{
    bool finished = false;
    enum status st = postgres->health;
    if (postgres->writer.conn) {
        st = postgres_prune_step(&postgres->writer, history_request_of(request, history_prune), at,
                                 &finished);
        if (st != OK)
            note_health(postgres, st);
    }
    if (st == OK && !finished)
        return;
    *at = (struct pruning){0};
    pthread_mutex_lock(&postgres->lock);
    history_queue_pop(&postgres->prunes);
    pthread_mutex_unlock(&postgres->lock);
    answer(postgres, request, st);
}

/* Until there is work, or it is time to connect again. */
static void wait_for_work(struct history_postgres *postgres)
{
    if (postgres->writer.conn) {
        pthread_cond_wait(&postgres->work, &postgres->lock);
        return;
    }
    int64_t next_ms = postgres->writer.next_try_ms, left_ms = next_ms - link_now_ms();
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t until_ns = until.tv_nsec + (left_ms > 0 ? left_ms : 0) * 1000000;
    until.tv_sec += until_ns / 1000000000;
    until.tv_nsec = until_ns % 1000000000;
    pthread_cond_timedwait(&postgres->work, &postgres->lock, &until);
}

/* Appends go first: a prune is continued when none waits. NULL: it is time to connect, or the end
 * has come, and all appends are done. */
static struct history_request *next_write(struct history_postgres *postgres)
{
    struct history_request *request = NULL;
    pthread_mutex_lock(&postgres->lock);
    while (!request && !(postgres->closing && !postgres->appends.first)) {
        request = history_queue_pop(&postgres->appends);
        if (!request)
            request = postgres->prunes.first; /* stays first until it is finished */
        if (!request && !postgres->writer.conn && link_may_try(&postgres->writer))
            break;
        if (!request)
            wait_for_work(postgres);
    }
    pthread_mutex_unlock(&postgres->lock);
    return request;
}

static bool is_closing(struct history_postgres *postgres)
{
    pthread_mutex_lock(&postgres->lock);
    bool closing = postgres->closing;
    pthread_mutex_unlock(&postgres->lock);
    return closing;
}

static void *run_writer(void *context)
{
    struct history_postgres *postgres = context;
    struct pruning at = {0};
    (void)open_writer(postgres);
    for (;;) {
        struct history_request *request = next_write(postgres);
        if (request && request->kind == HISTORY_APPEND)
            do_append(postgres, request);
        else if (request)
            do_prune_step(postgres, request, &at);
        else if (is_closing(postgres))
            return NULL;
        else
            (void)open_writer(postgres);
    }
}

/* ---- the reader's thread ---- */

/* A connection that has died since the last request is replaced. */
static enum status do_read(struct history_postgres *postgres, struct history_request *request,
                           enum status last)
{
    struct link *link = &postgres->reader;
    enum status st = last;
    bool is_old = link->conn != NULL;
    int64_t start_ms = link_now_ms();
    if (!link->conn && !link_may_try(link))
        return st;
    st = link->conn ? OK : link_open(link);
    if (st == OK)
        st = postgres_read_request(link, request);
    if (st == E_UNREACHABLE && is_old && !link->conn &&
        link_now_ms() - start_ms < postgres->place.limits.read_ms / 2 && !is_closing(postgres)) {
        st = link_open(link);
        if (st == OK)
            st = postgres_read_request(link, request);
    }
    return st;
}

static void *run_reader(void *context)
{
    struct history_postgres *postgres = context;
    enum status st = E_UNREACHABLE;
    for (;;) {
        pthread_mutex_lock(&postgres->lock);
        while (!postgres->reads.first && !postgres->closing)
            pthread_cond_wait(&postgres->work, &postgres->lock);
        struct history_request *request =
            postgres->closing ? NULL : history_queue_pop(&postgres->reads);
        pthread_mutex_unlock(&postgres->lock);
        if (!request)
            return NULL;
        st = do_read(postgres, request, st);
        answer(postgres, request, st);
        if (postgres->reader.conn)
            st = E_UNREACHABLE;
    }
}

/* ---- the owner's thread ---- */

static void submit(struct history *history, struct history_request *request,
                   enum history_request_kind kind)
{
    struct history_postgres *postgres = of(history);
    struct history_queue *const queues[] = {
        [HISTORY_APPEND] = &postgres->appends, [HISTORY_READ] = &postgres->reads,
        [HISTORY_LOG] = &postgres->reads,      [HISTORY_STATS] = &postgres->reads,
        [HISTORY_CHANGES] = &postgres->reads,  [HISTORY_PRUNE] = &postgres->prunes,
    };
    bool is_write = kind == HISTORY_APPEND || kind == HISTORY_PRUNE;
    bool refused;
    request->kind = kind;
    pthread_mutex_lock(&postgres->lock);
    refused = postgres->closing || (is_write && postgres->state == WRITER_AWAY);
    if (refused) {
        request->answer = postgres->closing ? E_UNREACHABLE : postgres->health;
        if (kind == HISTORY_APPEND &&
            !history_append_is_valid(history_request_of(request, history_append)))
            request->answer = E_INVALID;
        history_queue_push(&postgres->answered, request);
    } else {
        history_queue_push(queues[kind], request);
    }
    pthread_cond_broadcast(&postgres->work);
    pthread_mutex_unlock(&postgres->lock);
    if (refused && postgres->wake.wake)
        postgres->wake.wake(postgres->wake.context);
}

static void postgres_append(struct history *history, struct history_append *append)
{
    submit(history, &append->request, HISTORY_APPEND);
}

static void postgres_read(struct history *history, struct history_read *read)
{
    submit(history, &read->request, HISTORY_READ);
}

static void postgres_log(struct history *history, struct history_log *log)
{
    submit(history, &log->request, HISTORY_LOG);
}

static void postgres_stats(struct history *history, struct history_stats *stats)
{
    submit(history, &stats->request, HISTORY_STATS);
}

static void postgres_changes(struct history *history, struct history_changes *changes)
{
    submit(history, &changes->request, HISTORY_CHANGES);
}

static void postgres_prune(struct history *history, struct history_prune *prune)
{
    submit(history, &prune->request, HISTORY_PRUNE);
}

static void postgres_dispatch(struct history *history)
{
    struct history_postgres *postgres = of(history);
    pthread_mutex_lock(&postgres->lock);
    struct history_queue now = postgres->answered;
    postgres->answered = (struct history_queue){0};
    pthread_mutex_unlock(&postgres->lock);
    for (struct history_request *request; (request = history_queue_pop(&now));)
        history_request_done(request);
}

static enum status postgres_health(struct history *history, struct strbuf *why)
{
    struct history_postgres *postgres = of(history);
    pthread_mutex_lock(&postgres->lock);
    enum status st = postgres->health;
    if (st != OK)
        strbuf_adds(why, postgres->words.text);
    pthread_mutex_unlock(&postgres->lock);
    return st;
}

/* ---- from open to free ---- */

static void release(struct history_postgres *postgres)
{
    link_release(&postgres->reader);
    link_release(&postgres->writer);
    pthread_cond_destroy(&postgres->work);
    pthread_mutex_destroy(&postgres->lock);
    if (postgres->stop_fd >= 0)
        close(postgres->stop_fd);
    strbuf_release(&postgres->words);
    place_release(&postgres->place);
    free(postgres);
}

static void stop_threads(struct history_postgres *postgres, bool with_reader)
{
    pthread_mutex_lock(&postgres->lock);
    postgres->closing = true;
    pthread_cond_broadcast(&postgres->work);
    pthread_mutex_unlock(&postgres->lock);
    if (with_reader) {
        eventfd_write(postgres->stop_fd, 1);
        pthread_join(postgres->reader_thread, NULL);
    }
    pthread_join(postgres->writer_thread, NULL);
}

static struct history *postgres_free(struct history *history)
{
    struct history_postgres *postgres = of(history);
    struct history_queue *const left[] = {&postgres->reads, &postgres->prunes};
    stop_threads(postgres, true);
    for (size_t i = 0; i < 2; i++) {
        for (struct history_request *request; (request = history_queue_pop(left[i]));) {
            request->answer = E_UNREACHABLE;
            history_queue_push(&postgres->answered, request);
        }
    }
    while (postgres->answered.first)
        postgres_dispatch(history);
    release(postgres);
    return NULL;
}

static const struct history_ops postgres_ops = {
    .append = postgres_append,
    .read = postgres_read,
    .log = postgres_log,
    .stats = postgres_stats,
    .changes = postgres_changes,
    .prune = postgres_prune,
    .dispatch = postgres_dispatch,
    .health = postgres_health,
    .free = postgres_free,
};

static enum status start_threads(struct history_postgres *postgres)
{
    if (pthread_create(&postgres->writer_thread, NULL, run_writer, postgres) != 0)
        return E_NOMEM;
    if (pthread_create(&postgres->reader_thread, NULL, run_reader, postgres) != 0) {
        stop_threads(postgres, false);
        return E_NOMEM;
    }
    return OK;
}

/* Waits are measured with a clock that nobody sets. */
static void init_locks(struct history_postgres *postgres)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&postgres->lock, NULL);
    pthread_cond_init(&postgres->work, &attributes);
    pthread_condattr_destroy(&attributes);
}

enum status history_postgres_open(const char *url, const struct history_postgres_limits *limits,
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
    postgres->base.ops = &postgres_ops;
    postgres->wake = wake;
    postgres->stop_fd = eventfd(0, EFD_CLOEXEC);
    strbuf_init(&postgres->words);
    init_locks(postgres);
    link_init(&postgres->writer, &postgres->place, LINK_WRITES, -1);
    link_init(&postgres->reader, &postgres->place, LINK_READS, postgres->stop_fd);
    st = postgres->stop_fd >= 0 ? start_threads(postgres) : E_IO;
    if (st != OK) {
        strbuf_addf(why, "the history in PostgreSQL cannot be started: %s", strerror(errno));
        release(postgres);
        return st;
    }
    *ret = &postgres->base;
    return OK;
}
