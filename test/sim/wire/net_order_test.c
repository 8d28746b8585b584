/* The played network keeps the order of a connection, as TCP does, whatever is cut or stands still
 * meanwhile: what arrives is all that was sent, up to where the connection broke. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "net.h"
#include "transport/grpc_stream.h"

enum { STEPS = 300, PLAYS = 200 };

/* Numbers that are counted by whoever sends and whoever gets them. */
struct play {
    struct stage stage;
    struct net net;
    struct loop machine;
    struct h2_connection *connection;
    struct grpc_stream *near;
    struct net_stream *far;
    int sent_up, sent_down, got_up, got_down;
    bool is_over;
};

static int read_number(const uint8_t *bytes, size_t length)
{
    int number;
    assert_int_equal(length, sizeof(number));
    memcpy(&number, bytes, sizeof(number));
    return number;
}

/* ---- the server ---- */

static void get_up(void *context, struct net_stream *stream, const uint8_t *bytes, size_t length)
{
    struct play *play = context;
    if (!play->far)
        stream->server = play->far = stream;
    assert_int_equal(read_number(bytes, length), play->got_up);
    play->got_up++;
}

static void closed_far(void *context, struct net_stream *stream)
{
    (void)stream;
    ((struct play *)context)->far = NULL;
}

static const struct net_server server = {get_up, closed_far};

/* ---- the client ---- */

static enum status get_down(void *context, const uint8_t *bytes, size_t length)
{
    struct play *play = context;
    assert_int_equal(read_number(bytes, length), play->got_down);
    play->got_down++;
    return OK;
}

static void ended(void *context, const struct grpc_end *end)
{
    (void)end;
    ((struct play *)context)->is_over = true;
}

static void ready(void *context, struct h2_connection *connection)
{
    static const struct grpc_stream_events events = {get_down, ended};
    struct play *play = context;
    struct grpc_request request = {.path = "/numbers"};
    assert_int_equal(grpc_stream_open(connection, &request, &events, play, &play->near), OK);
}

static void closed(void *context, struct h2_connection *connection, const char *why)
{
    (void)context;
    (void)connection;
    (void)why;
}

/* ---- what happens ---- */

static void send_number(struct play *play, bool is_up)
{
    if (is_up)
        assert_int_equal(grpc_stream_send(play->near, &play->sent_up, sizeof(play->sent_up)), OK);
    else
        net_send_packed(play->far, &play->sent_down, sizeof(play->sent_down));
    *(is_up ? &play->sent_up : &play->sent_down) += 1;
}

static void do_something(struct play *play)
{
    struct stage *stage = &play->stage;
    switch (stage_below(stage, 6)) {
    case 0:
        net_set_cuts(&play->net, 0, 0, (unsigned)stage_below(stage, 4));
        break;
    case 1:
        if (play->machine.is_paused)
            machine_resume(&play->machine);
        else
            machine_pause(&play->machine);
        break;
    case 2:
        if (!play->machine.is_paused)
            send_number(play, true);
        break;
    case 3:
        if (play->far)
            send_number(play, false);
        break;
    default:
        stage_play(stage, stage->now_ms + stage_below(stage, 20));
    }
}

static void open_play(struct play *play, uint64_t seed)
{
    static const struct h2_connection_events events = {ready, NULL, closed};
    static const struct h2_address address = {.port = 2370, .name = "member", .timeout_ms = 100};
    *play = (struct play){.is_over = false};
    stage_init(&play->stage, seed);
    net_init(&play->net, &play->stage);
    play->net.server = &server;
    play->net.context = play;
    play->net.latency_ms[0] = stage_below(&play->stage, 10);
    machine_init(&play->machine, &play->stage, 0, 1000000);
    play->machine.net = &play->net;
    assert_int_equal(h2_connection_new(&play->machine, &address, &events, play, &play->connection),
                     OK);
    stage_play(&play->stage, 100);
    assert_non_null(play->near);
    send_number(play, true);
}

static void close_play(struct play *play)
{
    h2_connection_free(play->connection);
    net_release(&play->net);
    stage_release(&play->stage);
}

static void order_is_kept(void **state)
{
    struct play *play = malloc(sizeof(*play));
    int whole = 0;
    (void)state;
    assert_non_null(play);
    for (uint64_t seed = 1; seed <= PLAYS; seed++) {
        open_play(play, seed);
        for (int i = 0; i < STEPS && !play->is_over; i++)
            do_something(play);
        net_set_cuts(&play->net, 0, 0, 0);
        machine_resume(&play->machine);
        stage_play(&play->stage, play->stage.now_ms + 100);
        if (!play->is_over) { /* it was never cut for so long that it was given up */
            assert_int_equal(play->got_up, play->sent_up);
            assert_int_equal(play->got_down, play->sent_down);
            whole++;
        }
        close_play(play);
    }
    assert_in_range(whole, 1, PLAYS);
    free(play);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(order_is_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
