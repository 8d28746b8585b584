/* Many rows, every filter: what comes back is exactly what a plain test of each row says, newest
 * first, without gaps or repeats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "history_tests.h"
#include "history_world.h"

enum { ROWS = 110 * 1000, BATCH = 500, RENAMED_AT = 41800, JOBS = 13, DAY_MS = 86400 * 1000 };

/* Some of them, with an edge of everything among them, are enough for a slow server. */
enum { FEW_FROM = 41300, FEW_TO = FEW_FROM + 2 * BATCH };

static uint32_t rows_from(const struct history_world *world)
{
    return world->backend->is_slow ? FEW_FROM : 0;
}

static uint32_t rows_to(const struct history_world *world)
{
    return world->backend->is_slow ? FEW_TO : ROWS;
}

/* ---- the rows, by number ---- */

static uint32_t job_of(uint32_t n)
{
    return n * 7 % JOBS;
}

static bool is_entry(uint32_t n)
{
    return n % 11 == 10;
}

/* Its tick is far from when it was made: a day before, a minute before, or half an hour after. */
static int64_t distance_of(uint32_t n)
{
    return n % 501 == 0 ? -DAY_MS : n % 251 == 0 ? -60 * 1000 : n % 1501 == 0 ? 1800 * 1000 : 0;
}

static int64_t tick_of(uint32_t n)
{
    return SAMPLE_MS + n * INT64_C(1000) + distance_of(n);
}

static int64_t duration_of(uint32_t n)
{
    return n % 1000 * 100;
}

static bool is_renamed(uint32_t n)
{
    return job_of(n) == 3 && n >= RENAMED_AT;
}

static enum run_state state_of(uint32_t n)
{
    if (is_entry(n))
        return n % 2 ? RUN_SKIPPED : RUN_MISSED;
    return n % 97 == 0     ? RUN_FAILED
           : n % 1009 == 0 ? RUN_LOST
           : n % 5003 == 0 ? RUN_KILLED
                           : RUN_OK;
}

static struct run run_of(uint32_t n)
{
    struct run run = sample_run(job_of(n), n);
    run.tick_ms = tick_of(n);
    run.finished_ms = run.started_ms + duration_of(n);
    run.state = state_of(n);
    run.reason = run.state == RUN_FAILED ? REASON_EXIT_CODE : REASON_NONE;
    snprintf(run.node, sizeof(run.node), "node-%u", (unsigned)n % 3);
    if (n % 1999 == 0)
        snprintf(run.detail, sizeof(run.detail), "the Disk is 100%% Full");
    if (is_renamed(n))
        snprintf(run.job_name, sizeof(run.job_name), "renamed");
    return run;
}

static struct ledger_entry entry_of(uint32_t n)
{
    struct ledger_entry entry = sample_entry(job_of(n), n);
    entry.to_ms = tick_of(n);
    entry.from_ms = entry.to_ms - 5000;
    entry.state = state_of(n);
    if (is_renamed(n))
        snprintf(entry.job_name, sizeof(entry.job_name), "renamed");
    return entry;
}

static struct id id_of(uint32_t n)
{
    return is_entry(n) ? entry_of(n).id : run_of(n).id;
}

static void fill(struct history_world *world)
{
    static struct run runs[BATCH];
    static struct ledger_entry entries[BATCH];
    static struct history_record records[BATCH];
    for (uint32_t n = rows_from(world); n < rows_to(world);) {
        for (size_t i = 0; i < BATCH; i++, n++) {
            runs[i] = run_of(n);
            entries[i] = entry_of(n);
            records[i] = is_entry(n) ? (struct history_record){.entry = &entries[i]}
                                     : (struct history_record){.run = &runs[i]};
        }
        assert_int_equal(world_append(world, records, BATCH), OK);
    }
}

/* ---- filters, each with its plain meaning ---- */

#define SINCE_MS (SAMPLE_MS + INT64_C(41500) * 1000)
#define UNTIL_MS (SAMPLE_MS + INT64_C(42000) * 1000)

static bool every_run(uint32_t n)
{
    return !is_entry(n);
}

static bool every_row(uint32_t n)
{
    (void)n;
    return true;
}

static bool of_job_3(uint32_t n)
{
    return !is_entry(n) && job_of(n) == 3;
}

static bool row_of_job_3(uint32_t n)
{
    return job_of(n) == 3;
}

static bool renamed(uint32_t n)
{
    return !is_entry(n) && is_renamed(n);
}

