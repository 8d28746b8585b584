#include "live/event_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calendar_codec.h"
#include "live/events.h"
#include "mute.h"
#include "runs/encode.h"

/* Names of jobs and nodes, ids, states and times need no escapes; `detail`, which does, is left
 * out: clients fetch the run. */

static void add_text(struct strbuf *out, const char *name, const char *text)
{
    strbuf_addc(out, '"');
    strbuf_adds(out, name);
    strbuf_adds(out, *text ? "\":\"" : "\":null,");
    if (!*text)
        return;
    strbuf_adds(out, text);
    strbuf_adds(out, "\",");
}

static void add_id(struct strbuf *out, const char *name, const struct id *id)
{
    char text[ID_TEXT + 1];
    id_format(id, text);
    add_text(out, name, text);
}

static void add_time(struct strbuf *out, const char *name, int64_t ms)
{
    char text[TIME_TEXT];
    text[0] = '\0';
    if (ms)
        time_format(ms, text);
    add_text(out, name, text);
}

static void close_object(struct strbuf *out)
{
    strbuf_truncate(out, out->length - 1); /* the last comma */
    strbuf_adds(out, "}\n");
}

/* ---- what an event says ---- */

enum event_kind {
    EVENT_JOB,  /* told_job, and its name */
    EVENT_RUN,  /* told_run; names of its job, its node and its step */
    EVENT_TEXT, /* the name of its job, and the event as it is printed */
};

struct told_job {
    struct id uid;
    int64_t revision;
    const char *change;
};

struct told_run {
    struct id id, job_uid, instance;
    int64_t tick_ms, started_ms, finished_ms;
    int attempt;
    enum run_cause cause;
    enum run_state state;
    enum run_reason reason;
};

/* Behind it, and what it tells, are its texts. */
struct event_text {
    enum event_kind kind;
    union {
        struct told_job job;
        struct told_run run;
    } told[];
};

static const size_t told_sizes[] = {
    [EVENT_JOB] = sizeof(struct told_job),
    [EVENT_RUN] = sizeof(struct told_run),
    [EVENT_TEXT] = 0,
};

static const char *after(const char *text)
{
    return text + strlen(text) + 1;
}

static const char *texts_of(const struct event_text *text)
{
    return (const char *)text->told + told_sizes[text->kind];
}

/* With up to three texts; NULL is an empty one. NULL: out of memory. */
static struct event_text *make(enum event_kind kind, const void *told, const char *const texts[3])
{
    size_t lengths[3], length = 0;
    for (int i = 0; i < 3; i++)
        length += lengths[i] = texts[i] ? strlen(texts[i]) + 1 : 1;
    struct event_text *made = malloc(sizeof(*made) + told_sizes[kind] + length);
    if (!made)
        return NULL;
    made->kind = kind;
    if (told)
        memcpy(made->told, told, told_sizes[kind]);
    char *to = (char *)made->told + told_sizes[kind];
    for (int i = 0; i < 3; to += lengths[i++])
        memcpy(to, texts[i] ? texts[i] : "", lengths[i]);
    return made;
}

static unsigned job_text(const struct store_change *change, const char *what,
                         struct event_text **ret)
{
    const struct told_job told = {change->job_uid, change->job_revision, what};
    *ret = make(EVENT_JOB, &told, (const char *[3]){change->job_name});
    return TOPIC_JOBS;
}

static unsigned run_text(const struct run *run, struct event_text **ret)
{
    const struct told_run told = {
        .id = run->id,
        .job_uid = run->job_uid,
        .instance = run->instance,
        .tick_ms = run->tick_ms,
        .started_ms = run->started_ms,
        .finished_ms = run->finished_ms,
        .attempt = run->attempt,
        .cause = run->cause,
        .state = run->state,
        .reason = run->reason,
    };
    *ret = make(EVENT_RUN, &told, (const char *[3]){run->job_name, run->node, run->step});
    return TOPIC_RUNS;
}

/* ---- printing ---- */

static void print_job(const struct told_job *job, const char *name, struct strbuf *out)
{
    strbuf_adds(out, "event: job\ndata: {");
    add_id(out, "uid", &job->uid);
    add_text(out, "job", name);
    strbuf_addf(out, "\"revision\":%lld,", (long long)job->revision);
    add_text(out, "change", job->change);
    close_object(out);
}

static void print_run(const struct told_run *run, const char *texts, struct strbuf *out)
{
    const char *job = texts, *node = after(job), *step = after(node);
    strbuf_adds(out, "event: run\ndata: {");
    add_id(out, "run_id", &run->id);
    add_text(out, "job", job);
    add_id(out, "job_uid", &run->job_uid);
    add_time(out, "tick", run->tick_ms);
    strbuf_addf(out, "\"attempt\":%d,", run->attempt);
    add_text(out, "cause", run_cause_name(run->cause));
    if (!id_is_zero(&run->instance)) {
        add_id(out, "instance", &run->instance);
        add_text(out, "step", step);
    }
    add_text(out, "state", run_state_name(run->state));
    add_text(out, "reason", run_reason_name(run->reason));
    add_text(out, "node", node);
    add_time(out, "started_at", run->started_ms);
    add_time(out, "finished_at", run->finished_ms);
    close_object(out);
}

static unsigned print_entry(const struct ledger_entry *entry, struct strbuf *out)
{
    strbuf_adds(out, "event: entry\ndata: {");
    add_id(out, "entry_id", &entry->id);
    add_text(out, "job", entry->job_name);
    add_id(out, "job_uid", &entry->job_uid);
    add_time(out, "from", entry->from_ms);
    add_time(out, "to", entry->to_ms);
    strbuf_addf(out, "\"count\":%lld,", (long long)entry->count);
    add_text(out, "state", run_state_name(entry->state));
    add_text(out, "reason", run_reason_name(entry->reason));
    close_object(out);
    return TOPIC_RUNS;
}

