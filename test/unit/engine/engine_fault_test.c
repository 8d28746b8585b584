/* The engine when things go wrong on the way: requests that fail, wait or lose their answer,
 * changes that come in between, executors that come and go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "world.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };

#define START_MS            INT64_C(1767225600000)
#define JOB(schedule, more) "name: j\nschedule: '" schedule "'\ncommand: [/bin/true]\n" more

/* However long a run waited in its job's queue: nobody was away, so it is not too late. */
static void test_queued_run_is_not_late(void **state)
{
    struct world *world = *state;
    world->duration_ms = 150 * SECOND;
    world_add(world, JOB("* * * * *", "overlap: queue\nend: 2026-01-01T00:04:30Z\n"));
    world_pass(world, 20 * MINUTE);
    assert_int_equal(world->process_count, 4);
    assert_int_equal(world_count(world, "j", RUN_OK), 4);
    world_check(world);
}

static void delete_job(struct job *job)
{
    job->deleted_ms = 1;
}

/* The agent dies before the history has what the store ended by itself. */
static void test_skipped_by_the_store_is_recorded(void **state)
{
    struct world *world = *state;
    world->duration_ms = 3 * MINUTE + 30 * SECOND;
    struct id uid = world_add(world, JOB("* * * * *", "overlap: queue\n"));
    world_pass(world, 3 * MINUTE + SECOND);
    world->history_away = true;
    world_change(world, &uid, delete_job);
    world_restart(world);
    world->history_away = false;
    world_pass(world, 10 * MINUTE);
    assert_int_equal(world_count(world, "j", RUN_SKIPPED), 2);
    assert_int_equal(world_count(world, "j", RUN_OK), 1);
    assert_true(engine_is_idle(world->engine));
}

/* One request of a run, and the way in which it goes wrong. */
struct trouble {
    const char *name;
    enum store_op op;
};

static const struct trouble troubles[] = {
    {"claim", STORE_CLAIM},   {"take", STORE_TAKE},     {"begin", STORE_BEGIN},
    {"finish", STORE_FINISH}, {"forget", STORE_FORGET},
};

/* A tick and a manual run while requests of one kind go through `door` for that long. */
static void run_behind(enum door door, int64_t for_ms, const struct trouble *trouble)
{
    struct world *world = world_new();
    struct id uid = world_add(world, JOB("* * * * *", "overlap: allow\n"));
    world_pass(world, MINUTE - SECOND);
    world->door = door;
    world->door_op = trouble->op;
    assert_true(world_trigger(world, &uid));
    world_pass(world, for_ms);
    world->door = DOOR_OPEN;
    world_pass(world, 10 * SECOND);
    if (world->process_count != 2 || world_count(world, "j", RUN_OK) != 2 ||
        engine_open_runs(world->engine) != 0 || !engine_is_idle(world->engine))
        fail_msg("%s: %zu started, %zu ok, %zu open", trouble->name, world->process_count,
                 world_count(world, "j", RUN_OK), engine_open_runs(world->engine));
    world_check(world);
    world_free(world);
}

/* Done, but the answer is lost: the feed tells, and the run goes on from there. */
static void test_lost_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(troubles) / sizeof(troubles[0]); i++)
        run_behind(DOOR_ONE_WAY, 3 * SECOND, &troubles[i]);
}

/* On a store that many share, the feed may tell of a change before its request is answered. */
static void test_slow_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(troubles) / sizeof(troubles[0]); i++)
        run_behind(DOOR_SLOW, 20 * SECOND, &troubles[i]);
}

/* The job is deleted while this node's take of its run is on the way. */
static void test_deleted_while_taken(void **state)
{
    struct world *world = *state;
    struct id uid = world_add(world, JOB("@manual", ""));
    world->door = DOOR_HELD;
    world->door_op = STORE_TAKE;
    assert_true(world_trigger(world, &uid));
    world_change(world, &uid, delete_job);
    world->door = DOOR_OPEN;
    world_pass(world, 10 * SECOND);
    assert_int_equal(world->process_count, 0);
    assert_int_equal(world_count(world, "j", RUN_SKIPPED), 1);
    assert_true(engine_is_idle(world->engine));
}

