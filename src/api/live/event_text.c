#include "live/event_text.h"

#include <string.h>

#include "calendar_codec.h"
#include "live/events.h"
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

static unsigned print_job(const struct store_change *change, const char *what, struct strbuf *out)
{
    strbuf_adds(out, "event: job\ndata: {");
    add_id(out, "uid", &change->job_uid);
    add_text(out, "job", change->job_name ? change->job_name : "");
    strbuf_addf(out, "\"revision\":%lld,", (long long)change->job_revision);
    add_text(out, "change", what);
    close_object(out);
    return TOPIC_JOBS;
}

static unsigned print_run(const struct run *run, struct strbuf *out)
{
    strbuf_adds(out, "event: run\ndata: {");
    add_id(out, "run_id", &run->id);
    add_text(out, "job", run->job_name);
    add_id(out, "job_uid", &run->job_uid);
    add_time(out, "tick", run->tick_ms);
    strbuf_addf(out, "\"attempt\":%d,", run->attempt);
    add_text(out, "cause", run_cause_name(run->cause));
    if (!id_is_zero(&run->instance)) {
        add_id(out, "instance", &run->instance);
        add_text(out, "step", run->step);
    }
    add_text(out, "state", run_state_name(run->state));
    add_text(out, "reason", run_reason_name(run->reason));
    add_text(out, "node", run->node);
    add_time(out, "started_at", run->started_ms);
    add_time(out, "finished_at", run->finished_ms);
    close_object(out);
    return TOPIC_RUNS;
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

unsigned event_print_step(const char *node, const struct clock_step *step, struct strbuf *out)
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

/* Documents of accounts are not published. */
static unsigned print_doc(const struct store_doc *doc, struct strbuf *out)
{
    if (strcmp(doc->kind, CALENDAR_DOC) != 0 || calendar_name_complaint(doc->name))
        return 0;
    strbuf_adds(out, "event: calendar\ndata: {");
    add_text(out, "calendar", doc->name);
    strbuf_addf(out, "\"revision\":%lld,", (long long)doc->revision);
    add_text(out, "change", doc->json ? "put" : "deleted");
    close_object(out);
    return TOPIC_CALENDARS;
}

unsigned event_print(const struct store_change *change, struct strbuf *out)
{
    switch (change->kind) {
    case STORE_CHANGE_JOB:
        return print_job(change, "put", out);
    case STORE_CHANGE_DELETE:
        return print_job(change, change->job_json ? "deleted" : "purged", out);
    case STORE_CHANGE_RUN:
        return print_run(change->run, out);
    case STORE_CHANGE_ENTRY:
        return print_entry(change->entry, out);
    case STORE_CHANGE_PEER:
        return print_node(change->peer->name, change->peer->is_alive ? "alive" : "gone", out);
    case STORE_CHANGE_DRAIN:
        return print_node(change->drain->node, change->drain->drained ? "drained" : "undrained",
                          out);
    case STORE_CHANGE_LEADER:
        return print_node(change->leader, "leader", out);
    case STORE_CHANGE_DOC:
        return print_doc(change->doc, out);
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
