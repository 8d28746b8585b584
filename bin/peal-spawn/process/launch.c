#include "process/launch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "process/raw.h"
#include "serve/low_fds.h"

#define STACK_BYTES 32768 /* mostly for a path of 4 KiB */
#define TEXT_BYTES  28672
#define MANY_SHARE  20   /* the table: then they get the processor first ... */
#define YIELDS      8    /* ... so often at most */
#define TRIM_MS     2000 /* after the last burst */
#define ALL         (LAUNCH_COUNT + LAUNCH_HELD)

struct launch {
    char stack[STACK_BYTES];
    uint32_t is_borrowed; /* set here, cleared by the kernel at exec or exit */
    uint32_t is_apart;    /* set by the process */
    uint32_t gate;        /* enum child_gate */
    uint32_t is_held;     /* by the caller of launch_held, who opens the gate */
    struct child_setup setup;
    struct spawn_request request;
    struct user_ids user;
    size_t used;
    _Alignas(16) char text[TEXT_BYTES];
};

/* The exec of a run closes what the spawner may have inherited. */
static void close_inherited_on_exec(void)
{
    DIR *folder = opendir("/proc/self/fd");
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        int fd = atoi(entry->d_name);
        if (fd > STDERR_FILENO)
            fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    if (folder)
        closedir(folder);
}

void launches_init(struct launches *launches, int null_fd)
{
    *launches = (struct launches){.null_fd = null_fd, .pid = getpid()};
    if (syscall(SYS_close_range, UINT_MAX, UINT_MAX, CLOSE_RANGE_UNSHARE) < 0) {
        close_inherited_on_exec(); /* before Linux 5.9, or a seccomp filter refuses it */
        return;
    }
    launches->may_share = true;
}

void launches_settle(struct launches *launches)
{
    int left = 0;
    for (int i = 0; i < launches->shared_count; i++) {
        const struct shared_ends *ends = &launches->shared[i];
        const struct launch *launch = ends->user;
        if (!__atomic_load_n(&launch->is_apart, __ATOMIC_ACQUIRE) &&
            __atomic_load_n(&launch->is_borrowed, __ATOMIC_ACQUIRE)) {
            launches->shared[left++] = *ends;
            continue;
        }
        close(ends->fds[0]);
        if (ends->fds[1] >= 0)
            close(ends->fds[1]);
    }
    launches->shared_count = left;
}

/* A launch among those from `from` on; NULL: all are in use. */
static struct launch *find_free(struct launches *launches, int from, int to)
{
    for (int i = from; i < to; i++) {
        struct launch **launch = &launches->all[i];
        if (!*launch) {
            void *memory = mmap(NULL, sizeof(**launch), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            *launch = memory != MAP_FAILED ? memory : NULL;
            return *launch;
        }
        if (!(*launch)->is_held && !__atomic_load_n(&(*launch)->is_borrowed, __ATOMIC_ACQUIRE))
            return *launch;
    }
    return NULL;
}

/* They are taken from the first on, and mostly let go together: the next one is behind as many as
 * are held. A look at each of those would cost more than the process. */
static struct launch *find_free_to_hold(struct launches *launches)
{
    int likely = LAUNCH_COUNT + (int)launches->held;
    struct launch *launch = find_free(launches, likely, ALL);
    return launch ? launch : find_free(launches, LAUNCH_COUNT, likely);
}

/* May the process share the table of descriptors until its first call? When there are too many of
 * them, they get the processor first. An input of its own, or a file for values, is closed by its
 * owner right after the launch, perhaps before the process has parted with the table. */
static bool may_share(struct launches *launches, const struct child_setup *setup)
{
    const int *fds = setup->fds;
    if (!launches->may_share || fds[0] != launches->null_fd || fds[0] >= LOW_FDS ||
        fds[1] >= LOW_FDS || fds[2] >= LOW_FDS || setup->values_fd >= 0)
        return false;
    launches_settle(launches);
    for (int i = 0; launches->shared_count >= MANY_SHARE && i < YIELDS; i++) {
        sched_yield();
        launches_settle(launches);
    }
    return launches->shared_count < LAUNCH_APART;
}

/* The ends of its pipes, which it shares with the spawner, are closed when it is apart. */
static void share(struct launches *launches, struct launch *launch, struct child_setup *setup)
{
    int *fds = setup->fds;
    launches->shared[launches->shared_count++] =
        (struct shared_ends){launch, {fds[1], fds[2] != fds[1] ? fds[2] : -1}};
    fds[1] = fds[2] = -1;
}

void launches_release(struct launches *launches)
{
    for (int i = 0; i < ALL; i++) {
        struct launch *launch = launches->all[i];
        if (launch && !__atomic_load_n(&launch->is_borrowed, __ATOMIC_ACQUIRE))
            munmap(launch, sizeof(*launch));
        launches->all[i] = NULL;
    }
}

void launches_trim(struct launches *launches, int64_t now_boot_ms)
{
    if (!launches->trim_at_boot_ms || now_boot_ms < launches->trim_at_boot_ms)
        return;
    launches->trim_at_boot_ms = launches->held ? now_boot_ms + TRIM_MS : 0;
    for (int i = LAUNCH_COUNT + LAUNCH_KEPT; !launches->held && i < ALL; i++) {
        struct launch *launch = launches->all[i];
        if (!launch || __atomic_load_n(&launch->is_borrowed, __ATOMIC_ACQUIRE))
            continue;
        munmap(launch, sizeof(*launch));
        launches->all[i] = NULL;
    }
}

/* NULL: the launch is full. */
static void *add(struct launch *launch, const void *bytes, size_t length)
{
    size_t aligned = (length + 7) & ~(size_t)7;
    if (length > TEXT_BYTES || aligned > TEXT_BYTES - launch->used)
        return NULL;
    void *to = launch->text + launch->used;
    if (length)
        memcpy(to, bytes, length);
    launch->used += aligned;
    return to;
}

static char **add_strings(struct launch *launch, char *const *strings)
{
    size_t count = 0;
    while (strings[count])
        count++;
    char **copy = add(launch, strings, (count + 1) * sizeof(*copy));
    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = add(launch, strings[i], strlen(strings[i]) + 1);
        if (!copy[i])
            return NULL;
    }
    return copy;
}

