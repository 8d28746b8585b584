#include "process/child.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "process/launch.h"
#include "process/raw.h"
#include "process/search.h"
#include "process/values.h"

#define MASK_BYTES     8 /* of a set of signals, as the kernel has it */
#define IOPRIO_PROCESS 1 /* IOPRIO_WHO_PROCESS, which C libraries do not have */

static const __rlimit_resource_t resources[SPAWN_LIMIT_COUNT] = {
    [SPAWN_LIMIT_NOFILE] = RLIMIT_NOFILE, [SPAWN_LIMIT_CORE] = RLIMIT_CORE,
    [SPAWN_LIMIT_AS] = RLIMIT_AS,         [SPAWN_LIMIT_CPU] = RLIMIT_CPU,
    [SPAWN_LIMIT_FSIZE] = RLIMIT_FSIZE,   [SPAWN_LIMIT_NPROC] = RLIMIT_NPROC,
    [SPAWN_LIMIT_DATA] = RLIMIT_DATA,     [SPAWN_LIMIT_STACK] = RLIMIT_STACK,
};

static _Noreturn void leave(void)
{
    for (;;)
        raw_call(SYS_exit_group, CHILD_FAILED, 0, 0, 0);
}

/* The slot is the run's only from its time on. */
static bool may_report(const struct child_setup *setup)
{
    uint32_t gate = GATE_SHUT;
    return !setup->gate || (!__atomic_compare_exchange_n(setup->gate, &gate, GATE_FAILED, false,
                                                         __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) &&
                            gate == GATE_OPEN);
}

static _Noreturn void fail(const struct child_setup *setup, enum spawn_step step, long error)
{
    if (may_report(setup)) {
        setup->slot->error = (int32_t)error;
        setup->slot->step = step;
    }
    leave();
}

/* Ends the process if the result of a step is an error. */
static void check(const struct child_setup *setup, enum spawn_step step, long result)
{
    if (result < 0)
        fail(setup, step, -result);
}

static long set_limit(int resource, uint64_t soft, uint64_t hard)
{
    const uint64_t limit[2] = {soft, hard}; /* as prlimit64 has it on every machine */
    return raw_call(SYS_prlimit64, 0, resource, (long)limit, 0);
}

/* At the soft limit of CPU time a process gets SIGXCPU, which names the cause of its end; at the
 * hard one, a second later, SIGKILL. If the spawner may have no more than that itself, both are
 * one. */
static long set_cpu_limit(uint64_t limit)
{
    uint64_t own[2];
    long result = raw_call(SYS_prlimit64, 0, RLIMIT_CPU, 0, (long)own);
    if (result < 0)
        return result;
    return set_limit(RLIMIT_CPU, limit, limit < own[1] ? limit + 1 : limit);
}

/* Soft and hard limit become the same: a job can't raise what its owner has set. */
static long set_limits(const struct child_setup *setup)
{
    long result = set_limit(RLIMIT_NOFILE, setup->nofile.rlim_cur, setup->nofile.rlim_max);
    for (int i = 0; i < SPAWN_LIMIT_COUNT && result >= 0; i++) {
        uint64_t limit = setup->request->limits[i];
        if (!(setup->request->limits_set & (1u << i)))
            continue;
        result = i == SPAWN_LIMIT_CPU ? set_cpu_limit(limit)
                                      : set_limit((int)resources[i], limit, limit);
    }
    return result;
}

/* Best effort: on failure the job keeps the spawner's OOM score. (Its files in /proc are root's
 * while it is not dumpable.) */
static void reset_oom(void)
{
    prctl(PR_SET_DUMPABLE, 1);
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t ignored = write(fd, "0", 1);
        (void)ignored;
        close(fd);
    }
    prctl(PR_SET_DUMPABLE, 0);
}

static long switch_user(const struct user_ids *user)
{
    bool done = setgroups(user->group_count, user->groups) == 0 &&
                setresgid(user->gid, user->gid, user->gid) == 0 &&
                setresuid(user->uid, user->uid, user->uid) == 0;
    return done ? 0 : -errno;
}

static long arrange_fds(const struct child_setup *setup)
{
    int rest = 3;
    for (int i = 0; i < 3; i++) {
        long result = raw_call(SYS_dup3, setup->fds[i], i, 0, 0);
        if (result < 0)
            return result;
    }
    if (setup->values_fd >= 0) {
        long result = raw_call(SYS_dup3, setup->values_fd, SPAWN_VALUES_FD, 0, 0);
        if (result < 0)
            return result;
        raw_call(SYS_close_range, rest, SPAWN_VALUES_FD - 1, 0, 0);
        rest = SPAWN_VALUES_FD + 1;
    }
    /* All that the spawner opens is close-on-exec; this is for what it may have inherited. Without
     * the call (see launches_init) that is close-on-exec, too. */
    raw_call(SYS_close_range, rest, INT_MAX, 0, 0);
    return 0;
}

