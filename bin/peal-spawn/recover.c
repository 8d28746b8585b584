/* Restores runs from the journal of a killed spawner.
 *
 * Runs that have ended are reported again. A run whose process still lives (same pid, same start
 * time, same boot) is adopted: its timeout and KILL still work. The pipes of all come from the
 * keeper (keeper.h); without one those of a living process are opened again. Only the parent can
 * wait for it: that is the guard now, which writes down how it ends (guard.c). What the killed
 * spawner had waited for, and not written down itself, is in the memory of reaped.h. Without a
 * guard the end is unknown; every run whose process is gone, and whose end nobody wrote down, is
 * reported as ended unseen. */
#include <dirent.h>
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
#include "handover/ends.h"
#include "proc.h"
#include "serve/low_fds.h"
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
    run->pipes[0] = same_boot ? record->pipes[0] : 0;
    run->pipes[1] = same_boot ? record->pipes[1] : 0;
    output_init(&run->output, record->head_bytes, record->tail_bytes);
    run->is_adopted = same_boot && run->info.pid > 0 && run->info.reason == SPAWN_NOT_ENDED;
}

/* The pidfd of the run's process if it is still the same one, or -1. One that has ended a moment
 * ago will do: the guard is about to write down how. */
static int find_process(struct run *run)
{
    struct proc_stat stat;
    int fd = high_fd((int)syscall(SYS_pidfd_open, run->info.pid, 0));
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

/* What a process executes. */
enum image {
    IMAGE_NONE,  /* it has ended, or is about to: it has no descriptors any more */
    IMAGE_OURS,  /* it has not come to its exec: its descriptors may not be in place yet */
    IMAGE_OTHER, /* its command */
};

static enum image image_of(pid_t pid)
{
    char path[64];
    struct stat own, its;
    snprintf(path, sizeof(path), "/proc/%d/exe", pid);
    if (stat(path, &its) < 0)
        return IMAGE_NONE;
    bool is_ours =
        stat("/proc/self/exe", &own) == 0 && own.st_ino == its.st_ino && own.st_dev == its.st_dev;
    return is_ours ? IMAGE_OURS : IMAGE_OTHER;
}

/* Opens descriptor `number` of the process again if it is this pipe. -1, with ENOENT: it is not. */
static int open_again(pid_t pid, int number, uint64_t inode)
{
    char path[64];
    struct stat st;
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, number);
    if (stat(path, &st) < 0)
        return -1;
    if (S_ISFIFO(st.st_mode) && st.st_ino == inode)
        return high_fd(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    errno = ENOENT;
    return -1;
}

/* Looks for it under any number, and at its own once more: it may have been moved there
 * meanwhile. */
static int search_pipe(pid_t pid, int number, uint64_t inode)
{
    char path[64];
    int fd = -1;
    snprintf(path, sizeof(path), "/proc/%d/fd", pid);
    DIR *folder = opendir(path);
    for (const struct dirent *entry; folder && fd < 0 && (entry = readdir(folder));)
        if (entry->d_name[0] != '.')
            fd = open_again(pid, atoi(entry->d_name), inode);
    if (folder)
        closedir(folder);
    return fd >= 0 ? fd : open_again(pid, number, inode);
}

/* Has a pipe of the living run; false: what is written into it can't be read any more. A process
 * that has closed or redirected the stream itself loses nothing by it; a shell does the latter for
 * a while, and keeps the pipe under another number. */
static bool find_pipe(struct run *run, int index)
{
    uint64_t inode = run->pipes[index];
    pid_t pid = run->info.pid;
    if (!inode || run->streams[index].watch.fd >= 0)
        return true;
    int fd = open_again(pid, index + 1, inode);
    enum image image = fd < 0 && errno == ENOENT ? image_of(pid) : IMAGE_NONE;
    if (image != IMAGE_NONE)
        fd = search_pipe(pid, index + 1, inode);
    run->streams[index].watch.fd = fd;
    return fd >= 0 || image == IMAGE_OTHER;
}

/* Takes those that were kept. If they are complete, one that is not there was read to its end. */
static void claim_pipes(struct spawner *s, struct run *run)
{
    for (int i = 0; i < 2; i++) {
        run->streams[i].watch.fd = run->pipes[i] ? kept_take_pipe(&s->kept, run->pipes[i]) : -1;
        if (run->streams[i].watch.fd < 0 && s->kept.are_all)
            run->pipes[i] = 0;
    }
}

/* A pipe that was read to its end goes to another run: it is that of the last run that had it. */
static void claim_all_pipes(struct spawner *s)
{
    struct run *run;
    TAILQ_FOREACH_REVERSE(run, &s->runs.all, run_queue, all)
    if (run->info.reason == SPAWN_NOT_ENDED)
        claim_pipes(s, run);
    TAILQ_FOREACH_REVERSE(run, &s->runs.all, run_queue, all)
    if (run->info.reason != SPAWN_NOT_ENDED)
        claim_pipes(s, run);
}

static bool has_all_pipes(const struct run *run)
{
    return (!run->pipes[0] || run->streams[0].watch.fd >= 0) &&
           (!run->pipes[1] || run->streams[1].watch.fd >= 0);
}

static void count_output(struct run *run)
{
    run->info.output_bytes = run->output.position;
    run->info.dropped_bytes = run->output.dropped;
    run->info.disk_full = run->output.disk_full;
}

static void add_output(struct spawner *s, struct run *run, enum spawn_stream stream,
                       const char *text, size_t length)
{
    output_append(&run->output, s->output_fd, run->info.id, stream, text, length,
                  clock_now().wall.ms);
    count_output(run);
}

/* Its masks, with which what the dead spawner was doing is done. Without them nothing is written:
 * the spawner's keeper was killed, too. */
static void recover_masks(struct spawner *s, struct run *run)
{
    const char *bytes = NULL;
    const struct chunk *chunk = &s->handover.memory->chunk;
    int fd = kept_take_masks(&s->kept, run->info.id);
    if (fd < 0)
        return;
    if (masking_restore(fd, &run->masking) != OK) {
        serve_log("event=masks_lost run=%s", run->info.id);
        close(fd);
        return;
    }
    s->maskings++;
    struct masking_target target = life_target(s, run);
    size_t length = chunk_missing(chunk, run->info.id, chunk->position, &bytes);
    masking_finish(run->masking, &target, length ? bytes : NULL, length);
    count_output(run);
}

/* What its files hold, and what the dead spawner has read and not written to them. */
static void recover_output(struct spawner *s, struct run *run)
{
    const char *bytes;
    const struct chunk *chunk = &s->handover.memory->chunk;
    output_recover(&run->output, s->output_fd, run->info.id);
    count_output(run);
    if (run->has_secrets) {
        recover_masks(s, run);
        return;
    }
    size_t missing = chunk_missing(chunk, run->info.id, run->output.position, &bytes);
    if (missing)
        add_output(s, run, (enum spawn_stream)chunk->stream, bytes, missing);
}

/* Its masks were lost with the spawner and its guard. */
static bool is_withheld(const struct run *run)
{
    return run->has_secrets && !run->masking;
}

/* Says in its output that its pipes could not be opened again: its process was gone before, or has
 * other rights; or that what comes from them is not kept. */
static void mark_gap(struct spawner *s, struct run *run)
{
    char mark[200];
    int length = snprintf(mark, sizeof(mark),
                          "%speal: the spawner was killed while this ran: what was written after "
                          "that is %s\n",
                          run->output.in_line ? "\n" : "",
                          is_withheld(run) ? "withheld, for its secrets can't be masked any more"
                                           : "not here");
    add_output(s, run, SPAWN_STDERR, mark, (size_t)length);
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
    if (!has_out || !has_err || is_withheld(run))
        mark_gap(s, run);
    run_add_pid(&s->runs, run);
    life_began(s, run, 0);
    return true;
}

/* It has not ended by itself, as far as the journal knows, and its process is gone. */
static void end_gone(struct spawner *s, struct run *run, bool same_boot)
{
    if (run->info.pid > 0 && (!(same_boot && has_all_pipes(run)) || is_withheld(run)))
        mark_gap(s, run);
    life_began(s, run, 0);
    if (same_boot && life_take_end(s, run))
        return;
    run->info.ended_boot_ms = clock_now().boot.ms;
    run->info.ended_wall_ms = clock_now().wall.ms;
    life_end_unseen(s, run, !run->info.pid ? SPAWN_UNSEEN_START : SPAWN_UNSEEN_GONE);
}

static void restore(struct spawner *s, struct run *run)
{
    bool same_boot = run->is_adopted;
    if (!run->is_adopted || !adopt(s, run))
        end_gone(s, run, same_boot);
}

/* Its end is known. What it left in the background may still have been listened to. */
static void restore_ended(struct spawner *s, struct run *run)
{
    if (run->streams[0].watch.fd < 0 && run->streams[1].watch.fd < 0) {
        run_move(&s->runs, run, RUN_ENDED);
        life_drop_masks(s, run);
        return;
    }
    run->has_exited = true;
    life_began(s, run, 0);
    life_drain(s, run);
}

static void restore_all(struct spawner *s)
{
    struct run *run;
    for (run = run_first(&s->runs); run; run = run_next(run))
        recover_output(s, run);
    memset(&s->handover.memory->chunk, 0, sizeof(s->handover.memory->chunk)); /* to be read into */
    claim_all_pipes(s);
    for (run = run_first(&s->runs); run; run = run_next(run))
        if (run->info.reason == SPAWN_NOT_ENDED)
            restore(s, run);
    for (run = run_first(&s->runs); run; run = run_next(run))
        if (run->state == RUN_RUNNING && run->info.reason != SPAWN_NOT_ENDED)
            restore_ended(s, run);
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
    restore_all(s);
    run_sweep(&s->runs);
    recover_compact(s); /* also gives the file this boot's id */
    reaped_clear(&s->reaped);
    recover_forget_ends(s);
    return OK;
}
