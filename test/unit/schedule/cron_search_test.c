/* next() and previous() of an expression on a local clock: tables for every kind of field, then
 * random expressions against a matcher that knows only the specification. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

#include "civil.h"
#include "cron/cron_expr.h"
#include "cron_check.h"
#include "random_cron.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static struct cron_expr parsed(int line, const char *text)
{
    struct cron_expr expr;
    struct parse_error err;
    if (cron_expr_parse(&expr, text, CRON_PEAL, NULL, &err) != OK)
        fail_msg("line %d: \"%s\" is refused at %d: %s", line, text, err.column, err.message);
    return expr;
}

/* "2026-03-01 00:00" or "2026-03-01 00:00:00" of a local clock. */
static int64_t at(const char *text)
{
    struct civil c = {0};
    long long year;
    if (sscanf(text, "%lld-%d-%d %d:%d:%d", &year, &c.month, &c.day, &c.hour, &c.minute,
               &c.second) < 5)
        fail_msg("not a time: %s", text);
    c.year = year;
    return civil_to_seconds(&c);
}

static const char *shown(int64_t local_s, char buffer[48])
{
    struct civil c = civil_from_seconds(local_s);
    if (local_s == NEVER || local_s == NEVER_BEFORE)
        snprintf(buffer, 48, "never");
    else
        snprintf(buffer, 48, "%lld-%02d-%02d %02d:%02d:%02d", (long long)c.year, c.month, c.day,
                 c.hour, c.minute, c.second);
    return buffer;
}

/* Each row lists matches one after the other: next() must give exactly these, and prev() must give
 * them again from the end. NULL ends a row; "never" ends the expression. */
