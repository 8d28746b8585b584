/* A node goes away: what becomes of what it had. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"

#define MINUTELY(name) "name: " name "\nschedule: '* * * * *'\ncommand: [/bin/true]\n"

/* ---- claimed ---- */

/* The node claims the next tick of the job, and goes away before it begins it. */
static struct world *claim_and_freeze(struct cluster *cluster, const struct id *uid)
{
    struct world *first = cluster_first_for(cluster, uid);
    first->door = DOOR_HELD;
    first->door_op = STORE_BEGIN;
    cluster_pass_to(cluster, 60000 - 10);
    assert_int_equal(engine_open_runs(first->engine), 1);
    cluster_freeze(first);
    return first;
}

static void is_taken_over(int64_t duration_ms)
{
    struct cluster *cluster = cluster_new(3);
    for (size_t i = 0; i < 3; i++)
        cluster->nodes[i]->duration_ms = duration_ms;
    struct id uid = world_add(cluster->nodes[0], MINUTELY("job"));
    struct world *first = claim_and_freeze(cluster, &uid), *node;
    cluster_pass(cluster, STEP_IN_MS - 100);
    assert_int_equal(cluster_starts(cluster, "job"), 0); /* its begin may still come */
    cluster_pass(cluster, 5000);
    const struct world_process *process = cluster_process(cluster, "job", &node);
    assert_ptr_not_equal(node, first);
    assert_in_range(process->started_ms - process->tick_ms, STEP_IN_MS, STEP_IN_MS + 20);
    cluster_expire(first); /* which nobody has waited for */
    /* Back again, it learns that the run is not its own; its begin comes before that. */
    first->door = DOOR_OPEN;
    cluster_thaw(cluster, first);
    assert_int_equal(engine_open_runs(first->engine), 0);
    cluster_pass(cluster, 20000);
    assert_int_equal(cluster_starts(cluster, "job"), 1);
    assert_int_equal(cluster_count(cluster, "job", RUN_OK), 1);
    assert_int_equal(world_count(node, "job", RUN_OK), 1);
    for (size_t i = 0; i < 3; i++)
        assert_true(engine_is_idle(cluster->nodes[i]->engine));
    cluster_free(cluster);
}

/* When its node comes back, it has ended, or is still running. */
static void a_claimed_run_is_taken_over(void **state)
{
    (void)state;
    is_taken_over(10);
    is_taken_over(9000);
}

/* The id of the only run that the node owns. */
static void note_own(void *context, const struct run *run)
{
    if (run->state == RUN_CLAIMED)
        *(struct id *)context = run->id;
}

/* It hears that its claim is to be killed, and says so too late: by then the run is another's, and
 * has the end that it had there. */
static void an_end_that_comes_after_a_takeover_does_not_count(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    struct id run_id = {{0}}, uid = world_add(cluster->nodes[0], MINUTELY("job"));
    struct world *first = cluster_first_for(cluster, &uid);
    struct world *other = cluster->nodes[first == cluster->nodes[0]];
    first->door = DOOR_BROKEN;
    first->door_op = STORE_BEGIN;
    first->door_status = E_UNREACHABLE;
    cluster_pass_to(cluster, 60000 - 50);
    engine_each_open_run(first->engine, note_own, &run_id);
    cluster_freeze(first);
    world_kill(other, &run_id);
    first->door = DOOR_HELD;
    first->door_op = STORE_FINISH;
    cluster_thaw(cluster, first);
    cluster_pass(cluster, 2000); /* its end is on the way */
    cluster_freeze(first);
    cluster_expire(first);
    cluster_pass(cluster, 5000);
    assert_int_equal(world_count(other, "job", RUN_SKIPPED), 1);
    first->door = DOOR_OPEN;
    cluster_thaw(cluster, first);
    cluster_pass(cluster, 5000);
    assert_int_equal(cluster_count(cluster, "job", RUN_KILLED), 0);
    assert_int_equal(cluster_count(cluster, "job", RUN_SKIPPED), 1);
    assert_true(engine_is_idle(first->engine));
    cluster_free(cluster);
}

