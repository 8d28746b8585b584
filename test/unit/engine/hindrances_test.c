/* Spans in which this node could not start runs: which of them are of a job, and their reasons. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "state/hindrances.h"

/* A node that could start runs hinders only jobs that it may not run. */
static void test_where(void **state)
{
    static const struct {
        int line;
        const char *others, *where;
        bool is_of;
    } rows[] = {
        {__LINE__, NULL, NULL, true}, /* no node could start anything */
        {__LINE__, NULL, "zone=eu", true},
        {__LINE__, " \n", NULL, false},
        {__LINE__, " \n", "zone=eu", true}, /* one without labels could */
        {__LINE__, " \n", "!zone", false},
        {__LINE__, " \n", "@billing", true}, /* an agent, which runs no functions */
        {__LINE__, "billing \n", NULL, true},
        {__LINE__, "billing \n", "@billing", false},
        {__LINE__, "bill zone=eu\n", "@billing", true},
        {__LINE__, " \nbilling zone=eu\n", "@billing,zone=eu", false},
        {__LINE__, " zone=eu\nbilling zone=us\n", "@billing,zone=eu", true},
        {__LINE__, " zone=us\n", "zone=eu", true},
        {__LINE__, " zone=us\n", "zone", false},
        {__LINE__, " zone=us\n", "zone!=eu", false},
        {__LINE__, " disk=ssd,zone=us\n zone=eu\n", "zone=eu", false},
        {__LINE__, " disk=ssd,zone=us\n zone=eu\n", "zone=eu,disk=ssd", true},
        {__LINE__, " disk=ssd,zone=us\n zone=eu\n", "disk=ssd", false},
        {__LINE__, " disk=ssd,zone=us\n zone=eu\n", NULL, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct hindrances all = {0};
        hindrances_note(&all, REASON_DRAINED, rows[i].others, 100, 200);
        enum run_reason want = rows[i].is_of ? REASON_DRAINED : REASON_NONE;
        if (hindrances_at(&all, rows[i].where, 150) != want)
            fail_msg("line %d", rows[i].line);
        assert_int_equal(hindrances_here_at(&all, 150), REASON_DRAINED);
        assert_int_equal(hindrances_here_at(&all, 201), REASON_NONE);
        hindrances_release(&all);
    }
}

/* The same goes on; another reason, or other nodes, begin a new span. */
static void test_spans(void **state)
{
    (void)state;
    struct hindrances all = {0};
    hindrances_note(&all, REASON_DRAINED, " zone=eu\n", 1000, 1000);
    hindrances_note(&all, REASON_DRAINED, " zone=eu\n", 1000, 2000);
    assert_int_equal(all.count, 1);
    hindrances_note(&all, REASON_DRAINED, NULL, 2000, 3000);
    hindrances_note(&all, REASON_DRAINED, " zone=eu\n", 3000, 4000);
    hindrances_note(&all, REASON_CLOCK_DOUBTED, " zone=eu\n", 4000, 5000);
    assert_int_equal(all.count, 4);
    hindrances_go_on(&all, 5000, 6000);
    assert_int_equal(hindrances_at(&all, "zone=eu", 1500), REASON_NONE);
    assert_int_equal(hindrances_at(&all, "zone=eu", 2500), REASON_DRAINED);
    assert_int_equal(hindrances_at(&all, "zone=us", 3500), REASON_DRAINED);
    assert_int_equal(hindrances_at(&all, "zone=us", 6000), REASON_CLOCK_DOUBTED);
    assert_int_equal(hindrances_at(&all, "zone=us", 6001), REASON_NONE);
    hindrances_set_back(&all, 2500);
    assert_int_equal(all.count, 2);
    hindrances_go_on(&all, 2500 + HINDRANCE_MERGE_MS + 1, 9000); /* it was not noted up to then */
    assert_int_equal(hindrances_at(&all, NULL, 2501), REASON_NONE);
    hindrances_release(&all);
    hindrances_go_on(&all, 0, 1000);
    assert_int_equal(all.count, 0);
}

static void test_the_oldest_goes(void **state)
{
    (void)state;
    struct hindrances all = {0};
    for (int i = 0; i < HINDRANCES_MAX + 3; i++) {
        char others[32];
        snprintf(others, sizeof(others), "zone=%d\n", i);
        hindrances_note(&all, REASON_DRAINED, others, 1000 * i, 1000 * i + 500);
    }
    assert_int_equal(all.count, HINDRANCES_MAX);
    assert_int_equal(hindrances_here_at(&all, 2000), REASON_NONE);
    assert_int_equal(hindrances_here_at(&all, 3000), REASON_DRAINED);
    hindrances_release(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_where),
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_the_oldest_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
