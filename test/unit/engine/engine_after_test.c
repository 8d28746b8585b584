/* Jobs that run after others: chains, joins, what goes wrong on the way, and who is in the way. */
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

static const struct run *only_record(const struct world *world, const char *name)
{
    const struct run *found = NULL;
    for (size_t i = 0; i < world->run_count; i++) {
        if (strcmp(world->runs[i].job_name, name) != 0)
            continue;
        assert_null(found);
        found = &world->runs[i];
    }
    assert_non_null(found);
    return found;
}

static void a_chain_runs_from_end_to_end(void **state)
{
    struct world *world = *state;
    char id[ID_TEXT + 1];
    world_add(world, EVERY("extract", "5"));
    world_add(world, AFTER("report", "load"));
    world_add(world, AFTER("load", "extract"));
    world->duration_ms = 20 * SECOND;
    world_pass(world, 7 * MINUTE);
    const struct run *extract = only_record(world, "extract"), *load = only_record(world, "load");
    assert_int_equal(load->state, RUN_OK);
    assert_int_equal(load->cause, CAUSE_AFTER);
    assert_int_equal(load->tick_ms, extract->finished_ms);
    assert_in_range(load->started_ms - extract->finished_ms, 0, 100);
    id_format(&extract->id, id);
    assert_string_equal(load->by, id);
    assert_int_equal(only_record(world, "report")->tick_ms, load->finished_ms);
    world_pass(world, HOUR - 7 * MINUTE + 2 * MINUTE);
    assert_int_equal(world_count(world, "extract", RUN_OK), 12);
    assert_int_equal(world_count(world, "report", RUN_OK), 12);
    world_check(world);
}

static void a_join_waits_for_all(void **state)
{
    struct world *world = *state;
    world_add(world, EVERY("often", "1"));
    world_add(world, EVERY("seldom", "5"));
    world_add(world, AFTER("both", "[often, seldom]"));
    world_pass(world, HOUR + SECOND);
    assert_int_equal(world_count(world, "often", RUN_OK), 60);
    assert_int_equal(world_count(world, "both", RUN_OK), 12);
    world_check(world);
}

/* One branch for what went well, one for what went wrong, and they come together again. */
static void branches_follow_how_it_ended(void **state)
{
    struct world *world = *state;
    static const struct {
        int exit_code;
        size_t well, badly, anyhow, joined;
    } cases[] = {{0, 1, 0, 1, 1}, {3, 1, 1, 2, 1}, {0, 2, 1, 3, 2}};
    struct id uid = world_add(world, BY_HAND("probe"));
    world_add(world, AFTER("well", "probe"));
    world_add(world, AFTER("badly", "{jobs: [probe], on: failure}"));
    world_add(world, AFTER("anyhow", "{jobs: [probe], on: always}"));
    world_add(world, AFTER("joined", "[{job: anyhow, on: always}, well]"));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        world->exit_code = cases[i].exit_code;
        world_trigger(world, &uid);
        world_pass(world, 15);
        world->exit_code = 0;
        world_pass(world, SECOND);
        const struct {
            const char *name;
            size_t want;
        } jobs[] = {{"well", cases[i].well},
                    {"badly", cases[i].badly},
                    {"anyhow", cases[i].anyhow},
                    {"joined", cases[i].joined}};
        for (size_t k = 0; k < sizeof(jobs) / sizeof(jobs[0]); k++) {
            size_t ran = world_count(world, jobs[k].name, RUN_OK) +
                         world_count(world, jobs[k].name, RUN_FAILED);
            if (ran != jobs[k].want)
                fail_msg("row %zu: %s ran %zu times", i, jobs[k].name, ran);
        }
    }
}

/* Whoever is there first, of those who want such an end and those who do not. */
static void only_one_is_called(void **state)
{
    struct world *world = *state;
    struct id uid = world_add(world, BY_HAND("probe"));
    world_add(world, AFTER("well", "probe"));
    world_add(world, AFTER("badly", "{jobs: [probe], on: failure}"));
    for (int i = 1; i >= 0; i--) {
        world->exit_code = i;
        world_trigger(world, &uid);
        world_pass(world, 15);
        world->exit_code = 0;
        world_pass(world, SECOND);
    }
    only_record(world, "well");
    only_record(world, "badly");
}

