/* The nodes that may run a job can start nothing, while others work: the reason is of that job. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cluster.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND };

/* node-1, which leads, and node-2 are in no zone; node-3 and node-4 are. */
static struct cluster *set_up(void)
{
    struct cluster *cluster = cluster_new(2);
    cluster_join(cluster, "zone=eu", 0);
    cluster_join(cluster, "zone=eu", 0);
    cluster_pass(cluster, 5 * SECOND);
    return cluster;
}

static void add_job(struct cluster *cluster, const char *schedule, const char *more)
{
    char yaml[256];
    snprintf(yaml, sizeof(yaml), "name: j\nschedule: '%s'\ncommand: [/bin/true]\n%s", schedule,
             more);
    world_add(cluster->nodes[0], yaml);
}

enum { NODE_1 = 1, NODE_2 = 2, NODE_3 = 4, NODE_4 = 8, IN_ZONE = NODE_3 | NODE_4 };

static void drain(struct cluster *cluster, unsigned nodes, bool drained)
{
    for (size_t i = 0; i < cluster->count; i++)
        if (nodes & (1u << i))
            cluster_drain(cluster, cluster->nodes[i], drained);
}

/* "ok 15; missed drained 3; " */
static void ends(const struct cluster *cluster, struct strbuf *out)
{
    size_t ran = cluster_count(cluster, "j", RUN_OK);
    if (ran)
        strbuf_addf(out, "ok %zu; ", ran);
    for (int reason = 0; reason < REASONS; reason++) {
        for (int state = RUN_SKIPPED; state <= RUN_MISSED; state++) {
            int64_t count =
                cluster_passed(cluster, "j", (enum run_state)state, (enum run_reason)reason);
            if (count)
                strbuf_addf(out, "%s %s %lld; ", run_state_name((enum run_state)state),
                            run_reason_name((enum run_reason)reason), (long long)count);
        }
    }
}

/* A tick every 5 s. First these nodes are drained, 30 s later those, too; after `lasts_ms` from the
 * first drain on all work again, and 2.5 s later it is looked at. What is at most 30 s late then
 * runs, one after the other. */
static void test_drained_while_others_work(void **state)
{
    static const struct {
        int line;
        const char *more;
        unsigned first, then;
        int64_t lasts_ms;
        const char *want;
    } rows[] = {
        {__LINE__, "where: zone=eu\ncatch_up: skip\n", IN_ZONE, 0, 75 * SECOND,
         "ok 6; missed drained 9; "},
        {__LINE__, "where: zone=eu\n", IN_ZONE, 0, 75 * SECOND, "ok 6; missed drained 9; "},
        {__LINE__, "where: zone=eu\ncatch_up: {policy: all, limit: 7}\n", IN_ZONE, 0, 75 * SECOND,
         "ok 7; missed drained 8; "},
        {__LINE__, "where: zone=eu\ncatch_up: skip\n", IN_ZONE, 0, 20 * SECOND, "ok 4; "},
        /* One that may run it works, for some of the time or always. */
        {__LINE__, "where: zone=eu\ncatch_up: skip\n", NODE_3, NODE_4, 75 * SECOND,
         "ok 12; missed drained 3; "},
        {__LINE__, "where: zone=eu\ncatch_up: skip\n", NODE_4, NODE_3, 75 * SECOND,
         "ok 12; missed drained 3; "},
        {__LINE__, "where: zone=eu\ncatch_up: skip\n", NODE_3, NODE_1, 75 * SECOND, "ok 15; "},
        {__LINE__, "catch_up: skip\n", IN_ZONE, NODE_1, 75 * SECOND, "ok 15; "},
        {__LINE__, "where: '!zone'\ncatch_up: skip\n", IN_ZONE, NODE_2, 75 * SECOND, "ok 15; "},
        /* The leader is among those that may run it. */
        {__LINE__, "where: '!zone'\ncatch_up: skip\n", NODE_1 | NODE_2, 0, 75 * SECOND,
         "ok 6; missed drained 9; "},
        /* All are drained: nobody is there, and catch_up decides of every tick. */
        {__LINE__, "catch_up: skip\n", IN_ZONE, NODE_1 | NODE_2, 75 * SECOND,
         "ok 6; missed drained 9; "},
        /* Nobody has the labels: that is the reason, whoever is drained. */
        {__LINE__, "where: zone=us\ncatch_up: skip\n", IN_ZONE, 0, 75 * SECOND,
         "missed no_node 9; "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cluster *cluster = set_up();
        struct strbuf text;
        strbuf_init(&text);
        cluster_pass_to(cluster, 0);
        cluster_pass(cluster, SECOND);
        add_job(cluster, "@every 5s", rows[i].more);
        drain(cluster, rows[i].first, true);
        cluster_pass(cluster, rows[i].then ? 30 * SECOND : rows[i].lasts_ms);
        if (rows[i].then) {
            drain(cluster, rows[i].then, true);
            cluster_pass(cluster, rows[i].lasts_ms - 30 * SECOND);
        }
        drain(cluster, rows[i].first | rows[i].then, false);
        cluster_pass(cluster, 2500);
        ends(cluster, &text);
        if (strcmp(text.text, rows[i].want) != 0)
            fail_msg("line %d: \"%s\", not \"%s\"", rows[i].line, text.text, rows[i].want);
        strbuf_release(&text);
        cluster_free(cluster);
    }
}

/* Every node that is asked says why a job does not start now. */
static void test_asked_meanwhile(void **state)
{
    static const struct {
        int line;
        unsigned drained;
        const char *where;
        enum run_reason want;
    } rows[] = {
        {__LINE__, 0, NULL, REASON_NONE},
        {__LINE__, 0, "zone=eu", REASON_NONE},
        {__LINE__, NODE_3, "zone=eu", REASON_NONE},
        {__LINE__, IN_ZONE, "zone=eu", REASON_DRAINED},
        {__LINE__, IN_ZONE, NULL, REASON_NONE},
        {__LINE__, IN_ZONE, "!zone", REASON_NONE},
        {__LINE__, NODE_1 | NODE_2, "!zone", REASON_DRAINED},
        {__LINE__, NODE_1 | NODE_2 | IN_ZONE, NULL, REASON_DRAINED},
        {__LINE__, IN_ZONE, "zone=us", REASON_NONE}, /* that no node has the labels is told first */
    };
    (void)state;
    struct cluster *cluster = set_up();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        drain(cluster, rows[i].drained, true);
        cluster_pass(cluster, SECOND);
        for (size_t k = 0; k < cluster->count; k++)
            if (engine_hindrance(cluster->nodes[k]->engine, rows[i].where) != rows[i].want)
                fail_msg(
                    "line %d: node-%zu says %s", rows[i].line, k + 1,
                    run_reason_name(engine_hindrance(cluster->nodes[k]->engine, rows[i].where)));
        drain(cluster, rows[i].drained, false);
    }
    cluster_free(cluster);
}

