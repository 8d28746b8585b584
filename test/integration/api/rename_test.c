/* POST /jobs/{name}/rename: what stays, what is refused, who may, and what a failure in the middle
 * leaves. */
#include "harness.h"

#include <stdio.h>
#include <string.h>

#define MANUAL       "{\"schedule\":\"@manual\",\"command\":[\"true\"]}"
#define AFTER(after) "{\"after\":" after ",\"command\":[\"true\"]}"
#define TO(name)     "{\"name\":\"" name "\"}"

static void expect_text(struct world *world, int line, const char *request, const char *path,
                        const char *want)
{
    json_t *body = expect(world, line, 200, request, NULL);
    if (strcmp(member_text(body, path), want) != 0)
        fail_msg("line %d: %s is \"%s\" instead of \"%s\"", line, path, member_text(body, path),
                 want);
    json_decref(body);
}
#define EXPECT_TEXT(request, path, want) expect_text(world, __LINE__, request, path, want)

static size_t size_of(json_t *body, const char *path)
{
    return json_array_size(member(body, path));
}

static void test_what_stays(void **state)
{
    struct world *world = *state;
    fake_executor_set_instant(world->executor, true);
    EXPECT_STATUS(world, 201, "PUT /jobs/a", MANUAL);
    EXPECT_STATUS(world, 201, "PUT /jobs/first", AFTER("[\"a\"]"));
    EXPECT_STATUS(world, 201, "PUT /jobs/second",
                  AFTER("[\"first\",{\"job\":\"a\",\"on\":\"always\"}]"));
    json_t *before = EXPECT(world, 200, "GET /jobs/a", NULL);
    json_decref(EXPECT(world, 202, "POST /jobs/a/run", NULL));
    json_t *answer = EXPECT(world, 200, "POST /jobs/a/rename", TO("b"));
    assert_string_equal(member_text(answer, "name"), "b");
    assert_string_equal(member_text(answer, "uid"), member_text(before, "uid"));
    assert_int_equal(json_integer_value(member(answer, "revision")), 2);
    assert_int_equal(size_of(answer, "rewritten"), 2);
    assert_int_equal(size_of(answer, "left"), 0);
    json_decref(answer);
    json_decref(before);
    EXPECT_TEXT("GET /jobs/first", "after.0.job", "b");
    EXPECT_TEXT("GET /jobs/second", "after.1.job", "b");
    EXPECT_TEXT("GET /jobs/second", "after.1.on", "always");
    EXPECT_TEXT("GET /jobs/b/dependencies", "before.0.job", "first");
    EXPECT_TEXT("GET /runs?job=b&state=ok", "items.0.job", "b");
    EXPECT_TEXT("GET /audit?job=b&action=rename", "items.0.detail", "from \"a\"");
    EXPECT_TEXT("GET /audit?job=b&action=create", "items.0.job", "a");
    EXPECT_TEXT("GET /audit?job=first&action=change", "items.0.detail",
                "after: \"a\" is \"b\" now");
    json_t *gone = EXPECT(world, 404, "GET /jobs/a", NULL);
    assert_string_equal(member_text(gone, "renamed_to"), "b");
    json_decref(gone);
    EXPECT_TEXT("GET /jobs/b/versions", "items.0.action", "rename");
    /* The versions from before the rename are its versions. */
    EXPECT_STATUS(world, 200, "POST /jobs/b/rollback", "{\"revision\":1}");
    EXPECT_TEXT("GET /jobs/b", "name", "b");
    EXPECT_STATUS(world, 200, "POST /jobs/first/rollback", "{\"revision\":1}");
    EXPECT_TEXT("GET /jobs/first", "after.0.job", "b");
}

