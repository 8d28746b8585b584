#include "spawn_output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "spawn_message.h"

#define FILES 3

struct spawn_output {
    int fds[FILES];  /* in the order of their positions; -1: there is none */
    int current;     /* index of the file that is read */
    uint64_t offset; /* in that file */
    uint64_t end;    /* position after the last record read from it */
    uint64_t position;
    char bytes[SPAWN_RECORD_MAX];
};

static void file_path(const char *folder, const char *id, int index, char path[PATH_MAX])
{
    static const char *const suffixes[FILES] = {"", ".0", ".1"};
    snprintf(path, PATH_MAX, "%s/" SPAWN_OUTPUT_FOLDER "/%s%s", folder, id, suffixes[index]);
}

/* Where a file's first record begins; UINT64_MAX: it has none. */
static uint64_t first_position(int fd)
{
    struct spawn_record record;
    if (fd < 0 || pread(fd, &record, sizeof(record), 0) != (ssize_t)sizeof(record))
        return UINT64_MAX;
    return record.position;
}

enum status spawn_output_open(const char *folder, const char *id, uint64_t position,
                              struct spawn_output **ret)
{
    if (!spawn_id_valid(id))
        return E_INVALID;
    struct spawn_output *output = calloc(1, sizeof(*output));
    if (!output)
        return E_NOMEM;
    output->position = position;
    enum status st = OK;
    for (int i = 0; i < FILES; i++) {
        char path[PATH_MAX];
        file_path(folder, id, i, path);
        output->fds[i] = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
        if (output->fds[i] < 0 && errno != ENOENT)
            st = E_IO;
    }
    if (st != OK) {
        spawn_output_free(output);
        return st;
    }
    if (first_position(output->fds[2]) < first_position(output->fds[1])) {
        int newer = output->fds[1];
        output->fds[1] = output->fds[2];
        output->fds[2] = newer;
    }
    *ret = output;
    return OK;
}

static void next_file(struct spawn_output *output)
{
    output->current++;
    output->offset = 0;
    output->end = 0;
}

/* The next record of the current file. E_NOT_FOUND: none that is whole. */
static enum status next_record(struct spawn_output *output, struct spawn_record *ret)
{
    int fd = output->fds[output->current];
    struct spawn_record record;
    if (fd < 0 || pread(fd, &record, sizeof(record), (off_t)output->offset) != sizeof(record))
        return E_NOT_FOUND;
    if (!spawn_record_valid(&record, output->end))
        return E_CORRUPT;
    if (record.position + record.length > output->position) {
        ssize_t got =
            pread(fd, output->bytes, record.length, (off_t)(output->offset + sizeof(record)));
        if (got < (ssize_t)record.length)
            return E_NOT_FOUND;
    }
    output->offset += sizeof(record) + record.length;
    output->end = record.position + record.length;
    *ret = record;
    return OK;
}

enum status spawn_output_next(struct spawn_output *output, struct spawn_chunk *ret)
{
    while (output->current < FILES) {
        struct spawn_record record;
        enum status st = next_record(output, &record);
        if (st != OK) {
            next_file(output);
            if (st != E_NOT_FOUND)
                return st;
            continue;
        }
        uint64_t end = record.position + record.length;
        if (end <= output->position)
            continue; /* read before */
        uint64_t skip = record.position < output->position ? output->position - record.position : 0;
        *ret = (struct spawn_chunk){
            .stream = (enum spawn_stream)record.stream,
            .wall_ms = record.wall_ms,
            .position = record.position + skip,
            .gap_bytes = record.position + skip - output->position,
            .bytes = output->bytes + skip,
            .length = record.length - skip,
        };
        output->position = end;
        return OK;
    }
    return E_NOT_FOUND;
}

struct spawn_output *spawn_output_free(struct spawn_output *output)
{
    if (!output)
        return NULL;
    for (int i = 0; i < FILES; i++)
        if (output->fds[i] >= 0)
            close(output->fds[i]);
    free(output);
    return NULL;
}

void spawn_output_remove(const char *folder, const char *id)
{
    for (int i = 0; spawn_id_valid(id) && i < FILES; i++) {
        char path[PATH_MAX];
        file_path(folder, id, i, path);
        unlink(path);
    }
    spawn_values_remove(folder, id);
}

/* ---- values ---- */

/* False: the path is too long, or the id is none. */
static bool values_path(const char *folder, const char *id, char path[PATH_MAX])
{
    return spawn_id_valid(id) &&
           snprintf(path, PATH_MAX, "%s/" SPAWN_OUTPUT_FOLDER "/%s" SPAWN_VALUES_SUFFIX, folder,
                    id) < PATH_MAX;
}

/* A run of the agent's own user can put something else in its place: a device, a pipe that nobody
 * writes to, another name of a file. Only a file of that user's is read then, which the run could
 * have read itself; root's agent has the folder to itself. */
static bool is_own_file(const struct stat *about)
{
    return S_ISREG(about->st_mode) && about->st_nlink == 1 &&
           (geteuid() == 0 || about->st_uid == geteuid());
}

/* E_NOT_FOUND: the file is empty. A run that has left processes behind may still write to it. */
static enum status read_values(int fd, size_t max, char **ret, size_t *ret_length)
{
    struct stat about;
    if (fstat(fd, &about) != 0)
        return E_IO;
    if (!is_own_file(&about))
        return E_INVALID;
    if (about.st_size == 0)
        return E_NOT_FOUND;
    if ((uint64_t)about.st_size > max)
        return E_TOO_LARGE;
    size_t size = (size_t)about.st_size;
    char *text = malloc(size + 1);
    if (!text)
        return E_NOMEM;
    ssize_t got = pread(fd, text, size, 0);
    if (got <= 0) {
        free(text);
        return got == 0 ? E_NOT_FOUND : E_IO;
    }
    text[got] = '\0';
    *ret = text;
    *ret_length = (size_t)got;
    return OK;
}

enum status spawn_values_read(const char *folder, const char *id, size_t max, char **ret,
                              size_t *ret_length)
{
    char path[PATH_MAX];
    if (!values_path(folder, id, path))
        return E_INVALID;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | O_NOFOLLOW);
    enum status st = E_NOT_FOUND;
    if (fd >= 0) {
        st = read_values(fd, max, ret, ret_length);
        close(fd);
    } else if (errno != ENOENT) {
        st = errno == ELOOP || errno == ENXIO || errno == EACCES ? E_INVALID : E_IO;
    }
    if (st == E_NOT_FOUND) {
        *ret = NULL;
        *ret_length = 0;
        st = OK;
    }
    return st;
}

void spawn_values_remove(const char *folder, const char *id)
{
    char path[PATH_MAX];
    if (values_path(folder, id, path))
        unlink(path);
}