static bool of_job_5(uint32_t n)
{
    return !is_entry(n) && job_of(n) == 5;
}

static bool failed(uint32_t n)
{
    return state_of(n) == RUN_FAILED;
}

static bool went_wrong(uint32_t n)
{
    return failed(n) || state_of(n) == RUN_LOST || state_of(n) == RUN_KILLED;
}

static bool job_5_went_wrong(uint32_t n)
{
    return of_job_5(n) && went_wrong(n);
}

static bool missed_or_failed(uint32_t n)
{
    return failed(n) || state_of(n) == RUN_MISSED;
}

static bool on_node_1(uint32_t n)
{
    return !is_entry(n) && n % 3 == 1;
}

static bool lasted(uint32_t n)
{
    return !is_entry(n) && duration_of(n) >= 99000;
}

static bool since(uint32_t n)
{
    return !is_entry(n) && tick_of(n) >= SINCE_MS;
}

static bool until(uint32_t n)
{
    return !is_entry(n) && tick_of(n) < UNTIL_MS;
}

static bool between(uint32_t n)
{
    return since(n) && until(n);
}

static bool row_between(uint32_t n)
{
    return tick_of(n) >= SINCE_MS && tick_of(n) - (is_entry(n) ? 5000 : 0) < UNTIL_MS;
}

static bool job_5_failed_between(uint32_t n)
{
    return of_job_5(n) && failed(n) && between(n);
}

static bool job_5_until(uint32_t n)
{
    return of_job_5(n) && until(n);
}

static bool failed_since(uint32_t n)
{
    return failed(n) && since(n);
}

static bool on_node_1_wrong(uint32_t n)
{
    return on_node_1(n) && went_wrong(n);
}

static bool on_node_1_of_job_5(uint32_t n)
{
    return on_node_1(n) && of_job_5(n);
}

static bool on_node_1_between(uint32_t n)
{
    return on_node_1(n) && between(n);
}

static bool lasted_2_s(uint32_t n)
{
    return !is_entry(n) && duration_of(n) >= 2000;
}

static bool lasted_half_a_second(uint32_t n)
{
    return !is_entry(n) && duration_of(n) >= 500;
}

static bool job_5_lasted(uint32_t n)
{
    return of_job_5(n) && lasted(n);
}

static bool killed_lasted_2_s(uint32_t n)
{
    return lasted_2_s(n) && state_of(n) == RUN_KILLED;
}

static bool disk_full(uint32_t n)
{
    return !is_entry(n) && n % 1999 == 0;
}

static bool job_1_in_text(uint32_t n)
{
    uint32_t job = job_of(n);
    return !is_entry(n) && (job == 1 || job >= 10);
}

static bool disk_full_since(uint32_t n)
{
    return disk_full(n) && since(n);
}

static bool disk_full_job_5(uint32_t n)
{
    return disk_full(n) && of_job_5(n);
}

static bool disk_full_on_node_1(uint32_t n)
{
    return disk_full(n) && on_node_1(n);
}

static bool failed_in_text_of_job_1(uint32_t n)
{
    return failed(n) && job_1_in_text(n);
}

/* In the names of all jobs, and in no reason. */
static bool job_in_text(uint32_t n)
{
    return !is_entry(n) && !is_renamed(n);
}

static bool overlapped(uint32_t n)
{
    return is_entry(n);
}

static bool none(uint32_t n)
{
    (void)n;
    return false;
}

#define WRONG (1u << RUN_FAILED | 1u << RUN_LOST | 1u << RUN_KILLED)

