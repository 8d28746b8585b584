/* Writes appends to the spool. If one does not fit, the oldest output is dropped to make room; if
 * one cannot be written completely, it is rolled back. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "spool/history_spool_files.h"

enum { TRIAL_BYTES = 16 * 1024 }; /* about the end of a run with some output */

static void drop_oldest_output(struct spool_files *files)
{
    files->stats.dropped_chunks += files->outputs.items[0].chunks;
    files->stats.dropped_bytes += files->outputs.items[0].bytes;
    segments_delete_first(files, &files->outputs);
}

/* Drops output until `bytes` fit. False: they do not fit even without output. */
static bool make_room(struct spool_files *files, int64_t bytes)
{
    while (files->stats.waiting_bytes + bytes > files->max_bytes && files->outputs.count)
        drop_oldest_output(files);
    return files->stats.waiting_bytes + bytes <= files->max_bytes;
}

static enum status write_frame(struct spool_files *files, struct segment_list *list,
                               const struct strbuf *payload)
{
    struct strbuf frame;
    strbuf_init(&frame);
    frame_add(&frame, payload);
    enum status st = strbuf_status(&frame);
    if (st == OK)
        st = file_write(list->fd, frame.text, frame.length);
    if (st == OK) {
        list->items[list->count - 1].size += (int64_t)frame.length;
        files->stats.waiting_bytes += (int64_t)frame.length;
    }
    strbuf_release(&frame);
    return st;
}

static int64_t bytes_of(const struct history_record *record)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < record->chunk_count; i++)
        bytes += (int64_t)record->chunks[i].length + record->chunks[i].gap_bytes;
    return bytes;
}

/* Writes the record's output, or drops it if it does not fit next to the waiting ends of runs. */
static enum status write_output(struct spool_files *files, const struct history_record *record,
                                struct output_ref *ref)
{
    struct strbuf payload;
    *ref = (struct output_ref){.chunks = (int64_t)record->chunk_count + (record->input_length > 0),
                               .bytes = bytes_of(record)};
    if (!ref->chunks)
        return OK;
    strbuf_init(&payload);
    payload_of_output(record, &payload);
    enum status st = strbuf_status(&payload);
    int64_t needed = (int64_t)payload.length + 2 * SEGMENT_MIN; /* room for the end of the run */
    if (st == OK && (payload.length > FRAME_MAX || !make_room(files, needed))) {
        files->stats.dropped_chunks += ref->chunks;
        files->stats.dropped_bytes += ref->bytes;
        strbuf_release(&payload);
        return OK;
    }
    if (st == OK)
        st = segments_ensure(files, &files->outputs);
    if (st == OK) {
        struct segment *segment = &files->outputs.items[files->outputs.count - 1];
        ref->segment = segment->number;
        ref->at = segment->size;
        st = write_frame(files, &files->outputs, &payload);
        segment->chunks += st == OK ? ref->chunks : 0;
        segment->bytes += st == OK ? ref->bytes : 0;
    }
    strbuf_release(&payload);
    return st;
}

static enum status write_record(struct spool_files *files, const struct history_record *record)
{
    struct output_ref ref;
    struct strbuf payload;
    enum status st = write_output(files, record, &ref);
    if (st != OK)
        return st;
    strbuf_init(&payload);
    payload_of_state(record, &ref, &payload);
    st = strbuf_status(&payload);
    int64_t needed = (int64_t)payload.length + FRAME_HEAD + FILE_HEAD;
    if (st == OK && !make_room(files, needed)) {
        files->lacking_bytes = files->stats.waiting_bytes + needed;
        st = E_TOO_LARGE;
    }
    if (st == OK)
        st = segments_ensure(files, &files->states);
    if (st == OK)
        st = write_frame(files, &files->states, &payload);
    if (st == OK)
        files->stats.waiting_records++;
    strbuf_release(&payload);
    return st;
}

