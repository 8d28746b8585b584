/* What steps get: `when`, items, templates, with values that try to be more than values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "flow_support.h"
#include "params/run_body.h"
#include "workflow/steps.h"

#define WORKFLOW "name: w\nschedule: '@daily'\n"
#define INNER    "---\nname: inner\nschedule: '@manual'\n"

/* ---- does a step run? ---- */

/* In the order of the plan: o ok, f failed, s skipped, - not ended. */
static void set_ends(struct flow_ends *ends, const char *states)
{
    for (int i = 0; states[i]; i++)
        ends->runs[i].state = states[i] == 'o'   ? RUN_OK
                              : states[i] == 'f' ? RUN_FAILED
                              : states[i] == 's' ? RUN_SKIPPED
                                                 : RUN_QUEUED;
}

#define NESTED                                                                                     \
    WORKFLOW "steps: [{name: a, shell: x}, {name: v, after: a, when: steps.a.n > 0, workflow: "    \
             "inner, with: {k: '${steps.a.n}'}}, {name: z, after: v, shell: x}, {name: y, after: " \
             "[{step: v, on: failure}], shell: x}, {name: x, after: [{step: v, on: always}], "     \
             "shell: x}, {name: u, after: [{step: v, on: always}], when: steps.v.state == "        \
             "'skipped', shell: x}]\n" INNER "params: {k: {type: integer, default: 0}}\n"          \
             "steps: [{name: i, shell: x}, {name: j, after: [{step: i, on: always}], shell: x}, "  \
             "{name: k, when: params.k == 5, shell: x}]\nfinally: [{name: f, shell: x}]"

/* a v/i v/j v/k v/f z y x u */
static const struct {
    int line;
    bool want;
    const char *yaml, *states, *output, *step;
} whens[] = {
    {__LINE__, true, WORKFLOW "steps: [{name: a, shell: x}]", "", NULL, "a"},
    {__LINE__, false, WORKFLOW "steps: [{name: a, when: 'false', shell: x}]", "", NULL, "a"},
    {__LINE__, true,
     WORKFLOW
     "params: {m: {default: full}}\nsteps: [{name: a, when: params.m == 'full', shell: x}]",
     "", NULL, "a"},
    {__LINE__, true,
     WORKFLOW "steps: [{name: a, shell: x}, {name: b, after: a, when: steps.a.n > 3, shell: x}]",
     "o", "{\"n\":\"5\"}", "b"},
    {__LINE__, false,
     WORKFLOW "steps: [{name: a, shell: x}, {name: b, after: a, when: steps.a.n > 3, shell: x}]",
     "o", NULL, "b"},
    {__LINE__, true,
     WORKFLOW "steps: [{name: a, shell: x}, {name: b, after: [{step: a, on: always}], when: "
              "steps.a.state == 'failed' and steps.a.exit_code == 3, shell: x}]",
     "f", NULL, "b"},

    /* Inside: only if the workflow runs at all. */
    {__LINE__, true, NESTED, "o", "{\"n\":\"5\"}", "v/i"},
    {__LINE__, false, NESTED, "o", "{\"n\":\"0\"}", "v/i"},
    {__LINE__, false, NESTED, "os", "{\"n\":\"0\"}", "v/j"}, /* on: always, but not of that */
    {__LINE__, true, NESTED, "of", "{\"n\":\"1\"}", "v/j"},
    {__LINE__, false, NESTED, "fs", "{\"n\":\"1\"}", "v/j"},
    {__LINE__, true, NESTED, "o", "{\"n\":\"5\"}", "v/k"}, /* a parameter, from an output */
    {__LINE__, false, NESTED, "o", "{\"n\":\"4\"}", "v/k"},
    {__LINE__, false, NESTED, "osss", "{\"n\":\"0\"}", "v/f"}, /* nothing to clean up */
    {__LINE__, true, NESTED, "offs", "{\"n\":\"1\"}", "v/f"},

    /* Behind it. */
    {__LINE__, true, NESTED, "oooso", "{\"n\":\"1\"}", "z"},
    {__LINE__, false, NESTED, "ossss", "{\"n\":\"0\"}", "z"}, /* skipped is no success */
    {__LINE__, true, NESTED, "ofoso", "{\"n\":\"1\"}", "y"},
    {__LINE__, false, NESTED, "oooso", "{\"n\":\"1\"}", "y"},
    {__LINE__, false, NESTED, "ossss", "{\"n\":\"0\"}", "y"},
    {__LINE__, true, NESTED, "ofoso", "{\"n\":\"1\"}", "x"},
    {__LINE__, true, NESTED, "ossss", "{\"n\":\"0\"}", "x"},
    {__LINE__, true, NESTED, "ossss", "{\"n\":\"0\"}", "u"},
    {__LINE__, false, NESTED, "oooso", "{\"n\":\"1\"}", "u"},
};

