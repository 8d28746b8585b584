#include "serve/agent_link.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/low_fds.h"
#include "serve/process.h"

#define REPORTS 5 /* of enum report */

static void agent_ready(void *context, struct watch *watch, uint32_t events);
static void agent_accept(void *context, struct watch *watch, uint32_t events);

void agent_link_init(struct agent_link *link, const struct agent_link_type *type, void *context)
{
    link->type = type;
    link->context = context;
    link->epoll_fd = link->spare_fd = -1;
    link->listener = (struct watch){.fd = -1, .ready = agent_accept};
    link->agent = (struct watch){.fd = -1, .ready = agent_ready};
    TAILQ_INIT(&link->reports);
}

enum status agent_link_open(struct agent_link *link, int epoll_fd)
{
    link->epoll_fd = epoll_fd;
    link->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    enum status st = link->spare_fd >= 0 ? watch_add(epoll_fd, &link->listener, EPOLLIN) : E_IO;
    if (st == OK && link->agent.fd >= 0)
        st = watch_add(epoll_fd, &link->agent, EPOLLIN);
    return st;
}

bool agent_link_is_up(const struct agent_link *link)
{
    return link->agent.fd >= 0;
}

void agent_link_drop(struct agent_link *link)
{
    watch_close(link->epoll_fd, &link->agent);
}

/* ---- reports ---- */

void agent_link_report(struct agent_link *link, struct reported *reported, enum report what)
{
    if (what == REPORT_HELD && !link->wants_held)
        return;
    reported->pending &= ~(unsigned)REPORT_HELD;
    reported->pending |= what;
    if (reported->is_queued)
        return;
    reported->is_queued = true;
    TAILQ_INSERT_TAIL(&link->reports, reported, queue);
}

void agent_link_forget(struct agent_link *link, struct reported *reported)
{
    if (reported->is_queued)
        TAILQ_REMOVE(&link->reports, reported, queue);
    reported->is_queued = false;
    reported->pending = 0;
}

/* False: not now, or never again. */
static bool send_packet(struct agent_link *link, const void *packet, size_t length)
{
    if (send(link->agent.fd, packet, length, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)length)
        return true;
    if (errno != EAGAIN && errno != ENOBUFS) {
        agent_link_drop(link);
        return false;
    }
    link->is_full = true;
    watch_change(link->epoll_fd, &link->agent, EPOLLIN | EPOLLOUT);
    return false;
}

static bool send_message(struct agent_link *link, enum spawn_type type, const void *body)
{
    char buf[SPAWN_FIXED_MAX];
    return send_packet(link, buf, spawn_encode(type, body, buf));
}

/* What is pending of one, as a set. */
static unsigned pending(const struct agent_link *link, const struct reported *reported)
{
    bool is_all = link->type->end_says_all && reported->pending & REPORT_ENDED;
    return is_all ? REPORT_ENDED : reported->pending;
}

static struct spawn_run told(const struct agent_link *link, const struct reported *reported,
                             unsigned report)
{
    static const enum spawn_change changes[REPORTS] = {
        SPAWN_CHANGE_KNOWN, SPAWN_CHANGE_STARTED, SPAWN_CHANGE_GREW,
        SPAWN_CHANGE_ENDED, SPAWN_CHANGE_HELD,
    };
    struct spawn_run info = link->type->told(reported);
    info.change = changes[report];
    return info;
}

/* To an agent of a version without frames. */
static bool send_first(struct agent_link *link)
{
    struct reported *reported = TAILQ_FIRST(&link->reports);
    for (unsigned i = 0; i < REPORTS; i++) {
        if (!(pending(link, reported) & (1u << i)))
            continue;
        struct spawn_run info = told(link, reported, i);
        if (!send_message(link, SPAWN_RUN, &info))
            return false;
        reported->pending &= ~(1u << i);
    }
    agent_link_forget(link, reported);
    return true;
}

/* The reports of as many as a frame holds. */
static bool send_frame(struct agent_link *link)
{
    struct reported *reported;
    struct spawn_header header;
    size_t length = sizeof(header);
    unsigned count = 0;
    TAILQ_FOREACH (reported, &link->reports, queue) {
        unsigned set = pending(link, reported);
        if (length + REPORTS * SPAWN_FIXED_MAX > sizeof(link->frame))
            break;
        for (unsigned i = 0; i < REPORTS; i++) {
            if (!(set & (1u << i)))
                continue;
            struct spawn_run info = told(link, reported, i);
            length += spawn_encode(SPAWN_RUN, &info, link->frame + length);
        }
        count++;
    }
    spawn_frame_begin(length - sizeof(header), &header);
    memcpy(link->frame, &header, sizeof(header));
    if (length > sizeof(header) && !send_packet(link, link->frame, length))
        return false;
    while (count--)
        agent_link_forget(link, TAILQ_FIRST(&link->reports));
    return true;
}

void agent_link_flush(struct agent_link *link)
{
    if (link->agent.fd < 0 || !link->said_hello || link->is_full)
        return;
    if (link->awaits_build && !send_message(link, SPAWN_BUILD, link->type->build))
        return;
    link->awaits_build = false;
    while (!TAILQ_EMPTY(&link->reports))
        if (link->knows_frames ? !send_frame(link) : !send_first(link))
            return;
    if (link->wants_ready && send_message(link, SPAWN_READY, NULL))
        link->wants_ready = false;
}

