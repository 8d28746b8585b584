#include <errno.h>
#include <time.h>

#include "spool/history_spool_internal.h"

enum { TRIAL_MS = 1000 };

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void history_spool_wake_owner(struct history_spool *spool)
{
    if (spool->wake.wake)
        spool->wake.wake(spool->wake.context);
}

void history_spool_note_files(struct history_spool *spool)
{
    spool->stats = spool->files.stats;
}

/* Small records still fit where a larger one does not: it is full until that would fit, too. */
static enum status disk_after(const struct history_spool *spool, enum status written)
{
    bool is_full = spool->disk == E_TOO_LARGE && spool_files_are_full(&spool->files);
    return written == OK && is_full ? E_TOO_LARGE : written;
}

/* Writes all appends of the queue, with one sync for all. The queue is local to the thread. */
static void write_appends(struct history_spool *spool, struct history_queue *queue)
{
    struct history_queue done = {0};
    enum status worst = OK, st;
    int reason = 0;
    size_t count = 0;
    for (struct history_request *request; (request = history_queue_pop(queue)); count++) {
        st = spool_files_write(&spool->files, history_request_of(request, history_append));
        if (st != OK && worst == OK) {
            worst = st;
            reason = errno;
        }
        request->answer = st;
        history_queue_push(&done, request);
    }
    st = spool_files_sync(&spool->files);
    if (st != OK) {
        worst = st;
        reason = errno;
    }
    pthread_mutex_lock(&spool->lock);
    for (struct history_request *request; (request = history_queue_pop(&done));) {
        if (st != OK)
            request->answer = st;
        history_queue_push(&spool->answered, request);
    }
    spool->writing -= count;
    spool->disk = disk_after(spool, worst);
    spool->disk_errno = reason;
    spool->trial_at_ms = now_ms() + TRIAL_MS;
    history_spool_note_files(spool);
    pthread_mutex_unlock(&spool->lock);
    history_spool_wake_owner(spool);
}

/* Oldest first: `looks` begins with the newest, and so does the result. */
static void look_at_all(struct history_spool *spool, struct spool_look *looks)
{
    struct spool_look *oldest = NULL;
    for (struct spool_look *look = looks, *next; look; look = next) {
        next = look->next;
        look->next = oldest;
        oldest = look;
    }
    for (struct spool_look *look = oldest, *next; look; look = next) {
        next = look->next;
        spool_look_files(&spool->files, look);
        pthread_mutex_lock(&spool->lock);
        look->next = spool->looked;
        spool->looked = look;
        pthread_mutex_unlock(&spool->lock);
    }
    history_spool_wake_owner(spool);
}

/* After E_INVALID the records are sent one by one, so that only the invalid one is discarded. */
static void end_delivery(struct history_spool *spool, enum status st)
{
    int64_t count = (int64_t)spool->batch.count;
    if (st == OK || (st == E_INVALID && count == 1)) {
        spool_files_remove(&spool->files, &spool->batch);
        *(st == OK ? &spool->files.stats.delivered_records : &spool->files.stats.refused_records) +=
            count;
        spool->batch_limit = SPOOL_BATCH_RECORDS;
        spool->retry_ms = 0;
        spool->retry_at_ms = 0;
    } else {
        spool->batch_limit = st == E_INVALID ? 1 : SPOOL_BATCH_RECORDS;
        spool->retry_ms = spool->retry_ms ? 2 * spool->retry_ms : spool->limits.retry_first_ms;
        if (spool->retry_ms > spool->limits.retry_last_ms)
            spool->retry_ms = spool->limits.retry_last_ms;
        spool->retry_at_ms = now_ms() + (st == E_INVALID ? 0 : spool->retry_ms);
    }
    spool_batch_release(&spool->batch);
    pthread_mutex_lock(&spool->lock);
    spool->delivery = DELIVERY_NONE;
    history_spool_note_files(spool);
    if (!spool->stats.waiting_records)
        spool->disk = OK; /* the spool is empty: there is room */
    else if (spool->disk == E_TOO_LARGE)
        spool->disk = disk_after(spool, OK);
    pthread_mutex_unlock(&spool->lock);
    history_spool_wake_owner(spool);
}