static const struct {
    int line;
    struct history_query query;
    uint32_t job; /* of the uid, from 1; 0: none */
    bool (*matches)(uint32_t n);
    size_t limit;
} cases[] = {
    {__LINE__, {.limit = 0}, 0, every_run, 1000},
    {__LINE__, {.limit = 0}, 0, every_run, 997},
    {__LINE__, {.with_entries = true}, 0, every_row, 1000},
    {__LINE__, {.limit = 0}, 3, of_job_3, 100}, /* under both names */
    {__LINE__, {.with_entries = true}, 3, row_of_job_3, 1000},
    {__LINE__, {.job_name = "renamed"}, 0, renamed, 1000},
    {__LINE__, {.job_name = "renamed"}, 3, renamed, 1000},
    {__LINE__, {.job_name = "renamed"}, 5, none, 1000},
    {__LINE__, {.job_name = "job-5"}, 0, of_job_5, 1000},
    {__LINE__, {.job_name = "job"}, 0, none, 1000},
    {__LINE__, {.states = 1u << RUN_FAILED}, 0, failed, 100},
    {__LINE__, {.states = WRONG}, 0, went_wrong, 13},
    {__LINE__, {.states = WRONG}, 5, job_5_went_wrong, 1},
    {__LINE__, {.states = 1u << RUN_TIMED_OUT, .with_entries = true}, 0, none, 1},
    {__LINE__,
     {.states = 1u << RUN_FAILED | 1u << RUN_MISSED, .with_entries = true},
     0,
     missed_or_failed,
     1000},
    {__LINE__, {.node = "node-1", .with_entries = true}, 0, on_node_1, 1000},
    {__LINE__, {.node = "node"}, 0, none, 1000},
    {__LINE__, {.min_duration_ms = 99000, .with_entries = true}, 0, lasted, 100},
    {__LINE__, {.since_ms = SINCE_MS}, 0, since, 1000},
    {__LINE__, {.until_ms = UNTIL_MS}, 0, until, 1000},
    {__LINE__, {.since_ms = SINCE_MS, .until_ms = UNTIL_MS}, 0, between, 100},
    {__LINE__,
     {.since_ms = SINCE_MS, .until_ms = UNTIL_MS, .with_entries = true},
     0,
     row_between,
     100},
    {__LINE__,
     {.since_ms = SINCE_MS, .until_ms = UNTIL_MS, .states = 1u << RUN_FAILED},
     5,
     job_5_failed_between,
     2},
    {__LINE__, {.until_ms = UNTIL_MS}, 5, job_5_until, 1000},
    {__LINE__, {.since_ms = SINCE_MS, .states = 1u << RUN_FAILED}, 0, failed_since, 100},
    {__LINE__, {.node = "node-1", .states = WRONG}, 0, on_node_1_wrong, 100},
    {__LINE__, {.node = "node-1"}, 5, on_node_1_of_job_5, 1000},
    {__LINE__,
     {.node = "node-1", .since_ms = SINCE_MS, .until_ms = UNTIL_MS},
     0,
     on_node_1_between,
     100},
    {__LINE__, {.node = "node-9", .states = WRONG}, 5, none, 100},
    {__LINE__, {.min_duration_ms = 2000}, 0, lasted_2_s, 1000},
    {__LINE__, {.min_duration_ms = 500}, 0, lasted_half_a_second, 1000},
    {__LINE__, {.min_duration_ms = 99000}, 5, job_5_lasted, 10},
    {__LINE__, {.min_duration_ms = 2000, .states = 1u << RUN_KILLED}, 0, killed_lasted_2_s, 10},
    {__LINE__, {.min_duration_ms = DAY_MS}, 0, none, 10},
    {__LINE__, {.text = "DISK is", .since_ms = SINCE_MS}, 0, disk_full_since, 10},
    {__LINE__, {.text = "100% full"}, 5, disk_full_job_5, 10},
    {__LINE__, {.text = "100% full", .node = "node-1"}, 0, disk_full_on_node_1, 10},
    {__LINE__, {.text = "job-1", .states = 1u << RUN_FAILED}, 0, failed_in_text_of_job_1, 100},
    {__LINE__, {.text = "job"}, 0, job_in_text, 1000},
    {__LINE__, {.text = "job-1", .node = "node-9"}, 0, none, 100},
    {__LINE__, {.text = "100% full"}, 0, disk_full, 10},
    {__LINE__, {.text = "JOB-1"}, 0, job_1_in_text, 1000},
    {__LINE__, {.text = "verla", .with_entries = true}, 0, overlapped, 1000},
    {__LINE__, {.text = "exit_c"}, 0, failed, 1000},
    {__LINE__, {.text = "nowhere", .with_entries = true}, 0, none, 10},
};

/* The next number below n that matches, `from` at least; false: none. */
static bool previous(bool (*matches)(uint32_t n), uint32_t from, uint32_t *n)
{
    while (*n > from) {
        if (matches(--*n))
            return true;
    }
    return false;
}

