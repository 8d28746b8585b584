#include "calls/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls/call.h"
#include "outside/process.h"
#include "run_environment.h"

enum {
    LINE_MAX_BYTES = 8192, /* a longer one is cut into several */
    LOOK_MS = 100,         /* for an order to stop */
    LINGER_MS = 1000,      /* for output of what the command has left behind */
};

struct command {
    struct process_run process;
    struct run_environment environment;
};

/* A command while it runs. */
struct child {
    peal_run *run;
    const struct command *command;
    pid_t pid;
    int fd;     /* of its output; -1: closed */
    int end_fd; /* readable at its end; -1: an old kernel */
    char line[LINE_MAX_BYTES + 1];
    size_t length;
    int64_t told_us; /* when it was told to stop; 0: not yet */
};

/* ---- what is run ---- */

enum status command_new(const struct job *process, const struct run *run, const struct job *job,
                        const char *node, struct command **ret)
{
    static const struct job_user nobody; /* all of the user is in the program's environment */
    struct command *command = calloc(1, sizeof(*command));
    enum status st = command ? process_run_init(&command->process, process, job) : E_NOMEM;
    if (st == OK)
        st = run_environment_init(&command->environment, run, &command->process.job, &nobody, node,
                                  "/bin/sh");
    if (st == OK)
        *ret = command;
    else
        command_free(command);
    return st;
}

struct command *command_free(struct command *command)
{
    if (!command)
        return NULL;
    run_environment_release(&command->environment);
    process_run_release(&command->process);
    free(command);
    return NULL;
}

/* ---- starting ---- */

/* A group of its own, no signal blocked or ignored, and none of the program's descriptors. */
static int spawn(const struct run_environment *environment, int output, pid_t *ret)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    int failed = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
    if (!failed)
        failed = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!failed)
        failed = posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    if (!failed)
        failed = posix_spawn_file_actions_addchdir_np(&actions, environment->cwd);
    if (!failed)
        failed = posix_spawn(ret, environment->argv[0], &actions, &attributes, environment->argv,
                             environment->variables);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return failed;
}

/* Descriptors 0 to 2 are taken by the child's own, also where the program has closed its. */
static int out_of_the_way(int fd)
{
    int moved = fd >= 0 && fd <= STDERR_FILENO ? fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : fd;
    if (moved != fd)
        close(fd);
    return moved;
}

static bool start(struct child *child)
{
    int ends[2] = {-1, -1};
    int failed = pipe2(ends, O_CLOEXEC) < 0 ? errno : 0;
    ends[0] = out_of_the_way(ends[0]);
    ends[1] = out_of_the_way(ends[1]);
    if (!failed)
        failed = spawn(&child->command->environment, ends[1], &child->pid);
    if (ends[1] >= 0)
        close(ends[1]);
    child->fd = ends[0];
    if (!failed)
        return true;
    if (child->fd >= 0)
        close(child->fd);
    peal_log(child->run, "the command can't be started: %s", strerror(failed));
    return false;
}

/* ---- while it runs ---- */

static void tell_line(struct child *child, size_t length)
{
    child->line[length] = '\0';
    peal_log(child->run, "%s", child->line);
}

static void tell_lines(struct child *child)
{
    char *end;
    while ((end = memchr(child->line, '\n', child->length))) {
        size_t length = (size_t)(end - child->line);
        tell_line(child, length);
        child->length -= length + 1;
        memmove(child->line, end + 1, child->length);
    }
    if (child->length == LINE_MAX_BYTES) {
        tell_line(child, child->length);
        child->length = 0;
    }
}

/* What is there, or comes within a moment; false: nothing, or it has ended. */
static bool read_some(struct child *child)
{
    struct pollfd ready[] = {{.fd = child->fd, .events = POLLIN},
                             {.fd = child->end_fd, .events = POLLIN}};
    if (poll(ready, 2, LOOK_MS) <= 0 || !ready[0].revents)
        return false;
    ssize_t got = read(child->fd, child->line + child->length, LINE_MAX_BYTES - child->length);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return true;
    if (got <= 0) {
        close(child->fd);
        child->fd = -1;
        return false;
    }
    child->length += (size_t)got;
    tell_lines(child);
    return true;
}

static void stop_if_told(struct child *child)
{
    int64_t now_us = clock_boot_us();
    if (!peal_cancelled(child->run))
        return;
    if (!child->told_us) {
        child->told_us = now_us;
        kill(-child->pid, SIGTERM);
    } else if (now_us - child->told_us > child->command->process.job.grace_s * 1000000) {
        kill(-child->pid, SIGKILL);
    }
}

/* Its process stays, as a zombie, until its group is dealt with: so the number is no other's. */
static bool has_ended(const struct child *child)
{
    siginfo_t info = {0};
    int failed = waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT);
    return failed ? errno != EINTR : info.si_pid == child->pid;
}

/* A program that ignores SIGCHLD, or waits for any child, takes the status away. */
static int take_exit_code(const struct child *child)
{
    int status = 0;
    pid_t waited;
    do
        waited = waitpid(child->pid, &status, 0);
    while (waited < 0 && errno == EINTR);
    if (waited < 0) {
        peal_log(child->run, "the command has ended; the program itself has taken its exit status");
        return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int command_call(peal_run *run, void *command)
{
    struct child child = {.run = run, .command = command};
    if (!start(&child))
        return -1;
    child.end_fd = (int)syscall(SYS_pidfd_open, child.pid, 0);
    while (!has_ended(&child)) {
        read_some(&child);
        stop_if_told(&child);
    }
    if (child.end_fd >= 0)
        close(child.end_fd);
    child.end_fd = -1;
    int64_t ended_us = clock_boot_us();
    while (child.fd >= 0 && clock_boot_us() - ended_us < LINGER_MS * 1000LL)
        read_some(&child);
    if (child.length)
        tell_line(&child, child.length);
    if (child.fd >= 0)
        close(child.fd);
    if (child.told_us)
        kill(-child.pid, SIGKILL); /* what is left of the group */
    return take_exit_code(&child);
}
