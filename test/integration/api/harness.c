#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "notifier.h"
#include "router.h"

enum { PATIENCE_MS = 20000 };

/* ---- the world ---- */

static void wake(void *context)
{
    struct world *world = context;
    if (!world->held && world->turn)
        loop_timer_set(world->turn, 0);
}

static void on_turn(void *context)
{
    struct world *world = context;
    if (world->held || !world->engine)
        return;
    struct now now = clock_now();
    fake_executor_set_now(world->executor, now);
    engine_step(world->engine, now);
    int64_t wait_ms = engine_wake_at(world->engine).ms - now.wall.ms;
    if (wait_ms < PATIENCE_MS)
        loop_timer_set(world->due, wait_ms > 0 ? wait_ms : 0);
}

static void on_watchdog(void *context)
{
    (void)context;
    fputs("no answer within 20 s\n", stderr);
    abort();
}

static void fill_random(void *context, void *bytes, size_t length)
{
    (void)context;
    for (size_t i = 0; i < length; i++)
        ((unsigned char *)bytes)[i] = (unsigned char)random();
}

static void drain(void *context)
{
    struct world *world = context;
    world->drained = true;
    engine_drain(world->engine);
}

/* ---- backends that fail on demand ---- */

static struct failing_store *forgetful; /* while a request of its is under way */

static void forget_answer(struct store_request *request, enum status st)
{
    (void)st;
    request->done = forgetful->done;
    request->done(request, E_UNKNOWN);
}

static void submit(struct store *store, struct store_request *request)
{
    struct failing_store *self = (struct failing_store *)(void *)store;
    if (self->forgets) {
        forgetful = self;
        self->done = request->done;
        request->done = forget_answer;
    }
    if (self->fails)
        request->done(request, E_IO);
    else
        store_submit(self->real, request);
}

static enum status health(struct store *store, struct strbuf *why)
{
    const struct failing_store *self = (const struct failing_store *)(void *)store;
    if (!self->fails)
        return OK;
    strbuf_adds(why, "the disk is full; make room");
    return E_IO;
}

static const struct store_ops failing_store_ops = {.submit = submit, .health = health};

static void read_rows(struct history *history, struct history_read *read)
{
    struct failing_history *self = (struct failing_history *)(void *)history;
    if (self->fails)
        read->done(read, E_IO);
    else
        history_read(self->real, read);
}

static void read_log(struct history *history, struct history_log *log)
{
    struct failing_history *self = (struct failing_history *)(void *)history;
    if (self->fails)
        log->done(log, E_IO);
    else
        history_log(self->real, log);
}

static void append(struct history *history, struct history_append *append)
{
    struct failing_history *self = (struct failing_history *)(void *)history;
    if (self->fails)
        append->done(append, E_IO);
    else if (!self->is_silent)
        history_append(self->real, append);
    else
        self->unanswered = append;
}

static void read_changes(struct history *history, struct history_changes *changes)
{
    struct failing_history *self = (struct failing_history *)(void *)history;
    if (self->fails)
        changes->done(changes, E_IO);
    else
        history_changes(self->real, changes);
}

static void read_stats(struct history *history, struct history_stats *stats)
{
    struct failing_history *self = (struct failing_history *)(void *)history;
    if (self->fails)
        stats->done(stats, E_IO);
    else
        history_stats(self->real, stats);
}

static enum status history_state(struct history *history, struct strbuf *why)
{
    const struct failing_history *self = (const struct failing_history *)(void *)history;
    if (!self->fails)
        return OK;
    strbuf_adds(why, "history.db is damaged");
    return E_CORRUPT;
}

static const struct history_ops failing_history_ops = {
    .append = append,
    .read = read_rows,
    .log = read_log,
    .stats = read_stats,
    .changes = read_changes,
    .health = history_state,
};

/* ---- life ---- */

/* ---- accounts ---- */

static void doc_put(struct store_request *request, enum status st)
{
    assert_int_equal(st, OK);
    *(bool *)request->context = true;
}

static bool is_true(void *context)
{
    return *(const bool *)context;
}

