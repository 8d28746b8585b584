#include "pack/spawn_pack.h"

#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "array.h"
#include "hash.h"

_Static_assert(sizeof(struct spawn_pack_entry) == 72, "no padding on disk");

void spawn_pack_name(uint64_t number, char name[SPAWN_PACK_NAME])
{
    snprintf(name, SPAWN_PACK_NAME, "%016llx", (unsigned long long)number);
}

static bool read_name(const char *name, uint64_t *ret)
{
    if (strlen(name) != SPAWN_PACK_NAME - 1 ||
        strspn(name, "0123456789abcdef") != SPAWN_PACK_NAME - 1)
        return false;
    *ret = strtoull(name, NULL, 16);
    return true;
}

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

enum status spawn_pack_list(int folder_fd, uint64_t **ret, size_t *ret_count)
{
    int fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    uint64_t *numbers = NULL, number;
    size_t count = 0;
    enum status st = folder ? OK : E_IO;
    for (const struct dirent *entry; st == OK && (entry = readdir(folder));) {
        if (!read_name(entry->d_name, &number))
            continue;
        st = array_grow(&numbers, count, sizeof(*numbers));
        if (st == OK)
            numbers[count++] = number;
    }
    if (folder)
        closedir(folder);
    else if (fd >= 0)
        close(fd);
    if (st != OK) {
        free(numbers);
        return st;
    }
    if (count)
        qsort(numbers, count, sizeof(*numbers), compare);
    *ret = numbers;
    *ret_count = count;
    return OK;
}

static uint64_t checksum(const struct spawn_pack_entry *entry, const char *bytes)
{
    uint64_t sum = hash_bytes(0, entry, offsetof(struct spawn_pack_entry, checksum));
    return hash_bytes(sum, bytes, entry->length);
}

void spawn_pack_fill(struct spawn_pack_entry *entry, const char *id, const char *bytes,
                     size_t length, int64_t wall_ms)
{
    *entry = (struct spawn_pack_entry){
        .magic = SPAWN_PACK_MAGIC,
        .length = (uint32_t)length,
        .wall_ms = wall_ms,
    };
    memcpy(entry->id, id, strlen(id));
    entry->checksum = checksum(entry, bytes);
}

enum status spawn_pack_read(int fd, uint64_t offset, struct spawn_pack_entry *ret,
                            char bytes[SPAWN_PACK_BYTES])
{
    struct spawn_pack_entry entry = {0};
    struct iovec parts[] = {{&entry, sizeof(entry)}, {bytes, SPAWN_PACK_BYTES}};
    ssize_t got = preadv(fd, parts, 2, (off_t)offset);
    if (got < (ssize_t)sizeof(entry) || entry.magic != SPAWN_PACK_MAGIC ||
        entry.length > SPAWN_PACK_BYTES || got < (ssize_t)(sizeof(entry) + entry.length) ||
        entry.id[sizeof(entry.id) - 1] || !spawn_id_valid(entry.id) ||
        entry.checksum != checksum(&entry, bytes))
        return E_NOT_FOUND;
    *ret = entry;
    return OK;
}

bool spawn_pack_take(int fd, uint64_t offset)
{
    static const uint64_t taken = 1;
    off_t at = (off_t)(offset + offsetof(struct spawn_pack_entry, is_taken));
    return pwrite(fd, &taken, sizeof(taken), at) == (ssize_t)sizeof(taken);
}
