/* Killing: the whole tree, with grace, whatever its processes did to get away. */
#include <errno.h>
#include <linux/sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "harness.h"

/* Every script writes the pids of its processes to $PIDS and then waits in them. */
static const struct {
    int line;
    const char *script;
    int processes;
} trees[] = {
    {__LINE__, "echo $$ >> $PIDS; exec sleep 100", 1},
    {__LINE__, "echo $$ >> $PIDS; sh -c 'echo $$ >> $PIDS; sleep 100'; exit 0", 2},
    {__LINE__, "sh -c 'echo $$ >> $PIDS; exec sleep 100' & echo $$ >> $PIDS; wait", 2},
    /* a session of its own */
    {__LINE__, "setsid sh -c 'echo $$ >> $PIDS; exec sleep 100' & echo $$ >> $PIDS; wait", 2},
    /* a session of its own, and its parent has ended: a daemon */
    {__LINE__,
     "(setsid sh -c 'echo $$ >> $PIDS; (exec sleep 100) & echo $! >> $PIDS; exec sleep 100' &);"
     "echo $$ >> $PIDS; exec sleep 100",
     3},
    /* it won't listen */
    {__LINE__, "trap '' TERM; echo $$ >> $PIDS; sleep 100; sleep 100; sleep 100", 1},
    {__LINE__,
     "setsid sh -c \"trap '' TERM; echo \\$\\$ >> $PIDS; while :; do sleep 1; done\" &"
     "echo $$ >> $PIDS; exec sleep 100",
     2},
    /* stopped */
    {__LINE__, "echo $$ >> $PIDS; kill -STOP $$; sleep 100", 1},
};

/* Reads the pids once all are there; returns how many. */
static int read_pids(const char *path, int pids[8])
{
    int count = 0;
    FILE *file = fopen(path, "re");
    while (file && count < 8 && fscanf(file, "%d", &pids[count]) == 1)
        count++;
    if (file)
        fclose(file);
    return count;
}

static void start_tree(struct harness *h, size_t row, const char *id, int64_t timeout_ms,
                       char variable[300], int pids[8])
{
    struct shell shell;
    shell_init(&shell, id, trees[row].script);
    snprintf(variable, 300, "PIDS=%s/pids-%s", h->folder, id);
    shell.env[1] = variable;
    shell.request.timeout_ms = timeout_ms;
    harness_start(h, &shell.request);
    if (!timeout_ms)
        harness_wait(h, read_pids(variable + 5, pids) == trees[row].processes);
}

static void check_tree(struct harness *h, size_t row, const char *id, const char *path,
                       enum spawn_reason want)
{
    int pids[8];
    const struct spawn_run *run = harness_ended(h, id);
    int count = read_pids(path, pids);
    if (run->reason != want || run->left_over || count != trees[row].processes)
        fail_msg("line %d: %s, %d pids", trees[row].line,
                 spawn_reason_text((enum spawn_reason)run->reason), count);
    for (int i = 0; i < count; i++)
        if (process_lives(pids[i])) /* the end was told: none may be left */
            fail_msg("line %d: process %d of %d lives", trees[row].line, i + 1, count);
}

static void the_whole_tree_is_killed(void **state)
{
    struct harness *h = *state;
    for (size_t i = 0; i < ROWS(trees); i++) {
        char id[32], variable[300];
        int pids[8];
        snprintf(id, sizeof(id), "tree-%zu", i);
        start_tree(h, i, id, 0, variable, pids);
        assert_int_equal(spawn_client_kill(h->client, id, 0, -1), OK);
        check_tree(h, i, id, variable + 5, SPAWN_KILLED);
    }
}

static void a_timeout_kills_the_whole_tree(void **state)
{
    struct harness *h = *state;
    char ids[ROWS(trees)][32], variables[ROWS(trees)][300];
    int pids[8];
    for (size_t i = 0; i < ROWS(trees); i++) {
        snprintf(ids[i], sizeof(ids[i]), "late-%zu", i);
        start_tree(h, i, ids[i], 1500, variables[i], pids);
    }
    harness_wait(h, harness_seen(h, ids[ROWS(trees) - 1])->started == 1);
    harness_detach(h); /* nobody is there to tell the spawner */
    harness_attach(h);
    for (size_t i = 0; i < ROWS(trees); i++)
        check_tree(h, i, ids[i], variables[i] + 5, SPAWN_TIMED_OUT);
}