static void steps_run_by_their_when(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(whens) / sizeof(whens[0]); i++) {
        struct flow_world world;
        struct flow_ends ends = {0};
        char why[200] = "";
        bool got = !whens[i].want;
        flow_world_open(&world, whens[i].line, whens[i].yaml);
        struct flow *flow = flow_world_plan(&world, whens[i].line, NULL);
        set_ends(&ends, whens[i].states);
        ends.outputs[0] = whens[i].output;
        struct flow_scope scope = flow_ends_scope(&ends);
        int step = flow_find(flow, whens[i].step);
        assert_true(step >= 0);
        if (flow_when(flow, step, &scope, &got, why, sizeof(why)) != OK || got != whens[i].want)
            fail_msg("line %d: %s", whens[i].line, why);
        flow_free(flow);
        flow_world_close(&world);
    }
}

static void the_workflow_is_named(void **state)
{
    (void)state;
    static const struct {
        int line;
        const char *states, *n, *step, *want;
    } cases[] = {
        {__LINE__, "oooso", "1", "v/i", ""},
        {__LINE__, "oooso", "1", "y", "workflow step v is ok"},
        {__LINE__, "ofoso", "1", "z", "workflow step v is failed"},
        {__LINE__, "ossss", "0", "z", "workflow step v is skipped"},
        {__LINE__, "o", "0", "v/i", "workflow step v is skipped"},
        {__LINE__, "o", "4", "v/k", ""},   /* its own `when` */
        {__LINE__, "ossss", "0", "u", ""}, /* which asks for it */
    };
    struct flow_world world;
    flow_world_open(&world, __LINE__, NESTED);
    struct flow *flow = flow_world_plan(&world, __LINE__, NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct flow_ends ends = {0};
        char why[200] = "before", output[40];
        bool got;
        set_ends(&ends, cases[i].states);
        snprintf(output, sizeof(output), "{\"n\":\"%s\"}", cases[i].n);
        ends.outputs[0] = output;
        struct flow_scope scope = flow_ends_scope(&ends);
        int step = flow_find(flow, cases[i].step);
        assert_int_equal(flow_when(flow, step, &scope, &got, why, sizeof(why)), OK);
        if (strcmp(why, cases[i].want) != 0)
            fail_msg("line %d: %s", cases[i].line, why);
    }
    flow_free(flow);
    flow_world_close(&world);
}

static void values_for_inner_parameters_are_checked(void **state)
{
    (void)state;
    struct flow_world world;
    struct flow_ends ends = {0};
    char why[200] = "";
    bool got;
    flow_world_open(&world, __LINE__, NESTED);
    struct flow *flow = flow_world_plan(&world, __LINE__, NULL);
    set_ends(&ends, "o");
    ends.outputs[0] = "{\"n\":\"1.5\"}";
    struct flow_scope scope = flow_ends_scope(&ends);
    assert_int_equal(flow_when(flow, flow_find(flow, "v/k"), &scope, &got, why, sizeof(why)),
                     E_INVALID);
    assert_string_equal(why, "parameter k of workflow step v: \"1.5\" is not a whole number");
    flow_free(flow);
    flow_world_close(&world);
}

/* ---- items ---- */

