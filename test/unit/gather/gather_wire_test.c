#include "gather_wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct id id_of(uint8_t number)
{
    return (struct id){{[0] = 1, [15] = number}};
}

static struct run run_of(uint8_t number)
{
    struct run run = {
        .id = id_of(number),
        .job_uid = id_of(200),
        .job_name = "backup",
        .tick_ms = 1700000000000,
        .attempt = 2,
        .cause = CAUSE_MANUAL,
        .state = RUN_FAILED,
        .reason = REASON_EXIT_CODE,
        .node = "b",
        .nonce = UINT64_MAX - 5,
        .exit_code = -1,
        .output_bytes = 12,
        .output_truncated = true,
        .by = "anna",
        .detail = "exit code 3",
    };
    return run;
}

/* There and back again. */
static void pass(enum history_request_kind kind, const union gather_answer *answer,
                 union gather_answer *ret)
{
    struct strbuf text;
    strbuf_init(&text);
    assert_int_equal(wire_encode_answer(kind, answer, &text), OK);
    assert_int_equal(wire_decode_answer(kind, text.text, text.length, ret), OK);
    strbuf_release(&text);
}

static void test_rows(void **state)
{
    (void)state;
    struct history_row rows[2] = {{.run = run_of(9)}};
    union gather_answer answer = {.read = {.rows = rows, .count = 2, .more = true}}, found;
    answer.read.next = id_of(3);
    rows[1].is_entry = true;
    rows[1].entry = (struct ledger_entry){.id = id_of(8),
                                          .job_uid = id_of(200),
                                          .job_name = "backup",
                                          .from_ms = 5,
                                          .to_ms = 6,
                                          .count = 2,
                                          .state = RUN_MISSED,
                                          .reason = REASON_TOO_OLD,
                                          .recorded_ms = 7};
    memcpy(rows[1].entry.detail, "cut \xe4", 6); /* in the middle of a letter */
    pass(HISTORY_READ, &answer, &found);
    assert_int_equal(found.read.count, 2);
    assert_true(found.read.more);
    assert_int_equal(id_compare(&found.read.next, &answer.read.next), 0);
    assert_memory_equal(&found.read.rows[0].run, &rows[0].run, sizeof(struct run));
    assert_string_equal(found.read.rows[1].entry.detail, "cut ?");
    assert_int_equal(found.read.rows[1].entry.count, 2);
    gather_answer_release(HISTORY_READ, &found);
}

static void test_log(void **state)
{
    (void)state;
    struct output_chunk chunks[] = {
        {.stream = OUTPUT_STDOUT, .at_ms = 5, .bytes = "a\0b", .length = 3},
        {.stream = OUTPUT_STDERR, .at_ms = 6, .gap_bytes = 70, .bytes = "\xff\xfe", .length = 2},
        {.stream = OUTPUT_STDOUT, .at_ms = 7, .bytes = "wxyz", .length = 4},
        {.stream = OUTPUT_STDOUT, .at_ms = 8, .gap_bytes = 3, .bytes = "", .length = 0},
    };
    union gather_answer answer = {
        .log = {.found = true, .run = run_of(9), .chunks = chunks, .count = 4, .kept_bytes = 9}};
    union gather_answer found;
    pass(HISTORY_LOG, &answer, &found);
    assert_true(found.log.found);
    assert_int_equal(found.log.kept_bytes, 9);
    assert_int_equal(found.log.count, 4);
    assert_memory_equal(&found.log.run, &answer.log.run, sizeof(struct run));
    for (size_t i = 0; i < 4; i++) {
        const struct output_chunk *one = &found.log.chunks[i];
        assert_int_equal(one->length, chunks[i].length);
        assert_memory_equal(one->bytes, chunks[i].bytes, one->length);
        assert_int_equal(one->stream, chunks[i].stream);
        assert_int_equal(one->at_ms, chunks[i].at_ms);
        assert_int_equal(one->gap_bytes, chunks[i].gap_bytes);
    }
    gather_answer_release(HISTORY_LOG, &found);
    answer = (union gather_answer){.log = {.found = false}};
    pass(HISTORY_LOG, &answer, &found);
    assert_false(found.log.found);
    gather_answer_release(HISTORY_LOG, &found);
}

static void test_stats(void **state)
{
    (void)state;
    struct history_stats_row row = {.from_ms = 3600000, .timed = 3, .duration_min_ms = 2};
    union gather_answer answer = {.stats = {.rows = &row, .count = 1}}, found;
    row.ends[RUN_MISSED] = 4;
    row.buckets[HISTORY_BUCKETS - 1] = 5;
    row.late_sum_ms = 6;
    pass(HISTORY_STATS, &answer, &found);
    assert_int_equal(found.stats.count, 1);
    assert_memory_equal(found.stats.rows, &row, sizeof(row));
    gather_answer_release(HISTORY_STATS, &found);
}

