/* Workflows: instances and steps, from the claim of the tick to the end of the last step; what ends
 * without a start, fan-outs, values, retries, kills and time-outs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND };

#define WORKFLOW         "name: w\nschedule: '0 * * * * *'\n"
#define STEP(name, more) "  - {name: " name ", command: [x, '-']" more "}\n"

/* ---- what came of it ---- */

/* On record, of any node: the last attempt at the step, "" the instance; NULL: there is none. */
static const struct run *record(const struct cluster *cluster, const char *step)
{
    const struct run *found = NULL;
    for (size_t n = 0; n < cluster->count; n++) {
        const struct world *world = cluster->nodes[n];
        for (size_t i = 0; i < world->run_count; i++) {
            const struct run *run = &world->runs[i];
            if (strcmp(run->step, step) == 0 && (!found || run->attempt > found->attempt))
                found = run;
        }
    }
    return found;
}

static size_t starts_of(const struct cluster *cluster, const char *step)
{
    size_t count = 0;
    for (size_t n = 0; n < cluster->count; n++)
        for (size_t i = 0; i < cluster->nodes[n]->process_count; i++)
            count += strcmp(cluster->nodes[n]->processes[i].step, step) == 0;
    return count;
}

/* The last one. */
static const struct world_process *process_of(const struct cluster *cluster, const char *step)
{
    const struct world_process *found = NULL;
    for (size_t n = 0; n < cluster->count; n++)
        for (size_t i = 0; i < cluster->nodes[n]->process_count; i++)
            if (strcmp(cluster->nodes[n]->processes[i].step, step) == 0)
                found = &cluster->nodes[n]->processes[i];
    assert_non_null(found);
    return found;
}

static void assert_end(const struct cluster *cluster, int line, const char *step,
                       enum run_state state, enum run_reason reason)
{
    const struct run *run = record(cluster, step);
    if (!run || run->state != state || run->reason != reason)
        print_error("line %d: step '%s' is %s (%s): %s\n", line, step,
                    run ? run_state_name(run->state) : "not on record",
                    run ? run_reason_name(run->reason) : "", run ? run->detail : "");
    assert_non_null(run);
    assert_int_equal(run->state, state);
    assert_int_equal(run->reason, reason);
}
#define ENDS(cluster, step, state, reason) assert_end(cluster, __LINE__, step, state, reason)

/* Nothing of the workflow is in the store any more. */
static void count_open(void *context, const struct run *run)
{
    (void)run;
    ++*(size_t *)context;
}

static size_t open_runs(const struct cluster *cluster)
{
    size_t count = 0;
    engine_each_open_run(cluster->nodes[0]->engine, count_open, &count);
    return count;
}

/* Up to its first tick; then so long. */
static struct cluster *play(size_t nodes, const char *yaml, void (*prepare)(struct world *node),
                            int64_t ms)
{
    struct cluster *cluster = cluster_new(nodes);
    for (size_t i = 0; prepare && i < nodes; i++)
        prepare(cluster->nodes[i]);
    world_add(cluster->nodes[0], yaml);
    cluster_pass_to(cluster, 0);
    cluster_pass(cluster, ms);
    return cluster;
}

/* ---- in which order ---- */

static void steps_follow_each_other(void **state)
{
    (void)state;
    for (size_t nodes = 1; nodes <= 3; nodes += 2) {
        struct cluster *cluster = play(nodes,
                                       WORKFLOW "steps:\n" STEP("a", "") STEP("b", ", after: a")
                                           STEP("c", ", after: a") STEP("d", ", after: [b, c]"),
                                       NULL, 20 * SECOND);
        const char *const steps[] = {"a", "b", "c", "d"};
        for (size_t i = 0; i < 4; i++) {
            ENDS(cluster, steps[i], RUN_OK, REASON_NONE);
            assert_int_equal(starts_of(cluster, steps[i]), 1);
            assert_int_equal(record(cluster, steps[i])->cause, CAUSE_STEP);
        }
        ENDS(cluster, "", RUN_OK, REASON_NONE);
        assert_true(process_of(cluster, "a")->started_ms >= process_of(cluster, "a")->tick_ms);
        assert_true(process_of(cluster, "b")->started_ms >= record(cluster, "a")->finished_ms);
        assert_true(process_of(cluster, "d")->started_ms >= record(cluster, "b")->finished_ms);
        assert_true(process_of(cluster, "d")->started_ms >= record(cluster, "c")->finished_ms);
        assert_int_equal(open_runs(cluster), 0);
        assert_int_equal(starts_of(cluster, ""), 0);
        cluster_free(cluster);
    }
}