static const struct {
    int line;
    const char *each, *output, *want; /* or a mistake behind ! */
} items[] = {
    {__LINE__, "[a, b c, 3]", NULL, "a|b c|3"},
    {__LINE__, "['${steps.a.l}', x]", "y  z", "y  z|x"},
    {__LINE__, "{from: 1, to: 3}", NULL, "1|2|3"},
    {__LINE__, "{from: -2, to: 3, by: 2}", NULL, "-2|0|2"},
    {__LINE__, "{from: 5, to: 5}", NULL, "5"},
    {__LINE__, "{shards: 3}", NULL, "0|1|2"},
    {__LINE__, "{of: steps.a.l}", "x.csv y.csv\n z.csv ", "x.csv|y.csv|z.csv"},
    {__LINE__, "{of: steps.a.l}", "[\"a b\", 1, true, {\"k\": [1]}, \"\"]",
     "a b|1|true|{\"k\":[1]}|"},
    {__LINE__, "{of: steps.a.l}", " [ ] ", ""},
    {__LINE__, "{of: steps.a.l}", "", ""},
    {__LINE__, "{of: steps.a.l}", NULL, ""},
    {__LINE__, "{of: steps.a.l}", "[1,", "!steps.a.l begins with [, and is no list of JSON"},
    {__LINE__, "{of: steps.a.none}", "x", ""},
};

static void fan_outs_have_items(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
        struct flow_world world;
        struct flow_ends ends = {0};
        struct strbuf got;
        char why[200] = "", yaml[500];
        int count = 0;
        snprintf(yaml, sizeof(yaml),
                 WORKFLOW "steps: [{name: a, shell: x}, {name: b, after: a, each: %s, command: [x, "
                          "'.${item}']}]",
                 items[i].each);
        flow_world_open(&world, items[i].line, yaml);
        struct flow *flow = flow_world_plan(&world, items[i].line, NULL);
        json_t *output = json_pack("{s:s*}", "l", items[i].output);
        char *text = json_dumps(output, 0);
        json_decref(output);
        ends.outputs[0] = text;
        struct flow_scope scope = flow_ends_scope(&ends);
        enum status st = flow_items(flow, 1, &scope, &count, why, sizeof(why));
        strbuf_init(&got);
        if (st != OK)
            strbuf_addf(&got, "!%s", why);
        for (int k = 0; k < count; k++) {
            struct job *job = NULL;
            st = flow_job(flow, FLOW_ITEMS * 2 + k, &scope, &job, why, sizeof(why));
            if (st != OK)
                fail_msg("line %d: %s", items[i].line, why);
            strbuf_addf(&got, "%s%s", k ? "|" : "", job->command[1] + 1);
            job_free(job);
        }
        if (strncmp(got.text, items[i].want, strlen(items[i].want)) != 0 ||
            (*items[i].want != '!' && strcmp(got.text, items[i].want) != 0))
            fail_msg("line %d: %s", items[i].line, got.text);
        struct job *none = NULL;
        assert_int_equal(flow_job(flow, FLOW_ITEMS * 2 + count, &scope, &none, why, sizeof(why)),
                         E_INVALID);
        assert_int_equal(flow_job(flow, 2, &scope, &none, why, sizeof(why)), E_INVALID);
        strbuf_release(&got);
        free(text);
        flow_free(flow);
        flow_world_close(&world);
    }
}

static void too_many_items_are_refused(void **state)
{
    (void)state;
    struct flow_world world;
    struct flow_ends ends = {0};
    struct strbuf output;
    char why[200] = "";
    int count = 0;
    flow_world_open(&world, __LINE__,
                    WORKFLOW "steps: [{name: a, shell: x}, {name: b, after: a, each: {of: "
                             "steps.a.l}, shell: x}]");
    struct flow *flow = flow_world_plan(&world, __LINE__, NULL);
    struct flow_scope scope = flow_ends_scope(&ends);
    for (int more = 0; more < 2; more++) {
        strbuf_init(&output);
        strbuf_adds(&output, "{\"l\":\"");
        for (int i = 0; i < EACH_ITEMS_MAX + more; i++)
            strbuf_adds(&output, "x ");
        strbuf_adds(&output, "\"}");
        ends.outputs[0] = output.text;
        assert_int_equal(flow_items(flow, 1, &scope, &count, why, sizeof(why)),
                         more ? E_INVALID : OK);
        strbuf_release(&output);
    }
    assert_int_equal(count, EACH_ITEMS_MAX);
    assert_string_equal(why, "step b has more than 10000 items");
    flow_free(flow);
    flow_world_close(&world);
}