/* Its begin comes first after all: the other leaves it alone. */
static void it_comes_back_in_time(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    struct id uid = world_add(cluster->nodes[0], MINUTELY("job"));
    struct world *first = claim_and_freeze(cluster, &uid), *node;
    struct world *other = cluster->nodes[first == cluster->nodes[0]];
    cluster_freeze(other);
    cluster_expire(first);
    first->door = DOOR_OPEN;
    cluster_thaw(cluster, first); /* begins */
    cluster_pass(cluster, 100);
    cluster_thaw(cluster, other); /* hears all at once: gone, back, begun */
    cluster_pass(cluster, 5000);
    cluster_process(cluster, "job", &node);
    assert_ptr_equal(node, first);
    assert_int_equal(world_count(first, "job", RUN_OK), 1);
    cluster_free(cluster);
}

/* Begin and takeover cross each other: of two nodes that want to start it, the store lets one. */
static void begin_and_takeover_cross(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    struct id uid = world_add(cluster->nodes[0], MINUTELY("job"));
    struct world *first = claim_and_freeze(cluster, &uid), *node;
    struct world *other = cluster->nodes[first == cluster->nodes[0]];
    other->door = DOOR_HELD;
    other->door_op = STORE_TAKE;
    cluster_expire(first);
    cluster_pass(cluster, 1000); /* the take waits outside */
    first->door = DOOR_OPEN;
    cluster_thaw(cluster, first);
    other->door = DOOR_OPEN;
    cluster_pass(cluster, 5000);
    cluster_process(cluster, "job", &node);
    assert_ptr_equal(node, first);
    assert_int_equal(cluster_count(cluster, "job", RUN_OK), 1);
    assert_true(engine_is_idle(other->engine));
    cluster_free(cluster);
}

/* The answer to the takeover is lost: the feed tells. */
static void a_takeover_without_an_answer(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    struct id uid = world_add(cluster->nodes[0], MINUTELY("job"));
    struct world *first = claim_and_freeze(cluster, &uid), *node;
    struct world *other = cluster->nodes[first == cluster->nodes[0]];
    other->door = DOOR_ONE_WAY;
    other->door_op = STORE_TAKE;
    cluster_expire(first);
    cluster_pass(cluster, 2000);
    cluster_process(cluster, "job", &node);
    assert_ptr_equal(node, other);
    cluster_free(cluster);
}

/* The only node that may run the job joins, claims its tick, and is gone before the begin. */
static struct world *claim_where_nobody_follows(struct cluster *cluster)
{
    struct world *gpu = cluster_join(cluster, "gpu", 0);
    cluster_pass(cluster, 5000);
    world_add(cluster->nodes[0], MINUTELY("job") "where: gpu\n");
    gpu->door = DOOR_HELD;
    gpu->door_op = STORE_BEGIN;
    cluster_pass_to(cluster, 60000 - 50);
    assert_int_equal(engine_open_runs(gpu->engine), 1);
    cluster_freeze(gpu);
    cluster_expire(gpu);
    return gpu;
}

/* Nobody may take it over: the leader ends it when it is too late, also if its answers come late,
 * or not at all, and the feed tells first that the run is its own now. */
static void nobody_takes_it_over_in_time(void **state)
{
    (void)state;
    static const enum door doors[] = {DOOR_OPEN, DOOR_SLOW, DOOR_ONE_WAY};
    for (size_t i = 0; i < sizeof(doors) / sizeof(doors[0]); i++) {
        struct cluster *cluster = cluster_new(2);
        struct world *gpu = claim_where_nobody_follows(cluster), *leader = cluster->nodes[0];
        leader->door = doors[i];
        leader->door_op = STORE_TAKE;
        cluster_pass(cluster, 30000);
        assert_int_equal(cluster_count(cluster, "job", RUN_MISSED), 0);
        cluster_pass(cluster, 1000);
        leader->door = DOOR_OPEN;
        cluster_pass(cluster, 1000);
        assert_int_equal(world_count(leader, "job", RUN_MISSED), 1);
        assert_int_equal(leader->runs[0].reason, REASON_DEADLINE);
        gpu->door = DOOR_OPEN;
        cluster_thaw(cluster, gpu);
        cluster_pass(cluster, 10000);
        assert_int_equal(cluster_starts(cluster, "job"), 0);
        assert_int_equal(cluster_count(cluster, "job", RUN_MISSED), 1);
        cluster_free(cluster);
    }
}