static void grace_lets_it_clean_up(void **state)
{
    struct harness *h = *state;
    struct shell shell;
    shell_init(&shell, "tidy",
               "trap 'echo bye; exit 9' TERM; echo up; while :; do sleep 0.02; done");
    shell.request.grace_ms = 60000;
    harness_start(h, &shell.request);
    harness_wait(h, harness_seen(h, "tidy")->run.output_bytes > 0);
    assert_int_equal(spawn_client_kill(h->client, "tidy", 0, -1), OK);
    const struct spawn_run *run = harness_ended(h, "tidy");
    assert_int_equal(run->reason, SPAWN_KILLED);
    assert_int_equal(WEXITSTATUS(run->wait_status), 9);
    assert_in_range(run->ended_boot_ms - run->started_boot_ms, 0, shell.request.grace_ms - 1);
    char *text = harness_output(h, "tidy", SPAWN_STDOUT, NULL, NULL);
    assert_string_equal(text, "up\nbye\n");
    free(text);
}

/* It is found in its cgroup and by its session. */
static void a_process_is_told_once(void **state)
{
    struct harness *h = *state;
    struct shell shell;
    shell_init(&shell, "once",
               "trap 'echo told' TERM; echo up; for i in $(seq 30); do sleep 0.02; done; exit 7");
    shell.request.grace_ms = 60000;
    harness_start(h, &shell.request);
    harness_wait(h, harness_seen(h, "once")->run.output_bytes > 0);
    assert_int_equal(spawn_client_kill(h->client, "once", 0, -1), OK);
    assert_int_equal(WEXITSTATUS(harness_ended(h, "once")->wait_status), 7);
    char *text = harness_output(h, "once", SPAWN_STDOUT, NULL, NULL);
    assert_string_equal(text, "up\ntold\n");
    free(text);
}

/* What a process starts when it is told to end is not told. The many others give it time to. */
static void who_cleans_up_is_not_told(void **state)
{
    struct harness *h = *state;
    struct shell shell;
    shell_init(&shell, "cleans",
               "trap \"sh -c 'sleep 0.3; echo clean'; exit 3\" TERM\n"
               "i=0; while [ $i -lt 200 ]; do sleep 100 & i=$((i + 1)); done\n"
               "echo up; while :; do wait; done");
    harness_start(h, &shell.request);
    harness_wait(h, harness_seen(h, "cleans")->run.output_bytes > 0);
    assert_int_equal(spawn_client_kill(h->client, "cleans", 0, 20000), OK);
    assert_int_equal(WEXITSTATUS(harness_ended(h, "cleans")->wait_status), 3);
    char *text = harness_output(h, "cleans", 0, NULL, NULL);
    assert_non_null(strstr(text, "clean\n"));
    free(text);
}

static void the_first_signal_can_be_chosen(void **state)
{
    struct harness *h = *state;
    harness_sh(h, "chosen", "trap 'exit 8' USR1; echo up; while :; do sleep 0.02; done");
    harness_wait(h, harness_seen(h, "chosen")->run.output_bytes > 0);
    assert_int_equal(spawn_client_kill(h->client, "chosen", SIGUSR1, 10000), OK);
    assert_int_equal(WEXITSTATUS(harness_ended(h, "chosen")->wait_status), 8);
}

static void no_grace_is_sigkill_at_once(void **state)
{
    struct harness *h = *state;
    harness_sh(h, "now", "trap '' TERM; echo up; sleep 100");
    harness_wait(h, harness_seen(h, "now")->run.output_bytes > 0);
    assert_int_equal(spawn_client_kill(h->client, "now", 0, 0), OK);
    const struct spawn_run *run = harness_ended(h, "now");
    assert_int_equal(WTERMSIG(run->wait_status), SIGKILL);
    assert_int_equal(run->reason, SPAWN_KILLED);
}

static void others_are_not_touched(void **state)
{
    struct harness *h = *state;
    harness_sh(h, "other", "echo up; sleep 1; exit 3");
    harness_sh(h, "victim", "echo up; sleep 100");
    harness_wait(h, harness_seen(h, "other")->run.output_bytes > 0 &&
                        harness_seen(h, "victim")->run.output_bytes > 0);
    assert_int_equal(spawn_client_kill(h->client, "victim", 0, -1), OK);
    assert_int_equal(spawn_client_kill(h->client, "nobody-knows", 0, -1), OK);
    assert_int_equal(harness_ended(h, "victim")->reason, SPAWN_KILLED);
    const struct spawn_run *run = harness_ended(h, "other");
    assert_int_equal(run->reason, SPAWN_EXITED);
    assert_int_equal(WEXITSTATUS(run->wait_status), 3);
}

