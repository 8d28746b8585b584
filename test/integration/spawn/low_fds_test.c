/* Which numbers descriptors get. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "serve/low_fds.h"

static int open_null(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static rlim_t set_limit(rlim_t soft)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = soft;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    return before;
}

static void what_stays_open_is_moved_up(void **state)
{
    (void)state;
    int low = open_null();
    int high = high_fd(low);
    assert_true(high >= LOW_FDS);
    assert_int_equal(fcntl(low, F_GETFD), -1);
    assert_int_equal(fcntl(high, F_GETFD), FD_CLOEXEC);
    assert_int_equal(high_fd(high), high);
    close(high);
}

static void errors_and_standard_descriptors_stay(void **state)
{
    (void)state;
    errno = EMFILE;
    assert_int_equal(high_fd(-1), -1);
    assert_int_equal(errno, EMFILE);
    assert_int_equal(high_fd(STDERR_FILENO), STDERR_FILENO);
}

static void without_room_above_nothing_is_moved(void **state)
{
    (void)state;
    rlim_t before = set_limit(LOW_FDS);
    int fd = open_null();
    assert_int_equal(high_fd(fd), fd);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    close(fd);
    set_limit(before);
}

static void what_is_opened_meanwhile_is_high(void **state)
{
    (void)state;
    struct low_fds low;
    rlim_t before = set_limit(4 * LOW_FDS);
    int null_fd = open_null();
    low_fds_take(&low, null_fd);
    int fd = open_null();
    low_fds_leave(&low);
    int next = open_null();
    assert_true(fd >= LOW_FDS);
    assert_true(next < LOW_FDS);
    close(fd);
    close(next);
    set_limit(4 * LOW_FDS - 1); /* too few to keep any for later */
    low_fds_take(&low, null_fd);
    assert_int_equal(low.count, 0);
    low_fds_leave(&low);
    close(null_fd);
    set_limit(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_stays_open_is_moved_up),
        cmocka_unit_test(errors_and_standard_descriptors_stay),
        cmocka_unit_test(without_room_above_nothing_is_moved),
        cmocka_unit_test(what_is_opened_meanwhile_is_high),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
