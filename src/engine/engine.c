#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "claimer.h"
#include "planner.h"
#include "recorder.h"
#include "runner.h"

enum {
    LEAD_MIN_MS = 100, /* claims go out so far ahead of their tick at least ... */
    LEAD_MAX_MS = 500, /* ... and at most */
    HEALTH_EVERY_MS = 1000,
    BOOT_RETRY_MS = 1000,
};

struct engine {
    struct engine_config config;
    struct engine_ports ports;
    struct catalog catalog;
    struct open_runs runs;
    struct planner planner;
    struct claimer claimer;
    struct runner runner;
    struct recorder recorder;
    struct now now; /* of this turn */
    bool loaded, draining;
    bool boot_unsaved, boot_saving; /* the tick of @reboot is not in the store yet; on its way */
    struct boot_ms boot_retry_at;
    char stored_boot_id[40];
    int64_t stored_boot_tick_ms;
    bool healthy;
    int64_t health_at_ms; /* boot time of the next look at the store's health */
};

struct engine_config engine_config_default(void)
{
    return (struct engine_config){.on_time_ms = 30000, .start_window_ms = 5000};
}

enum status engine_new(const struct engine_config *config, const struct engine_ports *ports,
                       struct engine **ret)
{
    struct engine *engine = calloc(1, sizeof(*engine));
    if (!engine)
        return E_NOMEM;
    engine->config = *config;
    engine->ports = *ports;
    engine->healthy = true;
    catalog_init(&engine->catalog);
    open_runs_init(&engine->runs, &engine->catalog);
    planner_init(&engine->planner);
    engine->planner.on_time_ms = config->on_time_ms;
    engine->planner.lead_ms = LEAD_MIN_MS;
    claimer_init(&engine->claimer, &engine->ports, engine->config.node, &engine->catalog,
                 &engine->planner, &engine->runs);
    runner_init(&engine->runner, &engine->ports, &engine->catalog, &engine->runs);
    engine->runner.start_window_ms = config->start_window_ms;
    engine->runner.on_time_ms = config->on_time_ms;
    recorder_init(&engine->recorder, &engine->ports, &engine->catalog, &engine->planner,
                  &engine->runs);
    *ret = engine;
    return OK;
}

struct engine *engine_free(struct engine *engine)
{
    if (!engine)
        return NULL;
    recorder_release(&engine->recorder);
    runner_release(&engine->runner);
    claimer_release(&engine->claimer);
    planner_release(&engine->planner);
    open_runs_release(&engine->runs);
    catalog_release(&engine->catalog);
    free(engine);
    return NULL;
}

static void put_plan(struct engine *engine, struct catalog_job *job)
{
    if (planner_put(&engine->planner, job) != OK)
        ports_log(&engine->ports, "plan_failed", "job=%s error=\"out of memory\"", job->name);
}

/* ---- the change feed ---- */

static void take_job(struct engine *engine, const struct store_change *change)
{
    struct catalog_job *job;
    struct parse_error error = {0};
    enum status st = catalog_put(&engine->catalog, change, engine->ports.zones, &job, &error);
    if (st != OK) {
        ports_log(&engine->ports, "job_dropped", "job=%s error=\"%s\"", change->job_name,
                  status_text(st));
        return;
    }
    if (job->broken)
        ports_log(&engine->ports, "job_broken", "job=%s error=\"%s\"", job->name, error.message);
    if (engine->loaded)
        put_plan(engine, job);
}

/* A deleted job stays in the catalog, so that it can be shown, brought back, and counts its runs;
 * one that was purged goes. */
static void take_delete(struct engine *engine, const struct store_change *change)
{
    if (change->job_json) {
        take_job(engine, change);
        return;
    }
    struct catalog_job *job = catalog_by_uid(&engine->catalog, &change->job_uid);
    if (!job)
        return;
    planner_remove(&engine->planner, job);
    catalog_remove(&engine->catalog, job);
}

