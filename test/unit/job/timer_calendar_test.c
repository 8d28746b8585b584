/* Calendar events of systemd: what they are as schedules, and that both have the same ticks, by
 * systemd's own word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "random_cron.h"
#include "schedule.h"
#include "systemd/time_span.h"
#include "systemd/timer_calendar.h"
#include "timestamp.h"

static struct zone_db *zones;

static int open_zones(void **state)
{
    (void)state;
    return zone_db_new(NULL, &zones) == OK ? 0 : -1;
}

static int close_zones(void **state)
{
    (void)state;
    zones = zone_db_free(zones);
    return 0;
}

/* The schedule and its zone, or what is wrong, with its column. */
static const struct {
    int line;
    const char *event, *want;
} events[] = {
    {__LINE__, "minutely", "* * * * *"},
    {__LINE__, "Daily", "0 0 * * *"},
    {__LINE__, "weekly", "0 0 * * MON"},
    {__LINE__, "quarterly", "0 0 1 1,4,7,10 *"},
    {__LINE__, "semi-annually UTC", "0 0 1 1,7 * in UTC"},
    {__LINE__, "Mon..Fri,Sun 9..17:0/30 Europe/Berlin",
     "0,30 9-17 * * MON-FRI,SUN in Europe/Berlin"},
    {__LINE__, "Sat,Thu,Mon..Wed *-*-1,15 10:00", "0 10 1,15 * +MON-THU,SAT"},
    {__LINE__, "Mon-Wed 10:00", "0 10 * * MON-WED"},
    {__LINE__, "monday, 10:00", "0 10 * * MON"},
    {__LINE__, "10-15", "0 0 15 10 *"},
    {__LINE__, "2027-03-05 08:05:40", "40 5 8 5 3 * 2027"},
    {__LINE__, "28..30-1-1", "0 0 0 1 1 * 2028-2030"},
    {__LINE__, "*-*-* *:*:0/10", "0-50/10 * * * * *"},
    {__LINE__, "00/2:15,45", "15,45 0-22/2 * * *"},
    {__LINE__, "*:0/7", "0-56/7 * * * *"},
    {__LINE__, "*-02~01 3:00", "0 3 L 2 *"},
    {__LINE__, "Mon *-05~07/1", "0 0 L,L-1,L-2,L-3,L-4,L-5,L-6 5 +MON"},
    {__LINE__, "*-*~03..08/2", "0 0 L-2,L-4,L-6 * *"},
    {__LINE__, "*-*~*", "0 0 * * *"},
    {__LINE__, "5..5:00:00.000", "0 5 * * *"},
    {__LINE__, "@1395716396", "@at 2014-03-25T02:59:56Z"},
    {__LINE__, "Mon..Sun 00:00", "0 0 * * *"},
    /* what is refused */
    {__LINE__, "",
     "1 expected weekdays, a date, a time and a zone, each at most once: Mon..Fri "
     "*-*-* 09:00 Europe/Berlin"},
    {__LINE__, "*:*:0/0.5", "8 times are to the second"},
    {__LINE__, "24:00", "1 hour 24 is out of range 0-23"},
    {__LINE__, "*:60", "3 minute 60 is out of range 0-59"},
    {__LINE__, "*-*~29", "5 day of month 29 is out of range 1-28"},
    {__LINE__, "1969-1-1 0:0", "1 year 1969 is out of range 1970-2199"},
    {__LINE__, "*-*-3..1", "5 a range goes from low to high"},
    {__LINE__, "Fri..Mon 10:00", "6 a range goes from low to high"},
    {__LINE__, "Mon.. 10:00", "4 a range has two ends"},
    {__LINE__, "*:0/0", "5 a step is 1 or more"},
    {__LINE__, "*:1x", "4 expected ',' here, or the end of the minute"},
    {__LINE__, "*:", "3 expected a number"},
    {__LINE__, "*:1234567890", "12 number too large"},
    {__LINE__, "10:00 10:00", "7 unexpected text after the time"},
    {__LINE__, "10", "1 expected a date like *-*-01 or *-02~01"},
    {__LINE__, "*~*-*", "1 expected a date like *-*-01 or *-02~01"},
    {__LINE__, "Mox 10:00", "1 unknown weekday \"Mox 10:00\"; known: mon tue wed thu fri sat sun"},
    {__LINE__, "10:00 Mars/X", "7 unknown time zone \"Mars/X\""},
    {__LINE__, "@x", "1 expected seconds since 1970 after '@'"},
};

static void show(const char *text, struct strbuf *got)
{
    struct timer_calendar calendar;
    struct parse_error err = {0};
    enum status st = timer_calendar_read(text, zones, &calendar, &err);
    if (st != OK) {
        strbuf_addf(got, "%d %s", err.column, err.message);
        return;
    }
    timer_calendar_schedule(&calendar, got);
    if (calendar.zone)
        strbuf_addf(got, " in %s", calendar.zone);
}

