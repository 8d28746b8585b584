/* Clients over TCP that misbehave: each is told off or cut off, the others do not notice, and
 * nothing is left behind. */
#include "harness.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD   "GET /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\n"
#define VIEWER "Authorization: Bearer viewer\r\n"

static bool is_closed(void *context)
{
    return client_is_closed(context);
}

static int status_of(const struct client *client)
{
    int status = 0;
    sscanf(client_text(client), "HTTP/1.%*d %d", &status);
    return status;
}

/* The server is there for others. */
static void check_alive(struct world *world)
{
    struct answer answer = ask_tcp(world, "GET /jobs", "Host: localhost\r\n" VIEWER, NULL);
    assert_int_equal(answer.status, 200);
    answer_release(&answer);
}

/* Whoever is refused is told so as all others are: by a problem, whole, and nothing behind it. */
static bool is_problem(const struct client *client, int status)
{
    const char *text = client_text(client), *body = strstr(text, "\r\n\r\n");
    const char *length = strcasestr(text, "\r\nContent-Length: ");
    json_t *problem = body ? json_loads(body + 4, 0, NULL) : NULL;
    bool is_one = strcasestr(text, "\r\nContent-Type: application/problem+json\r\n") && length &&
                  (size_t)atoi(length + strlen("\r\nContent-Length: ")) == strlen(body + 4) &&
                  member_number(problem, "status") == status && member(problem, "detail") &&
                  !strstr(text, "<");
    json_decref(problem);
    return is_one;
}

static void test_odd_requests(void **state)
{
    static const struct {
        int line;
        const char *bytes;
        int status; /* 0: closed without a word */
    } cases[] = {
        {__LINE__, "\r\n\r\n\r\n", 400},
        {__LINE__, "nonsense\r\n\r\n", 400},
        {__LINE__, "GET\r\n\r\n", 400},
        {__LINE__, "GET / HTTP/9.9\r\n\r\n", 505},
        {__LINE__, "GET / HTTP/x\r\n\r\n", 400},
        {__LINE__, "BREW /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
         501},
        {__LINE__, HEAD "no colon\r\n\r\n", 400},
        {__LINE__, HEAD "Content-Length: x\r\n\r\n", 400},
        {__LINE__, "\x16\x03\x01\x02\r\n\r\n", 400}, /* TLS, where it is plain */
        {__LINE__,
         "PUT /api/v1/jobs/a HTTP/1.1\r\nHost: localhost\r\nExpect: a miracle\r\n"
         "Content-Length: 2\r\n\r\n",
         417},
        {__LINE__,
         "PUT /api/v1/jobs/a HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
         "Authorization: Bearer admin\r\nContent-Length: 99999999\r\n\r\n",
         413},
        {__LINE__, HEAD "Connection: close\r\n\r\n", 401},
        {__LINE__, HEAD VIEWER "Connection: close\r\n\r\n", 200},
        {__LINE__, "GET /api/v1/jobs HTTP/1.0\r\nHost: localhost\r\n" VIEWER "\r\n", 200},
        {__LINE__,
         "GET /api/v1/jobs/\xff\xfe HTTP/1.1\r\nHost: localhost\r\n" VIEWER
         "Connection: close\r\n\r\n",
         400},
        {__LINE__,
         "GET //localhost/api/v1/jobs HTTP/1.1\r\nHost: localhost\r\n" VIEWER
         "Connection: close\r\n\r\n",
         404},
        {__LINE__,
         "GET http://localhost/api/v1/jobs HTTP/1.1\r\nHost: localhost\r\n" VIEWER
         "Connection: close\r\n\r\n",
         400},
        {__LINE__,
         "GET /api/v1//jobs HTTP/1.1\r\nHost: localhost\r\n" VIEWER "Connection: close\r\n\r\n",
         404},
        {__LINE__,
         "GET /api/v1/./jobs HTTP/1.1\r\nHost: localhost\r\n" VIEWER "Connection: close\r\n\r\n",
         404},
        {__LINE__,
         "GET /livez/../api/v1/jobs HTTP/1.1\r\nHost: localhost\r\n" VIEWER
         "Connection: close\r\n\r\n",
         404},
        {__LINE__,
         "GET /api/v1/jobs/%2e%2e HTTP/1.1\r\nHost: localhost\r\n" VIEWER
         "Connection: close\r\n\r\n",
         404},
        {__LINE__,
         "GET /api/v1/%6aobs HTTP/1.1\r\nHost: localhost\r\n" VIEWER "Connection: close\r\n\r\n",
         404},
        {__LINE__,
         "GET /API/V1/JOBS HTTP/1.1\r\nHost: localhost\r\n" VIEWER "Connection: close\r\n\r\n",
         404},
        {__LINE__,
         "GET /api/v1%2Fjobs HTTP/1.1\r\nHost: localhost\r\n" VIEWER "Connection: close\r\n\r\n",
         404},
        {__LINE__, "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n" VIEWER "Connection: close\r\n\r\n",
         400},
        {__LINE__,
         "PUT /api/v1/jobs/a HTTP/1.1\r\nHost: localhost\r\n"
         "Authorization: Bearer admin\r\nContent-Length: -1\r\n\r\n",
         400},
        {__LINE__,
         "PUT /api/v1/jobs/a HTTP/1.1\r\nHost: localhost\r\n"
         "Authorization: Bearer admin\r\nContent-Length: 99999999\r\n\r\n",
         413},
        {__LINE__,
         "PUT /api/v1/jobs/a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
         "Authorization: Bearer admin\r\nContent-Length: 5\r\n\r\n\"\xff\xff\xff\"",
         422},
        {__LINE__,
         "PUT /api/v1/jobs/a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
         "Authorization: Bearer admin\r\nTransfer-Encoding: chunked\r\n\r\n"
         "zz\r\n",
         400},
        {__LINE__,
         "PUT /api/v1/jobs/a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
         "Authorization: Bearer admin\r\nTransfer-Encoding: chunked\r\n\r\n"
         "3\r\n{\"x\r\n5\r\n\":1}\n\r\n0\r\n\r\n",
         422},
    };
    struct world *world = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct client *client = client_connect_tcp(world);
        client_send(client, cases[i].bytes, strlen(cases[i].bytes));
        world_until(world, is_closed, client);
        if (status_of(client) != cases[i].status ||
            (cases[i].status >= 400 && !is_problem(client, cases[i].status)))
            fail_msg("line %d: %s", cases[i].line, client_text(client));
        client_free(client);
    }
    check_alive(world);
}

