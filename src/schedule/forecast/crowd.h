/* How many jobs start in each second of a span of time. Pure. */
#ifndef PEAL_CROWD_H
#define PEAL_CROWD_H

#include "forecast/ticks.h"

struct crowd {
    int64_t from_s;
    size_t seconds; /* of the span */
    uint32_t *starts;
};

/* E_NOMEM. crowd_release accepts what was zeroed. */
MUST_CHECK enum status crowd_init(struct crowd *crowd, int64_t from_s, int64_t until_s);
void crowd_release(struct crowd *crowd);

int64_t crowd_until(const struct crowd *crowd);

/* Adds `weight` jobs with these ticks, each `later_s` after its tick; a negative weight takes them
 * away. What is outside the span does not count. */
void crowd_add(struct crowd *crowd, const struct ticks *ticks, int64_t later_s, int weight);

uint32_t crowd_at(const struct crowd *crowd, int64_t at_s); /* outside the span: 0 */

/* The first of the seconds with the most starts; 0 starts: there are none. */
struct crowd_second {
    int64_t at_s;
    uint32_t starts;
};
struct crowd_second crowd_worst(const struct crowd *crowd);

/* The `limit` seconds with the most starts, and at least `least`, most first, earlier ones first
 * among equals. Returns how many there are. */
size_t crowd_worst_many(const struct crowd *crowd, uint32_t least, size_t limit,
                        struct crowd_second *ret);

/* How many seconds have how many starts: index 0 has those with 1, then 2-3, 4-7 and so on. */
enum { CROWD_CLASSES = 32 };
struct crowd_classes {
    size_t seconds[CROWD_CLASSES];
    uint64_t starts; /* in all */
};
struct crowd_classes crowd_classes_of(const struct crowd *crowd);

#endif
