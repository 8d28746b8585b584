#include "handover/ends.h"

#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>

#include "hash.h"
#include "run.h"

#define NAME  "ends"
#define MAGIC 0x73646e65u

_Static_assert(sizeof(struct end_record) == 72, "no padding on disk");

static uint64_t checksum(const struct end_record *record)
{
    return hash_bytes(0, record, offsetof(struct end_record, checksum));
}

bool ends_append(int folder_fd, const struct end_record *record)
{
    struct end_record copy = *record;
    copy.magic = MAGIC;
    copy.checksum = checksum(&copy);
    int fd = openat(folder_fd, NAME, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return false;
    bool done = write(fd, &copy, sizeof(copy)) == (ssize_t)sizeof(copy);
    close(fd);
    return done;
}

bool ends_find(int folder_fd, int32_t pid, int64_t started_boot_ms, struct end_record *ret)
{
    struct end_record record;
    bool found = false;
    int fd = openat(folder_fd, NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    while (!found && read(fd, &record, sizeof(record)) == (ssize_t)sizeof(record) &&
           record.magic == MAGIC && record.checksum == checksum(&record))
        found = record.pid == pid && run_started_at(started_boot_ms, record.started_boot_ms);
    close(fd);
    if (found)
        *ret = record;
    return found;
}

void ends_remove(int folder_fd)
{
    unlinkat(folder_fd, NAME, 0);
}

int ends_wait_status(const siginfo_t *info)
{
    if (info->si_code == CLD_EXITED)
        return (info->si_status & 0xff) << 8;
    return info->si_status | (info->si_code == CLD_DUMPED ? 0x80 : 0);
}
