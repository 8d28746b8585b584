/* What must hold. It follows the store through its requests and answers, and computes ticks from
 * the schedules; it never asks the engine.
 *
 * Ticks that need no end:
 * - those that a change of the schedules, or bringing back a deleted job, moved the cursor past:
 * the person who did that has said from when on the new schedule counts;
 * - those of a deleted job;
 * - those of the last hour of a paused job: they are gathered and written once an hour;
 * - those of @after and @reboot follow from what the engine did, not from the calendar. They are
 *   checked for being covered once, @reboot for being covered at all (check_reboots), and @after
 * for going on (due_ms). */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

static struct ledger_epoch *last_epoch(struct sim_job *job)
{
    return &job->epochs[job->epoch_count - 1];
}

/* ---- at every step ---- */

static void move_cursor(struct sim *sim, struct sim_job *job, int64_t cursor_ms)
{
    if (cursor_ms < job->cursor_ms)
        sim_fail(sim, "the cursor of %s moves back", job->name);
    job->cursor_ms = cursor_ms;
    if (job->epoch_count)
        last_epoch(job)->to_ms = cursor_ms;
}

static void observe_put(struct sim *sim, const struct store_put_job *put)
{
    struct job *definition = NULL;
    struct job_error error;
    struct sim_job *job = sim_find_job(sim, &put->uid);
    if (put->purge) {
        last_epoch(job)->deleted = true;
        return;
    }
    if (job_decode_stored(put->json, sim->zones, &definition, &error) != OK)
        sim_fail(sim, "%s is stored unreadable", job->name);
    job->epochs = realloc(job->epochs, (job->epoch_count + 1) * sizeof(*job->epochs));
    struct ledger_epoch *epoch = &job->epochs[job->epoch_count++];
    if (put->cursor_ms > job->cursor_ms)
        job->cursor_ms = put->cursor_ms;
    if (ledger_epoch_init(epoch, definition, sim->zones, job->cursor_ms) != OK)
        sim_fail(sim, "%s has unreadable schedules", job->name);
    epoch->revision = put->revision;
    epoch->paused = put->paused;
    epoch->deleted = put->deleted;
    job->ever_allowed |= epoch->allow;
    job_free(definition);
}

static void observe_claim(struct sim *sim, const struct store_claim *claim)
{
    if (claim->result == CLAIM_STALE)
        return;
    struct sim_job *job = sim_find_job(sim, &claim->job_uid);
    const struct ledger_epoch *epoch = last_epoch(job);
    if (epoch->deleted || claim->job_revision != epoch->revision)
        sim_fail(sim, "%s is claimed from a definition that is gone", job->name);
    if (epoch->paused && !claim->without_run)
        sim_fail(sim, "%s is claimed while it is paused", job->name);
    sim_log(sim, "claim %s tick %lld: %d, %zu passed", job->name, (long long)claim->tick_ms / 1000,
            (int)claim->result, claim->passed_count);
    move_cursor(sim, job, claim->tick_ms);
}

static void observe_meta(struct sim *sim, const struct store_set_meta *meta)
{
    const char *tick = strrchr(meta->value, ' ');
    if (strcmp(meta->key, "boot") != 0 || !tick)
        return;
    int64_t tick_ms = strtoll(tick, NULL, 10);
    for (size_t i = 0; i < sim->boot_tick_count; i++) {
        if (sim->boot_ticks_ms[i] == tick_ms)
            return;
    }
    if (sim->boot_tick_count < sizeof(sim->boot_ticks_ms) / sizeof(sim->boot_ticks_ms[0]))
        sim->boot_ticks_ms[sim->boot_tick_count++] = tick_ms;
}

static void observe_finish(struct sim *sim, const struct store_finish *finish)
{
    const struct run *run = &finish->run;
    struct sim_job *job = sim_find_job(sim, &run->job_uid);
    if (!finish->accepted)
        sim_fail(sim, "an end of %s is not accepted", job->name);
    if (run->finished_ms > job->last_end_ms)
        job->last_end_ms = run->finished_ms;
    sim_log(sim, "finish %s tick %lld: %s %s", job->name, (long long)run->tick_ms / 1000,
            run_state_name(run->state), run_reason_name(run->reason));
}

