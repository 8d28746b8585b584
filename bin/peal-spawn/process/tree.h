/* Finds the processes of a run by looking through /proc. A process belongs to a run if it is the
 * run's main process, is in its session, descends from one that belongs, or carries the run's
 * mark in its environment. The last is for those that called setsid and whose parent has ended:
 * they are the spawner's own children by then, since it is a subreaper. */
#ifndef PEAL_SPAWNER_TREE_H
#define PEAL_SPAWNER_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "spawn_message.h"

struct tree_process {
    pid_t pid;
    pid_t parent;
    pid_t session;
    bool is_zombie;
    bool belongs; /* to the current run */
    char mark[SPAWN_ID_MAX + 1];
};

struct tree {
    struct tree_process *processes; /* by pid */
    size_t count;
    size_t capacity;
};

/* Takes a new snapshot of /proc; unreadable processes are left out. */
void tree_scan(struct tree *tree);
void tree_release(struct tree *tree);

/* Sends the signal (0: none) to every live process of the run; returns how many there are. If the
 * main process had ended before the snapshot, a process with its pid is not part of the run. */
int tree_signal(struct tree *tree, pid_t main_pid, bool main_has_ended, const char *id, int signal);

/* Was it among those of the last tree_signal, also if that sent none? */
bool tree_was_told(const struct tree *tree, pid_t pid);

#endif
