/* The loop: waits, handles ready descriptors and due timers, sends reports to the agent. */
#include "caller.h"

#include <errno.h>
#include <sys/epoll.h>

#include "clock.h"

#define EVENTS_PER_TURN 256

static void arm_timer(struct caller *caller)
{
    int64_t due = caller->timers.count ? caller->timers.entries[0].key : 0;
    due = earlier(due, caller->grew_at_boot_ms);
    due = earlier(due, caller->curl_at_boot_ms);
    if (caller->journal.is_dirty)
        due =
            earlier(due, caller->journal.sync_at_boot_ms > 0 ? caller->journal.sync_at_boot_ms : 1);
    due = earlier(due, idle_due_ms(&caller->idle));
    boot_timer_arm(&caller->timer, due * 1000);
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
        agent_report(caller, call, REPORT_GREW);
    }
}

static void begin_waiting(struct caller *caller)
{
    for (struct call *call; (call = lookups_next(&caller->lookups));)
        start_begin(caller, call);
}

static void look_for_idleness(struct caller *caller)
{
    bool is_idle = !agent_link_is_up(&caller->link) && caller->active == 0;
    if (idle_is_over(&caller->idle, is_idle, caller->now_boot_ms))
        caller->is_done = true;
    if ((caller->is_stopping || caller->wants_end) && caller->active == 0)
        caller->is_done = true;
}

static void turn(struct caller *caller, const struct epoll_event *events, int count)
{
    caller->now_boot_ms = clock_now().boot.ms;
    watch_dispatch(caller, events, count);
    start_batch(caller);
    look_at_due(caller);
    begin_waiting(caller);
    sockets_timer(caller);
    begin_waiting(caller);
    calls_write_packs(caller);
    calls_write_journal(caller);
    agent_link_flush(&caller->link);
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
    agent_link_flush(&caller->link);
}
