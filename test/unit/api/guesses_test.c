/* Who may try a password, by a clock of the test's own: those who guess, and those who are kept out
 * by them or not. */
#include "auth/guesses.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
/* cmocka wants the four above first */
#include <cmocka.h>

static int set_up(void **state)
{
    struct guesses *guesses = calloc(1, sizeof(*guesses));
    assert_non_null(guesses);
    guesses_init(guesses);
    *state = guesses;
    return 0;
}

static int tear_down(void **state)
{
    guesses_release(*state);
    free(*state);
    return 0;
}

static enum guess_verdict begin(struct guesses *guesses, const char *name, const char *address,
                                const char *device, int64_t at_ms, struct guess *ret)
{
    struct guesser who = {name, address, address, device};
    int64_t wait_ms = -1;
    enum guess_verdict verdict = guesses_begin(guesses, &who, at_ms, ret, &wait_ms);
    assert_true(verdict == GUESS_GO ? wait_ms == 0 : wait_ms > 0);
    return verdict;
}

/* Wrong, if it is let through. */
static bool try_wrong(struct guesses *guesses, const char *name, const char *address, int64_t at_ms)
{
    struct guess guess;
    if (begin(guesses, name, address, NULL, at_ms, &guess) != GUESS_GO)
        return false;
    guesses_wrong(guesses, &guess, at_ms);
    return true;
}

static bool try_right(struct guesses *guesses, const char *name, const char *address,
                      const char *device, int64_t at_ms)
{
    struct guess guess;
    if (begin(guesses, name, address, device, at_ms, &guess) != GUESS_GO)
        return false;
    guesses_right(guesses, &guess, at_ms);
    return true;
}

/* ---- guessing ---- */

/* All are under way before the first has an answer, after which there is a pause. */
static void test_parallel_guesses_count(void **state)
{
    struct guess guess;
    int passed = 0;
    for (int i = 0; i < 32; i++)
        passed += begin(*state, "anna", "192.0.2.1", NULL, 1000, &guess) == GUESS_GO;
    assert_int_equal(passed, 6);
    guesses_wrong(*state, &guess, 5000);
    assert_false(try_wrong(*state, "anna", "192.0.2.1", 5999));
    assert_true(try_wrong(*state, "anna", "192.0.2.1", 6000));
}

/* As many as they like, for a day, from one address: by each name, and by many. */
static void test_one_address(void **state)
{
    int passed = 0, of_many = 0;
    for (int64_t at_ms = 0; at_ms < INT64_C(86400) * 1000; at_ms += 2000) {
        char name[24];
        passed += try_wrong(*state, "anna", "192.0.2.1", at_ms);
        snprintf(name, sizeof(name), "user %d", (int)(at_ms / 2000 % 1000));
        of_many += try_wrong(*state, name, "192.0.2.2", at_ms);
    }
    if (passed > 120 || of_many > 140)
        fail_msg("%d guesses of one name, %d of many", passed, of_many);
}

/* The same from a thousand addresses. */
static void test_many_addresses(void **state)
{
    int passed = 0;
    for (int64_t at_ms = 0; at_ms < INT64_C(86400) * 1000; at_ms += 1000) {
        char address[48];
        int number = (int)(at_ms / 1000 % 1000);
        snprintf(address, sizeof(address), "198.51.%d.%d", number / 250, number % 250);
        passed += try_wrong(*state, "anna", address, at_ms);
    }
    if (passed > 5000)
        fail_msg("%d guesses", passed);
}

/* With an account of their own they win no more guesses of another one. */
static void test_own_account_gives_nothing_back(void **state)
{
    int passed = 0;
    for (int i = 0; i < 200; i++) {
        char name[24];
        snprintf(name, sizeof(name), "user %d", i);
        passed += try_wrong(*state, name, "192.0.2.1", 1000 + i * 200);
        try_right(*state, "mallory", "192.0.2.1", NULL, 1000 + i * 200);
    }
    assert_in_range(passed, 20, 27); /* of 200, in 40 s */
}

