/* The APIs of other programs: what their clients send is carried over or refused by name, and what
 * they get has the shape that they know. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facade/facade_dkron_job.h"

#define DKRON                                                                                      \
    "{\"name\":\"backup\",\"displayname\":\"The backup\",\"schedule\":\"0 30 2 * * *\","           \
    "\"timezone\":\"Europe/Berlin\",\"owner\":\"Ops\",\"owner_email\":\"ops@example.org\","        \
    "\"disabled\":false,\"tags\":{\"zone\":\"eu:1\"},\"metadata\":{\"team\":\"db\"},"              \
    "\"retries\":0,\"parent_job\":\"\",\"processors\":{},\"dependent_jobs\":null,"                 \
    "\"concurrency\":\"forbid\",\"executor\":\"shell\",\"executor_config\":{"                      \
    "\"command\":\"tar cf 'a b.tar' /srv\",\"cwd\":\"/srv\",\"env\":\"A=b,C=d\","                  \
    "\"timeout\":\"30s\"}}"

static void check_text(json_t *value, const char *path, const char *want)
{
    const char *text = member_text(value, path);
    if (!text || strcmp(text, want) != 0)
        fail_msg("%s: %s, not %s", path, text ? text : "nothing", want);
}

/* ---- dkron ---- */

static void test_dkron_job(void **state)
{
    struct world *world = *state;
    json_t *made = EXPECT(world, 201, "POST //v1/jobs", DKRON);
    check_text(made, "schedule", "0 30 2 * * *");
    check_text(made, "owner", "Ops");
    check_text(made, "owner_email", "ops@example.org");
    check_text(made, "tags.zone", "eu:1");
    check_text(made, "metadata.team", "db");
    check_text(made, "concurrency", "forbid");
    check_text(made, "executor_config.command", "tar cf 'a b.tar' /srv");
    check_text(made, "executor_config.shell", "false");
    check_text(made, "executor_config.env", "A=b,C=d");
    check_text(made, "status", "");
    json_decref(made);

    json_t *native = EXPECT(world, 200, "GET /jobs/backup", NULL);
    check_text(native, "command.2", "a b.tar");
    check_text(native, "owner", "Ops <ops@example.org>");
    check_text(native, "notes", "The backup");
    check_text(native, "where", "zone=eu");
    check_text(native, "env.C", "d");
    assert_null(member(native, "overlap")); /* skip, the default */
    json_decref(native);

    /* What a client reads, it can send back. */
    struct answer read = ask(world, "GET //v1/jobs/backup", NULL);
    EXPECT_STATUS(world, 201, "POST //v1/jobs", read.text);
    answer_release(&read);
    json_t *same = EXPECT(world, 200, "GET /jobs/backup", NULL);
    assert_int_equal(member_number(same, "revision"), 1);
    json_decref(same);
}

static void test_dkron_parents(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "POST //v1/jobs", DKRON);
    json_t *made = EXPECT(world, 201, "POST //v1/jobs",
                          "{\"name\":\"check\",\"schedule\":\"\",\"parent_job\":\"backup\","
                          "\"executor\":\"shell\",\"executor_config\":{\"command\":\"true\"}}");
    check_text(made, "parent_job", "backup");
    check_text(made, "schedule", "");
    json_decref(made);
    json_t *native = EXPECT(world, 200, "GET /jobs/check", NULL);
    check_text(native, "after.0.job", "backup");
    json_decref(native);
    struct answer read = ask(world, "GET //v1/jobs/check", NULL);
    EXPECT_STATUS(world, 201, "POST //v1/jobs", read.text);
    answer_release(&read);
}