static void by_hand_it_waits_for_nobody(void **state)
{
    struct world *world = *state;
    world_add(world, EVERY("extract", "5"));
    struct id uid = world_add(world, AFTER("report", "[extract, nobody]"));
    world_trigger(world, &uid);
    world_pass(world, 6 * MINUTE); /* one that it waits for is not there */
    assert_int_equal(only_record(world, "report")->cause, CAUSE_MANUAL);
}

/* However an answer is lost, and whenever the agent is killed: once. */
static void it_is_made_once(void **state)
{
    static const enum door doors[] = {DOOR_HELD, DOOR_BROKEN, DOOR_ONE_WAY, DOOR_SLOW};
    static const enum store_op ops[] = {STORE_FINISH, STORE_TAKE, STORE_BEGIN};
    (void)state;
    for (size_t i = 0; i < 24; i++) {
        struct world *world = world_new();
        struct id uid = world_add(world, BY_HAND("extract"));
        world_add(world, AFTER("report", "extract"));
        world->duration_ms = 100;
        world_trigger(world, &uid);
        world_pass(world, 50);
        world->door = doors[i % 4];
        world->door_op = ops[i / 4 % 3];
        world->door_status = E_UNREACHABLE;
        world_pass(world, SECOND);
        world->door = DOOR_OPEN;
        if (i / 12)
            world_restart(world);
        world_pass(world, 10 * SECOND);
        size_t ends =
            world_count(world, "report", RUN_OK) + world_count(world, "report", RUN_MISSED);
        if (ends != 1 || world_count(world, "extract", RUN_OK) != 1)
            fail_msg("row %zu: %zu ends", i, ends);
        world_check(world);
        world_free(world);
    }
}

static void it_keeps_to_its_overlap(void **state)
{
    static const struct {
        const char *policy;
        size_t ran;
        int64_t skipped;
        size_t killed;
    } cases[] = {
        {"overlap: skip", 4, 6, 0},
        {"overlap: allow", 10, 0, 0},
        {"overlap: queue", 10, 0, 0},
        {"overlap: replace", 1, 0, 9},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world *world = world_new();
        char yaml[200];
        snprintf(yaml, sizeof(yaml), AFTER("report", "extract") "%s\n", cases[i].policy);
        struct id uid = world_add(world, BY_HAND("extract"));
        world_add(world, yaml);
        for (int k = 0; k < 10; k++) {
            world->duration_ms = 10;
            world_trigger(world, &uid);
            world_pass(world, 9);
            world->duration_ms = 150 * SECOND;
            world_pass(world, MINUTE - 9);
        }
        world_pass(world, HOUR);
        size_t ran = world_count(world, "report", RUN_OK);
        size_t killed = world_count(world, "report", RUN_KILLED);
        int64_t skipped = world_passed(world, "report", RUN_SKIPPED, REASON_OVERLAP);
        if (ran != cases[i].ran || skipped != cases[i].skipped || killed != cases[i].killed)
            fail_msg("%s: ran %zu, skipped %d, killed %zu", cases[i].policy, ran, (int)skipped,
                     killed);
        world_check(world);
        world_free(world);
    }
}

/* ---- changes ---- */

static void pause(struct job *job)
{
    job->paused = true;
}

static void delete (struct job *job)
{
    job->deleted_ms = 1;
}

static void restore(struct job *job)
{
    job->deleted_ms = 0;
    job->paused = false;
}

static void rename_it(struct job *job)
{
    snprintf(job->name, strlen(job->name) + 1, "%s", "extracT");
}

static void rename_it_back(struct job *job)
{
    snprintf(job->name, strlen(job->name) + 1, "%s", "extract");
}

