/* Whatever is in the spawner's journal behind its head, with right checksums, is passed over or is
 * a record that a new spawner can use. The input is cut into records. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hash.h"
#include "serve/journal.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

static void require(int holds)
{
    if (!holds)
        abort();
}

static void seen(void *user, const struct journal_record *record, bool same_boot)
{
    (void)same_boot;
    require(strlen(record->info.id) <= SPAWN_ID_MAX && spawn_id_valid(record->info.id));
    require(record->info.pid >= 0 && record->grace_ms >= 0);
    require(*spawn_reason_text((enum spawn_reason)record->info.reason) != '\0');
    ++*(size_t *)user;
}

/* As the journal writes them, but for what is inside. */
static void append(int folder_fd, const uint8_t *bytes, size_t length)
{
    int fd = openat(folder_fd, "journal", O_WRONLY | O_APPEND | O_CLOEXEC);
    require(fd >= 0);
    while (length) {
        struct journal_record record = {.magic = 0x7264636au, .type = JOURNAL_STARTED};
        size_t room = offsetof(struct journal_record, checksum) - sizeof(record.magic);
        size_t taken = length < room ? length : room;
        memcpy((char *)&record + sizeof(record.magic), bytes, taken);
        record.checksum = hash_bytes(0, &record, offsetof(struct journal_record, checksum));
        require(write(fd, &record, sizeof(record)) == (ssize_t)sizeof(record));
        bytes += taken;
        length -= taken;
    }
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    char folder[] = "/tmp/spawn-journal-XXXXXX";
    struct journal journal;
    size_t count = 0;
    require(mkdtemp(folder) != NULL);
    int folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    require(folder_fd >= 0);
    require(journal_open(&journal, folder_fd, seen, &count) == OK);
    journal_close(&journal);
    append(folder_fd, bytes, length);
    require(journal_open(&journal, folder_fd, seen, &count) == OK);
    require(count <= journal.records);
    journal_close(&journal);
    unlinkat(folder_fd, "journal", 0);
    close(folder_fd);
    rmdir(folder);
    return 0;
}
