/* Loads waiting records in batches, oldest first, and removes delivered ones. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spool/history_spool_files.h"

enum {
    BATCH_BYTES = 4 * 1024 * 1024
}; /* output and definitions in a batch; the
      record that reaches the limit is the last */

static const struct segment *find_segment(const struct segment_list *list, uint64_t number)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].number == number)
            return &list->items[i];
    }
    return NULL;
}

void spooled_release(struct spooled *item)
{
    free(item->chunks);
    free(item->payload);
    change_record_release(&item->change);
}

void spool_batch_release(struct spool_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        spooled_release(&batch->items[i]);
    free(batch->items);
    free(batch->records);
    *batch = (struct spool_batch){0};
}

/* Replaces dropped output by a gap. */
static enum status tell_gap(struct spooled *item)
{
    if (!item->ref.bytes) /* it had nothing but its input */
        return OK;
    item->chunks = calloc(1, sizeof(*item->chunks));
    if (!item->chunks)
        return E_NOMEM;
    item->chunks[0] = (struct output_chunk){.stream = OUTPUT_STDOUT,
                                            .at_ms = history_row_ended_ms(&item->row),
                                            .gap_bytes = item->ref.bytes,
                                            .bytes = ""};
    item->chunk_count = 1;
    item->row.run.output_truncated = true;
    return OK;
}

/* The first chunk may be the input. */
static void split_input(struct spooled *item)
{
    if (!item->chunk_count || item->chunks[0].stream != OUTPUT_INPUT)
        return;
    item->input = item->chunks[0].bytes;
    item->input_length = item->chunks[0].length;
    memmove(item->chunks, item->chunks + 1, --item->chunk_count * sizeof(*item->chunks));
}

/* A missing file is lost. Any other failure, such as too many open files, may pass: retry. */
static enum status why_not_open(void)
{
    return errno == ENOENT ? E_CORRUPT : E_IO;
}

enum status spool_files_load_output(struct spool_files *files, struct spooled *item)
{
    const struct output_ref *ref = &item->ref;
    size_t length = 0;
    if (!ref->chunks || item->is_change || item->row.is_entry)
        return OK;
    if (!ref->segment || !find_segment(&files->outputs, ref->segment))
        return tell_gap(item);
    int fd = segment_open(files, &files->outputs, ref->segment, O_RDONLY);
    enum status st = fd < 0 ? why_not_open() : frame_read(fd, ref->at, &item->payload, &length);
    if (fd >= 0)
        close(fd);
    if (st == OK)
        st = output_of_payload(item->payload, length, &item->chunks, &item->chunk_count);
    if (st == OK)
        split_input(item);
    item->bytes = length;
    return st == E_CORRUPT ? tell_gap(item) : st;
}

/* Loads the record at *at and moves *at to the next one. */
static enum status load_item(struct spool_files *files, int fd, int64_t *at, struct spooled *item)
{
    char *payload = NULL;
    size_t length;
    enum status st = frame_read(fd, *at, &payload, &length);
    if (st != OK)
        return st;
    st = state_of_payload(payload, length, item);
    free(payload);
    if (st != OK)
        return st;
    st = spool_files_load_output(files, item);
    if (st == OK)
        *at += FRAME_HEAD + (int64_t)length;
    else
        spooled_release(item);
    return st;
}

/* ---- all of them ---- */

static enum status visit_next(int fd, int64_t *at, spool_visit *visit, void *context)
{
    char *payload = NULL;
    struct spooled item = {0};
    size_t length;
    enum status st = frame_read(fd, *at, &payload, &length);
    if (st != OK)
        return st;
    st = state_of_payload(payload, length, &item);
    free(payload);
    if (st != OK)
        return st;
    st = visit(context, &item);
    spooled_release(&item);
    *at += FRAME_HEAD + (int64_t)length;
    return st;
}

enum status spool_files_each(struct spool_files *files, spool_visit *visit, void *context)
{
    enum status st = OK;
    for (size_t i = 0; i < files->states.count && st == OK; i++) {
        const struct segment *segment = &files->states.items[i];
        int64_t at = i ? FILE_HEAD : files->at;
        int fd = segment_open(files, &files->states, segment->number, O_RDONLY);
        if (fd < 0)
            st = why_not_open();
        while (st == OK && at < segment->size)
            st = visit_next(fd, &at, visit, context);
        if (fd >= 0)
            close(fd);
        if (st == E_CORRUPT)
            st = OK;
    }
    return st;
}

/* ---- batches ---- */

static enum status load_items(struct spool_files *files, size_t limit, int fd,
                              struct spool_batch *batch)
{
    size_t bytes = 0;
    enum status st = OK;
    batch->end = files->at;
    while (batch->count < limit && batch->end < files->states.items[0].size &&
           bytes < BATCH_BYTES) {
        st = load_item(files, fd, &batch->end, &batch->items[batch->count]);
        if (st != OK)
            break;
        bytes += batch->items[batch->count++].bytes;
    }
    for (size_t i = 0; i < batch->count; i++) {
        const struct spooled *item = &batch->items[i];
        batch->records[i] = (struct history_record){.chunks = item->chunks,
                                                    .chunk_count = item->chunk_count,
                                                    .input = item->input,
                                                    .input_length = item->input_length};
        if (item->is_change)
            batch->records[i].change = &item->change;
        else if (item->row.is_entry)
            batch->records[i].entry = &item->row.entry;
        else
            batch->records[i].run = &item->row.run;
    }
    return batch->count ? OK : st; /* records before a damaged one are delivered */
}

/* Deletes the first state segment, which is delivered; after the last one, all output. */
static void delete_first_state(struct spool_files *files)
{
    segments_delete_first(files, &files->states);
    files->at = FILE_HEAD;
    if (files->states.count)
        return;
    while (files->outputs.count)
        segments_delete_first(files, &files->outputs);
    files->stats.waiting_records = 0;
}

enum status spool_files_load(struct spool_files *files, size_t limit, struct spool_batch *ret)
{
    struct spool_batch batch = {.count = 0};
    while (files->states.count && files->at >= files->states.items[0].size)
        delete_first_state(files);
    if (!files->states.count)
        return E_NOT_FOUND;
    batch.items = calloc(limit, sizeof(*batch.items));
    batch.records = calloc(limit, sizeof(*batch.records));
    int fd = segment_open(files, &files->states, files->states.items[0].number, O_RDONLY);
    enum status st = batch.items && batch.records ? OK : E_NOMEM;
    if (st == OK)
        st = fd < 0 ? why_not_open() : load_items(files, limit, fd, &batch);
    if (fd >= 0)
        close(fd);
    if (st == E_CORRUPT) { /* damaged after it was written: the rest of the segment is lost */
        files->stats.damaged_segments++;
        files->at = files->states.items[0].size;
        spool_batch_release(&batch);
        return spool_files_load(files, limit, ret);
    }
    if (st != OK) {
        spool_batch_release(&batch);
        return st;
    }
    *ret = batch;
    return OK;
}

void spool_files_remove(struct spool_files *files, const struct spool_batch *batch)
{
    uint64_t needed = 0;
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->items[i].ref.segment)
            needed = batch->items[i].ref.segment;
    }
    files->at = batch->end;
    files->stats.waiting_records -= (int64_t)batch->count;
    while (files->outputs.count && files->outputs.items[0].number < needed)
        segments_delete_first(files, &files->outputs);
    while (files->states.count && files->at >= files->states.items[0].size)
        delete_first_state(files);
}
