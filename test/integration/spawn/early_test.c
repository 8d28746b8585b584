/* Starts that come before their time: nothing runs before it, and each runs once. */
#include <dirent.h>
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

#include "clock.h"
#include "harness.h"

#define MS   INT64_C(1000)
#define HOUR (INT64_C(3600000) * MS)

/* A run that adds a letter to the file `ran`, in this many microseconds; returns its time. */
static int64_t start_in(struct harness *h, const char *id, int64_t us)
{
    char path[256], script[512];
    struct shell shell;
    harness_path(h, "ran", path, sizeof(path));
    snprintf(script, sizeof(script), "printf x >> %s; exit 3", path);
    shell_init(&shell, id, script);
    shell.request.at_boot_us = clock_boot_us() + us;
    harness_start(h, &shell.request);
    return shell.request.at_boot_us;
}

static int count_ran(const struct harness *h)
{
    char path[256];
    struct stat st;
    harness_path(h, "ran", path, sizeof(path));
    return stat(path, &st) == 0 ? (int)st.st_size : 0;
}

/* How many processes it has; *ret_first is one of them, or 0. */
static int children_of(uint32_t parent, int *ret_first)
{
    DIR *dir = opendir("/proc");
    int count = 0;
    assert_non_null(dir);
    *ret_first = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[300], line[256] = "";
        int of = 0;
        snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
        FILE *file = atoi(entry->d_name) > 0 ? fopen(path, "re") : NULL;
        if (!file)
            continue;
        const char *end = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
        if (end && sscanf(end + 1, " %*c %d", &of) == 1 && (uint32_t)of == parent && !count++)
            *ret_first = atoi(entry->d_name);
        fclose(file);
    }
    closedir(dir);
    return count;
}

/* Of its processes one; 0: none. */
static int child_of(uint32_t parent)
{
    int first;
    children_of(parent, &first);
    return first;
}

static void a_start_waits_for_its_time(void **state)
{
    struct harness *h = *state;
    int64_t at_us = start_in(h, "timed", 300 * MS);
    int64_t wall_ms = clock_now().wall.ms;
    harness_wait(h, harness_seen(h, "timed")->started == 1 || count_ran(h));
    assert_true(clock_boot_us() >= at_us);
    const struct spawn_run *run = harness_ended(h, "timed");
    assert_int_equal(WEXITSTATUS(run->wait_status), 3);
    assert_true(run->started_wall_ms > wall_ms);
    assert_int_equal(count_ran(h), 1);
}

/* More than are held, in an order that is not that of their times; and all at once by a spawner
 * that was asleep: so many are not written to its journal in one go. */
static void many_run_once(struct harness *h, bool is_asleep)
{
    enum { COUNT = 400 };
    char id[32];
    int64_t last_us = 0;
    for (int i = 0; i < COUNT; i++) {
        snprintf(id, sizeof(id), "run-%d", i);
        int64_t at_us = start_in(h, id, (900 - i % 7 * 10) * MS);
        last_us = at_us > last_us ? at_us : last_us;
    }
    if (is_asleep) {
        harness_wait(h, child_of(h->hello.pid));
        kill((pid_t)h->hello.pid, SIGSTOP);
        while (clock_boot_us() < last_us)
            usleep(1000);
        kill((pid_t)h->hello.pid, SIGCONT);
    }
    harness_wait(h, h->ended_count == COUNT);
    assert_int_equal(count_ran(h), COUNT);
    for (int i = 0; i < COUNT; i++) {
        snprintf(id, sizeof(id), "run-%d", i);
        assert_int_equal(harness_ended(h, id)->reason, SPAWN_EXITED);
        assert_int_equal(WEXITSTATUS(harness_ended(h, id)->wait_status), 3);
    }
}

static void many_run_once_each(void **state)
{
    many_run_once(*state, false);
}

static void many_of_an_instant_run_once_each(void **state)
{
    many_run_once(*state, true);
}

/* A process waits for the first runs of a tick, and for each of a large one. The others, which are
 * made at their time, are told of as those are. A spawner that is killed is sent all of them again.
 */
static void only_what_gains_by_it_is_held(void **state)
{
    static const struct {
        int runs, least_held, most_held;
    } rows[] = {{2, 2, 2}, {60, 1, 8}, {200, 200, 200}};
    struct harness *h = *state;
    int ran = 0, first;
    for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
        char id[32];
        int64_t at_us = clock_boot_us() + 4000 * MS;
        for (int i = 0; i < rows[row].runs; i++) {
            snprintf(id, sizeof(id), "tick-%zu-%d", row, i);
            start_in(h, id, at_us - clock_boot_us());
        }
        for (int again = 1; again <= 2; again++) {
            for (int i = 0; i < rows[row].runs; i++) {
                snprintf(id, sizeof(id), "tick-%zu-%d", row, i);
                harness_wait(h, harness_seen(h, id)->held == again);
            }
            int held = children_of(h->hello.pid, &first);
            assert_true(clock_boot_us() < at_us);
            assert_in_range(held, rows[row].least_held, rows[row].most_held);
            if (again == 1)
                kill((pid_t)h->hello.pid, SIGKILL);
        }
        ran += rows[row].runs;
        harness_wait(h, h->ended_count == ran);
        assert_int_equal(count_ran(h), ran);
    }
}

