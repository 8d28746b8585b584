/* System calls for a process that shares its memory with another one which goes on running: the C
 * library's own would write to an errno that belongs to both. */
#ifndef PEAL_SPAWNER_RAW_H
#define PEAL_SPAWNER_RAW_H

#include <linux/sched.h>

/* What the system call returns: below zero a negative errno. */
long raw_call(long number, long a, long b, long c, long d);

/* Runs in the new process; must not return. */
typedef void raw_main(const void *argument);

/* clone3, with the stack of the new process in `args`: the pid, or a negative errno. -ENOSYS: not
 * on this kind of processor, or not in this sandbox. */
long raw_clone(const struct clone_args *args, raw_main *main, const void *argument);

#endif
