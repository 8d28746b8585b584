/* Who may do what: every route over TCP without credentials, the rights of roles, pages of other
 * sites, names of other hosts, addresses that others can reach. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "routes.h"

#define JOB  "{\"schedule\":\"0 0 1 1 *\",\"command\":[\"true\"]}"
#define HOST "Host: localhost\r\n"

static const char *method_name(enum http_method method)
{
    switch (method) {
    case HTTP_GET:
        return "GET";
    case HTTP_PUT:
        return "PUT";
    case HTTP_POST:
        return "POST";
    case HTTP_DELETE:
        return "DELETE";
    case HTTP_PATCH:
        return "PATCH";
    case HTTP_HEAD:
    case HTTP_OPTIONS: /* no route has these */
        break;
    }
    return "";
}

/* "GET //api/v1/jobs/x": as ask() wants it, with something for {name}. */
static void line_of(const struct route *route, char line[256])
{
    const char *open = strchr(route->pattern, '{'), *close = strchr(route->pattern, '}');
    if (open)
        snprintf(line, 256, "%s /%.*s%s%s", method_name(route->method),
                 (int)(open - route->pattern), route->pattern, "01ARZ3NDEKTSV4RRFFQ69G5FAV",
                 close + 1);
    else
        snprintf(line, 256, "%s /%s", method_name(route->method), route->pattern);
}

static void test_every_route_needs_credentials(void **state)
{
    static const char *const headers[] = {
        HOST,
        HOST "Authorization: Bearer wrong\r\n",
        HOST "Authorization: Basic cm9vdDpyb290\r\n",
        HOST "Cookie: session=1\r\n",
    };
    size_t closed = 0;
    for (size_t i = 0; i < api_route_count; i++) {
        char line[256];
        line_of(&api_routes[i], line);
        for (size_t j = 0; j < sizeof(headers) / sizeof(headers[0]); j++) {
            if (api_routes[i].right == RIGHT_PUBLIC)
                continue;
            struct answer answer = ask_tcp(*state, line, headers[j], NULL);
            char *type = answer_header(&answer, "Content-Type");
            char *how = answer_header(&answer, "WWW-Authenticate");
            if (answer.status != 401 || strcmp(type, "application/problem+json") != 0 || !how)
                fail_msg("%s: %d %s", line, answer.status, answer.text);
            free(type);
            free(how);
            answer_release(&answer);
            closed++;
        }
    }
    assert_true(closed > 60);
}

/* What a run is by its user, root or the agent's own, counts for nothing. */
static void test_a_run_needs_a_token(void **state)
{
    struct world *world = *state;
    static const struct {
        int line;
        const char *headers, *request, *body;
        int status;
    } cases[] = {
        {__LINE__, "Authorization: Bearer viewer\r\n", "GET /jobs", NULL, 200},
        {__LINE__, "Authorization: Bearer viewer\r\n", "PUT /jobs/team%2Fx", JOB, 403},
        {__LINE__, "Authorization: Bearer team-viewer\r\n", "GET /jobs/other%2Fx", NULL, 403},
        {__LINE__, "Authorization: Bearer definer\r\n", "PUT /jobs/team%2Fx", JOB, 201},
        {__LINE__, "Authorization: Bearer viewer\r\n", "GET /users", NULL, 403},
        {__LINE__, "Authorization: Bearer admin\r\n", "GET /users", NULL, 200},
        {__LINE__, "Authorization: Bearer admin\r\n", "POST /links", "{}", 403}, /* people's */
        {__LINE__, "", "GET //livez", NULL, 200},
    };
    world->asks_as_run = true;
    for (size_t i = 0; i < api_route_count; i++) {
        char line[256];
        line_of(&api_routes[i], line);
        if (api_routes[i].right == RIGHT_PUBLIC)
            continue;
        for (int wrong = 0; wrong < 2; wrong++) {
            struct answer answer =
                ask_with(world, line, wrong ? "Authorization: Bearer wrong\r\n" : "", NULL);
            if (answer.status != 401 || (!wrong && !strstr(answer.text, "a job has no rights")))
                fail_msg("%s: %d %s", line, answer.status, answer.text);
            answer_release(&answer);
        }
    }
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct answer answer = ask_with(world, cases[i].request, cases[i].headers, cases[i].body);
        if (answer.status != cases[i].status)
            fail_msg("line %d: %d %s", cases[i].line, answer.status, answer.text);
        answer_release(&answer);
    }
    world->asks_as_run = false;
    struct answer answer = ask(world, "GET /users", NULL);
    assert_int_equal(answer.status, 200);
    answer_release(&answer);
}

