/* The spawner replaces itself by executing its own file again. The pid stays, so its children stay
 * its children; descriptors and the state of the runs are handed over in a memfd.
 *
 * A newer image must be able to read the state of every version it claims to know: the old image
 * asks it first (--can-resume VERSION) and does not upgrade if the answer is no. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spawner.h"
#include "upgrade_state.h"

#define ASK_MS 2000

static bool write_all(int fd, const void *bytes, size_t length)
{
    return write(fd, bytes, length) == (ssize_t)length;
}

/* The version of the state: the earliest that can say it. */
static uint32_t state_version(const struct spawner *s)
{
    uint32_t version = STATE_VERSION_SMALL;
    for (const struct run *run = run_first(&s->runs); run; run = run_next(run)) {
        if (run->cgroup == CGROUP_LIMITED)
            return STATE_VERSION;
        if (run->has_secrets)
            version = STATE_VERSION_MASKS;
        else if (run->cgroup >= CGROUP_END_OF_2 && version < STATE_VERSION_POOL)
            version = STATE_VERSION_POOL;
    }
    return version;
}

/* 0: there is no such version. */
static size_t run_size_of(uint32_t version)
{
    if (version < 1 || version > STATE_VERSION)
        return 0;
    return version == 1                    ? STATE_RUN_SIZE_OF_1
           : version < STATE_VERSION_MASKS ? STATE_RUN_SIZE_OF_2
                                           : sizeof(struct saved_run);
}

/* -1: none. */
static int masks_fd(const struct run *run)
{
    return run->masking ? masking_fd(run->masking) : -1;
}

static bool save_run(int fd, const struct run *run, size_t size)
{
    struct saved_run saved = {
        .info = run->info,
        .state = run->state,
        .stop_reason = run->stop_reason,
        .has_exited = run->has_exited,
        .is_forgotten = run->is_forgotten,
        .is_adopted = run->is_adopted,
        .cgroup = run->cgroup,
        .slot = run->slot,
        .report =
            (run->reported.pending & ~(unsigned)REPORT_HELD) | (run->is_growing ? REPORT_GREW : 0u),
        .timeout_at_boot_ms = run->timeout_at_boot_ms,
        .kill_at_boot_ms = run->kill_at_boot_ms,
        .due_boot_ms = run->due_boot_ms,
        .pipes = {run->pipes[0], run->pipes[1]},
        .stream_fds = {run->streams[0].watch.fd, run->streams[1].watch.fd},
        .pidfd = run->pidfd.fd,
        .grace_ms = run->grace_ms,
        .output = run->output,
        .linger_ms = run->linger_ms,
        .masking_fd = masks_fd(run),
        .has_secrets = run->has_secrets,
    };
    saved.output.head_fd = saved.output.tail_fd = -1; /* opened again when needed */
    return write_all(fd, &saved, size);
}

/* A memfd with the whole state, or -1. */
static int save(struct spawner *s)
{
    struct saved saved = {
        .magic = STATE_MAGIC,
        .version = state_version(s),
        .run_size = (uint32_t)run_size_of(state_version(s)),
        .lock_fd = s->lock_fd,
        .listener_fd = s->link.listener.fd,
        .agent_fd = s->link.agent.fd,
        .slots_fd = s->slots.fd,
        .journal_fd = s->journal.fd,
        .said_hello = !s->link.said_hello    ? SAID_NOTHING
                      : s->link.knows_frames ? SAID_HELLO_FOR_FRAMES
                      : s->link.wants_build  ? SAID_HELLO_FOR_BUILD
                                             : SAID_HELLO,
        .wants_ready = s->link.wants_ready,
        .is_stopping = s->is_stopping,
        .journal_records = s->journal.records,
        .nofile_soft = s->nofile.rlim_cur,
        .nofile_hard = s->nofile.rlim_max,
    };
    for (struct run *run = run_first(&s->runs); run; run = run_next(run))
        saved.run_count++;
    int fd = memfd_create("peal-spawn-state", MFD_CLOEXEC);
    bool done = fd >= 0 && write_all(fd, &saved, sizeof(saved));
    for (struct run *run = run_first(&s->runs); run; run = run_next(run))
        done = done && save_run(fd, run, saved.run_size);
    if (done && lseek(fd, 0, SEEK_SET) == 0)
        return fd;
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return -1;
}

