/* Workflows in files: the forms of their fields, what they are written as, and every mistake. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "definition/job_codec.h"
#include "workflow/steps.h"

static struct zone_db *zones;

static int open_zones(void **state)
{
    (void)state;
    return zone_db_new(NULL, &zones) == OK ? 0 : -1;
}

static int close_zones(void **state)
{
    (void)state;
    zones = zone_db_free(zones);
    return 0;
}

static struct job *read_job(int line, const char *text)
{
    struct job_list jobs;
    struct job_error err = {0};
    if (jobs_decode_text(text, strlen(text), "UTC", zones, &jobs, &err) != OK)
        fail_msg("line %d: %d:%d: %s\n%s", line, err.line, err.column, err.message, text);
    assert_int_equal(jobs.count, 1);
    struct job *job = jobs.items[0];
    jobs.count = 0;
    job_list_release(&jobs);
    return job;
}

static const char nightly[] =
    "kind: workflow\n"
    "name: etl/nightly\n"
    "schedule: \"0 2 * * *\"\n"
    "timezone: Europe/Berlin\n"
    "user: etl\n"
    "env:\n"
    "  MODE: \"${params.mode}\"\n"
    "params:\n"
    "  mode:\n"
    "    default: full\n"
    "timeout: 6h\n"
    "steps:\n"
    "  - name: extract\n"
    "    shell: |\n"
    "      ./extract.sh\n"
    "      echo rows=1 >> \"$PEAL_OUTPUT\"\n"
    "  - name: load\n"
    "    after: extract\n"
    "    each: {of: steps.extract.files, at_once: 4}\n"
    "    command: [./load, \"${item}\"]\n"
    "    retries: 2\n"
    "  - name: check\n"
    "    after: extract\n"
    "    each: [eu, us]\n"
    "    http:\n"
    "      url: \"https://example.org/${item}?rows=${steps.extract.rows}\"\n"
    "      headers:\n"
    "        X-Instance: \"${PEAL_INSTANCE}\"\n"
    "  - name: alarm\n"
    "    after: [{step: load, \"on\": failure}, {step: check, \"on\": failure}]\n"
    "    join: any\n"
    "    function:\n"
    "      program: billing\n"
    "      name: alarm\n"
    "  - name: report\n"
    "    job: etl/report\n"
    "    with:\n"
    "      rows: \"${steps.extract.rows}\"\n"
    "    after: [extract, load, check]\n"
    "    join: 2\n"
    "    when: steps.extract.rows > 0 and params.mode == \"full\"\n"
    "    timeout: 10m\n"
    "  - name: publish\n"
    "    workflow: etl/publish\n"
    "    after: report\n"
    "finally:\n"
    "  - name: cleanup\n"
    "    each: {from: 1, to: 10, by: 3}\n"
    "    command: [rm, -rf, \"/srv/${index}\"]\n"
    "  - name: tell\n"
    "    after: {step: cleanup, \"on\": always}\n"
    "    shell: \"echo ${steps.extract.state} ${steps.publish/copy.files}\"\n";

/* What is written by hand is written the same by peal, except for the list of one step. */
static void yaml_reads_well(void **state)
{
    struct strbuf yaml;
    (void)state;
    struct job *job = read_job(__LINE__, nightly);
    assert_int_equal(job->kind, JOB_WORKFLOW);
    assert_int_equal(job->step_count, 8);
    assert_true(job->steps[6].is_final);
    assert_false(job->steps[5].is_final);
    assert_true(step_is_fan_out(&job->steps[1]));
    assert_false(step_is_fan_out(&job->steps[0]));
    assert_int_equal(job->steps[0].job->kind, JOB_SHELL);
    assert_int_equal(job->steps[2].job->kind, JOB_HTTP);
    assert_int_equal(job->steps[3].job->kind, JOB_FUNCTION);
    assert_int_equal(job->steps[3].join, 1);
    assert_int_equal(job->steps[3].after[1].on, AFTER_FAILURE);
    assert_string_equal(job->steps[4].ref, "etl/report");
    assert_string_equal(job->steps[5].workflow, "etl/publish");
    strbuf_init(&yaml);
    assert_int_equal(job_encode_yaml(job, &yaml), OK);
    struct job *again = read_job(__LINE__, yaml.text);
    char *text = job_encode_text(job), *text_again = job_encode_text(again);
    assert_string_equal(text, text_again);
    const char *single = "after: [{step: cleanup, \"on\": always}]";
    char *at = strstr(yaml.text, single);
    assert_non_null(at);
    assert_memory_equal(yaml.text, nightly, (size_t)(at - yaml.text));
    free(text);
    free(text_again);
    strbuf_release(&yaml);
    job_free(again);
    job_free(job);
}

