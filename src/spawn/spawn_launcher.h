/* The agent's side of the launcher (bin/peal-spawn/launcher.c), a process that keeps the privileges
 * which the agent drops: it starts spawners, and checks whether a process descends from a run. */
#ifndef PEAL_SPAWN_LAUNCHER_H
#define PEAL_SPAWN_LAUNCHER_H

#include "descent.h"
#include "spawn_client.h"

struct spawn_launcher;

/* Starts the launcher; the options of spawners are taken from `config`. It ends when it is freed,
 * and with this process. E_IO: errno. */
MUST_CHECK enum status spawn_launcher_new(const struct spawn_client_config *config,
                                          struct spawn_launcher **ret);
struct spawn_launcher *spawn_launcher_free(struct spawn_launcher *launcher);

/* Readable while no request is under way: the launcher has ended, and can't be replaced. */
int spawn_launcher_fd(const struct spawn_launcher *launcher);

/* Starts `peal-spawn --daemon`, or peal-call, which ends when the spawner listens, or has failed.
 * *ret_pidfd becomes readable then, and is the caller's. E_IO: errno. */
MUST_CHECK enum status spawn_launcher_start(struct spawn_launcher *launcher, bool is_call,
                                            int *ret_pidfd);

/* As descent_of_peer; the tag is that of the spawner's folder. */
enum descent spawn_launcher_descent(struct spawn_launcher *launcher, int fd, pid_t spawner);

#endif
