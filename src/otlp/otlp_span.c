/* A run as a span. Names of attributes are those of OpenTelemetry's semantic conventions where
 * there are any; all others begin with "peal.". */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "document/json_quote.h"
#include "otlp.h"
#include "run_words.h"
#include "timestamp.h"
#include "trace.h"

enum { KIND_INTERNAL = 1, STATUS_ERROR = 2 };

/* ---- attributes ---- */

static void begin(struct strbuf *out, const char *key)
{
    bool is_first = out->length && out->text[out->length - 1] == '[';
    strbuf_addf(out, "%s{\"key\":\"%s\",\"value\":{", is_first ? "" : ",", key);
}

/* What is cut in the middle of a character loses its end. */
static void quote(struct strbuf *out, const char *value)
{
    size_t length = strlen(value);
    char text[256];
    if (json_quote(out, value))
        return;
    for (size_t cut = 1; cut < 4 && cut < length && length < sizeof(text); cut++) {
        memcpy(text, value, length - cut);
        text[length - cut] = '\0';
        if (json_quote(out, text))
            return;
    }
    strbuf_adds(out, "\"\"");
}

void otlp_print_text(struct strbuf *out, const char *key, const char *value)
{
    begin(out, key);
    strbuf_adds(out, "\"stringValue\":");
    quote(out, value);
    strbuf_adds(out, "}}");
}

/* Numbers of 64 bits are texts in this encoding. */
void otlp_print_number(struct strbuf *out, const char *key, int64_t value)
{
    begin(out, key);
    strbuf_addf(out, "\"intValue\":\"%" PRId64 "\"}}", value);
}

static void print_id(struct strbuf *out, const char *key, const struct id *id)
{
    char text[ID_TEXT + 1];
    id_format(id, text);
    otlp_print_text(out, key, text);
}

static void print_time(struct strbuf *out, const char *key, int64_t at_ms)
{
    struct strbuf text;
    strbuf_init(&text);
    timestamp_print_utc(at_ms / 1000, &text);
    if (at_ms % 1000 && text.length) {
        strbuf_truncate(&text, text.length - 1);
        strbuf_addf(&text, ".%03dZ", (int)(at_ms % 1000));
    }
    otlp_print_text(out, key, text.text);
    strbuf_release(&text);
}

/* ---- what became of it ---- */

/* A run that a person has killed, or that a newer one has replaced, is no failure. */
static bool is_failure(const struct run *run)
{
    return run_state_is_in(1U << RUN_FAILED | 1U << RUN_TIMED_OUT | 1U << RUN_LOST, run->state);
}

/* Skipped and missed runs were never started; the ledger has them. */
bool otlp_has_span(const struct run *run)
{
    struct run_trace trace;
    if (!run_state_is_end(run->state) || (!run->started_ms && !is_failure(run)))
        return false;
    run_trace_of(run, &trace);
    return trace.is_sampled;
}

static void print_place(const struct run *run, struct strbuf *out)
{
    if (run_is_step(run))
        otlp_print_text(out, "peal.step", run->step);
    if (!id_is_zero(&run->instance))
        print_id(out, "peal.instance_id", &run->instance);
    if (run->parts) {
        otlp_print_number(out, "peal.part", run->part);
        otlp_print_number(out, "peal.parts", run->parts);
    }
    if (*run->node)
        otlp_print_text(out, "peal.node", run->node);
    if (run->cause == CAUSE_AFTER)
        otlp_print_text(out, "peal.after.run_id", run->by);
}

static void print_end(const struct run *run, struct strbuf *out)
{
    int http_status = run_http_status(run);
    otlp_print_text(out, "peal.state", run_state_name(run->state));
    if (run->reason != REASON_NONE)
        otlp_print_text(out, "peal.reason", run_reason_name(run->reason));
    if (run->exit_code >= 0)
        otlp_print_number(out, "process.exit.code", run->exit_code);
    if (run->term_signal)
        otlp_print_number(out, "peal.signal", run->term_signal);
    if (http_status > 0)
        otlp_print_number(out, "http.response.status_code", http_status);
    if (run->output_bytes)
        otlp_print_number(out, "peal.output_bytes", run->output_bytes);
    if (is_failure(run))
        otlp_print_text(out, "error.type",
                        run->reason == REASON_NONE ? run_state_name(run->state)
                                                   : run_reason_name(run->reason));
}