void world_put_doc(struct world *world, const char *kind, const char *name, const char *json)
{
    bool done = false;
    struct store_put_doc put = {.json = json, .expected_revision = -1};
    struct store_request request = {
        .op = STORE_PUT_DOC, .count = 1, .items.docs = &put, .done = doc_put, .context = &done};
    snprintf(put.kind, sizeof(put.kind), "%s", kind);
    snprintf(put.name, sizeof(put.name), "%s", name);
    store_submit(world->store, &request);
    world_until(world, is_true, &done);
}

static void add_token(struct world *world, const char *secret, const struct scope *scope)
{
    int64_t now_ms = clock_now().wall.ms;
    struct token token = {.scope = *scope, .created_ms = now_ms, .used_ms = now_ms};
    snprintf(token.label, sizeof(token.label), "%s", secret);
    secret_digest(secret, token.digest);
    char *json = token_encode(&token);
    assert_non_null(json);
    world_put_doc(world, TOKEN_DOC, secret, json);
    free(json);
}

static void add_tokens(struct world *world)
{
    static const struct {
        const char *token;
        struct scope scope;
    } tokens[] = {
        {"viewer", {.rights = ROLE_VIEWER}},
        {"operator", {.rights = ROLE_OPERATOR}},
        {"editor", {.rights = ROLE_EDITOR & ~(unsigned)RIGHT_DEFINE}},
        {"definer", {.rights = ROLE_EDITOR}},
        {"admin", {.rights = ROLE_ADMIN}},
        {"team-viewer", {.grants = {{"team", ROLE_VIEWER}}, .grant_count = 1}},
        {"team-operator", {.grants = {{"team", ROLE_OPERATOR}}, .grant_count = 1}},
        {"team-editor", {.grants = {{"team", ROLE_EDITOR}}, .grant_count = 1}},
    };
    for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++)
        add_token(world, tokens[i].token, &tokens[i].scope);
}

static void keep_line(void *context, const char *event, const char *particulars)
{
    struct world *world = context;
    snprintf(world->logged, sizeof(world->logged), "%s %s", event, particulars);
}

static void open_notifier(struct world *world)
{
    struct strbuf why;
    struct notifier_config config = {.data_dir = world->dir, .node = "here"};
    strbuf_init(&why);
    if (notifier_new(world->loop, &config, &world->notifier, &why) != OK)
        fail_msg("notifier_new: %s", why.text);
    strbuf_release(&why);
}

static void open_api(struct world *world)
{
    static const char *const listen[] = {"127.0.0.1:0"};
    struct strbuf why;
    strbuf_init(&why);
    struct api_config config = {
        .socket_path = world->socket_path,
        .version = "1.2.3",
        .node = "here",
        .data_dir = world->dir,
        .default_tz = "Europe/Berlin",
        .started_ms = clock_now().wall.ms,
        .undelete_s = 7 * 86400,
        .listen = listen,
        .listen_count = 1,
        .facades = world->facades,
        .limits = world->limits,
        .unread_events = world->unread_events,
        .known_rate = {.per_s = 100000, .burst = 100000},
        .unknown_rate = {.per_s = 100000, .burst = 100000},
    };
    world->api_store = (struct failing_store){.base = {&failing_store_ops}, .real = world->store};
    world->api_history =
        (struct failing_history){.base = {&failing_history_ops}, .real = world->history};
    struct api_ports ports = {
        .loop = world->loop,
        .engine = world->engine,
        .store = &world->api_store.base,
        .history = &world->api_history.base,
        .zones = world->zones,
        .entropy = {fill_random, NULL},
        .output = {fake_executor_read, fake_executor_release, world->executor},
        .log = {keep_line, world},
        .notifier = world->notifier,
        .step = wake,
        .drain = drain,
        .context = world,
    };
    if (api_new(&config, &ports, &world->api, &why) != OK)
        fail_msg("api_new: %s", why.text);
    strbuf_release(&why);
}

static bool is_loaded(void *context)
{
    return engine_is_loaded(((struct world *)context)->engine);
}

