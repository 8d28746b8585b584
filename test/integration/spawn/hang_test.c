/* A start that hangs on its way to the exec, as on a dead mount: it hangs alone, can be killed, and
 * outlives an upgrade. The mount is a FUSE file system that nobody answers for, in a mount
 * namespace of the test's own. */
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness.h"

#define MANY 80 /* more than LAUNCH_COUNT of launch.h */

struct dead_mount {
    char path[256];
    int fd; /* of /dev/fuse; while it is open and nobody reads from it, whoever looks at it waits */
};

static bool mount_dead(struct harness *h, struct dead_mount *ret)
{
    char options[64];
    struct dead_mount dead = {.fd = open("/dev/fuse", O_RDWR | O_CLOEXEC)};
    harness_path(h, "dead", dead.path, sizeof(dead.path));
    snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", dead.fd);
    if (dead.fd < 0 || mkdir(dead.path, 0700) < 0 ||
        mount("dead", dead.path, "fuse", MS_NOSUID | MS_NODEV, options) < 0) {
        print_message("no file system can be mounted here\n");
        return false;
    }
    *ret = dead;
    return true;
}

/* What waits for it gets an error. */
static void end_mount(struct dead_mount *dead)
{
    close(dead->fd);
    umount2(dead->path, MNT_DETACH);
}

static void start_hanging(struct harness *h, const struct dead_mount *dead, const char *id, int way)
{
    struct shell shell;
    char file[300], path[300];
    snprintf(file, sizeof(file), "%s/program", dead->path);
    snprintf(path, sizeof(path), "PATH=%s:/usr/bin:/bin", dead->path);
    shell_init(&shell, id, "exit 0");
    if (way == 0)
        shell.request.cwd = dead->path;
    if (way == 1)
        shell.argv[0] = file;
    if (way == 2) {
        shell.argv[0] = (char *)"sh";
        shell.env[0] = path;
    }
    harness_start(h, &shell.request);
    harness_wait(h, harness_seen(h, id)->started == 1);
}

static void a_start_that_hangs_hangs_alone(void **state)
{
    struct harness *h = *state;
    struct dead_mount dead;
    char id[32];
    if (!mount_dead(h, &dead))
        skip();
    for (int i = 0; i < MANY; i++) {
        snprintf(id, sizeof(id), "hangs-%d", i);
        start_hanging(h, &dead, id, i % 3);
    }
    harness_sh(h, "beside", "exit 3");
    assert_int_equal(WEXITSTATUS(harness_ended(h, "beside")->wait_status), 3);
    for (int i = 0; i < MANY; i++) {
        snprintf(id, sizeof(id), "hangs-%d", i);
        assert_int_equal(harness_seen(h, id)->ended, 0);
        assert_int_equal(spawn_client_kill(h->client, id, 0, 0), OK);
    }
    for (int i = 0; i < MANY; i++) {
        snprintf(id, sizeof(id), "hangs-%d", i);
        const struct spawn_run *run = harness_ended(h, id);
        if (run->reason != SPAWN_KILLED || run->left_over || process_lives(run->pid))
            fail_msg("%s: %s", id, spawn_reason_text((enum spawn_reason)run->reason));
    }
    harness_sh(h, "after", "exit 4");
    assert_int_equal(WEXITSTATUS(harness_ended(h, "after")->wait_status), 4);
    end_mount(&dead);
}

static void a_start_that_hangs_outlives_an_upgrade(void **state)
{
    struct harness *h = *state;
    struct dead_mount dead;
    if (!mount_dead(h, &dead))
        skip();
    start_hanging(h, &dead, "killed", 0);
    start_hanging(h, &dead, "refused", 0);
    kill((pid_t)h->hello.pid, SIGHUP);
    harness_sh(h, "next-image", "exit 0");
    assert_int_equal(harness_ended(h, "next-image")->reason, SPAWN_EXITED);
    assert_int_equal(spawn_client_kill(h->client, "killed", 0, 0), OK);
    assert_int_equal(harness_ended(h, "killed")->reason, SPAWN_KILLED);
    assert_int_equal(harness_seen(h, "refused")->ended, 0);
    end_mount(&dead); /* its folder turns out to be unusable, and it says so through its slot */
    const struct spawn_run *run = harness_ended(h, "refused");
    assert_int_equal(run->reason, SPAWN_START_FAILED);
    assert_int_equal(run->step, SPAWN_STEP_CWD);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, harness_setup, harness_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_start_that_hangs_hangs_alone),
        TEST(a_start_that_hangs_outlives_an_upgrade),
    };
    if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
        print_message("only root can mount\n");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
