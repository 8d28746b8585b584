/* HTTP itself: paths, methods, parameters, limits, clients that misbehave, the socket. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define JOB "{\"schedule\":\"0 0 1 1 *\",\"command\":[\"true\"]}"

static void test_statuses(void **state)
{
    static const struct {
        int line;
        const char *request, *body;
        int status;
        const char *words; /* in the detail */
    } cases[] = {
        {__LINE__, "GET /agent", NULL, 200, ""},
        {__LINE__, "GET /nodes", NULL, 200, ""},
        {__LINE__, "GET /nodes/absent", NULL, 404, "no node absent"},
        {__LINE__, "POST /nodes/absent/drain", NULL, 404, "no node absent"},
        {__LINE__, "POST /nodes/absent/undrain", NULL, 404, "no node absent"},
        {__LINE__, "GET /nodes/here/drain", NULL, 405, "POST"},
        {__LINE__, "GET /cluster", NULL, 200, ""},
        {__LINE__, "POST /cluster/advance-cursors", NULL, 409, "nothing to advance"},
        {__LINE__, "GET //nothing", NULL, 404, "nothing at /nothing"},
        {__LINE__, "GET //api/v2/jobs", NULL, 404, ""},
        {__LINE__, "GET /nothing", NULL, 404, "docs/API.md"},
        {__LINE__, "GET /jobs/", NULL, 404, ""},
        {__LINE__, "GET /jobs/absent", NULL, 404, "no job \"absent\""},
        {__LINE__, "GET /jobs/a%2Fb", NULL, 404, "no job \"a/b\""},
        {__LINE__, "GET /jobs/a/b", NULL, 404, "nothing at"},
        {__LINE__, "GET /jobs/a%zz", NULL, 422, "percent-encoded"},
        {__LINE__, "GET /jobs/a%ff", NULL, 422, "percent-encoded"},
        {__LINE__, "GET /jobs/a%00b", NULL, 422, "percent-encoded"},
        {__LINE__, "POST /jobs", NULL, 422, "a body is needed"},
        {__LINE__, "PATCH /jobs", NULL, 405, "GET, HEAD"},
        {__LINE__, "OPTIONS /agent", NULL, 405, "GET, HEAD"},
        {__LINE__, "GET /agent?x=1", NULL, 422, "takes none"},
        {__LINE__, "GET /jobs?limitt=1", NULL, 422, "known: limit cursor"},
        {__LINE__, "GET /jobs?limit=1&limit=2", NULL, 422, "twice"},
        {__LINE__, "GET /jobs?limit=0", NULL, 422, "from 1 to 1000"},
        {__LINE__, "GET /jobs?limit=1001", NULL, 422, "from 1 to 1000"},
        {__LINE__, "GET /jobs?limit=x", NULL, 422, "from 1 to 1000"},
        {__LINE__, "GET /jobs?limit=", NULL, 422, "from 1 to 1000"},
        {__LINE__, "GET /jobs?cursor=!", NULL, 422, "earlier page"},
        {__LINE__, "GET /jobs?deleted=maybe", NULL, 422, "true or false"},
        {__LINE__, "GET /jobs?label==x", NULL, 422, "name=value"},
        {__LINE__, "GET /jobs?q=%", NULL, 422, "percent-encoded"},
        {__LINE__, "GET /jobs/absent/next", NULL, 404, ""},
        {__LINE__, "GET /jobs/absent/why", NULL, 404, ""},
        {__LINE__, "DELETE /jobs/absent", NULL, 404, ""},
        {__LINE__, "POST /jobs/absent/run", NULL, 404, ""},
        {__LINE__, "POST /jobs/absent/pause", NULL, 404, ""},
        {__LINE__, "POST /jobs/absent/resume", NULL, 404, ""},
        {__LINE__, "POST /jobs/absent/undelete", NULL, 404, "no deleted job"},
        {__LINE__, "POST /jobs/absent/skip-next", NULL, 404, ""},
        {__LINE__, "POST /jobs/absent/backfill", NULL, 404, ""},
        {__LINE__, "GET /runs/xyz", NULL, 404, "not the id"},
        {__LINE__, "GET /runs/01ARZ3NDEKTSV4RRFFQ69G5FAV", NULL, 404, "no run"},
        {__LINE__, "POST /runs/01ARZ3NDEKTSV4RRFFQ69G5FAV/kill", NULL, 404, "no run"},
        {__LINE__, "GET /runs/01ARZ3NDEKTSV4RRFFQ69G5FAV/log", NULL, 404, "no run"},
        {__LINE__, "GET /runs?state=odd", NULL, 422, "no state \"odd\""},
        {__LINE__, "GET /runs?status=odd", NULL, 422, "status: there is no state \"odd\""},
        {__LINE__, "GET /runs?since=yesterday", NULL, 422, "since"},
        {__LINE__, "GET /runs?min_duration=5", NULL, 422, "min_duration"},
        {__LINE__, "GET /runs?cursor=eA==", NULL, 422, "not an id"},
        {__LINE__, "GET /runs/01ARZ3NDEKTSV4RRFFQ69G5FAV/log?offset=-1", NULL, 422, "from 0"},
        {__LINE__, "PUT /jobs/a", NULL, 422, "body is needed"},
        {__LINE__, "PUT /jobs/a", "{", 422, "not JSON: line 1"},
        {__LINE__, "PUT /jobs/a", "{\"a\":1,\"a\":2}", 422, "not JSON"},
        {__LINE__, "PUT /jobs/a", "{\"a\":\"\\u0000\"}", 422, "\\u0000 is not allowed"},
        {__LINE__, "PUT /jobs/a", "[]", 422, "expected a job"},
        {__LINE__, "PUT /jobs/a", "{\"command\":[\"x\"]}", 422, "needs a \"schedule\""},
        {__LINE__, "PUT /jobs/a", "{\"schedul\":\"* * * * *\"}", 422, "did you mean"},
        {__LINE__, "PUT /jobs/a", "{\"schedule\":\"99 * * * *\",\"command\":[\"x\"]}", 422,
         "schedule: "},
        {__LINE__, "PUT /jobs/a", "{\"name\":\"b\"}", 422, "path names \"a\""},
        {__LINE__, "PUT /jobs/-a", JOB, 422, "must start with"},
        {__LINE__, "PUT /jobs/a?dry_run=1", JOB, 422, "true or false"},
        {__LINE__, "POST /jobs:batch", "[]", 422, "JSON object"},
        {__LINE__, "POST /jobs:batch", "{\"put\":{}}", 422, "expected a list"},
        {__LINE__, "POST /jobs:batch", "{\"puts\":[]}", 422, "unknown field \"puts\""},
        {__LINE__, "POST /agent/drain", "{\"x\":1}", 422, "takes none"},
    };
    struct world *world = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct answer answer = ask(world, cases[i].request, cases[i].body);
        bool is_problem = strstr(answer.head, "Content-Type: application/problem+json") != NULL;
        const char *detail = member_text(answer.body, "detail");
        if (answer.status != cases[i].status || !strstr(answer.head, "X-Request-Id: ") ||
            is_problem != (cases[i].status >= 400) ||
            (is_problem && (!strstr(detail, cases[i].words) ||
                            member_number(answer.body, "status") != cases[i].status)))
            fail_msg("line %d: got %d\n%s%s", cases[i].line, answer.status, answer.head,
                     answer.text);
        answer_release(&answer);
    }
}

