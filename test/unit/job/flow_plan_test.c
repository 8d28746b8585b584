/* Plans: what steps wait for, with workflows as steps, and what can't be planned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "flow_support.h"
#include "params/run_input.h"
#include "workflow/steps.h"

#define WORKFLOW "name: w\nschedule: '@daily'\n"
#define INNER    "---\nname: inner\nschedule: '@manual'\n"

/* "a -> b c-; b(1/1) -> *": joins and inputs, ! for `finally`, and what waits: on success, - on
 * failure, + always, ? if it has passed, * the instance. */
static void describe(const struct flow *flow, struct strbuf *out)
{
    for (int i = 0; i < flow_count(flow); i++) {
        size_t count;
        const struct flow_edge *edges = flow_edges(flow, i, &count);
        strbuf_addf(out, "%s%s", i ? "; " : "", flow_name(flow, i));
        if (flow_inputs(flow, i))
            strbuf_addf(out, "(%d/%d)", flow_join(flow, i), flow_inputs(flow, i));
        strbuf_adds(out, flow_is_final(flow, i) ? "!" : "");
        strbuf_adds(out, " ->");
        for (size_t k = 0; k < count; k++) {
            bool ok = run_state_is_in(edges[k].states, RUN_OK);
            bool failed = run_state_is_in(edges[k].states, RUN_FAILED);
            if (edges[k].step < 0)
                strbuf_adds(out, " *");
            else
                strbuf_addf(out, " %s%s", flow_name(flow, edges[k].step),
                            ok && failed ? "+"
                            : failed     ? "-"
                                         : "");
        }
    }
}

static const struct {
    int line;
    const char *yaml, *want;
} plans[] = {
    {__LINE__, WORKFLOW "steps: [{name: a, shell: x}]", "a -> *"},
    {__LINE__, WORKFLOW "steps: [{name: a, shell: x}, {name: b, after: a, shell: x}]",
     "a -> b *; b(1/1) -> *"},
    {__LINE__,
     WORKFLOW "steps: [{name: c, after: [a, {step: b, on: always}], shell: x}, {name: a, shell: x},"
              " {name: b, shell: x}]",
     "c(2/2) -> *; a -> c *; b -> c+ *"},
    /* A failure that is waited for does not fail the instance. */
    {__LINE__,
     WORKFLOW "steps: [{name: a, shell: x}, {name: mend, after: [{step: a, on: failure}], shell: "
              "x}, {name: b, after: a, shell: x}]",
     "a -> mend- b; mend(1/1) -> *; b(1/1) -> *"},
    {__LINE__,
     WORKFLOW "steps: [{name: a, shell: x}, {name: b, shell: x}, {name: c, after: [a, b], join: "
              "any, shell: x}]",
     "a -> c *; b -> c *; c(1/2) -> *"},
    /* With any of them waited for, the others may end later, and are not forgotten. */
    {__LINE__,
     WORKFLOW "steps: [{name: a, shell: x}, {name: b, shell: x}, {name: c, after: [{step: a, on: "
              "failure}, {step: b, on: failure}], join: any, shell: x}]\n"
              "finally: [{name: z, shell: x}]",
     "a -> c- z+ *; b -> c- z+ *; c(1/2) -> z+ *; z(3/3)! -> *"},
    {__LINE__,
     WORKFLOW "steps: [{name: a, shell: x}, {name: b, shell: x}, {name: c, after: a, shell: x}, "
              "{name: d, after: [a, b, c], join: 2, shell: x}]",
     "a -> c d *; b -> d *; c(1/1) -> d *; d(2/3) -> *"},
    {__LINE__,
     WORKFLOW "steps: [{name: a, shell: x}, {name: b, after: a, shell: x}, {name: c, shell: x}]\n"
              "finally: [{name: y, shell: x}, {name: z, after: y, shell: x}]",
     "a -> b *; b(1/1) -> y+ *; c -> y+ *; y(2/2)! -> z *; z(1/1)! -> *"},

    /* ---- workflows as steps ---- */
    {__LINE__,
     WORKFLOW "steps: [{name: a, shell: x}, {name: w2, after: a, workflow: inner}, {name: z, "
              "after: w2, shell: x}]\n" INNER
              "steps: [{name: i, shell: x}, {name: j, after: i, shell: x}]",
     "a -> w2/i *; w2/i(1/1) -> w2/j z+ *; w2/j(1/1) -> z+ *; z(2/2) -> *"},
    {__LINE__,
     WORKFLOW "steps: [{name: w2, workflow: inner}, {name: z, after: [{step: w2, on: failure}], "
              "shell: x}]\n" INNER "steps: [{name: i, shell: x}, {name: j, shell: x}]",
     "w2/i -> z+; w2/j -> z+; z(2/2) -> *"},
    {__LINE__,
     WORKFLOW "steps: [{name: a, shell: x}, {name: w2, after: a, workflow: inner}]\n" INNER
              "steps: [{name: i, shell: x}]\nfinally: [{name: f, shell: x}]",
     "a -> w2/i *; w2/i(1/1) -> w2/f+ *; w2/f(1/1)! -> *"},
    /* One after the other. */
    {__LINE__,
     WORKFLOW "steps: [{name: p, workflow: inner}, {name: q, after: p, workflow: inner}]\n" INNER
              "steps: [{name: i, shell: x}, {name: j, shell: x}]",
     "p/i -> q/i+ q/j+ *; p/j -> q/i+ q/j+ *; q/i(2/2) -> *; q/j(2/2) -> *"},
    {__LINE__,
     WORKFLOW "steps: [{name: a, shell: x}, {name: b, shell: x}, {name: w2, after: [a, b], join: "
              "any, workflow: inner}]\n" INNER "steps: [{name: i, shell: x}]",
     "a -> w2/i *; b -> w2/i *; w2/i(1/2) -> *"},
    {__LINE__,
     WORKFLOW "steps: [{name: a, shell: x}]\nfinally: [{name: w2, workflow: inner}]\n" INNER
              "steps: [{name: i, shell: x}, {name: j, after: i, shell: x}]",
     "a -> w2/i+ *; w2/i(1/1)! -> w2/j *; w2/j(1/1)! -> *"},
    {__LINE__,
     WORKFLOW "steps: [{name: m, workflow: mid}, {name: z, after: m, shell: x}]\n"
              "---\nname: mid\nschedule: '@manual'\nsteps: [{name: a, shell: x}, {name: w2, after: "
              "a, workflow: inner}]\n" INNER "steps: [{name: i, shell: x}]",
     "m/a -> m/w2/i z+ *; m/w2/i(1/1) -> z+ *; z(2/2) -> *"},
    {__LINE__,
     WORKFLOW "steps: [{name: j, job: other}]\n---\nname: other\nschedule: '@daily'\nshell: x\n",
     "j -> *"},
};