static void an_event_is_a_schedule(void **state)
{
    bool failed = false;
    (void)state;
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        struct strbuf got;
        strbuf_init(&got);
        show(events[i].event, &got);
        if (strcmp(got.text, events[i].want) != 0) {
            print_error("line %d: got \"%s\"\nwanted \"%s\"\n", events[i].line, got.text,
                        events[i].want);
            failed = true;
        }
        strbuf_release(&got);
    }
    assert_false(failed);
}

static const struct {
    int line;
    const char *text;
    int64_t want_us; /* -1: refused */
} spans[] = {
    {__LINE__, "90", 90000000},
    {__LINE__, "5h 30min", 19800000000},
    {__LINE__, "1.5h", 5400000000},
    {__LINE__, "1w2d", 777600000000},
    {__LINE__, "300ms20s", 20300000},
    {__LINE__, "1month", 2629800000000},
    {__LINE__, "1M 1m", 2629860000000},
    {__LINE__, "50us", 50},
    {__LINE__, "infinity", SPAN_INFINITE},
    {__LINE__, "", -1},
    {__LINE__, "1x", -1},
    {__LINE__, "h", -1},
    {__LINE__, "-5", -1},
    {__LINE__, "99999999999999999999y", -1},
    {__LINE__, ".", -1},
};

static void a_time_span_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
        struct parse_error err = {0};
        int64_t us = -1;
        enum status st = time_span_read(spans[i].text, &us, &err);
        if (us != spans[i].want_us || (st != OK) != (spans[i].want_us < 0))
            fail_msg("line %d: \"%s\" is %lld", spans[i].line, spans[i].text, (long long)us);
    }
}

/* ---- systemd's own word ---- */

static const char base_text[] = "2027-02-26 11:22:33 UTC";
static const int64_t base_s = 1803640953;
enum { ITERATIONS = 25, EXPRESSIONS = 300, BATCH = 50 };

/* Steps have an end: those of systemd 252 without one, unless they divide the field, lose the first
 * time of a month. */
static void add_range(struct random *random, struct strbuf *out, int first, int high)
{
    int last = random_between(random, first + 1, high);
    strbuf_addf(out, "..%d", last);
    if (random_chance(random, 50))
        strbuf_addf(out, "/%d", random_between(random, 1, last - first));
}

static void add_list(struct random *random, struct strbuf *out, int low, int high, bool steps)
{
    if (random_chance(random, 30) && !steps) {
        strbuf_addc(out, '*');
        return;
    }
    for (int i = random_between(random, 1, 3); i > 0; i--) {
        int first = random_between(random, low, high - 1);
        strbuf_addf(out, "%d", first);
        if (random_chance(random, 40))
            add_range(random, out, first, high);
        strbuf_adds(out, i > 1 ? "," : "");
    }
}

static void add_date(struct random *random, struct strbuf *out)
{
    if (random_chance(random, 20))
        add_list(random, out, 2027, 2040, true);
    else
        strbuf_addc(out, '*');
    strbuf_addc(out, '-');
    add_list(random, out, 1, 12, false);
    bool is_from_end = random_chance(random, 30);
    strbuf_addc(out, is_from_end ? '~' : '-');
    if (is_from_end) /* systemd has no lists of ranges that it counts from both ends */
        strbuf_addf(out, "%02d", random_between(random, 1, 28));
    else
        add_list(random, out, 1, 31, false);
}

