/* Decoded definitions that are used again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "definitions.h"

static struct id uid_of(uint8_t number)
{
    return (struct id){{1, number}};
}

static void one_is_taken_and_put_back(void **state)
{
    (void)state;
    struct definitions definitions;
    definitions_init(&definitions, 2);
    struct id uid = uid_of(1);
    assert_null(definitions_take(&definitions, &uid, 7));
    struct job *job = job_new(), *newer = job_new();
    definitions_put(&definitions, &uid, 7, job);
    assert_ptr_equal(definitions_take(&definitions, &uid, 7), job);
    assert_null(definitions_take(&definitions, &uid, 7)); /* a second run at the same time */
    definitions_put(&definitions, &uid, 7, job);
    assert_null(definitions_take(&definitions, &uid, 8)); /* changed since */
    definitions_put(&definitions, &uid, 8, newer);
    assert_null(definitions_take(&definitions, &uid, 7));
    assert_ptr_equal(definitions_take(&definitions, &uid, 8), newer);
    job_free(newer);
    definitions_release(&definitions);
}

static void as_many_as_there_is_room_for(void **state)
{
    (void)state;
    struct definitions definitions;
    definitions_init(&definitions, 2);
    for (uint8_t i = 0; i < 5; i++) {
        struct id uid = uid_of(i);
        definitions_put(&definitions, &uid, 1, job_new());
        assert_true(definitions.by_uid.count <= 2);
    }
    definitions_put(&definitions, &(struct id){{9}}, 1, NULL);
    definitions_release(&definitions);
    definitions_init(&definitions, 0);
    struct id uid = uid_of(1);
    definitions_put(&definitions, &uid, 1, job_new());
    assert_null(definitions_take(&definitions, &uid, 1));
    definitions_release(&definitions);
}

/* What ran once does not keep out what runs now. */
static void old_ones_give_way(void **state)
{
    (void)state;
    struct definitions definitions;
    definitions_init(&definitions, 8);
    for (uint8_t i = 0; i < 8; i++) {
        struct id uid = uid_of(i);
        definitions_put(&definitions, &uid, 1, job_new());
    }
    for (uint8_t i = 100; i < 108; i++) {
        struct id uid = uid_of(i);
        struct job *job = job_new();
        definitions_put(&definitions, &uid, 1, job);
        assert_ptr_equal(definitions_take(&definitions, &uid, 1), job);
        definitions_put(&definitions, &uid, 1, job);
        assert_int_equal(definitions.by_uid.count, 8);
    }
    definitions_release(&definitions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_is_taken_and_put_back),
        cmocka_unit_test(as_many_as_there_is_room_for),
        cmocka_unit_test(old_ones_give_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
