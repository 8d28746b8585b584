#include "state/placement.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "function/lacks.h"

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

static void look_from(struct cluster *cluster, size_t node, const struct peers *peers)
{
    struct placement *view = &cluster->views[node];
    assert_int_equal(placement_set(view, peers, &cluster->nodes[node]), OK);
    placement_weigh(view, peers);
}

static void look(struct cluster *cluster)
{
    for (size_t i = 0; i < NODES; i++)
        look_from(cluster, i, &cluster->peers);
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

static int rank_of(struct cluster *cluster, size_t node, const struct id *id, const char *where)
{
    struct placement_ask ask = {.id = id, .where = where};
    return placement_rank(&cluster->views[node], &ask);
}

static size_t first_for(struct cluster *cluster, const struct placement_ask *ask)
{
    size_t first = NODES;
    for (size_t i = 0; i < NODES; i++) {
        if (cluster->nodes[i].is_alive && placement_rank(&cluster->views[i], ask) == 0) {
            assert_int_equal(first, NODES); /* no two think so */
            first = i;
        }
    }
    assert_int_not_equal(first, NODES);
    return first;
}

static size_t first_of(struct cluster *cluster, uint32_t number)
{
    struct id id = id_of(number);
    return first_for(cluster, &(struct placement_ask){.id = &id});
}

/* The ranks of an id are 0, 1, 2 ..., each on one node. */
static void test_all_agree(void **state)
{
    struct cluster *cluster = *state;
    for (uint32_t number = 0; number < 500; number++) {
        struct id id = id_of(number);
        unsigned seen = 0;
        for (size_t i = 0; i < NODES; i++)
            seen |= 1u << rank_of(cluster, i, &id, NULL);
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
        struct placement_ask ask = {.id = &id, .failed_on = failed};
        for (size_t i = 0; i < NODES; i++)
            ranks[i] = placement_rank(&cluster->views[i], &ask);
        for (size_t i = 0; i < NODES; i++)
            assert_int_equal(ranks[i] >= NODES - 2, i == 1 || i == 4);
        bool is_first = rank_of(cluster, 1, &id, NULL) < rank_of(cluster, 4, &id, NULL);
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

static bool has_node(struct cluster *cluster, size_t of, const char *where)
{
    return placement_has_node(&cluster->views[of], where, NULL, true);
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
        assert_int_equal(rank_of(cluster, 0, &id, "zone=eu"), 0);
        /* Full as the others know it; itself it may know better, and then goes behind node 0 or
         * before it. */
        assert_in_range(rank_of(cluster, 1, &id, "zone=eu"), 0, 1);
        assert_int_equal(rank_of(cluster, 2, &id, "zone=eu"), NOT_ELIGIBLE);
        assert_int_equal(rank_of(cluster, 2, &id, "zone=us"), 0);
    }
    assert_true(has_node(cluster, 4, "zone=us"));
    assert_true(has_node(cluster, 4, NULL));
    assert_false(has_node(cluster, 4, "zone=asia"));
    cluster->nodes[2].refusal = PEER_FULL; /* it is there all the same */
    tell(cluster, 2);
    look(cluster);
    assert_true(has_node(cluster, 4, "zone=us"));
    cluster->nodes[2].is_alive = false;
    tell(cluster, 2);
    look(cluster);
    assert_false(has_node(cluster, 4, "zone=us"));
}

/* Each part has a node that goes first, and the nodes have as many of them as each other. */
static void test_parts_go_round(void **state)
{
    struct cluster *cluster = *state;
    struct id id = id_of(7);
    struct placement_ask ask = {.id = &id};
    int firsts[NODES] = {0};
    for (int part = 0; part < 3 * NODES; part++) {
        bool is_taken[NODES] = {false};
        for (size_t i = 0; i < NODES; i++) {
            int rank = placement_rank_part(&cluster->views[i], &ask, part);
            assert_in_range(rank, 0, NODES - 1);
            assert_false(is_taken[rank]);
            is_taken[rank] = true;
            firsts[i] += rank == 0;
        }
    }
    for (size_t i = 0; i < NODES; i++)
        assert_int_equal(firsts[i], 3);
    ask.where = "gpu";
    assert_int_equal(placement_rank_part(&cluster->views[1], &ask, 0), NOT_ELIGIBLE);
}

/* ---- the choice of a job ---- */

/* The kept node is first unless the run has failed there; the others keep their order. */
static void test_sticky_keeps_its_node(void **state)
{
    struct cluster *cluster = *state;
    for (uint32_t number = 0; number < 200; number++) {
        struct id id = id_of(number);
        size_t kept = number % NODES;
        struct placement_ask even = {.id = &id}, ask = even;
        ask.place = PLACE_STICKY;
        ask.last_node = node_mark(cluster->nodes[kept].name);
        assert_int_equal(first_for(cluster, &ask), kept);
        int of_kept = placement_rank(&cluster->views[kept], &even);
        for (size_t i = 0; i < NODES; i++) {
            int was = placement_rank(&cluster->views[i], &even);
            int is = placement_rank(&cluster->views[i], &ask);
            assert_int_equal(is, i == kept ? 0 : was + (was < of_kept));
        }
        ask.failed_on = cluster->nodes[kept].name;
        assert_int_equal(placement_rank(&cluster->views[kept], &ask), NODES - 1);
    }
}

/* It is as with `even` where the kept node is not known, is gone, full, or does not match. */
static void test_sticky_moves_on(void **state)
{
    struct cluster *cluster = *state;
    for (size_t i = 0; i < NODES; i++)
        snprintf(cluster->nodes[i].labels, sizeof(cluster->nodes[i].labels),
                 i == 6 ? "gpu" : "zone=eu");
    cluster->nodes[3].is_alive = false;
    cluster->nodes[4].refusal = PEER_FULL;
    for (size_t i = 0; i < NODES; i++)
        tell(cluster, i);
    look(cluster);
    uint32_t marks[] = {0, node_mark("elsewhere"), node_mark(cluster->nodes[3].name),
                        node_mark(cluster->nodes[4].name), node_mark(cluster->nodes[6].name)};
    for (uint32_t number = 0; number < 100; number++) {
        struct id id = id_of(number);
        for (size_t k = 0; k < sizeof(marks) / sizeof(marks[0]); k++) {
            struct placement_ask even = {.id = &id, .where = "zone=eu"}, ask = even;
            ask.place = PLACE_STICKY;
            ask.last_node = marks[k];
            for (size_t i = 0; i < 3; i++)
                assert_int_equal(placement_rank(&cluster->views[i], &ask),
                                 placement_rank(&cluster->views[i], &even));
        }
    }
}

/* What each tells of itself, and the share of the capacity that is free by that. */
static const struct {
    int capacity, running, max_running, cpu, memory;
    double free;
} loads[NODES] = {
    {4, 0, 0, 0, 0, 1},                 /* idle */
    {4, 0, 0, 50, 0, 0.5},              /* processes of others */
    {4, 4, 0, 0, 0, 0.5},               /* as many runs as processors */
    {4, 75, 100, 0, 0, 0.25},           /* of its limit */
    {4, 0, 0, 0, 75, 0.25},             /* memory */
    {8, 0, 0, 25, 10, 0.75},            /* a larger one */
    {4, 98, 100, 99, 0, 1.0 / 16 / 16}, /* next to nothing */
    {4, 0, 100, -1, -1, 0.5},           /* an older peal */
};

static void tell_loads(struct cluster *cluster, int more)
{
    for (size_t i = 0; i < NODES; i++) {
        struct peer *node = &cluster->nodes[i];
        node->capacity = loads[i].capacity;
        node->running = loads[i].running;
        node->max_running = loads[i].max_running;
        node->cpu_pressure = loads[i].cpu > 0 ? loads[i].cpu + more : loads[i].cpu;
        node->memory_pressure = loads[i].memory;
        tell(cluster, i);
    }
}

static double weight(size_t node)
{
    return loads[node].capacity * loads[node].free;
}

/* 20,000 jobs that are due at one instant, or as many ticks of one job. */
static void test_least_loaded_is_by_what_is_free(void **state)
{
    struct cluster *cluster = *state;
    double all = 0;
    tell_loads(cluster, 0);
    look(cluster);
    for (size_t i = 0; i < NODES; i++) {
        if (peer_free_share(&cluster->nodes[i]) != loads[i].free)
            fail_msg("node %zu: %f is free", i, peer_free_share(&cluster->nodes[i]));
        all += weight(i);
    }
    for (int by_tick = 0; by_tick < 2; by_tick++) {
        size_t counts[NODES] = {0};
        for (uint32_t number = 0; number < IDS; number++) {
            struct id id = id_of(by_tick ? 0 : number);
            int64_t tick_ms = INT64_C(1800000000000) + (by_tick ? 1000 * (int64_t)number : 0);
            struct placement_ask ask = {.id = &id, .tick_ms = tick_ms, .place = PLACE_LEAST_LOADED};
            counts[first_for(cluster, &ask)]++;
        }
        for (size_t i = 0; i < NODES; i++) {
            double share = (double)counts[i] / IDS, want = weight(i) / all;
            if (share < want * 0.9 - 0.002 || share > want * 1.1 + 0.002)
                fail_msg("by_tick %d, node %zu: %.4f instead of %.4f", by_tick, i, share, want);
        }
    }
}

/* The ids for which no node is first, or more than one. */
static size_t count_disagreements(struct cluster *cluster)
{
    size_t count = 0;
    for (uint32_t number = 0; number < IDS; number++) {
        struct id id = id_of(number);
        struct placement_ask ask = {.id = &id, .place = PLACE_LEAST_LOADED};
        size_t firsts = 0;
        for (size_t i = 0; i < NODES; i++)
            firsts += placement_rank(&cluster->views[i], &ask) == 0;
        count += firsts != 1;
    }
    return count;
}

/* Heartbeats that came to some of the nodes only. */
static void test_views_that_differ(void **state)
{
    struct cluster *cluster = *state;
    tell_loads(cluster, 0);
    look(cluster);
    tell_loads(cluster, 3);
    for (size_t i = 0; i < NODES; i += 2)
        look_from(cluster, i, &cluster->peers);
    assert_int_equal(count_disagreements(cluster), 0); /* less than a step makes no difference */
    cluster->nodes[0].running = 2;                     /* a step for one of them */
    tell(cluster, 0);
    for (size_t i = 0; i < NODES; i += 2)
        look_from(cluster, i, &cluster->peers);
    assert_in_range(count_disagreements(cluster), 1, IDS / 10);
}

/* A function is for the nodes of its program, and all else for agents. */
static void test_programs(void **state)
{
    struct cluster *cluster = *state;
    static const char *const functions[] = {"@billing", "@billing,zone=us", "@bill", "@billings"};
    struct id id = id_of(3);
    for (size_t i = 0; i < 2; i++) {
        struct peer *node = &cluster->nodes[i];
        node->roles = 0;
        snprintf(node->program, sizeof(node->program), "billing");
        snprintf(node->labels, sizeof(node->labels), "zone=%s", i ? "us" : "eu");
        tell(cluster, i);
    }
    look(cluster);
    unsigned ranks = 0, agents = 0;
    for (size_t i = 0; i < NODES; i++) {
        int rank = rank_of(cluster, i, &id, functions[0]), other = rank_of(cluster, i, &id, NULL);
        assert_int_equal(rank == NOT_ELIGIBLE, i >= 2);
        assert_int_equal(other == NOT_ELIGIBLE, i < 2);
        ranks |= rank >= 0 ? 1u << rank : 0;
        agents |= other >= 0 ? 1u << other : 0;
        assert_int_equal(rank_of(cluster, i, &id, functions[1]), i == 1 ? 0 : NOT_ELIGIBLE);
        assert_int_equal(rank_of(cluster, i, &id, functions[2]), NOT_ELIGIBLE);
        assert_int_equal(rank_of(cluster, i, &id, functions[3]), NOT_ELIGIBLE);
        assert_true(has_node(cluster, i, functions[1]));
        assert_false(has_node(cluster, i, functions[2]));
        /* A program leaves it to agents to say that none of them can. */
        assert_int_equal(has_node(cluster, i, "zone=mars"), i < 2);
    }
    assert_int_equal(ranks, 3);
    assert_int_equal(agents, (1u << (NODES - 2)) - 1);
    char text[200];
    struct placement *view = &cluster->views[4];
    placement_tell_nobody(view, "@bill", "refund", text, sizeof(text));
    assert_string_equal(text, "no process of the program bill is there");
    placement_tell_nobody(view, "@billing,zone=mars", "refund", text, sizeof(text));
    assert_string_equal(text,
                        "no process of the program billing has the labels of its where: zone=mars");
}

/* Of a selector that no node matches: the terms that none matches, if there are others. */
static void test_unmatched_terms(void **state)
{
    struct cluster *cluster = *state;
    static const struct {
        int line;
        const char *where, *unmatched;
    } cases[] = {
        {__LINE__, "@billing,zone=eu,gpu", "gpu"},
        {__LINE__, "@billing,gpu,zone=eu,arch=arm", "gpu,arch=arm"},
        {__LINE__, "@billing,zone=eu,!zone", "!zone"},
        {__LINE__, "@billing,zone=mars,gpu", ""},   /* all of them */
        {__LINE__, "@billing,zone=eu,zone=us", ""}, /* no node has both */
        {__LINE__, "@billing", ""},
        {__LINE__, "@bill,zone=eu", ""},
    };
    for (size_t i = 0; i < 2; i++) {
        struct peer *node = &cluster->nodes[i];
        node->roles = 0;
        snprintf(node->program, sizeof(node->program), "billing");
        snprintf(node->labels, sizeof(node->labels), "zone=%s", i ? "us" : "eu");
        tell(cluster, i);
    }
    look(cluster);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[80];
        placement_tell_unmatched(&cluster->views[4], cases[i].where, text, sizeof(text));
        if (strcmp(text, cases[i].unmatched) != 0)
            fail_msg("line %d: %s", cases[i].line, text);
    }
}

/* What a process lacks it is not ranked for; but it knows itself. */
static void test_functions(void **state)
{
    struct cluster *cluster = *state;
    struct placement *view = &cluster->views[4];
    struct strbuf lacks;
    strbuf_init(&lacks);
    lacks_add(lacks_hash("other"), &lacks);
    lacks_add(lacks_hash("refund"), &lacks);
    for (size_t i = 0; i < 2; i++) {
        struct peer *node = &cluster->nodes[i];
        node->roles = 0;
        snprintf(node->program, sizeof(node->program), "billing");
        snprintf(node->lacks, sizeof(node->lacks), "%s", i ? "" : lacks.text);
        tell(cluster, i);
    }
    look(cluster);
    for (uint8_t n = 0; n < 20; n++) {
        struct id id = id_of(n);
        struct placement_ask ask = {.id = &id, .where = "@billing", .function = "refund"};
        assert_int_equal(placement_rank(&cluster->views[1], &ask), 0);
        assert_false(placement_is_before(&cluster->views[1], &ask, cluster->nodes[0].name));
        assert_true(placement_rank(&cluster->views[0], &ask) >= 0);
    }
    assert_true(placement_has_node(view, "@billing", "refund", false));
    snprintf(cluster->nodes[1].lacks, sizeof(cluster->nodes[1].lacks), "%s", lacks.text);
    tell(cluster, 1);
    look(cluster);
    char text[200];
    assert_false(placement_has_node(view, "@billing", "refund", true));
    assert_true(placement_has_node(view, "@billing", "invoice", false));
    assert_true(placement_has_node(&cluster->views[0], "@billing", "refund", true));
    assert_false(placement_has_node(&cluster->views[0], "@billing", "refund", false));
    placement_tell_nobody(view, "@billing", "refund", text, sizeof(text));
    assert_string_equal(
        text, "no process of the program billing that is running has the function refund");
    /* Lacking more than it can name, it might have the function while it takes no runs. */
    strbuf_addc(&lacks, '+');
    snprintf(cluster->nodes[1].lacks, sizeof(cluster->nodes[1].lacks), "%s", lacks.text);
    tell(cluster, 1);
    look(cluster);
    assert_true(placement_has_node(view, "@billing", "invoice", true)); /* by the first */
    snprintf(cluster->nodes[0].lacks, sizeof(cluster->nodes[0].lacks), "%s", lacks.text);
    tell(cluster, 0);
    look(cluster);
    assert_false(placement_has_node(view, "@billing", "invoice", true));
    cluster->nodes[1].refusal = PEER_FULL;
    tell(cluster, 1);
    look(cluster);
    assert_true(placement_has_node(view, "@billing", "invoice", true));
    assert_false(placement_has_node(view, "@billing", "refund", true));
    strbuf_release(&lacks);
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
        IN_CLUSTER(test_programs),
        IN_CLUSTER(test_unmatched_terms),
        IN_CLUSTER(test_functions),
        IN_CLUSTER(test_sticky_keeps_its_node),
        IN_CLUSTER(test_sticky_moves_on),
        IN_CLUSTER(test_least_loaded_is_by_what_is_free),
        IN_CLUSTER(test_views_that_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