static const struct {
    int line;
    const char *expr, *after;
    const char *want[6];
} walks[] = {
    {__LINE__, "* * * * *", "2026-01-01 00:00:59", {"2026-01-01 00:01", "2026-01-01 00:02"}},
    {__LINE__, "* * * * *", "2026-12-31 23:59:00", {"2027-01-01 00:00"}},
    {__LINE__,
     "* * * * * *",
     "2026-12-31 23:59:58",
     {"2026-12-31 23:59:59", "2027-01-01 00:00:00"}},
    {__LINE__,
     "*/5 9-17 * * MON-FRI",
     "2026-03-06 17:54:00",
     {"2026-03-06 17:55", "2026-03-09 09:00", "2026-03-09 09:05"}},
    {__LINE__,
     "15,45 10-12 * * *",
     "2026-03-06 12:15",
     {"2026-03-06 12:45", "2026-03-07 10:15", "2026-03-07 10:45", "2026-03-07 11:15"}},
    {__LINE__,
     "30 5,20 10 * * *",
     "2026-03-06 10:05:30",
     {"2026-03-06 10:20:30", "2026-03-07 10:05:30"}},
    {__LINE__,
     "0 22-2 * * *",
     "2026-03-06 02:00",
     {"2026-03-06 22:00", "2026-03-06 23:00", "2026-03-07 00:00", "2026-03-07 01:00",
      "2026-03-07 02:00", "2026-03-07 22:00"}},
    {__LINE__,
     "0 0 * * FRI-MON",
     "2026-03-03 00:00",
     {"2026-03-06 00:00", "2026-03-07 00:00", "2026-03-08 00:00", "2026-03-09 00:00",
      "2026-03-13 00:00"}},
    {__LINE__,
     "0 0 * * SAT-SUN",
     "2026-03-03 00:00",
     {"2026-03-07 00:00", "2026-03-08 00:00", "2026-03-14 00:00"}},
    {__LINE__, "0 0 * * 7", "2026-03-03 00:00", {"2026-03-08 00:00", "2026-03-15 00:00"}},
    {__LINE__,
     "0 0 1 NOV-FEB *",
     "2026-03-03 00:00",
     {"2026-11-01 00:00", "2026-12-01 00:00", "2027-01-01 00:00", "2027-02-01 00:00",
      "2027-11-01 00:00"}},
    {__LINE__,
     "0 0 31 * *",
     "2026-03-31 00:00",
     {"2026-05-31 00:00", "2026-07-31 00:00", "2026-08-31 00:00", "2026-10-31 00:00"}},
    /* last days */
    {__LINE__,
     "0 12 L * *",
     "2026-01-31 12:00",
     {"2026-02-28 12:00", "2026-03-31 12:00", "2026-04-30 12:00"}},
    {__LINE__, "0 12 L 2 *", "2026-03-01 00:00", {"2027-02-28 12:00", "2028-02-29 12:00"}},
    {__LINE__,
     "0 0 L-3 * *",
     "2026-01-01 00:00",
     {"2026-01-28 00:00", "2026-02-25 00:00", "2026-03-28 00:00"}},
    {__LINE__, "0 0 L-30 * *", "2026-01-01 00:00", {"2026-03-01 00:00", "2026-05-01 00:00"}},
    {__LINE__, "0 0 L-28 2 *", "2026-01-01 00:00", {"2028-02-01 00:00", "2032-02-01 00:00"}},
    {__LINE__,
     "0 0 LW * *",
     "2026-01-01 00:00",
     {"2026-01-30 00:00", "2026-02-27 00:00", "2026-03-31 00:00", "2026-04-30 00:00",
      "2026-05-29 00:00"}},
    {__LINE__,
     "0 0 1,L * *",
     "2026-01-01 00:00",
     {"2026-01-31 00:00", "2026-02-01 00:00", "2026-02-28 00:00"}},
    /* nearest workdays: 2026-02-01 and -03-01 are Sundays, -08-01 is a Saturday */
    {__LINE__,
     "0 0 1W * *",
     "2026-01-15 00:00",
     {"2026-02-02 00:00", "2026-03-02 00:00", "2026-04-01 00:00"}},
    {__LINE__, "0 0 1W 8 *", "2026-01-15 00:00", {"2026-08-03 00:00"}},
    {__LINE__,
     "0 0 15W * *",
     "2026-02-01 00:00",
     {"2026-02-16 00:00", "2026-03-16 00:00", "2026-04-15 00:00"}},
    {__LINE__, "0 0 15W 8 *", "2026-02-01 00:00", {"2026-08-14 00:00"}},
    {__LINE__,
     "0 0 31W * *",
     "2026-01-01 00:00",
     {"2026-01-30 00:00", "2026-03-31 00:00", "2026-05-29 00:00", "2026-07-31 00:00"}},
    {__LINE__, "0 0 30W 8 *", "2026-01-01 00:00", {"2026-08-31 00:00"}},
    {__LINE__, "0 0 29W 2 *", "2026-01-01 00:00", {"2028-02-29 00:00", "2032-02-27 00:00"}},
    /* nth weekdays */
    {__LINE__, "0 0 * * MON#1", "2026-01-01 00:00", {"2026-01-05 00:00", "2026-02-02 00:00"}},
    {__LINE__,
     "0 0 * * 5#5",
     "2026-01-01 00:00",
     {"2026-01-30 00:00", "2026-05-29 00:00", "2026-07-31 00:00"}},
    {__LINE__, "0 0 * * 7#2", "2026-01-01 00:00", {"2026-01-11 00:00", "2026-02-08 00:00"}},
    {__LINE__, "0 0 * * 5L", "2026-01-01 00:00", {"2026-01-30 00:00", "2026-02-27 00:00"}},
    {__LINE__, "0 0 * * FRI#L", "2026-01-01 00:00", {"2026-01-30 00:00", "2026-02-27 00:00"}},
    {__LINE__, "0 0 * * fril", "2026-01-01 00:00", {"2026-01-30 00:00", "2026-02-27 00:00"}},
    {__LINE__, "0 0 * * 7L", "2026-01-01 00:00", {"2026-01-25 00:00", "2026-02-22 00:00"}},
    {__LINE__, "0 0 * * 1#-2", "2026-01-01 00:00", {"2026-01-19 00:00", "2026-02-16 00:00"}},
    {__LINE__, "0 0 * * 1#-5", "2026-01-01 00:00", {"2026-03-02 00:00", "2026-06-01 00:00"}},
    {__LINE__, "0 0 * 2 0#-5", "2026-01-01 00:00", {"2032-02-01 00:00", "2060-02-01 00:00"}},
    {__LINE__,
     "0 0 * * 1#1,5L,3",
     "2026-01-01 00:00",
     {"2026-01-05 00:00", "2026-01-07 00:00", "2026-01-14 00:00"}},
    /* both day fields: OR; a star of any kind or + make it AND */
    {__LINE__,
     "0 0 13 * FRI",
     "2026-02-06 00:00",
     {"2026-02-13 00:00", "2026-02-20 00:00", "2026-02-27 00:00", "2026-03-06 00:00",
      "2026-03-13 00:00"}},
    {__LINE__,
     "0 0 13 * +FRI",
     "2026-02-06 00:00",
     {"2026-02-13 00:00", "2026-03-13 00:00", "2026-11-13 00:00"}},
    {__LINE__,
     "0 0 1-7 * */7",
     "2026-01-01 00:00",
     {"2026-01-04 00:00", "2026-02-01 00:00", "2026-03-01 00:00"}},
    {__LINE__, "0 0 */2 * MON", "2026-01-01 00:00", {"2026-01-05 00:00", "2026-01-19 00:00"}},
    {__LINE__, "0 0 1,*/10 * MON", "2026-01-01 00:00", {"2026-05-11 00:00", "2026-06-01 00:00"}},
    {__LINE__, "0 0 ? * MON", "2026-01-01 00:00", {"2026-01-05 00:00", "2026-01-12 00:00"}},
    {__LINE__, "0 0 10 * ?", "2026-01-01 00:00", {"2026-01-10 00:00", "2026-02-10 00:00"}},
    {__LINE__, "0 0 1-31 * MON", "2026-01-01 00:00", {"2026-01-02 00:00", "2026-01-03 00:00"}},
    {__LINE__, "0 0 L * MON#1", "2026-01-01 00:00", {"2026-01-05 00:00", "2026-01-31 00:00"}},
    {__LINE__, "0 0 L * +MON", "2026-01-01 00:00", {"2026-08-31 00:00", "2026-11-30 00:00"}},
    /* leap days; none between 2096 and 2104, and up to 40 years between those of one weekday */
    {__LINE__, "0 0 29 2 *", "2026-01-01 00:00", {"2028-02-29 00:00", "2032-02-29 00:00"}},
    {__LINE__,
     "0 0 29 2 *",
     "2092-03-01 00:00",
     {"2096-02-29 00:00", "2104-02-29 00:00", "2108-02-29 00:00"}},
    {__LINE__, "0 0 29 2 *", "1896-02-28 00:00", {"1896-02-29 00:00", "1904-02-29 00:00"}},
    {__LINE__, "0 0 29 2 +MON", "2072-03-01 00:00", {"2112-02-29 00:00"}},
    {__LINE__, "0 0 29 2 +SUN", "2088-02-29 00:00", {"2128-02-29 00:00"}},
    {__LINE__, "0 0 29 2 +SUN#5", "2060-03-01 00:00", {"2088-02-29 00:00"}},
    /* years */
    {__LINE__,
     "0 0 0 1 1 * 2030,2032",
     "2026-01-01 00:00",
     {"2030-01-01 00:00", "2032-01-01 00:00", "never"}},
    {__LINE__, "0 0 0 1 1 * */10", "2026-01-01 00:00", {"2030-01-01 00:00", "2040-01-01 00:00"}},
    {__LINE__, "0 0 0 1 1 * 2029/3", "2026-01-01 00:00", {"2029-01-01 00:00", "2032-01-01 00:00"}},
    {__LINE__, "0 0 0 29 2 * 2021-2030", "2026-01-01 00:00", {"2028-02-29 00:00", "never"}},
    {__LINE__, "59 59 23 31 12 * 9999", "1900-01-01 00:00", {"9999-12-31 23:59:59", "never"}},
    {__LINE__,
     "* * * * * * 1970",
     "1969-07-01 00:00",
     {"1970-01-01 00:00:00", "1970-01-01 00:00:01"}},
    {__LINE__, "0 0 0 1 1 * 2020", "2026-01-01 00:00", {"never"}},
    /* before 1970 and after 9999 the clock goes on */
    {__LINE__, "0 0 1 1 *", "-1-06-01 00:00", {"0-01-01 00:00", "1-01-01 00:00"}},
    {__LINE__, "0 0 1 1 *", "12000-06-01 00:00", {"12001-01-01 00:00"}},
    /* never */
    {__LINE__, "0 0 31 2 *", "2026-01-01 00:00", {"never"}},
    {__LINE__, "0 0 30 2 *", "2026-01-01 00:00", {"never"}},
    {__LINE__, "0 0 31 4,6,9,11 *", "2026-01-01 00:00", {"never"}},
    {__LINE__, "0 0 1-7 * +MON#2", "2026-01-01 00:00", {"never"}},
    {__LINE__, "0 0 L-29 2 *", "2026-01-01 00:00", {"never"}},
    {__LINE__, "0 0 LW * +SUN", "2026-01-01 00:00", {"never"}},
    {__LINE__, "0 0 0 29 2 * 2021-2023", "2026-01-01 00:00", {"never"}},
    {__LINE__, "0 0 31W 2 *", "2026-01-01 00:00", {"never"}},
};

