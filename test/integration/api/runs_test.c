/* Runs: asked for, killed, listed, read, and made good for ticks of the past. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOB(policy)                                                                                \
    "{\"schedule\":\"0 0 1 1 *\",\"timezone\":\"UTC\",\"command\":[\"true\"],\"overlap\":" policy  \
    "}"

static struct id id_of(const char *text)
{
    struct id id;
    if (id_parse(text, &id) != OK)
        fail_msg("\"%s\" is no id", text);
    return id;
}

/* Asks for a run; its id. */
static struct id start_run(struct world *world, const char *job)
{
    char line[100];
    snprintf(line, sizeof(line), "POST /jobs/%s/run", job);
    json_t *answer = EXPECT(world, 202, line, NULL);
    struct id id = id_of(member_text(answer, "run_id"));
    json_decref(answer);
    return id;
}

static json_t *get_run(struct world *world, const struct id *id)
{
    char text[ID_TEXT + 1], line[64];
    id_format(id, text);
    snprintf(line, sizeof(line), "GET /runs/%s", text);
    return EXPECT(world, 200, line, NULL);
}

struct wait {
    struct world *world;
    const struct id *id;
    enum run_state state;
    bool recorded;
};

static bool in_state(void *context)
{
    const struct wait *wait = context;
    const struct run *run = engine_find_run(wait->world->engine, wait->id);
    return wait->recorded ? !run : run && run->state == wait->state;
}

static void until_running(struct world *world, const struct id *id)
{
    struct wait wait = {.world = world, .id = id, .state = RUN_RUNNING};
    world_until(world, in_state, &wait);
}

static void until_recorded(struct world *world, const struct id *id)
{
    struct wait wait = {.world = world, .id = id, .recorded = true};
    world_until(world, in_state, &wait);
}

static json_t *kill_run(struct world *world, const struct id *id, int status)
{
    char text[ID_TEXT + 1], line[64];
    id_format(id, text);
    snprintf(line, sizeof(line), "POST /runs/%s/kill", text);
    return EXPECT(world, status, line, NULL);
}

/* ---- one run ---- */

static void test_manual_run(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB("\"skip\""));
    struct id id = start_run(world, "a");
    until_running(world, &id);
    json_t *run = get_run(world, &id);
    assert_string_equal(member_text(run, "job"), "a");
    assert_string_equal(member_text(run, "state"), "running");
    assert_string_equal(member_text(run, "cause"), "manual");
    assert_string_equal(member_text(run, "node"), "here");
    assert_int_equal(member_number(run, "attempt"), 1);
    assert_true(json_is_string(member(run, "by")));
    assert_true(json_is_string(member(run, "started_at")));
    assert_true(json_is_null(member(run, "finished_at")));
    assert_true(json_is_null(member(run, "exit_code")));
    json_decref(run);
    json_t *job = EXPECT(world, 200, "GET /jobs/a", NULL);
    assert_int_equal(member_number(job, "status.running"), 1);
    json_decref(job);
    json_t *problem = EXPECT(world, 409, "POST /jobs/a/run", NULL); /* overlap: skip */
    struct id in_the_way = id_of(member_text(problem, "run_id"));
    assert_int_equal(id_compare(&in_the_way, &id), 0);
    json_decref(problem);

    assert_true(fake_executor_end(world->executor, &id, 3));
    until_recorded(world, &id);
    run = get_run(world, &id); /* from the history now */
    assert_string_equal(member_text(run, "state"), "failed");
    assert_string_equal(member_text(run, "reason"), "exit_code");
    assert_int_equal(member_number(run, "exit_code"), 3);
    json_decref(run);
    job = EXPECT(world, 200, "GET /jobs/a", NULL);
    assert_string_equal(member_text(job, "status.last.state"), "failed");
    assert_int_equal(member_number(job, "status.running"), 0);
    json_decref(job);
}

static void test_overlap(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /jobs/q", JOB("{\"policy\":\"queue\",\"queue\":1}"));
    EXPECT_STATUS(world, 201, "PUT /jobs/all", JOB("\"allow\""));
    struct id first = start_run(world, "q"), second = start_run(world, "q");
    until_running(world, &first);
    json_t *job = EXPECT(world, 200, "GET /jobs/q", NULL);
    assert_int_equal(member_number(job, "status.running"), 1);
    assert_int_equal(member_number(job, "status.queued"), 1);
    json_decref(job);
    EXPECT_STATUS(world, 409, "POST /jobs/q/run", NULL); /* the queue is full */
    fake_executor_end(world->executor, &first, 0);
    until_running(world, &second);
    for (int i = 0; i < 20; i++)
        start_run(world, "all"); /* often within one millisecond */
    json_t *runs = EXPECT(world, 200, "GET /runs?job=all", NULL);
    assert_int_equal(member_count(runs, "items"), 20);
    json_decref(runs);
}

