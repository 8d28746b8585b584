/* The client with a spawner that is played by the test: what an earlier version is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "clock.h"
#include "loop.h"
#include "spawn_client.h"

enum { ENOUGH_MS = 50000 }; /* it only ends a hang */

struct stage {
    char folder[64], path[96];
    struct loop *loop;
    struct loop_fd *listening, *talking;
    struct loop_timer *alarm;
    struct spawn_client *client;
    int listener, fd;
    unsigned features;    /* of the spawner that is played */
    int connections;      /* so far */
    int upgrades, starts; /* that were asked for */
    int frames;           /* in which they came */
    int64_t at_boot_us;   /* of the starts */
    int64_t told_boot_us; /* that the last one names */
};

static void answer(struct stage *stage, enum spawn_type type, const void *body)
{
    char packet[SPAWN_FIXED_MAX];
    size_t length = spawn_encode(type, body, packet);
    assert_int_equal(send(stage->fd, packet, length, MSG_NOSIGNAL), length);
}

static void hang_up(struct stage *stage)
{
    stage->talking = loop_fd_free(stage->talking);
    if (stage->fd >= 0)
        close(stage->fd);
    stage->fd = -1;
}

static void on_packet(void *context, unsigned events)
{
    static char packet[SPAWN_MESSAGE_MAX] __attribute__((aligned(16)));
    struct stage *stage = context;
    struct spawn_message message;
    (void)events;
    ssize_t length = recv(stage->fd, packet, sizeof(packet), 0);
    if (length <= 0) {
        hang_up(stage);
        return;
    }
    assert_int_equal(spawn_decode(packet, (size_t)length, &message), OK);
    if (message.type == SPAWN_FRAME) {
        struct spawn_message frame = message;
        size_t at = 0;
        stage->frames++;
        while (spawn_frame_next(&frame, &at, &message) == OK)
            stage->starts += message.type == SPAWN_START;
        loop_stop(stage->loop);
        return;
    }
    if (message.type == SPAWN_HELLO) {
        answer(stage, SPAWN_HELLO, &(struct spawn_hello){.features = stage->features});
        answer(stage, SPAWN_READY, NULL);
    }
    if (message.type == SPAWN_UPGRADE) {
        stage->upgrades++;
        stage->features |= SPAWN_KNOWS_JOBS; /* after its exec */
    }
    if (message.type == SPAWN_START) {
        struct spawn_request request;
        void *block;
        assert_int_equal(spawn_decode_start(&message, &request, &block), OK);
        free(block);
        stage->told_boot_us = request.at_boot_us;
        stage->starts++;
        loop_stop(stage->loop);
    }
}

static void on_connection(void *context, unsigned events)
{
    struct stage *stage = context;
    (void)events;
    hang_up(stage);
    stage->fd = accept(stage->listener, NULL, NULL);
    assert_true(stage->fd >= 0);
    stage->connections++;
    assert_int_equal(loop_fd_new(stage->loop, stage->fd, on_packet, stage, &stage->talking), OK);
    loop_fd_want(stage->talking, LOOP_READ);
}

static void on_wake(void *context)
{
    struct stage *stage = context;
    struct spawn_event event;
    while (spawn_client_next_event(stage->client, &event))
        ;
}

static void on_alarm(void *context)
{
    (void)context;
    fail_msg("nothing was started within %d ms", ENOUGH_MS);
}

static int set_up(void **state)
{
    struct stage *stage = calloc(1, sizeof(*stage));
    assert_non_null(stage);
    snprintf(stage->folder, sizeof(stage->folder), "/tmp/peal-client-test-XXXXXX");
    assert_non_null(mkdtemp(stage->folder));
    snprintf(stage->path, sizeof(stage->path), "%s/" SPAWN_SOCKET, stage->folder);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", stage->path);
    stage->fd = -1;
    stage->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(stage->listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(stage->listener, 8), 0);
    assert_int_equal(loop_new(&stage->loop), OK);
    assert_int_equal(loop_timer_new(stage->loop, on_alarm, stage, &stage->alarm), OK);
    loop_timer_set(stage->alarm, ENOUGH_MS);
    assert_int_equal(
        loop_fd_new(stage->loop, stage->listener, on_connection, stage, &stage->listening), OK);
    loop_fd_want(stage->listening, LOOP_READ);
    *state = stage;
    return 0;
}

