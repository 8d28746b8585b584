/* The writer thread appends and prunes, the reader thread answers queries. They share only the
 * queues and the health with the owner's thread.
 *
 * The writer connects before it takes requests. While its connection is down, appends are refused
 * at once, and it reconnects with back-off. */
#include "history_worker.h"

#include <time.h>

#include "clock.h"
#include "history_stats.h"

static struct history_worker *of(struct history *history)
{
    return (struct history_worker *)history;
}

enum { CONFLICTS_MAX = 5 }; /* retries of one turn of a prune */

static int or_default(int value, int otherwise)
{
    return value > 0 ? value : otherwise;
}

struct history_server_limits
history_server_limits_or_default(const struct history_server_limits *given)
{
    static const struct history_server_limits none;
    const struct history_server_limits *limits = given ? given : &none;
    return (struct history_server_limits){
        .connect_s = or_default(limits->connect_s, 5),
        .write_ms = or_default(limits->write_ms, 10 * 1000),
        .read_ms = or_default(limits->read_ms, 10 * 1000),
        .retry_first_ms = or_default(limits->retry_first_ms, 500),
        .retry_last_ms = or_default(limits->retry_last_ms, 1500),
    };
}

/* ---- both threads ---- */

static void answer(struct history_worker *worker, struct history_request *request, enum status st)
{
    request->answer = st;
    pthread_mutex_lock(&worker->lock);
    history_queue_push(&worker->answered, request);
    pthread_mutex_unlock(&worker->lock);
    if (worker->wake.wake)
        worker->wake.wake(worker->wake.context);
}

static bool is_closing(struct history_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    bool closing = worker->closing;
    pthread_mutex_unlock(&worker->lock);
    return closing;
}

static bool may_try(const struct history_link *link)
{
    return clock_now().boot.ms >= link->next_try_ms;
}

/* After a call of the driver: updates the health. A write sets it to its result; a read sets it
 * only to E_CORRUPT that has an explanation, never to OK. E_INVALID concerns the request alone. */
static enum status note(struct history_worker *worker, struct history_link *link, enum status st)
{
    bool is_write = link == worker->writer;
    if (st != OK && worker->driver->recover)
        worker->driver->recover(link, st);
    link->away = st;
    if (st == E_INVALID || (!is_write && (st != E_CORRUPT || !link->words.length)))
        return st;
    pthread_mutex_lock(&worker->lock);
    bool has_changed = (worker->health == OK) != (st == OK);
    worker->health = st;
    strbuf_reset(&worker->words);
    if (st != OK)
        strbuf_adds(&worker->words, link->words.length ? link->words.text : status_text(st));
    if (is_write)
        worker->is_away = !link->is_up;
    pthread_mutex_unlock(&worker->lock);
    if (has_changed && worker->wake.wake) /* its owner looks at the health */
        worker->wake.wake(worker->wake.context);
    return st;
}

static enum status open_link(const struct history_worker *worker, struct history_link *link)
{
    enum status st = worker->driver->connect(link);
    link->is_up = st == OK;
    if (st == OK) {
        link->retry_ms = 0;
        return OK;
    }
    link->retry_ms = link->retry_ms ? link->retry_ms * 2 : worker->limits.retry_first_ms;
    if (link->retry_ms > worker->limits.retry_last_ms)
        link->retry_ms = worker->limits.retry_last_ms;
    link->next_try_ms = clock_now().boot.ms + link->retry_ms;
    return st;
}

/* The driver fills a copy, so that a read that failed leaves the request as it was. */
static enum status read_log(const struct history_worker *worker, struct history_link *link,
                            struct history_log *log)
{
    struct history_log answer = *log;
    answer.chunks = NULL;
    answer.count = 0;
    answer.kept_bytes = 0;
    enum status st = log->offset < 0 ? E_INVALID : worker->driver->read(link, &answer.request);
    if (st != OK)
        history_log_release(&answer);
    else
        *log = answer;
    return st;
}

static enum status read_stats(const struct history_worker *worker, struct history_link *link,
                              struct history_stats *stats)
{
    struct history_stats answer = *stats;
    answer.rows = NULL;
    answer.count = 0;
    enum status st =
        stats_request_is_valid(stats) ? worker->driver->read(link, &answer.request) : E_INVALID;
    if (st != OK)
        history_stats_release(&answer);
    else
        *stats = answer;
    return st;
}

static bool has_right_limit(const struct history_read *read)
{
    return read->query.limit >= 1 && read->query.limit <= HISTORY_LIMIT_MAX;
}

static enum status call(const struct history_worker *worker, struct history_link *link,
                        struct history_request *request)
{
    strbuf_reset(&link->words);
    if (request->kind == HISTORY_APPEND)
        return worker->driver->append(link, history_request_of(request, history_append));
    if (request->kind == HISTORY_LOG)
        return read_log(worker, link, history_request_of(request, history_log));
    if (request->kind == HISTORY_STATS)
        return read_stats(worker, link, history_request_of(request, history_stats));
    if (request->kind == HISTORY_READ &&
        !has_right_limit(history_request_of(request, history_read)))
        return E_INVALID;
    return worker->driver->read(link, request);
}

