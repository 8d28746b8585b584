/* The writer thread appends and prunes, the reader thread answers queries. They share only the
 * queues and the health with the owner's thread.
 *
 * Group commit: appends that come while another one is on its way to the disk go into one
 * transaction together.
 *
 * The writer connects before it takes requests. While its connection is down, appends are refused
 * at once, and it reconnects with back-off. */
#include "history_worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "history_stats.h"

static struct history_worker *of(struct history *history)
{
    return (struct history_worker *)history;
}

enum {
    CONFLICTS_MAX = 5,    /* retries of one turn of a prune */
    REST_AFTER_MS = 1000, /* without a request */
    TOGETHER_MAX = 1000,  /* records of several appends in one transaction */
};

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

/* The requests have their answers. */
static void hand_back(struct history_worker *worker, struct history_queue *done)
{
    pthread_mutex_lock(&worker->lock);
    for (struct history_request *request; (request = history_queue_pop(done));)
        history_queue_push(&worker->answered, request);
    pthread_mutex_unlock(&worker->lock);
    if (worker->wake.wake)
        worker->wake.wake(worker->wake.context);
}

static void answer(struct history_worker *worker, struct history_request *request, enum status st)
{
    struct history_queue done = {0};
    request->answer = st;
    history_queue_push(&done, request);
    hand_back(worker, &done);
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

/* The input lies before byte 0 of the output. */
static enum status read_input(const struct history_worker *worker, struct history_link *link,
                              struct history_log *log)
{
    struct strbuf text;
    struct history_log before = {.run_id = log->run_id,
                                 .offset = -HISTORY_INPUT_MAX,
                                 .limit = HISTORY_INPUT_MAX,
                                 .request.kind = HISTORY_LOG};
    strbuf_init(&text);
    enum status st = worker->driver->read(link, &before.request);
    for (size_t i = 0; i < before.count && st == OK; i++) {
        if (before.chunks[i].stream == OUTPUT_INPUT)
            strbuf_add(&text, before.chunks[i].bytes, before.chunks[i].length);
    }
    if (st == OK && text.length) {
        log->input = strbuf_detach(&text);
        st = log->input ? OK : E_NOMEM;
    }
    strbuf_release(&text);
    history_log_release(&before);
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
    answer.input = NULL;
    enum status st = log->offset < 0 ? E_INVALID : worker->driver->read(link, &answer.request);
    if (st == OK && answer.found && answer.with_input)
        st = read_input(worker, link, &answer);
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
    link->is_warm = true;
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

/* True: there was nothing for so long. Under the lock. */
static bool wait_for_ms(struct history_worker *worker, int64_t ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t until_ns = until.tv_nsec + (ms > 0 ? ms : 0) * 1000000;
    until.tv_sec += until_ns / 1000000000;
    until.tv_nsec = until_ns % 1000000000;
    return pthread_cond_timedwait(&worker->work, &worker->lock, &until) == ETIMEDOUT;
}

/* Waits for requests. A link that has none for a while rests. Under the lock. */
static void wait_for_requests(struct history_worker *worker, struct history_link *link)
{
    if (!link->is_warm || !worker->driver->rest) {
        pthread_cond_wait(&worker->work, &worker->lock);
        return;
    }
    if (!wait_for_ms(worker, REST_AFTER_MS))
        return;
    link->is_warm = false;
    pthread_mutex_unlock(&worker->lock);
    worker->driver->rest(link);
    pthread_mutex_lock(&worker->lock);
}

/* ---- the writer's thread ---- */

static void open_writer(struct history_worker *worker)
{
    (void)note(worker, worker->writer, open_link(worker, worker->writer));
}

static enum status append_one(struct history_worker *worker, struct history_request *request)
{
    struct history_link *link = worker->writer;
    if (!history_append_is_valid(history_request_of(request, history_append)))
        return E_INVALID;
    if (!link->is_up)
        return link->away;
    return note(worker, link, call_or_reconnect(worker, link, request, worker->limits.write_ms));
}

/* The appends that wait, this one first, as far as they fit into one transaction; *ret_count is the
 * number of their records. */
static struct history_queue take_appends(struct history_worker *worker,
                                         struct history_request *first, size_t *ret_count)
{
    struct history_queue taken = {0};
    size_t count = history_request_of(first, history_append)->count;
    history_queue_push(&taken, first);
    pthread_mutex_lock(&worker->lock);
    while (worker->appends.first) {
        const struct history_append *next =
            history_request_of(worker->appends.first, history_append);
        if (count + next->count > TOGETHER_MAX || !history_append_is_valid(next))
            break;
        count += next->count;
        history_queue_push(&taken, history_queue_pop(&worker->appends));
    }
    pthread_mutex_unlock(&worker->lock);
    *ret_count = count;
    return taken;
}

/* One transaction for all. */
static enum status append_together(struct history_worker *worker, const struct history_queue *taken,
                                   size_t count)
{
    struct history_append all = {.request = {.kind = HISTORY_APPEND}};
    all.records = calloc(count + 1, sizeof(*all.records));
    if (!all.records)
        return E_NOMEM;
    for (struct history_request *request = taken->first; request; request = request->next) {
        const struct history_append *append = history_request_of(request, history_append);
        memcpy(all.records + all.count, append->records, append->count * sizeof(*all.records));
        all.count += append->count;
    }
    enum status st = append_one(worker, &all.request);
    free(all.records);
    return st;
}

/* Is it perhaps the fault of one append? Then the others must not fail with it. */
static bool is_request_fault(enum status st)
{
    return st == E_INVALID || st == E_NOMEM || st == E_TOO_LARGE;
}

static void do_appends(struct history_worker *worker, struct history_request *first)
{
    size_t count;
    struct history_queue taken = take_appends(worker, first, &count);
    enum status st =
        first->next ? append_together(worker, &taken, count) : append_one(worker, first);
    bool one_by_one = first->next && is_request_fault(st);
    for (struct history_request *request = taken.first; request; request = request->next)
        request->answer = one_by_one ? append_one(worker, request) : st;
    hand_back(worker, &taken);
}

/* After E_CONFLICT with another writer, the same turn is retried the next time. */
static enum status do_prune_turn(struct history_worker *worker, struct history_prune *prune)
{
    struct history_link *link = worker->writer;
    struct pruning before = worker->pruning;
    strbuf_reset(&link->words);
    link->is_warm = true;
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
    if (worker->writer->is_up)
        wait_for_requests(worker, worker->writer);
    else
        wait_for_ms(worker, worker->writer->next_try_ms - clock_now().boot.ms);
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
            do_appends(worker, request);
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
            wait_for_requests(worker, worker->reader);
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