/* The store was restored from a backup that does not have the run whose take is on the way: it
 * would be taken for ever, since nothing tells of it again. */
static void test_gone_while_taken(void **state)
{
    struct world *world = *state;
    struct id uid = world_add(world, JOB("@manual", ""));
    world->door = DOOR_HELD;
    world->door_op = STORE_TAKE;
    assert_true(world_trigger(world, &uid));
    const struct store_request *take = world->submitted[0];
    assert_int_equal(take->op, STORE_TAKE);
    world->gone = take->items.takes[0].run_id;
    world_pass(world, SECOND);
    world->door = DOOR_BROKEN;
    world->door_status = E_UNKNOWN;
    world_pass(world, SECOND);
    size_t answered = world->answered;
    world_pass(world, 10 * SECOND);
    assert_int_equal(world->answered, answered);
}

/* What ended while the agent was away is not in the way of a tick that is made good now. */
static void test_ended_while_away(void **state)
{
    struct world *world = *state;
    world->duration_ms = 10 * SECOND;
    world_add(world, JOB("* * * * *", "overlap: skip\n"));
    world_pass(world, MINUTE + SECOND);
    assert_int_equal(world->process_count, 1);
    world_sleep(world, 10 * MINUTE);
    world_restart(world);
    world_pass(world, 20 * SECOND);
    assert_int_equal(world->process_count, 2);
    assert_int_equal(world_count(world, "j", RUN_OK), 2);
    assert_int_equal(world_passed(world, "j", RUN_SKIPPED, REASON_OVERLAP), 0);
    world_check(world);
}

static void pause_job(struct job *job)
{
    job->paused = true;
    job->paused_ms = START_MS;
}

/* A begin that the store refused, and whose answer was lost, is not asked for again. */
static void test_paused_after_lost_begin(void **state)
{
    struct world *world = *state;
    struct id uid = world_add(world, JOB("* * * * *", ""));
    world->door = DOOR_HELD;
    world->door_op = STORE_BEGIN;
    world_pass(world, MINUTE + SECOND);
    world_change(world, &uid, pause_job);
    world->door = DOOR_ONE_WAY;
    world_pass(world, 3 * SECOND);
    world->door = DOOR_OPEN;
    world_pass(world, 10 * SECOND);
    assert_int_equal(world->process_count, 0);
    assert_int_equal(world_count(world, "j", RUN_SKIPPED), 1);
    assert_int_equal(world->runs[0].reason, REASON_PAUSED);
    assert_true(engine_is_idle(world->engine));
}

/* The begin that an agent sent before it was killed gets through when the next one is about to take
 * the run over. When its window began only the dead one knew. */
static void test_begun_by_the_agent_before(void **state)
{
    struct world *world = *state;
    world_add(world, JOB("* * * * *", ""));
    world->door = DOOR_HELD;
    world->door_op = STORE_BEGIN;
    world_pass(world, MINUTE + SECOND);
    world_restart(world);
    world_pass(world, SECOND);
    world->door = DOOR_SLOW;
    world_pass(world, 10 * SECOND);
    world->door = DOOR_OPEN;
    world_pass(world, 10 * SECOND);
    assert_int_equal(world->process_count, 0);
    assert_int_equal(world_count(world, "j", RUN_MISSED), 1);
    assert_int_equal(world->runs[0].reason, REASON_START_WINDOW);
    assert_true(engine_is_idle(world->engine));
}

/* A run that the restored store has as begun, and that the executor does not know: it has ended
 * since the backup, perhaps. */
static void test_begun_in_a_backup(void **state)
{
    struct world *world = *state;
    world_add(world, JOB("* * * * *", ""));
    world->duration_ms = HOUR;
    world_pass(world, MINUTE + SECOND);
    assert_int_equal(world->process_count, 1);
    world->process_count = 0;
    world->health = E_ROLLED_BACK;
    world_restart(world);
    world_pass(world, SECOND);
    world->health = OK;
    world_pass(world, SECOND);
    assert_int_equal(world_count(world, "j", RUN_MISSED), 0);
    assert_int_equal(world_count(world, "j", RUN_LOST), 1);
    assert_int_equal(world->runs[0].reason, REASON_RESTORED);
}

