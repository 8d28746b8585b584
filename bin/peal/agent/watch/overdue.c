/* Jobs that have not succeeded by a time of day, or within a time since their last success. The
 * leader tells of each deadline once: first the message is on disk, then the store notes it. If the
 * leader dies in between, the next one sends it again, under the same key. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/accounts.h"
#include "clock.h"
#include "definition/job_codec.h"
#include "schedule.h"
#include "table.h"
#include "timestamp.h"
#include "watch/watch.h"

enum { LOOK_EVERY_MS = 5000 };

/* A job with deadlines, or one that was told of. */
struct overdue_job {
    struct id uid;
    bool has_deadline;
    int64_t within_s, from_ms;
    struct schedule *daily; /* NULL: no time of day */
    int64_t told_ms;        /* the last deadline that was told of; 0: none */
    bool has_doc;           /* the store has noted one */
};

struct overdue {
    struct watch_config config;
    struct loop_timer *timer;
    struct table jobs; /* by uid */
};

static const struct table_type jobs_type = {.key_size = sizeof(struct id)};

/* ---- the feed ---- */

static struct overdue_job *job_of(struct overdue *overdue, const struct id *uid, bool make)
{
    struct overdue_job *job = table_find(&overdue->jobs, uid);
    if (!job && make)
        job = table_add(&overdue->jobs, &(struct overdue_job){.uid = *uid}, sizeof(*job));
    return job;
}

static void drop(struct overdue *overdue, struct overdue_job *job)
{
    table_remove(&overdue->jobs, job);
    schedule_free(job->daily);
    free(job);
}

static void take_terms(const struct overdue *overdue, struct overdue_job *job,
                       const struct job *definition)
{
    struct schedule_options options = schedule_options_default();
    struct parse_error error;
    char cron[32];
    job->within_s = definition->notify.success_within_s;
    job->from_ms = definition->created_ms > definition->resumed_ms ? definition->created_ms
                                                                   : definition->resumed_ms;
    options.tz = definition->timezone && *definition->timezone ? definition->timezone : NULL;
    if (notify_clock_cron(definition->notify.success_by, cron) &&
        schedule_parse(cron, &options, overdue->config.zones, &job->daily, &error) != OK)
        job->daily = NULL;
    job->has_deadline = job->daily || job->within_s;
}

/* Could the stored definition have deadlines? Inside a string its quotes would be escaped. */
static bool may_have_deadlines(const char *json)
{
    return json && strstr(json, "\"success_") != NULL;
}

static void take_job(struct overdue *overdue, const struct store_change *change)
{
    bool is_gone = change->kind == STORE_CHANGE_DELETE || change->job_deleted;
    bool may_have = !is_gone && may_have_deadlines(change->job_json);
    struct overdue_job *job = job_of(overdue, &change->job_uid, may_have);
    if (!job)
        return;
    job->daily = schedule_free(job->daily);
    job->has_deadline = false;
    struct job *definition = NULL;
    struct job_error error;
    if (may_have &&
        job_decode_stored(change->job_json, overdue->config.zones, &definition, &error) == OK)
        take_terms(overdue, job, definition);
    job_free(definition);
    if (!job->has_deadline && !job->has_doc)
        drop(overdue, job);
}

static void take_doc(struct overdue *overdue, const struct store_doc *doc)
{
    struct id uid;
    json_t *value = doc->json ? json_loads(doc->json, 0, NULL) : NULL;
    int64_t told_ms = json_integer_value(json_object_get(value, "deadline_ms"));
    json_decref(value);
    struct overdue_job *job =
        id_parse(doc->name, &uid) == OK ? job_of(overdue, &uid, doc->json != NULL) : NULL;
    if (!job)
        return;
    job->has_doc = doc->json != NULL;
    if (told_ms > job->told_ms)
        job->told_ms = told_ms;
    if (!job->has_doc && !job->has_deadline)
        drop(overdue, job);
}

void overdue_take(struct overdue *overdue, const struct store_change *change)
{
    if (change->kind == STORE_CHANGE_JOB || change->kind == STORE_CHANGE_DELETE)
        take_job(overdue, change);
    else if (change->kind == STORE_CHANGE_DOC && strcmp(change->doc->kind, OVERDUE_DOC) == 0)
        take_doc(overdue, change->doc);
}

/* ---- the store's note ---- */

struct note {
    struct store_request request;
    struct store_put_doc put;
    char json[64];
};

static void noted(struct store_request *request, enum status st)
{
    (void)st; /* if it failed, another leader may tell of it again, under the same key */
    free(request->context);
}

static void submit(struct store *store, struct note *note)
{
    note->request = (struct store_request){
        .op = STORE_PUT_DOC, .count = 1, .items.docs = &note->put, .done = noted, .context = note};
    store_submit(store, &note->request);
}

/* `deadline_ms` 0: the job is gone. */
static struct note *new_note(const struct overdue_job *job, int64_t deadline_ms)
{
    char uid[ID_TEXT + 1];
    struct note *note = calloc(1, sizeof(*note));
    if (!note)
        return NULL;
    id_format(&job->uid, uid);
    snprintf(note->json, sizeof(note->json), "{\"deadline_ms\":%lld}", (long long)deadline_ms);
    note->put =
        (struct store_put_doc){.json = deadline_ms ? note->json : NULL, .expected_revision = -1};
    doc_name(&note->put, OVERDUE_DOC, uid);
    return note;
}

struct told {
    struct store *store;
    struct note *note;
};

