#include "loop.h"

#include <event2/event.h>
#include <stdlib.h>

struct loop {
    struct event_base *base;
};

struct loop_fd {
    struct event *event;
    struct loop *loop;
    loop_fd_ready *ready;
    void *context;
    int fd;
    unsigned wanted;
};

struct loop_timer {
    struct event *event;
    loop_timer_fired *fired;
    void *context;
};

enum status loop_new(struct loop **ret)
{
    struct loop *loop = calloc(1, sizeof(*loop));
    if (!loop)
        return E_NOMEM;
    struct event_config *config = event_config_new();
    if (config) {
        event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER); /* ticks are due to the ms */
        loop->base = event_base_new_with_config(config);
        event_config_free(config);
    }
    if (!loop->base) {
        free(loop);
        return E_NOMEM;
    }
    *ret = loop;
    return OK;
}

struct loop *loop_free(struct loop *loop)
{
    if (loop)
        event_base_free(loop->base);
    free(loop);
    return NULL;
}

void loop_run(struct loop *loop)
{
    event_base_loop(loop->base, EVLOOP_NO_EXIT_ON_EMPTY);
}

void loop_run_once(struct loop *loop)
{
    event_base_loop(loop->base, EVLOOP_ONCE);
}

void loop_stop(struct loop *loop)
{
    event_base_loopbreak(loop->base);
}

struct event_base *loop_base(struct loop *loop)
{
    return loop->base;
}

static void fd_event(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    struct loop_fd *watch = context;
    watch->ready(watch->context,
                 (what & EV_READ ? LOOP_READ : 0u) | (what & EV_WRITE ? LOOP_WRITE : 0u));
}

enum status loop_fd_new(struct loop *loop, int fd, loop_fd_ready *ready, void *context,
                        struct loop_fd **ret)
{
    struct loop_fd *watch = calloc(1, sizeof(*watch));
    if (!watch)
        return E_NOMEM;
    *watch = (struct loop_fd){.loop = loop, .ready = ready, .context = context, .fd = fd};
    watch->event = event_new(loop->base, fd, EV_PERSIST, fd_event, watch);
    if (!watch->event) {
        free(watch);
        return E_NOMEM;
    }
    *ret = watch;
    return OK;
}

void loop_fd_want(struct loop_fd *watch, unsigned events)
{
    if (events == watch->wanted)
        return;
    watch->wanted = events;
    event_del(watch->event);
    if (!events)
        return;
    short what = (short)((events & LOOP_READ ? EV_READ : 0) | (events & LOOP_WRITE ? EV_WRITE : 0));
    event_assign(watch->event, watch->loop->base, watch->fd, (short)(what | EV_PERSIST), fd_event,
                 watch);
    event_add(watch->event, NULL);
}

struct loop_fd *loop_fd_free(struct loop_fd *watch)
{
    if (watch)
        event_free(watch->event);
    free(watch);
    return NULL;
}

static void timer_event(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    struct loop_timer *timer = context;
    timer->fired(timer->context);
}

enum status loop_timer_new(struct loop *loop, loop_timer_fired *fired, void *context,
                           struct loop_timer **ret)
{
    struct loop_timer *timer = calloc(1, sizeof(*timer));
    if (!timer)
        return E_NOMEM;
    timer->fired = fired;
    timer->context = context;
    timer->event = event_new(loop->base, -1, 0, timer_event, timer);
    if (!timer->event) {
        free(timer);
        return E_NOMEM;
    }
    *ret = timer;
    return OK;
}

void loop_timer_set(struct loop_timer *timer, int64_t delay_ms)
{
    struct timeval delay = {.tv_sec = delay_ms / 1000, .tv_usec = delay_ms % 1000 * 1000};
    event_add(timer->event, &delay);
}

void loop_timer_stop(struct loop_timer *timer)
{
    event_del(timer->event);
}

struct loop_timer *loop_timer_free(struct loop_timer *timer)
{
    if (timer)
        event_free(timer->event);
    free(timer);
    return NULL;
}
