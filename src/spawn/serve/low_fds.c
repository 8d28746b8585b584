#include "serve/low_fds.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#define FIRST     3
#define FEW_TIMES 4 /* of LOW_FDS may be open at least */

int high_fd(int fd)
{
    int error = errno;
    int high = fd >= FIRST && fd < LOW_FDS ? fcntl(fd, F_DUPFD_CLOEXEC, LOW_FDS) : -1;
    if (high >= 0)
        close(fd);
    errno = error;
    return high >= 0 ? high : fd;
}

void low_fds_take(struct low_fds *low, int fd)
{
    struct rlimit limit;
    low->count = 0;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur < FEW_TIMES * LOW_FDS)
        return;
    for (int copy; (copy = fcntl(fd, F_DUPFD_CLOEXEC, FIRST)) >= 0;) {
        if (copy >= LOW_FDS) {
            close(copy);
            return;
        }
        low->fds[low->count++] = copy;
    }
}

void low_fds_leave(struct low_fds *low)
{
    while (low->count)
        close(low->fds[--low->count]);
}
