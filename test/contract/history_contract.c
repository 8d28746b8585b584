#include "history_contract.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "history_tests.h"
#include "history_world.h"

/* ---- appends ---- */

static void test_amend(void **state)
{
    static const struct {
        int line;
        enum run_state first, second, want;
    } cases[] = {
        {__LINE__, RUN_LOST, RUN_OK, RUN_OK},
        {__LINE__, RUN_LOST, RUN_LOST, RUN_LOST},
        {__LINE__, RUN_OK, RUN_LOST, RUN_OK}, /* what is known stays known */
        {__LINE__, RUN_OK, RUN_FAILED, RUN_FAILED},
        {__LINE__, RUN_OK, RUN_MISSED, RUN_OK}, /* what ran has run */
        {__LINE__, RUN_KILLED, RUN_MISSED, RUN_KILLED},
        {__LINE__, RUN_LOST, RUN_MISSED, RUN_MISSED},
        {__LINE__, RUN_MISSED, RUN_OK, RUN_OK},
    };
    struct history_world *world = *state;
    for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct run run = sample_run(1, i), found;
        run.state = cases[i].first;
        assert_int_equal(world_append_run(world, &run), OK);
        run.state = cases[i].second;
        run.exit_code = 3;
        assert_int_equal(world_append_run(world, &run), OK);
        assert_true(world_has_run(world, &run.id, &found));
        if (found.state != cases[i].want)
            fail_msg("line %d: %s", cases[i].line, run_state_name(found.state));
        struct history_query of_state = {.job_uid = run.job_uid,
                                         .states = 1u << cases[i].want,
                                         .since_ms = run.tick_ms,
                                         .until_ms = run.tick_ms + 1};
        assert_int_equal(world_count(world, of_state), 1);
        of_state.states = ~of_state.states;
        assert_int_equal(world_count(world, of_state), 0);
    }
}

static void test_append_twice(void **state)
{
    struct history_world *world = *state;
    struct run run = sample_run(1, 1), found;
    struct ledger_entry entry = sample_entry(1, 2);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(world_append_run(world, &run), OK);
        assert_int_equal(world_append_entry(world, &entry), OK);
    }
    assert_int_equal(world_count(world, (struct history_query){.with_entries = true}), 2);
    assert_true(world_has_run(world, &run.id, &found));
    assert_same_run(&found, &run);
    struct history_record same_in_one[] = {{.run = &run}, {.run = &run}, {.entry = &entry}};
    assert_int_equal(world_append(world, same_in_one, 3), OK);
    assert_int_equal(world_append(world, NULL, 0), OK);
    assert_int_equal(world_count(world, (struct history_query){.with_entries = true}), 2);
}

/* The step, and another run of the same job that is of no workflow. */
static void test_workflow_runs(void **state)
{
    struct history_world *world = *state;
    struct run step = sample_run(1, 1), plain = sample_run(1, 2), found;
    step.cause = CAUSE_STEP;
    step.part = 200003;
    step.instance = sample_run(1, 3).id;
    snprintf(step.step, sizeof(step.step), "load[3]");
    struct history_record both[] = {{.run = &step}, {.run = &plain}};
    assert_int_equal(world_append(world, both, 2), OK);
    assert_true(world_has_run(world, &step.id, &found));
    assert_same_run(&found, &step);
    assert_int_equal(id_compare(&found.instance, &step.instance), 0);
    assert_string_equal(found.step, "load[3]");
    assert_true(world_has_run(world, &plain.id, &found));
    assert_true(id_is_zero(&found.instance));
    assert_string_equal(found.step, "");
    step.state = RUN_FAILED; /* it is amended as a whole */
    assert_int_equal(world_append_run(world, &step), OK);
    assert_true(world_has_run(world, &step.id, &found));
    assert_same_run(&found, &step);
}

static void test_append_invalid(void **state)
{
    struct history_world *world = *state;
    struct run ended = sample_run(1, 1), open = sample_run(1, 2);
    struct ledger_entry entry = sample_entry(1, 3), odd = sample_entry(1, 4);
    struct output_chunk chunk = {OUTPUT_STDOUT, SAMPLE_MS, 0, "x", 1};
    struct change_record change = sample_change(1, 5), moved = sample_change(1, 6);
    struct strbuf why;
    moved.at_ms++;
    open.state = RUN_RUNNING;
    odd.state = RUN_OK;
    struct history_record wrong[] = {
        {.run = &open},
        {.entry = &odd},
        {0},
        {.run = &ended, .entry = &entry},
        {.entry = &entry, .chunks = &chunk, .chunk_count = 1},
        {.change = &change, .chunks = &chunk, .chunk_count = 1},
        {.change = &change, .entry = &entry},
        {.change = &moved},
    };
    strbuf_init(&why);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct history_record records[] = {{.run = &ended}, wrong[i]};
        assert_int_equal(world_append(world, records, 2), E_INVALID);
        assert_false(world_has_run(world, &ended.id, NULL)); /* all or none */
        assert_int_equal(history_health(world->history, &why), OK);
    }
    strbuf_release(&why);
}