static void test_paused_jobs_run_by_hand(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB("\"skip\""));
    EXPECT_STATUS(world, 200, "POST /jobs/a/pause", NULL);
    struct id id = start_run(world, "a");
    until_running(world, &id);
}

static void test_kill(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB("\"queue\""));
    struct id running = start_run(world, "a"), queued = start_run(world, "a");
    until_running(world, &running);
    json_t *run = kill_run(world, &queued, 202);
    assert_string_equal(member_text(run, "state"), "skipped");
    assert_string_equal(member_text(run, "reason"), "user");
    json_decref(run);
    json_decref(kill_run(world, &running, 202));
    until_recorded(world, &running);
    run = get_run(world, &running);
    assert_string_equal(member_text(run, "state"), "killed");
    assert_string_equal(member_text(run, "reason"), "user");
    json_decref(run);
    json_t *problem = kill_run(world, &running, 409);
    assert_non_null(strstr(member_text(problem, "detail"), "ended already: killed"));
    json_decref(problem);
}

/* ---- output ---- */

static json_t *get_log(struct world *world, const struct id *id, const char *query)
{
    char text[ID_TEXT + 1], line[128];
    id_format(id, text);
    snprintf(line, sizeof(line), "GET /runs/%s/log%s", text, query);
    return EXPECT(world, 200, line, NULL);
}

static void test_log(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB("\"skip\""));
    struct id id = start_run(world, "a");
    until_running(world, &id);
    json_t *log = get_log(world, &id, "");
    assert_int_equal(member_count(log, "chunks"), 0);
    assert_true(json_is_false(member(log, "complete")));
    json_decref(log);
    fake_executor_print(world->executor, &id, OUTPUT_STDOUT, "h\xC3\xA9llo\n", 7);
    fake_executor_print(world->executor, &id, OUTPUT_STDERR, "\xFF\x00z", 3);
    for (int round = 0; round < 2; round++) { /* live, then recorded */
        log = get_log(world, &id, "");
        assert_int_equal(member_count(log, "chunks"), 2);
        assert_string_equal(member_text(log, "chunks.0.stream"), "stdout");
        assert_string_equal(member_text(log, "chunks.0.text"), "h\xC3\xA9llo\n");
        assert_string_equal(member_text(log, "chunks.1.stream"), "stderr");
        assert_string_equal(member_text(log, "chunks.1.base64"), "/wB6");
        assert_int_equal(member_number(log, "next_offset"), 10);
        assert_int_equal(json_is_true(member(log, "complete")), round == 1);
        json_decref(log);
        log = get_log(world, &id, "?offset=3&limit=2");
        assert_string_equal(member_text(log, "chunks.0.text"), "ll");
        assert_int_equal(member_number(log, "next_offset"), 5);
        assert_true(json_is_false(member(log, "complete")));
        json_decref(log);
        log = get_log(world, &id, "?offset=10");
        assert_int_equal(member_count(log, "chunks"), 0);
        assert_int_equal(member_number(log, "next_offset"), 10);
        assert_int_equal(json_is_true(member(log, "complete")), round == 1);
        json_decref(log);
        if (round == 0) {
            fake_executor_end(world->executor, &id, 0);
            until_recorded(world, &id);
        }
    }
}

/* Of a large output the history has head and tail; offsets count what is missing, too. */
static void test_log_with_a_gap(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /jobs/a",
                  "{\"schedule\":\"@manual\",\"command\":[\"x\"],\"output_limit\":4}");
    struct id id = start_run(world, "a");
    until_running(world, &id);
    fake_executor_print_gap(world->executor, &id, "head", 100, "tail");
    fake_executor_end(world->executor, &id, 0);
    until_recorded(world, &id);
    json_t *log = get_log(world, &id, "");
    assert_string_equal(member_text(log, "chunks.0.text"), "head");
    assert_string_equal(member_text(log, "chunks.1.text"), "tail");
    assert_int_equal(member_number(log, "chunks.1.gap"), 100);
    assert_int_equal(member_number(log, "next_offset"), 108);
    json_decref(log);
    log = get_log(world, &id, "?offset=106");
    assert_string_equal(member_text(log, "chunks.0.text"), "il");
    assert_int_equal(member_number(log, "next_offset"), 108);
    assert_true(json_is_true(member(log, "complete")));
    json_decref(log);
}

