/* The schedules of one job, as one: due whenever any of them is, once per instant. */
#ifndef PEAL_SCHEDULE_SET_H
#define PEAL_SCHEDULE_SET_H

#include <stddef.h>

#include "schedule.h"

struct schedule_set {
    struct schedule **items;
    size_t count;
};

void schedule_set_init(struct schedule_set *set);
void schedule_set_release(struct schedule_set *set);

/* Takes the schedule over, also when it fails. */
MUST_CHECK enum status schedule_set_add(struct schedule_set *set, struct schedule *schedule);

/* As schedule_next and schedule_prev, over all of them. *ret_index (may be NULL) is the first
 * schedule that is due then; untouched when the answer is NEVER. */
int64_t schedule_set_next(const struct schedule_set *set, int64_t after_s, size_t *ret_index);
int64_t schedule_set_prev(const struct schedule_set *set, int64_t before_s, size_t *ret_index);

#endif
