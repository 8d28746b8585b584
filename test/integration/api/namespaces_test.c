/* Somebody with rights in one namespace meets nothing of the others: every route is asked, about
 * what is theirs and what is not. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "routes.h"

#define JOB         "{\"schedule\":\"* * * * *\",\"command\":[\"true\"],\"overlap\":\"allow\"}"
#define NAMED(name) "{\"name\":\"" name "\",\"schedule\":\"@daily\",\"command\":[\"true\"]}"
#define DKRON(name)                                                                                \
    "{\"name\":\"" name "\",\"schedule\":\"@daily\",\"executor\":\"shell\","                       \
    "\"executor_config\":{\"command\":\"true\"}}"
#define SAVED(name) "{\"name\":\"" name "\",\"command\":\"true\",\"cronExpr\":\"0 0 1 1 *\"}"
#define HEADER      "Host: localhost\r\nAuthorization: Bearer %s\r\n"

static struct answer ask_as(struct world *world, const char *token, const char *line,
                            const char *body)
{
    char headers[128];
    snprintf(headers, sizeof(headers), HEADER, token);
    return ask_tcp(world, line, headers, body);
}

static int status_as(struct world *world, const char *token, const char *line, const char *body)
{
    struct answer answer = ask_as(world, token, line, body);
    int status = answer.status;
    answer_release(&answer);
    return status;
}

/* A job, and a run of it that has ended. */
static void add_job(struct world *world, const char *name, char run_id[32])
{
    char line[200];
    snprintf(line, sizeof(line), "PUT /jobs/%s", name);
    EXPECT_STATUS(world, 201, line, JOB);
    snprintf(line, sizeof(line), "POST /jobs/%s/run", name);
    json_t *run = EXPECT(world, 202, line, NULL);
    snprintf(run_id, 32, "%s", member_text(run, "run_id"));
    json_decref(run);
}

static const char *method_name(enum http_method method)
{
    return method == HTTP_GET      ? "GET"
           : method == HTTP_PUT    ? "PUT"
           : method == HTTP_POST   ? "POST"
           : method == HTTP_DELETE ? "DELETE"
                                   : "PATCH";
}

/* The route with what stands for {name} and {id}, as ask() wants it. */
static void line_of(const struct route *route, const char *argument, char line[300])
{
    const char *open = strchr(route->pattern, '{'), *close = strchr(route->pattern, '}');
    const char *query = strstr(route->pattern, "/schedule/") ? "?spec=@hourly" : "";
    snprintf(line, 300, "%s /%.*s%s%s%s", method_name(route->method),
             open ? (int)(open - route->pattern) : (int)strlen(route->pattern), route->pattern,
             open ? argument : "", open ? close + 1 : "", query);
}

/* Nothing in any answer tells that there is another namespace, and no other job is touched. */
static void test_every_route_keeps_to_the_namespace(void **state)
{
    static const char *const tokens[] = {"team-viewer", "team-operator", "team-editor"};
    struct world *world = *state;
    char own_run[32], other_run[32], plain_run[32];
    fake_executor_set_instant(world->executor, true);
    add_job(world, "team%2Fown", own_run);
    add_job(world, "other%2Fsecret", other_run);
    add_job(world, "secret", plain_run);
    json_t *before = EXPECT(world, 200, "GET /jobs?fields=name,revision", NULL);
    const char *const arguments[] = {"other%2Fsecret", "secret",     other_run,
                                     plain_run,        "teamsecret", "team%2F..%2Fsecret"};
    size_t asked = 0;
    for (size_t t = 0; t < sizeof(tokens) / sizeof(tokens[0]); t++) {
        for (size_t i = 0; i < api_route_count; i++) {
            const struct route *route = &api_routes[i];
            if (route->flags & ROUTE_PAGE ||
                (route->flags & ROUTE_STREAM && !strchr(route->pattern, '{')))
                continue; /* has no end; see below */
            for (size_t a = 0; a < sizeof(arguments) / sizeof(arguments[0]); a++) {
                char line[300];
                line_of(route, arguments[a], line);
                struct answer answer = ask_as(world, tokens[t], line, NULL);
                bool is_argument = strchr(route->pattern, '{') != NULL;
                if (is_argument && answer.status < 400)
                    fail_msg("%s: %s: %d %s", tokens[t], line, answer.status, answer.text);
                if (!is_argument && strstr(answer.text, "secret") &&
                    !strstr(route->pattern, "openapi") && strcmp(route->pattern, "/api") != 0)
                    fail_msg("%s: %s: %s", tokens[t], line, answer.text);
                answer_release(&answer);
                asked++;
                if (!is_argument)
                    break;
            }
        }
    }
    assert_true(asked > 300);
    json_t *after = EXPECT(world, 200, "GET /jobs?fields=name,revision", NULL);
    if (!json_equal(before, after))
        fail_msg("a job was touched");
    json_decref(before);
    json_decref(after);
}

