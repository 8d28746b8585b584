/* A server whose n-th allocation fails, for n = 1, 2, 3 ...: the client gets whole answers until
 * the connection ends, and whoever comes afterwards is served. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "http_world.h"
#include "nth_alloc.h"

enum { MORE_THAN_EVER = 500 };

static const char requests[] =
    "GET /echo/1 HTTP/1.1\r\nHost: h\r\n\r\n"
    "POST /echo/2 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"
    "POST /echo/3 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
    "3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n"
    "GET /forbidden HTTP/1.1\r\nHost: h\r\n\r\n"
    "GET /length HTTP/1.1\r\nHost: h\r\n\r\n"
    "GET /echo/4 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";

/* All that comes until the server's end; without memory of its own. */
static void exchange(struct client *client, char *answers, size_t size)
{
    size_t length = 0;
    ssize_t got = -1;
    client_send(client, requests);
    errno = EAGAIN;
    while ((got > 0 || (got < 0 && errno == EAGAIN)) && length < size - 1) {
        loop_run_once(client->world->loop);
        got = recv(client->fd, answers + length, size - 1 - length, MSG_DONTWAIT);
        length += got > 0 ? (size_t)got : 0;
    }
    answers[length] = '\0';
}

/* Each begins where the one before it ends. */
static bool are_whole(const char *answers)
{
    while (*answers) {
        const char *end = strstr(answers, "\r\n\r\n");
        const char *length = strcasestr(answers, "\r\nContent-Length: ");
        size_t size;
        if (strncmp(answers, "HTTP/1.1 ", 9) != 0 || !end || !length || length > end ||
            sscanf(length + strlen("\r\nContent-Length: "), "%zu", &size) != 1 ||
            strlen(end + 4) < size)
            return false;
        answers = end + 4 + size;
    }
    return true;
}

static bool is_empty(void *context)
{
    return http_server_connections(((struct world *)context)->server) == 0;
}

/* False: there was no n-th. */
static bool fail_nth(int n)
{
    struct world world;
    struct client client;
    char answers[8192];
    world_open(&world, NULL);
    client_open(&client, &world, "127.0.0.1");
    nth_alloc_plan(n);
    exchange(&client, answers, sizeof(answers));
    bool has_failed = nth_alloc_failed();
    nth_alloc_plan(0);
    if (!are_whole(answers))
        fail_msg("n = %d: %s", n, answers);
    client_close(&client);
    client_open(&client, &world, "127.0.0.1");
    exchange(&client, answers, sizeof(answers));
    if (!are_whole(answers) || !strstr(answers, "OTHER /echo/4"))
        fail_msg("after n = %d: %s", n, answers);
    client_close(&client);
    world_until(&world, is_empty, &world);
    world_close(&world);
    return has_failed;
}

static void test_allocations(void **state)
{
    int n = 1;
    (void)state;
    while (fail_nth(n)) {
        n++;
        assert_true(n < MORE_THAN_EVER);
    }
    print_message("%d allocations\n", n - 1);
    assert_true(n > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
