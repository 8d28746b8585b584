/* What a run must show: verdicts from its exit code, duration, output and file; retries, `after`, a
 * step, and an agent that is killed before the verdict. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND };

#define JOB(expect) "name: a\nschedule: '0 * * * * *'\ncommand: [x]\nexpect: " expect "\n"

static const struct run *only_run(const struct world *world)
{
    assert_int_equal(world->run_count, 1);
    return &world->runs[0];
}

static void verdicts(void **state)
{
    static const struct {
        int line;
        const char *expect, *says;
        int exit_code;
        const char *want; /* of its detail; NULL: OK */
    } cases[] = {
        {__LINE__, "{exit: [0, 3-5]}", "", 4, NULL},
        {__LINE__, "{exit: [0, 3-5]}", "", 0, NULL},
        {__LINE__, "{exit: [0, 3-5]}", "", 6, "exit: the code was 6, expected 0,3-5"},
        {__LINE__, "{exit: 3}", "", 0, "exit: the code was 0, expected 3"},
        {__LINE__, "{matches: '^[0-9]+ rows$'}", "x\n12 rows\n", 0, NULL},
        {__LINE__, "{matches: '^[0-9]+ rows$'}", "x\n12 rows!\n", 0,
         "matches: no line of the output matches ^[0-9]+ rows$"},
        {__LINE__, "{matches: 'a'}", "", 0, "matches: no line of the output matches a"},
        {__LINE__, "{not_matches: 'ERR|FATAL'}", "fine\n", 0, NULL},
        {__LINE__, "{not_matches: 'ERR|FATAL'}", "fine\nan ERR: \xe7\xa3\x81\n", 0,
         "not_matches: the output has \"an ERR: \xe7\xa3\x81\""},
        {__LINE__, "{not_matches: 'ERR', matches: 'a'}", "ERR\n", 0,
         "not_matches: the output has \"ERR\""},
        {__LINE__, "{exit: 3, matches: 'a'}", "b", 3, "matches: no line of the output matches a"},
        {__LINE__, "{min_duration: 1s}", "", 0, NULL},
        {__LINE__, "{min_duration: 3s}", "", 0,
         "min_duration: it took 2.000 s, expected at least 3s"},
        {__LINE__, "{max_duration: 1s}", "", 0,
         "max_duration: it took 2.000 s, expected at most 1s"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world *world = world_new();
        char yaml[300];
        snprintf(yaml, sizeof(yaml), JOB("%s"), cases[i].expect);
        world->says = cases[i].says;
        world->output_bytes = (int64_t)strlen(cases[i].says);
        world->exit_code = cases[i].exit_code;
        world->duration_ms = 2 * SECOND;
        world_add(world, yaml);
        world_pass(world, MINUTE + 10 * SECOND);
        const struct run *run = only_run(world);
        bool is_as_wanted = cases[i].want
                                ? run->state == RUN_FAILED && run->reason == REASON_EXPECTATION &&
                                      strcmp(run->detail, cases[i].want) == 0
                                : run->state == RUN_OK && run->reason == REASON_NONE;
        if (!is_as_wanted)
            fail_msg("line %d: %s, %s", cases[i].line, run_state_name(run->state), run->detail);
        assert_int_equal(run->exit_code, cases[i].exit_code);
        world_free(world);
    }
}

