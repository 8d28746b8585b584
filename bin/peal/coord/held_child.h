/* The process of a command that runs while something is held. It inherits what this program was
 * started with, and nothing that it has opened since. */
#ifndef PEAL_HELD_CHILD_H
#define PEAL_HELD_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* How this program was started; to be filled before it opens anything. */
struct held_start {
    sigset_t mask;
    struct sigaction broken_pipe;
    bool inherited[1024]; /* descriptors; higher ones are taken for inherited */
};
void held_start_note(struct held_start *start);

struct held_child {
    char **words;
    const char *variable, *name; /* PEAL_LOCK=NAME */
    int64_t fence;               /* PEAL_FENCE */
    bool dies_with_us;           /* it is killed when this program is */
};

/* OK: its pid. Else -1, errno, and the shell's status for it in *ret_code, 126 or 127. */
pid_t held_child_start(const struct held_start *start, const struct held_child *child,
                       int *ret_code);

/* Sends a signal to all descendants of this program, those whose parents are gone among them. How
 * many there are. 0 as a signal: only counts. */
int held_signal_all(int number);

#endif