/* ---- messages ---- */

/* A new agent hears of everything, whatever the one before it was told. */
static enum status greet(struct agent_link *link, const struct spawn_hello *agent)
{
    struct spawn_hello hello = link->type->hello(link->context);
    hello.pid = (uint32_t)getpid();
    if (!send_message(link, SPAWN_HELLO, &hello))
        return OK; /* the very first message always fits: the agent is gone */
    link->said_hello = true;
    link->wants_build = link->awaits_build = agent->features & SPAWN_WANTS_BUILD;
    link->knows_frames = agent->features & SPAWN_KNOWS_FRAMES;
    link->wants_held = agent->features & SPAWN_WANTS_HELD;
    link->wants_ready = true;
    return link->type->greeted(link->context, agent);
}

/* OK: handled. Anything else: a protocol error. */
static enum status handle(struct agent_link *link, const struct spawn_message *message, int fd)
{
    struct spawn_kill order;
    struct spawn_hello hello;
    struct spawn_ack ack;
    enum status st;
    if (message->type != SPAWN_HELLO && !link->said_hello)
        return E_CORRUPT;
    if (message->type == SPAWN_START)
        return link->type->start(link->context, message, fd);
    if (message->type == SPAWN_KILL) {
        st = spawn_decode_kill(message, &order);
        if (st == OK)
            link->type->kill(link->context, &order);
        return st;
    }
    if (message->type == SPAWN_ACK) {
        st = spawn_decode_ack(message, &ack);
        if (st == OK)
            link->type->ack(link->context, ack.id);
        return st;
    }
    if (message->type == SPAWN_HELLO) {
        st = spawn_decode_hello(message, &hello);
        return st == OK ? greet(link, &hello) : st;
    }
    if (message->type != SPAWN_UPGRADE)
        return E_CORRUPT;
    link->type->upgrade(link->context);
    return OK;
}

/* The length of the next packet, 0 at the end, -1 and errno. *ret_fd is a descriptor that came
 * with it, the caller's, or -1; of several, the others are closed. */
static ssize_t receive(struct agent_link *link, int *ret_fd)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int) * 4)];
    } control;
    struct iovec part = {link->packet, sizeof(link->packet)};
    struct msghdr header = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof(control),
    };
    *ret_fd = -1;
    ssize_t length = recvmsg(link->agent.fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
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
static enum status handle_packet(struct agent_link *link, size_t length, int fd, int *count)
{
    struct spawn_message packet, message;
    size_t at = 0;
    enum status st = spawn_decode(link->packet, length, &packet);
    if (st == OK && packet.type != SPAWN_FRAME) {
        ++*count;
        st = handle(link, &packet, fd);
    } else if (st == OK) {
        while (link->agent.fd >= 0 && (st = spawn_frame_next(&packet, &at, &message)) == OK &&
               (st = handle(link, &message, -1)) == OK)
            ++*count;
        st = st == E_NOT_FOUND ? OK : st;
    }
    link->type->packet_read(link->context);
    explicit_bzero(link->packet, length < sizeof(link->packet) ? length : sizeof(link->packet));
    return st;
}

/* False: nothing more to read now. */
static bool read_packet(struct agent_link *link, int *count)
{
    int fd;
    ssize_t length = receive(link, &fd);
    if (length < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    enum status st = length > 0 ? handle_packet(link, (size_t)length, fd, count) : E_IO;
    if (fd >= 0)
        close(fd);
    if (st == OK)
        return link->agent.fd >= 0;
    if (length > 0)
        serve_log("event=agent_refused error=\"%s\"", status_text(st));
    agent_link_drop(link);
    return false;
}

static void agent_ready(void *context, struct watch *watch, uint32_t events)
{
    struct agent_link *link = watch_owner(watch, struct agent_link, agent);
    (void)context;
    if (events & EPOLLOUT) {
        watch_change(link->epoll_fd, watch, EPOLLIN);
        link->is_full = false;
    }
    for (int count = 0; count < link->type->messages_per_turn && read_packet(link, &count);)
        ;
}

/* ---- an agent comes ---- */

static bool may_attach(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0);
}

static void agent_accept(void *context, struct watch *watch, uint32_t events)
{
    struct agent_link *link = watch_owner(watch, struct agent_link, listener);
    (void)context, (void)events;
    int fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE) && link->spare_fd >= 0) {
        close(link->spare_fd);
        link->spare_fd = -1;
        fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    }
    if (fd < 0)
        return;
    fd = high_fd(fd);
    if (!may_attach(fd)) {
        serve_log("event=agent_refused error=\"another user\"");
        close(fd);
        return;
    }
    if (link->agent.fd >= 0) {
        send_message(link, SPAWN_REPLACED, NULL);
        agent_link_drop(link);
    }
    link->type->replaced(link->context);
    if (link->spare_fd < 0)
        link->spare_fd = high_fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
    link->agent.fd = fd;
    link->said_hello = link->wants_ready = link->is_full = false;
    link->wants_build = link->awaits_build = link->knows_frames = false;
    link->wants_held = false;
    if (watch_add(link->epoll_fd, &link->agent, EPOLLIN) != OK) {
        close(fd);
        link->agent.fd = -1;
    }
}
