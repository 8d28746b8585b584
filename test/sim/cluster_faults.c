/* What goes wrong, each from one number: which fault, where, and for how long. */
#include <stdlib.h>

#include "any_job.h"
#include "world.h"

static const char *const names[] = {
    [FAULT_KILL] = "agent killed",
    [FAULT_KILL_SOON] = "agent killed in the middle of something",
    [FAULT_KILL_AT] = "agent killed in a state of a run",
    [FAULT_PAUSE_AT] = "machine paused in a state of a run",
    [FAULT_OVERTAKEN] = "machine paused with a claim, until that is taken over",
    [FAULT_STOP] = "agent stopped",
    [FAULT_PAUSE] = "machine paused",
    [FAULT_REBOOT] = "machine rebooted",
    [FAULT_POWER] = "power cut: all machines rebooted",
    [FAULT_CLOCK] = "clock set",
    [FAULT_CLOCKS] = "all clocks set",
    [FAULT_BLIP] = "all clocks set for a moment, right after an agent was killed",
    [FAULT_CUT_OFF] = "cut off from the store",
    [FAULT_CUT_COMPACT] = "cut off from the store, which is compacted",
    [FAULT_LOST_ANSWERS] = "answers of the store lost",
    [FAULT_LOST_BEGIN] = "all that the store tells is lost, from a begin on",
    [FAULT_CUT_ONE] = "cut off from one member",
    [FAULT_RESET] = "connections reset",
    [FAULT_SLOW] = "slow network",
    [FAULT_MEMBER_DOWN] = "member killed",
    [FAULT_NO_LEADER] = "no leader",
    [FAULT_NO_QUORUM] = "no quorum",
    [FAULT_LAG] = "member lags",
    [FAULT_COMPACT] = "compaction",
    [FAULT_LEASE] = "lease lost",
    [FAULT_TOPPLE] = "leases of leaders lost, one after the other",
    [FAULT_FULL] = "store is full",
    [FAULT_STUCK_WATCH] = "watch tells nothing",
    [FAULT_RESTORE] = "store away, and restored from a backup",
    [FAULT_TORN] = "member tells in pieces, slowly",
    [FAULT_EXECUTOR_AWAY] = "executor away",
    [FAULT_EXECUTOR_SLOW] = "executor slow",
    [FAULT_HISTORY] = "history away or slow",
    [FAULT_JUMP] = "clock jumps",
    [FAULT_JUMPS] = "all clocks jump",
    [FAULT_JUMPS_BUT_ONE] = "all clocks jump but one",
    [FAULT_BOOT_CLOCK] = "machine rebooted, with a wrong clock",
    [FAULT_TWIN] = "a replacement starts under the id of the first node, which may live",
};

/* ---- which ---- */

/* By chance alone faults are seldom at the right place: so there are lives with those that meet a
 * run between its claim and its start, or the clocks, or the election, or what is told of it. */
static const enum fault_kind races[] = {FAULT_KILL_SOON,  FAULT_KILL_AT,      FAULT_PAUSE_AT,
                                        FAULT_PAUSE_AT,   FAULT_OVERTAKEN,    FAULT_OVERTAKEN,
                                        FAULT_LOST_BEGIN, FAULT_LOST_ANSWERS, FAULT_LOST_BEGIN,
                                        FAULT_LEASE,      FAULT_EXECUTOR_SLOW};
static const enum fault_kind clocks[] = {FAULT_CLOCK, FAULT_CLOCK,   FAULT_CLOCKS, FAULT_CLOCKS,
                                         FAULT_BLIP,  FAULT_HISTORY, FAULT_KILL,   FAULT_RESET};
static const enum fault_kind leaders[] = {FAULT_TOPPLE, FAULT_TOPPLE, FAULT_TOPPLE, FAULT_LEASE,
                                          FAULT_KILL,   FAULT_STOP,   FAULT_SLOW,   FAULT_RESET,
                                          FAULT_PAUSE,  FAULT_PAUSE,  FAULT_CUT_OFF};
