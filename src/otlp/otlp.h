/* Spans of runs and metrics, for a collector of OpenTelemetry: OTLP/HTTP with JSON. Spans wait in
 * memory, up to a limit, go in batches, and are tried again for a while; what is dropped is
 * counted. Runs on the loop, and nothing waits for it. */
#ifndef PEAL_OTLP_H
#define PEAL_OTLP_H

#include "loop.h"
#include "run.h"
#include "send/sender.h"

struct otlp;

/* 0: the default named here. */
struct otlp_config {
    const char *endpoint; /* "http://127.0.0.1:4318"; "/v1/traces" is appended */
    const char *headers;  /* as otlp_headers_parse reads them; NULL: none */
    const char *node, *version;
    int64_t started_ms; /* since when counters count */
    bool has_traces;
    int64_t metrics_every_s; /* 0: no metrics */
    /* Appends the metrics, as Prometheus reads them. */
    void (*print_metrics)(void *context, struct strbuf *out);
    void (*log)(void *context, const char *event, const char *particulars); /* NULL: no log */
    void (*ended)(void *context); /* after otlp_stop: otlp_is_idle has become true */
    void *context;
    struct sender_config sender;
    size_t waiting_max;     /* 20,000 spans */
    size_t waiting_bytes;   /* 32 MiB of spans */
    int64_t gather_ms;      /* 1,000: how long a span waits for more of them */
    int64_t retry_first_ms; /* 1,000: first pause before a retry; doubles each time */
    int64_t retry_last_ms;  /* 30,000: longest pause */
    int64_t give_up_ms;     /* 300,000: a batch is tried for so long */
    int64_t stop_within_ms; /* 2,000: how long a stop waits for what is left */
};

struct otlp_stats {
    uint64_t sent, dropped;     /* spans */
    uint64_t failed;            /* requests, of spans and of metrics */
    size_t waiting;             /* spans */
    int64_t sent_ms, failed_ms; /* the last ones; wall time, 0: none */
    char error[240];            /* of the last one that failed */
};

/* What is known beside the run itself. */
struct span_about {
    int64_t late_ms; /* start delay of a tick; -1: none, or not known */
};

/* E_INVALID: the headers can't be read. */
MUST_CHECK enum status otlp_new(struct loop *loop, const struct otlp_config *config,
                                struct otlp **ret);

/* What waits is dropped. Accepts NULL; returns NULL. */
struct otlp *otlp_free(struct otlp *otlp);

/* An ended run. One that was never started has no span, unless that is a failure, and neither has
 * one whose request says that its trace is not recorded. */
void otlp_add_run(struct otlp *otlp, const struct run *run, const struct span_about *about);

/* The agent is about to stop: what waits is sent at once, and tried once. */
void otlp_stop(struct otlp *otlp);
bool otlp_is_idle(const struct otlp *otlp);

struct otlp_stats otlp_stats(const struct otlp *otlp);

/* ---- pure ---- */

/* "name=value,other=value" with percent-encoded values, as OTEL_EXPORTER_OTLP_HEADERS has them.
 * E_INVALID: *why; *ret is released. */
MUST_CHECK enum status otlp_headers_parse(const char *text, struct job_pairs *ret,
                                          const char **why);

/* Does the run have a span? */
bool otlp_has_span(const struct run *run);

/* Appends the span as an object of JSON. */
void otlp_print_span(const struct run *run, const struct span_about *about, struct strbuf *out);

/* Appends "KEY": VALUE as an attribute, after a comma unless it is the first one. */
void otlp_print_text(struct strbuf *out, const char *key, const char *value);
void otlp_print_number(struct strbuf *out, const char *key, int64_t value);

/* Appends the metrics of the text as an array of JSON. Values that JSON does not have are left
 * out. */
void otlp_print_metrics(const char *text, int64_t started_ms, int64_t now_ms, struct strbuf *out);

#endif
