#include "calls/call_spool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "spawn_output.h"

void call_spool_init(struct call_spool *spool, const char *folder)
{
    *spool = (struct call_spool){.folder = folder, .fd = -1};
}

void call_spool_release(struct call_spool *spool)
{
    if (spool->fd >= 0)
        close(spool->fd);
    spool->fd = -1;
}

/* ---- writing ---- */

/* Without a folder, on a full disk, the output is in memory all the same. */
static bool open_folder(struct call_spool *spool)
{
    char path[PATH_MAX];
    if (spool->fd >= 0)
        return true;
    if (snprintf(path, sizeof(path), "%s/" SPAWN_OUTPUT_FOLDER, spool->folder) >= (int)sizeof(path))
        return false;
    if ((mkdir(spool->folder, 0700) != 0 && errno != EEXIST) ||
        (mkdir(path, 0700) != 0 && errno != EEXIST))
        return false;
    spool->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return spool->fd >= 0;
}

static void append(const struct call_spool *spool, const char *id, struct output *output,
                   const struct output_chunk *chunk)
{
    output->position += (uint64_t)chunk->gap_bytes;
    for (size_t done = 0; done < chunk->length;) {
        size_t rest = chunk->length - done;
        size_t length = rest < SPAWN_RECORD_MAX ? rest : SPAWN_RECORD_MAX;
        output_append(output, spool->fd, id, SPAWN_STDOUT, (const char *)chunk->bytes + done,
                      length, chunk->at_ms);
        done += length;
    }
}

void call_spool_write(struct call_spool *spool, const char *id, struct call_output *output,
                      struct call_file *file)
{
    struct output_chunk *chunks;
    size_t count;
    if (!spool->folder || !open_folder(spool))
        return;
    if (!file->is_open)
        output_init(&file->output, (uint64_t)output->limit, (uint64_t)output->limit);
    file->is_open = true;
    if (call_output_read_from(output, (int64_t)file->output.position, SIZE_MAX, &chunks, &count) !=
        OK)
        return;
    for (size_t i = 0; i < count; i++)
        append(spool, id, &file->output, &chunks[i]);
    call_output_free_chunks(chunks, count);
    output_close(&file->output); /* many calls go on at once */
}

void call_spool_end(struct call_spool *spool, const char *id, struct call_file *file,
                    bool is_needed)
{
    if (file->is_open && !is_needed)
        spawn_output_remove(spool->folder, id);
    file->is_open = false;
}

/* ---- reading ---- */

static enum status add_chunk(struct output_chunk **chunks, size_t *count, int64_t at_ms,
                             int64_t gap_bytes, const char *bytes, size_t length)
{
    if (array_grow(chunks, *count, sizeof(**chunks)) != OK)
        return E_NOMEM;
    char *copy = malloc(length + 1);
    if (!copy)
        return E_NOMEM;
    memcpy(copy, bytes, length);
    (*chunks)[(*count)++] = (struct output_chunk){.stream = OUTPUT_STDOUT,
                                                  .at_ms = at_ms,
                                                  .gap_bytes = gap_bytes,
                                                  .bytes = copy,
                                                  .length = length};
    return OK;
}

enum status call_spool_read(const char *folder, const char *id, struct output_chunk **ret,
                            size_t *ret_count)
{
    struct spawn_output *output;
    struct spawn_chunk chunk = {0};
    struct output_chunk *chunks = NULL;
    size_t count = 0;
    if (!folder)
        return E_NOT_FOUND;
    enum status st = spawn_output_open(folder, id, 0, &output);
    if (st != OK)
        return st;
    while (st == OK && spawn_output_next(output, &chunk) == OK)
        st = add_chunk(&chunks, &count, chunk.wall_ms, (int64_t)chunk.gap_bytes, chunk.bytes,
                       chunk.length);
    spawn_output_free(output);
    if (st == OK && count)
        st = add_chunk(&chunks, &count, chunks[count - 1].at_ms, 0, CALL_SPOOL_CUT "\n",
                       strlen(CALL_SPOOL_CUT "\n"));
    if (st == OK && !count)
        st = E_NOT_FOUND;
    if (st == OK) {
        *ret = chunks;
        *ret_count = count;
    } else {
        call_output_free_chunks(chunks, count);
    }
    return st;
}