static long execve_raw(const char *file, char *const *argv, char *const *env)
{
    return raw_call(SYS_execve, (long)file, (long)argv, (long)env, 0);
}

/* As execvp, but with the job's own PATH and without handing a nameless script to a shell.
 * Returns a negative errno. */
static long execute(char *const *argv, char *const *env)
{
    if (argv[0][0] == '\0')
        return -ENOENT;
    if (strchr(argv[0], '/'))
        return execve_raw(argv[0], argv, env);
    long error = -ENOENT;
    struct search search;
    search_begin(&search, argv[0], env);
    while (search_next(&search)) {
        long result = execve_raw(search.file, argv, env);
        if (result == -EACCES)
            error = result; /* found, but unusable: reported unless a later one works */
        else if (result != -ENOENT && result != -ENOTDIR)
            return result;
    }
    return error;
}

/* Leaves the spawner's descriptors to it, but for those up to its own, see launch.h: each that is
 * copied has to be closed again. */
static void part(const struct child_setup *setup)
{
    const int *fds = setup->fds;
    int last = fds[0] > fds[1] ? fds[0] : fds[1];
    last = last > fds[2] ? last : fds[2];
    check(setup, SPAWN_STEP_FDS,
          raw_call(SYS_close_range, last + 1, UINT_MAX, CLOSE_RANGE_UNSHARE, 0));
    __atomic_store_n(setup->is_apart, 1, __ATOMIC_RELEASE);
}

/* Comes back when the gate is open. Without a spawner, which opens it, the process ends: by the
 * signal, or because it sees that its parent is another one. */
static void wait_at_gate(const struct child_setup *setup)
{
    const struct timespec a_while = {.tv_sec = 1};
    int64_t deadline = setup->request->deadline_boot_ms;
    raw_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0);
    uint32_t gate;
    while ((gate = __atomic_load_n(setup->gate, __ATOMIC_ACQUIRE)) != GATE_OPEN) {
        if (gate == GATE_DROPPED || raw_call(SYS_getppid, 0, 0, 0, 0) != setup->parent)
            leave();
        if (deadline && clock_now().boot.ms >= deadline)
            fail(setup, SPAWN_STEP_DEADLINE, 0);
        raw_call(SYS_futex, (long)setup->gate, FUTEX_WAIT, GATE_SHUT, (long)&a_while);
    }
    raw_call(SYS_prctl, PR_SET_PDEATHSIG, 0, 0, 0);
}

void child_main(const void *argument)
{
    const struct child_setup *setup = argument;
    const struct spawn_request *request = setup->request;
    if (setup->is_apart)
        part(setup);
    /* Soon: it may have the ends of others' pipes, too. */
    check(setup, SPAWN_STEP_FDS, arrange_fds(setup));
    check(setup, SPAWN_STEP_SESSION, raw_call(SYS_setsid, 0, 0, 0, 0));
    if (setup->reset_oom) /* in memory of its own, see launch.h */
        reset_oom();
    raw_call(SYS_umask, (long)request->umask, 0, 0, 0);
    if (setup->user->must_switch) /* in memory of its own, see launch.h */
        check(setup, SPAWN_STEP_SWITCH, switch_user(setup->user));
    /* After the switch: the kernel then checks the limits against the user's own rights. */
    check(setup, SPAWN_STEP_LIMITS, set_limits(setup));
    if (request->nice)
        check(setup, SPAWN_STEP_NICE, raw_call(SYS_setpriority, PRIO_PROCESS, 0, request->nice, 0));
    if (request->share.ioprio)
        check(setup, SPAWN_STEP_IONICE,
              raw_call(SYS_ioprio_set, IOPRIO_PROCESS, 0, request->share.ioprio, 0));
    const char *cwd = request->cwd[0] ? request->cwd : "/";
    check(setup, SPAWN_STEP_CWD, raw_call(SYS_chdir, (long)cwd, 0, 0, 0));
    const uint64_t none = 0; /* dispositions are default in the spawner itself */
    raw_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&none, 0, MASK_BYTES);
    if (setup->values_fd >= 0)
        values_complete(setup->env[0], raw_call(SYS_getpid, 0, 0, 0, 0));
    if (setup->gate)
        wait_at_gate(setup);
    if (request->deadline_boot_ms && clock_now().boot.ms >= request->deadline_boot_ms)
        fail(setup, SPAWN_STEP_DEADLINE, 0);
    check(setup, SPAWN_STEP_EXEC, execute(request->argv, setup->env));
    fail(setup, SPAWN_STEP_EXEC, 0); /* an exec that worked does not come back */
}
