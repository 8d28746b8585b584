/* The loop: waits, handles ready descriptors and due timers, sends reports to the agent. */
#include "spawner.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#include "clock.h"

#define EVENTS_PER_TURN 64
#define LOOK_MS         1000 /* while starts or ends wait for their time, should the timer fail */

enum status spawner_watch(struct spawner *s, struct watch *watch, uint32_t events)
{
    return watch_add(s->epoll_fd, watch, events);
}

void spawner_unwatch(struct spawner *s, struct watch *watch)
{
    watch_close(s->epoll_fd, watch);
}

static void arm_timer(struct spawner *s)
{
    int64_t due = s->timers.count ? s->timers.entries[0].key : 0;
    due = earlier(due, s->grew_at_boot_ms);
    if (!TAILQ_EMPTY(&s->young))
        due = earlier(due, TAILQ_FIRST(&s->young)->listen_at_boot_ms);
    if (s->journal.is_dirty)
        due = earlier(due, s->journal.sync_at_boot_ms > 0 ? s->journal.sync_at_boot_ms : 1);
    due = earlier(due, idle_due_ms(&s->idle));
    due = earlier(due, s->launches.trim_at_boot_ms);
    boot_timer_arm(&s->timer, earlier(earlier(due * 1000, early_due_us(s)), s->reap_at_boot_us));
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
    bool is_idle = !agent_link_is_up(&s->link) && s->runs.active == 0 && s->runs.open_streams == 0;
    if (idle_is_over(&s->idle, is_idle, s->now_boot_ms))
        s->is_done = !has_children();
    if (s->is_stopping && s->runs.active == 0)
        s->is_done = true;
    if (s->lacks_guard && agent_link_is_up(&s->link) && s->runs.known == 0 &&
        s->runs.open_streams == 0 && !has_children()) {
        serve_log("event=ended reason=\"the agent starts one with a guard\"");
        s->is_done = true;
    }
}

static void turn(struct spawner *s, const struct epoll_event *events, int count)
{
    s->now_boot_ms = clock_now().boot.ms;
    s->tree_is_fresh = false;
    early_release(s); /* first: they are to be on time */
    watch_dispatch(s, events, count);
    if (s->reap_at_boot_us && s->reap_at_boot_us <= clock_boot_us())
        s->signals.ready(s, &s->signals, EPOLLIN);
    if (s->wants_reap) /* after the pipes: their order says what was written first */
        life_reap(s);
    launches_settle(&s->launches);
    launches_trim(&s->launches, s->now_boot_ms);
    look_at_due(s);
    life_listen(s);
    life_write(s);
    agent_link_flush(&s->link);
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

/* Something is to be done at a time that the timer alone knows. */
static bool is_on_time(const struct spawner *s)
{
    return early_due_us(s) || s->reap_at_boot_us;
}

void spawner_loop(struct spawner *s)
{
    struct epoll_event events[EVENTS_PER_TURN];
    while (!s->is_done) {
        arm_timer(s);
        int count = epoll_wait(s->epoll_fd, events, EVENTS_PER_TURN, is_on_time(s) ? LOOK_MS : -1);
        if (count < 0 && errno != EINTR)
            break;
        turn(s, events, count > 0 ? count : 0);
    }
    agent_link_flush(&s->link);
}