static void walk_forth_and_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS(walks); i++) {
        struct cron_expr expr = parsed(walks[i].line, walks[i].expr);
        char got[48], wanted[48];
        int64_t now = at(walks[i].after), times[6];
        int count = 0;
        for (int k = 0; k < 6 && walks[i].want[k]; k++) {
            int64_t want = walks[i].want[k][0] == 'n' ? NEVER : at(walks[i].want[k]);
            now = cron_expr_next(&expr, now);
            if (now != want)
                fail_msg("line %d: \"%s\" number %d: got %s, want %s", walks[i].line, walks[i].expr,
                         k + 1, shown(now, got), shown(want, wanted));
            if (now != NEVER && !cron_expr_matches(&expr, now))
                fail_msg("line %d: \"%s\" does not match %s", walks[i].line, walks[i].expr,
                         shown(now, got));
            times[count++] = now;
        }
        for (int k = count - 2; k >= 0; k--) {
            int64_t back = cron_expr_prev(&expr, times[k + 1]);
            if (back != times[k])
                fail_msg("line %d: \"%s\" back from %s: got %s", walks[i].line, walks[i].expr,
                         walks[i].want[k + 1], shown(back, got));
        }
        cron_expr_release(&expr);
    }
}

static void ends_of_time(void **state)
{
    (void)state;
    static const char *const texts[] = {"* * * * * *", "0 0 29 2 *", "0 0 0 1 1 * 2030",
                                        "0 0 31 2 *", "0 0 29 2 +SUN#5"};
    static const int64_t instants[] = {INT64_MIN,
                                       INT64_MIN + 1,
                                       INT64_MIN / 2,
                                       INT64_MAX / 4,
                                       INT64_MAX / 2,
                                       INT64_MAX - 1,
                                       INT64_MAX,
                                       -1,
                                       0,
                                       -INT64_MAX / 4,
                                       1};
    for (size_t i = 0; i < ROWS(texts); i++) {
        struct cron_expr expr = parsed(__LINE__, texts[i]);
        for (size_t k = 0; k < ROWS(instants); k++) {
            int64_t next = cron_expr_next(&expr, instants[k]);
            int64_t prev = cron_expr_prev(&expr, instants[k]);
            if (next != NEVER && next <= instants[k])
                fail_msg("\"%s\": next of %lld is not after it", texts[i], (long long)instants[k]);
            if (prev != NEVER_BEFORE && prev >= instants[k])
                fail_msg("\"%s\": prev of %lld is not before it", texts[i], (long long)instants[k]);
        }
        cron_expr_release(&expr);
    }
}

