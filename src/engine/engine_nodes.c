#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine_internal.h"
#include "function/eligible.h"
#include "function/run_limits.h"

enum {
    COMPARE_MS = 2000, /* interval of heartbeats while a node compares its clock */
    HURRY_MS = 200,    /* least interval between announcements of a refusal, or its end */
    STEP_MS = 20,      /* of the wall clock: it was set */
    NOTICE_MS = 1000,  /* after a sleep */
};

/* Logs that another agent has joined under this node's name while this one was away, or has
 * left. */
static void say_shut_out(struct engine *engine)
{
    const struct known_peer *other = engine->peers.me;
    if (peers_am_shut_out(&engine->peers))
        ports_log(&engine->ports, "shut_out",
                  "node=%s by=\"%s\" what=\"another agent has this node id: nothing is claimed or "
                  "started here, running jobs go on; stop one of the two, or give this one another"
                  " --node-id\"",
                  engine->config.node, other->peer.address);
    else
        ports_log(&engine->ports, "let_in_again", "node=%s", engine->config.node);
}

void engine_take_node(struct engine *engine, const struct store_change *change)
{
    bool is_peer = change->kind == STORE_CHANGE_PEER;
    const struct known_peer *before =
        is_peer ? peers_find(&engine->peers, change->peer->name) : NULL;
    bool was_alive = before && before->peer.is_alive;
    bool was_shut_out = engine_is_shut_out(engine); /* before a node has joined it only waits */
    bool is_of_functions =
        is_peer && strcmp(before ? before->peer.lacks : "", change->peer->lacks) != 0;
    struct id was_instance = before ? before->peer.instance : (struct id){{0}};
    if (peers_take(&engine->peers, change, engine->now) != OK) {
        ports_log(&engine->ports, "node_dropped", "error=\"out of memory\"");
        return;
    }
    bool is_self = is_peer && strcmp(change->peer->name, engine->config.node) == 0;
    if (is_self && change->peer->is_alive &&
        id_compare(&change->peer->instance, &engine->config.self.instance) == 0)
        engine->joined = true;
    if (engine_is_shut_out(engine) != was_shut_out)
        say_shut_out(engine);
    if (is_of_functions || (is_peer && id_compare(&was_instance, &change->peer->instance) != 0))
        marks_sweep(&engine->marks);
    if (is_peer && !is_self && change->peer->is_alive && change->peer->refusal == PEER_CLOCK)
        engine->is_asked = true;
    if (is_peer && was_alive != change->peer->is_alive) {
        marks_sweep(&engine->marks);
        if (!is_self)
            ports_log(&engine->ports, was_alive ? "node_gone" : "node_there", "node=%s",
                      change->peer->name);
    }
    if (change->kind == STORE_CHANGE_DRAIN)
        marks_sweep(&engine->marks);
    if (change->kind == STORE_CHANGE_LEADER)
        ports_log(&engine->ports, "leader", "node=%s", change->leader);
}

/* ---- what the others are told ---- */

bool engine_is_drained(const struct engine *engine)
{
    return engine->peers.me && engine->peers.me->is_drained;
}

enum peer_refusal engine_refusal(const struct engine *engine)
{
    if (!peer_runs_jobs(&engine->config.self))
        return PEER_NO_WORKER;
    if (engine->draining)
        return PEER_STOPPING;
    if (engine->peers.is_doubted)
        return PEER_DOUBT;
    if (engine->peers.is_skewed || !engine->peers.is_settled)
        return PEER_CLOCK;
    if (!engine->runner.executor_ready)
        return PEER_NO_SPAWNER;
    return engine_room(engine) ? PEER_ACCEPTS : PEER_FULL;
}

void engine_set_has_history(struct engine *engine, bool has_history)
{
    engine->config.self.has_history = has_history;
}

void engine_set_via(struct engine *engine, const char *node)
{
    struct peer *self = &engine->config.self;
    if (strcmp(self->via, node) == 0)
        return;
    snprintf(self->via, sizeof(self->via), "%s", node);
    engine->via_is_news = true;
}

void engine_set_progress(struct engine *engine, const char *text)
{
    struct peer *self = &engine->config.self;
    snprintf(self->progress, sizeof(self->progress), "%s", text);
}

void engine_read_pressure(const struct engine *engine, struct peer *ret)
{
    ports_read_pressure(&engine->ports, ret);
}

