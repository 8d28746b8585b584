/* What wakes the worker: requests of its own loop, commits and heartbeats of other processes, and
 * their deaths, which close their files. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "shared/store_shared.h"

enum { WITHOUT_WATCH_MS = 50 };

static const char commits[] = "bell", beats[] = "beats", leader[] = "leader";

static int open_bell(const char *folder, const char *name)
{
    struct strbuf path;
    strbuf_init(&path);
    strbuf_addf(&path, "%s/%s", folder, name);
    int fd = open(path.text, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    strbuf_release(&path);
    return fd;
}

/* Without a watch (the system's limit is reached) the worker looks often. */
enum status bell_open(struct bell *bell, const char *folder, struct strbuf *why)
{
    bell->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    bell->commit_fd = open_bell(folder, commits);
    bell->beat_fd = open_bell(folder, beats);
    if (bell->event_fd < 0 || bell->commit_fd < 0 || bell->beat_fd < 0) {
        strbuf_addf(why, "can't write to %s: %s", folder, strerror(errno));
        return E_IO;
    }
    bell->watch_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (bell->watch_fd >= 0 &&
        inotify_add_watch(bell->watch_fd, folder,
                          IN_MODIFY | IN_CLOSE_WRITE | IN_DELETE | IN_ONLYDIR) < 0) {
        close(bell->watch_fd);
        bell->watch_fd = -1;
    }
    return OK;
}

void bell_close(struct bell *bell)
{
    const int fds[] = {bell->event_fd, bell->watch_fd, bell->commit_fd, bell->beat_fd};
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* A bell that can't be rung is heard at the next look. */
static void ring(int fd)
{
    (void)!pwrite(fd, "!", 1, 0);
}

void bell_ring_commit(const struct bell *bell)
{
    ring(bell->commit_fd);
}

void bell_ring_beat(const struct bell *bell)
{
    ring(bell->beat_fd);
}

void bell_call(const struct bell *bell)
{
    const uint64_t one = 1;
    (void)!write(bell->event_fd, &one, sizeof(one));
}

static void hear(const struct inotify_event *event, struct bell_news *news)
{
    const char *name = event->len ? event->name : "";
    if (event->mask & IN_Q_OVERFLOW)
        *news = (struct bell_news){true, true};
    else if (strcmp(name, commits) == 0)
        news->has_commit |= (event->mask & IN_MODIFY) != 0;
    else if (strcmp(name, beats) == 0)
        news->has_beat |= (event->mask & IN_MODIFY) != 0;
    else if (strcmp(name, leader) == 0)
        return; /* who takes the lead rings; each look opens and closes this file */
    else if (event->mask & (IN_CLOSE_WRITE | IN_DELETE)) /* a seat, or its lock */
        news->has_beat = true;
}

static struct bell_news read_watch(int fd)
{
    _Alignas(struct inotify_event) char bytes[4096];
    struct bell_news news = {false, false};
    ssize_t length;
    while ((length = read(fd, bytes, sizeof(bytes))) > 0) {
        for (const char *at = bytes; at < bytes + length;) {
            const struct inotify_event *event = (const struct inotify_event *)(const void *)at;
            hear(event, &news);
            at += sizeof(*event) + event->len;
        }
    }
    return news;
}

struct bell_news bell_wait(const struct bell *bell, int64_t timeout_ms)
{
    uint64_t count;
    struct pollfd fds[] = {{.fd = bell->event_fd, .events = POLLIN},
                           {.fd = bell->watch_fd, .events = POLLIN}};
    bool is_blind = bell->watch_fd < 0;
    if (timeout_ms < 0)
        timeout_ms = 0;
    if (is_blind && timeout_ms > WITHOUT_WATCH_MS)
        timeout_ms = WITHOUT_WATCH_MS;
    (void)poll(fds, is_blind ? 1 : 2, timeout_ms > INT_MAX ? INT_MAX : (int)timeout_ms);
    (void)!read(bell->event_fd, &count, sizeof(count));
    return is_blind ? (struct bell_news){true, true} : read_watch(bell->watch_fd);
}
