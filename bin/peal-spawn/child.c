#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/sched.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"

static const __rlimit_resource_t resources[SPAWN_LIMIT_COUNT] = {
    [SPAWN_LIMIT_NOFILE] = RLIMIT_NOFILE, [SPAWN_LIMIT_CORE] = RLIMIT_CORE,
    [SPAWN_LIMIT_AS] = RLIMIT_AS,         [SPAWN_LIMIT_CPU] = RLIMIT_CPU,
    [SPAWN_LIMIT_FSIZE] = RLIMIT_FSIZE,   [SPAWN_LIMIT_NPROC] = RLIMIT_NPROC,
    [SPAWN_LIMIT_DATA] = RLIMIT_DATA,     [SPAWN_LIMIT_STACK] = RLIMIT_STACK,
};

static _Noreturn void fail(const struct child_setup *setup, enum spawn_step step, int error)
{
    setup->slot->error = error;
    setup->slot->step = step;
    _exit(127);
}

/* Soft and hard limit become the same: a job can't raise what its owner has set. */
static bool set_limits(const struct child_setup *setup)
{
    if (setrlimit(RLIMIT_NOFILE, &setup->nofile) < 0)
        return false;
    for (int i = 0; i < SPAWN_LIMIT_COUNT; i++) {
        if (!(setup->request->limits_set & (1u << i)))
            continue;
        struct rlimit limit = {setup->request->limits[i], setup->request->limits[i]};
        if (setrlimit(resources[i], &limit) < 0)
            return false;
    }
    return true;
}

/* Failure does no harm: the job is then as likely to be killed as the spawner. */
static void reset_oom(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t ignored = write(fd, "0", 1);
    (void)ignored;
    close(fd);
}

static bool switch_user(const struct user_ids *user)
{
    if (!user->must_switch)
        return true;
    return setgroups(user->group_count, user->groups) == 0 &&
           setresgid(user->gid, user->gid, user->gid) == 0 &&
           setresuid(user->uid, user->uid, user->uid) == 0;
}

static bool arrange_fds(const int fds[3])
{
    for (int i = 0; i < 3; i++)
        if (dup2(fds[i], i) < 0)
            return false;
    /* All that the spawner opens is close-on-exec; this is for what it may have inherited. */
    return syscall(SYS_close_range, 3u, ~0u, 0u) == 0 || errno == ENOSYS;
}

static const char *search_path(char *const *env)
{
    for (; *env; env++)
        if (strncmp(*env, "PATH=", 5) == 0)
            return *env + 5;
    return "/usr/bin:/bin";
}

/* As execvp, but with the job's own PATH and without handing a nameless script to a shell.
 * Returns errno. */
static int execute(char *const *argv, char *const *env)
{
    if (argv[0][0] == '\0')
        return ENOENT;
    if (strchr(argv[0], '/')) {
        execve(argv[0], argv, env);
        return errno;
    }
    size_t name_size = strlen(argv[0]) + 1;
    int error = ENOENT;
    const char *path = search_path(env);
    for (const char *at = path; at; at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
        char file[PATH_MAX];
        size_t length = strcspn(at, ":");
        if (length == 0 || length + 1 + name_size > sizeof(file))
            continue;
        memcpy(file, at, length);
        file[length] = '/';
        memcpy(file + length + 1, argv[0], name_size);
        execve(file, argv, env);
        if (errno == EACCES)
            error = EACCES; /* found, but unusable: say so unless a later one works */
        else if (errno != ENOENT && errno != ENOTDIR)
            return errno;
    }
    return error;
}

static _Noreturn void child_main(const struct child_setup *setup)
{
    const struct spawn_request *request = setup->request;
    if (setsid() < 0)
        fail(setup, SPAWN_STEP_SESSION, errno);
    if (setup->reset_oom)
        reset_oom();
    umask((mode_t)request->umask);
    if (!set_limits(setup))
        fail(setup, SPAWN_STEP_LIMITS, errno);
    if (request->nice && setpriority(PRIO_PROCESS, 0, request->nice) < 0)
        fail(setup, SPAWN_STEP_NICE, errno);
    if (!switch_user(setup->user))
        fail(setup, SPAWN_STEP_SWITCH, errno);
    if (chdir(request->cwd[0] ? request->cwd : "/") < 0)
        fail(setup, SPAWN_STEP_CWD, errno);
    if (!arrange_fds(setup->fds))
        fail(setup, SPAWN_STEP_FDS, errno);

    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL); /* dispositions are default in the spawner itself */
    if (request->deadline_boot_ms && clock_now().boot.ms >= request->deadline_boot_ms)
        fail(setup, SPAWN_STEP_DEADLINE, 0);
    fail(setup, SPAWN_STEP_EXEC, execute(request->argv, setup->env));
}

pid_t child_fork(const struct child_setup *setup)
{
    struct clone_args args = {.exit_signal = SIGCHLD};
    if (setup->cgroup_fd >= 0) {
        args.flags = CLONE_INTO_CGROUP;
        args.cgroup = (__u64)setup->cgroup_fd;
    }
    long pid = syscall(SYS_clone3, &args, sizeof(args));
    if (pid < 0 && errno == ENOSYS && setup->cgroup_fd < 0)
        pid = fork(); /* a filter of system calls that does not know clone3 */
    if (pid == 0)
        child_main(setup);
    return (pid_t)pid;
}
