#include "cron/number_set.h"

#include <string.h>

static void add(struct number_set *set, int number)
{
    int bit = number - set->min;
    set->words[bit / 64] |= UINT64_C(1) << (bit % 64);
}

static bool has(const struct number_set *set, int number)
{
    int bit = number - set->min;
    return number >= set->min && number <= set->max && set->words[bit / 64] >> (bit % 64) & 1;
}

struct number_set number_set_from_mask(uint64_t mask, int min, int max)
{
    struct number_set set = {.min = min, .max = max};
    for (int number = min; number <= max; number++) {
        if (mask >> number & 1)
            add(&set, number);
    }
    return set;
}

struct number_set number_set_from_years(const struct cron_expr *expr)
{
    struct number_set set = {.min = YEAR_MIN, .max = YEAR_MAX};
    if (!expr->years) {
        memset(set.words, 0xff, sizeof(set.words));
        set.words[NUMBER_SET_WORDS - 1] >>= 64 * NUMBER_SET_WORDS - (YEAR_MAX - YEAR_MIN + 1);
        return set;
    }
    for (int64_t year = cron_expr_year_from(expr, YEAR_MIN); year <= YEAR_MAX;
         year = cron_expr_year_from(expr, year + 1))
        add(&set, (int)year);
    return set;
}

int number_set_count(const struct number_set *set)
{
    int count = 0;
    for (int i = 0; i <= (set->max - set->min) / 64; i++)
        count += __builtin_popcountll(set->words[i]);
    return count;
}

int number_set_from(const struct number_set *set, int from)
{
    for (int bit = from - set->min; from <= set->max; from = set->min + bit) {
        uint64_t rest = set->words[bit / 64] >> (bit % 64);
        if (rest)
            return from + __builtin_ctzll(rest);
        bit += 64 - bit % 64;
    }
    return set->max + 1;
}

static int last_of(const struct number_set *set)
{
    int last = set->max;
    while (!has(set, last))
        last--;
    return last;
}

/* The common distance of two or more members; 0: there is none. */
static int common_step(const struct number_set *set, int first)
{
    int second = number_set_from(set, first + 1);
    int step = second - first;
    for (int next, at = second; (next = number_set_from(set, at + 1)) <= set->max; at = next) {
        if (next - at != step)
            return 0;
    }
    return step;
}

/* A range that holds both ends of the field, with one hole between. */
static bool wrapped_range(const struct number_set *set, int count, struct shape *ret)
{
    if (count < 3 || !has(set, set->min) || !has(set, set->max))
        return false;
    int last = set->min, first = set->max;
    while (has(set, last + 1))
        last++;
    while (has(set, first - 1))
        first--;
    if (last - set->min + 1 + set->max - first + 1 != count)
        return false;
    *ret = (struct shape){SHAPE_RANGE, first, last, 1, .wraps = true};
    return true;
}

struct shape number_set_shape(const struct number_set *set, bool may_wrap)
{
    int count = number_set_count(set);
    if (count == 0)
        return (struct shape){.kind = SHAPE_NONE};
    int first = number_set_from(set, set->min), last = last_of(set);
    if (count == 1)
        return (struct shape){SHAPE_ONE, first, last, 1, .wraps = false};
    if (count == set->max - set->min + 1)
        return (struct shape){SHAPE_ALL, first, last, 1, .fills = true};
    int step = common_step(set, first);
    if (step == 1 && count >= 3)
        return (struct shape){SHAPE_RANGE, first, last, 1, .wraps = false};
    bool fills = step > 0 && first == set->min && last + step == set->max + 1;
    if (step > 1 && (count >= 4 || (count == 3 && fills)))
        return (struct shape){SHAPE_STEPS, first, last, step, .fills = fills};
    struct shape shape = {SHAPE_LIST, first, last, 0, .wraps = false};
    if (may_wrap)
        wrapped_range(set, count, &shape);
    return shape;
}

bool number_set_next_run(const struct number_set *set, int from, int min_run,
                         struct number_run *ret)
{
    int first = number_set_from(set, from), last = first;
    if (first > set->max)
        return false;
    while (has(set, last + 1))
        last++;
    *ret = (struct number_run){first, last - first + 1 >= min_run ? last : first};
    return true;
}