static int set_up(void **state, const struct world *wanted)
{
    struct world *world = calloc(1, sizeof(*world));
    assert_non_null(world);
    *world = *wanted;
    world->held = true;
    signal(SIGPIPE, SIG_IGN); /* as the agent does */
    snprintf(world->dir, sizeof(world->dir), "/tmp/peal-api-XXXXXX");
    assert_non_null(mkdtemp(world->dir));
    snprintf(world->socket_path, sizeof(world->socket_path), "%s/api.sock", world->dir);
    assert_int_equal(loop_new(&world->loop), OK);
    assert_int_equal(loop_timer_new(world->loop, on_turn, world, &world->turn), OK);
    assert_int_equal(loop_timer_new(world->loop, on_turn, world, &world->due), OK);
    assert_int_equal(loop_timer_new(world->loop, on_watchdog, world, &world->watchdog), OK);
    assert_int_equal(zone_db_new(NULL, &world->zones), OK);
    assert_int_equal(store_memory_new((struct store_wake){wake, world}, &world->store), OK);
    assert_int_equal(history_memory_new((struct history_wake){wake, world}, &world->history), OK);
    world->executor = fake_executor_new(wake, world);
    struct engine_config config = engine_config_default();
    snprintf(config.node, sizeof(config.node), "here");
    snprintf(config.boot_id, sizeof(config.boot_id), "boot");
    struct engine_ports ports = {
        .store = world->store,
        .executor = fake_executor_port(world->executor),
        .history = world->history,
        .zones = world->zones,
        .entropy = {fill_random, NULL},
        .output = fake_executor_output(world->executor),
    };
    assert_int_equal(engine_new(&config, &ports, &world->engine), OK);
    open_notifier(world);
    open_api(world);
    *state = world;
    return 0;
}

int world_set_up_loading(void **state)
{
    return set_up(state, &(struct world){.facades = ROUTE_FACADES});
}

static int start(void **state)
{
    world_release(*state);
    world_until(*state, is_loaded, *state);
    add_tokens(*state);
    return 0;
}

int world_set_up(void **state)
{
    world_set_up_loading(state);
    return start(state);
}

int world_set_up_plain(void **state)
{
    set_up(state, &(struct world){.facades = 0});
    return start(state);
}

int world_set_up_impatient(void **state)
{
    static const struct world wanted = {
        .facades = ROUTE_FACADES,
        .limits =
            {
                .connections = 20,
                .request_ms = 300,
                .answer_ms = 300,
                .idle_ms = 300,
                .bytes_per_s = 1 << 20,
                .held_bytes = 1 << 20,
            },
    };
    set_up(state, &wanted);
    return start(state);
}

int world_set_up_narrow(void **state)
{
    set_up(state,
           &(struct world){.unread_events = NARROW_BYTES, .limits.unsent_bytes = NARROW_BYTES});
    return start(state);
}

int world_tear_down(void **state)
{
    struct world *world = *state;
    store_free(world->store);
    history_free(world->history);
    notifier_free(world->notifier);
    api_free(world->api);
    assert_int_not_equal(access(world->socket_path, F_OK), 0);
    engine_free(world->engine);
    fake_executor_free(world->executor);
    zone_db_free(world->zones);
    loop_timer_free(world->turn);
    loop_timer_free(world->due);
    loop_timer_free(world->watchdog);
    loop_free(world->loop);
    char path[128];
    snprintf(path, sizeof(path), "%s/notify/queue", world->dir);
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
    rmdir(world->dir);
    free(world);
    return 0;
}

void world_hold(struct world *world)
{
    world->held = true;
}

void world_release(struct world *world)
{
    world->held = false;
    wake(world);
}

void world_until(struct world *world, bool (*done)(void *context), void *context)
{
    loop_timer_set(world->watchdog, PATIENCE_MS);
    while (!done(context))
        loop_run_once(world->loop);
    loop_timer_stop(world->watchdog);
}

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
    return ask_client(client_connect(world), line, headers, body);
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
