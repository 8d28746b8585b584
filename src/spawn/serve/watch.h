/* Descriptors that an epoll loop watches, each embedded in what it belongs to, and the timer of
 * such a loop. */
#ifndef PEAL_SERVE_WATCH_H
#define PEAL_SERVE_WATCH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "status.h"

struct watch {
    int fd; /* -1: none */
    void (*ready)(void *context, struct watch *watch, uint32_t events);
};

#define watch_owner(watch, type, member) ((type *)((char *)(watch)-offsetof(type, member)))

MUST_CHECK enum status watch_add(int epoll_fd, struct watch *watch, uint32_t events);
void watch_change(int epoll_fd, struct watch *watch, uint32_t events);
void watch_close(int epoll_fd, struct watch *watch); /* the descriptor, too; it becomes -1 */
int watch_leave(int epoll_fd, struct watch *watch);  /* returns the descriptor, the caller's */

/* Calls `ready` of each, with `context`. */
void watch_dispatch(void *context, const struct epoll_event *events, int count);

/* On the boot clock, so that a timeout counts while the machine sleeps. It only ends the wait: what
 * is due is looked at in every turn. */
struct boot_timer {
    struct watch watch;
    int64_t armed_boot_us; /* 0: not */
};

MUST_CHECK enum status boot_timer_open(struct boot_timer *timer, int epoll_fd);
void boot_timer_arm(struct boot_timer *timer, int64_t due_boot_us); /* 0: never */

/* The earlier one of two times, of which 0 is none. */
int64_t earlier(int64_t a, int64_t b);

#endif
