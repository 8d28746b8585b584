#include "otlp.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

enum {
    WAITING_MAX = 20000,
    WAITING_BYTES = 32 << 20,
    BATCH_MAX = 512, /* spans */
    BATCH_BYTES = 1 << 20,
    GATHER_MS = 1000,
    RETRY_FIRST_MS = 1000,
    RETRY_LAST_MS = 30000,
    GIVE_UP_MS = 300000,
    STOP_WITHIN_MS = 2000,
    CONNECT_MS = 3000,
    WHOLE_MS = 10000,
};

struct span {
    char *text;
    size_t length;
    STAILQ_ENTRY(span) link;
};

struct otlp {
    struct otlp_config config; /* its texts are not to be used */
    struct sender *sender;
    struct loop_timer *timer, *metrics_timer, *stop_timer;
    char *traces_url, *metrics_url;
    struct job_pairs headers;
    struct strbuf resource; /* what every request begins with, up to its spans or metrics */
    STAILQ_HEAD(span_list, span) waiting; /* oldest first */
    size_t bytes;
    size_t sending; /* so many of the first ones are under way; 0: none */
    bool is_sending_metrics;
    int tries;                    /* of the first batch */
    struct boot_ms tried_since;   /* its first try */
    bool is_failing, is_dropping; /* as it was logged */
    bool is_stopping, is_late;    /* late: the time of the stop is over */
    struct otlp_stats stats;
};

static void __attribute__((format(printf, 3, 4)))
log_event(const struct otlp *otlp, const char *event, const char *format, ...)
{
    struct strbuf text;
    va_list args;
    if (!otlp->config.log)
        return;
    strbuf_init(&text);
    va_start(args, format);
    strbuf_addv(&text, format, args);
    va_end(args);
    otlp->config.log(otlp->config.context, event, text.text);
    strbuf_release(&text);
}

/* ---- what waits ---- */

static void remove_first(struct otlp *otlp)
{
    struct span *span = STAILQ_FIRST(&otlp->waiting);
    STAILQ_REMOVE_HEAD(&otlp->waiting, link);
    otlp->bytes -= span->length;
    otlp->stats.waiting--;
    free(span->text);
    free(span);
}

/* One line of the log when it begins; the next one when spans get through again. */
static void drop(struct otlp *otlp, uint64_t count, const char *why)
{
    otlp->stats.dropped += count;
    if (!otlp->is_dropping)
        log_event(otlp, "spans_dropped", "count=%" PRIu64 " error=\"%s\"", count, why);
    otlp->is_dropping = true;
}

static struct span *new_span(const struct run *run, const struct span_about *about)
{
    struct strbuf text;
    struct span *span = calloc(1, sizeof(*span));
    strbuf_init(&text);
    otlp_print_span(run, about, &text);
    if (span) {
        span->length = text.length;
        span->text = strbuf_detach(&text);
    }
    strbuf_release(&text);
    if (span && !span->text) {
        free(span);
        return NULL;
    }
    return span;
}

void otlp_add_run(struct otlp *otlp, const struct run *run, const struct span_about *about)
{
    if (!otlp->config.has_traces || !otlp_has_span(run))
        return;
    if (otlp->stats.waiting >= otlp->config.waiting_max ||
        otlp->bytes >= otlp->config.waiting_bytes) {
        drop(otlp, 1, "too many spans wait already");
        return;
    }
    struct span *span = new_span(run, about);
    if (!span) {
        drop(otlp, 1, "out of memory");
        return;
    }
    STAILQ_INSERT_TAIL(&otlp->waiting, span, link);
    otlp->bytes += span->length;
    bool is_first = !otlp->stats.waiting++;
    if (otlp->is_stopping)
        loop_timer_set(otlp->timer, 0);
    else if (is_first && !otlp->sending)
        loop_timer_set(otlp->timer, otlp->config.gather_ms);
}

/* ---- requests ---- */

