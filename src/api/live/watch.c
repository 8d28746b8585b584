/* Monitoring: events, metrics and health. */
#include <stdlib.h>
#include <string.h>

#include "auth/visible.h"
#include "definition/job_warning.h"
#include "documents/channels.h"
#include "documents/mutes.h"
#include "handlers.h"
#include "hooks/hooks.h"
#include "input.h"
#include "live/events.h"
#include "live/health.h"
#include "otlp.h"
#include "runs/encode.h"
#include "secrets.h"
#include "server.h"

enum { JOBS_MAX = 10000 }; /* with metrics of their own */

/* ---- the feed ---- */

/* The initial state is not news. */
void watch_change(void *context, const struct store_change *change)
{
    struct api *api = context;
    struct engine *engine = api->ports.engine;
    entry_take(api, change);
    channels_take(api, change);
    mutes_take(api, change);
    kept_batches_take(&api->kept, change);
    trail_take(api, change);
    undecoded_take(&api->undecoded, change);
    hooks_take(api, change);
    if (api->ports.secrets)
        secrets_take(api->ports.secrets, change);
    if (api->ports.take_change)
        api->ports.take_change(api->ports.context, change);
    if (change->kind == STORE_CHANGE_LEADER)
        metrics_note(&api->metrics, change, NULL);
    else if (engine_is_loaded(engine))
        metrics_note(&api->metrics, change,
                     change->kind == STORE_CHANGE_RUN
                         ? catalog_by_uid(engine_catalog(engine), &change->run->job_uid)
                         : NULL);
    if (engine_is_loaded(engine))
        events_note(api->events, change);
    else
        events_pass(api->events, change);
}

void watch_step(void *context, const struct clock_step *step)
{
    struct api *api = context;
    events_note_step(api->events, api->node, step);
}

static bool read_topics(struct call *call, unsigned *ret)
{
    static const struct {
        const char *name;
        unsigned topic;
    } names[] = {{"jobs", TOPIC_JOBS},
                 {"runs", TOPIC_RUNS},
                 {"nodes", TOPIC_NODES},
                 {"calendars", TOPIC_CALENDARS}};
    enum { NAMES = sizeof(names) / sizeof(names[0]) };
    const char *text = query_get(&call->query, "topics");
    char word[32];
    if (!text) {
        *ret = TOPICS_ALL;
        return true;
    }
    while (*text) {
        size_t length = strcspn(text, ","), i = 0;
        while (i < NAMES &&
               (strlen(names[i].name) != length || strncmp(names[i].name, text, length) != 0))
            i++;
        if (i == NAMES)
            break;
        *ret |= names[i].topic;
        text += length;
        text += *text == ',';
    }
    if (!*text && *ret)
        return true;
    snprintf(word, sizeof(word), "%.*s", (int)strcspn(text, ","), text);
    call_fail_word(call, "?topics", word, "jobs,runs,nodes,calendars",
                   "topics: expected some of jobs, runs, nodes, calendars, with commas between");
    return false;
}

void get_events(struct call *call)
{
    unsigned topics = 0;
    const char *last_id = call_input(call, "Last-Event-ID");
    if (!last_id)
        last_id = query_get(&call->query, "last_event_id");
    if (!read_topics(call, &topics))
        return;
    events_subscribe(call->api->events, call, topics, last_id);
}

/* ---- metrics ---- */

enum job_number { NEXT_RUN, LAST_SUCCESS, LAST_RUN_OK, WARNING };

struct job_print {
    struct engine *engine;
    struct strbuf *out;
    enum job_number number;
    size_t count;
};

static void print_warning(const struct job_print *print, const struct catalog_job *job)
{
    const char *reason = job->broken ? NULL : job_warning_reason(print->engine, job);
    if (reason)
        strbuf_addf(print->out, "peal_job_warning{job=\"%s\",reason=\"%s\"} 1\n", job->name,
                    reason);
}

static bool print_one(void *context, const struct catalog_job *job)
{
    struct job_print *print = context;
    bool has_run = job->last.ended_ms != 0;
    switch (print->number) {
    case NEXT_RUN:
        if (catalog_job_planned(job) != NEVER_MS && !job->paused)
            strbuf_addf(print->out, "peal_job_next_run_timestamp_seconds{job=\"%s\"} %.3f\n",
                        job->name, (double)catalog_job_planned(job) / 1000);
        break;
    case LAST_SUCCESS:
        if (job->last.succeeded_ms)
            strbuf_addf(print->out, "peal_job_last_success_timestamp_seconds{job=\"%s\"} %.3f\n",
                        job->name, (double)job->last.succeeded_ms / 1000);
        break;
    case WARNING:
        print_warning(print, job);
        break;
    case LAST_RUN_OK:
        if (has_run)
            strbuf_addf(print->out, "peal_job_last_run_ok{job=\"%s\"} %d\n", job->name,
                        job->last.state == RUN_OK);
        break;
    }
    return ++print->count < JOBS_MAX;
}