static bool has_two_answers(void *context)
{
    const char *first = strstr(client_text(context), " 200 ");
    return first && strstr(first + 1, " 200 ");
}

static void test_pipelining(void **state)
{
    struct world *world = *state;
    static const char requests[] =
        HEAD VIEWER "\r\n" HEAD VIEWER "\r\n" HEAD VIEWER "Connection: close\r\n\r\n";
    struct client *client = client_connect_tcp(world);
    client_send(client, requests, sizeof(requests) - 1);
    world_until(world, is_closed, client);
    assert_true(has_two_answers(client));
    assert_true(status_of(client) == 200);
    client_free(client);
}

static void test_large_headers(void **state)
{
    struct world *world = *state;
    static const size_t sizes[] = {15 << 10, 17 << 10, 1 << 20};
    for (size_t i = 0; i < 3; i++) {
        struct strbuf request;
        strbuf_init(&request);
        strbuf_adds(&request, HEAD VIEWER "Connection: close\r\n");
        for (size_t j = 0; request.length < sizes[i]; j++)
            strbuf_addf(&request, "X-%zu: %0500d\r\n", j, 0);
        strbuf_adds(&request, "\r\n");
        struct client *client = client_connect_tcp(world);
        client_send(client, request.text, request.length);
        world_until(world, is_closed, client);
        if ((status_of(client) == 200) != (i == 0) || (i && !is_problem(client, 431)))
            fail_msg("%zu bytes: %.40s", sizes[i], client_text(client));
        client_free(client);
        strbuf_release(&request);
    }
    check_alive(world);
}

static void test_long_target(void **state)
{
    struct world *world = *state;
    struct strbuf request;
    strbuf_init(&request);
    strbuf_adds(&request, "GET /api/v1/jobs?q=");
    for (int i = 0; i < 20000; i++)
        strbuf_addc(&request, 'x');
    strbuf_adds(&request, " HTTP/1.1\r\nHost: localhost\r\n" VIEWER "\r\n");
    struct client *client = client_connect_tcp(world);
    client_send(client, request.text, request.length);
    world_until(world, is_closed, client);
    assert_true(is_problem(client, 431));
    client_free(client);
    strbuf_release(&request);
    check_alive(world);
}

static bool has_continue(void *context)
{
    return strstr(client_text(context), "HTTP/1.1 100 ");
}

