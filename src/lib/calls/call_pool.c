#include "calls/call_pool.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "monotonic.h"

TAILQ_HEAD(call_queue, pool_call);

struct call_pool {
    int limit; /* of threads */
    pthread_mutex_t lock;
    pthread_cond_t work; /* something changed for those that are idle */
    struct call_queue queue;
    int waiting, idle; /* calls; threads */
    bool is_timed;     /* one of the idle waits for the first call's time */
    pthread_t *threads;
    int thread_count;
    int fd; /* a timer; -1: there are threads */
    bool is_closing;
};

/* ---- the time of the first ---- */

static bool is_due(const struct pool_call *call)
{
    return call && call->at_us <= clock_boot_us();
}

/* The clock of a condition has no boot time; the difference is a sleep of the machine in the few
 * milliseconds for which calls wait here. */
static struct timespec time_of(const struct pool_call *call)
{
    return monotonic_in_us(call->at_us - clock_boot_us());
}

/* With the lock. */
static void set_timer(const struct call_pool *pool)
{
    const struct pool_call *first = TAILQ_FIRST(&pool->queue);
    struct itimerspec timer = {0}; /* none waits: off */
    if (first) {
        int64_t at_us = first->at_us > 0 ? first->at_us : 1;
        timer.it_value.tv_sec = at_us / 1000000;
        timer.it_value.tv_nsec = at_us % 1000000 * 1000;
    }
    timerfd_settime(pool->fd, TFD_TIMER_ABSTIME, &timer, NULL);
}

/* ---- threads ---- */

static struct pool_call *take_first(struct call_pool *pool)
{
    struct pool_call *first = TAILQ_FIRST(&pool->queue);
    TAILQ_REMOVE(&pool->queue, first, in_queue);
    pool->waiting--;
    return first;
}

static void rest(struct call_pool *pool, const struct pool_call *first)
{
    pool->idle++;
    if (first && !pool->is_timed) {
        struct timespec until = time_of(first);
        pool->is_timed = true;
        pthread_cond_timedwait(&pool->work, &pool->lock, &until);
        pool->is_timed = false;
    } else {
        pthread_cond_wait(&pool->work, &pool->lock);
    }
    pool->idle--;
}

static void *serve(void *argument)
{
    struct call_pool *pool = argument;
    pthread_mutex_lock(&pool->lock);
    while (!pool->is_closing) {
        const struct pool_call *first = TAILQ_FIRST(&pool->queue);
        if (!is_due(first)) {
            rest(pool, first);
            continue;
        }
        struct pool_call *call = take_first(pool);
        if (pool->waiting && pool->idle)
            pthread_cond_signal(&pool->work); /* for the next, or for its time */
        pthread_mutex_unlock(&pool->lock);
        call->make(call);
        pthread_mutex_lock(&pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* Signals are the program's: none is handled on a thread of the library. */
static bool start_thread(struct call_pool *pool)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool is_started = pthread_create(&pool->threads[pool->thread_count], NULL, serve, pool) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pool->thread_count += is_started;
    return is_started;
}

/* ---- adding ---- */

/* Calls come in the order of their times, or nearly so. */
static void insert(struct call_pool *pool, struct pool_call *call)
{
    struct pool_call *before = TAILQ_LAST(&pool->queue, call_queue);
    while (before && before->at_us > call->at_us)
        before = TAILQ_PREV(before, call_queue, in_queue);
    if (before)
        TAILQ_INSERT_AFTER(&pool->queue, before, call, in_queue);
    else
        TAILQ_INSERT_HEAD(&pool->queue, call, in_queue);
    pool->waiting++;
}

enum status call_pool_add(struct call_pool *pool, struct pool_call *call)
{
    enum status st = OK;
    pthread_mutex_lock(&pool->lock);
    insert(pool, call);
    bool is_first = TAILQ_FIRST(&pool->queue) == call;
    if (pool->fd >= 0) {
        if (is_first)
            set_timer(pool);
    } else if (pool->idle < pool->waiting && pool->thread_count < pool->limit &&
               !start_thread(pool) && !pool->thread_count) {
        TAILQ_REMOVE(&pool->queue, call, in_queue);
        pool->waiting--;
        st = E_BUSY;
    } else if (is_due(call)) {
        pthread_cond_signal(&pool->work); /* who takes it has the next one look */
    } else if (is_first) {
        pthread_cond_broadcast(&pool->work); /* one of them waits for another time */
    }
    pthread_mutex_unlock(&pool->lock);
    return st;
}

size_t call_pool_width(const struct call_pool *pool)
{
    return pool->limit ? (size_t)pool->limit : 1;
}

/* ---- the program's own thread ---- */

int call_pool_fd(const struct call_pool *pool)
{
    return pool->fd;
}

int call_pool_timeout(struct call_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    const struct pool_call *first = TAILQ_FIRST(&pool->queue);
    int64_t in_ms = first ? (first->at_us - clock_boot_us() + 999) / 1000 : -1;
    if (first && in_ms < 0)
        in_ms = 0;
    pthread_mutex_unlock(&pool->lock);
    return in_ms > INT_MAX ? INT_MAX : (int)in_ms;
}

int call_pool_step(struct call_pool *pool)
{
    int made = 0;
    uint64_t count;
    if (read(pool->fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
        return 0;
    pthread_mutex_lock(&pool->lock);
    while (is_due(TAILQ_FIRST(&pool->queue)) && !pool->is_closing && made < INT_MAX / 2) {
        struct pool_call *call = take_first(pool);
        pthread_mutex_unlock(&pool->lock);
        made += call->make(call);
        pthread_mutex_lock(&pool->lock);
    }
    set_timer(pool);
    pthread_mutex_unlock(&pool->lock);
    return made;
}

/* ---- beginning and end ---- */

enum status call_pool_new(int threads, struct call_pool **ret)
{
    struct call_pool *pool = calloc(1, sizeof(*pool));
    if (!pool)
        return E_NOMEM;
    pool->limit = threads;
    pool->fd = threads ? -1 : timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    pool->threads = calloc((size_t)threads + 1, sizeof(*pool->threads));
    if (!pool->threads || (!threads && pool->fd < 0)) {
        enum status st = pool->threads ? E_IO : E_NOMEM;
        free(pool->threads);
        free(pool);
        return st;
    }
    TAILQ_INIT(&pool->queue);
    brief_lock_init(&pool->lock);
    monotonic_cond_init(&pool->work);
    *ret = pool;
    return OK;
}

void call_pool_close(struct call_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->is_closing = true;
    TAILQ_INIT(&pool->queue);
    pool->waiting = 0;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->thread_count; i++)
        pthread_join(pool->threads[i], NULL);
    pool->thread_count = 0;
}

struct call_pool *call_pool_free(struct call_pool *pool)
{
    if (!pool)
        return NULL;
    call_pool_close(pool);
    if (pool->fd >= 0)
        close(pool->fd);
    free(pool->threads);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
    return NULL;
}