/* The claim was made by clocks that were an hour ahead: it does not wait for that hour. */
static void nobody_takes_over_what_a_wrong_clock_claimed(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    claim_where_nobody_follows(cluster);
    for (size_t i = 0; i < cluster->count; i++)
        world_set_clock(cluster->nodes[i], -3600 * 1000);
    cluster_pass(cluster, 50000);
    assert_int_equal(cluster_count(cluster, "job", RUN_MISSED), 1);
    cluster_free(cluster);
}

/* What somebody asked for is never too late; but without a node that may run it, it ends too, and
 * no later when the agent that leads is restarted meanwhile. */
static void check_asked_for(bool is_restarted)
{
    struct cluster *cluster = cluster_new(2);
    struct world *gpu = cluster_join(cluster, "gpu", 0), *leader = cluster->nodes[0];
    cluster_pass(cluster, 5000);
    struct id uid = world_add(leader, "name: job\nschedule: '@manual'\ncommand: [/bin/true]\n"
                                      "where: gpu\ndeadline: 2m\n");
    gpu->door = DOOR_HELD;
    gpu->door_op = STORE_BEGIN;
    assert_true(world_trigger(leader, &uid));
    cluster_pass(cluster, 1000);
    assert_int_equal(engine_open_runs(gpu->engine), 1);
    cluster_freeze(gpu);
    cluster_expire(gpu);
    cluster_pass(cluster, 59000);
    if (is_restarted)
        world_restart(leader);
    cluster_pass(cluster, 59000); /* it counts from the claim */
    assert_int_equal(cluster_count(cluster, "job", RUN_MISSED), 0);
    cluster_pass(cluster, 3000);
    assert_int_equal(world_count(leader, "job", RUN_MISSED), 1);
    cluster_free(cluster);
}

static void nobody_may_take_over_what_was_asked_for(void **state)
{
    (void)state;
    check_asked_for(false);
    check_asked_for(true);
}

/* ---- begun ---- */

/* The second node runs the job for `duration_ms`, and goes away two seconds into it. */
static struct cluster *with_a_lost_run(int64_t duration_ms)
{
    struct cluster *cluster = cluster_new(1);
    struct world *runs = cluster_join(cluster, "there", 0);
    cluster_pass(cluster, 5000);
    runs->duration_ms = duration_ms;
    world_add(cluster->nodes[0], "name: job\nschedule: '@at 2026-01-01T00:01:00Z'\n"
                                 "command: [/bin/true]\nwhere: there\n");
    cluster_pass_to(cluster, 2000);
    assert_int_equal(runs->process_count, 1);
    cluster_freeze(runs);
    cluster_expire(runs);
    const struct run *run = engine_find_run(cluster->nodes[0]->engine, &runs->processes[0].run_id);
    assert_int_equal(run->state, RUN_BEGUN);
    cluster_pass(cluster, 100); /* its lease has run out: there is nothing more to wait for */
    assert_int_equal(run->state, RUN_LOST);
    assert_int_equal(run->reason, REASON_NODE_DIED);
    assert_string_equal(run->node, "node-2");
    assert_string_equal(run->detail, "node node-2 is gone");
    return cluster;
}

static struct catalog_job *job_of(const struct cluster *cluster)
{
    return catalog_by_name(engine_catalog(cluster->nodes[0]->engine), "job");
}

