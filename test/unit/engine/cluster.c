#include "cluster.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hash.h"
#include "state/placement.h"
#include "store_memory.h"

struct cluster *cluster_new(size_t count)
{
    struct cluster *cluster = calloc(1, sizeof(*cluster));
    assert_non_null(cluster);
    cluster->nodes[cluster->count++] = world_new();
    while (cluster->count < count)
        cluster_join(cluster, "", 0);
    cluster_pass(cluster, 5000);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(engine_peers(cluster->nodes[i]->engine)->alive_count, count);
    return cluster;
}

struct cluster *cluster_free(struct cluster *cluster)
{
    cluster_check(cluster);
    for (size_t i = 0; i < cluster->count; i++)
        world_free(cluster->nodes[i]);
    free(cluster);
    return NULL;
}

static struct world *join(struct cluster *cluster, const char *program, const char *labels,
                          int64_t ahead_ms)
{
    assert_true(cluster->count < CLUSTER_NODES);
    struct engine_config config = engine_config_default();
    if (*program)
        config.self.roles = 0;
    snprintf(config.self.program, sizeof(config.self.program), "%s", program);
    snprintf(config.node, sizeof(config.node), "node-%zu", cluster->count + 1);
    snprintf(config.boot_id, sizeof(config.boot_id), "boot-%zu", cluster->count + 1);
    snprintf(config.self.labels, sizeof(config.self.labels), "%s", labels);
    config.self.instance.bytes[0] = (uint8_t)(cluster->count + 1);
    config.self.home = cluster->count + 1;
    struct world *first = cluster->nodes[0];
    first->now.wall.ms += ahead_ms;
    struct world *world = world_join(first, &config);
    first->now.wall.ms -= ahead_ms;
    cluster->nodes[cluster->count++] = world;
    return world;
}

struct world *cluster_join(struct cluster *cluster, const char *labels, int64_t ahead_ms)
{
    return join(cluster, "", labels, ahead_ms);
}

struct world *cluster_join_program(struct cluster *cluster, const char *program, const char *labels)
{
    return join(cluster, program, labels, 0);
}

void cluster_pass(struct cluster *cluster, int64_t ms)
{
    worlds_pass(cluster->nodes, cluster->count, ms);
}

void cluster_pass_to(struct cluster *cluster, int64_t ms)
{
    int64_t into_ms = cluster->nodes[0]->now.wall.ms % 60000;
    cluster_pass(cluster, (ms - into_ms + 60000) % 60000);
}

void cluster_freeze(struct world *node)
{
    node->frozen = true;
}

void cluster_expire(struct world *node)
{
    store_memory_expire(node->store);
}

void cluster_thaw(struct cluster *cluster, struct world *node)
{
    node->frozen = false;
    cluster_pass(cluster, 0);
}

static void drain_done(struct store_request *request, enum status st)
{
    (void)request;
    assert_int_equal(st, OK);
}

void cluster_drain(struct cluster *cluster, const struct world *node, bool drained)
{
    struct store_drain drain = {.drained = drained, .by = "anna"};
    snprintf(drain.node, sizeof(drain.node), "%s", node->config.node);
    struct store_request request = {
        .op = STORE_DRAIN, .count = 1, .items.drains = &drain, .done = drain_done};
    store_submit(cluster->nodes[0]->store, &request);
    store_dispatch(cluster->nodes[0]->store); /* it may be frozen */
    cluster_pass(cluster, 0);
}

size_t cluster_starts(const struct cluster *cluster, const char *job_name)
{
    size_t count = 0;
    for (size_t i = 0; i < cluster->count; i++) {
        const struct world *node = cluster->nodes[i];
        for (size_t k = 0; k < node->process_count; k++)
            count += strcmp(node->processes[k].job_name, job_name) == 0;
    }
    return count;
}

const struct world_process *cluster_process(const struct cluster *cluster, const char *job_name,
                                            struct world **ret_node)
{
    assert_int_equal(cluster_starts(cluster, job_name), 1);
    for (size_t i = 0; i < cluster->count; i++) {
        struct world *node = cluster->nodes[i];
        for (size_t k = 0; k < node->process_count; k++) {
            if (strcmp(node->processes[k].job_name, job_name) != 0)
                continue;
            *ret_node = node;
            return &node->processes[k];
        }
    }
    return NULL;
}

struct world *cluster_first_for(const struct cluster *cluster, const struct id *uid)
{
    struct world *first = NULL;
    double best = 0;
    for (size_t i = 0; i < cluster->count; i++) {
        struct world *node = cluster->nodes[i];
        double score = placement_score(hash_text(0, node->config.node),
                                       hash_bytes(0, uid->bytes, sizeof(uid->bytes)), 1);
        if (!first || score > best) {
            first = node;
            best = score;
        }
    }
    return first;
}

size_t cluster_count(const struct cluster *cluster, const char *job_name, enum run_state state)
{
    size_t count = 0;
    for (size_t i = 0; i < cluster->count; i++)
        count += world_count(cluster->nodes[i], job_name, state);
    return count;
}

int64_t cluster_passed(const struct cluster *cluster, const char *job_name, enum run_state state,
                       enum run_reason reason)
{
    int64_t count = 0;
    for (size_t i = 0; i < cluster->count; i++)
        count += world_passed(cluster->nodes[i], job_name, state, reason);
    return count;
}

static void check_pair(const struct world *node, size_t i, const struct world *other, size_t k)
{
    const struct world_process *one = &node->processes[i], *two = &other->processes[k];
    if (one->tick_ms == two->tick_ms && one->attempt == two->attempt && one->part == two->part &&
        strcmp(one->job_name, two->job_name) == 0)
        fail_msg("tick %lld of %s is started by %s and by %s", (long long)one->tick_ms,
                 one->job_name, node->config.node, other->config.node);
}

void cluster_check(const struct cluster *cluster)
{
    for (size_t i = 0; i < cluster->count; i++) {
        const struct world *node = cluster->nodes[i];
        for (size_t m = 0; m < node->process_count; m++) {
            for (size_t n = 0; n < m; n++)
                check_pair(node, m, node, n);
            for (size_t k = 0; k < i; k++) {
                for (size_t n = 0; n < cluster->nodes[k]->process_count; n++)
                    check_pair(node, m, cluster->nodes[k], n);
            }
        }
    }
}
