/* The two threads of a spool: the owner's in history_spool.c, the one that reads and writes the
 * files in history_spool_thread.c. */
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

    /* Used by the owner's thread alone. */
    struct history_queue queued; /* appends that wait for those in the inner history */
    size_t direct;               /* appends in the inner history: at most one until `ending` */
    bool ending;
    bool was_away;              /* the inner history, when it was last looked at */
    struct history_append sent; /* the batch that is being delivered */

    /* Used by the spool's thread. */
    pthread_t thread;
    struct spool_files files;
    struct spool_batch batch;
    int64_t retry_at_ms;
    int retry_ms;
    int64_t trial_at_ms;
    size_t batch_limit;

    pthread_mutex_t lock; /* guards all members below */
    pthread_cond_t work;
    struct history_queue to_write, answered;
    struct spool_look *to_look, *looked; /* newest first */
    size_t writing;                      /* appends in to_write or being written by the thread */
    enum delivery delivery;
    enum status delivered; /* result of the delivery */
    bool closing;
    bool is_back;     /* the inner history is well again: deliver now */
    enum status disk; /* result of the last write or trial */
    int disk_errno;
    struct history_spool_stats stats; /* a copy of the files' */
};

/* ---- reads of what waits: history_spool_look.c ---- */

/* One read or log of the caller. */
struct spool_look {
    struct history_spool *spool;
    struct history_request *request;
    enum status st;
    struct page_part part;    /* HISTORY_READ: what waits, and ... */
    struct history_read read; /* ... what the inner history has */
    struct history_log log;   /* HISTORY_LOG */
    struct spool_look *next;
};

/* NULL: out of memory. */
struct spool_look *spool_look_new(struct history_spool *spool, struct history_request *request);

/* The spool's thread: finds what waits. */
void spool_look_files(struct spool_files *files, struct spool_look *look);

/* The owner's thread: asks the inner history, too, and answers. */
void spool_look_go_on(struct spool_look *look);

/* The owner's thread. */
void history_spool_answer(struct history_spool *spool, struct history_request *request,
                          enum status st);
enum status history_spool_inner_health(struct history_spool *spool);

/* The thread's main function; returns after `closing`. */
void *history_spool_run(void *context);

void history_spool_wake_owner(struct history_spool *spool); /* to call history_dispatch */

/* Copies the statistics of the files. Call it under the lock, or before the thread starts. */
void history_spool_note_files(struct history_spool *spool);

#endif