static const char *spawner_version(const struct engine *engine)
{
    const struct executor *executor = engine->ports.executor;
    return executor->ops->version ? executor->ops->version(executor) : "";
}

/* Limits of whole runs that can be enforced here. */
static unsigned enforces(const struct engine *engine)
{
    const struct executor *executor = engine->ports.executor;
    return executor->ops->enforces ? executor->ops->enforces(executor) : 0;
}

/* The configured labels, with one for each controller (function/run_limits.h). */
static void label_self(struct engine *engine)
{
    struct peer *self = &engine->config.self;
    unsigned now = enforces(engine);
    if (now == engine->enforces)
        return;
    engine->enforces = now;
    memcpy(self->labels, engine->labels, sizeof(self->labels));
    for (int i = 0; i < CONTROLLERS; i++) {
        const char *label = controller_label((enum run_controller)i);
        if (now & 1u << i && peer_add_label(self->labels, label) != OK)
            ports_log(&engine->ports, "label_dropped", "label=%s reason=\"too many labels\"",
                      label);
    }
    engine->is_relabelled = true;
}

/* A program leads only where no agent can. */
static bool stands(const struct engine *engine)
{
    return peer_is_program(&engine->config.self) && !engine->peers.has_agent;
}

/* Since the others were told what it shows. */
static bool clock_was_set(const struct engine *engine)
{
    const struct peer *said = &engine->config.self;
    int64_t ahead_ms = engine->now.wall.ms - engine->now.boot.ms;
    return llabs(ahead_ms - (said->wall_ms - said->boot_ms)) >= STEP_MS;
}

/* The other nodes must know whether runs go on after this agent has ended. */
bool engine_has_news(const struct engine *engine)
{
    const struct peer *said = &engine->config.self;
    bool runs = engine_open_runs(engine) > 0;
    return engine_refusal(engine) != said->refusal || clock_was_set(engine) ||
           engine->config.max_running != said->max_running || stands(engine) != said->stands ||
           engine->lacking.is_news || engine->via_is_news ||
           strcmp(spawner_version(engine), said->spawner_version) != 0 ||
           enforces(engine) != engine->enforces ||
           (engine->draining && runs != (said->running > 0));
}

/* A single node only announces changes. An agent that is about to end announces that at once: its
 * ticks are for other nodes. */
static struct boot_ms announce_at(const struct engine *engine)
{
    bool is_alone = engine->peers.alive_count <= 1 && peers_am_alive(&engine->peers);
    if (!engine->announced || (engine->draining && engine_has_news(engine)))
        return engine->now.boot;
    if (engine_has_news(engine))
        return (struct boot_ms){engine->announced_at.ms + HURRY_MS};
    bool compares = engine->is_asked || engine_refusal(engine) == PEER_CLOCK;
    int64_t every_ms = engine->config.heartbeat_ms;
    if (compares && every_ms > COMPARE_MS)
        every_ms = COMPARE_MS;
    return (struct boot_ms){is_alone ? INT64_MAX : engine->announced_at.ms + every_ms};
}

/* The feed's last heartbeat of this incarnation; NULL: none. */
static const struct known_peer *heard_of_self(const struct engine *engine)
{
    const struct known_peer *self = peers_find(&engine->peers, engine->config.node);
    bool is_now = self && self->heard.ms &&
                  id_compare(&self->peer.instance, &engine->config.self.instance) == 0;
    return is_now ? self : NULL;
}

static bool is_unheard(const struct engine *engine)
{
    const struct known_peer *self = heard_of_self(engine);
    return engine->announced && (!self || self->peer.boot_ms < engine->announced_at.ms);
}

int64_t engine_watch_lag_ms(const struct engine *engine, struct now now)
{
    const struct known_peer *self = heard_of_self(engine);
    int64_t lag_ms = self ? self->heard.ms - self->peer.boot_ms : -1;
    int64_t waited_ms = is_unheard(engine) ? now.boot.ms - engine->unheard_since.ms : -1;
    return waited_ms > lag_ms ? waited_ms : lag_ms;
}