static void test_dkron_retries(void **state)
{
    struct world *world = *state;
    json_t *made = EXPECT(world, 201, "POST //v1/jobs",
                          "{\"name\":\"flaky\",\"schedule\":\"@manually\",\"retries\":3,"
                          "\"executor\":\"shell\",\"executor_config\":{\"command\":\"false\"}}");
    assert_int_equal(member_number(made, "retries"), 3);
    json_decref(made);
    json_t *native = EXPECT(world, 200, "GET /jobs/flaky", NULL);
    assert_int_equal(member_number(native, "retries.count"), 3);
    check_text(native, "retries.wait", "0s");
    json_decref(native);
    struct answer read = ask(world, "GET //v1/jobs/flaky", NULL);
    made = EXPECT(world, 201, "POST //v1/jobs", read.text);
    assert_int_equal(member_number(made, "retries"), 3);
    json_decref(made);
    answer_release(&read);
}

static void test_dkron_refusals(void **state)
{
    static const struct {
        int line;
        const char *body, *pointer;
    } cases[] = {
        {__LINE__, "\"retries\":-1", "/retries"},
        {__LINE__, "\"retries\":101", "/retries/count"},
        {__LINE__, "\"retries\":\"2\"", "/retries"},
        {__LINE__, "\"parent_job\":\"nobody\"", "/after/0"},
        {__LINE__, "\"parent_job\":7", "/parent_job"},
        {__LINE__, "\"processors\":{\"files\":{}}", "/processors"},
        {__LINE__, "\"ephemeral\":true", "/ephemeral"},
        {__LINE__, "\"tags\":{\"zone\":\"eu:0\"}", "/tags/zone"},
        {__LINE__, "\"tags\":{\"zone\":\"eu:x\"}", "/tags/zone"},
        {__LINE__, "\"tags\":{\"zone\":\"eu:257\"}", "/tags/zone"},
        {__LINE__, "\"tags\":{\"zone\":7}", "/tags/zone"},
        {__LINE__, "\"concurrency\":\"maybe\"", "/concurrency"},
        {__LINE__, "\"disabled\":\"no\"", "/disabled"},
        {__LINE__, "\"shedule\":\"@hourly\"", "/shedule"},
        {__LINE__, "\"executor\":\"kafka\"", "/executor"},
        {__LINE__, "\"schedule\":\"61 * * * * *\"", "/schedule"},
        {__LINE__, "\"executor_config\":{\"command\":\"echo 'a\"}", "/executor_config/command"},
        {__LINE__, "\"executor_config\":{\"command\":\"a\",\"project\":\"b\"}",
         "/executor_config/project"},
        {__LINE__, "\"executor_config\":{\"command\":\"a\",\"env\":\"b\"}", "/executor_config/env"},
    };
    struct world *world = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char body[400];
        const char *name = cases[i].pointer + 1;
        bool says_executor = strncmp(name, "executor", 8) == 0 && name[8] != '_';
        snprintf(body, sizeof(body), "{\"name\":\"a\",%s%s%s%s}",
                 strcmp(name, "schedule") == 0 ? "" : "\"schedule\":\"@every 10s\",",
                 says_executor ? "" : "\"executor\":\"shell\",",
                 strstr(cases[i].body, "command") ? "" : "\"executor_config\":{\"command\":\"a\"},",
                 cases[i].body);
        struct answer answer = ask(world, "POST //v1/jobs", body);
        const char *pointer = member_text(answer.body, "errors.0.pointer");
        if (answer.status != 422 || !pointer || strcmp(pointer, cases[i].pointer) != 0)
            fail_msg("line %d: %d %s", cases[i].line, answer.status, answer.text);
        answer_release(&answer);
    }
    EXPECT_STATUS(world, 422, "POST //v1/jobs", "{\"name\":\"a\",\"schedule\":\"@hourly\"}");
    EXPECT_STATUS(world, 422, "POST //v1/jobs", "[]");
    EXPECT_STATUS(world, 404, "GET //v1/jobs/a", NULL);
}

