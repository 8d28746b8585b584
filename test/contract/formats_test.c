/* How runs, ledger entries, cursors and changes are written: every byte of it, beside formats.txt.
 * Files, etcd values and nodes of other versions are read by the same rules, so that a line of it
 * is changed only together with a migration. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "gather_wire.h"
#include "kv/store_kv_value.h"
#include "runs/encode.h"
#include "spool/history_spool_files.h"
#include "sqlite/store_sqlite.h"

static const struct id run_id = {{1, 0x93, 0xab, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
static const struct id job_uid = {{1, 0x92, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}};

static const struct run full_run = {
    .id = {{1, 0x93, 0xab, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}},
    .job_uid = {{1, 0x92, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}},
    .job_name = "etl/load",
    .tick_ms = 1800000000000,
    .attempt = 2,
    .cause = CAUSE_MANUAL,
    .state = RUN_FAILED,
    .reason = REASON_EXIT_CODE,
    .node = "node-a",
    .owner = {{{9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 1, 2, 3, 4, 5, 6}}, UINT64_MAX - 8},
    .nonce = UINT64_MAX - 5,
    .fence = 123456789,
    .job_revision = 17,
    .not_before_ms = 1800000000001,
    .claimed_ms = 1800000000002,
    .started_ms = 1800000000003,
    .finished_ms = 1800000001004,
    .exit_code = 3,
    .term_signal = 15,
    .user_ms = 41,
    .system_ms = 42,
    .max_rss_kb = 4300,
    .output_bytes = 44000,
    .output_truncated = true,
    .by = "anna",
    .detail = "caf\xc3\xa9 \"quoted\"",
    .traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    .retried = true,
    .attempts = 4,
    .part = 5,
    .parts = 6,
    .pinned = "node-c",
    .failed_on = "node-d node-e",
    .outcome = RUN_LOST,
    .input = {{1, 0x93, 0xac, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}},
};

/* As it was before there were further attempts, parts and inputs. */
static struct run plain_run(void)
{
    struct run run = full_run;
    run.attempt = 1;
    memset(&run.retried, 0, sizeof(run) - offsetof(struct run, retried));
    return run;
}

/* A run of a workflow. */
static struct run step_run(void)
{
    struct run run = plain_run();
    run.cause = CAUSE_STEP;
    run.part = 200003;
    run.instance = (struct id){{1, 0x93, 0xad, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}};
    snprintf(run.step, sizeof(run.step), "load[3]");
    run.joins = (struct run_joins){.met = 1, .unmet = 2, .made = 3, .expected = 4};
    run.joins.is_final = true;
    return run;
}

/* Words that only a newer peal has, negative numbers, empty texts. */
static const struct run newer_run = {
    .id = {{1, 0x93, 0xab, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17}},
    .job_uid = {{1, 0x92, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}},
    .job_name = "b",
    .tick_ms = -5,
    .attempt = 1,
    .cause = (enum run_cause)1001,
    .state = (enum run_state)1002,
    .reason = (enum run_reason)1003,
    .exit_code = -1,
};

static const struct ledger_entry full_entry = {
    .id = {{1, 0x93, 0xab, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 18}},
    .job_uid = {{1, 0x92, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}},
    .job_name = "etl/load",
    .from_ms = 1800000000000,
    .to_ms = 1800000060000,
    .count = 2,
    .state = RUN_MISSED,
    .reason = REASON_TOO_OLD,
    .detail = "two of them",
    .recorded_ms = 1800000099000,
    .node = "node-b",
    .owner = {{{9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 1, 2, 3, 4, 5, 6}}, 77},
};

static const struct change_record full_change = {
    .id = {{1, 0x93, 0xab, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 19}},
    .at_ms = 0x0193ab040506,
    .via = VIA_TOKEN,
    .action = CHANGE_ROLLBACK,
    .target_kind = TARGET_JOB,
    .actor = "anna",
    .address = "192.0.2.1",
    .request_id = "r-1",
    .target = "etl/load",
    .job_uid = {{1, 0x92, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}},
    .job_name = "etl/load",
    .revision = 18,
    .detail = "to 16",
    .before = (char *)"{\"a\":1}",
    .after = (char *)"{\"a\":2}",
};

