/* What is pure: a run as a span, the metrics' text, headers. The exporter itself is tried by
 * test/integration/otlp. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "otlp.h"

/* ---- headers ---- */

static void headers_are_as_the_standard_has_them(void **state)
{
    static const struct {
        int line;
        const char *text;
        size_t count; /* of those that are read; 0: none, or refused */
        const char *name, *value;
        bool is_refused;
    } cases[] = {
        {__LINE__, "a=b", 1, "a", "b", false},
        {__LINE__, " a = b , c=d", 2, "a", "b", false},
        {__LINE__, "authorization=Bearer%20x%3D%3D", 1, "authorization", "Bearer x==", false},
        {__LINE__, "a=b=c", 1, "a", "b=c", false},
        {__LINE__, "a=", 1, "a", "", false},
        {__LINE__, "", 0, NULL, NULL, false},
        {__LINE__, " , ", 0, NULL, NULL, false},
        {__LINE__, "a", 0, NULL, NULL, true},
        {__LINE__, "a b=c", 0, NULL, NULL, true},
        {__LINE__, "=c", 0, NULL, NULL, true},
        {__LINE__, "a=%2", 0, NULL, NULL, true},
        {__LINE__, "a=%zz", 0, NULL, NULL, true},
        {__LINE__, "a=b%0d%0aevil: 1", 0, NULL, NULL, true},
        {__LINE__, "content-length=5", 0, NULL, NULL, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct job_pairs headers;
        const char *why = NULL;
        enum status st = otlp_headers_parse(cases[i].text, &headers, &why);
        bool is_refused = st == E_INVALID && why;
        if (is_refused != cases[i].is_refused || headers.count != cases[i].count ||
            (headers.count && (strcmp(headers.items[0].name, cases[i].name) != 0 ||
                               strcmp(headers.items[0].value, cases[i].value) != 0)))
            fail_msg("line %d: %s", cases[i].line, why ? why : "read");
        if (st == OK)
            job_pairs_release(&headers);
    }
}

/* ---- spans ---- */

static struct run a_run(enum run_state run_state)
{
    struct run run = {.job_uid.bytes = {1},
                      .job_name = "etl/load",
                      .tick_ms = 1795111918000,
                      .attempt = 1,
                      .cause = CAUSE_TICK,
                      .state = run_state,
                      .exit_code = -1,
                      .started_ms = 1795111918010,
                      .finished_ms = 1795111919000};
    return run;
}

static void who_has_a_span(void **state)
{
    static const struct {
        int line;
        enum run_state state;
        bool was_started, has_span;
        const char *traceparent;
    } cases[] = {
        {__LINE__, RUN_OK, true, true, ""},
        {__LINE__, RUN_FAILED, true, true, ""},
        {__LINE__, RUN_FAILED, false, true, ""}, /* it could not be started */
        {__LINE__, RUN_LOST, false, true, ""},
        {__LINE__, RUN_KILLED, true, true, ""},
        {__LINE__, RUN_KILLED, false, false, ""},
        {__LINE__, RUN_SKIPPED, false, false, ""},
        {__LINE__, RUN_MISSED, false, false, ""},
        {__LINE__, RUN_RUNNING, true, false, ""},
        {__LINE__, (enum run_state)1000, true, false, ""}, /* of a newer peal */
        {__LINE__, RUN_OK, true, true, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
        {__LINE__, RUN_OK, true, false, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct run run = a_run(cases[i].state);
        if (!cases[i].was_started)
            run.started_ms = 0;
        snprintf(run.traceparent, sizeof(run.traceparent), "%s", cases[i].traceparent);
        if (otlp_has_span(&run) != cases[i].has_span)
            fail_msg("line %d", cases[i].line);
    }
}

static json_t *span_of(const struct run *run)
{
    struct strbuf text;
    strbuf_init(&text);
    otlp_print_span(run, &(struct span_about){.late_ms = -1}, &text);
    json_error_t error;
    json_t *span = json_loads(text.text, JSON_REJECT_DUPLICATES, &error);
    if (!span)
        fail_msg("%s at %d of %s", error.text, error.position, text.text);
    strbuf_release(&text);
    return span;
}

static const char *text_of(const json_t *span, const char *key)
{
    return json_string_value(json_object_get(span, key));
}

/* Whatever a run says of itself, the span is JSON, and does not end before it begins. */
static void any_run_is_well_formed(void **state)
{
    struct run run = a_run(RUN_FAILED);
    (void)state;
    run.reason = REASON_NO_START;
    snprintf(run.detail, sizeof(run.detail), "\"\\\n\x01 and what is cut: \xe4\xbd");
    run.finished_ms = run.started_ms - 5000; /* a clock was set back */
    json_t *span = span_of(&run);
    assert_string_equal(text_of(span, "startTimeUnixNano"), text_of(span, "endTimeUnixNano"));
    assert_string_equal(text_of(span, "endTimeUnixNano"), "1795111913010000000");
    assert_int_equal(json_integer_value(json_object_get(json_object_get(span, "status"), "code")),
                     2);
    assert_non_null(strstr(text_of(json_object_get(span, "status"), "message"), "what is cut: "));
    json_decref(span);

    run.started_ms = run.claimed_ms = run.finished_ms = 0;
    span = span_of(&run);
    assert_string_equal(text_of(span, "startTimeUnixNano"), "1795111918000000000");
    json_decref(span);

    run = a_run((enum run_state)1000);
    run.reason = (enum run_reason)1000;
    run.cause = (enum run_cause)1000;
    json_decref(span_of(&run));
}

static void an_item_is_named_like_its_step(void **state)
{
    struct run run = a_run(RUN_OK);
    (void)state;
    run.instance.bytes[0] = 1;
    snprintf(run.step, sizeof(run.step), "load[17]");
    json_t *span = span_of(&run);
    assert_string_equal(text_of(span, "name"), "etl/load load");
    assert_null(json_object_get(span, "status"));
    json_decref(span);
}

/* ---- metrics ---- */

static const char text[] = "# HELP a_total What \"it\" counts.\n# TYPE a_total counter\n"
                           "a_total{state=\"ok\",reason=\"\"} "
                           "3\na_total{state=\"failed\",reason=\"x\"} 18446744073709551615\n"
                           "# HELP none Nothing yet.\n# TYPE none gauge\n"
                           "# HELP g_seconds A gauge.\n# TYPE g_seconds gauge\ng_seconds -0.25\n"
                           "# HELP odd Not for JSON.\n# TYPE odd gauge\nodd nan\nodd inf\n"
                           "# HELP h_seconds A histogram.\n# TYPE h_seconds histogram\n"
                           "h_seconds_bucket{le=\"0.5\"} 1\nh_seconds_bucket{le=\"10\"} "
                           "4\nh_seconds_bucket{le=\"+Inf\"} 6\n"
                           "h_seconds_sum 61.5\nh_seconds_count 6\n"
                           "# HELP last_bytes The end.\n# TYPE last_bytes gauge\nlast_bytes 7";

static void the_text_becomes_metrics(void **state)
{
    struct strbuf out, got;
    json_error_t error;
    (void)state;
    strbuf_init(&out);
    strbuf_init(&got);
    otlp_print_metrics(text, 1000, 2000, &out);
    json_t *metrics = json_loads(out.text, JSON_REJECT_DUPLICATES, &error);
    if (!metrics)
        fail_msg("%s at %d of %s", error.text, error.position, out.text);
    for (size_t i = 0; i < json_array_size(metrics); i++)
        strbuf_addf(&got, "%s ", text_of(json_array_get(metrics, i), "name"));
    assert_string_equal(got.text, "a_total g_seconds h_seconds last_bytes ");

    const json_t *sum = json_object_get(json_array_get(metrics, 0), "sum");
    const json_t *point = json_array_get(json_object_get(sum, "dataPoints"), 1);
    assert_string_equal(text_of(point, "asInt"), "18446744073709551615");
    assert_string_equal(text_of(point, "startTimeUnixNano"), "1000000000");
    assert_string_equal(text_of(point, "timeUnixNano"), "2000000000");
    assert_int_equal(json_array_size(json_object_get(point, "attributes")), 2);

    assert_string_equal(text_of(json_array_get(metrics, 1), "unit"), "s");
    assert_string_equal(text_of(json_array_get(metrics, 3), "unit"), "By");

    const json_t *histogram = json_object_get(json_array_get(metrics, 2), "histogram");
    point = json_array_get(json_object_get(histogram, "dataPoints"), 0);
    char *counts = json_dumps(json_object_get(point, "bucketCounts"), JSON_COMPACT);
    assert_string_equal(counts, "[\"1\",\"3\",\"2\"]");
    free(counts);
    assert_int_equal(json_array_size(json_object_get(point, "explicitBounds")), 2);
    assert_string_equal(text_of(point, "count"), "6");
    json_decref(metrics);
    strbuf_release(&out);
    strbuf_release(&got);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_are_as_the_standard_has_them),
        cmocka_unit_test(who_has_a_span),
        cmocka_unit_test(any_run_is_well_formed),
        cmocka_unit_test(an_item_is_named_like_its_step),
        cmocka_unit_test(the_text_becomes_metrics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
