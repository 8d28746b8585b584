/* What goes wrong, each from one number: which fault, where, and for how long. */
#include <stdlib.h>

#include "any_job.h"
#include "cluster.h"

enum fault_kind {
    FAULT_KILL,
    FAULT_KILL_SOON,
    FAULT_KILL_AT,
    FAULT_PAUSE_AT,
    FAULT_CUT_COMPACT,
    FAULT_STOP,
    FAULT_PAUSE,
    FAULT_REBOOT,
    FAULT_CLOCK,
    FAULT_CUT_OFF,
    FAULT_CUT_ONE,
    FAULT_RESET,
    FAULT_SLOW,
    FAULT_MEMBER_DOWN,
    FAULT_NO_LEADER,
    FAULT_NO_QUORUM,
    FAULT_LAG,
    FAULT_COMPACT,
    FAULT_LEASE,
    FAULT_FULL,
    FAULT_STUCK_WATCH,
    FAULT_EXECUTOR_AWAY,
    FAULT_EXECUTOR_SLOW,
    FAULT_HISTORY,
    FAULT_KINDS,
};

static const char *const names[] = {
    [FAULT_KILL] = "agent killed",
    [FAULT_KILL_SOON] = "agent killed in the middle of something",
    [FAULT_KILL_AT] = "agent killed in a state of a run",
    [FAULT_PAUSE_AT] = "machine paused in a state of a run",
    [FAULT_CUT_COMPACT] = "cut off from etcd, which is compacted",
    [FAULT_STOP] = "agent stopped",
    [FAULT_PAUSE] = "machine paused",
    [FAULT_REBOOT] = "machine rebooted",
    [FAULT_CLOCK] = "clock set",
    [FAULT_CUT_OFF] = "cut off from etcd",
    [FAULT_CUT_ONE] = "cut off from one member",
    [FAULT_RESET] = "connections reset",
    [FAULT_SLOW] = "slow network",
    [FAULT_MEMBER_DOWN] = "member killed",
    [FAULT_NO_LEADER] = "no leader",
    [FAULT_NO_QUORUM] = "no quorum",
    [FAULT_LAG] = "member lags",
    [FAULT_COMPACT] = "compaction",
    [FAULT_LEASE] = "lease lost",
    [FAULT_FULL] = "etcd is full",
    [FAULT_STUCK_WATCH] = "watch tells nothing",
    [FAULT_EXECUTOR_AWAY] = "executor away",
    [FAULT_EXECUTOR_SLOW] = "executor slow",
    [FAULT_HISTORY] = "history away or slow",
};

/* One that will come right again. */
struct fault {
    struct task task;
    struct cluster *cluster;
    enum fault_kind kind;
    int node, member;
    TAILQ_ENTRY(fault) link;
};

static enum fault_kind kind_of(uint64_t *random)
{
    return (enum fault_kind)any_below(random, FAULT_KINDS);
}

const char *fault_name(uint64_t random)
{
    return names[kind_of(&random)];
}

/* ---- coming right ---- */

static void cut(struct cluster *cluster, int node, unsigned cuts)
{
    for (int member = 0; member < NET_MEMBERS; member++)
        net_set_cuts(&cluster->net, node, member, cuts);
}

static void set_right(struct cluster *cluster, struct loop *machine)
{
    machine_set_wall(machine, cluster->wall_ms + cluster->stage.now_ms);
    node_wake((struct node *)machine);
}

