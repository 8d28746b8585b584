/* Renamed jobs: their dependents find them by a former name until their own definitions have the
 * new one; ticks stay where they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"
#include "stages/follow.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };

#define EVERY(name, minutes)                                                                       \
    "name: " name "\nschedule: '*/" minutes " * * * *'\ncommand: [/bin/true]\n"
#define BY_HAND(name)      "name: " name "\nschedule: '@manual'\ncommand: [/bin/true]\n"
#define AFTER(name, after) "name: " name "\nafter: " after "\ncommand: [/bin/true]\n"

static void to_b(struct job *job)
{
    assert_int_equal(job_rename(job, "b", 1000), OK);
}

static void to_c(struct job *job)
{
    assert_int_equal(job_rename(job, "c", 2000), OK);
}

static void to_a(struct job *job)
{
    assert_int_equal(job_rename(job, "a", 3000), OK);
}

static void to_x(struct job *job)
{
    assert_int_equal(job_rename(job, "x", 4000), OK);
}

static void after_c(struct job *job)
{
    snprintf(job->after[0].job, sizeof(job->after[0].job), "c");
}

static void delete (struct job *job)
{
    job->deleted_ms = 1;
}

static const struct catalog *catalog_of(const struct world *world)
{
    return engine_catalog(world->engine);
}

/* ---- whom an `after` waits for ---- */

static void names_are_found(void **state)
{
    struct world *world = *state;
    struct id one = world_add(world, BY_HAND("a"));
    const struct catalog *catalog = catalog_of(world);
    struct id two = {{0}};
    static const struct {
        int line;
        int which; /* 1, 2; 0: the second is made as "a" */
        void (*change)(struct job *job);
        int a, b, c, x; /* who is awaited by each name; 0: nobody */
    } cases[] = {
        {__LINE__, 1, to_b, 1, 1, 0, 0},   {__LINE__, 1, to_c, 1, 1, 1, 0}, /* a chain */
        {__LINE__, 0, NULL, 2, 1, 1, 0}, /* who has the name comes first */
        {__LINE__, 2, to_x, 2, 1, 1, 2}, /* the last one that had it */
        {__LINE__, 2, delete, 1, 1, 1, 0}, {__LINE__, 1, to_a, 1, 1, 1, 0}, /* and back */
        {__LINE__, 1, delete, 0, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (!cases[i].which)
            two = world_add(world, BY_HAND("a"));
        else
            world_change(world, cases[i].which == 1 ? &one : &two, cases[i].change);
        world_pass(world, SECOND);
        const struct id *who[] = {NULL, &one, &two};
        const int want[] = {cases[i].a, cases[i].b, cases[i].c, cases[i].x};
        const char *const names[] = {"a", "b", "c", "x"};
        for (size_t k = 0; k < 4; k++) {
            const struct catalog_job *job = catalog_awaited(catalog, names[k]);
            if (want[k] ? !job || id_compare(&job->uid, who[want[k]]) != 0 : job != NULL)
                fail_msg("line %d: \"%s\" is %s", cases[i].line, names[k],
                         job ? job->name : "nobody");
        }
    }
}

/* An old definition means the job that had the name in its time. */
static void names_are_of_their_time(void **state)
{
    struct world *world = *state;
    struct id one = world_add(world, BY_HAND("a"));
    world_change(world, &one, to_b); /* at 1000 */
    struct id two = world_add(world, BY_HAND("a"));
    world_change(world, &two, to_x); /* at 4000 */
    world_pass(world, SECOND);
    const struct waits *waits = &catalog_of(world)->waits;
    static const struct {
        int line;
        int64_t at_ms;
        const char *name; /* NULL: none */
    } cases[] = {
        {__LINE__, 0, "b"},    {__LINE__, 1000, "b"},  {__LINE__, 1001, "x"},
        {__LINE__, 4000, "x"}, {__LINE__, 4001, NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct catalog_job *job = waits_former_at(waits, "a", cases[i].at_ms);
        if (cases[i].name ? !job || strcmp(job->name, cases[i].name) != 0 : job != NULL)
            fail_msg("line %d: %s", cases[i].line, job ? job->name : "none");
    }
    assert_null(waits_former(waits, "b")); /* it has that name */
    assert_null(waits_former_at(waits, "none", 0));
}

/* ---- what follows an end ---- */

static void dependents_go_on(void **state)
{
    struct world *world = *state;
    struct id uid = world_add(world, EVERY("a", "1"));
    struct id report = world_add(world, AFTER("report", "a"));
    struct id probe = world_add(world, EVERY("probe", "1"));
    world_add(world, AFTER("join", "[probe, a]"));
    const struct {
        int line;
        const struct id *uid;
        void (*change)(struct job *job);
    } cases[] = {
        {__LINE__, &uid, to_b},   {__LINE__, &uid, to_c}, {__LINE__, &report, after_c},
        {__LINE__, &probe, to_x}, {__LINE__, &uid, to_b}, {__LINE__, &uid, to_a},
    };
    world_pass(world, 10 * MINUTE + SECOND);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        world_change(world, cases[i].uid, cases[i].change);
        world_pass(world, 10 * MINUTE);
        size_t want = 10 * (i + 2), ran = world_count(world, "report", RUN_OK);
        size_t joined = world_count(world, "join", RUN_OK);
        if (ran != want || joined != want)
            fail_msg("line %d: %zu and %zu instead of %zu", cases[i].line, ran, joined, want);
    }
    world_check(world);
}

/* The rename comes between the start of a run and its end. */
static void a_running_run_is_followed(void **state)
{
    struct world *world = *state;
    struct id uid = world_add(world, BY_HAND("a"));
    world_add(world, AFTER("report", "a"));
    world->duration_ms = MINUTE;
    world_trigger(world, &uid);
    world_pass(world, 10 * SECOND);
    world_change(world, &uid, to_b);
    world_pass(world, 3 * MINUTE);
    assert_int_equal(world_count(world, "report", RUN_OK), 1);
    world_check(world);
}

/* A job takes a name for which one of its dependents waits already: one end, one run. */
static void awaited_twice_is_followed_once(void **state)
{
    struct world *world = *state;
    struct id uid = world_add(world, BY_HAND("b"));
    world_add(world, AFTER("report", "[x, b]"));
    world_add(world, AFTER("never", "[x, {job: b, on: failure}]"));
    world_trigger(world, &uid);
    world_pass(world, MINUTE);
    assert_int_equal(world_count(world, "report", RUN_OK), 0);
    world_change(world, &uid, to_x);
    world_trigger(world, &uid);
    world_pass(world, MINUTE);
    assert_int_equal(world_count(world, "report", RUN_OK), 1);
    assert_int_equal(world_count(world, "never", RUN_OK), 0);
    world_check(world);
}

/* Neither does a circle turn that a former name closes. */
static void a_circle_does_not_turn(void **state)
{
    struct world *world = *state;
    struct id one = world_add(world, AFTER("a", "two"));
    world_add(world, AFTER("two", "a"));
    world_add(world, AFTER("beside", "a"));
    world_change(world, &one, to_b);
    world_trigger(world, &one);
    world_pass(world, HOUR);
    assert_int_equal(world->process_count, 2);
    assert_int_equal(world_count(world, "beside", RUN_OK), 1);
}

/* Its own former name takes no room. */
static void as_many_fit_as_before(void **state)
{
    struct world *world = *state;
    struct id uid = world_add(world, BY_HAND("a"));
    for (int i = 0; i < STORE_NEXT_JOBS_MAX; i++) {
        char yaml[200];
        snprintf(yaml, sizeof(yaml), AFTER("report-%d", "a"), i);
        world_add(world, yaml);
    }
    world_change(world, &uid, to_b);
    world_trigger(world, &uid);
    world_pass(world, SECOND);
    assert_int_equal(world->process_count, 1 + STORE_NEXT_JOBS_MAX);
    assert_true(follow_fits_renamed(catalog_of(world), "b", "c"));
    world_add(world, AFTER("one-more", "c")); /* waits for a job that is not there */
    world_pass(world, SECOND);
    assert_false(follow_fits_renamed(catalog_of(world), "b", "c"));
}

/* ---- ticks ---- */

static void ticks_stay(void **state)
{
    struct world *world = *state;
    struct id uid =
        world_add(world, "name: a\nschedule: 'H H H * *'\ncommand: [/bin/true]\njitter: 1h\n");
    world_pass(world, SECOND);
    const struct catalog_job *job = catalog_by_uid(catalog_of(world), &uid);
    int64_t next_ms = catalog_job_planned(job), jitter_ms = catalog_job_jitter_ms(job);
    void (*const changes[])(struct job *) = {to_b, to_c, to_a, to_x};
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        world_change(world, &uid, changes[i]);
        world_pass(world, SECOND);
        assert_int_equal(catalog_job_planned(job), next_ms);
        assert_int_equal(catalog_job_jitter_ms(job), jitter_ms);
    }
}