/* The outputs of the items are a list, which another fan-out can have. */
static void outputs_of_items_are_a_list(void **state)
{
    (void)state;
    struct flow_world world;
    struct flow_ends ends = {0};
    char why[200] = "";
    int count = 0;
    struct job *job = NULL;
    flow_world_open(&world, __LINE__,
                    WORKFLOW "steps: [{name: a, each: {shards: 3}, shell: x}, {name: b, after: a, "
                             "env: {ALL: '${steps.a.k}'}, each: {of: steps.a.k}, shell: x}]");
    struct flow *flow = flow_world_plan(&world, __LINE__, NULL);
    set_ends(&ends, "o");
    ends.runs[0].joins.expected = 3;
    ends.items[0] = "{\"k\":\"x y\"}";
    ends.items[2] = "{\"k\":\"\\\"\"}";
    struct flow_scope scope = flow_ends_scope(&ends);
    assert_int_equal(flow_items(flow, 1, &scope, &count, why, sizeof(why)), OK);
    assert_int_equal(count, 3);
    assert_int_equal(flow_job(flow, FLOW_ITEMS * 2, &scope, &job, why, sizeof(why)), OK);
    assert_string_equal(job->env.items[0].value, "[\"x y\",\"\",\"\\\"\"]");
    job_free(job);
    flow_free(flow);
    flow_world_close(&world);
}

/* ---- templates ---- */

static const char *variable(const struct job *job, const char *name)
{
    for (size_t i = 0; i < job->env.count; i++) {
        if (strcmp(job->env.items[i].name, name) == 0)
            return job->env.items[i].value;
    }
    return NULL;
}

/* Values that a shell, a program or a template could take for something else. */
static const char *const nasty[] = {
    "plain",
    "$(touch /tmp/pwned)",
    "`id`",
    "\"; id; \"",
    "' ; id ; '",
    "a\nb",
    "${HOME} $HOME ${params.p} $${item}",
    "${steps.a.v}",
    "a b  c",
    "*",
    "&&",
    "中文",
    "\\",
    "",
};

static void check_nasty(const struct flow *flow, const struct flow_scope *scope, const char *value)
{
    char why[200] = "";
    struct job *job = NULL;
    assert_int_equal(flow_job(flow, flow_part_of(1), scope, &job, why, sizeof(why)), OK);
    assert_string_equal(job->script, "echo ${PEAL_STEPS_a_v} \"${PEAL_PARAM_p}\" $HOME ${x:-y}");
    assert_string_equal(variable(job, "PEAL_STEPS_a_v"), value);
    assert_string_equal(variable(job, "PEAL_PARAM_p"), value);
    job_free(job);
    assert_int_equal(flow_job(flow, flow_part_of(2), scope, &job, why, sizeof(why)), OK);
    char want[200];
    snprintf(want, sizeof(want), "--v=%s", value);
    assert_string_equal(job->command[1], want);
    assert_string_equal(job->command[2], value);
    assert_string_equal(job->command[3], "${HOME} ${steps.a.v}");
    assert_null(job->command[4]);
    assert_int_equal(job->params.count, 0); /* nothing reads the words again */
    snprintf(want, sizeof(want), "%s.", value);
    assert_string_equal(job->stdin_text, want);
    assert_string_equal(variable(job, "V"), value);
    job_free(job);
    assert_int_equal(flow_job(flow, flow_part_of(3), scope, &job, why, sizeof(why)), OK);
    assert_string_equal(job->http.url, "https://h/?q=${PEAL_STEPS_a_v}");
    assert_string_equal(job->http.body, "{\"v\": \"${PEAL_STEPS_a_v}\"}");
    assert_string_equal(job->http.headers.items[0].value, "${PEAL_PARAM_p}");
    assert_string_equal(variable(job, "PEAL_STEPS_a_v"), value);
    job_free(job);
}

