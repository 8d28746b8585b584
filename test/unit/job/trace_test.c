#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "trace.h"
#include "workflow/flow.h"

#define TRACE  "0af7651916cd43dd8448eb211c80319c"
#define CALLER "b7ad6b7169203331"

static void what_strangers_send_is_read_strictly(void **state)
{
    static const struct {
        int line;
        const char *text;
        bool is_valid;
    } parents[] =
        {
            {__LINE__, "00-" TRACE "-" CALLER "-01", true},
            {__LINE__, "00-" TRACE "-" CALLER "-00", true},
            {__LINE__, "cc-" TRACE "-" CALLER "-01-more", true},
            {__LINE__, "00-" TRACE "-" CALLER "-01-more", false},
            {__LINE__, "cc-" TRACE "-" CALLER "-01more", false},
            {__LINE__, "ff-" TRACE "-" CALLER "-01", false},
            {__LINE__, "00-00000000000000000000000000000000-" CALLER "-01", false},
            {__LINE__, "00-" TRACE "-0000000000000000-01", false},
            {__LINE__, "00-00000000000000000000000000000001-0000000000000001-01", true},
            {__LINE__, "00-0AF7651916CD43DD8448EB211C80319C-" CALLER "-01", false},
            {__LINE__, "00-" TRACE "-" CALLER, false},
            {__LINE__, "00-" TRACE "-" CALLER "-0", false},
            {__LINE__, " 00-" TRACE "-" CALLER "-01", false},
            {__LINE__, "", false},
        },
      states[] = {
          {__LINE__, "vendor=1", true},
          {__LINE__, "a=1,b=2", true},
          {__LINE__, " a=1 , b=2 ", true},
          {__LINE__, "a=1,,b=2,", true},
          {__LINE__, "0a@b/c*d_e-f=~!x y", true},
          {__LINE__, "a=1,b", false},
          {__LINE__, "A=1", false},
          {__LINE__, "_a=1", false},
          {__LINE__, "a=", false},
          {__LINE__, "a=b=c", false},
          {__LINE__, "a=\x01", false},
          {__LINE__, "a=\xc3\xa4", false},
          {__LINE__, "a=1\nb=2", false},
          {__LINE__, ",", false},
          {__LINE__, "", false},
      };
    (void)state;
    for (size_t i = 0; i < sizeof(parents) / sizeof(parents[0]); i++) {
        if (traceparent_is_valid(parents[i].text) != parents[i].is_valid)
            fail_msg("line %d", parents[i].line);
    }
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        if (tracestate_is_valid(states[i].text) != states[i].is_valid)
            fail_msg("line %d", states[i].line);
    }
}

static void a_state_has_limits(void **state)
{
    char text[TRACESTATE_MAX + 2] = "";
    (void)state;
    for (int i = 0; i < 32; i++)
        strcat(text, i ? ",a=1" : "a=1");
    assert_true(tracestate_is_valid(text));
    strcat(text, ",a=1");
    assert_false(tracestate_is_valid(text)); /* the 33rd member */
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    text[1] = '=';
    assert_false(tracestate_is_valid(text)); /* too long a value, and text */
    text[2 + 256] = '\0';
    assert_true(tracestate_is_valid(text));
    text[2 + 256] = 'x';
    text[2 + 257] = '\0';
    assert_false(tracestate_is_valid(text));
}

static struct run a_run(void)
{
    return (struct run){.job_uid.bytes = {1, 2, 3}, .tick_ms = 1795111918000, .attempt = 1};
}

/* Of a span that was exported, the ids are for ever: another version must make the same. */
static void ids_follow_from_what_a_run_is(void **state)
{
    struct run run = a_run();
    struct run_trace first, again;
    char parent[TRACEPARENT_SIZE];
    (void)state;
    run_trace_of(&run, &first);
    assert_int_equal(strlen(first.trace), 32);
    assert_int_equal(strlen(first.span), 16);
    assert_string_equal(first.parent, "");
    assert_string_equal(first.earlier, "");
    assert_true(first.is_sampled);
    run_trace_parent(&run, parent);
    assert_true(traceparent_is_valid(parent));
    assert_string_equal(parent, "00-b1e3860442a27a7cd773853a79813111-ad87bec957e04bc7-01");
    run.state = RUN_OK;
    snprintf(run.node, sizeof(run.node), "another");
    run_trace_of(&run, &again);
    assert_memory_equal(&first, &again, sizeof(first));
}

static void attempts_parts_and_ticks_have_spans_of_their_own(void **state)
{
    struct run run = a_run();
    struct run_trace first, second, part, later;
    (void)state;
    run_trace_of(&run, &first);
    run.attempt = 2;
    run_trace_of(&run, &second);
    assert_string_equal(first.trace, second.trace);
    assert_string_equal(second.earlier, first.span);
    assert_string_not_equal(second.span, first.span);
    run = a_run();
    run.part = 2;
    run.parts = 3;
    run_trace_of(&run, &part);
    assert_string_equal(part.trace, first.trace);
    assert_string_not_equal(part.span, first.span);
    run = a_run();
    run.tick_ms++;
    run_trace_of(&run, &later);
    assert_string_not_equal(later.trace, first.trace);
    assert_string_not_equal(later.span, first.span);
}

static void steps_are_below_their_instance(void **state)
{
    struct run run = a_run();
    struct run_trace instance, step, fan_out, item;
    (void)state;
    snprintf(run.traceparent, sizeof(run.traceparent), "00-" TRACE "-" CALLER "-00");
    run.instance.bytes[0] = 1;
    run_trace_of(&run, &instance);
    assert_string_equal(instance.trace, TRACE);
    assert_string_equal(instance.parent, CALLER);
    assert_false(instance.is_sampled);
    snprintf(run.step, sizeof(run.step), "load");
    run.part = flow_part_of(0);
    run.attempt = 2;
    run_trace_of(&run, &step);
    assert_string_equal(step.trace, TRACE);
    assert_string_equal(step.parent, instance.span);
    run.part = flow_part_of(1);
    run.attempt = 1;
    run_trace_of(&run, &fan_out);
    run.part = 2 * FLOW_ITEMS + 5;
    run_trace_of(&run, &item);
    assert_string_equal(item.parent, fan_out.span);
}

/* A value of the store that is none. */
static void a_broken_parent_is_none(void **state)
{
    struct run run = a_run(), other = a_run();
    struct run_trace first, second;
    (void)state;
    snprintf(run.traceparent, sizeof(run.traceparent), "00-zz");
    run_trace_of(&run, &first);
    run_trace_of(&other, &second);
    assert_memory_equal(&first, &second, sizeof(first));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_strangers_send_is_read_strictly),
        cmocka_unit_test(a_state_has_limits),
        cmocka_unit_test(ids_follow_from_what_a_run_is),
        cmocka_unit_test(attempts_parts_and_ticks_have_spans_of_their_own),
        cmocka_unit_test(steps_are_below_their_instance),
        cmocka_unit_test(a_broken_parent_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