/* The number of nodes in a tag is peal's `spread`, and is shown again as it came. */
static void test_dkron_tags(void **state)
{
    static const struct {
        int line;
        const char *tags, *where, *spread, *shown; /* shown: the first tag */
    } cases[] = {
        {__LINE__, "{\"zone\":\"eu:1\"}", "zone=eu", NULL, "eu:1"},
        {__LINE__, "{\"zone\":\"eu:3\"}", "zone=eu", "\"3\"", "eu:3"},
        {__LINE__, "{\"zone\":\"eu\"}", "zone=eu", "\"all\"", "eu"},
        {__LINE__, "{\"zone\":\"eu:5\",\"disk\":\"ssd:2\"}", "zone=eu,disk=ssd", "\"2\"", "eu:2"},
        {__LINE__, "{\"zone\":\"eu\",\"disk\":\"ssd:1\"}", "zone=eu,disk=ssd", NULL, "eu:1"},
    };
    struct world *world = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char body[300];
        snprintf(body, sizeof(body),
                 "{\"name\":\"a\",\"schedule\":\"@every 10s\",\"executor\":\"shell\","
                 "\"executor_config\":{\"command\":\"a\"},\"tags\":%s}",
                 cases[i].tags);
        json_t *shown = EXPECT(world, 201, "POST //v1/jobs", body);
        json_t *native = EXPECT(world, 200, "GET /jobs/a", NULL);
        char *spread = json_dumps(member(native, "spread"), JSON_ENCODE_ANY);
        check_text(shown, "tags.zone", cases[i].shown);
        check_text(native, "where", cases[i].where);
        if (!spread != !cases[i].spread || (spread && strcmp(spread, cases[i].spread) != 0))
            fail_msg("line %d: %s", cases[i].line, spread ? spread : "one");
        free(spread);
        json_decref(native);
        json_decref(shown);
    }
}

static void dkron_calls_become_calls(void **state)
{
    static const struct {
        int line;
        const char *config, *field; /* NULL: it is taken */
    } cases[] = {
        {__LINE__, "\"url\":\"https://h/\"", NULL},
        {__LINE__, "\"method\":\"GET\"", ""},
        {__LINE__, "\"url\":\"https://h/\",\"headers\":\"Accept: a\"", "headers"},
        {__LINE__, "\"url\":\"https://h/\",\"expectBody\":\"a.*b\"", "expectBody"},
        {__LINE__, "\"url\":\"https://h/\",\"tlsNoVerifyPeer\":\"true\"", "tlsNoVerifyPeer"},
        {__LINE__, "\"url\":\"https://h/\",\"tlsNoVerifyPeer\":\"false\"", NULL},
        {__LINE__, "\"url\":\"https://h/\",\"proxy\":\"x\"", "proxy"},
    };
    struct world *world = *state;
    json_t *made = EXPECT(
        world, 201, "POST //v1/jobs",
        "{\"name\":\"call\",\"schedule\":\"@hourly\",\"executor\":\"http\",\"executor_config\":{"
        "\"url\":\"https://h/${x}\",\"method\":\"PUT\",\"body\":\"b\",\"timeout\":\"5\","
        "\"headers\":\"[\\\"Accept: text/plain\\\"]\",\"expectCode\":\"200, 206\","
        "\"expectBody\":\"fine\",\"tlsRootCAsFile\":\"/ca\",\"debug\":\"true\"}}");
    check_text(made, "executor", "http");
    check_text(made, "executor_config.expectCode", "200, 206");
    check_text(made, "executor_config.headers", "[\"Accept: text/plain\"]");
    json_decref(made);
    json_t *native = EXPECT(world, 200, "GET /jobs/call", NULL);
    check_text(native, "http.url", "https://h/$${x}");
    check_text(native, "http.method", "PUT");
    check_text(native, "http.body", "b");
    check_text(native, "http.headers.Accept", "text/plain");
    check_text(native, "http.status.1", "206");
    check_text(native, "http.match", "fine");
    check_text(native, "http.ca", "/ca");
    check_text(native, "timeout", "5s");
    json_decref(native);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char body[400], pointer[80];
        snprintf(body, sizeof(body),
                 "{\"name\":\"call\",\"schedule\":\"@hourly\",\"executor\":\"http\","
                 "\"executor_config\":{%s}}",
                 cases[i].config);
        snprintf(pointer, sizeof(pointer), "/executor_config/%s", cases[i].field);
        struct answer answer = ask(world, "POST //v1/jobs", body);
        const char *said = member_text(answer.body, "errors.0.pointer");
        bool is_good = answer.status < 300;
        if (is_good != !cases[i].field ||
            (cases[i].field && *cases[i].field && (!said || strcmp(said, pointer) != 0)))
            fail_msg("line %d: %d %s", cases[i].line, answer.status, answer.text);
        answer_release(&answer);
    }
    EXPECT_STATUS(world, 200, "DELETE //v1/jobs/call", NULL);
}

