/* Changes as documents of the store. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "change.h"

#define ID "01ARZ3NDEKTSV4RRFFQ69G5FAV"

static struct change_record some_change(void)
{
    struct change_record change = {.at_ms = 1469922850259,
                                   .via = VIA_TOKEN,
                                   .action = CHANGE_ROLLBACK,
                                   .target_kind = TARGET_JOB,
                                   .actor = "anna \"a\" \\",
                                   .address = "10.0.0.1",
                                   .request_id = "request-7",
                                   .target = "team/\u65e5\u672c",
                                   .job_name = "team/\u65e5\u672c",
                                   .revision = 12,
                                   .detail = "to revision 3\n",
                                   .before = (char *)"{\"a\":\"\\n\"}",
                                   .after = (char *)"{\"a\":\"\u00e4\"}"};
    assert_int_equal(id_parse(ID, &change.id), OK);
    assert_int_equal(id_parse("01ARZ3NDEKTSV4RRFFQ69G5FAW", &change.job_uid), OK);
    return change;
}

static void assert_same_text(const char *text, const char *want)
{
    assert_int_equal(!text, !want);
    if (want)
        assert_string_equal(text, want);
}

static void assert_same_change(const struct change_record *read, const struct change_record *change)
{
    assert_same_text(read->before, change->before);
    assert_same_text(read->after, change->after);
    assert_int_equal(id_compare(&read->id, &change->id), 0);
    assert_int_equal(id_compare(&read->job_uid, &change->job_uid), 0);
    assert_int_equal(read->at_ms, change->at_ms);
    assert_int_equal(read->via, change->via);
    assert_int_equal(read->action, change->action);
    assert_int_equal(read->target_kind, change->target_kind);
    assert_int_equal(read->revision, change->revision);
    assert_string_equal(read->actor, change->actor);
    assert_string_equal(read->address, change->address);
    assert_string_equal(read->request_id, change->request_id);
    assert_string_equal(read->target, change->target);
    assert_string_equal(read->job_name, change->job_name);
    assert_string_equal(read->detail, change->detail);
}

/* A document of so many records. */
static void write_document(const struct change_record *change, size_t count, struct strbuf *out)
{
    strbuf_init(out);
    for (size_t i = 0; i < count; i++) {
        strbuf_adds(out, i ? "\n," : "[");
        assert_true(change_write_record(change, "node-1", out));
    }
    strbuf_addc(out, ']');
    assert_int_equal(strbuf_status(out), OK);
}

static void check_round_trip(const struct change_record *change)
{
    for (size_t want = 1; want <= 3; want++) {
        struct change_record *read = NULL;
        struct strbuf json, head;
        size_t count = 0;
        char node[64];
        write_document(change, want, &json);
        assert_int_equal(change_records_node(json.text, node), OK);
        assert_string_equal(node, "node-1");
        strbuf_init(&head);
        change_records_head("node-1", &head);
        assert_memory_equal(json.text, head.text, head.length);
        assert_int_equal(change_records_read(json.text, &read, &count), OK);
        assert_int_equal(count, want);
        for (size_t i = 0; i < count; i++) {
            assert_same_change(&read[i], change);
            change_record_release(&read[i]);
        }
        free(read);
        strbuf_release(&head);
        strbuf_release(&json);
    }
}

static void test_round_trip(void **state)
{
    (void)state;
    struct change_record change = some_change();
    check_round_trip(&change);
    change.before = NULL;
    change.action = (enum change_action)1000; /* of a newer peal */
    check_round_trip(&change);
    change.actor[0] = change.detail[0] = '\0';
    change.after = NULL;
    check_round_trip(&change);
}

static void check_refused(const struct change_record *change)
{
    struct strbuf out;
    strbuf_init(&out);
    strbuf_adds(&out, "before");
    assert_false(change_write_record(change, "node-1", &out));
    assert_string_equal(out.text, "before");
    strbuf_release(&out);
}