static void test_definitions_keep_the_names(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /jobs/a", "{\"schedule\":\"H H * * *\",\"command\":[\"true\"]}");
    json_t *before = EXPECT(world, 200, "GET /jobs/a/next?n=1", NULL);
    json_t *asked = EXPECT(world, 200, "GET /schedule/next?spec=H%20H%20*%20*%20*&job=a", NULL);
    EXPECT_STATUS(world, 200, "POST /jobs/a/rename", TO("b"));
    static const struct {
        const char *request, *body;
    } changes[] = {
        {"PATCH /jobs/b", "{\"notes\":\"x\"}"},
        {"PUT /jobs/b", "{\"schedule\":\"H H * * *\",\"command\":[\"id\"]}"},
        {"POST /jobs/b/pause", NULL},
        {"POST /jobs/b/resume", NULL},
        {"DELETE /jobs/b", NULL},
        {"POST /jobs/b/undelete", NULL},
        {"POST /jobs/b/rollback", "{\"revision\":1}"},
    };
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        EXPECT_STATUS(world, 200, changes[i].request, changes[i].body);
        json_t *gone = EXPECT(world, 404, "GET /jobs/a", NULL);
        if (i != 4) /* a deleted job has no former name */
            assert_string_equal(member_text(gone, "renamed_to"), "b");
        json_decref(gone);
        if (i == 4)
            continue;
        EXPECT_TEXT("GET /jobs/b/next?n=1", "fires.0.at", member_text(before, "fires.0.at"));
    }
    EXPECT_TEXT("GET /schedule/next?spec=H%20H%20*%20*%20*&job=b", "fires.0.at",
                member_text(asked, "fires.0.at"));
    json_decref(asked);
    json_decref(before);
}

static void test_what_is_refused(void **state)
{
    struct world *world = *state;
    static const struct {
        int line, status;
        const char *request, *body, *words;
    } cases[] = {
        {__LINE__, 404, "POST /jobs/none/rename", TO("x"), "there is no job \"none\""},
        {__LINE__, 409, "POST /jobs/a/rename", TO("b"), "there is another job \"b\" now"},
        {__LINE__, 422, "POST /jobs/a/rename", TO("a b"), "may hold"},
        {__LINE__, 422, "POST /jobs/a/rename", "{}", "name: expected the new name of the job"},
        {__LINE__, 422, "POST /jobs/a/rename", "{\"to\":\"x\"}", "unknown field \"to\""},
        {__LINE__, 422, "POST /jobs/a/rename", "{\"name\":7}", "expected the new name"},
        {__LINE__, 409, "POST /jobs/a/rename", TO("lost"),
         "\"both\" waits for \"a\" and for \"lost\"; take one of them out of its after first"},
        {__LINE__, 422, "POST /jobs/last/rename", TO("lost"),
         "after: a job would wait for itself: lost -> both -> lost"},
        {__LINE__, 428, "POST /jobs/a/rename?require_match=true", TO("x"), "If-Match"},
    };
    EXPECT_STATUS(world, 201, "PUT /jobs/a", MANUAL);
    EXPECT_STATUS(world, 201, "PUT /jobs/b", MANUAL);
    EXPECT_STATUS(world, 201, "PUT /jobs/lost", MANUAL);
    EXPECT_STATUS(world, 201, "PUT /jobs/both", AFTER("[\"a\",\"lost\"]"));
    EXPECT_STATUS(world, 201, "PUT /jobs/last", AFTER("\"both\""));
    EXPECT_STATUS(world, 200, "DELETE /jobs/lost", NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct answer answer = ask(world, cases[i].request, cases[i].body);
        if (answer.status != cases[i].status ||
            !strstr(member_text(answer.body, "detail"), cases[i].words))
            fail_msg("line %d: %d %s", cases[i].line, answer.status, answer.text);
        answer_release(&answer);
    }
    struct answer answer = ask_with(world, "POST /jobs/a/rename", "If-Match: \"7\"\r\n", TO("x"));
    assert_int_equal(answer.status, 412);
    answer_release(&answer);
    json_t *dry = EXPECT(world, 200, "POST /jobs/a/rename", "{\"name\":\"x\",\"dry_run\":true}");
    assert_string_equal(member_text(dry, "rewritten.0"), "both");
    json_decref(dry);
    EXPECT_TEXT("GET /jobs/a", "name", "a");
    EXPECT_STATUS(world, 200, "POST /jobs/b/rename", TO("lost")); /* a deleted job had it */
    EXPECT_STATUS(world, 409, "POST /jobs/lost/undelete", NULL);
}

