/* The loop: waits, handles ready descriptors and due timers, sends reports to the agent. */
#include "caller.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "clock.h"

#define EVENTS_PER_TURN 256

void caller_log(const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof(line) - 1, format, args);
    va_end(args);
    if (length < 0)
        return;
    size_t end = (size_t)length < sizeof(line) - 2 ? (size_t)length : sizeof(line) - 2;
    line[end] = '\n';
    ssize_t ignored = write(STDERR_FILENO, line, end + 1);
    (void)ignored;
}

enum status caller_watch(struct caller *caller, struct watch *watch, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};
    return epoll_ctl(caller->epoll_fd, EPOLL_CTL_ADD, watch->fd, &event) == 0 ? OK : E_IO;
}

void caller_unwatch(struct caller *caller, struct watch *watch)
{
    if (watch->fd < 0)
        return;
    epoll_ctl(caller->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
    close(watch->fd);
    watch->fd = -1;
}

static int64_t earlier(int64_t a, int64_t b)
{
    if (!a || !b)
        return a ? a : b;
    return a < b ? a : b;
}

/* Boot time, so that a timeout counts while the machine sleeps. */
static void arm_timer(struct caller *caller)
{
    int64_t due = caller->timers.count ? caller->timers.entries[0].key : 0;
    due = earlier(due, caller->grew_at_boot_ms);
    due = earlier(due, caller->curl_at_boot_ms);
    if (caller->journal.is_dirty)
        due =
            earlier(due, caller->journal.sync_at_boot_ms > 0 ? caller->journal.sync_at_boot_ms : 1);
    if (caller->idle_since_boot_ms)
        due = earlier(due, caller->idle_since_boot_ms + caller->options.idle_ms);
    if (due == caller->armed_boot_ms)
        return;
    struct itimerspec when = {
        .it_value = {.tv_sec = due / 1000, .tv_nsec = due % 1000 * 1000000},
    };
    timerfd_settime(caller->timer.fd, TFD_TIMER_ABSTIME, &when, NULL);
    caller->armed_boot_ms = due;
}

static void look_at_due(struct caller *caller)
{
    struct call *call;
    while (caller->timers.count && caller->timers.entries[0].key <= caller->now_boot_ms)
        calls_due(caller, caller->timers.entries[0].item);
    if (!caller->grew_at_boot_ms || caller->grew_at_boot_ms > caller->now_boot_ms)
        return;
    caller->grew_at_boot_ms = 0;
    while ((call = TAILQ_FIRST(&caller->growing))) {
        TAILQ_REMOVE(&caller->growing, call, growing);
        call->is_growing = false;
        if (call->state == CALL_ENDED)
            continue;
        calls_flush(caller, call);
        link_report(caller, call, REPORT_GREW);
    }
}

static void begin_waiting(struct caller *caller)
{
    for (struct call *call; (call = lookups_next(&caller->lookups));)
        start_begin(caller, call);
}

static void look_for_idleness(struct caller *caller)
{
    bool is_idle = caller->agent.fd < 0 && caller->active == 0;
    if (!is_idle)
        caller->idle_since_boot_ms = 0;
    else if (!caller->idle_since_boot_ms)
        caller->idle_since_boot_ms = caller->now_boot_ms;
    else if (caller->now_boot_ms >= caller->idle_since_boot_ms + caller->options.idle_ms)
        caller->is_done = true;
    if ((caller->is_stopping || caller->wants_end) && caller->active == 0)
        caller->is_done = true;
}

static void turn(struct caller *caller, const struct epoll_event *events, int count)
{
    caller->now_boot_ms = clock_now().boot.ms;
    for (int i = 0; i < count; i++) {
        struct watch *watch = events[i].data.ptr;
        if (watch->fd >= 0) /* an earlier event of this turn may have closed it */
            watch->ready(caller, watch, events[i].events);
    }
    look_at_due(caller);
    begin_waiting(caller);
    sockets_timer(caller);
    begin_waiting(caller);
    calls_write_journal(caller);
    link_flush(caller);
    journal_sync(&caller->journal, caller->now_boot_ms);
    if (journal_is_stale(&caller->journal, caller->calls.count))
        calls_compact(caller);
    look_for_idleness(caller);
    sockets_sweep(caller);
    calls_sweep(caller);
}

void caller_loop(struct caller *caller)
{
    struct epoll_event events[EVENTS_PER_TURN];
    while (!caller->is_done) {
        arm_timer(caller);
        bool is_due = caller->curl_at_boot_ms && caller->curl_at_boot_ms <= clock_now().boot.ms;
        int count = epoll_wait(caller->epoll_fd, events, EVENTS_PER_TURN, is_due ? 0 : -1);
        if (count < 0 && errno != EINTR)
            break;
        turn(caller, events, count > 0 ? count : 0);
    }
    link_flush(caller);
}