static void values_stay_values(void **state)
{
    (void)state;
    struct flow_world world;
    flow_world_open(
        &world, __LINE__,
        WORKFLOW "params: {p: {default: d}}\nsteps:\n"
                 "- {name: a, shell: x}\n"
                 "- {name: s, after: a, shell: 'echo ${steps.a.v} \"${params.p}\" $HOME ${x:-y}'}\n"
                 "- {name: c, after: a, command: [x, '--v=${steps.a.v}', '${params.p}', '${HOME} "
                 "$${steps.a.v}'], stdin: '${steps.a.v}.', env: {V: '${params.p}'}}\n"
                 "- {name: h, after: a, http: {url: 'https://h/?q=${steps.a.v}', headers: {X-P: "
                 "'${params.p}'}, body: '{\"v\": \"${steps.a.v}\"}'}}\n");
    for (size_t i = 0; i < sizeof(nasty) / sizeof(nasty[0]); i++) {
        struct flow_ends ends = {0};
        json_t *given = json_pack("{s:{s:s}}", "params", "p", nasty[i]);
        json_t *output = json_pack("{s:s}", "v", nasty[i]);
        char *input = json_dumps(given, 0), *text = json_dumps(output, 0);
        struct flow *flow = flow_world_plan(&world, __LINE__, input);
        ends.outputs[0] = text;
        struct flow_scope scope = flow_ends_scope(&ends);
        check_nasty(flow, &scope, nasty[i]);
        flow_free(flow);
        free(input);
        free(text);
        json_decref(given);
        json_decref(output);
    }
    flow_world_close(&world);
}

static const struct {
    int line;
    const char *word, *item, *want; /* NULL: refused */
} dashes[] = {
    {__LINE__, "${item}", "-rf", NULL},
    {__LINE__, "${item}.csv", "--help", NULL},
    {__LINE__, "--file=${item}", "-rf", "--file=-rf"},
    {__LINE__, "${item}", "-5", "-5"},
    {__LINE__, "${item}", "-5e3", "-5e3"},
    {__LINE__, "${item}", "--5", NULL},
    {__LINE__, "${item}", "", ""},
    {__LINE__, "-${item}", "-rf", "--rf"}, /* the word is an option anyway */
};

static void values_are_no_options(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(dashes) / sizeof(dashes[0]); i++) {
        struct flow_world world;
        struct flow_ends ends = {0};
        char why[200] = "", yaml[300], output[100];
        struct job *job = NULL;
        snprintf(yaml, sizeof(yaml),
                 WORKFLOW "steps: [{name: a, shell: x}, {name: b, after: a, each: {of: steps.a.l}, "
                          "command: [rm, '%s']}]",
                 dashes[i].word);
        snprintf(output, sizeof(output), "{\"l\":\"[\\\"%s\\\"]\"}", dashes[i].item);
        flow_world_open(&world, dashes[i].line, yaml);
        struct flow *flow = flow_world_plan(&world, dashes[i].line, NULL);
        ends.outputs[0] = output;
        struct flow_scope scope = flow_ends_scope(&ends);
        enum status st = flow_job(flow, FLOW_ITEMS * 2, &scope, &job, why, sizeof(why));
        if (dashes[i].want ? st != OK || strcmp(job->command[1], dashes[i].want) != 0
                           : st != E_INVALID || !strstr(why, "begins with a dash"))
            fail_msg("line %d: %s", dashes[i].line, st == OK ? job->command[1] : why);
        job_free(job);
        flow_free(flow);
        flow_world_close(&world);
    }
}

/* A list in the definition is the author's own word. */
static void listed_items_may_be_options(void **state)
{
    (void)state;
    struct flow_world world;
    struct flow_ends ends = {0};
    struct job *job = NULL;
    char why[200];
    flow_world_open(&world, __LINE__,
                    WORKFLOW "steps: [{name: b, each: ['-v'], command: [x, '${item}']}]");
    struct flow *flow = flow_world_plan(&world, __LINE__, NULL);
    struct flow_scope scope = flow_ends_scope(&ends);
    assert_int_equal(flow_job(flow, FLOW_ITEMS, &scope, &job, why, sizeof(why)), OK);
    assert_string_equal(job->command[1], "-v");
    assert_string_equal(variable(job, "PEAL_ITEM"), "-v");
    assert_string_equal(variable(job, "PEAL_INDEX"), "0");
    job_free(job);
    flow_free(flow);
    flow_world_close(&world);
}