static void test_changes(void **state)
{
    (void)state;
    struct change_record change = {.id = id_of(9),
                                   .action = CHANGE_PAUSE,
                                   .via = VIA_SOCKET,
                                   .actor = "anna",
                                   .job_name = "backup",
                                   .revision = 4,
                                   .after = (char *)"{\"a\": \"\xc3\xa9\"}"};
    union gather_answer answer = {.changes = {.items = &change, .count = 1}}, found;
    pass(HISTORY_CHANGES, &answer, &found);
    assert_int_equal(found.changes.count, 1);
    const struct change_record *one = &found.changes.items[0];
    assert_int_equal(one->action, CHANGE_PAUSE);
    assert_int_equal(one->revision, 4);
    assert_string_equal(one->actor, "anna");
    assert_null(one->before);
    assert_string_equal(one->after, change.after);
    gather_answer_release(HISTORY_CHANGES, &found);
}

static void test_questions(void **state)
{
    (void)state;
    struct history_read read = {.query = {.job_name = "backup",
                                          .text = "caf\xc3\xa9",
                                          .states = 1u << RUN_FAILED,
                                          .since_ms = 5,
                                          .with_entries = true,
                                          .limit = 7}};
    union gather_answer found;
    struct strbuf text;
    read.query.before = id_of(9);
    memset(&found, 0, sizeof(found));
    strbuf_init(&text);
    assert_int_equal(wire_encode_question(HISTORY_READ, &read, &text), OK);
    json_t *json = json_loads(text.text, 0, NULL);
    assert_int_equal(wire_decode_question(HISTORY_READ, json, &found), OK);
    assert_string_equal(found.read.query.job_name, "backup");
    assert_string_equal(found.read.query.text, "caf\xc3\xa9");
    assert_null(found.read.query.node);
    assert_int_equal(found.read.query.states, 1u << RUN_FAILED);
    assert_int_equal(found.read.query.since_ms, 5);
    assert_true(found.read.query.with_entries);
    assert_int_equal(found.read.query.limit, 7);
    assert_int_equal(id_compare(&found.read.query.before, &read.query.before), 0);
    json_decref(json);
    strbuf_release(&text);
}

static const struct {
    int line;
    enum history_request_kind kind;
    const char *text;
} broken[] = {
    {__LINE__, HISTORY_READ, ""},
    {__LINE__, HISTORY_READ, "[]"},
    {__LINE__, HISTORY_READ, "{\"rows\": 5}"},
    {__LINE__, HISTORY_READ, "{\"rows\": [{}]}"},
    {__LINE__, HISTORY_READ, "{\"rows\": [], \"more\": true}"},
    {__LINE__, HISTORY_LOG, "{\"chunks\": [{\"bytes\": \"a\"}]}"},
    {__LINE__, HISTORY_LOG, "{\"chunks\": [{\"bytes\": \"QUJD\"}, {\"bytes\": 7}]}"},
    {__LINE__, HISTORY_STATS, "{}"},
    {__LINE__, HISTORY_CHANGES, "{\"items\": [{\"action\": -1}]}"},
};

static void test_broken(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        union gather_answer found;
        if (wire_decode_answer(broken[i].kind, broken[i].text, strlen(broken[i].text), &found) !=
            E_CORRUPT)
            fail_msg("line %d was taken", broken[i].line);
    }
}

/* A newer node has words that this one does not know: they stay as they are, and what can be none
 * is seen as that. */
static void test_newer_words(void **state)
{
    static const char text[] =
        "{\"rows\": [{\"id\": \"01ARZ3NDEKTSV4RRFFQ69G5FAV\", \"state\": 99, \"reason\": 1000},"
        " {\"id\": \"01ARZ3NDEKTSV4RRFFQ69G5FAW\", \"state\": -1, \"reason\": 1000000,"
        " \"tick_ms\": 9223372036854775807}]}";
    union gather_answer found;
    (void)state;
    assert_int_equal(wire_decode_answer(HISTORY_READ, text, strlen(text), &found), OK);
    assert_int_equal(found.read.count, 2);
    const struct run *newer = &found.read.rows[0].run, *damaged = &found.read.rows[1].run;
    assert_string_equal(run_state_name(newer->state), "state-99");
    assert_string_equal(run_reason_name(newer->reason), "reason-1000");
    assert_string_equal(run_state_name(damaged->state), "state-?");
    assert_string_equal(run_reason_name(damaged->reason), "reason-?");
    assert_true(damaged->tick_ms == INT64_C(1) << 53);
    gather_answer_release(HISTORY_READ, &found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_newer_words), cmocka_unit_test(test_rows),
        cmocka_unit_test(test_log),         cmocka_unit_test(test_stats),
        cmocka_unit_test(test_changes),     cmocka_unit_test(test_questions),
        cmocka_unit_test(test_broken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
