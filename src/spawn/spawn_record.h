/* The files that hold a run's output, as the spawner writes and the agent reads them.
 *
 * In the folder `out` of the spawner's folder, for a run ID:
 *   ID      the beginning of the output, its first head_bytes
 *   ID.0    after that, the end of the output in two files with at most tail_bytes of it each that
 *   ID.1    take turns: when one is full, the other is replaced by a new file and written instead
 * So the last tail_bytes are always there, and 1 GB of output leaves three small files. A file
 * that does not exist is empty.
 *
 * A file is a sequence of records, each a spawn_record and then `length` bytes as they came from
 * the child. `position` counts the bytes of both streams from the run's start; where a record does
 * not begin at the end of the one before it, the bytes between were dropped. An incomplete record
 * at the end of a file is still being written. The outputs of short calls are elsewhere:
 * pack/spawn_pack.h.
 *
 *   ID.v    values that the run hands over to others (spawn_request.has_values): not records, but
 *           the text that its processes wrote. It belongs to the user of the run, who can't reach
 *           the folder: its processes have it as the descriptor SPAWN_VALUES_FD, and find the name
 *           /proc/PID/fd/... of that of the main process in SPAWN_VALUES_VARIABLE. The spawner
 *           makes the file and never looks at it again; the agent reads it after the end of the
 *           run, and removes it. */
#ifndef PEAL_SPAWN_RECORD_H
#define PEAL_SPAWN_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#define SPAWN_OUTPUT_FOLDER "out"
#define SPAWN_RECORD_MAGIC  0x7265u
#define SPAWN_RECORD_MAX    65536 /* bytes in one record */

#define SPAWN_VALUES_SUFFIX   ".v"
#define SPAWN_VALUES_VARIABLE "PEAL_OUTPUT"
#define SPAWN_VALUES_FD       30 /* scripts use small numbers; shells take from 10 on what is free */

enum spawn_stream {
    SPAWN_STDOUT = 1,
    SPAWN_STDERR = 2,
};

struct spawn_record {
    uint16_t magic;
    uint16_t stream; /* enum spawn_stream */
    uint32_t length;
    uint64_t position;
    int64_t wall_ms;
};

_Static_assert(sizeof(struct spawn_record) == 24, "no padding on disk");

/* Can this be the header of a record after one that ended at `position`? */
static inline bool spawn_record_valid(const struct spawn_record *record, uint64_t position)
{
    return record->magic == SPAWN_RECORD_MAGIC &&
           (record->stream == SPAWN_STDOUT || record->stream == SPAWN_STDERR) &&
           record->length > 0 && record->length <= SPAWN_RECORD_MAX && record->position >= position;
}

/* The longest name of such a file, including the suffix. */
#define SPAWN_OUTPUT_NAME_MAX (32 + 3)

#endif