static void announce(struct engine *engine)
{
    struct peer *self = &engine->config.self;
    self->refusal = engine_refusal(engine);
    self->max_running = engine->config.max_running;
    self->stands = stands(engine);
    lacking_print(&engine->lacking, self->lacks, sizeof(self->lacks));
    snprintf(self->spawner_version, sizeof(self->spawner_version), "%s", spawner_version(engine));
    label_self(engine);
    self->running = (int)engine_open_runs(engine);
    ports_read_pressure(&engine->ports, self);
    self->wall_ms = engine->now.wall.ms;
    self->boot_ms = engine->now.boot.ms;
    self->skew_ms = engine->peers.skew_ms;
    self->lag_ms = engine_watch_lag_ms(engine, engine->now);
    if (!is_unheard(engine))
        engine->unheard_since = engine->now.boot;
    engine->via_is_news = false;
    engine->announced = true;
    engine->announced_at = engine->now.boot;
    engine->is_asked = false;
    if (store_announce(engine->ports.store, self) != OK)
        ports_log(&engine->ports, "not_announced", "error=\"out of memory\"");
}

/* ---- and what follows from what they tell ---- */

static void compare_clocks(struct engine *engine)
{
    peers_reckon(&engine->peers, engine->now);
    engine_end_doubt(engine);
    bool is_skewed = engine->peers.is_skewed;
    engine->runner.is_doubted = engine->peers.is_doubted;
    engine->runner.is_held =
        is_skewed || engine->runner.is_doubted || !peers_am_alive(&engine->peers);
    if (is_skewed == engine->was_skewed)
        return;
    ports_log(&engine->ports, is_skewed ? "clock_wrong" : "clock_well", "ahead_ms=%lld%s",
              (long long)engine->peers.skew_ms,
              is_skewed ? " what=\"nothing is started here until it agrees with the other nodes'\""
                        : "");
    engine->was_skewed = is_skewed;
    engine->skewed_since = engine->now.boot;
    marks_sweep(&engine->marks);
}

/* A drained leader still looks at due jobs and postpones them, so all are planned again when the
 * drain ends. Other drained nodes do not look. */
static void set_may_run(struct engine *engine)
{
    bool may_run = !engine->planner.leads || !engine_is_drained(engine);
    bool again = may_run && !engine->planner.may_run;
    engine->planner.may_run = may_run;
    if (again)
        engine_replan(engine);
}

/* By then the store has noticed that it lost its lease, or its connections. */
static struct boot_ms ends_from(const struct engine *engine)
{
    return (struct boot_ms){engine->health == OK ? engine->peers.woke.ms + NOTICE_MS : INT64_MAX};
}

/* Those that this node could not run before, or can't any more. */
static void replan_limited(struct engine *engine)
{
    size_t at = 0;
    for (struct catalog_job *job; (job = table_next(&engine->catalog.by_uid, &at));)
        if (job->where && eligible_has_limits(job->where))
            engine_put_plan(engine, job, INT64_MIN);
    engine->is_relabelled = false;
}

static void follow(struct engine *engine)
{
    engine->runner.ends_from = ends_from(engine);
    bool leads = engine_leads(engine);
    if (engine->sweeper.leads != leads) {
        engine->sweeper.leads = engine->planner.leads = leads;
        engine_look_ahead(engine);
        marks_sweep(&engine->marks);
    }
    bool is_placed = engine->placement.generation && engine->placed == engine->peers.generation &&
                     !engine->is_relabelled;
    if (!is_placed && placement_set(&engine->placement, &engine->peers, &engine->config.self) == OK)
        engine->placed = engine->peers.generation;
    if (!is_placed || engine->weighed != engine->peers.loads)
        placement_weigh(&engine->placement, &engine->peers);
    engine->weighed = engine->peers.loads;
    engine->runner.is_shared = engine->placement.count > 1;
    if (engine->is_relabelled)
        replan_limited(engine);
    set_may_run(engine);
}

void engine_meet_nodes(struct engine *engine)
{
    if (!engine->loaded)
        return;
    compare_clocks(engine);
    lacking_look(&engine->lacking, &engine->ports, &engine->catalog);
    if (announce_at(engine).ms <= engine->now.boot.ms) {
        announce(engine);
        engine_take_changes(engine); /* this node's own, too, if the store is quick */
        compare_clocks(engine);
    }
    follow(engine);
}

int64_t engine_meet_at(const struct engine *engine)
{
    if (!engine->loaded)
        return NEVER_MS;
    struct boot_ms at = announce_at(engine), settle_at = peers_settle_at(&engine->peers);
    if (settle_at.ms < at.ms)
        at = settle_at;
    return at.ms == INT64_MAX ? NEVER_MS : wall_at(engine->now, at);
}