static void steps_wait_for_each_other(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
        struct flow_world world;
        struct strbuf got;
        int last = 0;
        flow_world_open(&world, plans[i].line, plans[i].yaml);
        struct flow *flow = flow_world_plan(&world, plans[i].line, NULL);
        strbuf_init(&got);
        describe(flow, &got);
        if (strcmp(got.text, plans[i].want) != 0)
            fail_msg("line %d: %s", plans[i].line, got.text);
        for (const char *at = got.text; (at = strchr(at, '*')); at++)
            last++;
        assert_int_equal(flow_last_count(flow), last);
        strbuf_release(&got);
        flow_free(flow);
        flow_world_close(&world);
    }
}

/* ---- what can't be planned ---- */

static const struct {
    int line;
    const char *yaml, *input, *want;
} bad[] = {
    {__LINE__, WORKFLOW "steps: [{name: a, job: none}]", NULL, "step a: there is no job none"},
    {__LINE__, WORKFLOW "steps: [{name: a, workflow: none}]", NULL,
     "step a: there is no workflow none"},
    {__LINE__, WORKFLOW "steps: [{name: a, workflow: w}]", NULL,
     "step a: workflow w is used within itself"},
    {__LINE__,
     WORKFLOW "steps: [{name: a, workflow: inner}]\n" INNER "steps: [{name: b, workflow: w}]", NULL,
     "step b: workflow w is used within itself"},
    {__LINE__, WORKFLOW "steps: [{name: a, job: inner}]\n" INNER "steps: [{name: b, shell: x}]",
     NULL, "step a: inner is a workflow; write \"workflow: inner\""},
    {__LINE__, WORKFLOW "steps: [{name: a, workflow: inner}]\n" INNER "shell: x", NULL,
     "step a: inner is no workflow; write \"job: inner\""},
    {__LINE__,
     WORKFLOW "steps: [{name: a, workflow: inner}]\n" INNER
              "timeout: 5m\nsteps: [{name: b, shell: x}]",
     NULL, "step a: workflow inner has a timeout of its own"},
    {__LINE__,
     WORKFLOW "steps: [{name: a, workflow: inner}, {name: b, shell: x}, {name: c, after: [a, b], "
              "join: any, shell: x}]\n" INNER "steps: [{name: b, shell: x}]",
     NULL, "step c: a \"join\" other than all can't wait for a workflow, a"},
    {__LINE__,
     WORKFLOW "steps: [{name: a, shell: x}, {name: b, shell: x}, {name: c, after: [a, b], "
              "join: any, when: 'true', workflow: inner}]\n" INNER "steps: [{name: b, shell: x}]",
     NULL, "step c: a workflow with a \"when\" can't have a \"join\" other than all"},
    {__LINE__, WORKFLOW "steps: [{name: a, job: inner, with: {x: 1}}]\n" INNER "shell: x", NULL,
     "step a: x is no parameter of job inner"},
    {__LINE__,
     WORKFLOW "steps: [{name: a, job: inner, with: {x: y}}]\n" INNER
              "params: {x: {type: integer}}\nshell: x",
     NULL, "step a: parameter x: \"y\" is not a whole number"},
    {__LINE__, WORKFLOW "steps: [{name: a, job: inner}]\n" INNER "params: {x: {}}\nshell: x", NULL,
     "step a: parameter x of job inner has no default; give a value in \"with\""},
    {__LINE__,
     WORKFLOW "steps: [{name: a, workflow: inner}]\n" INNER
              "params: {x: {}}\nsteps: [{name: b, shell: x}]",
     NULL, "step a: parameter x of workflow inner has no default"},
    {__LINE__,
     WORKFLOW "steps: [{name: a, workflow: inner, with: {y: 1}}]\n" INNER
              "steps: [{name: b, shell: x}]",
     NULL, "step a: y is no parameter of workflow inner"},
    {__LINE__,
     WORKFLOW "steps: [{name: a, workflow: inner}, {name: b, after: a, shell: 'echo "
              "${steps.a/none.x}'}]\n" INNER "steps: [{name: c, shell: x}]",
     NULL, "step b: env:1: ${steps.a/none.x} names a step that does not exist"},
    {__LINE__,
     WORKFLOW "steps: [{name: a, workflow: inner}, {name: b, after: a, shell: 'echo "
              "${steps.a.x}'}]\n" INNER "steps: [{name: c, shell: x}]",
     NULL, "step b: env:1: ${steps.a.x} names a workflow, which has no outputs"},
    {__LINE__, WORKFLOW "params: {n: {type: integer, default: 1}}\nsteps: [{name: a, shell: x}]",
     "{\"params\":{\"n\":\"x\"}}", "parameter n: \"x\" is not a whole number"},
    {__LINE__, WORKFLOW "steps: [{name: a, shell: x}]", "{\"params\":{\"n\":\"x\"}}",
     "parameter n: is no parameter of this job"},
    {__LINE__, WORKFLOW "steps: [{name: a, shell: x}]", "[", "what was handed over"},
    {__LINE__,
     WORKFLOW "steps: [{name: l23456789l23456789l23456789l23456789, workflow: inner}]\n" INNER
              "steps: [{name: m23456789m23456789m23456789m23456789, shell: x}]",
     NULL,
     "step l23456789l23456789l23456789l23456789/m23456789m23456789m23456789m23456789: the name is "
     "longer than 63 bytes"},
};