/* A process that gets a certain pid. 0: it is in use; -1: this machine or user can't choose. */
static pid_t take_pid(pid_t pid)
{
    struct clone_args args = {
        .exit_signal = SIGCHLD, .set_tid = (uintptr_t)&pid, .set_tid_size = 1};
    long made = syscall(SYS_clone3, &args, sizeof(args));
    if (made == 0) {
        for (;;)
            pause();
    }
    return made > 0 ? (pid_t)made : errno == EEXIST ? 0 : -1;
}

/* While the last ones of a run have their grace, the pid of its main process may get to be another
 * one's. */
static void who_gets_its_pid_is_not_touched(void **state)
{
    struct harness *h = *state;
    struct shell shell;
    char variable[300];
    int pids[8], status;
    shell_init(&shell, "former",
               "(setsid sh -c \"trap '' TERM; echo \\$\\$ >> $PIDS; while :; do sleep 1; done\" &);"
               "exec sleep 100");
    snprintf(variable, sizeof(variable), "PIDS=%s/pids-former", h->folder);
    shell.env[1] = variable;
    shell.request.grace_ms = 2000;
    harness_start(h, &shell.request);
    harness_wait(h, read_pids(variable + 5, pids) == 1);
    pid_t pid = (pid_t)harness_seen(h, "former")->run.pid, other = 0;
    assert_int_equal(spawn_client_kill(h->client, "former", 0, -1), OK);
    harness_wait(h, (other = take_pid(pid)) != 0);
    if (other < 0)
        skip();
    assert_int_equal(harness_ended(h, "former")->reason, SPAWN_KILLED);
    assert_false(harness_seen(h, "former")->run.left_over);
    assert_false(process_lives(pids[0]));
    pid_t ended = waitpid(other, &status, WNOHANG);
    kill(other, SIGKILL);
    if (ended == 0)
        waitpid(other, &status, 0);
    assert_int_equal(ended, 0);
}

static void an_end_in_time_is_no_timeout(void **state)
{
    struct harness *h = *state;
    struct shell shell;
    shell_init(&shell, "quick", "exit 0");
    shell.request.timeout_ms = 5000;
    harness_start(h, &shell.request);
    assert_int_equal(harness_ended(h, "quick")->reason, SPAWN_EXITED);
}

static void cgroups_are_used_where_they_can_be(void **state)
{
    struct harness *h = *state;
    if (h->no_cgroup) {
        assert_int_equal(h->hello.features & SPAWN_HAS_CGROUP, 0);
    } else if (!(h->hello.features & SPAWN_HAS_CGROUP)) {
        print_message("no cgroup of this machine can be written to\n");
        skip();
    }
}

static bool has_cgroups(const struct harness *h)
{
    return h->hello.features & SPAWN_HAS_CGROUP;
}

/* A script whose background process has left the session, the parent and the environment of its
 * run, and so can be found by its cgroup alone. The pid is in `path`. */
static void escape_script(const char *path, const char *then, char *script, size_t size)
{
    snprintf(script, size,
             "(setsid env -i /bin/sh -c 'echo $$ > %s; exec sleep 100' </dev/null >/dev/null 2>&1 "
             "&); until [ -s %s ]; do sleep 0.01; done; %s",
             path, path, then);
}

static void who_left_everything_behind_is_killed(void **state)
{
    struct harness *h = *state;
    char path[256], script[1024];
    int pids[8] = {0};
    if (!has_cgroups(h))
        skip();
    for (int round = 0; round < 100; round++) { /* also in cgroups that others have had before */
        char id[32];
        snprintf(id, sizeof(id), "away-%d", round);
        harness_path(h, id, path, sizeof(path));
        escape_script(path, "echo up; exec sleep 100", script, sizeof(script));
        harness_sh(h, id, script);
        harness_wait(h, harness_seen(h, id)->run.output_bytes > 0);
        assert_int_equal(read_pids(path, pids), 1);
        assert_true(process_lives(pids[0]));
        assert_int_equal(spawn_client_kill(h->client, id, 0, 0), OK);
        assert_false(harness_ended(h, id)->left_over);
        assert_false(process_lives(pids[0]));
        harness_ack(h, id);
    }
}

