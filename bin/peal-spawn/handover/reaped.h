/* The ends of processes, as the kernel has told them to the spawner.
 *
 * Who waits for a process takes its end away from everybody else. A spawner that is killed after
 * the wait, and before it has written the journal, would leave a run whose end nobody can know any
 * more. So the kernel writes the end, within the very call that takes it, to memory that outlives
 * the spawner (handover.h): a killed process does not leave a system call half done.
 *
 * The next spawner looks there for runs whose process is gone (recover.c), and clears it when it
 * has written the journal. The last REAPED_COUNT ends are there, which is more than the journal
 * gathers before it writes. Without a guard, or if it is killed as well, such ends are unknown. */
#ifndef PEAL_SPAWNER_REAPED_H
#define PEAL_SPAWNER_REAPED_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#define REAPED_COUNT 512

struct reaped_end {
    siginfo_t info; /* by the kernel; si_pid 0: nothing is here */
    struct rusage usage;
    int64_t ended_boot_ms; /* 0: the spawner was killed before it wrote this and what follows */
    int64_t ended_wall_ms;
    uint32_t step; /* enum spawn_step, at which it has failed before its exec */
    int32_t error;
};

struct reaped {
    struct reaped_end *ends; /* REAPED_COUNT of them, a ring; borrowed */
    uint32_t next;
};

/* Waits for any child, without blocking; NULL: none has ended. What is behind `usage` is the
 * caller's to fill, ended_boot_ms last. */
struct reaped_end *reaped_next(struct reaped *reaped);

/* The end of the process with this pid that was started at about this time; false: not there, or
 * not known well enough. */
bool reaped_find(const struct reaped *reaped, pid_t pid, int64_t started_boot_ms,
                 struct reaped_end *ret);

/* All that it has to say is in the journal. */
void reaped_clear(struct reaped *reaped);

#endif