static void mistakes_are_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct flow_world world;
        char why[200] = "";
        char *text = NULL;
        flow_world_open(&world, bad[i].line, bad[i].yaml);
        enum status st =
            flow_text(world.jobs.items[0], bad[i].input, &world.source, &text, why, sizeof(why));
        if (st != E_INVALID || strncmp(why, bad[i].want, strlen(bad[i].want)) != 0)
            fail_msg("line %d: %s: %s", bad[i].line, status_text(st), why);
        assert_null(text);
        flow_world_close(&world);
    }
}

/* A chain of workflows, each the only step of the one before it. */
static void depth_is_bounded(void **state)
{
    (void)state;
    for (int depth = FLOW_DEPTH_MAX - 1; depth <= FLOW_DEPTH_MAX; depth++) {
        struct flow_world world;
        struct strbuf yaml;
        char why[200] = "";
        char *text = NULL;
        strbuf_init(&yaml);
        for (int i = 0; i < depth; i++)
            strbuf_addf(&yaml,
                        "---\nname: w%d\nschedule: '@manual'\nsteps: [{name: s, workflow: w%d}]\n",
                        i, i + 1);
        strbuf_addf(&yaml, "---\nname: w%d\nschedule: '@manual'\nsteps: [{name: s, shell: x}]\n",
                    depth);
        flow_world_open(&world, __LINE__, yaml.text);
        enum status st =
            flow_text(world.jobs.items[0], NULL, &world.source, &text, why, sizeof(why));
        assert_int_equal(st, depth < FLOW_DEPTH_MAX ? OK : E_INVALID);
        assert_true(!*why || strstr(why, "more than 8 times"));
        free(text);
        strbuf_release(&yaml);
        flow_world_close(&world);
    }
}

