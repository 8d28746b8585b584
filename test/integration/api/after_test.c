/* Jobs that wait for other jobs: what is refused, what is told about them. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define YEARLY             "{\"schedule\":\"0 0 1 1 *\",\"command\":[\"true\"]}"
#define AFTER(after)       "{\"after\":" after ",\"command\":[\"true\"]}"
#define NAMED(name, after) "{\"name\":\"" name "\",\"after\":" after ",\"command\":[\"true\"]}"

/* extract and load by schedules, and report after both. */
static void add_jobs(struct world *world)
{
    EXPECT_STATUS(world, 201, "PUT /jobs/extract", YEARLY);
    EXPECT_STATUS(world, 201, "PUT /jobs/load", YEARLY);
    EXPECT_STATUS(world, 201, "PUT /jobs/report", AFTER("[\"extract\",\"load\"]"));
}

static bool has_error(json_t *body, const char *pointer, const char *words)
{
    return strcmp(member_text(body, "errors.0.pointer"), pointer) == 0 &&
           strstr(member_text(body, "errors.0.message"), words) &&
           strstr(member_text(body, "detail"), words);
}

static void test_what_is_refused(void **state)
{
    struct world *world = *state;
    static const struct {
        int line;
        const char *request, *body, *pointer, *words;
    } cases[] = {
        {__LINE__, "PUT /jobs/a", AFTER("\"extrct\""), "/after",
         "after: there is no job \"extrct\"; did you mean \"extract\"?"},
        {__LINE__, "PUT /jobs/a", AFTER("[\"load\",\"zzzzzz\"]"), "/after/1",
         "after: there is no job \"zzzzzz\""},
        {__LINE__, "PUT /jobs/a", AFTER("[\"load\",{\"job\":\"b\",\"on\":\"always\"}]"),
         "/after/1/job", "after: there is no job \"b\""},
        {__LINE__, "PUT /jobs/a", AFTER("{\"jobs\":[\"load\",\"b\"],\"on\":\"failure\"}"),
         "/after/jobs/1", "after: there is no job \"b\""},
        {__LINE__, "POST /jobs", NAMED("a", "\"b\""), "/after", "there is no job \"b\""},
        {__LINE__, "PUT /jobs/a", AFTER("[\"a\"]"), "/after/0", "can't wait for itself"},
        {__LINE__, "PUT /jobs/extract", AFTER("[\"load\",\"report\"]"), "/after/1",
         "after: a job would wait for itself: extract -> report -> extract"},
        {__LINE__, "PATCH /jobs/extract", "{\"after\":\"report\"}", "/after",
         "after: a job would wait for itself: extract -> report -> extract"},
        {__LINE__, "PUT /jobs/a",
         "{\"after\":\"load\",\"schedule\":\"@daily\",\"command\":[\"true\"]}", "/schedule",
         "has \"after\" too"},
        {__LINE__, "PUT /jobs/a",
         "{\"after\":\"load\",\"timezone\":\"UTC\",\"command\":[\"true\"]}", "/timezone",
         "is for jobs with a schedule"},
        {__LINE__, "PATCH /jobs/report", "{\"deadline\":\"5m\"}", "/deadline",
         "is for jobs with a schedule"},
    };
    add_jobs(world);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct answer answer = ask(world, cases[i].request, cases[i].body);
        if (answer.status != 422 || !has_error(answer.body, cases[i].pointer, cases[i].words))
            fail_msg("line %d: %d %s", cases[i].line, answer.status, answer.text);
        answer_release(&answer);
    }
}

static void test_in_chinese(void **state)
{
    struct world *world = *state;
    add_jobs(world);
    struct answer answer =
        ask_with(world, "PUT /jobs/a", "Accept-Language: zh\r\n", AFTER("[\"lod\"]"));
    assert_int_equal(answer.status, 422);
    assert_string_equal(member_text(answer.body, "detail"), "after：没有任务“lod”；是否指“load”？");
    answer_release(&answer);
}

/* A patch that gives one of the two takes the other away, with all that belongs to it. */
static void test_patches_switch(void **state)
{
    struct world *world = *state;
    add_jobs(world);
    EXPECT_STATUS(world, 201, "PUT /jobs/a",
                  "{\"schedules\":[\"@daily\",\"@hourly\"],\"jitter\":\"5s\",\"deadline\":\"5m\","
                  "\"timeout\":\"5m\",\"command\":[\"true\"]}");
    json_t *job = EXPECT(world, 200, "PATCH /jobs/a", "{\"after\":\"load\"}");
    assert_string_equal(member_text(job, "after.0.job"), "load");
    assert_null(member(job, "after.0.on"));
    assert_null(member(job, "schedules"));
    assert_null(member(job, "timezone"));
    assert_null(member(job, "jitter"));
    assert_string_equal(member_text(job, "timeout"), "5m");
    assert_true(json_is_null(member(job, "status.next_at")));
    json_decref(job);
    job = EXPECT(world, 200, "PATCH /jobs/a", "{\"schedule\":\"@daily\"}");
    assert_null(member(job, "after"));
    assert_string_equal(member_text(job, "timezone"), "Europe/Berlin");
    json_decref(job);
}

