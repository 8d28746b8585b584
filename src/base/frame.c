#include "frame.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hash.h"

static const char frame_mark[4] = {'P', 'E', 'A', 'L'};

static void add_number(struct strbuf *to, uint64_t value, size_t width)
{
    char bytes[8];
    for (size_t i = 0; i < width; i++)
        bytes[i] = (char)(value >> 8 * i);
    strbuf_add(to, bytes, width);
}

static uint64_t number_at(const char *bytes, size_t width)
{
    uint64_t value = 0;
    for (size_t i = width; i-- > 0;)
        value = value << 8 | (unsigned char)bytes[i];
    return value;
}

static uint64_t checksum(const char *payload, size_t length)
{
    return hash_bytes(length, payload, length);
}

void frame_add(struct strbuf *to, const struct strbuf *payload)
{
    strbuf_add(to, frame_mark, sizeof(frame_mark));
    add_number(to, payload->length, 4);
    add_number(to, checksum(payload->text, payload->length), 8);
    strbuf_add(to, payload->text, payload->length);
}

enum status file_read(int fd, int64_t at, void *bytes, size_t length)
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

enum status frame_read(int fd, int64_t at, char **ret_payload, size_t *ret_length)
{
    char head[FRAME_HEAD];
    struct stat info;
    enum status st = file_read(fd, at, head, sizeof(head));
    if (st != OK)
        return st;
    size_t length = number_at(head + 4, 4);
    if (memcmp(head, frame_mark, sizeof(frame_mark)) != 0 || length > FRAME_MAX ||
        fstat(fd, &info) != 0 || (int64_t)length > info.st_size - at - FRAME_HEAD)
        return E_CORRUPT;
    char *payload = malloc(length + 1);
    if (!payload)
        return E_NOMEM;
    st = file_read(fd, at + FRAME_HEAD, payload, length);
    if (st == OK && number_at(head + 8, 8) != checksum(payload, length))
        st = E_CORRUPT;
    if (st != OK) {
        free(payload);
        return st;
    }
    payload[length] = '\0';
    *ret_payload = payload;
    *ret_length = length;
    return OK;
}

enum status file_write(int fd, const char *bytes, size_t length)
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

enum status folder_sync(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return E_IO;
    int failed = fsync(fd);
    close(fd);
    return failed ? E_IO : OK;
}
