/* How late a process wakes up that does nothing else, four times a second, beside everything that
 * goes on: what the lateness of jobs on this machine is compared with.
 *
 *     bare_timer FILE
 *
 * appends lines TICK_UNIX_MS LATE_US until it is killed. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

enum { EVERY_MS = 250 };

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "ae") : NULL;
    if (!file) {
        fprintf(stderr, "usage: bare_timer FILE\n");
        return EXIT_FAILURE;
    }
    setvbuf(file, NULL, _IOLBF, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        int64_t tick_ms = (now_us() / 1000 / EVERY_MS + 1) * EVERY_MS;
        struct timespec until = {.tv_sec = tick_ms / 1000, .tv_nsec = tick_ms % 1000 * 1000000};
        while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL) == EINTR)
            ;
        fprintf(file, "%lld %lld\n", (long long)tick_ms, (long long)(now_us() - tick_ms * 1000));
    }
}
