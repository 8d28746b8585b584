#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ports.h"

/* Bytes that differ in each call, so that two series have nothing in common. */
static void fill(void *context, void *bytes, size_t length)
{
    memset(bytes, ++*(unsigned char *)context, length);
}

static void ids_of_one_millisecond_follow_each_other(void **state)
{
    unsigned char calls = 0;
    struct made_id last = {0};
    struct engine_ports ports = {.entropy = {fill, &calls}, .last_id = &last};
    (void)state;
    struct id before = ports_new_id(&ports, (struct wall_ms){1767000000123});
    for (int i = 0; i < 1000; i++) {
        struct id next = ports_new_id(&ports, (struct wall_ms){1767000000123}),
                  wanted = id_next(&before);
        assert_int_equal(id_compare(&next, &wanted), 0);
        before = next;
    }
    assert_int_equal(calls, 1);
}

static void another_millisecond_begins_at_random(void **state)
{
    static const int64_t times_ms[] = {1767000000124, 1767000000125, 1767000000124};
    unsigned char calls = 0;
    struct made_id last = {0};
    struct entropy entropy = {fill, &calls};
    (void)state;
    for (int i = 0; i < 3; i++) {
        uint8_t random[10];
        memset(random, i + 1, sizeof(random));
        struct id id = made_id_next(&last, &entropy, times_ms[i]);
        struct id wanted = id_make((struct wall_ms){times_ms[i]}, random);
        assert_int_equal(id_compare(&id, &wanted), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_of_one_millisecond_follow_each_other),
        cmocka_unit_test(another_millisecond_begins_at_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
