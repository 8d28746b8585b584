/* What the two files of the claimer share: claims (claimer.c) and takes (claimer_take.c). */
#ifndef PEAL_CLAIMER_INTERNAL_H
#define PEAL_CLAIMER_INTERNAL_H

#include "stages/claimer.h"

enum {
    CLAIMER_IN_FLIGHT = 8,   /* requests; more wait for the next turn */
    CLAIMER_RETRY_MS = 1000, /* by then the feed should have shown the change */
    SLOTS_RETRY_MS = 100,    /* a run with groups: another one may have had the slot */
};

/* `count` more runs may be ours after all. */
void claimer_note_unsure(struct claimer *claimer, struct now now, size_t count);

/* The instance that a run of the job opens. One that can't be opened is an ordinary run, which
 * fails at its start and says why. E_NOMEM. */
MUST_CHECK enum status claimer_fill_instance(const struct claimer *claimer, struct now now,
                                             const struct catalog_job *job, const struct id *input,
                                             struct store_opening *ret);

#endif