static void change_command(struct job *job)
{
    free(job->command[0]);
    job->command[0] = strdup("/bin/false");
}

/* Changed between claim and begin: the new definition is what starts, also when both are answered
 * in one turn. */
static void test_changed_before_begin(void **state)
{
    struct world *world = *state;
    struct id uid = world_add(world, JOB("* * * * *", ""));
    world->door = DOOR_HELD;
    world->door_op = STORE_BEGIN;
    world_pass(world, MINUTE + SECOND);
    assert_int_equal(world->process_count, 0);
    world->open_with_change = true;
    world_change(world, &uid, change_command);
    world_pass(world, SECOND);
    assert_int_equal(world->process_count, 1);
    assert_string_equal(world->processes[0].command, "/bin/false");
}

/* Jobs that are due in the same instant, and runs that wait, keep to the limit all the same. */
static void test_limit_holds_at_one_instant(void **state)
{
    struct world *world = *state;
    world->config.max_running = 2;
    world_restart(world);
    world->duration_ms = 5 * SECOND;
    for (int i = 0; i < 5; i++) {
        char yaml[120];
        snprintf(yaml, sizeof(yaml), "name: j%d\nschedule: '* * * * *'\ncommand: [/bin/true]\n", i);
        struct id uid = world_add(world, yaml);
        assert_true(world_trigger(world, &uid));
    }
    for (int i = 0; i < 150; i++) {
        world_pass(world, SECOND);
        size_t running = 0;
        for (size_t k = 0; k < world->process_count; k++)
            running += !world->processes[k].ended;
        assert_true(running <= 2);
    }
    assert_int_equal(world->process_count, 15);
    world_check(world);
}

/* More jitter than the time for which the skipped ticks of a paused job are gathered. */
static void test_paused_with_long_jitter(void **state)
{
    struct world *world = *state;
    struct id uid = world_add(world, JOB("*/10 * * * *", "jitter: 1d\n"));
    world_change(world, &uid, pause_job);
    world_pass(world, 48 * HOUR);
    assert_int_equal(world->process_count, 0);
    assert_true(world_passed(world, "j", RUN_SKIPPED, REASON_PAUSED) > 100);
    world_check(world);
}

/* @after has no ticks before now to count: it is not "too many". */
static void test_catch_up_all_without_a_calendar(void **state)
{
    struct world *world = *state;
    world_add(world, JOB("@after 10m", "catch_up: all\n"));
    world_sleep(world, 15 * MINUTE);
    world_pass(world, SECOND);
    assert_int_equal(world->process_count, 1);
    assert_int_equal(world->entry_count, 0);
}

/* What was to be tried again in a second is not put off by the hour that the clock is set back. */
static void test_clock_set_back_while_the_store_is_away(void **state)
{
    static const struct {
        const char *name;
        enum store_op op;
    } cases[] = {
        {"take", STORE_TAKE},
        {"begin", STORE_BEGIN},
        {"finish", STORE_FINISH},
        {"forget", STORE_FORGET},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world *world = world_new();
        struct id uid = world_add(world, JOB("@manual", ""));
        world->door = DOOR_BROKEN;
        world->door_op = cases[i].op;
        world->door_status = E_UNREACHABLE;
        assert_true(world_trigger(world, &uid));
        world_pass(world, SECOND / 2);
        world_set_clock(world, -(int64_t)HOUR);
        world->door = DOOR_OPEN;
        world_pass(world, 5 * SECOND);
        if (world_count(world, "j", RUN_OK) != 1 || !engine_is_idle(world->engine))
            fail_msg("%s: stuck", cases[i].name);
        world_free(world);
    }
}

