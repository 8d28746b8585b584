/* Further attempts at a tick: which ends are retried, and when. Pure. */
#ifndef PEAL_RETRY_H
#define PEAL_RETRY_H

#include "job.h"
#include "run.h"

/* What is wrong with an item of `retries.on`; NULL: nothing. It is one of
 *     failed        any failure of the job itself: exit code, signal, HTTP status, no start in time
 *     timed_out
 *     lost          the node or the spawner died; the run may have done its work
 *     no_start      the command could not be started, or was not started in time
 *     no_response   of an HTTP call: there was none, or not a whole one
 *     exit 1,75-78  these exit codes
 *     signal KILL   these signals, by name or number
 *     http 500-599  of an HTTP call that failed by its response: these statuses */
const char *retry_on_complaint(const char *text);

/* Is this end of an attempt to be followed by another one? Never that of a run which a person or
 * another run ended, or which was not to start. `retries.within_s` is not looked at. */
bool retry_is_wanted(const struct job_retries *retries, const struct run *end);

/* The wait after the end of attempt number `attempt`, from 1. `random` is any number: the wait's
 * random part depends on it alone. */
int64_t retry_wait_ms(const struct job_retries *retries, int attempt, uint64_t random);

/* When the attempt after this end may start; -1: it would be too late, counted from its tick,
 * unless that was long over when it ran (caught up, backfilled). The end of a lost run is when it
 * was noticed: then the wait is at least `window_ms`, in which the run may still start; likewise
 * that of a run whose process was not there in time. */
int64_t retry_at_ms(const struct job_retries *retries, const struct run *end, uint64_t random,
                    int64_t window_ms);

#endif
