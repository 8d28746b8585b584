/* The state that a spawner hands to its next image, in a memfd. It is validated like any input: a
 * number that is out of range ends the image with E_CORRUPT, and the agent starts another spawner,
 * which restores the runs from the journal. */
#ifndef PEAL_SPAWNER_UPGRADE_STATE_H
#define PEAL_SPAWNER_UPGRADE_STATE_H

#include <stddef.h>

#include "run.h"

#define STATE_MAGIC 0x70756c70u

/* 2: saved_run.linger_ms. The size of a run is that of its version, and members are only added.
 * 3: saved_run.cgroup may be beyond CGROUP_END_OF_2; 4: secrets; 5: it may be CGROUP_LIMITED. Each
 * is handed over only then, so that an image that knows no more than 2 can follow otherwise. */
#define STATE_VERSION       5
#define STATE_VERSION_MASKS 4
#define STATE_VERSION_POOL  3
#define STATE_VERSION_SMALL 2
#define STATE_RUN_SIZE_OF_1 offsetof(struct saved_run, linger_ms)
#define STATE_RUN_SIZE_OF_2 offsetof(struct saved_run, masking_fd)

enum said_hello {
    SAID_NOTHING,
    SAID_HELLO,
    SAID_HELLO_FOR_BUILD,
    SAID_HELLO_FOR_FRAMES, /* and for BUILD */
};

struct saved {
    uint32_t magic;
    uint32_t version;
    uint32_t run_count;
    uint32_t run_size;
    int32_t lock_fd, listener_fd, agent_fd, slots_fd, journal_fd;
    uint32_t said_hello; /* enum said_hello; any of them is true for earlier versions */
    uint32_t wants_ready, is_stopping;
    uint64_t journal_records;
    uint64_t nofile_soft, nofile_hard;
};

struct saved_run {
    struct spawn_run info;
    uint32_t state, stop_reason, has_exited, is_forgotten, is_adopted, cgroup, slot, report;
    int64_t timeout_at_boot_ms, kill_at_boot_ms, due_boot_ms;
    uint64_t pipes[2];
    int32_t stream_fds[2];
    int32_t pidfd;
    int32_t grace_ms;
    struct output output;
    int32_t linger_ms;
    int32_t zero;
    int32_t masking_fd; /* of serve/masking.h; -1: none */
    uint32_t has_secrets;
};

#endif
