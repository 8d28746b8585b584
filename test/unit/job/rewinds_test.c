#include "rewinds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TICKS = 60, STEPS = 40, WORLDS = 3000 };

/* Ticks 1..TICKS of a job, by brute force: one that has started never comes up again; one that has
 * not, and is behind the highest cursor, is open unless it was dropped. */
static void test_against_all_ticks(void **state)
{
    (void)state;
    srand(7);
    for (int world = 0; world < WORLDS; world++) {
        struct rewinds rewinds = {0};
        bool has_started[TICKS + 1] = {false};
        int cursor = 1;
        for (int step = 0; step < STEPS; step++) {
            int to = cursor + 1 + rand() % 4;
            if (rand() % 5 == 0 && cursor > 2) {
                int back = 1 + rand() % (cursor - 1);
                rewinds_move_back(&rewinds, cursor);
                cursor = back;
            } else if (rand() % 6 == 0) {
                int tick = 1 + rand() % TICKS;
                if (!has_started[tick] && rewinds_start(&rewinds, tick))
                    has_started[tick] = true;
            } else if (to <= TICKS) {
                bool starts = rand() % 2 && rewinds_is_open(&rewinds, to);
                bool passes = to - cursor > 1 || !starts;
                if (starts && has_started[to])
                    fail_msg("world %d: tick %d starts twice", world, to);
                rewinds_move_on(&rewinds, cursor, to, !passes ? cursor : starts ? to - 1 : to);
                has_started[to] |= starts;
                cursor = to;
            }
            for (int tick = cursor + 1; tick <= TICKS; tick++) {
                bool is_open = rewinds_is_open(&rewinds, tick);
                if (is_open && has_started[tick])
                    fail_msg("world %d: tick %d is open, and has started", world, tick);
                if (!is_open && tick > rewinds.high_ms)
                    fail_msg("world %d: tick %d is closed", world, tick);
                int64_t next = rewinds_next_open(&rewinds, tick);
                for (int64_t t = tick; t < next && t <= TICKS; t++)
                    assert_false(rewinds_is_open(&rewinds, t));
                assert_true(rewinds_is_open(&rewinds, next));
            }
        }
    }
}

static void test_what_did_not_start_starts(void **state)
{
    (void)state;
    struct rewinds rewinds = {0};
    rewinds_move_on(&rewinds, 10, 20, 10); /* started */
    rewinds_move_on(&rewinds, 20, 40, 39); /* 21 to 39 did not */
    assert_true(rewinds_is_open(&rewinds, 41));
    rewinds_move_back(&rewinds, 40);
    assert_false(rewinds_is_open(&rewinds, 15));
    assert_false(rewinds_is_open(&rewinds, 20));
    assert_true(rewinds_is_open(&rewinds, 21));
    assert_false(rewinds_is_open(&rewinds, 40));
    assert_true(rewinds_is_open(&rewinds, 41));
    assert_int_equal(rewinds_next_open(&rewinds, 12), 21);
    assert_int_equal(rewinds_next_open(&rewinds, 40), 41);
    assert_true(rewinds_start(&rewinds, 30));
    assert_false(rewinds_start(&rewinds, 30));
    assert_int_equal(rewinds_next_open(&rewinds, 30), 31);
}

static void test_text(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool want;
        int count;
    } cases[] = {{"", true, 0},         {"1-2", true, 1},
                 {"1-2,5-7", true, 2},  {"1-2,3-7", true, 1}, /* they touch */
                 {"1-", false, 0},      {"x", false, 0},
                 {"1-2;5-7", false, 0}, {"1-2,5-6,8-9,11-12,14-15", false, 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rewinds rewinds = {.gap_count = 3};
        if (rewinds_read_gaps(&rewinds, cases[i].text) != cases[i].want ||
            rewinds.gap_count != cases[i].count)
            fail_msg("%s: %d", cases[i].text, rewinds.gap_count);
    }
    struct rewinds wide = {.gap_count = REWIND_GAPS_MAX}, read = {0};
    for (int i = 0; i < REWIND_GAPS_MAX; i++)
        wide.gaps[i] = (struct tick_gap){INT64_MAX / 2 + 10 * i, INT64_MAX / 2 + 10 * i + 5};
    char text[REWIND_GAPS_TEXT];
    rewinds_write_gaps(&wide, text);
    assert_true(rewinds_read_gaps(&read, text));
    assert_memory_equal(read.gaps, wide.gaps, sizeof(wide.gaps));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_all_ticks),
        cmocka_unit_test(test_what_did_not_start_starts),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
