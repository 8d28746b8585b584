/* Where local time jumps: what is due, in zones with every kind of jump. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "schedule.h"
#include "timestamp.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

/* Jumps of 2026, in UTC:
 *   New York   gap 03-08 07:00, 02 -> 03     fold 11-01 06:00, 02 -> 01
 *   Berlin     gap 03-29 01:00, 02 -> 03     fold 10-25 01:00, 03 -> 02
 *   Lord Howe  gap 10-03 15:30, 02 -> 02:30  fold 04-04 15:00, 02 -> 01:30
 *   Troll      gap 03-29 01:00, 01 -> 03     fold 10-25 01:00, 03 -> 01
 *   Santiago   gap 09-06 04:00, 00 -> 01     fold 04-05 03:00, 24 -> 23
 *   Casey      gap 2009-10-17 18:00, 02 -> 05, fold 2010-03-04 15:00, 02 -> 23 */
#define NEW_YORK  "America/New_York"
#define BERLIN    "Europe/Berlin"
#define LORD_HOWE "Australia/Lord_Howe"
#define TROLL     "Antarctica/Troll"
#define SANTIAGO  "America/Santiago"
#define CASEY     "Antarctica/Casey"

/* Times are UTC. The ticks must follow one another; going back gives them again. */
static const struct {
    int line;
    const char *zone;
    enum dst_policy dst;
    const char *expr, *after;
    const char *want; /* separated by spaces */
} cases[] = {
    /* a gap, fixed times: once, at its end */
    {__LINE__, NEW_YORK, DST_DEFAULT, "30 2 * * *", "2026-03-07T00:00",
     "2026-03-07T07:30 2026-03-08T07:00 2026-03-09T06:30"},
    {__LINE__, NEW_YORK, DST_DEFAULT, "0 2 * * *", "2026-03-07T00:00",
     "2026-03-07T07:00 2026-03-08T07:00 2026-03-09T06:00"},
    {__LINE__, NEW_YORK, DST_DEFAULT, "0 3 * * *", "2026-03-07T00:00",
     "2026-03-07T08:00 2026-03-08T07:00 2026-03-09T07:00"},
    {__LINE__, NEW_YORK, DST_DEFAULT, "59 1 * * *", "2026-03-07T12:00",
     "2026-03-08T06:59 2026-03-09T05:59"},
    {__LINE__, NEW_YORK, DST_DEFAULT, "15,45 2 * * *", "2026-03-07T07:15",
     "2026-03-07T07:45 2026-03-08T07:00 2026-03-09T06:15"},
    {__LINE__, NEW_YORK, DST_DEFAULT, "0 2,3 * * *", "2026-03-07T07:00",
     "2026-03-07T08:00 2026-03-08T07:00 2026-03-09T06:00 2026-03-09T07:00"},
    {__LINE__, NEW_YORK, DST_DEFAULT, "30 30 2 8 3 * 2026", "2026-01-01T00:00",
     "2026-03-08T07:00 never"},
    {__LINE__, NEW_YORK, DST_BOTH, "30 2 * * *", "2026-03-07T12:00", "2026-03-08T07:00"},
    {__LINE__, NEW_YORK, DST_SKIP, "30 2 * * *", "2026-03-07T00:00",
     "2026-03-07T07:30 2026-03-09T06:30"},
    {__LINE__, NEW_YORK, DST_SKIP, "0 2,3 * * *", "2026-03-07T08:00",
     "2026-03-08T07:00 2026-03-09T06:00"},
    /* a gap, not fixed: what the clock shows */
    {__LINE__, NEW_YORK, DST_DEFAULT, "30 * * * *", "2026-03-08T05:45",
     "2026-03-08T06:30 2026-03-08T07:30 2026-03-08T08:30"},
    {__LINE__, NEW_YORK, DST_DEFAULT, "*/30 2 * * *", "2026-03-07T07:20",
     "2026-03-07T07:30 2026-03-09T06:00 2026-03-09T06:30"},
    {__LINE__, NEW_YORK, DST_DEFAULT, "0-59 2 * * *", "2026-03-07T07:58",
     "2026-03-07T07:59 2026-03-09T06:00"},
    {__LINE__, NEW_YORK, DST_DEFAULT, "30 0-23 * * *", "2026-03-08T06:00",
     "2026-03-08T06:30 2026-03-08T07:30"},
    /* a fold, fixed times: the first pass */
    {__LINE__, NEW_YORK, DST_DEFAULT, "30 1 * * *", "2026-10-31T06:00",
     "2026-11-01T05:30 2026-11-02T06:30"},
    {__LINE__, NEW_YORK, DST_DEFAULT, "0 1 * * *", "2026-10-31T06:00",
     "2026-11-01T05:00 2026-11-02T06:00"},
    {__LINE__, NEW_YORK, DST_DEFAULT, "0 2 * * *", "2026-10-31T07:00",
     "2026-11-01T07:00 2026-11-02T07:00"},
    {__LINE__, NEW_YORK, DST_SKIP, "30 1 * * *", "2026-10-31T06:00",
     "2026-11-01T05:30 2026-11-02T06:30"},
    {__LINE__, NEW_YORK, DST_BOTH, "30 1 * * *", "2026-10-31T06:00",
     "2026-11-01T05:30 2026-11-01T06:30 2026-11-02T06:30"},
    /* a fold, not fixed: both passes */
    {__LINE__, NEW_YORK, DST_DEFAULT, "30 * * * *", "2026-11-01T04:45",
     "2026-11-01T05:30 2026-11-01T06:30 2026-11-01T07:30"},
    {__LINE__, NEW_YORK, DST_DEFAULT, "*/30 1 * * *", "2026-11-01T04:45",
     "2026-11-01T05:00 2026-11-01T05:30 2026-11-01T06:00 2026-11-01T06:30 2026-11-02T06:00"},
    /* from the very instant of a jump, and the second before */
    {__LINE__, NEW_YORK, DST_DEFAULT, "30 2 * * *", "2026-03-08T06:59:59", "2026-03-08T07:00"},
    {__LINE__, NEW_YORK, DST_DEFAULT, "30 2 * * *", "2026-03-08T07:00:00", "2026-03-09T06:30"},
    {__LINE__, NEW_YORK, DST_DEFAULT, "30 1 * * *", "2026-11-01T05:59:59", "2026-11-02T06:30"},
    {__LINE__, NEW_YORK, DST_DEFAULT, "30 1 * * *", "2026-11-01T06:00:00", "2026-11-02T06:30"},
    {__LINE__, NEW_YORK, DST_BOTH, "30 1 * * *", "2026-11-01T06:00:00", "2026-11-01T06:30"},
    {__LINE__, NEW_YORK, DST_BOTH, "0 1 * * *", "2026-11-01T05:00:00",
     "2026-11-01T06:00 2026-11-02T06:00"},
    {__LINE__, NEW_YORK, DST_DEFAULT, "*/30 1 * * *", "2026-11-01T05:00:00",
     "2026-11-01T05:30 2026-11-01T06:00 2026-11-01T06:30"},
    {__LINE__, NEW_YORK, DST_DEFAULT, "0 */1 * * *", "2026-11-01T05:00:00",
     "2026-11-01T06:00 2026-11-01T07:00"},
    /* always in a gap: Beirut skips midnight on the last Sunday of March, which a 26th is */
    {__LINE__, "Asia/Beirut", DST_SKIP, "0 0 26 3 +SUN", "2026-01-01T00:00", "never"},
    {__LINE__, "Asia/Beirut", DST_DEFAULT, "*/5 0 26 3 +SUN", "2026-01-01T00:00", "never"},
    {__LINE__, "Asia/Beirut", DST_DEFAULT, "0 0 26 3 +SUN", "2026-01-01T00:00",
     "2028-03-25T22:00 2034-03-25T22:00"},
    /* other hours and halves */
    {__LINE__, BERLIN, DST_DEFAULT, "30 2 * * *", "2026-03-28T12:00",
     "2026-03-29T01:00 2026-03-30T00:30"},
    {__LINE__, BERLIN, DST_DEFAULT, "30 2 * * *", "2026-10-24T12:00",
     "2026-10-25T00:30 2026-10-26T01:30"},
    {__LINE__, LORD_HOWE, DST_DEFAULT, "15 2 * * *", "2026-10-03T00:00",
     "2026-10-03T15:30 2026-10-04T15:15"},
    {__LINE__, LORD_HOWE, DST_DEFAULT, "45 1 * * *", "2026-04-04T00:00",
     "2026-04-04T14:45 2026-04-05T15:15"},
    {__LINE__, LORD_HOWE, DST_BOTH, "45 1 * * *", "2026-04-04T00:00",
     "2026-04-04T14:45 2026-04-04T15:15 2026-04-05T15:15"},
    {__LINE__, LORD_HOWE, DST_DEFAULT, "*/15 * * * *", "2026-04-04T14:40",
     "2026-04-04T14:45 2026-04-04T15:00 2026-04-04T15:15 2026-04-04T15:30"},
    {__LINE__, TROLL, DST_DEFAULT, "30 1 * * *", "2026-03-28T12:00",
     "2026-03-29T01:00 2026-03-29T23:30"},
    {__LINE__, TROLL, DST_DEFAULT, "30 1,2 * * *", "2026-03-28T12:00",
     "2026-03-29T01:00 2026-03-29T23:30 2026-03-30T00:30"},
    {__LINE__, TROLL, DST_DEFAULT, "30 1 * * *", "2026-10-24T12:00",
     "2026-10-24T23:30 2026-10-26T01:30"},
    {__LINE__, TROLL, DST_BOTH, "30 2 * * *", "2026-10-24T12:00",
     "2026-10-25T00:30 2026-10-25T02:30 2026-10-26T02:30"},
    {__LINE__, CASEY, DST_DEFAULT, "30 3 * * *", "2009-10-17T12:00",
     "2009-10-17T18:00 2009-10-18T16:30"},
    {__LINE__, CASEY, DST_DEFAULT, "30 0 * * *", "2010-03-04T00:00",
     "2010-03-04T13:30 2010-03-05T16:30"},
    /* midnight does not exist, or the day before comes back */
    {__LINE__, SANTIAGO, DST_DEFAULT, "0 0 * * *", "2026-09-05T12:00",
     "2026-09-06T04:00 2026-09-07T03:00"},
    {__LINE__, SANTIAGO, DST_DEFAULT, "30 0 * * SUN", "2026-09-05T12:00",
     "2026-09-06T04:00 2026-09-13T03:30"},
    {__LINE__, SANTIAGO, DST_DEFAULT, "30 23 * * *", "2026-04-04T12:00",
     "2026-04-05T02:30 2026-04-06T03:30"},
    {__LINE__, SANTIAGO, DST_BOTH, "30 23 * * SAT", "2026-04-04T12:00",
     "2026-04-05T02:30 2026-04-05T03:30 2026-04-12T03:30"},
    {__LINE__, SANTIAGO, DST_DEFAULT, "0 0 * * *", "2026-04-04T12:00",
     "2026-04-05T04:00 2026-04-06T04:00"},
    {__LINE__, "Asia/Beirut", DST_DEFAULT, "@daily", "2026-03-28T12:00",
     "2026-03-28T22:00 2026-03-29T21:00"},
    {__LINE__, "Asia/Beirut", DST_DEFAULT, "@daily", "2026-10-24T12:00",
     "2026-10-24T22:00 2026-10-25T22:00"},
    {__LINE__, "Africa/Cairo", DST_DEFAULT, "15 0 * * FRI", "2026-04-23T12:00",
     "2026-04-23T22:00 2026-04-30T21:15"},
    {__LINE__, "Africa/Casablanca", DST_DEFAULT, "30 2 * * *", "2026-02-14T12:00",
     "2026-02-15T01:30 2026-02-16T02:30"},
    {__LINE__, "Africa/Casablanca", DST_DEFAULT, "30 2 * * *", "2026-03-21T12:00",
     "2026-03-22T02:00 2026-03-23T01:30"},
    {__LINE__, "Europe/Dublin", DST_DEFAULT, "30 1 * * *", "2026-03-28T12:00",
     "2026-03-29T01:00 2026-03-30T00:30"},
    {__LINE__, "Europe/Dublin", DST_DEFAULT, "30 1 * * *", "2026-10-24T12:00",
     "2026-10-25T00:30 2026-10-26T01:30"},
    /* more than three hours: a correction, nothing is made up for and nothing is held back */
    {__LINE__, "Pacific/Apia", DST_DEFAULT, "0 12 * * *", "2011-12-29T00:00",
     "2011-12-29T22:00 2011-12-30T22:00"},
    {__LINE__, "Pacific/Apia", DST_DEFAULT, "0 12 30 12 *", "2011-12-01T00:00", "2012-12-29T22:00"},
    {__LINE__, "Pacific/Apia", DST_DEFAULT, "0 0 * * *", "2011-12-29T12:00",
     "2011-12-30T10:00 2011-12-31T10:00"},
    {__LINE__, "Pacific/Kwajalein", DST_DEFAULT, "0 12 * * *", "1969-09-29T12:00",
     "1969-09-30T01:00 1969-10-01T00:00 1969-10-02T00:00"},
    /* offsets of quarter hours, no DST at all, the far future */
    {__LINE__, "Asia/Kathmandu", DST_DEFAULT, "0 12 * * *", "2026-01-01T00:00",
     "2026-01-01T06:15 2026-01-02T06:15"},
    {__LINE__, "Asia/Kathmandu", DST_DEFAULT, "10 0 1 1 *", "1985-12-01T00:00",
     "1985-12-31T18:30 1986-12-31T18:25"},
    {__LINE__, "UTC", DST_DEFAULT, "30 2 * * *", "2026-03-08T00:00",
     "2026-03-08T02:30 2026-03-09T02:30"},
    {__LINE__, BERLIN, DST_DEFAULT, "30 2 * * *", "2038-03-27T12:00",
     "2038-03-28T01:00 2038-03-29T00:30"},
    {__LINE__, NEW_YORK, DST_DEFAULT, "30 2 * * *", "2099-03-07T12:00",
     "2099-03-08T07:00 2099-03-09T06:30"},
    {__LINE__, NEW_YORK, DST_DEFAULT, "30 1 * * *", "2099-10-31T12:00",
     "2099-11-01T05:30 2099-11-02T06:30"},
    {__LINE__, NEW_YORK, DST_DEFAULT, "0 0 29 2 *", "2096-03-01T00:00", "2104-02-29T05:00"},
    {__LINE__, NEW_YORK, DST_DEFAULT, "0 12 L * *", "2026-02-28T18:00",
     "2026-03-31T16:00 2026-04-30T16:00"},
};