static int fails_a(const char *step, int attempt)
{
    (void)attempt;
    return strcmp(step, "a") == 0 ? 3 : 0;
}

static void a_fails(struct world *node)
{
    node->exits = fails_a;
}

static void what_is_not_met_is_skipped(void **state)
{
    (void)state;
    struct cluster *cluster = play(
        3,
        WORKFLOW "steps:\n" STEP("a", "") STEP("ok", ", after: a") STEP("then", ", after: ok")
            STEP("handler", ", after: [{step: a, on: failure}]")
                STEP("always", ", after: [{step: a, on: always}]")
                    STEP("any", ", after: [ok, handler], join: any") "finally:\n" STEP("last", ""),
        a_fails, MINUTE - SECOND);
    ENDS(cluster, "a", RUN_FAILED, REASON_EXIT_CODE);
    ENDS(cluster, "ok", RUN_SKIPPED, REASON_UPSTREAM);
    ENDS(cluster, "then", RUN_SKIPPED, REASON_UPSTREAM);
    ENDS(cluster, "handler", RUN_OK, REASON_NONE);
    ENDS(cluster, "always", RUN_OK, REASON_NONE);
    ENDS(cluster, "any", RUN_OK, REASON_NONE);
    ENDS(cluster, "last", RUN_OK, REASON_NONE);
    assert_int_equal(starts_of(cluster, "ok"), 0);
    assert_non_null(record(cluster, ""));
    assert_int_equal(open_runs(cluster), 0);
    cluster_free(cluster);
}

/* ---- values ---- */

static const char *writes_rows(const char *step, int attempt)
{
    (void)attempt;
    return strcmp(step, "a") == 0 ? "rows=5\nfiles=[\"p\", \"q\", \"r\"]\n" : NULL;
}

static void a_writes(struct world *node)
{
    node->writes = writes_rows;
}

static void values_reach_later_steps(void **state)
{
    (void)state;
    struct cluster *cluster = play(
        3,
        WORKFLOW "steps:\n" STEP("a", "") STEP("many", ", after: a, when: 'steps.a.rows > 3'") STEP(
            "few", ", after: a, when: 'steps.a.rows <= 3'") "  - {name: says, after: a, command: "
                                                            "[x, 'n${steps.a.rows}']}\n"
                                                            "  - {name: each, after: a, command: "
                                                            "[x, '${item}'], each: {of: "
                                                            "steps.a.files, at_once: 2}}\n",
        a_writes, 30 * SECOND);
    ENDS(cluster, "many", RUN_OK, REASON_NONE);
    ENDS(cluster, "few", RUN_SKIPPED, REASON_WHEN);
    assert_string_equal(process_of(cluster, "says")->argument, "n5");
    assert_string_equal(process_of(cluster, "each[0]")->argument, "p");
    assert_string_equal(process_of(cluster, "each[2]")->argument, "r");
    assert_int_equal(starts_of(cluster, "each"), 0);
    ENDS(cluster, "each", RUN_OK, REASON_NONE);
    ENDS(cluster, "", RUN_OK, REASON_NONE);
    assert_int_equal(open_runs(cluster), 0);
    cluster_free(cluster);
}

static const char *writes_nonsense(const char *step, int attempt)
{
    (void)attempt;
    return strcmp(step, "a") == 0 ? "no value here\n" : NULL;
}

static void a_writes_nonsense(struct world *node)
{
    node->writes = writes_nonsense;
}

static void an_output_that_cannot_be_read_fails_the_step(void **state)
{
    (void)state;
    struct cluster *cluster = play(1, WORKFLOW "steps:\n" STEP("a", "") STEP("b", ", after: a"),
                                   a_writes_nonsense, 10 * SECOND);
    ENDS(cluster, "a", RUN_FAILED, REASON_STEP_OUTPUT);
    assert_non_null(strstr(record(cluster, "a")->detail, "PEAL_OUTPUT"));
    ENDS(cluster, "b", RUN_SKIPPED, REASON_UPSTREAM);
    cluster_free(cluster);
}

/* ---- fan-outs ---- */

static void takes_long(struct world *node)
{
    node->duration_ms = 5 * SECOND;
}

