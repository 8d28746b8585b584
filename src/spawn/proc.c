#include "proc.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int open_file(pid_t pid, const char *file)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
    return open(path, O_RDONLY | O_CLOEXEC);
}

ssize_t proc_read(pid_t pid, const char *file, char *buf, size_t size)
{
    int fd = open_file(pid, file);
    if (fd < 0)
        return -1;
    ssize_t length = read(fd, buf, size - 1);
    close(fd);
    buf[length > 0 ? length : 0] = '\0';
    return length;
}

bool proc_stat(pid_t pid, struct proc_stat *ret)
{
    char text[1024];
    if (proc_read(pid, "stat", text, sizeof(text)) <= 0)
        return false;
    const char *after_name = strrchr(text, ')'); /* a name may hold spaces and parentheses */
    return after_name && sscanf(after_name + 1,
                                " %c %d %*d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
                                "%*d %*d %*d %llu",
                                &ret->state, &ret->parent, &ret->session, &ret->start_ticks) == 4;
}

/* In pieces: an environment may have megabytes. The end of one piece is kept before the next, so
 * that a text across both is found. */
bool proc_has(pid_t pid, const char *file, const char *text)
{
    char buf[8192];
    size_t length = strlen(text), kept = 0;
    ssize_t got;
    bool found = false;
    int fd = open_file(pid, file);
    if (fd < 0)
        return false;
    while (!found && (got = read(fd, buf + kept, sizeof(buf) - kept)) > 0) {
        size_t have = kept + (size_t)got;
        found = memmem(buf, have, text, length);
        kept = have < length ? have : length - 1;
        memmove(buf, buf + have - kept, kept);
    }
    close(fd);
    return found;
}

int64_t proc_started_boot_ms(const struct proc_stat *stat)
{
    return (int64_t)stat->start_ticks * 1000 / sysconf(_SC_CLK_TCK);
}
