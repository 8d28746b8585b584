/* Crash-safe files: frames with a length and a checksum, so that a torn write is detected, and the
 * calls that bring them to disk. Numbers are little-endian. Newer versions of peal must be able to
 * read this format. */
#ifndef PEAL_FRAME_H
#define PEAL_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "strbuf.h"

enum { FRAME_HEAD = 16, FRAME_MAX = 1 << 30 };

/* Appends a frame with this payload. */
void frame_add(struct strbuf *to, const struct strbuf *payload);

/* The payload of the frame at offset `at`, NUL-terminated; the caller frees it. E_CORRUPT: no whole
 * frame there. */
MUST_CHECK enum status frame_read(int fd, int64_t at, char **ret_payload, size_t *ret_length);

/* All the bytes, or E_IO. A read past the end of the file is E_CORRUPT. */
MUST_CHECK enum status file_read(int fd, int64_t at, void *bytes, size_t length);
MUST_CHECK enum status file_write(int fd, const char *bytes, size_t length);

/* fsyncs the folder: without it a new file's name may be lost in a power failure. */
MUST_CHECK enum status folder_sync(const char *folder);

#endif
