/* The owner's thread passes appends to the inner history one at a time, which keeps their order;
 * the spool's thread reads and writes the files.
 *
 *     append -> inner -> OK: done
 *                     -> failed: spool's thread -> on disk: done
 *     spool's thread: oldest batch -> owner's thread -> inner -> OK: deleted
 *                                                             -> failed: retried after back-off
 *
 * While records wait on disk or to be written there, new appends go to the disk at once. */
#include "spool/history_spool.h"

#include <stdlib.h>
#include <string.h>

#include "spool/history_spool_internal.h"

static const struct history_spool_limits defaults = {
    .max_bytes = 256 * 1024 * 1024,
    .retry_first_ms = 500,
    .retry_last_ms = 1500,
};

static struct history_spool *of(struct history *history)
{
    return (struct history_spool *)history;
}

/* ---- the owner's thread: appends ---- */

/* Whether older records wait, on disk or to be written, that an append must not overtake. */
static bool is_waiting(struct history_spool *spool)
{
    pthread_mutex_lock(&spool->lock);
    bool waiting = spool->writing || spool->stats.waiting_records > 0;
    pthread_mutex_unlock(&spool->lock);
    return waiting;
}

void history_spool_answer(struct history_spool *spool, struct history_request *request,
                          enum status st)
{
    request->answer = st;
    pthread_mutex_lock(&spool->lock);
    history_queue_push(&spool->answered, request);
    pthread_mutex_unlock(&spool->lock);
    history_spool_wake_owner(spool);
}

static void write_to_disk(struct history_spool *spool, struct history_request *request)
{
    pthread_mutex_lock(&spool->lock);
    history_queue_push(&spool->to_write, request);
    spool->writing++;
    pthread_cond_signal(&spool->work);
    pthread_mutex_unlock(&spool->lock);
}

/* The append that the inner history gets in place of the owner's: if it fails, the owner's append
 * is not answered but written to disk. */
struct forward {
    struct history_append append;
    struct history_spool *spool;
    struct history_request *request;
};

static void forward_next(struct history_spool *spool);

static void forward_done(struct history_append *append, enum status st)
{
    struct forward *forward = append->context;
    struct history_spool *spool = forward->spool;
    spool->direct--;
    if (st == OK || st == E_INVALID)
        history_spool_answer(spool, forward->request, st);
    else
        write_to_disk(spool, forward->request);
    free(forward);
    forward_next(spool);
}

static bool send_direct(struct history_spool *spool, struct history_request *request)
{
    const struct history_append *append = history_request_of(request, history_append);
    struct forward *forward = malloc(sizeof(*forward));
    if (!forward)
        return false;
    *forward = (struct forward){.spool = spool, .request = request};
    forward->append = (struct history_append){.records = append->records,
                                              .count = append->count,
                                              .done = forward_done,
                                              .context = forward};
    spool->direct++;
    history_append(spool->inner, &forward->append);
    return true;
}

/* Passes the next queued append to the inner history, or all queued appends to the disk. */
static void forward_next(struct history_spool *spool)
{
    while (spool->queued.first && (!spool->direct || spool->ending)) {
        struct history_request *request = history_queue_pop(&spool->queued);
        if (!spool->inner || is_waiting(spool) || !send_direct(spool, request))
            write_to_disk(spool, request);
    }
}

/* ---- the owner's thread: reads ---- */

enum status history_spool_inner_health(struct history_spool *spool)
{
    struct strbuf why;
    strbuf_init(&why);
    enum status st = history_health(spool->inner, &why);
    strbuf_release(&why);
    return st;
}

/* What waits is looked for first, if anything does. */
static void look(struct history_spool *spool, struct history_request *request)
{
    bool is_read = request->kind == HISTORY_READ;
    if (!is_read && !is_waiting(spool)) {
        history_submit(spool->inner, request);
        return;
    }
    struct spool_look *look = spool_look_new(spool, request);
    if (!look) {
        history_spool_answer(spool, request, E_NOMEM);
    } else if (!is_waiting(spool)) {
        spool_look_go_on(look);
    } else {
        pthread_mutex_lock(&spool->lock);
        look->next = spool->to_look;
        spool->to_look = look;
        pthread_cond_signal(&spool->work);
        pthread_mutex_unlock(&spool->lock);
    }
}

