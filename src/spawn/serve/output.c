#include "serve/output.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "serve/low_fds.h"

#define HEADER sizeof(struct spawn_record)

void output_init(struct output *output, uint64_t head_limit, uint64_t tail_limit)
{
    *output = (struct output){
        .head_fd = -1,
        .tail_fd = -1,
        .head_limit = head_limit,
        .tail_limit = tail_limit,
    };
}

static void tail_name(const char *id, uint32_t turn, char name[SPAWN_OUTPUT_NAME_MAX])
{
    snprintf(name, SPAWN_OUTPUT_NAME_MAX, "%s.%u", id, turn);
}

static int open_file(int folder_fd, const char *name)
{
    const int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
    return high_fd(openat(folder_fd, name, flags, 0600));
}

/* Appends a record completely, or not at all. */
static bool write_record(int fd, uint64_t used, const struct spawn_record *record,
                         const char *bytes)
{
    struct iovec parts[] = {
        {(void *)record, HEADER},
        {(void *)bytes, record->length},
    };
    ssize_t want = (ssize_t)(HEADER + record->length);
    ssize_t wrote = writev(fd, parts, 2);
    if (wrote == want)
        return true;
    if (wrote > 0 && ftruncate(fd, (off_t)used) < 0)
        return false;
    return false;
}

/* Writes the part that belongs to the first head_limit bytes and returns its length; failed writes
 * count, too. */
static size_t append_head(struct output *output, int folder_fd, const char *id,
                          struct spawn_record record, const char *bytes)
{
    if (output->head_closed)
        return 0;
    uint64_t room = output->head_limit > record.position ? output->head_limit - record.position : 0;
    if (record.length >= room) {
        record.length = (uint32_t)room;
        output->head_closed = true;
    }
    if (record.length > 0) {
        if (output->head_fd < 0)
            output->head_fd = open_file(folder_fd, id);
        if (output->head_fd >= 0 &&
            write_record(output->head_fd, output->head_used, &record, bytes)) {
            output->head_used += HEADER + record.length;
        } else {
            output->disk_full = true;
            output->dropped += record.length;
        }
    }
    if (output->head_closed && output->head_fd >= 0) { /* one open file for a run is enough */
        close(output->head_fd);
        output->head_fd = -1;
    }
    return record.length;
}

/* Replaces the other tail file by an empty one. A new file, not a truncated one: readers that have
 * the old one open can finish it. */
static void turn_tail(struct output *output, int folder_fd, const char *id)
{
    char name[SPAWN_OUTPUT_NAME_MAX];
    if (output->tail_fd >= 0)
        close(output->tail_fd);
    output->tail_fd = -1;
    uint32_t turn = output->tail_turn ^ 1;
    tail_name(id, turn, name);
    unlinkat(folder_fd, name, 0);
    output->tail_turn = turn;
    output->dropped += output->tail_bytes[turn];
    output->tail_bytes[turn] = 0;
    output->tail_used[turn] = 0;
}

/* Appends a record that fits into the current tail file. */
static void append_piece(struct output *output, int folder_fd, const char *id,
                         const struct spawn_record *piece, const char *bytes)
{
    uint32_t turn = output->tail_turn;
    if (output->tail_fd < 0) {
        char name[SPAWN_OUTPUT_NAME_MAX];
        tail_name(id, turn, name);
        output->tail_fd = open_file(folder_fd, name);
    }
    if (output->tail_fd >= 0 &&
        write_record(output->tail_fd, output->tail_used[turn], piece, bytes)) {
        output->tail_used[turn] += HEADER + piece->length;
        output->tail_bytes[turn] += piece->length;
    } else {
        output->disk_full = true;
        output->dropped += piece->length;
    }
}

/* Fills each file to the last byte before switching to the other: so the two always hold the last
 * tail_limit bytes. */
