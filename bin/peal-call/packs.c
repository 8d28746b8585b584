#include "packs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void packs_open(struct packs *packs, int output_fd)
{
    uint64_t *numbers = NULL;
    size_t count = 0;
    *packs = (struct packs){.fd = -1};
    strbuf_init(&packs->gathered);
    mkdirat(output_fd, SPAWN_PACK_FOLDER, 0700);
    packs->folder_fd =
        openat(output_fd, SPAWN_PACK_FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (packs->folder_fd >= 0 && spawn_pack_list(packs->folder_fd, &numbers, &count) != OK) {
        close(packs->folder_fd); /* what comes next is not known: files for all */
        packs->folder_fd = -1;
    }
    packs->number = count ? numbers[count - 1] : 0;
    free(numbers);
}

void packs_close(struct packs *packs)
{
    if (packs->fd >= 0)
        close(packs->fd);
    if (packs->folder_fd >= 0)
        close(packs->folder_fd);
    packs->fd = packs->folder_fd = -1;
    strbuf_release(&packs->gathered);
}

static void walk_one(int fd, packs_seen *seen, void *user)
{
    struct spawn_pack_entry entry;
    char bytes[SPAWN_PACK_BYTES];
    for (uint64_t at = 0; spawn_pack_read(fd, at, &entry, bytes) == OK;
         at = spawn_pack_end(at, &entry))
        if (!entry.is_taken && seen(user, &entry, bytes) && !spawn_pack_take(fd, at))
            return;
}

void packs_walk(const struct packs *packs, packs_seen *seen, void *user)
{
    uint64_t *numbers = NULL;
    size_t count = 0;
    char name[SPAWN_PACK_NAME];
    if (packs->folder_fd < 0 || spawn_pack_list(packs->folder_fd, &numbers, &count) != OK)
        return;
    for (size_t i = 0; i < count; i++) {
        spawn_pack_name(numbers[i], name);
        int fd = openat(packs->folder_fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0)
            continue;
        walk_one(fd, seen, user);
        close(fd);
    }
    free(numbers);
}

bool packs_add(struct packs *packs, const char *id, const char *bytes, size_t length,
               int64_t wall_ms)
{
    struct spawn_pack_entry entry;
    if (packs->folder_fd < 0 || length > SPAWN_PACK_BYTES)
        return false;
    strbuf_reserve(&packs->gathered, sizeof(entry) + length);
    if (strbuf_status(&packs->gathered) != OK) {
        if (!packs->gathered.length) /* else packs_write does it */
            strbuf_reset(&packs->gathered);
        return false;
    }
    spawn_pack_fill(&entry, id, bytes, length, wall_ms);
    strbuf_add(&packs->gathered, &entry, sizeof(entry));
    strbuf_add(&packs->gathered, bytes, length);
    return true;
}

static bool open_next(struct packs *packs)
{
    char name[SPAWN_PACK_NAME];
    spawn_pack_name(packs->number + 1, name);
    int fd = openat(packs->folder_fd, name,
                    O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return false;
    if (packs->fd >= 0)
        close(packs->fd);
    packs->fd = fd;
    packs->size = 0;
    packs->number++;
    return true;
}

enum status packs_write(struct packs *packs)
{
    size_t length = packs->gathered.length;
    if (!length)
        return OK;
    bool is_open = (packs->fd >= 0 && packs->size < SPAWN_PACK_MAX) || open_next(packs);
    ssize_t wrote = is_open ? write(packs->fd, packs->gathered.text, length) : -1;
    strbuf_reset(&packs->gathered);
    if (wrote == (ssize_t)length) {
        packs->size += length;
        return OK;
    }
    int error = wrote < 0 ? errno : ENOSPC;
    if (wrote > 0 && ftruncate(packs->fd, (off_t)packs->size) < 0)
        packs->size = SPAWN_PACK_MAX; /* what is not whole stays the last of its pack */
    errno = error;
    return E_IO;
}
