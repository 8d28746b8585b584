#include "systemd/timer_calendar.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "timestamp.h"

enum { DIGITS_MAX = 9, WEEKDAYS_ALL = 0xfe, DAYS_FROM_END = 28, STEP_NONE = -1 };

/* A piece of the text; columns count in the whole of it, from 1. */
struct piece {
    const char *text;
    size_t length;
    int column;
};

struct part {
    const char *name;
    int least, most;
};

static const struct part year_part = {"year", TIMER_YEAR_MIN, TIMER_YEAR_MAX},
                         month_part = {"month", 1, 12}, day_part = {"day of month", 1, 31},
                         last_part = {"day of month", 1, DAYS_FROM_END},
                         hour_part = {"hour", 0, 23}, minute_part = {"minute", 0, 59},
                         second_part = {"second", 0, 59};

/* ---- numbers and lists ---- */

struct reader {
    const char *at, *end;
    int column; /* of `at` */
    struct parse_error *err;
};

static enum status read_number(struct reader *in, int *ret)
{
    int value = 0, digits = 0;
    while (in->at < in->end && isdigit((unsigned char)*in->at) && digits < DIGITS_MAX) {
        value = value * 10 + (*in->at - '0');
        in->at++;
        in->column++;
        digits++;
    }
    if (!digits)
        return parse_fail(in->err, in->column, "expected a number");
    if (in->at < in->end && isdigit((unsigned char)*in->at))
        return parse_fail(in->err, in->column, "number too large");
    *ret = value;
    return OK;
}

static bool next_is(const struct reader *in, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(in->end - in->at) >= length && strncmp(in->at, text, length) == 0;
}

static void skip(struct reader *in, int count)
{
    in->at += count;
    in->column += count;
}

/* ".000" is a whole second; systemd has microseconds. */
static enum status skip_fraction(struct reader *in)
{
    if (!next_is(in, ".") || next_is(in, ".."))
        return OK;
    int column = in->column;
    skip(in, 1);
    while (in->at < in->end && *in->at == '0')
        skip(in, 1);
    if (in->at < in->end && isdigit((unsigned char)*in->at))
        return parse_fail(in->err, column, "times are to the second");
    return OK;
}

static int fix_year(const struct part *part, int value)
{
    if (part != &year_part || value >= 100)
        return value;
    return value + (value < 70 ? 2000 : 1900);
}

/* a, a..b, a/n and a..b/n. *ret_step is STEP_NONE for a single value. */
static enum status read_item(struct reader *in, const struct part *part, int *ret_first,
                             int *ret_last, int *ret_step)
{
    int column = in->column;
    enum status st = read_number(in, ret_first);
    *ret_step = STEP_NONE;
    if (st == OK && part == &second_part)
        st = skip_fraction(in);
    if (st != OK)
        return st;
    *ret_first = fix_year(part, *ret_first);
    *ret_last = -1;
    if (next_is(in, "..")) {
        skip(in, 2);
        st = read_number(in, ret_last);
        if (st == OK && part == &second_part)
            st = skip_fraction(in);
        *ret_last = fix_year(part, *ret_last);
        *ret_step = 1;
    }
    if (st == OK && next_is(in, "/")) {
        skip(in, 1);
        int at = in->column;
        st = read_number(in, ret_step);
        if (st == OK && part == &second_part)
            st = skip_fraction(in);
        if (st == OK && !*ret_step)
            return parse_fail(in->err, at, "a step is 1 or more");
    }
    if (st != OK)
        return st;
    if (*ret_first < part->least || *ret_first > part->most)
        return parse_fail(in->err, column, "%s %d is out of range %d-%d", part->name, *ret_first,
                          part->least, part->most);
    if (*ret_last > part->most)
        return parse_fail(in->err, column, "%s %d is out of range %d-%d", part->name, *ret_last,
                          part->least, part->most);
    if (*ret_last >= 0 && *ret_last < *ret_first)
        return parse_fail(in->err, column, "a range goes from low to high");
    return OK;
}

/* Sets on[value - part->least] of each value. From the end of a month a step without an end goes on
 * to its last day, and a range is counted from its far end, 1 being the last day. */
