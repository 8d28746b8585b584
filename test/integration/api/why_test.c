/* Why did it (not) run: every kind of answer. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "definition/job_codec.h"

#define DAY_MS INT64_C(86400000)

/* The same for the whole test, also at midnight. */
static int64_t today_ms(void)
{
    static int64_t ms;
    if (!ms)
        ms = clock_now().wall.ms / DAY_MS * DAY_MS;
    return ms;
}

static void print_time(int64_t ms, char text[32])
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm tm;
    size_t length = strftime(text, 32, "%Y-%m-%dT%H:%M:%S", gmtime_r(&seconds, &tm));
    snprintf(text + length, 32 - length, ".%03dZ", (int)(ms % 1000));
}

/* ---- a job with a past ---- */

static void put_done(struct store_request *request, enum status st)
{
    assert_int_equal(st, OK);
    *(bool *)request->context = true;
}

static bool is_set(void *context)
{
    return *(const bool *)context;
}

/* Daily at midnight, made ten days ago, and looked after until yesterday's midnight or today's. */
static struct id add_old_job(struct world *world, const char *name, bool until_today,
                             void (*change)(struct job *job))
{
    struct job *job = NULL;
    struct job_error error;
    json_t *value = json_pack("{s:s, s:s, s:s, s:[s]}", "name", name, "schedule", "0 0 * * *",
                              "timezone", "UTC", "command", "true");
    assert_int_equal(job_decode_json(value, false, "UTC", world->zones, &job, &error), OK);
    json_decref(value);
    memset(job->uid.bytes, name[0], sizeof(job->uid.bytes));
    job->created_ms = today_ms() - 10 * DAY_MS + 1;
    if (change)
        change(job);
    char *json = job_encode_text(job);
    bool done = false;
    struct store_put_job put = {.uid = job->uid,
                                .name = name,
                                .json = json,
                                .paused = job->paused,
                                .cursor_ms = today_ms() - (until_today ? 0 : DAY_MS)};
    struct store_request request = {
        .op = STORE_PUT_JOB, .count = 1, .items.puts = &put, .done = put_done, .context = &done};
    store_submit(world->store, &request);
    world_until(world, is_set, &done);
    assert_int_equal(put.result, PUT_OK);
    struct id uid = job->uid;
    free(json);
    job_free(job);
    return uid;
}

static void pause_long_ago(struct job *job)
{
    job->paused = true;
    job->paused_ms = job->created_ms + 1;
}

static void skip_two_days(struct job *job)
{
    job->skip_until_ms = today_ms() + 2 * DAY_MS;
}

static void append_done(struct history_append *append, enum status st)
{
    assert_int_equal(st, OK);
    *(bool *)append->context = true;
}

static void record(struct world *world, const struct run *run, const struct ledger_entry *entry)
{
    bool done = false;
    struct history_record item = {.run = run, .entry = entry};
    struct history_append append = {
        .records = &item, .count = 1, .done = append_done, .context = &done};
    history_append(world->history, &append);
    world_until(world, is_set, &done);
}

static struct id new_id(uint8_t number)
{
    uint8_t random[10] = {number};
    return id_make((struct wall_ms){today_ms()}, random);
}

/* Two days ago it failed; six to four days ago it was missed; three days ago skipped. */
static void record_past(struct world *world, const struct id *uid, const char *name)
{
    struct run run = {.id = new_id(1),
                      .job_uid = *uid,
                      .tick_ms = today_ms() - 2 * DAY_MS,
                      .attempt = 1,
                      .state = RUN_FAILED,
                      .reason = REASON_EXIT_CODE,
                      .exit_code = 9,
                      .started_ms = today_ms() - 2 * DAY_MS + 5,
                      .finished_ms = today_ms() - 2 * DAY_MS + 65005};
    snprintf(run.job_name, sizeof(run.job_name), "%s", name);
    record(world, &run, NULL);
    struct ledger_entry missed = {.id = new_id(2),
                                  .job_uid = *uid,
                                  .from_ms = today_ms() - 6 * DAY_MS,
                                  .to_ms = today_ms() - 4 * DAY_MS,
                                  .count = 3,
                                  .state = RUN_MISSED,
                                  .reason = REASON_TOO_OLD};
    record(world, NULL, &missed);
    struct ledger_entry skipped = {.id = new_id(3),
                                   .job_uid = *uid,
                                   .from_ms = today_ms() - 3 * DAY_MS,
                                   .to_ms = today_ms() - 3 * DAY_MS,
                                   .count = 1,
                                   .state = RUN_SKIPPED,
                                   .reason = REASON_OVERLAP};
    record(world, NULL, &skipped);
}

/* ---- the answers ---- */

static json_t *ask_why(struct world *world, const char *job, int64_t tick_ms)
{
    char time[32], line[128];
    print_time(tick_ms, time);
    snprintf(line, sizeof(line), "GET /jobs/%s/why?tick=%s", job, time);
    return EXPECT(world, 200, line, NULL);
}

