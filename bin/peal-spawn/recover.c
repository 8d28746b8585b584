/* Restores runs from the journal of a killed spawner.
 *
 * Runs that have ended are reported again. A run whose process still lives (same pid, same start
 * time, same boot) is adopted: its timeout and KILL still work, and its output is read if its main
 * process still holds the pipes. Only the parent can wait for it: that is the guard now, which
 * writes down how it ends (guard.c). Without a guard the end is unknown; every run whose process is
 * gone, and whose end nobody wrote down, is reported as ended unseen. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "ends.h"
#include "proc.h"
#include "spawner.h"

/* While the journal is read, every run is in the state RUNNING; with a reason it has ended, without
 * a pid it was about to start. */
static void seen(void *user, const struct journal_record *record, bool same_boot)
{
    struct spawner *s = user;
    struct run *run = spawn_id_valid(record->info.id) ? run_by_id(&s->runs, record->info.id) : NULL;
    if (journal_type(record) == JOURNAL_FORGOTTEN) {
        if (run) {
            run_move(&s->runs, run, RUN_ENDED);
            run_bury(&s->runs, run);
        }
        return;
    }
    if (!run)
        run = spawn_id_valid(record->info.id) ? run_new(&s->runs, record->info.id) : NULL;
    if (!run)
        return;
    run->info = record->info;
    if (run->info.reason >= SPAWN_REASON_COUNT || run->info.step >= SPAWN_STEP_COUNT) {
        run->info.reason = SPAWN_UNKNOWN; /* a reason of a newer spawner */
        run->info.step = 0;
    }
    run->timeout_at_boot_ms = record->timeout_at_boot_ms;
    run->grace_ms = record->grace_ms;
    run->linger_ms = record->linger_ms;
    run->has_secrets = record->type & JOURNAL_SECRET;
    run->pipes[0] = record->pipes[0];
    run->pipes[1] = record->pipes[1];
    output_init(&run->output, record->head_bytes, record->tail_bytes);
    run->is_adopted = same_boot && run->info.pid > 0 && run->info.reason == SPAWN_NOT_ENDED;
}

/* The pidfd of the run's process if it is still the same one, or -1. One that has ended a moment
 * ago will do: the guard is about to write down how. */
static int find_process(struct run *run)
{
    struct proc_stat stat;
    int fd = (int)syscall(SYS_pidfd_open, run->info.pid, 0);
    if (fd < 0)
        return -1;
    if (proc_stat(run->info.pid, &stat) &&
        run_started_at(run->info.started_boot_ms, proc_started_boot_ms(&stat))) {
        run->was_over = stat.state == 'Z' || stat.state == 'X';
        return fd;
    }
    close(fd);
    return -1;
}

static bool is_over(const struct run *run)
{
    struct proc_stat stat;
    return !proc_stat(run->info.pid, &stat) || stat.state == 'Z' || stat.state == 'X';
}

/* Opens a pipe of the run again; false: what is written into it can't be read any more. A process
 * that has closed or redirected the stream itself loses nothing by it. */
static bool find_pipe(struct run *run, int index)
{
    char path[64];
    struct stat st;
    int fd = -1;
    if (!run->pipes[index])
        return true;
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", run->info.pid, index + 1);
    if (stat(path, &st) == 0) {
        if (!S_ISFIFO(st.st_mode) || st.st_ino != run->pipes[index])
            return true;
        fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    }
    run->streams[index].watch.fd = fd;
    return fd >= 0 || (errno == ENOENT && !is_over(run));
}

/* Says in its output that its pipes could not be opened again: its process was gone before, or has
 * other rights; or that what comes from them is not kept, for the values of its secrets were in the
 * memory of the spawner that was killed. */
static void mark_gap(struct spawner *s, struct run *run)
{
    char mark[200];
    int length = snprintf(mark, sizeof(mark),
                          "%speal: the spawner was killed while this ran: what was written after "
                          "that is %s\n",
                          run->output.in_line ? "\n" : "",
                          run->has_secrets ? "withheld, for its secrets can't be masked any more"
                                           : "not here");
    output_append(&run->output, s->output_fd, run->info.id, SPAWN_STDERR, mark, (size_t)length,
                  clock_now().wall.ms);
    run->info.output_bytes = run->output.position;
    run->info.dropped_bytes = run->output.dropped;
}

static bool adopt(struct spawner *s, struct run *run)
{
    run->pidfd = (struct watch){.fd = find_process(run), .ready = life_pidfd_ready};
    if (run->pidfd.fd < 0)
        return false;
    if (spawner_watch(s, &run->pidfd, EPOLLIN) != OK) {
        close(run->pidfd.fd);
        run->pidfd.fd = -1;
        return false;
    }
    run->cgroup = cgroup_adopt(&s->cgroups, run->info.id, run->info.pid);
    bool has_out = find_pipe(run, 0), has_err = find_pipe(run, 1);
    if (!has_out || !has_err || run->has_secrets)
        mark_gap(s, run);
    run_add_pid(&s->runs, run);
    life_began(s, run, 0);
    return true;
}

static void restore(struct spawner *s, struct run *run)
{
    bool same_boot = run->is_adopted;
    output_recover(&run->output, s->output_fd, run->info.id);
    if (run->is_adopted && adopt(s, run))
        return;
    if (run->info.reason == SPAWN_NOT_ENDED) {
        if (run->info.pid > 0)
            mark_gap(s, run);
        if (same_boot && life_take_end(s, run))
            return;
        run->info.reason = SPAWN_UNKNOWN;
        run->info.error = !run->info.pid ? SPAWN_UNSEEN_START : SPAWN_UNSEEN_GONE;
        run->info.ended_boot_ms = clock_now().boot.ms;
        run->info.ended_wall_ms = clock_now().wall.ms;
    }
    run_move(&s->runs, run, RUN_ENDED);
}

void recover_forget_ends(struct spawner *s)
{
    for (struct run *run = run_first(&s->runs); run; run = run_next(run))
        if (run->is_adopted && run->state != RUN_ENDED)
            return;
    ends_remove(s->folder_fd);
}

void recover_compact(struct spawner *s)
{
    struct journal_record *records = calloc((size_t)s->runs.known + 1, sizeof(*records));
    if (!records)
        return;
    size_t count = 0;
    for (struct run *run = run_first(&s->runs); run; run = run_next(run)) {
        if (!run->is_forgotten && !run->early)
            records[count++] = run_record(run);
    }
    journal_rewrite(&s->journal, records, count);
    free(records);
}

enum status recover(struct spawner *s)
{
    enum status st = journal_open(&s->journal, s->folder_fd, seen, s);
    if (st != OK)
        return st;
    for (struct run *run = run_first(&s->runs); run; run = run_next(run))
        restore(s, run);
    run_sweep(&s->runs);
    recover_compact(s); /* also gives the file this boot's id */
    recover_forget_ends(s);
    return OK;
}
