/* How the ticks of a job change with its schedules: which stay, which go, which are new, and which
 * only move. Pure.
 *
 * Ticks that are in one list alone are paired with those that are in the other list alone, in their
 * order: a pair is nearer to each other than the ticks of the denser list are on average. Such a
 * tick has moved: 02:00 to 02:05, or Monday to Tuesday of a weekly job. A tick without a partner is
 * lost, or gained. */
#ifndef PEAL_TICK_CHANGE_H
#define PEAL_TICK_CHANGE_H

#include "forecast/ticks.h"

enum tick_change_kind { TICK_GAINED, TICK_LOST, TICK_SHIFTED };

struct tick_difference {
    enum tick_change_kind kind;
    int64_t before_s, after_s; /* a gained tick has no `before_s`, a lost one no `after_s`: 0 */
};

enum { TICK_DIFFERENCES = 10 }; /* that are kept */

struct tick_change {
    size_t before, after; /* ticks in the lists */
    size_t kept, gained, lost, moved;
    int64_t first_s, last_s; /* that differ, in either list; 0: none */
    int64_t least_s, most_s; /* by how much they moved; negative: to an earlier time */
    struct tick_difference shown[TICK_DIFFERENCES]; /* the first of them */
    size_t shown_count;
};

/* `before` and `after` are of the same span of time. */
struct tick_change tick_change_of(const struct ticks *before, const struct ticks *after,
                                  int64_t from_s);

#endif
