/* Loaded in front of peal (LD_PRELOAD), sets its wall clock and leaves the boot clock alone, as a
 * step of a machine's clock does. $FAKE_CLOCK is a file with the offset in seconds, like +3600 or
 * -0.300, which may be written to at any time. What libfaketime is for, but for programs with
 * sanitizers, which call for the time before their first library is ready.
 *
 * A real step also cancels timers that asked for it. Here those of the wall clock fire within a
 * second in any case, too early if need be, which a program that looks at the clock does not mind.
 * Those of the other clocks are left alone. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { FILE_BYTES = 32 };

static const char *offset_text; /* of the file, as it is now */

__attribute__((constructor)) static void open_file(void)
{
    const char *path = getenv("FAKE_CLOCK");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *map = mmap(NULL, FILE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (map != MAP_FAILED)
        offset_text = map;
}

enum { SECOND_NS = 1000000000 };

static int64_t offset_ns(void)
{
    int64_t value = 0, unit = SECOND_NS;
    if (!offset_text)
        return 0;
    for (const char *p = offset_text + 1; (*p >= '0' && *p <= '9') || *p == '.'; p++) {
        if (*p == '.') {
            unit = SECOND_NS / 10;
        } else if (unit == SECOND_NS) {
            value = value * 10 + (*p - '0') * unit;
        } else {
            value += (*p - '0') * unit;
            unit /= 10;
        }
    }
    return offset_text[0] == '-' ? -value : value;
}

static void shift(struct timespec *time, int64_t by_ns)
{
    int64_t ns = time->tv_sec * SECOND_NS + time->tv_nsec + by_ns;
    *time = (struct timespec){ns / SECOND_NS, ns % SECOND_NS};
}

static int real_time(clockid_t clock, struct timespec *ret)
{
    return (int)syscall(SYS_clock_gettime, clock, ret);
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
    int rc = real_time(clock, ret);
    if (rc == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        shift(ret, offset_ns());
    return rc;
}

int gettimeofday(struct timeval *restrict ret, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *ret = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *ret)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (ret)
        *ret = now.tv_sec;
    return now.tv_sec;
}

/* By descriptor, for the first of them, which are made in any case: is it a timer of the wall
 * clock? */
enum { TIMERS = 1024 };
static bool is_wall_timer[TIMERS];

int timerfd_create(clockid_t clock, int flags)
{
    int fd = (int)syscall(SYS_timerfd_create, clock, flags);
    if (fd >= 0 && fd < TIMERS)
        is_wall_timer[fd] = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_ALARM;
    return fd;
}

/* The kernel knows the real time only. */
int timerfd_settime(int fd, int flags, const struct itimerspec *value, struct itimerspec *ret_old)
{
    struct itimerspec real = *value;
    struct timespec now;
    real_time(CLOCK_REALTIME, &now);
    if ((flags & TFD_TIMER_ABSTIME) && fd >= 0 && fd < TIMERS && is_wall_timer[fd]) {
        shift(&real.it_value, -offset_ns());
        if (real.it_value.tv_sec > now.tv_sec)
            real.it_value.tv_sec = now.tv_sec + 1;
        if (real.it_value.tv_sec <= 0)
            real.it_value = (struct timespec){.tv_nsec = 1}; /* zero would disarm it */
    }
    return (int)syscall(SYS_timerfd_settime, fd, flags, &real, ret_old);
}