#define HEAD "name: a\nschedule: '@daily'\n"

/* Behind HEAD; what the two lists are stored as. */
static const struct {
    int line;
    const char *text, *json;
} forms[] = {
    {__LINE__, "steps: [{name: x, shell: y}]\n", "\"steps\":[{\"name\":\"x\",\"shell\":\"y\"}]"},
    {__LINE__, "kind: workflow\nsteps: [{name: x, shell: y}]\n",
     "\"steps\":[{\"name\":\"x\",\"shell\":\"y\"}]"},
    {__LINE__, "steps: [{name: x, shell: y}, {name: z, after: [{step: x}], shell: y}]\n",
     "\"steps\":[{\"name\":\"x\",\"shell\":\"y\"},{\"name\":\"z\",\"after\":[{\"step\":\"x\"}],"
     "\"shell\":\"y\"}]"},
    {__LINE__, "finally: [{name: z, shell: y}]\nsteps: [{name: x, shell: y}]\n",
     "\"steps\":[{\"name\":\"x\",\"shell\":\"y\"}],\"finally\":[{\"name\":\"z\",\"shell\":\"y\"}]"},
    {__LINE__, "steps: [{name: x, shell: y, join: all, after: z}, {name: z, shell: y}]\n",
     "\"steps\":[{\"name\":\"x\",\"after\":[{\"step\":\"z\"}],\"shell\":\"y\"},{\"name\":\"z\","
     "\"shell\":\"y\"}]"},
    {__LINE__, "steps: [{name: x, shell: y, join: 1, after: z}, {name: z, shell: y}]\n",
     "\"steps\":[{\"name\":\"x\",\"after\":[{\"step\":\"z\"}],\"join\":\"any\",\"shell\":\"y\"},{"
     "\"name\":\"z\",\"shell\":\"y\"}]"},
    {__LINE__, "steps: [{name: x, shell: y, each: {items: [1, b]}}]\n",
     "\"steps\":[{\"name\":\"x\",\"each\":[\"1\",\"b\"],\"shell\":\"y\"}]"},
    {__LINE__, "steps: [{name: x, shell: y, each: {items: [1, b], at_once: 1}}]\n",
     "\"steps\":[{\"name\":\"x\",\"each\":{\"items\":[\"1\",\"b\"],\"at_once\":1},\"shell\":\"y\"}"
     "]"},
    {__LINE__, "steps: [{name: x, shell: y, each: {from: 0, to: 9}}]\n",
     "\"steps\":[{\"name\":\"x\",\"each\":{\"from\":0,\"to\":9,\"by\":1},\"shell\":\"y\"}]"},
    {__LINE__, "steps: [{name: x, shell: y, outputs: rows}]\n",
     "\"steps\":[{\"name\":\"x\",\"outputs\":\"rows\",\"shell\":\"y\"}]"},
    {__LINE__,
     "steps: [{name: x, job: b, outputs: [a, b]}, {name: z, after: x, shell: '${steps.x.a}'}]\n",
     "\"steps\":[{\"name\":\"x\",\"job\":\"b\",\"outputs\":[\"a\",\"b\"]},{\"name\":\"z\","
     "\"after\":[{"
     "\"step\":\"x\"}],\"shell\":\"${steps.x.a}\"}]"},
    {__LINE__, "steps: [{name: x, shell: y, each: {shards: 8}}]\n",
     "\"steps\":[{\"name\":\"x\",\"each\":{\"shards\":8},\"shell\":\"y\"}]"},
    {__LINE__,
     "steps: [{name: x, job: b, with: {n: 5, f: true, s: ''}, env: {A: b}, retries: 1}]\n",
     "\"steps\":[{\"name\":\"x\",\"job\":\"b\",\"with\":{\"n\":\"5\",\"f\":\"true\",\"s\":\"\"},"
     "\"env\":{\"A\":\"b\"},\"retries\":1}]"},
    {__LINE__, "steps: [{name: x, job: b, timeout: 0s, retries: 0}]\n",
     "\"steps\":[{\"name\":\"x\",\"job\":\"b\",\"timeout\":\"0s\",\"retries\":0}]"},
    {__LINE__, "steps: [{name: x, shell: b, timeout: 0s, retries: 0}]\n",
     "\"steps\":[{\"name\":\"x\",\"shell\":\"b\"}]"},
    {__LINE__, "steps: [{name: x, shell: 'for item in 1 2; do echo ${item} ${x:-y}; done'}]\n",
     "\"steps\":[{\"name\":\"x\",\"shell\":\"for item in 1 2; do echo ${item} ${x:-y}; done\"}]"},
    {__LINE__, "steps: [{name: x, command: [echo, '$${steps.no.key}', '${other}']}]\n",
     "\"steps\":[{\"name\":\"x\",\"command\":[\"echo\",\"$${steps.no.key}\",\"${other}\"]}]"},
};