static void undo(struct spool_files *files, struct segment_list *list, struct segment_mark mark)
{
    while (list->count && list->items[list->count - 1].number > mark.number) {
        const struct segment *last = &list->items[--list->count];
        segments_delete(files, list, last->number);
        files->stats.waiting_bytes -= last->size;
        segments_close_last(list);
    }
    if (!list->count || list->items[list->count - 1].number != mark.number)
        return;
    struct segment *last = &list->items[list->count - 1];
    files->stats.waiting_bytes -= last->size - mark.size;
    last->size = mark.size;
    int fd = segment_open(files, list, last->number, O_WRONLY);
    if (fd >= 0 && ftruncate(fd, (off_t)mark.size) != 0)
        files->stats.damaged_segments++; /* reading finds the torn frame again */
    if (fd >= 0)
        close(fd);
    segments_close_last(list); /* the next write starts a new segment: this one may be damaged */
}

enum status spool_files_write(struct spool_files *files, const struct history_append *append)
{
    struct segment_mark states = segments_mark(&files->states),
                        outputs = segments_mark(&files->outputs);
    int64_t records = files->stats.waiting_records;
    enum status st = OK;
    for (size_t i = 0; i < append->count && st == OK; i++)
        st = write_record(files, &append->records[i]);
    if (st != OK) {
        int reason = errno;
        undo(files, &files->states, states);
        undo(files, &files->outputs, outputs);
        files->stats.waiting_records = records;
        if (st == E_TOO_LARGE)
            files->lacking_bytes -= files->stats.waiting_bytes;
        errno = reason;
        return st;
    }
    files->unsynced_records += (int64_t)append->count;
    return OK;
}

bool spool_files_are_full(const struct spool_files *files)
{
    return files->lacking_bytes > 0 &&
           files->stats.waiting_bytes + files->lacking_bytes > files->max_bytes;
}

/* Syncs the last segment. A rollback has closed it, but it may hold earlier unsynced records. */
static bool sync_last(const struct spool_files *files, const struct segment_list *list,
                      const struct segment_mark *synced)
{
    struct segment_mark mark = segments_mark(list);
    if (list->fd >= 0)
        return fsync(list->fd) == 0;
    if (!mark.number || (mark.number == synced->number && mark.size == synced->size))
        return true;
    int fd = segment_open(files, list, mark.number, O_WRONLY);
    bool done = fd >= 0 && fsync(fd) == 0;
    int reason = errno;
    if (fd >= 0)
        close(fd);
    errno = reason;
    return done;
}

/* Syncs the output first, so that no durable end of a run refers to output that is not durable. */
enum status spool_files_sync(struct spool_files *files)
{
    if (files->sync_failed || !sync_last(files, &files->outputs, &files->synced_outputs) ||
        !sync_last(files, &files->states, &files->synced_states)) {
        int reason = files->sync_failed ? EIO : errno;
        files->sync_failed = false;
        undo(files, &files->states, files->synced_states);
        undo(files, &files->outputs, files->synced_outputs);
        files->stats.waiting_records -= files->unsynced_records;
        files->unsynced_records = 0;
        errno = reason;
        return E_IO;
    }
    files->synced_states = segments_mark(&files->states);
    files->synced_outputs = segments_mark(&files->outputs);
    files->stats.spooled_records += files->unsynced_records;
    files->unsynced_records = 0;
    return OK;
}

enum status spool_files_try(const struct spool_files *files)
{
    static const char bytes[TRIAL_BYTES];
    struct strbuf path;
    strbuf_init(&path);
    strbuf_addf(&path, "%s/trial", files->dir);
    enum status st = strbuf_status(&path);
    int fd = st == OK ? open(path.text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    if (st == OK)
        st = fd >= 0 ? file_write(fd, bytes, sizeof(bytes)) : E_IO;
    if (st == OK && fsync(fd) != 0)
        st = E_IO;
    int reason = errno;
    if (fd >= 0) {
        close(fd);
        unlink(path.text);
    }
    strbuf_release(&path);
    errno = reason;
    return st;
}