/* A boot is its node's alone, whoever else works. */
static void test_boot_of_a_drained_node(void **state)
{
    (void)state;
    struct cluster *cluster = set_up();
    add_job(cluster, "@reboot", "catch_up: skip\n");
    drain(cluster, NODE_4, true);
    cluster_pass(cluster, MINUTE);
    struct world *node = cluster->nodes[3];
    snprintf(node->config.boot_id, sizeof(node->config.boot_id), "next");
    world_restart(node);
    cluster_pass(cluster, MINUTE);
    assert_int_equal(world_passed(node, "j", RUN_MISSED, REASON_DRAINED), 1);
    assert_int_equal(cluster_starts(cluster, "j"), 0);
    cluster_free(cluster);
}

/* The only node that may run it does not trust its clock, the others do theirs. */
static void test_doubted_while_others_work(void **state)
{
    (void)state;
    struct cluster *cluster = set_up();
    drain(cluster, NODE_4, true);
    add_job(cluster, "@every 5s", "where: zone=eu\ncatch_up: skip\n");
    cluster_pass_to(cluster, SECOND);
    struct world *node = cluster->nodes[2];
    size_t before = cluster_starts(cluster, "j");
    world_set_clock(node, 5 * SECOND);
    cluster_pass(cluster, 75 * SECOND);
    assert_int_equal(engine_hindrance(node->engine, "zone=eu"), REASON_CLOCK_DOUBTED);
    world_set_clock(node, -5 * SECOND);
    cluster_pass(cluster, 10 * SECOND);
    int64_t missed = world_passed(node, "j", RUN_MISSED, REASON_CLOCK_DOUBTED);
    assert_in_range(missed, 8, 10); /* what is at most 30 s late runs */
    assert_int_equal(cluster_passed(cluster, "j", RUN_MISSED, REASON_CATCH_UP), 0);
    assert_in_range(cluster_starts(cluster, "j") - before, 6, 9);
    cluster_free(cluster);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drained_while_others_work),
        cmocka_unit_test(test_asked_meanwhile),
        cmocka_unit_test(test_boot_of_a_drained_node),
        cmocka_unit_test(test_doubted_while_others_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
