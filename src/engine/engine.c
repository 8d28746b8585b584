#include "engine.h"

#include <stdlib.h>
#include <string.h>

#include "engine_internal.h"

enum {
    LEAD_MIN_MS = 100,      /* claims go out this far ahead of their tick at least ... */
    LEAD_MAX_MS = 500,      /* ... and at most */
    LEAD_ALONE_MS = 250,    /* of this node alone: time to make a thousand processes ahead */
    HEALTH_EVERY_MS = 100,  /* interval of health checks, if there are turns ... */
    HEALTH_AGAIN_MS = 1000, /* ... and of turns for a health check, while the store is unhealthy */
};

struct engine_config engine_config_default(void)
{
    return (struct engine_config){
        .self = {.roles = PEER_API | PEER_WORKER, .capacity = 1},
        .on_time_ms = 30000,
        .start_window_ms = 5000,
        .heartbeat_ms = 2000,
        .made_ms = INT64_C(1735689600000), /* 2025-01-01 */
    };
}

/* How far ahead this node may claim if it is alone: other nodes would wait for claims that it does
 * not begin. */
static int64_t lead_alone_ms(const struct engine *engine)
{
    const struct executor *executor = engine->ports.executor;
    bool makes_ahead = executor && executor->ops->ahead_ms && !engine->config.lead_ms;
    return makes_ahead ? LEAD_ALONE_MS : 0;
}

static void init_parts(struct engine *engine)
{
    const struct engine_config *config = &engine->config;
    const struct engine_ports *ports = &engine->ports;
    outbox_init(&engine->outbox, ports->store);
    outbox_sender_init(&engine->clock.sender, &engine->outbox, engine);
    outbox_sender_init(&engine->attendance.sender, &engine->outbox, engine);
    strbuf_init(&engine->attendance.others);
    catalog_init(&engine->catalog);
    open_runs_init(&engine->runs, &engine->catalog);
    peers_init(&engine->peers, &engine->config.self);
    planner_init(&engine->planner);
    engine->planner.rules = (struct plan_rules){.on_time_ms = config->on_time_ms,
                                                .lead_ms = LEAD_MIN_MS,
                                                .attendance = &engine->attendance.mark,
                                                .hindrances = &engine->hindrances,
                                                .maintenance = &engine->catalog.maintenance,
                                                .catalog = &engine->catalog,
                                                .free_lead_ms = lead_alone_ms(engine)};
    engine->planner.placement = &engine->placement;
    engine->planner.peers = &engine->peers;
    engine->planner.runs = &engine->runs;
    engine->planner.ports = ports;
    engine->planner.lacking = &engine->lacking;
    boot_marks_init(&engine->boot_marks);
    inputs_init(&engine->inputs);
    instances_init(&engine->instances, &engine->catalog, &engine->runs, &engine->inputs,
                   ports->zones);
    slots_init(&engine->slots, &engine->runs, &engine->catalog.groups, &config->self);
    boots_init(&engine->boots, ports, &engine->outbox, &config->self, config->boot_id,
               &engine->catalog, &engine->planner.rules, &engine->placement, &engine->boot_marks);
    claimer_init(&engine->claimer, ports, &engine->outbox, &config->self, &engine->catalog,
                 &engine->marks, &engine->boot_marks, &engine->placement, &engine->peers,
                 &engine->runs);
    engine->claimer.on_time_ms = config->on_time_ms;
    engine->claimer.away = &engine->away;
    engine->claimer.hindrances = &engine->hindrances;
    engine->claimer.lacking = &engine->lacking;
    engine->claimer.instances = &engine->instances;
    engine->claimer.slots = &engine->slots;
    runner_init(&engine->runner, ports, &engine->outbox, &config->self, config->boot_id,
                &engine->catalog, &engine->marks, &engine->runs);
    engine->runner.start_window_ms = config->start_window_ms;
    engine->runner.away = &engine->away;
    engine->runner.inputs = &engine->inputs;
    engine->runner.instances = &engine->instances;
    engine->runner.on_time_ms = config->on_time_ms;
    recorder_init(&engine->recorder, ports, &engine->outbox, &config->self, &engine->catalog,
                  &engine->marks, &engine->runs);
    engine->recorder.inputs = &engine->inputs;
    engine->recorder.instances = &engine->instances;
    sweeper_init(&engine->sweeper, ports, &engine->outbox, &config->self, &engine->peers,
                 &engine->placement, &engine->runs, &engine->recorder);
    engine->sweeper.on_time_ms = config->on_time_ms;
    engine->sweeper.away = &engine->away;
    engine->sweeper.instances = &engine->instances;
    engine->sweeper.slots = &engine->slots;
}

