/* The life of a run from its start to its ACK. run.h has the state diagram. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "handover/ends.h"
#include "proc.h"
#include "spawner.h"

#define DRAIN_READS 16   /* of each pipe, so that a loud run does not starve the others */
#define POLL_MS     50   /* between two checks of a tree that is being killed */
#define GIVE_UP_MS  5000 /* then a tree that survives SIGKILL is reported as left over */
#define END_LOOKS   200  /* for the end of an adopted run, END_LOOK_MS apart */
#define END_LOOK_MS 10
#define GATHER_US   4000 /* how long ends of a burst wait for others */

void life_set_due(struct spawner *s, struct run *run, int64_t due_boot_ms)
{
    run->due_boot_ms = due_boot_ms;
    if (!due_boot_ms && run->timer_place != HEAP_NONE)
        heap_remove(&s->timers, run->timer_place);
    else if (due_boot_ms && run->timer_place != HEAP_NONE)
        heap_update(&s->timers, run->timer_place, due_boot_ms);
    else if (due_boot_ms && heap_push(&s->timers, due_boot_ms, run) != OK)
        serve_log("event=timer_lost run=%s reason=\"out of memory\"", run->info.id);
}

static bool streams_closed(const struct run *run)
{
    return run->streams[0].watch.fd < 0 && run->streams[1].watch.fd < 0;
}

static void leave_young(struct spawner *s, struct run *run)
{
    if (run->is_young)
        TAILQ_REMOVE(&s->young, run, young);
    run->is_young = false;
}

/* `is_over`: it was read to its end. */
static void close_stream(struct spawner *s, struct run_stream *stream, bool is_over)
{
    struct run *run = stream->run;
    if (stream->watch.fd < 0)
        return;
    int fd = stream->is_watched ? watch_leave(s->epoll_fd, &stream->watch) : stream->watch.fd;
    stream->watch.fd = -1;
    stream->is_watched = false;
    if (is_over)
        pipes_give(&s->pipes, fd, run->pipes[stream - run->streams]);
    else
        close(fd);
    s->runs.open_streams--;
    if (streams_closed(run))
        leave_young(s, run);
}

static void log_lost_records(void)
{
    serve_log("event=journal_failed error=\"%s\"", strerror(errno));
}

void life_note(struct spawner *s, const struct run *run, enum journal_type type)
{
    struct journal_record record = run_record(run);
    if (journal_append(&s->journal, type, &record) != OK)
        log_lost_records();
}

/* The next spawner would look for the masks of a run that it does not know to have ended. */
static void drop_worn(struct spawner *s)
{
    struct run *run;
    while ((run = TAILQ_FIRST(&s->worn)))
        life_drop_masks(s, run);
}

void life_write(struct spawner *s)
{
    if (journal_write(&s->journal) != OK)
        log_lost_records();
    drop_worn(s);
}

void life_drop_masks(struct spawner *s, struct run *run)
{
    if (run->is_worn)
        TAILQ_REMOVE(&s->worn, run, worn);
    run->is_worn = false;
    s->maskings -= run->masking != NULL;
    run->masking = masking_free(run->masking);
}

static bool was_killed(const struct run *run)
{
    return WIFSIGNALED(run->info.wait_status) && WTERMSIG(run->info.wait_status) == SIGKILL;
}

/* The last step of every run. Its pipes may stay open: see run.h. */
static void end(struct spawner *s, struct run *run)
{
    life_set_due(s, run, 0);
    output_close(&run->output);
    if (run->stop_reason == SPAWN_NOT_ENDED && was_killed(run))
        cgroups_distrust(&s->cgroups);
    cgroup_give(&s->cgroups, run->cgroup, run->info.id, run->stop_reason != SPAWN_NOT_ENDED);
    run->cgroup = CGROUP_NONE;
    run_move(&s->runs, run, RUN_ENDED);
    life_note(s, run, JOURNAL_ENDED);
    agent_report(s, run, REPORT_ENDED);
    if (run->masking && !run->is_worn) {
        run->is_worn = true;
        TAILQ_INSERT_TAIL(&s->worn, run, worn);
    }
    if (run->is_adopted)
        recover_forget_ends(s);
}

