#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine_internal.h"

enum { BOOT_RETRY_MS = 1000 };

void engine_take_meta(struct engine *engine, const struct store_set_meta *meta)
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

static void save(struct engine *engine)
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

/* Not before what the last boot left is on record: a restarted agent finds that boot in the store,
 * and says it again. */
static bool may_save(const struct engine *engine)
{
    return engine->boot_unsaved && !engine->boot_saving &&
           !recorder_has_new(&engine->recorder, engine->left_boot_tick_ms);
}

void engine_save_boot(struct engine *engine)
{
    if (may_save(engine) && engine->boot_retry_at.ms <= engine->now.boot.ms)
        save(engine);
}

/* The tick of @reboot is the first instant at which an agent saw this boot; it is on record before
 * anything runs for it, so that a restarted agent uses the same. */
static void leave_boot(struct engine *engine);

void engine_settle_boot(struct engine *engine)
{
    if (engine->boot_settled || !engine->loaded || !peers_trust_clock(&engine->peers) ||
        engine_has_ahead(engine))
        return;
    engine->boot_settled = true;
    if (strcmp(engine->stored_boot_id, engine->config.boot_id) == 0) {
        engine->planner.boot_tick_ms = engine->stored_boot_tick_ms;
        engine_replan(engine);
        return;
    }
    leave_boot(engine);
    engine->stored_boot_tick_ms = engine->now.wall.ms / 1000 * 1000;
    if (engine->clock.has_moved) /* cursors to this second, perhaps */
        engine->stored_boot_tick_ms += 1000;
    memcpy(engine->stored_boot_id, engine->config.boot_id, sizeof(engine->stored_boot_id));
    engine->boot_unsaved = true;
}

int64_t engine_boot_at(const struct engine *engine)
{
    return may_save(engine) ? wall_at(engine->now, engine->boot_retry_at) : NEVER_MS;
}

/* ---- a job that goes ---- */

/* Where there are other schedules, what becomes of their ticks may be told as a range that has the
 * tick of the boot. */
static bool has_only_reboot(const struct catalog_job *job)
{
    return job->schedule_count == 1 && schedule_kind(job->schedules[0]) == SCHEDULE_REBOOT;
}

void engine_pass_boot(struct engine *engine, struct catalog_job *job,
                      const struct store_change *change)
{
    int64_t tick_ms = engine->stored_boot_tick_ms;
    bool is_saved = engine->planner.boot_tick_ms == tick_ms; /* else nobody knows of it */
    if (engine->boot_settled && is_saved && tick_ms > job->cursor_ms &&
        tick_ms <= change->cursor_ms && !job->deleted && has_only_reboot(job))
        engine->boot_passed = job->boot_passed = true;
}

/* Two machines that start in the same second have the same tick: it has one entry, whoever records
 * it. */
static struct id boot_entry_id(const struct catalog_job *job, int64_t tick_ms)
{
    return id_make((struct wall_ms){tick_ms}, job->uid.bytes + sizeof(job->uid.bytes) - 10);
}

static void record_boot(struct engine *engine, const struct catalog_job *job, enum run_state state,
                        enum run_reason reason)
{
    int64_t tick_ms = engine->stored_boot_tick_ms;
    if (recorder_has_tick(&engine->recorder, &job->uid, tick_ms))
        return;
    struct ledger_entry entry = {
        .id = boot_entry_id(job, tick_ms),
        .job_uid = job->uid,
        .from_ms = tick_ms,
        .to_ms = tick_ms,
        .count = 1,
        .state = state,
        .reason = reason,
        .recorded_ms = engine->now.wall.ms,
    };
    snprintf(entry.job_name, sizeof(entry.job_name), "%s", job->name);
    snprintf(entry.node, sizeof(entry.node), "%s", engine->config.node);
    entry.owner = peer_incarnation(&engine->config.self);
    if (recorder_add_entry(&engine->recorder, &entry) != OK)
        ports_log(&engine->ports, "entry_dropped", "job=%s error=\"out of memory\"", job->name);
}

void engine_record_boots(struct engine *engine)
{
    size_t at = 0;
    for (struct catalog_job *job; (job = table_next(&engine->catalog.by_uid, &at));) {
        if (job->boot_passed)
            record_boot(engine, job, RUN_SKIPPED, job->deleted ? REASON_DELETED : REASON_EDITED);
        job->boot_passed = false;
    }
    engine->boot_passed = false;
}

/* Is the tick of the stored boot still to be decided? Not one that a wrong clock has put ahead. */
static bool is_left(const struct engine *engine, const struct catalog_job *job)
{
    int64_t tick_ms = engine->stored_boot_tick_ms;
    return !job->deleted && tick_ms > job->cursor_ms && tick_ms <= engine->now.wall.ms &&
           has_only_reboot(job) && catalog_job_next(job, tick_ms - 1, tick_ms) == tick_ms;
}

/* The machine was started again before this node, drained or without its store, could decide about
 * the tick of the start before. */
static void leave_boot(struct engine *engine)
{
    size_t at = 0;
    engine->left_boot_tick_ms = engine->stored_boot_tick_ms;
    for (const struct catalog_job *job;
         engine->stored_boot_id[0] && (job = table_next(&engine->catalog.by_uid, &at));) {
        if (is_left(engine, job))
            record_boot(engine, job, RUN_MISSED, REASON_CATCH_UP);
    }
}