/* ---- retention ---- */

static void fill_jobs(struct history_world *world)
{
    enum { NUMBERS = 30, JOBS = 3, COUNT = NUMBERS * JOBS };
    static struct run runs[COUNT];
    static struct ledger_entry entries[COUNT];
    static struct history_record records[2 * COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t job = 1 + i % JOBS, number = i / JOBS;
        runs[i] = sample_run(job, number);
        runs[i].state = number % 3 ? RUN_OK : RUN_FAILED;
        entries[i] = sample_entry(job, number);
        records[2 * i] = (struct history_record){.run = &runs[i]};
        records[2 * i + 1] = (struct history_record){.entry = &entries[i]};
    }
    assert_int_equal(world_append(world, records, 2 * COUNT), OK);
}

static size_t count_of(struct history_world *world, uint32_t job, bool with_entries)
{
    struct history_query query = {.job_uid = sample_uid(job), .with_entries = with_entries};
    return world_count(world, query);
}

static void test_prune_by_count(void **state)
{
    struct history_world *world = *state;
    struct id uid = sample_uid(2);
    fill_jobs(world);
    assert_int_equal(world_prune(world, &uid, 30, 0), 0);
    assert_int_equal(world_prune(world, &uid, 7, 0), 2 * 23);
    assert_int_equal(count_of(world, 2, false), 7);
    assert_int_equal(count_of(world, 2, true), 14);
    assert_int_equal(count_of(world, 1, true), 60);
    for (uint32_t n = 0; n < 30; n++) { /* the newest are kept */
        struct run run = sample_run(2, n);
        assert_int_equal(world_has_run(world, &run.id, NULL), n >= 23);
    }
    assert_int_equal(world_prune(world, NULL, 1, 0), 2 * (29 + 6 + 29));
    assert_int_equal(world_count(world, (struct history_query){0}), 3);
    assert_int_equal(world_prune(world, NULL, 0, 0), 0);
}

/* Instances of a workflow, the nth with so many steps behind it; steps count with their instance.
 */
static void append_instance(struct history_world *world, uint32_t nth, uint32_t steps)
{
    struct run instance = sample_run(7, nth * 100), step;
    instance.instance = instance.id;
    assert_int_equal(world_append_run(world, &instance), OK);
    for (uint32_t i = 1; i <= steps; i++) {
        step = sample_run(7, nth * 100 + i);
        step.cause = CAUSE_STEP;
        step.part = (int)i;
        step.instance = instance.id;
        snprintf(step.step, sizeof(step.step), "s%u", (unsigned)i);
        assert_int_equal(world_append_run(world, &step), OK);
    }
}

static void test_prune_counts_instances(void **state)
{
    enum { COUNT = 5, STEPS = 90 };
    struct history_world *world = *state;
    struct id uid = sample_uid(7);
    struct run found;
    for (uint32_t n = 1; n <= COUNT; n++)
        append_instance(world, n, n == 2 ? 0 : STEPS);
    assert_int_equal(world_prune(world, &uid, COUNT, 0), 0);
    assert_int_equal(world_prune(world, &uid, 3, 0), 1 + STEPS + 1);
    for (uint32_t n = 1; n <= COUNT; n++) {
        struct run instance = sample_run(7, n * 100), last = sample_run(7, n * 100 + STEPS);
        assert_int_equal(world_has_run(world, &instance.id, &found), n > 2);
        assert_int_equal(world_has_run(world, &last.id, &found), n > 2);
    }
    assert_int_equal(world_prune(world, NULL, 1, 0), 2 * (1 + STEPS));
    assert_int_equal(world_prune(world, NULL, 1, 0), 0);
    assert_int_equal(world_count(world, (struct history_query){.job_uid = uid}), 1 + STEPS);
}

