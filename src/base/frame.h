/* Files that survive a crash: frames with a length and a checksum, so that a write that was cut
 * short is seen, and what it takes to have them on disk. Numbers have the low byte first; the
 * format is part of what a newer peal must be able to read. */
#ifndef PEAL_FRAME_H
#define PEAL_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "strbuf.h"

enum { FRAME_HEAD = 16, FRAME_MAX = 1 << 30 };

/* Appends a frame with this payload. */
void frame_add(struct strbuf *to, const struct strbuf *payload);

/* The payload of the frame at a place, which the caller frees, with a NUL behind it; E_CORRUPT:
 * there is none that is whole. */
MUST_CHECK enum status frame_read(int fd, int64_t at, char **ret_payload, size_t *ret_length);

/* All the bytes, or E_IO; of a read that comes to the end of the file, E_CORRUPT. */
MUST_CHECK enum status file_read(int fd, int64_t at, void *bytes, size_t length);
MUST_CHECK enum status file_write(int fd, const char *bytes, size_t length);

/* Without this a new file's name may be lost with the machine's power. */
MUST_CHECK enum status folder_sync(const char *folder);

#endif
