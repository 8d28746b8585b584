/* The dates of a calendar as text, and back. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "array.h"
#include "calendar.h"
#include "civil.h"

#define LIKE "; write it like 2026-12-25, 2026-10-01/2026-10-07 or 12-25"

struct reader {
    const char *text;
    int at;
    struct parse_error *err;
};

static int digits_at(const struct reader *r)
{
    int count = 0;
    while (isdigit((unsigned char)r->text[r->at + count]))
        count++;
    return count;
}

/* Exactly `digits` digits, in range. */
static enum status read_number(struct reader *r, int digits, int min, int max, const char *name,
                               int *ret)
{
    int value = 0;
    if (digits_at(r) != digits)
        return parse_fail(r->err, r->at + 1, "not a date" LIKE);
    for (int i = 0; i < digits; i++)
        value = value * 10 + (r->text[r->at + i] - '0');
    if (value < min || value > max)
        return parse_fail(r->err, r->at + 1, "%s %d is out of range %d-%d", name, value, min, max);
    r->at += digits;
    *ret = value;
    return OK;
}

static enum status read_dash(struct reader *r)
{
    if (r->text[r->at] != '-')
        return parse_fail(r->err, r->at + 1, "not a date" LIKE);
    r->at++;
    return OK;
}

/* `2026-12-25`, or without its year. */
static enum status read_day(struct reader *r, bool *ret_yearly, int32_t *ret)
{
    int year = 2000, month, day; /* a leap year, for a day of every year */
    bool yearly = digits_at(r) == 2;
    enum status st = OK;
    if (!yearly &&
        ((st = read_number(r, 4, 1, 9999, "year", &year)) != OK || (st = read_dash(r)) != OK))
        return st;
    if ((st = read_number(r, 2, 1, 12, "month", &month)) != OK || (st = read_dash(r)) != OK ||
        (st = read_number(r, 2, 1, civil_month_days(year, month), "day", &day)) != OK)
        return st;
    *ret_yearly = yearly;
    *ret = yearly ? month * 32 + day : (int32_t)civil_to_days(year, month, day);
    return OK;
}

enum status calendar_read_date(const char *text, int *at, struct calendar_date *ret,
                               struct parse_error *reterr)
{
    struct reader reader = {.text = text, .at = *at, .err = reterr};
    struct calendar_date date;
    enum status st = read_day(&reader, &date.yearly, &date.first);
    if (st != OK)
        return st;
    date.last = date.first;
    if (text[reader.at] == '/') {
        int column = ++reader.at + 1;
        bool yearly;
        if ((st = read_day(&reader, &yearly, &date.last)) != OK)
            return st;
        if (yearly != date.yearly)
            return parse_fail(reterr, column, "give the year on both sides of the / or on neither");
        if (!yearly && date.last < date.first)
            return parse_fail(reterr, column, "the last day is before the first");
    }
    *ret = date;
    *at = reader.at;
    return OK;
}

enum status calendar_add_date(struct calendar *calendar, const char *text,
                              struct parse_error *reterr)
{
    struct calendar_date date;
    int at = 0;
    enum status st = calendar_read_date(text, &at, &date, reterr);
    if (st != OK)
        return st;
    if (text[at])
        return parse_fail(reterr, at + 1, "not a date" LIKE);
    st = array_grow(&calendar->dates, calendar->date_count, sizeof(*calendar->dates));
    if (st == OK)
        calendar->dates[calendar->date_count++] = date;
    return st;
}

static void print_day(bool yearly, int32_t day, struct strbuf *out)
{
    int64_t year;
    int month, day_of_month;
    if (yearly) {
        strbuf_addf(out, "%02d-%02d", day / 32, day % 32);
        return;
    }
    civil_from_days(day, &year, &month, &day_of_month);
    strbuf_addf(out, "%04d-%02d-%02d", (int)year, month, day_of_month);
}

void calendar_print_date(const struct calendar_date *date, struct strbuf *out)
{
    print_day(date->yearly, date->first, out);
    if (date->last == date->first)
        return;
    strbuf_addc(out, '/');
    print_day(date->yearly, date->last, out);
}

/* ---- weekdays ---- */

static const char *const weekday_names[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

const char *calendar_weekday_name(int weekday)
{
    return weekday_names[weekday];
}

enum status calendar_read_weekday(const char *text, int column, int *ret,
                                  struct parse_error *reterr)
{
    const char *nearest = NULL;
    for (int i = 0; i < 7; i++) {
        if (strcasecmp(text, weekday_names[i]) == 0) {
            *ret = i;
            return OK;
        }
        if (strncasecmp(text, weekday_names[i], strlen(text) < 2 ? 1 : 2) == 0 && *text)
            nearest = weekday_names[i];
    }
    if (nearest)
        return parse_fail(reterr, column, "unknown weekday \"%.20s\"; did you mean %s?", text,
                          nearest);
    return parse_fail(reterr, column,
                      "unknown weekday \"%.20s\"; known: mon tue wed thu fri sat sun", text);
}

enum status calendar_add_weekday(struct calendar *calendar, const char *text,
                                 struct parse_error *reterr)
{
    int weekday;
    enum status st = calendar_read_weekday(text, 1, &weekday, reterr);
    if (st == OK)
        calendar->weekdays |= (uint8_t)(1U << weekday);
    return st;
}

/* ---- windows ---- */

static size_t count_repeats(const struct calendar *calendar)
{
    size_t count = 0;
    for (size_t i = 0; i < calendar->window_count; i++)
        count += window_repeats(&calendar->windows[i]);
    return count;
}

enum status calendar_add_window(struct calendar *calendar, const char *text,
                                struct parse_error *reterr)
{
    struct window window;
    enum status st = window_read(text, &window, reterr);
    if (st != OK)
        return st;
    if (window_repeats(&window) && count_repeats(calendar) == CALENDAR_REPEATS_MAX)
        return parse_fail(reterr, 1,
                          "more than %d windows that come again; give those of single "
                          "dates their dates",
                          CALENDAR_REPEATS_MAX);
    st = array_grow(&calendar->windows, calendar->window_count, sizeof(*calendar->windows));
    if (st == OK)
        calendar->windows[calendar->window_count++] = window;
    return st;
}