static int open_zones(void **state)
{
    struct zone_db *zones = NULL;
    enum status st = zone_db_new(NULL, &zones);
    *state = zones;
    return st;
}

static int close_zones(void **state)
{
    zone_db_free(*state);
    return 0;
}

static int64_t at(const char *text)
{
    int64_t utc_s;
    if (strcmp(text, "never") == 0)
        return NEVER;
    assert_int_equal(timestamp_parse(text, 1, zone_utc(), &utc_s, NULL), OK);
    return utc_s;
}

static struct schedule *parsed(struct zone_db *zones, int line, const char *zone,
                               enum dst_policy dst, const char *text)
{
    struct schedule_options options = schedule_options_default();
    struct schedule *schedule = NULL;
    struct parse_error err;
    options.tz = zone;
    options.dst = dst;
    if (schedule_parse(text, &options, zones, &schedule, &err) != OK)
        fail_msg("line %d: \"%s\": %s", line, text, err.message);
    return schedule;
}

static void fail_with_time(int line, const char *what, int64_t got)
{
    struct strbuf out;
    strbuf_init(&out);
    timestamp_print_utc(got, &out);
    fail_msg("line %d: %s gives %s", line, what, got == NEVER ? "never" : out.text);
}

static void ticks_follow_the_rules(void **state)
{
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct schedule *schedule =
            parsed(*state, cases[i].line, cases[i].zone, cases[i].dst, cases[i].expr);
        char list[200], *rest = list;
        int64_t now = at(cases[i].after), ticks[6];
        int count = 0;
        snprintf(list, sizeof(list), "%s", cases[i].want);
        for (char *want; (want = strsep(&rest, " ")); count++) {
            ticks[count] = now = schedule_next(schedule, now);
            if (now != at(want))
                fail_with_time(cases[i].line, "next", now);
        }
        for (int k = count - 2; k >= 0; k--) {
            int64_t prev = schedule_prev(schedule, ticks[k + 1]);
            if (prev != ticks[k])
                fail_with_time(cases[i].line, "prev", prev);
        }
        schedule_free(schedule);
    }
}

