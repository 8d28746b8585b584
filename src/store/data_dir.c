#include "data_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* A user who may write to the folder could replace the database and become admin. */
static enum status check_owner(const char *dir, const struct stat *st, struct strbuf *why)
{
    if (st->st_uid != geteuid() && st->st_uid != 0)
        strbuf_addf(why,
                    "the data folder %s belongs to another user (uid %ld): chown it, or name "
                    "another data folder",
                    dir, (long)st->st_uid);
    else if (st->st_mode & (S_IWGRP | S_IWOTH))
        strbuf_addf(why,
                    "others may write to the data folder %s (mode %04o): chmod go-w %s, or "
                    "name another data folder",
                    dir, (unsigned)(st->st_mode & 07777), dir);
    else
        return OK;
    return E_IO;
}

static enum status make_dir(const char *dir, struct strbuf *why)
{
    struct stat st;
    if (mkdir(dir, 0700) == 0)
        return OK;
    if (errno == EEXIST && stat(dir, &st) == 0 && S_ISDIR(st.st_mode))
        return check_owner(dir, &st, why);
    if (errno == EEXIST)
        strbuf_addf(why, "%s is not a folder: name another data folder", dir);
    else if (errno == ENOENT)
        strbuf_addf(why, "the folder above %s does not exist: make it, or name another data folder",
                    dir);
    else
        strbuf_addf(why, "can't make the data folder %s: %s", dir, strerror(errno));
    return E_IO;
}

/* The lock is taken; the file has the owner's pid, unless it is just being written. */
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
    /* The pid is only for messages; without it (full disk) the lock still holds. */
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
