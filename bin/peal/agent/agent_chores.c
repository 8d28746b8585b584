#include "agent_chores.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job_codec.h"

enum {
    FIRST_AFTER_MS = 30000,
    EVERY_MS = 600000,
    UNDELETE_MS = 7 * 86400 * 1000,
};

/* A pass goes through the jobs by name, one request at a time. */
struct agent_chores {
    const struct agent_config *config;
    struct engine *engine;
    struct store *store;
    struct history *history;
    struct agent_log *log;
    struct loop_timer *timer;
    char after[128];      /* the job that was dealt with last in this pass */
    int64_t last_pass_ms; /* jobs without a run since then have nothing to prune */
    int64_t pass_ms;      /* start of this pass */
    int64_t removed;
    struct history_prune prune;
    struct store_request request;
    struct store_put_job purge;
};

static void go_on(struct agent_chores *chores);

static void pass_done(struct agent_chores *chores)
{
    if (chores->removed)
        agent_log_event(chores->log, "history_pruned", "removed=%lld", (long long)chores->removed);
    chores->last_pass_ms = chores->pass_ms;
    loop_timer_set(chores->timer, EVERY_MS);
}

static void prune_done(struct history_prune *prune, enum status st)
{
    struct agent_chores *chores = prune->context;
    if (st != OK) {
        agent_log_event(chores->log, "prune_failed", "error=\"%s\"", status_text(st));
        loop_timer_set(chores->timer, EVERY_MS);
        return;
    }
    chores->removed += prune->removed;
    go_on(chores);
}

static void purge_done(struct store_request *request, enum status st)
{
    struct agent_chores *chores = request->context;
    if (st != OK) {
        loop_timer_set(chores->timer, EVERY_MS);
        return;
    }
    go_on(chores);
}

/* The next job with something to do: deleted long ago, or with runs since the last pass. */
static bool find_next(void *context, const struct catalog_job *job)
{
    const struct catalog_job **found = context;
    *found = job;
    return false;
}

static void prune_job(struct agent_chores *chores, const struct catalog_job *job)
{
    struct job *definition = NULL;
    struct job_error error;
    int64_t keep_runs = chores->config->keep_runs, keep_s = chores->config->keep_s;
    if (job_decode_stored(job->json, NULL, &definition, &error) == OK) {
        keep_runs = definition->keep_runs ? definition->keep_runs : keep_runs;
        keep_s = definition->keep_s ? definition->keep_s : keep_s;
    }
    job_free(definition);
    chores->prune = (struct history_prune){
        .job_uid = job->uid,
        .keep_runs = keep_runs,
        .before_ms = keep_s ? chores->pass_ms - keep_s * 1000 : 0,
        .done = prune_done,
        .context = chores,
    };
    history_prune(chores->history, &chores->prune);
}

static void purge_job(struct agent_chores *chores, const struct catalog_job *job)
{
    chores->purge = (struct store_put_job){
        .uid = job->uid,
        .name = chores->after,
        .json = "{}",
        .deleted = true,
        .purge = true,
        .expected_revision = job->revision,
        .cursor_ms = -1,
    };
    chores->request = (struct store_request){.op = STORE_PUT_JOB,
                                             .count = 1,
                                             .items.puts = &chores->purge,
                                             .done = purge_done,
                                             .context = chores};
    store_submit(chores->store, &chores->request);
}

static bool deleted_long_ago(const struct agent_chores *chores, const struct catalog_job *job)
{
    struct job *definition = NULL;
    struct job_error error;
    if (!job->deleted || job_decode_stored(job->json, NULL, &definition, &error) != OK)
        return false;
    bool long_ago =
        definition->deleted_ms && chores->pass_ms - definition->deleted_ms > UNDELETE_MS;
    job_free(definition);
    return long_ago;
}

static void go_on(struct agent_chores *chores)
{
    for (;;) {
        const struct catalog_job *job = NULL;
        catalog_each(engine_catalog(chores->engine), *chores->after ? chores->after : NULL, true,
                     find_next, &job);
        if (!job) {
            pass_done(chores);
            return;
        }
        snprintf(chores->after, sizeof(chores->after), "%s", job->name);
        if (deleted_long_ago(chores, job)) {
            purge_job(chores, job);
            return;
        }
        if (job->last.ended_ms > chores->last_pass_ms) {
            prune_job(chores, job);
            return;
        }
    }
}

static void on_timer(void *context)
{
    struct agent_chores *chores = context;
    chores->after[0] = '\0';
    chores->removed = 0;
    chores->pass_ms = clock_now().wall.ms;
    go_on(chores);
}

enum status agent_chores_new(struct loop *loop, const struct agent_config *config,
                             struct engine *engine, struct store *store, struct history *history,
                             struct agent_log *log, struct agent_chores **ret)
{
    struct agent_chores *chores = calloc(1, sizeof(*chores));
    if (!chores)
        return E_NOMEM;
    chores->config = config;
    chores->engine = engine;
    chores->store = store;
    chores->history = history;
    chores->log = log;
    enum status st = loop_timer_new(loop, on_timer, chores, &chores->timer);
    if (st != OK) {
        free(chores);
        return st;
    }
    loop_timer_set(chores->timer, FIRST_AFTER_MS);
    *ret = chores;
    return OK;
}

struct agent_chores *agent_chores_free(struct agent_chores *chores)
{
    if (chores)
        loop_timer_free(chores->timer);
    free(chores);
    return NULL;
}