static void set_ended_now(struct run *run)
{
    run->info.ended_boot_ms = clock_now().boot.ms;
    run->info.ended_wall_ms = clock_now().wall.ms;
}

void life_fail(struct spawner *s, struct run *run, enum spawn_reason reason, enum spawn_step step,
               int error)
{
    run->info.reason = reason;
    run->info.step = step;
    run->info.error = error;
    set_ended_now(run);
    if (run->slot != SLOT_NONE)
        slots_give(&s->slots, run->slot);
    run->slot = SLOT_NONE;
    for (int i = 0; i < 2; i++)
        close_stream(s, &run->streams[i], false);
    run->reported.pending &= ~(unsigned)REPORT_STARTED; /* not reported yet: it never started */
    end(s, run);
}

static void life_stream_ready(void *context, struct watch *watch, uint32_t events);

/* From now on its output is read as it comes. */
static void listen_to(struct spawner *s, struct run *run)
{
    leave_young(s, run);
    for (int i = 0; i < 2; i++) {
        struct run_stream *stream = &run->streams[i];
        if (stream->watch.fd < 0 || stream->is_watched)
            continue;
        stream->is_watched = spawner_watch(s, &stream->watch, EPOLLIN) == OK;
        if (!stream->is_watched)
            close_stream(s, stream, false);
    }
}

void life_listen(struct spawner *s)
{
    struct run *run;
    while ((run = TAILQ_FIRST(&s->young)) && run->listen_at_boot_ms <= s->now_boot_ms)
        listen_to(s, run);
}

void life_began(struct spawner *s, struct run *run, int64_t listen_ms)
{
    for (int i = 0; i < 2; i++) {
        struct run_stream *stream = &run->streams[i];
        stream->watch.ready = life_stream_ready;
        s->runs.open_streams += stream->watch.fd >= 0;
    }
    if (listen_ms && !streams_closed(run)) {
        run->is_young = true;
        run->listen_at_boot_ms = s->now_boot_ms + listen_ms;
        TAILQ_INSERT_TAIL(&s->young, run, young);
    } else {
        listen_to(s, run);
    }
    life_set_due(s, run, run->state == RUN_RUNNING ? run->timeout_at_boot_ms : s->now_boot_ms);
}

static void grew(struct spawner *s, struct run *run)
{
    run->info.output_bytes = run->output.position;
    run->info.dropped_bytes = run->output.dropped;
    run->info.disk_full = run->output.disk_full;
    if (run->is_growing)
        return;
    run->is_growing = true;
    TAILQ_INSERT_TAIL(&s->growing, run, growing);
    if (!s->grew_at_boot_ms)
        s->grew_at_boot_ms = s->now_boot_ms + SPAWN_GREW_MS;
}

struct masking_target life_target(struct spawner *s, struct run *run)
{
    return (struct masking_target){.output = &run->output,
                                   .folder_fd = s->output_fd,
                                   .id = run->info.id,
                                   .wall_ms = clock_now().wall.ms};
}

static bool is_masked(const struct run *run)
{
    return run->masking && run->state != RUN_ENDED;
}

/* Of a run that has ended it is the output of a leftover process. */
static void keep_output(struct spawner *s, struct run_stream *stream, const char *bytes,
                        size_t length)
{
    struct run *run = stream->run;
    struct masking_target target = life_target(s, run);
    if (run->state == RUN_ENDED)
        return;
    if (run->masking)
        masking_append(run->masking, &target, bytes, length);
    else if (!run->has_secrets)
        output_append(&run->output, s->output_fd, run->info.id, stream->stream, bytes, length,
                      target.wall_ms);
    grew(s, run);
}