static void note_failure(struct otlp *otlp, const char *what, const struct outcome *outcome)
{
    otlp->stats.failed++;
    otlp->stats.failed_ms = clock_now().wall.ms;
    snprintf(otlp->stats.error, sizeof(otlp->stats.error), "%s", outcome->answer);
    if (!otlp->is_failing)
        log_event(otlp, "otlp_failing", "of=%s error=\"%s\"", what, outcome->answer);
    otlp->is_failing = true;
}

static void note_success(struct otlp *otlp)
{
    otlp->stats.sent_ms = clock_now().wall.ms;
    if (otlp->is_failing || otlp->is_dropping)
        log_event(otlp, "otlp_ok", "dropped=%" PRIu64, otlp->stats.dropped);
    otlp->is_failing = otlp->is_dropping = false;
}

/* A 200 may say that some of the spans were refused: {"partialSuccess": {"rejectedSpans": "3",
 * "errorMessage": ...}}. The number is a text, or with some servers a number. */
static uint64_t count_rejected(const char *body, size_t sent, char why[240])
{
    json_t *answer = json_loads(body, 0, NULL);
    const json_t *part = json_object_get(answer, "partialSuccess");
    const json_t *count = json_object_get(part, "rejectedSpans");
    const char *message = json_string_value(json_object_get(part, "errorMessage"));
    long long rejected = json_is_string(count) ? strtoll(json_string_value(count), NULL, 10)
                                               : (long long)json_integer_value(count);
    snprintf(why, 240, "%s", message ? message : "the collector has refused some of them");
    json_decref(answer);
    if (rejected < 0)
        rejected = 0;
    return (uint64_t)rejected < sent ? (uint64_t)rejected : sent;
}

static enum status post(struct otlp *otlp, const char *url, const struct strbuf *body,
                        sender_done *done)
{
    struct post request = {
        .url = url, .body = body->text, .type = "application/json", .headers = &otlp->headers};
    enum status st = strbuf_status(body);
    return st == OK ? sender_post(otlp->sender, &request, done, otlp) : st;
}

/* ---- spans ---- */

static int64_t pause_ms(const struct otlp *otlp, const struct outcome *outcome)
{
    int64_t ms = otlp->config.retry_first_ms;
    for (int i = 1; i < otlp->tries && ms < otlp->config.retry_last_ms; i++)
        ms *= 2;
    if (ms > otlp->config.retry_last_ms)
        ms = otlp->config.retry_last_ms;
    int64_t asked_ms = outcome->retry_after_s * 1000;
    return asked_ms > ms && asked_ms <= otlp->config.give_up_ms ? asked_ms : ms;
}

static void take_away(struct otlp *otlp, size_t count)
{
    while (count--)
        remove_first(otlp);
    otlp->tries = 0;
}

static void delivered(struct otlp *otlp, size_t count, const struct outcome *outcome)
{
    char why[240];
    uint64_t rejected = count_rejected(outcome->body, count, why);
    note_success(otlp);
    otlp->stats.sent += count - rejected;
    if (rejected)
        drop(otlp, rejected, why);
    take_away(otlp, count);
}

/* What the collector refuses it would refuse again. */
static void not_delivered(struct otlp *otlp, size_t count, const struct outcome *outcome)
{
    struct boot_ms now = clock_now().boot;
    note_failure(otlp, "traces", outcome);
    if (!otlp->tries++)
        otlp->tried_since = now;
    bool is_over = outcome->verdict == VERDICT_REFUSED || otlp->is_stopping ||
                   now.ms - otlp->tried_since.ms >= otlp->config.give_up_ms;
    if (!is_over)
        return;
    drop(otlp, count, outcome->answer);
    take_away(otlp, count);
}

static void tell_idle(struct otlp *otlp)
{
    if (otlp->is_stopping && otlp_is_idle(otlp) && otlp->config.ended)
        otlp->config.ended(otlp->config.context);
}