static void test_prune_by_age(void **state)
{
    struct history_world *world = *state;
    struct run long_one = sample_run(1, 0), never_started = sample_run(1, 3);
    struct ledger_entry entry = sample_entry(1, 1);
    fill_jobs(world);
    long_one.finished_ms = SAMPLE_MS + 3600 * 1000; /* amended: it was made first and ended last */
    never_started.state = RUN_SKIPPED;
    never_started.started_ms = never_started.finished_ms = 0;
    assert_int_equal(world_append_run(world, &long_one), OK);
    assert_int_equal(world_append_run(world, &never_started), OK);
    int64_t before_ms = sample_run(1, 10).finished_ms;
    assert_int_equal(world_prune(world, NULL, 0, before_ms), 3 * (10 + 11) - 1);
    assert_true(world_has_run(world, &long_one.id, NULL));
    assert_false(world_has_run(world, &never_started.id, NULL));
    assert_int_equal(world_count(world, (struct history_query){0}), 3 * 20 + 1);
    assert_int_equal(world_append_entry(world, &entry), OK);
    assert_int_equal(world_prune(world, NULL, 0, entry.recorded_ms), 0);
    assert_int_equal(world_prune(world, NULL, 5, entry.recorded_ms + 1), 3 * 15 + 3 * 14 + 2);
}

/* Of runs with output, the newest that fit are kept, of a job and of all. */
static void test_prune_by_bytes(void **state)
{
    enum { RUNS = 12 };
    struct history_world *world = *state;
    static char bytes[1000];
    struct run runs[RUNS];
    struct history_record records[RUNS];
    const struct output_chunk chunk = {OUTPUT_STDOUT, SAMPLE_MS, 0, bytes, sizeof(bytes)};
    for (uint32_t i = 0; i < RUNS; i++) {
        bool is_silent = i == 0 || i == 8; /* these stay */
        runs[i] = sample_run(1 + i % 2, i);
        records[i] =
            (struct history_record){.run = &runs[i], .chunks = &chunk, .chunk_count = !is_silent};
    }
    assert_int_equal(world_append(world, records, RUNS), OK);
    assert_int_equal(world_append_run(world, &runs[3]), OK); /* its output stays, and counts */
    struct history_prune prune = {.job_uid = sample_uid(2), .keep_bytes = 6000};
    assert_int_equal(world_prune_as(world, &prune), OK);
    assert_int_equal(prune.removed, 0);
    prune.keep_bytes = 4500;
    assert_int_equal(world_prune_as(world, &prune), OK);
    assert_int_equal(prune.removed, 2);
    assert_false(world_has_run(world, &runs[1].id, NULL));
    assert_false(world_has_run(world, &runs[3].id, NULL));
    assert_true(world_has_run(world, &runs[5].id, NULL));
    prune = (struct history_prune){.keep_bytes = 1};
    assert_int_equal(world_prune_as(world, &prune), OK);
    assert_int_equal(prune.removed, 4 + 4 - 1);
    assert_int_equal(world_count(world, (struct history_query){0}), 3);
    assert_true(world_has_run(world, &runs[RUNS - 1].id, NULL));
}

/* Many rows: more than one step. */
static void test_prune_much(void **state)
{
    enum { MANY = 2500 };
    struct history_world *world = *state;
    uint32_t count = world->backend->is_slow ? MANY / 5 : MANY;
    static struct run runs[MANY];
    static struct history_record records[MANY];
    static char bytes[3000];
    const struct output_chunk chunk = {OUTPUT_STDOUT, SAMPLE_MS, 0, bytes, sizeof(bytes)};
    for (uint32_t i = 0; i < count; i++) {
        runs[i] = sample_run(i % 2, i);
        records[i] = (struct history_record){.run = &runs[i], .chunks = &chunk, .chunk_count = 1};
    }
    assert_int_equal(world_append(world, records, count), OK);
    assert_int_equal(world_prune(world, NULL, 10, 0), count - 20);
    assert_int_equal(world_count(world, (struct history_query){0}), 20);
    assert_int_equal(world_prune(world, NULL, 0, INT64_MAX), 20);
    assert_int_equal(world_count(world, (struct history_query){0}), 0);
}

/* ---- order, and the end ---- */

struct trail {
    int answers[8];
    int count;
    bool complete;
    int expected;
    struct history *history;
    struct history_read last; /* submitted from within `done` */
};

static void leave(struct trail *trail, int number)
{
    trail->answers[trail->count++] = number;
    trail->complete = trail->count == trail->expected;
}

static void second_done(struct history_append *append, enum status st)
{
    assert_int_equal(st, OK);
    leave(append->context, 2);
}

static void last_done(struct history_read *read, enum status st)
{
    assert_int_equal(st, OK);
    assert_int_equal(read->count, 1); /* what was appended is seen */
    history_read_release(read);
    leave(read->context, 3);
}

static void first_done(struct history_append *append, enum status st)
{
    struct trail *trail = append->context;
    assert_int_equal(st, OK);
    leave(trail, 1);
    trail->last = (struct history_read){
        .query = {.limit = 5, .job_name = "job-1"}, .done = last_done, .context = trail};
    history_read(trail->history, &trail->last);
}