static void test_what_is_no_record(void **state)
{
    (void)state;
    struct change_record change = some_change();
    change.actor[0] = (char)0xFF;
    check_refused(&change);
    change = some_change();
    change.before = (char *)"{\n}";
    check_refused(&change);
}

static void test_read_records(void **state)
{
    static const struct {
        int line;
        enum status want;
        const char *json;
    } cases[] = {
        {__LINE__, OK, "[{\"node\":\"n\",\"id\":\"" ID "\"}\n,null\n,null]"},
        {__LINE__, OK, "[{\"node\":\"n\",\"id\":\"" ID "\",\"later\":[1]}\n,{}\n,{}]"},
        {__LINE__, E_INVALID, "[{\"node\":\"n\"}\n,null\n,null]"},
        {__LINE__, E_INVALID, "[{\"id\":\"" ID "\"}\n,null\n,null]"},
        {__LINE__, E_INVALID, "[{\"node\":\"n\",\"id\":\"" ID "\",\"via\":-1}\n,null\n,null]"},
        {__LINE__, E_INVALID, "[{\"node\":\"n\",\"id\":\"" ID "\"}\n,null]"},
        {__LINE__, E_INVALID, "[{\"node\":\"n\",\"id\":\"" ID "\"}\n,null\n,null"},
        {__LINE__, E_INVALID, "[{\"node\":\"n\",\"id\":\"" ID "\"}\nnull\n,null]"},
        {__LINE__, E_INVALID, "[{\"node\":\"n\",\"id\":\"" ID "\"}\n,null\n,null\n,{}]"},
        {__LINE__, E_INVALID, "[]"},
        {__LINE__, E_INVALID, "{}"},
        {__LINE__, E_INVALID, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct change_record *changes = NULL;
        size_t count = 0;
        enum status st = change_records_read(cases[i].json, &changes, &count);
        if (st != cases[i].want)
            fail_msg("line %d: %s", cases[i].line, status_text(st));
        while (count)
            change_record_release(&changes[--count]);
        free(changes);
    }
}

static void test_decode(void **state)
{
    static const struct {
        int line;
        enum status want;
        const char *name, *json;
    } cases[] = {
        {__LINE__, OK, ID, "{\"node\":\"n\",\"id\":\"" ID "\"}"},
        {__LINE__, OK, ID, "{\"node\":\"n\",\"id\":\"" ID "\",\"later\":[1]}"},
        {__LINE__, E_INVALID, ID, "{\"node\":\"n\"}"},
        {__LINE__, E_INVALID, "other", "{\"node\":\"n\",\"id\":\"" ID "\"}"},
        {__LINE__, E_INVALID, ID, "{\"id\":\"" ID "\"}"},
        {__LINE__, E_INVALID, ID, "{\"node\":\"n\",\"id\":\"" ID "\",\"via\":\"x\"}"},
        {__LINE__, E_INVALID, ID, "{\"node\":\"n\",\"id\":\"" ID "\",\"via\":-1}"},
        {__LINE__, E_INVALID, ID, "{\"node\":\"n\",\"id\":\"" ID "\",\"actor\":5}"},
        {__LINE__, E_INVALID, ID, "{\"node\":\"n\",\"id\":\"" ID "\",\"after\":{}}"},
        {__LINE__, E_INVALID, ID, "{\"node\":1"},
        {__LINE__, E_INVALID, ID, "[]"},
        {__LINE__, E_INVALID, ID, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct change_record change;
        char node[64];
        enum status st = change_decode_text(cases[i].name, cases[i].json, &change, node);
        if (st != cases[i].want)
            fail_msg("line %d: %s", cases[i].line, status_text(st));
        if (st == OK)
            change_record_release(&change);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_what_is_no_record),
        cmocka_unit_test(test_read_records),
        cmocka_unit_test(test_decode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
