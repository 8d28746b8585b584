/* Plans of which a part is done. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "flow_support.h"

#define WORKFLOW "name: w\nschedule: '@daily'\n"
#define CHAIN                                                                                      \
    WORKFLOW "steps: [{name: a, shell: x}, {name: b, after: a, shell: x}, {name: c, after: b, "    \
             "shell: x}]\nfinally: [{name: z, shell: x}]"
#define DIAMOND                                                                                    \
    WORKFLOW "steps: [{name: a, shell: x}, {name: b, after: a, shell: x}, {name: c, after: a, "    \
             "shell: x}, {name: d, after: [b, c], shell: x}]"
#define ANY                                                                                        \
    WORKFLOW "steps: [{name: a, shell: x}, {name: b, shell: x}, {name: d, after: [a, b], join: "   \
             "any, shell: x}]"
#define HANDLER                                                                                    \
    WORKFLOW "steps: [{name: a, shell: x}, {name: h, after: [{step: a, on: failure}], shell: x}]"

/* For each step of the plan: - done, or how many it waits for and how many of them it needs. */
static const struct {
    int line;
    const char *yaml, *done, *want;
    int last; /* ends that the instance waits for */
} cases[] = {
    {__LINE__, CHAIN, NULL, "00 11 11 11", 4},
    {__LINE__, CHAIN, "{\"a\":{}}", "- 00 11 11", 3},
    {__LINE__, CHAIN, "{\"a\":{},\"b\":{}}", "- - 00 11", 2},
    {__LINE__, CHAIN, "{\"b\":{}}", "00 - 11 11", 3},   /* c waits for a then */
    {__LINE__, DIAMOND, "{\"b\":{}}", "00 - 11 22", 3}, /* d for a and c */
    {__LINE__, CHAIN, "{\"a\":{},\"b\":{},\"c\":{}}", "- - - 00", 1},
    {__LINE__, DIAMOND, "{\"a\":{},\"b\":{}}", "- - 00 11", 2},
    {__LINE__, ANY, "{\"a\":{}}", "- 00 00", 2},  /* one is enough */
    {__LINE__, HANDLER, "{\"a\":{}}", "- 01", 1}, /* it did not fail: to be skipped */
};

static void describe(const struct flow *flow, char *text, size_t size)
{
    size_t used = 0;
    for (int i = 0; i < flow_count(flow); i++) {
        if (flow_is_done(flow, i))
            used += (size_t)snprintf(text + used, size - used, "%s-", i ? " " : "");
        else
            used += (size_t)snprintf(text + used, size - used, "%s%d%d", i ? " " : "",
                                     flow_inputs(flow, i), flow_join(flow, i));
    }
}

static char *input_of(const char *done)
{
    char *text = NULL;
    if (done && asprintf(&text, "{\"resume\":{\"done\":%s}}", done) < 0)
        fail();
    return text;
}

static void steps_wait_for_what_is_not_done(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct flow_world world;
        char got[100];
        char *input = input_of(cases[i].done);
        flow_world_open(&world, cases[i].line, cases[i].yaml);
        struct flow *flow = flow_world_plan(&world, cases[i].line, input);
        describe(flow, got, sizeof(got));
        if (strcmp(got, cases[i].want) != 0 || flow_last_count(flow) != cases[i].last)
            fail_msg("line %d: %s, %d, not %s, %d", cases[i].line, got, flow_last_count(flow),
                     cases[i].want, cases[i].last);
        flow_free(flow);
        flow_world_close(&world);
        free(input);
    }
}

/* What is done is told of nothing. */
static void no_edge_leads_to_what_is_done(void **state)
{
    (void)state;
    struct flow_world world;
    flow_world_open(&world, __LINE__, CHAIN);
    struct flow *flow = flow_world_plan(&world, __LINE__, "{\"resume\":{\"done\":{\"b\":{}}}}");
    for (int i = 0; i < flow_count(flow); i++) {
        size_t count;
        const struct flow_edge *edges = flow_edges(flow, i, &count);
        for (size_t k = 0; k < count; k++)
            assert_true(edges[k].step < 0 || !flow_is_done(flow, edges[k].step));
    }
    flow_free(flow);
    flow_world_close(&world);
}

static void values_of_what_is_done_are_there(void **state)
{
    (void)state;
    static const char input[] =
        "{\"resume\":{\"of\":\"01M7PR94RARQH27J0BWK1QCHCY\",\"done\":{\"a\":{\"run\":"
        "\"01M7PR94RM1DGG7FAPT65HA5BQ\",\"values\":{\"n\":\"7\"}},\"f\":{\"items\":[{\"y\":\"1\"},"
        "null,{\"y\":\"3\"}]}}}}";
    struct flow_world world;
    struct flow_ends ends = {0};
    struct job *job = NULL;
    char why[200] = "";
    bool is_to_run = false;
    flow_world_open(&world, __LINE__,
                    WORKFLOW "steps: [{name: a, shell: x}, {name: f, each: [p, q, r], shell: x}, "
                             "{name: b, after: [a, f], when: steps.a.n == 7 and steps.a.state == "
                             "'ok' and steps.a.exit_code == 0, command: [echo, '${steps.a.n}', "
                             "'${steps.f.y}']}]");
    struct flow *flow = flow_world_plan(&world, __LINE__, input);
    struct flow_scope scope = flow_ends_scope(&ends);
    int step = flow_find(flow, "b");
    assert_string_equal(flow_done_run(flow, 0), "01M7PR94RM1DGG7FAPT65HA5BQ");
    assert_null(flow_done_run(flow, 1));
    assert_int_equal(flow_inputs(flow, step), 0);
    assert_int_equal(flow_when(flow, step, &scope, &is_to_run, why, sizeof(why)), OK);
    assert_true(is_to_run);
    if (flow_job(flow, flow_part_of(step), &scope, &job, why, sizeof(why)) != OK)
        fail_msg("%s", why);
    assert_string_equal(job->command[1], "7");
    assert_string_equal(job->command[2], "[\"1\",\"\",\"3\"]");
    job_free(job);
    flow_free(flow);
    flow_world_close(&world);
}

static void what_can_not_be_left_out_is_refused(void **state)
{
    static const struct {
        int line;
        const char *input, *why;
    } bad[] = {
        {__LINE__, "{\"resume\":{\"done\":{\"nope\":{}}}}", "there is no step nope"},
        {__LINE__, "{\"resume\":{\"done\":{\"a\":1}}}", "what is done of step a can't be read"},
        {__LINE__, "{\"resume\":{\"done\":[]}}", "what is done can't be read"},
        {__LINE__, "{\"resume\":{\"done\":{\"a\":{},\"b\":{},\"c\":{},\"z\":{}}}}",
         "no step is left to run"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct flow_world world;
        char why[200] = "", *text = NULL;
        flow_world_open(&world, bad[i].line, CHAIN);
        enum status st =
            flow_text(world.jobs.items[0], bad[i].input, &world.source, &text, why, sizeof(why));
        if (st != E_INVALID || strcmp(why, bad[i].why) != 0)
            fail_msg("line %d: %s", bad[i].line, why);
        flow_world_close(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_wait_for_what_is_not_done),
        cmocka_unit_test(no_edge_leads_to_what_is_done),
        cmocka_unit_test(values_of_what_is_done_are_there),
        cmocka_unit_test(what_can_not_be_left_out_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
