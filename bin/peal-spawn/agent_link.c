/* The connection to the agent. Only runs are queued for it: each has a set of pending reports, so a
 * slow or absent agent costs no memory. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "spawner.h"

#define MESSAGES_PER_TURN 8 /* each may be a start, which costs half a millisecond */

void agent_report(struct spawner *s, struct run *run, enum run_report what)
{
    run->report |= what;
    if (run->is_queued || run->is_forgotten)
        return;
    run->is_queued = true;
    TAILQ_INSERT_TAIL(&s->reports, run, queue);
}

/* False: not now, or never again. */
static bool send_message(struct spawner *s, enum spawn_type type, const void *body)
{
    char buf[SPAWN_FIXED_MAX];
    size_t length = spawn_encode(type, body, buf);
    if (send(s->agent.fd, buf, length, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)length)
        return true;
    if (errno != EAGAIN && errno != ENOBUFS) {
        spawner_unwatch(s, &s->agent);
        return false;
    }
    s->agent_is_full = true;
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT, .data.ptr = &s->agent};
    epoll_ctl(s->epoll_fd, EPOLL_CTL_MOD, s->agent.fd, &event);
    return false;
}

static bool send_run(struct spawner *s, struct run *run)
{
    static const enum spawn_change changes[] = {
        SPAWN_CHANGE_KNOWN,
        SPAWN_CHANGE_STARTED,
        SPAWN_CHANGE_GREW,
        SPAWN_CHANGE_ENDED,
    };
    for (unsigned i = 0; i < 4; i++) {
        if (!(run->report & (1u << i)))
            continue;
        struct spawn_run info = run->info;
        info.change = changes[i];
        if (run->state != RUN_ENDED)
            info.reason = SPAWN_NOT_ENDED; /* perhaps decided, but not ended yet */
        if (!send_message(s, SPAWN_RUN, &info))
            return false;
        run->report &= ~(1u << i);
    }
    return true;
}

void agent_flush(struct spawner *s)
{
    struct run *run;
    if (s->agent.fd < 0 || !s->agent_said_hello || s->agent_is_full)
        return;
    if (s->agent_awaits_build && !send_message(s, SPAWN_BUILD, &spawner_build))
        return;
    s->agent_awaits_build = false;
    while ((run = TAILQ_FIRST(&s->reports))) {
        if (!send_run(s, run))
            return;
        TAILQ_REMOVE(&s->reports, run, queue);
        run->is_queued = false;
    }
    if (s->agent_wants_ready && send_message(s, SPAWN_READY, NULL))
        s->agent_wants_ready = false;
}

/* A new agent hears of every run, whatever the one before it was told. */
static void greet(struct spawner *s, bool wants_build)
{
    struct spawn_hello hello = {
        .pid = (uint32_t)getpid(),
        .features = (s->cgroups.base_fd >= 0 ? SPAWN_HAS_CGROUP : 0u) |
                    (geteuid() == 0 ? SPAWN_CAN_SWITCH : 0u) | SPAWN_KNOWS_JOBS |
                    SPAWN_KNOWS_OUTPUT | (s->is_stopping ? SPAWN_IS_STOPPING : 0u),
        .runs = s->runs.known,
    };
    if (!send_message(s, SPAWN_HELLO, &hello))
        return; /* the very first message always fits */
    s->agent_said_hello = true;
    s->agent_wants_build = s->agent_awaits_build = wants_build;
    s->agent_wants_ready = true;
    for (struct run *run = run_first(&s->runs); run; run = run_next(run)) {
        run->report = 0;
        if (!run->is_forgotten)
            agent_report(s, run, REPORT_KNOWN);
    }
}

