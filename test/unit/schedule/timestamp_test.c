#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "random_cron.h"
#include "timestamp.h"
#include "zone/zone_db.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

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

static const struct zone *zone(struct zone_db *zones, const char *name)
{
    const struct zone *found = NULL;
    assert_int_equal(zone_db_get(zones, name, &found, NULL), OK);
    return found;
}

static void texts_become_instants(void **state)
{
    static const struct {
        int line;
        const char *zone, *text;
        int64_t want_s;
    } cases[] = {
        {__LINE__, "UTC", "1970-01-01T00:00:00Z", 0},
        {__LINE__, "UTC", "1969-12-31T23:59:59Z", -1},
        {__LINE__, "UTC", "2027-01-01T00:00:00Z", 1798761600},
        {__LINE__, "UTC", "2027-01-01t00:00:00z", 1798761600},
        {__LINE__, "UTC", "2027-01-01 00:00:00Z", 1798761600},
        {__LINE__, "UTC", "2027-01-01T08:00:00+08:00", 1798761600},
        {__LINE__, "UTC", "2026-12-31T18:30:00-05:30", 1798761600},
        {__LINE__, "UTC", "2027-01-01T08:00:00+0800", 1798761600},
        {__LINE__, "UTC", "2027-01-01T00:00-00:00", 1798761600},
        {__LINE__, "UTC", "2027-01-01T00:00Z", 1798761600},
        {__LINE__, "UTC", "2027-01-01T00:00", 1798761600},
        {__LINE__, "UTC", "2027-01-01", 1798761600},
        {__LINE__, "UTC", "2028-02-29", 1835395200},
        {__LINE__, "UTC", "0001-01-01T00:00:00Z", INT64_C(-62135596800)},
        {__LINE__, "UTC", "9999-12-31T23:59:59Z", INT64_C(253402300799)},
        {__LINE__, "UTC", "2038-01-19T03:14:08Z", INT64_C(2147483648)},
        /* an offset outranks the zone */
        {__LINE__, "Asia/Shanghai", "2027-01-01T00:00:00Z", 1798761600},
        {__LINE__, "Asia/Shanghai", "2027-01-01T08:00:00", 1798761600},
        {__LINE__, "Asia/Shanghai", "2027-01-01 08:00", 1798761600},
        {__LINE__, "Asia/Kathmandu", "2027-01-01T05:45", 1798761600},
        /* a gap: its end; a fold: the first pass */
        {__LINE__, "America/New_York", "2026-03-08T01:59:59", 1772953199},
        {__LINE__, "America/New_York", "2026-03-08T02:00:00", 1772953200},
        {__LINE__, "America/New_York", "2026-03-08T02:30:00", 1772953200},
        {__LINE__, "America/New_York", "2026-03-08T03:00:00", 1772953200},
        {__LINE__, "America/New_York", "2026-03-08T03:00:01", 1772953201},
        {__LINE__, "America/New_York", "2026-11-01T00:59:59", 1793509199},
        {__LINE__, "America/New_York", "2026-11-01T01:00:00", 1793509200},
        {__LINE__, "America/New_York", "2026-11-01T01:59:59", 1793512799},
        {__LINE__, "America/New_York", "2026-11-01T02:00:00", 1793516400},
        {__LINE__, "Australia/Lord_Howe", "2026-10-04T02:15", 1791041400},
        {__LINE__, "Pacific/Apia", "2011-12-30T12:00", 1325239200},
        {__LINE__, "Pacific/Apia", "2011-12-29T23:59:59", 1325239199},
        {__LINE__, "Pacific/Apia", "2011-12-31", 1325239200},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        int64_t got = 0;
        struct parse_error err = {0};
        enum status st = timestamp_parse(cases[i].text, 1, zone(*state, cases[i].zone), &got, &err);
        if (st != OK || got != cases[i].want_s)
            fail_msg("line %d: \"%s\" gives %lld %s", cases[i].line, cases[i].text, (long long)got,
                     err.message);
    }
}