static void a_lost_run_is_amended(void **state)
{
    (void)state;
    struct cluster *cluster = with_a_lost_run(20000);
    struct world *runs = cluster->nodes[1];
    assert_int_equal(job_of(cluster)->open_runs, 0); /* nobody waits for it */
    assert_int_equal(job_of(cluster)->last.state, RUN_LOST);
    cluster_pass(cluster, 5000);
    cluster_thaw(cluster, runs);
    cluster_pass(cluster, 5000);
    assert_int_equal(engine_open_runs(runs->engine), 1); /* it goes on */
    cluster_pass(cluster, 20000);
    assert_int_equal(job_of(cluster)->last.state, RUN_OK);
    assert_int_equal(world_count(runs, "job", RUN_OK), 1);
    assert_int_equal(runs->run_count, 1);
    assert_int_equal(cluster->nodes[0]->run_count, 0);
    for (size_t i = 0; i < 2; i++)
        assert_null(engine_find_run(cluster->nodes[i]->engine, &runs->processes[0].run_id));
    cluster_free(cluster);
}

/* It had ended before it was taken for lost, while its node could not say so. */
static void a_run_that_ended_before_it_was_lost_is_amended(void **state)
{
    (void)state;
    struct cluster *cluster = with_a_lost_run(3000);
    assert_int_equal(job_of(cluster)->last.state, RUN_LOST);
    cluster_thaw(cluster, cluster->nodes[1]);
    cluster_pass(cluster, 5000);
    assert_int_equal(job_of(cluster)->last.state, RUN_OK);
    assert_int_equal(world_count(cluster->nodes[1], "job", RUN_OK), 1);
    cluster_free(cluster);
}

/* Its agent was killed: the new one finds the process, and goes on with it. */
static void a_restarted_node_finds_its_lost_run(void **state)
{
    (void)state;
    struct cluster *cluster = with_a_lost_run(20000);
    struct world *runs = cluster->nodes[1];
    runs->frozen = false;
    world_restart(runs);
    const struct run *run = engine_find_run(runs->engine, &runs->processes[0].run_id);
    assert_int_equal(run->state, RUN_RUNNING);
    assert_int_equal(run->reason, REASON_NONE);
    cluster_pass(cluster, 30000);
    assert_int_equal(world_count(runs, "job", RUN_OK), 1);
    assert_int_equal(runs->run_count, 1);
    assert_int_equal(job_of(cluster)->last.state, RUN_OK);
    cluster_free(cluster);
}

/* The machine was rebooted: nobody knows more. */
static void a_rebooted_node_records_its_loss(void **state)
{
    (void)state;
    struct cluster *cluster = with_a_lost_run(20000);
    struct world *runs = cluster->nodes[1];
    struct id run_id = runs->processes[0].run_id;
    runs->frozen = false;
    runs->process_count = 0;
    runs->now.boot.ms = 1000;
    world_restart(runs);
    cluster_pass(cluster, 5000);
    assert_int_equal(world_count(runs, "job", RUN_LOST), 1);
    assert_int_equal(cluster->nodes[0]->run_count, 0);
    assert_null(engine_find_run(cluster->nodes[0]->engine, &run_id));
    assert_true(engine_is_idle(runs->engine));
    cluster_free(cluster);
}

/* Its agent was killed between the begin and the start. The spawner, which writes down what it is
 * to start, does not know the run: it was never started. */
static void a_lost_run_that_never_started_is_missed(void **state)
{
    (void)state;
    struct cluster *cluster = with_a_lost_run(20000);
    struct world *runs = cluster->nodes[1];
    runs->frozen = false;
    runs->process_count = 0;
    world_restart(runs);
    cluster_pass(cluster, 5000);
    assert_int_equal(world_count(runs, "job", RUN_MISSED), 1);
    assert_int_equal(runs->runs[0].reason, REASON_START_WINDOW);
    assert_int_equal(world_count(runs, "job", RUN_LOST), 0);
    cluster_free(cluster);
}

/* Another agent leads when the node dies, or starts to lead afterwards. */
static void the_next_leader_sweeps(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(3);
    world_add(cluster->nodes[0], MINUTELY("job"));
    for (size_t i = 0; i < 3; i++)
        cluster->nodes[i]->duration_ms = 300000;
    cluster_pass_to(cluster, 1000);
    struct world *node;
    cluster_process(cluster, "job", &node);
    if (node != cluster->nodes[0])
        cluster_freeze(cluster->nodes[0]); /* the leader, who is thought to be there */
    cluster_freeze(node);
    cluster_expire(node);
    cluster_pass(cluster, 3000);
    if (node != cluster->nodes[0])
        cluster_expire(cluster->nodes[0]);
    cluster_pass(cluster, 1100);
    struct world *last = cluster->nodes[2] == node ? cluster->nodes[1] : cluster->nodes[2];
    assert_true(engine_leads(cluster->nodes[1]->engine) || engine_leads(last->engine));
    const struct run *run = engine_find_run(last->engine, &node->processes[0].run_id);
    assert_int_equal(run->state, RUN_LOST);
    cluster_free(cluster);
}

