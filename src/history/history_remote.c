/* A history in a database server: the writer appends and prunes, the reader answers. They share the
 * queues with the owner's thread, and nothing else.
 *
 * The writer is UNTRIED -> UP or AWAY, and UP <-> AWAY. While it is AWAY, appends are refused at
 * once; the writer tries to connect again at growing intervals. */
#include "history_remote.h"

#include <time.h>

static struct history_remote *of(struct history *history)
{
    return (struct history_remote *)history;
}

int64_t remote_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int or_default(int value, int otherwise)
{
    return value > 0 ? value : otherwise;
}

struct history_remote_limits
history_remote_limits_or_default(const struct history_remote_limits *given)
{
    static const struct history_remote_limits none;
    const struct history_remote_limits *limits = given ? given : &none;
    return (struct history_remote_limits){
        .connect_s = or_default(limits->connect_s, 5),
        .write_ms = or_default(limits->write_ms, 10 * 1000),
        .read_ms = or_default(limits->read_ms, 10 * 1000),
        .retry_first_ms = or_default(limits->retry_first_ms, 500),
        .retry_last_ms = or_default(limits->retry_last_ms, 15 * 1000),
    };
}

/* ---- both threads ---- */

static void answer(struct history_remote *remote, struct history_request *request, enum status st)
{
    request->answer = st;
    pthread_mutex_lock(&remote->lock);
    history_queue_push(&remote->answered, request);
    pthread_mutex_unlock(&remote->lock);
    if (remote->wake.wake)
        remote->wake.wake(remote->wake.context);
}

/* ---- the writer's thread ---- */

/* How a write went is how the history is. E_INVALID says something of the request alone. */
static void note_health(struct history_remote *remote, enum status st)
{
    if (st == E_INVALID)
        return;
    pthread_mutex_lock(&remote->lock);
    remote->health = st;
    strbuf_reset(&remote->words);
    if (st != OK)
        strbuf_adds(&remote->words, remote->writer->words.text);
    remote->state = remote->writer->is_up ? WRITER_UP : WRITER_AWAY;
    pthread_mutex_unlock(&remote->lock);
}

static bool may_try(const struct remote_link *link)
{
    return remote_now_ms() >= link->next_try_ms;
}

static enum status open_link(const struct history_remote *remote, struct remote_link *link)
{
    enum status st = remote->driver->connect(link);
    link->is_up = st == OK;
    if (st == OK) {
        link->retry_ms = 0;
        return OK;
    }
    link->retry_ms = link->retry_ms ? link->retry_ms * 2 : remote->limits.retry_first_ms;
    if (link->retry_ms > remote->limits.retry_last_ms)
        link->retry_ms = remote->limits.retry_last_ms;
    link->next_try_ms = remote_now_ms() + link->retry_ms;
    return st;
}

static enum status open_writer(struct history_remote *remote)
{
    enum status st = open_link(remote, remote->writer);
    note_health(remote, st);
    return st;
}

/* The server may have been restarted since the last request: then a new connection helps. A
 * statement that was not answered in time is not worth another. Recording twice is harmless. */
static enum status append_or_reconnect(struct history_remote *remote,
                                       const struct history_append *append)
{
    int64_t start_ms = remote_now_ms();
    enum status st = remote->driver->append(remote->writer, append);
    bool is_quick = remote_now_ms() - start_ms < remote->limits.write_ms / 2;
    if (remote->writer->is_up || !is_quick)
        return st;
    st = open_link(remote, remote->writer);
    return st == OK ? remote->driver->append(remote->writer, append) : st;
}

static void do_append(struct history_remote *remote, struct history_request *request)
{
    enum status st = remote->health;
    const struct history_append *append = history_request_of(request, history_append);
    if (!history_append_is_valid(append)) {
        st = E_INVALID;
    } else if (remote->writer->is_up) {
        st = append_or_reconnect(remote, append);
        note_health(remote, st);
    }
    answer(remote, request, st);
}