static void take_cursor(struct engine *engine, const struct store_change *change)
{
    struct catalog_job *job = catalog_by_uid(&engine->catalog, &change->job_uid);
    if (!job)
        return;
    if (change->cursor_ms > job->cursor_ms)
        job->cursor_ms = change->cursor_ms;
    if (change->last.ended_ms >= job->last.ended_ms)
        job->last = change->last;
    if (engine->loaded)
        put_plan(engine, job);
}

/* The next tick of an `@after` job depends on its open runs. */
static void replan_job_of(struct engine *engine, const struct run *run)
{
    struct catalog_job *job = catalog_by_uid(&engine->catalog, &run->job_uid);
    if (job && engine->loaded)
        put_plan(engine, job);
}

/* In which phase a run is that the store tells of and that is not known here: somebody added it, or
 * it is left over from this node's last life. */
static enum open_phase phase_of(const struct run *run)
{
    if (run_state_is_end(run->state))
        return OPEN_FINISHED;
    if (run->state == RUN_QUEUED || run->state == RUN_DUE)
        return OPEN_WAITING;
    return run->state == RUN_CLAIMED ? OPEN_CLAIMED : OPEN_ORPHAN;
}

static void take_new_run(struct engine *engine, const struct run *run)
{
    /* Nobody's: it waits for somebody, or the store ended it while it did. */
    if (run->node[0] && strcmp(run->node, engine->config.node) != 0)
        return;
    struct open_run *open = open_runs_add(&engine->runs, run, phase_of(run));
    if (!open) {
        ports_log(&engine->ports, "run_dropped", "job=%s error=\"out of memory\"", run->job_name);
        return;
    }
    if (run->not_before_ms > open->start_at_ms)
        open->start_at_ms = run->not_before_ms;
    replan_job_of(engine, run);
}

/* Of runs that this node is busy with, its own steps are the truth; but what the store has ended
 * before they began stays so, and of a step whose answer was lost the feed tells. */
static void take_run(struct engine *engine, const struct run *run)
{
    struct open_run *open = open_runs_find(&engine->runs, &run->id);
    if (!open) {
        take_new_run(engine, run);
    } else if (run_state_is_end(run->state)) {
        if (open->phase > OPEN_BEGINNING && open->phase != OPEN_REFUSED)
            return;
        open->run = *run;
        open_runs_move(&engine->runs, open, OPEN_FINISHED);
        replan_job_of(engine, run);
    } else if (open->phase == OPEN_WAITING) {
        open->run = *run;
        if (run->state == RUN_CLAIMED && strcmp(run->node, engine->config.node) == 0)
            open_runs_move(&engine->runs, open, OPEN_CLAIMED);
    } else if (open->phase == OPEN_CLAIMED && run->state == RUN_BEGUN &&
               run->nonce == open->run.nonce) {
        runner_begun(&engine->runner, open, run->fence, run->job_revision);
    }
}

static void take_meta(struct engine *engine, const struct store_set_meta *meta)
{
    if (strcmp(meta->key, "boot") != 0)
        return;
    long long tick_ms;
    if (sscanf(meta->value, "%39s %lld", engine->stored_boot_id, &tick_ms) == 2)
        engine->stored_boot_tick_ms = tick_ms;
}

static void boot_saved(struct store_request *request, enum status st)
{
    struct engine *engine = request->context;
    engine->boot_saving = false;
    if (st == OK) {
        engine->boot_unsaved = false;
        engine->planner.boot_tick_ms = engine->stored_boot_tick_ms;
        engine_replan(engine);
    } else { /* without it on record @reboot jobs could run twice: they wait */
        engine->boot_retry_at.ms = engine->now.boot.ms + BOOT_RETRY_MS;
        ports_log(&engine->ports, "boot_not_saved", "error=\"%s\"", status_text(st));
    }
    free(request->items.metas);
    free(request);
}