static bool is_ended(void *context)
{
    struct world *world = context;
    json_t *runs = EXPECT(world, 200, "GET /runs?state=ok", NULL);
    bool ended = member_count(runs, "items") > 0;
    json_decref(runs);
    return ended;
}

static void test_dkron_life(void **state)
{
    struct world *world = *state;
    fake_executor_set_instant(world->executor, true);
    EXPECT_STATUS(world, 201, "POST //v1/jobs",
                  "{\"name\":\"a\",\"schedule\":\"@manually\",\"executor\":\"shell\","
                  "\"executor_config\":{\"command\":\"echo $A\",\"shell\":\"true\"}}");
    json_t *job = EXPECT(world, 202, "POST //v1/jobs/a", NULL);
    check_text(job, "name", "a");
    check_text(job, "schedule", "@manually");
    check_text(job, "executor_config.shell", "true");
    json_decref(job);
    world_until(world, is_ended, world);
    json_t *executions = EXPECT(world, 200, "GET //v1/jobs/a/executions", NULL);
    assert_int_equal(json_array_size(executions), 1);
    check_text(executions, "0.job_name", "a");
    assert_true(json_is_true(member(executions, "0.success")));
    json_decref(executions);
    job = EXPECT(world, 200, "POST //v1/jobs/a/toggle", NULL);
    assert_true(json_is_true(member(job, "disabled")));
    json_decref(job);
    job = EXPECT(world, 200, "POST //v1/jobs/a/toggle", NULL);
    assert_true(json_is_false(member(job, "disabled")));
    check_text(job, "status", "success");
    json_decref(job);
    EXPECT_STATUS(world, 202, "POST //v1/jobs/a/run", NULL);
    EXPECT_STATUS(world, 200, "DELETE //v1/jobs/a", NULL);
    EXPECT_STATUS(world, 404, "POST //v1/jobs/a/toggle", NULL);
    EXPECT_STATUS(world, 404, "GET //v1/jobs/a/executions", NULL);
}

static void test_dkron_list(void **state)
{
    struct world *world = *state;
    for (int i = 0; i < 7; i++) {
        char line[64];
        snprintf(line, sizeof(line), "PUT /jobs/job-%d", i);
        EXPECT_STATUS(world, 201, line, "{\"schedule\":\"@hourly\",\"command\":[\"true\"]}");
    }
    struct answer part = ask(world, "GET //v1/jobs?_start=2&_end=4", NULL);
    char *total = answer_header(&part, "X-Total-Count");
    assert_string_equal(total, "7");
    assert_int_equal(json_array_size(part.body), 2);
    check_text(part.body, "0.name", "job-2");
    free(total);
    answer_release(&part);
    json_t *all = EXPECT(world, 200, "GET //v1/jobs", NULL);
    assert_int_equal(json_array_size(all), 7);
    json_decref(all);
    all = EXPECT(world, 200, "GET //v1/jobs?q=job-5", NULL);
    assert_int_equal(json_array_size(all), 1);
    json_decref(all);
    EXPECT_STATUS(world, 422, "GET //v1/jobs?_sort=name", NULL);
}

