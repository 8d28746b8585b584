/* Secrets in the output of a run: masked however it is written, also if the spawner is upgraded or
 * killed in the middle of one; withheld if all that knew them was killed; on no disk. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "clock.h"
#include "harness.h"

#define SECRET "Tr0ub4dor&3 correct"

static void start(struct harness *h, const char *id, const char *script, int64_t at_ms)
{
    struct shell shell;
    shell_init(&shell, id, script);
    shell.env[2] = (char *)"S=" SECRET;
    shell.request.secret_count = 1;
    shell.request.cwd = h->folder;
    shell.request.at_boot_us = at_ms ? (clock_now().boot.ms + at_ms) * 1000 : 0;
    harness_start(h, &shell.request);
}

static void expect_output(struct harness *h, const char *id, int stream, const char *want)
{
    size_t length;
    uint64_t gap;
    char *text = harness_output(h, id, stream, &length, &gap);
    assert_string_equal(text, want);
    free(text);
}

/* No file below the spawner's folder has it. */
static void expect_not_on_disk(const struct harness *h)
{
    char command[256];
    snprintf(command, sizeof(command), "! grep -rqaF '%s' %s", SECRET, h->folder);
    assert_int_equal(system(command), 0);
}

static void output_is_masked(void **state)
{
    static const struct {
        int line;
        const char *script, *out, *err;
    } cases[] = {
        {__LINE__, "echo \"<$S>\"; echo \"[$S]\" >&2", "<********>\n", "[********]\n"},
        {__LINE__, "printf %s \"$S$S\"", "********", ""},
        {__LINE__, "printf %s \"${S%????}\"", "Tr0ub4dor&3 cor", ""},
        {__LINE__, "printf %s \"$S\" | dd bs=1 2>/dev/null; echo .", "********.\n", ""},
        {__LINE__, "printf %s \"$S\" | base64", "********==\n", ""},
        {__LINE__, "printf %s Tr0ub; sleep 0.1; printf %s '4dor&3 correct horse'", "******** horse",
         ""},
        {__LINE__, "exec 2>&1; echo \"$S\" >&2", "********\n", ""},
        {__LINE__, "i=0; while [ $i -lt 3000 ]; do echo \"$S\"; i=$((i+1)); done | sort -u",
         "********\n", ""},
    };
    struct harness *h = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char id[32];
        snprintf(id, sizeof(id), "run-%zu", i);
        start(h, id, cases[i].script, i % 2 ? 30 : 0);
        assert_int_equal(harness_ended(h, id)->reason, SPAWN_EXITED);
        expect_output(h, id, SPAWN_STDOUT, cases[i].out);
        expect_output(h, id, SPAWN_STDERR, cases[i].err);
    }
    expect_not_on_disk(h);
}

/* Half of a value before, half of it after. */
static const char *const halves = "printf 'a%s' \"${S%??????}\"; echo x >half; "
                                  "until [ -e go ]; do sleep 0.01; done; "
                                  "printf '%s' \"${S#?????????????}\"; echo \".$S.\"";

static void an_upgrade_goes_on(void **state)
{
    struct harness *h = *state;
    char text[8];
    start(h, "halves", halves, 0);
    harness_file(h, "half", text, sizeof(text));
    harness_wait(h, harness_seen(h, "halves")->grew);
    kill((pid_t)h->hello.pid, SIGHUP);
    harness_sh(h, "next", "exit 0"); /* is read by the next image */
    harness_ended(h, "next");
    harness_touch(h, "go");
    assert_int_equal(harness_ended(h, "halves")->reason, SPAWN_EXITED);
    expect_output(h, "halves", 0, "a********.********.\n");
    expect_not_on_disk(h);
}

/* Half of a value is read, and the process of this pid killed with the spawner. */
static void kill_between_halves(struct harness *h, pid_t other)
{
    char text[8];
    uint32_t old = h->hello.pid;
    start(h, "halves", halves, 0);
    harness_file(h, "half", text, sizeof(text));
    harness_wait(h, harness_seen(h, "halves")->grew);
    if (other)
        kill(other, SIGKILL);
    kill((pid_t)old, SIGKILL);
    harness_wait(h, h->is_ready && h->hello.pid != old);
    harness_touch(h, "go");
    harness_ended(h, "halves");
}

static void a_kill_goes_on(void **state)
{
    struct harness *h = *state;
    kill_between_halves(h, 0);
    assert_int_equal(harness_seen(h, "halves")->run.reason, SPAWN_EXITED);
    expect_output(h, "halves", 0, "a********.********.\n");
    expect_not_on_disk(h);
}

static void a_kill_of_all_withholds(void **state)
{
    struct harness *h = *state;
    kill_between_halves(h, process_parent((int)h->hello.pid));
    expect_output(h, "halves", 0,
                  "a\npeal: the spawner was killed while this ran: what was written after that is "
                  "withheld, for its secrets can't be masked any more\n");
    expect_not_on_disk(h);
}

/* What a process in the background may still write is not waited for. */
static void a_cut_is_masked(void **state)
{
    struct harness *h = *state;
    struct shell shell;
    shell_init(&shell, "cut", "printf 'a%s' \"${S%?}\"; sleep 600 & exit 0");
    shell.env[2] = (char *)"S=" SECRET;
    shell.request.secret_count = 1;
    shell.request.linger_s = 0;
    harness_start(h, &shell.request);
    harness_ended(h, "cut");
    size_t length;
    uint64_t gap;
    char *output = harness_output(h, "cut", SPAWN_STDOUT, &length, &gap);
    assert_string_equal(output, "a********");
    free(output);
    expect_not_on_disk(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(output_is_masked, harness_setup, harness_teardown),
        cmocka_unit_test_setup_teardown(an_upgrade_goes_on, harness_setup, harness_teardown),
        cmocka_unit_test_setup_teardown(a_kill_goes_on, harness_setup, harness_teardown),
        cmocka_unit_test_setup_teardown(a_kill_of_all_withholds, harness_setup, harness_teardown),
        cmocka_unit_test_setup_teardown(a_cut_is_masked, harness_setup, harness_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