enum status engine_new(const struct engine_config *config, const struct engine_ports *ports,
                       struct engine **ret)
{
    struct engine *engine = calloc(1, sizeof(*engine));
    if (!engine)
        return E_NOMEM;
    engine->config = *config;
    memcpy(engine->config.self.name, config->node, sizeof(config->node));
    engine->config.self.knows = PEER_KNOWS;
    memcpy(engine->labels, config->self.labels, sizeof(engine->labels));
    engine->ports = *ports;
    engine->ports.last_id = &engine->last_id;
    engine->clock.look_at.ms = INT64_MAX;
    init_parts(engine);
    *ret = engine;
    return OK;
}

struct engine *engine_free(struct engine *engine)
{
    if (!engine)
        return NULL;
    strbuf_release(&engine->attendance.others);
    hindrances_release(&engine->hindrances);
    recorder_release(&engine->recorder);
    runner_release(&engine->runner);
    claimer_release(&engine->claimer);
    outbox_release(&engine->outbox); /* after those that give batches back */
    boot_marks_release(&engine->boot_marks);
    instances_release(&engine->instances);
    inputs_release(&engine->inputs);
    marks_release(&engine->marks);
    planner_release(&engine->planner);
    placement_release(&engine->placement);
    peers_release(&engine->peers);
    open_runs_release(&engine->runs);
    catalog_release(&engine->catalog);
    free(engine);
    return NULL;
}

/* ---- a turn ---- */

/* Health is sampled at intervals: a look at the disk is cheap, but not free. While the store is
 * unhealthy, at every turn: the store causes a turn when it recovers. */
static void look_at_health(struct engine *engine)
{
    if (engine->health == OK && engine->now.boot.ms < engine->health_at_ms)
        return;
    struct strbuf why;
    strbuf_init(&why);
    enum status health = store_health(engine->ports.store, &why);
    if ((health == OK) != (engine->health == OK))
        ports_log(&engine->ports, health == OK ? "store_well" : "store_unwell", "why=\"%s\"",
                  why.text);
    strbuf_release(&why);
    engine->health = health;
    if (health != OK)
        outage_note(&engine->away, engine->now.wall.ms, engine->now.wall.ms);
    engine->health_at_ms = engine->now.boot.ms + HEALTH_EVERY_MS;
}

size_t engine_room(const struct engine *engine)
{
    size_t limit = (size_t)engine->config.max_running;
    struct boot_ms until;
    if (!limit) /* saves counting, several times a turn */
        return SIZE_MAX;
    size_t owned = engine_open_runs(engine) + engine->claimer.wanted +
                   claimer_unsure(&engine->claimer, engine->now, &until);
    return owned < limit ? limit - owned : 0;
}

/* The store answers, and this node is registered. */
static bool is_in_touch(const struct engine *engine)
{
    return engine->loaded && engine->health == OK && engine->placement.count &&
           engine->claimer.sender.retry_at.ms <= engine->now.boot.ms &&
           peers_am_alive(&engine->peers);
}

static bool may_claim(const struct engine *engine)
{
    return is_in_touch(engine) && engine_refusal(engine) == PEER_ACCEPTS &&
           !engine_is_drained(engine);
}

/* Takes that only end a run need no room. */
static bool may_take(const struct engine *engine)
{
    enum peer_refusal refusal = engine_refusal(engine);
    return is_in_touch(engine) && (refusal == PEER_ACCEPTS || refusal == PEER_FULL) &&
           !engine_is_drained(engine);
}

/* The leader passes over ticks that no node may run, even while it is drained. */
static bool may_plan(const struct engine *engine)
{
    bool is_drained_leader = engine->planner.leads && engine_is_drained(engine) &&
                             engine_refusal(engine) == PEER_ACCEPTS && is_in_touch(engine);
    bool may_run = may_claim(engine) && engine_is_attended(engine);
    return (may_run || is_drained_leader) && claimer_has_room(&engine->claimer);
}

