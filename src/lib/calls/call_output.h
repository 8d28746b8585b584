/* What one call of a function has written: lines, of which the first and the last `limit` bytes are
 * kept, as of a program. Any thread. */
#ifndef PEAL_CALL_OUTPUT_H
#define PEAL_CALL_OUTPUT_H

#include <pthread.h>
#include <stdarg.h>

#include "history.h"

struct call_line {
    int64_t at_ms;
    int64_t start; /* offset in all that was written */
    size_t length;
    char *bytes;
};

struct call_output {
    pthread_mutex_t lock;
    int64_t limit;
    int64_t written;
    struct call_line *head; /* up to `limit` bytes in all */
    size_t head_count;
    int64_t head_bytes;
    struct call_line *tail; /* a ring: the newest lines, of up to `limit` bytes */
    size_t tail_first, tail_count, tail_room;
    int64_t tail_bytes;
    bool is_short; /* something was dropped, by the limit or for want of memory */
};

MUST_CHECK enum status call_output_init(struct call_output *output, int64_t limit);
void call_output_release(struct call_output *output);

/* Adds one line; its end is added if the text does not have it. */
void call_output_add(struct call_output *output, int64_t at_ms, const char *format, va_list values)
    __attribute__((format(printf, 3, 0)));

int64_t call_output_bytes(struct call_output *output, bool *ret_truncated);

/* Copies the lines, oldest first, as chunks from malloc: freed by call_output_free_chunks.
 * E_NOT_FOUND: nothing was written. */
MUST_CHECK enum status call_output_read(struct call_output *output, struct output_chunk **ret,
                                        size_t *ret_count);

/* The same from `offset` on, at most `limit` bytes; offsets count what was dropped, too. E_NOMEM.
 */
MUST_CHECK enum status call_output_read_from(struct call_output *output, int64_t offset,
                                             size_t limit, struct output_chunk **ret,
                                             size_t *ret_count);
void call_output_free_chunks(struct output_chunk *chunks, size_t count);

#endif