/* The invitation to go on is no refusal. */
static void test_expected_continue(void **state)
{
    struct world *world = *state;
    static const char head[] = "PUT /api/v1/jobs/a HTTP/1.1\r\nHost: localhost\r\n"
                               "Authorization: Bearer admin\r\nConnection: close\r\n"
                               "Expect: 100-continue\r\nContent-Length: 43\r\n\r\n";
    static const char body[] = "{\"schedule\":\"0 0 1 1 *\",\"command\":[\"true\"]}";
    struct client *client = client_connect_tcp(world);
    client_send(client, head, sizeof(head) - 1);
    world_until(world, has_continue, client);
    client_send(client, body, sizeof(body) - 1);
    world_until(world, is_closed, client);
    assert_non_null(strstr(client_text(client), "HTTP/1.1 201 "));
    client_free(client);
}

/* Who was let in with the head is not let in any more when the body has come. */
static void test_revoked_in_the_middle(void **state)
{
    struct world *world = *state;
    static const char head[] = "PUT /api/v1/jobs/a HTTP/1.1\r\nHost: localhost\r\n"
                               "Authorization: Bearer definer\r\nConnection: close\r\n"
                               "Expect: 100-continue\r\nContent-Length: 43\r\n\r\n";
    static const char body[] = "{\"schedule\":\"0 0 1 1 *\",\"command\":[\"true\"]}";
    struct client *client = client_connect_tcp(world);
    client_send(client, head, sizeof(head) - 1);
    world_until(world, has_continue, client);
    EXPECT_STATUS(world, 200, "DELETE /tokens/definer", NULL);
    client_send(client, body, sizeof(body) - 1);
    world_until(world, is_closed, client);
    assert_non_null(strstr(client_text(client), "HTTP/1.1 401 "));
    client_free(client);
    EXPECT_STATUS(world, 404, "GET /jobs/a", NULL);
}

/* Reading a body costs time, which whoever is not known yet has little of. */
static void test_body_of_strangers(void **state)
{
    static const struct {
        int line;
        const char *what;
        size_t length;
        int status;
    } cases[] = {
        {__LINE__, "POST /login", 16 << 10, 422},
        {__LINE__, "POST /login", (16 << 10) + 1, 413},
        {__LINE__, "POST /setup", (16 << 10) + 1, 413},
        {__LINE__, "GET /auth", 2, 400}, /* it has no body at all */
    };
    struct world *world = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *body = calloc(1, cases[i].length + 1);
        assert_non_null(body);
        memset(body, ' ', cases[i].length);
        memcpy(body, "{}", 2);
        struct answer answer = ask(world, cases[i].what, body);
        if (answer.status != cases[i].status)
            fail_msg("line %d: %d", cases[i].line, answer.status);
        answer_release(&answer);
        free(body);
    }
}

static void test_body_over_a_megabyte(void **state)
{
    struct world *world = *state;
    char *body = malloc((1 << 20) + 2);
    memset(body, ' ', (1 << 20) + 1);
    body[(1 << 20) + 1] = '\0';
    struct answer answer = ask(world, "PUT /jobs/a", body);
    assert_int_equal(answer.status, 413);
    assert_non_null(strstr(member_text(answer.body, "detail"), "1048576"));
    answer_release(&answer);
    memcpy(body, "{}", 2);
    answer = ask(world, "POST /jobs:batch", body); /* a batch may be larger */
    assert_int_equal(answer.status, 200);
    answer_release(&answer);
    free(body);
}

/* ---- slow clients; the world of these gives them 0.3 s, and looks once a second ---- */

struct slow {
    struct client *client;
    const char *bytes;
    size_t sent;
    struct loop_timer *timer;
};

/* A byte now and then, so that it is never silent. */
static void send_byte(void *context)
{
    struct slow *slow = context;
    if (client_is_closed(slow->client) || !slow->bytes[slow->sent])
        return;
    client_send_now(slow->client, slow->bytes + slow->sent, 1);
    slow->sent++;
    loop_timer_set(slow->timer, 50);
}

static void test_slowloris(void **state)
{
    static const char *const starts[] = {
        "GET /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nX-A: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aa",
        "", /* nothing at all */
    };
    struct world *world = *state;
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        struct slow slow = {.client = client_connect_tcp(world), .bytes = starts[i]};
        assert_int_equal(loop_timer_new(world->loop, send_byte, &slow, &slow.timer), OK);
        loop_timer_set(slow.timer, 0);
        world_until(world, is_closed, slow.client);
        assert_true(slow.sent < 60);
        assert_int_equal(status_of(slow.client), 0);
        loop_timer_free(slow.timer);
        client_free(slow.client);
    }
    check_alive(world);
}

