/* Statistics: each run counts once, in its hour, as it ended. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "history_tests.h"
#include "history_world.h"

#define HOUR_MS INT64_C(3600000)
#define DAY_MS  (24 * HOUR_MS)
#define LAST_MS (SAMPLE_MS + 3 * DAY_MS)

/* A run of a job, made `after_ms` after SAMPLE_MS, that took `duration_ms`; due and started 20 ms
 * late. */
static struct run timed_run(uint32_t job, int64_t after_ms, int64_t duration_ms)
{
    struct run run = sample_run(job, 1);
    run.tick_ms = SAMPLE_MS + after_ms;
    run.id = sample_id(run.tick_ms, job);
    run.cause = CAUSE_TICK;
    run.attempt = 1;
    run.started_ms = run.tick_ms + 20;
    run.finished_ms = run.started_ms + duration_ms;
    return run;
}

static struct history_stats ask(struct history_world *world, uint32_t job, int64_t from_ms,
                                int64_t to_ms, enum history_span span)
{
    struct history_stats stats = {.from_ms = from_ms, .to_ms = to_ms, .span = span};
    if (job)
        stats.job_uid = sample_uid(job);
    assert_int_equal(world_stats(world, &stats), OK);
    return stats;
}

static struct history_stats ask_all(struct history_world *world, uint32_t job)
{
    return ask(world, job, SAMPLE_MS - DAY_MS, LAST_MS, HISTORY_HOUR);
}

void test_stats_add_up(void **state)
{
    struct history_world *world = *state;
    struct run a = timed_run(1, 0, 100), b = timed_run(1, 1000, 300), c = timed_run(1, HOUR_MS, 7);
    struct run other = timed_run(2, 2000, 50), never = timed_run(1, 3000, 0);
    struct ledger_entry entry = sample_entry(1, 5);
    b.state = RUN_FAILED;
    b.attempt = 2; /* a retry is late by nature */
    never.state = RUN_SKIPPED;
    never.started_ms = never.finished_ms = 0;
    struct history_record records[] = {{.run = &a},     {.run = &b},     {.run = &c},
                                       {.run = &other}, {.run = &never}, {.entry = &entry}};
    assert_int_equal(world_append(world, records, 6), OK);

    struct history_stats stats = ask_all(world, 1);
    assert_int_equal(stats.count, 2);
    const struct history_stats_row *row = &stats.rows[0];
    assert_int_equal(row->from_ms, SAMPLE_MS / HOUR_MS * HOUR_MS);
    assert_int_equal(row->ends[RUN_OK], 1);
    assert_int_equal(row->ends[RUN_FAILED], 1);
    assert_int_equal(row->ends[RUN_SKIPPED], 1 + entry.count);
    assert_int_equal(row->ends[RUN_LOST], 0);
    assert_int_equal(row->timed, 2);
    assert_int_equal(row->duration_sum_ms, 400);
    assert_int_equal(row->duration_min_ms, 100);
    assert_int_equal(row->duration_max_ms, 300);
    assert_int_equal(row->buckets[history_bucket(100)], 1);
    assert_int_equal(row->buckets[history_bucket(300)], 1);
    assert_int_equal(row->punctual, 1);
    assert_int_equal(row->late_sum_ms, 20);
    assert_int_equal(stats.rows[1].from_ms, row->from_ms + HOUR_MS);
    assert_int_equal(stats.rows[1].ends[RUN_OK], 1);
    history_stats_release(&stats);

    stats = ask_all(world, 0); /* all jobs together */
    assert_int_equal(stats.count, 2);
    assert_int_equal(stats.rows[0].ends[RUN_OK], 2);
    assert_int_equal(stats.rows[0].duration_min_ms, 50);
    assert_int_equal(stats.rows[0].late_sum_ms, 40);
    history_stats_release(&stats);

    stats = ask_all(world, 3); /* a job that nobody knows */
    assert_int_equal(stats.count, 0);
    history_stats_release(&stats);
}

void test_stats_amended(void **state)
{
    struct history_world *world = *state;
    struct run run = timed_run(1, 0, 100);
    run.state = RUN_LOST;
    assert_int_equal(world_append_run(world, &run), OK);
    struct history_stats stats = ask_all(world, 1);
    assert_int_equal(stats.count, 1);
    assert_int_equal(stats.rows[0].ends[RUN_LOST], 1);
    assert_int_equal(stats.rows[0].timed, 0); /* nobody knows how long it took */
    history_stats_release(&stats);

    run.state = RUN_OK;
    struct history_record twice[] = {{.run = &run}, {.run = &run}};
    for (int i = 0; i < 3; i++)
        assert_int_equal(world_append(world, twice, 2), OK);
    run.state = RUN_LOST; /* too late: it is known */
    assert_int_equal(world_append_run(world, &run), OK);
    for (uint32_t job = 0; job < 2; job++) {
        stats = ask_all(world, job);
        assert_int_equal(stats.count, 1);
        assert_int_equal(stats.rows[0].ends[RUN_LOST], 0);
        assert_int_equal(stats.rows[0].ends[RUN_OK], 1);
        assert_int_equal(stats.rows[0].timed, 1);
        assert_int_equal(stats.rows[0].duration_sum_ms, 100);
        assert_int_equal(stats.rows[0].punctual, 1);
        history_stats_release(&stats);
    }
    run.state = RUN_FAILED;
    run.finished_ms += 900;
    assert_int_equal(world_append_run(world, &run), OK);
    stats = ask_all(world, 1);
    assert_int_equal(stats.rows[0].ends[RUN_OK], 0);
    assert_int_equal(stats.rows[0].ends[RUN_FAILED], 1);
    assert_int_equal(stats.rows[0].duration_sum_ms, 1000);
    assert_int_equal(stats.rows[0].buckets[history_bucket(100)], 0);
    assert_int_equal(stats.rows[0].buckets[history_bucket(1000)], 1);
    history_stats_release(&stats);
}

