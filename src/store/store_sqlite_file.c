#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "store_sqlite.h"

static enum status make_dir(const char *dir, struct strbuf *why)
{
    struct stat st;
    if (mkdir(dir, 0700) == 0)
        return OK;
    if (errno == EEXIST && stat(dir, &st) == 0 && S_ISDIR(st.st_mode))
        return OK;
    if (errno == EEXIST)
        strbuf_addf(why, "%s is not a folder: name another data folder", dir);
    else if (errno == ENOENT)
        strbuf_addf(why, "the folder above %s does not exist: make it, or name another data folder",
                    dir);
    else
        strbuf_addf(why, "can't make the data folder %s: %s", dir, strerror(errno));
    return E_IO;
}

/* Somebody else has the lock; the file says who, unless it is just being written. */
static enum status name_the_owner(int fd, const char *dir, struct strbuf *why)
{
    char text[24] = "";
    ssize_t length = pread(fd, text, sizeof(text) - 1, 0);
    long pid = length > 0 ? strtol(text, NULL, 10) : 0;
    if (pid > 0)
        strbuf_addf(why, "another peal (pid %ld) uses %s: stop it, or name another data folder",
                    pid, dir);
    else
        strbuf_addf(why, "another peal uses %s: stop it, or name another data folder", dir);
    return E_BUSY;
}

enum status data_dir_lock(const char *dir, int *ret_fd, struct strbuf *why)
{
    char pid[24];
    enum status st = make_dir(dir, why);
    if (st != OK)
        return st;
    struct strbuf path;
    strbuf_init(&path);
    strbuf_addf(&path, "%s/peal.lock", dir);
    int fd = -1;
    st = strbuf_status(&path);
    if (st != OK)
        goto out;
    fd = open(path.text, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        strbuf_addf(why, "can't write %s: %s: give peal a data folder that its user may write to",
                    path.text, strerror(errno));
        st = E_IO;
        goto out;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        st = E_IO;
        if (errno == EWOULDBLOCK)
            st = name_the_owner(fd, dir, why);
        else
            strbuf_addf(why, "can't lock %s: %s", path.text, strerror(errno));
        goto out;
    }
    /* The pid is for people; without it (a full disk) the lock holds all the same. */
    int length = snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());
    if (ftruncate(fd, 0) == 0 && pwrite(fd, pid, (size_t)length, 0) != length)
        (void)!ftruncate(fd, 0);
    *ret_fd = fd;
    fd = -1;
out:
    if (fd >= 0)
        close(fd);
    strbuf_release(&path);
    return st;
}

/* The file stays: removing it would let two processes lock two files of the same name. */
void data_dir_unlock(int fd)
{
    if (fd < 0)
        return;
    (void)!ftruncate(fd, 0);
    close(fd);
}

int64_t disk_free_bytes(const char *path)
{
    struct statvfs fs;
    if (statvfs(path, &fs) < 0)
        return -1;
    return (int64_t)fs.f_bavail * (int64_t)fs.f_frsize;
}

static void say(struct strbuf *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct strbuf *why, const char *format, ...)
{
    va_list args;
    if (!why)
        return;
    va_start(args, format);
    strbuf_addv(why, format, args);
    va_end(args);
}

enum status sqlite_explain(sqlite3 *db, int rc, const char *path, struct strbuf *why)
{
    const char *text = db ? sqlite3_errmsg(db) : sqlite3_errstr(rc);
    int error = db ? sqlite3_system_errno(db) : 0;
    bool full = error == ENOSPC || error == EDQUOT;
    switch (full ? SQLITE_FULL : rc & 0xff) {
    case SQLITE_FULL:
        say(why, "the disk is full: %s can't grow (%lld bytes are free): make room", path,
            (long long)disk_free_bytes(path));
        return E_IO;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        say(why,
            "%s is damaged (%s): stop peal, set the file and its -wal aside, and restore a backup, "
            "or try: sqlite3 peal.db .recover",
            path, text);
        return E_CORRUPT;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
        say(why, "can't write %s (%s): peal's user must own it, on a disk that is not read-only",
            path, error ? strerror(error) : text);
        return E_IO;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        say(why, "another program holds %s: close it", path);
        return E_IO;
    case SQLITE_NOMEM:
        say(why, "out of memory");
        return E_NOMEM;
    case SQLITE_CONSTRAINT:
    case SQLITE_TOOBIG:
        say(why, "%s: %s", path, text);
        return E_INVALID;
    default:
        say(why, "%s: %s%s%s: look at the disk and at the system's log", path, text,
            error ? ": " : "", error ? strerror(error) : "");
        return E_IO;
    }
}
