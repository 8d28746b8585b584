/* Waits for the end of a tick: for its run, further attempts at it, and its other parts. */
#ifndef PEAL_TICK_FOLLOW_H
#define PEAL_TICK_FOLLOW_H

#include "client/client.h"

struct tick_watch {
    const char *name;    /* of the job, or the run's id: for messages */
    const char *run_id;  /* of the first attempt */
    bool with_output;    /* print it: of a tick with several parts, of the first one */
    int64_t deadline_ms; /* wall; NO_TIME: none */
};

/* *ret is the run that decides: the last attempt; of several parts, one that was not ok. What ended
 * an earlier attempt is told on stderr. */
MUST_CHECK enum exit_code tick_follow(struct client *client, const struct tick_watch *watch,
                                      json_t **ret);

#endif