/* Boot marks are kept under this node's name. Boots that are not to run need neither room nor a
 * spawner. */
static bool may_decide_boots(const struct engine *engine)
{
    return is_in_touch(engine) && peers_trust_clock(&engine->peers) && !engine->draining &&
           peer_is_agent_worker(&engine->config.self);
}

static bool may_run_boots(const struct engine *engine)
{
    return may_claim(engine) && claimer_has_room(&engine->claimer);
}

/* Claims go out ahead of their tick by the store's latency of a claim and a begin. */
static void adapt_lead(struct engine *engine)
{
    double lead_ms =
        engine->config.lead_ms ? (double)engine->config.lead_ms : 3 * engine->claimer.latency_ms;
    engine->planner.rules.lead_ms = lead_ms < LEAD_MIN_MS   ? LEAD_MIN_MS
                                    : lead_ms > LEAD_MAX_MS ? LEAD_MAX_MS
                                                            : (int64_t)lead_ms;
    engine->planner.rules.free_lead_ms = engine->runner.is_shared ? 0 : lead_alone_ms(engine);
}

/* Hands the stages' marks to the planner: a job's claim was answered, or its run has ended. */
static void hand_on_plans(struct engine *engine)
{
    struct marks *marks = &engine->marks;
    for (size_t i = 0; i < marks->plan_count; i++) {
        const struct plan_mark *mark = &marks->plans[i];
        struct catalog_job *job = catalog_by_uid(&engine->catalog, &mark->job_uid);
        if (job)
            engine_put_plan(engine, job, mark->not_before_ms);
    }
    marks->plan_count = 0;
    if (marks->is_full)
        engine_replan(engine);
    marks->is_full = false;
}

/* ... and to the sweeper. */
static bool take_news(struct marks *marks)
{
    bool has_news = marks->is_to_sweep;
    marks->is_to_sweep = false;
    return has_news;
}

void engine_step(struct engine *engine, struct now now)
{
    struct plan plan;
    engine->now = now;
    engine_follow_clock(engine);
    store_dispatch(engine->ports.store);
    outbox_hand_back(&engine->outbox, now);
    hand_on_plans(engine);
    history_dispatch(engine->ports.history);
    recorder_take_answer(&engine->recorder, now);
    engine_take_changes(engine);
    look_at_health(engine);
    engine_meet_nodes(engine);
    engine_attend(engine, may_take(engine));
    runner_watch(&engine->runner, now);
    recorder_finish(&engine->recorder, now);
    engine_move_back(engine);
    if (may_decide_boots(engine))
        boots_notice(&engine->boots, now);
    sweeper_sweep(&engine->sweeper, now, take_news(&engine->marks));
    adapt_lead(engine);
    if (may_take(engine))
        claimer_take(&engine->claimer, now, engine_room(engine));
    engine->runner.claims_beginning = engine->claimer.beginning;
    engine->claimer.begins_left = runner_claims_may_begin(&engine->runner, now);
    while (may_decide_boots(engine) &&
           boots_next_due(&engine->boots, now, may_run_boots(engine), &plan) == OK)
        claimer_submit(&engine->claimer, now, &plan);
    while (may_plan(engine) && planner_next_due(&engine->planner, now, &plan) == OK)
        claimer_submit(&engine->claimer, now, &plan);
    if (claimer_has_filled(&engine->claimer))
        recorder_send_along(&engine->recorder, now);
    claimer_flush(&engine->claimer, now);
    hand_on_plans(engine); /* those for which memory was short */
    engine->runner.claims_beginning = engine->claimer.beginning;
    runner_start(&engine->runner, now);
    engine_look_out(engine);
    recorder_flush(&engine->recorder, now);
}

static void sooner(int64_t *first_ms, int64_t other_ms)
{
    if (other_ms < *first_ms)
        *first_ms = other_ms;
}

/* When to check whether this node may claim again. Most obstacles (drained, full, no spawner, wrong
 * clock) end with an event that causes a turn. */