static void test_slow_body(void **state)
{
    struct world *world = *state;
    static const char head[] = "PUT /api/v1/jobs/a HTTP/1.1\r\nHost: localhost\r\n"
                               "Authorization: Bearer admin\r\nContent-Length: 1000\r\n\r\n";
    static const char body[] =
        "{                                                                                      ";
    struct slow slow = {.client = client_connect_tcp(world), .bytes = body};
    client_send(slow.client, head, sizeof(head) - 1);
    assert_int_equal(loop_timer_new(world->loop, send_byte, &slow, &slow.timer), OK);
    loop_timer_set(slow.timer, 0);
    world_until(world, is_closed, slow.client);
    assert_int_equal(status_of(slow.client), 0);
    loop_timer_free(slow.timer);
    client_free(slow.client);
    check_alive(world);
}

static void test_idle_connection_is_closed(void **state)
{
    struct world *world = *state;
    struct client *client = client_connect_tcp(world);
    client_send(client, HEAD VIEWER "\r\n", sizeof(HEAD VIEWER "\r\n") - 1);
    world_until(world, is_closed, client);
    assert_int_equal(status_of(client), 200);
    client_free(client);
}

/* What all of them have sent so far must not fill the memory. */
static void test_many_half_bodies(void **state)
{
    struct world *world = *state;
    enum { CLIENTS = 10, PART = 200 << 10 };
    static const char head[] = "PUT /api/v1/jobs/a HTTP/1.1\r\nHost: localhost\r\n"
                               "Authorization: Bearer admin\r\nContent-Length: 1000000\r\n\r\n";
    struct client *clients[CLIENTS];
    size_t cut = 0;
    char *part = malloc(PART);
    memset(part, ' ', PART);
    for (size_t i = 0; i < CLIENTS; i++) {
        clients[i] = client_connect_tcp(world);
        client_send(clients[i], head, sizeof(head) - 1);
        client_send(clients[i], part, PART);
    }
    for (size_t i = 0; i < CLIENTS; i++) {
        world_until(world, is_closed, clients[i]); /* by now, or by its time */
        cut += status_of(clients[i]) == 0;
        client_free(clients[i]);
    }
    assert_int_equal(cut, CLIENTS);
    free(part);
    check_alive(world);
}

/* More than the listener takes: they wait their turn, and the UNIX socket is not touched. */
static void test_too_many_connections(void **state)
{
    struct world *world = *state;
    enum { CLIENTS = 40 };
    struct client *clients[CLIENTS];
    for (size_t i = 0; i < CLIENTS; i++)
        clients[i] = client_connect_tcp(world);
    EXPECT_STATUS(world, 200, "GET /jobs", NULL);
    check_alive(world); /* when those that say nothing have been closed */
    for (size_t i = 0; i < CLIENTS; i++)
        client_free(clients[i]);
}

static bool is_behind(void *context)
{
    return api_unsent(((struct world *)context)->api) > 0;
}

static bool is_cut(void *context)
{
    return api_cut(((struct world *)context)->api) == 1;
}

/* A page of them is large. */
static void put_large_jobs(struct world *world)
{
    for (int i = 0; i < 200; i++) {
        char line[64], body[2200], notes[2000];
        memset(notes, 'n', sizeof(notes));
        snprintf(line, sizeof(line), "PUT /jobs/job-%d", i);
        snprintf(body, sizeof(body),
                 "{\"schedule\":\"0 0 1 1 *\",\"command\":[\"true\"],\"notes\":\"%.1900s\"}",
                 notes);
        EXPECT_STATUS(world, 201, line, body);
    }
}

static const char large_request[] =
    "GET /api/v1/jobs?limit=1000 HTTP/1.1\r\nHost: localhost\r\n" VIEWER "\r\n";

/* Reads nothing of large answers. */
static void test_client_that_does_not_read(void **state)
{
    struct world *world = *state;
    put_large_jobs(world);
    struct client *client = client_connect_tcp(world);
    client_stop_reading(client);
    for (int i = 0; i < 20; i++)
        client_send_now(client, large_request, sizeof(large_request) - 1);
    world_until(world, is_behind, world);
    world_until(world, is_cut, world);
    assert_int_equal(api_unsent(world->api), 0);
    client_free(client);
    check_alive(world);
}

