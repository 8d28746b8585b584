#include "history_spool_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FILE_HEAD = 8,
    SEGMENT_MIN = 64 * 1024,
    SEGMENT_MAX = 8 * 1024 * 1024,
    SEGMENTS = 32,                 /* about so many make up the limit */
    BATCH_BYTES = 4 * 1024 * 1024, /* of output in a batch, or one record with more */
};

static const char file_mark[FILE_HEAD] = {'P', 'E', 'A', 'L', 'S', 'P', '0', '1'};

/* ---- segments ---- */

static void path_of(const struct spool_files *files, const struct segment_list *list,
                    uint64_t number, struct strbuf *path)
{
    strbuf_addf(path, "%s/%s-%016" PRIx64, files->dir, list == &files->states ? "state" : "output",
                number);
}

static enum status add_segment(struct segment_list *list, const struct segment *segment)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : 16;
        struct segment *items = realloc(list->items, capacity * sizeof(*items));
        if (!items)
            return E_NOMEM;
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = *segment;
    return OK;
}

static void close_last(struct segment_list *list)
{
    if (list->fd >= 0)
        close(list->fd);
    list->fd = -1;
}

/* Without this a new file's name may be lost with the machine's power. */
static enum status sync_dir(const struct spool_files *files)
{
    int fd = open(files->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return E_IO;
    int failed = fsync(fd);
    close(fd);
    return failed ? E_IO : OK;
}

static enum status write_all(int fd, const char *bytes, size_t length)
{
    while (length) {
        ssize_t written = write(fd, bytes, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return E_IO;
        bytes += written;
        length -= (size_t)written;
    }
    return OK;
}

/* A new last segment, unless the last one has room. */
static enum status ensure_segment(struct spool_files *files, struct segment_list *list)
{
    struct segment segment = {.number = files->next_number, .size = FILE_HEAD};
    if (list->fd >= 0 && list->items[list->count - 1].size < files->segment_bytes)
        return OK;
    struct strbuf path;
    strbuf_init(&path);
    path_of(files, list, segment.number, &path);
    enum status st = strbuf_status(&path);
    int fd =
        st == OK ? open(path.text, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (st == OK && fd < 0)
        st = E_IO;
    if (st == OK)
        st = write_all(fd, file_mark, sizeof(file_mark));
    if (st == OK)
        st = sync_dir(files);
    if (st == OK)
        st = add_segment(list, &segment);
    if (st == OK) {
        if (list->fd >= 0 && fsync(list->fd) != 0)
            st = E_IO;
        close_last(list);
        list->fd = fd;
        files->next_number++;
        files->stats.waiting_bytes += FILE_HEAD;
    } else if (fd >= 0) {
        close(fd);
        unlink(path.text);
    }
    strbuf_release(&path);
    return st;
}

static void delete_segment(const struct spool_files *files, const struct segment_list *list,
                           uint64_t number)
{
    struct strbuf path;
    strbuf_init(&path);
    path_of(files, list, number, &path);
    unlink(path.text);
    strbuf_release(&path);
}

/* Deletes the oldest. */
static void delete_first(struct spool_files *files, struct segment_list *list)
{
    delete_segment(files, list, list->items[0].number);
    files->stats.waiting_bytes -= list->items[0].size;
    if (list->count == 1)
        close_last(list);
    memmove(list->items, list->items + 1, --list->count * sizeof(*list->items));
}

static const struct segment *find_segment(const struct segment_list *list, uint64_t number)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].number == number)
            return &list->items[i];
    }
    return NULL;
}

/* ---- reading frames ---- */

