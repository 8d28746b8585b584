#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "strbuf.h"

static void starts_empty_and_without_memory(void **state)
{
    (void)state;
    struct strbuf buf;
    strbuf_init(&buf);
    assert_string_equal(buf.text, "");
    assert_int_equal(buf.length, 0);
    assert_int_equal(buf.capacity, 0);
    assert_int_equal(strbuf_status(&buf), OK);
    strbuf_release(&buf);
}

static void appends_of_every_kind(void **state)
{
    (void)state;
    struct strbuf buf;
    strbuf_init(&buf);
    strbuf_adds(&buf, "at ");
    strbuf_addf(&buf, "%02d:%02d", 2, 30);
    strbuf_addc(&buf, ',');
    strbuf_add(&buf, " dailyX", 6);
    strbuf_adds(&buf, "");
    strbuf_add(&buf, NULL, 0);
    assert_string_equal(buf.text, "at 02:30, daily");
    assert_int_equal(buf.length, strlen("at 02:30, daily"));
    strbuf_release(&buf);
}

static void numbers_are_those_of_printf(void **state)
{
    (void)state;
    static const int64_t numbers[] = {0, 1, -1, 9, 10, -10, 1763499999123, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct strbuf buf;
        char wanted[24];
        strbuf_init(&buf);
        strbuf_add_number(&buf, numbers[i]);
        snprintf(wanted, sizeof(wanted), "%lld", (long long)numbers[i]);
        assert_string_equal(buf.text, wanted);
        strbuf_release(&buf);
    }
}

static void keeps_zero_bytes(void **state)
{
    (void)state;
    struct strbuf buf;
    strbuf_init(&buf);
    strbuf_add(&buf, "a\0b", 3);
    strbuf_addc(&buf, '\0');
    assert_int_equal(buf.length, 4);
    assert_memory_equal(buf.text, "a\0b\0", 5);
    strbuf_release(&buf);
}

/* Around every place where the memory has to grow. */
static void grows_by_any_length(void **state)
{
    (void)state;
    for (size_t first = 0; first < 200; first++) {
        for (size_t more = 0; more < 200; more += 1 + more / 3) {
            struct strbuf buf;
            strbuf_init(&buf);
            for (size_t i = 0; i < first; i++)
                strbuf_addc(&buf, 'a');
            strbuf_addf(&buf, "%*s", (int)more, "");
            if (buf.length != first + more || strlen(buf.text) != first + more)
                fail_msg("%zu then %zu bytes give %zu", first, more, buf.length);
            strbuf_release(&buf);
        }
    }
}

static void truncate_only_shortens(void **state)
{
    (void)state;
    struct strbuf buf;
    strbuf_init(&buf);
    strbuf_truncate(&buf, 0);
    strbuf_truncate(&buf, 5);
    assert_string_equal(buf.text, "");
    strbuf_adds(&buf, "minute");
    strbuf_truncate(&buf, 9);
    assert_string_equal(buf.text, "minute");
    strbuf_truncate(&buf, 3);
    assert_string_equal(buf.text, "min");
    assert_int_equal(buf.length, 3);
    strbuf_release(&buf);
}

static void reset_keeps_the_memory(void **state)
{
    (void)state;
    struct strbuf buf;
    strbuf_init(&buf);
    strbuf_reset(&buf);
    strbuf_adds(&buf, "something");
    size_t capacity = buf.capacity;
    strbuf_reset(&buf);
    assert_string_equal(buf.text, "");
    assert_int_equal(buf.capacity, capacity);
    strbuf_release(&buf);
    assert_string_equal(buf.text, "");
    assert_int_equal(buf.capacity, 0);
}

static void detach_gives_the_text_away(void **state)
{
    (void)state;
    struct strbuf buf;
    strbuf_init(&buf);
    char *text = strbuf_detach(&buf);
    assert_string_equal(text, "");
    free(text);
    strbuf_adds(&buf, "mine");
    text = strbuf_detach(&buf);
    assert_string_equal(text, "mine");
    assert_string_equal(buf.text, "");
    free(text);
    strbuf_release(&buf);
}

/* A length that no machine can give: the failure is remembered, what was there stays whole, and
 * only reset or detach make the buffer usable again. */
static void remembers_out_of_memory(void **state)
{
    (void)state;
    struct strbuf buf;
    strbuf_init(&buf);
    strbuf_adds(&buf, "kept");
    strbuf_add(&buf, "", SIZE_MAX - 8);
    assert_int_equal(strbuf_status(&buf), E_NOMEM);
    strbuf_adds(&buf, " and not more");
    assert_string_equal(buf.text, "kept");
    assert_null(strbuf_detach(&buf));
    assert_int_equal(strbuf_status(&buf), OK);

    strbuf_add(&buf, "", SIZE_MAX - 8);
    strbuf_reset(&buf);
    strbuf_adds(&buf, "again");
    assert_int_equal(strbuf_status(&buf), OK);
    assert_string_equal(buf.text, "again");
    strbuf_release(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_empty_and_without_memory),
        cmocka_unit_test(appends_of_every_kind),
        cmocka_unit_test(numbers_are_those_of_printf),
        cmocka_unit_test(keeps_zero_bytes),
        cmocka_unit_test(grows_by_any_length),
        cmocka_unit_test(truncate_only_shortens),
        cmocka_unit_test(reset_keeps_the_memory),
        cmocka_unit_test(detach_gives_the_text_away),
        cmocka_unit_test(remembers_out_of_memory),
    };
    return cmocka_run_group_tests_name("strbuf", tests, NULL, NULL);
}