static void test_batches_link(void **state)
{
    struct world *world = *state;
    static const struct {
        int line, status;
        const char *body, *pointer, *words;
    } cases[] = {
        {__LINE__, 200, "{\"put\":[" NAMED("c", "\"b\"") "," NAMED("b", "[\"extract\"]") "]}", NULL,
         NULL},
        {__LINE__, 422, "{\"put\":[" NAMED("x", "\"y\"") "," NAMED("y", "[\"z\"]") "]}",
         "/put/1/after/0", "there is no job \"z\""},
        {__LINE__, 422, "{\"put\":[" NAMED("x", "\"y\"") "," NAMED("y", "[\"x\"]") "]}",
         "/put/0/after", "x -> y -> x"},
        {__LINE__, 422, "{\"put\":[" NAMED("x", "\"load\"") "],\"delete\":[\"load\"]}",
         "/put/0/after", "there is no job \"load\""},
        {__LINE__, 422, "{\"put\":[" NAMED("extract", "[\"c\"]") "]}", "/put/0/after/0",
         "extract -> c -> b -> extract"},
        {__LINE__, 200, /* the other way round, all at once */
         "{\"put\":[" NAMED("b", "\"c\"") ",{\"name\":\"c\",\"schedule\":\"@daily\",\"shell\":"
                                          "\"x\"}]}",
         NULL, NULL},
    };
    add_jobs(world);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct answer answer = ask(world, "POST /jobs:batch", cases[i].body);
        if (answer.status != cases[i].status ||
            (cases[i].pointer && !has_error(answer.body, cases[i].pointer, cases[i].words)))
            fail_msg("line %d: %d %s", cases[i].line, answer.status, answer.text);
        answer_release(&answer);
    }
}

static void test_dependencies(void **state)
{
    struct world *world = *state;
    add_jobs(world);
    EXPECT_STATUS(world, 201, "PUT /jobs/alarm", AFTER("{\"job\":\"extract\",\"on\":\"failure\"}"));
    json_t *answer = EXPECT(world, 200, "GET /jobs/report/dependencies", NULL);
    assert_int_equal(member_count(answer, "after"), 2);
    assert_string_equal(member_text(answer, "after.0.job"), "extract");
    assert_string_equal(member_text(answer, "after.0.on"), "success");
    assert_true(json_is_true(member(answer, "after.0.exists")));
    assert_true(json_is_null(member(answer, "after.0.state")));
    assert_true(json_is_false(member(answer, "after.0.met")));
    assert_int_equal(member_count(answer, "before"), 0);
    json_decref(answer);
    answer = EXPECT(world, 200, "GET /jobs/extract/dependencies", NULL);
    assert_int_equal(member_count(answer, "after"), 0);
    assert_int_equal(member_count(answer, "before"), 2);
    assert_string_equal(member_text(answer, "before.0.job"), "alarm");
    assert_string_equal(member_text(answer, "before.0.on"), "failure");
    assert_string_equal(member_text(answer, "before.1.job"), "report");
    json_decref(answer);
    EXPECT_STATUS(world, 404, "GET /jobs/nobody/dependencies", NULL);
}

/* The whole of it from any of its jobs, and no job that has nothing to do with it. */
static void test_graph(void **state)
{
    static const char *const from[] = {"GET /jobs/report/graph", "GET /jobs/alarm/graph",
                                       "GET /jobs/load/graph"};
    struct world *world = *state;
    add_jobs(world);
    EXPECT_STATUS(world, 201, "PUT /jobs/alarm", AFTER("{\"job\":\"extract\",\"on\":\"failure\"}"));
    EXPECT_STATUS(world, 201, "PUT /jobs/aside", YEARLY);
    for (size_t i = 0; i < sizeof(from) / sizeof(from[0]); i++) {
        json_t *answer = EXPECT(world, 200, from[i], NULL);
        assert_int_equal(member_count(answer, "jobs"), 4);
        assert_int_equal(member_count(answer, "edges"), 3);
        assert_true(json_is_false(member(answer, "cut")));
        assert_true(json_is_true(member(answer, "jobs.0.exists")));
        assert_true(json_is_null(member(answer, "jobs.0.state")));
        json_decref(answer);
    }
    json_t *alone = EXPECT(world, 200, "GET /jobs/aside/graph", NULL);
    assert_int_equal(member_count(alone, "jobs"), 1);
    assert_int_equal(member_count(alone, "edges"), 0);
    json_decref(alone);
    EXPECT_STATUS(world, 404, "GET /jobs/nobody/graph", NULL);
}

