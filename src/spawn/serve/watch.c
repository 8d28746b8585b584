#include "serve/watch.h"

#include <sys/timerfd.h>
#include <unistd.h>

enum status watch_add(int epoll_fd, struct watch *watch, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};
    return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, watch->fd, &event) == 0 ? OK : E_IO;
}

void watch_change(int epoll_fd, struct watch *watch, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};
    epoll_ctl(epoll_fd, EPOLL_CTL_MOD, watch->fd, &event);
}

int watch_leave(int epoll_fd, struct watch *watch)
{
    int fd = watch->fd;
    if (fd >= 0)
        epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, NULL);
    watch->fd = -1;
    return fd;
}

void watch_close(int epoll_fd, struct watch *watch)
{
    /* Explicitly: a child that is about to exec may still hold the same open file. */
    int fd = watch_leave(epoll_fd, watch);
    if (fd >= 0)
        close(fd);
}

void watch_dispatch(void *context, const struct epoll_event *events, int count)
{
    for (int i = 0; i < count; i++) {
        struct watch *watch = events[i].data.ptr;
        if (watch->fd >= 0) /* an earlier event of this turn may have closed it */
            watch->ready(context, watch, events[i].events);
    }
}

static void timer_ready(void *context, struct watch *watch, uint32_t events)
{
    struct boot_timer *timer = watch_owner(watch, struct boot_timer, watch);
    uint64_t count;
    (void)context, (void)events;
    if (read(watch->fd, &count, sizeof(count)) == (ssize_t)sizeof(count))
        timer->armed_boot_us = 0;
}

enum status boot_timer_open(struct boot_timer *timer, int epoll_fd)
{
    timer->armed_boot_us = 0;
    timer->watch = (struct watch){
        .fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK),
        .ready = timer_ready,
    };
    return timer->watch.fd >= 0 ? watch_add(epoll_fd, &timer->watch, EPOLLIN) : E_IO;
}

void boot_timer_arm(struct boot_timer *timer, int64_t due_boot_us)
{
    struct itimerspec when = {
        .it_value = {.tv_sec = due_boot_us / 1000000, .tv_nsec = due_boot_us % 1000000 * 1000},
    };
    if (due_boot_us == timer->armed_boot_us)
        return;
    timerfd_settime(timer->watch.fd, TFD_TIMER_ABSTIME, &when, NULL);
    timer->armed_boot_us = due_boot_us;
}

int64_t earlier(int64_t a, int64_t b)
{
    if (!a || !b)
        return a ? a : b;
    return a < b ? a : b;
}
