#include "sqlite_place.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void make_place(char place[128])
{
    const char *tmp = getenv("TMPDIR");
    snprintf(place, 128, "%s/peal-store-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(place)) {
        perror(place);
        abort();
    }
}

static enum status open_sqlite(const char *place, struct store_wake wake, struct store **ret)
{
    struct strbuf why;
    strbuf_init(&why);
    enum status st = store_sqlite_open(place, wake, ret, &why);
    if (st != OK)
        printf("%s: %s\n", status_text(st), why.text);
    strbuf_release(&why);
    return st;
}

static enum status reopen_sqlite(const char *place, struct store_wake wake, struct store **store)
{
    *store = store_free(*store);
    return open_sqlite(place, wake, store);
}

void remove_folder(const char *path)
{
    char file[512];
    struct dirent *entry;
    DIR *dir = opendir(path);
    if (!dir)
        return;
    while ((entry = readdir(dir))) {
        snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.')
            unlink(file);
    }
    closedir(dir);
    rmdir(path);
}

const struct store_backend sqlite_backend = {
    .name = "sqlite",
    .make_place = make_place,
    .open = open_sqlite,
    .reopen = reopen_sqlite,
    .remove_place = remove_folder,
    .durable = true,
};
