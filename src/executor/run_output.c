#include "run_output.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pack/spawn_packs.h"
#include "spawn_output.h"

enum status run_output_init(struct run_output *output, const char *spawn_folder,
                            const char *call_folder)
{
    *output = (struct run_output){spawn_folder, call_folder, spawn_packs_new(call_folder)};
    return output->packs ? OK : E_NOMEM;
}

void run_output_release(struct run_output *output)
{
    output->packs = spawn_packs_free(output->packs);
}

static bool has_file(const char *folder, const char *id)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof(path), "%s/" SPAWN_OUTPUT_FOLDER "/%s", folder, id);
    return length < (int)sizeof(path) && access(path, F_OK) == 0;
}

/* Packs are looked at only for what no program has written. */
static bool may_be_packed(const struct run_output *output, const char *id)
{
    return spawn_packs_know(output->packs, id) || !has_file(output->spawn_folder, id);
}

/* Calls are fewer: a run without any output is taken for a program's. */
static const char *folder_of(const struct run_output *output, const char *id)
{
    return has_file(output->call_folder, id) ? output->call_folder : output->spawn_folder;
}

static void release_chunks(void *context, struct output_chunk *chunks, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count; i++)
        free((void *)chunks[i].bytes);
    free(chunks);
}

/* Appends a copy of the chunk. */
static enum status add_chunk(const struct spawn_chunk *chunk, size_t length,
                             struct output_chunk **chunks, size_t *count)
{
    struct output_chunk *grown = realloc(*chunks, (*count + 1) * sizeof(*grown));
    if (!grown)
        return E_NOMEM;
    *chunks = grown;
    char *bytes = malloc(length ? length : 1);
    if (!bytes)
        return E_NOMEM;
    memcpy(bytes, chunk->bytes, length);
    grown[(*count)++] = (struct output_chunk){
        .stream = chunk->stream == SPAWN_STDERR ? OUTPUT_STDERR : OUTPUT_STDOUT,
        .at_ms = chunk->wall_ms,
        .gap_bytes = (int64_t)chunk->gap_bytes,
        .bytes = bytes,
        .length = length,
    };
    return OK;
}

/* E_NOT_FOUND: its output is in no pack. */
static enum status read_packed(const struct run_output *self, const char *id, uint64_t offset,
                               size_t limit, struct output_chunk **chunks, size_t *count)
{
    struct spawn_pack_entry entry;
    char bytes[SPAWN_PACK_BYTES];
    if (!may_be_packed(self, id) || !spawn_packs_read(self->packs, id, &entry, bytes))
        return E_NOT_FOUND;
    if (offset >= entry.length || !limit)
        return OK;
    size_t length = entry.length - offset;
    struct spawn_chunk chunk = {
        .stream = SPAWN_STDOUT,
        .wall_ms = entry.wall_ms,
        .bytes = bytes + offset,
    };
    enum status st = add_chunk(&chunk, length < limit ? length : limit, chunks, count);
    if (st != OK)
        release_chunks(NULL, *chunks, *count);
    return st;
}

static enum status read_from(void *context, const struct id *run_id, int64_t offset, size_t limit,
                             struct output_chunk **ret, size_t *ret_count)
{
    const struct run_output *self = context;
    struct spawn_output *output;
    struct spawn_chunk chunk;
    struct output_chunk *chunks = NULL;
    size_t count = 0;
    char id[ID_TEXT + 1];
    id_format(run_id, id);
    enum status st = read_packed(self, id, (uint64_t)offset, limit, &chunks, &count);
    if (st == OK) {
        *ret = chunks;
        *ret_count = count;
    }
    if (st != E_NOT_FOUND)
        return st;
    st = spawn_output_open(folder_of(self, id), id, (uint64_t)offset, &output);
    if (st != OK)
        return st;
    while (limit && (st = spawn_output_next(output, &chunk)) == OK) {
        size_t length = chunk.length < limit ? chunk.length : limit;
        st = add_chunk(&chunk, length, &chunks, &count);
        if (st != OK)
            break;
        limit -= length;
    }
    spawn_output_free(output);
    if (st == E_NOMEM) {
        release_chunks(NULL, chunks, count);
        return st;
    }
    *ret = chunks; /* the chunks before the damage are kept */
    *ret_count = count;
    return OK;
}

static enum status read_all(void *context, const struct id *run_id, struct output_chunk **ret,
                            size_t *ret_count)
{
    return read_from(context, run_id, 0, SIZE_MAX, ret, ret_count);
}

static void remove_output(void *context, const struct id *run_id)
{
    const struct run_output *self = context;
    char id[ID_TEXT + 1];
    id_format(run_id, id);
    if (!spawn_packs_know(self->packs, id))
        spawn_output_remove(folder_of(self, id), id);
    if (may_be_packed(self, id))
        spawn_packs_take(self->packs, id);
}

struct output_source run_output_source(struct run_output *output)
{
    return (struct output_source){read_all, release_chunks, remove_output, output};
}

struct live_output run_output_live(struct run_output *output)
{
    return (struct live_output){read_from, output};
}
