/* The output of a run, as a stream while it runs, and as a file. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOB "{\"schedule\":\"0 0 1 1 *\",\"command\":[\"true\"]}"

struct running {
    struct world *world;
    struct id id;
    char text[ID_TEXT + 1];
};

static bool is_running(void *context)
{
    const struct running *running = context;
    const struct run *run = engine_find_run(running->world->engine, &running->id);
    return run && run->state == RUN_RUNNING;
}

static bool is_recorded(void *context)
{
    const struct running *running = context;
    return !engine_find_run(running->world->engine, &running->id);
}

static void start(struct world *world, struct running *ret)
{
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB);
    json_t *run = EXPECT(world, 202, "POST /jobs/a/run", NULL);
    ret->world = world;
    snprintf(ret->text, sizeof(ret->text), "%s", member_text(run, "run_id"));
    assert_int_equal(id_parse(ret->text, &ret->id), OK);
    json_decref(run);
    world_until(world, is_running, ret);
}

static void print(const struct running *running, const char *text)
{
    fake_executor_print(running->world->executor, &running->id, OUTPUT_STDOUT, text, strlen(text));
}

static void end(struct running *running)
{
    assert_true(fake_executor_end(running->world->executor, &running->id, 0));
    world_until(running->world, is_recorded, running);
}

static void ask_for_stream(const struct running *running, struct client *client,
                           const char *headers)
{
    char request[256];
    int length = snprintf(request, sizeof(request),
                          "GET /api/v1/runs/%s/log/stream HTTP/1.1\r\nHost: p\r\n%s\r\n",
                          running->text, headers);
    client_send(client, request, (size_t)length);
}

static struct client *follow(const struct running *running, const char *headers)
{
    struct client *client = client_connect(running->world);
    ask_for_stream(running, client, headers);
    return client;
}

static void test_stream(void **state)
{
    struct world *world = *state;
    struct running running;
    start(world, &running);
    print(&running, "one\n");
    struct client *client = follow(&running, "");
    client_wait_for(world, client, "\"text\":\"one\\n\"");
    assert_int_equal(api_open_requests(world->api), 0);
    print(&running, "two\n");
    client_wait_for(world, client, "\"text\":\"two\\n\"");
    assert_null(strstr(client_text(client), "event: end"));
    print(&running, "three\n");
    end(&running);
    client_wait_for(world, client, "event: end\n");
    const char *three = strstr(client_text(client), "three");
    assert_non_null(three);
    assert_true(three < strstr(client_text(client), "event: end\n"));
    assert_non_null(strstr(client_text(client), "\"state\":\"ok\""));
    /* The connection is good for another request. */
    client_clear(client);
    static const char next[] = "GET /livez HTTP/1.1\r\nHost: p\r\n\r\n";
    client_send(client, next, sizeof(next) - 1);
    client_wait_for(world, client, " 200 ");
    client_free(client);
}

static void test_stream_of_the_past(void **state)
{
    struct world *world = *state;
    struct running running;
    start(world, &running);
    print(&running, "one\n");
    print(&running, "two\n");
    end(&running);
    struct client *client = follow(&running, "");
    client_wait_for(world, client, "event: end\n");
    assert_non_null(strstr(client_text(client), "one\\n"));
    client_free(client);
    client = follow(&running, "Last-Event-ID: 4\r\n");
    client_wait_for(world, client, "event: end\n");
    assert_null(strstr(client_text(client), "one"));
    assert_non_null(strstr(client_text(client), "two\\n"));
    client_free(client);
    EXPECT_STATUS(world, 404, "GET /runs/01ARZ3NDEKTSV4RRFFQ69G5FAV/log/stream", NULL);
}

static bool has_no_connections(void *context)
{
    return api_connections(((struct world *)context)->api) == 0;
}

