#include "coord/held_child.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "proc.h"

enum { STATUS_CANT = 126, STATUS_NONE = 127, DEPTH_MAX = 1000 };

void held_start_note(struct held_start *start)
{
    *start = (struct held_start){.inherited = {false}};
    sigprocmask(SIG_BLOCK, NULL, &start->mask);
    sigaction(SIGPIPE, NULL, &start->broken_pipe);
    for (int fd = 0; fd < (int)(sizeof(start->inherited) / sizeof(start->inherited[0])); fd++)
        start->inherited[fd] = fcntl(fd, F_GETFD) != -1;
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* without it, orphans of the command are not found */
}

/* ---- in the child ---- */

/* Libraries open sockets without O_CLOEXEC. */
static void keep_inherited(const struct held_start *start)
{
    for (int fd = 3; fd < (int)(sizeof(start->inherited) / sizeof(start->inherited[0])); fd++) {
        if (!start->inherited[fd])
            fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
}

static _Noreturn void become(const struct held_start *start, const struct held_child *child,
                             pid_t parent, int report)
{
    char fence[24];
    snprintf(fence, sizeof(fence), "%" PRId64, child->fence);
    setenv("PEAL_FENCE", fence, 1);
    setenv(child->variable, child->name, 1);
    if (child->dies_with_us) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(STATUS_CANT);
    }
    keep_inherited(start);
    sigaction(SIGPIPE, &start->broken_pipe, NULL);
    sigprocmask(SIG_SETMASK, &start->mask, NULL);
    execvp(child->words[0], child->words);
    int error = errno;
    if (write(report, &error, sizeof(error)) < 0) {
        /* the status says it, too */
    }
    _exit(error == ENOENT ? STATUS_NONE : STATUS_CANT);
}

/* ---- in the parent ---- */

pid_t held_child_start(const struct held_start *start, const struct held_child *child,
                       int *ret_code)
{
    int report[2], error = 0;
    pid_t parent = getpid();
    *ret_code = STATUS_CANT;
    if (pipe2(report, O_CLOEXEC) != 0)
        return -1;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        become(start, child, parent, report[1]);
    close(report[1]);
    ssize_t length = pid > 0 ? read(report[0], &error, sizeof(error)) : 0;
    close(report[0]);
    if (pid > 0 && length == (ssize_t)sizeof(error)) {
        *ret_code = error == ENOENT ? STATUS_NONE : STATUS_CANT;
        errno = error;
        return -1; /* it has ended, and is reaped with the others */
    }
    return pid;
}

static bool is_below(pid_t pid, pid_t ancestor)
{
    struct proc_stat stat;
    for (int i = 0; i < DEPTH_MAX && pid > 1 && proc_stat(pid, &stat); i++) {
        if (stat.parent == ancestor)
            return true;
        pid = stat.parent;
    }
    return false;
}

int held_signal_all(int number)
{
    int count = 0;
    pid_t self = getpid();
    DIR *all = opendir("/proc");
    if (!all)
        return 0;
    for (struct dirent *entry; (entry = readdir(all));) {
        struct proc_stat stat;
        pid_t pid = isdigit((unsigned char)entry->d_name[0]) ? atoi(entry->d_name) : 0;
        if (pid <= 1 || pid == self || !is_below(pid, self) || !proc_stat(pid, &stat) ||
            stat.state == 'Z' || stat.state == 'X')
            continue;
        count++;
        if (number)
            kill(pid, number);
    }
    closedir(all);
    return count;
}
