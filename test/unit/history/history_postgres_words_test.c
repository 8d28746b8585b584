/* What people are told when PostgreSQL refuses, and which month is which. */
#include "postgres/history_postgres_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static const struct place place = {.at.name = "peal@db.example:5432/peal"};

static void test_failures(void **state)
{
    static const struct {
        int line;
        const char *sqlstate;
        enum status want;
        const char *words;
    } cases[] = {
        {__LINE__, "53100", E_IO, "disk is full"},
        {__LINE__, "53200", E_IO, "lacks a resource"},
        {__LINE__, "25006", E_IO, "name the primary"},
        {__LINE__, "42501", E_IO, "Grant the rights"},
        {__LINE__, "57014", E_BUSY, "took too long"},
        {__LINE__, "40P01", E_CONFLICT, "in the way"},
        {__LINE__, "40001", E_CONFLICT, "in the way"},
        {__LINE__, "XX001", E_CORRUPT, "restore a backup"},
        {__LINE__, "22P02", E_IO, "See the server's log"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct strbuf words;
        strbuf_init(&words);
        enum status st = explain_failure(&place, cases[i].sqlstate, "it said so\n", &words);
        if (st != cases[i].want || !strstr(words.text, cases[i].words) ||
            !strstr(words.text, "PostgreSQL at peal@db.example:5432/peal: it said so. "))
            fail_msg("line %d: %s: %s", cases[i].line, status_text(st), words.text);
        strbuf_release(&words);
    }
}

static void test_away(void **state)
{
    static const struct {
        int line;
        const char *message, *words;
    } cases[] = {
        {__LINE__,
         "connection to server at \"::1\", port 1 failed: FATAL:  password authentication failed "
         "for user \"peal\"\n",
         "is away: password authentication failed for user \"peal\". Put the right password"},
        {__LINE__, "connection to server failed: FATAL:  database \"x\" does not exist\n",
         "CREATE DATABASE"},
        {__LINE__, "connection to server failed: Connection refused\n\tIs the server running?\n",
         "is away: Connection refused. Start it"},
        {__LINE__, "FATAL:  sorry, too many clients already", "max_connections"},
        {__LINE__, "something new", "is away: something new. peal tries again"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct strbuf words;
        strbuf_init(&words);
        assert_int_equal(explain_away(&place, cases[i].message, &words), E_UNREACHABLE);
        if (!strstr(words.text, cases[i].words))
            fail_msg("line %d: %s", cases[i].line, words.text);
        strbuf_release(&words);
    }
}

/* Against the C library, over all that ids can have. */
static void test_months(void **state)
{
    (void)state;
    for (int64_t day = 0; day < (INT64_C(1) << 48) / 86400000; day += 13) {
        time_t at = (time_t)(day * 86400);
        struct tm tm;
        assert_non_null(gmtime_r(&at, &tm));
        int month = month_of_ms(day * 86400000 + 5);
        assert_int_equal(month, (tm.tm_year + 1900) * 12 + tm.tm_mon);
        assert_int_equal(month_start_ms(month), (day - tm.tm_mday + 1) * 86400000);
        assert_int_equal(month_of_ms(month_start_ms(month)), month);
        assert_int_equal(month_of_ms(month_start_ms(month + 1) - 1), month);
    }
    char name[16];
    month_name(month_of_ms(INT64_C(1800000000000)), name);
    assert_string_equal(name, "202701");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_away),
        cmocka_unit_test(test_months),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