/* Nothing else is going on that would bring the turn. */
static void test_entries_are_forgotten_after_a_failure(void **state)
{
    struct world *world = *state;
    world_add(world, JOB("@at 2026-01-01T00:01:00Z", "catch_up: skip\n"));
    world->door = DOOR_BROKEN;
    world->door_op = STORE_FORGET;
    world->door_status = E_UNREACHABLE;
    world_sleep(world, HOUR);
    world_pass(world, SECOND / 2);
    assert_int_equal(world_passed(world, "j", RUN_MISSED, REASON_CATCH_UP), 1);
    world->door = DOOR_OPEN;
    world_pass(world, 5 * SECOND);
    assert_true(engine_is_idle(world->engine));
}

static void restore_job(struct job *job)
{
    job->deleted_ms = 0;
}

static bool visit_name(void *context, const struct catalog_job *job)
{
    ++*(int *)context;
    assert_string_equal(job->name, "j");
    return true;
}

/* The count of its open runs goes through all that: @after waits for it. */
static void test_deleted_and_restored_while_running(void **state)
{
    struct world *world = *state;
    int deleted = 0;
    world->duration_ms = MINUTE;
    struct id uid = world_add(world, JOB("@after 40s", ""));
    world_pass(world, 50 * SECOND);
    assert_int_equal(world->process_count, 1);
    world_change(world, &uid, delete_job);
    catalog_each(engine_catalog(world->engine), NULL, true, visit_name, &deleted);
    assert_int_equal(deleted, 1);
    assert_int_equal(catalog_count(engine_catalog(world->engine)), 0);
    world_change(world, &uid, restore_job);
    world_pass(world, 45 * SECOND);
    assert_int_equal(world->process_count, 1);
    world_pass(world, 5 * MINUTE);
    assert_true(world->process_count >= 3);
    world_check(world);
}

/* The executor goes between claim and begin, and after a restart it takes its time: the window of
 * five seconds opens only when it is there. */
static void test_begin_waits_for_the_executor(void **state)
{
    struct world *world = *state;
    world->door = DOOR_HELD;
    world->door_op = STORE_CLAIM;
    world_add(world, JOB("* * * * *", ""));
    world_pass(world, MINUTE);
    world->executor_away = world->tell_gone = true;
    world_pass(world, SECOND);
    world->door = DOOR_OPEN;
    world_pass(world, 10 * SECOND);
    world_restart(world);
    world_pass(world, 10 * SECOND);
    assert_int_equal(world->process_count, 0);
    world_attach(world);
    world_pass(world, SECOND);
    assert_int_equal(world->process_count, 1);
    assert_int_equal(world_count(world, "j", RUN_OK), 1);
}

/* The order to kill reaches the process, whoever was away when it was given. */
static void test_kill_is_repeated(void **state)
{
    (void)state;
    for (int restarted = 0; restarted < 2; restarted++) {
        struct world *world = world_new();
        world->duration_ms = HOUR;
        struct id uid = world_add(world, JOB("@manual", ""));
        assert_true(world_trigger(world, &uid));
        world_pass(world, SECOND);
        world->executor_away = world->tell_gone = true;
        world_pass(world, SECOND);
        world_kill(world, &world->processes[0].run_id);
        if (restarted)
            world_restart(world);
        world_pass(world, SECOND);
        assert_int_equal(world_count(world, "j", RUN_KILLED), 0);
        world_attach(world);
        world_pass(world, SECOND);
        if (world_count(world, "j", RUN_KILLED) != 1)
            fail_msg("%s: not killed", restarted ? "restarted" : "away");
        assert_string_equal(world->runs[0].by, "tester");
        world_free(world);
    }
}

/* The deadline counts up to the start, not only up to the claim. */
static void test_deadline_of_a_queued_run(void **state)
{
    struct world *world = *state;
    world->duration_ms = 150 * SECOND;
    world_add(world, JOB("* * * * *", "overlap: queue\ndeadline: 1m\nend: 2026-01-01T00:04:30Z\n"));
    world_pass(world, 20 * MINUTE);
    assert_int_equal(world_count(world, "j", RUN_OK), 2); /* at 1:00, and the one of 3:00 at 3:30 */
    assert_int_equal(world_count(world, "j", RUN_MISSED), 2);
    for (size_t i = 0; i < world->run_count; i++)
        assert_true(world->runs[i].state == RUN_OK || world->runs[i].reason == REASON_DEADLINE);
    world_check(world);
}

