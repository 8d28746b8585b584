#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

struct sim_job *sim_find_job(struct sim *sim, const struct id *uid)
{
    for (size_t i = 0; i < sim->job_count; i++) {
        if (id_compare(&sim->jobs[i].uid, uid) == 0)
            return &sim->jobs[i];
    }
    sim_fail(sim, "somebody talks of a job that never was");
}

static struct job *new_definition(struct sim *sim, struct sim_job *job)
{
    struct strbuf yaml;
    struct job_list list;
    struct job_error error = {0};
    strbuf_init(&yaml);
    job_list_init(&list);
    any_job_write(&sim->random, sim_now(sim).wall.ms, job->name, ++job->versions, false, &yaml);
    if (jobs_decode_text(yaml.text, yaml.length, "UTC", sim->zones, &list, &error) != OK ||
        list.count != 1)
        sim_fail(sim, "%d:%d %s in\n%s", error.line, error.column, error.message, yaml.text);
    struct job *definition = list.items[0];
    list.count = 0;
    job_list_release(&list);
    strbuf_release(&yaml);
    definition->uid = job->uid;
    definition->created_ms = sim_now(sim).wall.ms;
    return definition;
}

/* Stores job->definition. */
static void put(struct sim *sim, struct sim_job *job, int64_t cursor_ms, bool purge)
{
    const struct job *definition = job->definition;
    char *json = job_encode_text(definition);
    struct store_put_job item = {.uid = job->uid,
                                 .name = job->name,
                                 .json = json,
                                 .deleted = definition->deleted_ms != 0,
                                 .paused = definition->paused,
                                 .purge = purge,
                                 .expected_revision = job->epoch_count ? -1 : 0,
                                 .cursor_ms = cursor_ms};
    struct store_request request = {.op = STORE_PUT_JOB, .count = 1, .items.puts = &item};
    sim_apply(sim, &request);
    if (item.result != PUT_OK)
        sim_fail(sim, "%s can't be stored: %d", job->name, (int)item.result);
    free(json);
}

void sim_add_job(struct sim *sim)
{
    uint8_t random[10];
    struct sim_job *job = &sim->jobs[sim->job_count++];
    for (size_t i = 0; i < sizeof(random); i++)
        random[i] = (uint8_t)sim_random(sim);
    *job = (struct sim_job){.uid = id_make(sim_now(sim).wall, random)};
    snprintf(job->name, sizeof(job->name), "job-%d", ++sim->names);
    job->definition = new_definition(sim, job);
    put(sim, job, sim_now(sim).wall.ms, false);
}

/* ---- changes ---- */

static void pause_or_resume(struct sim *sim, struct sim_job *job)
{
    struct job *definition = job->definition;
    definition->paused = !definition->paused;
    *(definition->paused ? &definition->paused_ms : &definition->resumed_ms) = sim_now(sim).wall.ms;
    sim_log(sim, "%s %s", definition->paused ? "pause" : "resume", job->name);
    put(sim, job, -1, false);
}

static void skip_next(struct sim *sim, struct sim_job *job)
{
    job->definition->skip_until_ms = sim_now(sim).wall.ms + sim_below(sim, 10 * SIM_MINUTE);
    sim_log(sim, "skip the next of %s", job->name);
    put(sim, job, -1, false);
}

static void edit(struct sim *sim, struct sim_job *job)
{
    sim_log(sim, "edit %s", job->name);
    job_free(job->definition);
    job->definition = new_definition(sim, job);
    put(sim, job, sim_now(sim).wall.ms, false);
}

static void delete_or_restore(struct sim *sim, struct sim_job *job)
{
    bool was_deleted = job->definition->deleted_ms != 0;
    job->definition->deleted_ms = was_deleted ? 0 : sim_now(sim).wall.ms;
    sim_log(sim, "%s %s", was_deleted ? "restore" : "delete", job->name);
    put(sim, job, was_deleted ? sim_now(sim).wall.ms : -1, false);
}

/* Its place is taken by another job. */
static void replace_job(struct sim *sim, struct sim_job *job)
{
    if (sim->job_count == SIM_JOBS)
        return;
    sim_log(sim, "purge %s", job->name);
    put(sim, job, -1, true);
    job->definition = job_free(job->definition);
    sim_add_job(sim);
}

static void trigger(struct sim *sim, struct sim_job *job)
{
    struct store_add_run add = {.overlap = job->definition->overlap,
                                .queue_limit = job->definition->queue_limit};
    uint8_t random[10];
    for (size_t i = 0; i < sizeof(random); i++)
        random[i] = (uint8_t)sim_random(sim);
    add.run = (struct run){.id = id_make(sim_now(sim).wall, random),
                           .job_uid = job->uid,
                           /* an instant that is no tick of anything, nor of another trigger */
                           .tick_ms = (sim_now(sim).wall.ms + sim->time_ms % 1000) | 1,
                           .attempt = 1,
                           .cause = CAUSE_MANUAL,
                           .exit_code = -1};
    snprintf(add.run.job_name, sizeof(add.run.job_name), "%s", job->name);
    struct store_request request = {.op = STORE_ADD_RUN, .count = 1, .items.adds = &add};
    sim_apply(sim, &request);
    sim_log(sim, "trigger %s: %s", job->name, add.added ? run_state_name(add.run.state) : "no");
}

struct choice {
    struct sim *sim;
    struct id run_id;
    int64_t seen;
};

static void choose(void *context, const struct run *run)
{
    struct choice *choice = context;
    if (sim_below(choice->sim, ++choice->seen) == 0)
        choice->run_id = run->id;
}

static void kill_any(struct sim *sim)
{
    struct choice choice = {.sim = sim};
    engine_each_open_run(sim->engine, choose, &choice);
    if (!choice.seen)
        return;
    struct store_order order = {.run_id = choice.run_id, .reason = REASON_USER, .by = "person"};
    struct store_request request = {.op = STORE_ORDER, .count = 1, .items.orders = &order};
    sim_apply(sim, &request);
    sim_log(sim, "kill a run: %s", order.known ? "ordered" : "not open");
}

void sim_person(struct sim *sim)
{
    struct sim_job *job = &sim->jobs[sim_below(sim, (int64_t)sim->job_count)];
    int64_t what = sim_below(sim, 100);
    if (what < 20)
        kill_any(sim);
    else if (!job->definition)
        return;
    else if (job->definition->deleted_ms)
        sim_chance(sim, 80) ? delete_or_restore(sim, job) : replace_job(sim, job);
    else if (what < 45)
        trigger(sim, job);
    else if (what < 65 || job->definition->paused)
        pause_or_resume(sim, job);
    else if (what < 75)
        skip_next(sim, job);
    else if (what < 90)
        edit(sim, job);
    else
        delete_or_restore(sim, job);
}

void sim_delete_all(struct sim *sim)
{
    for (size_t i = 0; i < sim->job_count; i++) {
        struct sim_job *job = &sim->jobs[i];
        if (job->definition && !job->definition->deleted_ms)
            delete_or_restore(sim, job);
    }
}