static void forms_are_stored_as_one(void **state)
{
    char text[1024], want[1024];
    (void)state;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        struct job *again;
        snprintf(text, sizeof(text), HEAD "%s", forms[i].text);
        struct job *job = read_job(forms[i].line, text);
        char *stored = job_encode_text(job);
        snprintf(want, sizeof(want),
                 "{\"kind\":\"workflow\",\"name\":\"a\",\"schedule\":\"@daily\",\"timezone\":"
                 "\"UTC\",%s}",
                 forms[i].json);
        if (strcmp(stored, want) != 0)
            fail_msg("line %d: stored as\n%s, wanted\n%s", forms[i].line, stored, want);
        assert_int_equal(job_decode_stored(stored, NULL, &again, NULL), OK);
        char *twice = job_encode_text(again);
        assert_string_equal(stored, twice);
        free(stored);
        free(twice);
        job_free(job);
        job_free(again);
    }
}

static const struct {
    int line;
    const char *text; /* behind HEAD */
    const char *want; /* line:column path message; several with a line each */
} bad[] = {
    {__LINE__, "kind: workflow\n", "1:1  workflow \"a\" needs \"steps\"\n"},
    {__LINE__, "kind: flow\n", "3:7 /kind kind: \"flow\" is not one of job or workflow\n"},
    {__LINE__, "kind: job\nsteps: [{name: x, shell: y}]\n",
     "3:7 /kind kind: a job with steps is a workflow; leave it out, or write workflow\n"},
    {__LINE__, "finally: [{name: x, shell: y}]\n", "1:1  workflow \"a\" needs \"steps\"\n"},
    {__LINE__, "steps: []\n", "3:8 /steps steps: has no steps\n"},
    {__LINE__, "steps: {name: x}\n", "3:8 /steps steps: expected a list of steps, found a map\n"},
    {__LINE__, "steps: [x]\n",
     "3:9 /steps/0 steps[0]: expected a step (a map with name and command), found a text\n"},
    {__LINE__, "steps: [{shell: y}]\n", "3:9 /steps/0 steps[0]: a step needs a \"name\"\n"},
    {__LINE__, "steps: [{name: 5x, shell: y}]\n",
     "3:16 /steps/0/name steps[0].name: \"5x\" does not begin with a letter\n"},
    {__LINE__, "steps: [{name: x/y, shell: y}]\n",
     "3:16 /steps/0/name steps[0].name: \"x/y\" holds more than letters, digits, - and _\n"},
    {__LINE__, "steps: [{name: x}]\n",
     "3:9 /steps/0 steps[0]: step \"x\" needs a \"command\", \"shell\", \"http\", \"function\", "
     "\"job\" or \"workflow\"\n"},
    {__LINE__, "steps: [{name: x, shell: y, job: b}]\n",
     "3:9 /steps/0 steps[0]: step \"x\" has both \"shell\" and \"job\"\n"},
    {__LINE__,
     "steps:\n- {name: x, shell: y}\nshell: z\nretries: 2\nspread: all\nlimits: {core: 0}\n",
     "5:8 /shell shell: belongs to a step, not to the workflow\n"
     "6:10 /retries retries: belongs to a step, not to the workflow\n"
     "7:9 /spread spread: is not for workflows; a step with \"each\" runs once for each item\n"
     "8:9 /limits limits: belongs to a step, not to the workflow\n"},
    {__LINE__, "steps: [{name: x, shell: y, schedule: '@daily', spread: all, sheel: z}]\n",
     "3:29 /steps/0/schedule steps[0].schedule: belongs to the workflow, not to a step\n"
     "3:49 /steps/0/spread steps[0].spread: is not for steps; one with \"each\" runs once for each "
     "item\n"
     "3:62 /steps/0/sheel steps[0]: unknown field \"sheel\"; did you mean \"shell\"?\n"},
    {__LINE__, "steps:\n- {name: x, shell: y}\n- {name: x, shell: y}\n",
     "5:10 /steps/1/name steps[1].name: \"x\" is already the name of the step in line 4\n"},
    {__LINE__, "steps:\n- {name: x, shell: y, after: x}\n",
     "4:30 /steps/0/after steps[0].after: a step can't wait for itself\n"},
    {__LINE__, "steps:\n- {name: load, shell: y}\n- {name: x, shell: y, after: laod}\n",
     "5:30 /steps/1/after steps[1].after: there is no step \"laod\"; did you mean \"load\"?\n"},
    {__LINE__, "steps:\n- {name: load, shell: y}\n- {name: x, shell: y, after: [load, zzz]}\n",
     "5:37 /steps/1/after/1 steps[1].after[1]: there is no step \"zzz\"\n"},
    {__LINE__, "steps:\n- {name: load, shell: y}\n- {name: x, shell: y, after: [load, load]}\n",
     "5:37 /steps/1/after/1 steps[1].after[1]: \"load\" is named twice\n"},
    {__LINE__, "steps:\n- {name: x, shell: y, after: []}\n",
     "4:30 /steps/0/after steps[0].after: names no step; leave it out, or name one to wait for\n"},
    {__LINE__, "steps:\n- {name: x, shell: y, after: {on: failure}}\n",
     "4:30 /steps/0/after steps[0].after: needs a \"step\" to wait for\n"},
    {__LINE__, "steps:\n- {name: x, shell: y, after: {step: z, when: failure}}\n",
     "4:40 /steps/0/after/when steps[0].after.when: unknown field; \"step\" and \"on\" may stand "
     "here\n"},
    {__LINE__, "steps:\n- {name: x, shell: y, after: {step: z, on: failed}}\n",
     "4:44 /steps/0/after/on steps[0].after.on: \"failed\" is not one of success, failure or "
     "always\n"},
    {__LINE__,
     "steps:\n- {name: x, shell: y, after: z}\n- {name: y, shell: y, after: [x]}\n"
     "- {name: z, shell: y, after: [{step: y}]}\n",
     "5:31 /steps/1/after/0 steps[1].after[0]: a step would wait for itself: x -> z -> y -> x\n"},
    {__LINE__,
     "steps:\n- {name: x, shell: y, outputs: [rows, 1x, a-b, state, rows]}\n"
     "- {name: z, workflow: b, outputs: c}\n- {name: h, http: 'http://a/', outputs: [status]}\n",
     "4:39 /steps/0/outputs/1 steps[0].outputs[1]: \"1x\" is not a key of an output: letters, "
     "digits "
     "and _, no digit first\n"
     "5:35 /steps/1/outputs steps[1].outputs: is not for a \"workflow\"; its own steps can have "
     "it\n"
     "6:41 /steps/2/outputs steps[2].outputs: is not for an HTTP call, which has one output: "
     "status\n"},
    {__LINE__,
     "steps:\n- {name: x, shell: y, outputs: [rows, path]}\n- {name: h, http: 'http://a/'}\n"
     "- name: z\n  after: [x, h]\n  when: steps.x.rwos > 0 and steps.x.state == 'ok'\n"
     "  each: {of: steps.x.zzz}\n"
     "  command: [a, '${steps.x.rows}', '${steps.x.pth}', '${steps.h.status}', "
     "'${steps.h.body}']\n",
     "8:9 /steps/2/when steps[2].when: \"steps.x.rwos\" names an output that step \"x\" does not "
     "have; did you mean \"rows\"?\n"
     "9:14 /steps/2/each/of steps[2].each.of: \"steps.x.zzz\" names an output that step \"x\" does "
     "not have\n"
     "10:36 /steps/2/command/2 steps[2].command[2]: ${steps.x.pth} names an output that step \"x\" "
     "does not have; did you mean \"path\"?\n"
     "10:75 /steps/2/command/4 steps[2].command[4]: ${steps.h.body} names an output that step "
     "\"h\" does not have\n"},
    {__LINE__, "steps:\n- {name: x, shell: y, join: any}\n",
     "4:29 /steps/0/join steps[0].join: is for a step that waits for others; this one has no "
     "\"after\"\n"},
    {__LINE__, "steps:\n- {name: x, shell: y}\n- {name: z, shell: y, after: x, join: 2}\n",
     "5:39 /steps/1/join steps[1].join: 2 is more than the number of steps in \"after\", which is "
     "1\n"},
    {__LINE__, "steps:\n- {name: x, shell: y}\n- {name: z, shell: y, after: x, join: most}\n",
     "5:39 /steps/1/join steps[1].join: expected all, any or a number, found a text\n"},
    {__LINE__, "steps:\n- {name: x, shell: y}\n- {name: z, shell: y, after: x, join: 0}\n",
     "5:39 /steps/1/join steps[1].join: 0 is out of range 1 to 256\n"},
    {__LINE__,
     "steps:\n- {name: x, shell: y, after: f}\nfinally:\n- {name: f, shell: y, after: x}\n",
     "4:30 /steps/0/after steps[0].after: \"f\" is of \"finally\", which begins when all other "
     "steps have ended\n"
     "6:30 /finally/0/after finally[0].after: \"x\" is of \"steps\", which have all ended before "
     "those of \"finally\" begin; name one of \"finally\", or leave it out\n"},
    {__LINE__, "steps: [{name: x, shell: y, each: 5}]\n",
     "3:35 /steps/0/each steps[0].each: expected a list of items, or a map: {of: steps.NAME.KEY}, "
     "{from: 1, to: 10} or {shards: 8}; found a number\n"},
    {__LINE__, "steps: [{name: x, shell: y, each: []}]\n",
     "3:35 /steps/0/each steps[0].each: expected a list of 1 to 10000 items, found 0\n"},
    {__LINE__, "steps: [{name: x, shell: y, each: {}}]\n",
     "3:35 /steps/0/each steps[0].each: needs one of items, of, from with to, or shards; found 0 "
     "of them\n"},
    {__LINE__, "steps: [{name: x, shell: y, each: {shards: 2, items: [a]}}]\n",
     "3:35 /steps/0/each steps[0].each: needs one of items, of, from with to, or shards; found 2 "
     "of them\n"},
    {__LINE__, "steps: [{name: x, shell: y, each: {from: 2}}]\n",
     "3:35 /steps/0/each steps[0].each: a range needs \"from\" and \"to\"\n"},
    {__LINE__, "steps: [{name: x, shell: y, each: {from: 2, to: 1}}]\n",
     "3:35 /steps/0/each steps[0].each: \"from\" is larger than \"to\"\n"},
    {__LINE__, "steps: [{name: x, shell: y, each: {from: 1, to: 10001}}]\n",
     "3:35 /steps/0/each steps[0].each: has more than 10000 items\n"},
    {__LINE__, "steps: [{name: x, shell: y, each: {shards: 0}}]\n",
     "3:44 /steps/0/each/shards steps[0].each.shards: 0 is out of range 1 to 10000\n"},
    {__LINE__, "steps: [{name: x, shell: y, each: {shards: 2, at_once: 65}}]\n",
     "3:56 /steps/0/each/at_once steps[0].each.at_once: 65 is out of range 1 to 64\n"},
    {__LINE__, "steps: [{name: x, shell: y, each: {of: files}}]\n",
     "3:40 /steps/0/each/of steps[0].each.of: \"files\" is not an output of a step: "
     "steps.NAME.KEY\n"},
    {__LINE__, "steps: [{name: x, shell: y, each: {of: steps.z.files}}]\n",
     "3:40 /steps/0/each/of steps[0].each.of: \"steps.z.files\" names a step that does not "
     "exist\n"},
    {__LINE__, "steps: [{name: x, workflow: w, each: [a], timeout: 5m}]\n",
     "3:38 /steps/0/each steps[0].each: is not for a \"workflow\"; its own steps can have it\n"},
    {__LINE__, "steps: [{name: x, workflow: w, timeout: 5m}]\n",
     "3:41 /steps/0/timeout steps[0].timeout: belongs to the steps of workflow \"w\"\n"},
    {__LINE__, "steps: [{name: x, job: j, nice: 5}]\n",
     "3:33 /steps/0/nice steps[0].nice: belongs to job \"j\", which this step runs\n"},
    {__LINE__, "steps: [{name: x, shell: y, with: {a: b}}]\n",
     "3:35 /steps/0/with steps[0].with: is for the parameters of a \"job\" or a \"workflow\"; this "
     "step has none\n"},
    {__LINE__, "steps: [{name: x, http: {method: GET}}]\n",
     "3:25 /steps/0/http steps[0].http: needs a \"url\"\n"},
    {__LINE__, "steps: [{name: x, http: 'https://a/${NOPE}'}]\n",
     "3:36 /steps/0/http steps[0].http: there is no variable NOPE; use one of the job's env, or "
     "PEAL_TICK, PEAL_JOB, PEAL_RUN_ID, PEAL_ATTEMPT, PEAL_NODE, PEAL_FENCE\n"},
    {__LINE__, "steps: [{name: x, http: 'https://a/${steps.z.k}'}]\n",
     "3:36 /steps/0/http steps[0].http: ${steps.z.k} names a step that does not exist\n"},
    {__LINE__, "steps: [{name: x, http: 'https://a/', cwd: /}]\n",
     "3:44 /steps/0/cwd steps[0].cwd: is for jobs with a process; an HTTP call has none\n"},
    {__LINE__, "steps: [{name: x, function: billing}]\n",
     "3:29 /steps/0/function steps[0].function: needs a \"name\", that of the function\n"},
    {__LINE__, "steps: [{name: x, command: ['${params.a}']}]\nparams: {a: {default: b}}\n",
     "3:29 /steps/0/command/0 steps[0].command[0]: the program can't be a reference\n"},
    {__LINE__,
     "steps: [{name: x, command: [sh, -c, 'echo ${params.a}']}]\nparams: {a: {default: b}}\n",
     "3:37 /steps/0/command/2 steps[0].command[2]: the value of ${params.a} would be read as code "
     "here; use a \"shell\", or a variable of \"env\"\n"},
    {__LINE__, "steps: [{name: x, command: [echo, '${params.b}', '${item}', '${steps.x.k}']}]\n",
     "3:36 /steps/0/command/1 steps[0].command[1]: ${params.b} is not a parameter of this "
     "workflow; declare it in \"params\"\n"
     "3:51 /steps/0/command/2 steps[0].command[2]: ${item} has a value only in a step with "
     "\"each\"\n"
     "3:62 /steps/0/command/3 steps[0].command[3]: ${steps.x.k} names this step itself\n"},
    {__LINE__, "steps: [{name: x, command: [echo, '${steps.a}']}]\n",
     "3:36 /steps/0/command/1 steps[0].command[1]: ${steps.a} names a step, but no output of it; "
     "write steps.NAME.KEY\n"},
    {__LINE__,
     "steps:\n- {name: x, command: [echo, '${steps.z.k}']}\n- {name: z, shell: y, after: x}\n",
     "4:30 /steps/0/command/1 steps[0].command[1]: ${steps.z.k} names a step that runs after this "
     "one: x -> z\n"},
    {__LINE__, "steps:\n- {name: x, stdin: '${steps.z.k}', shell: y}\n- {name: z, shell: y}\n",
     "4:21 /steps/0/stdin steps[0].stdin: ${steps.z.k} names a step that need not have ended "
     "before this one begins; add it to \"after\"\n"},
    {__LINE__,
     "steps:\n- {name: xyz, shell: y}\n- {name: z, shell: 'echo ${steps.xyy.k}', after: xyz}\n",
     "5:26 /steps/1/shell steps[1].shell: ${steps.xyy.k} names a step that does not exist; did you "
     "mean \"xyz\"?\n"},
    {__LINE__,
     "steps:\n- {name: x, shell: y}\n- {name: z, shell: 'echo ${steps.x/y.k}', after: x}\n",
     "5:26 /steps/1/shell steps[1].shell: ${steps.x/y.k} names a step of a workflow, but the step "
     "in front of the / is none\n"},
    {__LINE__, "steps: [{name: x, shell: y, each: ['${item}']}]\n",
     "3:37 /steps/0/each/0 steps[0].each[0]: ${item} has no value here; only what a step runs for "
     "each item can use it\n"},
    {__LINE__, "steps: [{name: x, shell: y}]\nenv: {A: '${steps.x.k}', B: '${item}'}\n",
     "4:11 /env/A env.A: ${steps.x.k} names a step; the environment of the whole workflow can use "
     "parameters only\n"
     "4:30 /env/B env.B: ${item} has no value here; only what a step runs for each item can use "
     "it\n"},
    {__LINE__, "steps: [{name: x, job: j, with: {a: '${params.q}'}, env: {E: '${index}'}}]\n",
     "3:38 /steps/0/with/a steps[0].with.a: ${params.q} is not a parameter of this workflow; "
     "declare it in \"params\"\n"
     "3:63 /steps/0/env/E steps[0].env.E: ${index} has a value only in a step with \"each\"\n"},
    {__LINE__,
     "steps:\n- {name: x, shell: y, timeout: soon}\n- {name: z, after: w}\n"
     "- {name: q, shell: y, after: [x, z, x]}\ntimeout: never\n",
     "4:32 /steps/0/timeout steps[0].timeout: a duration is numbers with units, like 90s or 1h30m\n"
     "5:3 /steps/1 steps[1]: step \"z\" needs a \"command\", \"shell\", \"http\", \"function\", "
     "\"job\" or \"workflow\"\n"
     "5:20 /steps/1/after steps[1].after: there is no step \"w\"\n"
     "6:37 /steps/2/after/2 steps[2].after[2]: \"x\" is named twice\n"
     "7:10 /timeout timeout: a duration is numbers with units, like 90s or 1h30m\n"},
    {__LINE__, "steps: [{name: x, shell: y, when: 'params.a ='}]\nparams: {a: {default: b}}\n",
     "3:45 /steps/0/when steps[0].when: expected an operator, and, or, or the end, found =\n"},
    {__LINE__, "steps: [{name: x, shell: y, when: params.a == 5 and item > 3}]\n",
     "3:35 /steps/0/when steps[0].when: \"params.a\" is not a parameter of this workflow; declare "
     "it "
     "in \"params\"\n"},
    {__LINE__, "steps: [{name: x, shell: y, when: ''}]\n",
     "3:35 /steps/0/when steps[0].when: is empty\n"},
    {__LINE__,
     "steps:\n- {name: x, shell: y, when: steps.z.k > 5}\n- {name: z, shell: y, after: x}\n",
     "4:29 /steps/0/when steps[0].when: \"steps.z.k\" names a step that runs after this one: x -> "
     "z\n"},
};