/* Bounds that are learned, as far as they are not given. */
static void learned_bounds(void **state)
{
    static const struct learned learned = {.too_long_ms = 30000, .too_short_ms = 5000, .runs = 20};
    static const struct learned nothing = {0};
    static const struct {
        int line;
        const char *expect;
        int64_t duration_ms;
        const struct learned *learned;
        const char *want; /* of its detail; NULL: OK */
    } cases[] = {
        {__LINE__, "{duration: auto}", 10 * SECOND, &learned, NULL},
        {__LINE__, "{duration: auto}", 5 * SECOND, &learned, NULL},
        {__LINE__, "{duration: auto}", 4999, &learned,
         "duration: it took 4.999 s, expected at least 5.000 s by its last 20 good runs"},
        {__LINE__, "{duration: auto}", 30001, &learned,
         "duration: it took 30.001 s, expected at most 30.000 s by its last 20 good runs"},
        {__LINE__, "{duration: auto}", 1, &nothing, NULL}, /* nothing is known yet */
        {__LINE__, "{duration: auto, max_duration: 1m}", 31 * SECOND, &learned, NULL},
        {__LINE__, "{duration: auto, min_duration: 1s}", 2 * SECOND, &learned, NULL},
        {__LINE__, "{duration: auto, min_duration: 1s}", 31 * SECOND, &learned,
         "duration: it took 31.000 s, expected at most 30.000 s by its last 20 good runs"},
        {__LINE__, "{duration: any}", 1, &learned, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world *world = world_new();
        char yaml[300];
        snprintf(yaml, sizeof(yaml), JOB("%s"), cases[i].expect);
        world->learned = *cases[i].learned;
        world->duration_ms = cases[i].duration_ms;
        world_add(world, yaml);
        world_pass(world, MINUTE + 40 * SECOND);
        const struct run *run = only_run(world);
        const char *got = run->state == RUN_OK ? "" : run->detail;
        if (strcmp(got, cases[i].want ? cases[i].want : "") != 0)
            fail_msg("line %d: %s", cases[i].line, got);
        world_free(world);
    }
}

/* The verdict waits for the history; the run goes on meanwhile, also over a restart. */
static void a_verdict_waits_for_what_is_learned(void **state)
{
    struct world *world = *state;
    world->learned = (struct learned){.too_long_ms = 90000, .too_short_ms = 40000, .runs = 50};
    world->history_is_slow = true;
    world->duration_ms = SECOND;
    world_add(world, JOB("{duration: auto}"));
    world_pass(world, MINUTE + 5 * SECOND);
    assert_int_equal(world->run_count, 0);
    assert_true(world->lessons > 0);
    world_restart(world);
    world_pass(world, 5 * SECOND);
    assert_int_equal(world->run_count, 0);
    world->history_is_slow = false;
    world_pass(world, SECOND);
    assert_int_equal(only_run(world)->reason, REASON_EXPECTATION);
}

static void other_ends_stay_what_they_are(void **state)
{
    struct world *world = *state;
    world_add(world, JOB("{matches: a}"));
    world->exit_code = 1;
    world_pass(world, MINUTE + SECOND);
    assert_int_equal(only_run(world)->reason, REASON_EXIT_CODE);
}

/* Of long output, the beginning and the end. */
static void the_middle_of_long_output_is_not_looked_at(void **state)
{
    enum { LONG = 1024 * 1024, SIDE = 128 * 1024 };
    static const struct {
        int line;
        size_t at;
        bool is_found;
    } cases[] = {
        {__LINE__, 0, true},
        {__LINE__, SIDE - 1, true},
        {__LINE__, SIDE, false},
        {__LINE__, LONG / 2, false},
        {__LINE__, LONG - SIDE - 1, false},
        {__LINE__, LONG - SIDE, true},
        {__LINE__, LONG - 1, true},
    };
    char *text = malloc(LONG + 1);
    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world *world = world_new();
        memset(text, '-', LONG);
        text[LONG] = '\0';
        text[cases[i].at] = '!';
        world->says = text;
        world->output_bytes = LONG;
        world_add(world, JOB("{matches: '!'}"));
        world_pass(world, MINUTE + SECOND);
        if ((only_run(world)->state == RUN_OK) != cases[i].is_found)
            fail_msg("line %d", cases[i].line);
        world_free(world);
    }
    free(text);
}