static void test_mistyped_words_are_guessed(void **state)
{
    static const struct {
        int line;
        const char *request, *pointer, *meant; /* NULL: nothing is near */
    } cases[] = {
        {__LINE__, "GET /audit?action=delet", "?action", "delete"},
        {__LINE__, "GET /audit?action=create,rolback", "?action", "rollback"},
        {__LINE__, "GET /audit?action=quux", "?action", NULL},
        {__LINE__, "GET /runs?state=FAILED", "?state", "failed"},
        {__LINE__, "GET /runs?state=ok,timedout", "?state", "timed_out"},
        {__LINE__, "GET /jobs?status=pausd", "?status", "paused"},
        {__LINE__, "GET /jobs?sort=nxt", "?sort", "next"},
        {__LINE__, "GET /jobs?fields=name,shedule", "?fields", "schedule"},
        {__LINE__, "GET /jobs?limt=3", "?limt", "limit"},
        {__LINE__, "GET /jobs?zzz=3", "?zzz", NULL},
        {__LINE__, "GET /stats?span=hours", "?span", "hour"},
        {__LINE__, "GET /events?topics=runs,node", "?topics", "nodes"},
    };
    char want_en[80], want_zh[80];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *meant = cases[i].meant;
        struct answer en = ask(*state, cases[i].request, NULL);
        struct answer zh = ask_with(*state, cases[i].request, "Accept-Language: zh\r\n", NULL);
        snprintf(want_en, sizeof(want_en), "; did you mean \"%s\"?", meant ? meant : "");
        snprintf(want_zh, sizeof(want_zh), "是否指“%s”？", meant ? meant : "");
        if (en.status != 422 ||
            strcmp(member_text(en.body, "errors.0.pointer"), cases[i].pointer) != 0 ||
            !strstr(member_text(en.body, "detail"), want_en) != !meant ||
            (meant && (strcmp(member_text(en.body, "errors.0.hint"), want_en + 2) != 0 ||
                       strcmp(member_text(zh.body, "errors.0.hint"), want_zh) != 0)))
            fail_msg("line %d: %s\n%s", cases[i].line, en.text, zh.text);
        answer_release(&en);
        answer_release(&zh);
    }
}

