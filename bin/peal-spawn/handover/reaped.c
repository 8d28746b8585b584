#include "handover/reaped.h"

#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "process/child.h"

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
    memset(reaped->ends, 0, REAPED_COUNT * sizeof(*reaped->ends));
    reaped->next = 0;
}