/* ${item} of a script is a variable like any other; without items it is the script's own. */
static void scripts_keep_their_variables(void **state)
{
    (void)state;
    struct flow_world world;
    struct flow_ends ends = {0};
    struct job *job = NULL;
    char why[200];
    const char *script = "for item in 1 2; do echo ${item} ${index} ${instance}; done";
    flow_world_open(&world, __LINE__,
                    WORKFLOW
                    "steps:\n- {name: a, shell: 'for item in 1 2; do echo ${item} "
                    "${index} ${instance}; done'}\n"
                    "- {name: b, env: {index: own}, each: [x], shell: 'for item in 1 2; do "
                    "echo ${item} ${index} ${instance}; done'}\n"
                    "- {name: a-b, shell: x}\n- {name: a_b, shell: x}\n"
                    "- {name: c, after: [a-b, a_b], shell: 'echo ${steps.a-b.k} "
                    "${steps.a_b.k} ${steps.a-b.k}'}\n");
    struct flow *flow = flow_world_plan(&world, __LINE__, NULL);
    struct flow_scope scope = flow_ends_scope(&ends);
    assert_int_equal(flow_job(flow, 1, &scope, &job, why, sizeof(why)), OK);
    assert_string_equal(job->script, script);
    assert_null(variable(job, "item"));
    assert_string_equal(variable(job, "instance"), "00000000000000000000000007");
    assert_string_equal(variable(job, "PEAL_INSTANCE"), "00000000000000000000000007");
    assert_string_equal(variable(job, "PEAL_WORKFLOW"), "w");
    assert_string_equal(variable(job, "PEAL_STEP"), "a");
    assert_null(variable(job, "PEAL_ITEM"));
    job_free(job);
    assert_int_equal(flow_job(flow, FLOW_ITEMS * 2, &scope, &job, why, sizeof(why)), OK);
    assert_string_equal(job->script, script);
    assert_string_equal(variable(job, "item"), "x");
    assert_string_equal(variable(job, "index"), "own");
    job_free(job);
    assert_int_equal(flow_job(flow, 5, &scope, &job, why, sizeof(why)), OK);
    assert_string_equal(job->script,
                        "echo ${PEAL_STEPS_a_b_k} ${PEAL_STEPS_a_b_k_2} ${PEAL_STEPS_a_b_k}");
    job_free(job);
    flow_free(flow);
    flow_world_close(&world);
}

/* ---- jobs that are referred to, and what a request hands over ---- */

static void jobs_get_their_parameters(void **state)
{
    (void)state;
    static const struct {
        int line;
        const char *value, *why;
    } cases[] = {
        {__LINE__, "5", ""},
        {__LINE__, "x", "parameter n: \"x\" is not a whole number"},
        {__LINE__, "${d}", "parameter n: \"${d}\" is not a whole number"},
    };
    struct flow_world world;
    flow_world_open(&world, __LINE__,
                    WORKFLOW
                    "steps: [{name: a, shell: x}, {name: b, after: a, job: other, with: "
                    "{n: '${steps.a.v}', d: '${item}'}, each: [y]}]\n"
                    "---\nname: other\nschedule: '@daily'\ncommand: [x, '${n}', '${item}', "
                    "'${d}']\nenv: {E: '${item} ${steps.a.v}'}\n"
                    "params: {n: {type: integer, default: 1}, d: {default: z}}\n");
    struct flow *flow = flow_world_plan(&world, __LINE__, NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct flow_ends ends = {0};
        char why[200] = "", output[100];
        struct job *job = NULL;
        char **argv = NULL;
        snprintf(output, sizeof(output), "{\"v\":\"%s\"}", cases[i].value);
        ends.outputs[0] = output;
        struct flow_scope scope = flow_ends_scope(&ends);
        enum status st = flow_job(flow, FLOW_ITEMS * 2, &scope, &job, why, sizeof(why));
        if (strcmp(why, cases[i].why) != 0)
            fail_msg("line %d: %s", cases[i].line, why);
        if (st != OK)
            continue;
        assert_int_equal(params_expand_argv(job, &argv), OK);
        assert_string_equal(argv[1], "5");
        assert_string_equal(argv[2], "${item}"); /* of a job, that is plain text */
        assert_string_equal(argv[3], "y");
        assert_string_equal(variable(job, "E"), "${item} ${steps.a.v}");
        job_names_free(argv);
        job_free(job);
    }
    flow_free(flow);
    flow_world_close(&world);
}

