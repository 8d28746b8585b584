#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "api_bench.h"

enum { PER_SECOND = 100, NS_PER_S = 1000000000 };

static int compare(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * (int64_t)NS_PER_S + now.tv_nsec;
}

/* Sleeps until `due_ns`; how much later it woke up, or -1. */
static int64_t lateness(int fd, int64_t due_ns)
{
    struct itimerspec when = {
        .it_value = {.tv_sec = due_ns / NS_PER_S, .tv_nsec = due_ns % NS_PER_S}};
    uint64_t count;
    if (timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, NULL) != 0 ||
        read(fd, &count, sizeof(count)) != sizeof(count))
        return -1;
    return now_ns() - due_ns;
}

int timer(char **argv)
{
    size_t count = (size_t)atoi(argv[0]) * PER_SECOND;
    int64_t *late = count ? calloc(count, sizeof(*late)) : NULL;
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    int64_t start_ns = now_ns();
    for (size_t i = 0; i < count; i++) {
        late[i] = lateness(fd, start_ns + (int64_t)(i + 1) * (NS_PER_S / PER_SECOND));
        if (late[i] < 0) {
            fprintf(stderr, "api_bench: a timer: %s\n", strerror(errno));
            free(late);
            return 1;
        }
    }
    if (count) {
        qsort(late, count, sizeof(*late), compare);
        printf("%.2f\n", (double)late[count * 99 / 100] / 1e6);
    }
    free(late);
    return count ? 0 : 2;
}
