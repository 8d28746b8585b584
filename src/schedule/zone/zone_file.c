#include "zone/zone_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "zone/tzif.h"

enum {
    FILE_LENGTH_MAX = 1 << 20, /* the largest of the system's have 4 KB */
    NAME_LENGTH_MAX = 255,
};

bool zone_file_id_equal(const struct zone_file_id *a, const struct zone_file_id *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->modified_ns == b->modified_ns;
}

static struct zone_file_id id_of(const struct stat *stat)
{
    return (struct zone_file_id){
        .device = stat->st_dev,
        .inode = stat->st_ino,
        .size = stat->st_size,
        .modified_ns = stat->st_mtim.tv_sec * INT64_C(1000000000) + stat->st_mtim.tv_nsec,
    };
}

bool zone_name_is_safe(const char *name)
{
    static const char part_chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                     "0123456789+-_";
    if (strlen(name) > NAME_LENGTH_MAX)
        return false;
    for (;;) {
        size_t length = strspn(name, part_chars);
        if (!length)
            return false;
        name += length;
        if (*name == '\0')
            return true;
        if (*name++ != '/')
            return false;
    }
}

static bool join(const char *dir, const char *name, char path[static PATH_MAX])
{
    int length = snprintf(path, PATH_MAX, "%s/%s", dir, name);
    return length > 0 && length < PATH_MAX;
}

/* Names the file and the reason from errno; a path that does not exist is E_NOT_FOUND, not an I/O
 * error. */
static enum status fail_with_errno(const char *dir, const char *name, struct parse_error *error)
{
    if (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG)
        return E_NOT_FOUND;
    parse_fail(error, 0, "%s/%s: %s", dir, name, strerror(errno));
    return E_IO;
}

enum status zone_file_identify(const char *dir, const char *name, struct zone_file_id *ret,
                               struct parse_error *reterr)
{
    char path[PATH_MAX];
    struct stat info;
    if (!join(dir, name, path))
        return E_NOT_FOUND;
    if (stat(path, &info) != 0)
        return fail_with_errno(dir, name, reterr);
    if (!S_ISREG(info.st_mode))
        return E_NOT_FOUND;
    *ret = id_of(&info);
    return OK;
}

/* A regular file, open for reading, and what fstat says about it. */
static enum status open_file(const char *dir, const char *name, int *ret_fd, struct stat *ret_info,
                             struct parse_error *error)
{
    char path[PATH_MAX];
    if (!join(dir, name, path))
        return E_NOT_FOUND;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return fail_with_errno(dir, name, error);
    enum status st = OK;
    if (fstat(fd, ret_info) != 0)
        st = fail_with_errno(dir, name, error);
    else if (!S_ISREG(ret_info->st_mode))
        st = E_NOT_FOUND;
    if (st != OK) {
        close(fd);
        return st;
    }
    *ret_fd = fd;
    return OK;
}

/* Until the buffer is full or the file ends; -1 with errno. */
static ssize_t read_all(int fd, char *bytes, size_t size)
{
    size_t length = 0;
    while (length < size) {
        ssize_t got = read(fd, bytes + length, size - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        length += (size_t)got;
    }
    return (ssize_t)length;
}

bool zone_file_exists(const char *dir, const char *name)
{
    char magic[TZIF_MAGIC_LENGTH];
    struct stat info;
    int fd;
    if (open_file(dir, name, &fd, &info, NULL) != OK)
        return false;
    ssize_t length = read_all(fd, magic, sizeof(magic));
    close(fd);
    return length > 0 && tzif_has_magic(magic, (size_t)length);
}

static enum status load_bytes(const char *dir, const char *name, const char *bytes, size_t length,
                              struct zone **ret, struct parse_error *reterr)
{
    struct parse_error why;
    if (!tzif_has_magic(bytes, length))
        return E_NOT_FOUND;
    enum status st = zone_from_tzif(name, bytes, length, ret, &why);
    if (st == E_CORRUPT)
        parse_fail(reterr, 0, "%s/%s: %s", dir, name, why.message);
    return st;
}

enum status zone_file_load(const char *dir, const char *name, struct zone **ret,
                           struct zone_file_id *ret_id, struct parse_error *reterr)
{
    struct stat info;
    int fd;
    enum status st = open_file(dir, name, &fd, &info, reterr);
    if (st != OK)
        return st;
    char *bytes = NULL;
    if (info.st_size > FILE_LENGTH_MAX) {
        parse_fail(reterr, 0, "%s/%s: too large for a time zone", dir, name);
        st = E_CORRUPT;
        goto out;
    }
    bytes = malloc((size_t)info.st_size + 1);
    if (!bytes) {
        st = E_NOMEM;
        goto out;
    }
    ssize_t length = read_all(fd, bytes, (size_t)info.st_size);
    if (length < 0)
        st = fail_with_errno(dir, name, reterr);
    else
        st = load_bytes(dir, name, bytes, (size_t)length, ret, reterr);
    if (st == OK)
        *ret_id = id_of(&info);
out:
    free(bytes);
    close(fd);
    return st;
}
