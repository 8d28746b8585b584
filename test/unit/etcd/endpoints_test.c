#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "transport/endpoints.h"

static const char *const three[] = {"http://a:1", "https://b:2", "[::1]:3"};

static void parts(void **state)
{
    (void)state;
    struct endpoints endpoints;
    assert_int_equal(endpoints_init(&endpoints, three, 3, true, 1, NULL), OK);
    assert_string_equal(endpoints.items[0].name, "a:1");
    assert_false(endpoints.items[0].use_tls);
    assert_true(endpoints.items[1].use_tls);
    assert_string_equal(endpoints.items[2].host, "::1");
    assert_string_equal(endpoints.items[2].name, "[::1]:3");
    assert_true(endpoints.items[2].use_tls); /* by default */
    assert_int_equal(endpoints.items[2].port, 3);
    endpoints_release(&endpoints);
    assert_int_equal(endpoints_init(&endpoints, three, 0, false, 1, NULL), E_INVALID);
}

static void the_first_that_is_not_resting(void **state)
{
    (void)state;
    struct endpoints endpoints;
    struct strbuf text;
    int64_t at_ms = 0;
    strbuf_init(&text);
    assert_int_equal(endpoints_init(&endpoints, three, 3, false, 1, NULL), OK);
    struct endpoint *a = &endpoints.items[0], *b = &endpoints.items[1], *c = &endpoints.items[2];
    assert_ptr_equal(endpoints_pick(&endpoints, 1000, &at_ms), a);
    endpoints_failed(&endpoints, a, 1000, "refused");
    assert_ptr_equal(endpoints_pick(&endpoints, 1000, &at_ms), b);
    assert_null(endpoints_better(&endpoints, b, 1000));
    assert_ptr_equal(endpoints_better(&endpoints, b, 1100), a); /* soon back */
    endpoints_failed(&endpoints, b, 1000, "time-out");
    endpoints_failed(&endpoints, c, 1000, "no leader");
    assert_null(endpoints_pick(&endpoints, 1000, &at_ms));
    assert_in_range(at_ms, 1025, 1050);
    endpoints_describe(&endpoints, &text);
    assert_string_equal(text.text, "a:1 (refused), b:2 (time-out), [::1]:3 (no leader)");
    endpoints_worked(a);
    assert_ptr_equal(endpoints_pick(&endpoints, 1000, &at_ms), a);
    strbuf_release(&text);
    endpoints_release(&endpoints);
}

static void rests_grow_to_a_limit_and_differ(void **state)
{
    (void)state;
    struct endpoints endpoints;
    int64_t longest = 0, same = 0, before = 0;
    assert_int_equal(endpoints_init(&endpoints, three, 1, false, 42, NULL), OK);
    for (int i = 0; i < 40; i++) {
        endpoints_failed(&endpoints, &endpoints.items[0], 0, "down");
        int64_t rest = endpoints.items[0].rest_until_ms;
        assert_in_range(rest, 25, 5000);
        longest = rest > longest ? rest : longest;
        same += rest == before;
        before = rest;
    }
    assert_true(longest > 4000);
    assert_true(same < 3);
    endpoints_worked(&endpoints.items[0]);
    endpoints_failed(&endpoints, &endpoints.items[0], 0, "down");
    assert_in_range(endpoints.items[0].rest_until_ms, 25, 50);
    endpoints_release(&endpoints);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts),
        cmocka_unit_test(the_first_that_is_not_resting),
        cmocka_unit_test(rests_grow_to_a_limit_and_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
