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

#include "clock.h"
#include "spawner.h"

#define REPORTS           4  /* of enum run_report */
#define MESSAGES_PER_TURN 32 /* each may be a start, which costs a tenth of a millisecond */

void agent_report(struct spawner *s, struct run *run, enum run_report what)
{
    run->report |= what;
    if (run->early && what == REPORT_KNOWN)
        run->early->is_told = true;
    if (run->is_queued || run->is_forgotten)
        return;
    run->is_queued = true;
    TAILQ_INSERT_TAIL(&s->reports, run, queue);
}

/* False: not now, or never again. */
static bool send_packet(struct spawner *s, const void *packet, size_t length)
{
    if (send(s->agent.fd, packet, length, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)length)
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

static bool send_message(struct spawner *s, enum spawn_type type, const void *body)
{
    char buf[SPAWN_FIXED_MAX];
    return send_packet(s, buf, spawn_encode(type, body, buf));
}

/* The run as the report tells it. */
static struct spawn_run told(const struct run *run, unsigned report)
{
    static const enum spawn_change changes[REPORTS] = {
        SPAWN_CHANGE_KNOWN,
        SPAWN_CHANGE_STARTED,
        SPAWN_CHANGE_GREW,
        SPAWN_CHANGE_ENDED,
    };
    struct spawn_run info = run->info;
    info.change = changes[report];
    if (run->state != RUN_ENDED)
        info.reason = SPAWN_NOT_ENDED; /* perhaps decided, but not ended yet */
    return info;
}

static void was_told(struct spawner *s, struct run *run)
{
    TAILQ_REMOVE(&s->reports, run, queue);
    run->is_queued = false;
    run->report = 0;
}

/* To an agent of a version without frames. */
static bool send_first(struct spawner *s)
{
    struct run *run = TAILQ_FIRST(&s->reports);
    for (unsigned i = 0; i < REPORTS; i++) {
        if (!(run->report & (1u << i)))
            continue;
        struct spawn_run info = told(run, i);
        if (!send_message(s, SPAWN_RUN, &info))
            return false;
        run->report &= ~(1u << i);
    }
    was_told(s, run);
    return true;
}

/* The reports of as many runs as a frame holds. */
static bool send_frame(struct spawner *s)
{
    struct run *run;
    struct spawn_header header;
    size_t length = sizeof(header);
    unsigned runs = 0;
    TAILQ_FOREACH (run, &s->reports, queue) {
        if (length + REPORTS * SPAWN_FIXED_MAX > sizeof(s->frame))
            break;
        for (unsigned i = 0; i < REPORTS; i++) {
            if (!(run->report & (1u << i)))
                continue;
            struct spawn_run info = told(run, i);
            length += spawn_encode(SPAWN_RUN, &info, s->frame + length);
        }
        runs++;
    }
    spawn_frame_begin(length - sizeof(header), &header);
    memcpy(s->frame, &header, sizeof(header));
    if (length > sizeof(header) && !send_packet(s, s->frame, length))
        return false;
    while (runs--)
        was_told(s, TAILQ_FIRST(&s->reports));
    return true;
}

void agent_flush(struct spawner *s)
{
    if (s->agent.fd < 0 || !s->agent_said_hello || s->agent_is_full)
        return;
    if (s->agent_awaits_build && !send_message(s, SPAWN_BUILD, &spawner_build))
        return;
    s->agent_awaits_build = false;
    while (!TAILQ_EMPTY(&s->reports))
        if (s->agent_knows_frames ? !send_frame(s) : !send_first(s))
            return;
    if (s->agent_wants_ready && send_message(s, SPAWN_READY, NULL))
        s->agent_wants_ready = false;
}

/* A new agent hears of every run, whatever the one before it was told. */
static void greet(struct spawner *s, const struct spawn_hello *agent)
{
    struct spawn_hello hello = {
        .pid = (uint32_t)getpid(),
        .features = (s->cgroups.base_fd >= 0 ? SPAWN_HAS_CGROUP : 0u) |
                    (geteuid() == 0 ? SPAWN_CAN_SWITCH : 0u) | SPAWN_KNOWS_JOBS |
                    SPAWN_KNOWS_OUTPUT | SPAWN_KNOWS_FRAMES | SPAWN_KNOWS_TIMES |
                    (s->is_stopping ? SPAWN_IS_STOPPING : 0u),
        .runs = s->runs.known,
    };
    if (!send_message(s, SPAWN_HELLO, &hello))
        return; /* the very first message always fits */
    s->agent_said_hello = true;
    s->agent_wants_build = s->agent_awaits_build = agent->features & SPAWN_WANTS_BUILD;
    s->agent_knows_frames = agent->features & SPAWN_KNOWS_FRAMES;
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
    if (message->type != SPAWN_START && message->type != SPAWN_ACK)
        start_batch(s);
    if (message->type == SPAWN_START) {
        void *block;
        st = spawn_decode_start(message, &request, &block);
        if (st != OK)
            return st;
        if ((request.stdin_bytes != NULL) != (fd >= 0)) {
            free(block);
            return E_CORRUPT;
        }
        if (request.at_boot_us <= clock_boot_us()) {
            start_add(s, &request, block, fd);
            return OK;
        }
        free(block);
        return early_add(s, message, fd);
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
            greet(s, &hello);
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

/* Each message of a packet; *count grows by their number. */
static enum status handle_packet(struct spawner *s, size_t length, int fd, int *count)
{
    struct spawn_message packet, message;
    size_t at = 0;
    enum status st = spawn_decode(s->packet, length, &packet);
    if (st == OK && packet.type != SPAWN_FRAME) {
        ++*count;
        st = handle(s, &packet, fd);
    } else if (st == OK) {
        while (s->agent.fd >= 0 && (st = spawn_frame_next(&packet, &at, &message)) == OK &&
               (st = handle(s, &message, -1)) == OK)
            ++*count;
        st = st == E_NOT_FOUND ? OK : st;
    }
    start_batch(s);
    return st;
}

/* False: nothing more to read now. */
static bool read_packet(struct spawner *s, int *count)
{
    int fd;
    ssize_t length = receive(s, &fd);
    if (length < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    enum status st = length > 0 ? handle_packet(s, (size_t)length, fd, count) : E_IO;
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
    for (int count = 0; count < MESSAGES_PER_TURN && read_packet(s, &count);)
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
    early_orphan(s);
    if (s->spare_fd < 0)
        s->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    s->agent = (struct watch){.fd = fd, .ready = agent_ready};
    s->agent_said_hello = s->agent_wants_ready = s->agent_is_full = false;
    s->agent_wants_build = s->agent_awaits_build = s->agent_knows_frames = false;
    if (spawner_watch(s, &s->agent, EPOLLIN) != OK) {
        close(fd);
        s->agent.fd = -1;
    }
}