static void do_prune_step(struct history_remote *remote, struct history_request *request)
{
    bool finished = false;
    enum status st = remote->health;
    if (remote->writer->is_up) {
        st = remote->driver->prune_step(remote->writer, history_request_of(request, history_prune),
                                        &finished);
        if (st != OK)
            note_health(remote, st);
    }
    if (st == OK && !finished)
        return;
    pthread_mutex_lock(&remote->lock);
    history_queue_pop(&remote->prunes);
    pthread_mutex_unlock(&remote->lock);
    answer(remote, request, st);
}

/* Until there is work, or it is time to connect again. */
static void wait_for_work(struct history_remote *remote)
{
    if (remote->writer->is_up) {
        pthread_cond_wait(&remote->work, &remote->lock);
        return;
    }
    int64_t next_ms = remote->writer->next_try_ms, left_ms = next_ms - remote_now_ms();
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    int64_t until_ns = until.tv_nsec + (left_ms > 0 ? left_ms : 0) * 1000000;
    until.tv_sec += until_ns / 1000000000;
    until.tv_nsec = until_ns % 1000000000;
    pthread_cond_timedwait(&remote->work, &remote->lock, &until);
}

/* NULL: it is time to connect, or the end has come, and all appends are done. */
static struct history_request *next_write(struct history_remote *remote, bool prune_waited)
{
    struct history_request *request = NULL;
    pthread_mutex_lock(&remote->lock);
    while (!request && !(remote->closing && !remote->appends.first)) {
        request = remote->closing
                      ? history_queue_pop(&remote->appends)
                      : history_next_write(&remote->appends, &remote->prunes, prune_waited);
        if (!request && !remote->writer->is_up && may_try(remote->writer))
            break;
        if (!request)
            wait_for_work(remote);
    }
    pthread_mutex_unlock(&remote->lock);
    return request;
}

static bool is_closing(struct history_remote *remote)
{
    pthread_mutex_lock(&remote->lock);
    bool closing = remote->closing;
    pthread_mutex_unlock(&remote->lock);
    return closing;
}

static void *run_writer(void *context)
{
    struct history_remote *remote = context;
    bool prune_waited = false;
    (void)open_writer(remote);
    for (;;) {
        struct history_request *request = next_write(remote, prune_waited);
        prune_waited = request && request->kind == HISTORY_APPEND;
        if (request && request->kind == HISTORY_APPEND)
            do_append(remote, request);
        else if (request)
            do_prune_step(remote, request);
        else if (is_closing(remote))
            return NULL;
        else
            (void)open_writer(remote);
    }
}

/* ---- the reader's thread ---- */

/* A connection that has died since the last request is replaced. */
static enum status do_read(struct history_remote *remote, struct history_request *request,
                           enum status last)
{
    struct remote_link *link = remote->reader;
    enum status st = last;
    bool is_old = link->is_up;
    int64_t start_ms = remote_now_ms();
    if (!link->is_up && !may_try(link))
        return st;
    st = link->is_up ? OK : open_link(remote, link);
    if (st == OK)
        st = remote->driver->read(link, request);
    if (st == E_UNREACHABLE && is_old && !link->is_up &&
        remote_now_ms() - start_ms < remote->limits.read_ms / 2 && !is_closing(remote)) {
        st = open_link(remote, link);
        if (st == OK)
            st = remote->driver->read(link, request);
    }
    return st;
}

static void *run_reader(void *context)
{
    struct history_remote *remote = context;
    enum status st = E_UNREACHABLE;
    for (;;) {
        pthread_mutex_lock(&remote->lock);
        while (!remote->reads.first && !remote->closing)
            pthread_cond_wait(&remote->work, &remote->lock);
        struct history_request *request =
            remote->closing ? NULL : history_queue_pop(&remote->reads);
        pthread_mutex_unlock(&remote->lock);
        if (!request)
            return NULL;
        st = do_read(remote, request, st);
        answer(remote, request, st);
        if (remote->reader->is_up)
            st = E_UNREACHABLE;
    }
}

/* ---- the owner's thread ---- */