/* ---- on record ---- */

static void count_one(void *context, const struct run *run)
{
    (void)run;
    ++*(size_t *)context;
}

/* Its node does not come back: the leader has it on record, and it is shown no more among those
 * that are under way; but it stays in the store. */
static struct cluster *with_an_adopted_run(int64_t duration_ms)
{
    struct cluster *cluster = with_a_lost_run(duration_ms);
    struct world *leader = cluster->nodes[0];
    size_t shown = 0;
    cluster_pass(cluster, 595000);
    assert_int_equal(leader->run_count, 0);
    engine_each_open_run(leader->engine, count_one, &shown);
    assert_int_equal(shown, 1);
    cluster_pass(cluster, 10000);
    assert_int_equal(world_count(leader, "job", RUN_LOST), 1);
    engine_each_open_run(leader->engine, count_one, &shown);
    assert_int_equal(shown, 1);
    assert_non_null(engine_find_run(leader->engine, &cluster->nodes[1]->processes[0].run_id));
    assert_true(engine_is_idle(leader->engine));
    return cluster;
}

static void expect_amended(struct cluster *cluster)
{
    struct world *leader = cluster->nodes[0], *runs = cluster->nodes[1];
    const struct last_run *last = &job_of(cluster)->last;
    assert_int_equal(last->state, RUN_OK);
    assert_int_equal(last->ended_ms, runs->runs[0].finished_ms);
    assert_int_equal(world_count(runs, "job", RUN_OK), 1);
    assert_int_equal(runs->run_count, 1);
    assert_int_equal(leader->run_count, 1);
    for (size_t i = 0; i < 2; i++) {
        assert_null(engine_find_run(cluster->nodes[i]->engine, &runs->processes[0].run_id));
        assert_true(engine_is_idle(cluster->nodes[i]->engine));
    }
    assert_true(runs->processes[0].acknowledged);
    cluster_free(cluster);
}

static void an_adopted_run_is_amended(void **state)
{
    (void)state;
    struct cluster *cluster = with_an_adopted_run(900000);
    struct world *runs = cluster->nodes[1];
    cluster_thaw(cluster, runs);
    assert_int_equal(engine_open_runs(runs->engine), 1);
    cluster_pass(cluster, 400000);
    expect_amended(cluster);
}

/* A new agent finds the process, or its end, days after the old one. */
static void an_adopted_run_is_amended_after_a_restart(void **state)
{
    static const int64_t days[] = {1, 6};
    (void)state;
    for (size_t i = 0; i < sizeof(days) / sizeof(days[0]); i++) {
        struct cluster *cluster = with_an_adopted_run(25 * 3600000LL);
        cluster_pass(cluster, days[i] * 86400000LL);
        cluster->nodes[1]->frozen = false;
        world_restart(cluster->nodes[1]);
        cluster_pass(cluster, 3600000);
        expect_amended(cluster);
    }
}

/* Nor does one wait that leads later, and has to put it on record once more. */
static void an_adopted_run_is_kept_by_the_next_leader(void **state)
{
    (void)state;
    struct cluster *cluster = with_an_adopted_run(86400000LL);
    world_restart(cluster->nodes[0]);
    cluster_pass(cluster, 86400000LL);
    assert_non_null(
        engine_find_run(cluster->nodes[0]->engine, &cluster->nodes[1]->processes[0].run_id));
    cluster->nodes[1]->frozen = false;
    world_restart(cluster->nodes[1]);
    cluster_pass(cluster, 5000);
    expect_amended(cluster);
}