static void go_on_looking(struct history_spool *spool)
{
    struct spool_look *oldest = NULL;
    pthread_mutex_lock(&spool->lock);
    for (struct spool_look *look = spool->looked, *next; look; look = next) {
        next = look->next;
        look->next = oldest;
        oldest = look;
    }
    spool->looked = NULL;
    pthread_mutex_unlock(&spool->lock);
    for (struct spool_look *next; oldest; oldest = next) {
        next = oldest->next;
        spool_look_go_on(oldest);
    }
}

/* Statistics, changes and retention are the inner history's alone. */
static void spool_submit(struct history *history, struct history_request *request)
{
    struct history_spool *spool = of(history);
    bool is_append = request->kind == HISTORY_APPEND;
    if (!spool->inner) {
        history_spool_answer(spool, request, E_UNREACHABLE);
    } else if (request->kind == HISTORY_READ || request->kind == HISTORY_LOG) {
        look(spool, request);
    } else if (!is_append) {
        history_submit(spool->inner, request);
    } else if (!history_append_is_valid(history_request_of(request, history_append))) {
        history_spool_answer(spool, request, E_INVALID);
    } else {
        history_queue_push(&spool->queued, request);
        forward_next(spool);
    }
}

/* ---- the owner's thread: delivery ---- */

static void sent_done(struct history_append *sent, enum status st)
{
    struct history_spool *spool = sent->context;
    pthread_mutex_lock(&spool->lock);
    spool->delivery = DELIVERY_ANSWERED;
    spool->delivered = st;
    pthread_cond_signal(&spool->work);
    pthread_mutex_unlock(&spool->lock);
}

static void send_loaded(struct history_spool *spool)
{
    pthread_mutex_lock(&spool->lock);
    bool loaded = spool->delivery == DELIVERY_LOADED;
    if (loaded)
        spool->delivery = DELIVERY_SENT;
    pthread_mutex_unlock(&spool->lock);
    if (!loaded)
        return;
    spool->sent = (struct history_append){.records = spool->batch.records,
                                          .count = spool->batch.count,
                                          .done = sent_done,
                                          .context = spool};
    history_append(spool->inner, &spool->sent);
}

static void call_answered(struct history_spool *spool)
{
    pthread_mutex_lock(&spool->lock);
    struct history_queue now = spool->answered;
    spool->answered = (struct history_queue){0};
    pthread_mutex_unlock(&spool->lock);
    history_queue_done(&now);
}

/* Without this a delivery would wait for the end of its back-off. */
static void note_return(struct history_spool *spool)
{
    bool is_away = history_spool_inner_health(spool) != OK;
    if (spool->was_away && !is_away) {
        pthread_mutex_lock(&spool->lock);
        spool->is_back = true;
        pthread_cond_signal(&spool->work);
        pthread_mutex_unlock(&spool->lock);
    }
    spool->was_away = is_away;
}

static void spool_dispatch(struct history *history)
{
    struct history_spool *spool = of(history);
    if (spool->inner)
        history_dispatch(spool->inner);
    if (spool->inner)
        send_loaded(spool);
    if (spool->inner)
        note_return(spool);
    go_on_looking(spool);
    call_answered(spool);
    forward_next(spool);
}

/* ---- the owner's thread: health ---- */

/* 1204 as "1,204". */
static void add_count(struct strbuf *text, int64_t count)
{
    if (count >= 1000) {
        add_count(text, count / 1000);
        strbuf_addf(text, ",%03d", (int)(count % 1000));
    } else {
        strbuf_addf(text, "%d", (int)count);
    }
}

static void explain_waiting(const struct history_spool_stats *stats, struct strbuf *why)
{
    if (stats->waiting_records > 0) {
        strbuf_addc(why, ' ');
        add_count(why, stats->waiting_records);
        strbuf_adds(why, stats->waiting_records == 1 ? " record waits" : " records wait");
        strbuf_adds(why, " on disk for the database.");
    }
    if (stats->dropped_bytes > 0) {
        strbuf_adds(why, " To make room, ");
        add_count(why, stats->dropped_bytes);
        strbuf_adds(why, " bytes of output were dropped.");
    }
}

static void explain_disk(const struct history_spool *spool, struct strbuf *why)
{
    if (spool->disk == E_TOO_LARGE)
        strbuf_addf(why, " %s is full: what ends now is kept by the store until there is room.",
                    spool->files.dir);
    else
        strbuf_addf(why,
                    " %s cannot be written: %s. Check the room on its disk; what ends now is kept "
                    "by the store until then.",
                    spool->files.dir, strerror(spool->disk_errno));
}

