/* The launcher: starts spawners, sees who a peer is, and ends with whoever has started it, but by
 * no other's signal or message. */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness.h"
#include "launcher_wire.h"
#include "spawn_launch.h"
#include "spawn_launcher.h"

static struct spawn_client_config config_of(const struct harness *h)
{
    return (struct spawn_client_config){
        .folder = h->folder, .program = h->program, .allow_file = h->allow_file};
}

static void expect_readable(int fd)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&ready, 1, 20000), 1);
}

static void a_spawner_is_started_and_listens(void **state)
{
    struct harness *h = *state;
    struct spawn_client_config config = config_of(h);
    struct spawn_launcher *launcher;
    harness_detach(h);
    kill((pid_t)h->hello.pid, SIGKILL);
    assert_int_equal(spawn_launcher_new(&config, &launcher), OK);
    for (int i = 0; i < 2; i++) { /* the second one finds the folder taken, and ends */
        int pidfd, socket;
        assert_int_equal(spawn_launcher_start(launcher, false, &pidfd), OK);
        expect_readable(pidfd);
        spawn_launched(0, pidfd);
        assert_int_equal(spawn_connect(h->folder, false, &socket), OK);
        close(socket);
    }
    harness_attach(h);
    harness_sh(h, "run", "grep -c . /proc/self/status >/dev/null; exit 3");
    assert_int_equal(WEXITSTATUS(harness_ended(h, "run")->wait_status), 3);
    spawn_launcher_free(launcher);
}

static void it_sees_whose_a_peer_is(void **state)
{
    struct harness *h = *state;
    struct spawn_client_config config = config_of(h);
    struct spawn_launcher *launcher;
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    assert_int_equal(spawn_launcher_new(&config, &launcher), OK);
    assert_int_equal(spawn_launcher_descent(launcher, ends[0], (pid_t)h->hello.pid), DESCENT_NONE);
    /* Whoever made the socket descends from a "spawner" that is this test itself. */
    assert_int_equal(spawn_launcher_descent(launcher, ends[0], getpid()), DESCENT_RUN);
    assert_int_equal(spawn_launcher_descent(launcher, STDIN_FILENO, 0), DESCENT_UNKNOWN);
    spawn_launcher_free(launcher);
    close(ends[0]);
    close(ends[1]);
}

static void what_it_does_not_know_is_refused(void **state)
{
    struct harness *h = *state;
    struct spawn_client_config config = config_of(h);
    struct launcher_answer answer;
    int ends[2], fd;
    pid_t pid;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    assert_int_equal(spawn_launch_launcher(&config, ends[1], &pid), OK);
    close(ends[1]);
    for (uint32_t question = LAUNCHER_CALL + 1; question < LAUNCHER_CALL + 4; question++) {
        struct launcher_request request = {.serial = question, .question = question};
        assert_true(launcher_send(ends[0], &request, sizeof(request), ends[0]));
        assert_int_equal(launcher_receive(ends[0], &answer, sizeof(answer), &fd), sizeof(answer));
        assert_int_equal(answer.serial, question);
        assert_int_equal(answer.result, -EINVAL);
        assert_int_equal(fd, -1);
    }
    assert_true(launcher_send(ends[0], "short", 5, -1)); /* no request at all: it ends */
    assert_int_equal(launcher_receive(ends[0], &answer, sizeof(answer), &fd), 0);
    spawn_launched(pid, -1);
    close(ends[0]);
}

static void signals_do_not_end_it_but_its_agent_does(void **state)
{
    struct harness *h = *state;
    struct spawn_client_config config = config_of(h);
    int ends[2];
    pid_t pid;
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    assert_int_equal(spawn_launch_launcher(&config, ends[1], &pid), OK);
    close(ends[1]);
    struct launcher_request request = {.serial = 1, .question = LAUNCHER_DESCENT};
    struct launcher_answer answer;
    int fd, status;
    for (size_t i = 0; i < ROWS(signals) + 1; i++) {
        assert_true(launcher_send(ends[0], &request, sizeof(request), -1));
        assert_int_equal(launcher_receive(ends[0], &answer, sizeof(answer), &fd), sizeof(answer));
        assert_int_equal(answer.result, DESCENT_UNKNOWN); /* no socket came along */
        if (i < ROWS(signals)) /* after its first answer it has them in hand */
            assert_int_equal(kill(pid, signals[i]), 0);
    }
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_spawner_is_started_and_listens, harness_setup,
                                        harness_teardown),
        cmocka_unit_test_setup_teardown(it_sees_whose_a_peer_is, harness_setup, harness_teardown),
        cmocka_unit_test_setup_teardown(what_it_does_not_know_is_refused, harness_setup,
                                        harness_teardown),
        cmocka_unit_test_setup_teardown(signals_do_not_end_it_but_its_agent_does, harness_setup,
                                        harness_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
