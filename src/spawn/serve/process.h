/* What peal-spawn and peal-call are as processes: daemons with a folder of their own, which serve
 * one agent and leave when there is nothing to do. */
#ifndef PEAL_SERVE_PROCESS_H
#define PEAL_SERVE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "spawn_message.h"
#include "status.h"

enum exit_code {
    EXIT_OK = 0,
    EXIT_TROUBLE = 1,
    EXIT_USAGE = 2,
    EXIT_BUSY = 3, /* another one has this folder */
};

enum { SERVE_IDLE_MS = 60000 }; /* unless an option says otherwise */

/* A line on stderr, which is a daemon's log. */
void serve_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

_Noreturn void serve_print_version(const char *name, const struct spawn_build *build);

/* 0, 1 and 2 are open from here on. To be called first. */
void serve_keep_standard_fds(void);

/* The parent waits for the exit code of the start and exits with it, so that the starter knows when
 * it can connect. Returns in the child, a session of its own with `log` as stderr: the descriptor
 * for serve_tell_start. */
int serve_become_daemon(const char *log);
void serve_tell_start(int word_fd, enum exit_code code); /* and closes; -1: nobody waits */

/* The folder, which is only this user's: its content is trusted. *ret_output_fd is its folder of
 * output files. */
MUST_CHECK enum status serve_open_folder(const char *path, int *ret_folder_fd, int *ret_output_fd);

#define SERVE_LOCK "lock" /* the file in it that is locked */

/* E_BUSY: another process has it. `inherited_fd`, -1: none, may be locked already. */
MUST_CHECK enum status serve_lock_folder(int folder_fd, int inherited_fd, int *ret_lock_fd);

/* Listens on a socket of that name in the folder; removes that of a dead process, so the folder has
 * to be locked. */
MUST_CHECK enum status serve_listen(int folder_fd, const char *name, int *ret_fd);

/* How long there has been nothing to do. */
struct idle {
    int64_t since_boot_ms; /* 0: it is busy */
    int64_t limit_ms;
};

/* True: it has been idle for limit_ms. That is said once, and again after as long. */
bool idle_is_over(struct idle *idle, bool is_idle, int64_t now_boot_ms);
int64_t idle_due_ms(const struct idle *idle); /* when to look again; 0: never */

#endif
