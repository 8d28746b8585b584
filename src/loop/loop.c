#include "loop.h"

#include <event2/event.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "clock.h"

enum {
    PRIORITY_PAUSE = 1,            /* of the event that detects a pause of the urgent ones */
    PRIORITIES = 2 * LOOP_PATIENT, /* libevent's default is the middle one: patient */
    PATIENCE_MS = 20,              /* how long patient events wait while there is no pause */
    PATIENT_US = 500,
    PATIENT_MANY = 8 /* patient callbacks, or PATIENT_US, until the next check for urgent events */
};

struct loop {
    struct event_base *base;
    struct event *pause;
    int64_t
        busy_since_ms; /* urgent events without a pause since then; 0: none since the last pause */
    bool is_once;      /* loop_run_once: return after one round */
    uint64_t round;
    struct event *round_end;
    int work_depth; /* nested callbacks are measured with the outermost */
    int64_t work_since_us;
    struct loop_load load;
};

struct loop_fd {
    struct event *event;
    struct loop *loop;
    bool is_patient;
    loop_fd_ready *ready;
    void *context;
    int fd;
    unsigned wanted;
    uint64_t round; /* in which it was handled last */
};

struct loop_timer {
    struct event *event;
    struct loop *loop;
    bool is_patient;
    loop_timer_fired *fired;
    void *context;
    uint64_t round; /* in which it was handled last */
};

/* ---- how long the work takes ---- */

static int64_t processor_us(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (int64_t)used.tv_sec * 1000000 + used.tv_nsec / 1000;
}

void loop_work_begin(struct loop *loop)
{
    if (!loop->work_depth++)
        loop->work_since_us = processor_us();
}

void loop_work_end(struct loop *loop)
{
    if (--loop->work_depth)
        return;
    int64_t took_us = processor_us() - loop->work_since_us;
    if (took_us > loop->load.longest_us)
        loop->load.longest_us = took_us;
    loop->load.long_count += took_us > LOOP_LONG_MS * 1000;
}

struct loop_load loop_load(const struct loop *loop)
{
    return loop->load;
}

/* ---- priorities ---- */

static void on_pause(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    ((struct loop *)context)->busy_since_ms = 0;
}

/* Sets the priority that an urgent event has next time. An event that is always ready would starve
 * the patient ones: once per PATIENCE_MS it queues behind them. */
static void place_urgent(struct loop *loop, struct event *event)
{
    int64_t now_ms = clock_now().boot.ms;
    if (!loop->busy_since_ms) {
        loop->busy_since_ms = now_ms;
        event_active(loop->pause, EV_TIMEOUT, 0);
    }
    bool is_greedy = now_ms - loop->busy_since_ms > PATIENCE_MS;
    event_priority_set(event, is_greedy ? LOOP_PATIENT : LOOP_URGENT);
    if (is_greedy)
        loop->busy_since_ms = now_ms;
}

/* ---- one round ---- */

/* Comes after all events that were ready when the round's first event was handled. */
static void on_round_end(evutil_socket_t fd, short what, void *context)
{
    struct loop *loop = context;
    (void)fd;
    (void)what;
    if (loop->is_once) /* else left over from a loop_run_once that was stopped */
        event_base_loopbreak(loop->base);
}

static void begin_round(struct loop *loop)
{
    if (loop->is_once && !event_pending(loop->round_end, EV_TIMEOUT, NULL))
        event_active(loop->round_end, EV_TIMEOUT, 0);
}

/* Is an urgent event to be handled now? Each is handled once per round; a second time waits behind
 * the round's end. */
static bool take_turn(struct loop *loop, struct event *event, uint64_t *last_round)
{
    begin_round(loop);
    if (loop->is_once && *last_round == loop->round) {
        event_priority_set(event, LOOP_PATIENT);
        return false;
    }
    *last_round = loop->round;
    place_urgent(loop, event);
    return true;
}

/* ---- the loop ---- */

static struct event_base *new_base(void)
{
    struct event_config *config = event_config_new();
    struct timeval patient = {.tv_usec = PATIENT_US};
    if (!config)
        return NULL;
    event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER); /* ticks are due to the ms */
    event_config_set_max_dispatch_interval(config, &patient, PATIENT_MANY, LOOP_PATIENT);
    struct event_base *base = event_base_new_with_config(config);
    event_config_free(config);
    if (base && event_base_priority_init(base, PRIORITIES) != 0) {
        event_base_free(base);
        return NULL;
    }
    return base;
}

enum status loop_new(struct loop **ret)
{
    struct loop *loop = calloc(1, sizeof(*loop));
    if (!loop)
        return E_NOMEM;
    loop->base = new_base();
    loop->pause = loop->base ? event_new(loop->base, -1, 0, on_pause, loop) : NULL;
    loop->round_end = loop->base ? event_new(loop->base, -1, 0, on_round_end, loop) : NULL;
    if (!loop->pause || !loop->round_end) {
        loop_free(loop);
        return E_NOMEM;
    }
    event_priority_set(loop->pause, PRIORITY_PAUSE);
    event_priority_set(loop->round_end, LOOP_PATIENT);
    *ret = loop;
    return OK;
}

