/* Connections: one request at a time, in order; when they go on, and how they end. */
#include <stdio.h>
#include <string.h>

#include "http_world.h"

#define GET(target)  "GET " target " HTTP/1.1\r\nHost: h\r\n\r\n"
#define POST(target) "POST " target " HTTP/1.1\r\nHost: h\r\n"

static struct world world;
static struct client client;

static int set_up(void **state)
{
    (void)state;
    world_open(&world, NULL);
    client_open(&client, &world, "127.0.0.1");
    return 0;
}

static int set_up_tls(void **state)
{
    (void)state;
    world_open_tls(&world);
    client_open(&client, &world, "127.0.0.1");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    client_close(&client);
    world_close(&world);
    return 0;
}

static bool is_kept(void *context)
{
    (void)context;
    return world.kept != NULL;
}

static bool is_gone(void *context)
{
    (void)context;
    return world.gone == 1;
}

/* ---- requests ---- */

static void test_in_order(void **state)
{
    (void)state;
    client_send(&client, GET("/echo/1") POST("/echo/2") "Content-Length: 3\r\n\r\nabc");
    client_send(&client, POST("/echo/3") "Transfer-Encoding: chunked\r\n\r\n"
                                         "2\r\nde\r\n1\r\nf\r\n0\r\n\r\n");
    client_send(&client, "GET /echo/4 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    client_wait_for_end(&client);
    assert_int_equal(client_answers(&client), 4);
    const char *first = strstr(client.in.text, "OTHER /echo/1 ");
    const char *second = strstr(client.in.text, "POST /echo/2 abc");
    const char *third = strstr(client.in.text, "POST /echo/3 def");
    const char *fourth = strstr(client.in.text, "OTHER /echo/4 ");
    assert_true(first && first < second && second < third && third < fourth);
    assert_int_equal(world.gone, 0);
}

/* Each byte by itself. */
static void test_byte_by_byte(void **state)
{
    static const char text[] = POST("/echo") "Transfer-Encoding: chunked\r\nConnection: close\r\n"
                                             "\r\n3\r\nabc\r\n0\r\n\r\n";
    (void)state;
    for (size_t i = 0; i < strlen(text); i++) {
        client_send(&client, (char[]){text[i], '\0'});
        world_turn(&world, 1);
    }
    client_wait_for_end(&client);
    assert_true(client_has(&client, "POST /echo abc"));
    assert_int_equal(world.requests, 1);
}

static void test_one_at_a_time(void **state)
{
    (void)state;
    client_send(&client, GET("/keep") GET("/echo/next"));
    world_until(&world, is_kept, NULL);
    world_turn(&world, 20);
    assert_int_equal(world.heads, 1);
    client_fill(&client, 0);
    world_answer(&world, 200);
    client_wait_for(&client, "/echo/next");
    assert_int_equal(world.requests, 2);
}

static void test_client_that_sends_no_more_gets_its_answers(void **state)
{
    (void)state;
    client_send(&client, GET("/keep") GET("/echo/next"));
    client_hang_up(&client);
    world_until(&world, is_kept, NULL);
    world_turn(&world, 20);
    world_answer(&world, 200);
    client_wait_for_end(&client);
    assert_true(client_has(&client, "kept"));
    assert_true(client_has(&client, "/echo/next"));
    assert_int_equal(world.gone, 0);
}

static void test_client_that_leaves_is_told_of(void **state)
{
    (void)state;
    client_send(&client, POST("/echo") "Content-Length: 10\r\n\r\nhalf");
    world_turn(&world, 20);
    assert_int_equal(world.heads, 1);
    client_close(&client);
    world_until(&world, is_gone, NULL);
    assert_int_equal(world.requests, 0);
    assert_int_equal(http_server_connections(world.server), 0);
}

/* ---- answers ---- */

static void test_fields(void **state)
{
    (void)state;
    client_send(&client, GET("/echo"));
    client_wait_for(&client, "OTHER /echo");
    assert_true(client_has(&client, "\r\nX-Injected: a  Set-Cookie: b \r\n"));
    assert_true(client_has(&client, "\r\nx-set: second\r\n"));
    assert_false(client_has(&client, "first"));
    assert_true(client_has(&client, "\r\nDate: "));
    assert_true(client_has(&client, "\r\nContent-Length: 12\r\n"));
    assert_false(client_has(&client, "Connection: close"));
}

static void test_answers_without_a_body(void **state)
{
    (void)state;
    client_send(&client, "HEAD /echo HTTP/1.1\r\nHost: h\r\n\r\n");
    client_wait_for(&client, "\r\n\r\n");
    client_send(&client, "GET /echo HTTP/1.1\r\nHost: h\r\nIf-None-Match: x\r\n"
                         "Connection: close\r\n\r\n");
    client_wait_for_end(&client);
    assert_true(client_has(&client, "\r\nContent-Length: 11\r\n")); /* of "HEAD /echo " */
    assert_true(client_has(&client, "HTTP/1.1 304 Not Modified\r\n"));
    assert_false(client_has(&client, "HEAD /echo"));
    assert_false(client_has(&client, "OTHER /echo"));
}

static void test_refusal_of_head_has_no_body(void **state)
{
    (void)state;
    client_send(&client, "HEAD /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nDELET");
    client_wait_for_end(&client);
    assert_true(client_has(&client, "HTTP/1.1 400 "));
    assert_string_equal(strstr(client.in.text, "\r\n\r\n"), "\r\n\r\n");
    assert_int_equal(world.heads, 0);
}

static bool is_sending(void *context)
{
    (void)context;
    return http_server_sending(world.server) == 1;
}

/* What the kernel does not take at once comes later, and who ends can wait for it a while. */
static void test_large_answer(void **state)
{
    (void)state;
    client_send(&client, GET("/large") GET("/echo"));
    world_until(&world, is_sending, NULL);
    assert_true(http_server_unsent(world.server) > 0);
    world_turn(&world, 1100);
    assert_int_equal(http_server_sending(world.server), 0); /* nobody waits for ever */
    assert_int_equal(world.heads, 1);
    client_wait_for(&client, "\r\n\r\n");
    const char *end = strstr(client.in.text, "\r\n\r\n");
    assert_non_null(end);
    size_t size = (size_t)(end + 4 - client.in.text) + LARGE;
    client_wait_for_length(&client, size + strlen("HTTP/1.1 200"));
    assert_memory_equal(client.in.text + size, "HTTP/1.1 200", 12);
    assert_int_equal(http_server_unsent(world.server), 0);
}

/* ---- the last answer of a connection ---- */

static void test_ends(void **state)
{
    static const struct {
        int line;
        const char *bytes;
        int status, heads;
    } cases[] = {
        {__LINE__, "nonsense\r\n\r\n", 400, 0},
        {__LINE__, POST("/forbidden") "Content-Length: 3\r\n\r\nabc", 403, 1},
        {__LINE__, POST("/forbidden") "Expect: 100-continue\r\nContent-Length: 3\r\n\r\n", 403, 1},
        {__LINE__, POST("/echo") "Content-Length: 60001\r\n\r\nabc", 413, 1},
        {__LINE__, POST("/echo") "Transfer-Encoding: chunked\r\n\r\nEA61\r\nabc", 413, 1},
        {__LINE__, POST("/echo") "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", 400, 1},
        {__LINE__, "GET /echo HTTP/1.0\r\n\r\n", 200, 1},
        {__LINE__, "GET /echo HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", 200, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct client one;
        int status = 0, heads = world.heads;
        client_open(&one, &world, "127.0.0.1");
        client_send(&one, cases[i].bytes);
        client_send(&one, GET("/echo/next"));
        client_wait_for_end(&one);
        sscanf(one.in.text, "HTTP/1.1 %d", &status);
        if (status != cases[i].status || client_answers(&one) != 1 ||
            world.heads - heads != cases[i].heads || !client_has(&one, "\r\nConnection: close\r\n"))
            fail_msg("line %d: %s", cases[i].line, one.in.text);
        client_close(&one);
    }
}

/* A client that is refused while it still sends can read why. */
static void test_refused_while_sending(void **state)
{
    (void)state;
    client_send(&client, POST("/forbidden") "Content-Length: 50000\r\n\r\n");
    client_fill(&client, 50000);
    client_wait_for_end(&client);
    assert_true(client_has(&client, "HTTP/1.1 403 Forbidden"));
    assert_true(client_has(&client, "\r\n\r\nno"));
    client_close(&client);
    world_turn(&world, 20);
    assert_int_equal(http_server_connections(world.server), 0);
}

static void test_no_body_no_end(void **state)
{
    (void)state;
    client_send(&client, GET("/forbidden"));
    client_wait_for(&client, "no");
    client_send(&client, GET("/echo"));
    client_wait_for(&client, "OTHER /echo");
}

static void test_continue(void **state)
{
    (void)state;
    client_send(&client, POST("/echo") "Expect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    client_wait_for(&client, "HTTP/1.1 100 Continue\r\n\r\n");
    assert_int_equal(world.requests, 0);
    client_send(&client, "abc");
    client_wait_for(&client, "POST /echo abc");
}

/* ---- streams ---- */

static bool has_stream(void *context)
{
    (void)context;
    return world.stream != NULL;
}

static void test_stream(void **state)
{
    (void)state;
    client_send(&client, GET("/stream"));
    client_wait_for(&client, "5\r\npiece\r\n");
    assert_true(client_has(&client, "\r\nTransfer-Encoding: chunked\r\n"));
    world_send_piece(&world, "more");
    client_wait_for(&client, "4\r\nmore\r\n");
    http_stream_end(world.stream);
    client_wait_for(&client, "0\r\n\r\n");
    client_send(&client, GET("/echo"));
    client_wait_for(&client, "OTHER /echo");
    assert_int_equal(world.gone, 0);
}

static void test_stream_with_a_length(void **state)
{
    (void)state;
    client_send(&client, GET("/length") GET("/echo"));
    client_wait_for(&client, "\r\n\r\npieceHTTP/1.1 200 OK\r\n");
    client_wait_for(&client, "OTHER /echo");
}

/* There are no chunks in 1.0: the end of the connection is the stream's. */
static void test_stream_for_1_0(void **state)
{
    (void)state;
    client_send(&client, "GET /stream HTTP/1.0\r\n\r\n");
    client_wait_for(&client, "\r\n\r\npiece");
    assert_false(client_has(&client, "Transfer-Encoding"));
    http_stream_end(world.stream);
    client_wait_for_end(&client);
    assert_string_equal(strstr(client.in.text, "\r\n\r\n"), "\r\n\r\npiece");
}

/* Whether the client's end comes before, after or without bytes that nobody reads. */
static void test_stream_is_left(void **state)
{
    static const struct {
        int line;
        const char *before, *after;
    } cases[] = {
        {__LINE__, GET("/stream"), ""},
        {__LINE__, GET("/stream") GET("/echo"), ""},
        {__LINE__, GET("/stream"), GET("/echo")},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct client one;
        world.gone = 0;
        client_open(&one, &world, "127.0.0.1");
        client_send(&one, cases[i].before);
        world_until(&world, has_stream, NULL);
        client_send(&one, cases[i].after);
        world_turn(&world, 20);
        if (world.gone)
            fail_msg("line %d: too early", cases[i].line);
        client_close(&one);
        world_until(&world, is_gone, NULL);
    }
}

/* It has hung up before the stream begins. */
static void test_stream_to_nobody(void **state)
{
    (void)state;
    client_send(&client, GET("/stream"));
    client_hang_up(&client);
    world_until(&world, is_gone, NULL);
}

static void test_stream_is_broken(void **state)
{
    (void)state;
    client_send(&client, GET("/stream"));
    client_wait_for(&client, "piece");
    http_stream_break(world.stream);
    assert_int_equal(world.gone, 1);
    client_wait_for_end(&client);
    assert_false(client_has(&client, "0\r\n\r\n"));
}

/* ---- the end of all ---- */

static void test_freed_in_the_middle(void **state)
{
    struct client streaming, receiving;
    (void)state;
    client_open(&streaming, &world, "127.0.0.1");
    client_open(&receiving, &world, "127.0.0.1");
    client_send(&streaming, GET("/stream"));
    world_until(&world, has_stream, NULL);
    client_send(&client, GET("/keep"));
    world_until(&world, is_kept, NULL);
    client_send(&receiving, POST("/echo") "Content-Length: 10\r\n\r\nhalf");
    world_turn(&world, 20);
    http_server_free(world.server);
    world.server = NULL;
    assert_int_equal(world.gone, 3);
    client_close(&streaming);
    client_close(&receiving);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define TLS(name)                                                                                  \
    {                                                                                              \
        "tls_" #name, name, set_up_tls, tear_down, NULL                                            \
    }
    const struct CMUnitTest tests[] = {
        TEST(test_in_order),
        TEST(test_byte_by_byte),
        TEST(test_one_at_a_time),
        TEST(test_client_that_sends_no_more_gets_its_answers),
        TEST(test_client_that_leaves_is_told_of),
        TEST(test_fields),
        TEST(test_answers_without_a_body),
        TEST(test_refusal_of_head_has_no_body),
        TEST(test_large_answer),
        TEST(test_ends),
        TEST(test_refused_while_sending),
        TEST(test_no_body_no_end),
        TEST(test_continue),
        TEST(test_stream),
        TEST(test_stream_with_a_length),
        TEST(test_stream_for_1_0),
        TEST(test_stream_is_left),
        TEST(test_stream_to_nobody),
        TEST(test_stream_is_broken),
        TEST(test_freed_in_the_middle),
        TLS(test_in_order),
        TLS(test_byte_by_byte),
        TLS(test_one_at_a_time),
        TLS(test_client_that_leaves_is_told_of),
        TLS(test_answers_without_a_body),
        TLS(test_large_answer),
        TLS(test_ends),
        TLS(test_refused_while_sending),
        TLS(test_no_body_no_end),
        TLS(test_continue),
        TLS(test_stream),
        TLS(test_stream_with_a_length),
        TLS(test_stream_for_1_0),
        TLS(test_stream_is_left),
        TLS(test_stream_is_broken),
        TLS(test_freed_in_the_middle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
