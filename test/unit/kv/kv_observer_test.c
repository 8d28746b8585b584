/* Who is taken for gone, and when: by what was seen, on the clock of who has seen it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kv_observer.h"

enum { TTL_MS = 5000, A = 1, B = 2 };

static void look(struct kv_observer *observer, int64_t now_ms, int64_t beats_of_a,
                 int64_t beats_of_b)
{
    kv_observer_begin(observer);
    if (beats_of_a >= 0)
        assert_int_equal(kv_observer_saw(observer, A, TTL_MS, beats_of_a, now_ms), 0);
    if (beats_of_b >= 0)
        assert_int_equal(kv_observer_saw(observer, B, TTL_MS, beats_of_b, now_ms), 0);
    kv_observer_end(observer);
}

static void count(void *context, const struct kv_observed *lease)
{
    int64_t *ids = context;
    *ids = *ids * 10 + lease->id;
}

static int64_t over(const struct kv_observer *observer, int64_t now_ms)
{
    int64_t ids = 0;
    kv_observer_each_over(observer, now_ms, count, &ids);
    return ids;
}

static void silence_for_a_ttl_ends_a_lease(void **state)
{
    struct kv_observer observer;
    (void)state;
    kv_observer_init(&observer);
    look(&observer, 1000, 7, 1);
    for (int64_t ms = 1500; ms < 1000 + TTL_MS; ms += 500) {
        look(&observer, ms, 7, ms);
        assert_int_equal(over(&observer, ms), 0);
    }
    assert_int_equal(kv_observer_left_ms(kv_observer_find(&observer, A), 4000), TTL_MS - 3000);
    look(&observer, 1000 + TTL_MS, 7, 9999);
    assert_int_equal(over(&observer, 1000 + TTL_MS), A);
    look(&observer, 1001 + TTL_MS, 8, 9999); /* a late beat counts as long as nobody has ended it */
    assert_int_equal(over(&observer, 1001 + TTL_MS), 0);
    kv_observer_release(&observer);
}

static void what_is_gone_is_forgotten(void **state)
{
    struct kv_observer observer;
    (void)state;
    kv_observer_init(&observer);
    look(&observer, 0, 1, 1);
    look(&observer, 100, -1, 1);
    assert_null(kv_observer_find(&observer, A));
    assert_non_null(kv_observer_find(&observer, B));
    look(&observer, 200, -1, -1);
    assert_null(kv_observer_find(&observer, B));
    kv_observer_release(&observer);
}

/* The server was away for an hour: nobody could beat, and nobody's lease has run out. */
static void an_outage_ends_nobody(void **state)
{
    struct kv_observer observer;
    (void)state;
    kv_observer_init(&observer);
    look(&observer, 0, 1, 1);
    kv_observer_forget(&observer);
    look(&observer, 3600000, 1, 1);
    assert_int_equal(over(&observer, 3600000), 0);
    assert_int_equal(over(&observer, 3600000 + TTL_MS - 1), 0);
    look(&observer, 3600000 + TTL_MS, 2, 1);
    assert_int_equal(over(&observer, 3600000 + TTL_MS), B);
    kv_observer_release(&observer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(silence_for_a_ttl_ends_a_lease),
        cmocka_unit_test(what_is_gone_is_forgotten),
        cmocka_unit_test(an_outage_ends_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
