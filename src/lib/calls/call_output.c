#include "calls/call_output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

enum { FIRST_ROOM = 64 };

enum status call_output_init(struct call_output *output, int64_t limit)
{
    *output = (struct call_output){.limit = limit};
    return pthread_mutex_init(&output->lock, NULL) == 0 ? OK : E_NOMEM;
}

static struct call_line *tail_at(const struct call_output *output, size_t i)
{
    return &output->tail[(output->tail_first + i) % output->tail_room];
}

void call_output_release(struct call_output *output)
{
    for (size_t i = 0; i < output->head_count; i++)
        free(output->head[i].bytes);
    for (size_t i = 0; i < output->tail_count; i++)
        free(tail_at(output, i)->bytes);
    free(output->head);
    free(output->tail);
    pthread_mutex_destroy(&output->lock);
}

/* ---- writing ---- */

static bool add_head(struct call_output *output, const struct call_line *line)
{
    bool is_full = output->tail_count || output->is_short ||
                   output->head_bytes + (int64_t)line->length > output->limit;
    if (is_full)
        return false;
    if (array_grow(&output->head, output->head_count, sizeof(*line)) != OK)
        return false;
    output->head[output->head_count++] = *line;
    output->head_bytes += (int64_t)line->length;
    return true;
}

static void drop_oldest(struct call_output *output)
{
    struct call_line *oldest = tail_at(output, 0);
    output->tail_bytes -= (int64_t)oldest->length;
    free(oldest->bytes);
    output->tail_first = (output->tail_first + 1) % output->tail_room;
    output->tail_count--;
    output->is_short = true;
}

static bool grow_tail(struct call_output *output)
{
    size_t room = output->tail_room ? 2 * output->tail_room : FIRST_ROOM;
    struct call_line *more = malloc(room * sizeof(*more));
    if (!more)
        return false;
    for (size_t i = 0; i < output->tail_count; i++)
        more[i] = *tail_at(output, i);
    free(output->tail);
    output->tail = more;
    output->tail_first = 0;
    output->tail_room = room;
    return true;
}

static bool add_tail(struct call_output *output, const struct call_line *line)
{
    if ((int64_t)line->length > output->limit)
        return false;
    while (output->tail_bytes + (int64_t)line->length > output->limit)
        drop_oldest(output);
    if (output->tail_count == output->tail_room && !grow_tail(output))
        return false;
    *tail_at(output, output->tail_count) = *line;
    output->tail_count++;
    output->tail_bytes += (int64_t)line->length;
    return true;
}

void call_output_add(struct call_output *output, int64_t at_ms, const char *format, va_list values)
{
    char *text = NULL;
    int length = vasprintf(&text, format, values);
    if (length < 0) {
        output->is_short = true;
        return;
    }
    if (!length || text[length - 1] != '\n')
        text[length++] = '\n'; /* in place of the zero: the length tells the end */
    pthread_mutex_lock(&output->lock);
    struct call_line line = {at_ms, output->written, (size_t)length, text};
    output->written += length;
    if (!add_head(output, &line) && !add_tail(output, &line)) {
        output->is_short = true;
        free(text);
    }
    pthread_mutex_unlock(&output->lock);
}

/* ---- reading ---- */

int64_t call_output_bytes(struct call_output *output, bool *ret_truncated)
{
    pthread_mutex_lock(&output->lock);
    int64_t written = output->written;
    *ret_truncated = output->is_short;
    pthread_mutex_unlock(&output->lock);
    return written;
}

/* What is behind *inout_end of the line, at most `limit` bytes. */
static bool copy_line(const struct call_line *line, size_t limit, int64_t *inout_end,
                      struct output_chunk *ret)
{
    size_t skip = *inout_end > line->start ? (size_t)(*inout_end - line->start) : 0;
    size_t length = line->length - skip < limit ? line->length - skip : limit;
    void *bytes = malloc(length);
    if (!bytes)
        return false;
    memcpy(bytes, line->bytes + skip, length);
    *ret = (struct output_chunk){.stream = OUTPUT_STDOUT,
                                 .at_ms = line->at_ms,
                                 .gap_bytes = line->start + (int64_t)skip - *inout_end,
                                 .bytes = bytes,
                                 .length = length};
    *inout_end = line->start + (int64_t)(skip + length);
    return true;
}

static const struct call_line *line_at(const struct call_output *output, size_t i)
{
    return i < output->head_count ? &output->head[i] : tail_at(output, i - output->head_count);
}

enum status call_output_read_from(struct call_output *output, int64_t offset, size_t limit,
                                  struct output_chunk **ret, size_t *ret_count)
{
    int64_t end = offset;
    size_t count = 0, first = 0;
    pthread_mutex_lock(&output->lock);
    size_t all = output->head_count + output->tail_count;
    while (first < all &&
           line_at(output, first)->start + (int64_t)line_at(output, first)->length <= offset)
        first++;
    struct output_chunk *chunks = calloc(all - first + 1, sizeof(*chunks));
    enum status st = chunks ? OK : E_NOMEM;
    for (; st == OK && first + count < all && limit; count++) {
        if (copy_line(line_at(output, first + count), limit, &end, &chunks[count]))
            limit -= chunks[count].length;
        else
            st = E_NOMEM; /* its chunk is empty */
    }
    pthread_mutex_unlock(&output->lock);
    if (st != OK) {
        call_output_free_chunks(chunks, count);
        return st;
    }
    *ret = chunks;
    *ret_count = count;
    return OK;
}

enum status call_output_read(struct call_output *output, struct output_chunk **ret,
                             size_t *ret_count)
{
    enum status st = call_output_read_from(output, 0, SIZE_MAX, ret, ret_count);
    if (st != OK || *ret_count)
        return st;
    free(*ret);
    return E_NOT_FOUND;
}

void call_output_free_chunks(struct output_chunk *chunks, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free((void *)chunks[i].bytes);
    free(chunks);
}