/* Reconnects and retries once, since the server may have been restarted after the last request. A
 * request that timed out is not retried. Recording a run twice is harmless. */
static enum status call_or_reconnect(struct history_worker *worker, struct history_link *link,
                                     struct history_request *request, int limit_ms)
{
    int64_t start_ms = clock_now().boot.ms;
    enum status st = call(worker, link, request);
    bool is_quick = clock_now().boot.ms - start_ms < limit_ms / 2;
    if (link->is_up || !is_quick || (link == worker->reader && is_closing(worker)))
        return st;
    st = open_link(worker, link);
    return st == OK ? call(worker, link, request) : st;
}

/* ---- the writer's thread ---- */

static void open_writer(struct history_worker *worker)
{
    (void)note(worker, worker->writer, open_link(worker, worker->writer));
}

static void do_append(struct history_worker *worker, struct history_request *request)
{
    struct history_link *link = worker->writer;
    enum status st = link->away;
    if (!history_append_is_valid(history_request_of(request, history_append)))
        st = E_INVALID;
    else if (link->is_up)
        st = note(worker, link, call_or_reconnect(worker, link, request, worker->limits.write_ms));
    answer(worker, request, st);
}

/* After E_CONFLICT with another writer, the same turn is retried the next time. */
static enum status do_prune_turn(struct history_worker *worker, struct history_prune *prune)
{
    struct history_link *link = worker->writer;
    struct pruning before = worker->pruning;
    strbuf_reset(&link->words);
    enum status st = prune_turn(worker->driver->prune, link, prune, &worker->pruning);
    if (st == E_CONFLICT && before.conflicts < CONFLICTS_MAX) {
        if (worker->driver->recover)
            worker->driver->recover(link, st);
        worker->pruning = before;
        worker->pruning.conflicts++;
        st = OK;
    } else {
        worker->pruning.conflicts = 0;
    }
    if (st == OK && !link->is_up)
        st = E_UNREACHABLE; /* the connection was lost during recovery */
    return st == OK ? OK : note(worker, link, st);
}

static void do_prune(struct history_worker *worker, struct history_request *request)
{
    struct history_prune *prune = history_request_of(request, history_prune);
    enum status st = worker->writer->away;
    if (worker->writer->is_up)
        st = do_prune_turn(worker, prune);
    if (st == OK && worker->pruning.phase != PRUNE_FINISHED)
        return;
    if (st == OK)
        prune->removed = worker->pruning.removed;
    worker->pruning = (struct pruning){.removed = 0};
    pthread_mutex_lock(&worker->lock);
    history_queue_pop(&worker->prunes);
    pthread_mutex_unlock(&worker->lock);
    answer(worker, request, st);
}

/* Waits until there is work, or until the next connect is due. */
static void wait_for_work(struct history_worker *worker)
{
    if (worker->writer->is_up) {
        pthread_cond_wait(&worker->work, &worker->lock);
        return;
    }
    int64_t next_ms = worker->writer->next_try_ms, left_ms = next_ms - clock_now().boot.ms;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t until_ns = until.tv_nsec + (left_ms > 0 ? left_ms : 0) * 1000000;
    until.tv_sec += until_ns / 1000000000;
    until.tv_nsec = until_ns % 1000000000;
    pthread_cond_timedwait(&worker->work, &worker->lock, &until);
}

/* NULL: a connect is due, or the worker is closing and all appends are done. */
static struct history_request *next_write(struct history_worker *worker, bool prune_waited)
{
    struct history_request *request = NULL;
    pthread_mutex_lock(&worker->lock);
    while (!request && !(worker->closing && !worker->appends.first)) {
        request = worker->closing
                      ? history_queue_pop(&worker->appends)
                      : history_next_write(&worker->appends, &worker->prunes, prune_waited);
        if (!request && !worker->writer->is_up && may_try(worker->writer))
            break;
        if (!request)
            wait_for_work(worker);
    }
    pthread_mutex_unlock(&worker->lock);
    return request;
}

static void *run_writer(void *context)
{
    struct history_worker *worker = context;
    bool prune_waited = false;
    if (!worker->writer->is_up)
        open_writer(worker);
    for (;;) {
        struct history_request *request = next_write(worker, prune_waited);
        prune_waited = request && request->kind == HISTORY_APPEND;
        if (request && request->kind == HISTORY_APPEND)
            do_append(worker, request);
        else if (request)
            do_prune(worker, request);
        else if (is_closing(worker))
            return NULL;
        else
            open_writer(worker);
    }
}

/* ---- the reader's thread ---- */

static enum status do_read(struct history_worker *worker, struct history_request *request)
{
    struct history_link *link = worker->reader;
    enum status st = OK;
    if (link->is_up)
        st = call_or_reconnect(worker, link, request, worker->limits.read_ms);
    else if (!may_try(link))
        return link->away;
    else {
        st = open_link(worker, link);
        if (st == OK)
            st = call(worker, link, request);
    }
    return note(worker, link, st);
}

