/* The life of a run from its start to its ACK. run.h has the state diagram. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "ends.h"
#include "proc.h"
#include "spawner.h"

#define DRAIN_READS 16   /* of each pipe, so that a loud run does not starve the others */
#define POLL_MS     50   /* between two checks of a tree that is being killed */
#define GIVE_UP_MS  5000 /* then a tree that survives SIGKILL is reported as left over */
#define END_LOOKS   200  /* for the end of an adopted run, END_LOOK_MS apart */
#define END_LOOK_MS 10

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

void life_write(struct spawner *s)
{
    if (journal_write(&s->journal) != OK)
        log_lost_records();
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
    run->masking = masking_free(run->masking);
    if (run->stop_reason == SPAWN_NOT_ENDED && was_killed(run))
        cgroups_distrust(&s->cgroups);
    cgroup_give(&s->cgroups, run->cgroup, run->info.id, run->stop_reason != SPAWN_NOT_ENDED);
    run->cgroup = CGROUP_NONE;
    run_move(&s->runs, run, RUN_ENDED);
    life_note(s, run, JOURNAL_ENDED);
    agent_report(s, run, REPORT_ENDED);
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

static struct masking_target target_of(struct spawner *s, struct run *run)
{
    return (struct masking_target){.output = &run->output,
                                   .folder_fd = s->output_fd,
                                   .id = run->info.id,
                                   .wall_ms = clock_now().wall.ms};
}

static void keep_output(struct spawner *s, struct run_stream *stream, size_t length)
{
    struct run *run = stream->run;
    struct masking_target target = target_of(s, run);
    if (run->masking)
        masking_append(run->masking, &target, stream->stream, s->chunk, length);
    else if (!run->has_secrets)
        output_append(&run->output, s->output_fd, run->info.id, stream->stream, s->chunk, length,
                      target.wall_ms);
    grew(s, run);
}

/* Nothing more is read of it: what its mask has held back is decided. */
static void end_masking(struct spawner *s, struct run_stream *stream, bool is_over)
{
    struct run *run = stream->run;
    if (!run->masking || run->state == RUN_ENDED)
        return;
    struct masking_target target = target_of(s, run);
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
    ssize_t length = read(stream->watch.fd, s->chunk, sizeof(s->chunk));
    if (length < 0 && (errno == EINTR || errno == EAGAIN))
        return errno == EINTR;
    if (length <= 0) {
        end_masking(s, stream, length == 0);
        close_stream(s, stream, length == 0);
        return false;
    }
    if (run->state == RUN_ENDED)
        return true; /* output of a leftover process */
    keep_output(s, stream, (size_t)length);
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

/* The main process has ended, and so has the tree if it was killed. */
static void drain(struct spawner *s, struct run *run)
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
    char buf[CGROUP_NAME_SIZE];
    const char *cgroup = run->cgroup ? cgroup_name(run->cgroup, run->info.id, buf) : NULL;
    bool is_oom = false;
    if (run->stop_reason != SPAWN_NOT_ENDED)
        return SPAWN_CAUSE_NONE;
    if (was_killed(run))
        is_oom =
            cause_is_oom(&s->causes, &s->cgroups, cgroup, run->info.pid, run->info.started_boot_ms);
    else if (cgroup && status) /* another process of the run, perhaps: it has failed */
        is_oom = cause_cgroup_has_oom(&s->cgroups, cgroup);
    return is_oom ? SPAWN_CAUSE_OOM : SPAWN_CAUSE_NONE;
}

static void exited(struct spawner *s, struct run *run, enum spawn_reason reason)
{
    run->info.reason = run->stop_reason != SPAWN_NOT_ENDED ? run->stop_reason : reason;
    run->has_exited = true;
    s->tree_is_fresh = false; /* the snapshot may still show it as alive */
    run_drop_pid(&s->runs, run);
    if (run->state == RUN_RUNNING)
        drain(s, run);
    else
        life_set_due(s, run, s->now_boot_ms); /* the rest of the tree must end first */
}

static void reaped(struct spawner *s, struct run *run, int status, const struct rusage *usage)
{
    struct slot slot = {0};
    if (run->slot != SLOT_NONE)
        slot = s->slots.memory[run->slot];
    if (slot.step != SPAWN_STEP_NONE && slot.step < SPAWN_STEP_COUNT) {
        run_drop_pid(&s->runs, run);
        life_fail(s, run, slot.step == SPAWN_STEP_DEADLINE ? SPAWN_EXPIRED : SPAWN_START_FAILED,
                  (enum spawn_step)slot.step, slot.error);
        return;
    }
    if (run->slot != SLOT_NONE)
        slots_give(&s->slots, run->slot);
    run->slot = SLOT_NONE;
    run->info.wait_status = status;
    run->info.user_ms = life_milliseconds(usage->ru_utime);
    run->info.system_ms = life_milliseconds(usage->ru_stime);
    run->info.max_rss_kib = usage->ru_maxrss;
    run->info.error = (int32_t)find_cause(s, run);
    set_ended_now(run);
    exited(s, run, reason_of(status));
}

void life_reap(struct spawner *s)
{
    int status;
    struct rusage usage;
    s->wants_reap = s->tree_is_fresh = false;
    launches_settle(&s->launches); /* else the pipes of short runs would not be at their end */
    for (pid_t pid; (pid = wait4(-1, &status, WNOHANG, &usage)) > 0;) {
        struct run *run = run_by_pid(&s->runs, pid);
        if (run && run->early)
            early_reaped(s, run);
        else if (run) /* else a leftover process of a run */
            reaped(s, run, status, &usage);
    }
}

void life_look(struct spawner *s)
{
    sigset_t pending;
    if (s->wants_reap || sigpending(&pending) < 0 || sigismember(&pending, SIGCHLD))
        life_reap(s);
}

bool life_take_end(struct spawner *s, struct run *run)
{
    struct end_record record;
    if (!ends_find(s->folder_fd, run->info.pid, run->info.started_boot_ms, &record))
        return false;
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
    run->info.error = run->was_over ? SPAWN_UNSEEN_GONE : SPAWN_UNSEEN_END;
    exited(s, run, SPAWN_UNKNOWN);
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
    char name[CGROUP_NAME_SIZE];
    cgroup_name(run->cgroup, run->info.id, name);
    tree_signal(&s->tree, run->info.pid, run->has_exited, run->info.id, 0); /* only finds */
    int in_cgroup = run->cgroup ? cgroup_signal(&s->cgroups, name, &s->tree, signal) : 0;
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
        drain(s, run);
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
        drain(s, run);
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
    agent_link_forget(&s->link, &run->reported);
    if (run->is_growing)
        TAILQ_REMOVE(&s->growing, run, growing);
    run->is_growing = false;
    run_drop_id(&s->runs, run);
    run->is_forgotten = true;
    if (streams_closed(run))
        run_bury(&s->runs, run);
}