/* The cursor goes on: no tick is lost or doubled, whenever the rename comes. */
static void every_tick_once(void **state)
{
    struct world *world = *state;
    struct id uid = world_add(world, EVERY("a", "1"));
    void (*const changes[])(struct job *) = {to_b, to_c, to_a, to_x};
    for (size_t i = 0; i < 40; i++) {
        world_change(world, &uid, changes[i % 4]);
        world_pass(world, 15 * SECOND + (int64_t)i);
    }
    world_pass(world, MINUTE);
    size_t ran = 0;
    for (size_t i = 0; i < world->run_count; i++)
        ran += world->runs[i].state == RUN_OK;
    assert_in_range(ran, 11, 12);
    world_check(world);
}

/* ---- the list of former names ---- */

static void former_names_are_few(void **state)
{
    (void)state;
    struct job *job = job_new();
    char name[16];
    assert_int_equal(job_set_text(&job->name, "n-0"), OK);
    for (int i = 1; i <= JOB_FORMER_MAX + 3; i++) {
        snprintf(name, sizeof(name), "n-%d", i);
        assert_int_equal(job_rename(job, name, i), OK);
    }
    assert_int_equal(job->former_names.count, JOB_FORMER_MAX);
    assert_string_equal(job->former_names.items[0].name, "n-3");
    assert_string_equal(job->hash_name, "n-0");
    assert_int_equal(job_rename(job, "n-10", 100), OK); /* in the list: no longer */
    assert_int_equal(job->former_names.count, JOB_FORMER_MAX);
    for (size_t i = 0; i < job->former_names.count; i++)
        assert_string_not_equal(job->former_names.items[i].name, "n-10");
    assert_int_equal(job_rename(job, "n-0", 101), OK);
    assert_null(job->hash_name);
    job_free(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_WORLD(names_are_found),
        WITH_WORLD(names_are_of_their_time),
        WITH_WORLD(dependents_go_on),
        WITH_WORLD(a_running_run_is_followed),
        WITH_WORLD(awaited_twice_is_followed_once),
        WITH_WORLD(a_circle_does_not_turn),
        WITH_WORLD(as_many_fit_as_before),
        WITH_WORLD(ticks_stay),
        WITH_WORLD(every_tick_once),
        cmocka_unit_test(former_names_are_few),
    };
    return cmocka_run_group_tests_name("engine, renamed jobs", tests, NULL, NULL);
}
