/* The ends of processes whose spawner was killed, in a file of its folder: the guard writes what
 * the next spawner reads (guard.c). Records are only appended; the spawner removes the file when it
 * waits for none of them. */
#ifndef PEAL_SPAWNER_ENDS_H
#define PEAL_SPAWNER_ENDS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct end_record {
    uint32_t magic;
    int32_t pid;
    int32_t wait_status;
    uint32_t zero;
    int64_t started_boot_ms; /* by the kernel, rounded down to a clock tick */
    int64_t ended_boot_ms;
    int64_t ended_wall_ms;
    int64_t user_ms;
    int64_t system_ms;
    int64_t max_rss_kib;
    uint64_t checksum; /* of all before it */
};

/* Sets magic and checksum. False, and errno: not written. */
bool ends_append(int folder_fd, const struct end_record *record);

/* The end of the process with this pid that was started at about this time (run.h); false: not
 * there. */
bool ends_find(int folder_fd, int32_t pid, int64_t started_boot_ms, struct end_record *ret);

void ends_remove(int folder_fd);

/* What wait4 would have said. */
int ends_wait_status(const siginfo_t *info);

#endif