static enum status spool_health(struct history *history, struct strbuf *why)
{
    struct history_spool *spool = of(history);
    enum status st = spool->inner ? history_health(spool->inner, why) : E_UNREACHABLE;
    pthread_mutex_lock(&spool->lock);
    if (st != OK)
        explain_waiting(&spool->stats, why);
    if (spool->disk != OK) {
        explain_disk(spool, why);
        st = st == OK ? E_IO : st;
    }
    pthread_mutex_unlock(&spool->lock);
    return st;
}

static void spool_backlog(struct history *history, struct history_backlog *ret)
{
    struct history_spool *spool = of(history);
    pthread_mutex_lock(&spool->lock);
    *ret = (struct history_backlog){
        .records = spool->stats.waiting_records,
        .bytes = spool->stats.waiting_bytes,
        .max_bytes = spool->limits.max_bytes,
        .dropped_bytes = spool->stats.dropped_bytes,
        .disk = spool->disk,
    };
    pthread_mutex_unlock(&spool->lock);
}

void history_spool_stats(struct history *history, struct history_spool_stats *ret)
{
    struct history_spool *spool = of(history);
    pthread_mutex_lock(&spool->lock);
    *ret = spool->stats;
    pthread_mutex_unlock(&spool->lock);
}

/* ---- from open to free ---- */

static void release(struct history_spool *spool)
{
    spool_batch_release(&spool->batch);
    spool_files_close(&spool->files);
    pthread_cond_destroy(&spool->work);
    pthread_mutex_destroy(&spool->lock);
    free(spool);
}

/* Passes all queued appends to the inner history and frees it. Appends that it does not accept are
 * written to disk; a batch that is being delivered stays there unless it succeeds. */
static void end_inner(struct history_spool *spool)
{
    spool->ending = true;
    forward_next(spool);
    history_free(spool->inner);
    spool->inner = NULL;
}

static struct history *spool_free(struct history *history)
{
    struct history_spool *spool = of(history);
    end_inner(spool);
    pthread_mutex_lock(&spool->lock);
    spool->closing = true;
    pthread_cond_signal(&spool->work);
    pthread_mutex_unlock(&spool->lock);
    pthread_join(spool->thread, NULL);
    go_on_looking(spool);
    while (spool->answered.first)
        call_answered(spool);
    release(spool);
    return NULL;
}

static const struct history_ops spool_ops = {
    .submit = spool_submit,
    .dispatch = spool_dispatch,
    .health = spool_health,
    .backlog = spool_backlog,
    .free = spool_free,
};

static void init(struct history_spool *spool, const struct history_spool_limits *limits,
                 struct history *inner, struct history_wake wake)
{
    struct history_spool_limits given = limits ? *limits : defaults;
    pthread_condattr_t attributes;
    spool->base.ops = &spool_ops;
    spool->inner = inner;
    spool->wake = wake;
    spool->batch_limit = SPOOL_BATCH_RECORDS;
    spool->limits = (struct history_spool_limits){
        .max_bytes = given.max_bytes > 0 ? given.max_bytes : defaults.max_bytes,
        .retry_first_ms = given.retry_first_ms > 0 ? given.retry_first_ms : defaults.retry_first_ms,
        .retry_last_ms = given.retry_last_ms > 0 ? given.retry_last_ms : defaults.retry_last_ms,
    };
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&spool->lock, NULL);
    pthread_cond_init(&spool->work, &attributes);
    pthread_condattr_destroy(&attributes);
}

enum status history_spool_open(const char *dir, const struct history_spool_limits *limits,
                               struct history *inner, struct history_wake wake,
                               struct history **ret, struct strbuf *why)
{
    struct history_spool *spool = calloc(1, sizeof(*spool));
    enum status st = E_NOMEM;
    if (spool) {
        init(spool, limits, inner, wake);
        st = spool_files_open(dir, spool->limits.max_bytes, &spool->files, why);
    }
    if (st == OK) {
        history_spool_note_files(spool);
        st = pthread_create(&spool->thread, NULL, history_spool_run, spool) == 0 ? OK : E_NOMEM;
    }
    if (st != OK) {
        if (spool)
            release(spool);
        history_free(inner);
        return st;
    }
    *ret = &spool->base;
    return OK;
}
