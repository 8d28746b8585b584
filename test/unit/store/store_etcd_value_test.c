#include "store_etcd_value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct etcd_kv kv_of(const struct strbuf *value, size_t cut)
{
    return (struct etcd_kv){.value = {value->text, value->length - cut}};
}

/* A value of an older peal ends before what was added since. */
static void older_cursors_are_read(void **state)
{
    static const struct {
        int line;
        enum run_state last_state;
        int64_t known_ms, want_ms;
    } cases[] = {
        {__LINE__, RUN_OK, 0, 63},
        {__LINE__, RUN_FAILED, 0, 0},
        {__LINE__, RUN_FAILED, 50, 50},
        {__LINE__, RUN_OK, 50, 63},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct job_row row = {.cursor_ms = 60, .last = {.started_ms = 61, .ended_ms = 63}};
        struct job_row read = {.last = {.succeeded_ms = cases[i].known_ms}};
        enum tell tell = TELL_NOTHING;
        struct strbuf value;
        row.last.state = cases[i].last_state; /* and never: the last byte is that 0 */
        strbuf_init(&value);
        value_write_cursor(&value, &row, TELL_CHANGE);
        struct etcd_kv older = kv_of(&value, 1), half = kv_of(&value, 2);
        assert_int_equal(value_read_cursor(&half, &read, &tell), E_CORRUPT);
        assert_int_equal(read.last.ended_ms, 0);
        assert_int_equal(value_read_cursor(&older, &read, &tell), OK);
        if (read.last.ended_ms != 63 || read.last.succeeded_ms != cases[i].want_ms)
            fail_msg("line %d: %lld", cases[i].line, (long long)read.last.succeeded_ms);
        strbuf_release(&value);
    }
}

static void cursors_come_back(void **state)
{
    struct job_row read = {.cursor_ms = 0};
    struct job_row row = {.cursor_ms = INT64_C(1800000000123),
                          .last = {{{1, 2, 3}}, 61, 63, INT64_C(1800000000456), RUN_LOST}};
    enum tell tell = TELL_NOTHING;
    struct strbuf value;
    (void)state;
    strbuf_init(&value);
    value_write_cursor(&value, &row, TELL_CHANGE);
    struct etcd_kv kv = kv_of(&value, 0);
    assert_int_equal(value_read_cursor(&kv, &read, &tell), OK);
    assert_int_equal(tell, TELL_CHANGE);
    assert_int_equal(read.cursor_ms, row.cursor_ms);
    assert_memory_equal(&read.last.run_id, &row.last.run_id, sizeof(row.last.run_id));
    assert_int_equal(read.last.started_ms, 61);
    assert_int_equal(read.last.ended_ms, 63);
    assert_int_equal(read.last.succeeded_ms, row.last.succeeded_ms);
    assert_int_equal(read.last.state, RUN_LOST);
    strbuf_release(&value);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(older_cursors_are_read),
        cmocka_unit_test(cursors_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