static void append_tail(struct output *output, int folder_fd, const char *id,
                        struct spawn_record rest, const char *bytes)
{
    if (rest.length > output->tail_limit) { /* a tail smaller than a chunk keeps the chunk's end */
        uint32_t skip = rest.length - (uint32_t)output->tail_limit;
        output->dropped += skip;
        rest.position += skip;
        rest.length -= skip;
        bytes += skip;
    }
    while (rest.length > 0) {
        if (output->tail_bytes[output->tail_turn] >= output->tail_limit)
            turn_tail(output, folder_fd, id);
        uint64_t room = output->tail_limit - output->tail_bytes[output->tail_turn];
        struct spawn_record piece = rest;
        if (piece.length > room)
            piece.length = (uint32_t)room;
        append_piece(output, folder_fd, id, &piece, bytes);
        rest.position += piece.length;
        rest.length -= piece.length;
        bytes += piece.length;
    }
}

void output_append(struct output *output, int folder_fd, const char *id, enum spawn_stream stream,
                   const char *bytes, size_t length, int64_t wall_ms)
{
    struct spawn_record record = {
        .magic = SPAWN_RECORD_MAGIC,
        .stream = (uint16_t)stream,
        .length = (uint32_t)length,
        .position = output->position,
        .wall_ms = wall_ms,
    };
    output->position += length;
    output->in_line = length > 0 && bytes[length - 1] != '\n';
    size_t done = append_head(output, folder_fd, id, record, bytes);
    if (done == length)
        return;
    record.position += done;
    record.length -= (uint32_t)done;
    append_tail(output, folder_fd, id, record, bytes + done);
}

void output_close(struct output *output)
{
    if (output->head_fd >= 0)
        close(output->head_fd);
    if (output->tail_fd >= 0)
        close(output->tail_fd);
    output->head_fd = -1;
    output->tail_fd = -1;
}

struct file_sum {
    uint64_t used;  /* to the end of the last whole record */
    uint64_t bytes; /* of output */
    uint64_t end;   /* position behind the last byte */
    bool in_line;   /* that is no newline */
};

/* Walks the records of a file and truncates an incomplete one. False: no file. */
static bool sum_file(int folder_fd, const char *name, struct file_sum *ret)
{
    int fd = openat(folder_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    struct stat st;
    if (fd < 0)
        return false;
    struct file_sum sum = {0};
    struct spawn_record record;
    while (fstat(fd, &st) == 0 && pread(fd, &record, HEADER, (off_t)sum.used) == (ssize_t)HEADER &&
           spawn_record_valid(&record, sum.end) &&
           sum.used + HEADER + record.length <= (uint64_t)st.st_size) {
        sum.used += HEADER + record.length;
        sum.bytes += record.length;
        sum.end = record.position + record.length;
    }
    char last = '\n';
    if (sum.used && pread(fd, &last, 1, (off_t)sum.used - 1) == 1)
        sum.in_line = last != '\n';
    if (ftruncate(fd, (off_t)sum.used) < 0)
        sum = (struct file_sum){0};
    close(fd);
    *ret = sum;
    return true;
}

void output_recover(struct output *output, int folder_fd, const char *id)
{
    char name[SPAWN_OUTPUT_NAME_MAX];
    struct file_sum head = {0}, tails[2] = {{0}, {0}};
    sum_file(folder_fd, id, &head);
    output->head_used = head.used;
    uint64_t kept = head.bytes;
    output->position = head.end;
    output->in_line = head.in_line;
    for (uint32_t turn = 0; turn < 2; turn++) {
        tail_name(id, turn, name);
        bool exists = sum_file(folder_fd, name, &tails[turn]);
        output->tail_used[turn] = tails[turn].used;
        output->tail_bytes[turn] = tails[turn].bytes;
        output->head_closed |= exists;
        kept += tails[turn].bytes;
        if (tails[turn].end > output->position) {
            output->position = tails[turn].end;
            output->in_line = tails[turn].in_line;
            output->tail_turn = turn;
        }
    }
    output->dropped = output->position - kept;
}
