/* Windows as text, and back. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "civil.h"
#include "timestamp.h"
#include "window/window.h"

#define WINDOW_LIKE                                                                                \
    "; write it like 09:00-17:30, mon-fri 22:00-06:00, 2026-12-24 12:00-24:00 or "                 \
    "2026-12-24T12:00/2027-01-02T06:00"

enum { ALL_WEEKDAYS = 0x7F, MOMENT_MAX = 40, T_PLACE = 10 };

/* The years 1 to 9999, which have four digits. */
#define FIRST_S INT64_C(-62135596800)
#define LAST_S  INT64_C(253402300800)

struct reader {
    const char *text;
    int at;
    struct parse_error *err;
};

static enum status fail_here(const struct reader *r)
{
    return parse_fail(r->err, r->at + 1, "not a window" WINDOW_LIKE);
}

/* ---- times of the day ---- */

static enum status read_two_digits(struct reader *r, int max, const char *name, int *ret)
{
    const char *digits = r->text + r->at;
    if (!isdigit((unsigned char)digits[0]) || !isdigit((unsigned char)digits[1]) ||
        isdigit((unsigned char)digits[2]))
        return fail_here(r);
    int value = (digits[0] - '0') * 10 + digits[1] - '0';
    if (value > max)
        return parse_fail(r->err, r->at + 1, "%s %d is out of range %d-%d", name, value, 0, max);
    r->at += 2;
    *ret = value;
    return OK;
}

/* `09:00`, `09:00:30`; 24:00 only as an end. */
static enum status read_clock(struct reader *r, bool is_end, int64_t *ret_s)
{
    int column = r->at + 1, hour, minute, second = 0;
    enum status st = read_two_digits(r, is_end ? 24 : 23, "hour", &hour);
    if (st != OK)
        return st;
    if (r->text[r->at] != ':')
        return fail_here(r);
    r->at++;
    st = read_two_digits(r, 59, "minute", &minute);
    if (st == OK && r->text[r->at] == ':') {
        r->at++;
        st = read_two_digits(r, 59, "second", &second);
    }
    if (st != OK)
        return st;
    if (hour == 24 && (minute || second))
        return parse_fail(r->err, column, "a day ends at 24:00");
    *ret_s = hour * INT64_C(3600) + minute * INT64_C(60) + second;
    return OK;
}

/* An end at or before the start is on the next day. */
static enum status read_hours(struct reader *r, struct window *ret)
{
    int column = r->at + 1;
    enum status st = read_clock(r, false, &ret->from_s);
    if (st != OK)
        return st;
    if (r->text[r->at] != '-')
        return fail_here(r);
    r->at++;
    if ((st = read_clock(r, true, &ret->to_s)) != OK)
        return st;
    if (r->text[r->at])
        return fail_here(r);
    if (ret->to_s == ret->from_s)
        return parse_fail(r->err, column, "the window is empty; a whole day is 00:00-24:00");
    ret->to_s += ret->to_s < ret->from_s ? DAY_S : 0;
    return OK;
}

/* ---- days ---- */

static enum status read_weekday(struct reader *r, int *ret)
{
    char word[24];
    size_t length = 0;
    while (isalpha((unsigned char)r->text[r->at + (int)length]) && length < sizeof(word) - 1)
        length++;
    snprintf(word, sizeof(word), "%.*s", (int)length, r->text + r->at);
    enum status st = calendar_read_weekday(word, r->at + 1, ret, r->err);
    r->at += (int)length;
    return st;
}

/* `mon-fri,sun`; a range may go over the end of the week. */
static enum status read_weekdays(struct reader *r, uint8_t *ret)
{
    unsigned days = 0;
    for (;;) {
        int first, last;
        enum status st = read_weekday(r, &first);
        if (st != OK)
            return st;
        last = first;
        if (r->text[r->at] == '-') {
            r->at++;
            if ((st = read_weekday(r, &last)) != OK)
                return st;
        }
        days |= 1U << last;
        for (int day = first; day != last; day = (day + 1) % 7)
            days |= 1U << day;
        if (r->text[r->at] != ',')
            break;
        r->at++;
    }
    *ret = (uint8_t)days;
    return OK;
}

static enum status read_days(struct reader *r, struct window *ret)
{
    enum status st;
    ret->kind = WINDOW_WEEKDAYS;
    ret->weekdays = ALL_WEEKDAYS;
    const char *colon = strchr(r->text, ':');
    if (!isalnum((unsigned char)r->text[0]) || !colon)
        return fail_here(r);
    if (colon - r->text < 3)
        return OK; /* times alone */
    if (isalpha((unsigned char)r->text[0])) {
        st = read_weekdays(r, &ret->weekdays);
    } else {
        ret->kind = WINDOW_DATES;
        ret->weekdays = 0;
        st = calendar_read_date(r->text, &r->at, &ret->date, r->err);
    }
    if (st != OK)
        return st;
    if (r->text[r->at] != ' ')
        return fail_here(r);
    while (r->text[r->at] == ' ')
        r->at++;
    return OK;
}