static void heal(struct fault *fault)
{
    struct cluster *cluster = fault->cluster;
    struct node *node = &cluster->nodes[fault->node];
    stage_log(&cluster->stage, "heals: %s, %s", names[fault->kind], node->name);
    switch (fault->kind) {
    case FAULT_PAUSE:
        machine_resume(&node->machine);
        break;
    case FAULT_CLOCK:
        set_right(cluster, &node->machine);
        break;
    case FAULT_CUT_COMPACT:
        etcd_model_compact(&cluster->etcd.model, cluster->etcd.model.revision);
        cut(cluster, fault->node, 0);
        break;
    case FAULT_CUT_OFF:
        cut(cluster, fault->node, 0);
        break;
    case FAULT_CUT_ONE:
        net_set_cuts(&cluster->net, fault->node, fault->member, 0);
        break;
    case FAULT_SLOW:
        cluster->net.latency_ms[fault->node] = cluster->latency_ms;
        break;
    case FAULT_NO_QUORUM:
        etcd_serve_set_down(&cluster->etcd, (fault->member + 1) % NET_MEMBERS, false);
        etcd_serve_set_down(&cluster->etcd, fault->member, false);
        break;
    case FAULT_MEMBER_DOWN:
        etcd_serve_set_down(&cluster->etcd, fault->member, false);
        break;
    case FAULT_LAG:
        cluster->net.lag_ms[fault->member] = 0;
        break;
    case FAULT_FULL:
        cluster->etcd.model.is_full = false;
        break;
    case FAULT_EXECUTOR_AWAY:
        executor_set_away(node, false);
        break;
    case FAULT_EXECUTOR_SLOW:
        node->is_executor_slow = false;
        break;
    case FAULT_HISTORY:
        node->history_down = false;
        node->history_latency_ms = 0;
        break;
    case FAULT_KILL:
    case FAULT_KILL_SOON:
    case FAULT_KILL_AT:
    case FAULT_PAUSE_AT:
    case FAULT_STOP:
    case FAULT_REBOOT:
    case FAULT_RESET:
    case FAULT_NO_LEADER:
    case FAULT_COMPACT:
    case FAULT_LEASE:
    case FAULT_STUCK_WATCH:
    case FAULT_KINDS:
        break;
    }
}

static void fault_free(struct fault *fault)
{
    task_stop(&fault->cluster->stage, &fault->task);
    TAILQ_REMOVE(&fault->cluster->faults_now, fault, link);
    free(fault);
}

static void on_heal(struct task *task)
{
    struct fault *fault = (struct fault *)task;
    heal(fault);
    fault_free(fault);
}

/* ---- going wrong ---- */

static int64_t any_while_ms(uint64_t *random)
{
    int64_t sort = any_below(random, 10);
    return 1 + any_below(random, sort < 4 ? 3 * SECOND : sort < 8 ? 20 * SECOND : 3 * MINUTE);
}

static void down_for(struct node *node, uint64_t *random)
{
    int64_t sort = any_below(random, 10);
    int64_t ms = any_below(random, sort < 4 ? SECOND : sort < 8 ? 20 * SECOND : 15 * MINUTE);
    node_start_at(node, node->machine.stage->now_ms + ms);
}

static void reboot(struct node *node, uint64_t *random)
{
    struct stage *stage = node->machine.stage;
    node_kill(node);
    if (node->state != NODE_DOWN)
        return;
    children_lose(node);
    node->boots++;
    machine_reboot(&node->machine);
    node_start_at(node, stage->now_ms + 10 * SECOND + any_below(random, 5 * MINUTE));
}

static int64_t any_step_ms(uint64_t *random)
{
    int64_t sort = any_below(random, 10);
    int64_t ms = any_below(random, sort < 4 ? 500 : sort < 8 ? 20 * SECOND : HOUR);
    return any_chance(random, 50) ? ms : -ms;
}

static enum run_state any_state(uint64_t *random)
{
    static const enum run_state states[] = {RUN_CLAIMED, RUN_CLAIMED, RUN_BEGUN, RUN_BEGUN, RUN_OK};
    return states[any_below(random, sizeof(states) / sizeof(states[0]))];
}