/* Clears, or sets again, close-on-exec of all descriptors that are handed over. */
static void keep_fds(struct spawner *s, int state_fd, bool keep)
{
    const int fds[] = {state_fd,    s->lock_fd,    s->link.listener.fd, s->link.agent.fd,
                       s->slots.fd, s->journal.fd, s->handover.fd};
    int flags = keep ? 0 : FD_CLOEXEC;
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
        if (fds[i] >= 0)
            fcntl(fds[i], F_SETFD, flags);
    for (struct run *run = run_first(&s->runs); run; run = run_next(run)) {
        const int run_fds[] = {run->streams[0].watch.fd, run->streams[1].watch.fd, run->pidfd.fd,
                               masks_fd(run)};
        for (size_t i = 0; i < sizeof(run_fds) / sizeof(run_fds[0]); i++)
            if (run_fds[i] >= 0)
                fcntl(run_fds[i], F_SETFD, flags);
    }
}

/* Is the file to be executed a spawner that can read this image's state? */
static bool ask(const struct spawner *s)
{
    char version[16];
    snprintf(version, sizeof(version), "%u", state_version(s));
    char *const argv[] = {(char *)s->self_path, (char *)"--can-resume", version, NULL};
    pid_t pid;
    if (posix_spawn(&pid, s->self_path, NULL, NULL, argv, environ) != 0)
        return false;
    struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN};
    if (end.fd < 0 || poll(&end, 1, ASK_MS) <= 0)
        kill(pid, SIGKILL);
    if (end.fd >= 0)
        close(end.fd);
    int status;
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void upgrade(struct spawner *s)
{
    if (!ask(s)) {
        serve_log("event=upgrade_refused file=\"%s\"", s->self_path);
        return;
    }
    int state_fd = save(s);
    if (state_fd < 0) {
        serve_log("event=upgrade_failed error=\"%s\"", strerror(errno));
        return;
    }
    char resume[16];
    struct words words;
    spawner_words(&words, s->self_path, &s->options);
    snprintf(resume, sizeof(resume), "%d", state_fd);
    words_add(&words, "--resume");
    words_add(&words, resume);
    keeper_end(s); /* it has this image's descriptors */
    keep_fds(s, state_fd, true);
    execv(s->self_path, words.argv);
    serve_log("event=upgrade_failed error=\"%s\"", strerror(errno));
    keep_fds(s, state_fd, false);
    close(state_fd);
    keeper_start(s);
}

static bool read_all(int fd, void *bytes, size_t length)
{
    return read(fd, bytes, length) == (ssize_t)length;
}

/* ---- what is read is checked ---- */

/* Open in this image, or none. */
static bool is_fd(int32_t fd)
{
    return fd == -1 || (fd >= 0 && fcntl(fd, F_GETFD) >= 0);
}

static bool is_sound(const struct saved *saved)
{
    return saved->lock_fd >= 0 && is_fd(saved->lock_fd) && saved->listener_fd >= 0 &&
           is_fd(saved->listener_fd) && saved->slots_fd >= 0 && is_fd(saved->slots_fd) &&
           saved->journal_fd >= 0 && is_fd(saved->journal_fd) && is_fd(saved->agent_fd);
}

/* Checks indexes, states, descriptors and pids; times and sizes are only compared. */
static bool is_sound_run(const struct saved_run *saved)
{
    const struct spawn_run *info = &saved->info;
    const uint32_t reports = REPORT_KNOWN | REPORT_STARTED | REPORT_GREW | REPORT_ENDED;
    return memchr(info->id, '\0', sizeof(info->id)) && spawn_id_valid(info->id) && info->pid >= 0 &&
           saved->state <= RUN_ENDED && info->reason < SPAWN_REASON_COUNT &&
           saved->stop_reason < SPAWN_REASON_COUNT && !(saved->report & ~reports) &&
           (saved->slot < SLOT_COUNT || saved->slot == SLOT_NONE) && saved->grace_ms >= 0 &&
           saved->linger_ms >= 0 && saved->cgroup < CGROUP_END && saved->output.tail_turn <= 1 &&
           saved->output.head_fd == -1 && saved->output.tail_fd == -1 &&
           is_fd(saved->stream_fds[0]) && is_fd(saved->stream_fds[1]) && is_fd(saved->pidfd) &&
           is_fd(saved->masking_fd) && saved->has_secrets <= 1;
}

/* What can't be restored is not masked, and so is withheld. */
static void resume_masking(struct spawner *s, struct run *run, const struct saved_run *saved)
{
    run->has_secrets = saved->has_secrets;
    if (saved->masking_fd < 0)
        return;
    if (masking_restore(saved->masking_fd, &run->masking) == OK) {
        s->maskings++;
        return;
    }
    serve_log("event=masks_lost run=%s", run->info.id);
    close(saved->masking_fd);
}