/* Nothing more is read of it: what its mask has held back is decided. */
static void end_masking(struct spawner *s, struct run_stream *stream, bool is_over)
{
    struct run *run = stream->run;
    if (!is_masked(run))
        return;
    struct masking_target target = life_target(s, run);
    masking_end(run->masking, &target, stream->stream, is_over);
    grew(s, run);
}

/* One read, of what a pipe holds at most: pipes are read in the order in which they became ready,
 * and what one of them gets meanwhile is read after what the other one has. False: there is no more
 * for now, or the pipe has been closed. */
static bool read_stream(struct spawner *s, struct run_stream *stream)
{
    struct run *run = stream->run;
    if (stream->watch.fd < 0)
        return false;
    struct chunk *chunk = &s->handover.memory->chunk;
    struct masking_target target = life_target(s, run);
    if (is_masked(run))
        masking_begin(run->masking, &target, stream->stream);
    ssize_t length = chunk_read(chunk, stream->watch.fd, run->info.id, (uint32_t)stream->stream,
                                run->output.position);
    if (length < 0 && (errno == EINTR || errno == EAGAIN))
        return errno == EINTR;
    if (length <= 0) {
        end_masking(s, stream, length == 0);
        close_stream(s, stream, length == 0);
        return false;
    }
    keep_output(s, stream, chunk->bytes, (size_t)length);
    chunk_done(chunk);
    return true;
}

/* Processes that it left in the background hold the pipes: they are listened to for a while. Its
 * end is in the journal already, for it is known. */
static void linger(struct spawner *s, struct run *run)
{
    bool was_stopped = run->stop_reason != SPAWN_NOT_ENDED;
    int64_t wait_ms = !was_stopped && run->linger_ms > DRAIN_MS ? run->linger_ms : DRAIN_MS;
    if (!was_stopped)
        life_note(s, run, JOURNAL_ENDED);
    life_set_due(s, run, clock_now().boot.ms + wait_ms);
}

void life_drain(struct spawner *s, struct run *run)
{
    run_move(&s->runs, run, RUN_DRAINING);
    bool more = true;
    for (int i = 0; i < DRAIN_READS && more; i++) {
        bool out = read_stream(s, &run->streams[0]);
        bool err = read_stream(s, &run->streams[1]);
        more = out || err;
    }
    if (!streams_closed(run))
        listen_to(s, run);
    if (streams_closed(run))
        end(s, run);
    else
        linger(s, run);
}

/* Says so at the end of the output, unless it was told to end. */
static void stop_listening(struct spawner *s, struct run *run)
{
    char mark[160];
    for (int i = 0; i < 2; i++)
        end_masking(s, &run->streams[i], false);
    if (run->stop_reason == SPAWN_NOT_ENDED && !streams_closed(run)) {
        int length =
            snprintf(mark, sizeof(mark),
                     "%speal: the output ends here: a process that the job left in the "
                     "background still holds it open after %g s\n",
                     run->output.in_line ? "\n" : "",
                     (double)(run->linger_ms > DRAIN_MS ? run->linger_ms : DRAIN_MS) / 1000);
        output_append(&run->output, s->output_fd, run->info.id, SPAWN_STDERR, mark, (size_t)length,
                      clock_now().wall.ms);
        grew(s, run);
    }
    end(s, run);
}

static void life_stream_ready(void *context, struct watch *watch, uint32_t events)
{
    struct spawner *s = context;
    (void)events;
    struct run_stream *stream = watch_owner(watch, struct run_stream, watch);
    struct run *run = stream->run;
    read_stream(s, stream);
    if (run->state == RUN_DRAINING && streams_closed(run))
        end(s, run);
    else if (run->is_forgotten && streams_closed(run))
        run_bury(&s->runs, run);
}

int64_t life_milliseconds(struct timeval time)
{
    return (int64_t)time.tv_sec * 1000 + time.tv_usec / 1000;
}

static enum spawn_reason reason_of(int wait_status)
{
    return WIFSIGNALED(wait_status) ? SPAWN_SIGNALED : SPAWN_EXITED;
}