static void begin(struct cluster *cluster, struct fault *fault, uint64_t *random)
{
    struct node *node = &cluster->nodes[fault->node];
    switch (fault->kind) {
    case FAULT_KILL:
        node_kill(node);
        down_for(node, random);
        break;
    case FAULT_KILL_SOON:
        node->machine.crash_in = 1 + (int)any_below(random, 60);
        break;
    case FAULT_KILL_AT:
    case FAULT_PAUSE_AT:
        node->trap = fault->kind == FAULT_KILL_AT ? TRAP_CRASH : TRAP_FREEZE;
        node->trap_at = any_state(random);
        break;
    case FAULT_STOP:
        node_stop(node);
        down_for(node, random);
        break;
    case FAULT_PAUSE:
        machine_pause(&node->machine);
        break;
    case FAULT_REBOOT:
        reboot(node, random);
        break;
    case FAULT_CLOCK:
        node->machine.ahead_ms += any_step_ms(random);
        node_wake(node);
        break;
    case FAULT_CUT_COMPACT:
    case FAULT_CUT_OFF:
        cut(cluster, fault->node, 1 + (unsigned)any_below(random, 3));
        break;
    case FAULT_CUT_ONE:
        net_set_cuts(&cluster->net, fault->node, fault->member, 1 + (unsigned)any_below(random, 3));
        break;
    case FAULT_RESET:
        net_reset(&cluster->net, fault->node);
        break;
    case FAULT_SLOW:
        cluster->net.latency_ms[fault->node] = any_below(random, 900);
        break;
    case FAULT_NO_QUORUM:
        etcd_serve_set_down(&cluster->etcd, (fault->member + 1) % NET_MEMBERS, true);
        etcd_serve_set_down(&cluster->etcd, fault->member, true);
        break;
    case FAULT_MEMBER_DOWN:
        etcd_serve_set_down(&cluster->etcd, fault->member, true);
        break;
    case FAULT_NO_LEADER:
        etcd_serve_lose_leader(&cluster->etcd, 300 + any_below(random, 8 * SECOND));
        break;
    case FAULT_LAG:
        cluster->net.lag_ms[fault->member] = any_below(random, 3 * SECOND);
        break;
    case FAULT_COMPACT:
        etcd_model_compact(&cluster->etcd.model,
                           cluster->etcd.model.revision - any_below(random, 20));
        break;
    case FAULT_LEASE:
        if (cluster->etcd.model.lease_count)
            etcd_serve_expire(
                &cluster->etcd,
                cluster->etcd.model
                    .leases[any_below(random, (int64_t)cluster->etcd.model.lease_count)]
                    .id);
        break;
    case FAULT_FULL:
        cluster->etcd.model.is_full = true;
        break;
    case FAULT_STUCK_WATCH:
        etcd_serve_stick(&cluster->etcd, fault->node);
        break;
    case FAULT_EXECUTOR_AWAY:
        executor_set_away(node, true);
        break;
    case FAULT_EXECUTOR_SLOW:
        node->is_executor_slow = true;
        break;
    case FAULT_HISTORY:
        node->history_down = any_chance(random, 60);
        node->history_latency_ms = node->history_down ? 0 : any_below(random, 10 * SECOND);
        break;
    case FAULT_KINDS:
        break;
    }
}

void fault_happen(struct cluster *cluster, uint64_t seed)
{
    uint64_t random = seed;
    struct fault *fault = calloc(1, sizeof(*fault));
    if (!fault)
        abort();
    task_init(&fault->task, NULL, on_heal);
    fault->cluster = cluster;
    fault->kind = kind_of(&random);
    fault->node = (int)any_below(&random, cluster->node_count);
    fault->member = (int)any_below(&random, NET_MEMBERS);
    TAILQ_INSERT_TAIL(&cluster->faults_now, fault, link);
    int64_t while_ms = any_while_ms(&random);
    stage_log(&cluster->stage, "FAULT: %s, %s, for %lld ms", names[fault->kind],
              cluster->nodes[fault->node].name, (long long)while_ms);
    cluster->faults++;
    begin(cluster, fault, &random);
    task_at(&cluster->stage, &fault->task, cluster->stage.now_ms + while_ms);
}

/* Also what two faults did to the same thing, of which the first to end healed both. */
void fault_heal_all(struct cluster *cluster)
{
    stage_log(&cluster->stage, "all comes right");
    for (struct fault *fault; (fault = TAILQ_FIRST(&cluster->faults_now));) {
        heal(fault);
        fault_free(fault);
    }
    cluster->etcd.model.is_full = false;
    for (int i = 0; i < NET_MEMBERS; i++) {
        etcd_serve_set_down(&cluster->etcd, i, false);
        cluster->net.lag_ms[i] = 0;
    }
    for (int i = 0; i < cluster->node_count; i++) {
        struct node *node = &cluster->nodes[i];
        node->machine.crash_in = 0;
        node->trap = TRAP_NONE;
        task_stop(&cluster->stage, &node->freeze);
        if (node->machine.is_paused)
            machine_resume(&node->machine);
        set_right(cluster, &node->machine);
        node_start_at(node, cluster->stage.now_ms);
    }
}

void faults_init(struct cluster *cluster)
{
    TAILQ_INIT(&cluster->faults_now);
}

void faults_release(struct cluster *cluster)
{
    for (struct fault *fault; (fault = TAILQ_FIRST(&cluster->faults_now));)
        fault_free(fault);
}
