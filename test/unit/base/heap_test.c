/* The heap against a plain list that is searched from end to end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "heap.h"

enum { ITEMS = 300, STEPS = 20000 };

struct item {
    int64_t key; /* what the list says */
    uint32_t place;
};

static void item_moved(void *item, uint32_t place)
{
    ((struct item *)item)->place = place;
}

static uint32_t next_random(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(*seed >> 33);
}

static void check(const struct heap *heap, const struct item *items)
{
    size_t in_heap = 0;
    int64_t smallest = INT64_MAX;
    for (size_t i = 0; i < ITEMS; i++) {
        if (items[i].place == HEAP_NONE)
            continue;
        in_heap++;
        assert_ptr_equal(heap->entries[items[i].place].item, &items[i]);
        assert_int_equal(heap->entries[items[i].place].key, items[i].key);
        if (items[i].key < smallest)
            smallest = items[i].key;
    }
    assert_int_equal(heap->count, in_heap);
    if (in_heap)
        assert_int_equal(heap->entries[0].key, smallest);
}

static void random_steps_match_a_list(void **state)
{
    (void)state;
    static struct item items[ITEMS];
    struct heap heap;
    uint64_t seed = 1;
    heap_init(&heap, item_moved);
    for (size_t i = 0; i < ITEMS; i++)
        items[i].place = HEAP_NONE;
    for (int step = 0; step < STEPS; step++) {
        struct item *item = &items[next_random(&seed) % ITEMS];
        int64_t key = (int64_t)(next_random(&seed) % 50) - 25; /* many are equal */
        if (item->place == HEAP_NONE) {
            item->key = key;
            assert_int_equal(heap_push(&heap, key, item), OK);
        } else if (next_random(&seed) % 2) {
            item->key = key;
            heap_update(&heap, item->place, key);
        } else {
            heap_remove(&heap, item->place);
        }
        if (step % 7 == 0)
            check(&heap, items);
    }
    heap_release(&heap);
}

static void items_come_out_in_order(void **state)
{
    (void)state;
    static const int64_t keys[] = {5, INT64_MIN, 7, INT64_MAX, 0, 5, -1};
    static const int64_t want[] = {INT64_MIN, -1, 0, 5, 5, 7, INT64_MAX};
    struct item items[sizeof(keys) / sizeof(keys[0])];
    struct heap heap;
    heap_init(&heap, item_moved);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        assert_int_equal(heap_push(&heap, keys[i], &items[i]), OK);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        assert_true(heap.entries[0].key == want[i]);
        heap_remove(&heap, 0);
    }
    assert_int_equal(heap.count, 0);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        assert_int_equal(items[i].place, HEAP_NONE);
    heap_release(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_steps_match_a_list),
        cmocka_unit_test(items_come_out_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