/* A clock that is wrong for a while, by years, does not cut that short: nodes come meanwhile, so
 * that all runs are looked at. */
static void an_adopted_run_outlives_a_wrong_clock(void **state)
{
    static const int64_t wrong_ms[] = {-1000 * 86400000LL, 1000 * 86400000LL};
    (void)state;
    for (size_t i = 0; i < sizeof(wrong_ms) / sizeof(wrong_ms[0]); i++) {
        struct cluster *cluster = with_an_adopted_run(86400000LL);
        struct world *leader = cluster->nodes[0];
        world_set_clock(leader, wrong_ms[i]);
        cluster_pass(cluster, 5000);
        cluster_drain(cluster, cluster->nodes[1], true);
        cluster_pass(cluster, 60000);
        world_set_clock(leader, -wrong_ms[i]);
        cluster_drain(cluster, cluster->nodes[1], false);
        cluster_pass(cluster, 60000);
        assert_non_null(engine_find_run(leader->engine, &cluster->nodes[1]->processes[0].run_id));
        cluster_free(cluster);
    }
}

static void nobody_waits_for_ever(void **state)
{
    (void)state;
    struct cluster *cluster = with_an_adopted_run(900000);
    struct world *leader = cluster->nodes[0];
    struct id run_id = cluster->nodes[1]->processes[0].run_id;
    cluster_pass(cluster, 7 * 86400000LL - 700000);
    assert_non_null(engine_find_run(leader->engine, &run_id));
    cluster_pass(cluster, 700000);
    assert_null(engine_find_run(leader->engine, &run_id));
    assert_int_equal(leader->run_count, 1);
    cluster_free(cluster);
}

/* Its node comes back while the leader records it. */
static void a_run_is_amended_while_it_is_adopted(void **state)
{
    (void)state;
    struct cluster *cluster = with_a_lost_run(300000);
    struct world *leader = cluster->nodes[0], *runs = cluster->nodes[1];
    leader->history_away = true;
    cluster_pass(cluster, 605000);
    runs->history_away = true;
    cluster_thaw(cluster, runs);
    cluster_pass(cluster, 5000);
    const struct run *run = engine_find_run(leader->engine, &runs->processes[0].run_id);
    assert_int_equal(run->state, RUN_OK);
    runs->history_away = leader->history_away = false;
    cluster_pass(cluster, 5000);
    assert_int_equal(world_count(runs, "job", RUN_OK), 1);
    assert_int_equal(job_of(cluster)->last.state, RUN_OK);
    assert_true(engine_is_idle(leader->engine) && engine_is_idle(runs->engine));
    cluster_free(cluster);
}

/* What has ended, and the ticks that were passed over, by a node whose history is away. */
static void the_leader_adopts_entries(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(1);
    struct world *leader = cluster->nodes[0], *other = cluster_join(cluster, "there", 0);
    cluster_pass(cluster, 5000);
    other->history_away = true;
    other->duration_ms = 70000;
    world_add(leader, MINUTELY("job") "where: there\n");
    cluster_pass(cluster, 150000); /* one has ended, one was skipped by the overlap rule */
    cluster_freeze(other);
    cluster_expire(other);
    cluster_pass(cluster, 590000);
    assert_int_equal(cluster_passed(cluster, "job", RUN_SKIPPED, REASON_OVERLAP), 0);
    assert_int_equal(leader->run_count, 0);
    cluster_pass(cluster, 20000);
    assert_int_equal(world_passed(leader, "job", RUN_SKIPPED, REASON_OVERLAP), 1);
    assert_int_equal(world_count(leader, "job", RUN_OK), 1);
    cluster_free(cluster);
}

static void delete_job(struct job *job)
{
    job->deleted_ms = 1;
}

/* Runs that the store ended were nobody's: one of the nodes records them. */
static void the_leader_records_what_is_nobodys(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(3);
    for (size_t i = 0; i < 3; i++)
        cluster->nodes[i]->duration_ms = 500000;
    struct id uid = world_add(cluster->nodes[1], MINUTELY("job") "overlap: queue\n");
    cluster_pass(cluster, 4 * 60000);
    assert_int_equal(cluster_starts(cluster, "job"), 1);
    world_change(cluster->nodes[1], &uid, delete_job);
    cluster_pass(cluster, 1000);
    assert_int_equal(world_count(cluster->nodes[0], "job", RUN_SKIPPED), 3);
    assert_int_equal(cluster_count(cluster, "job", RUN_SKIPPED), 3);
    cluster_free(cluster);
}