static const enum fault_kind pieces[] = {FAULT_TORN,  FAULT_TORN,    FAULT_TORN,
                                         FAULT_TORN,  FAULT_CUT_OFF, FAULT_CUT_OFF,
                                         FAULT_RESET, FAULT_PAUSE,   FAULT_KILL};

/* Without clocks that are set: the oracle would take the note of a cursor that went back with one,
 * and that the restored store has forgotten, for the end of the ticks that it names. */
static const enum fault_kind restores[] = {
    FAULT_RESTORE, FAULT_RESTORE, FAULT_CUT_OFF, FAULT_CUT_ONE, FAULT_RESET,
    FAULT_SLOW,    FAULT_PAUSE,   FAULT_HISTORY, FAULT_LAG,     FAULT_KILL,
    FAULT_KILL,    FAULT_STOP,    FAULT_REBOOT};

static const enum fault_kind jumps[] = {
    FAULT_JUMP,       FAULT_JUMP,  FAULT_JUMPS,  FAULT_JUMPS, FAULT_JUMPS_BUT_ONE,
    FAULT_BOOT_CLOCK, FAULT_CLOCK, FAULT_CLOCKS, FAULT_KILL,  FAULT_REBOOT};

/* What makes two agents of one id meet: in every order of freeze, cut, restart and death. */
static const enum fault_kind twins[] = {
    FAULT_TWIN,       FAULT_TWIN,  FAULT_TWIN, FAULT_PAUSE,  FAULT_PAUSE,   FAULT_PAUSE_AT,
    FAULT_CUT_OFF,    FAULT_LEASE, FAULT_KILL, FAULT_REBOOT, FAULT_STOP,    FAULT_OVERTAKEN,
    FAULT_LOST_BEGIN, FAULT_RESET, FAULT_SLOW, FAULT_LAG,    FAULT_KILL_AT, FAULT_NO_QUORUM};

/* Nodes that boot together, and again before all is decided. */
static const enum fault_kind boots[] = {
    FAULT_POWER,   FAULT_POWER,   FAULT_REBOOT,        FAULT_REBOOT,       FAULT_REBOOT,
    FAULT_KILL,    FAULT_KILL,    FAULT_KILL_SOON,     FAULT_KILL_AT,      FAULT_PAUSE_AT,
    FAULT_PAUSE,   FAULT_STOP,    FAULT_EXECUTOR_AWAY, FAULT_LOST_ANSWERS, FAULT_LOST_BEGIN,
    FAULT_CUT_OFF, FAULT_HISTORY, FAULT_CLOCK,         FAULT_SLOW,         FAULT_NO_QUORUM};

static const struct {
    const char *name;
    const enum fault_kind *kinds; /* NULL: all from `first` on */
    size_t count;
    enum fault_kind first;
} mixes[] = {
    [MIX_ANY] = {"any", NULL, FAULT_RESTORE, FAULT_KILL},
    [MIX_RACES] = {"races", races, sizeof(races) / sizeof(races[0]), FAULT_KILL},
    [MIX_JUMPS] = {"jumps", jumps, sizeof(jumps) / sizeof(jumps[0]), FAULT_KILL},
    [MIX_BOOTS] = {"boots", boots, sizeof(boots) / sizeof(boots[0]), FAULT_KILL},
    [MIX_CLOCKS] = {"clocks", clocks, sizeof(clocks) / sizeof(clocks[0]), FAULT_KILL},
    [MIX_STORE] = {"store", NULL, FAULT_RESTORE - FAULT_CUT_OFF, FAULT_CUT_OFF},
    [MIX_PEOPLE] = {"people", NULL, FAULT_RESTORE, FAULT_KILL},
    [MIX_LEADERS] = {"leaders", leaders, sizeof(leaders) / sizeof(leaders[0]), FAULT_KILL},
    [MIX_RESTORES] = {"restores", restores, sizeof(restores) / sizeof(restores[0]), FAULT_KILL},
    [MIX_TWINS] = {"twins", twins, sizeof(twins) / sizeof(twins[0]), FAULT_KILL},
    [MIX_WORKFLOWS] = {"workflows", NULL, FAULT_RESTORE, FAULT_KILL},
    [MIX_GROUPS] = {"groups", NULL, FAULT_RESTORE, FAULT_KILL},
    [MIX_PIECES] = {"pieces", pieces, sizeof(pieces) / sizeof(pieces[0]), FAULT_KILL},
};

