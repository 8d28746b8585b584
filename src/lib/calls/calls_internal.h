/* What calls.c shares with calls_output.c and with batches. */
#ifndef PEAL_CALLS_INTERNAL_H
#define PEAL_CALLS_INTERNAL_H

#include <sys/queue.h>

#include "calls/call.h"
#include "calls/calls.h"
#include "table.h"

struct calls {
    struct executor port;
    struct calls_config config;
    atomic_bool is_told;     /* a call may have told how far it is */
    atomic_bool has_output;  /* one may have written something that is not on disk yet */
    struct call_spool spool; /* the loop's, as: */
    int64_t spool_ms;        /* when to write it; boot time; 0: nothing is to be written */
    pthread_mutex_t lock;    /* of all that follows */
    struct table runs;       /* peal_run by id */
    STAILQ_HEAD(event_list, peal_run) events; /* calls of which the engine is to be told */
    bool tells_ready;                         /* that it is there, before that */
    size_t running;
    int64_t mean_us;  /* of a call, over the last ones, and what was assumed of them before ... */
    int64_t seen_us;  /* ... and without that; 0: none has ended yet */
    size_t brisk;     /* calls since the last one that took longer than BRISK_MS */
    int64_t moved_us; /* when the last one began or ended; boot time */
    int64_t stop_ms;  /* no timeout before this; boot time */
    int threads;      /* as calls_wanted was told last; the loop's, as: */
    int each;         /* calls for each of them, by their mean */
};

/* With the lock: nobody needs it any more. */
void calls_forget_if_done(struct calls *calls, struct peal_run *call);

/* A thread begins to make calls of a batch, and has made so many in that time, of which the longest
 * took so long. */
void calls_hand_begins(struct calls *calls, int64_t now_us);
void calls_hand_rests(struct calls *calls, int64_t now_us, int64_t took_us, int64_t longest_us,
                      int made);

/* All its calls are made: the run has ended. */
void calls_end_batch(struct peal_run *call);

#endif