static void test_method_not_allowed_names_methods(void **state)
{
    struct answer answer = ask(*state, "POST /jobs/a", "{}");
    assert_int_equal(answer.status, 405);
    assert_non_null(strstr(answer.head, "Allow: GET, HEAD, PUT, PATCH, DELETE\r\n"));
    answer_release(&answer);
}

static void test_head_has_no_body(void **state)
{
    struct answer got = ask(*state, "GET /jobs", NULL), head = ask(*state, "HEAD /jobs", NULL);
    char length[64];
    snprintf(length, sizeof(length), "Content-Length: %zu\r\n", strlen(got.text));
    assert_int_equal(head.status, 200);
    assert_string_equal(head.text, "");
    assert_non_null(strstr(head.head, length));
    answer_release(&got);
    answer_release(&head);
}

static void test_agent(void **state)
{
    struct world *world = *state;
    json_t *agent = EXPECT(world, 200, "GET /agent", NULL);
    assert_string_equal(member_text(agent, "node"), "here");
    assert_string_equal(member_text(agent, "version"), "1.2.3");
    assert_string_equal(member_text(agent, "state"), "running");
    assert_string_equal(member_text(agent, "data"), world->dir);
    assert_int_equal(member_number(agent, "pid"), getpid());
    assert_true(json_is_true(member(agent, "store.ok")));
    assert_true(json_is_true(member(agent, "history.ok")));
    json_decref(agent);
    agent = EXPECT(world, 200, "POST /agent/drain", NULL);
    assert_string_equal(member_text(agent, "state"), "draining");
    assert_true(world->drained);
    json_decref(agent);
}

static void test_loading(void **state)
{
    struct world *world = *state;
    json_t *agent = EXPECT(world, 200, "GET /agent", NULL);
    assert_string_equal(member_text(agent, "state"), "loading");
    json_decref(agent);
    EXPECT_STATUS(world, 503, "GET /jobs", NULL);
    EXPECT_STATUS(world, 503, "GET /jobs/a", NULL);
    EXPECT_STATUS(world, 503, "PUT /jobs/a", JOB);
    EXPECT_STATUS(world, 503, "GET /runs", NULL);
    EXPECT_STATUS(world, 404, "GET /nothing", NULL);
}

/* ---- backends that fail ---- */

static void test_unwell_backends(void **state)
{
    static const struct {
        int line;
        const char *request, *body;
        const char *words;
    } cases[] = {
        {__LINE__, "PUT /jobs/new", JOB, "disk is full; make room"},
        {__LINE__, "POST /jobs:batch", "{\"delete\":[\"a\"]}", "disk is full"},
        {__LINE__, "DELETE /jobs/a", NULL, "disk is full"},
        {__LINE__, "POST /jobs/a/pause", NULL, "disk is full"},
        {__LINE__, "POST /jobs/a/run", NULL, "disk is full"},
        {__LINE__, "POST /runs/01ARZ3NDEKTSV4RRFFQ69G5FAV/kill", NULL, "disk is full"},
        {__LINE__, "GET /runs", NULL, "history.db is damaged"},
        {__LINE__, "GET /runs/01ARZ3NDEKTSV4RRFFQ69G5FAV", NULL, "damaged"},
        {__LINE__, "GET /runs/01ARZ3NDEKTSV4RRFFQ69G5FAV/log", NULL, "damaged"},
        {__LINE__, "GET /jobs/a/why", NULL, "damaged"},
        {__LINE__, "POST /jobs/a/backfill", "{\"from\":\"2020-01-01\",\"to\":\"2021-01-02\"}",
         "damaged"},
    };
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB);
    world->api_store.fails = world->api_history.fails = true;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *problem = expect(world, cases[i].line, 503, cases[i].request, cases[i].body);
        if (!strstr(member_text(problem, "detail"), cases[i].words))
            fail_msg("line %d: %s", cases[i].line, member_text(problem, "detail"));
        json_decref(problem);
    }
    EXPECT_STATUS(world, 200, "GET /jobs/a", NULL); /* what is known is still shown */
    json_t *agent = EXPECT(world, 200, "GET /agent", NULL);
    assert_true(json_is_false(member(agent, "store.ok")));
    assert_string_equal(member_text(agent, "history.detail"), "history.db is damaged");
    json_decref(agent);
}