/* Neither does what is not there say so to somebody who is not known. */
static void test_no_route_without_credentials(void **state)
{
    static const char *const lines[] = {"GET /nothing", "GET //none", "DELETE /jobs",
                                        "OPTIONS /jobs", "GET //api/v1/jobs/%zz"};
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct answer answer = ask_tcp(*state, lines[i], HOST, NULL);
        if (answer.status != 401)
            fail_msg("%s: %d", lines[i], answer.status);
        answer_release(&answer);
    }
}

/* The routes that anybody may ask: none becomes so by accident. */
static void test_public_routes(void **state)
{
    static const char *const public[] = {
        "GET /",           "GET /assets/{name}", "GET /livez",        "GET /readyz",
        "GET " V1 "/auth", "POST " V1 "/setup",  "POST " V1 "/login", "POST /hooks/{id}"};
    const size_t count = sizeof(public) / sizeof(public[0]);
    size_t found = 0;
    (void)state;
    for (size_t i = 0; i < api_route_count; i++) {
        char line[256];
        bool is_listed = false;
        snprintf(line, sizeof(line), "%s %s", method_name(api_routes[i].method),
                 api_routes[i].pattern);
        for (size_t j = 0; j < count; j++)
            is_listed |= strcmp(public[j], line) == 0;
        if (is_listed != (api_routes[i].right == RIGHT_PUBLIC))
            fail_msg("%s", line);
        found += is_listed;
    }
    assert_int_equal(found, count);
}

static void test_rights(void **state)
{
    struct world *world = *state;
    static const struct {
        int line;
        const char *token, *request, *body;
        int status;
    } cases[] = {
        {__LINE__, "viewer", "GET /jobs", NULL, 200},
        {__LINE__, "viewer", "GET /me", NULL, 200},
        {__LINE__, "viewer", "POST /jobs/a/run", NULL, 403},
        {__LINE__, "viewer", "PUT /jobs/a", JOB, 403},
        {__LINE__, "viewer", "POST /agent/drain", NULL, 403},
        {__LINE__, "operator", "POST /jobs/a/pause", NULL, 200},
        {__LINE__, "operator", "POST /jobs/a/resume", NULL, 200},
        {__LINE__, "operator", "DELETE /jobs/a", NULL, 403},
        {__LINE__, "operator", "POST /jobs:batch", "{}", 403},
        {__LINE__, "editor", "PUT /jobs/a", JOB, 200}, /* the same */
        {__LINE__, "editor", "PUT /jobs/a", "{\"schedule\":\"1 0 1 1 *\",\"command\":[\"true\"]}",
         200},
        {__LINE__, "editor", "PUT /jobs/a", "{\"schedule\":\"1 0 1 1 *\",\"command\":[\"false\"]}",
         403},
        {__LINE__, "editor", "PUT /jobs/a",
         "{\"schedule\":\"1 0 1 1 *\",\"command\":[\"true\"],\"user\":\"root\"}", 403},
        {__LINE__, "editor", "PUT /jobs/a",
         "{\"schedule\":\"1 0 1 1 *\",\"command\":[\"true\"],\"env\":{\"A\":\"b\"}}", 403},
        {__LINE__, "editor", "PUT /jobs/new", JOB, 403},
        {__LINE__, "editor", "PUT /jobs/new?dry_run=true", JOB, 403},
        {__LINE__, "editor", "POST /jobs:batch",
         "{\"put\":[{\"name\":\"b\",\"schedule\":\"1 0 1 1 *\",\"command\":[\"true\"]}]}", 403},
        {__LINE__, "editor", "POST /jobs:batch", "{\"delete\":[]}", 200},
        {__LINE__, "definer", "PUT /jobs/new", JOB, 201},
        {__LINE__, "definer", "POST /agent/drain", NULL, 403},
        {__LINE__, "definer", "GET /nothing", NULL, 404},
        {__LINE__, "admin", "POST /agent/drain", NULL, 200},
    };
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char headers[128];
        snprintf(headers, sizeof(headers), HOST "Authorization: Bearer %s\r\n", cases[i].token);
        struct answer answer = ask_tcp(world, cases[i].request, headers, cases[i].body);
        if (answer.status != cases[i].status)
            fail_msg("line %d: %d %s", cases[i].line, answer.status, answer.text);
        answer_release(&answer);
    }
}