static void remote_submit(struct history *history, struct history_request *request)
{
    struct history_remote *remote = of(history);
    struct history_queue *const queues[] = {
        [HISTORY_APPEND] = &remote->appends, [HISTORY_READ] = &remote->reads,
        [HISTORY_LOG] = &remote->reads,      [HISTORY_STATS] = &remote->reads,
        [HISTORY_CHANGES] = &remote->reads,  [HISTORY_PRUNE] = &remote->prunes,
    };
    bool is_write = request->kind == HISTORY_APPEND || request->kind == HISTORY_PRUNE;
    bool refused;
    pthread_mutex_lock(&remote->lock);
    refused = remote->closing || (is_write && remote->state == WRITER_AWAY);
    if (refused) {
        request->answer = remote->closing ? E_UNREACHABLE : remote->health;
        if (request->kind == HISTORY_APPEND &&
            !history_append_is_valid(history_request_of(request, history_append)))
            request->answer = E_INVALID;
        history_queue_push(&remote->answered, request);
    } else {
        history_queue_push(queues[request->kind], request);
    }
    pthread_cond_broadcast(&remote->work);
    pthread_mutex_unlock(&remote->lock);
    if (refused && remote->wake.wake)
        remote->wake.wake(remote->wake.context);
}

static void remote_dispatch(struct history *history)
{
    struct history_remote *remote = of(history);
    pthread_mutex_lock(&remote->lock);
    struct history_queue now = remote->answered;
    remote->answered = (struct history_queue){0};
    pthread_mutex_unlock(&remote->lock);
    history_queue_done(&now);
}

static enum status remote_health(struct history *history, struct strbuf *why)
{
    struct history_remote *remote = of(history);
    pthread_mutex_lock(&remote->lock);
    enum status st = remote->health;
    if (st != OK)
        strbuf_adds(why, remote->words.text);
    pthread_mutex_unlock(&remote->lock);
    return st;
}

/* ---- from open to free ---- */

void history_remote_release(struct history_remote *remote)
{
    pthread_cond_destroy(&remote->work);
    pthread_mutex_destroy(&remote->lock);
    strbuf_release(&remote->words);
}

static void stop_threads(struct history_remote *remote, bool with_reader)
{
    pthread_mutex_lock(&remote->lock);
    remote->closing = true;
    pthread_cond_broadcast(&remote->work);
    pthread_mutex_unlock(&remote->lock);
    if (with_reader) {
        if (remote->driver->interrupt_reader)
            remote->driver->interrupt_reader(&remote->base);
        pthread_join(remote->reader_thread, NULL);
    }
    pthread_join(remote->writer_thread, NULL);
}

static struct history *remote_free(struct history *history)
{
    struct history_remote *remote = of(history);
    struct history_queue *const left[] = {&remote->reads, &remote->prunes};
    stop_threads(remote, true);
    for (size_t i = 0; i < 2; i++) {
        for (struct history_request *request; (request = history_queue_pop(left[i]));) {
            request->answer = E_UNREACHABLE;
            history_queue_push(&remote->answered, request);
        }
    }
    while (remote->answered.first)
        remote_dispatch(history);
    remote->driver->release(history);
    return NULL;
}

static const struct history_ops remote_ops = {
    .submit = remote_submit,
    .dispatch = remote_dispatch,
    .health = remote_health,
    .free = remote_free,
};

enum status history_remote_start(struct history_remote *remote)
{
    if (pthread_create(&remote->writer_thread, NULL, run_writer, remote) != 0)
        return E_NOMEM;
    if (pthread_create(&remote->reader_thread, NULL, run_reader, remote) != 0) {
        stop_threads(remote, false);
        return E_NOMEM;
    }
    return OK;
}

/* Waits are measured with a clock that nobody sets. */
static void init_locks(struct history_remote *remote)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&remote->lock, NULL);
    pthread_cond_init(&remote->work, &attributes);
    pthread_condattr_destroy(&attributes);
}

void history_remote_init(struct history_remote *remote, struct history_wake wake)
{
    remote->base.ops = &remote_ops;
    remote->wake = wake;
    strbuf_init(&remote->words);
    init_locks(remote);
}
