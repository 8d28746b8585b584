/* A spawner that is killed when it has waited for a process, and before that is in its journal: the
 * end is known all the same. The kernel stops it there, for it is traced. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness.h"

/* Lets the spawner go on to where it enters or leaves its next system call. */
static void to_next_stop(pid_t spawner, struct __ptrace_syscall_info *ret)
{
    int status;
    for (;;) {
        assert_int_equal(ptrace(PTRACE_SYSCALL, spawner, NULL, NULL), 0);
        assert_int_equal(waitpid(spawner, &status, __WALL), spawner);
        assert_true(WIFSTOPPED(status));
        if (WSTOPSIG(status) == (SIGTRAP | 0x80))
            break;
    }
    long size = ptrace(PTRACE_GET_SYSCALL_INFO, spawner, sizeof(*ret), ret);
    assert_true(size > 0);
}

/* Goes on until it has waited for the process, within the call. */
static void to_wait_for(pid_t spawner, int pid)
{
    struct __ptrace_syscall_info at;
    uintptr_t info = 0; /* where the kernel writes what it knows of the end */
    for (;;) {
        to_next_stop(spawner, &at);
        if (at.op == PTRACE_SYSCALL_INFO_ENTRY) {
            info = at.entry.nr == SYS_waitid ? (uintptr_t)at.entry.args[2] : 0;
            continue;
        }
        uintptr_t found = info + offsetof(siginfo_t, si_pid);
        errno = 0;
        if (info && (int)ptrace(PTRACE_PEEKDATA, spawner, found, NULL) == pid && errno == 0)
            return;
    }
}

/* Goes on until it writes a file: the journal. */
static void to_write(pid_t spawner)
{
    struct __ptrace_syscall_info at;
    do
        to_next_stop(spawner, &at);
    while (at.op != PTRACE_SYSCALL_INFO_ENTRY || at.entry.nr != SYS_write);
}

/* False: nobody may trace it. */
static bool trace(pid_t spawner)
{
    int status;
    if (ptrace(PTRACE_SEIZE, spawner, NULL, (uintptr_t)PTRACE_O_TRACESYSGOOD) < 0)
        return false;
    assert_int_equal(ptrace(PTRACE_INTERRUPT, spawner, NULL, NULL), 0);
    assert_int_equal(waitpid(spawner, &status, __WALL), spawner);
    return true;
}

static void an_end_that_was_waited_for_is_known(void **state)
{
    static const struct {
        const char *id;
        const char *end;
        bool is_later; /* not right after the wait, but before the journal is written */
        enum spawn_reason reason;
        int code;
    } cases[] = {
        {"at-once", "exit 7", false, SPAWN_EXITED, 7},
        {"later", "exit 8", true, SPAWN_EXITED, 8},
        {"signal", "kill -USR1 $$", false, SPAWN_SIGNALED, SIGUSR1},
    };
    struct harness *h = *state;
    for (size_t i = 0; i < ROWS(cases); i++) {
        char script[512], go[256];
        const char *id = cases[i].id;
        pid_t spawner = (pid_t)h->hello.pid;
        int gone = h->gone;
        harness_path(h, id, go, sizeof(go));
        snprintf(script, sizeof(script),
                 "echo out; until [ -e %s ]; do sleep 0.02; done; echo more; %s", go, cases[i].end);
        harness_sh(h, id, script);
        harness_wait(h, harness_seen(h, id)->run.output_bytes > 0);
        int pid = harness_seen(h, id)->run.pid;
        if (!trace(spawner))
            skip();
        harness_touch(h, id);
        to_wait_for(spawner, pid);
        if (cases[i].is_later)
            to_write(spawner);
        kill(spawner, SIGKILL);
        assert_int_equal(waitpid(spawner, NULL, __WALL), spawner);
        harness_wait(h, h->gone > gone && h->is_ready);
        const struct spawn_run *run = harness_ended(h, id);
        int code = cases[i].reason == SPAWN_EXITED ? WEXITSTATUS(run->wait_status)
                                                   : WTERMSIG(run->wait_status);
        if (run->reason != cases[i].reason || code != cases[i].code)
            fail_msg("%s: %s %d", id, spawn_reason_text((enum spawn_reason)run->reason), code);
        char *text = harness_output(h, id, 0, NULL, NULL);
        assert_string_equal(text, "out\nmore\n"); /* its pipe has outlived the spawner */
        free(text);
        harness_ack(h, id);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, harness_setup, harness_teardown)
    const struct CMUnitTest tests[] = {
        TEST(an_end_that_was_waited_for_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