static void test_dkron_cluster(void **state)
{
    struct world *world = *state;
    json_t *members = EXPECT(world, 200, "GET //v1/members", NULL);
    check_text(members, "0.Name", "here");
    assert_int_equal(member_number(members, "0.Status"), 1);
    json_decref(members);
    json_t *status = EXPECT(world, 200, "GET //v1/", NULL);
    check_text(status, "agent.name", "here");
    json_decref(status);
    json_t *busy = EXPECT(world, 200, "GET //v1/busy", NULL);
    assert_int_equal(json_array_size(busy), 0);
    json_decref(busy);
}

static void test_commands(void **state)
{
    static const struct {
        int line;
        const char *text, *words; /* joined again; NULL: it is wrong */
    } cases[] = {
        {__LINE__, "a b  c", "a b c"},
        {__LINE__, "  a ", "a"},
        {__LINE__, "'a b' c", "'a b' c"},
        {__LINE__, "a\\ b", "'a b'"},
        {__LINE__, "\"it's\"", "'it'\\''s'"},
        {__LINE__, "a '' b", "a '' b"},
        {__LINE__, "\"a\\\"b\"", "'a\"b'"},
        {__LINE__, "'a", NULL},
        {__LINE__, "a \"b", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct strbuf out;
        json_t *words = command_split(cases[i].text);
        strbuf_init(&out);
        command_join(words, &out);
        if (!words != !cases[i].words || (words && strcmp(out.text, cases[i].words) != 0))
            fail_msg("line %d: %s", cases[i].line, out.text);
        strbuf_release(&out);
        json_decref(words);
    }
}

/* ---- the tutorial ---- */

/* Its answer, which must be a success; the caller's. */
static json_t *succeed(struct world *world, const char *line, const char *body)
{
    json_t *answer = EXPECT(world, 200, line, body);
    if (member_number(answer, "errno") != 0 || !member(answer, "data"))
        fail_msg("%s: %s", line, member_text(answer, "msg"));
    check_text(answer, "msg", "success");
    return answer;
}

static void fails(struct world *world, const char *line, const char *body)
{
    json_t *answer = EXPECT(world, 200, line, body);
    assert_int_equal(member_number(answer, "errno"), -1);
    assert_true(json_is_null(member(answer, "data")));
    assert_true(strlen(member_text(answer, "msg")) > 0);
    json_decref(answer);
}

static void test_tutorial_jobs(void **state)
{
    struct world *world = *state;
    json_t *answer = succeed(world, "POST //job/save",
                             "job=%7B%22name%22%3A%22a%22%2C%22command%22%3A%22echo+hello%22%2C"
                             "%22cronExpr%22%3A%22*%2F5+*+*+*+*+*+*%22%7D");
    assert_true(json_is_null(member(answer, "data")));
    json_decref(answer);
    answer = succeed(world, "POST //job/save",
                     "job={\"name\":\"a\",\"command\":\"ls\",\"cronExpr\":\"1 2 3 4 5 2099\"}");
    check_text(answer, "data.command", "echo hello"); /* as it was */
    check_text(answer, "data.cronExpr", "*/5 * * * * * *");
    json_decref(answer);
    json_t *native = EXPECT(world, 200, "GET /jobs/a", NULL);
    check_text(native, "schedule", "0 1 2 3 4 5 2099");
    check_text(native, "shell", "ls");
    json_decref(native);
    answer = succeed(world, "GET //job/list", NULL);
    assert_int_equal(member_count(answer, "data"), 1);
    check_text(answer, "data.0.command", "ls");
    json_decref(answer);
    answer = succeed(world, "GET //worker/list", NULL);
    assert_int_equal(member_count(answer, "data"), 1);
    json_decref(answer);
    answer = succeed(world, "POST //job/delete", "name=a");
    check_text(answer, "data.name", "a");
    json_decref(answer);
    answer = succeed(world, "POST //job/delete", "name=a");
    assert_true(json_is_null(member(answer, "data")));
    json_decref(answer);

    fails(world, "POST //job/save", "job=nonsense");
    fails(world, "POST //job/save", "job={\"name\":\"a\"}");
    fails(world, "POST //job/save",
          "job={\"name\":\"a\",\"command\":\"ls\",\"cronExpr\":\"every day\"}");
    fails(world, "POST //job/save", "task={}");
    fails(world, "POST //job/save", NULL);
    fails(world, "POST //job/delete", "name=");
    fails(world, "POST //job/kill", "name=%zz");
    fails(world, "GET //job/log?limit=x&name=a", NULL);
    fails(world, "GET //job/log", NULL);
}

static bool is_running(void *context)
{
    struct world *world = context;
    json_t *runs = EXPECT(world, 200, "GET /runs?state=running", NULL);
    bool running = member_count(runs, "items") > 0;
    json_decref(runs);
    return running;
}

static bool is_killed(void *context)
{
    struct world *world = context;
    json_t *runs = EXPECT(world, 200, "GET /runs?state=killed", NULL);
    bool killed = member_count(runs, "items") > 0;
    json_decref(runs);
    return killed;
}

static void test_tutorial_kill_and_log(void **state)
{
    struct world *world = *state;
    json_decref(succeed(world, "POST //job/save",
                        "job={\"name\":\"a\",\"command\":\"sleep 9\",\"cronExpr\":\"@manual\"}"));
    EXPECT_STATUS(world, 202, "POST /jobs/a/run", NULL);
    world_until(world, is_running, world);
    json_decref(succeed(world, "POST //job/kill", "name=a"));
    world_until(world, is_killed, world);
    json_t *audit = EXPECT(world, 200, "GET /audit?action=kill&job=a", NULL);
    assert_int_equal(member_count(audit, "items"), 1);
    json_decref(audit);
    json_decref(succeed(world, "POST //job/kill", "name=a")); /* nothing is left to be killed */
    json_t *logs = succeed(world, "GET //job/log?name=a&skip=0&limit=10", NULL);
    assert_int_equal(member_count(logs, "data"), 1);
    check_text(logs, "data.0.jobName", "a");
    check_text(logs, "data.0.command", "sleep 9");
    assert_true(strlen(member_text(logs, "data.0.err")) > 0);
    assert_true(member_number(logs, "data.0.planTime") > 1500000000000);
    assert_true(member_number(logs, "data.0.endTime") >= member_number(logs, "data.0.startTime"));
    json_decref(logs);
    logs = succeed(world, "GET //job/log?name=a&skip=1", NULL);
    assert_int_equal(member_count(logs, "data"), 0);
    json_decref(logs);
}

/* ---- off ---- */

static void test_off_by_default(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 404, "GET //v1/jobs", NULL);
    EXPECT_STATUS(world, 404, "GET //job/list", NULL);
    json_t *description = EXPECT(world, 200, "GET //openapi.json", NULL);
    assert_null(json_object_get(member(description, "paths"), "/v1/jobs"));
    assert_non_null(json_object_get(member(description, "paths"), "/api/v1/jobs"));
    json_decref(description);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_dkron_job),
        TEST(test_dkron_parents),
        TEST(test_dkron_retries),
        TEST(test_dkron_refusals),
        TEST(test_dkron_tags),
        TEST(dkron_calls_become_calls),
        TEST(test_dkron_life),
        TEST(test_dkron_list),
        TEST(test_dkron_cluster),
        cmocka_unit_test(test_commands),
        TEST(test_tutorial_jobs),
        TEST(test_tutorial_kill_and_log),
        cmocka_unit_test_setup_teardown(test_off_by_default, world_set_up_plain, world_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