void test_stats_spans(void **state)
{
    enum { HOURS = 60 };
    struct history_world *world = *state;
    static struct run runs[HOURS];
    static struct history_record records[HOURS];
    int64_t first_ms = SAMPLE_MS / DAY_MS * DAY_MS + DAY_MS; /* midnight */
    for (uint32_t i = 0; i < HOURS; i++) {
        runs[i] = timed_run(1, first_ms - SAMPLE_MS + i * HOUR_MS + 1000, i);
        records[i] = (struct history_record){.run = &runs[i]};
    }
    assert_int_equal(world_append(world, records, HOURS), OK);
    static const struct {
        int line;
        int64_t from_h, to_h;
        enum history_span span;
        size_t want;
        int64_t first_count;
    } cases[] = {
        {__LINE__, 0, 60, HISTORY_HOUR, 60, 1}, {__LINE__, 0, 60, HISTORY_DAY, 3, 24},
        {__LINE__, 48, 60, HISTORY_DAY, 1, 12}, {__LINE__, 5, 6, HISTORY_HOUR, 1, 1},
        {__LINE__, 5, 5, HISTORY_HOUR, 0, 0},   {__LINE__, 60, 90, HISTORY_HOUR, 0, 0},
        {__LINE__, 22, 26, HISTORY_DAY, 2, 2},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct history_stats stats = ask(world, 1, first_ms + cases[i].from_h * HOUR_MS,
                                         first_ms + cases[i].to_h * HOUR_MS, cases[i].span);
        if (stats.count != cases[i].want ||
            (stats.count && stats.rows[0].ends[RUN_OK] != cases[i].first_count))
            fail_msg("line %d: %zu rows", cases[i].line, stats.count);
        for (size_t k = 1; k < stats.count; k++)
            assert_true(stats.rows[k].from_ms > stats.rows[k - 1].from_ms);
        history_stats_release(&stats);
    }
    struct history_stats wrong = {.from_ms = 10, .to_ms = 9};
    assert_int_equal(world_stats(world, &wrong), E_INVALID);
    wrong = (struct history_stats){.to_ms = (HISTORY_STATS_LIMIT + 1) * HOUR_MS};
    assert_int_equal(world_stats(world, &wrong), E_INVALID);
    wrong.span = HISTORY_DAY;
    assert_int_equal(world_stats(world, &wrong), OK);
    history_stats_release(&wrong);
}

static int64_t hours_of(struct history_world *world, uint32_t job)
{
    struct history_stats stats = ask_all(world, job);
    int64_t count = (int64_t)stats.count;
    history_stats_release(&stats);
    return count;
}

void test_stats_pruned(void **state)
{
    struct history_world *world = *state;
    for (uint32_t hour = 0; hour < 10; hour++) {
        for (uint32_t job = 1; job <= 2; job++) {
            struct run run = timed_run(job, hour * HOUR_MS, 10);
            assert_int_equal(world_append_run(world, &run), OK);
        }
    }
    struct id uid = sample_uid(1);
    assert_int_equal(world_prune(world, &uid, 1, 0), 9); /* by count: statistics stay */
    assert_int_equal(hours_of(world, 1), 10);
    assert_int_equal(world_prune(world, &uid, 0, SAMPLE_MS + 4 * HOUR_MS), 0);
    assert_int_equal(hours_of(world, 1), 6);
    assert_int_equal(hours_of(world, 2), 10);
    assert_int_equal(hours_of(world, 0), 10);

    /* They may be kept longer than the runs, and go even when their job has none left. */
    struct history_prune prune = {.before_ms = SAMPLE_MS + 20 * HOUR_MS,
                                  .stats_before_ms = SAMPLE_MS + 5 * HOUR_MS};
    assert_int_equal(world_prune_as(world, &prune), OK);
    assert_int_equal(prune.removed, 11);
    for (uint32_t job = 0; job <= 2; job++)
        assert_int_equal(hours_of(world, job), 5);
    assert_int_equal(world_prune(world, NULL, 0, SAMPLE_MS + 20 * HOUR_MS), 0);
    for (uint32_t job = 0; job <= 2; job++)
        assert_int_equal(hours_of(world, job), 0);
}