static void set_item(const struct part *part, int first, int last, int step, bool *on)
{
    bool is_from_end = part == &last_part;
    if (step == STEP_NONE) {
        on[first - part->least] = true;
    } else if (is_from_end) {
        int near = last < 0 ? part->least : first, far = last < 0 ? first : last;
        if (last >= 0)
            far -= (far - near) % step;
        for (int value = far; value >= near; value -= step)
            on[value - part->least] = true;
    } else {
        for (int value = first; value <= (last < 0 ? part->most : last); value += step)
            on[value - part->least] = true;
    }
}

/* "*", or items with commas between them. *ret_any: a star. */
static enum status read_list(const struct piece *piece, const struct part *part, bool *on,
                             bool *ret_any, struct parse_error *reterr)
{
    struct reader in = {piece->text, piece->text + piece->length, piece->column, reterr};
    *ret_any = piece->length == 1 && *piece->text == '*';
    if (*ret_any) {
        memset(on, true, (size_t)(part->most - part->least) + 1);
        return OK;
    }
    for (;;) {
        int first, last, step;
        enum status st = read_item(&in, part, &first, &last, &step);
        if (st != OK)
            return st;
        set_item(part, first, last, step, on);
        if (in.at == in.end)
            return OK;
        if (*in.at != ',')
            return parse_fail(reterr, in.column, "expected ',' here, or the end of the %s",
                              part->name);
        skip(&in, 1);
    }
}

/* The same as a mask in which bit n is the value n. */
static enum status read_mask(const struct piece *piece, const struct part *part, uint64_t *ret,
                             struct parse_error *reterr)
{
    bool on[64] = {false}, is_any;
    enum status st = read_list(piece, part, on, &is_any, reterr);
    if (st != OK)
        return st;
    *ret = 0;
    for (int value = part->least; value <= part->most; value++) {
        if (on[value - part->least])
            *ret |= UINT64_C(1) << value;
    }
    return OK;
}

/* ---- weekdays ---- */

static int find_weekday(const char *text, size_t length)
{
    static const char *const names[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                        "Friday", "Saturday", "Sunday"};
    for (int i = 0; i < 7; i++) {
        if ((length == 3 || length == strlen(names[i])) && strncasecmp(text, names[i], length) == 0)
            return i + 1;
    }
    return 0;
}

/* "Mon..Wed,Fri", perhaps with a comma behind it; "Mon-Wed" is the old form of a range. */
static enum status read_weekdays(const struct piece *piece, uint8_t *ret,
                                 struct parse_error *reterr)
{
    size_t at = 0;
    int from = 0;
    *ret = 0;
    while (at < piece->length) {
        size_t length = 0;
        while (at + length < piece->length && isalpha((unsigned char)piece->text[at + length]))
            length++;
        int column = piece->column + (int)at, day = find_weekday(piece->text + at, length);
        if (!day)
            return parse_fail(reterr, column,
                              "unknown weekday \"%.20s\"; known: mon tue wed thu "
                              "fri sat sun",
                              piece->text + at);
        if (from > day)
            return parse_fail(reterr, column, "a range goes from low to high");
        for (int each = from ? from : day; each <= day; each++)
            *ret = (uint8_t)(*ret | (1U << each));
        at += length;
        bool is_dots = at + 1 < piece->length && strncmp(piece->text + at, "..", 2) == 0;
        bool is_range = is_dots || (at < piece->length && piece->text[at] == '-');
        if (at < piece->length && !is_range && piece->text[at] != ',')
            return parse_fail(reterr, piece->column + (int)at, "expected a weekday, '..' or ','");
        if (is_range && (from || at + (is_dots ? 2 : 1) == piece->length))
            return parse_fail(reterr, piece->column + (int)at, "a range has two ends");
        from = is_range ? day : 0;
        at += is_dots ? 2 : 1;
    }
    return OK;
}

/* ---- date and time ---- */

/* Cuts the piece at any of these characters; more than `most` parts: 0. *ret_cuts: the characters.
 */