/* Many of something, as YAML. */
static void add_steps(struct strbuf *yaml, int count, const char *rest)
{
    strbuf_adds(yaml, WORKFLOW "steps:\n");
    for (int i = 0; i < count; i++)
        strbuf_addf(yaml, "- {name: s%d, shell: x%s}\n", i, i ? rest : "");
}

static void sizes_are_bounded(void **state)
{
    (void)state;
    static const struct {
        int line, count;
        const char *rest, *finally;
        enum status want;
        const char *why;
    } cases[] = {
        {__LINE__, STEPS_FIRST_MAX, "", "", OK, ""},
        {__LINE__, STEP_AFTER_MAX, ", after: s0", "", OK, ""}, /* and the instance */
        {__LINE__, STEP_AFTER_MAX + 1, ", after: s0", "", E_INVALID,
         "257 steps, with the instance itself, wait for step s0; at most 256 are possible"},
        {__LINE__, 200, ", after: s0", "finally: [{name: z, shell: x}]", OK, ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct flow_world world;
        struct strbuf yaml;
        char why[200] = "";
        char *text = NULL;
        strbuf_init(&yaml);
        add_steps(&yaml, cases[i].count, cases[i].rest);
        strbuf_adds(&yaml, cases[i].finally);
        flow_world_open(&world, cases[i].line, yaml.text);
        enum status st =
            flow_text(world.jobs.items[0], NULL, &world.source, &text, why, sizeof(why));
        if (st != cases[i].want || strcmp(why, cases[i].why) != 0)
            fail_msg("line %d: %s %s", cases[i].line, status_text(st), why);
        free(text);
        strbuf_release(&yaml);
        flow_world_close(&world);
    }
}

static void large_plans_fit_or_are_refused(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct flow_world world;
        struct strbuf yaml;
        char why[200] = "";
        char *text = NULL;
        strbuf_init(&yaml);
        strbuf_adds(&yaml, WORKFLOW "steps:\n- {name: s0, shell: x}\n");
        for (int k = 1; k < STEPS_MAX; k++)
            strbuf_addf(&yaml,
                        "- {name: s%d, after: s%d, command: [/usr/local/bin/load, '%0*d']}\n", k,
                        k - 1, i ? 300 : 4, k);
        flow_world_open(&world, __LINE__, yaml.text);
        enum status st =
            flow_text(world.jobs.items[0], NULL, &world.source, &text, why, sizeof(why));
        assert_int_equal(st, i ? E_TOO_LARGE : OK);
        assert_true(i ? strstr(why, "larger than 380 KiB") != NULL : strlen(text) <= FLOW_TEXT_MAX);
        free(text);
        strbuf_release(&yaml);
        flow_world_close(&world);
    }
}

/* ---- the document ---- */

static const char with_params[] =
    WORKFLOW "timeout: 2h\nparams: {mode: {default: full}, n: {type: integer, default: 3}}\n"
             "env: {A: b}\nuser: etl\nwhere: zone=eu\n"
             "steps: [{name: a, shell: x, retries: 2, timeout: 5m}, {name: b, http: "
             "'https://h/'}, {name: c, job: other, retries: 1, env: {E: own}}]\n"
             "---\nname: other\nschedule: '@daily'\ncommand: [run, '${day}']\nuser: batch\n"
             "retries: 7\nparams: {day: {default: mon}}\nenv: {E: e, F: '${item}'}\n"
             "overlap: allow\nnotify: {on: failure}\n";