static void add_errors(const char *text, struct strbuf *out)
{
    struct job_list jobs;
    struct job_errors errors;
    job_list_init(&jobs);
    job_errors_init(&errors);
    assert_int_equal(jobs_decode_file(text, strlen(text), "UTC", zones, NULL, NULL, &jobs, &errors),
                     E_INVALID);
    for (size_t i = 0; i < errors.count; i++)
        strbuf_addf(out, "%d:%d %s %s\n", errors.items[i].line, errors.items[i].column,
                    errors.items[i].path, errors.items[i].message);
    job_errors_release(&errors);
    job_list_release(&jobs);
}

/* All of a file at once; and the first alone is one of them. */
static void mistakes_are_located(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct job_list jobs;
        struct job_error err = {0};
        struct strbuf text, all;
        char first[512];
        strbuf_init(&text);
        strbuf_init(&all);
        strbuf_addf(&text, HEAD "%s", bad[i].text);
        add_errors(text.text, &all);
        if (strcmp(all.text, bad[i].want) != 0)
            fail_msg("line %d:\n%swanted\n%s", bad[i].line, all.text, bad[i].want);
        assert_int_equal(jobs_decode_text(text.text, text.length, "UTC", zones, &jobs, &err),
                         E_INVALID);
        snprintf(first, sizeof(first), "%d:%d %s %s\n", err.line, err.column, err.path,
                 err.message);
        if (!strstr(all.text, first))
            fail_msg("line %d: %s", bad[i].line, first);
        strbuf_release(&text);
        strbuf_release(&all);
    }
}

