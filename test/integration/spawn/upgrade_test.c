/* A client that finds a spawner of another version than its own. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness.h"

/* A file of the test's own is the program from now on, as if `from` were installed: the file is
 * replaced, never written over. */
static void install(struct harness *h, const char *from)
{
    char copy[256], command[9000];
    harness_path(h, "peal-spawn", copy, sizeof(copy));
    snprintf(command, sizeof(command), "cp %s %s.new && mv %s.new %s", from, copy, copy, copy);
    assert_int_equal(system(command), 0);
    snprintf(h->program, sizeof(h->program), "%s", copy);
}

static void install_broken(struct harness *h)
{
    char path[256];
    harness_touch(h, "broken");
    harness_path(h, "broken", path, sizeof(path));
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0 && write(fd, "#!/bin/false\n", 13) == 13 && fchmod(fd, 0700) == 0);
    close(fd);
    install(h, path);
}

static const struct spawner_info *spawner(const struct harness *h)
{
    return spawn_client_spawner(h->client);
}

/* How often the log of the spawner has the event. */
static int count_events(struct harness *h, const char *event)
{
    char path[256], text[8192];
    harness_path(h, "peal-spawn.log", path, sizeof(path));
    int fd = open(path, O_RDONLY | O_CLOEXEC), count = 0;
    ssize_t length = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
    text[length > 0 ? length : 0] = '\0';
    if (fd >= 0)
        close(fd);
    for (const char *at = text; (at = strstr(at, event)); at++)
        count++;
    return count;
}

/* A spawner of the earlier version with a run that writes numbers until there is a file `go`, and
 * no client. Then the one of this version is the client's: its build is in h->build. */
static void begin_old(struct harness *h)
{
    char path[256], script[512];
    h->build = spawner(h)->build; /* of the program that was built */
    assert_true(*h->build.version);
    harness_detach(h);
    kill((pid_t)h->hello.pid, SIGTERM);
    harness_wait(h, !process_lives((int)h->hello.pid));
    struct spawn_build build = h->build;
    h->build = (struct spawn_build){0};
    install(h, OLD_SPAWNER);
    harness_attach(h);
    assert_int_equal(spawner(h)->match, SPAWNER_UNKNOWN);
    assert_string_equal(spawner(h)->build.version, "0.0.1");
    harness_path(h, "go", path, sizeof(path));
    snprintf(script, sizeof(script),
             "i=0; until [ -e %s ]; do i=$((i+1)); echo $i; sleep 0.01; done; echo end; exit 5",
             path);
    harness_sh(h, "through", script);
    harness_wait(h, harness_seen(h, "through")->run.output_bytes > 0);
    harness_detach(h);
    h->build = build;
}

/* The run goes on as the same process, and all that it writes and its end are there. */
static void end_run(struct harness *h, int pid)
{
    uint64_t bytes = harness_seen(h, "through")->run.output_bytes;
    assert_int_equal(harness_seen(h, "through")->run.pid, pid);
    harness_wait(h, harness_seen(h, "through")->run.output_bytes > bytes);
    harness_touch(h, "go");
    const struct spawn_run *run = harness_ended(h, "through");
    assert_int_equal(run->reason, SPAWN_EXITED);
    assert_int_equal(WEXITSTATUS(run->wait_status), 5);
    char *text = harness_output(h, "through", SPAWN_STDOUT, NULL, NULL);
    int want = 0;
    bool has_end = false;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        has_end = strcmp(line, "end") == 0;
        if (!has_end)
            assert_int_equal(atoi(line), ++want); /* none lost, none twice */
    }
    assert_true(want > 0 && has_end);
    free(text);
}

static void an_older_one_is_upgraded(void **state)
{
    struct harness *h = *state;
    char built[4096];
    snprintf(built, sizeof(built), "%s", h->program);
    begin_old(h);
    uint32_t pid = h->hello.pid;
    int run = harness_seen(h, "through")->run.pid;
    install(h, built);
    harness_attach(h);
    assert_int_equal(spawner(h)->match, SPAWNER_UPGRADED);
    assert_string_equal(spawner(h)->build.version, h->build.version);
    assert_string_equal(spawner(h)->before.version, "0.0.1");
    assert_int_equal(h->hello.pid, pid);
    end_run(h, run);
    harness_detach(h);
    harness_attach(h);
    assert_int_equal(spawner(h)->match, SPAWNER_SAME);
    assert_int_equal(count_events(h, "event=upgraded"), 1);
}

static void a_broken_file_is_refused(void **state)
{
    struct harness *h = *state;
    begin_old(h);
    uint32_t pid = h->hello.pid;
    int run = harness_seen(h, "through")->run.pid;
    install_broken(h);
    harness_attach(h);
    assert_int_equal(spawner(h)->match, SPAWNER_STALE);
    assert_string_equal(spawner(h)->build.version, "0.0.1");
    assert_int_equal(h->hello.pid, pid);
    end_run(h, run);
    assert_int_equal(count_events(h, "event=upgrade_refused"), 1);
}

/* It executes a file that is no other one: once, and not again with each connection. */
static void an_upgrade_to_the_same_is_not_repeated(void **state)
{
    struct harness *h = *state;
    begin_old(h);
    uint32_t pid = h->hello.pid;
    int run = harness_seen(h, "through")->run.pid;
    harness_attach(h);
    assert_int_equal(spawner(h)->match, SPAWNER_STALE);
    assert_int_equal(h->hello.pid, pid);
    end_run(h, run);
    kill((pid_t)pid, SIGKILL);
    harness_wait(h, !h->is_ready);
    harness_wait(h, h->is_ready);
    assert_int_equal(spawner(h)->match, SPAWNER_STALE);
    assert_int_equal(count_events(h, "event=upgraded"), 1);
}

static void a_newer_one_is_left_alone(void **state)
{
    struct harness *h = *state;
    harness_detach(h);
    h->build = (struct spawn_build){.version = "0.0.0"};
    harness_attach(h);
    assert_int_equal(spawner(h)->match, SPAWNER_NEWER);
    assert_int_equal(count_events(h, "event=upgrade"), 0);
}

/* While a client is connected, by somebody's signal. */
static void the_next_image_tells_its_version(void **state)
{
    struct harness *h = *state;
    char built[4096];
    snprintf(built, sizeof(built), "%s", h->program);
    begin_old(h);
    struct spawn_build build = h->build;
    h->build = (struct spawn_build){0};
    harness_attach(h);
    install(h, built);
    int gone = h->gone;
    kill((pid_t)h->hello.pid, SIGHUP);
    harness_wait(h, strcmp(spawner(h)->build.version, build.version) == 0);
    assert_string_equal(spawner(h)->build.revision, build.revision);
    end_run(h, harness_seen(h, "through")->run.pid);
    assert_int_equal(h->gone, gone);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, harness_setup, harness_teardown)
    const struct CMUnitTest tests[] = {
        TEST(an_older_one_is_upgraded),
        TEST(a_broken_file_is_refused),
        TEST(an_upgrade_to_the_same_is_not_repeated),
        TEST(a_newer_one_is_left_alone),
        TEST(the_next_image_tells_its_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
