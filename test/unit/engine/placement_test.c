#include "state/placement.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { NODES = 8, IDS = 20000 };

struct cluster {
    struct peers peers;
    struct peer nodes[NODES];
    struct placement views[NODES]; /* of each node */
};

static struct id id_of(uint32_t number)
{
    struct id id = {{0}};
    memcpy(id.bytes, &number, sizeof(number));
    return id;
}

static void tell(struct cluster *cluster, size_t node)
{
    struct store_change change = {.kind = STORE_CHANGE_PEER, .peer = &cluster->nodes[node]};
    assert_int_equal(peers_take(&cluster->peers, &change, (struct now){{0}, {1}}), OK);
}

static void look(struct cluster *cluster)
{
    for (size_t i = 0; i < NODES; i++)
        assert_int_equal(placement_set(&cluster->views[i], &cluster->peers, &cluster->nodes[i]),
                         OK);
}

static const struct peer nobody;

static int set_up(void **state)
{
    static struct cluster cluster;
    cluster = (struct cluster){0};
    peers_init(&cluster.peers, &nobody);
    for (size_t i = 0; i < NODES; i++) {
        struct peer *node = &cluster.nodes[i];
        *node = (struct peer){.roles = PEER_WORKER, .capacity = 1, .is_alive = true};
        snprintf(node->name, sizeof(node->name), "node-%zu", i);
        tell(&cluster, i);
    }
    look(&cluster);
    *state = &cluster;
    return 0;
}

static int tear_down(void **state)
{
    struct cluster *cluster = *state;
    for (size_t i = 0; i < NODES; i++)
        placement_release(&cluster->views[i]);
    peers_release(&cluster->peers);
    return 0;
}

static size_t first_of(struct cluster *cluster, uint32_t number)
{
    struct id id = id_of(number);
    size_t first = NODES;
    for (size_t i = 0; i < NODES; i++) {
        if (cluster->nodes[i].is_alive && placement_rank(&cluster->views[i], &id, NULL, "") == 0) {
            assert_int_equal(first, NODES); /* no two think so */
            first = i;
        }
    }
    assert_int_not_equal(first, NODES);
    return first;
}

/* The ranks of an id are 0, 1, 2 ..., each on one node. */
static void test_all_agree(void **state)
{
    struct cluster *cluster = *state;
    for (uint32_t number = 0; number < 500; number++) {
        struct id id = id_of(number);
        unsigned seen = 0;
        for (size_t i = 0; i < NODES; i++)
            seen |= 1u << placement_rank(&cluster->views[i], &id, NULL, "");
        assert_int_equal(seen, (1u << NODES) - 1);
    }
}

/* Who has failed comes after all who have not, and in the order that they had among themselves. */
static void test_failed_come_last(void **state)
{
    struct cluster *cluster = *state;
    char failed[3 * 64];
    snprintf(failed, sizeof(failed), "%s %s %s", cluster->nodes[1].name, cluster->nodes[4].name,
             "elsewhere");
    for (uint32_t number = 0; number < 200; number++) {
        struct id id = id_of(number);
        int ranks[NODES];
        for (size_t i = 0; i < NODES; i++)
            ranks[i] = placement_rank_again(&cluster->views[i], &id, NULL, "", failed);
        for (size_t i = 0; i < NODES; i++)
            assert_int_equal(ranks[i] >= NODES - 2, i == 1 || i == 4);
        bool is_first = placement_rank(&cluster->views[1], &id, NULL, "") <
                        placement_rank(&cluster->views[4], &id, NULL, "");
        assert_int_equal(ranks[1] < ranks[4], is_first);
    }
}

static void test_shares_follow_capacity(void **state)
{
    struct cluster *cluster = *state;
    static const int capacities[NODES] = {1, 1, 1, 1, 2, 2, 4, 8}; /* 20 in all */
    size_t counts[NODES] = {0};
    for (size_t i = 0; i < NODES; i++) {
        cluster->nodes[i].capacity = capacities[i];
        tell(cluster, i);
    }
    look(cluster);
    for (uint32_t number = 0; number < IDS; number++)
        counts[first_of(cluster, number)]++;
    for (size_t i = 0; i < NODES; i++) {
        double share = (double)counts[i] / IDS, want = capacities[i] / 20.0;
        if (share < want * 0.93 || share > want * 1.07)
            fail_msg("node %zu: %.4f instead of %.4f", i, share, want);
    }
}