static int64_t look_again_at(const struct engine *engine)
{
    if (engine->health != OK)
        return engine->now.wall.ms + HEALTH_AGAIN_MS;
    struct boot_ms retry_at = engine->claimer.sender.retry_at;
    return retry_at.ms > engine->now.boot.ms ? wall_at(engine->now, retry_at) : NEVER_MS;
}

struct wall_ms engine_wake_at(const struct engine *engine)
{
    struct now now = engine->now;
    int64_t first_ms = runner_wake_at(&engine->runner, now);
    sooner(&first_ms, recorder_wake_at(&engine->recorder, now));
    if (may_decide_boots(engine))
        sooner(&first_ms, boots_wake_at(&engine->boots, now));
    sooner(&first_ms, engine_clock_at(engine));
    sooner(&first_ms, engine_meet_at(engine));
    sooner(&first_ms, engine_attend_at(engine));
    sooner(&first_ms, engine_look_out_at(engine));
    sooner(&first_ms,
           engine->marks.is_to_sweep ? now.wall.ms : sweeper_wake_at(&engine->sweeper, now));
    if (may_plan(engine)) /* without room, an answer or a start causes a turn */
        sooner(&first_ms, planner_wake_at(&engine->planner));
    struct boot_ms unsure_until;
    if (engine->config.max_running && claimer_unsure(&engine->claimer, now, &unsure_until) &&
        unsure_until.ms != INT64_MAX)
        sooner(&first_ms, wall_at(now, unsure_until));
    if (may_take(engine))
        sooner(&first_ms, claimer_wake_at(&engine->claimer, now, engine_room(engine)));
    else if (!engine->draining)
        sooner(&first_ms, look_again_at(engine));
    return (struct wall_ms){first_ms};
}

void engine_drain(struct engine *engine)
{
    engine->draining = true;
    engine->recorder.is_ending = true;
}

bool engine_is_draining(const struct engine *engine)
{
    return engine->draining;
}

bool engine_is_joined(const struct engine *engine)
{
    return engine->joined;
}

bool engine_is_shut_out(const struct engine *engine)
{
    return engine->joined && peers_am_shut_out(&engine->peers);
}

bool engine_is_loaded(const struct engine *engine)
{
    return engine->loaded;
}

size_t engine_open_runs(const struct engine *engine)
{
    return open_runs_count(&engine->runs, PHASE_OWNED);
}

bool engine_is_idle(const struct engine *engine)
{
    bool is_to_be_told = engine->draining && engine->announced && engine_has_news(engine);
    bool is_marking = engine->draining && engine->attendance.sender.in_flight;
    return !engine->claimer.sender.in_flight && !engine->recorder.entry_count &&
           engine->runs.by_id.count == open_runs_count(&engine->runs, PHASE_RESTS) &&
           !is_to_be_told && !is_marking;
}

bool engine_is_alone(const struct engine *engine)
{
    return engine->loaded && !engine->runner.is_shared;
}

bool engine_leads(const struct engine *engine)
{
    return engine->loaded && store_leads(engine->ports.store);
}

const struct peers *engine_peers(const struct engine *engine)
{
    return &engine->peers;
}

struct catalog *engine_catalog(struct engine *engine)
{
    return &engine->catalog;
}

size_t engine_input_bytes(const struct engine *engine)
{
    return engine->inputs.bytes;
}

const char *engine_find_input(const struct engine *engine, const struct id *id)
{
    return inputs_find(&engine->inputs, id);
}

void engine_each_open_run(const struct engine *engine,
                          void (*visit)(void *context, const struct run *run), void *context)
{
    struct open_run *open;
    for (int phase = 0; phase < OPEN_PHASES; phase++) {
        if (open_phase_is((enum open_phase)phase, PHASE_RECORDED))
            continue;
        TAILQ_FOREACH (open, &engine->runs.phases[phase], in_phase) {
            if (!open_run_is_kept(open, engine->now.wall))
                visit(context, &open->run);
        }
    }
}

void engine_each_member(const struct engine *engine, const struct id *instance,
                        void (*visit)(void *context, const struct run *run), void *context)
{
    const struct open_run *open = members_first(&engine->runs.members, instance);
    for (; open; open = members_next(open))
        visit(context, &open->run);
}

const char *engine_find_output(const struct engine *engine, const struct id *instance, int part)
{
    return instances_output(&engine->instances, instance, part);
}