/* ---- lists ---- */

static void test_list(void **state)
{
    struct world *world = *state;
    fake_executor_set_instant(world->executor, true);
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB("\"allow\""));
    EXPECT_STATUS(world, 201, "PUT /jobs/b", JOB("\"allow\""));
    for (int i = 0; i < 10; i++) {
        struct id id = start_run(world, i % 2 ? "a" : "b");
        until_recorded(world, &id);
    }
    fake_executor_set_instant(world->executor, false);
    for (int i = 0; i < 5; i++) {
        struct id id = start_run(world, "a");
        until_running(world, &id);
    }
    static const struct {
        int line;
        const char *query;
        size_t count;
    } cases[] = {
        {__LINE__, "", 15},
        {__LINE__, "job=a", 10},
        {__LINE__, "job=none", 0},
        {__LINE__, "state=ok", 10},
        {__LINE__, "state=running", 5},
        {__LINE__, "state=ok,running&job=b", 5},
        {__LINE__, "node=here", 15},
        {__LINE__, "node=there", 0},
        {__LINE__, "q=B", 5},
        {__LINE__, "since=2020-01-01T00:00:00.000Z&until=2999-01-01", 15},
        {__LINE__, "until=2020-01-01T00:00:00Z", 0},
        {__LINE__, "min_duration=1h", 0},
        {__LINE__, "ledger=true", 15},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (int limit = 1; limit <= 16; limit += 5) { /* in pages of 1, 6, 11, 16 */
            char line[512], seen[16][ID_TEXT + 1];
            size_t count = 0;
            snprintf(line, sizeof(line), "GET /runs?limit=%d&%s", limit, cases[i].query);
            for (bool more = true; more;) {
                json_t *page = EXPECT(world, 200, line, NULL);
                for (size_t j = 0; j < member_count(page, "items"); j++) {
                    json_t *run = json_array_get(member(page, "items"), j);
                    assert_true(count < 16);
                    snprintf(seen[count], sizeof(seen[count]), "%s", member_text(run, "run_id"));
                    for (size_t k = 0; k < count; k++)
                        assert_string_not_equal(seen[k], seen[count]);
                    count++;
                }
                more = json_is_string(member(page, "next"));
                snprintf(line, sizeof(line), "GET /runs?limit=%d&%s&cursor=%s", limit,
                         cases[i].query, member_text(page, "next"));
                json_decref(page);
            }
            if (count != cases[i].count)
                fail_msg("line %d: %zu runs in pages of %d", cases[i].line, count, limit);
        }
    }
    json_t *page = EXPECT(world, 200, "GET /runs", NULL); /* open ones first */
    assert_string_equal(member_text(page, "items.4.state"), "running");
    assert_string_equal(member_text(page, "items.5.state"), "ok");
    json_decref(page);
}

/* ---- backfill ---- */

static bool is_idle(void *context)
{
    const struct world *world = context;
    return engine_is_idle(world->engine) && !engine_open_runs(world->engine);
}