static void a_time_that_has_passed_is_now(void **state)
{
    struct harness *h = *state;
    start_in(h, "late", -HOUR < -clock_boot_us() ? -clock_boot_us() + 1 : -HOUR);
    assert_int_equal(WEXITSTATUS(harness_ended(h, "late")->wait_status), 3);
}

static void a_kill_before_its_time_ends_it(void **state)
{
    struct harness *h = *state;
    start_in(h, "never", HOUR);
    harness_wait(h, child_of(h->hello.pid));
    int held = child_of(h->hello.pid);
    assert_int_equal(spawn_client_kill(h->client, "never", 0, -1), OK);
    const struct spawn_run *run = harness_ended(h, "never");
    assert_int_equal(run->reason, SPAWN_KILLED);
    assert_int_equal(run->started_wall_ms, 0);
    harness_wait(h, !process_lives(held));
    assert_int_equal(count_ran(h), 0);
}

/* That it is held is told, but is no answer: the client sends it again. */
static void what_is_held_dies_with_the_spawner(void **state)
{
    struct harness *h = *state;
    start_in(h, "again", 1500 * MS);
    harness_wait(h, harness_seen(h, "again")->held == 1);
    int held = child_of(h->hello.pid);
    assert_true(held > 0);
    kill((pid_t)h->hello.pid, SIGKILL);
    harness_wait(h, !process_lives(held));
    assert_int_equal(count_ran(h), 0);
    harness_wait(h, harness_seen(h, "again")->held == 2);
    assert_int_equal(WEXITSTATUS(harness_ended(h, "again")->wait_status), 3);
    assert_int_equal(h->gone, 1);
    assert_int_equal(count_ran(h), 1);
}

/* An agent that comes meanwhile hears of it, and so does not take it for one that never was. */
static void a_new_agent_is_told(void **state)
{
    struct harness *h = *state;
    start_in(h, "known", 1000 * MS);
    harness_wait(h, child_of(h->hello.pid));
    harness_detach(h);
    h->seen_count = 0;
    harness_attach(h);
    assert_int_equal(harness_seen(h, "known")->known, 1);
    assert_int_equal(harness_seen(h, "known")->run.reason, SPAWN_NOT_ENDED);
    assert_int_equal(harness_seen(h, "known")->run.started_wall_ms, 0);
    start_in(h, "known", 0); /* its id is taken */
    assert_int_equal(WEXITSTATUS(harness_ended(h, "known")->wait_status), 3);
    assert_int_equal(harness_seen(h, "known")->started, 1);
    assert_int_equal(count_ran(h), 1);
}

/* It starts at its time, and the next agent hears of its end. */
static void it_needs_no_agent(void **state)
{
    struct harness *h = *state;
    int64_t at_us = start_in(h, "alone", 500 * MS);
    harness_wait(h, child_of(h->hello.pid));
    harness_detach(h);
    while (!count_ran(h))
        usleep(1000);
    assert_true(clock_boot_us() >= at_us);
    h->seen_count = 0;
    harness_attach(h);
    assert_int_equal(WEXITSTATUS(harness_ended(h, "alone")->wait_status), 3);
    assert_int_equal(count_ran(h), 1);
}

/* The spawner sleeps over its time, or over its deadline, too, as it does when the machine sleeps:
 * then it never starts, and that is told. */
static void a_sleep_is_survived(void **state)
{
    static const struct {
        int line;
        const char *id;
        int64_t deadline_ms; /* after its time */
        enum spawn_reason reason;
    } cases[] = {
        {__LINE__, "late", 3600000, SPAWN_EXITED},
        {__LINE__, "too-late", 1, SPAWN_EXPIRED},
    };
    struct harness *h = *state;
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct shell shell;
        shell_init(&shell, cases[i].id, "exit 3");
        shell.request.at_boot_us = clock_boot_us() + 300 * MS;
        shell.request.deadline_boot_ms = shell.request.at_boot_us / 1000 + cases[i].deadline_ms;
        harness_start(h, &shell.request);
        harness_wait(h, child_of(h->hello.pid));
        int held = child_of(h->hello.pid);
        kill((pid_t)h->hello.pid, SIGSTOP);
        if (cases[i].reason == SPAWN_EXPIRED)
            harness_wait(h, !process_lives(held)); /* it does not wait for the spawner's word */
        while (clock_boot_us() < shell.request.at_boot_us)
            usleep(1000);
        kill((pid_t)h->hello.pid, SIGCONT);
        const struct spawn_run *run = harness_ended(h, cases[i].id);
        if (run->reason != cases[i].reason)
            fail_msg("line %d: %u", cases[i].line, run->reason);
    }
}

