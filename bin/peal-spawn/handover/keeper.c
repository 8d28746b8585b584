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
#include "serve/low_fds.h"
#include "serve/masking.h"
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
    char id[SPAWN_ID_MAX + 1];
    if (fd == s->lock_fd || fd == s->handover.fd || is_kept(fd, &inode) || masking_is_at(fd, id))
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
        keeper->own_fd = high_fd((int)syscall(SYS_pidfd_open, getpid(), 0));
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
    keeper->watch = (struct watch){.fd = high_fd(pidfd), .ready = has_ended};
    if (spawner_watch(s, &keeper->watch, EPOLLIN) != OK) { /* then there is no second one */
        close(keeper->watch.fd);
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

/* One more item, zeroed, behind those of *list. NULL: out of memory. */
static void *add_item(void **list, size_t *count, size_t size)
{
    char *grown = realloc(*list, (*count + 1) * size);
    if (!grown)
        return NULL;
    *list = grown;
    return memset(grown + (*count)++ * size, 0, size);
}

static bool keep_pipe(struct kept *kept, int fd, uint64_t inode)
{
    struct kept_pipe *pipe = add_item((void **)&kept->pipes, &kept->pipe_count, sizeof(*pipe));
    if (pipe)
        *pipe = (struct kept_pipe){inode, fd};
    return pipe;
}

static bool keep_masks(struct kept *kept, int fd, const char *id)
{
    struct kept_masks *masks = add_item((void **)&kept->masks, &kept->mask_count, sizeof(*masks));
    if (masks) {
        memcpy(masks->id, id, sizeof(masks->id));
        masks->fd = fd;
    }
    return masks;
}

static void take_over(int fd, void *context)
{
    struct kept *kept = context;
    uint64_t inode;
    char id[SPAWN_ID_MAX + 1];
    bool is_there = true;
    if (is_kept(fd, &inode))
        is_there = keep_pipe(kept, fd, inode);
    else if (masking_is_at(fd, id))
        is_there = keep_masks(kept, fd, id);
    else
        return;
    if (is_there) {
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        return;
    }
    kept->are_all = false;
    close(fd);
}

static int compare_pipes(const void *a, const void *b)
{
    const struct kept_pipe *one = a, *other = b;
    return one->inode < other->inode ? -1 : one->inode > other->inode;
}

static int compare_masks(const void *a, const void *b)
{
    const struct kept_masks *one = a, *other = b;
    return strcmp(one->id, other->id);
}

void kept_open(struct kept *kept)
{
    *kept = (struct kept){0};
    if (!getenv(VARIABLE))
        return;
    unsetenv(VARIABLE);
    kept->are_all = true;
    kept->are_all = for_each_fd(take_over, kept) && kept->are_all;
    if (kept->pipe_count)
        qsort(kept->pipes, kept->pipe_count, sizeof(*kept->pipes), compare_pipes);
    if (kept->mask_count)
        qsort(kept->masks, kept->mask_count, sizeof(*kept->masks), compare_masks);
}

static int take_fd(int *place)
{
    int fd = place ? *place : -1;
    if (place)
        *place = -1;
    return fd;
}

int kept_take_pipe(struct kept *kept, uint64_t inode)
{
    struct kept_pipe key = {.inode = inode};
    struct kept_pipe *found =
        kept->pipe_count ? bsearch(&key, kept->pipes, kept->pipe_count, sizeof(key), compare_pipes)
                         : NULL;
    return take_fd(found ? &found->fd : NULL);
}

int kept_take_masks(struct kept *kept, const char *id)
{
    struct kept_masks key = {.fd = -1};
    memcpy(key.id, id, strnlen(id, SPAWN_ID_MAX));
    struct kept_masks *found =
        kept->mask_count ? bsearch(&key, kept->masks, kept->mask_count, sizeof(key), compare_masks)
                         : NULL;
    return take_fd(found ? &found->fd : NULL);
}

void kept_release(struct kept *kept)
{
    for (size_t i = 0; i < kept->pipe_count; i++)
        if (kept->pipes[i].fd >= 0)
            close(kept->pipes[i].fd);
    for (size_t i = 0; i < kept->mask_count; i++)
        if (kept->masks[i].fd >= 0)
            close(kept->masks[i].fd);
    free(kept->pipes);
    free(kept->masks);
    *kept = (struct kept){0};
}
