#include "timestamp.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "civil.h"

struct reader {
    const char *text;
    int at;
    int column; /* of text[0] */
    struct parse_error *err;
};

static enum status fail_here(const struct reader *r, const char *what)
{
    return parse_fail(r->err, r->column + r->at, "%s; write it like 2027-01-31T08:00:00Z", what);
}

/* Exactly `digits` digits, in range. */
static enum status read_number(struct reader *r, int digits, int min, int max, const char *name,
                               int *ret)
{
    int value = 0;
    for (int i = 0; i < digits; i++) {
        char c = r->text[r->at + i];
        if (!isdigit((unsigned char)c))
            return fail_here(r, "not a time");
        value = value * 10 + (c - '0');
    }
    if (value < min || value > max)
        return parse_fail(r->err, r->column + r->at, "%s %d is out of range %d-%d", name, value,
                          min, max);
    r->at += digits;
    *ret = value;
    return OK;
}

static bool take(struct reader *r, const char *any_of)
{
    char c = r->text[r->at];
    if (!c || !strchr(any_of, c))
        return false;
    r->at++;
    return true;
}

static enum status read_date(struct reader *r, struct civil *civil)
{
    int year;
    enum status st = read_number(r, 4, 1, 9999, "year", &year);
    if (st != OK)
        return st;
    civil->year = year;
    if (!take(r, "-"))
        return fail_here(r, "not a date");
    if ((st = read_number(r, 2, 1, 12, "month", &civil->month)) != OK)
        return st;
    if (!take(r, "-"))
        return fail_here(r, "not a date");
    return read_number(r, 2, 1, civil_month_days(year, civil->month), "day", &civil->day);
}

/* `.000`, as programs print it; other fractions are finer than a schedule's resolution. */
static enum status skip_fraction(struct reader *r)
{
    if (r->text[r->at] != '.')
        return OK;
    size_t zeroes = strspn(r->text + r->at + 1, "0");
    if (!zeroes || isdigit((unsigned char)r->text[r->at + 1 + (int)zeroes]))
        return fail_here(r, "times are to the second");
    r->at += 1 + (int)zeroes;
    return OK;
}

static enum status read_time(struct reader *r, struct civil *civil)
{
    enum status st = read_number(r, 2, 0, 23, "hour", &civil->hour);
    if (st != OK)
        return st;
    if (!take(r, ":"))
        return fail_here(r, "not a time of day");
    if ((st = read_number(r, 2, 0, 59, "minute", &civil->minute)) != OK)
        return st;
    if (!take(r, ":"))
        return OK;
    if ((st = read_number(r, 2, 0, 59, "second", &civil->second)) != OK)
        return st;
    return skip_fraction(r);
}

/* `Z`, `+08:00` or nothing (*ret_given false). */
static enum status read_offset(struct reader *r, int *ret_offset_s, bool *ret_given)
{
    int hours, minutes = 0;
    *ret_given = true;
    *ret_offset_s = 0;
    if (take(r, "Zz"))
        return OK;
    char sign = r->text[r->at];
    if (!take(r, "+-")) {
        *ret_given = false;
        return OK;
    }
    enum status st = read_number(r, 2, 0, 23, "offset hour", &hours);
    if (st != OK)
        return st;
    take(r, ":");
    if ((st = read_number(r, 2, 0, 59, "offset minute", &minutes)) != OK)
        return st;
    *ret_offset_s = (hours * 3600 + minutes * 60) * (sign == '-' ? -1 : 1);
    return OK;
}

/* The instant at which a zone's clock shows local_s: the first if there are two, the end of the
 * gap if there is none. */
static int64_t instant_of_local(const struct zone *zone, int64_t local_s)
{
    /* No offset is as large as 36 hours: the search starts before and ends after. */
    struct zone_span span = zone_span_at(zone, local_s - 36 * 3600);
    while (local_s - span.offset_s >= span.end_s)
        span = zone_span_at(zone, span.end_s);
    int64_t utc_s = local_s - span.offset_s;
    return utc_s < span.start_s ? span.start_s : utc_s;
}

enum status timestamp_parse(const char *text, int column, const struct zone *zone, int64_t *ret_s,
                            struct parse_error *reterr)
{
    struct reader r = {.text = text, .column = column, .err = reterr};
    struct civil civil = {0};
    int offset_s = 0;
    bool with_offset = false;
    enum status st = read_date(&r, &civil);
    if (st != OK)
        return st;
    if (take(&r, "Tt ")) {
        if ((st = read_time(&r, &civil)) != OK)
            return st;
        if ((st = read_offset(&r, &offset_s, &with_offset)) != OK)
            return st;
    }
    if (r.text[r.at])
        return fail_here(&r, "unexpected text after the time");
    int64_t seconds = civil_to_seconds(&civil);
    *ret_s = with_offset ? seconds - offset_s : instant_of_local(zone, seconds);
    return OK;
}

/* Two digits. */
static char *put_two(char *to, int value)
{
    *to++ = (char)('0' + value / 10);
    *to++ = (char)('0' + value % 10);
    return to;
}

/* By hand: each run has one in its environment. */
static void print_civil(int64_t local_s, struct strbuf *out)
{
    struct civil c = civil_from_seconds(local_s);
    char text[] = "yyyy-mm-ddThh:mm:ss", *to = text;
    if (c.year < 0 || c.year > 9999) {
        strbuf_addf(out, "%04lld-%02d-%02dT%02d:%02d:%02d", (long long)c.year, c.month, c.day,
                    c.hour, c.minute, c.second);
        return;
    }
    to = put_two(put_two(to, (int)c.year / 100), (int)c.year % 100) + 1;
    to = put_two(to, c.month) + 1;
    to = put_two(to, c.day) + 1;
    to = put_two(to, c.hour) + 1;
    to = put_two(to, c.minute) + 1;
    put_two(to, c.second);
    strbuf_add(out, text, sizeof(text) - 1);
}

void timestamp_print_utc(int64_t utc_s, struct strbuf *out)
{
    print_civil(utc_s, out);
    strbuf_addc(out, 'Z');
}

/* `Z` or `+08:00`, `-00:44:30` where the zone has seconds. */
static void print_offset(int32_t offset_s, struct strbuf *out)
{
    if (offset_s == 0) {
        strbuf_addc(out, 'Z');
        return;
    }
    int value = abs(offset_s);
    strbuf_addf(out, "%c%02d:%02d", offset_s < 0 ? '-' : '+', value / 3600, value / 60 % 60);
    if (value % 60)
        strbuf_addf(out, ":%02d", value % 60);
}

void timestamp_print_local(int64_t utc_s, const struct zone *zone, struct strbuf *out)
{
    int32_t offset_s = zone_span_at(zone, utc_s).offset_s;
    print_civil(utc_s + offset_s, out);
    print_offset(offset_s, out);
}
