#include "serve/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "hash.h"
#include "serve/low_fds.h"

#define NAME         "journal"
#define NEW_NAME     "journal.new"
#define VERSION      1
#define HEADER_MAGIC 0x6a6c6170u
#define RECORD_MAGIC 0x7264636au
#define SPARE_BYTES  (1 << 20) /* preallocated, so that a full disk does not stop jobs at once */
#define SYNC_MIN_MS  2000      /* an agent that is there has what it was told on the disk sooner */
#define SYNC_SHARE   50
#define BYTES_MAX    (UINT64_C(1) << 53) /* of output: sums of some are numbers, too */

struct header {
    uint32_t magic;
    uint32_t version;
    char boot_id[40];
};

_Static_assert(sizeof(struct journal_record) == 208, "no padding on disk");

static uint64_t checksum(const struct journal_record *record)
{
    return hash_bytes(0, record, offsetof(struct journal_record, checksum));
}

static void make_header(struct header *header)
{
    *header = (struct header){.magic = HEADER_MAGIC, .version = VERSION};
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (read(fd, header->boot_id, 36) != 36)
        memset(header->boot_id, 0, sizeof(header->boot_id));
    close(fd);
}

/* A new journal file beside the old one, with its header; -1 and errno. */
static int create(int folder_fd)
{
    struct header header;
    make_header(&header);
    int fd = openat(folder_fd, NEW_NAME,
                    O_RDWR | O_APPEND | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -1;
    if (fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, SPARE_BYTES) < 0)
        errno = 0; /* not every file system can; it is a precaution only */
    if (write(fd, &header, sizeof(header)) == (ssize_t)sizeof(header))
        return fd;
    close(fd);
    return -1;
}

/* Are all members within their ranges? Unknown reasons of a newer spawner are left to the
 * reader. */
static bool is_sound(const struct journal_record *record)
{
    const struct spawn_run *info = &record->info;
    return journal_type(record) >= JOURNAL_STARTING && journal_type(record) <= JOURNAL_FORGOTTEN &&
           memchr(info->id, '\0', sizeof(info->id)) && spawn_id_valid(info->id) && info->pid >= 0 &&
           record->grace_ms >= 0 && record->linger_ms >= 0 && record->timeout_at_boot_ms >= 0 &&
           record->head_bytes <= BYTES_MAX && record->tail_bytes <= BYTES_MAX;
}

/* Reads up to the last intact record and truncates the rest. Intact records with invalid values are
 * skipped. */
static void replay(struct journal *journal, journal_seen *seen, void *user, bool same_boot)
{
    struct journal_record record;
    off_t at = sizeof(struct header);
    while (pread(journal->fd, &record, sizeof(record), at) == (ssize_t)sizeof(record) &&
           record.magic == RECORD_MAGIC && record.checksum == checksum(&record)) {
        if (is_sound(&record))
            seen(user, &record, same_boot);
        journal->records++;
        at += (off_t)sizeof(record);
    }
    if (ftruncate(journal->fd, at) < 0)
        errno = 0; /* the caller rewrites the journal anyway, once it has looked at the runs */
}

enum status journal_open(struct journal *journal, int folder_fd, journal_seen *seen, void *user)
{
    *journal = (struct journal){.folder_fd = folder_fd};
    journal->fd = openat(folder_fd, NAME, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
    if (journal->fd < 0 && errno == ENOENT) {
        journal_rewrite(journal, NULL, 0);
        return journal->fd >= 0 ? OK : E_IO;
    }
    if (journal->fd < 0)
        return E_IO;
    struct header want, header;
    make_header(&want);
    if (pread(journal->fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
        header.magic != HEADER_MAGIC) {
        journal_rewrite(journal, NULL, 0); /* a power failure during its creation */
        return journal->fd >= 0 ? OK : E_IO;
    }
    if (header.version != VERSION) {
        close(journal->fd);
        journal->fd = -1;
        return E_VERSION;
    }
    replay(journal, seen, user, memcmp(header.boot_id, want.boot_id, sizeof(want.boot_id)) == 0);
    return OK;
}

void journal_close(struct journal *journal)
{
    if (journal->fd < 0)
        return;
    if (journal_write(journal) == OK && journal->is_dirty)
        fdatasync(journal->fd);
    close(journal->fd);
    journal->fd = -1;
}

static void seal(struct journal_record *record, enum journal_type type)
{
    record->magic = RECORD_MAGIC;
    record->type = type | (record->type & JOURNAL_SECRET);
    record->checksum = checksum(record);
}

/* All of them, or none. */
static bool write_records(int fd, const struct journal_record *records, size_t count)
{
    ssize_t want = (ssize_t)(count * sizeof(*records));
    ssize_t wrote = write(fd, records, (size_t)want);
    if (wrote == want)
        return true;
    int error = wrote < 0 ? errno : ENOSPC;
    struct stat st;
    if (wrote > 0 && (fstat(fd, &st) < 0 || ftruncate(fd, st.st_size - wrote) < 0))
        error = errno;
    errno = error;
    return false;
}

enum status journal_write(struct journal *journal)
{
    size_t count = journal->gathered_count;
    if (count == 0)
        return OK;
    journal->gathered_count = 0;
    if (!write_records(journal->fd, journal->gathered, count))
        return E_IO;
    journal->records += count;
    journal->is_dirty = true;
    return OK;
}

enum status journal_append(struct journal *journal, enum journal_type type,
                           const struct journal_record *record)
{
    enum status st = journal->gathered_count == JOURNAL_GATHERED ? journal_write(journal) : OK;
    struct journal_record *copy = &journal->gathered[journal->gathered_count++];
    *copy = *record;
    seal(copy, type);
    return st;
}

void journal_sync(struct journal *journal, int64_t now_boot_ms)
{
    if (!journal->is_dirty || now_boot_ms < journal->sync_at_boot_ms)
        return;
    fdatasync(journal->fd);
    journal->is_dirty = false;
    int64_t after = clock_now().boot.ms;
    int64_t pause = (after - now_boot_ms) * SYNC_SHARE;
    journal->sync_at_boot_ms = after + (pause > SYNC_MIN_MS ? pause : SYNC_MIN_MS);
}

bool journal_is_stale(const struct journal *journal, uint64_t known_runs)
{
    return journal->records > 4096 && journal->records / 8 > known_runs;
}

/* Seals them in parts, and writes each. */
static bool write_copies(int fd, const struct journal_record *records, size_t count)
{
    struct journal_record part[16];
    for (size_t done = 0; done < count;) {
        size_t many = 0;
        for (; many < sizeof(part) / sizeof(part[0]) && done < count; many++, done++) {
            part[many] = records[done];
            seal(&part[many], journal_type(&records[done]));
        }
        if (!write_records(fd, part, many))
            return false;
    }
    return true;
}

void journal_rewrite(struct journal *journal, const struct journal_record *records, size_t count)
{
    int fd = high_fd(create(journal->folder_fd));
    if (fd < 0)
        return;
    if (!write_copies(fd, records, count) || fdatasync(fd) < 0 ||
        renameat(journal->folder_fd, NEW_NAME, journal->folder_fd, NAME) < 0) {
        close(fd);
        unlinkat(journal->folder_fd, NEW_NAME, 0);
        return;
    }
    if (journal->fd >= 0)
        close(journal->fd);
    journal->fd = fd;
    journal->records = count;
    journal->gathered_count = 0;
    journal->is_dirty = false;
}
