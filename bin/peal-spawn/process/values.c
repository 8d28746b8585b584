#include "process/values.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STRING_OF(number) #number
#define STRING(macro)     STRING_OF(macro)
#define PID_DIGITS        "2147483647" /* as many as a pid can have */

static const char before[] = SPAWN_VALUES_VARIABLE "=/proc/";
static const char after[] = "/fd/" STRING(SPAWN_VALUES_FD);

/* Moves a descriptor out of the way of the number that it is to have in the run. */
static int move_above(int fd)
{
    if (fd < 0 || fd > SPAWN_VALUES_FD)
        return fd;
    int above = fcntl(fd, F_DUPFD_CLOEXEC, SPAWN_VALUES_FD + 1);
    int error = errno;
    close(fd);
    errno = error;
    return above;
}

int values_make(int folder_fd, const char *id, const struct user_ids *user)
{
    char name[SPAWN_OUTPUT_NAME_MAX];
    snprintf(name, sizeof(name), "%s" SPAWN_VALUES_SUFFIX, id);
    unlinkat(folder_fd, name, 0);
    int fd = move_above(openat(
        folder_fd, name, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (fd < 0 || !user->must_switch || fchown(fd, user->uid, user->gid) == 0)
        return fd;
    int error = errno;
    close(fd);
    unlinkat(folder_fd, name, 0);
    errno = error;
    return -1;
}

void values_text(char text[VALUES_TEXT])
{
    snprintf(text, VALUES_TEXT, "%s%s%s", before, PID_DIGITS, after);
}

void values_complete(char *text, long pid)
{
    char digits[sizeof(PID_DIGITS)];
    char *at = text + sizeof(before) - 1;
    size_t count = 0;
    do
        digits[count++] = (char)('0' + pid % 10);
    while ((pid /= 10) > 0 && count < sizeof(digits));
    while (count)
        *at++ = digits[--count];
    memcpy(at, after, sizeof(after));
}