/* Each has its own end, and closing the connection is noticed once. */
static void test_streams_one_after_the_other(void **state)
{
    struct world *world = *state;
    struct running running;
    start(world, &running);
    print(&running, "one\n");
    end(&running);
    struct client *client = client_connect(world);
    for (int i = 0; i < 3; i++) {
        client_clear(client);
        ask_for_stream(&running, client, "");
        client_wait_for(world, client, "event: end\n");
    }
    client_free(client);
    world_until(world, has_no_connections, world);
    EXPECT_STATUS(world, 200, "GET /jobs/a", NULL);
}

/* While it runs, and while the history is asked. */
static void test_reader_leaves(void **state)
{
    struct world *world = *state;
    struct running running;
    start(world, &running);
    for (int i = 0; i < 10; i++) {
        struct client *client = follow(&running, "");
        if (i % 2)
            client_wait_for(world, client, "text/event-stream");
        client_free(client);
    }
    world_until(world, has_no_connections, world);
    end(&running);
    for (int i = 0; i < 10; i++) {
        world_hold(world);
        struct client *client = follow(&running, "");
        client_free(client);
        world_release(world);
        world_until(world, has_no_connections, world);
    }
}

static void test_raw(void **state)
{
    struct world *world = *state;
    struct running running;
    char line[128];
    start(world, &running);
    print(&running, "0123456789");
    print(&running, "abcdefghij");
    static const struct {
        int line;
        const char *range;
        int status;
        const char *text, *content_range;
    } cases[] = {
        {__LINE__, "", 200, "0123456789abcdefghij", NULL},
        {__LINE__, "Range: bytes=0-3\r\n", 206, "0123", "bytes 0-3/20"},
        {__LINE__, "Range: bytes=8-11\r\n", 206, "89ab", "bytes 8-11/20"},
        {__LINE__, "Range: bytes=15-\r\n", 206, "fghij", "bytes 15-19/20"},
        {__LINE__, "Range: bytes=15-99\r\n", 206, "fghij", "bytes 15-19/20"},
        {__LINE__, "Range: bytes=15-9223372036854775807\r\n", 206, "fghij", "bytes 15-19/20"},
        {__LINE__, "Range: bytes=0-99999999999999999999\r\n", 206, "0123456789abcdefghij",
         "bytes 0-19/20"},
        {__LINE__, "Range: bytes=20-\r\n", 416, NULL, "bytes */20"},
        {__LINE__, "Range: bytes=3-1\r\n", 200, "0123456789abcdefghij", NULL},
        {__LINE__, "Range: bytes=-5\r\n", 206, "fghij", "bytes 15-19/20"},
        {__LINE__, "Range: bytes=-99\r\n", 206, "0123456789abcdefghij", "bytes 0-19/20"},
        {__LINE__, "Range: bytes=-0\r\n", 200, "0123456789abcdefghij", NULL},
        {__LINE__, "Range: bytes=--5\r\n", 200, "0123456789abcdefghij", NULL},
        {__LINE__, "Range: lines=1-2\r\n", 200, "0123456789abcdefghij", NULL},
    };
    snprintf(line, sizeof(line), "GET /runs/%s/log?raw=true", running.text);
    struct answer answer = ask(world, line, NULL);
    assert_string_equal(answer.text, "0123456789abcdefghij"); /* while it runs */
    answer_release(&answer);
    end(&running);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        answer = ask_with(world, line, cases[i].range, NULL);
        char *range = answer_header(&answer, "Content-Range");
        if (answer.status != cases[i].status ||
            (cases[i].text && strcmp(answer.text, cases[i].text) != 0) ||
            (range ? !cases[i].content_range || strcmp(range, cases[i].content_range) != 0
                   : cases[i].content_range != NULL))
            fail_msg("line %d: %d %s %s", cases[i].line, answer.status, range ? range : "",
                     answer.text);
        free(range);
        answer_release(&answer);
    }
}

/* ---- why a job fails ---- */

