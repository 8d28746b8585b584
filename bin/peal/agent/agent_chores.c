#include "agent_chores.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "change.h"
#include "definition/job_codec.h"
#include "machine.h"

enum {
    FIRST_AFTER_MS = 30000,
    EVERY_MS = 600000,
    BETWEEN_SLICES_MS = 10,
    SLICE = 2000,    /* jobs checked per turn */
    FOUND = 256,     /* jobs with work per slice */
    SAME_NAME = 128, /* of these, reserved for jobs of one name */
    UNDELETE_MS = 7 * 86400 * 1000,
    STEP_MS = 60 * 1000,             /* the wall clock was set ahead */
    BELIEVE_AFTER_MS = 86400 * 1000, /* for so long: then it is believed */
};

/* A pass goes through the jobs by name, a slice a turn, one request at a time. */
struct agent_chores {
    const struct agent_config *config;
    struct engine *engine;
    struct store *store;
    struct history *history;
    struct agent_log *log;
    struct loop_timer *timer;
    char after[JOB_NAME_SIZE]; /* name of the last job of this pass that was checked */
    struct id work[FOUND];     /* jobs of this slice with work */
    size_t found, next;        /* their number, and the next one */
    size_t visited;            /* jobs of this slice */
    bool in_pass;
    bool has_jobs_done;         /* of this pass; only prune_all is left */
    int64_t last_pass_ms;       /* jobs without a run since then have nothing to prune */
    int64_t pass_ms;            /* start of this pass, by the careful clock */
    int64_t ahead_ms;           /* the careful clock minus the boot clock */
    struct boot_ms ahead_since; /* since when the wall clock is further ahead; 0: it is not */
    int64_t removed;
    struct history_prune prune;
    struct store_request request;
    struct store_put_job put; /* of a purge, or of a deletion */
    char put_name[JOB_NAME_SIZE];
    char *put_json;
    struct ledger_entry *passed;
    struct strbuf record;
    struct made_id last_change;
};

static void go_on(struct agent_chores *chores);

static void end_pass(struct agent_chores *chores)
{
    chores->in_pass = false;
    loop_timer_set(chores->timer, EVERY_MS);
}

static void pass_done(struct agent_chores *chores)
{
    if (chores->removed)
        agent_log_event(chores->log, "history_pruned", "removed=%lld", (long long)chores->removed);
    chores->last_pass_ms = chores->pass_ms;
    end_pass(chores);
}

static void prune_done(struct history_prune *prune, enum status st)
{
    struct agent_chores *chores = prune->context;
    if (st != OK) {
        agent_log_event(chores->log, "prune_failed", "error=\"%s\"", status_text(st));
        end_pass(chores);
        return;
    }
    chores->removed += prune->removed;
    go_on(chores);
}

static void release_put(struct agent_chores *chores)
{
    free(chores->put_json);
    free(chores->passed);
    chores->put_json = NULL;
    chores->passed = NULL;
    strbuf_truncate(&chores->record, 0);
}

/* One that has changed meanwhile is looked at in the next pass. */
static void put_done(struct store_request *request, enum status st)
{
    struct agent_chores *chores = request->context;
    const struct store_put_job *put = &chores->put;
    if (st == OK && put->deleted && !put->purge && put->result == PUT_OK)
        agent_log_event(chores->log, "job_outlived", "job=\"%s\"", chores->put_name);
    release_put(chores);
    if (st != OK) {
        end_pass(chores);
        return;
    }
    go_on(chores);
}

static int64_t before(const struct agent_chores *chores, int64_t age_s)
{
    return age_s ? chores->pass_ms - age_s * 1000 : 0;
}

static void prune_job(struct agent_chores *chores, const struct catalog_job *job)
{
    struct job *definition = NULL;
    struct job_error error;
    int64_t keep_runs = chores->config->keep_runs, keep_s = chores->config->keep_s;
    int64_t keep_bytes = chores->config->keep_bytes;
    if (job_decode_stored(job->json, NULL, &definition, &error) == OK) {
        keep_runs = definition->keep_runs ? definition->keep_runs : keep_runs;
        keep_s = definition->keep_s ? definition->keep_s : keep_s;
        keep_bytes = definition->keep_bytes ? definition->keep_bytes : keep_bytes;
    }
    job_free(definition);
    chores->prune = (struct history_prune){
        .job_uid = job->uid,
        .keep_runs = keep_runs,
        .before_ms = before(chores, keep_s),
        .keep_bytes = keep_bytes,
        .done = prune_done,
        .context = chores,
    };
    history_prune(chores->history, &chores->prune);
}

/* Prunes records without a job or of purged jobs, and the total output: once per pass, after the
 * jobs. */
