#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "world.h"

enum { TURNS_AT_ONCE = 3000 }; /* without time passing; more is a busy loop */

bool node_is_up(const struct node *node)
{
    return node->state == NODE_UP;
}

/* ---- turns ---- */

/* Whoever leads may be sure that no other does; unless leases do not last as long as they say. */
static void check_leads_alone(struct node *leader)
{
    struct cluster *cluster = leader->cluster;
    if (cluster->revoked_ms && cluster->stage.now_ms < cluster->revoked_ms + 2 * LEASE_MS)
        return;
    for (int i = 0; i < cluster->node_count; i++) {
        struct node *node = &cluster->nodes[i];
        if (node == leader || !node_is_up(node))
            continue;
        struct loop *before = machine_enter(&node->machine);
        bool leads = store_leads(node->store);
        machine_leave(before);
        if (leads)
            stage_fail(&cluster->stage, "%s leads, and so does %s", leader->name, node->name);
    }
}

static void take_turn(void *context)
{
    struct node *node = context;
    struct stage *stage = node->machine.stage;
    struct now now = clock_now();
    if (!node->engine) /* it is still reading, and will take a turn then */
        return;
    node->turns_at_once = node->turned_ms == stage->now_ms ? node->turns_at_once + 1 : 0;
    node->turned_ms = stage->now_ms;
    if (node->turns_at_once > TURNS_AT_ONCE)
        stage_fail(stage, "%s: %d turns at one instant", node->name, TURNS_AT_ONCE);
    uint64_t deeds = node->deeds;
    node->cluster->turns++;
    absence_see_turn(node->cluster, now.wall.ms);
    engine_step(node->engine, now);
    if (store_leads(node->store))
        check_leads_alone(node);
    int64_t wake_ms = engine_wake_at(node->engine).ms;
    /* Once it may: what it took note of last, such as a start that is too late, makes room. */
    bool is_idle = world_counts_deeds() && node->deeds == deeds && wake_ms <= now.wall.ms;
    if (is_idle && node->was_idle)
        stage_fail(stage, "%s wants a turn at once after two in which it did nothing", node->name);
    node->was_idle = is_idle;
    if (wake_ms != NEVER_MS)
        loop_timer_set(node->turn, wake_ms - now.wall.ms);
}

void node_wake(struct node *node)
{
    if (node->turn)
        loop_timer_set(node->turn, 0);
}

static void on_wake(void *context)
{
    node_wake(context);
}

/* ---- ports ---- */

static void fill_entropy(void *context, void *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        ((uint8_t *)bytes)[i] = (uint8_t)(stage_random(context) >> 32);
}

/* Another one every few seconds; of an older peal, or a kernel without figures, none. */
static void read_pressure(void *context, struct peer *ret)
{
    const struct node *node = context;
    int64_t number[2] = {node->machine.number, node->machine.stage->now_ms / (7 * SECOND)};
    uint64_t hash = hash_bytes(0, number, sizeof(number));
    ret->cpu_pressure = (int)hash_below(hash, 102) - 1;
    ret->memory_pressure = (int)(hash % 5 ? 0 : hash_below(hash, 50));
}

static void log_event(void *context, const char *event, const char *particulars)
{
    const struct node *node = context;
    stage_log(node->machine.stage, "%s: %s %s", node->name, event, particulars);
}

/* ---- an agent's life ---- */

/* A supervisor starts it again. */
static void start_later(struct node *node, const char *why)
{
    struct stage *stage = node->machine.stage;
    stage_log(stage, "%s: does not start: %s", node->name, why);
    node->state = NODE_DOWN;
    node_start_at(node, stage->now_ms + SECOND + stage_below(stage, 4 * SECOND));
}

static enum status open_store(struct node *node)
{
    struct strbuf why;
    strbuf_init(&why);
    enum status st = world_open(node, (struct store_wake){on_wake, node}, &node->store, &why);
    if (st != OK)
        start_later(node, why.text);
    strbuf_release(&why);
    return st;
}