/* Any expression that never fires, and the rarest that do, answer at once. */
static void the_rarest_are_found_in_bounded_time(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "0 0 31 2 *",          "0 0 29 2 +SUN#5",     "0 0 0 29 2 * 9996",
        "0 0 0 31 2 * */2",    "0 0 0 29 2 * 1971/2", "0 0 0 29 2 +SUN 1970-9999/7",
        "59 59 23 31 12 +SUN", "0 0 L-28 2 +MON",     "0 0 0 29 2 +SUN 1971-9999/2,9948",
    };
    struct timespec begin, end;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    for (size_t i = 0; i < ROWS(texts); i++) {
        struct cron_expr expr = parsed(__LINE__, texts[i]);
        for (int64_t k = 0; k < 2000; k++) {
            (void)cron_expr_next(&expr, k * 86400 * 500);
            (void)cron_expr_prev(&expr, k * 86400 * 500);
        }
        cron_expr_release(&expr);
    }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    /* 36,000 searches: 2 us each would be 0.07 s; the rest is room for sanitizers. */
    assert_true(end.tv_sec - begin.tv_sec <= 2);
}

/* ---- Random expressions ---- */

/* The first second after `after_s` that the model matches, day by day; NEVER: none up to
 * `until_s`. */
static int64_t oracle_next(const struct random_cron *cron, int64_t after_s, int64_t until_s)
{
    int64_t from = after_s + 1;
    for (int64_t day = from - (from % DAY_S + DAY_S) % DAY_S; day < until_s; day += DAY_S) {
        time_t time = (time_t)day;
        struct tm tm;
        gmtime_r(&time, &tm);
        if (!random_cron_date_matches(cron, tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday))
            continue;
        for (int second = day < from ? (int)(from - day) : 0; second < DAY_S; second++) {
            int hour = second / 3600, minute = second / 60 % 60;
            if (random_cron_time_matches(cron, hour, minute, second % 60))
                return day + second;
            if (!random_cron_minute_matches(cron, hour, minute))
                second += 59 - second % 60;
        }
    }
    return NEVER;
}

