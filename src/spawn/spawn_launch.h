/* Reaching the spawner's socket, and starting a spawner that is not there. */
#ifndef PEAL_SPAWN_LAUNCH_H
#define PEAL_SPAWN_LAUNCH_H

#include <sys/types.h>

#include "spawn_client.h"

/* OK: *ret_fd is connected and does not block. E_UNREACHABLE: nobody listens. */
MUST_CHECK enum status spawn_connect(const char *folder, int *ret_fd);

/* Starts `peal-spawn --daemon`, or has config->launcher start it, which ends as soon as the spawner
 * listens, or can't. *ret_pidfd becomes readable then; spawn_launched must be called. */
MUST_CHECK enum status spawn_launch(const struct spawn_client_config *config, pid_t *ret_pid,
                                    int *ret_pidfd);

/* Starts `peal-spawn --launcher` with `fd` as its standard input; spawn_launched must be called.
 * E_IO: errno. */
MUST_CHECK enum status spawn_launch_launcher(const struct spawn_client_config *config, int fd,
                                             pid_t *ret_pid);

/* Reaps what was started (pid 0: somebody else does) and closes the descriptor (-1: none). */
void spawn_launched(pid_t pid, int pidfd);

#endif
