/* Out of memory at the n-th allocation, for n = 1, 2, ... until parsing succeeds: it says so, and
 * leaves nothing behind. The allocator is wrapped by the linker. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "schedule_set.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
char *__real_strndup(const char *text, size_t length);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
char *__wrap_strndup(const char *text, size_t length);

/* Which allocation from now on fails; 0: none. */
static long fail_at;

static int fails(void)
{
    return fail_at > 0 && --fail_at == 0;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    return fails() ? NULL : __real_realloc(block, size);
}

char *__wrap_strndup(const char *text, size_t length)
{
    return fails() ? NULL : __real_strndup(text, length);
}

static const char *const texts[] = {
    "*/5 9-17 * * MON-FRI",
    "TZ=America/New_York 30 2 * * *",
    "0 0 0 29 2 * 2024-2048/4",
    "0 0 0 1 1 * 2030,2040",
    "0 0 0 1 1 * 1970-9999",
    "@every 1h30m",
    "@after 5m",
    "TZ=Europe/Berlin @at 2027-01-01T08:00",
    "@daily",
    "@reboot",
    "cron(0 12 * * ? 2030)",
    "rate(5 minutes)",
    "at(2027-01-01T00:00:00)",
};

/* Parses with the n-th allocation failing; OK once n is larger than what is needed. */
static enum status parse_with_failure(const char *text, long n, struct schedule **ret)
{
    struct schedule_options options = schedule_options_default();
    struct zone_db *zones = NULL;
    struct parse_error err;
    enum status st = zone_db_new(NULL, &zones);
    assert_int_equal(st, OK);
    fail_at = n;
    st = schedule_parse(text, &options, zones, ret, &err);
    fail_at = 0;
    if (st == OK)
        *ret = schedule_free(*ret);
    zone_db_free(zones);
    return st;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS(texts); i++) {
        struct schedule *schedule = NULL;
        enum status st = E_NOMEM;
        long n = 0;
        while (st != OK) {
            st = parse_with_failure(texts[i], ++n, &schedule);
            if (st != OK && st != E_NOMEM)
                fail_msg("\"%s\", allocation %ld: %s", texts[i], n, status_text(st));
            assert_null(schedule);
            if (n > 1000)
                fail_msg("\"%s\" never succeeds", texts[i]);
        }
        if (n == 1)
            fail_msg("\"%s\": no allocation was seen to fail", texts[i]);
    }
}

/* A set that can't grow frees what it was given, and keeps what it has. */
static void a_set_survives(void **state)
{
    (void)state;
    struct schedule_options options = schedule_options_default();
    struct schedule *first = NULL, *second = NULL;
    struct zone_db *zones = NULL;
    struct schedule_set set;
    schedule_set_init(&set);
    assert_int_equal(zone_db_new(NULL, &zones), OK);
    assert_int_equal(schedule_parse("@hourly", &options, zones, &first, NULL), OK);
    assert_int_equal(schedule_parse("0 0 0 1 1 * 2030", &options, zones, &second, NULL), OK);
    assert_int_equal(schedule_set_add(&set, first), OK);
    fail_at = 1;
    assert_int_equal(schedule_set_add(&set, second), E_NOMEM);
    fail_at = 0;
    assert_int_equal(set.count, 1);
    assert_int_equal(schedule_set_next(&set, 0, NULL), 3600);
    schedule_set_release(&set);
    zone_db_free(zones);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_set_survives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