static void test_every_answer(void **state)
{
    struct world *world = *state;
    struct id uid = add_old_job(world, "old", true, NULL);
    record_past(world, &uid, "old");
    add_old_job(world, "paused", false, pause_long_ago);
    add_old_job(world, "skipping", true, skip_two_days);
    static const struct {
        int line;
        const char *job;
        int64_t day, plus_s;
        const char *state, *reason, *words;
        bool has_run, has_entry;
    } cases[] = {
        {__LINE__, "old", -2, 0, "failed", "exit_code", "after 1m 5s: exit code 9.", true, false},
        {__LINE__, "old", -3, 0, "skipped", "overlap", "It was skipped: the previous run", false,
         true},
        {__LINE__, "old", -5, 0, "missed", "too_old", "So were all 3 ticks", false, true},
        {__LINE__, "old", -6, 0, "missed", "too_old", "It was missed", false, true},
        {__LINE__, "old", -5, 1, "not_a_tick", "", "not due at this time. The tick before", false,
         false},
        {__LINE__, "old", 2, 0, "upcoming", "", "It is due in ", false, false},
        {__LINE__, "old", -11, 0, "before_creation", "", "was created later", false, false},
        {__LINE__, "old", -1, 0, "unknown", "", "Nothing is on record", false, false},
        {__LINE__, "paused", 2, 0, "upcoming", "paused", "unless the job is resumed", false, false},
        {__LINE__, "skipping", 2, 0, "upcoming", "skip_next", "as a person asked", false, false},
        {__LINE__, "skipping", 3, 0, "upcoming", "", "It is due in ", false, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t tick_ms = today_ms() + cases[i].day * DAY_MS + cases[i].plus_s * 1000;
        json_t *why = ask_why(world, cases[i].job, tick_ms);
        const char *reason = json_string_value(member(why, "reason"));
        if (strcmp(member_text(why, "state"), cases[i].state) != 0 ||
            strcmp(reason ? reason : "", cases[i].reason) != 0 ||
            !strstr(member_text(why, "text"), cases[i].words) ||
            json_is_object(member(why, "run")) != cases[i].has_run ||
            json_is_object(member(why, "entry")) != cases[i].has_entry) {
            char *text = json_dumps(why, 0);
            fail_msg("line %d: %s", cases[i].line, text);
        }
        json_decref(why);
    }
    EXPECT_STATUS(world, 422, "GET /jobs/old/why?tick=noon", NULL);
}

/* A span like 2h is hardly ever a whole second: the tick of that very second is the one before. */
static void test_part_of_a_second(void **state)
{
    struct world *world = *state;
    char tick[32], words[64];
    add_old_job(world, "old", true, NULL);
    print_time(today_ms() - 5 * DAY_MS, tick);
    snprintf(words, sizeof(words), "The tick before is at %s", tick);
    json_t *why = ask_why(world, "old", today_ms() - 5 * DAY_MS + 300);
    if (!strstr(member_text(why, "text"), words))
        fail_msg("%s", member_text(why, "text"));
    json_decref(why);
}

/* The same by Accept-Language, whole sentences. */
static void test_in_chinese(void **state)
{
    struct world *world = *state;
    struct id uid = add_old_job(world, "old", true, NULL);
    record_past(world, &uid, "old");
    static const struct {
        int line;
        int day;
        const char *words;
    } cases[] = {
        {__LINE__, -2, "启动，失败，历时 1 分 5 秒：退出码 9。"},
        {__LINE__, -3, "已跳过：上一次运行尚未结束（overlap: skip）。"},
        {__LINE__, -5, "的时间窗口。共 3 次触发均是如此，从 "},
        {__LINE__, 2, "后运行。"},
        {__LINE__, -11, "任务在此之后才创建，创建于 "},
        {__LINE__, -1, "没有记录。"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char time[32], line[128];
        print_time(today_ms() + cases[i].day * DAY_MS, time);
        snprintf(line, sizeof(line), "GET /jobs/old/why?tick=%s", time);
        struct answer answer = ask_with(world, line, "Accept-Language: zh-CN\r\n", NULL);
        const char *text = member_text(answer.body, "text");
        if (answer.status != 200 || !strstr(text, cases[i].words) || strstr(text, "It "))
            fail_msg("line %d: %s", cases[i].line, answer.text);
        answer_release(&answer);
    }
}

static bool is_running(void *context)
{
    struct world *world = context;
    json_t *page = EXPECT(world, 200, "GET /runs?state=running", NULL);
    bool running = member_count(page, "items") > 0;
    json_decref(page);
    return running;
}

/* Whether a run that died with its node had started, only the node would know. */
static void test_lost(void **state)
{
    struct world *world = *state;
    struct id uid = add_old_job(world, "old", true, NULL);
    struct run run = {.id = new_id(1),
                      .job_uid = uid,
                      .tick_ms = today_ms(),
                      .attempt = 1,
                      .state = RUN_LOST,
                      .reason = REASON_NODE_DIED,
                      .finished_ms = today_ms() + 7000};
    snprintf(run.job_name, sizeof(run.job_name), "old");
    record(world, &run, NULL);
    json_t *why = EXPECT(world, 200, "GET /jobs/old/why", NULL);
    assert_string_equal(member_text(why, "text"), "It was lost: the node died during the run.");
    json_decref(why);
}

static void test_without_a_tick(void **state)
{
    struct world *world = *state;
    struct id uid = add_old_job(world, "old", true, NULL);
    struct run run = {.id = new_id(1),
                      .job_uid = uid,
                      .tick_ms = today_ms(),
                      .attempt = 1,
                      .state = RUN_OK,
                      .started_ms = today_ms(),
                      .finished_ms = today_ms() + 250};
    snprintf(run.job_name, sizeof(run.job_name), "old");
    record(world, &run, NULL);
    json_t *why = EXPECT(world, 200, "GET /jobs/old/why", NULL);
    assert_string_equal(member_text(why, "state"), "ok");
    assert_non_null(strstr(member_text(why, "text"), "ended well after 250 ms."));
    assert_string_equal(member_text(why, "next.state"), "upcoming");
    json_decref(why);

    EXPECT_STATUS(world, 201, "PUT /jobs/manual",
                  "{\"schedule\":\"@manual\",\"command\":[\"true\"]}");
    why = EXPECT(world, 200, "GET /jobs/manual/why", NULL);
    assert_string_equal(member_text(why, "state"), "none");
    assert_true(json_is_null(member(why, "tick")));
    assert_true(json_is_null(member(why, "next")));
    json_decref(why);
    EXPECT_STATUS(world, 202, "POST /jobs/manual/run", NULL);
    world_until(world, is_running, world);
    why = EXPECT(world, 200, "GET /jobs/manual/why", NULL);
    assert_string_equal(member_text(why, "state"), "running");
    assert_true(json_is_string(member(why, "tick")));
    assert_non_null(strstr(member_text(why, "text"), "running on here for"));
    json_decref(why);
}

static void two_days_after(struct job *job)
{
    free(job->schedules[0]);
    job->schedules[0] = strdup("@after 2d");
    assert_non_null(job->schedules[0]);
}

/* The delay counts from the last end, or from when it was made, whenever somebody asks. */
static void test_fixed_delay(void **state)
{
    struct world *world = *state;
    char tick[32], until[32], line[128];
    add_old_job(world, "old", true, two_days_after);
    json_t *why = EXPECT(world, 200, "GET /jobs/old/why", NULL);
    print_time(today_ms() + 2 * DAY_MS, tick);
    assert_string_equal(member_text(why, "next.tick"), tick);
    json_decref(why);
    print_time(today_ms() + 5 * DAY_MS, until);
    snprintf(line, sizeof(line), "GET /timeline?job=old&to=%s", until);
    json_t *timeline = EXPECT(world, 200, line, NULL);
    assert_string_equal(member_text(timeline, "ticks.0.at"), tick);
    json_decref(timeline);
    json_t *skipped = EXPECT(world, 200, "POST /jobs/old/skip-next", NULL);
    assert_string_equal(member_text(skipped, "skipped.0"), tick);
    json_decref(skipped);
    EXPECT_STATUS(world, 201, "PUT /jobs/new",
                  "{\"schedule\":\"@after 1d\",\"command\":[\"true\"]}");
    json_t *job = EXPECT(world, 200, "GET /jobs/new", NULL);
    json_t *next = EXPECT(world, 200, "GET /jobs/new/next", NULL);
    assert_string_equal(member_text(next, "fires.0.at"), member_text(job, "status.next_at"));
    json_decref(next);
    json_decref(job);
    EXPECT_STATUS(world, 202, "POST /jobs/new/run", NULL); /* whose end is not known yet */
    world_until(world, is_running, world);
    next = EXPECT(world, 200, "GET /jobs/new/next", NULL);
    assert_int_equal(member_count(next, "fires"), 0);
    json_decref(next);
}

static void test_draining(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 200, "POST /agent/drain", NULL);
    add_old_job(world, "old", false, NULL);
    json_t *why = ask_why(world, "old", today_ms());
    assert_string_equal(member_text(why, "state"), "waiting");
    assert_non_null(strstr(member_text(why, "text"), "draining"));
    json_decref(why);
    why = ask_why(world, "old", today_ms() + 2 * DAY_MS);
    assert_non_null(strstr(member_text(why, "text"), "draining"));
    json_decref(why);
    add_old_job(world, "paused", false, pause_long_ago); /* its ticks are not on record yet */
    why = ask_why(world, "paused", today_ms());
    assert_string_equal(member_text(why, "state"), "skipped");
    assert_string_equal(member_text(why, "reason"), "paused");
    json_decref(why);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_every_answer), TEST(test_part_of_a_second), TEST(test_in_chinese),
        TEST(test_lost),         TEST(test_without_a_tick),   TEST(test_draining),
        TEST(test_fixed_delay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