/* What the kernel has to do with the end of a run that nobody was told to stop. */
static enum spawn_cause find_cause(struct spawner *s, const struct run *run)
{
    int status = run->info.wait_status;
    if (run->stop_reason != SPAWN_NOT_ENDED || !status)
        return SPAWN_CAUSE_NONE;
    enum spawn_cause cause = run->cgroup == CGROUP_LIMITED
                                 ? limited_cause(&s->cgroups.limited, run->info.id)
                                 : SPAWN_CAUSE_NONE;
    if (cause != SPAWN_CAUSE_NONE)
        return cause;
    /* Another process of the run, perhaps, and it has failed by that. */
    bool is_oom =
        cause_cgroup_has_oom(&s->cgroups, run->cgroup, run->info.id) ||
        (was_killed(run) && cause_is_oom(&s->causes, run->info.pid, run->info.started_boot_ms));
    return is_oom ? SPAWN_CAUSE_OOM : SPAWN_CAUSE_NONE;
}

static void exited(struct spawner *s, struct run *run, enum spawn_reason reason)
{
    run->info.reason = run->stop_reason != SPAWN_NOT_ENDED ? run->stop_reason : reason;
    run->has_exited = true;
    if (run->cgroup == CGROUP_LIMITED)
        limited_usage(&s->cgroups.limited, run->info.id, &run->info);
    s->tree_is_fresh = false; /* the snapshot may still show it as alive */
    run_drop_pid(&s->runs, run);
    if (run->state == RUN_RUNNING)
        life_drain(s, run);
    else
        life_set_due(s, run, s->now_boot_ms); /* the rest of the tree must end first */
}

static bool has_failed_at(uint32_t step)
{
    return step != SPAWN_STEP_NONE && step < SPAWN_STEP_COUNT;
}

/* It has not come to its exec. */
static void failed_at(struct spawner *s, struct run *run, uint32_t step, int32_t error)
{
    run_drop_pid(&s->runs, run);
    life_fail(s, run, step == SPAWN_STEP_DEADLINE ? SPAWN_EXPIRED : SPAWN_START_FAILED,
              (enum spawn_step)step, error);
}

static void set_usage(struct run *run, const struct rusage *usage)
{
    run->info.user_ms = life_milliseconds(usage->ru_utime);
    run->info.system_ms = life_milliseconds(usage->ru_stime);
    run->info.max_rss_kib = usage->ru_maxrss;
}

/* The end says all that is known before anything else is done with it: see reaped.h. */
static void reaped(struct spawner *s, struct run *run, struct reaped_end *end)
{
    struct slot slot = {0};
    if (run->slot != SLOT_NONE)
        slot = s->slots.memory[run->slot];
    set_ended_now(run);
    end->step = slot.step;
    end->error = slot.error;
    end->ended_wall_ms = run->info.ended_wall_ms;
    __atomic_store_n(&end->ended_boot_ms, run->info.ended_boot_ms, __ATOMIC_RELEASE);
    if (has_failed_at(slot.step)) {
        failed_at(s, run, slot.step, slot.error);
        return;
    }
    if (run->slot != SLOT_NONE)
        slots_give(&s->slots, run->slot);
    run->slot = SLOT_NONE;
    run->info.wait_status = ends_wait_status(&end->info);
    set_usage(run, &end->usage);
    run->info.error = (int32_t)find_cause(s, run);
    exited(s, run, reason_of(run->info.wait_status));
}

/* The ends of a burst are looked at together: each by itself costs a turn, a write to the journal
 * and a message. As long as the signal of the first one is pending, the others don't wake the
 * spawner. */
bool life_gathers(struct spawner *s)
{
    sigset_t pending;
    int64_t at_us = s->reaped_boot_us + GATHER_US;
    if (TAILQ_EMPTY(&s->young) || clock_boot_us() >= at_us || sigpending(&pending) < 0 ||
        sigismember(&pending, SIGTERM) || sigismember(&pending, SIGINT) ||
        sigismember(&pending, SIGHUP))
        return false;
    s->reap_at_boot_us = at_us;
    return true;
}