static void requests_reach_all_steps(void **state)
{
    (void)state;
    struct flow_world world;
    struct flow_ends ends = {0};
    struct job *job = NULL;
    char why[200];
    flow_world_open(&world, __LINE__,
                    WORKFLOW "env: {A: w, B: w}\nsteps: [{name: a, shell: x, env: {B: s}}, {name: "
                             "b, shell: x, stdin: y}, {name: c, function: {program: p, name: f}}]");
    struct flow *flow = flow_world_plan(
        &world, __LINE__,
        "{\"env\":{\"C\":\"r\",\"B\":\"r\",\"PEAL_STEP\":\"no\"},\"body\":{\"data\":\"aGk=\"}}");
    struct flow_scope scope = flow_ends_scope(&ends);
    assert_int_equal(flow_job(flow, 1, &scope, &job, why, sizeof(why)), OK);
    assert_string_equal(variable(job, "A"), "w");
    assert_string_equal(variable(job, "B"), "r");
    assert_string_equal(variable(job, "C"), "r");
    assert_string_equal(variable(job, "PEAL_STEP"), "a");
    assert_string_equal(job->body->bytes, "hi");
    job_free(job);
    assert_int_equal(flow_job(flow, 2, &scope, &job, why, sizeof(why)), OK);
    assert_null(job->body);
    assert_string_equal(job->stdin_text, "y");
    job_free(job);
    assert_int_equal(flow_job(flow, 3, &scope, &job, why, sizeof(why)), OK);
    assert_string_equal(job->function.name, "f");
    job_free(job);
    flow_free(flow);
    flow_world_close(&world);
}

/* ---- outputs ---- */

static const struct {
    int line;
    const char *text, *want; /* or a mistake behind ! */
} outputs[] = {
    {__LINE__, "", NULL},
    {__LINE__, "\n\r\n", NULL},
    {__LINE__, "{}", NULL},
    {__LINE__, "a=1\nb=x y\n", "{\"a\":\"1\",\"b\":\"x y\"}"},
    {__LINE__, "a=1", "{\"a\":\"1\"}"},
    {__LINE__, "a=1\r\n", "{\"a\":\"1\"}"},
    {__LINE__, "a=", "{\"a\":\"\"}"},
    {__LINE__, "a=b=c<<d", "{\"a\":\"b=c<<d\"}"},
    {__LINE__, "a=1\na=2\n", "{\"a\":\"2\"}"},
    {__LINE__, "a= 1 ", "{\"a\":\" 1 \"}"},
    {__LINE__, "_A9=中", "{\"_A9\":\"中\"}"},
    {__LINE__, "a<<END\nx=1\n\ny\nEND\nb=2", "{\"a\":\"x=1\\n\\ny\",\"b\":\"2\"}"},
    {__LINE__, "a<<E\nE\n", "{\"a\":\"\"}"},
    {__LINE__, "a<<E\n\nE\n", "{\"a\":\"\"}"},
    {__LINE__, "a<<E\nx\n\nE", "{\"a\":\"x\\n\"}"},
    {__LINE__, "a<<E\n EE\nE", "{\"a\":\" EE\"}"},
    {__LINE__, "a=\x1b[1m", "{\"a\":\"\\u001B[1m\"}"},
    {__LINE__, " {\"a\": \"x\", \"b\": 5, \"c\": 1.5, \"d\": true, \"e\": null, \"f\": [1, \"x\"]}",
     "{\"a\":\"x\",\"b\":\"5\",\"c\":\"1.5\",\"d\":\"true\",\"e\":\"\",\"f\":\"[1,\\\"x\\\"]\"}"},
    {__LINE__, "a", "!PEAL_OUTPUT, line 1: expected key=value"},
    {__LINE__, "a=1\n\nb c=2", "!PEAL_OUTPUT, line 3: expected key=value"},
    {__LINE__, "=1", "!PEAL_OUTPUT, line 1: expected key=value"},
    {__LINE__, "9=1", "!PEAL_OUTPUT, line 1: expected key=value"},
    {__LINE__, "a-b=1", "!PEAL_OUTPUT, line 1: expected key=value"},
    {__LINE__, " a=1", "!PEAL_OUTPUT, line 1: expected key=value"},
    {__LINE__, "x=1\nstate=ok", "!PEAL_OUTPUT, line 2: the keys state and exit_code"},
    {__LINE__, "{\"exit_code\": 0}", "!PEAL_OUTPUT, line 1: the keys state and exit_code"},
    {__LINE__, "x=1\na<<E\nb\n", "!PEAL_OUTPUT, line 2: the line that ends this value is missing"},
    {__LINE__, "a<<\nb\n", "!PEAL_OUTPUT, line 1: expected a word behind <<"},
    {__LINE__, "a=1\nb=\xff", "!PEAL_OUTPUT, line 2: is not text in UTF-8"},
    {__LINE__, "{\"a b\": 1}", "!PEAL_OUTPUT, line 1: expected key=value"},
    {__LINE__, "{\"a\": 1\n", "!PEAL_OUTPUT, line "},
    {__LINE__, "{\"a\": 1, \"a\": 2}", "!PEAL_OUTPUT, line 1: duplicate object key"},
    {__LINE__, "{\"a\": 1} x", "!PEAL_OUTPUT, line 1: end of file expected"},
};

