/* Writes the output of one run to the files that spawn_record.h describes. Never fails and never
 * waits: bytes that can't be written are dropped and counted. */
#ifndef PEAL_SERVE_OUTPUT_H
#define PEAL_SERVE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spawn_record.h"

/* Plain numbers except for the descriptors, so that it can be copied to the next image. */
struct output {
    int head_fd; /* -1: not open; opened with the first bytes */
    int tail_fd;
    uint64_t head_limit; /* bytes of output in a file */
    uint64_t tail_limit;
    uint64_t head_used;     /* bytes of the file, headers included */
    uint64_t tail_used[2];  /* bytes of each tail file */
    uint64_t tail_bytes[2]; /* of these: output */
    uint64_t position;      /* bytes received */
    uint64_t dropped;       /* of these: not in any file */
    uint32_t tail_turn;     /* which tail file is written, 0 or 1 */
    uint8_t head_closed;
    uint8_t disk_full;
    uint8_t in_line; /* the last byte was no newline */
    uint8_t zero;
};

void output_init(struct output *output, uint64_t head_limit, uint64_t tail_limit);

/* Up to SPAWN_RECORD_MAX bytes of one stream. */
void output_append(struct output *output, int folder_fd, const char *id, enum spawn_stream stream,
                   const char *bytes, size_t length, int64_t wall_ms);

/* Closes the files; a later append opens them again. */
void output_close(struct output *output);

/* Restores the state from the files of a run, after their spawner has died. */
void output_recover(struct output *output, int folder_fd, const char *id);

#endif
