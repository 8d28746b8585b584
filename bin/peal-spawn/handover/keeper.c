#include "handover/keeper.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "handover/handover.h"
#include "spawner.h"

#define NAME          "peal-keeper"
#define VARIABLE      "PEAL_SPAWN_PIPES"
#define SHORT_LIFE_MS 1000

/* ---- descriptors ---- */

/* The reading end of a pipe. */
static bool is_kept(int fd, uint64_t *ret_inode)
{
    struct stat st;
    if (fd <= STDERR_FILENO || fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode) ||
        (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY)
        return false;
    *ret_inode = st.st_ino;
    return true;
}

/* Calls it for each open descriptor but the first three; it may close it. False, and errno: not for
 * all of them. */
static bool for_each_fd(void (*look)(int fd, void *context), void *context)
{
    DIR *folder = opendir("/proc/self/fd");
    if (!folder)
        return false;
    errno = 0;
    for (const struct dirent *entry; (entry = readdir(folder));) {
        int fd = atoi(entry->d_name);
        if (fd > STDERR_FILENO && fd != dirfd(folder))
            look(fd, context);
        errno = 0;
    }
    bool done = errno == 0;
    closedir(folder);
    return done;
}

/* ---- the process ---- */

/* So that nobody takes it for the spawner. */
static void change_name(char *name)
{
    prctl(PR_SET_NAME, NAME);
    size_t length = strlen(name);
    if (length < strlen(NAME))
        return;
    memset(name, 0, length);
    snprintf(name, length + 1, "%s", NAME);
}

static void pass_on(int fd, void *context)
{
    const struct spawner *s = context;
    uint64_t inode;
    if (fd == s->lock_fd || fd == s->handover.fd || is_kept(fd, &inode))
        fcntl(fd, F_SETFD, 0);
    else
        close(fd);
}

/* The agent sees only now that the spawner is gone. A process on its way to its exec may still have
 * the table, too (launch.h). False: some could not be looked at. */
static bool let_go_of_the_rest(struct spawner *s)
{
    if (unshare(CLONE_FILES) < 0)
        return false;
    close(s->keeper.own_fd); /* room for the folder, if the table is full */
    return for_each_fd(pass_on, s);
}

static void wait_for_call(const struct handover_memory *memory)
{
    const struct timespec a_while = {.tv_sec = 1};
    int32_t heir;
    while ((heir = __atomic_load_n(&memory->heir, __ATOMIC_ACQUIRE)) != getpid())
        syscall(SYS_futex, &memory->heir, FUTEX_WAIT, heir, &a_while, NULL, 0);
}

static _Noreturn void become_spawner(const struct spawner *s)
{
    char lock[16];
    struct words words;
    spawner_words(&words, s->self_path, &s->options);
    snprintf(lock, sizeof(lock), "%d", s->lock_fd);
    words_add(&words, "--lock");
    words_add(&words, lock);
    setenv(VARIABLE, "1", 1);
    prctl(PR_SET_PDEATHSIG, 0);
    execv(s->self_path, words.argv);
    serve_log("event=start_failed file=\"%s\" error=\"%s\"", s->self_path, strerror(errno));
    _exit(1);
}

/* Its memory is a copy of the spawner's, as that was when it started. */
static _Noreturn void keep(struct spawner *s)
{
    const struct handover_memory *memory = s->handover.memory;
    struct pollfd spawner = {.fd = s->keeper.own_fd, .events = POLLIN};
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* the guard's, which is its parent */
    if (getppid() != memory->guard)
        _exit(0);
    change_name(s->name);
    while (poll(&spawner, 1, -1) != 1)
        ;
    if (!let_go_of_the_rest(s)) /* the guard starts the next spawner without it */
        _exit(1);
    wait_for_call(memory);
    become_spawner(s);
}

/* ---- the spawner's side ---- */

