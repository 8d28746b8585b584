/* A pipe goes to another run only when it is as a new one. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "process/pipes.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static int setup(void **state)
{
    static struct pipes pipes;
    *state = &pipes;
    return pipes_init(&pipes) ? 0 : -1;
}

static int teardown(void **state)
{
    pipes_release(*state);
    return 0;
}

/* Writes a byte, and reads it and the end. */
static void use(const struct pipe_ends *ends)
{
    char byte = 'x';
    assert_int_equal(read(ends->read_fd, &byte, 1), -1); /* empty, and not over */
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(fcntl(ends->write_fd, F_GETFL) & O_NONBLOCK, 0);
    assert_int_equal(write(ends->write_fd, &byte, 1), 1);
    close(ends->write_fd);
    assert_int_equal(read(ends->read_fd, &byte, 1), 1);
    assert_int_equal(read(ends->read_fd, &byte, 1), 0);
}

static void one_is_used_again(void **state)
{
    struct pipes *pipes = *state;
    struct pipe_ends first, other;
    struct stat st;
    assert_true(pipes_take(pipes, &first));
    for (int i = 0; i < 3; i++) {
        use(&first);
        pipes_give(pipes, first.read_fd, first.inode);
        assert_int_equal(pipes->count, 1);
        assert_true(pipes_take(pipes, &other));
        assert_int_equal(pipes->count, 0);
        assert_int_equal(other.inode, first.inode);
        assert_int_equal(fstat(other.read_fd, &st), 0);
        assert_int_equal(st.st_ino, first.inode);
        first = other;
    }
    assert_true(pipes_take(pipes, &other));
    assert_int_not_equal(other.inode, first.inode);
    close(other.read_fd);
    close(other.write_fd);
    close(first.read_fd);
    close(first.write_fd);
}

static void loosen(int fd)
{
    assert_int_equal(fchmod(fd, 0666), 0);
}

static void enlarge(int fd)
{
    assert_true(fcntl(fd, F_SETPIPE_SZ, 32 * getpagesize()) > 0);
}

static void hand_over(int fd)
{
    if (fchown(fd, 1, 1) < 0) /* only root may */
        loosen(fd);
}

static void a_changed_one_is_not(void **state)
{
    static void (*const changes[])(int) = {loosen, enlarge, hand_over};
    struct pipes *pipes = *state;
    for (size_t i = 0; i < ROWS(changes); i++) {
        struct pipe_ends ends;
        assert_true(pipes_take(pipes, &ends));
        changes[i](ends.write_fd);
        use(&ends);
        pipes_give(pipes, ends.read_fd, ends.inode);
        assert_int_equal(pipes->count, 0);
        assert_int_equal(fcntl(ends.read_fd, F_GETFD), -1);
    }
}

static void only_so_many_are_kept(void **state)
{
    static struct pipe_ends ends[PIPES_KEPT + 1];
    struct pipes *pipes = *state;
    for (size_t i = 0; i < ROWS(ends); i++)
        assert_true(pipes_take(pipes, &ends[i]));
    for (size_t i = 0; i < ROWS(ends); i++) {
        close(ends[i].write_fd);
        pipes_give(pipes, ends[i].read_fd, ends[i].inode);
    }
    assert_int_equal(pipes->count, PIPES_KEPT);
    assert_int_equal(fcntl(ends[PIPES_KEPT].read_fd, F_GETFD), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_is_used_again, setup, teardown),
        cmocka_unit_test_setup_teardown(a_changed_one_is_not, setup, teardown),
        cmocka_unit_test_setup_teardown(only_so_many_are_kept, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