static void on_start(struct task *task)
{
    struct node *node = (struct node *)((char *)task - offsetof(struct node, start));
    struct stage *stage = node->machine.stage;
    if (stage->depth) { /* another one waits for its start: one after the other */
        task_at(stage, task, stage->now_ms + 20);
        return;
    }
    stage_log(stage, "%s starts", node->name);
    node->state = NODE_STARTING;
    if (loop_timer_new(&node->machine, take_turn, node, &node->turn) != OK)
        abort();
    if (open_store(node) != OK) {
        node->turn = loop_timer_free(node->turn);
        return;
    }
    struct engine_ports ports = {
        .store = node->store,
        .executor = &node->executor,
        .history = &node->history,
        .zones = node->cluster->zones,
        .entropy = {fill_entropy, stage},
        .pressure = {read_pressure, node},
        .functions = program_book(node),
        .log = {log_event, node},
    };
    uint8_t random[10];
    fill_entropy(stage, random, sizeof(random));
    node->config.self.instance = id_make(clock_now().wall, random);
    node->config.self.started_ms = clock_now().wall.ms;
    snprintf(node->config.boot_id, sizeof(node->config.boot_id), "boot-%d-%d",
             node->machine.number + 1, node->boots);
    if (engine_new(&node->config, &ports, &node->engine) != OK)
        abort();
    node->state = NODE_UP;
    children_attach(node);
    node_wake(node);
}

void node_start_at(struct node *node, int64_t at_ms)
{
    if (node->state == NODE_DOWN && !node->is_gone)
        task_at(node->machine.stage, &node->start, at_ms);
}

static void free_program(struct node *node)
{
    node->state = NODE_STOPPING;
    node->machine.crash_in = 0;
    node->turn = loop_timer_free(node->turn);
    node->store = store_free(node->store);
    node->engine = engine_free(node->engine);
    if (peer_is_program(&node->config.self))
        children_die(node);
    node->state = NODE_DOWN;
    node->down_since_ms = node->machine.stage->now_ms;
}

void node_kill(struct node *node)
{
    if (node->state != NODE_UP)
        return;
    if (node->cluster->healed_ms) /* what it had is looked at, also when it is up again */
        node->cluster->healed_ms = node->cluster->stage.now_ms;
    struct loop *before = machine_enter(&node->machine);
    node->machine.is_ghost = true;
    world_forget(node);
    history_abandon(node);
    free_program(node);
    node->machine.is_ghost = false;
    node->machine.ghost_ms = 0;
    machine_leave(before);
    if (node->machine.is_paused)
        machine_resume(&node->machine);
}

/* In the middle of something; see machine_act. */
static void on_crash(struct task *task)
{
    struct node *node = (struct node *)((char *)task - offsetof(struct node, crash));
    struct stage *stage = node->machine.stage;
    if (node->state != NODE_UP)
        return;
    stage_log(stage, "%s: kill -9 in the middle of something", node->name);
    node_kill(node);
    node_start_at(node,
                  stage->now_ms + (stage_chance(stage, 500) ? 0 : stage_below(stage, MINUTE)));
}

static void on_freeze(struct task *task)
{
    struct node *node = (struct node *)((char *)task - offsetof(struct node, freeze));
    struct stage *stage = node->machine.stage;
    if (node->state != NODE_UP || node->machine.is_paused)
        return;
    stage_log(stage, "%s: stopped in the middle of something", node->name);
    machine_pause(&node->machine);
    if (node->thaws_when_taken) {
        task_at(stage, &node->thaw, stage->now_ms + MINUTE);
        return;
    }
    /* Often when others are about to take over, or when it is too late for a run. */
    int64_t ms = stage_chance(stage, 400)   ? LEASE_MS + stage_below(stage, 2 * SECOND)
                 : stage_chance(stage, 500) ? 30 * SECOND + stage_below(stage, 5 * SECOND)
                                            : stage_below(stage, 15 * SECOND);
    task_at(stage, &node->thaw, stage->now_ms + ms);
}

