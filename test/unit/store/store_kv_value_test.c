#include "kv/store_kv_value.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct kv_pair kv_of(const struct strbuf *value, size_t cut)
{
    return (struct kv_pair){.value = {value->text, value->length - cut}};
}

/* A value of an older peal ends before what was added since: the last success, a byte; then
 * rewinds, three. */
enum { SINCE_REWINDS = 3, SINCE_SUCCESS = 4 };

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
        row.last.state = cases[i].last_state; /* and never: a 0 */
        strbuf_init(&value);
        value_write_cursor(&value, &row, TELL_CHANGE);
        struct kv_pair older = kv_of(&value, SINCE_SUCCESS), later = kv_of(&value, SINCE_REWINDS);
        static const size_t halves[] = {1, SINCE_REWINDS - 1, SINCE_SUCCESS + 1};
        for (size_t k = 0; k < sizeof(halves) / sizeof(halves[0]); k++) {
            struct kv_pair half = kv_of(&value, halves[k]);
            assert_int_equal(value_read_cursor(&half, &read, &tell), E_CORRUPT);
            assert_int_equal(read.last.ended_ms, 0);
        }
        struct job_row other = {.cursor_ms = 0};
        assert_int_equal(value_read_cursor(&later, &other, &tell), OK);
        assert_int_equal(other.last.ended_ms, 63);
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
                          .last = {{{1, 2, 3}}, 61, 63, INT64_C(1800000000456), RUN_LOST, false}};
    enum tell tell = TELL_NOTHING;
    struct strbuf value;
    (void)state;
    strbuf_init(&value);
    value_write_cursor(&value, &row, TELL_CHANGE);
    struct kv_pair kv = kv_of(&value, 0);
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

/* ---- documents ---- */

