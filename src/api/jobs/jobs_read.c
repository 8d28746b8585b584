#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "definition/after_check.h"
#include "definition/job_text.h"
#include "definition/job_warning.h"
#include "documents/mutes.h"
#include "handlers.h"
#include "input.h"
#include "jobs/jobs.h"
#include "runs/encode.h"
#include "server.h"
#include "text/json_text.h"
#include "text/parsed.h"

/* ---- one job ---- */

struct load_search {
    const struct id *job_uid;
    struct job_load load;
};

static void count_load(void *context, const struct run *run)
{
    struct load_search *search = context;
    if (run_state_is_end(run->state) || id_compare(&run->job_uid, search->job_uid) != 0 ||
        run_is_step(run))
        return;
    if (run->state == RUN_QUEUED || run->state == RUN_DUE)
        search->load.queued++;
    else
        search->load.running++;
    search->load.retrying += run->state == RUN_DUE && run->attempt > 1;
}

static struct job_load job_load(const struct call *call, const struct catalog_job *job)
{
    struct load_search search = {.job_uid = &job->uid};
    if (job->open_runs)
        engine_each_open_run(call->api->ports.engine, count_load, &search);
    return search.load;
}

/* Why the job can't be planned, in *text or elsewhere; NULL: it can. */
static const char *find_problem(const struct call *call, const struct catalog_job *job,
                                struct job_error *error, char text[160])
{
    struct job *definition = NULL;
    if (job->broken) {
        enum status st = job_decode_stored(job->json, call->api->ports.zones, &definition, error);
        job_free(definition);
        return st != OK ? error->message : "its schedule can't be read";
    }
    const char *awaited = after_missing(engine_catalog(call->api->ports.engine), job);
    if (awaited)
        snprintf(text, 160, "%s: there is no job \"%s\"", job->waits ? "after" : "only_if",
                 awaited);
    return awaited ? text : NULL;
}

void write_job(const struct call *call, const struct catalog_job *job, const char *fields,
               struct strbuf *out)
{
    struct job_error error = {0};
    char missing[160];
    const char *problem = find_problem(call, job, &error, missing);
    struct job_warning warning = {0};
    struct strbuf told, warned;
    if (!problem && !job->deleted)
        warning = job_warning(call->api->ports.engine, job, call->now_ms);
    strbuf_init(&told);
    strbuf_init(&warned);
    if (problem)
        message_translate(call->language, problem, &told);
    if (warning.reason)
        message_translate(call->language, warning.detail, &warned);
    struct job_view view = {.load = job_load(call, job),
                            .problem = problem ? told.text : NULL,
                            .warning = warning.reason,
                            .warning_text = warned.text,
                            .warning_ms = warning.since_ms,
                            .fields = fields,
                            .secrets = call_secrets(call, job->name),
                            .mute = mute_of(call->api, job, call->now_ms),
                            .now_ms = call->now_ms};
    job_text_write(out, job, &view);
    strbuf_release(&warned);
    strbuf_release(&told);
}

void reply_job(struct call *call, int status, const struct catalog_job *job)
{
    struct strbuf text;
    strbuf_init(&text);
    call->revision = job->revision;
    write_job(call, job, NULL, &text);
    call_reply_buffer(call, status, &text);
}

void get_job(struct call *call)
{
    const struct catalog_job *job = path_job(call);
    if (job)
        reply_job(call, 200, job);
}

struct job *stored_job(struct call *call, const struct catalog_job *job)
{
    struct job *definition = NULL;
    struct job_error error = {0};
    enum status st = job_decode_stored(job->json, call->api->ports.zones, &definition, &error);
    if (st == OK)
        return definition;
    if (st == E_NOMEM)
        call_fail(call, 500, "out of memory");
    else
        call_fail(call, 409,
                  "the definition of \"%s\" can't be read by this version (%s); put a new one",
                  job->name, error.message);
    return NULL;
}

/* ---- deleted jobs ---- */

static int64_t deleted_ms(const struct catalog_job *job)
{
    struct json_span at = {0};
    return json_text_get(job->json, "deleted_ms", &at) ? json_text_number(&at) : 0;
}

struct deleted_search {
    const char *name;
    int64_t newest_ms; /* initially the oldest deletion that can be restored */
    const struct catalog_job *found;
};

/* Jobs come in the order of their names. */
static bool look_for_deleted(void *context, const struct catalog_job *job)
{
    struct deleted_search *search = context;
    int order = strcmp(job->name, search->name);
    if (order == 0 && job->deleted) {
        int64_t at_ms = deleted_ms(job);
        if (at_ms >= search->newest_ms) {
            search->newest_ms = at_ms;
            search->found = job;
        }
    }
    return order <= 0;
}

/* A text that sorts directly before this name: no name has a byte like the last one. */
static void just_before(const char *name, char before[JOB_NAME_SIZE + 1])
{
    size_t length = strnlen(name, JOB_NAME_MAX);
    memcpy(before, name, length);
    before[length] = '\0';
    if (!length)
        return;
    before[length - 1] = (char)(before[length - 1] - 1);
    before[length] = (char)0xFF;
    before[length + 1] = '\0';
}

const struct catalog_job *deleted_job(const struct call *call, const char *name)
{
    const struct api *api = call->api;
    struct deleted_search search = {.name = name,
                                    .newest_ms = call->now_ms - api->undelete_s * 1000};
    char before[JOB_NAME_SIZE + 1];
    just_before(name, before);
    catalog_each(engine_catalog(api->ports.engine), before, true, look_for_deleted, &search);
    return search.found;
}

/* ---- the coming ticks ---- */

static json_t *coming_ticks(const struct catalog *catalog, const struct catalog_job *job,
                            int64_t now_ms, int64_t count)
{
    int64_t ended_ms = job->last.ended_ms > job->cursor_ms ? job->last.ended_ms : job->cursor_ms;
    json_t *definition = json_loads(job->json, 0, NULL);
    struct fire_source source = {
        .set = {job->schedules, job->schedule_count},
        .calendars = catalog_job_calendars(job),
        .uses = job->calendars ? job->calendars->uses : NULL,
        .ended_s = job->open_runs ? NEVER_BEFORE : (ended_ms + 999) / 1000, /* as it is planned */
        .skip_until_s = stored_time(definition, "skip_until_ms") / 1000,
        .maintenance = &catalog->maintenance,
        .job_name = job->name,
        .jitter_ms = catalog_job_jitter_ms(job),
    };
    json_decref(definition);
    return encode_fires(&source, now_ms / 1000, count);
}

void get_next(struct call *call)
{
    int64_t count = 10;
    const struct catalog_job *job = path_job(call);
    if (job && param_number(call, "n", 1, 1000, &count))
        call_reply(call, 200,
                   coming_ticks(engine_catalog(call->api->ports.engine), job, call->now_ms, count));
}