/* ---- clients that misbehave ---- */

static bool is_closed(void *context)
{
    return client_is_closed(context);
}

static void test_large_body_is_refused(void **state)
{
    struct world *world = *state;
    static const char head[] = "PUT /api/v1/jobs/a HTTP/1.1\r\nHost: peal\r\n"
                               "Content-Length: 99999999\r\n\r\n";
    struct client *client = client_connect(world);
    client_send(client, head, sizeof(head) - 1);
    world_until(world, is_closed, client);
    assert_non_null(strstr(client_text(client), " 413 "));
    client_free(client);
}

static void test_large_headers_are_refused(void **state)
{
    struct world *world = *state;
    size_t size = 100 << 10;
    char *request = malloc(size);
    memset(request, 'x', size);
    memcpy(request, "GET /api/v1/agent HTTP/1.1\r\nX: ", 31);
    memcpy(request + size - 4, "\r\n\r\n", 4);
    struct client *client = client_connect(world);
    client_send(client, request, size);
    world_until(world, is_closed, client);
    assert_null(strstr(client_text(client), " 200 "));
    client_free(client);
    free(request);
}

/* Half a request, and then silence: the others do not notice. */
static void test_slow_client_holds_up_nobody(void **state)
{
    struct world *world = *state;
    static const char start[] = "PUT /api/v1/jobs/slow HTTP/1.1\r\nHost: peal\r\n"
                                "Connection: close\r\nContent-Length: 43\r\n\r\n{\"sched";
    static const char rest[] = "ule\":\"0 0 1 1 *\",\"command\":[\"true\"]}";
    struct client *slow = client_connect(world);
    client_send(slow, start, sizeof(start) - 1);
    for (int i = 0; i < 20; i++)
        EXPECT_STATUS(world, 200, "GET /agent", NULL);
    EXPECT_STATUS(world, 404, "GET /jobs/slow", NULL);
    client_send(slow, rest, sizeof(rest) - 1);
    world_until(world, is_closed, slow);
    assert_non_null(strstr(client_text(slow), " 201 "));
    client_free(slow);
}

static bool has_calls(void *context)
{
    const struct world *world = context;
    return api_open_requests(world->api) > 0;
}

static bool has_no_calls(void *context)
{
    return !has_calls(context);
}

/* Gone before the store has answered: what was asked for is done all the same. */
static void test_client_that_does_not_wait(void **state)
{
    struct world *world = *state;
    static const char *const requests[] = {
        ("PUT /api/v1/jobs/left HTTP/1.1\r\nHost: p\r\nContent-Length: 43\r\n\r\n" JOB),
        "GET /api/v1/runs HTTP/1.1\r\nHost: p\r\n\r\n",
        "GET /api/v1/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV HTTP/1.1\r\nHost: p\r\n\r\n",
        "POST /api/v1/jobs/left/run HTTP/1.1\r\nHost: p\r\n\r\n",
        "POST /api/v1/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV/kill HTTP/1.1\r\nHost: p\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        world_hold(world);
        struct client *client = client_connect(world);
        client_send(client, requests[i], strlen(requests[i]));
        world_until(world, has_calls, world);
        client_free(client);
        world_release(world);
        world_until(world, has_no_calls, world);
    }
    EXPECT_STATUS(world, 200, "GET /jobs/left", NULL);
}

/* What waits when everything ends is given up without a trace. */
static void test_end_with_calls_under_way(void **state)
{
    struct world *world = *state;
    static const char request[] = "GET /api/v1/runs HTTP/1.1\r\nHost: p\r\n\r\n";
    world_hold(world);
    struct client *client = client_connect(world);
    client_send(client, request, sizeof(request) - 1);
    world_until(world, has_calls, world);
    client_free(client); /* the loop is freed with the world, which is torn down now */
}

struct crowd {
    struct client *clients[100];
};

static bool all_closed(void *context)
{
    const struct crowd *crowd = context;
    for (size_t i = 0; i < 100; i++) {
        if (!client_is_closed(crowd->clients[i]))
            return false;
    }
    return true;
}