static size_t items_under_way(const struct cluster *cluster)
{
    size_t count = 0;
    for (size_t n = 0; n < cluster->count; n++)
        for (size_t i = 0; i < cluster->nodes[n]->process_count; i++)
            count += !cluster->nodes[n]->processes[i].ended;
    return count;
}

/* It declares what it does not write. */
static void a_missing_output_fails_the_step(void **state)
{
    (void)state;
    struct cluster *cluster =
        play(1, WORKFLOW "steps:\n" STEP("a", ", outputs: rows") STEP("b", ", after: a"), NULL,
             10 * SECOND);
    ENDS(cluster, "a", RUN_FAILED, REASON_STEP_OUTPUT);
    assert_string_equal(record(cluster, "a")->detail, "the output \"rows\" was not written");
    ENDS(cluster, "b", RUN_SKIPPED, REASON_UPSTREAM);
    cluster_free(cluster);
}

static void a_fan_out_has_so_many_at_once(void **state)
{
    (void)state;
    struct cluster *cluster = play(
        3,
        "name: w\nschedule: '0 0 * * * *'\nsteps:\n" STEP("e", ", each: {shards: 7, at_once: 3}")
            STEP("b", ", after: e"),
        takes_long, 0);
    int64_t hour_ms = 60 * MINUTE;
    cluster_pass(cluster, hour_ms - cluster->nodes[0]->now.wall.ms % hour_ms);
    size_t most = 0;
    for (int s = 0; s < 40; s++) {
        size_t now = items_under_way(cluster);
        most = now > most ? now : most;
        cluster_pass(cluster, SECOND);
    }
    assert_int_equal(most, 3);
    for (int i = 0; i < 7; i++) {
        char step[16];
        snprintf(step, sizeof(step), "e[%d]", i);
        assert_int_equal(starts_of(cluster, step), 1);
        ENDS(cluster, step, RUN_OK, REASON_NONE);
    }
    ENDS(cluster, "e", RUN_OK, REASON_NONE);
    ENDS(cluster, "b", RUN_OK, REASON_NONE);
    ENDS(cluster, "", RUN_OK, REASON_NONE);
    assert_int_equal(open_runs(cluster), 0);
    cluster_free(cluster);
}

static void a_fan_out_of_nothing_is_over(void **state)
{
    (void)state;
    struct cluster *cluster =
        play(2,
             WORKFLOW "steps:\n" STEP("a", "") STEP("e", ", after: a, each: {of: steps.a.none}")
                 STEP("b", ", after: e"),
             a_writes, 20 * SECOND);
    ENDS(cluster, "e", RUN_OK, REASON_NONE);
    ENDS(cluster, "b", RUN_OK, REASON_NONE);
    ENDS(cluster, "", RUN_OK, REASON_NONE);
    cluster_free(cluster);
}

/* ---- retries ---- */

static int fails_twice(const char *step, int attempt)
{
    return strcmp(step, "a") == 0 && attempt < 3 ? 1 : 0;
}

static void a_fails_twice(struct world *node)
{
    node->exits = fails_twice;
}

static void a_step_has_attempts_of_its_own(void **state)
{
    (void)state;
    struct cluster *cluster = play(
        2,
        WORKFLOW "steps:\n" STEP("a", ", retries: {count: 2, wait: 1s, jitter: 0, backoff: fixed}")
            STEP("b", ", after: a"),
        a_fails_twice, 40 * SECOND);
    assert_int_equal(starts_of(cluster, "a"), 3);
    assert_int_equal(record(cluster, "a")->attempt, 3);
    ENDS(cluster, "a", RUN_OK, REASON_NONE);
    ENDS(cluster, "b", RUN_OK, REASON_NONE);
    assert_int_equal(starts_of(cluster, "b"), 1);
    ENDS(cluster, "", RUN_OK, REASON_NONE);
    cluster_free(cluster);
}

/* ---- killed ---- */

static struct id instance_id(const struct cluster *cluster);

static void find_instance(void *context, const struct run *run)
{
    if (run_is_instance(run))
        *(struct id *)context = run->id;
}

static struct id instance_id(const struct cluster *cluster)
{
    struct id id = {{0}};
    engine_each_open_run(cluster->nodes[0]->engine, find_instance, &id);
    assert_false(id_is_zero(&id));
    return id;
}