/* An end in the very millisecond in which a job was made is not one since then. */
static void next_millisecond(void)
{
    for (int64_t now_ms = clock_now().wall.ms; clock_now().wall.ms == now_ms;)
        continue;
}

/* One of two has ended well since the other was made. */
static void test_what_it_waits_for(void **state)
{
    struct world *world = *state;
    fake_executor_set_instant(world->executor, true);
    add_jobs(world);
    json_t *answer = EXPECT(world, 200, "GET /jobs/report/why", NULL);
    assert_string_equal(member_text(answer, "state"), "none");
    assert_string_equal(member_text(answer, "text"),
                        "The jobs that it waits for have not all ended since it was created.");
    assert_string_equal(member_text(answer, "next.state"), "waiting");
    assert_string_equal(member_text(answer, "next.text"), "It waits for the end of extract, load.");
    json_decref(answer);
    next_millisecond();
    EXPECT_STATUS(world, 202, "POST /jobs/extract/run", NULL);
    answer = EXPECT(world, 200, "GET /jobs/report/dependencies", NULL);
    assert_string_equal(member_text(answer, "after.0.state"), "ok");
    assert_true(json_is_true(member(answer, "after.0.met")));
    assert_true(json_is_false(member(answer, "after.1.met")));
    json_decref(answer);
    EXPECT_STATUS(world, 200, "POST /jobs/report/pause", NULL);
    answer = EXPECT(world, 200, "GET /jobs/report/why", NULL);
    assert_string_equal(member_text(answer, "next.text"),
                        "It waits for the end of load. Ended since its last run: extract. "
                        "It will be skipped unless the job is resumed before.");
    json_decref(answer);
}

/* What it waited for may go; what is left says so, and can still be changed. */
static void test_a_missing_job_is_a_problem(void **state)
{
    struct world *world = *state;
    add_jobs(world);
    EXPECT_STATUS(world, 200, "DELETE /jobs/load", NULL);
    json_t *job = EXPECT(world, 200, "GET /jobs/report", NULL);
    assert_string_equal(member_text(job, "status.problem"), "after: there is no job \"load\"");
    json_decref(job);
    json_t *page = EXPECT(world, 200, "GET /jobs?status=broken", NULL);
    assert_int_equal(member_count(page, "items"), 1);
    assert_string_equal(member_text(page, "items.0.name"), "report");
    json_decref(page);
    json_t *answer = EXPECT(world, 200, "GET /jobs/report/why", NULL);
    assert_string_equal(member_text(answer, "next.text"),
                        "It can't run: there is no job load. It waits for the end of extract.");
    json_decref(answer);
    EXPECT_STATUS(world, 200, "PATCH /jobs/report", "{\"notes\":\"x\"}");
    EXPECT_STATUS(world, 422, "PATCH /jobs/report", "{\"after\":[\"load\"]}");
    EXPECT_STATUS(world, 201, "PUT /jobs/load", YEARLY);
    job = EXPECT(world, 200, "GET /jobs/report", NULL);
    assert_true(json_is_null(member(job, "status.problem")));
    json_decref(job);
    EXPECT_STATUS(world, 200, "DELETE /jobs/load", NULL);
    EXPECT_STATUS(world, 200, "DELETE /jobs/extract", NULL);
    answer = EXPECT(world, 200, "GET /jobs/report/why", NULL);
    assert_string_equal(member_text(answer, "next.text"),
                        "It can't run: there is no job extract, load.");
    json_decref(answer);
}

