/* One action on all jobs that a filter takes: a look first, then page by page. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up_plain, world_tear_down)

enum { JOBS = 1000 };

/* job-0000 to job-0999, each tenth with tier=high. */
static void add_jobs(struct world *world)
{
    json_t *list = json_array();
    for (int i = 0; i < JOBS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "job-%04d", i);
        json_array_append_new(list, json_pack("{s:s, s:s, s:[s], s:{s:s}}", "name", name,
                                              "schedule", "0 0 1 1 *", "command", "true", "labels",
                                              "tier", i % 10 ? "low" : "high"));
    }
    json_t *body = json_pack("{s:o}", "put", list);
    char *text = json_dumps(body, 0);
    EXPECT_STATUS(world, 200, "POST /jobs:batch", text);
    free(text);
    json_decref(body);
}

static int64_t count_jobs(struct world *world, const char *query)
{
    char line[200];
    snprintf(line, sizeof(line), "GET /jobs?limit=1000&fields=name&%s", query);
    json_t *page = EXPECT(world, 200, line, NULL);
    int64_t count = (int64_t)member_count(page, "items");
    json_decref(page);
    return count;
}

/* Page by page to the end; how many it was done to. `body` is an open object. */
static int64_t act(struct world *world, const char *line, const char *body, int *ret_pages)
{
    char text[400], cursor[200] = "";
    int64_t touched = 0;
    for (*ret_pages = 0;; ++*ret_pages) {
        snprintf(text, sizeof(text), "%s%s}", body, cursor);
        json_t *page = EXPECT(world, 200, line, text);
        touched += member_number(page, "touched");
        assert_int_equal(member_count(page, "names"), member_number(page, "touched"));
        assert_int_equal(member_count(page, "failed"), 0);
        bool more = json_is_string(member(page, "next"));
        snprintf(cursor, sizeof(cursor), ",\"cursor\":\"%s\"", member_text(page, "next"));
        json_decref(page);
        if (!more)
            break;
    }
    ++*ret_pages;
    return touched;
}

/* ---- a look ---- */