/* By somebody else: nothing has run, and it is made anew at its time. */
static void a_held_process_may_be_killed(void **state)
{
    struct harness *h = *state;
    start_in(h, "anew", 800 * MS);
    harness_wait(h, child_of(h->hello.pid));
    int held = child_of(h->hello.pid);
    kill(held, SIGKILL);
    harness_wait(h, !process_lives(held));
    assert_int_equal(WEXITSTATUS(harness_ended(h, "anew")->wait_status), 3);
    assert_int_equal(count_ran(h), 1);
}

static bool log_has(const struct harness *h, const char *words)
{
    char path[256], text[4096];
    harness_path(h, "peal-spawn.log", path, sizeof(path));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, sizeof(text) - 1) : 0;
    text[length > 0 ? length : 0] = '\0';
    if (fd >= 0)
        close(fd);
    return strstr(text, words);
}

/* Before its time. The agent sends it again; one that can't is waited for, and so is the time of
 * those that no agent has sent. */
static void an_upgrade_loses_none(void **state)
{
    enum { SENDS_AGAIN, OTHER_AGENT, NO_AGENT, CASES };
    struct harness *h = *state;
    for (int i = 0; i < CASES; i++) {
        char id[32];
        snprintf(id, sizeof(id), "run-%d", i);
        start_in(h, id, 1000 * MS);
        harness_wait(h, child_of(h->hello.pid));
        if (i != SENDS_AGAIN)
            harness_detach(h);
        if (i == OTHER_AGENT)
            harness_attach(h);
        kill((pid_t)h->hello.pid, SIGHUP);
        if (i == NO_AGENT)
            harness_attach(h);
        assert_int_equal(WEXITSTATUS(harness_ended(h, id)->wait_status), 3);
        assert_int_equal(count_ran(h), 1 + i);
    }
    assert_int_equal(h->gone, 1);
    harness_wait(h, log_has(h, "event=upgraded"));
}

static void what_fails_is_told_at_its_time(void **state)
{
    static const struct {
        int line;
        const char *cwd, *program;
        enum spawn_step step;
    } cases[] = {
        {__LINE__, "/nowhere", "/bin/true", SPAWN_STEP_CWD},
        {__LINE__, "/", "/bin/nothing", SPAWN_STEP_EXEC},
    };
    struct harness *h = *state;
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct shell shell;
        char id[32];
        snprintf(id, sizeof(id), "bad-%zu", i);
        shell_init(&shell, id, "");
        shell.request.cwd = cases[i].cwd;
        shell.argv[0] = (char *)cases[i].program;
        shell.request.at_boot_us = clock_boot_us() + 200 * MS;
        harness_start(h, &shell.request);
        const struct spawn_run *run = harness_ended(h, id);
        if (run->reason != SPAWN_START_FAILED || run->step != cases[i].step)
            fail_msg("line %d: %u, step %u", cases[i].line, run->reason, run->step);
        assert_true(clock_boot_us() >= shell.request.at_boot_us);
    }
}

/* One that comes before its time is told at once: there is nothing to wait for. */
static void the_deadline_still_holds(void **state)
{
    struct harness *h = *state;
    struct shell shell;
    shell_init(&shell, "expired", "exit 0");
    shell.request.at_boot_us = clock_boot_us() + HOUR;
    shell.request.deadline_boot_ms = shell.request.at_boot_us / 1000 - 100;
    harness_start(h, &shell.request);
    assert_int_equal(harness_ended(h, "expired")->reason, SPAWN_EXPIRED);
}

/* The tear-down wants it to end. */
static void a_spawner_that_is_stopped_waits_for_none(void **state)
{
    struct harness *h = *state;
    start_in(h, "never", HOUR);
    harness_wait(h, child_of(h->hello.pid));
}

static void stdin_and_output_are_there(void **state)
{
    struct harness *h = *state;
    struct shell shell;
    shell_init(&shell, "talks", "cat; echo err >&2");
    shell.request.stdin_bytes = "words\n";
    shell.request.stdin_length = 6;
    shell.request.at_boot_us = clock_boot_us() + 200 * MS;
    harness_start(h, &shell.request);
    assert_int_equal(harness_ended(h, "talks")->reason, SPAWN_EXITED);
    char *text = harness_output(h, "talks", 0, NULL, NULL);
    assert_string_equal(text, "words\nerr\n");
    free(text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, harness_setup, harness_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_start_waits_for_its_time),
        TEST(many_run_once_each),
        TEST(many_of_an_instant_run_once_each),
        TEST(a_time_that_has_passed_is_now),
        TEST(a_kill_before_its_time_ends_it),
        TEST(only_what_gains_by_it_is_held),
        TEST(what_is_held_dies_with_the_spawner),
        TEST(a_new_agent_is_told),
        TEST(it_needs_no_agent),
        TEST(a_sleep_is_survived),
        TEST(a_held_process_may_be_killed),
        TEST(an_upgrade_loses_none),
        TEST(what_fails_is_told_at_its_time),
        TEST(the_deadline_still_holds),
        TEST(a_spawner_that_is_stopped_waits_for_none),
        TEST(stdin_and_output_are_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