const struct slots *engine_slots(const struct engine *engine)
{
    return &engine->slots;
}

/* The terms of a run that may wait for a slot. */
static const struct catalog_job *find_terms(struct engine *engine, const struct open_run *open)
{
    return open && open->is_grouped ? instances_terms(&engine->instances, &open->run) : NULL;
}

struct slot_wait engine_slot_wait(struct engine *engine, const struct id *run_id)
{
    const struct open_run *open = open_runs_find(&engine->runs, run_id);
    const struct catalog_job *terms = find_terms(engine, open);
    if (!terms)
        return (struct slot_wait){.group = NULL};
    return slots_wait(&engine->slots, open, terms->where, &engine->peers);
}

struct slot_wait engine_slot_lack(struct engine *engine, const struct open_run *open)
{
    const struct catalog_job *terms = find_terms(engine, open);
    if (!terms)
        return (struct slot_wait){.group = NULL};
    return slots_lack(&engine->slots, open, terms->where, &engine->peers);
}

const struct run *engine_find_run(const struct engine *engine, const struct id *run_id)
{
    const struct open_run *open = open_runs_find(&engine->runs, run_id);
    return open ? &open->run : NULL;
}

bool engine_may_retry(struct engine *engine, const struct id *run_id)
{
    const struct open_run *open = open_runs_find(&engine->runs, run_id);
    const struct catalog_job *job = open ? instances_terms(&engine->instances, &open->run) : NULL;
    return open && (open->phase == OPEN_ENDED || open->phase == OPEN_FINISHING) &&
           open->run.state != RUN_OK && job && open->run.attempt < catalog_job_attempts(job);
}

bool engine_has_node(struct engine *engine, const struct catalog_job *job)
{
    const char *function = catalog_job_function(job);
    return !engine->placement.count || placement_has_node(&engine->placement, job->where, function,
                                                          ports_can_run(&engine->ports, function));
}

const struct catalog_job *engine_terms(struct engine *engine, const struct run *run)
{
    return instances_terms(&engine->instances, run);
}

void engine_tell_nobody(struct engine *engine, const struct catalog_job *job, char *ret,
                        size_t size)
{
    placement_tell_nobody(&engine->placement, job->where, catalog_job_function(job), ret, size);
}

void engine_tell_unmatched(const struct engine *engine, const char *where, char *ret, size_t size)
{
    placement_tell_unmatched(&engine->placement, where, ret, size);
}

enum status engine_pass(struct engine *engine, struct catalog_job *job, int64_t until_ms,
                        enum run_reason reason, struct ledger_entry **ret, size_t *ret_count)
{
    struct plan plan;
    enum status st = plan_pass(&engine->planner.rules, job, until_ms, reason, &plan);
    if (st != OK)
        return st;
    claimer_fill_entries(&engine->claimer, engine->now, &plan);
    *ret = plan.passed;
    *ret_count = plan.passed_count;
    return OK;
}

enum status engine_called_off(const struct engine *engine, struct catalog_job *job, int64_t now_ms,
                              struct ledger_entry **ret, size_t *ret_count)
{
    struct plan plan;
    enum status st = plan_called_off(&engine->planner.rules, job, now_ms, &plan);
    if (st != OK)
        return st;
    for (size_t i = 0; i < plan.passed_count; i++) {
        struct ledger_entry *entry = &plan.passed[i];
        entry->id = id_make((struct wall_ms){entry->from_ms}, job->uid.bytes + 6);
        entry->job_uid = job->uid;
        entry->recorded_ms = now_ms;
        snprintf(entry->job_name, sizeof(entry->job_name), "%s", job->name);
    }
    *ret = plan.passed;
    *ret_count = plan.passed_count;
    return OK;
}

void engine_set_observer(struct engine *engine, struct change_observer observer)
{
    engine->ports.observer = observer;
}

void engine_set_clock_observer(struct engine *engine, struct clock_observer observer)
{
    engine->ports.clock_observer = observer;
}

void engine_set_max_running(struct engine *engine, int max_running)
{
    engine->config.max_running = max_running;
}

void engine_replan(struct engine *engine)
{
    size_t at = 0;
    for (struct catalog_job *job; (job = table_next(&engine->catalog.by_uid, &at));)
        engine_put_plan(engine, job, INT64_MIN);
}