static void on_disk(void *context)
{
    struct told *told = context;
    if (told->note)
        submit(told->store, told->note);
    free(told);
}

/* ---- looking ---- */

static struct overdue_facts facts_of(const struct overdue_job *job,
                                     const struct catalog_job *stored, int64_t now_ms)
{
    struct overdue_facts facts = {.succeeded_ms = stored->last.succeeded_ms,
                                  .from_ms = job->from_ms,
                                  .within_s = job->within_s,
                                  .had_tick = true};
    if (!job->daily)
        return facts;
    int64_t by_s = schedule_prev(job->daily, now_ms / 1000 + 1);
    facts.by_ms = by_s * 1000;
    facts.before_ms = schedule_prev(job->daily, by_s) * 1000;
    int64_t from_ms = facts.before_ms > job->from_ms ? facts.before_ms : job->from_ms;
    if (stored->schedule_count)
        facts.had_tick = catalog_job_next_run(stored, from_ms) <= facts.by_ms;
    return facts;
}

/* The same on every node, so that a receiver sees a message that comes twice. */
static struct id id_of(const struct overdue_job *job, int64_t deadline_ms)
{
    return id_make((struct wall_ms){deadline_ms}, job->uid.bytes + sizeof(job->uid.bytes) - 10);
}

static void print_detail(const struct overdue_facts *facts, char text[160])
{
    struct strbuf at;
    strbuf_init(&at);
    if (facts->succeeded_ms)
        timestamp_print_utc(facts->succeeded_ms / 1000, &at);
    snprintf(text, 160, facts->succeeded_ms ? "its last success was at %s" : "it never succeeded%s",
             at.text);
    strbuf_release(&at);
}

static void tell(struct overdue *overdue, struct overdue_job *job, const struct catalog_job *stored,
                 const struct overdue_facts *facts, int64_t deadline_ms, int64_t now_ms)
{
    struct job *definition = watch_decode(stored);
    struct told *told = malloc(sizeof(*told));
    struct ledger_entry entry = {.id = id_of(job, deadline_ms),
                                 .job_uid = job->uid,
                                 .from_ms = deadline_ms,
                                 .to_ms = deadline_ms,
                                 .count = 1,
                                 .state = RUN_MISSED};
    if (!definition || !told) {
        job_free(definition);
        free(told);
        return;
    }
    snprintf(entry.job_name, sizeof(entry.job_name), "%s", stored->name);
    print_detail(facts, entry.detail);
    const struct mute *mute = notifier_mute(overdue->config.notifier, &job->uid);
    bool is_muted = mute && mute_is_active(mute, facts->succeeded_ms, now_ms);
    notifier_tell(overdue->config.notifier,
                  &(struct ending){.entry = &entry,
                                   .more_events = 1U << NOTIFY_OVERDUE,
                                   .is_no_end = true,
                                   .notify = &definition->notify,
                                   .timezone = definition->timezone,
                                   .mute = is_muted ? mute : NULL},
                  now_ms);
    job->told_ms = deadline_ms;
    *told = (struct told){overdue->config.store, new_note(job, deadline_ms)};
    notifier_sync(overdue->config.notifier, on_disk, told);
    job_free(definition);
}

static void look_at(struct overdue *overdue, struct overdue_job *job, int64_t now_ms)
{
    const struct catalog_job *stored =
        catalog_by_uid(engine_catalog(overdue->config.engine), &job->uid);
    if (!stored && job->has_doc) {
        struct note *note = new_note(job, 0);
        if (note)
            submit(overdue->config.store, note);
    }
    if (!stored || stored->deleted || stored->paused || stored->broken || !job->has_deadline)
        return;
    struct overdue_facts facts = facts_of(job, stored, now_ms);
    int64_t deadline_ms = overdue_deadline_ms(&facts, now_ms);
    if (deadline_ms > job->told_ms)
        tell(overdue, job, stored, &facts, deadline_ms, now_ms);
}

static void on_timer(void *context)
{
    struct overdue *overdue = context;
    const struct engine *engine = overdue->config.engine;
    int64_t now_ms = clock_now().wall.ms;
    bool looks = engine_is_loaded(engine) && store_leads(overdue->config.store) &&
                 engine_clock(engine).doubt == DOUBT_NONE;
    struct overdue_job *job;
    for (size_t at = 0; looks && (job = table_next(&overdue->jobs, &at));)
        look_at(overdue, job, now_ms);
    loop_timer_set(overdue->timer, LOOK_EVERY_MS);
}

/* ---- from new to free ---- */

enum status overdue_new(const struct watch_config *config, struct overdue **ret)
{
    struct overdue *overdue = calloc(1, sizeof(*overdue));
    if (!overdue)
        return E_NOMEM;
    overdue->config = *config;
    table_init(&overdue->jobs, &jobs_type);
    enum status st = loop_timer_new_patient(config->loop, on_timer, overdue, &overdue->timer);
    if (st != OK) {
        free(overdue);
        return st;
    }
    loop_timer_set(overdue->timer, LOOK_EVERY_MS);
    *ret = overdue;
    return OK;
}

struct overdue *overdue_free(struct overdue *overdue)
{
    if (!overdue)
        return NULL;
    struct overdue_job *job;
    for (size_t at = 0; (job = table_next(&overdue->jobs, &at));)
        schedule_free(job->daily);
    loop_timer_free(overdue->timer);
    table_release_items(&overdue->jobs);
    free(overdue);
    return NULL;
}
