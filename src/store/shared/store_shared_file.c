/* The folder of a shared store: who may open it, and how. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data_dir.h"
#include "shared/store_shared.h"

static enum status make_folder(const char *folder, struct strbuf *why)
{
    if (mkdir(folder, 0700) == 0 || errno == EEXIST)
        return OK;
    strbuf_addf(why, "can't make %s: %s", folder, strerror(errno));
    return E_IO;
}

/* Nobody else has the folder: the database is made, migrated and checked, and what the dead have
 * left is removed. */
static enum status prepare(const char *path, const char *folder, struct strbuf *why)
{
    sqlite3 *handle = NULL;
    seats_clear(folder);
    enum status st = sqlite_open_database(path, &handle, why);
    if (st == OK)
        st = shared_log_prepare(handle, path, why);
    sqlite3_close(handle);
    return st;
}

enum status shared_open_files(const char *dir, const char *path, const char *folder,
                              int *ret_lock_fd, sqlite3 **ret, struct strbuf *why)
{
    bool is_alone;
    enum status st = data_dir_share(dir, ret_lock_fd, &is_alone, why);
    if (st == OK)
        st = make_folder(folder, why);
    if (st == OK && is_alone)
        st = prepare(path, folder, why);
    if (st == OK && is_alone)
        st = data_dir_let_in(dir, *ret_lock_fd, why);
    sqlite3 *handle = NULL;
    if (st == OK)
        st = sqlite_join_database(path, &handle, why);
    if (st == OK)
        st = shared_log_check(handle, path, why);
    if (st == OK)
        *ret = handle;
    else
        sqlite3_close(handle);
    return st;
}

/* SQLite locks byte 120 of the -shm for writing. Opening that file here would end SQLite's own
 * locks when it is closed again; the kernel's list needs no descriptor. */
long shared_writer_pid(const char *path)
{
    struct strbuf shm;
    struct stat file;
    char line[256];
    long pid = 0;
    strbuf_init(&shm);
    strbuf_addf(&shm, "%s-shm", path);
    bool is_there = stat(shm.text, &file) == 0;
    strbuf_release(&shm);
    FILE *locks = is_there ? fopen("/proc/locks", "re") : NULL;
    while (locks && !pid && fgets(line, sizeof(line), locks)) {
        long holder;
        unsigned long long inode, from, to;
        if (sscanf(line, "%*d: POSIX %*s WRITE %ld %*x:%*x:%llu %llu %llu", &holder, &inode, &from,
                   &to) == 4 &&
            inode == file.st_ino && from <= 120 && to >= 120)
            pid = holder;
    }
    if (locks)
        fclose(locks);
    return pid;
}
