/* The port that others ask: one that takes its answer slowly gets all of it. */
#include "gather_port.h"
#include "history_memory.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/util.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

enum {
    OUTPUT = 4 << 20, /* as much as can be asked for; the kernel takes less of it at once */
    RECEIVE_BYTES = 32 << 10,
    ASLEEP_MS = 3000,
};

struct world {
    struct loop *loop;
    struct gather_tls *tls;
    struct history *own;
    struct gather_served served;
    struct gather_port *port;
    struct loop_timer *wake_up, *turn;
    struct bufferevent *asking;
    struct id run_id;
    struct evbuffer *answer;
    bool is_recorded, is_closed;
};

static bool is_announced(void *context, const char *fingerprint)
{
    (void)context;
    (void)fingerprint;
    return true;
}

static void next_turn(void *context)
{
    struct world *world = context;
    history_dispatch(world->own);
    loop_timer_set(world->turn, 10);
}

static void recorded(struct history_append *append, enum status st)
{
    assert_int_equal(st, OK);
    *(bool *)append->context = true;
}

static void record_run(struct world *world)
{
    struct run run = {
        .state = RUN_OK, .tick_ms = 1000, .finished_ms = 1000, .output_bytes = OUTPUT};
    char *bytes = calloc(1, OUTPUT);
    assert_non_null(bytes);
    run.id = world->run_id = id_make((struct wall_ms){1000}, (const uint8_t[10]){7});
    struct output_chunk chunk = {OUTPUT_STDOUT, 1000, 0, bytes, OUTPUT};
    struct history_record record = {.run = &run, .chunks = &chunk, .chunk_count = 1};
    struct history_append append = {
        .records = &record, .count = 1, .done = recorded, .context = &world->is_recorded};
    history_append(world->own, &append);
    while (!world->is_recorded)
        history_dispatch(world->own);
    free(bytes);
}

/* ---- the one who asks ---- */

static void on_readable(struct bufferevent *asking, void *context)
{
    struct world *world = context;
    evbuffer_add_buffer(world->answer, bufferevent_get_input(asking));
}

/* Asks, and reads nothing for a while. */
static void on_event(struct bufferevent *asking, short what, void *context)
{
    struct world *world = context;
    char id[ID_TEXT + 1], question[128];
    if (!(what & BEV_EVENT_CONNECTED)) {
        world->is_closed = true;
        return;
    }
    id_format(&world->run_id, id);
    int length = snprintf(question, sizeof(question),
                          "{\"run_id\": \"%s\", \"offset\": 0, \"limit\": %d}", id, OUTPUT);
    evbuffer_add_printf(bufferevent_get_output(asking),
                        "POST /peer/v1/history/log HTTP/1.1\r\nHost: b\r\n"
                        "Content-Length: %d\r\n\r\n%s",
                        length, question);
    bufferevent_disable(asking, EV_READ);
    loop_timer_set(world->wake_up, ASLEEP_MS);
}

static void read_on(void *context)
{
    struct world *world = context;
    bufferevent_enable(world->asking, EV_READ);
}

static int listen_somewhere(struct sockaddr_in *ret)
{
    socklen_t length = sizeof(*ret);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    *ret = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)ret, length), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)ret, &length), 0);
    return fd;
}

static void ask(struct world *world, const struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), size = RECEIVE_BYTES;
    assert_true(fd >= 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)), 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)address, sizeof(*address)), 0);
    evutil_make_socket_nonblocking(fd);
    world->asking =
        gather_tls_connect(world->tls, loop_base(world->loop), gather_tls_fingerprint(world->tls));
    assert_non_null(world->asking);
    bufferevent_setcb(world->asking, on_readable, NULL, on_event, world);
    assert_int_equal(bufferevent_setfd(world->asking, fd), 0);
    bufferevent_enable(world->asking, EV_READ | EV_WRITE);
}

/* The whole answer has come. */
static bool is_whole(const struct world *world)
{
    static const char last[] = "\"kept_bytes\":4194304}";
    size_t length = evbuffer_get_length(world->answer);
    char end[sizeof(last)] = "";
    struct evbuffer_ptr at;
    if (length < OUTPUT ||
        evbuffer_ptr_set(world->answer, &at, length - strlen(last), EVBUFFER_PTR_SET) != 0)
        return false;
    evbuffer_copyout_from(world->answer, &at, end, strlen(last));
    return strcmp(end, last) == 0;
}

static void who_is_slow_gets_all_of_it(void **state)
{
    struct world world = {.answer = evbuffer_new()};
    struct sockaddr_in address;
    (void)state;
    int fd = listen_somewhere(&address);
    assert_int_equal(loop_new(&world.loop), OK);
    assert_int_equal(loop_timer_new(world.loop, next_turn, &world, &world.turn), OK);
    assert_int_equal(loop_timer_new(world.loop, read_on, &world, &world.wake_up), OK);
    assert_int_equal(gather_tls_new(is_announced, NULL, &world.tls), OK);
    assert_int_equal(history_memory_new((struct history_wake){0}, &world.own), OK);
    record_run(&world);
    world.served.history = world.own;
    assert_int_equal(
        gather_port_new(world.loop, world.tls, is_announced, NULL, &world.served, fd, &world.port),
        OK);
    loop_timer_set(world.turn, 0);
    ask(&world, &address);
    while (!is_whole(&world) && !world.is_closed)
        loop_run_once(world.loop);
    if (!is_whole(&world))
        fail_msg("cut off after %zu bytes", evbuffer_get_length(world.answer));
    bufferevent_free(world.asking);
    history_free(world.own);
    gather_port_free(world.port);
    gather_tls_free(world.tls);
    loop_timer_free(world.wake_up);
    loop_timer_free(world.turn);
    loop_free(world.loop);
    evbuffer_free(world.answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(who_is_slow_gets_all_of_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
