#include "window/window.h"

#include "civil.h"

/* Lower ones come first. */
static int rank_of(const struct window *window)
{
    bool is_row = window->date.yearly || window->date.first != window->date.last;
    switch (window->kind) {
    case WINDOW_WEEKDAYS:
        return 0;
    case WINDOW_DATES:
        return window->date.yearly ? 1 : is_row ? 2 : 3;
    case WINDOW_LOCAL:
        return 4;
    case WINDOW_INSTANTS:
        break;
    }
    return 5;
}

bool window_repeats(const struct window *window)
{
    return rank_of(window) < 3;
}

static int order(int64_t one, int64_t other)
{
    return (one > other) - (one < other);
}

int window_compare(const void *a, const void *b)
{
    const struct window *one = a, *other = b;
    const int by[] = {
        order(rank_of(one), rank_of(other)),       order(other->weekdays, one->weekdays),
        order(one->date.first, other->date.first), order(one->date.last, other->date.last),
        order(one->from_s, other->from_s),         order(one->to_s, other->to_s),
    };
    for (size_t i = 0; i < sizeof(by) / sizeof(by[0]); i++) {
        if (by[i])
            return by[i];
    }
    return 0;
}

bool window_start_on(const struct window *window, int64_t day, int64_t *ret_s)
{
    bool starts = window->kind == WINDOW_WEEKDAYS ? window->weekdays & 1U << civil_weekday(day)
                                                  : calendar_date_has(&window->date, day);
    if (starts)
        *ret_s = day * DAY_S + window->from_s;
    return starts;
}