void life_reap(struct spawner *s)
{
    s->wants_reap = s->tree_is_fresh = false;
    s->reaped_boot_us = clock_boot_us();
    launches_settle(&s->launches); /* else the pipes of short runs would not be at their end */
    for (struct reaped_end *end; (end = reaped_next(&s->reaped));) {
        struct run *run = run_by_pid(&s->runs, end->info.si_pid);
        if (run && run->early)
            early_reaped(s, run);
        else if (run) /* else a leftover process of a run */
            reaped(s, run, end);
    }
}

void life_look(struct spawner *s)
{
    sigset_t pending;
    if (s->wants_reap || sigpending(&pending) < 0 || sigismember(&pending, SIGCHLD))
        life_reap(s);
}

/* What a killed spawner had waited for. */
static bool take_reaped(struct spawner *s, struct run *run)
{
    struct reaped_end end;
    if (!reaped_find(&s->reaped, run->info.pid, run->info.started_boot_ms, &end))
        return false;
    run->info.ended_boot_ms = end.ended_boot_ms;
    run->info.ended_wall_ms = end.ended_wall_ms;
    if (has_failed_at(end.step)) {
        failed_at(s, run, end.step, end.error);
        return true;
    }
    run->info.wait_status = ends_wait_status(&end.info);
    set_usage(run, &end.usage);
    run->info.error = (int32_t)find_cause(s, run);
    exited(s, run, reason_of(run->info.wait_status));
    return true;
}

bool life_take_end(struct spawner *s, struct run *run)
{
    struct end_record record;
    if (!ends_find(s->folder_fd, run->info.pid, run->info.started_boot_ms, &record))
        return take_reaped(s, run);
    run->info.wait_status = record.wait_status;
    run->info.ended_boot_ms = record.ended_boot_ms;
    run->info.ended_wall_ms = record.ended_wall_ms;
    run->info.user_ms = record.user_ms;
    run->info.system_ms = record.system_ms;
    run->info.max_rss_kib = record.max_rss_kib;
    run->info.error = (int32_t)find_cause(s, run);
    exited(s, run, reason_of(record.wait_status));
    return true;
}

void life_end_unseen(struct spawner *s, struct run *run, int32_t cause)
{
    run->info.error = cause;
    exited(s, run, SPAWN_UNKNOWN);
}

/* The process of an adopted run has ended. As long as it is a zombie its parent may still write
 * down how; without a guard nobody does. */
static void look_for_end(struct spawner *s, struct run *run)
{
    struct proc_stat stat;
    bool is_zombie = proc_stat(run->info.pid, &stat) &&
                     run_started_at(run->info.started_boot_ms, proc_started_boot_ms(&stat));
    run->awaits_end = false;
    if (life_take_end(s, run))
        return;
    if (is_zombie && ++run->end_looks < END_LOOKS) {
        run->awaits_end = true;
        life_set_due(s, run, s->now_boot_ms + END_LOOK_MS);
        return;
    }
    life_end_unseen(s, run, run->was_over ? SPAWN_UNSEEN_GONE : SPAWN_UNSEEN_END);
}

void life_pidfd_ready(void *context, struct watch *watch, uint32_t events)
{
    struct spawner *s = context;
    (void)events;
    struct run *run = watch_owner(watch, struct run, pidfd);
    spawner_unwatch(s, watch);
    set_ended_now(run);
    look_for_end(s, run);
}

/* One snapshot of /proc serves all runs of the same turn. A process is told once: the second
 * SIGTERM ends many a program at once that cleans up after the first. Those of the cgroup that are
 * not in the snapshot come first: later there are also those that clean up for a told one. */