static void test_own_things(void **state)
{
    struct world *world = *state;
    char run[32], other_run[32];
    fake_executor_set_instant(world->executor, true);
    add_job(world, "team%2Fown", run);
    add_job(world, "other%2Fsecret", other_run);
    static const struct {
        int line;
        const char *token, *request, *body;
        int status;
    } cases[] = {
        {__LINE__, "team-viewer", "GET /jobs/team%2Fown", NULL, 200},
        {__LINE__, "team-viewer", "GET /jobs/team%2Fown/next", NULL, 200},
        {__LINE__, "team-viewer", "GET /jobs/team%2Fown/why", NULL, 200},
        {__LINE__, "team-viewer", "GET /jobs/team%2Fnothing", NULL, 404},
        {__LINE__, "team-viewer", "POST /jobs/team%2Fown/run", NULL, 403},
        {__LINE__, "team-viewer", "GET /nodes", NULL, 200},
        {__LINE__, "team-viewer", "GET /nodes/here", NULL, 200},
        {__LINE__, "team-editor", "POST /nodes/here/drain", NULL, 403},
        {__LINE__, "team-viewer", "GET /users", NULL, 403},
        {__LINE__, "team-viewer", "GET /stats?job=team/own", NULL, 200},
        {__LINE__, "team-viewer", "GET /stats?job=other/secret", NULL, 403},
        {__LINE__, "team-viewer", "GET /stats?job=other/nothing", NULL, 403},
        {__LINE__, "team-viewer", "GET /stats", NULL, 422},
        {__LINE__, "viewer", "GET /stats", NULL, 200},
        {__LINE__, "team-viewer", "GET /audit?action=login", NULL, 403},
        {__LINE__, "team-viewer", "GET /cluster", NULL, 200},
        {__LINE__, "team-editor", "POST /cluster/advance-cursors", NULL, 403},
        {__LINE__, "team-viewer", "GET //v1/jobs/team%2Fown", NULL, 200},
        {__LINE__, "team-viewer", "GET //v1/jobs/other%2Fsecret", NULL, 403},
        {__LINE__, "team-viewer", "GET //v1/jobs/team%2Fown/executions", NULL, 200},
        {__LINE__, "team-viewer", "POST //v1/jobs/team%2Fown/run", NULL, 403},
        {__LINE__, "team-viewer", "GET //v1/members", NULL, 403},
        {__LINE__, "team-viewer", "GET //worker/list", NULL, 403},
        {__LINE__, "team-operator", "POST //job/delete", "name=team/own", 403},
        {__LINE__, "team-editor", "POST //v1/jobs", DKRON("team/dkron"), 201},
        {__LINE__, "team-editor", "POST //v1/jobs", DKRON("other/secret"), 403},
        {__LINE__, "team-editor", "POST //v1/jobs", DKRON("other/new"), 403},
        {__LINE__, "team-operator", "POST /jobs/team%2Fown/run", NULL, 202},
        {__LINE__, "team-operator", "POST /jobs/team%2Fown/pause", NULL, 200},
        {__LINE__, "team-operator", "PUT /jobs/team%2Fown", JOB, 403},
        {__LINE__, "team-operator", "POST /agent/drain", NULL, 403},
        {__LINE__, "team-editor", "PUT /jobs/team%2Fnew", JOB, 201},
        {__LINE__, "team-editor", "PUT /jobs/team%2Fa%2Fb", JOB, 201},
        {__LINE__, "team-editor", "PUT /jobs/team", JOB, 403},
        {__LINE__, "team-editor", "POST /jobs", NAMED("team/posted"), 201},
        {__LINE__, "team-editor", "POST /jobs", NAMED("other/posted"), 403},
        {__LINE__, "team-operator", "POST /jobs", NAMED("team/other"), 403},
        {__LINE__, "team-editor", "PUT /jobs/teams%2Fnew", JOB, 403},
        {__LINE__, "team-editor", "DELETE /jobs/team%2Fnew", NULL, 200},
        {__LINE__, "team-editor", "POST /jobs/team%2Fnew/undelete", NULL, 200},
        {__LINE__, "team-editor", "POST /jobs:batch", "{\"delete\":[\"team/new\"]}", 200},
        {__LINE__, "team-editor", "POST /jobs:batch", "{\"delete\":[\"other/secret\"]}", 403},
        {__LINE__, "team-editor", "POST /jobs:batch", "{\"delete\":[\"other/nothing\"]}", 403},
        {__LINE__, "team-editor", "POST /jobs:batch",
         "{\"put\":[{\"name\":\"other/x\",\"schedule\":\"@daily\",\"command\":[\"true\"]}]}", 403},
        {__LINE__, "team-editor", "PATCH /jobs/team%2Fown", "{\"name\":\"other/x\"}", 422},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int status = status_as(world, cases[i].token, cases[i].request, cases[i].body);
        if (status != cases[i].status)
            fail_msg("line %d: %d", cases[i].line, status);
    }
    char line[80];
    snprintf(line, sizeof(line), "GET /runs/%s", run);
    assert_int_equal(status_as(world, "team-viewer", line, NULL), 200);
    snprintf(line, sizeof(line), "GET /runs/%s/log", run);
    assert_int_equal(status_as(world, "team-viewer", line, NULL), 200);
    snprintf(line, sizeof(line), "POST /runs/%s/retry", run);
    assert_int_equal(status_as(world, "team-viewer", line, NULL), 403);
    assert_int_equal(status_as(world, "team-operator", line, NULL), 202);
    snprintf(line, sizeof(line), "POST /runs/%s/kill", other_run);
    assert_int_equal(status_as(world, "team-operator", line, NULL), 404);
}

