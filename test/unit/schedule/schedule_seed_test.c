/* What `H`, `~`, `R` and jitter stand for. The values are frozen: all nodes of a cluster compute
 * them, of whatever version, so a row that fails here is never mended by changing the row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cron_check.h"
#include "schedule.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

struct row {
    int line;
    const char *seed, *text, *want;
};

/* `H`: by the job's name. */
static const struct row by_name[] = {
    {__LINE__, "", "H * * * * *", "35 * * * * *"},
    {__LINE__, "", "0 H * * * *", "11 * * * *"},
    {__LINE__, "", "0 0 H * * *", "0 21 * * *"},
    {__LINE__, "", "0 0 0 H * *", "0 0 14 * *"},
    {__LINE__, "", "0 0 0 1 H *", "0 0 1 12 *"},
    {__LINE__, "", "0 0 0 * * H", "0 0 * * 4"},
    {__LINE__, "backup", "H * * * * *", "14 * * * * *"},
    {__LINE__, "backup", "0 H * * * *", "6 * * * *"},
    {__LINE__, "backup", "0 0 H * * *", "0 2 * * *"},
    {__LINE__, "backup", "0 0 0 H * *", "0 0 23 * *"},
    {__LINE__, "backup", "0 0 0 1 H *", "0 0 1 8 *"},
    {__LINE__, "backup", "0 0 0 * * H", "0 0 * * 2"},
    {__LINE__, "backup", "H(0-29)/10 * * * *", "1-21/10 * * * *"},
    {__LINE__, "backup", "H/15 * * * *", "1-46/15 * * * *"},
    {__LINE__, "backup", "0 H(8-17) * * *", "0 9 * * *"},
    {__LINE__, "backup", "0 0 H(10-20) * *", "0 0 18 * *"},
    {__LINE__, "backup", "0 0 * * H(MON-FRI)", "0 0 * * 3"},
    {__LINE__, "backup", "0 0 H/7 * *", "0 0 6-27/7 * *"},
    {__LINE__, "report", "H * * * * *", "26 * * * * *"},
    {__LINE__, "report", "0 H * * * *", "26 * * * *"},
    {__LINE__, "report", "0 0 H * * *", "0 5 * * *"},
    {__LINE__, "report", "0 0 0 H * *", "0 0 11 * *"},
    {__LINE__, "report", "0 0 0 1 H *", "0 0 1 7 *"},
    {__LINE__, "report", "0 0 0 * * H", "0 0 * * 0"},
    {__LINE__, "备份", "H * * * * *", "7 * * * * *"},
    {__LINE__, "备份", "0 H * * * *", "58 * * * *"},
    {__LINE__, "备份", "0 0 H * * *", "0 19 * * *"},
    {__LINE__, "备份", "0 0 0 H * *", "0 0 25 * *"},
    {__LINE__, "备份", "0 0 0 1 H *", "0 0 1 9 *"},
    {__LINE__, "备份", "0 0 0 * * H", "0 0 * * 2"},
    {__LINE__, "db/vacuum", "H * * * * *", "58 * * * * *"},
    {__LINE__, "db/vacuum", "0 H * * * *", "10 * * * *"},
    {__LINE__, "db/vacuum", "0 0 H * * *", "0 21 * * *"},
    {__LINE__, "db/vacuum", "0 0 0 H * *", "0 0 21 * *"},
    {__LINE__, "db/vacuum", "0 0 0 1 H *", "0 0 1 5 *"},
    {__LINE__, "db/vacuum", "0 0 0 * * H", "0 0 * * 5"},
    {__LINE__, "a-very-long-job-name-that-nobody-would-ever-type-twice", "H * * * * *",
     "58 * * * * *"},
    {__LINE__, "a-very-long-job-name-that-nobody-would-ever-type-twice", "0 H * * * *",
     "27 * * * *"},
    {__LINE__, "a-very-long-job-name-that-nobody-would-ever-type-twice", "0 0 H * * *",
     "0 16 * * *"},
    {__LINE__, "a-very-long-job-name-that-nobody-would-ever-type-twice", "0 0 0 H * *",
     "0 0 9 * *"},
    {__LINE__, "a-very-long-job-name-that-nobody-would-ever-type-twice", "0 0 0 1 H *",
     "0 0 1 7 *"},
    {__LINE__, "a-very-long-job-name-that-nobody-would-ever-type-twice", "0 0 0 * * H",
     "0 0 * * 2"},
};