static void add_event(struct random *random, struct strbuf *out)
{
    static const char *const days[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
    static const char *const places[] = {"Asia/Tokyo", "Asia/Kolkata", "America/New_York",
                                         "Europe/Berlin", "Australia/Lord_Howe"};
    if (random_chance(random, 40)) {
        int first = random_between(random, 0, 5);
        strbuf_adds(out, days[first]);
        if (random_chance(random, 50))
            strbuf_addf(out, "..%s", days[random_between(random, first + 1, 6)]);
        else if (random_chance(random, 50))
            strbuf_addf(out, ",%s", days[random_between(random, 0, 6)]);
        strbuf_addc(out, ' ');
    }
    if (random_chance(random, 60)) {
        add_date(random, out);
        strbuf_addc(out, ' ');
    }
    add_list(random, out, 0, 23, false);
    strbuf_addc(out, ':');
    add_list(random, out, 0, 59, false);
    if (random_chance(random, 40)) {
        strbuf_addc(out, ':');
        add_list(random, out, 0, 59, false);
    }
    strbuf_addf(out, " %s",
                random_chance(random, 60) ? "UTC" : places[random_between(random, 0, 4)]);
}

/* Near a change of the clock systemd has its own way. */
static bool is_near_change(const struct zone *zone, int64_t at_s)
{
    enum { DAY = 86400 };
    struct zone_span span = zone_span_at(zone, at_s);
    return (span.start_s > INT64_MIN && at_s < span.start_s + DAY) ||
           (span.end_s < INT64_MAX && span.end_s < at_s + DAY);
}

static void compare(const char *event, const int64_t *theirs, size_t count, bool is_over)
{
    struct timer_calendar calendar;
    struct parse_error err = {0};
    struct schedule_options options = schedule_options_default();
    struct schedule *schedule = NULL;
    struct strbuf text;
    strbuf_init(&text);
    if (timer_calendar_read(event, zones, &calendar, &err) != OK)
        fail_msg("\"%s\": column %d: %s", event, err.column, err.message);
    timer_calendar_schedule(&calendar, &text);
    options.default_tz = calendar.zone;
    options.dst = DST_SKIP;
    if (schedule_parse(text.text, &options, zones, &schedule, &err) != OK)
        fail_msg("\"%s\" is \"%s\": %s", event, text.text, err.message);
    const struct zone *zone = schedule_zone(schedule);
    int64_t ours = schedule_next(schedule, base_s);
    for (size_t i = 0; i < count; i++) {
        if (is_near_change(zone, theirs[i]))
            continue;
        while (ours < theirs[i] && is_near_change(zone, ours))
            ours = schedule_next(schedule, ours);
        if (ours != theirs[i])
            fail_msg("\"%s\" is \"%s\": tick %zu is %lld, systemd's %lld", event, text.text, i,
                     (long long)ours, (long long)theirs[i]);
        ours = schedule_next(schedule, ours);
    }
    static const int64_t last_s = 7258118400; /* 2200, where systemd ends */
    if (is_over && ours < last_s && !is_near_change(zone, ours))
        fail_msg("\"%s\" is \"%s\": systemd ends, and tick %zu is %lld", event, text.text, count,
                 (long long)ours);
    schedule_free(schedule);
    strbuf_release(&text);
}

/* "    Next elapse: Fri 2027-02-26 12:00:00 UTC", "   Iter. #2: ..." */
static bool read_elapse(const char *line, int64_t *ret_s)
{
    const char *at = strstr(line, "elapse: ");
    at = at ? at : strstr(line, "Iter. #");
    at = at ? strstr(at, ": ") : NULL;
    if (!at || strncmp(at, ": never", 7) == 0)
        return false;
    char text[20];
    snprintf(text, sizeof(text), "%.19s", at + 6);
    return timestamp_parse(text, 1, zone_utc(), ret_s, NULL) == OK;
}

static void ask_systemd(struct strbuf *batch, size_t count)
{
    struct strbuf command;
    char line[300], event[300] = "";
    int64_t ticks[ITERATIONS];
    size_t found = 0, seen = 0;
    strbuf_init(&command);
    strbuf_addf(&command,
                "TZ=UTC LC_ALL=C systemd-analyze calendar --base-time='%s' "
                "--iterations=%d",
                base_text, ITERATIONS);
    for (size_t i = 0; i < count; i++)
        strbuf_addf(&command, " '%s'", batch[i].text);
    FILE *pipe = popen(command.text, "r");
    assert_non_null(pipe);
    bool has_original = false; /* it is left out where the normalized form is the same */
    while (fgets(line, sizeof(line), pipe)) {
        const char *form = strstr(line, "form: ");
        bool is_original = strstr(line, "Original form: ") != NULL;
        if (form && (is_original || !has_original)) {
            if (*event)
                compare(event, ticks, found, found < ITERATIONS);
            snprintf(event, sizeof(event), "%.*s", (int)strcspn(form + 6, "\n"), form + 6);
            found = 0;
            seen++;
        }
        if (form)
            has_original = is_original;
        else if (found < ITERATIONS && read_elapse(line, &ticks[found]))
            found++;
    }
    compare(event, ticks, found, found < ITERATIONS);
    assert_int_equal(pclose(pipe), 0); /* it has taken them all */
    assert_int_equal(seen, count);
    strbuf_release(&command);
}

static void its_ticks_are_those_of_systemd(void **state)
{
    struct random random = random_new(random_seed());
    (void)state;
    if (system("systemd-analyze calendar --base-time=now daily >/dev/null 2>&1") != 0)
        skip();
    print_message("PEAL_SEED=%llu\n", (unsigned long long)random.state);
    for (int done = 0; done < EXPRESSIONS * random_rounds(); done += BATCH) {
        struct strbuf batch[BATCH];
        for (int i = 0; i < BATCH; i++) {
            strbuf_init(&batch[i]);
            add_event(&random, &batch[i]);
        }
        ask_systemd(batch, BATCH);
        for (int i = 0; i < BATCH; i++)
            strbuf_release(&batch[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_is_a_schedule),
        cmocka_unit_test(a_time_span_is_read),
        cmocka_unit_test(its_ticks_are_those_of_systemd),
    };
    return cmocka_run_group_tests(tests, open_zones, close_zones);
}
