/* The oracle, of groups: at no moment more of their runs are begun than their limits allow, on all
 * nodes and on each. A run that is lost may go on: it does not count. */
#include <string.h>

#include "cluster.h"
#include "group/group.h"

const struct sim_group sim_groups[SIM_GROUPS] = {
    {"two", "{\"cluster\":2}", {.cluster = 2}},
    {"one-each", "{\"cluster\":3,\"node\":1}", {.cluster = 3, .node = 1}},
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

/* Whoever is claimed only to be ended has none, and is never begun. After a restore the groups may
 * be gone. */
void groups_see(struct cluster *cluster, const struct known_run *known, const struct run *was)
{
    const struct run *run = &known->run;
    const struct known_run *other;
    if (run->state != RUN_BEGUN || was->state == RUN_BEGUN || !run->groups[0] ||
        cluster->restored_ms)
        return;
    cluster->grouped++;
    for (size_t i = 0; i < SIM_GROUPS; i++) {
        const struct sim_group *group = &sim_groups[i];
        int begun = 0, here = 0;
        if (!groups_have(run->groups, group->name))
            continue;
        for (size_t at = 0; (other = table_next(&cluster->runs, &at));) {
            bool is_one = other->is_stored && other->run.state == RUN_BEGUN &&
                          groups_have(other->run.groups, group->name);
            begun += is_one;
            here += is_one && strcmp(other->run.node, run->node) == 0;
        }
        if (begun > group->limits.cluster || (group->limits.node && here > group->limits.node))
            stage_fail(&cluster->stage, "%d runs of the group %s are begun, %d of them on %s",
                       begun, group->name, here, run->node);
    }
}

/* While others have slots, it may have to wait for theirs, or behind one that does. */
bool groups_may_wait(const struct cluster *cluster, const struct run *run)
{
    const struct known_run *other;
    for (size_t at = 0; run->groups[0] && (other = table_next(&cluster->runs, &at));)
        if (other->run.groups[0] && (has_slots(other) || is_lost_and_lives(other)) &&
            id_compare(&other->id, &run->id) != 0)
            return true;
    return false;
}
