#include "calendar.h"

#include <stdlib.h>
#include <string.h>

#include "civil.h"
#include "cron/cron_expr.h"

enum { MONTH_SHIFT = 5, EVERY_WEEKDAY = 0x7F };

void calendar_init(struct calendar *calendar)
{
    *calendar = (struct calendar){0};
}

void calendar_release(struct calendar *calendar)
{
    free(calendar->dates);
    free(calendar->ranges);
    free(calendar->windows);
    free(calendar->local.items);
    free(calendar->instants.items);
    calendar_init(calendar);
}

/* ---- getting ready ---- */

static int by_date(const void *a, const void *b)
{
    const struct calendar_date *one = a, *other = b;
    if (one->yearly != other->yearly)
        return one->yearly ? -1 : 1;
    if (one->first != other->first)
        return one->first < other->first ? -1 : 1;
    return (one->last > other->last) - (one->last < other->last);
}

static void sort_dates(struct calendar *calendar)
{
    size_t kept = 0;
    if (!calendar->date_count)
        return;
    qsort(calendar->dates, calendar->date_count, sizeof(*calendar->dates), by_date);
    for (size_t i = 1; i < calendar->date_count; i++) {
        if (by_date(&calendar->dates[kept], &calendar->dates[i]) != 0)
            calendar->dates[++kept] = calendar->dates[i];
    }
    calendar->date_count = kept + 1;
}

/* All days of the months between the first and the last; days that a month does not have are never
 * looked up. */
static void mark_yearly(struct calendar *calendar, const struct calendar_date *date)
{
    int month = date->first >> MONTH_SHIFT, day = date->first & 31;
    int last_month = date->last >> MONTH_SHIFT, last_day = date->last & 31;
    bool wraps = date->last < date->first;
    while (month != last_month || wraps) {
        calendar->yearly[month - 1] |= UINT32_MAX << day;
        wraps = wraps && month != 12;
        month = month % 12 + 1;
        day = 1;
    }
    for (; day <= last_day; day++)
        calendar->yearly[month - 1] |= UINT32_C(1) << day;
}

/* Merges a date into the sorted ranges; returns their new number. */
static size_t add_range(struct calendar_range *ranges, size_t count,
                        const struct calendar_date *date)
{
    struct calendar_range *last = count ? &ranges[count - 1] : NULL;
    if (!last || date->first > last->last + 1) {
        ranges[count] = (struct calendar_range){date->first, date->last};
        return count + 1;
    }
    last->last = date->last > last->last ? date->last : last->last;
    return count;
}

static enum status settle_dates(struct calendar *calendar)
{
    size_t count = 0;
    struct calendar_range *ranges = calloc(calendar->date_count + 1, sizeof(*ranges));
    if (!ranges)
        return E_NOMEM;
    memset(calendar->yearly, 0, sizeof(calendar->yearly));
    sort_dates(calendar);
    for (size_t i = 0; i < calendar->date_count; i++) {
        const struct calendar_date *date = &calendar->dates[i];
        if (date->yearly)
            mark_yearly(calendar, date);
        else
            count = add_range(ranges, count, date);
    }
    free(calendar->ranges);
    calendar->ranges = ranges;
    calendar->range_count = count;
    return OK;
}

static void sort_windows(struct calendar *calendar)
{
    struct window *windows = calendar->windows;
    size_t kept = 0;
    calendar->repeat_count = 0;
    if (!calendar->window_count)
        return;
    qsort(windows, calendar->window_count, sizeof(*windows), window_compare);
    for (size_t i = 1; i < calendar->window_count; i++) {
        if (window_compare(&windows[kept], &windows[i]) != 0)
            windows[++kept] = windows[i];
    }
    calendar->window_count = kept + 1;
    while (calendar->repeat_count <= kept && window_repeats(&windows[calendar->repeat_count]))
        calendar->repeat_count++;
}

/* The window of a single date is a span, too. */
static struct calendar_span span_of(const struct window *window)
{
    int64_t midnight_s = window->kind == WINDOW_DATES ? window->date.first * (int64_t)DAY_S : 0;
    return (struct calendar_span){midnight_s + window->from_s, midnight_s + window->to_s};
}

static int by_start(const void *a, const void *b)
{
    const struct calendar_span *one = a, *other = b;
    return (one->from_s > other->from_s) - (one->from_s < other->from_s);
}

static void merge_spans(struct calendar_spans *spans)
{
    size_t count = 0;
    if (spans->count)
        qsort(spans->items, spans->count, sizeof(*spans->items), by_start);
    for (size_t i = 0; i < spans->count; i++) {
        struct calendar_span *last = count ? &spans->items[count - 1] : NULL,
                             span = spans->items[i];
        if (!last || span.from_s > last->to_s)
            spans->items[count++] = span;
        else if (span.to_s > last->to_s)
            last->to_s = span.to_s;
    }
    spans->count = count;
}