static void begin_delivery(struct history_spool *spool)
{
    enum status st = spool_files_load(&spool->files, spool->batch_limit, &spool->batch);
    if (st != OK)
        spool->retry_at_ms = now_ms() + spool->limits.retry_first_ms;
    pthread_mutex_lock(&spool->lock);
    if (st == OK)
        spool->delivery = DELIVERY_LOADED;
    history_spool_note_files(spool);
    pthread_mutex_unlock(&spool->lock);
    history_spool_wake_owner(spool);
}

/* After a failed write, with the database back, no append may reach the disk for long: a trial
 * write finds out whether the disk works again. */
static void try_disk(struct history_spool *spool)
{
    enum status st = spool_files_try(&spool->files);
    int reason = errno;
    spool->trial_at_ms = now_ms() + TRIAL_MS;
    pthread_mutex_lock(&spool->lock);
    spool->disk = st;
    spool->disk_errno = reason;
    pthread_mutex_unlock(&spool->lock);
}

static bool wants_trial(const struct history_spool *spool)
{
    return spool->disk != OK && !spool->stats.waiting_records && !spool->closing;
}

static bool wants_delivery(const struct history_spool *spool)
{
    return spool->delivery == DELIVERY_NONE && spool->stats.waiting_records > 0 && !spool->closing;
}

/* The time of the next delivery or trial. */
static int64_t wake_at_ms(const struct history_spool *spool)
{
    if (wants_delivery(spool))
        return spool->retry_at_ms;
    return wants_trial(spool) ? spool->trial_at_ms : INT64_MAX;
}

/* Under the lock: no back-off for an inner history that is well again. */
static void note_return(struct history_spool *spool)
{
    if (!spool->is_back)
        return;
    spool->is_back = false;
    spool->retry_ms = 0;
    spool->retry_at_ms = 0;
}

/* Waits, under the lock, until there is something to do. */
static void wait_for_work(struct history_spool *spool)
{
    while (!spool->to_write.first && !spool->to_look && spool->delivery != DELIVERY_ANSWERED &&
           !spool->closing) {
        note_return(spool);
        int64_t at_ms = wake_at_ms(spool);
        if (at_ms <= now_ms())
            return;
        struct timespec until = {.tv_sec = at_ms / 1000, .tv_nsec = at_ms % 1000 * 1000000};
        if (at_ms == INT64_MAX)
            pthread_cond_wait(&spool->work, &spool->lock);
        else
            pthread_cond_timedwait(&spool->work, &spool->lock, &until);
    }
}

void *history_spool_run(void *context)
{
    struct history_spool *spool = context;
    for (;;) {
        pthread_mutex_lock(&spool->lock);
        wait_for_work(spool);
        struct history_queue queue = spool->to_write;
        spool->to_write = (struct history_queue){0};
        struct spool_look *looks = spool->to_look;
        spool->to_look = NULL;
        bool answered = spool->delivery == DELIVERY_ANSWERED;
        bool is_time = wake_at_ms(spool) <= now_ms();
        bool deliver = is_time && wants_delivery(spool);
        bool try = is_time && wants_trial(spool);
        bool end = spool->closing && !queue.first && !looks && !answered;
        enum status delivered = spool->delivered;
        pthread_mutex_unlock(&spool->lock);
        if (end)
            return NULL;
        if (queue.first)
            write_appends(spool, &queue);
        if (looks)
            look_at_all(spool, looks);
        if (answered)
            end_delivery(spool, delivered);
        else if (deliver)
            begin_delivery(spool);
        else if (try)
            try_disk(spool);
    }
}