static void spans_sent(void *context, const struct outcome *outcome)
{
    struct otlp *otlp = context;
    size_t count = otlp->sending;
    otlp->sending = 0;
    if (outcome->verdict == VERDICT_SENT)
        delivered(otlp, count, outcome);
    else
        not_delivered(otlp, count, outcome);
    if (otlp->tries)
        loop_timer_set(otlp->timer, pause_ms(otlp, outcome));
    else if (otlp->stats.waiting >= BATCH_MAX || otlp->is_stopping)
        loop_timer_set(otlp->timer, 0);
    else if (otlp->stats.waiting)
        loop_timer_set(otlp->timer, otlp->config.gather_ms);
    tell_idle(otlp);
}

static size_t print_batch(const struct otlp *otlp, struct strbuf *out)
{
    const struct span *span;
    size_t count = 0;
    strbuf_addf(out, "{\"resourceSpans\":[{%s,\"scopeSpans\":[{%s,\"spans\":[", otlp->resource.text,
                "\"scope\":{\"name\":\"peal\"}");
    STAILQ_FOREACH(span, &otlp->waiting, link)
    {
        if (count == BATCH_MAX || (count && out->length + span->length > BATCH_BYTES))
            break;
        if (count++)
            strbuf_addc(out, ',');
        strbuf_add(out, span->text, span->length);
    }
    strbuf_adds(out, "]}]}]}");
    return count;
}

/* Out of memory: tried again. */
static void send_spans(void *context)
{
    struct otlp *otlp = context;
    struct strbuf body;
    if (otlp->sending || !otlp->stats.waiting)
        return;
    strbuf_init(&body);
    size_t count = print_batch(otlp, &body);
    if (post(otlp, otlp->traces_url, &body, spans_sent) == OK)
        otlp->sending = count;
    else
        loop_timer_set(otlp->timer, otlp->config.retry_first_ms);
    strbuf_release(&body);
}

/* ---- metrics ---- */

static void metrics_sent(void *context, const struct outcome *outcome)
{
    struct otlp *otlp = context;
    otlp->is_sending_metrics = false;
    if (outcome->verdict == VERDICT_SENT)
        note_success(otlp);
    else
        note_failure(otlp, "metrics", outcome);
}

/* The values are as they are now: what could not be sent is not sent later. */
static void send_metrics(void *context)
{
    struct otlp *otlp = context;
    struct strbuf text, body;
    loop_timer_set(otlp->metrics_timer, otlp->config.metrics_every_s * 1000);
    if (otlp->is_sending_metrics || otlp->is_stopping)
        return;
    strbuf_init(&text);
    strbuf_init(&body);
    otlp->config.print_metrics(otlp->config.context, &text);
    strbuf_addf(&body,
                "{\"resourceMetrics\":[{%s,\"scopeMetrics\":[{%s,\"metrics\":", otlp->resource.text,
                "\"scope\":{\"name\":\"peal\"}");
    otlp_print_metrics(text.text, otlp->config.started_ms, clock_now().wall.ms, &body);
    strbuf_adds(&body, "}]}]}");
    if (text.length && strbuf_status(&text) == OK)
        otlp->is_sending_metrics = post(otlp, otlp->metrics_url, &body, metrics_sent) == OK;
    strbuf_release(&text);
    strbuf_release(&body);
}

/* ---- the end of the agent ---- */

static void on_stop_timer(void *context)
{
    struct otlp *otlp = context;
    otlp->is_late = true;
    tell_idle(otlp);
}

void otlp_stop(struct otlp *otlp)
{
    if (otlp->is_stopping)
        return;
    otlp->is_stopping = true;
    loop_timer_set(otlp->stop_timer, otlp->config.stop_within_ms);
    loop_timer_set(otlp->timer, 0);
}

bool otlp_is_idle(const struct otlp *otlp)
{
    return otlp->is_late || !otlp->stats.waiting;
}

struct otlp_stats otlp_stats(const struct otlp *otlp)
{
    return otlp->stats;
}