/* The samples of a metric stand together. `call` NULL: of all jobs. */
static void print_jobs(const struct api *api, const struct call *call, struct strbuf *out)
{
    static const struct {
        enum job_number number;
        const char *name, *help;
    } metrics[] = {
        {NEXT_RUN, "peal_job_next_run_timestamp_seconds", "Its next tick."},
        {LAST_SUCCESS, "peal_job_last_success_timestamp_seconds",
         "When a run of it last ended well."},
        {LAST_RUN_OK, "peal_job_last_run_ok", "Whether its last run was ok."},
        {WARNING, "peal_job_warning",
         "1: no node may run it (no_node), or a calendar that it names is not there (calendar)."},
    };
    for (size_t i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++) {
        struct job_print print = {
            .engine = api->ports.engine, .out = out, .number = metrics[i].number};
        strbuf_addf(out, "# HELP %s %s\n# TYPE %s gauge\n", metrics[i].name, metrics[i].help,
                    metrics[i].name);
        if (call)
            call_each_job(call, NULL, false, print_one, &print);
        else
            catalog_each(engine_catalog(api->ports.engine), NULL, false, print_one, &print);
    }
}

static void look_at_health(const struct api *api, enum language language, struct strbuf *why,
                           bool *ret_store, bool *ret_history)
{
    *ret_store = health_of_store(api, language, why) == OK;
    *ret_history = health_of_history(api, language, why) == OK;
}

static void print_clock(const struct engine *engine, struct strbuf *out)
{
    struct engine_clock clock = engine_clock(engine);
    metrics_print_gauge(out, "peal_clock_doubted",
                        "1: the clock of this node is not trusted; nothing is started here.",
                        clock.doubt != DOUBT_NONE);
    metrics_print_gauge(out, "peal_clock_skew_seconds",
                        "How far the clock of this node is from the cluster's.",
                        (double)clock.skew_ms / 1000);
    metrics_print_counter(out, "peal_clock_steps_total",
                          "Times that the clock was set by more than a second.", clock.steps);
    metrics_print_gauge(out, "peal_clock_last_step_seconds",
                        "By how much it was set last; negative: back.",
                        (double)clock.step_ms / 1000);
    metrics_print_gauge(out, "peal_jobs_ahead_of_clock",
                        "Jobs that have gone further than the clock shows.",
                        (double)clock.jobs_ahead);
}

static void print_load(const struct loop *loop, struct strbuf *out)
{
    struct loop_load load = loop_load(loop);
    metrics_print_gauge(out, "peal_loop_longest_turn_seconds",
                        "Time of the processor that the longest turn of the agent's loop took.",
                        (double)load.longest_us / 1e6);
    metrics_print_counter(out, "peal_loop_long_turns_total",
                          "Turns of the loop that took longer than 20 ms.", load.long_count);
}

static void print_now(const struct api *api, struct strbuf *out)
{
    struct engine *engine = api->ports.engine;
    struct strbuf why;
    bool store_ok, history_ok;
    strbuf_init(&why);
    look_at_health(api, LANGUAGE_EN, &why, &store_ok, &history_ok);
    strbuf_release(&why);
    strbuf_addf(out,
                "# HELP peal_build_info The version that runs.\n"
                "# TYPE peal_build_info gauge\npeal_build_info{version=\"%s\",node=\"%s\"} 1\n",
                api->version, api->node);
    metrics_print_gauge(out, "peal_start_time_seconds", "When the agent started.",
                        (double)api->started_ms / 1000);
    metrics_print_gauge(out, "peal_jobs", "Jobs that are not deleted.",
                        (double)catalog_count(engine_catalog(engine)));
    metrics_print_gauge(out, "peal_running", "Runs claimed, begun or running on this node.",
                        (double)engine_open_runs(engine));
    metrics_print_gauge(out, "peal_shut_out",
                        "1: another agent has this node's name; nothing is started here.",
                        engine_is_shut_out(engine));
    metrics_print_gauge(out, "peal_draining", "1: nothing new is started here.",
                        engine_is_draining(engine));
    int64_t lag_ms = engine_watch_lag_ms(engine, clock_now());
    if (lag_ms >= 0)
        metrics_print_gauge(out, "peal_watch_lag_seconds",
                            "How late this node hears of what changes in the store.",
                            (double)lag_ms / 1000);
    print_clock(engine, out);
    print_load(api->ports.loop, out);
    metrics_print_gauge(out, "peal_store_up", "1: the store is well.", store_ok);
    metrics_print_gauge(
        out, "peal_store_values_set_aside",
        "Values in the store that can't be read; peal doctor names their keys.",
        (double)(store_each_aside(api->ports.store, NULL, NULL) + api->undecoded.docs.count));
    metrics_print_gauge(out, "peal_history_up", "1: the history is well.", history_ok);
    metrics_print_gauge(out, "peal_history_waiting_records",
                        "Records that wait on this node's disk for the history's database.",
                        (double)history_waiting(api->ports.history));
    struct history_backlog backlog = history_backlog(api->ports.history);
    metrics_print_gauge(out, "peal_history_spool_bytes", "Their size, with their output.",
                        (double)backlog.bytes);
    metrics_print_gauge(out, "peal_history_spool_full",
                        "1: no more records fit there, or its disk can't be written.",
                        backlog.disk != OK);
    metrics_print_gauge(out, "peal_api_connections", "Open connections to the API.",
                        (double)api_connections(api));
    metrics_print_gauge(out, "peal_api_subscribers", "Of them, subscribers to events.",
                        (double)events_subscribers(api->events));
    metrics_print_gauge(
        out, "peal_api_unread_events_bytes",
        "Of events that subscribers have not taken yet; what is shared counts once.",
        (double)events_unread(api->events));
    metrics_print_counter(out, "peal_api_subscribers_cut_total",
                          "Subscribers cut because all together left too much unread.",
                          events_cut(api->events));
    metrics_print_gauge(out, "peal_api_unsent_bytes", "Of answers that clients have not taken yet.",
                        (double)api_unsent(api));
    metrics_print_counter(out, "peal_api_cut_total",
                          "Connections cut because their clients took too long or too much.",
                          api_cut(api));
}