/* ---- limits ---- */

/* `chains` chains of `length` steps each; the last step waits for the ends of `inputs` of them. */
static void add_chains(struct strbuf *out, int chains, int length, int inputs)
{
    strbuf_adds(out, HEAD "steps:\n");
    for (int chain = 0; chain < chains; chain++) {
        for (int i = 0; i < length; i++) {
            strbuf_addf(out, "- {name: s%d-%d, shell: y", chain, i);
            if (i)
                strbuf_addf(out, ", after: s%d-%d", chain, i - 1);
            strbuf_adds(out, "}\n");
        }
    }
    strbuf_adds(out, inputs ? "- {name: last, shell: y, after: [" : "");
    for (int i = 0; i < inputs; i++)
        strbuf_addf(out, "%ss%d-%d", i ? ", " : "", i / length, i % length);
    strbuf_adds(out, inputs ? "]}\n" : "");
}

static const struct {
    int line, chains, length, inputs;
    const char *want; /* NULL: it is taken */
} sizes[] = {
    {__LINE__, 64, 31, 16, NULL},
    {__LINE__, 20, 100, 0, NULL},
    {__LINE__, 1, 2000, 0, NULL},
    {__LINE__, 20, 100, 1, "steps: has 2001 steps; a workflow has 2000 at most"},
    {__LINE__, 65, 1, 0, "steps: 65 steps wait for no other; at most 64 can begin at once"},
    {__LINE__, 64, 30, 256, NULL},
    {__LINE__, 64, 30, 257, "steps[1920].after: a step can wait for 256 others, not more"},
};

