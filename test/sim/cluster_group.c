/* The oracle, of groups: at no moment more of their runs are begun than their limits allow, on all
 * nodes, on each, and on those with the same label. A run that is lost may go on: it does not
 * count. The runs of a namespace are in its group. */
#include <string.h>

#include "cluster.h"
#include "group/group.h"

#define SPACE "team/"

const struct sim_group sim_groups[SIM_GROUPS] = {
    {"two", "{\"cluster\":2}", {.cluster = 2}},
    {"one-each", "{\"cluster\":3,\"node\":1}", {.cluster = 3, .node = 1}},
    {"by-zone",
     "{\"cluster\":4,\"labels\":{\"zone\":1}}",
     {.cluster = 4, .labels = {{"zone", 1}}, .label_count = 1}},
    {SPACE, "{\"cluster\":2}", {.cluster = 2}},
};

bool groups_are_there(const struct cluster *cluster)
{
    return cluster->groups_there == (1U << SIM_GROUPS) - 1;
}

static bool has_slots(const struct known_run *known)
{
    return known->is_stored && (known->run.state == RUN_CLAIMED || known->run.state == RUN_BEGUN);
}

/* Its node has come back, found the process, and counts it on itself. */
static bool is_lost_and_lives(const struct known_run *known)
{
    return known->is_stored && known->run.state == RUN_LOST && known->child &&
           child_is_alive(known->child, MINUTE);
}

/* How many runs of a group are begun: on all nodes, on that of a run, and on those with its label.
 */
struct begun {
    int all, here, alike;
};

static struct begun count_begun(struct cluster *cluster, const char *group, const struct run *run)
{
    const char *labels = node_of_home(cluster, &run->owner)->config.self.labels;
    const struct known_run *other;
    struct begun begun = {0};
    for (size_t at = 0; (other = table_next(&cluster->runs, &at));) {
        if (!other->is_stored || other->run.state != RUN_BEGUN ||
            !groups_have(other->run.groups, group))
            continue;
        const struct node *node = node_of_home(cluster, &other->run.owner);
        begun.all++;
        begun.here += strcmp(other->run.node, run->node) == 0;
        begun.alike += strcmp(node->config.self.labels, labels) == 0;
    }
    return begun;
}

/* Whoever is claimed only to be ended has none, and is never begun. After a restore the groups may
 * be gone. */
void groups_see(struct cluster *cluster, const struct known_run *known, const struct run *was)
{
    const struct run *run = &known->run;
    if (run->state != RUN_BEGUN || was->state == RUN_BEGUN || !run->groups[0] ||
        cluster->restored_ms)
        return;
    cluster->grouped++;
    for (size_t i = 0; i < SIM_GROUPS; i++) {
        const struct group_limits *limits = &sim_groups[i].limits;
        if (!groups_have(run->groups, sim_groups[i].name))
            continue;
        struct begun begun = count_begun(cluster, sim_groups[i].name, run);
        bool is_over = begun.all > limits->cluster || (limits->node && begun.here > limits->node) ||
                       (limits->label_count && begun.alike > limits->labels[0].most);
        if (is_over)
            stage_fail(&cluster->stage,
                       "%d runs of the group %s are begun, %d of them on %s, %d with its label",
                       begun.all, sim_groups[i].name, begun.here, run->node, begun.alike);
    }
}

/* ---- namespaces ---- */

enum { KNOWN_MS = 30 * 1000 }; /* what was planned before has been done, or never will be */

void groups_look(struct cluster *cluster)
{
    for (int i = 0; i < cluster->node_count; i++) {
        const struct node *node = &cluster->nodes[i];
        bool is_known =
            node_is_up(node) && known_groups_find(&engine_catalog(node->engine)->groups, SPACE);
        if (!is_known)
            cluster->space_since_ms[i] = 0;
        else if (!cluster->space_since_ms[i])
            cluster->space_since_ms[i] = cluster->stage.now_ms;
    }
}

/* A node that has known of the limit for a while claims no tick without its slot. */
void groups_check_claim(struct cluster *cluster, const struct node *node, const struct run *run)
{
    int64_t since_ms = cluster->space_since_ms[node - cluster->nodes];
    bool is_tick = run->cause == CAUSE_TICK || run->cause == CAUSE_CATCH_UP;
    bool is_known = since_ms && cluster->stage.now_ms - since_ms > KNOWN_MS;
    if (is_tick && is_known && run->state != RUN_RUNNING && group_space_has(SPACE, run->job_name) &&
        !groups_have(run->groups, SPACE))
        stage_fail(&cluster->stage, "tick %lld of %s is claimed without a slot of its namespace",
                   (long long)run->tick_ms / 1000, run->job_name);
}

/* ---- waiting ---- */

/* While others have slots, it may have to wait for theirs, or behind one that does. */
bool groups_may_wait(const struct cluster *cluster, const struct run *run)
{
    const struct known_run *other;
    bool is_grouped = run->groups[0] || group_space_has(SPACE, run->job_name);
    for (size_t at = 0; is_grouped && (other = table_next(&cluster->runs, &at));)
        if (other->run.groups[0] && (has_slots(other) || is_lost_and_lives(other)) &&
            id_compare(&other->id, &run->id) != 0)
            return true;
    return false;
}