static void ticks_tell_what_the_clock_did(void **state)
{
    static const struct {
        int line;
        const char *zone;
        enum dst_policy dst;
        const char *expr, *tick;
        enum tick_note_kind kind;
        const char *wanted; /* local */
    } notes[] = {
        {__LINE__, NEW_YORK, DST_DEFAULT, "30 2 * * *", "2026-03-07T07:30", TICK_PLAIN, NULL},
        {__LINE__, NEW_YORK, DST_DEFAULT, "30 2 * * *", "2026-03-08T07:00", TICK_MOVED,
         "2026-03-08T02:30"},
        {__LINE__, NEW_YORK, DST_DEFAULT, "15,45 2 * * *", "2026-03-08T07:00", TICK_MOVED,
         "2026-03-08T02:15"},
        {__LINE__, NEW_YORK, DST_DEFAULT, "0 3 * * *", "2026-03-08T07:00", TICK_PLAIN, NULL},
        {__LINE__, NEW_YORK, DST_DEFAULT, "30 3 * * *", "2026-03-08T07:30", TICK_PLAIN, NULL},
        {__LINE__, NEW_YORK, DST_DEFAULT, "30 1 * * *", "2026-11-01T05:30", TICK_FIRST_PASS, NULL},
        {__LINE__, NEW_YORK, DST_BOTH, "30 1 * * *", "2026-11-01T06:30", TICK_SECOND_PASS, NULL},
        {__LINE__, NEW_YORK, DST_DEFAULT, "*/30 * * * *", "2026-11-01T05:00", TICK_FIRST_PASS,
         NULL},
        {__LINE__, NEW_YORK, DST_DEFAULT, "*/30 * * * *", "2026-11-01T06:00", TICK_SECOND_PASS,
         NULL},
        {__LINE__, NEW_YORK, DST_DEFAULT, "*/30 * * * *", "2026-11-01T04:30", TICK_PLAIN, NULL},
        {__LINE__, NEW_YORK, DST_DEFAULT, "*/30 * * * *", "2026-11-01T07:00", TICK_PLAIN, NULL},
        {__LINE__, TROLL, DST_DEFAULT, "30 1,2 * * *", "2026-03-29T01:00", TICK_MOVED,
         "2026-03-29T01:30"},
        {__LINE__, "Pacific/Apia", DST_DEFAULT, "0 0 * * *", "2011-12-30T10:00", TICK_PLAIN, NULL},
        {__LINE__, "UTC", DST_DEFAULT, "30 2 * * *", "2026-03-08T02:30", TICK_PLAIN, NULL},
        {__LINE__, NEW_YORK, DST_DEFAULT, "@every 1h", "2026-11-01T06:00", TICK_PLAIN, NULL},
    };
    for (size_t i = 0; i < ROWS(notes); i++) {
        struct schedule *schedule =
            parsed(*state, notes[i].line, notes[i].zone, notes[i].dst, notes[i].expr);
        struct tick_note note = schedule_tick_note(schedule, at(notes[i].tick));
        if (schedule_next(schedule, at(notes[i].tick) - 1) != at(notes[i].tick))
            fail_msg("line %d: there is no such tick", notes[i].line);
        if (note.kind != notes[i].kind ||
            (notes[i].wanted && note.wanted_local_s != at(notes[i].wanted)))
            fail_msg("line %d: note %d, local %lld", notes[i].line, note.kind,
                     (long long)note.wanted_local_s);
        schedule_free(schedule);
    }
}

/* Strictly after and never backwards, second by second through a gap and a fold. */
static void next_is_monotone(void **state)
{
    static const char *const exprs[] = {"30 2 * * *", "*/20 * * * *", "30 1 * * *", "0 0 1 * *"};
    static const char *const jumps[] = {"2026-03-08T07:00", "2026-11-01T06:00"};
    for (size_t i = 0; i < ROWS(exprs); i++) {
        for (size_t k = 0; k < ROWS(jumps); k++) {
            struct schedule *schedule =
                parsed(*state, __LINE__, NEW_YORK, (enum dst_policy)(i % 3), exprs[i]);
            int64_t last = 0, jump = at(jumps[k]);
            for (int64_t now = jump - 8000; now < jump + 8000; now++) {
                int64_t next = schedule_next(schedule, now);
                if (next <= now || next < last)
                    fail_msg("\"%s\" from %lld goes to %lld", exprs[i], (long long)now,
                             (long long)next);
                last = next;
            }
            schedule_free(schedule);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_follow_the_rules),
        cmocka_unit_test(ticks_tell_what_the_clock_did),
        cmocka_unit_test(next_is_monotone),
    };
    return cmocka_run_group_tests(tests, open_zones, close_zones);
}
