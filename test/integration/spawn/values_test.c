/* Values that a run hands over: written by whoever it runs as, found by its id afterwards, and
 * never anything but what was written to that file. */
#include <fcntl.h>
#include <pwd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "clock.h"
#include "harness.h"

#define MAX_BYTES 4096

static void values_path(const struct harness *h, const char *id, char path[256])
{
    snprintf(path, 256, "%s/out/%s" SPAWN_VALUES_SUFFIX, h->folder, id);
}

static void start(struct harness *h, const char *id, const char *script, const char *user)
{
    struct shell shell;
    shell_init(&shell, id, script);
    shell.request.has_values = true;
    if (user)
        shell.request.user = user;
    harness_start(h, &shell.request);
}

/* What was read, "" for nothing; the test's to free. */
static char *values_of(const struct harness *h, const char *id)
{
    char *text = NULL;
    size_t length = 0;
    assert_int_equal(spawn_values_read(h->folder, id, MAX_BYTES, &text, &length), OK);
    assert_int_equal(length, text ? strlen(text) : 0);
    return text ? text : strdup("");
}

static void expect_values(const struct harness *h, const char *id, const char *want)
{
    char *text = values_of(h, id);
    assert_string_equal(text, want);
    free(text);
}

static void values_are_handed_over(void **state)
{
    static const struct {
        int line;
        const char *script, *want;
    } cases[] = {
        {__LINE__, "echo a=1 >> \"$PEAL_OUTPUT\"; echo b=2 >> \"$PEAL_OUTPUT\"", "a=1\nb=2\n"},
        {__LINE__, "echo a=1 > \"$PEAL_OUTPUT\"; echo b=2 > \"$PEAL_OUTPUT\"", "b=2\n"},
        {__LINE__, "echo a=1 >> \"$PEAL_OUTPUT\"; cat \"$PEAL_OUTPUT\" >&2; exit 3", "a=1\n"},
        {__LINE__, "(cd / && exec sh -c 'echo a=1 >> \"$PEAL_OUTPUT\"')", "a=1\n"},
        {__LINE__, "exec 3>/dev/null 9>/dev/null; echo a=1 >> $PEAL_OUTPUT", "a=1\n"},
        {__LINE__,
         "echo $$ | grep -qx \"$(echo $PEAL_OUTPUT | cut -d/ -f3)\" && "
         "echo same=yes >> $PEAL_OUTPUT",
         "same=yes\n"},
        {__LINE__, "true", ""},
        {__LINE__, "rm -f \"$PEAL_OUTPUT\"; exit 0", ""},
    };
    struct harness *h = *state;
    for (size_t i = 0; i < ROWS(cases); i++) {
        char id[32];
        snprintf(id, sizeof(id), "row-%zu", i);
        start(h, id, cases[i].script, NULL);
        assert_int_equal(harness_ended(h, id)->reason, SPAWN_EXITED);
        char *text = values_of(h, id);
        if (strcmp(text, cases[i].want) != 0)
            fail_msg("line %d: \"%s\"", cases[i].line, text);
        free(text);
        spawn_values_remove(h->folder, id);
        expect_values(h, id, "");
    }
}

static void a_run_without_values_has_no_file(void **state)
{
    struct harness *h = *state;
    struct stat about;
    char path[256];
    harness_sh(h, "plain", "echo \"[$PEAL_OUTPUT]\"; test ! -e /proc/$$/fd/30");
    assert_int_equal(harness_ended(h, "plain")->wait_status, 0);
    char *text = harness_output(h, "plain", 0, NULL, NULL);
    assert_string_equal(text, "[]\n");
    free(text);
    values_path(h, "plain", path);
    assert_int_equal(stat(path, &about), -1);
    expect_values(h, "plain", "");
}

/* Its user may write to its own file, and to no other; nobody else may. */
static void another_user_owns_the_file(void **state)
{
    struct harness *h = *state;
    if (geteuid() != 0) {
        print_message("only root can start runs as other users\n");
        skip();
    }
    char path[256], script[640];
    struct stat about;
    const struct passwd *user = getpwnam("nobody");
    values_path(h, "theirs", path);
    snprintf(script, sizeof(script),
             "id -un >> $PEAL_OUTPUT; sh -c 'echo more >> $PEAL_OUTPUT'; "
             "ls %s/out && echo listed >> $PEAL_OUTPUT; cat %s && echo opened >> $PEAL_OUTPUT; "
             "stat -L -c %%a $PEAL_OUTPUT >> $PEAL_OUTPUT",
             h->folder, path);
    start(h, "theirs", script, "nobody");
    assert_int_equal(harness_ended(h, "theirs")->wait_status, 0);
    expect_values(h, "theirs", "nobody\nmore\n600\n");
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_uid, user->pw_uid);
    start(h, "root-s", "exec sleep 60", NULL);
    const struct seen *seen = harness_seen(h, "root-s");
    harness_wait(h, seen->started == 1);
    snprintf(script, sizeof(script), "echo x >> /proc/%d/fd/30", seen->run.pid);
    start(h, "thief", script, "daemon");
    assert_int_not_equal(harness_ended(h, "thief")->wait_status, 0);
    assert_int_equal(spawn_client_kill(h->client, "root-s", SIGKILL, 0), OK);
    harness_ended(h, "root-s");
    expect_values(h, "root-s", "");
}

