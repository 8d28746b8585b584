#include "service/container.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What is left when the agent has ended: spawners that end their last job. */
enum { REST_S = 10 };

bool container_is_ours(void)
{
    return getpid() == 1;
}

/* "peal-spawn" of "/usr/bin/peal-spawn": its guard and the like have other names. */
static bool is_spawner(const char *pid)
{
    char path[64], words[4096];
    snprintf(path, sizeof(path), "/proc/%.20s/cmdline", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, words, sizeof(words) - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (length <= 0)
        return false;
    words[length] = '\0';
    const char *slash = strrchr(words, '/');
    return strcmp(slash ? slash + 1 : words, "peal-spawn") == 0;
}

/* It starts nothing any more, and ends every job: SIGTERM, its grace, SIGKILL. */
static void stop_spawners(void)
{
    DIR *dir = opendir("/proc");
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        long pid = strtol(entry->d_name, NULL, 10);
        if (pid > 1 && is_spawner(entry->d_name))
            kill((pid_t)pid, SIGTERM);
    }
    if (dir)
        closedir(dir);
}

static int status_of(int state)
{
    return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

/* False: no child is left. */
static bool reap(pid_t agent, bool *inout_runs, int *ret_status)
{
    int state;
    pid_t pid;
    while ((pid = waitpid(-1, &state, WNOHANG)) > 0) {
        if (pid != agent)
            continue;
        *inout_runs = false;
        *ret_status = status_of(state);
    }
    return pid == 0 || errno != ECHILD;
}

/* The agent is told once its spawner is: it records the ends of the jobs before its own. */
static void pass_on(pid_t agent, bool runs, int number)
{
    if (number == SIGTERM || number == SIGINT)
        stop_spawners();
    if (runs)
        kill(agent, number);
}

static void be_first(pid_t agent, const sigset_t *signals, int *ret_status)
{
    bool runs = true, is_told = false;
    while (reap(agent, &runs, ret_status)) {
        const struct timespec rest = {.tv_sec = REST_S};
        if (!runs && !is_told)
            stop_spawners();
        is_told = !runs;
        int number = runs ? sigwaitinfo(signals, NULL) : sigtimedwait(signals, NULL, &rest);
        if (number < 0 && errno == EAGAIN)
            return; /* what still runs ends with this process */
        if (number > 0 && number != SIGCHLD)
            pass_on(agent, runs, number);
    }
}

bool container_split(int *ret_status)
{
    sigset_t signals, before;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, &before);
    pid_t agent = fork();
    if (agent <= 0) { /* without a child it goes on alone, as well as it can */
        sigprocmask(SIG_SETMASK, &before, NULL);
        return false;
    }
    *ret_status = EXIT_FAILURE;
    be_first(agent, &signals, ret_status);
    return true;
}