static void the_document_is_an_input_too(void **state)
{
    (void)state;
    struct flow_world world;
    char why[200];
    char *text = NULL;
    const char *given = "{\"params\":{\"n\":\"5\"},\"env\":{\"X\":\"y\"},\"timeout_s\":60}";
    flow_world_open(&world, __LINE__, with_params);
    assert_int_equal(flow_text(world.jobs.items[0], given, &world.source, &text, why, sizeof(why)),
                     OK);
    struct run_input input = input_decode(text);
    char *params = json_dumps(input.params, JSON_COMPACT);
    char *env = json_dumps(input.env, JSON_COMPACT);
    assert_string_equal(params, "{\"mode\":\"full\",\"n\":\"5\"}");
    assert_string_equal(env, "{\"X\":\"y\"}");
    assert_int_equal(input.timeout_s, 60);
    struct flow *flow = NULL;
    char *again = NULL;
    assert_int_equal(flow_decode(text, &flow), OK);
    assert_int_equal(flow_timeout_s(flow), 60);
    /* A plan that is handed over again, as for a repeat of the instance, becomes the same. */
    assert_int_equal(flow_text(world.jobs.items[0], text, &world.source, &again, why, sizeof(why)),
                     OK);
    assert_string_equal(text, again);
    free(again);
    free(params);
    free(env);
    input_release(&input);
    flow_free(flow);
    free(text);
    flow = flow_world_plan(&world, __LINE__, NULL);
    assert_int_equal(flow_timeout_s(flow), 7200);
    flow_free(flow);
    flow_world_close(&world);
}

/* Each step is a definition by itself. */
static void steps_are_definitions(void **state)
{
    (void)state;
    struct flow_world world;
    static const char *const want[] = {
        "{\"uid\":\"00000000000000000000000001\",\"name\":\"w\",\"schedule\":\"@manual\","
        "\"shell\":\"x\",\"timeout\":\"5m\",\"retries\":2,\"user\":\"etl\",\"where\":\"zone=eu\","
        "\"env\":{\"A\":\"b\"}}",
        "{\"uid\":\"00000000000000000000000001\",\"name\":\"w\",\"schedule\":\"@manual\","
        "\"http\":\"https://h/\",\"where\":\"zone=eu\",\"env\":{\"A\":\"b\"}}",
        "{\"uid\":\"00000000000000000000000001\",\"name\":\"w\",\"schedule\":\"@manual\","
        "\"command\":[\"run\",\"${day}\"],\"user\":\"batch\",\"params\":{\"day\":{\"default\":"
        "\"mon\"}},\"retries\":1,\"env\":{\"A\":\"b\",\"E\":\"own\",\"F\":\"${item}\"}}",
    };
    flow_world_open(&world, __LINE__, with_params);
    struct flow *flow = flow_world_plan(&world, __LINE__, NULL);
    for (int i = 0; i < 3; i++) {
        struct job *job = NULL;
        struct job_error error;
        assert_string_equal(flow_json(flow, i), want[i]);
        assert_int_equal(job_decode_stored(flow_json(flow, i), NULL, &job, &error), OK);
        job_free(job);
    }
    flow_free(flow);
    flow_world_close(&world);
}

/* What stands beside `job` is used, also if it is the default. */
static void references_take_fields_back(void **state)
{
    static const char yaml[] =
        WORKFLOW "steps: [{name: a, job: other}, {name: b, job: other, timeout: 0s, retries: 0}]\n"
                 "---\nname: other\nschedule: '@daily'\nshell: x\nretries: 7\ntimeout: 1h\n";
    struct flow_world world;
    (void)state;
    flow_world_open(&world, __LINE__, yaml);
    struct flow *flow = flow_world_plan(&world, __LINE__, NULL);
    assert_non_null(strstr(flow_json(flow, 0), "\"retries\":7"));
    assert_non_null(strstr(flow_json(flow, 0), "\"timeout\":\"1h\""));
    assert_null(strstr(flow_json(flow, 1), "\"retries\":7"));
    assert_null(strstr(flow_json(flow, 1), "\"timeout\":\"1h\""));
    flow_free(flow);
    flow_world_close(&world);
}

