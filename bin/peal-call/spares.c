#include "spares.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOOK_MS = 20 }; /* between two looks into an empty folder */

void spares_open(struct spares *spares, int output_fd)
{
    mkdirat(output_fd, SPAWN_SPARE_FOLDER, 0700);
    spares->folder_fd =
        openat(output_fd, SPAWN_SPARE_FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    spares->count = 0;
    spares->looked_boot_ms = 0;
}

/* The first names; those beyond SPARES_MAX are more than calls need, and are removed. */
static void look(struct spares *spares)
{
    int fd = openat(spares->folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    unsigned seen = 0;
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        size_t length = strlen(entry->d_name);
        if (entry->d_name[0] == '.' || length >= SPAWN_OUTPUT_NAME_MAX)
            continue;
        if (spares->count < SPARES_KNOWN)
            memcpy(spares->names[spares->count++], entry->d_name, length + 1);
        else if (++seen > SPARES_MAX)
            unlinkat(spares->folder_fd, entry->d_name, 0);
    }
    if (folder)
        closedir(folder);
    else if (fd >= 0)
        close(fd);
}

unsigned spares_take(struct spares *spares, int output_fd, const char *id, int64_t now_boot_ms)
{
    if (spares->folder_fd < 0)
        return 0;
    if (!spares->count && now_boot_ms >= spares->looked_boot_ms + LOOK_MS) {
        look(spares);
        spares->looked_boot_ms = now_boot_ms;
    }
    while (spares->count) {
        const char *name = spares->names[--spares->count];
        if (renameat(spares->folder_fd, name, output_fd, id) == 0)
            return SPAWN_RECORD_SKIP;
    }
    return 0;
}
