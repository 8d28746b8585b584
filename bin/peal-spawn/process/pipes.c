#include "process/pipes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/low_fds.h"

#define NEW_PAGES 16 /* of a pipe, unless its user has very many */

bool pipes_init(struct pipes *pipes)
{
    pipes->count = 0;
    pipes->uid = geteuid();
    pipes->gid = getegid();
    pipes->own_fds_fd = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return pipes->own_fds_fd >= 0;
}

void pipes_release(struct pipes *pipes)
{
    while (pipes->count)
        close(pipes->kept[--pipes->count]);
    if (pipes->own_fds_fd >= 0)
        close(pipes->own_fds_fd);
    pipes->own_fds_fd = -1;
}

/* Another end of the pipe, for both directions; -1 and errno. */
static int open_end(const struct pipes *pipes, int fd)
{
    char name[16];
    snprintf(name, sizeof(name), "%d", fd);
    return openat(pipes->own_fds_fd, name, O_RDWR | O_CLOEXEC); /* opened anew: it blocks */
}

static bool make(const struct pipes *pipes, struct pipe_ends *ret)
{
    int ends[2];
    struct stat st;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return false;
    int both = open_end(pipes, ends[1]);
    bool done = both >= 0 && fstat(both, &st) == 0;
    int error = errno;
    close(ends[1]);
    if (done) {
        *ret =
            (struct pipe_ends){.read_fd = high_fd(ends[0]), .write_fd = both, .inode = st.st_ino};
        return true;
    }
    if (both >= 0)
        close(both);
    close(ends[0]);
    errno = error;
    return false;
}

bool pipes_take(struct pipes *pipes, struct pipe_ends *ret)
{
    if (!pipes->count)
        return make(pipes, ret);
    uint32_t last = pipes->count - 1; /* its memory is the warmest */
    int both = open_end(pipes, pipes->kept[last]);
    if (both < 0)
        return false;
    *ret = (struct pipe_ends){
        .read_fd = pipes->kept[last], .write_fd = both, .inode = pipes->inodes[last]};
    pipes->count--;
    return true;
}

static bool is_as_new(const struct pipes *pipes, int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && st.st_mode == (S_IFIFO | S_IRUSR | S_IWUSR) &&
           st.st_uid == pipes->uid && st.st_gid == pipes->gid &&
           fcntl(fd, F_GETPIPE_SZ) == NEW_PAGES * getpagesize();
}

void pipes_give(struct pipes *pipes, int read_fd, uint64_t inode)
{
    if (pipes->count == PIPES_KEPT || !inode || !is_as_new(pipes, read_fd)) {
        close(read_fd);
        return;
    }
    pipes->kept[pipes->count] = read_fd;
    pipes->inodes[pipes->count++] = inode;
}