static void a_kill_ends_all_but_the_final_steps(void **state)
{
    (void)state;
    struct cluster *cluster = play(3,
                                   WORKFLOW "steps:\n" STEP("a", "") STEP("c", "")
                                       STEP("b", ", after: a") "finally:\n" STEP("last", ""),
                                   takes_long, 2 * SECOND);
    struct id id = instance_id(cluster);
    world_kill(cluster->nodes[1], &id);
    cluster_pass(cluster, 20 * SECOND);
    ENDS(cluster, "a", RUN_KILLED, REASON_USER);
    ENDS(cluster, "c", RUN_KILLED, REASON_USER);
    assert_int_equal(record(cluster, "b")->state, RUN_SKIPPED);
    assert_int_equal(starts_of(cluster, "b"), 0);
    ENDS(cluster, "last", RUN_OK, REASON_NONE);
    ENDS(cluster, "", RUN_KILLED, REASON_USER);
    assert_int_equal(open_runs(cluster), 0);
    cluster_free(cluster);
}

static void the_whole_has_a_timeout(void **state)
{
    (void)state;
    struct cluster *cluster =
        play(2,
             WORKFLOW "timeout: 7s\nsteps:\n" STEP("a", "") STEP("b", ", after: a")
                 STEP("c", ", after: b") "finally:\n" STEP("last", ""),
             takes_long, 30 * SECOND);
    ENDS(cluster, "a", RUN_OK, REASON_NONE);
    assert_int_equal(record(cluster, "b")->state, RUN_KILLED);
    assert_int_equal(starts_of(cluster, "c"), 0);
    ENDS(cluster, "last", RUN_OK, REASON_NONE);
    ENDS(cluster, "", RUN_TIMED_OUT, REASON_TIMEOUT);
    cluster_free(cluster);
}

/* ---- nodes die, agents restart ---- */

/* The node on which the last process of the step runs now. */
static struct world *node_of_step(const struct cluster *cluster, const char *step)
{
    const struct world_process *last = process_of(cluster, step);
    for (size_t i = 0; i < cluster->count; i++)
        if (last >= cluster->nodes[i]->processes &&
            last < cluster->nodes[i]->processes + cluster->nodes[i]->process_count)
            return last->ended ? NULL : cluster->nodes[i];
    return NULL;
}

/* The first node leads in these worlds: the one that dies is another. */
static void a_lost_step_fails_and_what_waits_for_it_is_skipped(void **state)
{
    (void)state;
    struct cluster *cluster =
        play(3, WORKFLOW "steps:\n" STEP("a", "") STEP("b", ", after: a"), takes_long, 2 * SECOND);
    struct world *node = node_of_step(cluster, "a");
    for (int i = 0; i < 10 && node == cluster->nodes[0]; i++) {
        cluster_pass(cluster, MINUTE);
        node = node_of_step(cluster, "a");
    }
    assert_non_null(node);
    assert_ptr_not_equal(node, cluster->nodes[0]);
    size_t before = starts_of(cluster, "b");
    cluster_freeze(node);
    cluster_expire(node);
    cluster_pass(cluster, 30 * SECOND);
    assert_int_equal(starts_of(cluster, "b"), before);
    const struct run *last = NULL, *end = NULL;
    for (size_t n = 0; n < cluster->count; n++)
        for (size_t i = 0; i < cluster->nodes[n]->run_count; i++) {
            const struct run *run = &cluster->nodes[n]->runs[i];
            if (run->tick_ms != process_of(cluster, "a")->tick_ms)
                continue;
            last = strcmp(run->step, "b") == 0 ? run : last;
            end = run_is_instance(run) ? run : end;
        }
    assert_non_null(last);
    assert_int_equal(last->reason, REASON_UPSTREAM);
    assert_non_null(end);
    assert_int_equal(end->state, RUN_FAILED);
    cluster_free(cluster);
}

static void a_restart_goes_on(void **state)
{
    (void)state;
    struct cluster *cluster =
        play(1, WORKFLOW "steps:\n" STEP("a", "") STEP("b", ", after: a"), takes_long, 2 * SECOND);
    world_restart(cluster->nodes[0]);
    cluster_pass(cluster, 6 * SECOND);
    world_restart(cluster->nodes[0]);
    cluster_pass(cluster, 20 * SECOND);
    ENDS(cluster, "a", RUN_OK, REASON_NONE);
    ENDS(cluster, "b", RUN_OK, REASON_NONE);
    ENDS(cluster, "", RUN_OK, REASON_NONE);
    assert_int_equal(starts_of(cluster, "a") + starts_of(cluster, "b"), 2);
    cluster_free(cluster);
}

/* ---- asked for, and what can't be opened ---- */