static void parts_have_names(void **state)
{
    (void)state;
    struct flow_world world;
    char name[STEP_NAME_SIZE];
    flow_world_open(&world, __LINE__,
                    WORKFLOW "steps: [{name: a, shell: x}, {name: b, shell: x, each: {shards: 3, "
                             "at_once: 2}}]");
    struct flow *flow = flow_world_plan(&world, __LINE__, NULL);
    flow_name_part(flow, flow_part_of(1), name);
    assert_string_equal(name, "b");
    flow_name_part(flow, FLOW_ITEMS * flow_part_of(1) + 2, name);
    assert_string_equal(name, "b[2]");
    flow_name_part(flow, FLOW_INSTANCE, name);
    assert_string_equal(name, "");
    flow_name_part(flow, 77, name);
    assert_string_equal(name, "");
    assert_int_equal(flow_find(flow, "b"), 1);
    assert_int_equal(flow_find(flow, "c"), -1);
    assert_true(flow_is_fan_out(flow, 1) && !flow_is_fan_out(flow, 0));
    assert_int_equal(flow_at_once(flow, 1), 2);
    flow_free(flow);
    flow_world_close(&world);
}

/* ---- damaged ---- */

#define PLAN(steps) "{\"plan\":{\"version\":1,\"workflow\":\"w\",\"steps\":[" steps "]}}"
#define STEP(rest)  "{\"name\":\"a\",\"job\":{\"shell\":\"x\"}" rest "}"

static const struct {
    int line;
    enum status want;
    const char *text;
} damaged[] = {
    {__LINE__, OK, PLAN(STEP(",\"ends\":true"))},
    {__LINE__, E_INVALID, PLAN(STEP(""))}, /* no end */
    {__LINE__, E_INVALID, ""},
    {__LINE__, E_INVALID, "{}"},
    {__LINE__, E_INVALID, "[]"},
    {__LINE__, E_INVALID, "{\"plan\":{\"version\":2,\"workflow\":\"w\",\"steps\":[" STEP("") "]}}"},
    {__LINE__, E_INVALID, PLAN("")},
    {__LINE__, E_INVALID, PLAN("1")},
    {__LINE__, E_INVALID, PLAN(STEP(",\"ends\":true,\"after\":[[0,0]]"))}, /* itself */
    {__LINE__, E_INVALID, PLAN(STEP(",\"ends\":true,\"after\":[[1,0]]"))},
    {__LINE__, E_INVALID, PLAN(STEP(",\"ends\":true,\"after\":[[-1,0]]"))},
    {__LINE__, E_INVALID, PLAN(STEP(",\"ends\":true,\"after\":[[0]]"))},
    {__LINE__, E_INVALID, PLAN(STEP(",\"ends\":true,\"after\":7"))},
    {__LINE__, E_INVALID, PLAN(STEP(",\"ends\":true,\"needs\":[[1,0]]"))},
    {__LINE__, E_INVALID, PLAN(STEP(",\"ends\":true,\"join\":1"))},
    {__LINE__, E_INVALID, PLAN(STEP(",\"ends\":true,\"scope\":1"))},
    {__LINE__, E_INVALID, PLAN(STEP(",\"ends\":true,\"when\":1"))},
    {__LINE__, E_INVALID, PLAN(STEP(",\"ends\":true,\"values\":{\"A\":1}"))},
    {__LINE__, E_INVALID, PLAN(STEP(",\"ends\":true,\"each\":{\"items\":[1]}"))},
    {__LINE__, E_INVALID, PLAN(STEP(",\"ends\":true,\"each\":{\"at_once\":1000}"))},
    {__LINE__, E_INVALID,
     PLAN(STEP(",\"ends\":true,\"after\":[[1,0]]") "," STEP(
         ",\"ends\":true,\"after\":[[0,0]]"))}, /* each other */
    {__LINE__, OK, PLAN(STEP(",\"ends\":true") "," STEP(",\"ends\":true,\"after\":[[0,0]]"))},
};

static void damaged_plans_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
        struct flow *flow = NULL;
        enum status st = flow_decode(damaged[i].text, &flow);
        if (st != damaged[i].want)
            fail_msg("line %d: %s", damaged[i].line, status_text(st));
        flow_free(flow);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_wait_for_each_other),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(sizes_are_bounded),
        cmocka_unit_test(large_plans_fit_or_are_refused),
        cmocka_unit_test(the_document_is_an_input_too),
        cmocka_unit_test(steps_are_definitions),
        cmocka_unit_test(references_take_fields_back),
        cmocka_unit_test(parts_have_names),
        cmocka_unit_test(damaged_plans_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