static void print_attributes(const struct run *run, const struct span_about *about,
                             struct strbuf *out)
{
    strbuf_adds(out, "\"attributes\":[");
    otlp_print_text(out, "peal.job", run->job_name);
    print_id(out, "peal.job_uid", &run->job_uid);
    print_id(out, "peal.run_id", &run->id);
    print_time(out, "peal.tick", run->tick_ms);
    otlp_print_number(out, "peal.attempt", run->attempt);
    otlp_print_text(out, "peal.cause", run_cause_name(run->cause));
    if (run->cause == CAUSE_TICK || run->cause == CAUSE_CATCH_UP)
        otlp_print_text(out, "faas.trigger", "timer");
    print_place(run, out);
    if (about->late_ms >= 0)
        otlp_print_number(out, "peal.lateness_ms", about->late_ms);
    print_end(run, out);
    strbuf_adds(out, "]");
}

static void print_status(const struct run *run, struct strbuf *out)
{
    if (!is_failure(run))
        return;
    struct strbuf text;
    strbuf_init(&text);
    strbuf_adds(&text, run_reason_text(run->reason, LANGUAGE_EN));
    if (*run->detail)
        strbuf_addf(&text, "%s%s", text.length ? ": " : "", run->detail);
    strbuf_addf(out, ",\"status\":{\"code\":%d,\"message\":", STATUS_ERROR);
    quote(out, text.length ? text.text : run_state_name(run->state));
    strbuf_adds(out, "}");
    strbuf_release(&text);
}

/* ---- the span ---- */

static void print_name(const struct run *run, struct strbuf *out)
{
    char name[JOB_NAME_SIZE + STEP_NAME_SIZE + 1];
    /* An item of a fan-out is named like its step: names are few. */
    snprintf(name, sizeof(name), "%s%s%.*s", run->job_name, run_is_step(run) ? " " : "",
             (int)strcspn(run->step, "["), run->step);
    quote(out, name);
}

static void print_times(const struct run *run, struct strbuf *out)
{
    int64_t end_ms = run->finished_ms;
    int64_t from_ms = run->started_ms ? run->started_ms : run->claimed_ms;
    if (!end_ms)
        end_ms = from_ms ? from_ms : run->tick_ms;
    if (!from_ms || from_ms > end_ms) /* a clock was set back */
        from_ms = end_ms;
    strbuf_addf(out,
                "\"startTimeUnixNano\":\"%" PRId64 "000000\","
                "\"endTimeUnixNano\":\"%" PRId64 "000000\",",
                from_ms, end_ms);
}

void otlp_print_span(const struct run *run, const struct span_about *about, struct strbuf *out)
{
    struct run_trace trace;
    run_trace_of(run, &trace);
    strbuf_addf(out, "{\"traceId\":\"%s\",\"spanId\":\"%s\",", trace.trace, trace.span);
    if (*trace.parent)
        strbuf_addf(out, "\"parentSpanId\":\"%s\",", trace.parent);
    strbuf_adds(out, "\"name\":");
    print_name(run, out);
    strbuf_addf(out, ",\"kind\":%d,\"flags\":1,", KIND_INTERNAL);
    print_times(run, out);
    print_attributes(run, about, out);
    if (*trace.earlier)
        strbuf_addf(out,
                    ",\"links\":[{\"traceId\":\"%s\",\"spanId\":\"%s\",\"attributes\":["
                    "{\"key\":\"peal.link\",\"value\":{\"stringValue\":\"earlier_attempt\"}}]}]",
                    trace.trace, trace.earlier);
    print_status(run, out);
    strbuf_adds(out, "}");
}
