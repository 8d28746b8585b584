/* The connection to the agent, with the messages of a spawner. Only calls are queued for it: each
 * has a set of pending reports, so a slow or absent agent costs no memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "caller.h"

#define REPORTS          4 /* of enum call_report */
#define PACKETS_PER_TURN 8

void link_report(struct caller *caller, struct call *call, enum call_report what)
{
    call->report |= what;
    if (call->is_queued)
        return;
    call->is_queued = true;
    TAILQ_INSERT_TAIL(&caller->reports, call, queue);
}

/* False: not now, or never again. */
static bool send_packet(struct caller *caller, const void *packet, size_t length)
{
    if (send(caller->agent.fd, packet, length, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)length)
        return true;
    if (errno != EAGAIN && errno != ENOBUFS) {
        caller_unwatch(caller, &caller->agent);
        return false;
    }
    caller->agent_is_full = true;
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT, .data.ptr = &caller->agent};
    epoll_ctl(caller->epoll_fd, EPOLL_CTL_MOD, caller->agent.fd, &event);
    return false;
}

static bool send_message(struct caller *caller, enum spawn_type type, const void *body)
{
    char buf[SPAWN_FIXED_MAX];
    return send_packet(caller, buf, spawn_encode(type, body, buf));
}

/* The call as the report tells it. */
static struct spawn_run told(const struct call *call, unsigned report)
{
    static const enum spawn_change changes[REPORTS] = {
        SPAWN_CHANGE_KNOWN,
        SPAWN_CHANGE_STARTED,
        SPAWN_CHANGE_GREW,
        SPAWN_CHANGE_ENDED,
    };
    struct spawn_run info = call->info;
    info.change = changes[report];
    return info;
}

/* The reports of as many calls as a frame holds. A call that has ended is told once: its end says
 * that it had started. */
static bool send_frame(struct caller *caller)
{
    struct call *call;
    struct spawn_header header;
    size_t length = sizeof(header);
    unsigned calls = 0;
    TAILQ_FOREACH (call, &caller->reports, queue) {
        unsigned report = call->report & REPORT_ENDED ? REPORT_ENDED : call->report;
        if (length + REPORTS * SPAWN_FIXED_MAX > sizeof(caller->frame))
            break;
        for (unsigned i = 0; i < REPORTS; i++) {
            if (!(report & (1u << i)))
                continue;
            struct spawn_run info = told(call, i);
            length += spawn_encode(SPAWN_RUN, &info, caller->frame + length);
        }
        calls++;
    }
    spawn_frame_begin(length - sizeof(header), &header);
    memcpy(caller->frame, &header, sizeof(header));
    if (!send_packet(caller, caller->frame, length))
        return false;
    while (calls--) {
        call = TAILQ_FIRST(&caller->reports);
        TAILQ_REMOVE(&caller->reports, call, queue);
        call->is_queued = false;
        call->report = 0;
    }
    return true;
}

void link_flush(struct caller *caller)
{
    if (caller->agent.fd < 0 || !caller->agent_said_hello || caller->agent_is_full)
        return;
    if (caller->agent_awaits_build && !send_message(caller, SPAWN_BUILD, &caller_build))
        return;
    caller->agent_awaits_build = false;
    while (!TAILQ_EMPTY(&caller->reports))
        if (!send_frame(caller))
            return;
    if (caller->agent_wants_ready && send_message(caller, SPAWN_READY, NULL))
        caller->agent_wants_ready = false;
}

/* A new agent hears of every call, whatever the one before it was told. */
static enum status greet(struct caller *caller, const struct spawn_hello *agent)
{
    struct call *call;
    struct spawn_hello hello = {
        .pid = (uint32_t)getpid(),
        .features = SPAWN_KNOWS_JOBS | SPAWN_KNOWS_OUTPUT | SPAWN_KNOWS_FRAMES |
                    (caller->is_stopping ? SPAWN_IS_STOPPING : 0u),
        .runs = (uint32_t)caller->calls.count,
    };
    if (!(agent->features & SPAWN_KNOWS_FRAMES))
        return E_VERSION; /* there is no such agent that knows of HTTP calls */
    if (!send_message(caller, SPAWN_HELLO, &hello))
        return OK;
    caller->agent_said_hello = true;
    caller->agent_awaits_build = agent->features & SPAWN_WANTS_BUILD;
    caller->agent_wants_ready = true;
    TAILQ_FOREACH (call, &caller->all, all) {
        call->report = 0;
        link_report(caller, call, REPORT_KNOWN);
    }
    return OK;
}

static enum status take_start(struct caller *caller, const struct spawn_message *message, int fd)
{
    struct spawn_request request;
    void *block;
    enum status st = spawn_decode_start(message, &request, &block);
    if (st != OK)
        return st;
    if ((request.stdin_bytes != NULL) != (fd >= 0))
        st = E_CORRUPT;
    else
        start_add(caller, &request, fd);
    free(block);
    return st;
}