static int tear_down(void **state)
{
    struct stage *stage = *state;
    spawn_client_free(stage->client);
    hang_up(stage);
    loop_fd_free(stage->listening);
    loop_timer_free(stage->alarm);
    loop_free(stage->loop);
    close(stage->listener);
    unlink(stage->path);
    rmdir(stage->folder);
    free(stage);
    return 0;
}

static void start_many(struct stage *stage, int count)
{
    char *const argv[] = {(char *)"/bin/true", NULL}, *const env[] = {NULL};
    char id[16];
    struct spawn_client_config config = {.folder = stage->folder, .never_launch = true};
    struct spawn_request request;
    assert_int_equal(spawn_client_new(stage->loop, &config, on_wake, stage, &stage->client), OK);
    assert_int_equal(spawn_client_spawner(stage->client)->pid, getpid()); /* at once */
    spawn_request_init(&request);
    request.argv = argv;
    request.env = env;
    request.at_boot_us = stage->at_boot_us;
    for (int i = 0; i < count; i++) {
        snprintf(id, sizeof(id), "run-%d", i);
        request.id = id;
        assert_int_equal(spawn_client_start(stage->client, &request), OK);
    }
    while (stage->starts < count)
        loop_run(stage->loop);
    assert_int_equal(stage->starts, count);
}

static void start_one(struct stage *stage)
{
    start_many(stage, 1);
}

/* It would take a start that names no user for one as root. */
static void test_an_earlier_spawner_is_upgraded_first(void **state)
{
    struct stage *stage = *state;
    stage->features = SPAWN_CAN_SWITCH;
    start_one(stage);
    assert_int_equal(stage->upgrades, 1);
    assert_int_equal(stage->connections, 2);
}

static void test_another_one_is_left_alone(void **state)
{
    struct stage *stage = *state;
    stage->features = SPAWN_KNOWS_JOBS;
    start_one(stage);
    assert_int_equal(stage->upgrades, 0);
    assert_int_equal(stage->connections, 1);
}

static void test_many_starts_travel_in_frames(void **state)
{
    struct stage *stage = *state;
    stage->features = SPAWN_KNOWS_JOBS | SPAWN_KNOWS_FRAMES;
    start_many(stage, 2 * SPAWN_FRAME_MESSAGES);
    assert_int_equal(stage->frames, 2);
}

static void test_an_earlier_spawner_gets_no_frames(void **state)
{
    struct stage *stage = *state;
    stage->features = SPAWN_KNOWS_JOBS;
    start_many(stage, 2 * SPAWN_FRAME_MESSAGES);
    assert_int_equal(stage->frames, 0);
}

/* ... which it would refuse, and not before their time. */
static void test_an_earlier_spawner_gets_no_times(void **state)
{
    struct stage *stage = *state;
    stage->features = SPAWN_KNOWS_JOBS | SPAWN_KNOWS_FRAMES;
    stage->at_boot_us = clock_boot_us() + 200000;
    start_one(stage);
    assert_true(clock_boot_us() >= stage->at_boot_us);
    assert_int_equal(stage->told_boot_us, 0);
    assert_false(spawn_client_knows_times(stage->client));
}

static void test_a_start_travels_ahead_of_its_time(void **state)
{
    struct stage *stage = *state;
    stage->features = SPAWN_KNOWS_JOBS | SPAWN_KNOWS_FRAMES | SPAWN_KNOWS_TIMES;
    stage->at_boot_us = clock_boot_us() + INT64_C(3600000000);
    start_one(stage);
    assert_int_equal(stage->told_boot_us, stage->at_boot_us);
    assert_true(spawn_client_knows_times(stage->client));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_an_earlier_spawner_is_upgraded_first),
        TEST(test_another_one_is_left_alone),
        TEST(test_many_starts_travel_in_frames),
        TEST(test_an_earlier_spawner_gets_no_frames),
        TEST(test_an_earlier_spawner_gets_no_times),
        TEST(test_a_start_travels_ahead_of_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