static void prune_all(struct agent_chores *chores)
{
    const struct agent_config *config = chores->config;
    chores->has_jobs_done = true;
    chores->prune = (struct history_prune){
        .keep_bytes = config->total_bytes,
        .stats_before_ms = before(chores, config->stats_s),
        .changes_before_ms = before(chores, config->audit_s),
        .done = prune_done,
        .context = chores,
    };
    history_prune(chores->history, &chores->prune);
}

static void submit_put(struct agent_chores *chores)
{
    chores->request = (struct store_request){.op = STORE_PUT_JOB,
                                             .count = 1,
                                             .items.puts = &chores->put,
                                             .done = put_done,
                                             .context = chores};
    store_submit(chores->store, &chores->request);
}

static void purge_job(struct agent_chores *chores, const struct catalog_job *job)
{
    snprintf(chores->put_name, sizeof(chores->put_name), "%s", job->name);
    chores->put = (struct store_put_job){
        .uid = job->uid,
        .name = chores->put_name,
        .json = "{}",
        .deleted = true,
        .purge = true,
        .expected_revision = job->revision,
        .cursor_ms = -1,
    };
    submit_put(chores);
}

/* One node purges the job; each node prunes its own history of it. */
static bool deleted_long_ago(const struct agent_chores *chores, const struct catalog_job *job)
{
    struct job *definition = NULL;
    struct job_error error;
    if (!job->deleted || !engine_leads(chores->engine) ||
        job_decode_stored(job->json, NULL, &definition, &error) != OK)
        return false;
    bool long_ago =
        definition->deleted_ms && chores->pass_ms - definition->deleted_ms > UNDELETE_MS;
    job_free(definition);
    return long_ago;
}

/* Whether its time by `delete_after` is over. Looked for in the text first: few jobs have it. */
static bool is_outlived(const struct agent_chores *chores, const struct catalog_job *job)
{
    struct job *definition = NULL;
    struct job_error error;
    if (job->deleted || job->broken || job->open_runs || !engine_leads(chores->engine) ||
        !strstr(job->json, "\"delete_after\":") ||
        job_decode_stored(job->json, NULL, &definition, &error) != OK)
        return false;
    int64_t stays_s = definition->delete_after_s;
    bool is_over = stays_s && chores->pass_ms - definition->updated_ms > stays_s * 1000;
    job_free(definition);
    return is_over;
}

static bool add_record(struct agent_chores *chores, const struct catalog_job *job, int64_t now_ms)
{
    const struct entropy entropy = {machine_random, NULL};
    const char *node = engine_peers(chores->engine)->self->name;
    struct change_record change = {
        .id = made_id_next(&chores->last_change, &entropy, now_ms),
        .at_ms = now_ms,
        .via = VIA_NODE,
        .action = CHANGE_DELETE,
        .target_kind = TARGET_JOB,
        .job_uid = job->uid,
        .detail = "delete_after",
        .before = (char *)job->json,
        .after = chores->put_json,
    };
    snprintf(change.actor, sizeof(change.actor), "%s", node);
    snprintf(change.target, sizeof(change.target), "%s", job->name);
    snprintf(change.job_name, sizeof(change.job_name), "%s", job->name);
    if (!change_write_record(&change, node, &chores->record))
        return false;
    chores->put.record = chores->record.text;
    chores->put.record_id = change.id;
    return strbuf_status(&chores->record) == OK;
}

/* The put that deletes the job, as a person would. */
static enum status fill_deletion(struct agent_chores *chores, struct catalog_job *job,
                                 struct job *definition, int64_t now_ms)
{
    definition->deleted_ms = now_ms;
    definition->updated_ms = now_ms;
    chores->put_json = job_encode_text(definition);
    if (!chores->put_json)
        return E_NOMEM;
    snprintf(chores->put_name, sizeof(chores->put_name), "%s", job->name);
    chores->put = (struct store_put_job){
        .uid = job->uid,
        .name = chores->put_name,
        .json = chores->put_json,
        .deleted = true,
        .paused = job->paused,
        .expected_revision = job->revision,
        .cursor_ms = now_ms,
        .seen_cursor_ms = job->cursor_ms,
    };
    enum status st = engine_pass(chores->engine, job, now_ms, REASON_DELETED, &chores->passed,
                                 &chores->put.passed_count);
    chores->put.passed = chores->passed;
    return st == OK && !add_record(chores, job, now_ms) ? E_INVALID : st;
}