static void test_lists_hold_what_is_theirs(void **state)
{
    struct world *world = *state;
    char run[32];
    fake_executor_set_instant(world->executor, true);
    add_job(world, "team%2Fown", run);
    add_job(world, "other%2Fsecret", run);
    struct answer jobs = ask_as(world, "team-viewer", "GET /jobs", NULL);
    assert_int_equal(member_count(jobs.body, "items"), 1);
    assert_string_equal(member_text(jobs.body, "items.0.name"), "team/own");
    answer_release(&jobs);
    struct answer sorted = ask_as(world, "team-viewer", "GET /jobs?sort=next", NULL);
    assert_int_equal(member_count(sorted.body, "items"), 1);
    answer_release(&sorted);
    struct answer runs = ask_as(world, "team-viewer", "GET /runs", NULL);
    assert_int_equal(member_count(runs.body, "items"), 1);
    answer_release(&runs);
    struct answer audit = ask_as(world, "team-viewer", "GET /audit", NULL);
    assert_int_equal(member_count(audit.body, "items"), 2);
    assert_string_equal(member_text(audit.body, "items.0.action"), "run");
    assert_string_equal(member_text(audit.body, "items.0.job"), "team/own");
    assert_string_equal(member_text(audit.body, "items.1.action"), "create");
    answer_release(&audit);
    struct answer dkron = ask_as(world, "team-viewer", "GET //v1/jobs", NULL);
    assert_int_equal(json_array_size(dkron.body), 1);
    answer_release(&dkron);
    struct answer line = ask_as(world, "team-viewer", "GET /timeline", NULL);
    assert_true(member_count(line.body, "ticks") > 10);
    assert_int_equal(member_count(line.body, "runs"), 1);
    answer_release(&line);
    struct answer metrics = ask_as(world, "team-viewer", "GET //metrics", NULL);
    assert_non_null(strstr(metrics.text, "job=\"team/own\""));
    assert_null(strstr(metrics.text, "peal_runs_total"));
    answer_release(&metrics);
    struct answer agent = ask_as(world, "team-viewer", "GET /agent", NULL);
    assert_int_equal(member_number(agent.body, "jobs"), 1);
    assert_true(json_is_null(member(agent.body, "data")));
    assert_true(json_is_null(member(agent.body, "store.url")));
    answer_release(&agent);
}

