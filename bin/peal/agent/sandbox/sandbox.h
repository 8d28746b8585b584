/* The agent's sandbox, entered at the start, before it has threads, reads jobs or listens:
 *
 *   memory      no ptrace by other processes of its user, no core dumps
 *   privileges  no new privileges; root keeps three capabilities
 *   files       writes only to its data folder, a shared store and its log; reads only what
 *               sandbox_files.c lists;
 *               executes nothing (Linux 5.13 with landlock)
 *   calls       the system calls in sandbox_calls.c are refused (libseccomp)
 *
 * Children inherit the sandbox, and it can't be left. So jobs must not descend from the confined
 * process: the launcher (spawn_launcher.h) is started before. */
#ifndef PEAL_SANDBOX_H
#define PEAL_SANDBOX_H

#include "api.h"
#include "config/agent_config.h"

enum sandbox_extent {
    SANDBOX_UNKNOWN,     /* not decided yet */
    SANDBOX_OFF,         /* as it was configured */
    SANDBOX_NO_LAUNCHER, /* without one there is none */
    SANDBOX_ENTERED,     /* as far as the kernel allows */
};

struct sandbox {
    enum sandbox_extent extent;
    bool memory, privileges, seccomp;
    int landlock;                                 /* its ABI version; 0: files are not confined */
    int launcher_error, files_error, calls_error; /* errno: why not */
};

/* Enters the sandbox, as far as kernel and configuration allow; *ret says how far. To be called
 * once, with one thread, when the data folder exists. */
void sandbox_enter(const struct agent_config *config, struct sandbox *ret);

/* The same for the API and the log, with its words. */
void sandbox_tell(const struct sandbox *sandbox, enum language language, struct sandbox_state *ret);

/* ---- the parts ---- */

/* The landlock ABI version in force, 1 or more. 0: not confined, errno says why. */
int sandbox_files(const struct agent_config *config);

/* True: system calls are filtered. False: errno; ENOSYS: built without libseccomp. */
bool sandbox_calls(void);

#endif
