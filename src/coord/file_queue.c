#include "file_queue.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BYTE_MUTEX = 0,
    BYTE_HOLD = 1,
    BYTE_TICKETS = 16,
    DIGITS = 20,
    RECORD_MAX = 4096,
};

void file_queue_path(const char *record, struct strbuf *out)
{
    strbuf_addf(out, "%s~queue", record); /* no name has a tilde */
}

void file_queue_init(struct file_queue *queue, const char *record)
{
    *queue = (struct file_queue){.fd = -1};
    strbuf_init(&queue->path);
    file_queue_path(record, &queue->path);
}

/* ---- byte locks ---- */

/* E_BUSY: another has one of them. */
static enum status lock_byte(int fd, short type, int64_t at)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
    if (fcntl(fd, F_OFD_SETLK, &lock) == 0)
        return OK;
    return errno == EAGAIN || errno == EACCES ? E_BUSY : E_IO;
}

/* The first byte in [from, to) that another file description has locked; -1: none. On a failure
 * `from`, so that nobody takes an error for an empty queue. */
static int64_t find_locked(int fd, int64_t from, int64_t to)
{
    if (from >= to)
        return -1;
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = from, .l_len = to - from};
    if (fcntl(fd, F_OFD_GETLK, &lock) != 0)
        return from;
    return lock.l_type == F_UNLCK ? -1 : lock.l_start;
}

enum status file_queue_open(struct file_queue *queue)
{
    if (strbuf_status(&queue->path) != OK)
        return E_NOMEM;
    file_queue_leave(queue);
    if (queue->fd >= 0)
        close(queue->fd);
    queue->fd = open(queue->path.text, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    return queue->fd >= 0 ? OK : E_IO;
}

bool file_queue_is_current(const struct file_queue *queue)
{
    struct stat mine, there;
    return fstat(queue->fd, &mine) == 0 && stat(queue->path.text, &there) == 0 &&
           mine.st_ino == there.st_ino && mine.st_dev == there.st_dev;
}

/* ---- tickets ---- */

static int64_t read_counter(int fd)
{
    char text[DIGITS + 1] = "";
    ssize_t length = pread(fd, text, DIGITS, 0);
    int64_t counter = length > 0 ? strtoll(text, NULL, 10) : 0;
    return counter > 0 ? counter : 0;
}

/* The counter need not be synced: after a crash of the machine nobody has a ticket. A ticket that
 * is taken though the counter does not know it (the disk was full) is passed over. */
static enum status next_ticket(struct file_queue *queue)
{
    char text[DIGITS + 1];
    int64_t ticket = read_counter(queue->fd);
    enum status st;
    do
        st = lock_byte(queue->fd, F_WRLCK, BYTE_TICKETS + ++ticket);
    while (st == E_BUSY);
    if (st != OK)
        return st;
    snprintf(text, sizeof(text), "%0*" PRId64, DIGITS, ticket);
    if (pwrite(queue->fd, text, DIGITS, 0) != DIGITS) {
        int error = errno;
        lock_byte(queue->fd, F_UNLCK, BYTE_TICKETS + ticket);
        errno = error;
        return E_IO;
    }
    queue->ticket = ticket;
    return OK;
}

enum status file_queue_enter(struct file_queue *queue)
{
    enum status st = lock_byte(queue->fd, F_WRLCK, BYTE_MUTEX);
    if (st == OK && !file_queue_is_current(queue)) {
        lock_byte(queue->fd, F_UNLCK, BYTE_MUTEX);
        return E_CONFLICT;
    }
    return st;
}

enum status file_queue_take_ticket(struct file_queue *queue)
{
    enum status st = file_queue_enter(queue);
    if (st != OK)
        return st;
    st = next_ticket(queue);
    int error = errno;
    lock_byte(queue->fd, F_UNLCK, BYTE_MUTEX);
    errno = error;
    return st;
}

enum status file_queue_hold(struct file_queue *queue)
{
    if (find_locked(queue->fd, BYTE_TICKETS + 1, BYTE_TICKETS + queue->ticket) >= 0)
        return E_BUSY;
    return lock_byte(queue->fd, F_WRLCK, BYTE_HOLD);
}

/* Before the file is closed, so that who is told of that finds the bytes free. */
void file_queue_leave(struct file_queue *queue)
{
    struct flock all = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    if (queue->fd >= 0)
        fcntl(queue->fd, F_OFD_SETLK, &all);
    queue->ticket = 0;
}

void file_queue_release(struct file_queue *queue)
{
    file_queue_leave(queue);
    if (queue->fd >= 0)
        close(queue->fd);
    queue->fd = -1;
    strbuf_release(&queue->path);
}

int64_t file_queue_count(const char *record, bool *is_held)
{
    struct strbuf path;
    int64_t count = 0;
    strbuf_init(&path);
    file_queue_path(record, &path);
    /* Not for writing, so that closing it wakes nobody. */
    int fd = open(path.text, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    strbuf_release(&path);
    *is_held = fd >= 0 && find_locked(fd, BYTE_HOLD, BYTE_HOLD + 1) >= 0;
    if (fd < 0)
        return 0;
    int64_t at = BYTE_TICKETS, end = BYTE_TICKETS + read_counter(fd) + 1;
    while ((at = find_locked(fd, at + 1, end)) >= 0)
        count++;
    close(fd);
    return count;
}

/* ---- the record ---- */

static enum status write_new(const char *path, const char *text, size_t length)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return E_IO;
    bool is_done = write(fd, text, length) == (ssize_t)length && fsync(fd) == 0;
    int error = errno;
    close(fd);
    errno = error;
    return is_done ? OK : E_IO;
}

static enum status sync_folder(const char *path)
{
    const char *end = strrchr(path, '/');
    char *folder = end ? strndup(path, (size_t)(end - path)) : strdup(".");
    if (!folder)
        return E_NOMEM;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    if (fd < 0)
        return E_IO;
    /* Some file systems can't sync a folder, and say so by EINVAL. */
    bool is_done = fsync(fd) == 0 || errno == EINVAL;
    int error = errno;
    close(fd);
    errno = error;
    return is_done ? OK : E_IO;
}

enum status file_record_write(const char *path, const char *text, size_t length)
{
    struct strbuf fresh;
    strbuf_init(&fresh);
    strbuf_addf(&fresh, "%s~new", path);
    enum status st = strbuf_status(&fresh);
    if (st == OK)
        st = write_new(fresh.text, text, length);
    if (st == OK && rename(fresh.text, path) != 0)
        st = E_IO;
    if (st == OK)
        st = sync_folder(path);
    strbuf_release(&fresh);
    return st;
}

enum status file_record_read(const char *path, struct strbuf *out)
{
    char text[RECORD_MAX];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return errno == ENOENT ? E_NOT_FOUND : E_IO;
    ssize_t length = read(fd, text, sizeof(text));
    int error = errno;
    close(fd);
    errno = error;
    if (length < 0)
        return E_IO;
    if (length == (ssize_t)sizeof(text))
        return E_TOO_LARGE;
    strbuf_add(out, text, (size_t)length);
    return strbuf_status(out);
}
