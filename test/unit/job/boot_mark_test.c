#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "boot_mark.h"

static const struct id job = {{1, 2, 3, 4}}, other = {{1, 2, 3, 5}};

static void a_mark_comes_back(void **state)
{
    (void)state;
    char json[BOOT_JSON_SIZE];
    struct boot_mark mark = {"0b1e2f3a-0000-4444-8888-123456789abc", 1767225600123, true}, read;
    boot_mark_encode(&mark, json);
    assert_int_equal(boot_mark_decode(json, &read), OK);
    assert_string_equal(read.boot_id, mark.boot_id);
    assert_int_equal(read.tick_ms, mark.tick_ms);
    assert_true(read.is_due);
    mark.is_due = false;
    boot_mark_encode(&mark, json);
    assert_int_equal(boot_mark_decode(json, &read), OK);
    assert_false(read.is_due);
}

static void what_is_no_mark_is_refused(void **state)
{
    (void)state;
    static const struct {
        int line;
        const char *json;
    } rows[] = {
        {__LINE__, ""},
        {__LINE__, "[]"},
        {__LINE__, "{\"boot\":\"b\",\"tick_ms\":1}"},
        {__LINE__, "{\"boot\":\"b\",\"tick_ms\":\"1\",\"is_due\":true}"},
        {__LINE__, "{\"boot\":\"0123456789012345678901234567890123456789\",\"tick_ms\":1,"
                   "\"is_due\":true}"},
        {__LINE__, "{\"boot\":\"b\",\"tick_ms\":-1,\"is_due\":true}"},
        {__LINE__, "{\"boot\":\"b\",\"tick_ms\":9223372036854775807,\"is_due\":true}"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct boot_mark read;
        if (boot_mark_decode(rows[i].json, &read) != E_INVALID)
            fail_msg("line %d", rows[i].line);
    }
}

static void a_name_is_of_one_node_and_job(void **state)
{
    (void)state;
    char name[BOOT_NAME_SIZE];
    struct id uid;
    boot_mark_name("node-1", &job, name);
    assert_true(boot_mark_is_of(name, "node-1", &uid));
    assert_int_equal(id_compare(&uid, &job), 0);
    assert_false(boot_mark_is_of(name, "node-10", &uid));
    assert_false(boot_mark_is_of(name, "node-", &uid));
    assert_false(boot_mark_is_of("node-1/what", "node-1", &uid));
}

static void a_run_tells_which_boot_it_is_of(void **state)
{
    (void)state;
    struct boot_mark mark = {"boot-1", 5123, false}, later = {"boot-1", 6123, false};
    struct id id = boot_run_id(&mark, "node-1", &job), again = boot_run_id(&later, "node-1", &job);
    assert_true(boot_has_run("boot-1", "node-1", &job, &id));
    assert_true(boot_has_run("boot-1", "node-1", &job, &again));
    assert_int_not_equal(id_compare(&id, &again), 0);
    assert_false(boot_has_run("boot-2", "node-1", &job, &id));
    assert_false(boot_has_run("boot-1", "node-2", &job, &id));
    assert_false(boot_has_run("boot-1", "node-1", &other, &id));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mark_comes_back),
        cmocka_unit_test(what_is_no_mark_is_refused),
        cmocka_unit_test(a_name_is_of_one_node_and_job),
        cmocka_unit_test(a_run_tells_which_boot_it_is_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
