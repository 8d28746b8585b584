#include "turns.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

struct turns {
    turn_function *turn;
    void *context;
    int wake_fd, timer_fd;
    struct loop_fd *wake_watch, *timer_watch;
    int64_t armed_ms; /* expiry of timer_fd; 0: not set */
};

void turns_ask(const struct turns *turns)
{
    uint64_t one = 1;
    if (write(turns->wake_fd, &one, sizeof(one)) < 0)
        return; /* EAGAIN: a turn is due already */
}

/* On the wall clock, and cancelled when that is set: a step of the clock causes a turn at once. */
void turns_at(struct turns *turns, struct wall_ms at)
{
    if (at.ms == turns->armed_ms)
        return;
    turns->armed_ms = at.ms;
    struct itimerspec when = {0};
    if (at.ms != INT64_MAX) {
        int64_t ms = at.ms > 1 ? at.ms : 1;
        when.it_value.tv_sec = ms / 1000;
        when.it_value.tv_nsec = ms % 1000 * 1000000;
    } else { /* far away, so that a set clock is still noticed */
        when.it_value.tv_sec = INT32_MAX;
    }
    timerfd_settime(turns->timer_fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &when, NULL);
}

/* False: nothing was there, or it was cancelled. */
static bool take_count(int fd)
{
    uint64_t count;
    return read(fd, &count, sizeof(count)) == sizeof(count);
}

static void on_wake(void *context, unsigned events)
{
    struct turns *turns = context;
    (void)events;
    take_count(turns->wake_fd);
    turns->turn(turns->context, false);
}

static void on_timer(void *context, unsigned events)
{
    struct turns *turns = context;
    (void)events;
    turns->armed_ms = 0; /* fired or cancelled: set it again in any case */
    bool was_set = !take_count(turns->timer_fd) && errno == ECANCELED;
    turns->turn(turns->context, was_set);
}

static enum status watch(struct turns *turns, struct loop *loop, int fd, loop_fd_ready *ready,
                         struct loop_fd **ret)
{
    enum status st = fd < 0 ? E_IO : loop_fd_new(loop, fd, ready, turns, ret);
    if (st == OK)
        loop_fd_want(*ret, LOOP_READ);
    return st;
}

enum status turns_new(struct loop *loop, turn_function *turn, void *context, struct turns **ret)
{
    struct turns *turns = calloc(1, sizeof(*turns));
    if (!turns)
        return E_NOMEM;
    turns->turn = turn;
    turns->context = context;
    turns->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    turns->timer_fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    enum status st = watch(turns, loop, turns->wake_fd, on_wake, &turns->wake_watch);
    if (st == OK)
        st = watch(turns, loop, turns->timer_fd, on_timer, &turns->timer_watch);
    if (st != OK) {
        turns_free(turns);
        return st;
    }
    *ret = turns;
    return OK;
}

struct turns *turns_free(struct turns *turns)
{
    if (!turns)
        return NULL;
    loop_fd_free(turns->wake_watch);
    loop_fd_free(turns->timer_watch);
    if (turns->wake_fd >= 0)
        close(turns->wake_fd);
    if (turns->timer_fd >= 0)
        close(turns->timer_fd);
    free(turns);
    return NULL;
}
