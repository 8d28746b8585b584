/* The journal of runs, from which a new spawner restores the state of a killed one. Append-only;
 * the last record of a run counts:
 *
 *   STARTING   before the process is made: from here on this id never starts again
 *   STARTED    its pid is known
 *   ENDED      it has ended and how
 *   FORGOTTEN  the agent has acknowledged the end
 *
 * A record is written at once, which is enough to survive a killed spawner. Against a power failure
 * the file is synced in groups, at most 1/50 of the time: a run whose end was not synced counts as
 * ended by the power failure. */
#ifndef PEAL_SPAWNER_JOURNAL_H
#define PEAL_SPAWNER_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "spawn_message.h"

enum journal_type {
    JOURNAL_STARTING = 1,
    JOURNAL_STARTED,
    JOURNAL_ENDED,
    JOURNAL_FORGOTTEN,
};

struct journal_record {
    uint32_t magic;
    uint32_t type;
    struct spawn_run info;
    int64_t timeout_at_boot_ms; /* 0: never */
    uint64_t head_bytes;
    uint64_t tail_bytes;
    uint64_t pipes[2]; /* inodes of the pipes that take its output */
    int32_t grace_ms;
    int32_t linger_ms; /* 0 in records of earlier versions */
    uint64_t checksum; /* of all before it */
};

struct journal {
    int folder_fd; /* borrowed */
    int fd;
    uint64_t records;
    bool is_dirty;
    int64_t sync_at_boot_ms; /* not before this */
};

/* Opens or makes the journal. `seen` is called for every good record, oldest first, whose id is
 * valid and whose numbers are within their ranges; `same_boot` is false if the machine was
 * restarted since it was written. */
typedef void journal_seen(void *user, const struct journal_record *record, bool same_boot);
MUST_CHECK enum status journal_open(struct journal *journal, int folder_fd, journal_seen *seen,
                                    void *user);
void journal_close(struct journal *journal);

/* E_IO: not written. */
enum status journal_append(struct journal *journal, enum journal_type type,
                           const struct journal_record *record);

/* Syncs if the file is dirty and sync_at_boot_ms has come. */
void journal_sync(struct journal *journal, int64_t now_boot_ms);

/* True when most records are of runs that have been forgotten. */
bool journal_is_stale(const struct journal *journal, uint64_t known_runs);

/* Replaces the journal by a new one of these records. A failure leaves the old one in place. */
void journal_rewrite(struct journal *journal, const struct journal_record *records, size_t count);

#endif