static void resume_run(struct spawner *s, const struct saved_run *saved, uint8_t *used_slots)
{
    struct run *run = run_new(&s->runs, saved->info.id);
    if (!run)
        abort(); /* out of memory: the next spawner restores the runs from the journal */
    run->info = saved->info;
    run->stop_reason = (enum spawn_reason)saved->stop_reason;
    run->has_exited = saved->has_exited;
    run->is_adopted = saved->is_adopted;
    run->awaits_end = run->is_adopted && !run->has_exited && saved->pidfd < 0;
    run->cgroup = cgroup_resume(&s->cgroups, saved->cgroup);
    run->slot = saved->slot;
    run->timeout_at_boot_ms = saved->timeout_at_boot_ms;
    run->kill_at_boot_ms = saved->kill_at_boot_ms;
    run->grace_ms = saved->grace_ms;
    run->linger_ms = saved->linger_ms;
    run->pipes[0] = saved->pipes[0];
    run->pipes[1] = saved->pipes[1];
    run->output = saved->output;
    resume_masking(s, run, saved);
    run->state = (enum run_state)saved->state; /* restored as it was, not moved */
    if (run->state == RUN_ENDED)
        s->runs.active--;
    if (run->slot != SLOT_NONE)
        used_slots[run->slot] = true;
    if (run->info.pid > 0 && !run->has_exited && run->state != RUN_ENDED)
        run_add_pid(&s->runs, run);
    for (int i = 0; i < 2; i++)
        run->streams[i].watch.fd = saved->stream_fds[i];
    life_began(s, run, 0);
    life_set_due(s, run, saved->due_boot_ms);
    run->pidfd = (struct watch){.fd = saved->pidfd, .ready = life_pidfd_ready};
    if (run->pidfd.fd >= 0 && spawner_watch(s, &run->pidfd, EPOLLIN) != OK)
        abort();
    if (saved->is_forgotten) {
        run_drop_id(&s->runs, run);
        run->is_forgotten = true;
    } else if (saved->report) {
        agent_report(s, run, (enum report)saved->report);
    }
}

bool upgrade_knows(int version)
{
    return version > 0 && run_size_of((uint32_t)version);
}

/* Members that its version does not have are those of a new run. */
static bool read_run(int state_fd, size_t size, struct saved_run *ret)
{
    *ret = (struct saved_run){.linger_ms = SPAWN_LINGER_S * 1000, .masking_fd = -1};
    return read_all(state_fd, ret, size) && is_sound_run(ret);
}

enum status upgrade_resume(struct spawner *s, int state_fd)
{
    struct saved saved;
    struct saved_run run;
    if (!read_all(state_fd, &saved, sizeof(saved)) || saved.magic != STATE_MAGIC)
        return E_CORRUPT;
    size_t run_size = run_size_of(saved.version);
    if (!run_size || saved.run_size != run_size)
        return E_VERSION;
    if (!is_sound(&saved))
        return E_CORRUPT;
    s->lock_fd = saved.lock_fd;
    s->link.listener.fd = saved.listener_fd;
    s->link.agent.fd = saved.agent_fd;
    s->link.said_hello = saved.said_hello != SAID_NOTHING;
    s->link.knows_frames = saved.said_hello == SAID_HELLO_FOR_FRAMES;
    s->link.wants_build = s->link.awaits_build =
        s->link.knows_frames || saved.said_hello == SAID_HELLO_FOR_BUILD;
    s->link.wants_ready = saved.wants_ready;
    s->is_stopping = saved.is_stopping;
    s->lacks_guard = getsid(0) == getpid(); /* else the guard leads the session of both */
    s->nofile = (struct rlimit){saved.nofile_soft, saved.nofile_hard};
    s->journal = (struct journal){
        .folder_fd = s->folder_fd,
        .fd = saved.journal_fd,
        .records = saved.journal_records,
        .is_dirty = true,
    };
    enum status st = slots_init(&s->slots, saved.slots_fd);
    if (st != OK)
        return st;
    uint8_t *used_slots = calloc(SLOT_COUNT, 1);
    if (!used_slots)
        return E_NOMEM;
    for (uint32_t i = 0; i < saved.run_count && st == OK; i++) {
        if (read_run(state_fd, run_size, &run) && !run_by_id(&s->runs, run.info.id))
            resume_run(s, &run, used_slots);
        else
            st = E_CORRUPT;
    }
    slots_rebuild(&s->slots, used_slots);
    free(used_slots);
    close(state_fd);
    keep_fds(s, -1, false);
    if (st == OK)
        serve_log("event=upgraded build=\"%s %s\" runs=%u", spawner_build.version,
                  spawner_build.revision, saved.run_count);
    return st;
}