static bool has_two_running(void *context)
{
    struct world *world = context;
    json_t *page = EXPECT(world, 200, "GET /runs?state=running", NULL);
    bool has_two = member_count(page, "items") == 2;
    json_decref(page);
    return has_two;
}

/* Nodes are there for all; how busy others keep them, who drained them and where they are is not.
 */
/* Pages without what is others' have no gap where that was: a `next`, or `more`, would tell that
 * something matches. */
static void test_pages_tell_nothing(void **state)
{
    static const struct {
        int line;
        const char *request, *member;
        size_t items; /* of the job that is theirs */
    } cases[] = {
        {__LINE__, "GET /runs?job=other/secret&limit=1", "next", 0},
        {__LINE__, "GET /runs?q=secret&limit=1", "next", 0},
        {__LINE__, "GET /runs?q=other&limit=1&state=ok", "next", 0},
        {__LINE__, "GET /runs?limit=3", "next", 2},
        {__LINE__, "GET /runs?limit=2", "next", 2},
        {__LINE__, "GET /audit?job=other/secret&limit=1", "next", 0},
        {__LINE__, "GET /audit?q=secret&limit=1", "next", 0},
        {__LINE__, "GET /audit?limit=4", "next", 3},
        {__LINE__, "GET /audit?limit=3", "next", 3},
    };
    struct world *world = *state;
    char run[32];
    fake_executor_set_instant(world->executor, true);
    add_job(world, "team%2Fown", run);
    EXPECT_STATUS(world, 202, "POST /jobs/team%2Fown/run", NULL);
    add_job(world, "other%2Fsecret", run);
    for (int i = 0; i < 12; i++)
        EXPECT_STATUS(world, 202, "POST /jobs/other%2Fsecret/run", NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct answer answer = ask_as(world, "team-viewer", cases[i].request, NULL);
        if (!json_is_null(member(answer.body, cases[i].member)) ||
            member_count(answer.body, "items") != cases[i].items)
            fail_msg("line %d: %s", cases[i].line, answer.text);
        answer_release(&answer);
    }
    struct answer line =
        ask_as(world, "team-viewer", "GET /timeline?job=other/secret&limit=1", NULL);
    assert_true(json_is_false(member(line.body, "more")));
    answer_release(&line);
}

/* A page that is full goes on behind its last item. */
static void test_pages_go_on(void **state)
{
    static const char *const lists[] = {"/runs", "/audit"};
    struct world *world = *state;
    char run[32], line[300];
    fake_executor_set_instant(world->executor, true);
    add_job(world, "team%2Fown", run);
    add_job(world, "other%2Fsecret", run);
    for (int i = 0; i < 6; i++) {
        EXPECT_STATUS(world, 202, "POST /jobs/team%2Fown/run", NULL);
        EXPECT_STATUS(world, 202, "POST /jobs/other%2Fsecret/run", NULL);
    }
    for (size_t i = 0; i < 2; i++) {
        size_t found = 0, pages = 0;
        snprintf(line, sizeof(line), "GET %s?limit=2", lists[i]);
        for (bool more = true; more && pages < 10; pages++) {
            struct answer answer = ask_as(world, "team-viewer", line, NULL);
            more = json_is_string(member(answer.body, "next"));
            found += member_count(answer.body, "items");
            if (more)
                snprintf(line, sizeof(line), "GET %s?limit=2&cursor=%s", lists[i],
                         member_text(answer.body, "next"));
            answer_release(&answer);
        }
        assert_int_equal(found, i ? 8 : 7);
        assert_int_equal(pages, 4);
    }
}