static void limits_hold(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct job_list jobs;
        struct job_error err = {0};
        struct strbuf text;
        strbuf_init(&text);
        job_list_init(&jobs);
        add_chains(&text, sizes[i].chains, sizes[i].length, sizes[i].inputs);
        enum status st = jobs_decode_text(text.text, text.length, "UTC", zones, &jobs, &err);
        if ((st == OK) != !sizes[i].want || (st != OK && strcmp(err.message, sizes[i].want) != 0))
            fail_msg("line %d: %s", sizes[i].line, err.message);
        job_list_release(&jobs);
        strbuf_release(&text);
    }
}

static void a_step_has_as_many_that_wait(void **state)
{
    (void)state;
    for (int count = 256; count <= 257; count++) {
        struct job_list jobs;
        struct job_error err = {0};
        struct strbuf text;
        strbuf_init(&text);
        job_list_init(&jobs);
        strbuf_adds(&text, HEAD "steps:\n- {name: first, shell: y}\n");
        for (int i = 0; i < count; i++)
            strbuf_addf(&text, "- {name: s%d, shell: y, after: first}\n", i);
        enum status st = jobs_decode_text(text.text, text.length, "UTC", zones, &jobs, &err);
        assert_int_equal(st, count == 256 ? OK : E_INVALID);
        assert_string_equal(err.message, count == 256 ? ""
                                                      : "steps[0]: 257 steps wait for \"first\"; "
                                                        "at most 256 can");
        job_list_release(&jobs);
        strbuf_release(&text);
    }
}