/* ---- from new to free ---- */

static void set_defaults(struct otlp_config *config)
{
#define DEFAULT(member, value) config->member = config->member ? config->member : (value)
    DEFAULT(waiting_max, WAITING_MAX);
    DEFAULT(waiting_bytes, WAITING_BYTES);
    DEFAULT(gather_ms, GATHER_MS);
    DEFAULT(retry_first_ms, RETRY_FIRST_MS);
    DEFAULT(retry_last_ms, RETRY_LAST_MS);
    DEFAULT(give_up_ms, GIVE_UP_MS);
    DEFAULT(stop_within_ms, STOP_WITHIN_MS);
    DEFAULT(sender.connect_ms, CONNECT_MS);
    DEFAULT(sender.whole_ms, WHOLE_MS);
#undef DEFAULT
}

static enum status make_url(const char *endpoint, const char *path, char **ret)
{
    struct strbuf url;
    size_t length = strlen(endpoint);
    while (length && endpoint[length - 1] == '/')
        length--;
    strbuf_init(&url);
    strbuf_add(&url, endpoint, length);
    strbuf_adds(&url, path);
    *ret = strbuf_detach(&url);
    return *ret ? OK : E_NOMEM;
}

static enum status print_resource(const struct otlp_config *config, struct strbuf *out)
{
    strbuf_adds(out, "\"resource\":{\"attributes\":[");
    otlp_print_text(out, "service.name", "peal");
    otlp_print_text(out, "service.version", config->version);
    otlp_print_text(out, "service.instance.id", config->node);
    strbuf_adds(out, "]}");
    return strbuf_status(out);
}

static enum status set_up(struct otlp *otlp, struct loop *loop, const struct otlp_config *config)
{
    const char *why;
    enum status st = make_url(config->endpoint, "/v1/traces", &otlp->traces_url);
    if (st == OK)
        st = make_url(config->endpoint, "/v1/metrics", &otlp->metrics_url);
    if (st == OK)
        st = print_resource(config, &otlp->resource);
    if (st == OK && config->headers)
        st = otlp_headers_parse(config->headers, &otlp->headers, &why);
    if (st == OK)
        st = loop_timer_new_patient(loop, send_spans, otlp, &otlp->timer);
    if (st == OK)
        st = loop_timer_new_patient(loop, on_stop_timer, otlp, &otlp->stop_timer);
    if (st == OK && config->metrics_every_s)
        st = loop_timer_new_patient(loop, send_metrics, otlp, &otlp->metrics_timer);
    if (st == OK)
        st = sender_new(loop, &otlp->config.sender, &otlp->sender);
    if (st == OK && otlp->metrics_timer)
        loop_timer_set(otlp->metrics_timer, config->metrics_every_s * 1000);
    return st;
}

enum status otlp_new(struct loop *loop, const struct otlp_config *config, struct otlp **ret)
{
    struct otlp *otlp = calloc(1, sizeof(*otlp));
    if (!otlp)
        return E_NOMEM;
    otlp->config = *config;
    set_defaults(&otlp->config);
    STAILQ_INIT(&otlp->waiting);
    strbuf_init(&otlp->resource);
    enum status st = set_up(otlp, loop, config);
    if (st != OK) {
        otlp_free(otlp);
        return st;
    }
    *ret = otlp;
    return OK;
}

struct otlp *otlp_free(struct otlp *otlp)
{
    if (!otlp)
        return NULL;
    sender_free(otlp->sender);
    while (!STAILQ_EMPTY(&otlp->waiting))
        remove_first(otlp);
    loop_timer_free(otlp->timer);
    loop_timer_free(otlp->metrics_timer);
    loop_timer_free(otlp->stop_timer);
    job_pairs_release(&otlp->headers);
    strbuf_release(&otlp->resource);
    free(otlp->traces_url);
    free(otlp->metrics_url);
    free(otlp);
    return NULL;
}