static enum status read_at(int fd, int64_t at, void *bytes, size_t length)
{
    for (size_t done = 0; done < length;) {
        ssize_t got = pread(fd, (char *)bytes + done, length - done, (off_t)(at + (int64_t)done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return E_IO;
        if (got == 0)
            return E_CORRUPT; /* cut short */
        done += (size_t)got;
    }
    return OK;
}

/* The payload of the frame at a place; E_CORRUPT: there is none that is whole. */
static enum status read_frame(int fd, int64_t at, char **ret_payload, size_t *ret_length)
{
    char head[FRAME_HEAD];
    size_t length;
    struct stat info;
    enum status st = read_at(fd, at, head, sizeof(head));
    if (st != OK)
        return st;
    if (!frame_read_head(head, &length) || fstat(fd, &info) != 0 ||
        (int64_t)length > info.st_size - at - FRAME_HEAD)
        return E_CORRUPT;
    char *payload = malloc(length + 1);
    if (!payload)
        return E_NOMEM;
    st = read_at(fd, at + FRAME_HEAD, payload, length);
    if (st == OK && !frame_check(head, payload, length))
        st = E_CORRUPT;
    if (st != OK) {
        free(payload);
        return st;
    }
    *ret_payload = payload;
    *ret_length = length;
    return OK;
}

static int open_segment(const struct spool_files *files, const struct segment_list *list,
                        uint64_t number, int flags)
{
    struct strbuf path;
    strbuf_init(&path);
    path_of(files, list, number, &path);
    int fd = open(path.text, flags | O_CLOEXEC);
    strbuf_release(&path);
    return fd;
}

/* ---- opening ---- */

/* Finds out how far the segment is whole, and what is in it. */
static enum status scan_frames(struct spool_files *files, struct segment_list *list, int fd,
                               struct segment *segment)
{
    enum status st;
    char *payload;
    size_t length;
    segment->size = FILE_HEAD;
    while ((st = read_frame(fd, segment->size, &payload, &length)) == OK) {
        struct output_chunk *chunks = NULL;
        size_t count = 0;
        if (list == &files->states)
            files->stats.waiting_records++;
        else if (output_of_payload(payload, length, &chunks, &count) == OK)
            segment->chunks += (int64_t)count;
        for (size_t i = 0; i < count; i++)
            segment->bytes += (int64_t)chunks[i].length;
        free(chunks);
        free(payload);
        segment->size += FRAME_HEAD + (int64_t)length;
    }
    return st == E_CORRUPT ? OK : st;
}

/* E_CORRUPT: not one of ours, or it was cut off within its first bytes. */
static enum status scan_segment(struct spool_files *files, struct segment_list *list,
                                uint64_t number)
{
    struct segment segment = {.number = number};
    char mark[FILE_HEAD];
    struct stat info;
    int fd = open_segment(files, list, number, O_RDWR);
    if (fd < 0)
        return E_IO;
    enum status st = read_at(fd, 0, mark, sizeof(mark));
    if (st == OK && memcmp(mark, file_mark, sizeof(mark)) != 0)
        st = memcmp(mark, file_mark, 6) == 0 ? E_VERSION : E_CORRUPT;
    if (st == OK)
        st = scan_frames(files, list, fd, &segment);
    if (st == OK && fstat(fd, &info) == 0 && info.st_size > segment.size) {
        files->stats.damaged_segments++;
        if (ftruncate(fd, (off_t)segment.size) != 0)
            st = E_IO;
    }
    bool is_empty = fstat(fd, &info) == 0 && info.st_size < FILE_HEAD;
    close(fd);
    if (is_empty)
        delete_segment(files, list, number);
    if (st == OK)
        st = add_segment(list, &segment);
    if (st == OK)
        files->stats.waiting_bytes += segment.size;
    return st;
}

static int compare_numbers(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* The numbers of the segments that are there, oldest first. */
static enum status list_numbers(const struct spool_files *files, const char *kind, uint64_t **ret,
                                size_t *ret_count)
{
    uint64_t *numbers = NULL, number;
    size_t count = 0, kind_length = strlen(kind);
    DIR *dir = opendir(files->dir);
    if (!dir)
        return E_IO;
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (strncmp(entry->d_name, kind, kind_length) != 0 ||
            sscanf(entry->d_name + kind_length, "-%16" SCNx64, &number) != 1)
            continue;
        uint64_t *more = realloc(numbers, (count + 1) * sizeof(*numbers));
        if (!more) {
            free(numbers);
            closedir(dir);
            return E_NOMEM;
        }
        numbers = more;
        numbers[count++] = number;
    }
    closedir(dir);
    if (count)
        qsort(numbers, count, sizeof(*numbers), compare_numbers);
    *ret = numbers;
    *ret_count = count;
    return OK;
}

static enum status scan_list(struct spool_files *files, struct segment_list *list, const char *kind)
{
    uint64_t *numbers = NULL;
    size_t count = 0;
    enum status st = list_numbers(files, kind, &numbers, &count);
    for (size_t i = 0; i < count && st == OK; i++) {
        st = scan_segment(files, list, numbers[i]);
        if (st == E_CORRUPT) { /* nothing of it was ever acknowledged, or all of it is lost */
            files->stats.damaged_segments++;
            st = OK;
        }
        if (numbers[i] >= files->next_number)
            files->next_number = numbers[i] + 1;
    }
    free(numbers);
    return st;
}

static void explain(const struct spool_files *files, enum status st, struct strbuf *why)
{
    if (st == E_VERSION)
        strbuf_addf(why,
                    "%s was written by a newer peal. Install that version again, or move the "
                    "folder away: what waits in it is then not delivered.",
                    files->dir);
    else
        strbuf_addf(why,
                    "%s cannot be used: %s. Check the room on its disk and the permissions "
                    "of its folder.",
                    files->dir, st == E_IO ? strerror(errno) : status_text(st));
}

enum status spool_files_open(const char *dir, int64_t max_bytes, struct spool_files *ret,
                             struct strbuf *why)
{
    struct strbuf path;
    struct spool_files files = {.max_bytes = max_bytes, .next_number = 1, .at = FILE_HEAD};
    strbuf_init(&path);
    strbuf_addf(&path, "%s/spool", dir);
    files.dir = strbuf_detach(&path);
    files.states.fd = files.outputs.fd = -1;
    files.segment_bytes = max_bytes / SEGMENTS;
    if (files.segment_bytes < SEGMENT_MIN)
        files.segment_bytes = SEGMENT_MIN;
    if (files.segment_bytes > SEGMENT_MAX)
        files.segment_bytes = SEGMENT_MAX;
    if (!files.dir)
        return E_NOMEM;
    enum status st = OK;
    if (mkdir(files.dir, 0700) != 0 && errno != EEXIST)
        st = E_IO;
    if (st == OK)
        st = scan_list(&files, &files.states, "state");
    if (st == OK)
        st = scan_list(&files, &files.outputs, "output");
    if (st != OK) {
        explain(&files, st, why);
        spool_files_close(&files);
        return st;
    }
    while (files.outputs.count && !files.states.count) /* nobody refers to it */
        delete_first(&files, &files.outputs);
    *ret = files;
    return OK;
}

void spool_files_close(struct spool_files *files)
{
    close_last(&files->states);
    close_last(&files->outputs);
    free(files->states.items);
    free(files->outputs.items);
    free(files->dir);
    *files = (struct spool_files){0};
}

/* ---- writing ---- */

static void drop_oldest_output(struct spool_files *files)
{
    files->stats.dropped_chunks += files->outputs.items[0].chunks;
    files->stats.dropped_bytes += files->outputs.items[0].bytes;
    delete_first(files, &files->outputs);
}

/* Until `bytes` fit. False: they never will. */
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
        st = write_all(list->fd, frame.text, frame.length);
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

/* The record's output, if it fits without the end of any run being in its way. */
static enum status write_output(struct spool_files *files, const struct history_record *record,
                                struct output_ref *ref)
{
    struct strbuf payload;
    *ref = (struct output_ref){.chunks = (int64_t)record->chunk_count, .bytes = bytes_of(record)};
    if (!record->chunk_count)
        return OK;
    strbuf_init(&payload);
    payload_of_output(record, &payload);
    enum status st = strbuf_status(&payload);
    int64_t needed = (int64_t)payload.length + 2 * SEGMENT_MIN; /* and the end itself */
    if (st == OK && (payload.length > FRAME_MAX || !make_room(files, needed))) {
        files->stats.dropped_chunks += ref->chunks;
        files->stats.dropped_bytes += ref->bytes;
        strbuf_release(&payload);
        return OK;
    }
    if (st == OK)
        st = ensure_segment(files, &files->outputs);
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
    if (st == OK && !make_room(files, (int64_t)payload.length + FRAME_HEAD + FILE_HEAD))
        st = E_TOO_LARGE;
    if (st == OK)
        st = ensure_segment(files, &files->states);
    if (st == OK)
        st = write_frame(files, &files->states, &payload);
    if (st == OK)
        files->stats.waiting_records++;
    strbuf_release(&payload);
    return st;
}

static struct segment_mark mark_of(const struct segment_list *list)
{
    if (!list->count)
        return (struct segment_mark){0};
    const struct segment *last = &list->items[list->count - 1];
    return (struct segment_mark){last->number, last->size};
}

static void undo(struct spool_files *files, struct segment_list *list, struct segment_mark mark)
{
    while (list->count && list->items[list->count - 1].number > mark.number) {
        const struct segment *last = &list->items[--list->count];
        delete_segment(files, list, last->number);
        files->stats.waiting_bytes -= last->size;
        close_last(list);
    }
    if (!list->count || list->items[list->count - 1].number != mark.number)
        return;
    struct segment *last = &list->items[list->count - 1];
    files->stats.waiting_bytes -= last->size - mark.size;
    last->size = mark.size;
    int fd = open_segment(files, list, last->number, O_WRONLY);
    if (fd >= 0 && ftruncate(fd, (off_t)mark.size) != 0)
        files->stats.damaged_segments++; /* found out again when it is read */
    if (fd >= 0)
        close(fd);
    close_last(list); /* a new one is begun, in case this one cannot be trusted */
}

enum status spool_files_write(struct spool_files *files, const struct history_append *append)
{
    struct segment_mark states = mark_of(&files->states), outputs = mark_of(&files->outputs);
    int64_t records = files->stats.waiting_records;
    enum status st = OK;
    for (size_t i = 0; i < append->count && st == OK; i++)
        st = write_record(files, &append->records[i]);
    if (st != OK) {
        int reason = errno;
        undo(files, &files->states, states);
        undo(files, &files->outputs, outputs);
        files->stats.waiting_records = records;
        errno = reason;
        return st;
    }
    files->unsynced_records += (int64_t)append->count;
    return OK;
}

/* Output first: an end on disk never refers to output that is not. */
enum status spool_files_sync(struct spool_files *files)
{
    if ((files->outputs.fd >= 0 && fsync(files->outputs.fd) != 0) ||
        (files->states.fd >= 0 && fsync(files->states.fd) != 0)) {
        int reason = errno;
        undo(files, &files->states, files->synced_states);
        undo(files, &files->outputs, files->synced_outputs);
        files->stats.waiting_records -= files->unsynced_records;
        files->unsynced_records = 0;
        errno = reason;
        return E_IO;
    }
    files->synced_states = mark_of(&files->states);
    files->synced_outputs = mark_of(&files->outputs);
    files->stats.spooled_records += files->unsynced_records;
    files->unsynced_records = 0;
    return OK;
}

/* ---- delivering ---- */

static void release_item(struct spooled *item)
{
    free(item->chunks);
    free(item->payload);
}

void spool_batch_release(struct spool_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++)
        release_item(&batch->items[i]);
    free(batch->items);
    free(batch->records);
    *batch = (struct spool_batch){0};
}

/* What was dropped is told as a gap. */
static enum status tell_gap(struct spooled *item)
{
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

static enum status load_output(struct spool_files *files, struct spooled *item)
{
    const struct output_ref *ref = &item->ref;
    size_t length = 0;
    if (!ref->chunks || item->row.is_entry)
        return OK;
    if (!ref->segment || !find_segment(&files->outputs, ref->segment))
        return tell_gap(item);
    int fd = open_segment(files, &files->outputs, ref->segment, O_RDONLY);
    enum status st = fd < 0 ? E_CORRUPT : read_frame(fd, ref->at, &item->payload, &length);
    if (fd >= 0)
        close(fd);
    if (st == OK)
        st = output_of_payload(item->payload, length, &item->chunks, &item->chunk_count);
    item->output_bytes = length;
    return st == E_CORRUPT ? tell_gap(item) : st;
}

/* *at is moved behind it. */
static enum status load_item(struct spool_files *files, int fd, int64_t *at, struct spooled *item)
{
    char *payload = NULL;
    size_t length;
    enum status st = read_frame(fd, *at, &payload, &length);
    if (st != OK)
        return st;
    *item = (struct spooled){.chunks = NULL};
    st = state_of_payload(payload, length, &item->row, &item->ref);
    free(payload);
    if (st == OK)
        st = load_output(files, item);
    if (st == OK)
        *at += FRAME_HEAD + (int64_t)length;
    else
        release_item(item);
    return st;
}

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
        bytes += batch->items[batch->count++].output_bytes;
    }
    for (size_t i = 0; i < batch->count; i++) {
        const struct spooled *item = &batch->items[i];
        batch->records[i] =
            (struct history_record){.chunks = item->chunks, .chunk_count = item->chunk_count};
        if (item->row.is_entry)
            batch->records[i].entry = &item->row.entry;
        else
            batch->records[i].run = &item->row.run;
    }
    return batch->count ? OK : st; /* those before a bad one are good */
}

/* A segment of which nothing is left to deliver. */
static void delete_first_state(struct spool_files *files)
{
    delete_first(files, &files->states);
    files->at = FILE_HEAD;
    if (files->states.count)
        return;
    while (files->outputs.count)
        delete_first(files, &files->outputs);
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
    int fd = open_segment(files, &files->states, files->states.items[0].number, O_RDONLY);
    enum status st = batch.items && batch.records ? OK : E_NOMEM;
    if (st == OK)
        st = fd < 0 ? E_CORRUPT : load_items(files, limit, fd, &batch);
    if (fd >= 0)
        close(fd);
    if (st == E_CORRUPT) { /* it was whole when it was written: the rest of it is lost */
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
        delete_first(files, &files->outputs);
    while (files->states.count && files->at >= files->states.items[0].size)
        delete_first_state(files);
}