static size_t cut(const struct piece *piece, const char *separators, struct piece *parts,
                  size_t most, char *ret_cuts)
{
    size_t count = 0, begin = 0;
    for (size_t i = 0; i <= piece->length; i++) {
        if (i < piece->length && !strchr(separators, piece->text[i]))
            continue;
        if (count == most)
            return 0;
        parts[count] = (struct piece){piece->text + begin, i - begin, piece->column + (int)begin};
        ret_cuts[count++] = i < piece->length ? piece->text[i] : '\0';
        begin = i + 1;
    }
    return count;
}

static enum status read_years(const struct piece *piece, struct timer_calendar *ret,
                              struct parse_error *reterr)
{
    return read_list(piece, &year_part, ret->years, &ret->is_any_year, reterr);
}

/* Bit n: n days before the last one. */
static enum status read_last_days(const struct piece *piece, struct timer_calendar *ret,
                                  struct parse_error *reterr)
{
    uint64_t mask = 0;
    enum status st = read_mask(piece, &last_part, &mask, reterr);
    if (st == OK && !(piece->length == 1 && *piece->text == '*')) {
        ret->days = 0;
        ret->days_to_last = (uint32_t)(mask >> 1);
    }
    return st;
}

/* "2027-01-01", "01-01"; with "~" before the day it is counted from the month's end. */
static enum status read_date(const struct piece *piece, struct timer_calendar *ret,
                             struct parse_error *reterr)
{
    struct piece parts[3];
    char cuts[3];
    uint64_t months = 0, days = 0;
    enum status st = OK;
    size_t count = cut(piece, "-~", parts, 3, cuts);
    if (count < 2 || (count == 3 && cuts[0] != '-'))
        return parse_fail(reterr, piece->column, "expected a date like *-*-01 or *-02~01");
    if (count == 3)
        st = read_years(&parts[0], ret, reterr);
    if (st == OK)
        st = read_mask(&parts[count - 2], &month_part, &months, reterr);
    if (st != OK)
        return st;
    ret->months = (uint16_t)months;
    if (cuts[count - 2] == '~')
        return read_last_days(&parts[count - 1], ret, reterr);
    st = read_mask(&parts[count - 1], &day_part, &days, reterr);
    ret->days = (uint32_t)days;
    return st;
}

static enum status read_time(const struct piece *piece, struct timer_calendar *ret,
                             struct parse_error *reterr)
{
    struct piece parts[3];
    char cuts[3];
    uint64_t hours = 0;
    size_t count = cut(piece, ":", parts, 3, cuts);
    if (count < 2)
        return parse_fail(reterr, piece->column, "expected a time like 09:30 or *:0/15:00");
    enum status st = read_mask(&parts[0], &hour_part, &hours, reterr);
    if (st == OK)
        st = read_mask(&parts[1], &minute_part, &ret->minutes, reterr);
    if (st == OK && count == 3)
        st = read_mask(&parts[2], &second_part, &ret->seconds, reterr);
    ret->hours = (uint32_t)hours;
    return st;
}

/* ---- the whole ---- */

enum { PIECES_MAX = 4 }; /* weekdays, date, time, zone */

/* 0: too many. */
static size_t split(const char *text, struct piece *pieces)
{
    size_t count = 0;
    for (const char *at = text + strspn(text, " "); *at; at += strspn(at, " ")) {
        if (count == PIECES_MAX)
            return 0;
        size_t length = strcspn(at, " ");
        pieces[count++] = (struct piece){at, length, (int)(at - text) + 1};
        at += length;
    }
    return count;
}

static bool is_piece(const struct piece *piece, const char *word)
{
    return piece->length == strlen(word) && strncasecmp(piece->text, word, piece->length) == 0;
}

