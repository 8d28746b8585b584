#include "history_stats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* Every duration is in one bucket, and buckets follow each other without a gap. */
static void test_buckets(void **state)
{
    (void)state;
    for (int64_t ms = 0; ms < 300000; ms++) {
        int bucket = history_bucket(ms);
        assert_true(history_bucket_ms(bucket) <= ms && ms < history_bucket_ms(bucket + 1));
    }
    for (int bucket = 0; bucket < HISTORY_BUCKETS; bucket++) {
        assert_int_equal(history_bucket(history_bucket_ms(bucket)), bucket);
        if (bucket)
            assert_int_equal(history_bucket(history_bucket_ms(bucket) - 1), bucket - 1);
    }
    assert_int_equal(history_bucket(-5), 0);
    assert_int_equal(history_bucket(INT64_MAX), HISTORY_BUCKETS - 1);
}

static void test_percentile(void **state)
{
    (void)state;
    struct history_stats_row row = {0};
    assert_int_equal(history_stats_percentile(&row, 50), 0);
    row.duration_min_ms = 1;
    row.duration_max_ms = 10000;
    for (int64_t ms = 1; ms <= 10000; ms++) {
        row.timed++;
        row.buckets[history_bucket(ms)]++;
    }
    for (int percent = 1; percent <= 100; percent++) {
        int64_t want = percent * 100, found = history_stats_percentile(&row, percent);
        if (llabs(found - want) * 8 > want)
            fail_msg("p%d: %lld", percent, (long long)found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_buckets),
                                       cmocka_unit_test(test_percentile)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
