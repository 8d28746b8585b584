/* Channels: who sees what of them, what may be changed by whom, and what jobs say. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "notifier.h"

#define HOOK                                                                                       \
    "{\"type\":\"webhook\",\"url\":\"https://u:hush@example.com/h?token=hush\","                   \
    "\"secret\":\"hush\",\"headers\":{\"X-Key\":\"hush\"},\"notes\":\"room 3\"}"
#define JOB(notify) "{\"schedule\":\"@manual\",\"command\":[\"true\"],\"notify\":" notify "}"
#define HOST        "Host: localhost\r\n"

static struct answer ask_as(struct world *world, const char *token, const char *line,
                            const char *body)
{
    char headers[128];
    snprintf(headers, sizeof(headers), HOST "Authorization: Bearer %s\r\n", token);
    return ask_tcp(world, line, headers, body);
}

static void test_admins_write_and_all_see_the_names(void **state)
{
    struct world *world = *state;
    static const struct {
        int line;
        const char *token, *request, *body;
        int status;
    } cases[] = {
        {__LINE__, "editor", "PUT /channels/ops", HOOK, 403},
        {__LINE__, "definer", "PUT /channels/ops", HOOK, 403},
        {__LINE__, "team-editor", "PUT /channels/ops", HOOK, 403},
        {__LINE__, "admin", "PUT /channels/ops", HOOK, 201},
        {__LINE__, "admin", "PUT /channels/ops", HOOK, 200},
        {__LINE__, "definer", "POST /channels/ops/test", "{}", 403},
        {__LINE__, "definer", "DELETE /channels/ops", NULL, 403},
        {__LINE__, "viewer", "GET /channels/ops", NULL, 200},
        {__LINE__, "team-viewer", "GET /channels", NULL, 200},
        {__LINE__, "nobody", "GET /channels", NULL, 401},
        {__LINE__, "admin", "GET /channels/oops", NULL, 404},
        {__LINE__, "admin", "PUT /channels/a%2Fb", HOOK, 422},
        {__LINE__, "admin", "PUT /channels/x", "{\"type\":\"slack\"}", 422},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct answer answer = ask_as(world, cases[i].token, cases[i].request, cases[i].body);
        if (answer.status != cases[i].status)
            fail_msg("line %d: %d %s", cases[i].line, answer.status, answer.text);
        if (strstr(answer.text, "hush"))
            fail_msg("line %d: a secret is shown: %s", cases[i].line, answer.text);
        bool is_admin = strcmp(cases[i].token, "admin") == 0;
        if (answer.status < 300 && !is_admin && strstr(answer.text, "example.com"))
            fail_msg("line %d: where it leads is shown: %s", cases[i].line, answer.text);
        answer_release(&answer);
    }
}

/* What was read can be written back: secrets stay, and nothing is changed. */
static void test_what_is_read_can_be_written(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /channels/ops", HOOK);
    struct answer read = ask(world, "GET /channels/ops", NULL);
    assert_int_equal(read.status, 200);
    json_t *same = EXPECT(world, 200, "PUT /channels/ops", read.text);
    assert_int_equal(member_number(same, "revision"), 1);
    json_object_set_new(read.body, "notes", json_string("room 4"));
    char *changed = json_dumps(read.body, 0);
    json_t *now = EXPECT(world, 200, "PUT /channels/ops", changed);
    assert_int_equal(member_number(now, "revision"), 2);
    const struct channel *channel = notifier_channel(world->notifier, "ops");
    assert_string_equal(channel->secret, "hush");
    assert_string_equal(channel->url, "https://u:hush@example.com/h?token=hush");
    assert_string_equal(channel->headers.items[0].value, "hush");
    assert_string_equal(channel->notes, "room 4");
    json_t *audit = EXPECT(world, 200, "GET /audit", NULL);
    assert_string_equal(member_text(audit, "items.0.action"), "channel_change");
    assert_string_equal(member_text(audit, "items.0.detail"), "notes");
    json_decref(audit);
    json_decref(now);
    json_decref(same);
    free(changed);
    answer_release(&read);
}