/* Ahead of its time a process is held, or made anew at it: the file is one and the same. */
static void a_start_ahead_of_its_time_has_its_file(void **state)
{
    static const char *const users[] = {NULL, "nobody"};
    struct harness *h = *state;
    for (size_t i = 0; i < (geteuid() == 0 ? ROWS(users) : 1); i++) {
        char id[32];
        struct shell shell;
        snprintf(id, sizeof(id), "early-%zu", i);
        shell_init(&shell, id, "echo a=1 >> $PEAL_OUTPUT");
        shell.request.has_values = true;
        shell.request.at_boot_us = clock_boot_us() + 200000;
        if (users[i])
            shell.request.user = users[i];
        harness_start(h, &shell.request);
        assert_int_equal(harness_ended(h, id)->wait_status, 0);
        expect_values(h, id, "a=1\n");
    }
}

static void input_and_values_go_together(void **state)
{
    struct harness *h = *state;
    struct shell shell;
    shell_init(&shell, "both", "cat >> $PEAL_OUTPUT");
    shell.request.has_values = true;
    shell.request.stdin_bytes = "in=1\n";
    shell.request.stdin_length = 5;
    harness_start(h, &shell.request);
    harness_ended(h, "both");
    expect_values(h, "both", "in=1\n");
}

static void too_much_is_refused(void **state)
{
    struct harness *h = *state;
    char *text = "untouched";
    size_t length = 7;
    start(h, "much", "head -c 4097 /dev/zero >> $PEAL_OUTPUT", NULL);
    harness_ended(h, "much");
    assert_int_equal(spawn_values_read(h->folder, "much", MAX_BYTES, &text, &length), E_TOO_LARGE);
    start(h, "enough", "head -c 4096 /dev/zero | tr '\\0' x >> $PEAL_OUTPUT", NULL);
    harness_ended(h, "enough");
    assert_string_equal(text, "untouched");
    assert_int_equal(spawn_values_read(h->folder, "enough", MAX_BYTES, &text, &length), OK);
    assert_int_equal(length, MAX_BYTES);
    free(text);
}

/* A run of the agent's own user can reach the folder. Nothing that it puts there is followed, or
 * waited for. */
static void nothing_else_is_read_in_its_place(void **state)
{
    static const struct {
        int line;
        const char *command; /* with the file's path as $f */
    } cases[] = {
        {__LINE__, "ln -sf /etc/passwd $f"},
        {__LINE__, "ln -sf /nowhere $f"},
        {__LINE__, "rm $f; mkfifo $f"},
        {__LINE__, "rm $f; mkdir $f"},
        {__LINE__, "echo secret > $f.other; ln -f $f.other $f"},
    };
    struct harness *h = *state;
    for (size_t i = 0; i < ROWS(cases); i++) {
        char id[32], path[256], script[512], *text = NULL;
        size_t length = 0;
        snprintf(id, sizeof(id), "fake-%zu", i);
        values_path(h, id, path);
        snprintf(script, sizeof(script), "f=%s; %s", path, cases[i].command);
        start(h, id, script, geteuid() == 0 ? "root" : NULL);
        assert_int_equal(harness_ended(h, id)->wait_status, 0);
        enum status st = spawn_values_read(h->folder, id, MAX_BYTES, &text, &length);
        if (st != E_INVALID || text)
            fail_msg("line %d: %s, \"%s\"", cases[i].line, status_text(st), text);
        spawn_values_remove(h->folder, id);
    }
    char *text = NULL;
    size_t length = 0;
    assert_int_equal(spawn_values_read(h->folder, "../x", MAX_BYTES, &text, &length), E_INVALID);
}

/* The agent is killed while the run is under way, and the spawner, too. */
static void values_outlive_agent_and_spawner(void **state)
{
    struct harness *h = *state;
    char script[256];
    snprintf(script, sizeof(script),
             "echo a=1 >> $PEAL_OUTPUT; while [ ! -e %s/go ]; do sleep 0.02; done; "
             "echo b=2 >> $PEAL_OUTPUT",
             h->folder);
    start(h, "long", script, NULL);
    harness_wait(h, harness_seen(h, "long")->started == 1);
    harness_detach(h);
    kill((pid_t)h->hello.pid, SIGKILL);
    h->seen_count = 0;
    harness_attach(h);
    assert_int_equal(harness_seen(h, "long")->known, 1);
    harness_touch(h, "go");
    harness_ended(h, "long");
    expect_values(h, "long", "a=1\nb=2\n");
    harness_detach(h);
    h->seen_count = 0;
    harness_attach(h); /* not acknowledged: told again, and still there */
    harness_ended(h, "long");
    expect_values(h, "long", "a=1\nb=2\n");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, harness_setup, harness_teardown)
    const struct CMUnitTest tests[] = {
        TEST(values_are_handed_over),
        TEST(a_run_without_values_has_no_file),
        TEST(another_user_owns_the_file),
        TEST(a_start_ahead_of_its_time_has_its_file),
        TEST(input_and_values_go_together),
        TEST(too_much_is_refused),
        TEST(nothing_else_is_read_in_its_place),
        TEST(values_outlive_agent_and_spawner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
