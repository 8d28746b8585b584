/* System calls for a process that shares its memory with the running spawner: the C library's
 * wrappers would write to the shared errno. */
#ifndef PEAL_SPAWNER_RAW_H
#define PEAL_SPAWNER_RAW_H

#include <linux/sched.h>

/* The result of the system call, or a negative errno. */
long raw_call(long number, long a, long b, long c, long d);

/* Runs in the new process; must not return. */
typedef void raw_main(const void *argument);

/* clone3, with the stack of the new process in `args`: the pid, or a negative errno. -ENOSYS: not
 * on this architecture, or refused by a seccomp filter. */
long raw_clone(const struct clone_args *args, raw_main *main, const void *argument);

#endif
