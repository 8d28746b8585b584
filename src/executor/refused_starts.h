/* Starts that the executor itself refuses: the engine hears of each as of a run that could not
 * start.
 */
#ifndef PEAL_REFUSED_STARTS_H
#define PEAL_REFUSED_STARTS_H

#include "executor.h"

struct refused_start;

/* Zeroed: none. */
struct refused_starts {
    struct refused_start *first, *last;
};

void refused_starts_release(struct refused_starts *refused);

MUST_CHECK enum status refused_starts_add(struct refused_starts *refused, const struct id *run_id,
                                          const char *why);

/* False: there are no more. */
bool refused_starts_next(struct refused_starts *refused, struct executor_event *ret);

#endif