static void test_preview(void **state)
{
    struct world *world = *state;
    add_jobs(world);
    EXPECT_STATUS(world, 200, "POST /jobs/job-0010/pause", NULL);
    static const struct {
        int line;
        const char *request, *action;
        int64_t matched, touched;
        const char *reason; /* of those that are left alone */
    } cases[] = {
        {__LINE__, "?label=tier%3Dhigh", "pause", 100, 99, "paused"},
        {__LINE__, "?label=tier%3Dhigh", "resume", 100, 1, "not_paused"},
        {__LINE__, "?label=tier%3Dhigh", "kill", 100, 0, "idle"},
        {__LINE__, "?label=tier%3Dhigh", "delete", 100, 100, NULL},
        {__LINE__, "?q=job-05", "run", 100, 100, NULL},
        {__LINE__, "?status=paused", "delete", 1, 1, NULL},
        {__LINE__, "?owner=nobody", "delete", 0, 0, NULL},
        {__LINE__, "?node=here", "delete", 0, 0, NULL},
        {__LINE__, "", "delete", JOBS, JOBS, NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char line[100], body[100];
        snprintf(line, sizeof(line), "POST /jobs:act%s", cases[i].request);
        snprintf(body, sizeof(body), "{\"action\":\"%s\",\"dry_run\":true,\"all\":true}",
                 cases[i].action);
        json_t *answer = EXPECT(world, 200, line, body);
        const char *reason = cases[i].reason ? member_text(answer, "left.0.reason") : NULL;
        size_t names = cases[i].touched < 20 ? (size_t)cases[i].touched : 20;
        if (member_number(answer, "matched") != cases[i].matched ||
            member_number(answer, "touched") != cases[i].touched ||
            member_count(answer, "names") != names ||
            member_count(answer, "left") != (cases[i].reason ? 1 : 0) ||
            (reason && strcmp(reason, cases[i].reason) != 0))
            fail_msg("line %d: %s", cases[i].line, json_dumps(answer, 0));
        json_decref(answer);
    }
    assert_int_equal(count_jobs(world, ""), JOBS);
    assert_int_equal(count_jobs(world, "status=paused"), 1);
}

static void test_what_is_refused(void **state)
{
    struct world *world = *state;
    static const struct {
        int line;
        const char *query, *body, *pointer;
    } cases[] = {
        {__LINE__, "", "{\"action\":\"delete\"}", "/all"},
        {__LINE__, "?q=", "{\"action\":\"delete\"}", "/all"},
        {__LINE__, "?q=x", "{\"action\":\"destroy\"}", "/action"},
        {__LINE__, "?q=x", "{}", "/action"},
        {__LINE__, "?q=x", "{\"action\":\"label\"}", "/labels"},
        {__LINE__, "?q=x", "{\"action\":\"label\",\"labels\":7}", "/labels"},
        {__LINE__, "?q=x", "{\"action\":\"label\",\"labels\":{\"a b\":\"1\"}}", "/labels/a b"},
        {__LINE__, "?q=x", "{\"action\":\"label\",\"labels\":{\"a\":1}}", "/labels"},
        {__LINE__, "?q=x", "{\"action\":\"pause\",\"labels\":{\"a\":\"1\"}}", "/labels"},
        {__LINE__, "?q=x", "{\"action\":\"pause\",\"limit\":501}", "/limit"},
        {__LINE__, "?status=odd", "{\"action\":\"pause\"}", "?status"},
        {__LINE__, "?q=x", "{\"action\":\"pause\",\"cursor\":\"!\"}", "?cursor"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char line[100];
        snprintf(line, sizeof(line), "POST /jobs:act%s", cases[i].query);
        struct answer answer = ask(world, line, cases[i].body);
        const char *pointer = member_text(answer.body, "errors.0.pointer");
        if (answer.status != 422 || strcmp(pointer, cases[i].pointer) != 0)
            fail_msg("line %d: %d %s", cases[i].line, answer.status, answer.text);
        answer_release(&answer);
    }
}

/* ---- changes ---- */

static void test_changes_in_pages(void **state)
{
    struct world *world = *state;
    int pages;
    add_jobs(world);
    assert_int_equal(act(world, "POST /jobs:act?label=tier%3Dlow", "{\"action\":\"pause\"", &pages),
                     900);
    assert_int_equal(pages, 5);
    assert_int_equal(count_jobs(world, "status=paused"), 900);
    /* What the filter asks for changes under its hands. */
    assert_int_equal(
        act(world, "POST /jobs:act?status=paused", "{\"action\":\"resume\",\"limit\":500", &pages),
        900);
    assert_int_equal(pages, 2);
    assert_int_equal(count_jobs(world, "status=paused"), 0);
    assert_int_equal(act(world, "POST /jobs:act?q=job-00",
                         "{\"action\":\"label\",\"labels\":{\"team\":\"db\",\"tier\":null}",
                         &pages),
                     100);
    assert_int_equal(count_jobs(world, "label=team%3Ddb"), 100);
    assert_int_equal(count_jobs(world, "label=tier"), 900);
    assert_int_equal(act(world, "POST /jobs:act?label=team", "{\"action\":\"delete\"", &pages),
                     100);
    assert_int_equal(count_jobs(world, ""), 900);
    EXPECT_STATUS(world, 200, "POST /jobs/job-0042/undelete", NULL);

    json_t *trail = EXPECT(world, 200, "GET /audit?action=delete&limit=500", NULL);
    assert_int_equal(member_count(trail, "items"), 100);
    json_decref(trail);
    trail = EXPECT(world, 200, "GET /jobs/job-0042/versions", NULL);
    assert_true(member_count(trail, "items") >= 4);
    json_decref(trail);
}

/* A job that changes while the store is asked is told; the others are done. */
static void test_changed_meanwhile(void **state)
{
    struct world *world = *state;
    static const char *const requests[] = {
        "POST /api/v1/jobs:act?q=job-000 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        "Content-Length: 18\r\n\r\n{\"action\":\"pause\"}",
        "PATCH /api/v1/jobs/job-0003 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        "Content-Length: 13\r\n\r\n{\"notes\":\"x\"}",
    };
    int statuses[2];
    add_jobs(world);
    ask_at_once(world, requests, 2, statuses);
    assert_int_equal(statuses[0], 200);
    assert_int_equal(statuses[1], 200);
    assert_true(count_jobs(world, "status=paused") >= 9);
}

/* ---- runs ---- */

static void test_runs_and_kills(void **state)
{
    struct world *world = *state;
    int pages;
    add_jobs(world);
    assert_int_equal(act(world, "POST /jobs:act?q=job-01", "{\"action\":\"run\"", &pages), 100);
    json_t *again = EXPECT(world, 200, "POST /jobs:act?q=job-01", "{\"action\":\"run\"}");
    assert_int_equal(member_number(again, "touched"), 0);
    assert_string_equal(member_text(again, "left.0.reason"), "busy");
    assert_int_equal(member_number(again, "left.0.count"), 100);
    json_decref(again);
    json_t *look =
        EXPECT(world, 200, "POST /jobs:act?q=job", "{\"action\":\"kill\",\"dry_run\":true}");
    assert_int_equal(member_number(look, "runs"), 100);
    json_decref(look);
    json_t *killed = EXPECT(world, 200, "POST /jobs:act?q=job-01", "{\"action\":\"kill\"}");
    assert_int_equal(member_number(killed, "touched"), 100);
    assert_int_equal(member_number(killed, "runs"), 100);
    json_decref(killed);
    json_t *trail = EXPECT(world, 200, "GET /audit?action=kill&limit=500", NULL);
    assert_int_equal(member_count(trail, "items"), 100);
    json_decref(trail);
}

/* The answer got lost: the repeat starts nothing twice. */
static void test_repeated(void **state)
{
    struct world *world = *state;
    static const char key[] = "Idempotency-Key: once\r\n";
    static const char body[] = "{\"action\":\"run\"}";
    fake_executor_set_instant(world->executor, true);
    add_jobs(world);
    world->api_store.forgets = true;
    struct answer first = ask_with(world, "POST /jobs:act?q=job-000", key, body);
    assert_true(first.status >= 500);
    world->api_store.forgets = false;
    struct answer second = ask_with(world, "POST /jobs:act?q=job-000", key, body);
    assert_int_equal(second.status, 200);
    struct answer third = ask_with(world, "POST /jobs:act?q=job-000", key, body);
    assert_string_equal(third.text, second.text);
    json_t *runs = EXPECT(world, 200, "GET /runs?limit=100", NULL);
    assert_int_equal(member_count(runs, "items"), 10);
    json_decref(runs);
    answer_release(&first);
    answer_release(&second);
    answer_release(&third);
}

/* ---- rights ---- */

static void test_rights_of_each_job(void **state)
{
    struct world *world = *state;
    static const char job[] = "{\"schedule\":\"@daily\",\"command\":[\"true\"]}";
    static const struct {
        int line, status;
        const char *token, *body;
        int64_t matched, touched;
        const char *reason;
    } cases[] = {
        {__LINE__, 403, "team-viewer", "{\"action\":\"pause\",\"all\":true}", 0, 0, NULL},
        {__LINE__, 200, "team-operator", "{\"action\":\"pause\",\"all\":true}", 2, 2, NULL},
        {__LINE__, 200, "team-operator", "{\"action\":\"delete\",\"all\":true}", 2, 0, "forbidden"},
        {__LINE__, 200, "operator", "{\"action\":\"delete\",\"all\":true}", 3, 0, "forbidden"},
        {__LINE__, 200, "operator", "{\"action\":\"resume\",\"all\":true}", 3, 2, "not_paused"},
        {__LINE__, 200, "team-editor", "{\"action\":\"delete\",\"all\":true}", 2, 2, NULL},
    };
    EXPECT_STATUS(world, 201, "PUT /jobs/team%2Fa", job);
    EXPECT_STATUS(world, 201, "PUT /jobs/team%2Fb", job);
    EXPECT_STATUS(world, 201, "PUT /jobs/secret", job);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char headers[128];
        snprintf(headers, sizeof(headers), "Host: localhost\r\nAuthorization: Bearer %s\r\n",
                 cases[i].token);
        struct answer answer = ask_tcp(world, "POST /jobs:act", headers, cases[i].body);
        const char *reason = cases[i].reason ? member_text(answer.body, "left.0.reason") : NULL;
        if (answer.status != cases[i].status ||
            (answer.status == 200 && (member_number(answer.body, "matched") != cases[i].matched ||
                                      member_number(answer.body, "touched") != cases[i].touched ||
                                      (reason && strcmp(reason, cases[i].reason) != 0))))
            fail_msg("line %d: %d %s", cases[i].line, answer.status, answer.text);
        answer_release(&answer);
    }
    assert_int_equal(count_jobs(world, ""), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_preview),
        TEST(test_what_is_refused),
        TEST(test_changes_in_pages),
        TEST(test_changed_meanwhile),
        TEST(test_runs_and_kills),
        TEST(test_repeated),
        TEST(test_rights_of_each_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