/* NULL: it is no shorthand. */
static const char *find_shorthand(const struct piece *piece)
{
    static const struct {
        const char *name, *event;
    } shorthands[] = {{"minutely", "*:*"},
                      {"hourly", "*:00"},
                      {"daily", "00:00"},
                      {"weekly", "Mon 00:00"},
                      {"monthly", "*-01 00:00"},
                      {"quarterly", "01,04,07,10-01 00:00"},
                      {"yearly", "01-01 00:00"},
                      {"annually", "01-01 00:00"},
                      {"anually", "01-01 00:00"},
                      {"biannually", "01,07-01 00:00"},
                      {"bi-annually", "01,07-01 00:00"},
                      {"semiannually", "01,07-01 00:00"},
                      {"semi-annually", "01,07-01 00:00"}};
    for (size_t i = 0; i < sizeof(shorthands) / sizeof(shorthands[0]); i++) {
        if (is_piece(piece, shorthands[i].name))
            return shorthands[i].event;
    }
    return NULL;
}

/* Takes the zone off the end, if there is one: a word behind the first that begins with a letter.
 */
static enum status take_zone(struct piece *pieces, size_t *inout_count, struct zone_db *zones,
                             struct timer_calendar *ret, struct parse_error *reterr)
{
    const struct piece *last = &pieces[*inout_count - 1];
    const struct zone *zone;
    if (*inout_count < 2 || !isalpha((unsigned char)*last->text))
        return OK;
    (*inout_count)--;
    if (is_piece(last, "UTC")) {
        ret->zone = "UTC";
        return OK;
    }
    enum status st = zone_db_get(zones, last->text, &zone, reterr);
    if (st == OK)
        ret->zone = last->text;
    else if (st != E_NOMEM && reterr)
        reterr->column = last->column;
    return st == E_CORRUPT || st == E_IO ? E_INVALID : st;
}

static enum status read_instant(const struct piece *piece, struct timer_calendar *ret,
                                struct parse_error *reterr)
{
    char *end;
    long long value =
        isdigit((unsigned char)piece->text[1]) ? strtoll(piece->text + 1, &end, 10) : -1;
    if (value < 0 || end != piece->text + piece->length || value > INT64_C(253402300799))
        return parse_fail(reterr, piece->column, "expected seconds since 1970 after '@'");
    ret->is_instant = true;
    ret->at_s = value;
    return OK;
}

static enum status read_pieces(const struct piece *pieces, size_t count, struct timer_calendar *ret,
                               struct parse_error *reterr)
{
    size_t i = 0;
    enum status st = OK;
    if (count == 1 && *pieces->text == '@')
        return read_instant(pieces, ret, reterr);
    if (i < count && isalpha((unsigned char)*pieces[i].text))
        st = read_weekdays(&pieces[i++], &ret->weekdays, reterr);
    if (st == OK && i < count && !memchr(pieces[i].text, ':', pieces[i].length))
        st = read_date(&pieces[i++], ret, reterr);
    if (st == OK && i < count)
        st = read_time(&pieces[i++], ret, reterr);
    if (st == OK && i < count)
        return parse_fail(reterr, pieces[i].column, "unexpected text after the time");
    return st;
}

enum status timer_calendar_read(const char *text, struct zone_db *zones, struct timer_calendar *ret,
                                struct parse_error *reterr)
{
    struct piece pieces[PIECES_MAX];
    struct timer_calendar calendar = {.seconds = 1,
                                      .minutes = 1,
                                      .hours = 1,
                                      .days = UINT32_MAX - 1,
                                      .months = 0x1ffe,
                                      .weekdays = WEEKDAYS_ALL,
                                      .is_any_year = true};
    size_t count = split(text, pieces);
    if (!count)
        return parse_fail(reterr, 1,
                          "expected weekdays, a date, a time and a zone, each at most "
                          "once: Mon..Fri *-*-* 09:00 Europe/Berlin");
    enum status st = take_zone(pieces, &count, zones, &calendar, reterr);
    if (st != OK)
        return st;
    const char *event = count == 1 ? find_shorthand(pieces) : NULL;
    if (event)
        count = split(event, pieces);
    st = read_pieces(pieces, count, &calendar, reterr);
    if (st == OK)
        *ret = calendar;
    return st;
}

/* ---- as a schedule ---- */

/* Values with commas between them, neighbours as ranges; `*` if all are in it, since then the field
 * says nothing. `print` writes one value. */
