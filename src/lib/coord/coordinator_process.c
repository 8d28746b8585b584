/* What a process with coordinators does to them.
 *
 * exit(): its handlers free what the loop's thread uses (TLS), so that thread is ended first.
 * Nothing is released: other threads may be at what a lock guards until the process is gone.
 *
 * fork(): the child has the descriptors of the parent's locks, which are held as long as one of
 * them is open, also when the parent was killed. So the child closes its own. It finds them by
 * their paths, since the thread that opens them may be anywhere when the process forks. */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "coordinator_internal.h"

static pthread_mutex_t live_lock = PTHREAD_MUTEX_INITIALIZER;
static TAILQ_HEAD(coordinator_list, coordinator) live = TAILQ_HEAD_INITIALIZER(live);
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ---- fork: only calls that are safe in the child of a process with threads ---- */

struct entry { /* of the kernel: getdents64 */
    uint64_t inode;
    int64_t next;
    unsigned short size;
    unsigned char kind;
    char name[];
};

static bool is_lock(const char *path)
{
    const struct coordinator *coordinator;
    size_t length = strlen(path);
    if (length < 6 || strcmp(path + length - 6, "~queue") != 0)
        return false;
    TAILQ_FOREACH (coordinator, &live, live) {
        const char *folder = coordinator->folder;
        size_t prefix = folder ? strlen(folder) : 0;
        if (prefix && strncmp(path, folder, prefix) == 0 && path[prefix] == '/')
            return true;
    }
    return false;
}

static void close_lock(int folder, const char *name, int but)
{
    char path[PATH_MAX];
    int fd = 0;
    for (const char *c = name; *c; c++) {
        if (*c < '0' || *c > '9')
            return;
        fd = fd * 10 + (*c - '0');
    }
    ssize_t length = readlinkat(folder, name, path, sizeof(path) - 1);
    if (length <= 0 || fd == but)
        return;
    path[length] = '\0';
    if (is_lock(path))
        close(fd);
}

static void close_locks(void)
{
    _Alignas(struct entry) char buffer[4096];
    int folder = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return;
    for (long size; (size = syscall(SYS_getdents64, folder, buffer, sizeof(buffer))) > 0;) {
        for (long at = 0; at < size;) {
            const struct entry *entry = (const struct entry *)(buffer + at);
            close_lock(folder, entry->name, folder);
            at += entry->size;
        }
    }
    close(folder);
}

static bool has_locks(void)
{
    const struct coordinator *coordinator;
    TAILQ_FOREACH (coordinator, &live, live) {
        if (coordinator->folder)
            return true;
    }
    return false;
}

static void before_fork(void)
{
    pthread_mutex_lock(&live_lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&live_lock);
}

static void in_child(void)
{
    if (has_locks())
        close_locks();
    TAILQ_INIT(&live); /* they are the parent's */
    pthread_mutex_unlock(&live_lock);
}

/* ---- exit ---- */

/* Ends its threads, except for one that is in a callback of the program. */
static void end_threads(struct coordinator *coordinator)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec++; /* it never takes that long, and must not keep the process */
    pthread_mutex_lock(&coordinator->lock);
    coordinator->is_exiting = !coordinator->is_closing;
    pthread_cond_broadcast(&coordinator->changed);
    coordinator_ask(coordinator);
    while (!coordinator->is_over &&
           pthread_cond_timedwait(&coordinator->changed, &coordinator->lock, &at) == 0) {
    }
    bool is_ours = !coordinator->is_closing; /* else another thread waits for them */
    bool is_over = is_ours && coordinator->is_over;
    bool is_idle =
        is_ours && coordinator->has_caller && !coordinator->calling && !is_caller(coordinator);
    pthread_mutex_unlock(&coordinator->lock);
    if (is_over)
        pthread_join(coordinator->thread, NULL);
    if (is_idle)
        pthread_join(coordinator->caller, NULL);
}

/* It may be called several times. */
static void on_exit_of_process(void)
{
    struct coordinator *coordinator;
    pthread_mutex_lock(&live_lock);
    TAILQ_FOREACH (coordinator, &live, live) {
        if (!coordinator->is_exiting)
            end_threads(coordinator);
    }
    pthread_mutex_unlock(&live_lock);
}

/* ---- both ---- */

static void install(void)
{
    pthread_atfork(before_fork, after_fork, in_child);
}

void process_enter(struct coordinator *coordinator)
{
    pthread_once(&once, install);
    atexit(on_exit_of_process); /* each time: to come before the handlers of what it has opened */
    coordinator->folder = store_url_is_keys(coordinator->config.store.url)
                              ? NULL
                              : realpath(coordinator->config.folder, NULL);
    pthread_mutex_lock(&live_lock);
    TAILQ_INSERT_TAIL(&live, coordinator, live);
    pthread_mutex_unlock(&live_lock);
}

void process_leave(struct coordinator *coordinator)
{
    pthread_mutex_lock(&live_lock);
    TAILQ_REMOVE(&live, coordinator, live);
    pthread_mutex_unlock(&live_lock);
}
