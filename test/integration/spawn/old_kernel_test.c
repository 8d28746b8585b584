/* Starting on a kernel without close_range (before Linux 5.9), or in a container whose seccomp
 * filter does not know it: a new process then gets a copy of the whole table of descriptors, and
 * the exec closes them. The filter of this test is inherited by the spawner and by the runs. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness.h"

/* From now on close_range fails so, here and in all that is started from here. The latest filter
 * counts. */
static void refuse_close_range(int error)
{
    struct sock_filter rows[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {ROWS(rows), rows};
    assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
    assert_int_equal(syscall(SYS_close_range, 1000, 1000, 0), -1);
    assert_int_equal(errno, error);
}

/* Whoever has started the agent may have left a descriptor open. */
static int setup(void **state, int error)
{
    refuse_close_range(error);
    int left_open = open("/dev/null", O_RDONLY); // NOLINT(android-cloexec-open)
    assert_true(left_open >= 0);
    int result = harness_setup(state);
    close(left_open);
    return result;
}

static int setup_before_5_9(void **state)
{
    return setup(state, ENOSYS);
}

static int setup_in_container(void **state)
{
    return setup(state, EPERM);
}

/* More than have descriptors of their own on a newer kernel, and while as many others run. */
static void all_start(void **state)
{
    struct harness *h = *state;
    enum { NEIGHBOURS = 100, COUNT = 200 };
    char id[32];
    for (int i = 0; i < NEIGHBOURS; i++) {
        snprintf(id, sizeof(id), "neighbour-%d", i);
        harness_sh(h, id, "exec sleep 100");
    }
    for (int i = 0; i < COUNT; i++) {
        struct shell shell;
        char script[64];
        snprintf(id, sizeof(id), "run-%d", i);
        snprintf(script, sizeof(script), "echo out %d; echo err %d >&2; exit %d", i, i, i % 100);
        shell_init(&shell, id, script);
        harness_start(h, &shell.request);
    }
    for (int i = 0; i < COUNT; i++) {
        char want[32];
        snprintf(id, sizeof(id), "run-%d", i);
        const struct spawn_run *run = harness_ended(h, id);
        if (run->reason != SPAWN_EXITED || WEXITSTATUS(run->wait_status) != i % 100)
            fail_msg("%s: %s, step %d, error %d", id,
                     spawn_reason_text((enum spawn_reason)run->reason), run->step, run->error);
        char *text = harness_output(h, id, SPAWN_STDERR, NULL, NULL);
        snprintf(want, sizeof(want), "err %d\n", i);
        assert_string_equal(text, want);
        free(text);
    }
}

static void only_three_descriptors_are_inherited(void **state)
{
    struct harness *h = *state;
    struct shell shell;
    harness_sh(h, "neighbour", "exec sleep 100");
    harness_wait(h, harness_seen(h, "neighbour")->started == 1);
    shell_init(&shell, "fds", "");
    char *argv[] = {(char *)"ls", (char *)"/proc/self/fd", NULL};
    shell.request.argv = argv;
    harness_start(h, &shell.request);
    harness_ended(h, "fds");
    char *text = harness_output(h, "fds", SPAWN_STDOUT, NULL, NULL);
    assert_string_equal(text, "0\n1\n2\n3\n"); /* 3 is the folder that ls reads */
    free(text);
}

static void failures_to_start_are_told(void **state)
{
    struct harness *h = *state;
    struct shell shell;
    shell_init(&shell, "none", "");
    char *argv[] = {(char *)"no-such-command", NULL};
    shell.request.argv = argv;
    harness_start(h, &shell.request);
    const struct spawn_run *run = harness_ended(h, "none");
    assert_int_equal(run->reason, SPAWN_START_FAILED);
    assert_int_equal(run->step, SPAWN_STEP_EXEC);
    assert_int_equal(run->error, ENOENT);
}

int main(void)
{
#define OLD(name)       cmocka_unit_test_setup_teardown(name, setup_before_5_9, harness_teardown)
#define CONTAINED(name) cmocka_unit_test_setup_teardown(name, setup_in_container, harness_teardown)
    const struct CMUnitTest tests[] = {
        OLD(all_start),
        OLD(only_three_descriptors_are_inherited),
        OLD(failures_to_start_are_told),
        CONTAINED(all_start),
        CONTAINED(only_three_descriptors_are_inherited),
        CONTAINED(failures_to_start_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