static void change_nothing(struct job *job)
{
    (void)job;
}

/* As long as the feed does not tell why a claim is stale, there is no use in asking at once. */
static void test_stale_claims_do_not_spin(void **state)
{
    struct world *world = *state;
    struct id uid = world_add(world, JOB("* * * * *", ""));
    world->deaf = true;
    world_change(world, &uid, change_nothing);
    world->deaf = false;
    world_pass(world, MINUTE - SECOND);
    size_t before = world->answered;
    world_pass(world, 11 * SECOND);
    assert_in_range(world->answered - before, 1, 12);
    assert_int_equal(world->process_count, 0);
    world_restart(world);
    world_pass(world, SECOND);
    assert_int_equal(world->process_count, 1);
}

/* The last run is the one that ended last, also when the clock was set back in between. */
static void test_last_run_is_the_latest(void **state)
{
    struct world *world = *state;
    struct id uid = world_add(world, JOB("@manual", ""));
    assert_true(world_trigger(world, &uid));
    world_pass(world, MINUTE);
    const struct catalog_job *job = catalog_by_uid(engine_catalog(world->engine), &uid);
    int64_t ended_ms = job->last.ended_ms;
    world_set_clock(world, -(int64_t)HOUR);
    assert_true(world_trigger(world, &uid));
    world_pass(world, MINUTE);
    assert_int_equal(world_count(world, "j", RUN_OK), 2);
    assert_true(job->last.ended_ms < ended_ms);
    assert_int_equal(id_compare(&job->last.run_id, &world->runs[1].id), 0);
}

/* Output that can't be read for a moment comes later; one that never can holds nothing back for
 * ever, and is not thrown away. */
static void test_output_that_cannot_be_read(void **state)
{
    struct world *world = *state;
    world->output_bytes = 1;
    world->output_status = E_NOMEM;
    world_add(world, JOB("* * * * *", "end: 2026-01-01T00:02:30Z\n"));
    world_pass(world, MINUTE + 5 * SECOND);
    assert_int_equal(world->process_count, 1);
    assert_int_equal(world->run_count, 0);
    world->output_status = OK;
    world_pass(world, 5 * SECOND);
    assert_int_equal(world->run_count, 1);
    assert_int_equal(world->recorded_outputs, 1);
    assert_int_equal(world->removed_outputs, 1);

    world->output_status = E_IO;
    world_pass(world, 2 * MINUTE);
    assert_int_equal(world->run_count, 2);
    assert_int_equal(world->recorded_outputs, 1);
    assert_int_equal(world->removed_outputs, 1);
    assert_true(engine_is_idle(world->engine));
    world_check(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_WORLD(test_queued_run_is_not_late),
        WITH_WORLD(test_skipped_by_the_store_is_recorded),
        WITH_WORLD(test_lost_answers),
        WITH_WORLD(test_slow_answers),
        WITH_WORLD(test_ended_while_away),
        WITH_WORLD(test_deleted_while_taken),
        WITH_WORLD(test_gone_while_taken),
        WITH_WORLD(test_paused_after_lost_begin),
        WITH_WORLD(test_begun_by_the_agent_before),
        WITH_WORLD(test_begun_in_a_backup),
        WITH_WORLD(test_changed_before_begin),
        WITH_WORLD(test_limit_holds_at_one_instant),
        WITH_WORLD(test_paused_with_long_jitter),
        WITH_WORLD(test_catch_up_all_without_a_calendar),
        WITH_WORLD(test_clock_set_back_while_the_store_is_away),
        WITH_WORLD(test_entries_are_forgotten_after_a_failure),
        WITH_WORLD(test_deleted_and_restored_while_running),
        WITH_WORLD(test_begin_waits_for_the_executor),
        WITH_WORLD(test_kill_is_repeated),
        WITH_WORLD(test_deadline_of_a_queued_run),
        WITH_WORLD(test_stale_claims_do_not_spin),
        WITH_WORLD(test_last_run_is_the_latest),
        WITH_WORLD(test_output_that_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