static void print_otlp(const struct otlp *otlp, struct strbuf *out)
{
    struct otlp_stats stats = otlp_stats(otlp);
    metrics_print_counter(out, "peal_otlp_spans_sent_total",
                          "Spans that the collector of OpenTelemetry has taken from this node.",
                          stats.sent);
    metrics_print_counter(out, "peal_otlp_spans_dropped_total",
                          "Spans that this node has given up, or the collector has refused.",
                          stats.dropped);
    metrics_print_counter(out, "peal_otlp_requests_failed_total",
                          "Requests of this node to the collector that failed.", stats.failed);
    metrics_print_gauge(out, "peal_otlp_spans_waiting", "Spans that wait on this node.",
                        (double)stats.waiting);
}

static void print_whole(const struct api *api, struct strbuf *out)
{
    print_now(api, out);
    metrics_print(&api->metrics, out);
    channels_print_metrics(api, out);
    if (api->ports.otlp)
        print_otlp(api->ports.otlp, out);
}

void api_print_metrics(const struct api *api, struct strbuf *out)
{
    print_whole(api, out);
    print_jobs(api, NULL, out);
}

void get_metrics(struct call *call)
{
    bool with_jobs = true;
    struct strbuf out;
    if (!param_bool(call, "jobs", &with_jobs))
        return;
    strbuf_init(&out);
    if (scope_is_whole(&call->principal.scope))
        print_whole(call->api, &out);
    if (with_jobs)
        print_jobs(call->api, call, &out);
    size_t length = out.length;
    call_reply_text(call, 200, "text/plain; version=0.0.4", strbuf_detach(&out), length);
}

/* ---- well or not ---- */

void get_livez(struct call *call)
{
    call_reply(call, 200, json_pack("{s:s}", "status", "ok"));
}

static bool starts_runs(const struct api *api)
{
    return engine_peers(api->ports.engine)->self->roles & PEER_WORKER;
}

/* "?for=api": whether people can be let in, be it to see what is wrong. False: the call has
 * failed. */
static bool read_purpose(struct call *call, bool *ret_is_for_api)
{
    const char *purpose = query_get(&call->query, "for");
    *ret_is_for_api = purpose && strcmp(purpose, "api") == 0;
    if (!purpose || *ret_is_for_api)
        return true;
    call_fail_word(call, "?for", purpose, "api", "for: expected api, or nothing");
    return false;
}

/* Details of faults for callers who may view; others only get the status. A history that is away
 * keeps nobody from serving and starting: what ends is recorded later. */
void get_readyz(struct call *call)
{
    const struct api *api = call->api;
    struct strbuf why;
    bool store_ok, history_ok, is_for_api;
    bool loaded = engine_is_loaded(api->ports.engine);
    bool draining = engine_is_draining(api->ports.engine);
    if (!read_purpose(call, &is_for_api))
        return;
    strbuf_init(&why);
    look_at_health(api, call->language, &why, &store_ok, &history_ok);
    bool clock_ok = health_of_clock(api, call->language, &why);
    bool can_start = store_ok && !draining && (clock_ok || !starts_runs(api));
    bool well = loaded && (is_for_api || can_start);
    json_t *answer = json_pack("{s:s, s:b, s:b, s:b, s:b, s:b}", "status",
                               well ? "ok" : "not ready", "loaded", loaded, "draining", draining,
                               "store", store_ok, "history", history_ok, "clock", clock_ok);
    if (answer && why.length && scope_is_whole(&call->principal.scope))
        json_object_set_new(answer, "detail", json_words(why.text));
    strbuf_release(&why);
    call_reply(call, well ? 200 : 503, answer);
}
