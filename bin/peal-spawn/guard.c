/* The guard stands above a spawner, so that a killed spawner does not take the ends of its runs
 * with it.
 *
 *   peal-spawn --daemon  ->  peal-guard  ->  peal-spawn  ->  runs
 *
 * Only a parent can ask how a process has ended, and the processes of a dead spawner become
 * children of the next subreaper above it. That is the guard. It starts another spawner at once,
 * which adopts the runs (recover.c), and writes down how each of them ends (ends.h). It costs a
 * start nothing: it sleeps until its spawner ends.
 *
 * It has the folder's lock open like its spawner, whose lock it therefore is, too: nobody else
 * starts a spawner for the folder in between. Nor is what a killed spawner knew of ends lost with
 * it (handover.h), or what was in its pipes (keeper.h): so there is a next one also if no process
 * is left. The guard ends when its spawner does so by itself, or several have died soon and left no
 * process behind; then the agent starts the next pair. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "descent.h"
#include "handover/ends.h"
#include "handover/handover.h"
#include "handover/keeper.h"
#include "proc.h"
#include "spawner.h"

#define SHORT_LIFE_MS 1000
#define SHORT_LIVES   3 /* of spawners in succession: the next one is started after a pause */
#define PAUSE_MS      1000
#define LOOK_MS       50 /* between two looks for ended processes during a pause */

struct guard {
    struct options options; /* a spawner's */
    const char *program;
    int folder_fd;
    int lock_fd;
    pid_t spawner; /* 0: none */
    struct handover handover;
};

void guard_become(const struct options *options, const char *program, int word_fd)
{
    char number[16], tag[SPAWN_TAG_SIZE];
    struct words words;
    spawner_words(&words, "peal-guard", options);
    snprintf(number, sizeof(number), "%d", word_fd);
    words_add(&words, "--guard");
    words_add(&words, number);
    spawn_tag(options->folder, tag);
    setenv(SPAWN_TAG_MARK, tag, 1); /* its orphans descend from it: see descent.h */
    fcntl(word_fd, F_SETFD, 0);
    execv(program, words.argv);
    fcntl(word_fd, F_SETFD, FD_CLOEXEC);
}

/* Starts the spawner's file anew, which an installation may have replaced. */
static _Noreturn void become_spawner(const struct guard *guard, int word_fd)
{
    char lock[16], word[16];
    struct words words;
    spawner_words(&words, guard->program, &guard->options);
    snprintf(lock, sizeof(lock), "%d", guard->lock_fd);
    words_add(&words, "--lock");
    words_add(&words, lock);
    if (word_fd >= 0) {
        snprintf(word, sizeof(word), "%d", word_fd);
        words_add(&words, "--word");
        words_add(&words, word);
    }
    execv(guard->program, words.argv);
    serve_log("event=start_failed file=\"%s\" error=\"%s\"", guard->program, strerror(errno));
    _exit(1);
}

static void start_spawner(struct guard *guard, int word_fd)
{
    guard->spawner = fork();
    if (guard->spawner == 0)
        become_spawner(guard, word_fd);
    if (guard->spawner > 0)
        return;
    serve_log("event=start_failed error=\"%s\"", strerror(errno));
    guard->spawner = 0;
}

/* Written before the process is gone: who sees that it is gone finds the record. */
static void note_end(const struct guard *guard, const siginfo_t *info, const struct rusage *usage)
{
    struct proc_stat stat;
    if (!proc_stat(info->si_pid, &stat))
        return;
    struct end_record record = {
        .pid = info->si_pid,
        .wait_status = ends_wait_status(info),
        .started_boot_ms = proc_started_boot_ms(&stat),
        .ended_boot_ms = clock_now().boot.ms,
        .ended_wall_ms = clock_now().wall.ms,
        .user_ms = life_milliseconds(usage->ru_utime),
        .system_ms = life_milliseconds(usage->ru_stime),
        .max_rss_kib = usage->ru_maxrss,
    };
    if (!ends_append(guard->folder_fd, &record))
        serve_log("event=end_lost pid=%d error=\"%s\"", (int)record.pid, strerror(errno));
}

static bool is_keeper(const struct guard *guard, pid_t pid)
{
    return guard->handover.memory && guard->handover.memory->keeper == pid;
}

/* The next ended child, with its end written down unless it is the spawner. 0: none has ended.
 * -1: there are no children. */
static pid_t next_ended(const struct guard *guard, bool waits, int *ret_status)
{
    siginfo_t info = {0};
    struct rusage usage;
    long result;
    do {
        result =
            syscall(SYS_waitid, P_ALL, 0, &info, WEXITED | WNOWAIT | (waits ? 0 : WNOHANG), &usage);
    } while (result < 0 && errno == EINTR);
    if (result < 0 || info.si_pid == 0)
        return result < 0 ? -1 : 0;
    *ret_status = ends_wait_status(&info);
    if (info.si_pid != guard->spawner && !is_keeper(guard, info.si_pid))
        note_end(guard, &info, &usage);
    waitpid(info.si_pid, NULL, 0);
    return info.si_pid;
}

/* Waits for the end of the spawner; returns its status, or that of one that could not start. */
static int watch_spawner(struct guard *guard)
{
    int status = 1 << 8;
    while (guard->spawner > 0) {
        pid_t pid = next_ended(guard, true, &status);
        if (pid == guard->spawner || pid < 0)
            guard->spawner = 0;
    }
    return status;
}

/* False: no process is left. */
static bool note_ends_for(struct guard *guard, int64_t pause_ms)
{
    int64_t until = clock_now().boot.ms + pause_ms;
    for (;;) {
        int status;
        pid_t pid = next_ended(guard, false, &status);
        if (pid < 0)
            return false;
        if (pid > 0)
            continue;
        if (clock_now().boot.ms >= until)
            return true;
        usleep(LOOK_MS * 1000);
    }
}

static void ignore_signals(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction normal = {.sa_handler = SIG_DFL};
    sigaction(SIGTERM, &ignore, NULL); /* meant for the spawner, which sets its own */
    sigaction(SIGINT, &ignore, NULL);
    sigaction(SIGHUP, &ignore, NULL);
    sigaction(SIGCHLD, &normal, NULL);
}

int guard_main(const struct options *options, const char *program, int word_fd)
{
    struct guard guard = {.options = *options, .program = program};
    prctl(PR_SET_NAME, "peal-guard");
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    ignore_signals();
    umask(077);
    handover_provide(&guard.handover);
    guard.folder_fd = open(options->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    guard.lock_fd = openat(guard.folder_fd, SERVE_LOCK, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
    if (guard.lock_fd < 0) {
        serve_log("event=start_failed folder=\"%s\" error=\"%s\"", options->folder,
                  strerror(errno));
        return 1;
    }
    start_spawner(&guard, word_fd);
    close(word_fd);
    for (int short_lives = 0;;) {
        int64_t started = clock_now().boot.ms;
        pid_t spawner = guard.spawner;
        int status = watch_spawner(&guard);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            return 0;
        if (WIFSIGNALED(status)) /* else it has said why itself */
            serve_log("event=spawner_died pid=%d signal=%d", (int)spawner, WTERMSIG(status));
        short_lives = clock_now().boot.ms - started < SHORT_LIFE_MS ? short_lives + 1 : 0;
        bool is_often = short_lives > SHORT_LIVES;
        bool has_more = note_ends_for(&guard, is_often ? PAUSE_MS : 0);
        if (!has_more && (is_often || !WIFSIGNALED(status)))
            return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
        guard.spawner = keeper_call(guard.handover.memory);
        if (!guard.spawner)
            start_spawner(&guard, -1);
    }
}