static void has_ended(void *context, struct watch *watch, uint32_t events)
{
    struct spawner *s = context;
    (void)events;
    spawner_unwatch(s, watch);
    if (clock_now().boot.ms - s->keeper.started_boot_ms >= SHORT_LIFE_MS)
        keeper_start(s);
}

void keeper_start(struct spawner *s)
{
    struct keeper *keeper = &s->keeper;
    struct handover_memory *memory = s->handover.memory;
    int pidfd = -1;
    if (!memory->guard || getppid() != memory->guard)
        return;
    if (keeper->own_fd < 0)
        keeper->own_fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (keeper->own_fd < 0)
        return;
    struct clone_args args = {
        .flags = CLONE_FILES | CLONE_PARENT | CLONE_PARENT_SETTID | CLONE_PIDFD,
        .pidfd = (uintptr_t)&pidfd,
        .parent_tid = (uintptr_t)&memory->keeper,
    };
    long pid = syscall(SYS_clone3, &args, sizeof(args));
    if (pid == 0)
        keep(s);
    if (pid < 0)
        return;
    keeper->started_boot_ms = clock_now().boot.ms;
    keeper->watch = (struct watch){.fd = pidfd, .ready = has_ended};
    if (spawner_watch(s, &keeper->watch, EPOLLIN) != OK) { /* then there is no second one */
        close(pidfd);
        keeper->watch.fd = -1;
    }
}

void keeper_end(struct spawner *s)
{
    if (s->keeper.watch.fd < 0)
        return;
    syscall(SYS_pidfd_send_signal, s->keeper.watch.fd, SIGKILL, NULL, 0);
    spawner_unwatch(s, &s->keeper.watch);
}

/* ---- the guard's side ---- */

int32_t keeper_call(struct handover_memory *memory)
{
    siginfo_t info = {0};
    pid_t keeper = memory ? memory->keeper : 0;
    if (keeper <= 0 || waitid(P_PID, (id_t)keeper, &info, WEXITED | WNOHANG | WNOWAIT) < 0 ||
        info.si_pid)
        return 0;
    memory->keeper = 0;
    __atomic_store_n(&memory->heir, keeper, __ATOMIC_RELEASE);
    syscall(SYS_futex, &memory->heir, FUTEX_WAKE, 1, NULL, NULL, 0);
    return keeper;
}

/* ---- what was kept ---- */

static void take_over(int fd, void *context)
{
    struct kept_pipes *kept = context;
    uint64_t inode;
    if (!is_kept(fd, &inode))
        return;
    struct kept_pipe *all = realloc(kept->all, (kept->count + 1) * sizeof(*all));
    if (!all) {
        kept->are_all = false;
        close(fd);
        return;
    }
    kept->all = all;
    kept->all[kept->count++] = (struct kept_pipe){inode, fd};
    fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static int compare(const void *a, const void *b)
{
    const struct kept_pipe *one = a, *other = b;
    return one->inode < other->inode ? -1 : one->inode > other->inode;
}

void kept_pipes_open(struct kept_pipes *kept)
{
    *kept = (struct kept_pipes){0};
    if (!getenv(VARIABLE))
        return;
    unsetenv(VARIABLE);
    kept->are_all = true;
    kept->are_all = for_each_fd(take_over, kept) && kept->are_all;
    if (kept->count)
        qsort(kept->all, kept->count, sizeof(*kept->all), compare);
}

int kept_pipes_take(struct kept_pipes *kept, uint64_t inode)
{
    struct kept_pipe key = {.inode = inode};
    struct kept_pipe *found =
        kept->count ? bsearch(&key, kept->all, kept->count, sizeof(key), compare) : NULL;
    int fd = found ? found->fd : -1;
    if (found)
        found->fd = -1;
    return fd;
}

void kept_pipes_release(struct kept_pipes *kept)
{
    for (size_t i = 0; i < kept->count; i++)
        if (kept->all[i].fd >= 0)
            close(kept->all[i].fd);
    free(kept->all);
    *kept = (struct kept_pipes){0};
}