static void save_boot(struct engine *engine)
{
    struct store_request *request = calloc(1, sizeof(*request));
    struct store_set_meta *meta = calloc(1, sizeof(*meta));
    engine->boot_retry_at.ms = engine->now.boot.ms + BOOT_RETRY_MS;
    if (!request || !meta) {
        free(request);
        free(meta);
        return;
    }
    snprintf(meta->key, sizeof(meta->key), "boot");
    snprintf(meta->value, sizeof(meta->value), "%s %lld", engine->stored_boot_id,
             (long long)engine->stored_boot_tick_ms);
    *request = (struct store_request){.op = STORE_SET_META,
                                      .count = 1,
                                      .items.metas = meta,
                                      .done = boot_saved,
                                      .context = engine};
    engine->boot_saving = true;
    store_submit(engine->ports.store, request);
}

/* The tick of @reboot is the first instant at which an agent saw this boot; it is on record before
 * anything runs for it, so that a restarted agent uses the same. */
static void settle_boot(struct engine *engine)
{
    if (strcmp(engine->stored_boot_id, engine->config.boot_id) == 0) {
        engine->planner.boot_tick_ms = engine->stored_boot_tick_ms;
        return;
    }
    engine->stored_boot_tick_ms = engine->now.wall.ms / 1000 * 1000;
    memcpy(engine->stored_boot_id, engine->config.boot_id, sizeof(engine->stored_boot_id));
    engine->boot_unsaved = true;
}

static void take_loaded(struct engine *engine)
{
    engine->loaded = true;
    catalog_sort(&engine->catalog); /* now, rather than when somebody asks and runs are due */
    settle_boot(engine);
    engine_replan(engine);
    ports_log(&engine->ports, "loaded", "jobs=%zu", catalog_count(&engine->catalog));
}

static void take_change(struct engine *engine, const struct store_change *change)
{
    struct open_run *open;
    switch (change->kind) {
    case STORE_CHANGE_JOB:
        take_job(engine, change);
        break;
    case STORE_CHANGE_DELETE:
        take_delete(engine, change);
        break;
    case STORE_CHANGE_CURSOR:
        take_cursor(engine, change);
        break;
    case STORE_CHANGE_RUN:
        take_run(engine, change->run);
        break;
    case STORE_CHANGE_ENTRY:
        if (recorder_add_entry(&engine->recorder, change->entry) != OK)
            ports_log(&engine->ports, "entry_deferred", "job=%s", change->entry->job_name);
        break;
    case STORE_CHANGE_KILL:
        open = open_runs_find(&engine->runs, &change->run->id);
        if (open)
            runner_kill(&engine->runner, open, change->run->reason, change->run->by);
        break;
    case STORE_CHANGE_META:
        take_meta(engine, change->meta);
        break;
    case STORE_CHANGE_LOADED:
        take_loaded(engine);
        break;
    case STORE_CHANGE_FORGET:
    case STORE_CHANGE_PEER:
    case STORE_CHANGE_DRAIN:
    case STORE_CHANGE_LEADER:
        break;
    }
}

/* ---- a turn ---- */

/* Sampled now and then: a look at the disk is cheap, but not free. */
static void look_at_health(struct engine *engine)
{
    if (engine->now.boot.ms < engine->health_at_ms)
        return;
    struct strbuf why;
    strbuf_init(&why);
    bool healthy = store_health(engine->ports.store, &why) == OK;
    if (healthy != engine->healthy)
        ports_log(&engine->ports, healthy ? "store_well" : "store_unwell", "why=\"%s\"", why.text);
    strbuf_release(&why);
    engine->healthy = healthy;
    engine->health_at_ms = engine->now.boot.ms + HEALTH_EVERY_MS;
}

/* How many more runs this node may own. */
static size_t room(const struct engine *engine)
{
    size_t limit = engine->config.max_running ? (size_t)engine->config.max_running : SIZE_MAX;
    size_t owned = engine_open_runs(engine) + engine->claimer.wanted;
    return owned < limit ? limit - owned : 0;
}

static bool may_claim(const struct engine *engine)
{
    return engine->loaded && !engine->draining && engine->healthy &&
           engine->runner.executor_ready && engine->claimer.retry_at.ms <= engine->now.boot.ms &&
           room(engine) > 0;
}

static void set_now(struct engine *engine, struct now now)
{
    engine->now = engine->claimer.now = engine->runner.now = engine->recorder.now = now;
}