/* ---- steps that never run ---- */

static const struct {
    int line;
    const char *steps, *dead; /* "step of other" */
} lives[] = {
    {__LINE__, "[{name: a, shell: x}, {name: b, shell: x, after: [{step: a, on: failure}]}]", ""},
    {__LINE__,
     "[{name: a, shell: x}, {name: b, shell: x, after: [{step: a, on: failure}]},"
     " {name: c, shell: x, after: [a, b]}]",
     "c of a "},
    {__LINE__, /* in any order, and told once */
     "[{name: d, shell: x, after: c}, {name: c, shell: x, after: [a, b]},"
     " {name: b, shell: x, after: [{step: a, on: failure}]}, {name: a, shell: x}]",
     "c of a "},
    {__LINE__,
     "[{name: a, shell: x}, {name: b, shell: x, after: [{step: a, on: failure}]},"
     " {name: c, shell: x, after: [a, {step: b, on: always}]}]",
     ""},
    {__LINE__,
     "[{name: a, shell: x}, {name: b, shell: x, after: [{step: a, on: failure}]},"
     " {name: c, shell: x, join: any, after: [a, b]}]",
     ""},
};

static void note_dead(void *context, const struct job_step *step, const struct job_step *other)
{
    strbuf_addf(context, "%s of %s ", step->name, other->name);
}