/* ---- of a newer peal ---- */

/* A run in a state that this version has no word for: nobody here begins, kills, ends or forgets
 * it, whoever's it is, and however long its node is gone. */
static void a_run_in_an_unknown_state_is_left_alone(void **state)
{
    enum { MINUTE = 60 * 1000, UNKNOWN = 40 };
    struct world *world = world_new();
    struct id uid = world_add(world, MINUTELY("one"));
    const char *const nodes[] = {"", world->config.node, "ghost"};
    struct run runs[3];
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        runs[i] = (struct run){.id = {{1, (uint8_t)(i + 1)}},
                               .job_uid = uid,
                               .job_name = "one",
                               .tick_ms = world->now.wall.ms + 1,
                               .attempt = 1,
                               .state = (enum run_state)UNKNOWN,
                               .claimed_ms = world->now.wall.ms,
                               .nonce = 7};
        snprintf(runs[i].node, sizeof(runs[i].node), "%s", nodes[i]);
        world->fed = &runs[i];
        world_pass(world, MINUTE);
    }
    world_pass(world, 60 * MINUTE);
    for (size_t i = 0; i < 3; i++) {
        const struct run *known = engine_find_run(world->engine, &runs[i].id);
        assert_non_null(known);
        assert_int_equal(known->state, UNKNOWN);
        for (size_t k = 0; k < world->process_count; k++)
            assert_int_not_equal(id_compare(&world->processes[k].run_id, &runs[i].id), 0);
        for (size_t k = 0; k < world->run_count; k++)
            assert_int_not_equal(id_compare(&world->runs[k].id, &runs[i].id), 0);
    }
    assert_int_equal(world->kills, 0);
    assert_in_range(world_count(world, "one", RUN_OK), 60, 64); /* the others went on */

    runs[2].state = RUN_OK; /* whoever knows the state has ended it */
    runs[2].finished_ms = world->now.wall.ms;
    world->fed = &runs[2];
    world_pass(world, MINUTE);
    const struct run *ended = engine_find_run(world->engine, &runs[2].id);
    assert_true(!ended || ended->state == RUN_OK);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_claimed_run_is_taken_over),
        cmocka_unit_test(an_end_that_comes_after_a_takeover_does_not_count),
        cmocka_unit_test(it_comes_back_in_time),
        cmocka_unit_test(begin_and_takeover_cross),
        cmocka_unit_test(a_takeover_without_an_answer),
        cmocka_unit_test(nobody_takes_it_over_in_time),
        cmocka_unit_test(nobody_takes_over_what_a_wrong_clock_claimed),
        cmocka_unit_test(nobody_may_take_over_what_was_asked_for),
        cmocka_unit_test(a_lost_run_is_amended),
        cmocka_unit_test(a_run_that_ended_before_it_was_lost_is_amended),
        cmocka_unit_test(a_restarted_node_finds_its_lost_run),
        cmocka_unit_test(a_rebooted_node_records_its_loss),
        cmocka_unit_test(a_lost_run_that_never_started_is_missed),
        cmocka_unit_test(the_next_leader_sweeps),
        cmocka_unit_test(an_adopted_run_is_amended),
        cmocka_unit_test(an_adopted_run_is_amended_after_a_restart),
        cmocka_unit_test(an_adopted_run_is_kept_by_the_next_leader),
        cmocka_unit_test(an_adopted_run_outlives_a_wrong_clock),
        cmocka_unit_test(nobody_waits_for_ever),
        cmocka_unit_test(a_run_is_amended_while_it_is_adopted),
        cmocka_unit_test(the_leader_adopts_entries),
        cmocka_unit_test(the_leader_records_what_is_nobodys),
        cmocka_unit_test(a_run_in_an_unknown_state_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
