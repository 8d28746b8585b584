/* One request against a server that misbehaves: what is told, and what is sent again. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "etcd.h"
#include "etcd_internal.h"
#include "fake_peer.h"
#include "transport/h2_connection_internal.h"

struct outcome {
    bool is_done;
    enum status status;
    int code;
    int64_t revision;
    char message[400];
};

static void on_done(void *context, const struct kv_result *result)
{
    struct outcome *outcome = context;
    assert_false(outcome->is_done);
    outcome->is_done = true;
    outcome->status = result->status;
    outcome->code = result->code;
    outcome->revision = result->revision;
    snprintf(outcome->message, sizeof(outcome->message), "%s", result->message);
}

static enum status ask(struct kv_client *client, bool is_write, struct outcome *outcome)
{
    struct kv_reply reply = {on_done, outcome, 0};
    struct kv_put put = {kv_text("k"), kv_text("v"), 0, false};
    struct kv_range range = {.key = kv_text("k")};
    *outcome = (struct outcome){0};
    return is_write ? kv_put(client, &put, &reply, NULL) : kv_range(client, &range, &reply, NULL);
}

static const struct {
    int line;
    bool is_write;
    enum fake_act script[4];
    enum status want;
    int requests; /* that the server gets to see */
    const char *message;
} rows[] = {
    {__LINE__, true, {FAKE_ANSWER}, OK, 1, ""},
    {__LINE__, true, {FAKE_SPLIT}, OK, 1, ""},
    {__LINE__, true, {FAKE_PADDED}, OK, 1, ""},
    /* surely not done: again */
    {__LINE__, true, {FAKE_NO_LEADER}, OK, 2, ""},
    {__LINE__, true, {FAKE_NO_LEADER, FAKE_NO_LEADER}, OK, 3, ""},
    {__LINE__, true, {FAKE_REFUSE}, OK, 2, ""},
    {__LINE__, true, {FAKE_REFUSE, FAKE_REFUSE, FAKE_REFUSE}, OK, 4, ""},
    {__LINE__, true, {FAKE_GOAWAY_BEFORE}, OK, 2, ""},
    {__LINE__, true, {FAKE_GOAWAY_AFTER}, OK, 1, ""}, /* finished on the old connection */
    /* perhaps done: never again by itself */
    {__LINE__, true, {FAKE_RESET}, E_UNKNOWN, 1, "reset"},
    {__LINE__, true, {FAKE_CLOSE}, E_UNKNOWN, 1, "closed the connection"},
    {__LINE__, true, {FAKE_GARBAGE}, E_UNKNOWN, 1, ""},
    {__LINE__, true, {FAKE_NO_STATUS}, E_UNKNOWN, 1, "no status"},
    {__LINE__, true, {FAKE_HTTP_404}, E_UNKNOWN, 1, "HTTP status 404"},
    {__LINE__, true, {FAKE_SILENCE}, E_UNKNOWN, 1, "did not answer within"},
    {__LINE__, true, {FAKE_NO_MESSAGE}, E_UNKNOWN, 1, "unreadable"},
    {__LINE__, true, {FAKE_UNREADABLE}, E_UNKNOWN, 1, "unreadable"},
    {__LINE__, true, {FAKE_COMPRESSED}, E_UNKNOWN, 1, "compressed"},
    {__LINE__, true, {FAKE_CUT_SHORT}, E_UNKNOWN, 1, "within a message"},
    /* a read may be sent again at any time */
    {__LINE__, false, {FAKE_RESET}, OK, 2, ""},
    {__LINE__, false, {FAKE_CLOSE}, OK, 2, ""},
    {__LINE__, false, {FAKE_CLOSE, FAKE_RESET, FAKE_REFUSE}, OK, 4, ""},
    {__LINE__, false, {FAKE_GARBAGE}, OK, 2, ""},
    {__LINE__, false, {FAKE_NO_STATUS}, OK, 2, ""},
    {__LINE__, false, {FAKE_GOAWAY_BEFORE}, OK, 2, ""},
    {__LINE__, false, {FAKE_GOAWAY_AFTER}, OK, 1, ""},
    /* no gRPC, or more than we take: an error of its own */
    {__LINE__, false, {FAKE_TWO_MESSAGES}, E_CORRUPT, 1, ""},
    {__LINE__, false, {FAKE_COMPRESSED}, E_CORRUPT, 1, "compressed"},
    {__LINE__, false, {FAKE_HUGE_LENGTH}, E_TOO_LARGE, 1, "too large"},
    {__LINE__, false, {FAKE_CUT_SHORT}, E_CORRUPT, 1, "within a message"},
    {__LINE__, false, {FAKE_NO_MESSAGE}, E_CORRUPT, 1, "unreadable"},
    {__LINE__, false, {FAKE_UNREADABLE}, E_CORRUPT, 1, "unreadable"},
    {__LINE__, true, {FAKE_FUNNY_MESSAGE}, E_INVALID, 1, "100% wr\xc3\xb6ng?%zz%4"},
};

struct world {
    struct loop *loop;
    struct loop_timer *tick;
    struct fake_peer peer;
    struct kv_client *client;
};

static void on_tick(void *context)
{
    (void)context;
}

static void world_init(struct world *world)
{
    char endpoint[32];
    assert_int_equal(loop_new(&world->loop), OK);
    assert_int_equal(loop_timer_new(world->loop, on_tick, NULL, &world->tick), OK);
    fake_peer_init(&world->peer, world->loop);
    snprintf(endpoint, sizeof(endpoint), "127.0.0.1:%d", world->peer.port);
    struct etcd_client_config config = {
        .endpoints = (const char *[]){endpoint}, .endpoint_count = 1, .deadline_ms = 1500};
    assert_int_equal(etcd_client_new(world->loop, &config, &world->client, NULL), OK);
}