const char *fault_mix_name(enum fault_mix mix)
{
    return mixes[mix].name;
}

static int64_t any_while_ms(uint64_t *random)
{
    int64_t sort = any_below(random, 10);
    return 1 + any_below(random, sort < 4 ? 3 * SECOND : sort < 8 ? 20 * SECOND : 3 * MINUTE);
}

/* All that the number says of a fault, but for what its kind draws from it afterwards. */
static void choose(const struct cluster *cluster, enum fault_mix mix, uint64_t *random,
                   struct fault *fault, int64_t *ret_while_ms)
{
    int64_t index = any_below(random, (int64_t)mixes[mix].count);
    fault->kind = mixes[mix].kinds ? mixes[mix].kinds[index]
                                   : (enum fault_kind)((int64_t)mixes[mix].first + index);
    fault->node = (int)any_below(random, cluster->node_count);
    fault->member = (int)any_below(random, 3);
    *ret_while_ms = fault->kind == FAULT_BLIP ? 1 + any_below(random, 400) : any_while_ms(random);
    if (fault->kind >= FAULT_JUMP && any_chance(random, 30)) /* longer than it is doubted */
        *ret_while_ms = 9 * MINUTE + any_below(random, 6 * MINUTE);
}

void fault_describe(const struct cluster *cluster, enum fault_mix mix, uint64_t random,
                    struct strbuf *ret)
{
    struct fault fault = {0};
    int64_t while_ms;
    choose(cluster, mix, &random, &fault, &while_ms);
    strbuf_addf(ret, "%s (node-%d, or member %d; for %lld.%03d s if it lasts)", names[fault.kind],
                fault.node + 1, fault.member + 1, (long long)while_ms / 1000,
                (int)(while_ms % 1000));
}

/* ---- clocks that nobody has set ---- */

enum { POLL_MS = 64 * SECOND, SLEW_MS = 128 }; /* as ntpd does; further off, it was set */

/* A time server keeps them right: they drift, and would be half a second apart within hours, after
 * which their nodes would take nothing for the rest of a life. */
static void on_poll(struct task *task)
{
    struct cluster *cluster = (struct cluster *)((char *)task - offsetof(struct cluster, poll));
    int64_t right_ms = cluster->wall_ms + cluster->stage.now_ms;
    for (int i = 0; i < cluster->node_count; i++) {
        struct loop *machine = &cluster->nodes[i].machine;
        if (llabs(machine_now(machine).wall.ms - right_ms) <= SLEW_MS)
            machine_set_wall(machine, right_ms);
    }
    task_at(&cluster->stage, task, cluster->stage.now_ms + POLL_MS);
}

/* ---- coming right ---- */

/* Also what has drifted for days. */
static void set_right(struct cluster *cluster, struct loop *machine)
{
    int64_t right_ms = cluster->wall_ms + cluster->stage.now_ms;
    if (llabs(machine_now(machine).wall.ms - right_ms) > CLOCK_OFF_MS)
        cluster->clock_off_ms = cluster->stage.now_ms;
    machine_set_wall(machine, right_ms);
    node_wake((struct node *)machine);
}

