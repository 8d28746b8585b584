/* Equal schedules are kept once, and only those. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "schedule_pool.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

/* What is parsed, and by whom: `H` depends on the name, `~` and jitter on the uid. */
struct text {
    const char *text, *tz, *name;
    int64_t start_s, jitter_s;
    enum dst_policy dst;
};

static struct schedule *parsed(struct zone_db *zones, const struct text *from)
{
    struct schedule_options options = schedule_options_default();
    struct schedule *schedule = NULL;
    struct parse_error err;
    options.tz = from->tz;
    options.job_name = options.job_uid = from->name;
    options.start_s = from->start_s ? from->start_s : TIME_UNSET;
    options.jitter_s = from->jitter_s;
    options.dst = from->dst;
    if (schedule_parse(from->text, &options, zones, &schedule, &err) != OK)
        fail_msg("\"%s\": %s", from->text, err.message);
    return schedule;
}

static const struct {
    int line;
    struct text one, other;
    bool is_shared;
} pairs[] = {
    {__LINE__, {.text = "0 2 * * *"}, {.text = "0 2 * * *", .name = "b"}, true},
    {__LINE__, {.text = "0 2 * * *"}, {.text = " 00  02 * * * "}, true},
    {__LINE__,
     {.text = "0 2 * * *", .tz = "Asia/Shanghai"},
     {.text = "0 2 * * *", .tz = "Asia/Shanghai"},
     true},
    {__LINE__, {.text = "@every 5m"}, {.text = "@every 300s"}, true},
    {__LINE__, {.text = "@after 5m"}, {.text = "@after 5m"}, true},
    {__LINE__, {.text = "@manual"}, {.text = "@manual"}, true},
    {__LINE__, {.text = "H H * * *", .name = "a"}, {.text = "H H * * *", .name = "a"}, true},
    {__LINE__, {.text = "0 2 * * *"}, {.text = "0 3 * * *"}, false},
    {__LINE__, {.text = "0 2 * * *"}, {.text = "0 2 * * 1"}, false},
    {__LINE__, {.text = "0 2 L * *"}, {.text = "0 2 L-1 * *"}, false},
    {__LINE__, {.text = "0 2 * * 1#1"}, {.text = "0 2 * * 1#2"}, false},
    {__LINE__, {.text = "0 2 * * *"}, {.text = "0 2 * * *", .tz = "Asia/Shanghai"}, false},
    {__LINE__, {.text = "0 2 * * *"}, {.text = "0 2 * * *", .start_s = 1}, false},
    {__LINE__, {.text = "0 2 * * *"}, {.text = "0 2 * * *", .dst = DST_BOTH}, false},
    {__LINE__, {.text = "0 2 * * *", .jitter_s = 60}, {.text = "0 2 * * *", .jitter_s = 60}, false},
    {__LINE__, {.text = "H H * * *", .name = "a"}, {.text = "H H * * *", .name = "b"}, false},
    {__LINE__, {.text = "@every 5m"}, {.text = "@every 6m"}, false},
    {__LINE__, {.text = "@every 5m"}, {.text = "@after 5m"}, false},
    {__LINE__, {.text = "0 0 2 * * * 2030"}, {.text = "0 0 2 * * * 2031"}, false},
};

static void equal_ones_are_kept_once(void **state)
{
    struct zone_db *zones = *state;
    for (size_t i = 0; i < ROWS(pairs); i++) {
        struct schedule_pool pool;
        schedule_pool_init(&pool);
        struct schedule *one = schedule_pool_keep(&pool, parsed(zones, &pairs[i].one));
        struct schedule *other = schedule_pool_keep(&pool, parsed(zones, &pairs[i].other));
        if ((one == other) != pairs[i].is_shared)
            fail_msg("line %d", pairs[i].line);
        schedule_pool_drop(&pool, one);
        int64_t next_s = schedule_next(other, 0); /* is still there */
        struct schedule *alone = parsed(zones, &pairs[i].other);
        assert_int_equal(next_s, schedule_next(alone, 0));
        schedule_free(alone);
        schedule_pool_drop(&pool, other);
        assert_int_equal(pool.schedules.count, 0);
        schedule_pool_release(&pool);
    }
}

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(equal_ones_are_kept_once, open_zones, close_zones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