static void files(void **state)
{
    static const struct {
        int line;
        const char *expect;
        struct executor_file file;
        int64_t changed_s; /* after the start, which is 2 s before the end */
        const char *want;  /* in the detail; NULL: OK */
    } cases[] = {
        {__LINE__, "{file: /f}", {FILE_SEEN, .bytes = 1}, 0, NULL},
        {__LINE__, "{file: /f}", {FILE_SEEN, .bytes = 1}, -1, "file: /f was last changed before"},
        {__LINE__,
         "{file: /f}",
         {FILE_SEEN, .bytes = 0},
         0,
         "file: /f has 0 bytes, expected at least 1"},
        {__LINE__, "{file: /f, min_bytes: 0}", {FILE_SEEN, .bytes = 0}, 0, NULL},
        {__LINE__, "{file: /f, newer_than: any}", {FILE_SEEN, .bytes = 1}, -999999, NULL},
        {__LINE__, "{file: /f, newer_than: 1h}", {FILE_SEEN, .bytes = 1}, -3598, NULL},
        {__LINE__, "{file: /f, newer_than: 1h}", {FILE_SEEN, .bytes = 1}, -3599, "within 1h"},
        {__LINE__,
         "{file: /f}",
         {FILE_UNSEEN, .why = "Permission denied"},
         0,
         "file: /f: Permission denied"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world *world = world_new();
        char yaml[300];
        snprintf(yaml, sizeof(yaml), JOB("%s"), cases[i].expect);
        world->duration_ms = 2 * SECOND;
        world_add(world, yaml);
        world_pass(world, MINUTE + SECOND);
        world->file = cases[i].file;
        world->file.changed_ms = world->processes[0].started_ms + cases[i].changed_s * SECOND;
        world_pass(world, 10 * SECOND);
        const struct run *run = only_run(world);
        bool is_ok = run->state == RUN_OK;
        if (is_ok != !cases[i].want || (cases[i].want && !strstr(run->detail, cases[i].want)))
            fail_msg("line %d: %s", cases[i].line, run->detail);
        assert_int_equal(run->finished_ms - run->started_ms, 2 * SECOND);
        assert_int_equal(world->looks, 1);
        world_free(world);
    }
}

/* It is open until the file was looked at; an agent that comes meanwhile looks again, and there is
 * one end. */
static void a_look_is_made_again_after_a_restart(void **state)
{
    struct world *world = *state;
    world_add(world, JOB("{file: /f}"));
    world_pass(world, MINUTE + 10 * SECOND);
    assert_int_equal(world->looks, 1);
    assert_int_equal(world->run_count, 0);
    world_restart(world);
    world_pass(world, 10 * SECOND);
    assert_int_equal(world->looks, 2);
    assert_int_equal(world->run_count, 0);
    assert_int_equal(engine_find_run(world->engine, &world->processes[0].run_id)->state,
                     RUN_RUNNING);
    world->file = (struct executor_file){FILE_UNSEEN, .why = "No such file or directory"};
    world_pass(world, 5 * SECOND);
    assert_int_equal(only_run(world)->reason, REASON_EXPECTATION);
    assert_int_equal(world->process_count, 1);
}

/* The verdict is on its way to the store when the agent is killed: the next one comes to the same.
 */
static void a_verdict_is_the_same_after_a_restart(void **state)
{
    struct world *world = *state;
    world_add(world, JOB("{matches: a}"));
    world->door = DOOR_HELD;
    world->door_op = STORE_FINISH;
    world_pass(world, MINUTE + 10 * SECOND);
    world_restart(world);
    world->door = DOOR_OPEN;
    world_pass(world, 10 * SECOND);
    assert_int_equal(only_run(world)->reason, REASON_EXPECTATION);
}

static void it_is_a_failure(void **state)
{
    struct world *world = *state;
    world_add(world, JOB("{matches: a}\nretries: {count: 2, wait: 1s}"));
    world_add(world, "name: then\nafter: a\ncommand: [x]\n");
    world_add(world, "name: else\nafter: {job: a, on: failure}\ncommand: [x]\n");
    world_pass(world, MINUTE + 20 * SECOND);
    assert_int_equal(world_count(world, "a", RUN_FAILED), 3);
    assert_int_equal(world_count(world, "then", RUN_OK), 0);
    assert_int_equal(world_count(world, "else", RUN_OK), 1);
}

static void a_step_has_its_own(void **state)
{
    struct world *world = *state;
    world_add(world, "name: w\nschedule: '0 * * * * *'\nsteps:\n"
                     "  - {name: one, command: [x], expect: {matches: a}}\n"
                     "  - {name: two, command: [x], after: one}\n");
    world_pass(world, MINUTE + 10 * SECOND);
    const struct run *one = NULL, *two = NULL;
    for (size_t i = 0; i < world->run_count; i++) {
        one = strcmp(world->runs[i].step, "one") == 0 ? &world->runs[i] : one;
        two = strcmp(world->runs[i].step, "two") == 0 ? &world->runs[i] : two;
    }
    assert_non_null(one);
    assert_non_null(two);
    assert_int_equal(one->reason, REASON_EXPECTATION);
    assert_int_equal(two->reason, REASON_UPSTREAM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts),
        cmocka_unit_test(learned_bounds),
        WITH_WORLD(a_verdict_waits_for_what_is_learned),
        WITH_WORLD(other_ends_stay_what_they_are),
        cmocka_unit_test(the_middle_of_long_output_is_not_looked_at),
        cmocka_unit_test(files),
        WITH_WORLD(a_look_is_made_again_after_a_restart),
        WITH_WORLD(a_verdict_is_the_same_after_a_restart),
        WITH_WORLD(it_is_a_failure),
        WITH_WORLD(a_step_has_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