/* The store fails after the first request: the job is renamed, and its dependents are not. */
static void test_a_failure_in_the_middle(void **state)
{
    struct world *world = *state;
    fake_executor_set_instant(world->executor, true);
    EXPECT_STATUS(world, 201, "PUT /jobs/a", MANUAL);
    EXPECT_STATUS(world, 201, "PUT /jobs/first", AFTER("\"a\""));
    EXPECT_STATUS(world, 201, "PUT /jobs/gone", AFTER("\"a\""));
    EXPECT_STATUS(world, 200, "DELETE /jobs/gone", NULL);
    world->api_store.fails_after = 1;
    json_t *answer = EXPECT(world, 200, "POST /jobs/a/rename", TO("b"));
    world->api_store.fails = false;
    world->api_store.fails_after = 0;
    assert_int_equal(size_of(answer, "rewritten"), 0);
    assert_string_equal(member_text(answer, "left.0"), "first");
    json_decref(answer);
    EXPECT_TEXT("GET /jobs/first", "after.0.job", "a");
    EXPECT_TEXT("GET /jobs/first/dependencies", "after.0.job", "b");
    EXPECT_TEXT("GET /jobs/b/dependencies", "before.0.job", "first");
    /* A chain: it is still found. */
    world->api_store.fails_after = 1;
    EXPECT_STATUS(world, 200, "POST /jobs/b/rename", TO("c"));
    world->api_store.fails = false;
    world->api_store.fails_after = 0;
    EXPECT_TEXT("GET /jobs/c/dependencies", "before.0.job", "first");
    /* Other changes of the dependent do not touch it. */
    EXPECT_STATUS(world, 200, "PATCH /jobs/first", "{\"notes\":\"x\"}");
    EXPECT_TEXT("GET /jobs/c/dependencies", "before.0.job", "first");
    /* Nobody takes the name as long as it is in use, in whichever way. */
    static const struct {
        int line;
        const char *request, *body;
    } takers[] = {
        {__LINE__, "PUT /jobs/a", MANUAL},
        {__LINE__, "POST /jobs",
         "{\"name\":\"a\",\"schedule\":\"@manual\",\"command\":[\"true\"]}"},
        {__LINE__, "POST /jobs:batch",
         "{\"put\":[{\"name\":\"a\",\"schedule\":\"@manual\",\"command\":[\"true\"]}]}"},
        {__LINE__, "POST /jobs/other/rename", TO("a")},
    };
    EXPECT_STATUS(world, 201, "PUT /jobs/other", MANUAL);
    for (size_t i = 0; i < sizeof(takers) / sizeof(takers[0]); i++) {
        struct answer refused = ask(world, takers[i].request, takers[i].body);
        if (refused.status != 422 ||
            !strstr(refused.text, "finish that rename first: peal rename a c"))
            fail_msg("line %d: %d %s", takers[i].line, refused.status, refused.text);
        answer_release(&refused);
    }
    /* The same again completes it. */
    answer = EXPECT(world, 200, "POST /jobs/a/rename", TO("c"));
    assert_string_equal(member_text(answer, "rewritten.0"), "first");
    json_decref(answer);
    EXPECT_TEXT("GET /jobs/first", "after.0.job", "c");
    EXPECT_STATUS(world, 201, "PUT /jobs/a", MANUAL);
    /* A deleted one comes back to the job that it waited for. */
    EXPECT_STATUS(world, 200, "POST /jobs/gone/undelete", NULL);
    EXPECT_TEXT("GET /jobs/gone", "after.0.job", "c");
    json_decref(EXPECT(world, 202, "POST /jobs/c/run", NULL));
    json_t *none = EXPECT(world, 200, "GET /runs?job=a", NULL);
    assert_int_equal(size_of(none, "items"), 0);
    json_decref(none);
}

static int status_as(struct world *world, const char *token, const char *line, const char *body)
{
    char headers[128];
    snprintf(headers, sizeof(headers), "Host: localhost\r\nAuthorization: Bearer %s\r\n", token);
    struct answer answer = ask_tcp(world, line, headers, body);
    int status = answer.status;
    answer_release(&answer);
    return status;
}