static int signal_tree(struct spawner *s, struct run *run, int signal)
{
    if (!s->tree_is_fresh)
        tree_scan(&s->tree);
    s->tree_is_fresh = true;
    tree_signal(&s->tree, run->info.pid, run->has_exited, run->info.id, 0); /* only finds */
    int in_cgroup = cgroup_signal(&s->cgroups, run->cgroup, run->info.id, &s->tree, signal);
    int in_tree = tree_signal(&s->tree, run->info.pid, run->has_exited, run->info.id, signal);
    return in_tree > in_cgroup ? in_tree : in_cgroup;
}

static bool is_lingering(const struct run *run)
{
    return run->state == RUN_DRAINING && run->stop_reason == SPAWN_NOT_ENDED;
}

void life_stop(struct spawner *s, struct run *run, enum spawn_reason why, int signal,
               int64_t grace_ms)
{
    if (run->early) {
        early_drop(s, run);
        life_fail(s, run, why, SPAWN_STEP_NONE, 0);
        return;
    }
    if (run->state != RUN_RUNNING && run->state != RUN_STOPPING && !is_lingering(run))
        return;
    int64_t kill_at = s->now_boot_ms + grace_ms;
    if (run->state != RUN_STOPPING) {
        run->stop_reason = why; /* a run that lingers has ended for its own reason already */
        run->kill_at_boot_ms = kill_at;
        run_move(&s->runs, run, RUN_STOPPING);
    } else if (kill_at < run->kill_at_boot_ms) {
        run->kill_at_boot_ms = kill_at;
    }
    if (grace_ms > 0 && signal_tree(s, run, signal) > 0)
        signal_tree(s, run, SIGCONT); /* a stopped process can't end otherwise */
    life_set_due(s, run, run->has_exited ? s->now_boot_ms : run->kill_at_boot_ms);
}

static void look_at_stopping(struct spawner *s, struct run *run)
{
    if (s->now_boot_ms >= run->kill_at_boot_ms) {
        run_move(&s->runs, run, RUN_KILLING);
        life_due(s, run);
    } else if (!run->has_exited) {
        life_set_due(s, run, run->kill_at_boot_ms);
    } else if (signal_tree(s, run, 0) == 0) {
        life_drain(s, run);
    } else {
        int64_t next = s->now_boot_ms + POLL_MS;
        life_set_due(s, run, next < run->kill_at_boot_ms ? next : run->kill_at_boot_ms);
    }
}

static void look_at_killing(struct spawner *s, struct run *run)
{
    int left = signal_tree(s, run, SIGKILL);
    bool given_up = s->now_boot_ms > run->kill_at_boot_ms + GIVE_UP_MS;
    if (run->has_exited && (left == 0 || given_up)) {
        run->info.left_over = left > 0;
        life_drain(s, run);
        return;
    }
    life_set_due(s, run, s->now_boot_ms + (given_up ? 20 * POLL_MS : POLL_MS));
}

void life_due(struct spawner *s, struct run *run)
{
    if (run->awaits_end) {
        look_for_end(s, run);
        return;
    }
    switch (run->state) {
    case RUN_RUNNING:
        life_stop(s, run, SPAWN_TIMED_OUT, SIGTERM, run->grace_ms);
        break;
    case RUN_STOPPING:
        look_at_stopping(s, run);
        break;
    case RUN_KILLING:
        look_at_killing(s, run);
        break;
    case RUN_DRAINING:
        stop_listening(s, run);
        break;
    case RUN_ENDED:
        life_set_due(s, run, 0);
        break;
    }
}

void life_forget(struct spawner *s, struct run *run)
{
    if (run->state != RUN_ENDED)
        return;
    life_note(s, run, JOURNAL_FORGOTTEN);
    life_drop_masks(s, run);
    agent_link_forget(&s->link, &run->reported);
    if (run->is_growing)
        TAILQ_REMOVE(&s->growing, run, growing);
    run->is_growing = false;
    run_drop_id(&s->runs, run);
    run->is_forgotten = true;
    if (streams_closed(run))
        run_bury(&s->runs, run);
}