/* Rights are looked at before what is there. */
static void test_rights_come_first(void **state)
{
    static const char batch[] =
        "{\"put\":[{\"name\":\"%s\",\"schedule\":\"@daily\",\"command\":[\"true\"],"
        "\"env\":{\"API_TOKEN\":\"********\"}}]}";
    static const char *const names[] = {"other/secret", "other/nothing"};
    struct world *world = *state;
    char run[32], line[80], body[256];
    fake_executor_set_instant(world->executor, true);
    EXPECT_STATUS(world, 201, "PUT /jobs/other%2Fsecret",
                  "{\"schedule\":\"@daily\",\"command\":[\"true\"],\"env\":{\"API_TOKEN\":\"x\"}}");
    for (size_t i = 0; i < 2; i++) {
        snprintf(body, sizeof(body), batch, names[i]);
        assert_int_equal(status_as(world, "team-editor", "POST /jobs:batch", body), 403);
    }
    json_t *value = EXPECT(world, 202, "POST /jobs/other%2Fsecret/run", NULL);
    snprintf(run, sizeof(run), "%s", member_text(value, "run_id"));
    json_decref(value);
    snprintf(line, sizeof(line), "POST /runs/%s/kill", run);
    assert_int_equal(status_as(world, "viewer", line, NULL), 403);
    assert_int_equal(status_as(world, "watcher", line, NULL), 403); /* sees it, and operates team */
    assert_int_equal(status_as(world, "operator", line, NULL), 409);
}

static void test_nodes_without_what_is_others(void **state)
{
    struct world *world = *state;
    char run[32];
    add_job(world, "team%2Fown", run);
    add_job(world, "other%2Fsecret", run);
    world_until(world, has_two_running, world);
    assert_int_equal(status_as(world, "admin", "POST /nodes/here/drain", NULL), 200);
    world->api_store.fails = true; /* says what is wrong, in words */
    struct answer all = ask_as(world, "viewer", "GET /cluster", NULL);
    assert_int_equal(member_number(all.body, "jobs"), 2);
    assert_int_equal(member_number(all.body, "open_runs"), 2);
    assert_string_equal(member_text(all.body, "store.url"), "sqlite");
    assert_string_equal(member_text(all.body, "store.detail"), "the disk is full; make room");
    answer_release(&all);
    struct answer cluster = ask_as(world, "team-viewer", "GET /cluster", NULL);
    assert_int_equal(member_number(cluster.body, "jobs"), 1);
    assert_int_equal(member_number(cluster.body, "open_runs"), 1);
    assert_string_equal(member_text(cluster.body, "store.kind"), "sqlite");
    assert_true(json_is_false(member(cluster.body, "store.ok")));
    assert_true(json_is_null(member(cluster.body, "store.url")));
    assert_string_equal(member_text(cluster.body, "store.detail"),
                        "it is not healthy; an admin can see why");
    answer_release(&cluster);
    world->api_store.fails = false;
    struct answer whole = ask_as(world, "viewer", "GET /nodes/here", NULL);
    assert_string_equal(member_text(whole.body, "drained_by"), "admin");
    answer_release(&whole);
    struct answer nodes = ask_as(world, "team-viewer", "GET /nodes", NULL);
    assert_string_equal(member_text(nodes.body, "items.0.node"), "here");
    assert_int_equal(member_number(nodes.body, "items.0.running"), 1);
    assert_true(json_is_true(member(nodes.body, "items.0.drained")));
    assert_true(json_is_null(member(nodes.body, "items.0.drained_by")));
    assert_true(json_is_null(member(nodes.body, "items.0.detail")));
    assert_true(json_is_null(member(nodes.body, "items.0.address")));
    assert_true(json_is_object(member(nodes.body, "items.0.labels")));
    answer_release(&nodes);
}

