/* DOWN -> LAUNCHING -> DOWN ... -> GREETING -> READY
 *   ^---------- connection lost ------/---------/    (REPLACED: for good)
 *
 * `waiting` holds unsent messages, `unanswered` the starts that were sent and not answered yet. */
#include "spawn_client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "spawn_build.h"
#include "spawn_launch.h"
#include "table.h"

#define EVENTS_MAX      4096 /* queued, before reading pauses until they are taken */
#define RETRY_MIN_MS    20
#define RETRY_MAX_MS    5000
#define PAUSE_MS        20
#define PACKETS_AT_ONCE 256 /* per turn and direction */

enum client_state {
    CLIENT_DOWN,
    CLIENT_LAUNCHING,
    CLIENT_GREETING, /* connected; the list of runs is coming */
    CLIENT_READY,
    CLIENT_REPLACED,
};

/* A message to send. */
struct outgoing {
    char id[SPAWN_ID_MAX + 1]; /* of a start; "" otherwise */
    void *packet;
    size_t length;
    char *stdin_bytes; /* NULL: none */
    size_t stdin_length;
    int64_t at_boot_us; /* of a start: not before; 0: at once */
    unsigned needs;     /* of a start: features of the spawner (spawn_start_needs) */
    STAILQ_ENTRY(outgoing) waiting;
    TAILQ_ENTRY(outgoing) unanswered;
};

struct spawn_client {
    struct loop *loop;
    struct spawn_client_config config;
    void (*wake)(void *context);
    void *context;
    enum client_state state;
    int fd;
    struct spawner_info spawner;
    pid_t upgraded; /* the spawner that was told to upgrade; 0: none was. No other is told */
    pid_t launcher;
    int launcher_fd;
    bool is_paused; /* out of descriptors, or too early: sends nothing until `resume` */
    struct loop_fd *socket;
    struct loop_timer *retry;  /* connects again */
    struct loop_timer *waking; /* calls wake */
    int64_t retry_ms;
    struct loop_fd *launching;
    struct loop_timer *resume;
    struct spawn_hello hello;
    STAILQ_HEAD(waiting_queue, outgoing) waiting;
    TAILQ_HEAD(unanswered_queue, outgoing) unanswered;
    struct table unanswered_ids;
    struct spawn_event *events; /* a ring */
    size_t event_first, event_count, event_capacity;
    char packet[SPAWN_FRAME_MAX + 1] __attribute__((aligned(16)));
};

static const struct table_type outgoing_by_id = {.key_at = offsetof(struct outgoing, id)};

static void outgoing_free(struct outgoing *out)
{
    if (out->packet && out->needs & SPAWN_KNOWS_SECRETS)
        explicit_bzero(out->packet, out->length);
    free(out->packet);
    free(out->stdin_bytes);
    free(out);
}

static bool grow_events(struct spawn_client *client)
{
    size_t capacity = client->event_capacity ? client->event_capacity * 2 : 64;
    struct spawn_event *events = malloc(capacity * sizeof(*events));
    if (!events)
        return false;
    for (size_t i = 0; i < client->event_count; i++)
        events[i] = client->events[(client->event_first + i) % client->event_capacity];
    free(client->events);
    client->events = events;
    client->event_first = 0;
    client->event_capacity = capacity;
    return true;
}

/* False: out of memory. Then the connection is closed; the spawner repeats everything on the
 * next. */
static bool add_event(struct spawn_client *client, const struct spawn_event *event)
{
    if (client->event_count == client->event_capacity && !grow_events(client))
        return false;
    size_t at = (client->event_first + client->event_count++) % client->event_capacity;
    client->events[at] = *event;
    if (client->event_count == 1)
        loop_timer_set(client->waking, 0);
    return true;
}

static void want(struct spawn_client *client)
{
    if (!client->socket)
        return;
    unsigned events = client->event_count < EVENTS_MAX ? LOOP_READ : 0u;
    bool may_write =
        client->state == CLIENT_READY && !client->is_paused && !STAILQ_EMPTY(&client->waiting);
    loop_fd_want(client->socket, events | (may_write ? LOOP_WRITE : 0u));
}