static const struct job_row full_job = {
    .uid = {{1, 0x92, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}},
    .revision = 17,
    .cursor_ms = 1800000000000,
    .rewinds = {.count = 3,
                .high_ms = 1800000900000,
                .gap_count = 2,
                .gaps = {{1800000100000, 1800000200000}, {1800000300000, 1800000400000}}},
    .last = {{{1, 0x93, 0xab, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}},
             1800000000003,
             1800000001004,
             1799999999000,
             RUN_FAILED,
             true},
    .paused = true,
};

static struct run_row full_row(void)
{
    struct run_row row = {.seq = 5, .run = full_run, .kill_reason = REASON_USER};
    memcpy(row.kill_by, "berta", 6);
    return row;
}

/* ---- lines: "NAME VALUE" ---- */

static void add_hex(struct strbuf *lines, const char *name, struct strbuf *value)
{
    assert_int_equal(strbuf_status(value), OK);
    strbuf_addf(lines, "%s ", name);
    for (size_t i = 0; i < value->length; i++)
        strbuf_addf(lines, "%02x", (unsigned char)value->text[i]);
    strbuf_addc(lines, '\n');
    strbuf_reset(value);
}

static void add_text(struct strbuf *lines, const char *name, const char *text)
{
    strbuf_addf(lines, "%s %s\n", name, text);
}

/* ---- etcd ---- */

static void read_back_run(const struct strbuf *value, const struct run_row *row)
{
    const struct epoch epoch = {.generation = 0};
    struct kv_pair kv = {.value = {value->text, value->length}};
    struct run_row read;
    enum tell tell;
    assert_int_equal(value_read_run(&kv, &epoch, &read, &tell), OK);
    read.run.id = row->run.id; /* which is in the key */
    assert_int_equal(read.seq, row->seq);
    assert_int_equal(read.kill_reason, row->kill_reason);
    assert_string_equal(read.kill_by, row->kill_by);
    assert_memory_equal(&read.run, &row->run, sizeof(read.run));
}

static void read_back_cursor(const struct strbuf *cursor, const struct job_row *want)
{
    struct kv_pair kv = {.value = {cursor->text, cursor->length}};
    struct job_row row = {.uid = job_uid, .revision = 17, .paused = true};
    enum tell tell;
    assert_int_equal(value_read_cursor(&kv, &row, &tell), OK);
    assert_memory_equal(&row, want, sizeof(row));
}

static void read_back_entry(const struct strbuf *entry)
{
    struct kv_pair kv = {.value = {entry->text, entry->length}};
    struct ledger_entry read;
    assert_int_equal(value_read_entry(&kv, &read), OK);
    read.id = full_entry.id;
    assert_memory_equal(&read, &full_entry, sizeof(read));
}