static void wait_for_another(struct job *job)
{
    snprintf(job->after[0].job, sizeof(job->after[0].job), "another");
}

static void jobs_change(void **state)
{
    struct world *world = *state;
    struct id extract = world_add(world, EVERY("extract", "1"));
    struct id report = world_add(world, AFTER("report", "extract"));
    const struct {
        int line;
        const struct id *uid;
        void (*change)(struct job *job);
        size_t ran, skipped; /* in all, after ten more minutes; one is caught up with */
    } cases[] = {
        {__LINE__, &report, pause, 0, 10},
        {__LINE__, &report, restore, 10, 10},
        {__LINE__, &report, delete, 10, 10},
        {__LINE__, &report, restore, 20, 10},
        {__LINE__, &extract, rename_it, 20, 10},
        {__LINE__, &extract, rename_it_back, 30, 10},
        {__LINE__, &extract, delete, 30, 10},
        {__LINE__, &extract, restore, 41, 10},
        {__LINE__, &report, wait_for_another, 41, 10},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        world_change(world, cases[i].uid, cases[i].change);
        world_pass(world, 10 * MINUTE + (i == 0 ? SECOND : 0));
        size_t ran = world_count(world, "report", RUN_OK);
        size_t skipped = world_count(world, "report", RUN_SKIPPED);
        if (ran != cases[i].ran || skipped != cases[i].skipped)
            fail_msg("line %d: ran %zu, skipped %zu", cases[i].line, ran, skipped);
    }
    assert_null(waits_first(&engine_catalog(world->engine)->waits, "extract"));
}

/* Two people have saved at once: neither comes to life by the other, but all else goes on. */
static void a_circle_does_not_turn(void **state)
{
    struct world *world = *state;
    struct id one = world_add(world, AFTER("one", "[three]"));
    world_add(world, AFTER("two", "[one]"));
    world_add(world, AFTER("three", "[two]"));
    world_add(world, AFTER("beside", "one"));
    world_trigger(world, &one);
    world_pass(world, HOUR);
    assert_int_equal(world->process_count, 2);
    only_record(world, "beside");
    struct id itself = world_add(world, BY_HAND("itself"));
    world_add(world, AFTER("itself-2", "itself"));
    world_trigger(world, &itself);
    world_pass(world, SECOND);
    only_record(world, "itself-2");
}

/* More than one end can make due: they run as far as they fit. */
static void as_many_as_fit(void **state)
{
    struct world *world = *state;
    struct id uid = world_add(world, BY_HAND("extract"));
    const struct catalog *catalog = engine_catalog(world->engine);
    for (int i = 0; i < STORE_NEXT_JOBS_MAX + 4; i++) {
        char yaml[200], name[32];
        snprintf(name, sizeof(name), "report-%d", i);
        snprintf(yaml, sizeof(yaml), AFTER("%s", "extract"), name);
        struct job_after after = {.job = "extract"};
        struct job job = {.name = name, .after = &after, .after_count = 1};
        struct id unknown = {{0}};
        assert_int_equal(follow_fits(catalog, "extract", &unknown, &job), i < STORE_NEXT_JOBS_MAX);
        world_add(world, yaml);
    }
    world_trigger(world, &uid);
    world_pass(world, SECOND);
    assert_int_equal(world->process_count, 1 + STORE_NEXT_JOBS_MAX);
    struct job_after after[] = {{.job = "extract-2"}, {.job = "report-1"}};
    struct job job = {.name = "report-1", .after = after, .after_count = 2};
    assert_true(follow_fits(catalog, "extract-2", &uid, &job));
}

/* ---- several nodes ---- */