static void outputs_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++) {
        char why[200] = "", got[300] = "";
        char *text = NULL;
        const char *want = outputs[i].want;
        enum status st =
            flow_read_output(outputs[i].text, strlen(outputs[i].text), &text, why, sizeof(why));
        if (st != OK)
            snprintf(got, sizeof(got), "!%s", why);
        else if (text)
            snprintf(got, sizeof(got), "%s", text);
        bool is_same = !want          ? st == OK && !text
                       : *want == '!' ? strncmp(got, want, strlen(want)) == 0
                                      : strcmp(got, want) == 0;
        if (!is_same)
            fail_msg("line %d: %s", outputs[i].line, got);
        free(text);
    }
}

/* A step that declares its outputs must write all of them, and may write more. */
static void declared_outputs_are_required(void **state)
{
    static const struct {
        int line;
        const char *values, *want;
    } cases[] = {
        {__LINE__, NULL, "the output \"a\" was not written"},
        {__LINE__, "{}", "the output \"a\" was not written"},
        {__LINE__, "{\"a\":\"\"}", "the output \"b\" was not written"},
        {__LINE__, "{\"b\":\"1\",\"a\":\"2\",\"c\":\"3\"}", ""},
    };
    struct flow_world world;
    flow_world_open(&world, __LINE__,
                    "name: w\nschedule: '@manual'\nsteps:\n- {name: x, shell: y, outputs: [a, b]}\n"
                    "- {name: z, shell: y}\n");
    struct flow *flow = flow_world_plan(&world, __LINE__, NULL);
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char why[100] = "";
        enum status st = flow_check_output(flow, 0, cases[i].values, why, sizeof(why));
        if (st != (*cases[i].want ? E_INVALID : OK) || strcmp(why, cases[i].want) != 0)
            fail_msg("line %d: %s", cases[i].line, why);
        assert_int_equal(flow_check_output(flow, 1, cases[i].values, why, sizeof(why)), OK);
    }
    flow_free(flow);
    flow_world_close(&world);
}

static void outputs_are_bounded(void **state)
{
    (void)state;
    static char text[FLOW_OUTPUT_READ_MAX + 2];
    char why[200];
    char *got = NULL;
    memset(text, 'x', sizeof(text));
    text[0] = 'a';
    text[1] = '=';
    /* {"a":"..."} */
    assert_int_equal(flow_read_output(text, FLOW_OUTPUT_MAX - 8 + 2, &got, why, sizeof(why)), OK);
    assert_int_equal(strlen(got), FLOW_OUTPUT_MAX);
    free(got);
    assert_int_equal(flow_read_output(text, FLOW_OUTPUT_MAX - 8 + 3, &got, why, sizeof(why)),
                     E_INVALID);
    assert_int_equal(flow_read_output(text, FLOW_OUTPUT_READ_MAX + 1, &got, why, sizeof(why)),
                     E_INVALID);
    text[1] = '\0';
    assert_int_equal(flow_read_output(text, 2, &got, why, sizeof(why)), E_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_run_by_their_when),
        cmocka_unit_test(the_workflow_is_named),
        cmocka_unit_test(values_for_inner_parameters_are_checked),
        cmocka_unit_test(fan_outs_have_items),
        cmocka_unit_test(too_many_items_are_refused),
        cmocka_unit_test(outputs_of_items_are_a_list),
        cmocka_unit_test(values_stay_values),
        cmocka_unit_test(values_are_no_options),
        cmocka_unit_test(listed_items_may_be_options),
        cmocka_unit_test(scripts_keep_their_variables),
        cmocka_unit_test(jobs_get_their_parameters),
        cmocka_unit_test(requests_reach_all_steps),
        cmocka_unit_test(outputs_are_read),
        cmocka_unit_test(declared_outputs_are_required),
        cmocka_unit_test(outputs_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
