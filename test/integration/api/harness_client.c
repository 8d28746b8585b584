/* The clients of the harness: bytes as they are sent and read, whole requests, and what is in the
 * answers. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "harness.h"

/* ---- a client ---- */

struct client {
    struct world *world;
    int fd;
    struct loop_fd *watch;
    struct strbuf in;
    const char *out;
    size_t out_length;
    bool closed;
};

static void on_client(void *context, unsigned events)
{
    struct client *client = context;
    if (events & LOOP_WRITE && client->out_length) {
        ssize_t sent = send(client->fd, client->out, client->out_length, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN) {
            client->out_length = 0; /* the server hung up; what it said is still to be read */
        } else if (sent > 0) {
            client->out += sent;
            client->out_length -= (size_t)sent;
        }
    }
    if (events & LOOP_READ)
        client_read_some(client, 64 << 10);
    unsigned want = client->out_length ? LOOP_READ | LOOP_WRITE : LOOP_READ;
    loop_fd_want(client->watch, client->closed ? 0 : want);
}

static struct client *connect_to(struct world *world, const struct sockaddr *address,
                                 socklen_t length)
{
    struct client *client = calloc(1, sizeof(*client));
    assert_non_null(client);
    client->world = world;
    strbuf_init(&client->in);
    client->fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(client->fd, address, length), 0);
    fcntl(client->fd, F_SETFL, O_NONBLOCK);
    assert_int_equal(loop_fd_new(world->loop, client->fd, on_client, client, &client->watch), OK);
    loop_fd_want(client->watch, LOOP_READ);
    return client;
}

struct client *client_connect(struct world *world)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", world->socket_path);
    return connect_to(world, (struct sockaddr *)&address, sizeof(address));
}

struct client *client_connect_tcp(struct world *world)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((in_port_t)api_port(world->api, 0)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return connect_to(world, (struct sockaddr *)&address, sizeof(address));
}

static bool is_sent(void *context)
{
    const struct client *client = context;
    return !client->out_length || client->closed;
}

void client_send(struct client *client, const void *bytes, size_t length)
{
    client->out = bytes;
    client->out_length = length;
    loop_fd_want(client->watch, LOOP_READ | LOOP_WRITE);
    world_until(client->world, is_sent, client);
}

void client_send_now(struct client *client, const void *bytes, size_t length)
{
    if (send(client->fd, bytes, length, MSG_NOSIGNAL) < 0 && errno != EAGAIN)
        client->closed = true;
}

void client_stop_reading(struct client *client)
{
    loop_fd_want(client->watch, 0);
}

void client_read_some(struct client *client, size_t most)
{
    char *bytes = malloc(most);
    assert_non_null(bytes);
    ssize_t got = recv(client->fd, bytes, most, 0);
    if (got > 0)
        strbuf_add(&client->in, bytes, (size_t)got);
    else if (got == 0 || errno != EAGAIN)
        client->closed = true;
    free(bytes);
}

bool client_is_closed(const struct client *client)
{
    return client->closed;
}

const char *client_text(const struct client *client)
{
    return client->in.text;
}

const char *client_bytes(const struct client *client, size_t *ret_length)
{
    *ret_length = client->in.length;
    return client->in.text;
}

void client_clear(struct client *client)
{
    strbuf_reset(&client->in);
}

struct wanted {
    const struct client *client;
    const char *text;
};

static bool has_text(void *context)
{
    const struct wanted *wanted = context;
    return strstr(client_text(wanted->client), wanted->text) != NULL;
}

void client_wait_for(struct world *world, const struct client *client, const char *text)
{
    struct wanted wanted = {client, text};
    world_until(world, has_text, &wanted);
}

void client_free(struct client *client)
{
    loop_fd_free(client->watch);
    close(client->fd);
    strbuf_release(&client->in);
    free(client);
}

/* ---- whole requests ---- */

static bool closed(void *context)
{
    return client_is_closed(context);
}

struct wanted_calls {
    const struct world *world;
    size_t count;
};

static bool are_open(void *context)
{
    const struct wanted_calls *wanted = context;
    return api_open_requests(wanted->world->api) == wanted->count;
}

