/* Connects to the spawner's socket, and starts a spawner. */
#ifndef PEAL_SPAWN_LAUNCH_H
#define PEAL_SPAWN_LAUNCH_H

#include <sys/types.h>

#include "spawn_client.h"

/* OK: *ret_fd is connected and does not block. E_UNREACHABLE: nobody listens. `is_call`: to
 * peal-call. */
MUST_CHECK enum status spawn_connect(const char *folder, bool is_call, int *ret_fd);

/* Starts `peal-spawn --daemon`, or peal-call, or has config->launcher start it; that process ends
 * when the spawner listens, or has failed. *ret_pidfd becomes readable then; spawn_launched must be
 * called. */
MUST_CHECK enum status spawn_launch(const struct spawn_client_config *config, pid_t *ret_pid,
                                    int *ret_pidfd);

/* Starts `peal-spawn --launcher` with `fd` as its standard input; spawn_launched must be called.
 * E_IO: errno. */
MUST_CHECK enum status spawn_launch_launcher(const struct spawn_client_config *config, int fd,
                                             pid_t *ret_pid);

/* Reaps the process (pid 0: the launcher does) and closes the descriptor (-1: none). */
void spawn_launched(pid_t pid, int pidfd);

#endif