/* OK: handled. Anything else: a protocol error. */
static enum status handle(struct spawner *s, const struct spawn_message *message, int fd)
{
    struct spawn_request request;
    struct spawn_kill order;
    struct spawn_hello hello;
    struct spawn_ack ack;
    struct run *run;
    enum status st;
    if (message->type != SPAWN_HELLO && !s->agent_said_hello)
        return E_CORRUPT;
    if (message->type == SPAWN_START) {
        void *block;
        st = spawn_decode_start(message, &request, &block);
        if (st != OK)
            return st;
        st = (request.stdin_bytes != NULL) == (fd >= 0) ? OK : E_CORRUPT;
        if (st == OK)
            start_run(s, &request, fd);
        free(block);
        return st;
    }
    if (message->type == SPAWN_KILL) {
        st = spawn_decode_kill(message, &order);
        run = st == OK ? run_by_id(&s->runs, order.id) : NULL;
        if (run)
            life_stop(s, run, SPAWN_KILLED, order.signal ? (int)order.signal : SIGTERM,
                      order.grace_ms >= 0 ? order.grace_ms : run->grace_ms);
        return st;
    }
    if (message->type == SPAWN_ACK) {
        st = spawn_decode_ack(message, &ack);
        run = st == OK ? run_by_id(&s->runs, ack.id) : NULL;
        if (run)
            life_forget(s, run);
        return st;
    }
    if (message->type == SPAWN_HELLO) {
        st = spawn_decode_hello(message, &hello);
        if (st == OK)
            greet(s, hello.features & SPAWN_WANTS_BUILD);
        return st;
    }
    s->wants_upgrade |= message->type == SPAWN_UPGRADE;
    return message->type == SPAWN_UPGRADE ? OK : E_CORRUPT;
}

/* The length of the next packet, 0 at the end, -1 and errno. *ret_fd is a descriptor that came
 * with it, the caller's, or -1; of several, the others are closed. */
static ssize_t receive(struct spawner *s, int *ret_fd)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int) * 4)];
    } control;
    struct iovec part = {s->packet, sizeof(s->packet)};
    struct msghdr header = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof(control),
    };
    *ret_fd = -1;
    ssize_t length = recvmsg(s->agent.fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
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

/* False: nothing more to read now. */
static bool read_message(struct spawner *s)
{
    int fd;
    ssize_t length = receive(s, &fd);
    if (length < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    struct spawn_message message;
    enum status st = length > 0 ? spawn_decode(s->packet, (size_t)length, &message) : E_IO;
    if (st == OK)
        st = handle(s, &message, fd);
    if (fd >= 0)
        close(fd);
    if (st == OK)
        return s->agent.fd >= 0;
    if (length > 0)
        spawner_log("event=agent_refused error=\"%s\"", status_text(st));
    spawner_unwatch(s, &s->agent);
    return false;
}

void agent_ready(struct spawner *s, struct watch *watch, uint32_t events)
{
    if (events & EPOLLOUT) {
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = watch};
        epoll_ctl(s->epoll_fd, EPOLL_CTL_MOD, watch->fd, &event);
        s->agent_is_full = false;
    }
    for (int i = 0; i < MESSAGES_PER_TURN && read_message(s); i++)
        ;
}

static bool may_attach(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0);
}

void agent_accept(struct spawner *s, struct watch *watch, uint32_t events)
{
    (void)events;
    int fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE) && s->spare_fd >= 0) {
        close(s->spare_fd);
        s->spare_fd = -1;
        fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    }
    if (fd < 0)
        return;
    if (!may_attach(fd)) {
        spawner_log("event=agent_refused error=\"another user\"");
        close(fd);
        return;
    }
    if (s->agent.fd >= 0) {
        send_message(s, SPAWN_REPLACED, NULL);
        spawner_unwatch(s, &s->agent);
    }
    if (s->spare_fd < 0)
        s->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    s->agent = (struct watch){.fd = fd, .ready = agent_ready};
    s->agent_said_hello = s->agent_wants_ready = s->agent_is_full = false;
    s->agent_wants_build = s->agent_awaits_build = false;
    if (spawner_watch(s, &s->agent, EPOLLIN) != OK) {
        close(fd);
        s->agent.fd = -1;
    }
}
