#include "zone/posix_tz.h"

#include <ctype.h>
#include <string.h>

enum {
    HOUR_S = 3600,
    OFFSET_HOURS_MAX = 24,
    MOMENT_HOURS_MAX = 167, /* a week less an hour, since version 3 of TZif */
    MOMENT_DEFAULT_S = 2 * HOUR_S,
    NAME_LENGTH_MIN = 3,
};

struct cursor {
    const char *start, *at, *end;
    struct parse_error *error;
};

static enum status fail(const struct cursor *in, const char *why)
{
    return parse_fail(in->error, (int)(in->at - in->start) + 1, "%s", why);
}

/* The character here, or NUL at the end. */
static char peek(const struct cursor *in)
{
    return in->at < in->end ? *in->at : '\0';
}

static bool accept(struct cursor *in, char wanted)
{
    if (peek(in) != wanted || in->at == in->end)
        return false;
    in->at++;
    return true;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static enum status parse_number(struct cursor *in, int min, int max, const char *why, int *ret)
{
    struct cursor from = *in;
    int value = 0;
    if (!is_digit(peek(in)))
        return fail(in, why);
    for (; is_digit(peek(in)); in->at++) {
        value = value * 10 + (peek(in) - '0');
        if (value > max)
            return fail(&from, why);
    }
    if (value < min)
        return fail(&from, why);
    *ret = value;
    return OK;
}

/* "EST" or "<+0330>". Nothing here uses the name: it is only skipped. */
static enum status skip_name(struct cursor *in)
{
    bool quoted = accept(in, '<');
    const char *name = in->at;
    while (isalpha((unsigned char)peek(in)) ||
           (quoted && (is_digit(peek(in)) || peek(in) == '+' || peek(in) == '-')))
        in->at++;
    if (in->at - name < NAME_LENGTH_MIN)
        return fail(in, "a zone's abbreviation has three letters or more");
    if (quoted && !accept(in, '>'))
        return fail(in, "expected '>' after the abbreviation");
    return OK;
}

/* [+-]hh[:mm[:ss]] as seconds. */
static enum status parse_time(struct cursor *in, int hours_max, const char *why, int32_t *ret)
{
    int hours = 0, minutes = 0, seconds = 0;
    bool negative = accept(in, '-');
    if (!negative)
        accept(in, '+');
    enum status st = parse_number(in, 0, hours_max, why, &hours);
    if (st == OK && accept(in, ':')) {
        st = parse_number(in, 0, 59, "minutes are 0 to 59", &minutes);
        if (st == OK && accept(in, ':'))
            st = parse_number(in, 0, 59, "seconds are 0 to 59", &seconds);
    }
    if (st != OK)
        return st;
    int32_t time_s = hours * HOUR_S + minutes * 60 + seconds;
    *ret = negative ? -time_s : time_s;
    return OK;
}

/* POSIX counts west of Greenwich as positive; peal and everybody else count east. */
static enum status parse_offset(struct cursor *in, int32_t *ret)
{
    int32_t west_s;
    enum status st = parse_time(in, OFFSET_HOURS_MAX, "an offset has 0 to 24 hours", &west_s);
    if (st == OK)
        *ret = -west_s;
    return st;
}

static enum status parse_week_and_month(struct cursor *in, struct posix_moment *moment)
{
    moment->kind = POSIX_DAY_WEEK_AND_MONTH;
    enum status st = parse_number(in, 1, 12, "a month is 1 to 12", &moment->month);
    if (st == OK && !accept(in, '.'))
        st = fail(in, "expected '.' and a week after the month");
    if (st == OK)
        st = parse_number(in, 1, 5, "a week is 1 to 5", &moment->week);
    if (st == OK && !accept(in, '.'))
        st = fail(in, "expected '.' and a weekday after the week");
    if (st == OK)
        st = parse_number(in, 0, 6, "a weekday is 0 to 6", &moment->day);
    return st;
}

/* ",Mm.w.d", ",Jn" or ",n", and then perhaps "/time". */
static enum status parse_moment(struct cursor *in, struct posix_moment *ret)
{
    struct posix_moment moment = {.time_s = MOMENT_DEFAULT_S};
    enum status st;
    if (!accept(in, ','))
        return fail(in, "expected ',' and the day when daylight saving time begins or ends");
    if (accept(in, 'M')) {
        st = parse_week_and_month(in, &moment);
    } else if (accept(in, 'J')) {
        moment.kind = POSIX_DAY_WITHOUT_LEAP;
        st = parse_number(in, 1, 365, "a day after 'J' is 1 to 365", &moment.day);
    } else {
        moment.kind = POSIX_DAY_OF_YEAR;
        st = parse_number(in, 0, 365, "a day of the year is 0 to 365", &moment.day);
    }
    if (st == OK && accept(in, '/'))
        st =
            parse_time(in, MOMENT_HOURS_MAX, "a time of day has -167 to 167 hours", &moment.time_s);
    if (st == OK)
        *ret = moment;
    return st;
}

static enum status parse_dst(struct cursor *in, struct posix_tz *tz)
{
    tz->has_dst = true;
    tz->dst_s = tz->standard_s + HOUR_S;
    enum status st = skip_name(in);
    if (st == OK && peek(in) != ',')
        st = parse_offset(in, &tz->dst_s);
    if (st == OK)
        st = parse_moment(in, &tz->dst_begin);
    if (st == OK)
        st = parse_moment(in, &tz->dst_end);
    return st;
}

enum status posix_tz_parse(const char *text, size_t length, struct posix_tz *ret,
                           struct parse_error *reterr)
{
    struct cursor in = {.start = text, .at = text, .end = text + length, .error = reterr};
    struct posix_tz tz = {0};
    enum status st = skip_name(&in);
    if (st == OK)
        st = parse_offset(&in, &tz.standard_s);
    if (st == OK && in.at < in.end)
        st = parse_dst(&in, &tz);
    if (st == OK && in.at < in.end)
        st = fail(&in, "unexpected text after the rule");
    if (st == OK)
        *ret = tz;
    return st;
}

/* Day number of the w-th weekday of a month; week 5 is the last, be it the fourth or the fifth. */
static int64_t day_by_week(const struct posix_moment *moment, int64_t year)
{
    int64_t first = civil_to_days(year, moment->month, 1);
    int day = (moment->day - civil_weekday(first) + 7) % 7 + 7 * (moment->week - 1);
    if (day >= civil_month_days(year, moment->month))
        day -= 7;
    return first + day;
}

/* The moment in a year, in UTC, given the offset that is in force just before it. */
static int64_t moment_in_year(const struct posix_moment *moment, int64_t year, int32_t offset_s)
{
    int64_t day = 0;
    switch (moment->kind) {
    case POSIX_DAY_OF_YEAR:
        day = civil_to_days(year, 1, 1) + moment->day;
        break;
    case POSIX_DAY_WITHOUT_LEAP:
        day = civil_to_days(year, 1, 1) + moment->day - 1;
        if (civil_is_leap(year) && moment->day >= 60) /* J60 is March 1 */
            day++;
        break;
    case POSIX_DAY_WEEK_AND_MONTH:
        day = day_by_week(moment, year);
        break;
    }
    return day * DAY_S + moment->time_s - offset_s;
}

struct stretch {
    int64_t begin_s, end_s;
};

/* The daylight saving time that begins in this year. In the southern half of the world it ends in
 * the next. It may be empty. */
static struct stretch dst_of_year(const struct posix_tz *tz, int64_t year)
{
    struct stretch dst = {
        .begin_s = moment_in_year(&tz->dst_begin, year, tz->standard_s),
        .end_s = moment_in_year(&tz->dst_end, year, tz->dst_s),
    };
    if (dst.end_s < dst.begin_s)
        dst.end_s = moment_in_year(&tz->dst_end, year + 1, tz->dst_s);
    return dst;
}

struct expansion {
    int64_t from_s;
    int32_t offset_s; /* at from_s */
    struct offset_change *changes;
    size_t count;
};

static void add_change(struct expansion *out, int64_t start_s, int32_t offset_s)
{
    if (start_s <= out->from_s)
        out->offset_s = offset_s;
    else if (out->count == 0 || start_s < out->changes[0].start_s + CYCLE_S)
        out->changes[out->count++] = (struct offset_change){start_s, offset_s};
}

size_t posix_tz_cycle(const struct posix_tz *tz, int64_t from_s, int32_t *ret_offset_s,
                      struct offset_change changes[static POSIX_TZ_CHANGES_MAX])
{
    struct expansion out = {.from_s = from_s, .offset_s = tz->standard_s, .changes = changes};
    if (tz->has_dst && tz->dst_s != tz->standard_s) {
        int64_t year = civil_from_seconds(from_s).year;
        int64_t last_year = year + 2 * CYCLE_YEARS;
        /* Stretches that touch are one: that is how all-year daylight saving time is written. They
         * may touch in all but a few kinds of years, so that the first change can be decades away
         * and the last stretch decades long: a second cycle has room for both. */
        struct stretch dst = dst_of_year(tz, year - 2);
        for (year--; year <= last_year; year++) {
            struct stretch next = dst_of_year(tz, year);
            if (next.begin_s <= dst.end_s) {
                dst.end_s = next.end_s > dst.end_s ? next.end_s : dst.end_s;
                continue;
            }
            if (dst.begin_s < dst.end_s) {
                add_change(&out, dst.begin_s, tz->dst_s);
                add_change(&out, dst.end_s, tz->standard_s);
            }
            dst = next;
        }
        if (dst.begin_s <= from_s && dst.end_s > from_s + CYCLE_S)
            out.offset_s = tz->dst_s; /* all year */
    }
    *ret_offset_s = out.offset_s;
    return out.count;
}
