/* Nobody is there for a while: what becomes of the ticks that fall due meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "attendance.h"
#include "cluster.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };

#define START_MS INT64_C(1767225600000)

static int64_t since_start_s(int64_t ms)
{
    return (ms - START_MS) / SECOND;
}

static void add_runs(const struct world *world, enum run_cause cause, int64_t from_ms,
                     int64_t to_ms, struct strbuf *out)
{
    size_t count = 0;
    int64_t first_ms = INT64_MAX, last_ms = INT64_MIN;
    for (size_t i = 0; i < world->run_count; i++) {
        const struct run *run = &world->runs[i];
        if (run->cause != cause || run->state != RUN_OK || run->tick_ms <= from_ms ||
            run->tick_ms > to_ms)
            continue;
        count++;
        first_ms = run->tick_ms < first_ms ? run->tick_ms : first_ms;
        last_ms = run->tick_ms > last_ms ? run->tick_ms : last_ms;
    }
    if (count)
        strbuf_addf(out, "%zu %s %lld-%lld; ", count, run_cause_name(cause),
                    (long long)since_start_s(first_ms), (long long)since_start_s(last_ms));
}

static void add_passed(const struct world *world, struct strbuf *out)
{
    for (int reason = 0; reason < REASONS; reason++) {
        for (int state = RUN_SKIPPED; state <= RUN_MISSED; state++) {
            int64_t count =
                world_passed(world, "j", (enum run_state)state, (enum run_reason)reason);
            if (count)
                strbuf_addf(out, "%s %s x%lld; ", run_state_name((enum run_state)state),
                            run_reason_name((enum run_reason)reason), (long long)count);
        }
    }
}

/* "1 tick 120-120; missed catch_up x3; ": what became of the ticks in between. */
static void expect_ends(const struct world *world, int line, int64_t from_ms, int64_t to_ms,
                        const char *want)
{
    struct strbuf text;
    strbuf_init(&text);
    add_runs(world, CAUSE_TICK, from_ms, to_ms, &text);
    add_runs(world, CAUSE_CATCH_UP, from_ms, to_ms, &text);
    add_passed(world, &text);
    bool is_same = strcmp(text.text, want) == 0;
    if (!is_same)
        print_error("line %d: \"%s\", not \"%s\"\n", line, text.text, want);
    strbuf_release(&text);
    assert_true(is_same);
}

static void add_job(struct world *world, const char *schedule, const char *more)
{
    char yaml[256];
    snprintf(yaml, sizeof(yaml), "name: j\nschedule: '%s'\ncommand: [/bin/true]\n%s", schedule,
             more);
    world_add(world, yaml);
}

/* Killed at 00:01:40, which is a mark of attendance and a tick of every 5 s, and back so much
 * later. */