static void test_me(void **state)
{
    struct answer answer =
        ask_tcp(*state, "GET /me", HOST "Authorization: Bearer editor\r\n", NULL);
    assert_string_equal(member_text(answer.body, "name"), "editor");
    assert_string_equal(member_text(answer.body, "kind"), "token");
    assert_string_equal(member_text(answer.body, "role"), "editor");
    assert_int_equal(member_count(answer.body, "rights"), 3);
    assert_string_equal(member_text(answer.body, "rights.2"), "edit"); /* and not define */
    assert_int_equal(member_count(answer.body, "namespaces"), 0);
    answer_release(&answer);
    answer = ask_tcp(*state, "GET /me", HOST "Authorization: Bearer team-operator\r\n", NULL);
    assert_string_equal(member_text(answer.body, "role"), "none");
    assert_int_equal(member_count(answer.body, "rights"), 0);
    assert_string_equal(member_text(answer.body, "namespaces.0.namespace"), "team");
    assert_string_equal(member_text(answer.body, "namespaces.0.role"), "operator");
    answer_release(&answer);
    json_t *me = EXPECT(*state, 200, "GET /me", NULL);
    assert_string_equal(member_text(me, "kind"), "socket");
    assert_string_equal(member_text(me, "role"), "admin");
    json_decref(me);
}

/* What somebody did is on record under their name. */
static void test_by(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB);
    struct answer answer =
        ask_tcp(world, "POST /jobs/a/run", HOST "Authorization: Bearer operator\r\n", NULL);
    assert_int_equal(answer.status, 202);
    char line[80];
    snprintf(line, sizeof(line), "GET /runs/%s", member_text(answer.body, "run_id"));
    json_t *run = EXPECT(world, 200, line, NULL);
    assert_string_equal(member_text(run, "by"), "operator");
    json_decref(run);
    answer_release(&answer);
}

/* ---- browsers ---- */

static void test_hosts_and_origins(void **state)
{
    static const struct {
        int line;
        const char *request, *headers;
        int status;
    } cases[] = {
        {__LINE__, "GET /jobs", "Host: localhost\r\n", 200},
        {__LINE__, "GET /jobs", "Host: LOCALHOST:7325\r\n", 200},
        {__LINE__, "GET /jobs", "Host: 127.0.0.1:7325\r\n", 200},
        {__LINE__, "GET /jobs", "Host: [::1]:7325\r\n", 200},
        {__LINE__, "GET /jobs", "Host: [::1]\r\n", 200},
        {__LINE__, "GET /jobs", "Host: evil.example\r\n", 403},
        {__LINE__, "GET /jobs", "Host: localhost\r\nHost: evil.example\r\n", 400},
        {__LINE__, "GET /jobs", "Host: localhost\r\nhost: localhost\r\n", 400},
        {__LINE__, "GET /jobs", "Host: localhost.evil.example\r\n", 403},
        {__LINE__, "GET /jobs", "Host: 127.0.0.1.evil.example\r\n", 403},
        {__LINE__, "GET /jobs", "Host: [evil]\r\n", 403},
        {__LINE__, "GET /jobs", "Host: \r\n", 400},
        {__LINE__, "GET /jobs", "", 400},
        {__LINE__, "GET /jobs", "Host: localhost\r\nOrigin: http://evil.example\r\n", 200},
        {__LINE__, "POST /jobs:batch", "Host: localhost:1\r\nOrigin: http://localhost:1\r\n", 200},
        {__LINE__, "POST /jobs:batch", "Host: localhost:1\r\nOrigin: http://localhost:2\r\n", 403},
        {__LINE__, "POST /jobs:batch", "Host: localhost:1\r\nOrigin: http://localhost\r\n", 403},
        {__LINE__, "POST /jobs:batch", "Host: localhost\r\nOrigin: http://localhost:80\r\n", 200},
        {__LINE__, "POST /jobs:batch", "Host: localhost\r\nOrigin: https://localhost\r\n", 403},
        {__LINE__, "POST /jobs:batch", "Host: [::1]:1\r\nOrigin: http://[::1]:1\r\n", 200},
        {__LINE__, "POST /jobs:batch", "Host: [::1]:1\r\nOrigin: http://[::1]:2\r\n", 403},
        {__LINE__, "POST /jobs:batch", "Host: localhost\r\nOrigin: http://evil.example\r\n", 403},
        {__LINE__, "POST /jobs:batch", "Host: localhost\r\nOrigin: null\r\n", 403},
        {__LINE__, "POST /jobs:batch", "Host: localhost\r\nOrigin: \r\n", 403},
        {__LINE__, "POST /jobs:batch", "Host: localhost\r\nSec-Fetch-Site: cross-site\r\n", 403},
        {__LINE__, "POST /jobs:batch", "Host: localhost\r\nSec-Fetch-Site: same-site\r\n", 403},
        {__LINE__, "POST /jobs:batch", "Host: localhost\r\nSec-Fetch-Site: none\r\n", 200},
        {__LINE__, "POST /jobs:batch", "Host: localhost\r\nSec-Fetch-Site: same-origin\r\n", 200},
        {__LINE__, "POST /jobs:batch",
         "Host: localhost\r\nOrigin: http://localhost\r\nSec-Fetch-Site: cross-site\r\n", 403},
        /* Nobody is a trusted proxy here. */
        {__LINE__, "POST /jobs:batch",
         "Host: localhost\r\nOrigin: https://localhost\r\nX-Forwarded-Proto: https\r\n", 403},
        {__LINE__, "POST /jobs:batch",
         "Host: localhost\r\nOrigin: http://evil.example\r\nX-Forwarded-Host: evil.example\r\n",
         403},
        {__LINE__, "DELETE /jobs/a", "Host: localhost\r\nOrigin: http://evil.example\r\n", 403},
        {__LINE__, "PUT /jobs/a", "Host: localhost\r\nOrigin: http://evil.example\r\n", 403},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char headers[256];
        snprintf(headers, sizeof(headers), "%sAuthorization: Bearer admin\r\n", cases[i].headers);
        struct answer answer = ask_tcp(*state, cases[i].request, headers, NULL);
        if (answer.status != cases[i].status)
            fail_msg("line %d: %d %s", cases[i].line, answer.status, answer.text);
        char *allowed = answer_header(&answer, "Access-Control-Allow-Origin");
        assert_null(allowed);
        answer_release(&answer);
    }
}