static void add_etcd(struct strbuf *lines)
{
    struct run_row row = full_row(), newer = {.seq = 6, .run = newer_run};
    struct strbuf value, cursor;
    strbuf_init(&value);
    strbuf_init(&cursor);
    value_write_run(&value, &row, TELL_KILL, 9);
    read_back_run(&value, &row);
    add_hex(lines, "etcd.run", &value);
    row.run.rolling = ROLLING_PART | ROLLING_STOPS;
    value_write_run(&value, &row, TELL_KILL, 9);
    read_back_run(&value, &row);
    add_hex(lines, "etcd.rolling_run", &value);
    row.run = plain_run();
    value_write_run(&value, &row, TELL_KILL, 9);
    read_back_run(&value, &row);
    add_hex(lines, "etcd.plain_run", &value);
    row.run = step_run();
    value_write_run(&value, &row, TELL_KILL, 9);
    read_back_run(&value, &row);
    add_hex(lines, "etcd.step_run", &value);
    row.run = full_run;
    snprintf(row.run.groups, sizeof(row.run.groups), "db-backup nightly");
    row.run.priority = -7;
    value_write_run(&value, &row, TELL_KILL, 9);
    read_back_run(&value, &row);
    add_hex(lines, "etcd.grouped_run", &value);
    value_write_run(&value, &newer, TELL_CHANGE, 0);
    read_back_run(&value, &newer);
    add_hex(lines, "etcd.newer_run", &value);
    value_write_entry(&value, &full_entry);
    value_write_cursor(&cursor, &full_job, TELL_CHANGE);
    read_back_entry(&value);
    read_back_cursor(&cursor, &full_job);
    add_hex(lines, "etcd.entry", &value);
    add_hex(lines, "etcd.cursor", &cursor);
    struct job_row placed = full_job;
    placed.last_node = 0xfedcba98;
    value_write_cursor(&cursor, &placed, TELL_CHANGE);
    read_back_cursor(&cursor, &placed);
    add_hex(lines, "etcd.placed_cursor", &cursor);
    value_write_job(&value, &full_job, "etl/load", "{\"a\":1}");
    add_hex(lines, "etcd.job", &value);
    strbuf_release(&value);
    strbuf_release(&cursor);
}

/* ---- the store's SQLite ---- */

static void add_rows_of(sqlite3 *db, const char *table, struct strbuf *lines)
{
    char sql[64];
    sqlite3_stmt *stmt;
    snprintf(sql, sizeof(sql), "SELECT * FROM %s ORDER BY 1", table);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        strbuf_addf(lines, "sqlite.%s", table);
        for (int i = 0; i < sqlite3_column_count(stmt); i++) {
            const unsigned char *bytes = sqlite3_column_blob(stmt, i);
            bool is_blob = sqlite3_column_type(stmt, i) == SQLITE_BLOB;
            strbuf_addf(lines, " %s=%s", sqlite3_column_name(stmt, i),
                        is_blob ? "" : (const char *)sqlite3_column_text(stmt, i));
            for (int k = 0; is_blob && k < sqlite3_column_bytes(stmt, i); k++)
                strbuf_addf(lines, "%02x", bytes[k]);
        }
        strbuf_addc(lines, '\n');
    }
    sqlite3_finalize(stmt);
}

static void read_back_rows(struct tables *tables)
{
    struct run_row row = full_row(), read;
    struct job_row job;
    row.seq = 1;
    assert_int_equal(tables->ops->get_run(tables, &run_id, &read), OK);
    assert_int_equal(read.seq, 1);
    assert_int_equal(read.kill_reason, row.kill_reason);
    assert_string_equal(read.kill_by, row.kill_by);
    assert_memory_equal(&read.run, &row.run, sizeof(read.run));
    assert_int_equal(tables->ops->get_run(tables, &newer_run.id, &read), OK);
    assert_memory_equal(&read.run, &newer_run, sizeof(newer_run));
    memset(&job, 0, sizeof(job));
    assert_int_equal(tables->ops->get_job(tables, &job_uid, &job), OK);
    assert_memory_equal(&job, &full_job, sizeof(job));
}