/* A calendar that an older peal can't read has another version: it is set aside there. */
static void documents_come_back(void **state)
{
    static const struct {
        int line;
        const char *kind, *json;
        char version;
    } cases[] = {
        {__LINE__, "calendar", "{\"dates\":[\"12-25\"],\"weekdays\":[]}", 1},
        {__LINE__, "calendar", "{\"dates\":[],\"notes\":\"\\\"windows\\\":[]\"}", 1},
        {__LINE__, "calendar", "{\"dates\":[],\"windows\":[\"09:00-17:00\"]}", 2},
        {__LINE__, "calendar", "{\"dates\":[],\"timezone\":\"UTC\"}", 2},
        {__LINE__, "group", "{\"windows\":1}", 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct store_doc doc = {.json = cases[i].json, .revision = 7};
        struct strbuf value;
        int64_t revision;
        char *json;
        snprintf(doc.kind, sizeof(doc.kind), "%s", cases[i].kind);
        strbuf_init(&value);
        value_write_doc(&value, &doc);
        struct kv_pair kv = kv_of(&value, 0);
        if (value.text[0] != cases[i].version)
            fail_msg("line %d: version %d", cases[i].line, value.text[0]);
        assert_int_equal(value_read_doc(&kv, &revision, &json), OK);
        assert_int_equal(revision, 7);
        assert_string_equal(json, cases[i].json);
        free(json);
        value.text[0] = 3;
        assert_int_equal(value_read_doc(&kv, &revision, &json), E_VERSION);
        strbuf_release(&value);
    }
}

/* ---- epochs ---- */

static void epochs_come_back(void **state)
{
    struct epoch read, epoch = {.lineage = {{1, 2, 3}},
                                .generation = 2510,
                                .stamp = UINT64_C(0xfedcba9876543211),
                                .cluster_id = UINT64_MAX};
    struct strbuf value;
    (void)state;
    strbuf_init(&value);
    value_write_epoch(&value, &epoch);
    struct kv_pair kv = kv_of(&value, 0), half = kv_of(&value, 3);
    kv.mod_revision = 77;
    assert_int_equal(value_read_epoch(&half, &read), E_CORRUPT);
    assert_int_equal(value_read_epoch(&kv, &read), OK);
    assert_memory_equal(&read.lineage, &epoch.lineage, sizeof(epoch.lineage));
    assert_int_equal(read.generation, 2510);
    assert_true(read.stamp == epoch.stamp && read.cluster_id == epoch.cluster_id);
    assert_int_equal(read.since, 77); /* with this write */
    assert_int_equal(read.mod_revision, 77);
    strbuf_release(&value);
}

/* An older peal writes, and reads, no further than the generation. */
static void older_epochs_are_read(void **state)
{
    static const char older[] = "\1"
                                "0123456789abcdef"
                                "\4";
    struct epoch read;
    struct kv_pair kv = {.value = {older, sizeof(older) - 1}, .mod_revision = 77};
    (void)state;
    assert_int_equal(value_read_epoch(&kv, &read), OK);
    assert_int_equal(read.generation, 2);
    assert_int_equal(read.stamp, 0);
    assert_int_equal(read.cluster_id, 0);
    assert_int_equal(read.since, 77);
}

/* When the cluster is added to an epoch, its generation does not begin anew. */
static void fences_go_on_when_an_epoch_is_completed(void **state)
{
    struct epoch read, epoch = {.generation = 2, .cluster_id = 5, .since = 77};
    struct strbuf value;
    (void)state;
    strbuf_init(&value);
    value_write_epoch(&value, &epoch);
    struct kv_pair kv = kv_of(&value, 0);
    kv.mod_revision = 90;
    assert_int_equal(value_read_epoch(&kv, &read), OK);
    assert_int_equal(place_number(&read, 80, 1), ((INT64_C(2) << 32) + 80) * BATCH_PLACES + 1);
    assert_int_equal(place_number(&read, 77, 1), ((INT64_C(1) << 32) + 77) * BATCH_PLACES + 1);
    strbuf_release(&value);
}

/* Of the last generation that a day gives, with the largest revision: exact in a double, and far
 * from the end of int64_t. */
static void fences_are_exact(void **state)
{
    struct epoch last = {.generation = GENERATIONS - 1, .since = 1};
    int64_t fence = place_number(&last, (INT64_C(1) << 32) - 1, BATCH_PLACES - 1);
    (void)state;
    assert_int_equal(fence, (INT64_C(1) << 53) - 1);
}

/* ---- what an older peal, or something else, has written ---- */

/* Each field beyond its range, or at the end of it, is seen by itself. */
static void runs_are_range_checked(void **state)
{
    static const struct {
        int line;
        struct run run;
        enum run_reason kill_reason;
        enum status want;
    } cases[] = {
        {__LINE__, {.reason = (enum run_reason)1000}, REASON_NONE, OK},
        {__LINE__, {.reason = (enum run_reason)4095}, REASON_NONE, OK},
        {__LINE__, {.reason = (enum run_reason)4096}, REASON_NONE, E_CORRUPT},
        {__LINE__, {.reason = (enum run_reason) - 1}, REASON_NONE, E_CORRUPT},
        {__LINE__, {.state = (enum run_state)12}, REASON_NONE, OK},
        {__LINE__, {.state = (enum run_state)1000000}, REASON_NONE, E_CORRUPT},
        {__LINE__, {.cause = (enum run_cause)1000}, REASON_NONE, OK},
        {__LINE__, {.cause = (enum run_cause)INT_MIN}, REASON_NONE, E_CORRUPT},
        {__LINE__, {.state = RUN_OK}, (enum run_reason)1000, OK},
        {__LINE__, {.state = RUN_OK}, (enum run_reason)1000000, E_CORRUPT},
        {__LINE__, {.tick_ms = INT64_MAX}, REASON_NONE, E_CORRUPT},
        {__LINE__, {.started_ms = INT64_MIN}, REASON_NONE, E_CORRUPT},
        {__LINE__, {.nonce = UINT64_MAX, .fence = INT64_MAX}, REASON_NONE, OK},
        {__LINE__, {.exit_code = INT_MIN, .attempt = INT_MAX}, REASON_NONE, OK},
        {__LINE__, {.job_name = "a\"b"}, REASON_NONE, E_CORRUPT},
        {__LINE__, {.job_name = "a\nb"}, REASON_NONE, E_CORRUPT},
        {__LINE__, {.job_name = "etl/\xc3\xa4"}, REASON_NONE, OK},
        {__LINE__, {.node = "\xff"}, REASON_NONE, E_CORRUPT},
        {__LINE__, {.detail = "cut \xc3"}, REASON_NONE, OK}, /* words may end within a letter */
    };
    const struct epoch epoch = {.generation = 0};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct run_row read, row = {.run = cases[i].run, .kill_reason = cases[i].kill_reason};
        struct strbuf value, again;
        enum tell tell;
        strbuf_init(&value);
        strbuf_init(&again);
        value_write_run(&value, &row, TELL_CHANGE, 0);
        struct kv_pair kv = kv_of(&value, 0);
        enum status st = value_read_run(&kv, &epoch, &read, &tell);
        if (st != cases[i].want)
            fail_msg("line %d: %s", cases[i].line, status_text(st));
        if (st == OK) { /* and is written back as it was */
            read.seq = 0;
            value_write_run(&again, &read, TELL_CHANGE, 0);
            assert_int_equal(again.length, value.length);
            assert_memory_equal(again.text, value.text, value.length);
        }
        strbuf_release(&value);
        strbuf_release(&again);
    }
}