static void *run_reader(void *context)
{
    struct history_worker *worker = context;
    for (;;) {
        pthread_mutex_lock(&worker->lock);
        while (!worker->reads.first && !worker->closing)
            pthread_cond_wait(&worker->work, &worker->lock);
        struct history_request *request =
            worker->closing ? NULL : history_queue_pop(&worker->reads);
        pthread_mutex_unlock(&worker->lock);
        if (!request)
            return NULL;
        answer(worker, request, do_read(worker, request));
    }
}

/* ---- the owner's thread ---- */

static void worker_submit(struct history *history, struct history_request *request)
{
    struct history_worker *worker = of(history);
    struct history_queue *const queues[] = {
        [HISTORY_APPEND] = &worker->appends, [HISTORY_READ] = &worker->reads,
        [HISTORY_LOG] = &worker->reads,      [HISTORY_STATS] = &worker->reads,
        [HISTORY_CHANGES] = &worker->reads,  [HISTORY_PRUNE] = &worker->prunes,
    };
    bool is_write = request->kind == HISTORY_APPEND || request->kind == HISTORY_PRUNE;
    bool refused;
    pthread_mutex_lock(&worker->lock);
    refused = worker->closing || (is_write && worker->is_away);
    if (refused) {
        request->answer = worker->closing ? E_UNREACHABLE : worker->health;
        if (request->kind == HISTORY_APPEND &&
            !history_append_is_valid(history_request_of(request, history_append)))
            request->answer = E_INVALID;
        history_queue_push(&worker->answered, request);
    } else {
        history_queue_push(queues[request->kind], request);
    }
    pthread_cond_broadcast(&worker->work);
    pthread_mutex_unlock(&worker->lock);
    if (refused && worker->wake.wake)
        worker->wake.wake(worker->wake.context);
}

static void worker_dispatch(struct history *history)
{
    struct history_worker *worker = of(history);
    pthread_mutex_lock(&worker->lock);
    struct history_queue now = worker->answered;
    worker->answered = (struct history_queue){0};
    pthread_mutex_unlock(&worker->lock);
    history_queue_done(&now);
}

static enum status worker_health(struct history *history, struct strbuf *why)
{
    struct history_worker *worker = of(history);
    pthread_mutex_lock(&worker->lock);
    enum status st = worker->health;
    if (st != OK)
        strbuf_adds(why, worker->words.text);
    pthread_mutex_unlock(&worker->lock);
    return st;
}

/* ---- from open to free ---- */

void history_worker_release(struct history_worker *worker)
{
    pthread_cond_destroy(&worker->work);
    pthread_mutex_destroy(&worker->lock);
    strbuf_release(&worker->words);
    strbuf_release(&worker->writer->words);
    strbuf_release(&worker->reader->words);
}

static void stop_threads(struct history_worker *worker, bool with_reader)
{
    pthread_mutex_lock(&worker->lock);
    worker->closing = true;
    pthread_cond_broadcast(&worker->work);
    pthread_mutex_unlock(&worker->lock);
    if (with_reader) {
        if (worker->driver->interrupt_reader)
            worker->driver->interrupt_reader(&worker->base);
        pthread_join(worker->reader_thread, NULL);
    }
    pthread_join(worker->writer_thread, NULL);
}

static struct history *worker_free(struct history *history)
{
    struct history_worker *worker = of(history);
    struct history_queue *const left[] = {&worker->reads, &worker->prunes};
    stop_threads(worker, true);
    for (size_t i = 0; i < 2; i++) {
        for (struct history_request *request; (request = history_queue_pop(left[i]));) {
            request->answer = E_UNREACHABLE;
            history_queue_push(&worker->answered, request);
        }
    }
    while (worker->answered.first)
        worker_dispatch(history);
    worker->driver->release(history);
    return NULL;
}

static const struct history_ops worker_ops = {
    .submit = worker_submit,
    .dispatch = worker_dispatch,
    .health = worker_health,
    .free = worker_free,
};

enum status history_worker_start(struct history_worker *worker)
{
    if (pthread_create(&worker->writer_thread, NULL, run_writer, worker) != 0)
        return E_NOMEM;
    if (pthread_create(&worker->reader_thread, NULL, run_reader, worker) != 0) {
        stop_threads(worker, false);
        return E_NOMEM;
    }
    return OK;
}

/* The condition uses the monotonic clock: setting the wall clock does not change a time-out. */
static void init_locks(struct history_worker *worker)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&worker->lock, NULL);
    pthread_cond_init(&worker->work, &attributes);
    pthread_condattr_destroy(&attributes);
}

void history_worker_init(struct history_worker *worker, const struct history_driver *driver,
                         struct history_link *writer, struct history_link *reader,
                         struct history_wake wake)
{
    worker->base.ops = &worker_ops;
    worker->driver = driver;
    worker->writer = writer;
    worker->reader = reader;
    worker->wake = wake;
    strbuf_init(&writer->words);
    strbuf_init(&reader->words);
    strbuf_init(&worker->words);
    init_locks(worker);
}
