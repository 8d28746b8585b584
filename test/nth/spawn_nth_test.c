/* The agent's side of the spawner when its n-th allocation fails, for n = 1, 2, 3 ...: every call
 * ends with a status that says so, and the same call works afterwards. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "loop.h"
#include "nth_alloc.h"
#include "spawn_client.h"
#include "spawn_message.h"

static char *argv[] = {(char *)"/bin/true", (char *)"one", NULL};
static char *env[] = {(char *)"A=1", (char *)"B=2", NULL};

static void wake(void *context)
{
    (void)context;
}

/* All that is done before anything is sent. */
static enum status use(struct loop *loop)
{
    struct spawn_client_config config = {.folder = "/nonexistent/peal", .never_launch = true};
    struct spawn_client *client = NULL;
    struct spawn_request request;
    struct spawn_event event;
    spawn_request_init(&request);
    request.id = "run-1";
    request.user = request.cwd = "";
    request.argv = argv;
    request.env = env;
    request.stdin_bytes = "text";
    request.stdin_length = 4;
    enum status st = spawn_client_new(loop, &config, wake, NULL, &client);
    if (st == OK)
        st = spawn_client_start(client, &request);
    if (st == OK)
        st = spawn_client_kill(client, "run-1", 0, -1);
    if (st == OK)
        st = spawn_client_ack(client, "run-1");
    while (client && spawn_client_next_event(client, &event))
        ;
    spawn_client_free(client);
    return st;
}

static enum status encode_and_decode(void)
{
    struct spawn_request request, decoded = {0};
    struct spawn_message message;
    void *packet = NULL, *block = NULL;
    size_t length;
    spawn_request_init(&request);
    request.id = "run-1";
    request.user = request.cwd = "";
    request.argv = argv;
    request.env = env;
    enum status st = spawn_encode_start(&request, &packet, &length);
    if (st == OK)
        st = spawn_decode(packet, length, &message);
    if (st == OK)
        st = spawn_decode_start(&message, &decoded, &block);
    if (st == OK)
        assert_string_equal(decoded.argv[1], "one");
    free(block);
    free(packet);
    return st;
}

static void test_client(void **state)
{
    struct loop *loop;
    bool failed = true;
    (void)state;
    assert_int_equal(loop_new(&loop), OK);
    for (int n = 1; failed; n++) {
        nth_alloc_plan(n);
        enum status st = use(loop);
        failed = nth_alloc_failed();
        nth_alloc_plan(0);
        if (st != OK && st != E_NOMEM)
            fail_msg("allocation %d: %s", n, status_text(st));
        assert_int_equal(use(loop), OK);
    }
    loop_free(loop);
}

static void test_messages(void **state)
{
    bool failed = true;
    (void)state;
    for (int n = 1; failed; n++) {
        nth_alloc_plan(n);
        enum status st = encode_and_decode();
        failed = nth_alloc_failed();
        nth_alloc_plan(0);
        if (st != (failed ? E_NOMEM : OK))
            fail_msg("allocation %d: %s", n, status_text(st));
        assert_int_equal(encode_and_decode(), OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_client),
    };
    return cmocka_run_group_tests_name("spawner's client, n-th failure", tests, NULL, NULL);
}