/* The first byte is the version. */
static void runs_of_newer_jobs_are_for_newer_nodes(void **state)
{
#define JOB_WITH(fields)                                                                           \
    "{\"uid\":\"01ARZ3NDEKTSV4RRFFQ69G5FAV\",\"name\":\"a\",\"schedule\":\"@manual\","             \
    "\"command\":[\"true\"]" fields "}"
    static const struct {
        int line;
        const char *json;
        int parts;
        char want;
    } cases[] = {
        {__LINE__, JOB_WITH(""), 0, 1},
        {__LINE__, JOB_WITH(",\"retries\":{\"count\":1}"), 0, 3},
        {__LINE__, JOB_WITH(",\"params\":{\"day\":{}}"), 0, 3},
        {__LINE__, JOB_WITH(",\"params\":{\"day\":{}}"), 2, 4}, /* as it is anyway */
        {__LINE__, JOB_WITH(",\"spread\":\"all\""), 0, 4},
        {__LINE__, JOB_WITH(",\"place\":\"sticky\",\"spread\":\"2\""), 0, 5},
        {__LINE__, JOB_WITH(",\"place\":\"even\""), 0, 1},
        {__LINE__,
         "{\"uid\":\"01ARZ3NDEKTSV4RRFFQ69G5FAV\",\"name\":\"a\",\"schedule\":\"@manual\","
         "\"kind\":\"workflow\",\"steps\":[{\"name\":\"b\",\"command\":[\"true\"]}]}",
         0, 6},
        {__LINE__, JOB_WITH(",\"newest\":1"), 0, 1}, /* unknown here, too */
        {__LINE__, "no JSON", 0, 1},
    };
    const struct epoch epoch = {.generation = 0};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct run_row read, row = {.run = {.state = RUN_DUE, .parts = cases[i].parts}};
        struct strbuf value;
        enum tell tell;
        strbuf_init(&value);
        strbuf_adds(&value, "before it");
        size_t at = value.length;
        value_write_run(&value, &row, TELL_CHANGE, 0);
        value_leave_to_newer(&value, at, cases[i].json);
        if (value.text[at] != cases[i].want)
            fail_msg("line %d: version %d", cases[i].line, value.text[at]);
        struct kv_pair kv = {.value = {value.text + at, value.length - at}};
        assert_int_equal(value_read_run(&kv, &epoch, &read, &tell), OK);
        assert_int_equal(read.run.state, RUN_DUE);
        strbuf_release(&value);
    }
}

static void cursors_and_entries_are_range_checked(void **state)
{
    static const struct {
        int line;
        int64_t number;
        enum status want;
    } cases[] = {
        {__LINE__, RUN_STATES, OK},
        {__LINE__, 1000, OK},
        {__LINE__, 1000000, E_CORRUPT},
        {__LINE__, -1, E_CORRUPT},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        enum run_state number = (enum run_state)cases[i].number;
        struct job_row read = {.revision = 7}, row = {.last.state = number};
        struct ledger_entry entry_read, entry = {.state = number, .reason = REASON_PAUSED};
        struct strbuf cursor, value;
        enum tell tell;
        strbuf_init(&cursor);
        strbuf_init(&value);
        value_write_cursor(&cursor, &row, TELL_CHANGE);
        value_write_entry(&value, &entry);
        struct kv_pair kv = kv_of(&cursor, 0), entry_kv = kv_of(&value, 0);
        enum status st = value_read_cursor(&kv, &read, &tell);
        if (st != cases[i].want || value_read_entry(&entry_kv, &entry_read) != cases[i].want)
            fail_msg("line %d: %s", cases[i].line, status_text(st));
        assert_int_equal(read.revision, 7);
        strbuf_release(&cursor);
        strbuf_release(&value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(older_cursors_are_read),
        cmocka_unit_test(cursors_come_back),
        cmocka_unit_test(documents_come_back),
        cmocka_unit_test(epochs_come_back),
        cmocka_unit_test(older_epochs_are_read),
        cmocka_unit_test(fences_go_on_when_an_epoch_is_completed),
        cmocka_unit_test(fences_are_exact),
        cmocka_unit_test(runs_are_range_checked),
        cmocka_unit_test(runs_of_newer_jobs_are_for_newer_nodes),
        cmocka_unit_test(cursors_and_entries_are_range_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
