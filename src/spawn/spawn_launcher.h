/* The agent's side of the launcher (bin/peal-spawn/launcher.c), a process that keeps the rights
 * which the agent gives up: it starts spawners, and sees who is a process of a run. */
#ifndef PEAL_SPAWN_LAUNCHER_H
#define PEAL_SPAWN_LAUNCHER_H

#include "descent.h"
#include "spawn_client.h"

struct spawn_launcher;

/* Starts it; of `config`, what a spawner is started with counts. It ends when it is freed, and with
 * this process. E_IO: errno. */
MUST_CHECK enum status spawn_launcher_new(const struct spawn_client_config *config,
                                          struct spawn_launcher **ret);
struct spawn_launcher *spawn_launcher_free(struct spawn_launcher *launcher);

/* Readable when nobody asks: the launcher has ended, and can't be replaced. */
int spawn_launcher_fd(const struct spawn_launcher *launcher);

/* Starts `peal-spawn --daemon`, which ends as soon as the spawner listens, or can't. *ret_pidfd
 * becomes readable then, and is the caller's. E_IO: errno. */
MUST_CHECK enum status spawn_launcher_start(struct spawn_launcher *launcher, int *ret_pidfd);

/* As descent_of_peer; the tag is that of the spawner's folder. */
enum descent spawn_launcher_descent(struct spawn_launcher *launcher, int fd, pid_t spawner);

#endif