static void a_manual_run_opens_an_instance(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    struct id uid =
        world_add(cluster->nodes[0], "name: w\nschedule: '@manual'\nsteps:\n" STEP("a", ""));
    cluster_pass(cluster, SECOND);
    assert_true(world_trigger(cluster->nodes[1], &uid));
    cluster_pass(cluster, 10 * SECOND);
    ENDS(cluster, "a", RUN_OK, REASON_NONE);
    ENDS(cluster, "", RUN_OK, REASON_NONE);
    assert_int_equal(record(cluster, "")->cause, CAUSE_MANUAL);
    cluster_free(cluster);
}

static void what_cannot_be_opened_fails_and_says_why(void **state)
{
    (void)state;
    for (int is_manual = 0; is_manual < 2; is_manual++) {
        struct cluster *cluster = cluster_new(2);
        struct id uid =
            world_add(cluster->nodes[0], WORKFLOW "steps:\n  - {name: a, job: nothing}\n");
        cluster_pass(cluster, SECOND);
        if (is_manual)
            assert_true(world_trigger(cluster->nodes[1], &uid));
        cluster_pass_to(cluster, is_manual ? 30 * SECOND : 0);
        cluster_pass(cluster, 10 * SECOND);
        ENDS(cluster, "", RUN_FAILED, REASON_NO_START);
        assert_non_null(strstr(record(cluster, "")->detail, "nothing"));
        cluster_free(cluster);
    }
}

/* ---- people and other jobs ---- */

static void only_the_instance_is_told_of(void **state)
{
    (void)state;
    struct cluster *cluster =
        play(1, WORKFLOW "steps:\n" STEP("a", "") STEP("b", ", after: a"), a_fails, 10 * SECOND);
    struct world *node = cluster->nodes[0];
    assert_int_equal(node->told_count, 1);
    assert_true(id_compare(&node->told[0].id, &record(cluster, "")->id) == 0);
    cluster_free(cluster);
}

static void a_job_follows_the_instance_once(void **state)
{
    (void)state;
    struct cluster *cluster = cluster_new(2);
    world_add(cluster->nodes[0],
              WORKFLOW "steps:\n" STEP("a", "") STEP("b", ", after: a") STEP("c", ", after: a"));
    world_add(cluster->nodes[0], "name: next\nafter: w\ncommand: [y]\n");
    cluster_pass_to(cluster, 0);
    cluster_pass(cluster, 30 * SECOND);
    assert_int_equal(cluster_starts(cluster, "next"), 1);
    cluster_free(cluster);
}

/* Steps are not runs of the job in its overlap rule: the next tick is skipped while the instance is
 * open, and not after it. */
static void an_open_instance_blocks_the_next_tick(void **state)
{
    (void)state;
    struct cluster *cluster = play(
        2, "name: w\nschedule: '*/10 * * * * *'\nsteps:\n" STEP("a", "") STEP("b", ", after: a"),
        takes_long, 5 * SECOND);
    for (size_t i = 0; i < 2; i++)
        cluster->nodes[i]->duration_ms = 8 * SECOND;
    cluster_pass(cluster, 60 * SECOND);
    assert_true(cluster_passed(cluster, "w", RUN_SKIPPED, REASON_OVERLAP) > 1);
    assert_true(starts_of(cluster, "a") > 1);
    cluster_free(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_follow_each_other),
        cmocka_unit_test(what_is_not_met_is_skipped),
        cmocka_unit_test(values_reach_later_steps),
        cmocka_unit_test(an_output_that_cannot_be_read_fails_the_step),
        cmocka_unit_test(a_missing_output_fails_the_step),
        cmocka_unit_test(a_fan_out_has_so_many_at_once),
        cmocka_unit_test(a_fan_out_of_nothing_is_over),
        cmocka_unit_test(a_step_has_attempts_of_its_own),
        cmocka_unit_test(a_kill_ends_all_but_the_final_steps),
        cmocka_unit_test(the_whole_has_a_timeout),
        cmocka_unit_test(a_lost_step_fails_and_what_waits_for_it_is_skipped),
        cmocka_unit_test(a_restart_goes_on),
        cmocka_unit_test(a_manual_run_opens_an_instance),
        cmocka_unit_test(what_cannot_be_opened_fails_and_says_why),
        cmocka_unit_test(only_the_instance_is_told_of),
        cmocka_unit_test(a_job_follows_the_instance_once),
        cmocka_unit_test(an_open_instance_blocks_the_next_tick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