static void delete_job(struct agent_chores *chores, struct catalog_job *job)
{
    struct job *definition = NULL;
    struct job_error error;
    enum status st = job_decode_stored(job->json, NULL, &definition, &error);
    if (st == OK)
        st = fill_deletion(chores, job, definition, clock_now().wall.ms);
    job_free(definition);
    if (st == OK) {
        submit_put(chores);
        return;
    }
    release_put(chores);
    end_pass(chores);
}

static bool has_work(const struct agent_chores *chores, const struct catalog_job *job)
{
    return job->last.ended_ms > chores->last_pass_ms || deleted_long_ago(chores, job) ||
           is_outlived(chores, job);
}

/* A slice ends between two names: deleted jobs may share one. */
static bool visit(void *context, const struct catalog_job *job)
{
    struct agent_chores *chores = context;
    bool same_name = strcmp(job->name, chores->after) == 0;
    if (!same_name && (chores->visited >= SLICE || chores->found > FOUND - SAME_NAME))
        return false;
    chores->visited++;
    snprintf(chores->after, sizeof(chores->after), "%s", job->name);
    if (chores->found < FOUND && has_work(chores, job))
        chores->work[chores->found++] = job->uid;
    return true;
}

/* Does the work that was found, one after the other; then checks the next slice, in another
 * turn. */
static void go_on(struct agent_chores *chores)
{
    if (chores->has_jobs_done) {
        pass_done(chores);
        return;
    }
    while (chores->next < chores->found) {
        struct catalog_job *job =
            catalog_by_uid(engine_catalog(chores->engine), &chores->work[chores->next++]);
        if (!job)
            continue;
        if (deleted_long_ago(chores, job))
            purge_job(chores, job);
        else if (is_outlived(chores, job))
            delete_job(chores, job);
        else
            prune_job(chores, job);
        return;
    }
    chores->next = chores->found = chores->visited = 0;
    catalog_each(engine_catalog(chores->engine), *chores->after ? chores->after : NULL, true, visit,
                 chores);
    if (chores->visited)
        loop_timer_set(chores->timer, BETWEEN_SLICES_MS);
    else if (chores->config->audit_s || chores->config->stats_s || chores->config->total_bytes)
        prune_all(chores);
    else
        pass_done(chores);
}

/* Each node prunes its own history; a shared one is pruned by the leader. */
static bool is_for_others(const struct agent_chores *chores)
{
    const char *history = chores->config->history;
    return history && *history && !engine_leads(chores->engine);
}

/* The careful clock: pruned records do not come back, so a clock that is years ahead for a minute
 * must not make all of the history old. A step ahead counts only when it has lasted for a day. */
static int64_t careful_ms(struct agent_chores *chores, struct now now)
{
    int64_t ahead_ms = now.wall.ms - now.boot.ms;
    if (ahead_ms <= chores->ahead_ms + STEP_MS)
        chores->ahead_since.ms = 0;
    else if (!chores->ahead_since.ms)
        chores->ahead_since = now.boot;
    bool is_doubted =
        chores->ahead_since.ms && now.boot.ms - chores->ahead_since.ms < BELIEVE_AFTER_MS;
    if (!is_doubted) {
        chores->ahead_ms = ahead_ms;
        chores->ahead_since.ms = 0;
    }
    return now.boot.ms + chores->ahead_ms;
}

/* The other nodes' clocks disagree, or none has been compared yet. */
static bool is_clock_wrong(const struct agent_chores *chores)
{
    const struct peers *peers = engine_peers(chores->engine);
    return peers->is_skewed || !peers->is_settled;
}

static void on_timer(void *context)
{
    struct agent_chores *chores = context;
    if (is_for_others(chores) || is_clock_wrong(chores)) {
        end_pass(chores);
        return;
    }
    if (!chores->in_pass) {
        chores->in_pass = true;
        chores->has_jobs_done = false;
        chores->after[0] = '\0';
        chores->removed = 0;
        chores->next = chores->found = 0;
        chores->pass_ms = careful_ms(chores, clock_now());
    }
    go_on(chores);
}

enum status agent_chores_new(struct loop *loop, const struct agent_config *config,
                             struct engine *engine, struct store *store, struct history *history,
                             struct agent_log *log, struct agent_chores **ret)
{
    struct agent_chores *chores = calloc(1, sizeof(*chores));
    if (!chores)
        return E_NOMEM;
    strbuf_init(&chores->record);
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
    struct now now = clock_now();
    chores->ahead_ms = now.wall.ms - now.boot.ms;
    loop_timer_set(chores->timer, FIRST_AFTER_MS);
    *ret = chores;
    return OK;
}

struct agent_chores *agent_chores_free(struct agent_chores *chores)
{
    if (!chores)
        return NULL;
    loop_timer_free(chores->timer);
    release_put(chores);
    strbuf_release(&chores->record);
    free(chores);
    return NULL;
}