static void check_case(struct history_world *world, size_t c)
{
    struct history_read read = {.query = cases[c].query, .more = true};
    uint32_t n = rows_to(world), from = rows_from(world);
    size_t pages = 0;
    read.query.limit = cases[c].limit;
    if (cases[c].job)
        read.query.job_uid = sample_uid(cases[c].job);
    while (read.more) {
        assert_int_equal(world_read(world, &read), OK);
        for (size_t i = 0; i < read.count; i++) {
            const struct history_row *row = &read.rows[i];
            bool expected = previous(cases[c].matches, from, &n);
            struct id id = expected ? id_of(n) : (struct id){{0}};
            if (!expected || row->is_entry != is_entry(n) ||
                id_compare(&id, row->is_entry ? &row->entry.id : &row->run.id) != 0)
                fail_msg("case of line %d: wrong row, where number %u should be", cases[c].line,
                         (unsigned)n);
        }
        read.query.before = read.next;
        history_read_release(&read);
        if (++pages > ROWS)
            fail_msg("case of line %d: no end", cases[c].line);
    }
    if (previous(cases[c].matches, from, &n))
        fail_msg("case of line %d: number %u is missing", cases[c].line, (unsigned)n);
}

void test_paging(void **state)
{
    struct history_world *world = *state;
    fill(world);
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
        check_case(world, c);
}

/* Rows come back whole, from a list as well as by id. */
void test_rows_are_whole(void **state)
{
    struct history_world *world = *state;
    struct run run = sample_run(1, 1), by_id;
    struct ledger_entry entry = sample_entry(2, 2);
    assert_int_equal(world_append_run(world, &run), OK);
    assert_int_equal(world_append_entry(world, &entry), OK);
    struct history_read read = {.query = {.with_entries = true, .limit = 10}};
    assert_int_equal(world_read(world, &read), OK);
    assert_int_equal(read.count, 2);
    assert_false(read.more);
    assert_true(read.rows[0].is_entry);
    assert_same_run(&read.rows[1].run, &run);
    const struct ledger_entry *found = &read.rows[0].entry;
    assert_memory_equal(&found->id, &entry.id, sizeof(entry.id));
    assert_memory_equal(&found->job_uid, &entry.job_uid, sizeof(entry.job_uid));
    assert_string_equal(found->job_name, entry.job_name);
    assert_string_equal(found->detail, entry.detail);
    assert_int_equal(found->from_ms, entry.from_ms);
    assert_int_equal(found->to_ms, entry.to_ms);
    assert_int_equal(found->count, entry.count);
    assert_int_equal(found->state, entry.state);
    assert_int_equal(found->reason, entry.reason);
    assert_int_equal(found->recorded_ms, entry.recorded_ms);
    history_read_release(&read);
    assert_true(world_has_run(world, &run.id, &by_id));
    assert_same_run(&by_id, &run);
    assert_false(world_has_run(world, &entry.id, NULL)); /* an entry is no run */
}

/* More jobs than a search follows one by one have the text in their names. */
void test_text_of_many_jobs(void **state)
{
    enum { MANY = 260 };
    static struct run runs[MANY];
    static struct history_record records[MANY];
    struct history_world *world = *state;
    struct history_read read = {.query = {.text = "MANY-", .limit = 100}, .more = true};
    size_t found = 0;
    if (world->backend->is_slow) {
        print_message("skipped: thousands of jobs take this server minutes\n");
        skip();
    }
    for (uint32_t i = 0; i < MANY; i++) {
        runs[i] = sample_run(i, i);
        snprintf(runs[i].job_name, sizeof(runs[i].job_name), "%s-%u", i % 13 ? "many" : "few",
                 (unsigned)i);
        records[i] = (struct history_record){.run = &runs[i]};
    }
    assert_int_equal(world_append(world, records, MANY), OK);
    while (read.more) {
        assert_int_equal(world_read(world, &read), OK);
        for (size_t i = 0; i < read.count; i++)
            assert_non_null(strstr(read.rows[i].run.job_name, "many-"));
        found += read.count;
        read.query.before = read.next;
        history_read_release(&read);
    }
    assert_int_equal(found, MANY - MANY / 13);
}

void test_limits(void **state)
{
    static const struct {
        int line;
        size_t limit;
        enum status want;
    } limits[] = {{__LINE__, 0, E_INVALID},
                  {__LINE__, 1, OK},
                  {__LINE__, 1000, OK},
                  {__LINE__, 1001, E_INVALID}};
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        struct history_read read = {.query.limit = limits[i].limit};
        enum status st = world_read(*state, &read);
        if (st != limits[i].want)
            fail_msg("line %d: %s", limits[i].line, status_text(st));
        history_read_release(&read);
    }
}
