/* Reads /proc. */
#ifndef PEAL_PROC_H
#define PEAL_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_stat {
    char state; /* as in `ps`; Z and X have ended */
    pid_t parent;
    pid_t session;
    unsigned long long start_ticks; /* since boot; with the pid it identifies a process */
};

/* False: no such process, or it is hidden. */
bool proc_stat(pid_t pid, struct proc_stat *ret);

/* When it was started, in ms of boot time. */
int64_t proc_started_boot_ms(const struct proc_stat *stat);

/* The beginning of /proc/PID/FILE, ended by a zero byte. Returns its length; -1: errno. */
ssize_t proc_read(pid_t pid, const char *file, char *buf, size_t size);

/* Does the file contain the text? False also if it can't be read. */
bool proc_has(pid_t pid, const char *file, const char *text);

#endif