void ask_at_once(struct world *world, const char *const *requests, size_t count, int *ret_statuses)
{
    struct client *clients[16];
    assert_true(count <= 16);
    world_hold(world);
    for (size_t i = 0; i < count; i++) {
        struct wanted_calls wanted = {world, i + 1};
        clients[i] = client_connect(world);
        client_send(clients[i], requests[i], strlen(requests[i]));
        world_until(world, are_open, &wanted);
    }
    world_release(world);
    for (size_t i = 0; i < count; i++) {
        world_until(world, closed, clients[i]);
        assert_int_equal(sscanf(client_text(clients[i]), "HTTP/1.1 %d", &ret_statuses[i]), 1);
        client_free(clients[i]);
    }
}

static struct answer parse_answer(const char *text)
{
    struct answer answer = {0};
    const char *end = strstr(text, "\r\n\r\n");
    assert_non_null(end);
    assert_int_equal(sscanf(text, "HTTP/1.1 %d", &answer.status), 1);
    answer.head = strndup(text, (size_t)(end - text) + 2);
    answer.text = strdup(end + 4);
    answer.body = json_loads(answer.text, JSON_DECODE_ANY, NULL);
    return answer;
}

/* Takes the client over. */
static struct answer ask_client(struct client *client, const char *line, const char *headers,
                                const char *body)
{
    struct strbuf request;
    const char *path = strchr(line, ' ') + 1;
    strbuf_init(&request);
    strbuf_add(&request, line, (size_t)(path - line));
    strbuf_addf(&request, "%s%s HTTP/1.1\r\nConnection: close\r\n%s",
                strncmp(path, "//", 2) == 0 ? "" : "/api/v1",
                strncmp(path, "//", 2) == 0 ? path + 1 : path, headers);
    if (body)
        strbuf_addf(&request, "Content-Length: %zu\r\n", strlen(body));
    strbuf_adds(&request, "\r\n");
    if (body)
        strbuf_adds(&request, body);
    client_send(client, request.text, request.length);
    world_until(client->world, closed, client);
    struct answer answer = parse_answer(client_text(client));
    client_free(client);
    strbuf_release(&request);
    return answer;
}

struct answer ask_with(struct world *world, const char *line, const char *headers, const char *body)
{
    char *all = NULL;
    assert_true(asprintf(&all, "Host: peal\r\n%s", headers) > 0);
    struct answer answer = ask_client(client_connect(world), line, all, body);
    free(all);
    return answer;
}

struct answer ask_tcp(struct world *world, const char *line, const char *headers, const char *body)
{
    return ask_client(client_connect_tcp(world), line, headers, body);
}

char *answer_header(const struct answer *answer, const char *name)
{
    char line[80];
    snprintf(line, sizeof(line), "\r\n%s: ", name);
    const char *at = strcasestr(answer->head, line);
    return at ? strndup(at + strlen(line), strcspn(at + strlen(line), "\r")) : NULL;
}

struct answer ask(struct world *world, const char *line, const char *body)
{
    return ask_with(world, line, "", body);
}

void answer_release(struct answer *answer)
{
    free(answer->head);
    free(answer->text);
    json_decref(answer->body);
    *answer = (struct answer){0};
}

json_t *expect(struct world *world, int line_number, int status, const char *line, const char *body)
{
    struct answer answer = ask(world, line, body);
    if (answer.status != status)
        fail_msg("line %d: %s: expected %d, got %d: %s", line_number, line, status, answer.status,
                 answer.text);
    json_t *value = json_incref(answer.body);
    answer_release(&answer);
    return value;
}

json_t *member(json_t *value, const char *path)
{
    while (value && *path) {
        char name[64];
        size_t length = strcspn(path, ".");
        snprintf(name, sizeof(name), "%.*s", (int)length, path);
        value = json_is_array(value) ? json_array_get(value, (size_t)atoi(name))
                                     : json_object_get(value, name);
        path += length;
        path += *path == '.';
    }
    return value;
}

const char *member_text(json_t *value, const char *path)
{
    const char *text = json_string_value(member(value, path));
    return text ? text : "(no text)";
}

int64_t member_number(json_t *value, const char *path)
{
    json_t *number = member(value, path);
    return json_is_integer(number) ? json_integer_value(number) : INT64_MIN;
}

size_t member_count(json_t *value, const char *path)
{
    return json_array_size(member(value, path));
}