/* Only what a node had moves when it leaves, and to all others; it gets the same back. */
static void test_little_moves(void **state)
{
    struct cluster *cluster = *state;
    static unsigned char before[IDS];
    size_t got[NODES] = {0};
    for (uint32_t number = 0; number < IDS; number++)
        before[number] = (unsigned char)first_of(cluster, number);
    cluster->nodes[3].is_alive = false;
    tell(cluster, 3);
    look(cluster);
    for (uint32_t number = 0; number < IDS; number++) {
        size_t now = first_of(cluster, number);
        if (before[number] != 3)
            assert_int_equal(now, before[number]);
        else
            got[now]++;
    }
    for (size_t i = 0; i < NODES; i++) {
        if (i != 3)
            assert_in_range(got[i], IDS / NODES / 7 * 7 / 10, IDS / NODES / 7 * 13 / 10);
    }
    cluster->nodes[3].is_alive = true;
    tell(cluster, 3);
    look(cluster);
    for (uint32_t number = 0; number < IDS; number++)
        assert_int_equal(first_of(cluster, number), before[number]);
}

static void test_labels_and_refusals(void **state)
{
    struct cluster *cluster = *state;
    snprintf(cluster->nodes[0].labels, sizeof(cluster->nodes[0].labels), "zone=eu");
    snprintf(cluster->nodes[1].labels, sizeof(cluster->nodes[1].labels), "zone=eu");
    snprintf(cluster->nodes[2].labels, sizeof(cluster->nodes[2].labels), "zone=us");
    cluster->nodes[1].refusal = PEER_FULL;
    for (size_t i = 0; i < 3; i++)
        tell(cluster, i);
    look(cluster);
    for (uint32_t number = 0; number < 100; number++) {
        struct id id = id_of(number);
        assert_int_equal(placement_rank(&cluster->views[0], &id, "zone=eu", ""), 0);
        /* Full as the others know it; itself it may know better, and then goes behind node 0 or
         * before it. */
        assert_in_range(placement_rank(&cluster->views[1], &id, "zone=eu", ""), 0, 1);
        assert_int_equal(placement_rank(&cluster->views[2], &id, "zone=eu", ""), NOT_ELIGIBLE);
        assert_int_equal(placement_rank(&cluster->views[2], &id, "zone=us", ""), 0);
    }
    assert_true(placement_has_node(&cluster->views[4], "zone=us"));
    assert_true(placement_has_node(&cluster->views[4], NULL));
    assert_false(placement_has_node(&cluster->views[4], "zone=asia"));
    cluster->nodes[2].refusal = PEER_FULL; /* it is there all the same */
    tell(cluster, 2);
    look(cluster);
    assert_true(placement_has_node(&cluster->views[4], "zone=us"));
    cluster->nodes[2].is_alive = false;
    tell(cluster, 2);
    look(cluster);
    assert_false(placement_has_node(&cluster->views[4], "zone=us"));
}

/* Each part has a node that goes first, and the nodes have as many of them as each other. */
static void test_parts_go_round(void **state)
{
    struct cluster *cluster = *state;
    struct id id = id_of(7);
    int firsts[NODES] = {0};
    for (int part = 0; part < 3 * NODES; part++) {
        bool is_taken[NODES] = {false};
        for (size_t i = 0; i < NODES; i++) {
            int rank = placement_rank_part(&cluster->views[i], &id, NULL, part);
            assert_in_range(rank, 0, NODES - 1);
            assert_false(is_taken[rank]);
            is_taken[rank] = true;
            firsts[i] += rank == 0;
        }
    }
    for (size_t i = 0; i < NODES; i++)
        assert_int_equal(firsts[i], 3);
    assert_int_equal(placement_rank_part(&cluster->views[1], &id, "gpu", 0), NOT_ELIGIBLE);
}

int main(void)
{
#define IN_CLUSTER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        IN_CLUSTER(test_all_agree),
        IN_CLUSTER(test_failed_come_last),
        IN_CLUSTER(test_shares_follow_capacity),
        IN_CLUSTER(test_little_moves),
        IN_CLUSTER(test_labels_and_refusals),
        IN_CLUSTER(test_parts_go_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
