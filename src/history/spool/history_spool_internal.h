/* A spool's two sides: history_spool.c is the owner's thread, history_spool_thread.c the one that
 * works with files. */
#ifndef PEAL_HISTORY_SPOOL_INTERNAL_H
#define PEAL_HISTORY_SPOOL_INTERNAL_H

#include <pthread.h>

#include "spool/history_spool_files.h"

enum { SPOOL_BATCH_RECORDS = 200 };

/* NONE -> LOADED (by the thread) -> SENT (by the owner) -> ANSWERED -> NONE (by the thread) */
enum delivery { DELIVERY_NONE, DELIVERY_LOADED, DELIVERY_SENT, DELIVERY_ANSWERED };

struct history_spool {
    struct history base;
    struct history *inner; /* NULL: freed already */
    struct history_wake wake;
    struct history_spool_limits limits;

    /* The owner's. */
    struct history_queue queued; /* appends that wait for the ones below */
    size_t direct;               /* how many the inner history has: one, but at the end */
    bool ending;
    struct history_append sent; /* a batch that is being delivered */

    /* The thread's. */
    pthread_t thread;
    struct spool_files files;
    struct spool_batch batch;
    int64_t retry_at_ms;
    int retry_ms;
    int64_t trial_at_ms;
    size_t batch_limit;

    pthread_mutex_t lock; /* of all below */
    pthread_cond_t work;
    struct history_queue to_write, answered;
    size_t writing; /* appends that the thread has or is to have */
    enum delivery delivery;
    enum status delivered; /* how it went */
    bool closing;
    enum status disk; /* how the last write went, or the last trial */
    int disk_errno;
    struct history_spool_stats stats; /* a copy of the files' */
};

/* What the thread does until `closing`: a pthread's function. */
void *history_spool_run(void *context);

void history_spool_wake_owner(struct history_spool *spool); /* that there is something for it */

/* Under the lock, or before there is a thread: what the files hold. */
void history_spool_note_files(struct history_spool *spool);

#endif