static void steps_that_never_run_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(lives) / sizeof(lives[0]); i++) {
        char text[512];
        struct strbuf dead;
        strbuf_init(&dead);
        snprintf(text, sizeof(text), HEAD "steps: %s\n", lives[i].steps);
        struct job *job = read_job(lives[i].line, text);
        assert_int_equal(steps_find_dead(job, note_dead, &dead), OK);
        if (strcmp(dead.text, lives[i].dead) != 0)
            fail_msg("line %d: %s", lives[i].line, dead.text);
        strbuf_release(&dead);
        job_free(job);
    }
}

static void note_unused(void *context, const struct job_step *step, const char *output)
{
    char *all = context;
    size_t length = strlen(all);
    snprintf(all + length, 200 - length, "%s.%s ", step->name, output);
}

/* Wherever a reference may stand, it is a use. */
static void unused_outputs_are_found(void **state)
{
    static const struct {
        int line;
        const char *use, *unused;
    } cases[] = {
        {__LINE__, "shell: y", "x.a "},
        {__LINE__, "shell: 'echo $${steps.x.a}'", "x.a "},
        {__LINE__, "shell: 'echo ${steps.x.a}'", ""},
        {__LINE__, "command: [y, 'b=${steps.x.a}']", ""},
        {__LINE__, "command: [y], stdin: '${steps.x.a}'", ""},
        {__LINE__, "command: [y], env: {A: '${steps.x.a}'}", ""},
        {__LINE__, "command: [y], when: 'not steps.x.a'", ""},
        {__LINE__, "command: [y], each: {of: steps.x.a}", ""},
        {__LINE__, "command: [y], each: [b, '${steps.x.a}']", ""},
        {__LINE__, "job: y, with: {b: '${steps.x.a}'}", ""},
        {__LINE__, "http: {url: 'http://a/${steps.x.a}'}", ""},
        {__LINE__, "http: {url: 'http://a/', body: '${steps.x.a}'}", ""},
        {__LINE__, "http: {url: 'http://a/', headers: {B: '${steps.x.a}'}}", ""},
        {__LINE__, "command: [y, '${steps.x.state}']", "x.a "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[300], found[200] = "";
        snprintf(text, sizeof(text),
                 HEAD "steps: [{name: x, shell: y, outputs: a}, {name: z, after: x, %s}]\n",
                 cases[i].use);
        struct job *job = read_job(cases[i].line, text);
        assert_int_equal(steps_find_unused(job, note_unused, found), OK);
        if (strcmp(found, cases[i].unused) != 0)
            fail_msg("line %d: unused: %s", cases[i].line, found);
        job_free(job);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unused_outputs_are_found),
        cmocka_unit_test(yaml_reads_well),
        cmocka_unit_test(forms_are_stored_as_one),
        cmocka_unit_test(mistakes_are_located),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(steps_that_never_run_are_found),
        cmocka_unit_test(a_step_has_as_many_that_wait),
    };
    return cmocka_run_group_tests(tests, open_zones, close_zones);
}