static void test_backfill(void **state)
{
    struct world *world = *state;
    fake_executor_set_instant(world->executor, true);
    EXPECT_STATUS(world, 201, "PUT /jobs/day",
                  "{\"schedule\":\"0 0 * * *\",\"timezone\":\"UTC\",\"command\":[\"true\"]}");
    static const char first[] = "{\"from\":\"2026-01-03\",\"to\":\"2026-01-05T00:00:01Z\"%s}";
    static const struct {
        int line;
        const char *rest;
        int64_t ticks, already, added;
        bool more;
    } cases[] = {
        {__LINE__, ",\"dry_run\":true", 3, 0, 0, false},
        {__LINE__, ",\"limit\":2", 2, 0, 2, true},
        {__LINE__, "", 3, 2, 1, false},
        {__LINE__, "", 3, 3, 0, false},
        {__LINE__, ",\"dry_run\":true", 3, 3, 0, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char body[256];
        snprintf(body, sizeof(body), first, cases[i].rest);
        json_t *answer = EXPECT(world, 200, "POST /jobs/day/backfill", body);
        if (member_number(answer, "ticks") != cases[i].ticks ||
            member_number(answer, "already") != cases[i].already ||
            member_number(answer, "added") != cases[i].added ||
            json_is_string(member(answer, "next_from")) != cases[i].more) {
            char *text = json_dumps(answer, 0);
            fail_msg("line %d: %s", cases[i].line, text);
        }
        json_decref(answer);
        world_until(world, is_idle, world);
    }
    assert_int_equal(fake_executor_started(world->executor), 3);
    json_t *runs = EXPECT(world, 200, "GET /runs?job=day&state=ok", NULL);
    assert_int_equal(member_count(runs, "items"), 3);
    assert_string_equal(member_text(runs, "items.0.cause"), "backfill");
    json_decref(runs);
}

/* More than one batch, one after another. */
static void test_long_backfill(void **state)
{
    struct world *world = *state;
    fake_executor_set_instant(world->executor, true);
    EXPECT_STATUS(world, 201, "PUT /jobs/hour",
                  "{\"schedule\":\"0 * * * *\",\"timezone\":\"UTC\",\"command\":[\"true\"]}");
    json_t *answer = EXPECT(world, 200, "POST /jobs/hour/backfill",
                            "{\"from\":\"2026-01-01\",\"to\":\"2026-02-01\"}");
    assert_int_equal(member_number(answer, "added"), 744);
    json_decref(answer);
    world_until(world, is_idle, world);
    assert_int_equal(fake_executor_started(world->executor), 744);
    char before[64] = "3000";
    json_t *runs = EXPECT(world, 200, "GET /runs?job=hour&limit=1000", NULL);
    assert_int_equal(member_count(runs, "items"), 744);
    size_t i;
    json_t *run;
    json_array_foreach (member(runs, "items"), i, run) { /* newest first */
        if (strcmp(member_text(run, "tick"), before) >= 0)
            fail_msg("%s after %s", member_text(run, "tick"), before);
        snprintf(before, sizeof(before), "%s", member_text(run, "tick"));
    }
    json_decref(runs);
    json_t *why = EXPECT(world, 200, "GET /jobs/hour/why", NULL);
    assert_string_equal(member_text(why, "tick"), "2026-01-31T23:00:00.000Z");
    json_decref(why);
}

static void test_backfill_mistakes(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB("\"skip\""));
    static const char *const bodies[] = {
        "{}",
        "{\"from\":\"2026-01-01\"}",
        "{\"from\":1,\"to\":2}",
        "{\"from\":\"2026-01-02\",\"to\":\"2026-01-01\"}",
        "{\"from\":\"2026-01-01\",\"to\":\"2999-01-01\"}",
        "{\"from\":\"2999-01-01\",\"to\":\"2026-01-01\"}",
        "{\"from\":\"2026-01-01\",\"to\":\"2026-01-02\",\"limit\":10001}",
        "{\"from\":\"2026-01-01\",\"to\":\"2026-01-02\",\"dry_run\":1}",
    };
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
        EXPECT_STATUS(world, 422, "POST /jobs/a/backfill", bodies[i]);
}

/* ---- pause, in the ledger ---- */

static void on_second(void *context)
{
    *(bool *)context = true;
}

static bool is_set(void *context)
{
    return *(const bool *)context;
}

/* The claim of the first tick after the pause has put those during it on record. */
static bool has_started(void *context)
{
    const struct world *world = context;
    return fake_executor_started(world->executor) != 0;
}

/* The pages of one row each, of these jobs that are paused. */
static void check_pages(struct world *world, size_t jobs)
{
    char seen[8][128] = {{0}}, path[256] = "GET /runs?ledger=true&limit=1";
    for (size_t i = 0; i < jobs; i++) {
        json_t *page = EXPECT(world, 200, path, NULL);
        assert_int_equal(member_count(page, "items"), 1);
        assert_true(json_is_true(
            json_object_get(json_array_get(json_object_get(page, "items"), 0), "pending")));
        assert_string_equal(member_text(page, "items.0.reason"), "paused");
        snprintf(seen[i], sizeof(seen[i]), "%s", member_text(page, "items.0.job"));
        for (size_t before = 0; before < i; before++)
            assert_string_not_equal(seen[i], seen[before]);
        snprintf(path, sizeof(path), "GET /runs?ledger=true&limit=1&cursor=%s",
                 member_text(page, "next"));
        json_decref(page);
    }
    json_t *page = EXPECT(world, 200, path, NULL);
    assert_int_equal(member_count(page, "items"), 0);
    json_decref(page);
}

