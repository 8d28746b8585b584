/* intrude PID: what a process can do to another one of its user. A line each: the name of the deed,
 * and "done" or why it was refused. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static void tell(const char *deed, long result)
{
    printf("%s %s\n", deed, result >= 0 ? "done" : strerror(errno));
}

static long open_of(pid_t pid, const char *name, int flags)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    int fd = open(path, flags | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd;
}

static long attach(pid_t pid)
{
    long result = ptrace(PTRACE_ATTACH, pid, NULL, NULL);
    int error = errno;
    if (result == 0 && waitpid(pid, NULL, __WALL) == pid)
        ptrace(PTRACE_DETACH, pid, NULL, NULL);
    errno = error;
    return result;
}

/* The beginning of a program that is loaded anywhere can't be told: what counts is that it is not
 * EPERM. */
static long read_memory(pid_t pid)
{
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)tell, 1};
    long result = process_vm_readv(pid, &here, 1, &there, 1, 0);
    return result < 0 && errno == EFAULT ? 0 : result;
}

int main(int argc, char **argv)
{
    pid_t pid = argc == 2 ? atoi(argv[1]) : 0;
    if (pid <= 0)
        return 2;
    tell("attach", attach(pid));
    tell("process_vm_readv", read_memory(pid));
    tell("mem", open_of(pid, "mem", O_RDWR));
    tell("environ", open_of(pid, "environ", O_RDONLY));
    tell("maps", open_of(pid, "maps", O_RDONLY));
    tell("fd", open_of(pid, "fd/0", O_RDONLY));
    return 0;
}
