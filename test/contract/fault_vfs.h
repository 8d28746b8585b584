/* A layer under SQLite that fails on demand. It notes flushes and does not pass them on: what it
 * stands in for is the end of a process, not of the machine, and tests need not wait for the disk.
 */
#ifndef PEAL_FAULT_VFS_H
#define PEAL_FAULT_VFS_H

#include <stdbool.h>

enum fault {
    FAULT_WRITE,       /* a write fails, nothing is written */
    FAULT_SHORT_WRITE, /* half is written */
    FAULT_FULL,        /* the disk is full */
    FAULT_SYNC,        /* a flush fails, though all may have been written */
    FAULTS,
};

/* Makes it SQLite's default, for this process. */
void fault_vfs_install(void);

/* The n-th call (from 1) that the fault is about fails, and all later ones too if it `stays`.
 * n 0: none does. */
void fault_vfs_plan(enum fault fault, int n, bool stays);

/* How many calls the plan has seen, and how many it has let fail. */
int fault_vfs_seen(void);
int fault_vfs_failed(void);

/* Whether a write-ahead log has been written to since it was last flushed. */
bool fault_vfs_log_is_dirty(void);

#endif