static void add_sqlite(struct strbuf *lines)
{
    char dir[] = "/tmp/peal-formats-XXXXXX", path[64];
    struct run_row row = full_row();
    struct sqlite_db *db = NULL;
    struct strbuf why;
    sqlite3 *handle;
    row.seq = 1;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof(path), "%s/peal.db", dir);
    strbuf_init(&why);
    assert_int_equal(sqlite_open_database(path, &handle, &why), OK);
    assert_int_equal(sqlite_db_new(handle, path, &db, &why), OK);
    struct tables *tables = &db->tables;
    const struct tables_ops *ops = tables->ops;
    assert_int_equal(ops->add_run(tables, &full_run), OK);
    assert_int_equal(ops->add_run(tables, &newer_run), OK);
    add_rows_of(handle, "runs", lines);
    assert_int_equal(ops->set_run(tables, &row), OK);
    assert_int_equal(ops->add_entry(tables, &full_entry), OK);
    assert_int_equal(ops->put_job(tables, &full_job, "etl/load", "{\"a\":1}"), OK);
    add_rows_of(handle, "jobs", lines);
    struct job_row moved = full_job;
    moved.cursor_ms = 5;
    moved.revision = 99; /* is not written by a move */
    assert_int_equal(ops->move_job(tables, &moved), OK);
    add_rows_of(handle, "jobs", lines);
    assert_int_equal(ops->put_job(tables, &full_job, "etl/load", "{\"a\":1}"), OK);
    add_rows_of(handle, "runs", lines);
    add_rows_of(handle, "entries", lines);
    read_back_rows(tables);
    sqlite_db_free(db);
    unlink(path);
    rmdir(dir);
    strbuf_release(&why);
}

/* ---- the spool ---- */

static void add_frame(struct strbuf *lines, const char *name, const struct history_record *record,
                      struct spooled *ret)
{
    const struct output_ref ref = {.segment = 7, .at = 8, .chunks = 9, .bytes = 10};
    struct strbuf payload;
    strbuf_init(&payload);
    payload_of_state(record, &ref, &payload);
    assert_int_equal(state_of_payload(payload.text, payload.length, ret), OK);
    add_hex(lines, name, &payload);
    strbuf_release(&payload);
}

/* A frame of the second format, with the bytes that peal has written. */
static const char second_frame[] =
    "030193ab0405060708090a0b0c0d0e0f1001920102030405060708090a0b0c0d0e080065746c"
    "2f6c6f616406000000000000000100000000000000020000000000000000505c18a301000002"
    "0000000000000006006e6f64652d61faffffffffffffff15cd5b070000000011000000000000"
    "0001505c18a301000002505c18a301000003505c18a3010000ec535c18a30100000300000000"
    "0000000f0000000000000029000000000000002a00000000000000cc10000000000000e0ab00"
    "000000000001000000000000000400616e6e610e00636166c3a9202271756f74656422370030"
    "302d30616637363531393136636434336464383434386562323131633830333139632d623761"
    "643662373136393230333333312d303107000000000000000800000000000000090000000000"
    "00000a00000000000000";

static void read_second_frame(void)
{
    char bytes[sizeof(second_frame) / 2];
    struct spooled item;
    for (size_t i = 0; i < sizeof(bytes); i++) {
        unsigned byte = 0;
        assert_int_equal(sscanf(&second_frame[2 * i], "%2x", &byte), 1);
        bytes[i] = (char)byte;
    }
    assert_int_equal(state_of_payload(bytes, sizeof(bytes), &item), OK);
    struct run run = plain_run();
    run.attempt = 2;
    run.owner = (struct incarnation){.home = 0};
    assert_memory_equal(&item.row.run, &run, sizeof(run));
}

static void add_spool(struct strbuf *lines)
{
    static const struct incarnation nobody;
    struct spooled item;
    struct run run = full_run; /* whose owner, and where it failed, is in the store only */
    read_second_frame();
    add_frame(lines, "spool.run", &(struct history_record){.run = &full_run}, &item);
    run.owner = nobody;
    memset(run.failed_on, 0, sizeof(run.failed_on));
    run.input = (struct id){{0}};
    run.outcome = RUN_QUEUED;
    assert_memory_equal(&item.row.run, &run, sizeof(run));
    struct run step = step_run();
    add_frame(lines, "spool.step_run", &(struct history_record){.run = &step}, &item);
    step.owner = nobody;
    step.joins = (struct run_joins){.met = 0};
    assert_memory_equal(&item.row.run, &step, sizeof(step));
    add_frame(lines, "spool.entry", &(struct history_record){.entry = &full_entry}, &item);
    struct ledger_entry entry = full_entry;
    entry.owner = nobody;
    memset(entry.node, 0, sizeof(entry.node));
    assert_memory_equal(&item.row.entry, &entry, sizeof(entry));
    add_frame(lines, "spool.change", &(struct history_record){.change = &full_change}, &item);
    assert_int_equal(item.change.at_ms, full_change.at_ms);
    assert_string_equal(item.change.detail, full_change.detail);
    assert_string_equal(item.change.before, full_change.before);
    change_record_release(&item.change);
}