static void test_security_headers(void **state)
{
    static const char *const lines[] = {"GET /jobs", "GET /nothing", "POST /jobs"};
    static const struct {
        const char *name, *value;
    } wanted[] = {
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "no-referrer"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"},
        {"Cache-Control", "private, no-cache"},
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct answer answer = ask(*state, lines[i], NULL);
        for (size_t j = 0; j < sizeof(wanted) / sizeof(wanted[0]); j++) {
            char *value = answer_header(&answer, wanted[j].name);
            if (!value || strcmp(value, wanted[j].value) != 0)
                fail_msg("%s: %s: %s", lines[i], wanted[j].name, value ? value : "(none)");
            free(value);
        }
        answer_release(&answer);
    }
}

/* ---- addresses ---- */

static enum status try_address(struct world *world, const char *address, struct strbuf *why)
{
    struct api *api = NULL;
    char path[100];
    snprintf(path, sizeof(path), "%s/other", world->dir);
    struct api_config config = {.socket_path = path,
                                .version = "1",
                                .node = "here",
                                .data_dir = "/",
                                .default_tz = "UTC",
                                .listen = &address,
                                .listen_count = 1};
    struct api_ports ports = {.loop = world->loop};
    strbuf_reset(why);
    enum status st = api_new(&config, &ports, &api, why);
    api_free(api);
    return st;
}

static void test_addresses(void **state)
{
    struct world *world = *state;
    struct strbuf why;
    char taken[32];
    strbuf_init(&why);
    snprintf(taken, sizeof(taken), "127.0.0.1:%d", api_port(world->api, 0));
    assert_int_equal(try_address(world, "127.0.0.1:0", &why), OK);
    assert_int_equal(try_address(world, "[::1]:0", &why), OK);
    assert_int_equal(try_address(world, "nonsense", &why), E_INVALID);
    assert_int_equal(try_address(world, taken, &why), E_IO);
    assert_non_null(strstr(why.text, "--listen"));
    assert_int_equal(try_address(world, "0.0.0.0:0", &why), E_INVALID);
    assert_non_null(strstr(why.text, "without TLS"));
    assert_non_null(strstr(why.text, "peal user add"));
    assert_non_null(strstr(why.text, "peal tls init"));
    strbuf_release(&why);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_every_route_needs_credentials),
        TEST(test_a_run_needs_a_token),
        TEST(test_no_route_without_credentials),
        TEST(test_public_routes),
        TEST(test_rights),
        TEST(test_me),
        TEST(test_by),
        TEST(test_hosts_and_origins),
        TEST(test_security_headers),
        TEST(test_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