/* A freed bufferevent lives until its deferred callbacks have been called; freeing the event base
 * first would drop the callbacks and leak the memory. All other events are gone by now. */
static void end_what_waits(struct event_base *base)
{
    event_base_loop(base, EVLOOP_NONBLOCK);
}

struct loop *loop_free(struct loop *loop)
{
    if (loop && loop->pause)
        event_free(loop->pause);
    if (loop && loop->round_end)
        event_free(loop->round_end);
    if (loop && loop->base) {
        end_what_waits(loop->base);
        event_base_free(loop->base);
    }
    free(loop);
    return NULL;
}

void loop_run(struct loop *loop)
{
    event_base_loop(loop->base, EVLOOP_NO_EXIT_ON_EMPTY);
}

/* Own events left over from a stopped round must not count as ready. */
static void forget_own_events(struct loop *loop)
{
    event_del(loop->round_end);
    event_del(loop->pause);
    loop->busy_since_ms = 0;
}

/* With EVLOOP_ONCE alone libevent would go on as long as some event is ready. */
void loop_run_once(struct loop *loop)
{
    forget_own_events(loop);
    loop->is_once = true;
    loop->round++;
    event_base_loop(loop->base, EVLOOP_ONCE);
    loop->is_once = false;
}

void loop_stop(struct loop *loop)
{
    event_base_loopbreak(loop->base);
}

struct event_base *loop_base(struct loop *loop)
{
    return loop->base;
}

/* ---- descriptors ---- */

static void fd_event(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    struct loop_fd *watch = context;
    if (watch->is_patient)
        begin_round(watch->loop);
    else if (!take_turn(watch->loop, watch->event, &watch->round))
        return;                      /* it is still ready, and comes again */
    struct loop *loop = watch->loop; /* the watch may be gone afterwards */
    loop_work_begin(loop);
    watch->ready(watch->context,
                 (what & EV_READ ? LOOP_READ : 0u) | (what & EV_WRITE ? LOOP_WRITE : 0u));
    loop_work_end(loop);
}

static enum status new_watch(struct loop *loop, int fd, bool is_patient, loop_fd_ready *ready,
                             void *context, struct loop_fd **ret)
{
    struct loop_fd *watch = calloc(1, sizeof(*watch));
    if (!watch)
        return E_NOMEM;
    *watch = (struct loop_fd){
        .loop = loop, .is_patient = is_patient, .ready = ready, .context = context, .fd = fd};
    watch->event = event_new(loop->base, fd, EV_PERSIST, fd_event, watch);
    if (!watch->event) {
        free(watch);
        return E_NOMEM;
    }
    *ret = watch;
    return OK;
}

enum status loop_fd_new(struct loop *loop, int fd, loop_fd_ready *ready, void *context,
                        struct loop_fd **ret)
{
    return new_watch(loop, fd, false, ready, context, ret);
}

enum status loop_fd_new_patient(struct loop *loop, int fd, loop_fd_ready *ready, void *context,
                                struct loop_fd **ret)
{
    return new_watch(loop, fd, true, ready, context, ret);
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
    event_priority_set(watch->event, watch->is_patient ? LOOP_PATIENT : LOOP_URGENT);
    event_add(watch->event, NULL);
}

struct loop_fd *loop_fd_free(struct loop_fd *watch)
{
    if (watch)
        event_free(watch->event);
    free(watch);
    return NULL;
}

/* ---- timers ---- */

static void timer_event(evutil_socket_t fd, short what, void *context)
{
    (void)fd;
    (void)what;
    struct loop_timer *timer = context;
    if (timer->is_patient) {
        begin_round(timer->loop);
    } else if (!take_turn(timer->loop, timer->event, &timer->round)) {
        loop_timer_set(timer, 0);
        return;
    }
    struct loop *loop = timer->loop;
    loop_work_begin(loop);
    timer->fired(timer->context);
    loop_work_end(loop);
}

static enum status new_timer(struct loop *loop, bool is_patient, loop_timer_fired *fired,
                             void *context, struct loop_timer **ret)
{
    struct loop_timer *timer = calloc(1, sizeof(*timer));
    if (!timer)
        return E_NOMEM;
    *timer = (struct loop_timer){
        .loop = loop, .is_patient = is_patient, .fired = fired, .context = context};
    timer->event = event_new(loop->base, -1, 0, timer_event, timer);
    if (!timer->event) {
        free(timer);
        return E_NOMEM;
    }
    event_priority_set(timer->event, is_patient ? LOOP_PATIENT : LOOP_URGENT);
    *ret = timer;
    return OK;
}

enum status loop_timer_new(struct loop *loop, loop_timer_fired *fired, void *context,
                           struct loop_timer **ret)
{
    return new_timer(loop, false, fired, context, ret);
}

enum status loop_timer_new_patient(struct loop *loop, loop_timer_fired *fired, void *context,
                                   struct loop_timer **ret)
{
    return new_timer(loop, true, fired, context, ret);
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