static enum status settle_windows(struct calendar *calendar)
{
    struct calendar_spans local = {calloc(calendar->window_count + 1, sizeof(*local.items)), 0};
    struct calendar_spans instants = {calloc(calendar->window_count + 1, sizeof(*local.items)), 0};
    if (!local.items || !instants.items) {
        free(local.items);
        free(instants.items);
        return E_NOMEM;
    }
    sort_windows(calendar);
    for (size_t i = calendar->repeat_count; i < calendar->window_count; i++) {
        bool is_utc = calendar->windows[i].kind == WINDOW_INSTANTS;
        struct calendar_spans *spans = is_utc ? &instants : &local;
        spans->items[spans->count++] = span_of(&calendar->windows[i]);
    }
    merge_spans(&local);
    merge_spans(&instants);
    free(calendar->local.items);
    free(calendar->instants.items);
    calendar->local = local;
    calendar->instants = instants;
    return OK;
}

enum status calendar_settle(struct calendar *calendar)
{
    enum status st = settle_dates(calendar);
    return st == OK ? settle_windows(calendar) : st;
}

/* ---- looking up ---- */

/* The range that holds the day; NULL: none. */
static const struct calendar_range *range_of(const struct calendar *calendar, int64_t day)
{
    size_t from = 0, to = calendar->range_count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        const struct calendar_range *range = &calendar->ranges[middle];
        if (day < range->first)
            to = middle;
        else if (day > range->last)
            from = middle + 1;
        else
            return range;
    }
    return NULL;
}

/* Does the calendar hold the day by its weekday or as a yearly date? */
static bool comes_again(const struct calendar *calendar, int64_t day)
{
    int64_t year;
    int month, day_of_month;
    if (calendar->weekdays & 1U << civil_weekday(day))
        return true;
    civil_from_days(day, &year, &month, &day_of_month);
    return calendar->yearly[month - 1] & UINT32_C(1) << day_of_month;
}

bool calendar_date_has(const struct calendar_date *date, int64_t day)
{
    int64_t year;
    int month, day_of_month;
    if (!date->yearly)
        return day >= date->first && day <= date->last;
    civil_from_days(day, &year, &month, &day_of_month);
    int32_t place = month << MONTH_SHIFT | day_of_month;
    return date->first <= date->last ? place >= date->first && place <= date->last
                                     : place >= date->first || place <= date->last;
}

bool calendar_has(const struct calendar *calendar, int64_t day)
{
    return comes_again(calendar, day) || range_of(calendar, day);
}

/* If not, every 40 years that no range covers have a free day: leap days of one weekday are up to
 * 40 years apart. */
static bool is_every_day(const struct calendar *calendar)
{
    if (calendar->weekdays == EVERY_WEEKDAY)
        return true;
    for (int month = 1; month <= 12; month++) {
        uint32_t days = (UINT32_C(2) << civil_month_days(2000, month)) - 2;
        if ((calendar->yearly[month - 1] & days) != days)
            return false;
    }
    return true;
}

int64_t calendar_free_from(const struct calendar *calendar, int64_t day)
{
    if (is_every_day(calendar))
        return NEVER;
    for (;;) {
        const struct calendar_range *range = range_of(calendar, day);
        if (!range && !comes_again(calendar, day))
            return day;
        day = range ? range->last + INT64_C(1) : day + 1;
    }
}

int64_t calendar_free_until(const struct calendar *calendar, int64_t day)
{
    if (is_every_day(calendar))
        return NEVER_BEFORE;
    for (;;) {
        const struct calendar_range *range = range_of(calendar, day);
        if (!range && !comes_again(calendar, day))
            return day;
        day = range ? range->first - INT64_C(1) : day - 1;
    }
}

/* ---- days that it holds ---- */

/* Longest wait for a day that comes again: 29 February, from 1896 to 1904. */
enum { AGAIN_DAYS = 8 * 366 };

static bool has_again(const struct calendar *calendar)
{
    bool has = calendar->weekdays != 0;
    for (int i = 0; i < 12; i++)
        has = has || calendar->yearly[i];
    return has;
}

/* The first range that ends at or after the day; range_count: none. */
static size_t range_from(const struct calendar *calendar, int64_t day)
{
    size_t from = 0, to = calendar->range_count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (calendar->ranges[middle].last < day)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

int64_t calendar_held_from(const struct calendar *calendar, int64_t day)
{
    size_t place = range_from(calendar, day);
    int64_t first = NEVER;
    if (place < calendar->range_count)
        first = calendar->ranges[place].first > day ? calendar->ranges[place].first : day;
    if (!has_again(calendar))
        return first;
    for (int64_t at = day; at < first && at < day + AGAIN_DAYS; at++) {
        if (comes_again(calendar, at))
            return at;
    }
    return first;
}

int64_t calendar_held_until(const struct calendar *calendar, int64_t day)
{
    size_t place = range_from(calendar, day);
    int64_t last = NEVER_BEFORE;
    if (place < calendar->range_count && calendar->ranges[place].first <= day)
        last = day;
    else if (place > 0)
        last = calendar->ranges[place - 1].last;
    if (!has_again(calendar))
        return last;
    for (int64_t at = day; at > last && at > day - AGAIN_DAYS; at--) {
        if (comes_again(calendar, at))
            return at;
    }
    return last;
}
