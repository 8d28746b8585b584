/* The journal of runs, from which a new spawner restores the state of a killed one. Append-only;
 * the last record of a run counts:
 *
 *   STARTING   before the process is made: from here on this id never starts again
 *   STARTED    its pid is known
 *   ENDED      it has ended and how
 *   FORGOTTEN  the agent has acknowledged the end
 *
 * Records are gathered and written together, since a write costs the same for one as for many: the
 * STARTING ones of a batch before its first process is made, the others before the agent is told
 * what they say. That is enough to survive a killed spawner. Against a power failure the file is
 * synced in groups, every two seconds and 1/50 of the time at most: a run whose end was not synced,
 * and that the agent has not on its disk either, counts as ended by the power failure. */
#ifndef PEAL_SERVE_JOURNAL_H
#define PEAL_SERVE_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "spawn_message.h"

enum journal_type {
    JOURNAL_STARTING = 1,
    JOURNAL_STARTED,
    JOURNAL_ENDED,
    JOURNAL_FORGOTTEN,
};

/* In the type of a record: the run has secrets, which only the spawner that has started it can
 * mask. Earlier versions, which would not withhold its output, do not take such a record. */
#define JOURNAL_SECRET 0x100u

struct journal_record {
    uint32_t magic;
    uint32_t type; /* enum journal_type, and JOURNAL_SECRET */
    struct spawn_run info;
    int64_t timeout_at_boot_ms; /* 0: never */
    uint64_t head_bytes;
    uint64_t tail_bytes;
    uint64_t pipes[2]; /* inodes of the pipes that take its output; 0: no more */
    int32_t grace_ms;
    int32_t linger_ms; /* 0 in records of earlier versions */
    uint64_t checksum; /* of all before it */
};

#define JOURNAL_GATHERED 128

struct journal {
    int folder_fd; /* borrowed */
    int fd;
    uint64_t records;
    bool is_dirty;
    int64_t sync_at_boot_ms;                          /* not before this */
    struct journal_record gathered[JOURNAL_GATHERED]; /* not written yet */
    size_t gathered_count;
};

/* Opens or makes the journal. `seen` is called for every good record, oldest first, whose id is
 * valid and whose numbers are within their ranges; `same_boot` is false if the machine was
 * restarted since it was written. */
typedef void journal_seen(void *user, const struct journal_record *record, bool same_boot);
MUST_CHECK enum status journal_open(struct journal *journal, int folder_fd, journal_seen *seen,
                                    void *user);
void journal_close(struct journal *journal);

static inline enum journal_type journal_type(const struct journal_record *record)
{
    return (enum journal_type)(record->type & ~JOURNAL_SECRET);
}

/* Gathers a record, as of this type; its own says only whether there are secrets. E_IO: those
 * before it were written now, for there was no more room, and that has failed, see journal_write.
 */
enum status journal_append(struct journal *journal, enum journal_type type,
                           const struct journal_record *record);

/* Writes what was gathered. E_IO, and errno: none of it is in the file, nor will be. */
enum status journal_write(struct journal *journal);

/* Syncs if the file is dirty and sync_at_boot_ms has come. */
void journal_sync(struct journal *journal, int64_t now_boot_ms);

/* True when most records are of runs that have been forgotten. */
bool journal_is_stale(const struct journal *journal, uint64_t known_runs);

/* Replaces the journal by a new one of these records, which say all that was gathered, too. A
 * failure leaves the old one in place. */
void journal_rewrite(struct journal *journal, const struct journal_record *records, size_t count);

#endif
