/* Many runs at one instant: what is done before it, and what waits until all have started. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "world.h"

#define SECOND INT64_C(1000)
#define MINUTE (60 * SECOND)

static void add_many(struct world *world, int count)
{
    for (int i = 0; i < count; i++) {
        char yaml[120];
        snprintf(yaml, sizeof(yaml), "name: m%d\nschedule: '* * * * *'\ncommand: [/bin/true]\n", i);
        world_add(world, yaml);
    }
}

/* A run of `short` that ends 200 ms after the tick of the others, of which none can begin. */
static void end_in_a_burst(struct world *world, int count)
{
    world_add(world, "name: short\nschedule: '59 * * * * *'\ncommand: [/bin/true]\n");
    add_many(world, count);
    world->duration_ms = SECOND + 200;
    world_pass(world, 59 * SECOND + 100);
    assert_int_equal(world->process_count, 1);
    world->duration_ms = 10;
    world->door = DOOR_HELD;
    world->door_op = STORE_BEGIN;
    world_pass(world, SECOND + 600); /* 500 ms after its end */
}

/* It waits outside, behind the begins. */
static bool is_end_sent(const struct world *world)
{
    bool is_sent = false;
    for (size_t i = 0; i < world->submitted_count; i++)
        is_sent |= world->submitted[i]->op == STORE_FINISH;
    return is_sent;
}

static void ends_wait_until_all_have_started(void **state)
{
    struct world *world = *state;
    end_in_a_burst(world, 100);
    assert_false(is_end_sent(world));
    world->door = DOOR_OPEN;
    world_pass(world, 200);
    assert_int_equal(world->process_count, 101);
    assert_int_equal(world_count(world, "short", RUN_OK), 1);
    world_pass(world, 10 * SECOND);
    assert_int_equal(world->run_count, 101);
    assert_true(engine_is_idle(world->engine));
    world_check(world);
}

static void no_end_waits_longer_than_a_second(void **state)
{
    struct world *world = *state;
    end_in_a_burst(world, 100);
    world_pass(world, 400);
    assert_false(is_end_sent(world));
    world_pass(world, 300);
    assert_true(is_end_sent(world));
}