static void run_to(struct world *world, const char *out, const char *err, int exit_code)
{
    struct running running;
    json_t *run = EXPECT(world, 202, "POST /jobs/a/run", NULL);
    running.world = world;
    assert_int_equal(id_parse(member_text(run, "run_id"), &running.id), OK);
    json_decref(run);
    world_until(world, is_running, &running);
    print(&running, out);
    fake_executor_print(world->executor, &running.id, OUTPUT_STDERR, err, strlen(err));
    assert_true(fake_executor_end(world->executor, &running.id, exit_code));
    world_until(world, is_recorded, &running);
}

static void test_causes(void **state)
{
    struct world *world = *state;
    EXPECT_STATUS(world, 422, "GET /jobs:causes", NULL);
    EXPECT_STATUS(world, 201, "PUT /jobs/a", JOB);
    run_to(world, "", "old news\n", 1);
    run_to(world, "fine\n", "", 0);
    json_t *causes = EXPECT(world, 200, "GET /jobs:causes?names=a,none", NULL);
    assert_int_equal(member_count(causes, "items"), 0);
    json_decref(causes);
    run_to(world, "", "first\n", 1);
    run_to(world, "loading\n", "\033[31mconnection refused\033[0m\n\n", 3);
    causes = EXPECT(world, 200, "GET /jobs:causes?names=none,a", NULL);
    assert_int_equal(member_count(causes, "items"), 1);
    assert_string_equal(member_text(causes, "items.0.name"), "a");
    assert_string_equal(member_text(causes, "items.0.line"), "connection refused");
    assert_int_equal(member_number(causes, "items.0.failures"), 2);
    assert_int_equal(member_number(causes, "items.0.run.exit_code"), 3);
    assert_int_equal(member_number(causes, "items.0.run.job_revision"), 1);
    assert_non_null(member_text(causes, "items.0.since"));
    assert_true(json_is_false(member(causes, "items.0.more")));
    json_decref(causes);
    for (int i = 0; i < 20; i++) /* more than are read at first */
        run_to(world, "only this\n", "", 1);
    causes = EXPECT(world, 200, "GET /jobs:causes?names=a", NULL);
    assert_int_equal(member_number(causes, "items.0.failures"), 22);
    assert_string_equal(member_text(causes, "items.0.line"), "only this");
    json_decref(causes);
}

struct watched {
    struct world *world;
    size_t most_unsent;
};

static bool is_cut(void *context)
{
    struct watched *watched = context;
    size_t unsent = api_unsent(watched->world->api);
    if (unsent > watched->most_unsent)
        watched->most_unsent = unsent;
    return api_cut(watched->world->api) == 1;
}

static void print_megabytes(const struct running *running, int count)
{
    static char text[1 << 20];
    memset(text, 'x', sizeof(text) - 1);
    for (int i = 0; i < count; i++)
        print(running, text);
}

/* What is too long to be held is sent piece by piece; who asks can't tell the difference. */
static void test_long_raw(void **state)
{
    enum { PRINTED = (1 << 20) - 1, WHOLE = 9 * PRINTED };
    static const struct {
        int line;
        const char *method, *range;
        int status;
        size_t length;
        const char *content_length, *content_range;
    } cases[] = {
        {__LINE__, "GET", "", 200, WHOLE, "9437175", NULL},
        {__LINE__, "HEAD", "", 200, 0, "9437175", NULL},
        {__LINE__, "GET", "Range: bytes=1000000-\r\n", 206, WHOLE - 1000000, "8437175",
         "bytes 1000000-9437174/9437175"},
        {__LINE__, "GET", "Range: bytes=7-5000006\r\n", 206, 5000000, "5000000",
         "bytes 7-5000006/9437175"},
        {__LINE__, "GET", "Range: bytes=9000000-\r\n", 206, 437175, "437175",
         "bytes 9000000-9437174/9437175"},
    };
    struct world *world = *state;
    struct running running;
    start(world, &running);
    print_megabytes(&running, 9);
    end(&running);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char line[128];
        snprintf(line, sizeof(line), "%s /runs/%s/log?raw=true", cases[i].method, running.text);
        struct answer answer = ask_with(world, line, cases[i].range, NULL);
        char *length = answer_header(&answer, "Content-Length");
        char *range = answer_header(&answer, "Content-Range");
        if (answer.status != cases[i].status || strlen(answer.text) != cases[i].length || !length ||
            strcmp(length, cases[i].content_length) != 0 ||
            (range ? !cases[i].content_range || strcmp(range, cases[i].content_range) != 0
                   : cases[i].content_range != NULL))
            fail_msg("line %d: %d, %zu bytes, Content-Length %s, Content-Range %s", cases[i].line,
                     answer.status, strlen(answer.text), length, range);
        free(length);
        free(range);
        answer_release(&answer);
    }
}

