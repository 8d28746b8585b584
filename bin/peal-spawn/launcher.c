/* The launcher does what a sandboxed agent can't do itself.
 *
 * An agent drops its privileges at its start (bin/peal/agent/sandbox/sandbox.h), and its children
 * inherit that. A spawner needs all privileges, since jobs inherit from it; and descent from a run
 * can only be checked by a process that sees all others. So the agent starts the launcher first,
 * which waits on its standard input for the requests of launcher_wire.h. It accepts nothing else:
 * the command lines of the spawner and of peal-call are its own. It ends with the agent, and
 * ignores signals that may be meant for a spawner or the agent. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "descent.h"
#include "launcher_wire.h"
#include "spawner.h"

struct launcher {
    const char *folder;
    const char *call_user; /* NULL: none */
    char program[PATH_MAX];
    char **argv; /* of a spawner */
};

static void ignore_signals(void)
{
    struct sigaction leave = {.sa_handler = SIG_IGN};
    struct sigaction reap = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDWAIT};
    sigaction(SIGTERM, &leave, NULL);
    sigaction(SIGINT, &leave, NULL);
    sigaction(SIGHUP, &leave, NULL);
    sigaction(SIGCHLD, &reap, NULL);
}

/* With default signal handling. Returns a negative errno on failure. */
static int32_t spawn_default(const char *program, char **argv, pid_t *ret_pid)
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t files;
    sigset_t all;
    sigfillset(&all);
    int error = posix_spawnattr_init(&attributes);
    if (error)
        return -error;
    error = posix_spawn_file_actions_init(&files);
    if (!error) {
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
        error = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        if (!error)
            error = posix_spawn(ret_pid, program, &files, &attributes, argv, environ);
        posix_spawn_file_actions_destroy(&files);
    }
    posix_spawnattr_destroy(&attributes);
    return -error;
}

static int32_t start(const char *program, char **argv, int *ret_fd)
{
    pid_t pid = 0;
    int32_t result = spawn_default(program, argv, &pid);
    if (result < 0)
        return result;
    *ret_fd = (int)syscall(SYS_pidfd_open, pid, 0);
    return *ret_fd >= 0 ? 0 : -errno;
}

/* The program beside this one, in the folder beside the spawner's, as the operator's user. */
static int32_t start_call(const struct launcher *launcher, int *ret_fd)
{
    char program[PATH_MAX], folder[PATH_MAX];
    char dir[] = "--dir", daemon[] = "--daemon", user[] = "--user";
    const char *name = strrchr(launcher->program, '/');
    int length = name ? (int)(name - launcher->program) : 0;
    if (snprintf(program, sizeof(program), "%.*s/peal-call", length, launcher->program) >=
            (int)sizeof(program) ||
        snprintf(folder, sizeof(folder), "%s/../call", launcher->folder) >= (int)sizeof(folder))
        return -ENAMETOOLONG;
    char *argv[] = {program, dir, folder, daemon, user, (char *)launcher->call_user, NULL};
    if (!launcher->call_user)
        argv[4] = NULL;
    return start(program, argv, ret_fd);
}

static int32_t look_at_peer(const struct launcher *launcher, int fd, pid_t spawner)
{
    struct lineage lineage = {.spawner = spawner};
    char *folder = realpath(launcher->folder, NULL); /* the same path as the spawner's */
    if (!folder || fd < 0) {
        free(folder);
        return DESCENT_UNKNOWN;
    }
    spawn_tag(folder, lineage.tag);
    free(folder);
    return (int32_t)descent_of_peer(fd, &lineage);
}

/* False: the agent is gone, or broke the protocol. */
static bool serve(const struct launcher *launcher)
{
    struct launcher_request request = {0};
    int given, made = -1;
    ssize_t length = launcher_receive(STDIN_FILENO, &request, sizeof(request), &given);
    if (length < 0 && errno == EINTR)
        return true;
    if (length != (ssize_t)sizeof(request))
        return false;
    struct launcher_answer answer = {.serial = request.serial, .result = -EINVAL};
    if (request.question == LAUNCHER_START)
        answer.result = start(launcher->program, launcher->argv, &made);
    else if (request.question == LAUNCHER_CALL)
        answer.result = start_call(launcher, &made);
    else if (request.question == LAUNCHER_DESCENT)
        answer.result = look_at_peer(launcher, given, request.spawner);
    if (given >= 0)
        close(given);
    bool sent = launcher_send(STDIN_FILENO, &answer, sizeof(answer), made);
    if (made >= 0)
        close(made);
    return sent;
}

int launcher_main(const struct options *options, char **argv)
{
    struct launcher launcher = {
        .folder = options->folder, .call_user = options->call_user, .argv = argv};
    ssize_t length = readlink("/proc/self/exe", launcher.program, sizeof(launcher.program) - 1);
    if (length <= 0)
        return 1;
    argv[0] = launcher.program;
    prctl(PR_SET_NAME, "peal-launcher");
    setsid(); /* the agent's terminal is not its own */
    ignore_signals();
    if (chdir("/") < 0)
        return 1;
    while (serve(&launcher))
        ;
    return 0;
}