/* Ticks in a pause are written within an hour, and shown at once. */
static void test_pending(void **state)
{
    struct world *world = *state;
    struct loop_timer *timer;
    bool passed = false;
    static const char job[] =
        "{\"schedule\":\"* * * * * *\",\"command\":[\"true\"],\"paused\":true}";
    EXPECT_STATUS(world, 201, "PUT /jobs/one", job);
    EXPECT_STATUS(world, 201, "PUT /jobs/two", job);
    EXPECT_STATUS(world, 201, "PUT /jobs/three", job);
    assert_int_equal(loop_timer_new(world->loop, on_second, &passed, &timer), OK);
    loop_timer_set(timer, 1100);
    world_until(world, is_set, &passed);
    loop_timer_free(timer);
    check_pages(world, 3);
    static const struct {
        int line;
        const char *path;
        size_t want;
    } rows[] = {
        {__LINE__, "GET /runs?ledger=true", 3},
        {__LINE__, "GET /runs", 0},
        {__LINE__, "GET /runs?ledger=true&job=two", 1},
        {__LINE__, "GET /runs?ledger=true&job=none", 0},
        {__LINE__, "GET /runs?ledger=true&state=skipped", 3},
        {__LINE__, "GET /runs?ledger=true&state=missed", 0},
        {__LINE__, "GET /runs?ledger=true&q=PAUS", 3},
        {__LINE__, "GET /runs?ledger=true&q=tw", 1},
        {__LINE__, "GET /runs?ledger=true&node=n1", 0},
        {__LINE__, "GET /runs?ledger=true&min_duration=1s", 0},
        {__LINE__, "GET /runs?ledger=true&since=2020-01-01T00:00:00Z", 3},
        {__LINE__, "GET /runs?ledger=true&until=2020-01-01T00:00:00Z", 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        json_t *page = EXPECT(world, 200, rows[i].path, NULL);
        if (member_count(page, "items") != rows[i].want)
            fail_msg("line %d: %s", rows[i].line, rows[i].path);
        json_decref(page);
    }
    json_t *line = EXPECT(world, 200, "GET /timeline?job=two", NULL);
    assert_int_equal(member_count(line, "runs"), 1);
    assert_string_equal(member_text(line, "runs.0.reason"), "paused");
    json_decref(line);
    line = EXPECT(world, 200, "GET /timeline?limit=2", NULL);
    assert_int_equal(member_count(line, "runs"), 2);
    assert_true(json_is_true(json_object_get(line, "more")));
    json_decref(line);
}

static void test_pause_is_in_the_ledger(void **state)
{
    struct world *world = *state;
    struct loop_timer *timer;
    bool passed = false;
    fake_executor_set_instant(world->executor, true);
    EXPECT_STATUS(world, 201, "PUT /jobs/often",
                  "{\"schedule\":\"* * * * * *\",\"command\":[\"true\"],\"paused\":true}");
    assert_int_equal(loop_timer_new(world->loop, on_second, &passed, &timer), OK);
    loop_timer_set(timer, 1100); /* at least one tick falls into the pause */
    world_until(world, is_set, &passed);
    loop_timer_free(timer);
    EXPECT_STATUS(world, 200, "POST /jobs/often/resume", NULL);
    world_until(world, has_started, world);
    EXPECT_STATUS(world, 200, "PUT /jobs/often",
                  "{\"schedule\":\"@manual\",\"command\":[\"true\"]}");
    world_until(world, is_idle, world);
    json_t *page = EXPECT(world, 200, "GET /runs?job=often&ledger=true&state=skipped", NULL);
    assert_int_equal(member_count(page, "items"), 1);
    assert_string_equal(member_text(page, "items.0.reason"), "paused");
    assert_int_equal(strlen(member_text(page, "items.0.entry_id")), ID_TEXT);
    assert_true(member_number(page, "items.0.count") >= 1);
    json_decref(page);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_manual_run),    TEST(test_overlap),
        TEST(test_kill),          TEST(test_paused_jobs_run_by_hand),
        TEST(test_log),           TEST(test_log_with_a_gap),
        TEST(test_list),          TEST(test_backfill),
        TEST(test_long_backfill), TEST(test_backfill_mistakes),
        TEST(test_pending),       TEST(test_pause_is_in_the_ledger),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