/* The node that runs `extract` goes away with it; it is lost, and then it is not. */
static void a_loss_is_a_failure_until_it_is_amended(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    struct world *leader = cluster->nodes[0], *node = cluster_join(cluster, "there", 0);
    node->duration_ms = 20 * SECOND;
    struct id uid = world_add(leader, BY_HAND("extract") "where: there\n");
    world_add(leader, AFTER("well", "extract"));
    world_add(leader, AFTER("badly", "{jobs: [extract], on: failure}"));
    world_add(leader, AFTER("anyhow", "{jobs: [extract], on: always}"));
    cluster_pass(cluster, 5 * SECOND);
    world_trigger(leader, &uid);
    cluster_pass(cluster, 3 * SECOND);
    assert_int_equal(node->process_count, 1);
    node->duration_ms = 10;
    cluster_freeze(node);
    cluster_expire(node);
    cluster_pass(cluster, 5 * SECOND);
    assert_int_equal(cluster_count(cluster, "badly", RUN_OK), 1);
    assert_int_equal(cluster_count(cluster, "anyhow", RUN_OK), 1);
    assert_int_equal(cluster_count(cluster, "well", RUN_OK), 0);
    cluster_pass(cluster, 30 * SECOND);
    cluster_thaw(cluster, node);
    cluster_pass(cluster, 30 * SECOND);
    assert_int_equal(cluster_count(cluster, "extract", RUN_OK), 1);
    assert_int_equal(cluster_count(cluster, "badly", RUN_OK), 1);
    assert_int_equal(cluster_count(cluster, "anyhow", RUN_OK), 1);
    assert_int_equal(cluster_count(cluster, "well", RUN_OK), 1);
    cluster_check(cluster);
    cluster_free(cluster);
}

/* It has written the end, and is gone before it can start what comes after. */
static void another_node_goes_on(void **state)
{
    (void)state;
    for (size_t round = 0; round < 6; round++) {
        struct cluster *cluster = cluster_new(3);
        struct world *node, *other;
        struct id uid = world_add(cluster->nodes[0], BY_HAND("extract"));
        world_add(cluster->nodes[0], AFTER("report", "extract"));
        for (size_t i = 0; i < 3; i++) {
            cluster->nodes[i]->duration_ms = 5 * SECOND;
            cluster->nodes[i]->door = DOOR_HELD;
            cluster->nodes[i]->door_op = round % 2 ? STORE_TAKE : STORE_BEGIN;
        }
        cluster->nodes[round / 2]->door = DOOR_OPEN; /* this one runs it */
        for (size_t i = 0; i < 3; i++)
            cluster_drain(cluster, cluster->nodes[i], i != round / 2);
        world_trigger(cluster->nodes[0], &uid);
        cluster_pass(cluster, 2 * SECOND);
        cluster_process(cluster, "extract", &node);
        assert_ptr_equal(node, cluster->nodes[round / 2]);
        node->door = DOOR_HELD;
        node->door_op = round % 2 ? STORE_TAKE : STORE_BEGIN;
        cluster_pass(cluster, 5 * SECOND);
        cluster_freeze(node);
        cluster_expire(node);
        for (size_t i = 0; i < 3; i++) {
            cluster_drain(cluster, cluster->nodes[i], false);
            if (cluster->nodes[i] != node)
                cluster->nodes[i]->door = DOOR_OPEN;
        }
        cluster_pass(cluster, 20 * SECOND);
        cluster_process(cluster, "report", &other);
        assert_ptr_not_equal(other, node);
        assert_int_equal(cluster_count(cluster, "report", RUN_OK), 1);
        cluster_check(cluster);
        cluster_free(cluster);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_WORLD(a_chain_runs_from_end_to_end),
        WITH_WORLD(a_join_waits_for_all),
        WITH_WORLD(branches_follow_how_it_ended),
        WITH_WORLD(only_one_is_called),
        WITH_WORLD(by_hand_it_waits_for_nobody),
        cmocka_unit_test(it_is_made_once),
        cmocka_unit_test(it_keeps_to_its_overlap),
        WITH_WORLD(jobs_change),
        WITH_WORLD(a_circle_does_not_turn),
        WITH_WORLD(as_many_as_fit),
        cmocka_unit_test(a_loss_is_a_failure_until_it_is_amended),
        cmocka_unit_test(another_node_goes_on),
    };
    return cmocka_run_group_tests_name("engine, after other jobs", tests, NULL, NULL);
}
