#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "duration.h"
#include "random_cron.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static void texts_become_seconds(void **state)
{
    (void)state;
    static const struct {
        int line;
        const char *text;
        int64_t want_s;
    } cases[] = {
        {__LINE__, "0s", 0},
        {__LINE__, "1s", 1},
        {__LINE__, "90s", 90},
        {__LINE__, "1m", 60},
        {__LINE__, "1h30m", 5400},
        {__LINE__, "1h30s", 3630},
        {__LINE__, "2d", 172800},
        {__LINE__, "1w", 604800},
        {__LINE__, "1w2d3h4m5s", 788645},
        {__LINE__, "007m", 420},
        {__LINE__, "0h5m", 300},
        {__LINE__, "100000m", 6000000},
        {__LINE__, "36500d", INT64_C(36500) * 86400},
        {__LINE__, "3153600000s", INT64_C(3153600000)},
        {__LINE__, "36499d24h", INT64_C(36500) * 86400},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        int64_t got = -1;
        struct parse_error err = {0};
        if (duration_parse(cases[i].text, 1, &got, &err) != OK || got != cases[i].want_s)
            fail_msg("line %d: \"%s\" gives %lld %s", cases[i].line, cases[i].text, (long long)got,
                     err.message);
    }
}

static void errors_say_where_and_why(void **state)
{
    (void)state;
    const char *const form = "a duration is numbers with units, like 90s or 1h30m";
    const char *const unit = "unknown unit; use w, d, h, m or s";
    const char *const order = "units go from large to small, each once: w d h m s";
    const char *const too_long = "the duration is too long; 36500d is the most";
    const struct {
        int line;
        const char *text;
        int column;
        const char *message;
    } cases[] = {
        {__LINE__, "", 10, "a duration is missing, like 90s or 1h30m"},
        {__LINE__, "5", 11, "a unit is missing; use w, d, h, m or s"},
        {__LINE__, "1h30", 14, "a unit is missing; use w, d, h, m or s"},
        {__LINE__, "s", 10, form},
        {__LINE__, "-5m", 10, form},
        {__LINE__, "+5m", 10, form},
        {__LINE__, " 5m", 10, form},
        {__LINE__, "5 m", 11, unit},
        {__LINE__, "5m ", 12, form},
        {__LINE__, "1h 30m", 12, form},
        {__LINE__, "1.5h", 11, "a duration has no fractions; write 1h30m for 1.5h"},
        {__LINE__, "500ms", 13, unit},
        {__LINE__, "5M", 11, unit},
        {__LINE__, "5min", 11, unit},
        {__LINE__, "1y", 11, unit},
        {__LINE__, "30m1h", 14, order},
        {__LINE__, "1m1m", 13, order},
        {__LINE__, "1s1s", 13, order},
        {__LINE__, "36501d", 10, too_long},
        {__LINE__, "36500d1s", 10, too_long},
        {__LINE__, "99999999999999999999s", 10, too_long},
        {__LINE__, "1h99999999999999999999s", 12, too_long},
        {__LINE__, "9223372036854775807w", 10, too_long},
        {__LINE__, "0x5m", 11, unit},
        {__LINE__, "5m\xc3\xa9", 12, form},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        int64_t untouched = -7;
        struct parse_error err = {0};
        enum status st = duration_parse(cases[i].text, 10, &untouched, &err);
        if (st != E_INVALID || err.column != cases[i].column ||
            strcmp(err.message, cases[i].message) != 0 || untouched != -7)
            fail_msg("line %d: \"%s\" gives %d :%d %s", cases[i].line, cases[i].text, st,
                     err.column, err.message);
        assert_int_equal(duration_parse(cases[i].text, 10, &untouched, NULL), E_INVALID);
    }
}

static void seconds_print_short(void **state)
{
    (void)state;
    static const struct {
        int line;
        int64_t seconds;
        const char *want;
    } cases[] = {
        {__LINE__, 0, "0s"},           {__LINE__, 1, "1s"},
        {__LINE__, 59, "59s"},         {__LINE__, 60, "1m"},
        {__LINE__, 61, "1m1s"},        {__LINE__, 5400, "1h30m"},
        {__LINE__, 3601, "1h1s"},      {__LINE__, 86400, "1d"},
        {__LINE__, 604800, "1w"},      {__LINE__, 691200, "8d"},
        {__LINE__, 1209600, "2w"},     {__LINE__, 604801, "7d1s"},
        {__LINE__, 90061, "1d1h1m1s"}, {__LINE__, INT64_C(3153600000), "36500d"},
    };
    struct strbuf out;
    strbuf_init(&out);
    for (size_t i = 0; i < ROWS(cases); i++) {
        strbuf_reset(&out);
        duration_print(cases[i].seconds, &out);
        if (strcmp(out.text, cases[i].want) != 0)
            fail_msg("line %d: %lld prints %s", cases[i].line, (long long)cases[i].seconds,
                     out.text);
    }
    strbuf_release(&out);
}

static void what_is_printed_parses_back(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    struct random random = random_new(seed);
    struct strbuf out;
    strbuf_init(&out);
    for (int i = 0; i < 20000; i++) {
        int64_t seconds = (int64_t)(random_next(&random) % UINT64_C(3153600001));
        if (i % 2)
            seconds %= 100000;
        int64_t back = -1;
        strbuf_reset(&out);
        duration_print(seconds, &out);
        if (duration_parse(out.text, 1, &back, NULL) != OK || back != seconds)
            fail_msg("PEAL_SEED=%llu: %lld prints %s", (unsigned long long)seed, (long long)seconds,
                     out.text);
    }
    strbuf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_become_seconds),
        cmocka_unit_test(errors_say_where_and_why),
        cmocka_unit_test(seconds_print_short),
        cmocka_unit_test(what_is_printed_parses_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