static void test_cost_is_limited(void **state)
{
    int passed = 0;
    for (int i = 0; i < 1000; i++) {
        char address[48], name[24];
        snprintf(address, sizeof(address), "198.51.%d.%d", i / 250, i % 250);
        snprintf(name, sizeof(name), "user %d", i);
        passed += try_wrong(*state, name, address, 1000 + i); /* within a second */
    }
    assert_in_range(passed, 20, 26);
    assert_true(try_right(*state, "anna", "192.0.2.1", "0123456789abcdef", 2000));
}

/* ---- those who are right ---- */

static void test_right_is_given_back(void **state)
{
    for (int i = 0; i < 1000; i++)
        assert_true(try_right(*state, "anna", "192.0.2.1", NULL, 1000 + i * 250));
}

/* Nobody looked at it: the hasher was busy. */
static void test_undone_is_given_back(void **state)
{
    struct guess guess;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(begin(*state, "anna", "192.0.2.1", NULL, 1000 + i * 250, &guess),
                         GUESS_GO);
        guesses_undo(*state, &guess);
    }
}

/* A stranger tries all the time, from `addresses`; a person with the right password comes now and
 * then. How often they are refused. */
static int refused(struct guesses *guesses, int addresses, const char *place, const char *device)
{
    int count = 0;
    for (int i = 0; i < 10000; i++) {
        char address[48];
        int64_t at_ms = 100000 + i * 40;
        snprintf(address, sizeof(address), "198.51.%d.%d", i % addresses / 250,
                 i % addresses % 250);
        try_wrong(guesses, "anna", address, at_ms);
        if (i % 250 == 125 && i >= 1000) /* every 10 s, from the first minute on */
            count += !try_right(guesses, "anna", place, device, at_ms);
    }
    return count;
}

static void test_strangers_lock_nobody_out(void **state)
{
    static const struct {
        int line;
        int addresses;
        bool was_here;
        const char *place, *device;
    } cases[] = {
        {__LINE__, 1, false, "192.0.2.1", NULL},
        {__LINE__, 15, false, "192.0.2.2", NULL}, /* never seen before */
        {__LINE__, 30, false, "192.0.2.5", NULL},
        {__LINE__, 1000, true, "192.0.2.3", NULL},
        {__LINE__, 1000, false, "192.0.2.4", "0123456789abcdef"},
        {__LINE__, 1, false, "198.51.0.0", "0123456789abcdef"}, /* behind the same address */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        tear_down(state);
        set_up(state);
        if (cases[i].was_here)
            assert_true(try_right(*state, "anna", cases[i].place, NULL, 1000));
        int count = refused(*state, cases[i].addresses, cases[i].place, cases[i].device);
        if (count)
            fail_msg("line %d: refused %d times", cases[i].line, count);
    }
}

/* What a device is wrong is its own business, and of nobody else with it. */
static void test_devices_have_their_room(void **state)
{
    struct guess guess;
    int passed = 0;
    for (int i = 0; i < 32; i++)
        passed += begin(*state, "anna", "192.0.2.1", "0000000000000001", 1000, &guess) == GUESS_GO;
    assert_int_equal(passed, 6);
    assert_int_equal(begin(*state, "anna", "192.0.2.1", "0000000000000002", 1000, &guess),
                     GUESS_GO);
    assert_true(try_wrong(*state, "anna", "192.0.2.1", 1000));
}

static void test_memory_is_bounded(void **state)
{
    struct guesses *guesses = *state;
    for (int i = 0; i < 30000; i++) {
        char address[48], name[24];
        snprintf(address, sizeof(address), "%d.%d.%d.1", i / 65536, i / 256 % 256, i % 256);
        snprintf(name, sizeof(name), "user %d", i);
        try_right(guesses, name, address, NULL, 1000 + (int64_t)i * 250);
        try_wrong(guesses, name, address, 1000 + (int64_t)i * 250);
    }
    assert_in_range(guesses->rooms.by_key.count, 1, 20000);
    assert_in_range(guesses->known.by_key.count, 1, 4096);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_parallel_guesses_count),  TEST(test_one_address),
        TEST(test_many_addresses),          TEST(test_own_account_gives_nothing_back),
        TEST(test_cost_is_limited),         TEST(test_right_is_given_back),
        TEST(test_undone_is_given_back),    TEST(test_strangers_lock_nobody_out),
        TEST(test_devices_have_their_room), TEST(test_memory_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