/* ---- nodes, the API ---- */

static void add_gather(struct strbuf *lines)
{
    struct history_row rows[] = {
        {.run = full_run}, {.run = newer_run}, {.is_entry = true, .entry = full_entry}};
    struct change_record change = full_change;
    const union gather_answer read = {.read = {.rows = rows, .count = 3}};
    const union gather_answer changes = {.changes = {.items = &change, .count = 1}};
    struct strbuf text;
    strbuf_init(&text);
    assert_int_equal(wire_encode_answer(HISTORY_READ, &read, &text), OK);
    add_text(lines, "gather.read", text.text);
    strbuf_reset(&text);
    rows[0].run = step_run();
    assert_int_equal(wire_encode_answer(HISTORY_READ, &read, &text), OK);
    add_text(lines, "gather.read_step", text.text);
    strbuf_reset(&text);
    assert_int_equal(wire_encode_answer(HISTORY_CHANGES, &changes, &text), OK);
    add_text(lines, "gather.changes", text.text);
    strbuf_release(&text);
}

static void add_json(struct strbuf *lines, const char *name, json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT);
    assert_non_null(text);
    add_text(lines, name, text);
    free(text);
    json_decref(value);
}

static void add_api(struct strbuf *lines)
{
    struct run open = full_run;
    open.state = RUN_BEGUN;
    open.finished_ms = 0;
    memcpy(open.detail, "cut \xc3", 6); /* in the middle of a letter */
    add_json(lines, "api.run", encode_run(&full_run));
    add_json(lines, "api.open_run", encode_run(&open));
    struct run step = step_run();
    add_json(lines, "api.step_run", encode_run(&step));
    add_json(lines, "api.newer_run", encode_run(&newer_run));
    add_json(lines, "api.entry", encode_entry(&full_entry));
}

/* ---- all ---- */

static char *read_golden(void)
{
    char path[4096];
    struct strbuf text;
    char bytes[4096];
    size_t count;
    snprintf(path, sizeof(path), "%s/test/contract/formats.txt", getenv("PEAL_SOURCE"));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    strbuf_init(&text);
    while ((count = fread(bytes, 1, sizeof(bytes), file)) > 0)
        strbuf_add(&text, bytes, count);
    fclose(file);
    return strbuf_detach(&text);
}

/* With PEAL_WRITE=1, for lines that are new. */
static void write_golden(const struct strbuf *lines)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/test/contract/formats.txt", getenv("PEAL_SOURCE"));
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fwrite(lines->text, 1, lines->length, file);
    fclose(file);
}

static void test_formats(void **state)
{
    struct strbuf lines;
    char *golden = read_golden(), *next_want = golden, *next = NULL;
    (void)state;
    assert_non_null(golden);
    strbuf_init(&lines);
    add_etcd(&lines);
    add_sqlite(&lines);
    add_spool(&lines);
    add_gather(&lines);
    add_api(&lines);
    assert_int_equal(strbuf_status(&lines), OK);
    if (getenv("PEAL_WRITE"))
        write_golden(&lines);
    next = lines.text;
    for (const char *line; (line = strsep(&next, "\n"));) {
        const char *want = strsep(&next_want, "\n");
        if (!want || strcmp(line, want) != 0)
            fail_msg("written: %s\nwanted:  %s", line, want ? want : "nothing");
    }
    assert_null(next_want);
    strbuf_release(&lines);
    free(golden);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
