/* Reads the output of a run, also while it runs, from the files that spawn_record.h describes.
 *
 *     spawn_output_open(folder, id, position, &output);
 *     while (spawn_output_next(output, &chunk) == OK)
 *         ... chunk.gap_bytes were dropped before it ...
 *     position = chunk.position + chunk.length, for the next time
 */
#ifndef PEAL_SPAWN_OUTPUT_H
#define PEAL_SPAWN_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

#include "spawn_record.h"
#include "status.h"

struct spawn_output;

struct spawn_chunk {
    enum spawn_stream stream;
    int64_t wall_ms;    /* when the spawner read it */
    uint64_t position;  /* of its first byte in the whole output */
    uint64_t gap_bytes; /* dropped between the chunk before, or the start, and this one */
    const char *bytes;  /* valid until the next call */
    size_t length;
};

/* Output from `position` on; 0: from the beginning. A run without output is OK, and empty. `folder`
 * is the spawner's. */
MUST_CHECK enum status spawn_output_open(const char *folder, const char *id, uint64_t position,
                                         struct spawn_output **ret);

/* E_NOT_FOUND: no more for now. E_CORRUPT: a file is damaged; the rest of it is skipped. */
MUST_CHECK enum status spawn_output_next(struct spawn_output *output, struct spawn_chunk *ret);

struct spawn_output *spawn_output_free(struct spawn_output *output);

/* Removes the files of a run that has ended; there need not be any. */
void spawn_output_remove(const char *folder, const char *id);

/* The values that a run has handed over: a text from malloc with a zero byte behind it. NULL: it
 * has written none. E_TOO_LARGE: they are more than `max` bytes. E_INVALID: what is there is not
 * the file that the run was given; nothing of it was read. E_IO. Never waits. */
MUST_CHECK enum status spawn_values_read(const char *folder, const char *id, size_t max, char **ret,
                                         size_t *ret_length);
void spawn_values_remove(const char *folder, const char *id);

#endif