static void random_expressions_agree_with_the_model(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    struct random random = random_new(seed);
    for (int i = 0; i < 3000 * random_rounds(); i++) {
        struct random_cron cron;
        char got[48], wanted[48];
        random_cron_make(&random, i % 3 ? RANDOM_CRON_ANY : RANDOM_CRON_DENSE, &cron);
        struct cron_expr expr = parsed(__LINE__, cron.text);
        int64_t now = random_between(&random, 0, INT32_MAX) + (i % 5 ? 0 : (int64_t)INT32_MAX);
        assert_int_equal(cron_expr_is_fixed(&expr), random_cron_is_fixed(&cron));
        for (int k = 0; k < 6; k++) {
            int64_t until = now + INT64_C(9) * 366 * DAY_S;
            int64_t want = oracle_next(&cron, now, until);
            int64_t next = cron_expr_next(&expr, now);
            bool agree = want == NEVER ? next >= until : next == want;
            if (!agree)
                fail_msg("PEAL_SEED=%llu: \"%s\" after %lld: got %s, want %s",
                         (unsigned long long)seed, cron.text, (long long)now, shown(next, got),
                         shown(want, wanted));
            if (want == NEVER)
                break;
            /* The way back, from the match itself and from a moment after it. */
            int64_t back = cron_expr_prev(&expr, next + 1);
            int64_t before = cron_expr_prev(&expr, next);
            if (back != next || before > now || cron_expr_next(&expr, before) < next)
                fail_msg("PEAL_SEED=%llu: \"%s\" before %s: got %s", (unsigned long long)seed,
                         cron.text, shown(next, wanted), shown(back, got));
            if (!cron_expr_matches(&expr, next) ||
                (before != now && before != NEVER_BEFORE && !cron_expr_matches(&expr, before)))
                fail_msg("PEAL_SEED=%llu: \"%s\" does not match its own tick",
                         (unsigned long long)seed, cron.text);
            now = next + (k % 2 ? 0 : random_between(&random, 0, 86400));
        }
        cron_expr_release(&expr);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walk_forth_and_back),
        cmocka_unit_test(ends_of_time),
        cmocka_unit_test(the_rarest_are_found_in_bounded_time),
        cmocka_unit_test(random_expressions_agree_with_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