static void heal(struct fault *fault)
{
    struct cluster *cluster = fault->cluster;
    struct node *node = &cluster->nodes[fault->node];
    stage_log(&cluster->stage, "heals: %s, %s", names[fault->kind], node->name);
    switch ((int)fault->kind) {
    case FAULT_PAUSE:
        machine_resume(&node->machine);
        break;
    case FAULT_CLOCK:
        set_right(cluster, &node->machine);
        break;
    case FAULT_JUMP:
    case FAULT_BOOT_CLOCK:
        set_right(cluster, &node->machine);
        break;
    case FAULT_BLIP:
    case FAULT_CLOCKS:
    case FAULT_JUMPS:
    case FAULT_JUMPS_BUT_ONE:
        for (int i = 0; i < cluster->node_count; i++)
            set_right(cluster, &cluster->nodes[i].machine);
        break;
    case FAULT_TWIN: /* one of the two goes; or both stay */
        if (cluster->has_twin && stage_chance(&cluster->stage, 700))
            node_kill(stage_chance(&cluster->stage, 500)
                          ? &cluster->nodes[0]
                          : &cluster->nodes[cluster->node_count - 1]);
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
    default:
        world_mend(cluster, fault);
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

static void down_for(struct node *node, uint64_t *random)
{
    int64_t sort = any_below(random, 10);
    int64_t ms = any_below(random, sort < 4 ? SECOND : sort < 8 ? 20 * SECOND : 15 * MINUTE);
    node_start_at(node, node->machine.stage->now_ms + ms);
}

static void reboot_for(struct node *node, int64_t ms)
{
    struct stage *stage = node->machine.stage;
    node_kill(node);
    if (node->state != NODE_DOWN)
        return;
    children_lose(node);
    node->boots++;
    machine_reboot(&node->machine);
    node_start_at(node, stage->now_ms + ms);
}

static void reboot(struct node *node, uint64_t *random)
{
    bool is_quick = node->cluster->has_boots && any_chance(random, 60);
    reboot_for(node, (is_quick ? SECOND : 10 * SECOND) +
                         any_below(random, is_quick ? 10 * SECOND : 5 * MINUTE));
}

static void cut_power(struct cluster *cluster, uint64_t *random)
{
    int64_t ms = 2 * SECOND + any_below(random, MINUTE);
    for (int i = 0; i < cluster->node_count; i++)
        if (!cluster->nodes[i].is_twin)
            reboot_for(&cluster->nodes[i], ms + any_below(random, 2 * SECOND));
}

static int64_t any_step_ms(uint64_t *random)
{
    int64_t sort = any_below(random, 10);
    int64_t ms = any_below(random, sort < 4 ? 500 : sort < 8 ? 20 * SECOND : HOUR);
    return any_chance(random, 50) ? ms : -ms;
}

/* Of any size. What is believed is walked through tick by tick: so those that all believe are of
 * days, and only those that one node has alone are of years. */
static int64_t any_jump_ms(uint64_t *random, bool is_alone)
{
    static const int64_t sizes_ms[] = {
        1500, 20 * SECOND, 3 * MINUTE, HOUR, 10 * HOUR, 30 * HOUR, INT64_C(3650) * 24 * HOUR};
    int64_t count = (int64_t)(sizeof(sizes_ms) / sizeof(sizes_ms[0])) - (is_alone ? 0 : 1);
    int64_t size_ms = sizes_ms[any_below(random, count)];
    int64_t ms = size_ms / 2 + any_below(random, size_ms / 2);
    return any_chance(random, 50) ? ms : -ms;
}

static void set_clock(struct node *node, int64_t by_ms)
{
    node->cluster->clock_off_ms = node->cluster->stage.now_ms;
    node->machine.ahead_ms += by_ms;
    node_wake(node);
}

/* As a bad time server does. */
static void set_all_clocks(struct cluster *cluster, int64_t by_ms)
{
    for (int i = 0; i < cluster->node_count; i++)
        set_clock(&cluster->nodes[i], by_ms);
}

static void jump_but_one(struct cluster *cluster, const struct node *one, int64_t by_ms)
{
    for (int i = 0; i < cluster->node_count; i++)
        if (&cluster->nodes[i] != one)
            set_clock(&cluster->nodes[i], by_ms);
}

static enum run_state any_state(uint64_t *random)
{
    static const enum run_state states[] = {RUN_CLAIMED, RUN_CLAIMED, RUN_BEGUN, RUN_BEGUN, RUN_OK};
    return states[any_below(random, sizeof(states) / sizeof(states[0]))];
}

static void begin(struct cluster *cluster, struct fault *fault, uint64_t *random)
{
    struct node *node = &cluster->nodes[fault->node];
    switch ((int)fault->kind) {
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
    case FAULT_OVERTAKEN:
        node->trap = TRAP_FREEZE_UNTIL_TAKEN;
        node->trap_at = RUN_CLAIMED;
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
    case FAULT_POWER:
        cut_power(cluster, random);
        break;
    case FAULT_CLOCK:
        set_clock(node, any_step_ms(random));
        break;
    case FAULT_CLOCKS:
        set_all_clocks(cluster, any_step_ms(random));
        break;
    case FAULT_JUMP:
        set_clock(node, any_jump_ms(random, cluster->node_count > 2));
        break;
    case FAULT_JUMPS:
        set_all_clocks(cluster, any_jump_ms(random, false));
        break;
    case FAULT_JUMPS_BUT_ONE:
        jump_but_one(cluster, node, any_jump_ms(random, false));
        break;
    case FAULT_BOOT_CLOCK:
        reboot(node, random);
        set_clock(node, any_jump_ms(random, cluster->node_count > 2));
        break;
    case FAULT_BLIP: /* for the others it is still there, and first for some jobs */
        node_kill(node);
        node_start_at(node, cluster->stage.now_ms + any_below(random, 15 * MINUTE));
        set_all_clocks(cluster, any_below(random, HOUR));
        break;
    case FAULT_TWIN: /* for its id the last machine is another home */
        if (cluster->has_twin)
            node_start_at(&cluster->nodes[cluster->node_count - 1], cluster->stage.now_ms);
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
    default:
        world_break(cluster, fault, random);
        break;
    }
}

void fault_happen(struct cluster *cluster, enum fault_mix mix, uint64_t seed)
{
    uint64_t random = seed;
    int64_t while_ms;
    struct fault *fault = calloc(1, sizeof(*fault));
    if (!fault)
        abort();
    task_init(&fault->task, NULL, on_heal);
    fault->cluster = cluster;
    choose(cluster, mix, &random, fault, &while_ms);
    TAILQ_INSERT_TAIL(&cluster->faults_now, fault, link);
    stage_log(&cluster->stage, "FAULT: %s, %s, for %lld ms", names[fault->kind],
              cluster->nodes[fault->node].name, (long long)while_ms);
    cluster->faults++;
    cluster->healed_ms = 0;
    if (fault->kind == FAULT_LEASE || fault->kind == FAULT_TOPPLE)
        cluster->revoked_ms = cluster->stage.now_ms;
    begin(cluster, fault, &random);
    task_at(&cluster->stage, &fault->task, cluster->stage.now_ms + while_ms);
}

/* Also what two faults did to the same thing, of which the first to end healed both. */
void fault_heal_all(struct cluster *cluster)
{
    cluster->healed_ms = cluster->stage.now_ms;
    stage_log(&cluster->stage, "all comes right");
    for (struct fault *fault; (fault = TAILQ_FIRST(&cluster->faults_now));) {
        heal(fault);
        fault_free(fault);
    }
    world_mend_all(cluster);
    for (int i = 0; i < cluster->node_count; i++) {
        struct node *node = &cluster->nodes[i];
        node->machine.crash_in = 0;
        node->trap = TRAP_NONE;
        node->thaws_when_taken = false;
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
    task_init(&cluster->poll, NULL, on_poll);
    if (!stage_chance(&cluster->stage, 100)) /* else there is no time server */
        task_at(&cluster->stage, &cluster->poll, POLL_MS);
}

void faults_release(struct cluster *cluster)
{
    task_stop(&cluster->stage, &cluster->poll);
    for (struct fault *fault; (fault = TAILQ_FIRST(&cluster->faults_now));)
        fault_free(fault);
}
