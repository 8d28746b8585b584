#include "calls/command.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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
#include "strbuf.h"

enum {
    LINE_MAX_BYTES = 8192, /* a longer one is cut into several */
    LOOK_MS = 100,         /* for an order to stop */
    GRACE_MS = 10000,
    LINGER_MS = 1000, /* for output of what the command has left behind */
};

/* A command while it runs. */
struct child {
    peal_run *run;
    pid_t pid;
    int fd;     /* of its output; -1: closed */
    int end_fd; /* readable at its end; -1: an old kernel */
    char line[LINE_MAX_BYTES + 1];
    size_t length;
    int64_t told_us; /* when it was told to stop; 0: not yet */
};

/* ---- starting ---- */

static bool is_ours(const char *entry)
{
    static const char *const names[] = {
        "PEAL_JOB=", "PEAL_RUN_ID=", "PEAL_TICK=", "PEAL_ATTEMPT=", "PEAL_FENCE=", "PEAL_PARAM_"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strncmp(entry, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* The texts, each with its NUL, in `texts`; the array in *ret. */
static enum status make_environment(const peal_run *run, struct strbuf *texts, char ***ret)
{
    size_t count = 5 + run->param_count, at = 0;
    for (char **entry = environ; entry && *entry; entry++)
        if (!is_ours(*entry))
            count++;
    strbuf_addf(texts, "PEAL_JOB=%s%c", run->run.job_name, 0);
    strbuf_addf(texts, "PEAL_RUN_ID=%s%c", run->id_text, 0);
    strbuf_addf(texts, "PEAL_TICK=%" PRId64 "%c", run->run.tick_ms, 0);
    strbuf_addf(texts, "PEAL_ATTEMPT=%d%c", run->run.attempt, 0);
    strbuf_addf(texts, "PEAL_FENCE=%" PRId64 "%c", (int64_t)run->run.fence, 0);
    for (size_t i = 0; i < run->param_count; i++)
        strbuf_addf(texts, "PEAL_PARAM_%s=%s%c", run->params[i].name,
                    run->params[i].value ? run->params[i].value : "", 0);
    enum status st = strbuf_status(texts);
    char **all = st == OK ? calloc(count + 1, sizeof(*all)) : NULL;
    if (!all)
        return E_NOMEM;
    for (const char *text = texts->text; text < texts->text + texts->length;
         text += strlen(text) + 1)
        all[at++] = (char *)text;
    for (char **entry = environ; entry && *entry && at < count; entry++)
        if (!is_ours(*entry))
            all[at++] = *entry;
    *ret = all;
    return OK;
}

/* A group of its own, no signal blocked or ignored, and none of the program's descriptors. */
static int spawn(const char *command, int output, char **environment, pid_t *ret)
{
    char *arguments[] = {"sh", "-c", (char *)command, NULL};
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
        failed = posix_spawn(ret, "/bin/sh", &actions, &attributes, arguments, environment);
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

static bool start(struct child *child, const char *command)
{
    struct strbuf texts;
    char **environment = NULL;
    int ends[2] = {-1, -1};
    strbuf_init(&texts);
    int failed = make_environment(child->run, &texts, &environment) == OK ? 0 : ENOMEM;
    if (!failed && pipe2(ends, O_CLOEXEC) < 0)
        failed = errno;
    ends[0] = out_of_the_way(ends[0]);
    ends[1] = out_of_the_way(ends[1]);
    if (!failed)
        failed = spawn(command, ends[1], environment, &child->pid);
    if (ends[1] >= 0)
        close(ends[1]);
    free(environment);
    strbuf_release(&texts);
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
    } else if (now_us - child->told_us > GRACE_MS * 1000LL) {
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
    struct child child = {.run = run};
    if (!start(&child, command))
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