static void errors_say_where_and_why(void **state)
{
    (void)state;
    static const struct {
        int line;
        const char *text;
        int column;
        const char *message;
    } cases[] = {
        {__LINE__, "", 5, "not a time"},
        {__LINE__, "tomorrow", 5, "not a time"},
        {__LINE__, "27-01-01", 5, "not a time"},
        {__LINE__, "2027", 9, "not a date"},
        {__LINE__, "2027-1-01", 10, "not a time"},
        {__LINE__, "2027/01/01", 9, "not a date"},
        {__LINE__, "2027-01", 12, "not a date"},
        {__LINE__, "2027-00-01", 10, "month 0 is out of range 1-12"},
        {__LINE__, "2027-13-01", 10, "month 13 is out of range 1-12"},
        {__LINE__, "2027-02-29", 13, "day 29 is out of range 1-28"},
        {__LINE__, "2028-02-30", 13, "day 30 is out of range 1-29"},
        {__LINE__, "2027-01-00", 13, "day 0 is out of range 1-31"},
        {__LINE__, "0000-01-01", 5, "year 0 is out of range 1-9999"},
        {__LINE__, "12027-01-01", 9, "not a date"},
        {__LINE__, "2027-01-01T", 16, "not a time"},
        {__LINE__, "2027-01-01T10", 18, "not a time of day"},
        {__LINE__, "2027-01-01T24:00", 16, "hour 24 is out of range 0-23"},
        {__LINE__, "2027-01-01T10:60", 19, "minute 60 is out of range 0-59"},
        {__LINE__, "2027-01-01T10:00:60Z", 22, "second 60 is out of range 0-59"},
        {__LINE__, "2027-01-01T10:00:00.5Z", 24, "times are to the second"},
        {__LINE__, "2027-01-01T10:00:00+24:00", 25, "offset hour 24 is out of range 0-23"},
        {__LINE__, "2027-01-01T10:00:00+10:60", 28, "offset minute 60 is out of range 0-59"},
        {__LINE__, "2027-01-01T10:00:00+1", 25, "not a time"},
        {__LINE__, "2027-01-01T10:00:00ZZ", 25, "unexpected text after the time"},
        {__LINE__, "2027-01-01Z", 15, "unexpected text after the time"},
        {__LINE__, "2027-01-01T10:00:00 UTC", 24, "unexpected text after the time"},
        {__LINE__, " 2027-01-01", 5, "not a time"},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        int64_t untouched = -7;
        struct parse_error err = {0};
        enum status st = timestamp_parse(cases[i].text, 5, zone_utc(), &untouched, &err);
        if (st != E_INVALID || err.column != cases[i].column || untouched != -7 ||
            strncmp(err.message, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("line %d: \"%s\" gives %d :%d %s", cases[i].line, cases[i].text, st,
                     err.column, err.message);
        assert_int_equal(timestamp_parse(cases[i].text, 5, zone_utc(), &untouched, NULL),
                         E_INVALID);
    }
}

static void instants_print_in_utc_and_locally(void **state)
{
    static const struct {
        int line;
        int64_t utc_s;
        const char *zone, *want;
    } cases[] = {
        {__LINE__, 0, "UTC", "1970-01-01T00:00:00Z"},
        {__LINE__, -1, "UTC", "1969-12-31T23:59:59Z"},
        {__LINE__, 1772953199, "America/New_York", "2026-03-08T01:59:59-05:00"},
        {__LINE__, 1772953200, "America/New_York", "2026-03-08T03:00:00-04:00"},
        {__LINE__, 1798761600, "Asia/Kathmandu", "2027-01-01T05:45:00+05:45"},
        {__LINE__, 1798761600, "Europe/London", "2027-01-01T00:00:00Z"},
        {__LINE__, -2000000000, "Africa/Monrovia", "1906-08-16T19:43:32-00:43:08"},
        {__LINE__, INT64_C(253402300800), "UTC", "10000-01-01T00:00:00Z"},
    };
    struct strbuf out;
    strbuf_init(&out);
    for (size_t i = 0; i < ROWS(cases); i++) {
        strbuf_reset(&out);
        timestamp_print_local(cases[i].utc_s, zone(*state, cases[i].zone), &out);
        if (strcmp(out.text, cases[i].want) != 0)
            fail_msg("line %d: %s", cases[i].line, out.text);
    }
    strbuf_reset(&out);
    timestamp_print_utc(1772953200, &out);
    assert_string_equal(out.text, "2026-03-08T07:00:00Z");
    strbuf_release(&out);
}

/* With its offset, a printed time is the same instant in every zone. */
static void what_is_printed_parses_back(void **state)
{
    static const char *const names[] = {"UTC", "America/New_York", "Australia/Lord_Howe",
                                        "Pacific/Apia", "Asia/Kathmandu"};
    uint64_t seed = random_seed();
    struct random random = random_new(seed);
    struct strbuf out;
    strbuf_init(&out);
    for (int i = 0; i < 20000; i++) {
        const struct zone *in = zone(*state, names[i % 5]);
        int64_t back = 0, utc_s = (int64_t)(random_next(&random) % UINT64_C(8000000000));
        strbuf_reset(&out);
        timestamp_print_local(utc_s, in, &out);
        if (timestamp_parse(out.text, 1, in, &back, NULL) != OK || back != utc_s)
            fail_msg("PEAL_SEED=%llu: %lld prints %s", (unsigned long long)seed, (long long)utc_s,
                     out.text);
    }
    strbuf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_become_instants),
        cmocka_unit_test(errors_say_where_and_why),
        cmocka_unit_test(instants_print_in_utc_and_locally),
        cmocka_unit_test(what_is_printed_parses_back),
    };
    return cmocka_run_group_tests(tests, open_zones, close_zones);
}