static void an_end_for_which_something_waits_does_not(void **state)
{
    (void)state;
    static const struct {
        int line;
        int others;
        const char *dependent;
    } cases[] = {
        {__LINE__, 10, NULL}, /* no burst */
        {__LINE__, 100, "name: next\nafter: short\ncommand: [/bin/true]\n"},
        {__LINE__, 100, "name: next\nafter: {jobs: [short], on: failure}\ncommand: [/bin/true]\n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world *world = world_new();
        if (cases[i].dependent)
            world_add(world, cases[i].dependent);
        end_in_a_burst(world, cases[i].others);
        if (!is_end_sent(world))
            fail_msg("line %d", cases[i].line);
        world_free(world);
    }
}

/* All is handed over ahead; none starts before its time. */
static void starts_are_asked_for_ahead(void **state)
{
    struct world *world = *state;
    world->ahead_ms = 50;
    world->duration_ms = SECOND;
    add_many(world, 100);
    world_pass(world, 3 * MINUTE + 10 * SECOND);
    assert_int_equal(world->process_count, 300);
    for (size_t i = 0; i < world->process_count; i++) {
        const struct world_process *process = &world->processes[i];
        assert_int_equal(process->started_ms, process->tick_ms);
        assert_in_range(process->tick_ms - process->asked_ms, 1, 50);
    }
    assert_int_equal(world->run_count, 300);
    world_check(world);
}

static size_t three(const struct executor *executor)
{
    (void)executor;
    return 3;
}

static size_t four_hundred(const struct executor *executor)
{
    (void)executor;
    return 400;
}

/* An executor that tells how many it takes has so many before their time, and the others later. */
static void as_many_wait_as_the_executor_takes(void **state)
{
    static const struct {
        int line;
        size_t (*starts_ahead)(const struct executor *executor);
        bool tells_held; /* those do not count */
        int count;
        size_t ahead;
    } cases[] = {
        {__LINE__, NULL, false, 300, 256},
        {__LINE__, NULL, true, 600, 600},
        {__LINE__, three, false, 20, 3},
        {__LINE__, four_hundred, false, 300, 300},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world *world = world_new();
        struct executor_ops ops = *world->executor.ops;
        ops.starts_ahead = cases[i].starts_ahead;
        world->executor.ops = &ops;
        world->ahead_ms = 50;
        world->tells_held = cases[i].tells_held;
        add_many(world, cases[i].count);
        world_pass(world, MINUTE + 10 * SECOND);
        size_t ahead = 0;
        for (size_t k = 0; k < world->process_count; k++)
            ahead += world->processes[k].asked_ms < world->processes[k].tick_ms;
        if (ahead != cases[i].ahead || world->process_count != (size_t)cases[i].count)
            fail_msg("line %d: %zu ahead, %zu in all", cases[i].line, ahead, world->process_count);
        world_check(world);
        world_free(world);
    }
}

/* The executor was away at its time. */
static void a_late_start_is_not_put_off(void **state)
{
    struct world *world = *state;
    world->ahead_ms = 50;
    add_many(world, 1);
    world->executor_away = true;
    world_pass(world, MINUTE + SECOND);
    world->executor_away = false;
    world_attach(world);
    world_pass(world, SECOND);
    assert_int_equal(world->process_count, 1);
    assert_true(world->processes[0].started_ms >= world->processes[0].asked_ms);
    world_check(world);
}

/* ---- between being asked for and its time ---- */

enum trouble {
    NOTHING,
    CLOCK_BACK,
    CLOCK_AHEAD,
    KILL,
    AGENT_DIES,
    SPAWNER_DIES,
    DRAIN,
    STOP,
    PAUSE,
    DELETE,
};

static void pause_job(struct job *job)
{
    job->paused = true;
}

static void delete_job(struct job *job)
{
    job->deleted_ms = 1;
}

static void drained(struct store_request *request, enum status st)
{
    (void)request;
    assert_int_equal(st, OK);
}

static void drain(struct world *world)
{
    struct store_drain item = {.drained = true, .by = "me"};
    snprintf(item.node, sizeof(item.node), "%s", world->config.node);
    struct store_request request = {
        .op = STORE_DRAIN, .count = 1, .items.drains = &item, .done = drained};
    store_submit(world->store, &request);
    store_dispatch(world->store);
}

static void make_trouble(struct world *world, const struct id *uid, enum trouble trouble)
{
    switch (trouble) {
    case NOTHING:
        break;
    case CLOCK_BACK:
        world_set_clock(world, -10 * MINUTE);
        break;
    case CLOCK_AHEAD:
        world_set_clock(world, 90 * SECOND);
        break;
    case KILL:
        world_kill(world, &world->processes[0].run_id);
        break;
    case AGENT_DIES:
        world_restart(world);
        break;
    case SPAWNER_DIES: /* its client sends to the next one what is not answered */
        world->tell_gone = true;
        world_pass(world, 5);
        world->tell_ready = true;
        break;
    case DRAIN:
        drain(world);
        break;
    case STOP:
        engine_drain(world->engine);
        break;
    case PAUSE:
        world_change(world, uid, pause_job);
        break;
    case DELETE:
        world_change(world, uid, delete_job);
        break;
    }
}

/* It is begun, and its time is one of the boot clock: whatever happens it has its one end, and the
 * job goes on. */
static void what_is_asked_for_ahead_has_its_end(void **state)
{
    (void)state;
    static const struct {
        int line;
        enum trouble trouble;
        enum run_state end;
        size_t later; /* starts in the three minutes after it */
    } cases[] = {
        {__LINE__, NOTHING, RUN_OK, 3},     {__LINE__, CLOCK_BACK, RUN_OK, 3},
        {__LINE__, CLOCK_AHEAD, RUN_OK, 3}, {__LINE__, KILL, RUN_KILLED, 3},
        {__LINE__, AGENT_DIES, RUN_OK, 3},  {__LINE__, SPAWNER_DIES, RUN_OK, 3},
        {__LINE__, DRAIN, RUN_OK, 0},       {__LINE__, STOP, RUN_OK, 0},
        {__LINE__, PAUSE, RUN_OK, 0},       {__LINE__, DELETE, RUN_OK, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world *world = world_new();
        world->ahead_ms = 50;
        struct id uid = world_add(
            world, "name: j\nschedule: '* * * * *'\ncatch_up: skip\ncommand: [/bin/true]\n");
        world_pass(world, MINUTE - 30);
        const struct world_process *held = &world->processes[0];
        int64_t at_boot_ms = held->at.ms;
        if (world->process_count != 1 || at_boot_ms != world->now.boot.ms + 30)
            fail_msg("line %d: not asked for ahead", cases[i].line);
        struct id run_id = held->run_id;
        make_trouble(world, &uid, cases[i].trouble);
        world_pass(world, 3 * MINUTE + SECOND);
        if (cases[i].trouble != KILL && held->at.ms != at_boot_ms)
            fail_msg("line %d: moved by %lld ms", cases[i].line,
                     (long long)(held->at.ms - at_boot_ms));
        const struct run *run = NULL;
        for (size_t k = 0; k < world->run_count; k++)
            run = id_compare(&world->runs[k].id, &run_id) == 0 ? &world->runs[k] : run;
        if (!run || run->state != cases[i].end || !run->started_ms != (cases[i].trouble == KILL))
            fail_msg("line %d: its end is %d", cases[i].line, run ? (int)run->state : -1);
        if (world->process_count - 1 < cases[i].later ||
            (!cases[i].later && world->process_count > 1))
            fail_msg("line %d: %zu later starts", cases[i].line, world->process_count - 1);
        world_check(world);
        world_free(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_WORLD(ends_wait_until_all_have_started),
        WITH_WORLD(no_end_waits_longer_than_a_second),
        cmocka_unit_test(an_end_for_which_something_waits_does_not),
        WITH_WORLD(starts_are_asked_for_ahead),
        cmocka_unit_test(as_many_wait_as_the_executor_takes),
        WITH_WORLD(a_late_start_is_not_put_off),
        cmocka_unit_test(what_is_asked_for_ahead_has_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
