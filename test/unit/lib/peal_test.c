/* The library as a program has it: one process, the embedded store. */
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "peal.h"

enum { PATIENCE_MS = 60000 };

/* What the functions of a test have seen. */
struct seen {
    char folder[64];
    peal_node *node;
    atomic_int calls, cancelled;
    char param[32];
    pthread_mutex_t lock;
    char log[1 << 17]; /* lines of the log callback */
};

static void keep(void *context, enum peal_level level, const char *message)
{
    struct seen *seen = context;
    (void)level;
    pthread_mutex_lock(&seen->lock);
    size_t length = strlen(seen->log);
    snprintf(seen->log + length, sizeof(seen->log) - length, "%s\n", message);
    pthread_mutex_unlock(&seen->lock);
}

static bool has_logged(struct seen *seen, const char *text)
{
    pthread_mutex_lock(&seen->lock);
    bool has = strstr(seen->log, text);
    pthread_mutex_unlock(&seen->lock);
    return has;
}

static void rest(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

static void wait_for_calls(struct seen *seen, int count)
{
    for (int i = 0; seen->calls < count && i < PATIENCE_MS / 5; i++)
        rest();
    assert_true(seen->calls >= count);
}

static void wait_for_line(struct seen *seen, const char *text)
{
    for (int i = 0; !has_logged(seen, text) && i < PATIENCE_MS / 5; i++)
        rest();
    if (!has_logged(seen, text))
        fail_msg("not logged: %s; but:\n%s", text, seen->log);
}

static int set_up(void **state)
{
    struct seen *seen = calloc(1, sizeof(*seen));
    assert_non_null(seen);
    snprintf(seen->folder, sizeof(seen->folder), "/tmp/peal-lib.XXXXXX");
    assert_non_null(mkdtemp(seen->folder));
    pthread_mutex_init(&seen->lock, NULL);
    *state = seen;
    return 0;
}

static int tear_down(void **state)
{
    struct seen *seen = *state;
    seen->node = peal_close(seen->node);
    char command[96];
    snprintf(command, sizeof(command), "rm -rf %s", seen->folder);
    assert_int_equal(system(command), 0);
    pthread_mutex_destroy(&seen->lock);
    free(seen);
    return 0;
}

#define OPEN(seen, ...)                                                                            \
    ((seen)->node = peal_open(.store = "sqlite", .data = (seen)->folder, .program = "tester",      \
                              .log = keep, .context = (seen), __VA_ARGS__))

static int count(peal_run *run, void *arg)
{
    struct seen *seen = arg;
    const char *day = peal_param(run, "day");
    snprintf(seen->param, sizeof(seen->param), "%s", day ? day : "");
    peal_log(run, "called");
    seen->calls++;
    return 0;
}

static int lasts(peal_run *run, void *arg)
{
    struct seen *seen = arg;
    seen->calls++;
    while (peal_sleep(run, 1000) == PEAL_OK)
        ;
    seen->cancelled++;
    return 1;
}

/* ---- tests ---- */

static void mistakes_are_told_with_their_place(void **state)
{
    struct seen *seen = *state;
    assert_non_null(OPEN(seen, .threads = 1));
    peal_node *node = seen->node;
    assert_int_equal(peal_add(node, "a", "61 * * * *", count), PEAL_E_INVALID);
    assert_non_null(strstr(peal_why(), "peal_test.c:"));
    assert_non_null(strstr(peal_why(), "minute 61 is out of range"));
    assert_int_equal(peal_add(node, "a", "* * * * *", NULL), PEAL_E_INVALID);
    assert_int_equal(peal_add(node, "", "* * * * *", count), PEAL_E_INVALID);
    assert_int_equal(peal_add(node, "a", "* * * * *", count, .tz = "Mars/Olympus"), PEAL_E_INVALID);
    assert_int_equal(peal_add(node, "a", "* * * * *", count, .interval_ms = 1000), PEAL_E_INVALID);
    assert_int_equal(peal_add(node, "a", NULL, count, .interval_ms = 1500), PEAL_E_INVALID);
    assert_int_equal(peal_add(node, "a", "* * * * *", count, .more = "shell: true"),
                     PEAL_E_INVALID);
    assert_int_equal(peal_add(node, "a", "* * * * *", count), PEAL_OK);
    assert_int_equal(peal_add(node, "a", "* * * * *", count), PEAL_E_EXISTS);
    assert_int_equal(peal_add(node, "a", "* * * * *", count, .local = true), PEAL_E_EXISTS);
    assert_int_equal(peal_remove(node, "b"), PEAL_E_NOT_FOUND);
    assert_int_equal(peal_remove(node, "a"), PEAL_OK);
}

static void a_store_that_can_t_be_had_is_told(void **state)
{
    struct seen *seen = *state;
    assert_null(peal_open(.store = "mysql://x", .data = seen->folder, .program = "tester"));
    assert_non_null(strstr(peal_why(), "mysql://x"));
    assert_null(peal_open(.store = "etcd://127.0.0.1:1/x", .data = seen->folder,
                          .program = "tester", .timeout_ms = 300));
    assert_non_null(strstr(peal_why(), "127.0.0.1:1"));
    assert_null(peal_open(.data = seen->folder, .program = "no such name"));
    assert_null(peal_open(.data = seen->folder, .threads = -1));
    assert_null(peal_open(.data = "/proc/none", .program = "tester"));
    assert_non_null(strstr(peal_why(), "/proc/none/programs"));
    assert_null(peal_open(.data = seen->folder, .program = "tester", .labels = "zone=eu,a b"));
    assert_non_null(strstr(peal_why(), "\"a b\""));
}

static void a_store_may_come_later(void **state)
{
    struct seen *seen = *state;
    seen->node =
        peal_open(.store = "etcd://127.0.0.1:1/x", .data = seen->folder, .program = "tester",
                  .in_background = true, .log = keep, .context = seen);
    assert_non_null(seen->node);
    wait_for_line(seen, "the store is not there yet");
    seen->node = peal_close(seen->node); /* at once */
}

static void a_run_is_triggered_with_parameters(void **state)
{
    struct seen *seen = *state;
    char id[27] = "";
    assert_non_null(OPEN(seen, .threads = 2));
    peal_node *node = seen->node;
    assert_int_equal(
        peal_add(node, "report", NULL, count, seen, .more = "params: {day: {default: mon}}"),
        PEAL_OK);
    assert_int_equal(peal_trigger(node, "report", NULL, id), PEAL_OK);
    assert_int_equal(strlen(id), 26);
    wait_for_calls(seen, 1);
    assert_string_equal(seen->param, "mon");
    for (int i = 0; peal_trigger(node, "report", "day=tue", NULL) == PEAL_E_BUSY && i < 1000; i++)
        rest(); /* the first is being recorded */
    wait_for_calls(seen, 2);
    assert_string_equal(seen->param, "tue");
    assert_int_equal(peal_trigger(node, "report", "night=tue", NULL), PEAL_E_INVALID);
    assert_int_equal(peal_trigger(node, "report", "nonsense", NULL), PEAL_E_INVALID);
    assert_int_equal(peal_trigger(node, "nothing", NULL, NULL), PEAL_E_NOT_FOUND);
    assert_int_equal(peal_delete(node, "report"), PEAL_OK);
    assert_int_equal(peal_trigger(node, "report", NULL, NULL), PEAL_E_NOT_FOUND);
    assert_int_equal(peal_remove(node, "report"), PEAL_E_NOT_FOUND);
}

static void local_functions_have_their_policies(void **state)
{
    struct seen *seen = *state;
    assert_non_null(OPEN(seen, .threads = 2));
    assert_int_equal(peal_add(seen->node, "near", "* * * * * *", count, seen, .local = true),
                     PEAL_OK);
    assert_int_equal(
        peal_add(seen->node, "slow", "* * * * * *", lasts, seen, .local = true, .timeout_ms = 1000),
        PEAL_OK);
    wait_for_line(seen, "near: called");
    wait_for_line(seen, "\"slow\" has not run well: timed_out");
    assert_true(seen->cancelled > 0);
}

static int speaks(peal_run *run, void *arg)
{
    struct seen *seen = arg;
    peal_log(run, "called");
    seen->calls++;
    return 0;
}

static int fails(peal_run *run, void *arg)
{
    (void)arg;
    return (int)strlen(peal_run_id(run)) == 26 && peal_run_attempt(run) == 1 ? 7 : 1;
}

static int leaves(peal_run *run, void *arg)
{
    struct seen *seen = arg;
    assert_int_equal(peal_remove(seen->node, "leaves"), PEAL_OK);
    seen->calls++;
    return peal_run_job(run)[0] == 'l' ? 0 : 1; /* the name is still there */
}

/* Those of one definition are one job of the engine, which is not seen. */
static void local_functions_of_one_definition_are_told_by_their_names(void **state)
{
    struct seen *seen = *state;
    assert_non_null(OPEN(seen, .threads = 3));
    peal_node *node = seen->node;
    for (int i = 0; i < 200; i++) {
        char name[32];
        snprintf(name, sizeof(name), "many/%d", i);
        assert_int_equal(peal_add(node, name, "* * * * * *", speaks, seen, .local = true), PEAL_OK);
    }
    assert_int_equal(peal_add(node, "many/7", "* * * * * *", count, .local = true), PEAL_E_EXISTS);
    assert_int_equal(peal_add(node, "many 8", "* * * * * *", count, .local = true), PEAL_E_INVALID);
    assert_non_null(strstr(peal_why(), "peal_test.c:"));
    assert_non_null(strstr(peal_why(), "letters, digits"));
    assert_int_equal(peal_add(node, "leaves", "* * * * * *", leaves, seen, .local = true), PEAL_OK);
    assert_int_equal(peal_add(node, "bad", "* * * * * *", fails, seen, .local = true), PEAL_OK);
    assert_int_equal(peal_add(node, "long", "* * * * * *", lasts, seen, .local = true), PEAL_OK);
    wait_for_line(seen, "many/199: called");
    wait_for_line(seen, "function \"bad\" has failed: it returned 7");
    wait_for_line(seen, "function \"long\": a tick was passed over (overlap)");
    assert_int_equal(peal_remove(node, "leaves"), PEAL_E_NOT_FOUND);
    assert_false(has_logged(seen, "peal.local"));
    assert_int_equal(peal_remove(node, "peal.local/1"), PEAL_E_NOT_FOUND);
    seen->node = peal_close(seen->node); /* waits for it */
    assert_int_equal(seen->cancelled, 1);
}

static void a_local_function_with_a_schedule_is_triggered_too(void **state)
{
    struct seen *seen = *state;
    char id[27] = "";
    assert_non_null(OPEN(seen, .threads = 2));
    peal_node *node = seen->node;
    assert_int_equal(peal_add(node, "yearly", "@yearly", speaks, seen, .local = true), PEAL_OK);
    assert_int_equal(peal_add(node, "often", "* * * * * *", lasts, seen, .local = true), PEAL_OK);
    assert_int_equal(peal_trigger(node, "yearly", NULL, id), PEAL_OK);
    assert_int_equal(strlen(id), 26);
    wait_for_line(seen, "yearly: called");
    assert_int_equal(peal_trigger(node, "yearly", "day=mon", NULL), PEAL_E_INVALID);
    wait_for_calls(seen, 2);
    assert_int_equal(peal_trigger(node, "often", NULL, NULL), PEAL_E_BUSY); /* by its tick */
    assert_int_equal(peal_trigger(node, "peal.local/1", NULL, NULL), PEAL_E_NOT_FOUND);
    assert_int_equal(peal_delete(node, "yearly"), PEAL_OK);
    assert_int_equal(peal_trigger(node, "yearly", NULL, NULL), PEAL_E_NOT_FOUND);
    /* With and without a job of its own. */
    assert_int_equal(peal_add(node, "yearly", NULL, speaks, seen, .local = true), PEAL_OK);
    assert_int_equal(peal_trigger(node, "yearly", NULL, NULL), PEAL_OK);
    wait_for_calls(seen, 3);
    assert_int_equal(peal_remove(node, "yearly"), PEAL_OK);
    assert_int_equal(peal_add(node, "yearly", "* * * * * *", speaks, seen, .local = true), PEAL_OK);
    wait_for_calls(seen, 5);
}

static void a_command_is_a_run_like_any(void **state)
{
    struct seen *seen = *state;
    assert_non_null(OPEN(seen, .threads = 2));
    assert_int_equal(
        peal_add(seen->node, "says", NULL, .local = true,
                 .command = "echo \"job $PEAL_JOB\"; echo two >&2; printf three; exit 4"),
        PEAL_OK);
    assert_int_equal(
        peal_add(seen->node, "stays", NULL, .local = true, .timeout_ms = 1000,
                 .command = "trap 'echo told; exit 5' TERM; while :; do sleep 0.05; done"),
        PEAL_OK);
    assert_int_equal(peal_trigger(seen->node, "says", NULL, NULL), PEAL_OK);
    assert_int_equal(peal_trigger(seen->node, "stays", NULL, NULL), PEAL_OK);
    wait_for_line(seen, "says: job says");
    wait_for_line(seen, "says: two");
    wait_for_line(seen, "says: three");
    wait_for_line(seen, "\"says\" has failed: it returned 4");
    wait_for_line(seen, "stays: told");
    wait_for_line(seen, "\"stays\" has not run well: timed_out");
}

static void the_program_steps(void **state)
{
    struct seen *seen = *state;
    assert_non_null(OPEN(seen, .caller = PEAL_STEPS));
    peal_node *node = seen->node;
    struct pollfd due = {.fd = peal_fd(node), .events = POLLIN};
    assert_true(due.fd >= 0);
    assert_int_equal(peal_add(node, "tick", "* * * * * *", count, seen), PEAL_OK);
    while (seen->calls < 2) {
        assert_int_equal(poll(&due, 1, PATIENCE_MS), 1);
        int before = seen->calls, made = peal_step(node);
        assert_int_equal(seen->calls - before, made);
    }
    assert_true(peal_timeout(node) >= -1);
}

static void a_stop_tells_functions_and_waits_for_them(void **state)
{
    struct seen *seen = *state;
    assert_non_null(OPEN(seen, .threads = 1));
    assert_int_equal(peal_add(seen->node, "lasts", NULL, lasts, seen), PEAL_OK);
    assert_int_equal(peal_trigger(seen->node, "lasts", NULL, NULL), PEAL_OK);
    wait_for_calls(seen, 1);
    seen->node = peal_close(seen->node);
    assert_int_equal(seen->cancelled, 1);
}

static void a_child_has_no_part_in_it(void **state)
{
    struct seen *seen = *state;
    assert_non_null(OPEN(seen, .threads = 1));
    pid_t child = fork();
    if (child == 0) {
        bool is_refused = peal_add(seen->node, "a", "* * * * *", count) == PEAL_E_FORKED &&
                          peal_trigger(seen->node, "a", NULL, NULL) == PEAL_E_FORKED &&
                          peal_close(seen->node) == NULL;
        _exit(is_refused ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(peal_add(seen->node, "a", "* * * * * *", count, seen), PEAL_OK);
    wait_for_calls(seen, 1);
}

static void a_start_relative_to_now_is_fixed_by_the_first(void **state)
{
    struct seen *seen = *state;
    for (int i = 0; i < 2; i++) { /* the second time the store has it */
        assert_non_null(OPEN(seen, .threads = 1));
        assert_int_equal(peal_add(seen->node, "later", NULL, count, seen, .interval_ms = 2000,
                                  .start_ms = PEAL_FROM_NOW(1000)),
                         PEAL_OK);
        wait_for_calls(seen, i + 1);
        seen->node = peal_close(seen->node);
    }
    assert_false(has_logged(seen, "leaves it as it is"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(mistakes_are_told_with_their_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_store_that_can_t_be_had_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_store_may_come_later, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_run_is_triggered_with_parameters, set_up, tear_down),
        cmocka_unit_test_setup_teardown(local_functions_have_their_policies, set_up, tear_down),
        cmocka_unit_test_setup_teardown(local_functions_of_one_definition_are_told_by_their_names,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_local_function_with_a_schedule_is_triggered_too, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_command_is_a_run_like_any, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_program_steps, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_stop_tells_functions_and_waits_for_them, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_child_has_no_part_in_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_start_relative_to_now_is_fixed_by_the_first, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
