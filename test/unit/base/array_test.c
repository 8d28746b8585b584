#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "array.h"

enum { ITEMS = 1000 };

static void check(const int64_t *items)
{
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(items[i], i);
}

/* The sanitizer sees a write behind the end. */
static void grows_by_one(void **state)
{
    (void)state;
    int64_t *items = NULL;
    size_t count = 0;
    for (int i = 0; i < ITEMS; i++) {
        assert_int_equal(array_grow(&items, count, sizeof(*items)), OK);
        items[count++] = i;
    }
    check(items);
    for (count = 5; count < ITEMS;) { /* after some were taken from its end */
        assert_int_equal(array_grow(&items, count, sizeof(*items)), OK);
        items[count] = (int64_t)count;
        count++;
    }
    check(items);
    free(items);
}

static void keeps_its_room_when_emptied(void **state)
{
    (void)state;
    int64_t *items = NULL;
    size_t capacity = 0;
    for (int turn = 0; turn < 2; turn++) {
        const int64_t *before = items;
        for (size_t count = 0; count < ITEMS; count++) {
            assert_int_equal(array_reserve(&items, count, &capacity, sizeof(*items)), OK);
            assert_true(turn == 0 || items == before);
            items[count] = (int64_t)count;
        }
        check(items);
    }
    free(items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_by_one),
        cmocka_unit_test(keeps_its_room_when_emptied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