static void retry_later(struct spawn_client *client)
{
    loop_timer_set(client->retry, client->retry_ms);
    client->retry_ms = client->retry_ms * 2 < RETRY_MAX_MS ? client->retry_ms * 2 : RETRY_MAX_MS;
}

/* Puts unanswered starts back to the front of the queue, in order. */
static void take_back(struct spawn_client *client)
{
    struct outgoing *out;
    while ((out = TAILQ_LAST(&client->unanswered, unanswered_queue))) {
        TAILQ_REMOVE(&client->unanswered, out, unanswered);
        table_remove(&client->unanswered_ids, out);
        STAILQ_INSERT_HEAD(&client->waiting, out, waiting);
    }
}

static void disconnect(struct spawn_client *client, enum spawn_event_kind kind)
{
    client->socket = loop_fd_free(client->socket);
    close(client->fd);
    client->fd = -1;
    client->state = kind == SPAWN_EVENT_REPLACED ? CLIENT_REPLACED : CLIENT_DOWN;
    take_back(client);
    struct spawn_event event = {.kind = kind};
    if (!add_event(client, &event))
        loop_timer_set(client->waking, 0);
    if (client->state == CLIENT_DOWN)
        retry_later(client);
}

static void answered(struct spawn_client *client, const char *id)
{
    struct outgoing *out = table_find(&client->unanswered_ids, id);
    if (!out)
        return;
    table_remove(&client->unanswered_ids, out);
    TAILQ_REMOVE(&client->unanswered, out, unanswered);
    outgoing_free(out);
}

static void match_build(struct spawn_client *client)
{
    struct spawner_info *spawner = &client->spawner;
    if (!*client->config.build.version)
        return;
    enum build_order order = build_compare(&spawner->build, &client->config.build);
    if (order == BUILD_NEWER)
        spawner->match = SPAWNER_NEWER;
    else if (order != BUILD_SAME)
        spawner->match = SPAWNER_STALE;
    else
        spawner->match = spawner->pid == client->upgraded ? SPAWNER_UPGRADED : SPAWNER_SAME;
}

/* OK: this spawner will do. E_VERSION: it was told to execute its file, and is greeted again by
 * another connection. Not before all that it had to say was read: else the end of the connection
 * would overtake the order. */
static enum status check_build(struct spawn_client *client)
{
    char upgrade[SPAWN_FIXED_MAX];
    /* It would take a start without a user for one as root. */
    bool is_unusable = !(client->hello.features & SPAWN_KNOWS_JOBS);
    match_build(client);
    bool is_stale = client->spawner.match == SPAWNER_STALE && !client->upgraded &&
                    !(client->hello.features & SPAWN_IS_STOPPING);
    if (!is_unusable && !is_stale)
        return OK;
    if (!client->upgraded) {
        client->upgraded = client->spawner.pid;
        client->spawner.before = client->spawner.build;
        client->spawner.match = SPAWNER_UNKNOWN;
    }
    size_t length = spawn_encode(SPAWN_UPGRADE, NULL, upgrade);
    return send(client->fd, upgrade, length, MSG_NOSIGNAL) > 0 ? E_VERSION : E_UNREACHABLE;
}

/* OK: done. Anything else ends the connection. */
static enum status handle(struct spawn_client *client, const struct spawn_message *message)
{
    struct spawn_event event = {.kind = SPAWN_EVENT_RUN};
    if (message->type == SPAWN_HELLO)
        return spawn_decode_hello(message, &client->hello);
    if (message->type == SPAWN_BUILD) {
        enum status st = spawn_decode_build(message, &client->spawner.build);
        if (st == OK && client->state == CLIENT_READY) /* told to upgrade by somebody else */
            match_build(client);
        return st;
    }
    if (message->type == SPAWN_RUN) {
        enum status st = spawn_decode_run(message, &event.run);
        if (st != OK)
            return st;
        if (event.run.change != SPAWN_CHANGE_HELD)
            answered(client, event.run.id);
        return add_event(client, &event) ? OK : E_NOMEM;
    }
    if (message->type == SPAWN_READY) {
        enum status st = check_build(client);
        if (st != OK)
            return st;
        client->state = CLIENT_READY;
        client->retry_ms = RETRY_MIN_MS;
        event.kind = SPAWN_EVENT_READY;
        event.hello = client->hello;
        return add_event(client, &event) ? OK : E_NOMEM;
    }
    return message->type == SPAWN_REPLACED ? E_CONFLICT : E_CORRUPT;
}