static void on_thaw(struct task *task)
{
    struct node *node = (struct node *)((char *)task - offsetof(struct node, thaw));
    node->thaws_when_taken = false;
    if (!node->machine.is_paused)
        return;
    world_thaw(node);
    machine_resume(&node->machine);
}

/* Before the other one has gone on with it. */
void node_is_overtaken(struct node *node)
{
    struct stage *stage = node->machine.stage;
    if (node->thaws_when_taken && node->machine.is_paused)
        task_at(stage, &node->thaw, stage->now_ms + stage_below(stage, 3));
}

void node_trigger(struct node *node, enum run_state state)
{
    struct stage *stage = node->machine.stage;
    if (node->trap == TRAP_NONE || node->trap_at != state)
        return;
    struct task *task = node->trap == TRAP_CRASH ? &node->crash : &node->freeze;
    node->thaws_when_taken = node->trap == TRAP_FREEZE_UNTIL_TAKEN;
    node->trap = TRAP_NONE;
    if (stage_chance(stage, 600))
        task_now(stage, task);
    else
        task_at(stage, task, stage->now_ms + stage_below(stage, 60));
}

void node_stop(struct node *node)
{
    struct stage *stage = node->machine.stage;
    if (node->state != NODE_UP || node->machine.is_paused)
        return;
    engine_drain(node->engine);
    for (int i = 0; i < 20 && node->state == NODE_UP && !engine_is_idle(node->engine); i++)
        stage_play(stage, stage->now_ms + 100);
    if (node->machine.is_paused) /* whoever told it to stop is not that patient */
        node_kill(node);
    if (node->state != NODE_UP)
        return;
    struct loop *before = machine_enter(&node->machine);
    history_abandon(node);
    free_program(node);
    machine_leave(before);
    world_stop(node);
}

/* A home is the number of its machine, from 1 on. */
struct node *node_of_home(struct cluster *cluster, const struct incarnation *owner)
{
    if (owner->home < 1 || owner->home > (uint64_t)cluster->node_count)
        stage_fail(&cluster->stage, "something is of a machine that never was");
    return &cluster->nodes[owner->home - 1];
}

void node_init(struct node *node, struct cluster *cluster, int number)
{
    struct stage *stage = &cluster->stage;
    *node = (struct node){.cluster = cluster, .boots = 1};
    machine_init(&node->machine, stage, number, cluster->wall_ms + stage->now_ms);
    node->is_twin = cluster->has_twin && number == cluster->node_count - 1;
    snprintf(node->name, sizeof(node->name), "node-%d%s", node->is_twin ? 1 : number + 1,
             node->is_twin ? "b" : "");
    task_init(&node->start, &node->machine, on_start);
    node->config = engine_config_default();
    snprintf(node->config.node, sizeof(node->config.node), "node-%d",
             node->is_twin ? 1 : number + 1);
    snprintf(node->config.self.labels, sizeof(node->config.self.labels), "zone=%s",
             number % 2 ? "b" : "a");
    node->config.self.home = (uint64_t)number + 1;
    program_init(node, number);
    node->config.self.capacity = 1 + (int)stage_below(stage, 3);
    if (cluster->is_quiet) /* that nothing is new need not be said every 2 s */
        node->config.heartbeat_ms = 2 * MINUTE;
    node->config.max_running = stage_chance(stage, 100) ? 3 : 0;
    task_init(&node->crash, NULL, on_crash);
    node->machine.crash = &node->crash;
    task_init(&node->freeze, NULL, on_freeze);
    task_init(&node->thaw, NULL, on_thaw);
    children_init(node);
    history_init(node);
    world_add_node(node);
}

void node_release(struct node *node)
{
    node_kill(node);
    task_stop(node->machine.stage, &node->start);
    task_stop(node->machine.stage, &node->crash);
    task_stop(node->machine.stage, &node->freeze);
    task_stop(node->machine.stage, &node->thaw);
}
