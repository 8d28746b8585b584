#include "spool/history_spool_files.h"

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
    SEGMENT_MAX = 8 * 1024 * 1024,
    SEGMENTS = 32, /* segments that make up the limit, roughly */
};

/* Files with first_file_mark have runs without a traceparent, and no changes. */
static const char file_mark[FILE_HEAD] = {'P', 'E', 'A', 'L', 'S', 'P', '0', '2'};
static const char first_file_mark[FILE_HEAD] = {'P', 'E', 'A', 'L', 'S', 'P', '0', '1'};

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

void segments_close_last(struct segment_list *list)
{
    if (list->fd >= 0)
        close(list->fd);
    list->fd = -1;
}

struct segment_mark segments_mark(const struct segment_list *list)
{
    if (!list->count)
        return (struct segment_mark){0};
    const struct segment *last = &list->items[list->count - 1];
    return (struct segment_mark){last->number, last->size};
}

enum status segments_ensure(struct spool_files *files, struct segment_list *list)
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
        st = file_write(fd, file_mark, sizeof(file_mark));
    if (st == OK)
        st = folder_sync(files->dir);
    if (st == OK)
        st = add_segment(list, &segment);
    if (st == OK) {
        if (list->fd >= 0 && fsync(list->fd) != 0) {
            files->sync_failed = true; /* the kernel reports the failure only once */
            st = E_IO;
        }
        segments_close_last(list);
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

void segments_delete(const struct spool_files *files, const struct segment_list *list,
                     uint64_t number)
{
    struct strbuf path;
    strbuf_init(&path);
    path_of(files, list, number, &path);
    unlink(path.text);
    strbuf_release(&path);
}

void segments_delete_first(struct spool_files *files, struct segment_list *list)
{
    segments_delete(files, list, list->items[0].number);
    files->stats.waiting_bytes -= list->items[0].size;
    if (list->count == 1)
        segments_close_last(list);
    memmove(list->items, list->items + 1, --list->count * sizeof(*list->items));
}

int segment_open(const struct spool_files *files, const struct segment_list *list, uint64_t number,
                 int flags)
{
    struct strbuf path;
    strbuf_init(&path);
    path_of(files, list, number, &path);
    int fd = open(path.text, flags | O_CLOEXEC);
    strbuf_release(&path);
    return fd;
}

/* ---- opening ---- */

/* Finds the end of the last whole frame, and counts what the segment holds. */
static enum status scan_frames(struct spool_files *files, struct segment_list *list, int fd,
                               struct segment *segment)
{
    enum status st;
    char *payload;
    size_t length;
    segment->size = FILE_HEAD;
    while ((st = frame_read(fd, segment->size, &payload, &length)) == OK) {
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

/* E_CORRUPT: not a spool file, or shorter than its head. */
static enum status scan_segment(struct spool_files *files, struct segment_list *list,
                                uint64_t number)
{
    struct segment segment = {.number = number};
    char mark[FILE_HEAD];
    struct stat info;
    int fd = segment_open(files, list, number, O_RDWR);
    if (fd < 0)
        return E_IO;
    enum status st = file_read(fd, 0, mark, sizeof(mark));
    if (st == OK && memcmp(mark, file_mark, sizeof(mark)) != 0 &&
        memcmp(mark, first_file_mark, sizeof(mark)) != 0)
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
        segments_delete(files, list, number);
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

/* The numbers of the existing segments, oldest first. */
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
        if (st == E_CORRUPT) { /* it held no acknowledged record, or all of its records are lost */
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
    if (mkdir(files.dir, 0700) == 0)
        st = folder_sync(dir);
    else if (errno != EEXIST)
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
    while (files.outputs.count && !files.states.count) /* no record refers to the output */
        segments_delete_first(&files, &files.outputs);
    files.synced_states = segments_mark(&files.states);
    files.synced_outputs = segments_mark(&files.outputs);
    *ret = files;
    return OK;
}

void spool_files_close(struct spool_files *files)
{
    segments_close_last(&files->states);
    segments_close_last(&files->outputs);
    free(files->states.items);
    free(files->outputs.items);
    free(files->dir);
    *files = (struct spool_files){0};
}