static struct call *find(const struct caller *caller, const char *id)
{
    return table_find(&caller->calls, id);
}

/* OK: handled. Anything else: a protocol error. */
static enum status handle(struct caller *caller, const struct spawn_message *message, int fd)
{
    struct spawn_kill order;
    struct spawn_hello hello;
    struct spawn_ack ack;
    struct call *call;
    enum status st;
    if (message->type != SPAWN_HELLO && !caller->agent_said_hello)
        return E_CORRUPT;
    if (message->type == SPAWN_START)
        return take_start(caller, message, fd);
    if (message->type == SPAWN_KILL) {
        st = spawn_decode_kill(message, &order);
        call = st == OK ? find(caller, order.id) : NULL;
        if (call)
            calls_stop(caller, call, SPAWN_KILLED, NULL);
        return st;
    }
    if (message->type == SPAWN_ACK) {
        st = spawn_decode_ack(message, &ack);
        call = st == OK ? find(caller, ack.id) : NULL;
        if (call)
            calls_forget(caller, call);
        return st;
    }
    if (message->type == SPAWN_HELLO) {
        st = spawn_decode_hello(message, &hello);
        return st == OK ? greet(caller, &hello) : st;
    }
    caller->wants_end |= message->type == SPAWN_UPGRADE;
    return message->type == SPAWN_UPGRADE ? OK : E_CORRUPT;
}

/* The length of the next packet, 0 at the end, -1 and errno. *ret_fd is a descriptor that came
 * with it, the caller's, or -1; of several, the others are closed. */
static ssize_t receive(struct caller *caller, int *ret_fd)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int) * 4)];
    } control;
    struct iovec part = {caller->packet, sizeof(caller->packet)};
    struct msghdr header = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof(control),
    };
    *ret_fd = -1;
    ssize_t length = recvmsg(caller->agent.fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (length < 0)
        return -1;
    for (struct cmsghdr *at = CMSG_FIRSTHDR(&header); at; at = CMSG_NXTHDR(&header, at)) {
        if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (at->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(at) + i * sizeof(int), sizeof(int));
            if (*ret_fd >= 0)
                close(*ret_fd);
            *ret_fd = fd;
        }
    }
    return header.msg_flags & MSG_TRUNC ? (ssize_t)SPAWN_MESSAGE_MAX + 1 : length;
}

static enum status handle_packet(struct caller *caller, size_t length, int fd)
{
    struct spawn_message packet, message;
    size_t at = 0;
    enum status st = spawn_decode(caller->packet, length, &packet);
    if (st != OK || packet.type != SPAWN_FRAME)
        return st == OK ? handle(caller, &packet, fd) : st;
    while (caller->agent.fd >= 0 && (st = spawn_frame_next(&packet, &at, &message)) == OK)
        if ((st = handle(caller, &message, -1)) != OK)
            return st;
    return st == E_NOT_FOUND ? OK : st;
}

/* False: nothing more to read now. */
static bool read_packet(struct caller *caller)
{
    int fd;
    ssize_t length = receive(caller, &fd);
    if (length < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    enum status st = length > 0 ? handle_packet(caller, (size_t)length, fd) : E_IO;
    if (fd >= 0)
        close(fd);
    if (st == OK)
        return caller->agent.fd >= 0;
    if (length > 0)
        caller_log("event=agent_refused error=\"%s\"", status_text(st));
    caller_unwatch(caller, &caller->agent);
    return false;
}

static void link_ready(struct caller *caller, struct watch *watch, uint32_t events)
{
    if (events & EPOLLOUT) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = watch};
        epoll_ctl(caller->epoll_fd, EPOLL_CTL_MOD, watch->fd, &event);
        caller->agent_is_full = false;
    }
    for (int count = 0; count < PACKETS_PER_TURN && read_packet(caller); count++)
        ;
    start_batch(caller);
}

static bool may_attach(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0);
}

void link_accept(struct caller *caller, struct watch *watch, uint32_t events)
{
    (void)events;
    int fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE) && caller->spare_fd >= 0) {
        close(caller->spare_fd);
        caller->spare_fd = -1;
        fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    }
    if (fd < 0)
        return;
    if (!may_attach(fd)) {
        caller_log("event=agent_refused error=\"another user\"");
        close(fd);
        return;
    }
    if (caller->agent.fd >= 0) {
        send_message(caller, SPAWN_REPLACED, NULL);
        caller_unwatch(caller, &caller->agent);
    }
    if (caller->spare_fd < 0)
        caller->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    caller->agent = (struct watch){.fd = fd, .ready = link_ready};
    caller->agent_said_hello = caller->agent_wants_ready = caller->agent_is_full = false;
    caller->agent_awaits_build = false;
    if (caller_watch(caller, &caller->agent, EPOLLIN) != OK) {
        close(fd);
        caller->agent.fd = -1;
    }
}