/* Who follows, but takes nothing, is sent little ahead, and cut. */
static void test_reader_that_does_not_read(void **state)
{
    struct world *world = *state;
    struct running running;
    start(world, &running);
    print_megabytes(&running, 4);
    struct client *client = follow(&running, "");
    client_wait_for(world, client, "event: chunk");
    client_stop_reading(client);
    struct watched watched = {world, 0};
    assert_int_equal(api_connections(world->api), 1);
    world_until(world, is_cut, &watched);
    assert_int_equal(api_connections(world->api), 0);
    assert_in_range(watched.most_unsent, 64 << 10, 1 << 20);
    client_free(client);
    EXPECT_STATUS(world, 200, "GET /jobs/a", NULL);
    end(&running);
}

/* A whole answer, of an output that is over. */
static void test_raw_reader_that_does_not_read(void **state)
{
    struct world *world = *state;
    struct running running;
    char request[128];
    start(world, &running);
    print_megabytes(&running, 8);
    end(&running);
    struct client *client = client_connect(world);
    int length =
        snprintf(request, sizeof(request),
                 "GET /api/v1/runs/%s/log?raw=true HTTP/1.1\r\nHost: p\r\n\r\n", running.text);
    client_send(client, request, (size_t)length);
    client_wait_for(world, client, "xxx");
    client_stop_reading(client);
    struct watched watched = {world, 0};
    assert_true(api_unsent(world->api) > 0);
    world_until(world, is_cut, &watched);
    assert_int_equal(api_unsent(world->api), 0);
    client_free(client);
}

/* ---- a slow one ---- */

struct slow_reader {
    struct world *world;
    struct client *client;
    struct loop_timer *timer;
    int spoonfuls; /* still to be taken */
};

/* Some 2 MiB a second: enough, though it never has all that it was sent. */
static void read_a_bit(void *context)
{
    struct slow_reader *reader = context;
    client_read_some(reader->client, 64 << 10);
    if (--reader->spoonfuls)
        loop_timer_set(reader->timer, 30);
}

static bool has_had_enough(void *context)
{
    const struct slow_reader *reader = context;
    return !reader->spoonfuls || api_cut(reader->world->api);
}

/* Who reads on, however long it takes, is not cut. */
static void test_slow_reader(void **state)
{
    struct world *world = *state;
    struct running running;
    start(world, &running);
    print_megabytes(&running, 8);
    struct slow_reader reader = {.world = world, .spoonfuls = 100}; /* 3 s, ten times its time */
    reader.client = follow(&running, "");
    client_stop_reading(reader.client);
    assert_int_equal(loop_timer_new(world->loop, read_a_bit, &reader, &reader.timer), OK);
    loop_timer_set(reader.timer, 0);
    world_until(world, has_had_enough, &reader);
    assert_int_equal(api_cut(world->api), 0);
    assert_true(api_unsent(world->api) > 0);
    loop_timer_free(reader.timer);
    client_free(reader.client);
    end(&running);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_set_up, world_tear_down)
#define SLOW(name) cmocka_unit_test_setup_teardown(name, world_set_up_impatient, world_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_stream),
        TEST(test_stream_of_the_past),
        TEST(test_streams_one_after_the_other),
        TEST(test_reader_leaves),
        TEST(test_raw),
        TEST(test_causes),
        TEST(test_long_raw),
        SLOW(test_reader_that_does_not_read),
        SLOW(test_raw_reader_that_does_not_read),
        SLOW(test_slow_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
