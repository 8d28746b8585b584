/* Loaded into an agent (LD_PRELOAD), does what somebody would who has taken it over: once, when the
 * agent first sets its timer, in its own thread and with its rights. What came of it is in the file
 * $IMPLANT_REPORT, a line each: the name of the deed and "done", or why it was refused.
 *
 *   $IMPLANT_SECRET   a file outside of all that an agent needs
 *   $IMPLANT_VICTIM   the number of a process of the same user */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static int attempt_open(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    return fd;
}

static int read_secret(void)
{
    return attempt_open(getenv("IMPLANT_SECRET"), O_RDONLY);
}

static int write_secret(void)
{
    return attempt_open(getenv("IMPLANT_SECRET"), O_WRONLY);
}

static int make_file(void)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s.new", getenv("IMPLANT_SECRET"));
    return attempt_open(path, O_WRONLY | O_CREAT);
}

static int remove_secret(void)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s.doomed", getenv("IMPLANT_SECRET"));
    return unlink(path);
}

/* In a process of its own; its exit code is the errno. */
static int apart(int (*deed)(void))
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0)
        _exit(deed() >= 0 ? 0 : errno);
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return -1;
    errno = WEXITSTATUS(status);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

static int execute_now(void)
{
    char *const argv[] = {(char *)"true", NULL};
    return execve("/bin/true", argv, argv + 1);
}

static int execute(void)
{
    return apart(execute_now);
}

static int look_at_memory(void)
{
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)read_secret, 1};
    return (int)process_vm_readv(atoi(getenv("IMPLANT_VICTIM")), &here, 1, &there, 1, 0);
}

static int kill_other(void)
{
    return kill(atoi(getenv("IMPLANT_VICTIM")), SIGTERM);
}

static int sniff(void)
{
    return socket(AF_PACKET, SOCK_RAW, 0);
}

static int make_namespace(void)
{
    return unshare(CLONE_NEWUSER);
}

static int clone_now(void)
{
    long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0)
        _exit(0);
    return (int)pid;
}

static int clone_namespace(void)
{
    return apart(clone_now);
}

static int mount_over(void)
{
    return mount("none", "/mnt", "tmpfs", 0, NULL);
}

static int run_written_code(void)
{
    void *code =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return code == MAP_FAILED ? -1 : 0;
}

static int make_code(void)
{
    void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return mprotect(code, 4096, PROT_READ | PROT_EXEC);
}

static int take_rights(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2] = {{1u << CAP_SETUID, 1u << CAP_SETUID, 0}, {0, 0, 0}};
    return (int)syscall(SYS_capset, &header, sets);
}

static int become_other(void)
{
    return (int)syscall(SYS_setresuid, 1, 1, 1);
}

static int use_ring(void)
{
    char parameters[120] = {0};
    return (int)syscall(SYS_io_uring_setup, 1, parameters);
}

static int read_users(void) /* as it must */
{
    return attempt_open("/etc/passwd", O_RDONLY);
}

static const struct {
    const char *name;
    int (*deed)(void);
} deeds[] = {
    {"read_secret", read_secret},
    {"write_secret", write_secret},
    {"make_file", make_file},
    {"remove_secret", remove_secret},
    {"execute", execute},
    {"look_at_memory", look_at_memory},
    {"kill_other", kill_other},
    {"sniff", sniff},
    {"make_namespace", make_namespace},
    {"clone_namespace", clone_namespace},
    {"mount_over", mount_over},
    {"run_written_code", run_written_code},
    {"make_code", make_code},
    {"take_rights", take_rights},
    {"become_other", become_other},
    {"use_ring", use_ring},
    {"read_users", read_users},
};

static void do_all(void)
{
    FILE *report = fopen(getenv("IMPLANT_REPORT"), "we");
    if (!report)
        return;
    for (size_t i = 0; i < sizeof(deeds) / sizeof(deeds[0]); i++) {
        errno = 0;
        bool done = deeds[i].deed() >= 0;
        fprintf(report, "%s %s\n", deeds[i].name, done ? "done" : strerror(errno));
        fflush(report);
    }
    fprintf(report, "end\n");
    fclose(report);
}

/* The first call of an agent after it is set up. Spawners and others are left alone. */
int timerfd_settime(int fd, int flags, const struct itimerspec *value, struct itimerspec *ret_old)
{
    static bool is_done;
    if (!is_done && strcmp(program_invocation_short_name, "peal") == 0 &&
        getenv("IMPLANT_REPORT")) {
        is_done = true;
        do_all();
    }
    return (int)syscall(SYS_timerfd_settime, fd, flags, value, ret_old);
}