static void print_mask(uint64_t mask, int least, int most, void (*print)(int, struct strbuf *),
                       struct strbuf *out)
{
    bool is_first = true;
    uint64_t all =
        ((UINT64_C(1) << most) - 1 + (UINT64_C(1) << most)) & ~((UINT64_C(1) << least) - 1);
    if ((mask & all) == all) {
        strbuf_addc(out, '*');
        return;
    }
    for (int value = least; value <= most; value++) {
        if (!(mask >> value & 1))
            continue;
        int last = value;
        while (last < most && (mask >> (last + 1) & 1))
            last++;
        strbuf_adds(out, is_first ? "" : ",");
        print(value, out);
        if (last > value) {
            strbuf_addc(out, last > value + 1 ? '-' : ',');
            print(last, out);
        }
        is_first = false;
        value = last;
    }
}

/* Evenly spaced values, from four on, are written as steps. */
static bool print_steps(uint64_t mask, int most, struct strbuf *out)
{
    int first = -1, step = 0, last = -1, count = 0;
    for (int value = 0; value <= most; value++) {
        if (!(mask >> value & 1))
            continue;
        if (first < 0)
            first = value;
        else if (!step)
            step = value - last;
        else if (value - last != step)
            return false;
        last = value;
        count++;
    }
    if (count < 4 || step < 2)
        return false;
    strbuf_addf(out, "%d-%d/%d", first, last, step);
    return true;
}

static void print_number(int value, struct strbuf *out)
{
    strbuf_addf(out, "%d", value);
}

static void print_weekday(int day, struct strbuf *out)
{
    static const char *const names[] = {"", "MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"};
    strbuf_adds(out, names[day]);
}

static void print_last_day(int before, struct strbuf *out)
{
    strbuf_adds(out, before ? "L-" : "L");
    if (before)
        print_number(before, out);
}

static void print_clock(uint64_t mask, int most, struct strbuf *out)
{
    if (!print_steps(mask, most, out))
        print_mask(mask, 0, most, print_number, out);
    strbuf_addc(out, ' ');
}

static void print_days(const struct timer_calendar *calendar, struct strbuf *out)
{
    bool is_first = true;
    if (!calendar->days_to_last) {
        print_mask(calendar->days, 1, 31, print_number, out);
        return;
    }
    for (int i = 0; i < DAYS_FROM_END; i++) {
        if (!(calendar->days_to_last >> i & 1))
            continue;
        strbuf_adds(out, is_first ? "" : ",");
        print_last_day(i, out);
        is_first = false;
    }
}

static void print_years(const struct timer_calendar *calendar, struct strbuf *out)
{
    bool is_first = true;
    for (int i = 0; i < TIMER_YEARS; i++) {
        if (!calendar->years[i])
            continue;
        int last = i;
        while (last + 1 < TIMER_YEARS && calendar->years[last + 1])
            last++;
        strbuf_addf(out, "%s%d", is_first ? " " : ",", TIMER_YEAR_MIN + i);
        if (last > i)
            strbuf_addf(out, "-%d", TIMER_YEAR_MIN + last);
        is_first = false;
        i = last;
    }
}

void timer_calendar_schedule(const struct timer_calendar *calendar, struct strbuf *out)
{
    if (calendar->is_instant) {
        strbuf_adds(out, "@at ");
        timestamp_print_utc(calendar->at_s, out);
        return;
    }
    if (calendar->seconds != 1 || !calendar->is_any_year)
        print_clock(calendar->seconds, 59, out);
    print_clock(calendar->minutes, 59, out);
    print_clock(calendar->hours, 23, out);
    print_days(calendar, out);
    strbuf_addc(out, ' ');
    print_mask(calendar->months, 1, 12, print_number, out);
    strbuf_addc(out, ' ');
    bool is_any_day = !calendar->days_to_last && calendar->days == UINT32_MAX - 1;
    if (calendar->weekdays != WEEKDAYS_ALL && !is_any_day)
        strbuf_addc(out, '+');
    print_mask(calendar->weekdays, 1, 7, print_weekday, out);
    if (!calendar->is_any_year)
        print_years(calendar, out);
}