static unsigned print_node(const char *name, const char *what, struct strbuf *out)
{
    strbuf_adds(out, "event: node\ndata: {");
    add_text(out, "node", name);
    add_text(out, "change", what);
    close_object(out);
    return TOPIC_NODES;
}

static unsigned print_step(const char *node, const struct clock_step *step, struct strbuf *out)
{
    char at[TIME_TEXT];
    time_format(step->to_ms, at);
    strbuf_adds(out, "event: clock\ndata: {");
    add_text(out, "node", node);
    strbuf_addf(out, "\"by_ms\":%lld,", (long long)step->by_ms);
    add_text(out, "at", at);
    close_object(out);
    return TOPIC_NODES;
}

/* The one that it was is said by the document itself, which stays for a day after its end. */
static unsigned print_mute(const struct store_doc *doc, struct strbuf *out,
                           char ret_job[JOB_NAME_SIZE])
{
    struct mute mute;
    if (!doc->json || mute_decode(doc->name, doc->json, &mute) != OK)
        return 0;
    snprintf(ret_job, JOB_NAME_SIZE, "%s", mute.job);
    strbuf_adds(out, "event: job\ndata: {");
    add_text(out, "uid", mute.uid);
    add_text(out, "job", mute.job);
    add_text(out, "revision", "");
    add_text(out, "change", mute.ended_ms ? "unmuted" : "muted");
    close_object(out);
    return TOPIC_JOBS;
}

/* Documents of accounts are not published. */
static unsigned print_doc(const struct store_doc *doc, struct strbuf *out,
                          char ret_job[JOB_NAME_SIZE])
{
    if (strcmp(doc->kind, MUTE_DOC) == 0)
        return print_mute(doc, out, ret_job);
    if (strcmp(doc->kind, CALENDAR_DOC) != 0 || calendar_name_complaint(doc->name))
        return 0;
    strbuf_adds(out, "event: calendar\ndata: {");
    add_text(out, "calendar", doc->name);
    strbuf_addf(out, "\"revision\":%lld,", (long long)doc->revision);
    add_text(out, "change", doc->json ? "put" : "deleted");
    close_object(out);
    return TOPIC_CALENDARS;
}

/* Those that are few. *ret_job: the job that it is about, if there is one. */
static unsigned print_other(const struct store_change *change, struct strbuf *out,
                            char ret_job[JOB_NAME_SIZE])
{
    switch (change->kind) {
    case STORE_CHANGE_ENTRY:
        snprintf(ret_job, JOB_NAME_SIZE, "%s", change->entry->job_name);
        return print_entry(change->entry, out);
    case STORE_CHANGE_PEER:
        return print_node(change->peer->name, change->peer->is_alive ? "alive" : "gone", out);
    case STORE_CHANGE_DRAIN:
        return print_node(change->drain->node, change->drain->drained ? "drained" : "undrained",
                          out);
    case STORE_CHANGE_LEADER:
        return print_node(change->leader, "leader", out);
    case STORE_CHANGE_DOC:
        return print_doc(change->doc, out, ret_job);
    case STORE_CHANGE_JOB:
    case STORE_CHANGE_DELETE:
    case STORE_CHANGE_RUN:
    case STORE_CHANGE_CURSOR:
    case STORE_CHANGE_FORGET:
    case STORE_CHANGE_KILL:
    case STORE_CHANGE_META:
    case STORE_CHANGE_ASIDE:
    case STORE_CHANGE_LOADED:
        break;
    }
    return 0;
}

/* Frees the printed text. */
static struct event_text *printed(struct strbuf *out, const char *job)
{
    struct event_text *made =
        strbuf_status(out) == OK ? make(EVENT_TEXT, NULL, (const char *[3]){job, out->text}) : NULL;
    strbuf_release(out);
    return made;
}

unsigned event_text_of(const struct store_change *change, struct event_text **ret)
{
    struct strbuf out;
    *ret = NULL;
    if (change->kind == STORE_CHANGE_RUN)
        return run_text(change->run, ret);
    if (change->kind == STORE_CHANGE_JOB)
        return job_text(change, "put", ret);
    if (change->kind == STORE_CHANGE_DELETE)
        return job_text(change, change->job_json ? "deleted" : "purged", ret);
    strbuf_init(&out);
    char job[JOB_NAME_SIZE] = "";
    unsigned topic = print_other(change, &out, job);
    if (topic)
        *ret = printed(&out, job);
    strbuf_release(&out);
    return topic;
}

unsigned event_text_of_step(const char *node, const struct clock_step *step,
                            struct event_text **ret)
{
    struct strbuf out;
    strbuf_init(&out);
    unsigned topic = print_step(node, step, &out);
    *ret = printed(&out, NULL);
    return topic;
}

const char *event_text_job(const struct event_text *text)
{
    const char *job = texts_of(text);
    return *job ? job : NULL;
}

void event_text_print(const struct event_text *text, struct strbuf *out)
{
    const char *texts = texts_of(text);
    switch (text->kind) {
    case EVENT_JOB:
        print_job(&text->told->job, texts, out);
        break;
    case EVENT_RUN:
        print_run(&text->told->run, texts, out);
        break;
    case EVENT_TEXT:
        strbuf_adds(out, after(texts));
        break;
    }
}
