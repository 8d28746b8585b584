/* Sets of small numbers (the values of a cron field, or years), and the shape that people see in
 * them: all, one, a range, steps, or a list. For the words of explain. Pure. */
#ifndef PEAL_NUMBER_SET_H
#define PEAL_NUMBER_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "cron/cron_expr.h"

enum { NUMBER_SET_WORDS = (YEAR_MAX - YEAR_MIN) / 64 + 1 };

struct number_set {
    int min, max;                     /* what the field can hold; a member is never outside */
    uint64_t words[NUMBER_SET_WORDS]; /* bit n: min + n */
};

/* Bit n of `mask` is the number n. Bits outside min..max are dropped. */
struct number_set number_set_from_mask(uint64_t mask, int min, int max);

/* The years that an expression allows. */
struct number_set number_set_from_years(const struct cron_expr *expr);

int number_set_count(const struct number_set *set);

/* The smallest member at or above `from`; max + 1 when there is none. */
int number_set_from(const struct number_set *set, int from);

enum shape_kind {
    SHAPE_NONE,
    SHAPE_ALL,
    SHAPE_ONE,
    SHAPE_RANGE, /* three or more neighbours */
    SHAPE_STEPS, /* equally far apart: four or more, or three that fill the field */
    SHAPE_LIST,  /* anything else */
};

struct shape {
    enum shape_kind kind;
    int first, last, step; /* of a range or steps; first == last for one */
    bool wraps;            /* a range that goes on at the field's start: 22 through 2 */
    bool fills;            /* steps from the field's start that go on evenly in the next round */
};

/* `may_wrap`: the rounds of the field follow each other without a break, so that 22, 23, 0, 1 may
 * be called a range. */
struct shape number_set_shape(const struct number_set *set, bool may_wrap);

/* A part of a list: one member, or at least `min_run` neighbours. */
struct number_run {
    int first, last;
};

/* The next part at or above `from`; false when there is none. */
bool number_set_next_run(const struct number_set *set, int from, int min_run,
                         struct number_run *ret);

#endif