void sim_observe(struct sim *sim, const struct store_request *request)
{
    for (size_t i = 0; i < request->count; i++) {
        if (request->op == STORE_PUT_JOB)
            observe_put(sim, &request->items.puts[i]);
        else if (request->op == STORE_CLAIM)
            observe_claim(sim, &request->items.claims[i]);
        else if (request->op == STORE_SET_META)
            observe_meta(sim, &request->items.metas[i]);
        else if (request->op == STORE_BEGIN && request->items.begins[i].begun)
            sim_log(sim, "begin: fence %lld", (long long)request->items.begins[i].fence);
        else if (request->op == STORE_FINISH)
            observe_finish(sim, &request->items.finishes[i]);
    }
}

static void observe_run(struct sim *sim, const struct run *run)
{
    size_t i = 0;
    while (i < sim->open_count && id_compare(&sim->open_runs[i].id, &run->id) != 0)
        i++;
    if (run_state_is_end(run->state)) {
        if (i < sim->open_count)
            sim->open_runs[i] = sim->open_runs[--sim->open_count];
        return;
    }
    if (i == sim->open_room) {
        sim->open_room = 2 * sim->open_room + 16;
        sim->open_runs = realloc(sim->open_runs, sim->open_room * sizeof(*sim->open_runs));
        if (!sim->open_runs)
            abort();
    }
    sim->open_count += i == sim->open_count;
    sim->open_runs[i] = (struct sim_open_run){
        .id = run->id,
        .job = (size_t)(sim_find_job(sim, &run->job_uid) - sim->jobs),
        .state = run->state,
        .since_ms = sim->time_ms,
        .not_before_ms = run->not_before_ms,
    };
}

void sim_observe_change(struct sim *sim, const struct store_change *change)
{
    if (change->kind == STORE_CHANGE_RUN)
        observe_run(sim, change->run);
    if (change->kind == STORE_CHANGE_CURSOR &&
        change->cursor_ms > sim_find_job(sim, &change->job_uid)->cursor_ms)
        sim_fail(sim, "the store moved a cursor without a claim");
}

static size_t running(const struct sim *sim, size_t job)
{
    size_t count = 0;
    for (size_t i = sim->oldest_open; i < sim->process_count; i++)
        count += !sim->processes[i].ended && (job == SIM_JOBS || sim->processes[i].job == job);
    return count;
}

/* P1 and P4, at the moment when a process is made. */
void sim_observe_start(struct sim *sim, const struct run *run, const struct job *definition)
{
    struct sim_job *job = sim_find_job(sim, &run->job_uid);
    size_t index = (size_t)(job - sim->jobs);
    sim_log(sim, "start %s tick %lld attempt %d fence %lld version %s", job->name,
            (long long)run->tick_ms / 1000, run->attempt, (long long)run->fence,
            definition->command[1]);
    for (size_t i = 0; i < sim->process_count; i++) {
        const struct sim_process *other = &sim->processes[i];
        if (id_compare(&other->run_id, &run->id) == 0 ||
            (other->job == index && other->tick_ms == run->tick_ms &&
             other->attempt == run->attempt))
            sim_fail(sim, "%s tick %lld is started twice", job->name, (long long)run->tick_ms);
    }
    if (run->fence <= job->last_fence && !job->ever_allowed)
        sim_fail(sim, "the fence of %s does not grow", job->name);
    if (run->fence > job->last_fence)
        job->last_fence = run->fence;
    if (!job->ever_allowed && running(sim, index))
        sim_fail(sim, "two processes of %s side by side", job->name);
    if (sim->config.max_running && running(sim, SIM_JOBS) >= (size_t)sim->config.max_running)
        sim_fail(sim, "more than %d processes", sim->config.max_running);
    for (size_t i = 0; i < job->epoch_count; i++) {
        if (job->epochs[i].revision == run->job_revision) {
            if (job->epochs[i].version != atoi(definition->command[1]))
                sim_fail(sim, "%s revision %lld starts with version %s", job->name,
                         (long long)run->job_revision, definition->command[1]);
            return;
        }
    }
    sim_fail(sim, "%s starts from a revision that never was", job->name);
}

