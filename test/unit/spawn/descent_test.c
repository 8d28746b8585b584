/* Who descends from a spawner: a process that is a subreaper plays one, and what it forks are runs
 * that hide in every way that an unprivileged process has. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "descent.h"

static const char folder[] = "/var/lib/peal/spawn";

/* ---- a spawner, and what it starts ---- */

struct family {
    pid_t spawner;
    pid_t orphan; /* of a run that has ended, in a session of its own */
    struct lineage lineage;
};

/* Sleeps with one variable, or none, until it is killed. Says its number first. */
static _Noreturn void be_orphan(int fd, const char *variable)
{
    pid_t pid = getpid();
    char *const argv[] = {(char *)"sleep", (char *)"60", NULL};
    char *const env[] = {(char *)variable, NULL};
    setsid();
    fcntl(fd, F_SETFD, FD_CLOEXEC); /* closed when the environment is the new one */
    if (write(fd, &pid, sizeof(pid)) == sizeof(pid))
        execve("/bin/sleep", argv, env);
    _exit(1);
}

static _Noreturn void be_spawner(int fd, const char *variable)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (fork() == 0) {
        if (fork() == 0) {
            if (fork() == 0)
                be_orphan(fd, variable);
            _exit(0);
        }
        _exit(0);
    }
    close(fd);
    for (;;) {
        if (wait(NULL) < 0)
            pause();
    }
}

static void family_start(struct family *family, const char *variable)
{
    int ends[2];
    char rest;
    assert_int_equal(pipe(ends), 0);
    family->spawner = fork();
    if (family->spawner == 0) {
        close(ends[0]);
        be_spawner(ends[1], variable);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &family->orphan, sizeof(pid_t)), sizeof(pid_t));
    assert_int_equal(read(ends[0], &rest, 1), 0); /* it sleeps, and its parents are gone */
    close(ends[0]);
    family->lineage.spawner = family->spawner;
    spawn_tag(folder, family->lineage.tag);
}

static void kill_spawner(struct family *family)
{
    kill(family->spawner, SIGKILL);
    while (waitpid(family->spawner, NULL, 0) < 0 && errno == EINTR)
        ;
}

/* ---- tests ---- */

static void test_orphans_are_found_through_the_subreaper(void **state)
{
    struct family family;
    (void)state;
    family_start(&family, NULL);
    assert_int_equal(descent_of(family.orphan, &family.lineage), DESCENT_RUN);
    struct lineage other = family.lineage;
    other.spawner = 0; /* neither an environment nor a cgroup says anything */
    assert_int_equal(descent_of(family.orphan, &other), DESCENT_NONE);
    kill(family.orphan, SIGKILL);
    kill_spawner(&family);
}

static void test_a_mark_outlives_the_spawner(void **state)
{
    static const struct {
        int line;
        const char *folder;
        enum descent want;
    } cases[] = {
        {__LINE__, folder, DESCENT_RUN},
        {__LINE__, "/srv/other/spawn", DESCENT_NONE}, /* a peal in a job of this one's, say */
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char tag[SPAWN_TAG_SIZE], variable[64];
        struct family family;
        spawn_tag(cases[i].folder, tag);
        snprintf(variable, sizeof(variable), SPAWN_TAG_MARK "=%s", tag);
        family_start(&family, variable);
        kill_spawner(&family);
        enum descent got = descent_of(family.orphan, &family.lineage);
        kill(family.orphan, SIGKILL);
        if (got != cases[i].want)
            fail_msg("line %d: %d", cases[i].line, (int)got);
    }
}

static void test_ancestors_of_the_spawner_are_free(void **state)
{
    struct family family;
    (void)state;
    family_start(&family, NULL);
    assert_int_equal(descent_of(getpid(), &family.lineage), DESCENT_NONE);
    assert_int_equal(descent_of(getppid(), &family.lineage), DESCENT_NONE);
    assert_int_equal(descent_of(1, &family.lineage), DESCENT_NONE);
    kill(family.orphan, SIGKILL);
    kill_spawner(&family);
}

static void test_who_is_gone_is_unknown(void **state)
{
    struct lineage lineage = {.spawner = getpid()};
    (void)state;
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(descent_of(pid, &lineage), DESCENT_UNKNOWN);
}

/* ---- sockets ---- */

static int listen_on(struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX}; /* the kernel makes up a name */
    socklen_t size = sizeof(*address);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)address, sizeof(sa_family_t)), 0);
    assert_int_equal(listen(fd, 4), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)address, &size), 0);
    return fd;
}

static int connect_to(const struct sockaddr_un *address)
{
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 6); /* \0 and 5 digits */
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)address, size) != 0)
        _exit(1);
    return fd;
}

/* A child of this process, which is the spawner here, connects and waits. */
static void test_a_peer_is_who_connected(void **state)
{
    struct sockaddr_un address;
    struct lineage own = {.spawner = getpid()}, none = {.spawner = 0};
    int listener = listen_on(&address);
    (void)state;
    spawn_tag(folder, own.tag);
    spawn_tag(folder, none.tag);
    pid_t pid = fork();
    if (pid == 0) {
        connect_to(&address);
        pause();
    }
    int fd = accept(listener, NULL, NULL);
    assert_true(fd >= 0);
    assert_int_equal(descent_of_peer(fd, &own), DESCENT_RUN);
    assert_int_equal(descent_of_peer(fd, &none), DESCENT_NONE);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(descent_of_peer(fd, &none), DESCENT_UNKNOWN);
    close(fd);
    close(listener);
}

/* The connection goes from the run to its child, and the run ends: the child is asked for nothing.
 */
static void test_a_connection_that_was_handed_on(void **state)
{
    struct sockaddr_un address;
    struct lineage none = {.spawner = 0};
    char byte;
    int listener = listen_on(&address);
    (void)state;
    spawn_tag(folder, none.tag);
    pid_t pid = fork();
    if (pid == 0) {
        int fd = connect_to(&address);
        if (fork() == 0) {
            bool is_open = write(fd, "x", 1) == 1 && read(fd, &byte, 1) == 1;
            _exit(is_open);
        }
        _exit(0);
    }
    int fd = accept(listener, NULL, NULL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(read(fd, &byte, 1), 1); /* somebody has it */
    assert_int_equal(descent_of_peer(fd, &none), DESCENT_UNKNOWN);
    close(fd);
    close(listener);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orphans_are_found_through_the_subreaper),
        cmocka_unit_test(test_a_mark_outlives_the_spawner),
        cmocka_unit_test(test_ancestors_of_the_spawner_are_free),
        cmocka_unit_test(test_who_is_gone_is_unknown),
        cmocka_unit_test(test_a_peer_is_who_connected),
        cmocka_unit_test(test_a_connection_that_was_handed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
