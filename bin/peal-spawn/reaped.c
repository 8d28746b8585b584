#include "reaped.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "process/child.h"

#define VARIABLE "PEAL_SPAWN_REAPED"
#define BYTES    (REAPED_COUNT * sizeof(struct reaped_end))
#define SEALS    (F_SEAL_SHRINK | F_SEAL_GROW) /* what is beyond the end can't be touched */

/* -1 and errno. */
static int make(void)
{
    int fd = memfd_create("peal-reaped", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0 && ftruncate(fd, (off_t)BYTES) == 0 && fcntl(fd, F_ADD_SEALS, SEALS) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

void reaped_provide(void)
{
    char number[16];
    int fd = make();
    unsetenv(VARIABLE);
    if (fd < 0)
        return;
    snprintf(number, sizeof(number), "%d", fd);
    fcntl(fd, F_SETFD, 0);
    setenv(VARIABLE, number, 1);
}

/* The memory that this process has inherited, or -1. */
static int inherited(void)
{
    struct stat st;
    const char *number = getenv(VARIABLE);
    int fd = number ? atoi(number) : -1;
    bool is_it = fd > STDERR_FILENO && fstat(fd, &st) == 0 && st.st_size == (off_t)BYTES &&
                 (fcntl(fd, F_GET_SEALS) & SEALS) == SEALS;
    return is_it && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 ? fd : -1;
}

bool reaped_open(struct reaped *reaped)
{
    int fd = inherited();
    *reaped = (struct reaped){.fd = fd >= 0 ? fd : make()};
    if (reaped->fd < 0)
        return false;
    void *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, reaped->fd, 0);
    reaped->ends = memory != MAP_FAILED ? memory : NULL;
    return reaped->ends;
}

void reaped_close(struct reaped *reaped)
{
    if (reaped->ends)
        munmap(reaped->ends, BYTES);
    if (reaped->fd >= 0)
        close(reaped->fd);
    *reaped = (struct reaped){.fd = -1};
}

/* The memory is touched right before the call: it would be too late to find that it is not there.
 */
struct reaped_end *reaped_next(struct reaped *reaped)
{
    struct reaped_end *end = &reaped->ends[reaped->next];
    memset(end, 0, sizeof(*end));
    if (syscall(SYS_waitid, P_ALL, 0, &end->info, WEXITED | WNOHANG, &end->usage) < 0 ||
        end->info.si_pid == 0)
        return NULL;
    reaped->next = (reaped->next + 1) % REAPED_COUNT;
    return end;
}

/* Without what the spawner adds, a process that has failed before its exec looks like one that has
 * run. */
static bool is_sure(const struct reaped_end *end)
{
    return end->ended_boot_ms || end->info.si_code != CLD_EXITED ||
           end->info.si_status != CHILD_FAILED;
}

bool reaped_find(const struct reaped *reaped, pid_t pid, int64_t started_boot_ms,
                 struct reaped_end *ret)
{
    const struct reaped_end *last = NULL;
    for (size_t i = 0; i < REAPED_COUNT; i++) {
        const struct reaped_end *end = &reaped->ends[i];
        if (end->info.si_pid != pid || (end->ended_boot_ms && end->ended_boot_ms < started_boot_ms))
            continue; /* or one before it with the same pid */
        if (!last || !end->ended_boot_ms || end->ended_boot_ms > last->ended_boot_ms)
            last = end;
    }
    if (!last || !is_sure(last))
        return false;
    *ret = *last;
    if (!ret->ended_boot_ms) { /* a moment ago */
        ret->ended_boot_ms = clock_now().boot.ms;
        ret->ended_wall_ms = clock_now().wall.ms;
    }
    return true;
}

void reaped_clear(struct reaped *reaped)
{
    memset(reaped->ends, 0, BYTES);
    reaped->next = 0;
}