/* Copies all that a new process reads. */
static bool fill(struct launch *launch, const struct child_setup *setup)
{
    launch->used = 0;
    launch->user = (struct user_ids){0}; /* none to switch to */
    launch->request = *setup->request;
    launch->request.id = launch->request.user = NULL;
    launch->request.cwd = add(launch, setup->request->cwd, strlen(setup->request->cwd) + 1);
    launch->request.argv = add_strings(launch, setup->request->argv);
    launch->setup = *setup;
    launch->setup.request = &launch->request;
    launch->setup.user = &launch->user;
    launch->setup.env = add_strings(launch, setup->env);
    return launch->request.cwd && launch->request.argv && launch->setup.env;
}

/* The pid, or -1. */
static pid_t borrow(struct launches *launches, struct launch *launch, struct child_setup *setup,
                    const struct clone_args *args)
{
    bool is_shared = may_share(launches, setup);
    struct clone_args borrowing = *args;
    borrowing.flags |= CLONE_VM | CLONE_CHILD_CLEARTID;
    borrowing.child_tid = (uintptr_t)&launch->is_borrowed;
    borrowing.stack = (uintptr_t)launch->stack;
    borrowing.stack_size = sizeof(launch->stack);
    launch->is_apart = 0;
    if (is_shared) {
        borrowing.flags |= CLONE_FILES;
        launch->setup.is_apart = &launch->is_apart;
    }
    launch->is_borrowed = 1;
    long pid = raw_clone(&borrowing, child_main, &launch->setup);
    if (pid > 0 && is_shared)
        share(launches, launch, setup);
    if (pid > 0)
        return (pid_t)pid;
    launch->is_borrowed = 0;
    return -1;
}

/* May it share the memory? When the OOM killer ends a process, it ends all that share its memory;
 * one with a limit of its own could come to that before its exec. */
static bool may_borrow(const struct child_setup *setup)
{
    return !setup->user->must_switch && !setup->reset_oom && !setup->is_limited;
}

static struct clone_args clone_args_of(const struct child_setup *setup)
{
    struct clone_args args = {.exit_signal = SIGCHLD};
    if (setup->cgroup_fd >= 0) {
        args.flags = CLONE_INTO_CGROUP;
        args.cgroup = (__u64)setup->cgroup_fd;
    }
    return args;
}

pid_t launch_process(struct launches *launches, struct child_setup *setup)
{
    struct clone_args args = clone_args_of(setup);
    struct launch *launch = may_borrow(setup) ? find_free(launches, 0, LAUNCH_COUNT) : NULL;
    long pid = launch && fill(launch, setup) ? borrow(launches, launch, setup, &args) : -1;
    if (pid < 0)
        pid = syscall(SYS_clone3, &args, sizeof(args));
    if (pid < 0 && errno == ENOSYS && setup->cgroup_fd < 0)
        pid = fork(); /* a seccomp filter that refuses clone3 */
    if (pid == 0)
        child_main(setup);
    return (pid_t)pid;
}

/* ---- gates ---- */

pid_t launch_held(struct launches *launches, struct child_setup *setup, struct launch **ret)
{
    struct clone_args args = clone_args_of(setup);
    struct launch *launch = may_borrow(setup) ? find_free_to_hold(launches) : NULL;
    if (!launch || !fill(launch, setup))
        return -1;
    launch->gate = GATE_SHUT;
    launch->setup.gate = &launch->gate;
    launch->setup.parent = launches->pid;
    pid_t pid = borrow(launches, launch, setup, &args);
    if (pid < 0)
        return -1;
    launch->is_held = 1;
    launches->held++;
    if (launches->held > LAUNCH_KEPT && !launches->trim_at_boot_ms)
        launches->trim_at_boot_ms = clock_now().boot.ms + TRIM_MS;
    *ret = launch;
    return pid;
}

/* False: the process had failed before. */
static bool set_gate(struct launches *launches, struct launch *launch, enum child_gate gate)
{
    uint32_t shut = GATE_SHUT;
    launches->held -= launch->is_held;
    launch->is_held = 0;
    if (!__atomic_compare_exchange_n(&launch->gate, &shut, gate, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        return false;
    syscall(SYS_futex, &launch->gate, FUTEX_WAKE, 1, NULL, NULL, 0);
    return true;
}

bool launch_open(struct launches *launches, struct launch *launch)
{
    return set_gate(launches, launch, GATE_OPEN);
}

void launch_drop(struct launches *launches, struct launch *launch)
{
    set_gate(launches, launch, GATE_DROPPED);
}