/* Claims go out ahead of their tick by what the store takes for a claim and a begin. */
static void adapt_lead(struct engine *engine)
{
    double lead_ms =
        engine->config.lead_ms ? (double)engine->config.lead_ms : 3 * engine->claimer.latency_ms;
    engine->planner.lead_ms = lead_ms < LEAD_MIN_MS   ? LEAD_MIN_MS
                              : lead_ms > LEAD_MAX_MS ? LEAD_MAX_MS
                                                      : (int64_t)lead_ms;
}

void engine_step(struct engine *engine, struct now now)
{
    struct store_change change;
    struct plan plan;
    set_now(engine, now);
    store_dispatch(engine->ports.store);
    history_dispatch(engine->ports.history);
    while (store_next_change(engine->ports.store, &change))
        take_change(engine, &change);
    if (engine->loaded) /* before, the runs that the executor tells of are not known */
        runner_watch(&engine->runner);
    if (engine->boot_unsaved && !engine->boot_saving && engine->boot_retry_at.ms <= now.boot.ms)
        save_boot(engine);
    look_at_health(engine);
    adapt_lead(engine);
    while (may_claim(engine) && claimer_has_room(&engine->claimer) &&
           planner_next_due(&engine->planner, now, &plan) == OK)
        claimer_submit(&engine->claimer, &plan);
    claimer_flush(&engine->claimer, may_claim(engine) ? room(engine) : 0);
    runner_start(&engine->runner);
    recorder_flush(&engine->recorder);
}

static void sooner(int64_t *first_ms, int64_t other_ms)
{
    if (other_ms < *first_ms)
        *first_ms = other_ms;
}

struct wall_ms engine_wake_at(const struct engine *engine)
{
    int64_t first_ms = runner_wake_at(&engine->runner);
    sooner(&first_ms, recorder_wake_at(&engine->recorder));
    if (engine->boot_unsaved && !engine->boot_saving)
        sooner(&first_ms, wall_at(engine->now, engine->boot_retry_at));
    if (may_claim(engine)) {
        if (claimer_has_room(&engine->claimer)) /* else an answer or a start brings a turn */
            sooner(&first_ms, planner_wake_at(&engine->planner));
        sooner(&first_ms, claimer_wake_at(&engine->claimer));
    } else if (!engine->draining) {
        sooner(&first_ms, engine->now.wall.ms + HEALTH_EVERY_MS);
    }
    return (struct wall_ms){first_ms};
}

void engine_drain(struct engine *engine)
{
    engine->draining = true;
}

bool engine_is_draining(const struct engine *engine)
{
    return engine->draining;
}

bool engine_is_loaded(const struct engine *engine)
{
    return engine->loaded;
}

size_t engine_open_runs(const struct engine *engine)
{
    size_t count = 0;
    for (int phase = OPEN_TAKING; phase <= OPEN_ORPHAN; phase++)
        count += engine->runs.counts[phase];
    return count;
}

bool engine_is_idle(const struct engine *engine)
{
    return !engine->claimer.in_flight && !engine->recorder.entry_count &&
           engine->runs.by_id.count ==
               engine->runs.counts[OPEN_WAITING] + engine->runs.counts[OPEN_STARTED];
}

struct catalog *engine_catalog(struct engine *engine)
{
    return &engine->catalog;
}

void engine_each_open_run(const struct engine *engine,
                          void (*visit)(void *context, const struct run *run), void *context)
{
    struct open_run *open;
    for (int phase = 0; phase < OPEN_PHASES; phase++) {
        TAILQ_FOREACH (open, &engine->runs.phases[phase], in_phase) {
            visit(context, &open->run);
        }
    }
}

const struct run *engine_find_run(const struct engine *engine, const struct id *run_id)
{
    const struct open_run *open = open_runs_find(&engine->runs, run_id);
    return open ? &open->run : NULL;
}

void engine_set_max_running(struct engine *engine, int max_running)
{
    engine->config.max_running = max_running;
}

void engine_replan(struct engine *engine)
{
    size_t at = 0;
    for (struct catalog_job *job; (job = table_next(&engine->catalog.by_uid, &at));)
        put_plan(engine, job);
}