/* The cgroup that a run was in, as it says itself. */
static void read_cgroup(struct harness *h, const char *id, char *ret, size_t size)
{
    char *text = harness_output(h, id, SPAWN_STDOUT, NULL, NULL);
    const char *line = strstr(text, "0::");
    assert_non_null(line);
    snprintf(ret, size, "%.*s", (int)strcspn(line, "\n"), line);
    free(text);
}

/* So many runs at once; returns how many of them were in that cgroup. */
static int count_in_cgroup(struct harness *h, const char *prefix, int count, const char *cgroup)
{
    char id[32], other[512];
    int same = 0;
    for (int i = 0; i < count; i++) {
        char *argv[] = {(char *)"/bin/cat", (char *)"/proc/self/cgroup", NULL};
        struct shell shell;
        snprintf(id, sizeof(id), "%s-%d", prefix, i);
        shell_init(&shell, id, "");
        shell.request.argv = argv;
        harness_start(h, &shell.request);
    }
    for (int i = 0; i < count; i++) {
        snprintf(id, sizeof(id), "%s-%d", prefix, i);
        assert_int_equal(harness_ended(h, id)->reason, SPAWN_EXITED);
        read_cgroup(h, id, other, sizeof(other));
        same += strcmp(other, cgroup) == 0;
        harness_ack(h, id);
    }
    return same;
}

/* A cgroup is used again, but never while somebody is in it. */
static void nobody_gets_a_cgroup_that_is_in_use(void **state)
{
    enum { MANY = 600 }; /* more than there are in the pool */
    struct harness *h = *state;
    char path[256], script[1024], cgroup[512];
    int pids[8] = {0};
    if (!has_cgroups(h))
        skip();
    harness_path(h, "stays", path, sizeof(path));
    escape_script(path, "cat /proc/self/cgroup", script, sizeof(script));
    harness_sh(h, "leaves", script);
    assert_int_equal(harness_ended(h, "leaves")->reason, SPAWN_EXITED);
    assert_int_equal(read_pids(path, pids), 1);
    read_cgroup(h, "leaves", cgroup, sizeof(cgroup));
    harness_ack(h, "leaves");
    assert_int_equal(count_in_cgroup(h, "other", MANY, cgroup), 0);
    assert_true(process_lives(pids[0]));
    kill(pids[0], SIGKILL);
    harness_wait(h, !process_lives(pids[0]));
    if (strstr(cgroup, "leaves")) /* controllers are enabled: each has its own */
        skip();
    assert_true(count_in_cgroup(h, "next", MANY, cgroup) > 0);
}

#define TESTS(setup)                                                                               \
    cmocka_unit_test_setup_teardown(cgroups_are_used_where_they_can_be, setup, harness_teardown),  \
        cmocka_unit_test_setup_teardown(the_whole_tree_is_killed, setup, harness_teardown),        \
        cmocka_unit_test_setup_teardown(a_timeout_kills_the_whole_tree, setup, harness_teardown),  \
        cmocka_unit_test_setup_teardown(grace_lets_it_clean_up, setup, harness_teardown),          \
        cmocka_unit_test_setup_teardown(a_process_is_told_once, setup, harness_teardown),          \
        cmocka_unit_test_setup_teardown(who_cleans_up_is_not_told, setup, harness_teardown),       \
        cmocka_unit_test_setup_teardown(the_first_signal_can_be_chosen, setup, harness_teardown),  \
        cmocka_unit_test_setup_teardown(no_grace_is_sigkill_at_once, setup, harness_teardown),     \
        cmocka_unit_test_setup_teardown(others_are_not_touched, setup, harness_teardown),          \
        cmocka_unit_test_setup_teardown(who_gets_its_pid_is_not_touched, setup, harness_teardown), \
        cmocka_unit_test_setup_teardown(an_end_in_time_is_no_timeout, setup, harness_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TESTS(harness_setup),
        cmocka_unit_test_setup_teardown(who_left_everything_behind_is_killed, harness_setup,
                                        harness_teardown),
        cmocka_unit_test_setup_teardown(nobody_gets_a_cgroup_that_is_in_use, harness_setup,
                                        harness_teardown),
        TESTS(harness_setup_without_cgroup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