/* `~` and `R`: by the job's uid and the text itself. */
static const struct row by_uid[] = {
    {__LINE__, "01HZX4", "~ * * * *", "40 * * * *"},
    {__LINE__, "01HZX4", "R * * * *", "19 * * * *"},
    {__LINE__, "01HZX4", "0~29 * * * *", "19 * * * *"},
    {__LINE__, "01HZX4", "~ ~ * * *", "40 7 * * *"},
    {__LINE__, "01HZX4", "0 0 ~ * *", "0 0 1 * *"},
    {__LINE__, "01HZX4", "0 0 R * *", "0 0 25 * *"},
    {__LINE__, "01HZX4", "0 0 1~31 * *", "0 0 26 * *"},
    {__LINE__, "01HZX4", "0 0 * ~ *", "0 0 * 2 *"},
    {__LINE__, "01HZX4", "0 0 * * ~", "0 0 * * 6"},
    {__LINE__, "01HZX4", "0 0 * * MON~FRI", "0 0 * * 1"},
    {__LINE__, "01HZX4", "~ 0 0 * * *", "12 0 0 * * *"},
    {__LINE__, "01HZX4", "0~59/10 * * * *", "7-57/10 * * * *"},
    {__LINE__, "01HZX4", "10~40/7 * * * *", "16-37/7 * * * *"},
    {__LINE__, "01HZX4", "5~ * * * *", "32 * * * *"},
    {__LINE__, "01HZX4", "~5 * * * *", "2 * * * *"},
    {__LINE__, "01HZX4", "0 0 * * FRI~SUN", "0 0 * * 5"},
    {__LINE__, "01J9ZK3V7Q0000000000000000", "~ * * * *", "34 * * * *"},
    {__LINE__, "01J9ZK3V7Q0000000000000000", "R * * * *", "14 * * * *"},
    {__LINE__, "01J9ZK3V7Q0000000000000000", "0~29 * * * *", "17 * * * *"},
    {__LINE__, "01J9ZK3V7Q0000000000000000", "~ ~ * * *", "34 19 * * *"},
    {__LINE__, "01J9ZK3V7Q0000000000000000", "0 0 ~ * *", "0 0 24 * *"},
    {__LINE__, "01J9ZK3V7Q0000000000000000", "0 0 R * *", "0 0 10 * *"},
    {__LINE__, "01J9ZK3V7Q0000000000000000", "0 0 1~31 * *", "0 0 5 * *"},
    {__LINE__, "01J9ZK3V7Q0000000000000000", "0 0 * ~ *", "0 0 * 6 *"},
    {__LINE__, "01J9ZK3V7Q0000000000000000", "0 0 * * ~", "0 0 * * 2"},
    {__LINE__, "01J9ZK3V7Q0000000000000000", "0 0 * * MON~FRI", "0 0 * * 2"},
    {__LINE__, "01J9ZK3V7Q0000000000000000", "~ 0 0 * * *", "50 0 0 * * *"},
    {__LINE__, "01J9ZK3V7Q0000000000000000", "0~59/10 * * * *", "8-58/10 * * * *"},
    {__LINE__, "01J9ZK3V7Q0000000000000000", "10~40/7 * * * *", "10-38/7 * * * *"},
    {__LINE__, "01J9ZK3V7Q0000000000000000", "5~ * * * *", "9 * * * *"},
    {__LINE__, "01J9ZK3V7Q0000000000000000", "~5 * * * *", "2 * * * *"},
    {__LINE__, "01J9ZK3V7Q0000000000000000", "0 0 * * FRI~SUN", "0 0 * * 5"},
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

static void check_rows(const struct row *rows, size_t count, bool is_name)
{
    struct strbuf out;
    strbuf_init(&out);
    for (size_t i = 0; i < count; i++) {
        struct cron_seed seed = {is_name ? rows[i].seed : "other",
                                 is_name ? "other" : rows[i].seed};
        struct cron_expr expr;
        assert_int_equal(cron_expr_parse(&expr, rows[i].text, CRON_PEAL, &seed, NULL), OK);
        strbuf_reset(&out);
        cron_expr_print(&expr, &out);
        if (strcmp(out.text, rows[i].want) != 0)
            fail_msg("line %d: \"%s\" of \"%s\" gives \"%s\"", rows[i].line, rows[i].text,
                     rows[i].seed, out.text);
        cron_expr_release(&expr);
    }
    strbuf_release(&out);
}

static void names_give_frozen_values(void **state)
{
    (void)state;
    check_rows(by_name, ROWS(by_name), true);
}

static void uids_give_frozen_values(void **state)
{
    (void)state;
    check_rows(by_uid, ROWS(by_uid), false);
}

static void no_seed_is_an_empty_seed(void **state)
{
    (void)state;
    const struct cron_seed empty = {"", ""}, nulls = {NULL, NULL};
    struct cron_expr a, b, c;
    assert_int_equal(cron_expr_parse(&a, "H ~ R * *", CRON_PEAL, &empty, NULL), OK);
    assert_int_equal(cron_expr_parse(&b, "H ~ R * *", CRON_PEAL, &nulls, NULL), OK);
    assert_int_equal(cron_expr_parse(&c, "H ~ R * *", CRON_PEAL, NULL, NULL), OK);
    assert_true(cron_expr_equal(&a, &b) && cron_expr_equal(&a, &c));
}

/* Over many jobs every value of the range comes, and none outside of it. */
static void draws_cover_their_range(void **state)
{
    (void)state;
    static const struct {
        int line;
        const char *text;
        enum cron_field field;
        uint64_t want; /* all values that may come */
    } cases[] = {
        {__LINE__, "H * * * *", CRON_MINUTE, (UINT64_C(1) << 60) - 1},
        {__LINE__, "~ * * * *", CRON_MINUTE, (UINT64_C(1) << 60) - 1},
        {__LINE__, "R * * * *", CRON_MINUTE, (UINT64_C(1) << 60) - 1},
        {__LINE__, "10~20 * * * *", CRON_MINUTE, UINT64_C(0x1ffc00)},
        {__LINE__, "H(10-20) * * * *", CRON_MINUTE, UINT64_C(0x1ffc00)},
        {__LINE__, "0 0 H * *", CRON_DAY, UINT64_C(0x1ffffffe)},
        {__LINE__, "0 0 ~ * *", CRON_DAY, UINT64_C(0x1ffffffe)},
        {__LINE__, "0 0 R * *", CRON_DAY, UINT64_C(0x1ffffffe)},
        {__LINE__, "0 0 1~31 * *", CRON_DAY, UINT64_C(0xfffffffe)},
        {__LINE__, "0 0 H(29-31) * *", CRON_DAY, UINT64_C(0xe0000000)},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        uint64_t seen = 0;
        for (int job = 0; job < 2000; job++) {
            char name[32];
            snprintf(name, sizeof(name), "job-%d", job);
            struct cron_seed seed = {name, name};
            struct cron_expr expr;
            assert_int_equal(cron_expr_parse(&expr, cases[i].text, CRON_PEAL, &seed, NULL), OK);
            uint64_t bits = cases[i].field == CRON_DAY ? expr.days : expr.minutes;
            if (__builtin_popcountll(bits) != 1)
                fail_msg("line %d: more than one value", cases[i].line);
            seen |= bits;
        }
        if (seen != cases[i].want)
            fail_msg("line %d: seen 0x%llx", cases[i].line, (unsigned long long)seen);
    }
}

/* With a step, the start is drawn from the first step of the range, and the range is kept. */
static void stepped_draws_fill_their_range(void **state)
{
    (void)state;
    static const char *const texts[] = {"10~40/7 * * * *", "H(10-40)/7 * * * *"};
    for (int job = 0; job < 500; job++) {
        char name[32];
        snprintf(name, sizeof(name), "job-%d", job);
        struct cron_seed seed = {name, name};
        struct cron_expr expr;
        assert_int_equal(cron_expr_parse(&expr, texts[job % 2], CRON_PEAL, &seed, NULL), OK);
        int first = __builtin_ctzll(expr.minutes);
        uint64_t want = 0;
        for (int minute = first; minute <= 40; minute += 7)
            want |= UINT64_C(1) << minute;
        if (first < 10 || first > 16 || expr.minutes != want)
            fail_msg("%s of %s: 0x%llx", texts[job % 2], name, (unsigned long long)expr.minutes);
    }
}

static int64_t jitter_of(struct zone_db *zones, const char *text, const char *uid, int64_t limit_s)
{
    struct schedule_options options = schedule_options_default();
    struct schedule *schedule = NULL;
    options.job_uid = uid;
    options.jitter_s = limit_s;
    assert_int_equal(schedule_parse(text, &options, zones, &schedule, NULL), OK);
    int64_t jitter_ms = schedule_jitter_ms(schedule);
    assert_int_equal(schedule_jitter_limit(schedule), limit_s);
    schedule_free(schedule);
    return jitter_ms;
}

static void jitter_is_one_frozen_delay_of_the_job(void **state)
{
    static const struct {
        int line;
        const char *uid;
        int64_t limit_s, want_ms;
    } cases[] = {
        {__LINE__, "01HZX4", 1, 719},
        {__LINE__, "01HZX4", 60, 43194},
        {__LINE__, "01HZX4", 3600, 2591647},
        {__LINE__, "01HZX4", 86400, 62199548},
        {__LINE__, "01J9ZK3V7Q0000000000000000", 60, 36091},
        {__LINE__, "", 60, 29181},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        int64_t got = jitter_of(*state, "@hourly", cases[i].uid, cases[i].limit_s);
        if (got != cases[i].want_ms || got >= cases[i].limit_s * 1000)
            fail_msg("line %d: %lld ms", cases[i].line, (long long)got);
        assert_int_equal(jitter_of(*state, "@every 5m", cases[i].uid, cases[i].limit_s), got);
    }
    assert_int_equal(jitter_of(*state, "@hourly", "01HZX4", 0), 0);
    assert_int_equal(jitter_of(*state, "@hourly", NULL, 60), jitter_of(*state, "@hourly", "", 60));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_give_frozen_values),
        cmocka_unit_test(uids_give_frozen_values),
        cmocka_unit_test(no_seed_is_an_empty_seed),
        cmocka_unit_test(draws_cover_their_range),
        cmocka_unit_test(stepped_draws_fill_their_range),
        cmocka_unit_test(jitter_is_one_frozen_delay_of_the_job),
    };
    return cmocka_run_group_tests(tests, open_zones, close_zones);
}