static void test_conditions(void **state)
{
    struct world *world = *state;
    static const struct {
        int line;
        const char *request, *headers;
        int status;
    } cases[] = {
        {__LINE__, "PUT /channels/ops?require_match=true", "", 428},
        {__LINE__, "PUT /channels/ops", "If-Match: \"7\"\r\n", 412},
        {__LINE__, "PUT /channels/ops", "If-Match: *\r\n", 412},
        {__LINE__, "PUT /channels/ops?dry_run=true", "If-Match: *\r\n", 412},
        {__LINE__, "PUT /channels/ops?dry_run=true", "If-None-Match: *\r\n", 200},
        {__LINE__, "PUT /channels/ops", "If-None-Match: *\r\n", 201},
        {__LINE__, "PUT /channels/ops?dry_run=true", "If-None-Match: *\r\n", 412},
        {__LINE__, "PUT /channels/ops", "If-None-Match: *\r\n", 412},
        {__LINE__, "PUT /channels/ops", "If-Match: \"1\"\r\n", 200},
        {__LINE__, "PUT /channels/ops", "If-Match: *\r\n", 200},
        {__LINE__, "DELETE /channels/ops", "If-Match: \"2\"\r\n", 412},
        {__LINE__, "DELETE /channels/ops", "If-Match: \"1\"\r\n", 200},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        bool is_put = cases[i].request[0] == 'P';
        struct answer answer =
            ask_with(world, cases[i].request, cases[i].headers, is_put ? HOOK : NULL);
        if (answer.status != cases[i].status)
            fail_msg("line %d: %d %s", cases[i].line, answer.status, answer.text);
        answer_release(&answer);
    }
}

static void test_jobs_name_channels_that_are_there(void **state)
{
    struct world *world = *state;
    static const struct {
        int line;
        const char *notify, *pointer;
    } cases[] = {
        {__LINE__, JOB("\"opss\""), "/notify"},
        {__LINE__, JOB("[\"ops\",\"opss\"]"), "/notify/1"},
        {__LINE__, JOB("{\"to\":\"opss\"}"), "/notify/to"},
        {__LINE__, JOB("{\"to\":[\"opss\"],\"on\":\"late\"}"), "/notify/to/0"},
    };
    EXPECT_STATUS(world, 201, "PUT /channels/ops", HOOK);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *problem = EXPECT(world, 422, "PUT /jobs/j", cases[i].notify);
        if (strcmp(member_text(problem, "errors.0.pointer"), cases[i].pointer) != 0)
            fail_msg("line %d: %s", cases[i].line, member_text(problem, "errors.0.pointer"));
        assert_non_null(strstr(member_text(problem, "errors.0.hint"), "\"ops\""));
        json_decref(problem);
    }
    EXPECT_STATUS(world, 201, "PUT /jobs/j", JOB("{\"to\":[\"ops\"],\"late\":\"5m\"}"));
    json_t *problem = EXPECT(world, 409, "DELETE /channels/ops", NULL);
    assert_string_equal(member_text(problem, "jobs.0"), "j");
    json_decref(problem);
    EXPECT_STATUS(world, 200, "PATCH /jobs/j", "{\"notify\":null}");
    EXPECT_STATUS(world, 200, "DELETE /channels/ops", NULL);
    EXPECT_STATUS(world, 404, "DELETE /channels/ops", NULL);
}

/* Nobody listens there: the answer says so, and it is no failure of the API. */
static void test_a_sample_is_answered(void **state)
{
    struct world *world = *state;
    json_t *answer = EXPECT(world, 200, "POST /channels/new/test",
                            "{\"type\":\"webhook\",\"url\":\"http://127.0.0.1:1/\"}");
    assert_true(json_is_false(member(answer, "sent")));
    assert_non_null(member_text(answer, "error"));
    json_decref(answer);
    EXPECT_STATUS(world, 404, "POST /channels/new/test", "{}");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_admins_write_and_all_see_the_names),
        TEST(test_what_is_read_can_be_written),
        TEST(test_conditions),
        TEST(test_jobs_name_channels_that_are_there),
        TEST(test_a_sample_is_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
