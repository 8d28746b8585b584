/* What the agent gives up when it starts, before it has a thread, reads a job or listens anywhere:
 *
 *   memory      no other process of its user can attach to it, and it leaves no core dump
 *   privileges  no more than it has, ever; of root's, three capabilities stay
 *   files       its data folder and its log can be written; what sandbox_files.c lists can be read;
 *               nothing can be executed (Linux 5.13 with landlock)
 *   calls       what sandbox_calls.c lists is refused by the kernel (libseccomp)
 *
 * All of it is inherited by what a process starts, and can't be taken back. So jobs must not
 * descend from a confined process: the launcher (spawn_launcher.h) is started before. */
#ifndef PEAL_SANDBOX_H
#define PEAL_SANDBOX_H

#include "api.h"
#include "config/agent_config.h"

/* Enters it, as far as the kernel and the configuration let it, and says how far that is. To be
 * called once, by a process with one thread, when the data folder is there. */
void sandbox_enter(const struct agent_config *config, struct sandbox_state *ret);

/* ---- the parts ---- */

/* The version of landlock that confines this thread now, 1 or more. 0: errno says why none does. */
int sandbox_files(const struct agent_config *config);

/* Whether system calls are filtered now. False: errno; ENOSYS: built without libseccomp. */
bool sandbox_calls(void);

#endif