void sim_observe_record(struct sim *sim, const struct history_record *record)
{
    const struct id *id = record->run ? &record->run->id : &record->entry->id;
    uint64_t hash = sim->records.type->hash(&(struct sim_record){.id = *id});
    struct sim_record *known = table_find(&sim->records, hash, id);
    if (known && !known->is_entry && known->run.state != record->run->state &&
        known->run.state != RUN_LOST)
        sim_fail(sim, "an end of %s is recorded as %s, and later as %s", record->run->job_name,
                 run_state_name(known->run.state), run_state_name(record->run->state));
    if (!known) {
        known = calloc(1, sizeof(*known));
        known->id = *id;
        if (table_insert(&sim->records, known) != OK)
            abort();
    }
    known->is_entry = !record->run;
    if (record->run)
        known->run = *record->run;
    else
        known->entry = *record->entry;
}

/* ---- at the end ---- */

static struct ledger_cover *covers_of(struct sim *sim, const struct sim_job *job, size_t *ret_count)
{
    struct ledger_cover *covers = calloc(sim->records.count + 1, sizeof(*covers));
    size_t at = 0, count = 0;
    for (struct sim_record *record; (record = table_next(&sim->records, &at));) {
        const struct run *run = &record->run;
        if (record->is_entry && id_compare(&record->entry.job_uid, &job->uid) == 0)
            covers[count++] = (struct ledger_cover){.from_ms = record->entry.from_ms,
                                                    .to_ms = record->entry.to_ms,
                                                    .count = record->entry.count};
        else if (!record->is_entry && id_compare(&run->job_uid, &job->uid) == 0 &&
                 run->cause != CAUSE_MANUAL)
            covers[count++] =
                (struct ledger_cover){run->tick_ms, run->tick_ms, 1, true, run->cause};
    }
    *ret_count = count;
    return covers;
}

/* A job that has @reboot, since before the boot and unchanged up to now: has it been dealt with? */
static void check_reboots(struct sim *sim, const struct sim_job *job,
                          const struct ledger_cover *covers, size_t count)
{
    const struct ledger_epoch *epoch = &job->epochs[0];
    if (epoch->schedules.count != 1 || schedule_kind(epoch->schedules.items[0]) != SCHEDULE_REBOOT)
        return;
    for (size_t i = 0; i < sim->boot_tick_count; i++) {
        int64_t tick_ms = sim->boot_ticks_ms[i];
        if (tick_ms <= epoch->from_ms || tick_ms > epoch->to_ms)
            continue;
        bool covered = false;
        for (size_t k = 0; k < count; k++)
            covered |= covers[k].from_ms <= tick_ms && covers[k].to_ms >= tick_ms;
        if (!covered)
            sim_fail(sim, "%s: the boot at %lld has no end", job->name, (long long)tick_ms / 1000);
    }
}

static void fail(void *context, const char *what)
{
    sim_fail(context, "%s", what);
}

static void check_job(struct sim *sim, const struct sim_job *job)
{
    size_t count;
    struct ledger_cover *covers = covers_of(sim, job, &count);
    struct ledger_check check = {job->name, fail, sim};
    ledger_check(&check, job->epochs, job->epoch_count, covers, count);
    check_reboots(sim, job, covers, count);
    free(covers);
}

static enum run_state state_of(const struct sim_process *process)
{
    if (process->expired)
        return RUN_MISSED;
    if (process->lost)
        return RUN_LOST;
    if (process->killed)
        return RUN_KILLED;
    return process->exit_code ? RUN_FAILED : RUN_OK;
}

static void check_process(struct sim *sim, const struct sim_process *process)
{
    uint64_t hash = sim->records.type->hash(&(struct sim_record){.id = process->run_id});
    const struct sim_record *record = table_find(&sim->records, hash, &process->run_id);
    const char *name = sim->jobs[process->job].name;
    if (!record)
        sim_fail(sim, "%s tick %lld ran and is not on record", name,
                 (long long)process->tick_ms / 1000);
    if (record->run.state != state_of(process) || record->run.tick_ms != process->tick_ms ||
        (record->run.state == RUN_FAILED && record->run.exit_code != process->exit_code))
        sim_fail(sim, "%s tick %lld was %s and is on record as %s", name,
                 (long long)process->tick_ms / 1000, run_state_name(state_of(process)),
                 run_state_name(record->run.state));
}