/* Who may ask gets 200 whatever happens: `errno` says it. */
static void test_tutorial_of_the_namespace(void **state)
{
    static const struct {
        int line;
        const char *token, *request, *body;
        int error;
    } cases[] = {
        {__LINE__, "team-viewer", "GET //job/log?name=team/own", NULL, 0},
        {__LINE__, "team-viewer", "GET //job/log?name=other/secret", NULL, -1},
        {__LINE__, "team-editor", "POST //job/save", "job=" SAVED("team/saved"), 0},
        {__LINE__, "team-editor", "POST //job/save", "job=" SAVED("other/secret"), -1},
        {__LINE__, "team-editor", "POST //job/save", "job=" SAVED("new"), -1},
        {__LINE__, "team-editor", "POST //job/delete", "name=team/saved", 0},
        {__LINE__, "team-editor", "POST //job/delete", "name=other/secret", -1},
        {__LINE__, "team-operator", "POST //job/kill", "name=team/own", 0},
        {__LINE__, "team-operator", "POST //job/kill", "name=other/secret", -1},
    };
    struct world *world = *state;
    char run[32];
    fake_executor_set_instant(world->executor, true);
    add_job(world, "team%2Fown", run);
    add_job(world, "other%2Fsecret", run);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct answer answer = ask_as(world, cases[i].token, cases[i].request, cases[i].body);
        if (answer.status != 200 || member_number(answer.body, "errno") != cases[i].error ||
            (!cases[i].error && strstr(answer.text, "secret")))
            fail_msg("line %d: %d %s", cases[i].line, answer.status, answer.text);
        answer_release(&answer);
    }
    json_t *jobs = EXPECT(world, 200, "GET /jobs", NULL);
    assert_int_equal(member_count(jobs, "items"), 2);
    json_decref(jobs);
}

/* ---- events ---- */

struct wait {
    struct client *client;
    const char *text;
};

static bool has_text(void *context)
{
    const struct wait *wait = context;
    return strstr(client_text(wait->client), wait->text) != NULL;
}

static bool is_closed(void *context)
{
    return client_is_closed(((struct wait *)context)->client);
}

static struct wait listen_as(struct world *world, const char *token)
{
    char request[256];
    struct wait wait = {client_connect_tcp(world), "event: hello"};
    snprintf(request, sizeof(request), "GET /api/v1/events HTTP/1.1\r\n" HEADER "\r\n", token);
    client_send(wait.client, request, strlen(request));
    world_until(world, has_text, &wait);
    return wait;
}

static void test_events_of_the_namespace(void **state)
{
    struct world *world = *state;
    char run[32];
    struct wait team = listen_as(world, "team-viewer"), all = listen_as(world, "viewer");
    fake_executor_set_instant(world->executor, true);
    add_job(world, "other%2Fsecret", run);
    add_job(world, "secret", run);
    add_job(world, "team%2Fown", run);
    team.text = "team/own";
    world_until(world, has_text, &team);
    all.text = "team/own";
    world_until(world, has_text, &all);
    assert_non_null(strstr(client_text(all.client), "other/secret"));
    assert_null(strstr(client_text(team.client), "secret"));
    assert_int_equal(status_as(world, "admin", "POST /nodes/here/drain", NULL), 200);
    team.text = "{\"node\":\"here\",\"change\":\"drained\"}";
    world_until(world, has_text, &team);
    client_free(team.client);
    client_free(all.client);
}

/* Who is no longer admitted does not listen on. */
static void test_events_end_with_the_token(void **state)
{
    struct world *world = *state;
    struct wait team = listen_as(world, "team-viewer"), other = listen_as(world, "team-editor");
    EXPECT_STATUS(world, 200, "DELETE /tokens/team-viewer", NULL);
    world_until(world, has_text, &other);
    team.text = "\r\n0\r\n"; /* the last chunk */
    world_until(world, has_text, &team);
    assert_null(strstr(client_text(other.client), "\r\n0\r\n"));
    assert_false(is_closed(&other));
    client_free(team.client);
    client_free(other.client);
    assert_int_equal(status_as(world, "team-viewer", "GET /me", NULL), 401);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_every_route_keeps_to_the_namespace),
        TEST(test_own_things),
        TEST(test_lists_hold_what_is_theirs),
        TEST(test_pages_tell_nothing),
        TEST(test_pages_go_on),
        TEST(test_rights_come_first),
        TEST(test_nodes_without_what_is_others),
        TEST(test_tutorial_of_the_namespace),
        TEST(test_events_of_the_namespace),
        TEST(test_events_end_with_the_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
