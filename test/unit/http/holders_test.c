/* Who is cut when requests hold too much, and who makes room for others' connections. */
#include <stdio.h>
#include <string.h>

#include "http_world.h"

/* Strangers have 32,000 bytes, those of one address 8,000. */
enum { HELD = 64000, CLIENTS = 8 };

static const struct http_limits limits = {
    .connections = CLIENTS,
    .request_ms = 60000,
    .answer_ms = 60000,
    .idle_ms = 60000,
    .bytes_per_s = 1 << 20,
    .held_bytes = HELD,
    .unsent_bytes = 64 << 20,
};

static struct world world;
static struct client clients[CLIENTS];

static int set_up(void **state)
{
    (void)state;
    world_open(&world, &limits);
    for (int i = 0; i < CLIENTS; i++)
        clients[i] = (struct client){.fd = -1};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < CLIENTS; i++)
        client_close(&clients[i]);
    world_close(&world);
    return 0;
}

/* Part of a request with so many bytes. */
static void hold(struct client *client, const char *from, const char *path, size_t bytes)
{
    char head[128];
    client_open(client, &world, from);
    snprintf(head, sizeof(head), "POST %s HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n", path,
             BODY_MAX);
    client_send(client, head);
    client_fill(client, bytes);
    world_turn(&world, 20);
}

static bool is_cut(struct client *client)
{
    world_turn(&world, 5);
    (void)client_has(client, "");
    return client->is_closed;
}

/* What everybody else sees meanwhile. */
static void check_others(void)
{
    struct client other;
    client_open(&other, &world, "127.0.0.1");
    client_send(&other, "GET /echo HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    client_wait_for_end(&other);
    assert_true(client_has(&other, "OTHER /echo"));
    client_close(&other);
}

static void test_largest_of_an_address(void **state)
{
    (void)state;
    hold(&clients[0], "127.0.0.2", "/a", 3000);
    hold(&clients[1], "127.0.0.3", "/a", 3500);
    hold(&clients[2], "127.0.0.2", "/a", 2000);
    hold(&clients[3], "127.0.0.2", "/a", 2900); /* its address has more than 8,000 now */
    assert_true(is_cut(&clients[0]));
    assert_false(is_cut(&clients[1]));
    assert_false(is_cut(&clients[2]));
    assert_false(is_cut(&clients[3]));
    assert_int_equal(http_server_cut(world.server), 1);
    check_others();
}

static void test_largest_address_of_strangers(void **state)
{
    static const size_t bytes[] = {6000, 6100, 7200, 6200, 6300};
    char from[24];
    (void)state;
    for (int i = 0; i < 5; i++) { /* 31,800 with their heads, until the last */
        snprintf(from, sizeof(from), "127.0.0.%d", 2 + i);
        hold(&clients[i], from, "/a", bytes[i]);
    }
    hold(&clients[5], "127.0.0.9", "/a", 1000);
    for (int i = 0; i < 6; i++)
        assert_int_equal(is_cut(&clients[i]), i == 2);
    check_others();
}

/* Those who are known have all that strangers do not, and the largest of them is cut in the end. */
static void test_known_ones(void **state)
{
    (void)state;
    hold(&clients[0], "127.0.0.1", "/known", 20000);
    hold(&clients[1], "127.0.0.1", "/known", 25000);
    hold(&clients[2], "127.0.0.2", "/a", 7000);
    assert_false(is_cut(&clients[0]));
    assert_false(is_cut(&clients[1]));
    assert_false(is_cut(&clients[2]));
    hold(&clients[3], "127.0.0.1", "/known", 15000); /* too much in all */
    assert_false(is_cut(&clients[0]));
    assert_true(is_cut(&clients[1]));
    assert_false(is_cut(&clients[2]));
    assert_false(is_cut(&clients[3]));
    check_others();
}

/* What was answered, or left, is not held any more. */
static void test_room_comes_back(void **state)
{
    (void)state;
    for (int i = 0; i < 40; i++) {
        hold(&clients[0], "127.0.0.2", "/a", 5000);
        assert_false(is_cut(&clients[0]));
        client_close(&clients[0]);
        world_turn(&world, 5);
    }
    assert_int_equal(http_server_cut(world.server), 0);
    assert_int_equal(http_server_connections(world.server), 0);
}

/* All connections are taken by those who say nothing: after a second they make room. */
static void test_connections(void **state)
{
    (void)state;
    for (int i = 0; i < CLIENTS - 1; i++)
        client_open(&clients[i], &world, "127.0.0.2");
    world_turn(&world, 1100);
    for (int i = 0; i < 5; i++)
        check_others();
    int closed = 0;
    for (int i = 0; i < CLIENTS - 1; i++)
        closed += is_cut(&clients[i]);
    assert_in_range(closed, 1, CLIENTS - 1);
    assert_true(http_server_connections(world.server) <= CLIENTS);
}

/* Whoever waits for an answer is not closed for others; these wait. */
static void test_connections_that_are_served(void **state)
{
    struct client other;
    (void)state;
    for (int i = 0; i < CLIENTS; i++) {
        client_open(&clients[i], &world, "127.0.0.2");
        client_send(&clients[i], "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
        client_wait_for(&clients[i], "piece");
    }
    client_open(&other, &world, "127.0.0.1");
    client_send(&other, "GET /echo HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    world_turn(&world, 1200);
    assert_false(client_has(&other, "HTTP"));
    client_close(&clients[3]);
    client_wait_for(&other, "OTHER /echo");
    client_close(&other);
    for (int i = 0; i < CLIENTS; i++)
        assert_true(i == 3 || !is_cut(&clients[i]));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_largest_of_an_address),
        TEST(test_largest_address_of_strangers),
        TEST(test_known_ones),
        TEST(test_room_comes_back),
        TEST(test_connections),
        TEST(test_connections_that_are_served),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
