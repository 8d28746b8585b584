/* The table against an array of flags, with hashes that are good, bad and the same for all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hash.h"
#include "table.h"

enum { ITEMS = 500, STEPS = 20000 };

static uint64_t good_hash(const void *item)
{
    return hash_bytes(0, item, sizeof(int));
}

static uint64_t bad_hash(const void *item)
{
    return *(const int *)item % 7 == 0 ? UINT64_MAX : (uint64_t) * (const int *)item % 5;
}

static uint64_t same_hash(const void *item)
{
    (void)item;
    return 15; /* the last place of the first table: runs wrap around */
}

static bool item_is(const void *item, const void *key)
{
    return *(const int *)item == *(const int *)key;
}

static uint32_t next_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(*seed >> 33);
}

static void check(const struct table *table, int *items, const bool *inside)
{
    size_t count = 0, walked = 0, at = 0;
    for (int i = 0; i < ITEMS; i++) {
        count += inside[i];
        void *found = table_find(table, &items[i]);
        assert_ptr_equal(found, inside[i] ? &items[i] : NULL);
    }
    for (const int *item; (item = table_next(table, &at)); walked++)
        assert_true(inside[*item]);
    assert_int_equal(walked, count);
    assert_int_equal(table->count, count);
}

static void random_steps_match_flags(void **state)
{
    (void)state;
    static const struct {
        struct table_type type;
        int limit; /* items: long runs are slow */
    } cases[] = {
        {{.hash = good_hash, .is_same = item_is}, ITEMS},
        {{.hash = bad_hash, .is_same = item_is}, 200},
        {{.hash = same_hash, .is_same = item_is}, 60},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        int items[ITEMS];
        bool inside[ITEMS] = {false};
        struct table table;
        uint64_t seed = k;
        table_init(&table, &cases[k].type);
        for (int i = 0; i < ITEMS; i++)
            items[i] = i;
        for (int step = 0; step < STEPS; step++) {
            size_t i = next_random(&seed) % (unsigned)cases[k].limit;
            if (inside[i])
                table_remove(&table, &items[i]);
            else
                assert_int_equal(table_insert(&table, &items[i]), OK);
            inside[i] = !inside[i];
            if (step % 97 == 0)
                check(&table, items, inside);
        }
        check(&table, items, inside);
        table_release(&table);
    }
}

static void empty_table_finds_nothing(void **state)
{
    (void)state;
    static const struct table_type type = {.hash = good_hash, .is_same = item_is};
    struct table table;
    size_t at = 0;
    int key = 1;
    table_init(&table, &type);
    assert_null(table_find(&table, &key));
    assert_null(table_next(&table, &at));
    table_release(&table);
}

/* A key is found by its contents, wherever the item has it. */
static void keys_of_all_kinds(void **state)
{
    (void)state;
    struct item {
        int64_t number;
        char text[8];
        const char *name;
    } items[] = {{1, "one", "first"}, {2, "two", "second"}};
    static const struct table_type types[] = {
        {.key_at = offsetof(struct item, number), .key_size = sizeof(int64_t)},
        {.key_at = offsetof(struct item, text)},
        {.key_at = offsetof(struct item, name), .is_pointer = true},
    };
    const void *const keys[][2] = {
        {&(int64_t){1}, &(int64_t){2}}, {"one", "two"}, {"first", "second"}};
    const void *const unknown[] = {&(int64_t){3}, "on", "firsts"};
    for (size_t k = 0; k < sizeof(types) / sizeof(types[0]); k++) {
        struct table table;
        table_init(&table, &types[k]);
        for (size_t i = 0; i < 2; i++)
            assert_int_equal(table_insert(&table, &items[i]), OK);
        for (size_t i = 0; i < 2; i++)
            assert_ptr_equal(table_find(&table, keys[k][i]), &items[i]);
        assert_null(table_find(&table, unknown[k]));
        table_remove(&table, &items[0]);
        assert_null(table_find(&table, keys[k][0]));
        table_release(&table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_all_kinds),
        cmocka_unit_test(random_steps_match_flags),
        cmocka_unit_test(empty_table_finds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