static void test_order(void **state)
{
    struct history_world *world = *state;
    struct trail trail = {.expected = 3, .history = world->history};
    struct run one = sample_run(1, 1), two = sample_run(2, 2);
    struct history_record records[] = {{.run = &one}, {.run = &two}};
    struct history_append first = {&records[0], 1, first_done, &trail, {0}};
    struct history_append second = {&records[1], 1, second_done, &trail, {0}};
    history_append(world->history, &first);
    history_append(world->history, &second);
    assert_int_equal(trail.count, 0); /* never from within the call */
    world_wait(world, &trail.complete);
    assert_int_equal(trail.answers[0], 1);
}

enum { AT_ONCE = 60 };

struct at_once {
    struct history_append append; /* first */
    struct run run;
    struct history_record record;
};

static void one_done(struct history_append *append, enum status st)
{
    const struct at_once *one = (struct at_once *)append;
    struct trail *trail = append->context;
    assert_int_equal(st, one->run.state == RUN_RUNNING ? E_INVALID : OK);
    trail->complete = ++trail->count == trail->expected;
}

/* Those that wait for each other may share a transaction, but not their failures. */
static void test_appends_at_once(void **state)
{
    struct history_world *world = *state;
    struct trail trail = {.expected = AT_ONCE};
    struct at_once *all = calloc(AT_ONCE, sizeof(*all));
    assert_non_null(all);
    for (int i = 0; i < AT_ONCE; i++) {
        all[i].run = sample_run(1, (uint32_t)i);
        if (i % 7 == 3)
            all[i].run.state = RUN_RUNNING;
        all[i].record.run = &all[i].run;
        all[i].append = (struct history_append){&all[i].record, 1, one_done, &trail, {0}};
        history_append(world->history, &all[i].append);
    }
    world_wait(world, &trail.complete);
    for (int i = 0; i < AT_ONCE; i++)
        assert_int_equal(world_has_run(world, &all[i].run.id, NULL), i % 7 != 3);
    free(all);
}

static void refused(struct history_read *read, enum status st)
{
    assert_int_equal(st, E_UNREACHABLE);
    leave(read->context, 4);
}

static void append_then_read(struct history_append *append, enum status st)
{
    struct trail *trail = append->context;
    assert_int_equal(st, OK);
    leave(trail, 1);
    trail->last = (struct history_read){.query.limit = 1, .done = refused, .context = trail};
    history_read(trail->history, &trail->last);
}

static void test_free_answers(void **state)
{
    struct history_world *world = *state;
    struct trail trail = {.expected = 2, .history = world->history};
    struct run run = sample_run(1, 1);
    struct history_record record = {.run = &run};
    struct history_append append = {&record, 1, append_then_read, &trail, {0}};
    history_append(world->history, &append);
    world_close(world);
    assert_true(trail.complete);
    assert_null(history_free(NULL));
    if (!world->backend->durable)
        return;
    world_open(world);
    assert_true(world_has_run(world, &run.id, NULL));
}

int history_contract_run(const struct history_backend *backend)
{
#define WITH_WORLD(test)                                                                           \
    cmocka_unit_test_prestate_setup_teardown(test, history_world_setup, history_world_teardown,    \
                                             (void *)backend)
    const struct CMUnitTest tests[] = {
        WITH_WORLD(test_rows_are_whole), WITH_WORLD(test_text_of_many_jobs),
        WITH_WORLD(test_limits),         WITH_WORLD(test_amend),
        WITH_WORLD(test_append_twice),   WITH_WORLD(test_append_invalid),
        WITH_WORLD(test_workflow_runs),  WITH_WORLD(test_output_binary),
        WITH_WORLD(test_output_input),   WITH_WORLD(test_output_ranges),
        WITH_WORLD(test_output_gaps),    WITH_WORLD(test_output_amended),
        WITH_WORLD(test_prune_by_count), WITH_WORLD(test_prune_counts_instances),
        WITH_WORLD(test_prune_by_bytes), WITH_WORLD(test_prune_by_age),
        WITH_WORLD(test_prune_much),     WITH_WORLD(test_order),
        WITH_WORLD(test_free_answers),   WITH_WORLD(test_appends_at_once),
        WITH_WORLD(test_stats_add_up),   WITH_WORLD(test_stats_amended),
        WITH_WORLD(test_stats_spans),    WITH_WORLD(test_stats_pruned),
        WITH_WORLD(test_paging),         WITH_WORLD(test_changes_are_whole),
        WITH_WORLD(test_changes_once),   WITH_WORLD(test_changes_filters),
        WITH_WORLD(test_changes_pages),  WITH_WORLD(test_changes_large),
        WITH_WORLD(test_changes_pruned),
    };
    return cmocka_run_group_tests_name(backend->name, tests, NULL, NULL);
}
