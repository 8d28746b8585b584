#include "schedule_set.h"

#include <stdlib.h>

#include "array.h"

void schedule_set_init(struct schedule_set *set)
{
    *set = (struct schedule_set){0};
}

void schedule_set_release(struct schedule_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        schedule_free(set->items[i]);
    free(set->items);
    schedule_set_init(set);
}

enum status schedule_set_add(struct schedule_set *set, struct schedule *schedule)
{
    enum status st = array_grow(&set->items, set->count, sizeof(struct schedule *));
    if (st == OK)
        set->items[set->count++] = schedule;
    else
        schedule_free(schedule);
    return st;
}

int64_t schedule_set_next(const struct schedule_set *set, int64_t after_s, size_t *ret_index)
{
    int64_t first = NEVER;
    for (size_t i = 0; i < set->count; i++) {
        int64_t tick = schedule_next(set->items[i], after_s);
        if (tick < first) {
            first = tick;
            if (ret_index)
                *ret_index = i;
        }
    }
    return first;
}

int64_t schedule_set_prev(const struct schedule_set *set, int64_t before_s, size_t *ret_index)
{
    int64_t last = NEVER_BEFORE;
    for (size_t i = 0; i < set->count; i++) {
        int64_t tick = schedule_prev(set->items[i], before_s);
        if (tick > last) {
            last = tick;
            if (ret_index)
                *ret_index = i;
        }
    }
    return last;
}