/* ---- from an instant to another ---- */

/* Without an offset the seconds of a clock. */
static enum status read_moment(struct reader *r, bool *ret_has_offset, int64_t *ret_s)
{
    char moment[MOMENT_MAX];
    const char *text = r->text + r->at;
    size_t length = strcspn(text, "/");
    if (length <= T_PLACE || length >= sizeof(moment) || text[T_PLACE] != 'T')
        return fail_here(r);
    snprintf(moment, sizeof(moment), "%.*s", (int)length, text);
    *ret_has_offset = strpbrk(moment + T_PLACE, "Zz+-") != NULL;
    enum status st = timestamp_parse(moment, r->at + 1, zone_utc(), ret_s, r->err);
    r->at += (int)length;
    return st;
}

static enum status read_span(struct reader *r, struct window *ret)
{
    bool has_offset, has_last_offset;
    enum status st = read_moment(r, &has_offset, &ret->from_s);
    if (st != OK)
        return st;
    if (r->text[r->at] != '/')
        return fail_here(r);
    int column = ++r->at + 1;
    if ((st = read_moment(r, &has_last_offset, &ret->to_s)) != OK)
        return st;
    if (r->text[r->at])
        return fail_here(r);
    if (has_offset != has_last_offset)
        return parse_fail(r->err, column, "give the offset on both sides of the / or on neither");
    if (ret->to_s <= ret->from_s)
        return parse_fail(r->err, column, "the window is empty: its end is not after its start");
    if (ret->from_s < FIRST_S || ret->to_s >= LAST_S)
        return parse_fail(r->err, 1, "start and end are in the years 1 to 9999");
    ret->kind = has_offset ? WINDOW_INSTANTS : WINDOW_LOCAL;
    return OK;
}

enum status window_read(const char *text, struct window *ret, struct parse_error *reterr)
{
    struct reader reader = {.text = text, .err = reterr};
    struct window window = {.kind = WINDOW_WEEKDAYS};
    enum status st;
    if (strlen(text) > T_PLACE && text[T_PLACE] == 'T') {
        st = read_span(&reader, &window);
    } else {
        st = read_days(&reader, &window);
        if (st == OK)
            st = read_hours(&reader, &window);
    }
    if (st == OK)
        *ret = window;
    return st;
}

/* ---- printing ---- */

static void print_clock(int64_t seconds, struct strbuf *out)
{
    int of_day = (int)(seconds > DAY_S ? seconds - DAY_S : seconds);
    strbuf_addf(out, "%02d:%02d", of_day / 3600, of_day / 60 % 60);
    if (of_day % 60)
        strbuf_addf(out, ":%02d", of_day % 60);
}

/* Monday first; three days in a row or more as a range. */
static void print_weekdays(uint8_t weekdays, struct strbuf *out)
{
    const char *comma = "";
    for (int first = 1; first <= 7; first++) {
        int last = first;
        if (!(weekdays & 1U << first % 7))
            continue;
        while (last < 7 && weekdays & 1U << (last + 1) % 7)
            last++;
        strbuf_addf(out, "%s%s", comma, calendar_weekday_name(first % 7));
        comma = ",";
        if (last - first >= 2) {
            strbuf_addf(out, "-%s", calendar_weekday_name(last % 7));
            first = last;
        }
    }
    strbuf_addc(out, ' ');
}

static void print_moment(int64_t seconds, const char *end, struct strbuf *out)
{
    struct civil at = civil_from_seconds(seconds);
    strbuf_addf(out, "%04d-%02d-%02dT%02d:%02d", (int)at.year, at.month, at.day, at.hour,
                at.minute);
    if (at.second)
        strbuf_addf(out, ":%02d", at.second);
    strbuf_adds(out, end);
}

void window_print(const struct window *window, struct strbuf *out)
{
    if (window->kind == WINDOW_LOCAL || window->kind == WINDOW_INSTANTS) {
        const char *zone = window->kind == WINDOW_INSTANTS ? "Z" : "";
        print_moment(window->from_s, zone, out);
        strbuf_addc(out, '/');
        print_moment(window->to_s, zone, out);
        return;
    }
    if (window->kind == WINDOW_DATES) {
        calendar_print_date(&window->date, out);
        strbuf_addc(out, ' ');
    } else if (window->weekdays != ALL_WEEKDAYS) {
        print_weekdays(window->weekdays, out);
    }
    print_clock(window->from_s, out);
    strbuf_addc(out, '-');
    print_clock(window->to_s, out);
}