static void world_release(struct world *world)
{
    kv_client_free(world->client);
    fake_peer_release(&world->peer);
    loop_timer_free(world->tick);
    loop_free(world->loop);
}

/* It ends by itself: every request has a deadline. */
static void wait_for(struct world *world, struct outcome *outcome)
{
    while (!outcome->is_done) {
        loop_timer_set(world->tick, 100);
        loop_run_once(world->loop);
    }
}

static void every_way_to_misbehave(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world world;
        struct outcome outcome, after;
        world_init(&world);
        world.peer.script = rows[i].script;
        assert_int_equal(ask(world.client, rows[i].is_write, &outcome), OK);
        wait_for(&world, &outcome);
        if (outcome.status != rows[i].want || world.peer.requests != rows[i].requests ||
            !strstr(outcome.message, rows[i].message) ||
            (outcome.status == OK && outcome.revision != 7))
            fail_msg("line %d: %s, \"%s\", %d requests", rows[i].line, status_text(outcome.status),
                     outcome.message, world.peer.requests);
        /* and the client is as good as before */
        assert_int_equal(ask(world.client, true, &after), OK);
        wait_for(&world, &after);
        if (after.status != OK)
            fail_msg("line %d: afterwards %s, \"%s\"", rows[i].line, status_text(after.status),
                     after.message);
        world_release(&world);
    }
}

static void what_the_request_says(void **state)
{
    (void)state;
    struct world world;
    struct outcome outcome;
    world_init(&world);
    assert_int_equal(ask(world.client, true, &outcome), OK);
    wait_for(&world, &outcome);
    assert_string_equal(world.peer.path, "/etcdserverpb.KV/Put");
    assert_true(world.peer.saw_leader_wanted);
    assert_true(world.peer.saw_timeout);
    assert_int_equal(world.peer.accepted, 1);
    struct kv_reply reply = {on_done, &outcome, 0};
    world.peer.saw_leader_wanted = false;
    outcome = (struct outcome){0};
    assert_int_equal(etcd_status(world.client, &reply, NULL), OK);
    wait_for(&world, &outcome);
    assert_false(world.peer.saw_leader_wanted); /* a member tells about itself without one */
    world_release(&world);
}

static void not_http2_at_all(void **state)
{
    (void)state;
    struct world world;
    struct outcome outcome;
    world_init(&world);
    world.peer.is_not_http2 = true;
    assert_int_equal(ask(world.client, true, &outcome), OK);
    wait_for(&world, &outcome);
    assert_int_equal(outcome.status, E_UNREACHABLE); /* surely not done */
    assert_non_null(strstr(outcome.message, "127.0.0.1:"));
    assert_int_equal(world.peer.requests, 0);
    world_release(&world);
}

/* Two hundred at once, one of which makes the server say GOAWAY: all get their answer. */
static void goaway_in_the_middle(void **state)
{
    enum { COUNT = 200 };
    (void)state;
    static const enum fake_act script[] = {FAKE_GOAWAY_AFTER, FAKE_ANSWER};
    struct world world;
    struct outcome outcomes[COUNT], first;
    world_init(&world);
    assert_int_equal(ask(world.client, true, &first), OK);
    wait_for(&world, &first);
    world.peer.script = script;
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(ask(world.client, true, &outcomes[i]), OK);
    for (int i = 0; i < COUNT; i++) {
        wait_for(&world, &outcomes[i]);
        assert_int_equal(outcomes[i].status, OK);
    }
    assert_true(world.peer.accepted >= 2);
    world_release(&world);
}

/* A connection has about a billion requests in it: a busy node gets there in months. */
static void a_connection_that_is_used_up(void **state)
{
    (void)state;
    enum { COUNT = 4, BEFORE_THE_LAST = INT32_MAX - 2 };
    struct world world;
    struct outcome first, outcomes[COUNT];
    world_init(&world);
    assert_int_equal(ask(world.client, true, &first), OK);
    wait_for(&world, &first);
    struct etcd_client *client = (struct etcd_client *)world.client;
    struct h2_connection *connection = grpc_channel_get(&client->calls);
    assert_int_equal(nghttp2_session_set_next_stream_id(connection->session, BEFORE_THE_LAST), 0);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(ask(world.client, true, &outcomes[i]), OK);
    for (int i = 0; i < COUNT; i++) {
        wait_for(&world, &outcomes[i]);
        if (outcomes[i].status != OK)
            fail_msg("request %d: %s", i, outcomes[i].message);
    }
    assert_int_equal(world.peer.requests, 1 + COUNT);
    assert_int_equal(world.peer.accepted, 2);
    world_release(&world);
}

static void freeing_the_client_with_requests_under_way(void **state)
{
    (void)state;
    static const enum fake_act script[] = {FAKE_SILENCE, FAKE_SILENCE, FAKE_ANSWER};
    struct world world;
    struct outcome outcomes[3];
    world_init(&world);
    world.peer.script = script;
    for (int i = 0; i < 3; i++)
        assert_int_equal(ask(world.client, i % 2 == 0, &outcomes[i]), OK);
    while (world.peer.requests < 3)
        loop_run_once(world.loop);
    world_release(&world);
    assert_false(outcomes[0].is_done || outcomes[1].is_done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_to_misbehave),
        cmocka_unit_test(what_the_request_says),
        cmocka_unit_test(not_http2_at_all),
        cmocka_unit_test(goaway_in_the_middle),
        cmocka_unit_test(a_connection_that_is_used_up),
        cmocka_unit_test(freeing_the_client_with_requests_under_way),
    };
    signal(SIGPIPE, SIG_IGN); /* as the agent does */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