static void test_hundred_at_once(void **state)
{
    struct world *world = *state;
    struct crowd crowd;
    world_hold(world);
    for (int i = 0; i < 100; i++) {
        char request[256];
        int length = snprintf(request, sizeof(request),
                              "PUT /api/v1/jobs/job-%d HTTP/1.1\r\nHost: peal\r\n"
                              "Connection: close\r\nContent-Length: %zu\r\n\r\n%s",
                              i, strlen(JOB), JOB);
        crowd.clients[i] = client_connect(world);
        client_send(crowd.clients[i], request, (size_t)length);
    }
    world_release(world);
    world_until(world, all_closed, &crowd);
    for (size_t i = 0; i < 100; i++) {
        assert_non_null(strstr(client_text(crowd.clients[i]), " 201 "));
        client_free(crowd.clients[i]);
    }
    json_t *jobs = EXPECT(world, 200, "GET /jobs?limit=1000", NULL);
    assert_int_equal(member_count(jobs, "items"), 100);
    json_decref(jobs);
}

static void test_connection_is_kept(void **state)
{
    struct world *world = *state;
    static const char request[] = "GET /api/v1/jobs/none HTTP/1.1\r\nHost: peal\r\n\r\n";
    static const char last[] =
        "GET /api/v1/runs HTTP/1.1\r\nHost: peal\r\nConnection: close\r\n\r\n";
    struct client *client = client_connect(world);
    client_send(client, request, sizeof(request) - 1);
    client_send(client, request, sizeof(request) - 1);
    client_send(client, last, sizeof(last) - 1);
    world_until(world, is_closed, client);
    const char *first = strstr(client_text(client), " 404 ");
    assert_non_null(first);
    assert_non_null(strstr(first + 1, " 404 "));
    assert_non_null(strstr(first + 1, " 200 "));
    client_free(client);
}

/* ---- the socket ---- */

static enum status try_socket(struct world *world, const char *path, struct strbuf *why)
{
    struct api *api = NULL;
    struct api_config config = {
        .socket_path = path, .version = "1", .node = "here", .data_dir = "/", .default_tz = "UTC"};
    struct api_ports ports = {.loop = world->loop};
    enum status st = api_new(&config, &ports, &api, why);
    api_free(api);
    return st;
}

static void test_socket(void **state)
{
    struct world *world = *state;
    struct stat file;
    struct strbuf why;
    char path[256], dangling[100];
    strbuf_init(&why);
    assert_int_equal(stat(world->socket_path, &file), 0);
    assert_int_equal(file.st_mode & 0777, 0600);

    assert_int_equal(try_socket(world, world->socket_path, &why), E_BUSY);
    assert_non_null(strstr(why.text, "another agent"));
    assert_int_equal(stat(world->socket_path, &file), 0);

    memset(path, 'a', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    strbuf_reset(&why);
    assert_int_equal(try_socket(world, path, &why), E_INVALID);
    assert_non_null(strstr(why.text, "--data"));

    strbuf_reset(&why);
    assert_int_equal(try_socket(world, world->dir, &why), E_INVALID);
    assert_non_null(strstr(why.text, "no socket"));

    strbuf_reset(&why);
    assert_int_equal(try_socket(world, "/nowhere/api.sock", &why), E_IO);

    snprintf(dangling, sizeof(dangling), "%s/old", world->dir);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", dangling);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    close(fd);
    assert_int_equal(try_socket(world, dangling, &why), OK); /* and it cleans up behind itself */
    assert_int_not_equal(access(dangling, F_OK), 0);
    strbuf_release(&why);
}

/* Even if the file's mode let others in. */
static void test_other_users_are_refused(void **state)
{
    struct world *world = *state;
    if (geteuid() != 0) {
        print_message("only root can ask as another user\n");
        skip();
    }
    assert_int_equal(chmod(world->dir, 0755), 0);
    assert_int_equal(chmod(world->socket_path, 0666), 0);
    assert_int_equal(seteuid(65534), 0);
    struct client *client = client_connect(world); /* the peer's uid is taken here */
    assert_int_equal(seteuid(0), 0);
    static const char request[] =
        "GET /api/v1/agent HTTP/1.1\r\nHost: p\r\nConnection: close\r\n\r\n";
    client_send(client, request, sizeof(request) - 1);
    world_until(world, is_closed, client);
    assert_non_null(strstr(client_text(client), " 403 "));
    client_free(client);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_statuses),
        TEST(test_mistyped_words_are_guessed),
        TEST(test_method_not_allowed_names_methods),
        TEST(test_head_has_no_body),
        TEST(test_agent),
        TEST(test_unwell_backends),
        cmocka_unit_test_setup_teardown(test_loading, world_set_up_loading, world_tear_down),
        TEST(test_large_body_is_refused),
        TEST(test_large_headers_are_refused),
        TEST(test_slow_client_holds_up_nobody),
        TEST(test_client_that_does_not_wait),
        TEST(test_end_with_calls_under_way),
        TEST(test_hundred_at_once),
        TEST(test_connection_is_kept),
        TEST(test_socket),
        TEST(test_other_users_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
