/* The loop: waits, handles ready descriptors and due timers, sends reports to the agent. */
#include "spawner.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"

#define EVENTS_PER_TURN 64
#define LOOK_MS         1000 /* while starts wait for their time, should the timer fail */

void spawner_log(const char *format, ...)
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

enum status spawner_watch(struct spawner *s, struct watch *watch, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};
    return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, watch->fd, &event) == 0 ? OK : E_IO;
}

void spawner_unwatch(struct spawner *s, struct watch *watch)
{
    if (watch->fd < 0)
        return;
    /* Explicitly: a child that is about to exec may still hold the same open file. */
    epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, watch->fd, NULL);
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
static void arm_timer(struct spawner *s)
{
    int64_t due = s->timers.count ? s->timers.entries[0].key : 0;
    due = earlier(due, s->grew_at_boot_ms);
    if (!TAILQ_EMPTY(&s->young))
        due = earlier(due, TAILQ_FIRST(&s->young)->listen_at_boot_ms);
    if (s->journal.is_dirty)
        due = earlier(due, s->journal.sync_at_boot_ms > 0 ? s->journal.sync_at_boot_ms : 1);
    if (s->idle_since_boot_ms)
        due = earlier(due, s->idle_since_boot_ms + s->options.idle_ms);
    int64_t due_us = earlier(due * 1000, early_due_us(s));
    if (due_us == s->armed_boot_us)
        return;
    struct itimerspec when = {
        .it_value = {.tv_sec = due_us / 1000000, .tv_nsec = due_us % 1000000 * 1000},
    };
    timerfd_settime(s->timer.fd, TFD_TIMER_ABSTIME, &when, NULL);
    s->armed_boot_us = due_us;
}

static void look_at_due(struct spawner *s)
{
    struct run *run;
    while (s->timers.count && s->timers.entries[0].key <= s->now_boot_ms)
        life_due(s, s->timers.entries[0].item);
    if (!s->grew_at_boot_ms || s->grew_at_boot_ms > s->now_boot_ms)
        return;
    s->grew_at_boot_ms = 0;
    while ((run = TAILQ_FIRST(&s->growing))) {
        TAILQ_REMOVE(&s->growing, run, growing);
        run->is_growing = false;
        if (run->state != RUN_ENDED)
            agent_report(s, run, REPORT_GREW);
    }
}

/* Leftover processes of runs count: without the spawner nobody could tell whose they are. */
static bool has_children(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

/* Open pipes count: their writers would get SIGPIPE. */
static void look_for_idleness(struct spawner *s)
{
    bool idle = s->agent.fd < 0 && s->runs.active == 0 && s->runs.open_streams == 0;
    if (!idle)
        s->idle_since_boot_ms = 0;
    else if (!s->idle_since_boot_ms)
        s->idle_since_boot_ms = s->now_boot_ms;
    else if (s->now_boot_ms >= s->idle_since_boot_ms + s->options.idle_ms) {
        s->is_done = !has_children();
        s->idle_since_boot_ms = s->now_boot_ms;
    }
    if (s->is_stopping && s->runs.active == 0)
        s->is_done = true;
    if (s->lacks_guard && s->agent.fd >= 0 && s->runs.known == 0 && s->runs.open_streams == 0 &&
        !has_children()) {
        spawner_log("event=ended reason=\"the agent starts one with a guard\"");
        s->is_done = true;
    }
}

static void turn(struct spawner *s, const struct epoll_event *events, int count)
{
    s->now_boot_ms = clock_now().boot.ms;
    s->tree_is_fresh = false;
    early_release(s); /* first: they are to be on time */
    for (int i = 0; i < count; i++) {
        struct watch *watch = events[i].data.ptr;
        if (watch->fd >= 0) /* an earlier event of this turn may have closed it */
            watch->ready(s, watch, events[i].events);
    }
    launches_settle(&s->launches);
    look_at_due(s);
    life_listen(s);
    life_write(s);
    agent_flush(s);
    journal_sync(&s->journal, s->now_boot_ms);
    if (journal_is_stale(&s->journal, s->runs.known))
        recover_compact(s);
    if (s->wants_upgrade && early_clear(s)) {
        s->wants_upgrade = false;
        upgrade(s);
    }
    look_for_idleness(s);
    run_sweep(&s->runs);
}

void spawner_loop(struct spawner *s)
{
    struct epoll_event events[EVENTS_PER_TURN];
    while (!s->is_done) {
        arm_timer(s);
        int count =
            epoll_wait(s->epoll_fd, events, EVENTS_PER_TURN, early_due_us(s) ? LOOK_MS : -1);
        if (count < 0 && errno != EINTR)
            break;
        turn(s, events, count > 0 ? count : 0);
    }
    agent_flush(s);
}