/* All that is about ticks has nothing to say. */
static void test_there_are_no_ticks(void **state)
{
    struct world *world = *state;
    add_jobs(world);
    json_t *answer = EXPECT(world, 200, "GET /jobs/report/next", NULL);
    assert_int_equal(member_count(answer, "fires"), 0);
    json_decref(answer);
    answer = EXPECT(world, 200, "GET /timeline?job=report", NULL);
    json_decref(answer);
    EXPECT_STATUS(world, 409, "POST /jobs/report/skip-next", NULL);
    answer = EXPECT(world, 200, "POST /jobs/report/backfill",
                    "{\"from\":\"2020-01-01\",\"to\":\"2021-02-02\"}");
    json_decref(answer);
    EXPECT_STATUS(world, 202, "POST /jobs/report/run", NULL);
    answer = EXPECT(world, 200, "GET /jobs?q=report&fields=name,after,status&sort=next", NULL);
    assert_string_equal(member_text(answer, "items.0.after.1.job"), "load");
    json_decref(answer);
    EXPECT_STATUS(world, 200, "PUT /jobs/report", AFTER("[\"load\"]"));
    answer = EXPECT(world, 200, "GET /jobs/report/versions/1/diff", NULL);
    assert_string_equal(member_text(answer, "changes.0.pointer"), "/after");
    json_decref(answer);
    answer = EXPECT(world, 200, "POST /jobs/report/rollback", "{\"revision\":1}");
    assert_int_equal(member_count(answer, "after"), 2);
    json_decref(answer);
}

/* All that an end makes due is made at once, which has a limit. */
static void test_there_is_a_limit(void **state)
{
    struct world *world = *state;
    char line[32];
    EXPECT_STATUS(world, 201, "PUT /jobs/extract", YEARLY);
    for (int i = 0; i <= STORE_NEXT_JOBS_MAX; i++) {
        snprintf(line, sizeof(line), "PUT /jobs/after-%d", i);
        EXPECT_STATUS(world, i < STORE_NEXT_JOBS_MAX ? 201 : 422, line, AFTER("\"extract\""));
    }

    /* One that comes back when another has taken its place does not fit either. */
    EXPECT_STATUS(world, 200, "DELETE /jobs/after-0", NULL);
    EXPECT_STATUS(world, 201, line, AFTER("\"extract\""));
    struct answer answer = ask(world, "POST /jobs/after-0/undelete", NULL);
    assert_int_equal(answer.status, 422);
    assert_true(has_error(answer.body, "/after", "too many jobs wait for \"extract\""));
    answer_release(&answer);
    snprintf(line, sizeof(line), "DELETE /jobs/after-%d", STORE_NEXT_JOBS_MAX);
    EXPECT_STATUS(world, 200, line, NULL);
    EXPECT_STATUS(world, 200, "POST /jobs/after-0/undelete", NULL);

    /* What it waits for may be gone. */
    EXPECT_STATUS(world, 200, "DELETE /jobs/after-0", NULL);
    EXPECT_STATUS(world, 200, "DELETE /jobs/extract", NULL);
    EXPECT_STATUS(world, 200, "POST /jobs/after-0/undelete", NULL);
}

/* Who may not see a job can't wait for it, and is not told who else does. */
static void test_namespaces(void **state)
{
    struct world *world = *state;
    static const char team[] = "Host: localhost\r\nAuthorization: Bearer team-editor\r\n";
    EXPECT_STATUS(world, 201, "PUT /jobs/secret", YEARLY);
    EXPECT_STATUS(world, 201, "PUT /jobs/team%2Fa", YEARLY);
    EXPECT_STATUS(world, 201, "PUT /jobs/team%2Fb", AFTER("[\"team/a\",\"secret\"]"));
    EXPECT_STATUS(world, 201, "PUT /jobs/other", AFTER("[\"team/a\"]"));
    struct answer answer = ask_tcp(world, "PUT /jobs/team%2Fc", team, AFTER("[\"secrt\"]"));
    assert_int_equal(answer.status, 422);
    assert_string_equal(member_text(answer.body, "detail"), "after: there is no job \"secrt\"");
    answer_release(&answer);
    answer = ask_tcp(world, "PUT /jobs/team%2Fc", team, AFTER("[\"secret\"]"));
    assert_int_equal(answer.status, 422);
    answer_release(&answer);
    answer = ask_tcp(world, "GET /jobs/team%2Fa/dependencies", team, NULL);
    assert_int_equal(member_count(answer.body, "before"), 1);
    assert_string_equal(member_text(answer.body, "before.0.job"), "team/b");
    answer_release(&answer);
    answer = ask_tcp(world, "GET /jobs/team%2Fb/dependencies", team, NULL);
    assert_true(json_is_false(member(answer.body, "after.1.exists")));
    answer_release(&answer);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_what_is_refused),    TEST(test_in_chinese),
        TEST(test_patches_switch),     TEST(test_batches_link),
        TEST(test_dependencies),       TEST(test_graph),
        TEST(test_what_it_waits_for),  TEST(test_a_missing_job_is_a_problem),
        TEST(test_there_are_no_ticks), TEST(test_there_is_a_limit),
        TEST(test_namespaces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