/* Time does not stand still for the slow while others come and go. */
static void test_slow_beside_traffic(void **state)
{
    static const char half[] = "GET /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\n";
    struct world *world = *state;
    struct client *slow = client_connect_tcp(world);
    client_send(slow, half, sizeof(half) - 1);
    for (int64_t until_ms = clock_now().boot.ms + 60000; !client_is_closed(slow);) {
        struct answer answer =
            ask_tcp(world, "GET //livez", "Host: localhost\r\nConnection: close\r\n", NULL);
        assert_int_equal(answer.status, 200);
        answer_release(&answer);
        assert_true(clock_now().boot.ms < until_ms);
    }
    client_free(slow);
}

enum { HOARDERS = 600, AT_ONCE = 4 };

static bool is_refused(void *context)
{
    struct world *world = context;
    struct answer answer = ask_tcp(world, "GET /agent", "Host: localhost\r\n" VIEWER, NULL);
    int status = answer.status;
    answer_release(&answer);
    return status == 503;
}

static struct client *hoard(struct world *world)
{
    struct client *client = client_connect_tcp(world);
    client_stop_reading(client);
    for (int i = 0; i < 20; i++)
        client_send_now(client, large_request, sizeof(large_request) - 1);
    return client;
}

/* Many who do not read: others wait until the worst are cut, and memory is bounded. */
static void test_many_that_do_not_read(void **state)
{
    struct world *world = *state;
    struct client *clients[HOARDERS];
    size_t count = 0, refused = 0, most = 0;
    put_large_jobs(world);
    for (int64_t until_ms = clock_now().boot.ms + 60000; !api_cut(world->api) || !refused;) {
        bool is_full = is_refused(world);
        for (size_t i = 0; !is_full && i < AT_ONCE && count < HOARDERS; i++)
            clients[count++] = hoard(world);
        refused += is_full;
        most = api_unsent(world->api) > most ? api_unsent(world->api) : most;
        assert_true(clock_now().boot.ms < until_ms);
    }
    /* It is looked at now and then, and so not at its very height. */
    assert_in_range(most, NARROW_BYTES - (1 << 18), NARROW_BYTES + (1 << 20));
    struct answer answer = ask_tcp(world, "GET //livez", "Host: localhost\r\n", NULL);
    assert_int_equal(answer.status, 200);
    answer_release(&answer);
    EXPECT_STATUS(world, 200, "GET /agent", NULL); /* on another listener */
    for (size_t i = 0; i < count; i++)
        client_free(clients[i]);
}

/* ---- memory ---- */

/* What AddressSanitizer's allocator says, where it is in charge. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t used_bytes(void)
{
    return __sanitizer_get_current_allocated_bytes ? __sanitizer_get_current_allocated_bytes()
                                                   : mallinfo2().uordblks;
}

static void abuse(struct world *world)
{
    static const char *const bytes[] = {
        "GET /api/v1/jobs HTT",
        HEAD "X: y",
        "PUT /api/v1/jobs/a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
        "\xff\xff\xff\xff\r\n\r\n",
        HEAD VIEWER "\r\n" HEAD VIEWER "\r\n",
        ("POST /api/v1/jobs:batch HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
         "ffffffffff\r\n"),
    };
    for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
        struct client *client = client_connect_tcp(world);
        client_send(client, bytes[i], strlen(bytes[i]));
        client_free(client);
    }
    check_alive(world);
}

static void test_memory_stays_flat(void **state)
{
    struct world *world = *state;
    for (int i = 0; i < 20; i++)
        abuse(world);
    size_t before = used_bytes();
    for (int i = 0; i < 200; i++)
        abuse(world);
    assert_true(api_connections(world->api) < 10);
    assert_true(used_bytes() < before + (64 << 10));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)
#define SLOW(name) cmocka_unit_test_setup_teardown(name, world_set_up_impatient, world_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_odd_requests),
        TEST(test_pipelining),
        TEST(test_large_headers),
        TEST(test_long_target),
        TEST(test_expected_continue),
        TEST(test_revoked_in_the_middle),
        TEST(test_body_of_strangers),
        TEST(test_body_over_a_megabyte),
        SLOW(test_slowloris),
        SLOW(test_slow_body),
        SLOW(test_idle_connection_is_closed),
        SLOW(test_many_half_bodies),
        SLOW(test_too_many_connections),
        SLOW(test_client_that_does_not_read),
        SLOW(test_slow_beside_traffic),
        cmocka_unit_test_setup_teardown(test_many_that_do_not_read, world_set_up_narrow,
                                        world_tear_down),
        TEST(test_memory_stays_flat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
