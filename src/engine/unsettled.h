/* Ends of runs whose verdict waits for what their history says (expect.duration): the executor has
 * told them, and does not tell them again. In memory only: after a restart it does. */
#ifndef PEAL_UNSETTLED_H
#define PEAL_UNSETTLED_H

#include "executor.h"

/* Zeroed: none. */
struct unsettled {
    struct executor_event *events;
    size_t count;
};

void unsettled_release(struct unsettled *unsettled);

/* Keeps the end, once for each run. E_NOMEM. */
MUST_CHECK enum status unsettled_add(struct unsettled *unsettled,
                                     const struct executor_event *event);

/* Moves all of them out: *ret_events is the caller's to free, and may be NULL. */
size_t unsettled_take(struct unsettled *unsettled, struct executor_event **ret_events);

#endif
