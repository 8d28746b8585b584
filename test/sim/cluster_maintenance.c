/* Maintenance: no tick that would start in it is claimed by a node that has known of it for a
 * while. */
#include <stdio.h>
#include <string.h>

#include "cluster.h"

enum { KNOWN_MS = 30 * 1000 }; /* what was planned before has been done, or never will be */

/* Until when a node has not known of it; INT64_MAX: it does not now. */
static int64_t *known_since(struct cluster *cluster, const struct node *node, const char *id)
{
    size_t i = 0;
    while (i < cluster->maintenance_count && strcmp(cluster->maintenance[i].id, id) != 0)
        i++;
    if (i == MAINTENANCE_SEEN)
        return NULL;
    struct seen_maintenance *seen = &cluster->maintenance[i];
    if (i == cluster->maintenance_count) {
        cluster->maintenance_count++;
        snprintf(seen->id, sizeof(seen->id), "%s", id);
        for (int k = 0; k < NODES_MAX; k++)
            seen->since_ms[k] = INT64_MAX;
    }
    return &seen->since_ms[node - cluster->nodes];
}

static void look_at(struct cluster *cluster, const struct node *node)
{
    for (size_t i = 0; i < cluster->maintenance_count; i++) {
        struct seen_maintenance *seen = &cluster->maintenance[i];
        bool is_known =
            node_is_up(node) && table_find(&engine_catalog(node->engine)->maintenance, seen->id);
        if (!is_known)
            seen->since_ms[node - cluster->nodes] = INT64_MAX;
    }
    const struct maintenance *item;
    for (size_t at = 0; node_is_up(node) &&
                        (item = table_next(&engine_catalog(node->engine)->maintenance, &at));) {
        int64_t *since_ms = known_since(cluster, node, item->id);
        if (since_ms && *since_ms == INT64_MAX)
            *since_ms = cluster->stage.now_ms;
    }
}

void maintenance_look(struct cluster *cluster)
{
    for (int i = 0; i < cluster->node_count; i++)
        look_at(cluster, &cluster->nodes[i]);
}

/* What it passes over is gathered up to its end, of which a node knows that is there. */
int64_t maintenance_gathers_ms(const struct cluster *cluster, const char *job, int64_t tick_ms)
{
    int64_t longest_ms = 0;
    for (int i = 0; i < cluster->node_count; i++) {
        const struct node *node = &cluster->nodes[i];
        const struct maintenance *item;
        for (size_t at = 0; node_is_up(node) &&
                            (item = table_next(&engine_catalog(node->engine)->maintenance, &at));) {
            int64_t ms = item->to_ms ? item->to_ms - tick_ms : INT64_MAX;
            if (maintenance_covers(item, job, tick_ms) && ms > longest_ms)
                longest_ms = ms;
        }
    }
    return longest_ms < HOUR ? longest_ms : HOUR;
}

void maintenance_check_claim(struct cluster *cluster, const struct node *node,
                             const struct run *run)
{
    const struct maintenance *item;
    bool is_late = run->cause == CAUSE_CATCH_UP;
    int64_t wall_ms = run->claimed_ms; /* of the plan: the clock may have stepped since */
    if (run->cause != CAUSE_TICK && !is_late)
        return;
    for (size_t at = 0; node_is_up(node) &&
                        (item = table_next(&engine_catalog(node->engine)->maintenance, &at));) {
        const int64_t *since_ms = known_since(cluster, node, item->id);
        if (!since_ms || *since_ms == INT64_MAX || cluster->stage.now_ms - *since_ms < KNOWN_MS)
            continue;
        bool is_in_it = maintenance_covers(item, run->job_name, run->not_before_ms) ||
                        (is_late && maintenance_covers(item, run->job_name, wall_ms) &&
                         maintenance_covers(item, run->job_name, wall_ms - KNOWN_MS));
        if (is_in_it)
            stage_fail(&cluster->stage, "tick %lld of %s is claimed in maintenance",
                       (long long)run->tick_ms / 1000, run->job_name);
    }
}