/* Into another namespace needs the right to define, in both. */
static void test_who_may(void **state)
{
    struct world *world = *state;
    static const struct {
        int line, status;
        const char *token, *request, *body;
    } cases[] = {
        {__LINE__, 403, "viewer", "POST /jobs/a/rename", TO("b")},
        {__LINE__, 200, "editor", "POST /jobs/a/rename", TO("b")},
        {__LINE__, 403, "editor", "POST /jobs/b/rename", TO("team/b")},
        {__LINE__, 200, "definer", "POST /jobs/b/rename", TO("team/b")},
        {__LINE__, 403, "team-operator", "POST /jobs/team%2Fb/rename", TO("team/c")},
        {__LINE__, 403, "team-editor", "POST /jobs/team%2Fb/rename", TO("c")},
        {__LINE__, 200, "team-editor", "POST /jobs/team%2Fb/rename", TO("team/c")},
        {__LINE__, 200, "team-viewer", "GET /runs?job=team%2Fc", NULL},
    };
    fake_executor_set_instant(world->executor, true);
    EXPECT_STATUS(world, 201, "PUT /jobs/a", MANUAL);
    json_t *run = EXPECT(world, 202, "POST /jobs/a/run", NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int status = status_as(world, cases[i].token, cases[i].request, cases[i].body);
        if (status != cases[i].status)
            fail_msg("line %d: %d", cases[i].line, status);
    }
    /* Its runs have moved with it. */
    char line[80];
    snprintf(line, sizeof(line), "GET /runs/%s", member_text(run, "run_id"));
    assert_int_equal(status_as(world, "team-viewer", line, NULL), 200);
    EXPECT_TEXT(line, "job", "team/c");
    EXPECT_STATUS(world, 200, "POST /jobs/team%2Fc/rename", TO("other/c"));
    assert_int_equal(status_as(world, "team-viewer", line, NULL), 404);
    json_decref(run);
}

#define ASK(line, body)                                                                            \
    "POST /api/v1" line " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"                            \
    "Content-Type: application/json\r\nContent-Length: " body

/* Two at once: one name is left, and the dependent has it. */
static void test_two_at_once(void **state)
{
    struct world *world = *state;
    static const char *const requests[] = {
        ASK("/jobs/a/rename", "12\r\n\r\n{\"name\":\"b\"}"),
        ASK("/jobs/a/rename", "12\r\n\r\n{\"name\":\"c\"}"),
    };
    int statuses[2];
    EXPECT_STATUS(world, 201, "PUT /jobs/a", MANUAL);
    EXPECT_STATUS(world, 201, "PUT /jobs/first", AFTER("\"a\""));
    ask_at_once(world, requests, 2, statuses);
    assert_int_equal(statuses[0], 200);
    assert_int_equal(statuses[1], 404); /* it is renamed by then */
    EXPECT_TEXT("GET /jobs/first", "after.0.job", "b");
}

/* A new dependent, while the job gets another name: it must not come to wait for a name without a
 * job, nor for another job. */
static void test_a_new_dependent_meanwhile(void **state)
{
    struct world *world = *state;
    static const char *const requests[] = {
        ASK("/jobs/a/rename", "12\r\n\r\n{\"name\":\"b\"}"),
        ASK("/jobs", "47\r\n\r\n{\"name\":\"first\",\"after\":\"a\",\"command\":[\"true\"]}"),
    };
    int statuses[2];
    EXPECT_STATUS(world, 201, "PUT /jobs/a", MANUAL);
    ask_at_once(world, requests, 2, statuses);
    assert_int_equal(statuses[0], 200);
    assert_int_equal(statuses[1], 422);
    EXPECT_STATUS(world, 404, "GET /jobs/first", NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_what_stays),
        TEST(test_definitions_keep_the_names),
        TEST(test_what_is_refused),
        TEST(test_a_failure_in_the_middle),
        TEST(test_who_may),
        TEST(test_two_at_once),
        TEST(test_a_new_dependent_meanwhile),
    };
    return cmocka_run_group_tests_name("api, renames", tests, NULL, NULL);
}
