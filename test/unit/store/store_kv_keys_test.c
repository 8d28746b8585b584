#include "kv/store_kv_keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { KEYS = 300, STEPS = 200000, CLUSTER = 16 };

/* Few hashes share many low bits, so that they meet in the table. */
static uint64_t hash_of(unsigned key)
{
    return (uint64_t)(key % CLUSTER) | (uint64_t)(key / CLUSTER) << 40;
}

static void it_holds_what_was_added_as_often(void **state)
{
    struct key_set set = {0};
    unsigned uses[KEYS] = {0}, seed = 1;
    (void)state;
    for (int step = 0; step < STEPS; step++) {
        unsigned key = (unsigned)rand_r(&seed) % KEYS;
        if (rand_r(&seed) % 2 || uses[key] == 0) {
            assert_int_equal(key_set_add(&set, hash_of(key)), OK);
            uses[key]++;
        } else {
            key_set_remove(&set, hash_of(key));
            uses[key]--;
        }
        unsigned other = (unsigned)rand_r(&seed) % KEYS;
        if (key_set_has(&set, hash_of(other)) != (uses[other] > 0))
            fail_msg("step %d: key %u has %u uses", step, other, uses[other]);
    }
    for (unsigned key = 0; key < KEYS; key++)
        for (; uses[key] > 0; uses[key]--)
            key_set_remove(&set, hash_of(key));
    assert_int_equal(set.count, 0);
    key_set_release(&set);
}

static void it_can_be_cleared(void **state)
{
    struct key_set set = {0};
    (void)state;
    key_set_clear(&set);
    assert_false(key_set_has(&set, 7));
    assert_int_equal(key_set_add(&set, 7), OK);
    assert_int_equal(key_set_add(&set, 0), OK); /* a hash like any other */
    assert_true(key_set_has(&set, 0));
    key_set_clear(&set);
    assert_false(key_set_has(&set, 7));
    assert_false(key_set_has(&set, 0));
    key_set_release(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_holds_what_was_added_as_often),
        cmocka_unit_test(it_can_be_cleared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
