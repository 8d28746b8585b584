/* Batches of new jobs that a dry run has checked, kept for a minute, so that what follows is a
 * short call that has them written: nothing is sent, decoded and checked twice. What is kept is
 * limited; a client whose batch is gone sends it again. */
#ifndef PEAL_API_BATCH_KEEP_H
#define PEAL_API_BATCH_KEEP_H

#include <sys/queue.h>

#include "auth/principal.h"
#include "call.h"
#include "id.h"

struct jobs_batch;
struct loop_timer;

/* A new job, encoded for the store. */
struct kept_job {
    struct id uid;
    char *name, *json;
    bool paused;
};

struct kept_batch {
    char id[ID_TEXT + 1];
    char owner[PRINCIPAL_ID_SIZE]; /* nobody else may have it written */
    int64_t until_ms;              /* boot time */
    uint64_t docs;                 /* kept_batches.docs when it was checked */
    struct kept_job *jobs;
    size_t count;
    size_t bytes;
    TAILQ_ENTRY(kept_batch) link;
};

TAILQ_HEAD(kept_list, kept_batch);

struct kept_batches {
    struct kept_list list; /* the oldest first */
    size_t bytes;
    uint64_t docs;            /* changes of calendars and channels, which definitions name */
    struct loop_timer *timer; /* when the oldest is forgotten */
};

MUST_CHECK enum status kept_batches_init(struct kept_batches *kept, struct api *api);
void kept_batches_release(struct kept_batches *kept);
void kept_batches_take(struct kept_batches *kept, const struct store_change *change);

/* Keeps the jobs of the call's batch, all of which were checked, and moves them there. NULL: they
 * are not all new, some wait for others, there is no room, or no memory. */
const struct kept_batch *batch_keep(struct call *call);

/* Takes out what the caller has kept under this id, to be freed with kept_batch_free. NULL: it is
 * gone, or calendars or channels have changed since it was checked. */
struct kept_batch *batch_kept(struct call *call, const char *id);
void kept_batch_free(struct kept_batch *batch);

#endif