/* The same for a packet, which may be a frame. */
static enum status handle_packet(struct spawn_client *client, size_t length)
{
    struct spawn_message packet, message;
    size_t at = 0;
    enum status st = spawn_decode(client->packet, length, &packet);
    if (st != OK || packet.type != SPAWN_FRAME)
        return st == OK ? handle(client, &packet) : st;
    while ((st = spawn_frame_next(&packet, &at, &message)) == OK)
        if ((st = handle(client, &message)) != OK)
            return st;
    return st == E_NOT_FOUND ? OK : st;
}

static void read_messages(struct spawn_client *client)
{
    for (int i = 0; i < PACKETS_AT_ONCE && client->event_count < EVENTS_MAX; i++) {
        ssize_t length = recv(client->fd, client->packet, sizeof(client->packet), MSG_DONTWAIT);
        if (length < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        enum status st = length > 0 ? handle_packet(client, (size_t)length) : E_UNREACHABLE;
        if (st != OK) {
            disconnect(client, st == E_CONFLICT ? SPAWN_EVENT_REPLACED : SPAWN_EVENT_GONE);
            return;
        }
    }
}

/* A memfd with the bytes; made only now, since thousands of starts may wait. */
static int make_stdin(const struct outgoing *out)
{
    int fd = memfd_create("peal-stdin", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -1;
    size_t done = 0;
    while (done < out->stdin_length) {
        ssize_t wrote = write(fd, out->stdin_bytes + done, out->stdin_length - done);
        if (wrote <= 0)
            break;
        done += (size_t)wrote;
    }
    fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    if (done == out->stdin_length && lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    close(fd);
    return -1;
}

/* False, and errno, as sendmsg. */
static bool send_packet(struct spawn_client *client, const struct outgoing *out)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec part = {out->packet, out->length};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    int fd = -1;
    if (out->stdin_bytes) {
        fd = make_stdin(out);
        if (fd < 0)
            return false;
        header.msg_control = &control;
        header.msg_controllen = sizeof(control);
        struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(rights), &fd, sizeof(fd));
    }
    ssize_t sent = sendmsg(client->fd, &header, MSG_NOSIGNAL | MSG_DONTWAIT);
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return sent == (ssize_t)out->length;
}

/* How long a start for this spawner has to wait here, which does not know of times. The executor
 * knows that, too; but this spawner may be another one than it was for. */
static int64_t wait_ms(const struct spawn_client *client, const struct outgoing *out)
{
    if (!out->at_boot_us || client->hello.features & SPAWN_KNOWS_TIMES)
        return 0;
    int64_t ms = (out->at_boot_us + 999) / 1000 - clock_now().boot.ms;
    return ms > 0 ? ms : 0;
}

/* What this start needs, and its spawner can't do: mask its secrets, or enforce its limits. */
static unsigned lack(const struct spawn_client *client, const struct outgoing *out)
{
    return out->needs & ~client->hello.features;
}

/* How many of the messages that wait go into the next packet: more than one are a frame. */
static size_t count_next(const struct spawn_client *client)
{
    const struct outgoing *out;
    size_t count = 0, length = sizeof(struct spawn_header);
    if (!(client->hello.features & SPAWN_KNOWS_FRAMES))
        return 1;
    STAILQ_FOREACH(out, &client->waiting, waiting)
    {
        length += out->length + spawn_frame_padding(out->length);
        if (out->stdin_bytes || length > SPAWN_FRAME_MAX || count == SPAWN_FRAME_MESSAGES ||
            wait_ms(client, out) || lack(client, out))
            break;
        count++;
    }
    return count ? count : 1;
}

/* Sends the first `count` messages as a frame. False, and errno, as sendmsg. */
static bool send_frame(struct spawn_client *client, size_t count)
{
    static const char zeroes[8];
    struct spawn_header begin;
    struct iovec parts[1 + 2 * SPAWN_FRAME_MESSAGES] = {{&begin, sizeof(begin)}};
    struct msghdr header = {.msg_iov = parts, .msg_iovlen = 1};
    const struct outgoing *out = STAILQ_FIRST(&client->waiting);
    size_t length = 0;
    for (size_t i = 0; i < count; i++, out = STAILQ_NEXT(out, waiting)) {
        size_t padding = spawn_frame_padding(out->length);
        parts[header.msg_iovlen++] = (struct iovec){out->packet, out->length};
        if (padding)
            parts[header.msg_iovlen++] = (struct iovec){(void *)zeroes, padding};
        length += out->length + padding;
    }
    spawn_frame_begin(length, &begin);
    return sendmsg(client->fd, &header, MSG_NOSIGNAL | MSG_DONTWAIT) ==
           (ssize_t)(sizeof(begin) + length);
}

static void pause_for(struct spawn_client *client, int64_t ms)
{
    client->is_paused = true;
    loop_timer_set(client->resume, ms);
}

/* What to do about a message that could not be sent. */
static void send_failed(struct spawn_client *client, int error)
{
    if (error == EAGAIN || error == EINTR)
        return; /* when the socket is writable again */
    if (error == EPIPE || error == ECONNRESET || error == ENOTCONN) {
        disconnect(client, SPAWN_EVENT_GONE);
        return;
    }
    pause_for(client, PAUSE_MS); /* out of memory or descriptors, here or in the kernel */
}

/* Expects answers to the starts among the first `count` messages. Returns how many messages that
 * was possible for: fewer when out of memory. */
static size_t expect_answers(struct spawn_client *client, size_t count)
{
    struct outgoing *out = STAILQ_FIRST(&client->waiting);
    for (size_t i = 0; i < count; i++, out = STAILQ_NEXT(out, waiting)) {
        if (!out->id[0])
            continue;
        if (table_insert(&client->unanswered_ids, out) != OK)
            return i;
        out->length = spawn_start_suit(out->packet, out->length, client->hello.features);
    }
    return count;
}

static void expect_no_answers(struct spawn_client *client, size_t count)
{
    struct outgoing *out = STAILQ_FIRST(&client->waiting);
    for (size_t i = 0; i < count; i++, out = STAILQ_NEXT(out, waiting))
        if (out->id[0])
            table_remove(&client->unanswered_ids, out);
}

/* The first `count` messages have been sent. */
static void sent(struct spawn_client *client, size_t count)
{
    while (count--) {
        struct outgoing *out = STAILQ_FIRST(&client->waiting);
        STAILQ_REMOVE_HEAD(&client->waiting, waiting);
        if (out->id[0])
            TAILQ_INSERT_TAIL(&client->unanswered, out, unanswered);
        else
            outgoing_free(out);
    }
}

/* Those at the front of the queue fail here, as if the spawner had said so. False: out of memory.
 */
static bool refuse_lacking(struct spawn_client *client)
{
    struct outgoing *out;
    while ((out = STAILQ_FIRST(&client->waiting)) && lack(client, out)) {
        unsigned what = lack(client, out);
        struct spawn_event event = {
            .kind = SPAWN_EVENT_RUN,
            .run = {.change = SPAWN_CHANGE_ENDED,
                    .reason = SPAWN_START_FAILED,
                    .step = what & SPAWN_KNOWS_SECRETS ? SPAWN_STEP_SECRETS : SPAWN_STEP_CGROUP,
                    .error = what & (SPAWN_KNOWS_SECRETS | SPAWN_KNOWS_SHARE) ? EPROTONOSUPPORT
                                                                              : EOPNOTSUPP,
                    .ended_wall_ms = clock_now().wall.ms,
                    .ended_boot_ms = clock_now().boot.ms}};
        memcpy(event.run.id, out->id, sizeof(out->id));
        if (!add_event(client, &event))
            return false;
        STAILQ_REMOVE_HEAD(&client->waiting, waiting);
        outgoing_free(out);
    }
    return true;
}

static void write_messages(struct spawn_client *client)
{
    for (int i = 0; i < PACKETS_AT_ONCE; i++) {
        if (!refuse_lacking(client)) {
            send_failed(client, ENOMEM);
            return;
        }
        if (STAILQ_EMPTY(&client->waiting))
            return;
        int64_t early_ms = wait_ms(client, STAILQ_FIRST(&client->waiting));
        if (early_ms) {
            pause_for(client, early_ms);
            return;
        }
        size_t count = expect_answers(client, count_next(client));
        if (count == 0) {
            send_failed(client, ENOMEM);
            return;
        }
        if (count > 1 ? !send_frame(client, count)
                      : !send_packet(client, STAILQ_FIRST(&client->waiting))) {
            int error = errno;
            expect_no_answers(client, count);
            send_failed(client, error);
            return;
        }
        sent(client, count);
    }
}

static void resume_now(void *context)
{
    struct spawn_client *client = context;
    client->is_paused = false;
    want(client);
}

static void socket_ready(void *context, unsigned events)
{
    struct spawn_client *client = context;
    if (events & LOOP_READ)
        read_messages(client);
    if (client->state == CLIENT_READY && !client->is_paused)
        write_messages(client);
    want(client);
}

static pid_t peer_of(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
}

/* False: nobody listens. */
static bool attach(struct spawn_client *client)
{
    char hello[SPAWN_FIXED_MAX];
    struct spawn_hello body = {.pid = (uint32_t)getpid(),
                               .features =
                                   SPAWN_WANTS_BUILD | SPAWN_KNOWS_FRAMES | SPAWN_WANTS_HELD};
    if (spawn_connect(client->config.folder, client->config.is_call, &client->fd) != OK)
        return false;
    client->state = CLIENT_GREETING;
    client->spawner.pid = peer_of(client->fd);
    client->spawner.build = (struct spawn_build){0};
    size_t length = spawn_encode(SPAWN_HELLO, &body, hello);
    if (loop_fd_new(client->loop, client->fd, socket_ready, client, &client->socket) != OK ||
        send(client->fd, hello, length, MSG_NOSIGNAL) != (ssize_t)length)
        disconnect(client, SPAWN_EVENT_GONE);
    want(client);
    return true;
}

static void launcher_ended(void *context, unsigned events)
{
    (void)events;
    struct spawn_client *client = context;
    client->launching = loop_fd_free(client->launching);
    spawn_launched(client->launcher, client->launcher_fd);
    client->launcher_fd = -1;
    client->state = CLIENT_DOWN;
    if (!attach(client))
        retry_later(client); /* the reason is in the spawner's log */
}

static void launch(struct spawn_client *client)
{
    if (client->config.never_launch ||
        spawn_launch(&client->config, &client->launcher, &client->launcher_fd) != OK) {
        retry_later(client);
        return;
    }
    client->state = CLIENT_LAUNCHING;
    if (loop_fd_new(client->loop, client->launcher_fd, launcher_ended, client,
                    &client->launching) != OK) {
        launcher_ended(client, 0);
        return;
    }
    loop_fd_want(client->launching, LOOP_READ);
}

static void attach_or_launch(void *context)
{
    struct spawn_client *client = context;
    if (!attach(client))
        launch(client);
}

static void wake_now(void *context)
{
    struct spawn_client *client = context;
    client->wake(client->context);
}

static char *copy_text(const char *text)
{
    return text ? strdup(text) : NULL;
}

enum status spawn_client_new(struct loop *loop, const struct spawn_client_config *config,
                             void (*wake)(void *context), void *context, struct spawn_client **ret)
{
    struct spawn_client *client = calloc(1, sizeof(*client));
    if (!client)
        return E_NOMEM;
    client->loop = loop;
    client->wake = wake;
    client->context = context;
    client->fd = client->launcher_fd = -1;
    client->retry_ms = RETRY_MIN_MS;
    STAILQ_INIT(&client->waiting);
    TAILQ_INIT(&client->unanswered);
    table_init(&client->unanswered_ids, &outgoing_by_id);
    client->config = *config;
    client->config.folder = copy_text(config->folder);
    client->config.program = copy_text(config->program);
    client->config.allow_file = copy_text(config->allow_file);
    client->config.call_user = copy_text(config->call_user);
    enum status st = client->config.folder ? OK : E_NOMEM;
    if (st == OK)
        st = loop_timer_new(loop, attach_or_launch, client, &client->retry);
    if (st == OK)
        st = loop_timer_new(loop, resume_now, client, &client->resume);
    if (st == OK)
        st = loop_timer_new(loop, wake_now, client, &client->waking);
    if (st != OK) {
        spawn_client_free(client);
        return st;
    }
    if (!attach(client)) /* at once, so that its pid is known */
        loop_timer_set(client->retry, 0);
    *ret = client;
    return OK;
}

struct spawn_client *spawn_client_free(struct spawn_client *client)
{
    if (!client)
        return NULL;
    loop_fd_free(client->socket);
    if (client->fd >= 0)
        close(client->fd);
    loop_fd_free(client->launching);
    if (client->launcher_fd >= 0)
        spawn_launched(client->launcher, client->launcher_fd);
    loop_timer_free(client->retry);
    loop_timer_free(client->resume);
    loop_timer_free(client->waking);
    take_back(client);
    for (struct outgoing *out; (out = STAILQ_FIRST(&client->waiting));) {
        STAILQ_REMOVE_HEAD(&client->waiting, waiting);
        outgoing_free(out);
    }
    table_release(&client->unanswered_ids);
    free(client->events);
    free((char *)client->config.folder);
    free((char *)client->config.program);
    free((char *)client->config.allow_file);
    free((char *)client->config.call_user);
    free(client);
    return NULL;
}

static void enqueue(struct spawn_client *client, struct outgoing *out)
{
    STAILQ_INSERT_TAIL(&client->waiting, out, waiting);
    want(client);
}

enum status spawn_client_start(struct spawn_client *client, const struct spawn_request *request)
{
    struct outgoing *out = calloc(1, sizeof(*out));
    if (!out)
        return E_NOMEM;
    enum status st = spawn_encode_start(request, &out->packet, &out->length);
    if (st == OK && request->stdin_bytes) {
        out->stdin_length = request->stdin_length;
        out->stdin_bytes = malloc(request->stdin_length + 1);
        if (out->stdin_bytes)
            memcpy(out->stdin_bytes, request->stdin_bytes, request->stdin_length);
        else
            st = E_NOMEM;
    }
    if (st != OK) {
        outgoing_free(out);
        return st;
    }
    memcpy(out->id, request->id, strlen(request->id));
    out->at_boot_us = request->at_boot_us;
    out->needs = spawn_start_needs(request);
    enqueue(client, out);
    return OK;
}

static enum status enqueue_fixed(struct spawn_client *client, enum spawn_type type,
                                 const void *body)
{
    struct outgoing *out = calloc(1, sizeof(*out));
    if (out)
        out->packet = malloc(SPAWN_FIXED_MAX);
    if (!out || !out->packet) {
        free(out);
        return E_NOMEM;
    }
    out->length = spawn_encode(type, body, out->packet);
    enqueue(client, out);
    return OK;
}

enum status spawn_client_kill(struct spawn_client *client, const char *id, int signal,
                              int32_t grace_ms)
{
    struct spawn_kill body = {.signal = (uint32_t)signal, .grace_ms = grace_ms};
    if (!spawn_id_valid(id) || signal < 0 || signal > 64)
        return E_INVALID;
    memcpy(body.id, id, strlen(id));
    return enqueue_fixed(client, SPAWN_KILL, &body);
}

enum status spawn_client_ack(struct spawn_client *client, const char *id)
{
    struct spawn_ack body = {0};
    if (!spawn_id_valid(id))
        return E_INVALID;
    memcpy(body.id, id, strlen(id));
    return enqueue_fixed(client, SPAWN_ACK, &body);
}

const struct spawner_info *spawn_client_spawner(const struct spawn_client *client)
{
    return &client->spawner;
}

unsigned spawn_client_enforces(const struct spawn_client *client)
{
    return spawn_enforced(client->hello.features);
}

bool spawn_client_knows_times(const struct spawn_client *client)
{
    return client->state == CLIENT_READY && client->hello.features & SPAWN_KNOWS_TIMES;
}

bool spawn_client_next_event(struct spawn_client *client, struct spawn_event *ret)
{
    if (client->event_count == 0)
        return false;
    *ret = client->events[client->event_first];
    client->event_first = (client->event_first + 1) % client->event_capacity;
    client->event_count--;
    want(client);
    return true;
}