static void test_killed(void **state)
{
    static const struct {
        int line;
        const char *schedule, *more;
        int64_t away_ms;
        const char *want;
    } rows[] = {
        /* It was late, and not away. */
        {__LINE__, "@every 5s", "overlap: allow\n", 10 * SECOND, "2 tick 105-110; "},
        {__LINE__, "@every 5s", "overlap: allow\ncatch_up: skip\n", 10 * SECOND,
         "2 tick 105-110; "},
        {__LINE__, "@every 5s", "overlap: queue\ncatch_up: skip\n", 29 * SECOND,
         "5 tick 105-125; "},
        {__LINE__, "@every 5s", "overlap: allow\n", 29 * SECOND, "5 tick 105-125; "},
        {__LINE__, "@every 5s", "overlap: allow\ncatch_up: all\n", 29 * SECOND, "5 tick 105-125; "},
        {__LINE__, "* * * * *", "catch_up: skip\n", 29 * SECOND, "1 tick 120-120; "},
        {__LINE__, "* * * * *", "", 29 * SECOND, "1 tick 120-120; "},
        /* It was away. */
        {__LINE__, "@every 5s", "overlap: allow\ncatch_up: skip\n", 31 * SECOND,
         "missed catch_up x6; "},
        {__LINE__, "@every 5s", "overlap: allow\n", 31 * SECOND,
         "1 catch_up 130-130; missed catch_up x5; "},
        {__LINE__, "@every 5s", "overlap: allow\ncatch_up: all\n", 31 * SECOND,
         "6 catch_up 105-130; "},
        {__LINE__, "* * * * *", "catch_up: skip\n", 31 * SECOND, "missed catch_up x1; "},
        {__LINE__, "* * * * *", "", 31 * SECOND, "1 catch_up 120-120; "},
        {__LINE__, "* * * * *", "catch_up: skip\n", 75 * SECOND, "missed catch_up x1; "},
        {__LINE__, "* * * * *", "", 75 * SECOND, "1 catch_up 120-120; "},
        {__LINE__, "* * * * *", "catch_up: all\n", 75 * SECOND, "1 catch_up 120-120; "},
        {__LINE__, "@every 5s", "catch_up: skip\n", 75 * SECOND, "missed catch_up x15; "},
        {__LINE__, "@every 5s", "overlap: allow\ncatch_up: skip\n", 75 * SECOND,
         "missed catch_up x15; "},
        {__LINE__, "@every 5s", "", 75 * SECOND, "1 catch_up 175-175; missed catch_up x14; "},
        {__LINE__, "@every 5s", "overlap: allow\n", 75 * SECOND,
         "1 catch_up 175-175; missed catch_up x14; "},
        {__LINE__, "@every 5s", "overlap: queue\n", 75 * SECOND,
         "1 catch_up 175-175; missed catch_up x14; "},
        {__LINE__, "@every 5s", "overlap: replace\n", 75 * SECOND,
         "1 catch_up 175-175; missed catch_up x14; "},
        {__LINE__, "@every 5s", "catch_up: all\n", 75 * SECOND, "15 catch_up 105-175; "},
        {__LINE__, "@every 5s", "overlap: allow\ncatch_up: all\n", 75 * SECOND,
         "15 catch_up 105-175; "},
        {__LINE__, "@every 5s", "catch_up: {policy: all, limit: 3}\n", 75 * SECOND,
         "3 catch_up 165-175; missed too_many x12; "},
        {__LINE__, "@every 5s", "catch_up: {policy: all, window: 12s}\n", 75 * SECOND,
         "3 catch_up 165-175; missed too_old x12; "},
        {__LINE__, "@every 5s", "catch_up: {policy: all, window: 12s, limit: 2}\n", 75 * SECOND,
         "2 catch_up 170-175; missed too_old x12; missed too_many x1; "},
        {__LINE__, "@every 5s", "deadline: 7s\ncatch_up: skip\n", 75 * SECOND,
         "missed catch_up x2; missed deadline x13; "},
        {__LINE__, "@every 1s", "overlap: allow\ncatch_up: skip\n", 75 * SECOND,
         "missed catch_up x75; "},
        {__LINE__, "@every 1s", "overlap: allow\n", 75 * SECOND,
         "1 catch_up 175-175; missed catch_up x74; "},
        {__LINE__, "* * * * *", "catch_up: skip\n", 2 * HOUR, "missed catch_up x120; "},
        {__LINE__, "* * * * *", "", 2 * HOUR, "1 catch_up 7260-7260; missed catch_up x119; "},
        {__LINE__, "@every 5s", "overlap: allow\ncatch_up: skip\n", 2 * HOUR,
         "missed catch_up x1440; "},
        {__LINE__, "@every 5s", "overlap: allow\n", 2 * HOUR,
         "1 catch_up 7300-7300; missed catch_up x1439; "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world *world = world_new();
        add_job(world, rows[i].schedule, rows[i].more);
        world_pass(world, 100 * SECOND);
        world_sleep(world, rows[i].away_ms);
        world_restart(world);
        int64_t back_ms = world->now.wall.ms;
        world_pass(world, SECOND - 200);
        expect_ends(world, rows[i].line, START_MS + 100 * SECOND, back_ms, rows[i].want);
        world_pass(world, MINUTE);
        if (world->runs[world->run_count - 1].cause != CAUSE_TICK)
            fail_msg("line %d: it does not go on", rows[i].line);
        world_check(world);
        world_free(world);
    }
}

/* The same for a machine that was suspended, with the agent in it. */
static void test_suspended(void **state)
{
    struct world *world = *state;
    add_job(world, "@every 5s", "overlap: allow\ncatch_up: skip\n");
    world_pass(world, 100 * SECOND);
    world_sleep(world, 75 * SECOND);
    int64_t back_ms = world->now.wall.ms;
    world_pass(world, SECOND);
    expect_ends(world, __LINE__, START_MS + 100 * SECOND, back_ms, "missed catch_up x15; ");
    world_pass(world, MINUTE);
    assert_int_equal(world_count(world, "j", RUN_OK), 20 + 12);
}

/* An agent that was stopped in order has said until when it was there. */
static void test_stopped_in_order(void **state)
{
    static const struct {
        int line;
        int64_t away_ms;
        const char *want;
    } rows[] = {
        {__LINE__, 29 * SECOND, "1 tick 120-120; "},
        {__LINE__, 31 * SECOND, "missed catch_up x1; "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world *world = world_new();
        add_job(world, "* * * * *", "catch_up: skip\n");
        world_pass(world, 109 * SECOND); /* the last mark is nine seconds old */
        engine_drain(world->engine);
        world_pass(world, 1);
        world_sleep(world, rows[i].away_ms);
        world_restart(world);
        world_pass(world, SECOND);
        expect_ends(world, rows[i].line, START_MS + 100 * SECOND, world->now.wall.ms, rows[i].want);
        world_free(world);
    }
}

/* ---- the mark ---- */

struct put {
    struct store_request request;
    struct store_put_doc item;
};

static void put_done(struct store_request *request, enum status st)
{
    (void)request;
    assert_int_equal(st, OK);
}

/* Whatever is there. */
static void put_mark(struct world *world, const char *json)
{
    struct put put = {.item = {.kind = ATTENDANCE_DOC,
                               .name = ATTENDANCE_NAME,
                               .json = json,
                               .expected_revision = -1}};
    put.request = (struct store_request){
        .op = STORE_PUT_DOC, .count = 1, .items.docs = &put.item, .done = put_done};
    store_submit(world->store, &put.request);
    store_dispatch(world->store);
    assert_int_equal(put.item.result, PUT_OK);
}

/* The agent ends when the time of its stop is in the store. */
static void test_stop_waits_for_its_mark(void **state)
{
    struct world *world = *state;
    world_pass(world, 109 * SECOND);
    assert_true(engine_is_idle(world->engine));
    world->door_op = STORE_PUT_DOC;
    world->door = DOOR_HELD;
    engine_drain(world->engine);
    world_pass(world, SECOND);
    assert_false(engine_is_idle(world->engine));
    world->door = DOOR_OPEN;
    world_pass(world, SECOND);
    assert_true(engine_is_idle(world->engine));
}

/* Data of an older peal has none, and a mark that can't be read says nothing: what is less than
 * 30 s late runs. */
static void test_no_mark(void **state)
{
    static const char *const marks[] = {NULL, "{}", "\"what\"", "{\"until_ms\": -1}"};
    (void)state;
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        struct world *world = world_new();
        add_job(world, "* * * * *", "catch_up: skip\n");
        world_pass(world, 100 * SECOND);
        world_sleep(world, 40 * SECOND);
        put_mark(world, marks[i]);
        world_restart(world);
        world_pass(world, SECOND);
        expect_ends(world, __LINE__, START_MS + 100 * SECOND, world->now.wall.ms,
                    "1 tick 120-120; ");
        world_sleep(world, 75 * SECOND); /* and now there is one */
        world_restart(world);
        world_pass(world, SECOND);
        assert_int_equal(world_passed(world, "j", RUN_MISSED, REASON_CATCH_UP), 1);
        world_free(world);
    }
}

/* The clock was ahead when the agent was last there: the mark is no absence, and is written anew.
 */
static void test_mark_ahead(void **state)
{
    struct world *world = *state;
    add_job(world, "* * * * *", "catch_up: skip\n");
    world_pass(world, 50 * SECOND);
    world_set_clock(world, 100 * SECOND);
    world_pass(world, SECOND);
    world_set_clock(world, -100 * SECOND);
    world_pass(world, 3 * MINUTE);
    assert_int_equal(world_count(world, "j", RUN_OK), 3);
    world_sleep(world, 75 * SECOND);
    int64_t back_ms = world->now.wall.ms;
    world_restart(world);
    world_pass(world, SECOND);
    assert_int_equal(world_count(world, "j", RUN_OK), 3);
    assert_true(back_ms > START_MS);
}

/* The store takes no marks for a while: ticks go on for as long as the last one is fresh. What
 * falls due later is an absence's, as it is for nodes that can't know of this one. Marks whose
 * answers are lost count, since the feed brings them. */
static void test_marks_are_lost(void **state)
{
    struct world *world = *state;
    add_job(world, "@every 5s", "overlap: allow\ncatch_up: skip\n");
    world_pass(world, 100 * SECOND);
    world->door_op = STORE_PUT_DOC;
    world->door_status = E_UNREACHABLE;
    world->door = DOOR_BROKEN;
    world_pass(world, 10 * MINUTE);
    world->door = DOOR_ONE_WAY;
    world_pass(world, MINUTE);
    world->door = DOOR_OPEN;
    world_pass(world, MINUTE + SECOND);
    assert_int_equal(world_count(world, "j", RUN_OK), (100 + 15 + 60 + 60) / 5);
    assert_int_equal(world_passed(world, "j", RUN_MISSED, REASON_CATCH_UP), (600 - 15) / 5);
}

/* An agent is back after an absence and can't start anything yet, a person adds a job through it,
 * which has a cursor of now, and the agent dies. For the next one nobody was there since before. */
static void test_cursors_prove_nothing(void **state)
{
    struct world *world = *state;
    add_job(world, "@every 5s", "overlap: allow\ncatch_up: skip\n");
    world_pass(world, 100 * SECOND);
    world_sleep(world, 75 * SECOND);
    world->health = E_IO;
    world_restart(world);
    world_add(world, "name: k\nschedule: '@daily'\ncommand: [/bin/true]\n");
    world->health = OK;
    world_restart(world);
    world_pass(world, SECOND);
    expect_ends(world, __LINE__, START_MS + 100 * SECOND, world->now.wall.ms,
                "missed catch_up x15; ");
}

/* After 20 s, which is no absence: no tick is claimed before a mark says that somebody is there. */
static void test_claims_wait_for_the_mark(void **state)
{
    struct world *world = *state;
    add_job(world, "@every 5s", "overlap: allow\ncatch_up: skip\n");
    world_pass(world, 100 * SECOND);
    world_sleep(world, 20 * SECOND);
    world->door_op = STORE_PUT_DOC;
    world->door_status = E_UNREACHABLE;
    world->door = DOOR_BROKEN;
    world_restart(world);
    world_pass(world, 3 * SECOND);
    assert_int_equal(world_count(world, "j", RUN_OK), 20);
    world->door = DOOR_OPEN;
    world_pass(world, SECOND);
    expect_ends(world, __LINE__, START_MS + 100 * SECOND, world->now.wall.ms, "4 tick 105-120; ");
}

/* ---- somebody is there, and can't start anything ---- */

static void drain(struct world *world, bool drained)
{
    struct store_drain item = {.drained = drained, .by = "me"};
    snprintf(item.node, sizeof(item.node), "%s", world->config.node);
    struct store_request request = {
        .op = STORE_DRAIN, .count = 1, .items.drains = &item, .done = put_done};
    store_submit(world->store, &request);
    store_dispatch(world->store);
}

enum trouble { DISK_FULL, ETCD_FULL, AWAY, DRAINED, DOUBTED };

static void set_trouble(struct world *world, enum trouble trouble, bool is_on)
{
    static const enum status healths[] = {
        [DISK_FULL] = E_IO, [ETCD_FULL] = E_BUSY, [AWAY] = E_UNREACHABLE};
    if (trouble == DRAINED)
        drain(world, is_on);
    else if (trouble == DOUBTED)
        world_set_clock(world, is_on ? (int64_t)HOUR : -(int64_t)HOUR);
    else
        world->health = is_on ? healths[trouble] : OK;
}

/* From 00:01:40 on, for so long. What is held up for less than 30 s runs one after the other, and
 * overlaps with nothing; of the rest the reason is true. */
static void test_true_reasons(void **state)
{
    static const struct {
        int line;
        enum trouble trouble;
        const char *schedule, *more;
        int64_t lasts_ms;
        const char *want;
    } rows[] = {
        {__LINE__, DISK_FULL, "@every 5s", "catch_up: skip\n", 20 * SECOND, "4 tick 105-120; "},
        {__LINE__, DISK_FULL, "@every 5s", "", 29 * SECOND, "5 tick 105-125; "},
        {__LINE__, DISK_FULL, "@every 5s", "overlap: allow\n", 20 * SECOND, "4 tick 105-120; "},
        {__LINE__, DISK_FULL, "@every 5s", "overlap: queue\n", 20 * SECOND, "4 tick 105-120; "},
        {__LINE__, DISK_FULL, "@every 5s", "catch_up: skip\n", 75 * SECOND,
         "missed disk_full x15; "},
        {__LINE__, DISK_FULL, "@every 5s", "", 75 * SECOND,
         "1 catch_up 175-175; missed disk_full x14; "},
        {__LINE__, DISK_FULL, "@every 5s", "catch_up: {policy: all, limit: 3}\n", 75 * SECOND,
         "3 catch_up 165-175; missed disk_full x12; "},
        {__LINE__, DISK_FULL, "@every 5s", "catch_up: {policy: all, window: 12s}\n", 75 * SECOND,
         "3 catch_up 165-175; missed disk_full x12; "},
        {__LINE__, DISK_FULL, "* * * * *", "catch_up: skip\n", 2 * HOUR, "missed disk_full x120; "},
        {__LINE__, ETCD_FULL, "* * * * *", "catch_up: skip\n", 75 * SECOND,
         "missed disk_full x1; "},
        {__LINE__, AWAY, "@every 5s", "catch_up: skip\n", 20 * SECOND, "4 tick 105-120; "},
        {__LINE__, AWAY, "@every 5s", "catch_up: skip\n", 75 * SECOND, "missed store_away x15; "},
        {__LINE__, AWAY, "* * * * *", "", 75 * SECOND, "1 catch_up 120-120; "},
        {__LINE__, DRAINED, "@every 5s", "catch_up: skip\n", 20 * SECOND, "4 tick 105-120; "},
        {__LINE__, DRAINED, "@every 5s", "", 29 * SECOND, "5 tick 105-125; "},
        {__LINE__, DRAINED, "@every 5s", "catch_up: skip\n", 75 * SECOND, "missed drained x15; "},
        {__LINE__, DRAINED, "@every 5s", "", 75 * SECOND,
         "1 catch_up 175-175; missed drained x14; "},
        {__LINE__, DOUBTED, "@every 5s", "catch_up: skip\n", 75 * SECOND,
         "missed clock_doubted x15; "},
        {__LINE__, DOUBTED, "* * * * *", "", 75 * SECOND, "1 catch_up 120-120; "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world *world = world_new();
        add_job(world, rows[i].schedule, rows[i].more);
        world_pass(world, 100 * SECOND);
        set_trouble(world, rows[i].trouble, true);
        world_pass(world, rows[i].lasts_ms);
        assert_int_equal(engine_hindrance(world->engine, NULL) == REASON_NONE, false);
        set_trouble(world, rows[i].trouble, false);
        int64_t back_ms = world->now.wall.ms;
        world_pass(world, SECOND - 200);
        assert_int_equal(engine_hindrance(world->engine, NULL), REASON_NONE);
        expect_ends(world, rows[i].line, START_MS + 100 * SECOND, back_ms, rows[i].want);
        world_pass(world, MINUTE);
        world_check(world);
        world_free(world);
    }
}

/* The run that is in the way was there before: that is the reason, and no other. */
static void test_still_under_way(void **state)
{
    struct world *world = *state;
    world->duration_ms = 2 * MINUTE;
    add_job(world, "* * * * *", "");
    world_pass(world, 61 * SECOND);
    world->health = E_IO;
    world_pass(world, 40 * SECOND);
    world->health = OK;
    world_pass(world, 30 * SECOND);
    assert_int_equal(world_passed(world, "j", RUN_SKIPPED, REASON_OVERLAP) +
                         (int64_t)world_count(world, "j", RUN_SKIPPED),
                     1);
}

/* ---- several nodes ---- */

/* All return together: whichever has a tick judges it by the same absence. */
static void test_all_nodes_are_away(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(3);
    struct world *first = cluster->nodes[0];
    add_job(first, "* * * * *", "catch_up: skip\n");
    cluster_pass_to(cluster, 40 * SECOND);
    int64_t from_ms = first->now.wall.ms;
    for (size_t i = 0; i < cluster->count; i++)
        cluster_freeze(cluster->nodes[i]);
    cluster_pass(cluster, 45 * SECOND);
    for (size_t i = 0; i < cluster->count; i++)
        cluster_thaw(cluster, cluster->nodes[i]);
    cluster_pass(cluster, 10 * SECOND);
    assert_true(first->now.wall.ms - from_ms > 45 * SECOND);
    assert_int_equal(cluster_starts(cluster, "j"), 0);
    assert_int_equal(cluster_passed(cluster, "j", RUN_MISSED, REASON_CATCH_UP), 1);
    cluster_pass(cluster, MINUTE);
    assert_int_equal(cluster_starts(cluster, "j"), 1);
    cluster_free(cluster);
}

/* One stays: nobody was away. And who leads is frozen or drained: another one attends. */
static void test_one_node_stays(void **state)
{
    (void)state;
    for (int is_drained = 0; is_drained < 2; is_drained++) {
        struct cluster *cluster = cluster_new(3);
        add_job(cluster->nodes[0], "@every 5s", "overlap: allow\ncatch_up: skip\n");
        cluster_pass_to(cluster, 40 * SECOND);
        size_t before = cluster_starts(cluster, "j");
        for (size_t i = 0; i < 2; i++) {
            if (is_drained) {
                cluster_drain(cluster, cluster->nodes[i], true);
            } else {
                cluster_freeze(cluster->nodes[i]);
                cluster_expire(cluster->nodes[i]);
            }
        }
        cluster_pass(cluster, 5 * MINUTE);
        assert_int_equal(cluster_starts(cluster, "j") - before, 60);
        for (size_t i = 0; i < 2; i++) {
            if (is_drained)
                cluster_drain(cluster, cluster->nodes[i], false);
            else
                cluster_thaw(cluster, cluster->nodes[i]);
        }
        cluster_pass(cluster, MINUTE);
        assert_int_equal(cluster_starts(cluster, "j") - before, 72);
        assert_int_equal(cluster_passed(cluster, "j", RUN_MISSED, REASON_CATCH_UP), 0);
        cluster_check(cluster);
        cluster_free(cluster);
    }
}

/* A node that comes to others that have been there all the time. */
static void test_joins_a_healthy_cluster(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    add_job(cluster->nodes[0], "@every 5s", "overlap: allow\ncatch_up: skip\n");
    cluster_pass_to(cluster, 40 * SECOND);
    size_t before = cluster_starts(cluster, "j");
    cluster_pass(cluster, MINUTE);
    cluster_join(cluster, "", 0);
    cluster_pass(cluster, MINUTE);
    assert_int_equal(cluster_starts(cluster, "j") - before, 24);
    cluster_free(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed),
        WITH_WORLD(test_suspended),
        cmocka_unit_test(test_stopped_in_order),
        WITH_WORLD(test_stop_waits_for_its_mark),
        cmocka_unit_test(test_no_mark),
        WITH_WORLD(test_mark_ahead),
        WITH_WORLD(test_marks_are_lost),
        WITH_WORLD(test_cursors_prove_nothing),
        WITH_WORLD(test_claims_wait_for_the_mark),
        cmocka_unit_test(test_true_reasons),
        WITH_WORLD(test_still_under_way),
        cmocka_unit_test(test_all_nodes_are_away),
        cmocka_unit_test(test_one_node_stays),
        cmocka_unit_test(test_joins_a_healthy_cluster),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