/* What is on record as run has a process. */
static void check_claims_of_records(struct sim *sim)
{
    size_t at = 0, ran = 0, processes = 0;
    for (struct sim_record *record; (record = table_next(&sim->records, &at));)
        ran += !record->is_entry && record->run.started_ms;
    for (size_t i = 0; i < sim->process_count; i++)
        processes += !sim->processes[i].expired;
    if (ran != processes)
        sim_fail(sim, "%zu processes, but %zu runs on record were started", processes, ran);
}

/* Its process runs, or has ended just now. */
static bool has_process(const struct sim *sim, const struct id *run_id)
{
    for (size_t i = sim->oldest_open; i < sim->process_count; i++) {
        const struct sim_process *process = &sim->processes[i];
        if (id_compare(&process->run_id, run_id) == 0)
            return !process->ended || process->ends_at_ms > sim->time_ms - SIM_MINUTE;
    }
    return false;
}

/* Each run waits for another of its job, for its time, or for the end of its process. */
static void check_not_stuck(struct sim *sim)
{
    for (size_t i = 0; i < sim->open_count; i++) {
        const struct sim_open_run *open = &sim->open_runs[i];
        bool due = open->state == RUN_DUE && open->not_before_ms <= sim_now(sim).wall.ms &&
                   !sim->config.max_running;
        bool begun = open->state == RUN_BEGUN && !has_process(sim, &open->id);
        if ((due || begun || open->state == RUN_CLAIMED) &&
            open->since_ms < sim->time_ms - SIM_MINUTE)
            sim_fail(sim, "a run of %s is stuck as %s since %lld", sim->jobs[open->job].name,
                     run_state_name(open->state), (long long)open->since_ms);
    }
}

/* When the next tick of the job is due. */
static int64_t due_ms(const struct sim *sim, const struct sim_job *job,
                      const struct ledger_epoch *epoch)
{
    if (!epoch->delay_ms)
        return ledger_next_tick(epoch, job->cursor_ms);
    for (size_t i = 0; i < sim->open_count; i++) {
        if (&sim->jobs[sim->open_runs[i].job] == job)
            return NEVER_MS;
    }
    int64_t since_ms = job->last_end_ms > job->cursor_ms ? job->last_end_ms : job->cursor_ms;
    return since_ms + epoch->delay_ms + 999;
}

void sim_check_caught_up(struct sim *sim)
{
    int64_t now_ms = sim_now(sim).wall.ms;
    check_not_stuck(sim);
    for (size_t i = 0; i < sim->job_count; i++) {
        struct sim_job *job = &sim->jobs[i];
        const struct ledger_epoch *epoch = last_epoch(job);
        if (epoch->deleted || sim->config.max_running)
            continue;
        int64_t tick_ms = due_ms(sim, job, epoch);
        int64_t grace_ms = SIM_SECOND + (epoch->paused ? SIM_HOUR : 0);
        if (epoch->schedules.count)
            grace_ms += schedule_jitter_ms(epoch->schedules.items[0]);
        if (tick_ms != NEVER_MS && tick_ms + grace_ms < now_ms)
            sim_fail(sim, "%s: tick %lld is due, and nobody cares", job->name,
                     (long long)tick_ms / 1000);
    }
}

static void check_store_is_empty(struct sim *sim)
{
    struct store_change change;
    store_memory_reload(sim->inner);
    while (store_next_change(sim->inner, &change)) {
        if (change.kind == STORE_CHANGE_RUN)
            sim_fail(sim, "a run of %s stays in the store: %s", change.run->job_name,
                     run_state_name(change.run->state));
        if (change.kind == STORE_CHANGE_ENTRY)
            sim_fail(sim, "an entry of %s stays in the store", change.entry->job_name);
    }
}

void sim_check_records(struct sim *sim)
{
    if (!engine_is_idle(sim->engine) || engine_open_runs(sim->engine))
        sim_fail(sim, "the engine is not at rest");
    check_store_is_empty(sim);
    for (size_t i = 0; i < sim->process_count; i++)
        check_process(sim, &sim->processes[i]);
    check_claims_of_records(sim);
    for (size_t i = 0; i < sim->job_count; i++)
        check_job(sim, &sim->jobs[i]);
}
