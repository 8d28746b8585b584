#include "secret_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "secret_doc.h"

static bool is_ours(const struct stat *about, mode_t closed)
{
    return (about->st_uid == 0 || about->st_uid == geteuid()) && !(about->st_mode & closed);
}

/* The folder in which the file is; -1 and errno, EPERM: others may write to one of those on the
 * way. */
static int open_folder(const char *folder, const char *name, const char **ret_base)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (;;) {
        struct stat about;
        char part[SECRET_NAME_SIZE];
        const char *slash = strchr(name, '/');
        if (fd < 0)
            return -1;
        if (fstat(fd, &about) < 0 || !is_ours(&about, 022)) {
            close(fd);
            errno = EPERM;
            return -1;
        }
        if (!slash)
            break;
        snprintf(part, sizeof(part), "%.*s", (int)(slash - name), name);
        int next = openat(fd, part, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        int error = errno;
        close(fd);
        errno = error;
        fd = next;
        name = slash + 1;
    }
    *ret_base = name;
    return fd;
}

/* The whole file; a value that is too long is read as far as that is known. */
static enum status read_value(int fd, char **ret, size_t *ret_length)
{
    char *value = malloc(SECRET_VALUE_MAX + 3);
    size_t length = 0;
    ssize_t got = 1;
    if (!value)
        return E_NOMEM;
    while (length < SECRET_VALUE_MAX + 2 &&
           (got = read(fd, value + length, SECRET_VALUE_MAX + 2 - length)) > 0)
        length += (size_t)got;
    if (got < 0) {
        explicit_bzero(value, SECRET_VALUE_MAX + 3);
        free(value);
        return E_IO;
    }
    if (length && value[length - 1] == '\n')
        length--;
    value[length] = '\0';
    *ret = value;
    *ret_length = length;
    return OK;
}

static enum status read_file(int fd, const char *folder, const char *name, char **ret,
                             size_t *ret_length, struct strbuf *why)
{
    struct stat about;
    if (fstat(fd, &about) < 0 || !S_ISREG(about.st_mode) || !is_ours(&about, 077)) {
        strbuf_addf(why,
                    "%s/%s is not a file of root or of the agent's user that is closed to all "
                    "others (mode 0600)",
                    folder, name);
        return E_INVALID;
    }
    enum status st = read_value(fd, ret, ret_length);
    const char *complaint = st == OK ? secret_value_complaint(*ret, *ret_length) : NULL;
    if (st == E_IO)
        strbuf_addf(why, "can't read %s/%s", folder, name);
    if (!complaint)
        return st;
    strbuf_addf(why, "%s/%s: %s", folder, name, complaint);
    explicit_bzero(*ret, *ret_length);
    free(*ret);
    *ret = NULL;
    return E_INVALID;
}

enum status secret_file_read(const char *folder, const char *name, char **ret, size_t *ret_length,
                             struct strbuf *why)
{
    const char *base;
    int folder_fd = open_folder(folder, name, &base);
    int fd = folder_fd < 0
                 ? -1
                 : openat(folder_fd, base, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    int error = errno;
    if (folder_fd >= 0)
        close(folder_fd);
    if (fd < 0 && (error == ENOENT || error == ENOTDIR))
        return E_NOT_FOUND;
    if (fd < 0) {
        strbuf_addf(why, "%s/%s: %s", folder, name,
                    error == EPERM ? "a folder on the way does not belong to root or the agent's "
                                     "user, or others may write to it"
                                   : strerror(error));
        return error == EPERM ? E_INVALID : E_IO;
    }
    enum status st = read_file(fd, folder, name, ret, ret_length, why);
    close(fd);
    return st;
}
