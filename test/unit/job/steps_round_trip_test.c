/* Random workflows: what is written is read back the same, as YAML and as the store's text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "definition/job_codec.h"
#include "definition/job_fields.h"
#include "definition/job_internal.h"
#include "hash.h"
#include "workflow/steps.h"

enum { STEPS = 12 };

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

struct dice {
    uint64_t seed;
};

static uint64_t roll(struct dice *dice, uint64_t limit)
{
    dice->seed = hash_bytes(dice->seed, "roll", 4);
    return hash_below(dice->seed, limit);
}

static char *pick(struct dice *dice, const char *const *texts, size_t count)
{
    char *text = strdup(texts[roll(dice, count)]);
    assert_non_null(text);
    return text;
}
#define PICK(dice, texts) pick((dice), (texts), sizeof(texts) / sizeof((texts)[0]))

/* Texts that YAML readers trip over, with references that are known everywhere. */
static const char *const texts[] = {
    "x",  "- a: b #c",    "${params.mode}",      "$${steps.none.key}", "yes",
    "07", "two\nlines\n", "${instance}: {a, b}", "a 'b' \"c\" \\",     ""};

static const char *const conditions[] = {
    "params.mode == \"full\"", "not params.mode in ['a', \"b\"]", "'#' == params.mode or 1 > 2",
    "( params.mode contains \": \" )", "true"};

static void random_each(struct dice *dice, struct step_each *each)
{
    switch (roll(dice, 6)) {
    case 0:
        each->items = calloc(4, sizeof(char *));
        for (uint64_t i = 0, n = 1 + roll(dice, 3); i < n; i++)
            each->items[i] = PICK(dice, texts);
        break;
    case 1:
        each->from = (int64_t)roll(dice, 5) - 2;
        each->to = each->from + (int64_t)roll(dice, 100);
        each->by = 1 + (int64_t)roll(dice, 3);
        break;
    case 2:
        each->shards = 1 + (int64_t)roll(dice, 100);
        break;
    default:
        return;
    }
    each->at_once = roll(dice, 2) ? EACH_AT_ONCE : 1 + (int)roll(dice, EACH_AT_ONCE_MAX);
}

static void random_after(struct dice *dice, struct job_step *steps, int number, int first)
{
    struct job_step *step = &steps[number];
    step->after = calloc((size_t)number + 1, sizeof(*step->after));
    for (int i = first; i < number; i++) {
        if (roll(dice, 3) == 0)
            step->after[step->after_count++] =
                (struct step_after){strdup(steps[i].name), (enum after_on)roll(dice, 3)};
    }
    step->join = step->after_count ? (int)roll(dice, step->after_count + 1) : 0;
}

static void random_work(struct dice *dice, struct job_step *step)
{
    struct job *job = step->job;
    switch (roll(dice, 6)) {
    case 0:
        job->kind = JOB_COMMAND;
        job->command = calloc(4, sizeof(char *));
        job->command[0] = strdup("echo");
        for (uint64_t i = 1, n = roll(dice, 3); i <= n; i++)
            job->command[i] = PICK(dice, texts);
        job->nice = (int)roll(dice, 40) - 20;
        break;
    case 1:
        job->kind = JOB_HTTP;
        job->http.url = strdup("https://example.org/${params.mode}?t=${PEAL_TICK}");
        job->http.body = roll(dice, 2) ? PICK(dice, texts) : NULL;
        break;
    case 2:
        job->kind = JOB_FUNCTION;
        job->function.program = strdup("billing");
        job->function.name = strdup("close");
        break;
    case 3:
        step->ref = strdup("other/job");
        assert_int_equal(job_pairs_add(&step->with, "day", texts[roll(dice, 10)]), OK);
        break;
    default:
        job->kind = JOB_SHELL;
        job->script = strdup("set -e\n  echo \"${steps_a}\" # x: y\n");
        job->umask_bits = (int)roll(dice, 513) - 1;
        job->limits.memory_bytes = (int64_t)roll(dice, 3) * 1024 * 1024 - 1;
    }
    if (job->kind != JOB_FUNCTION && roll(dice, 2))
        assert_int_equal(job_pairs_add(&job->env, ": k", texts[roll(dice, 10)]), OK);
    job->retries.count = (int)roll(dice, 3);
    job->timeout_s = (int64_t)roll(dice, 3) * 90;
}

static struct job *random_workflow(struct dice *dice)
{
    struct job *job = job_new();
    size_t count = 1 + roll(dice, STEPS);
    int finals = (int)roll(dice, 2) * (int)(count / 3);
    job->kind = JOB_WORKFLOW;
    job->name = strdup("a/b");
    job->timezone = strdup("UTC");
    assert_int_equal(job_schedules_add(job, "@daily"), OK);
    job->params.items = calloc(1, sizeof(*job->params.items));
    job->params.items[0] = (struct job_param){.name = strdup("mode"), .initial = strdup("full")};
    job->params.count = 1;
    job->steps = calloc(count, sizeof(*job->steps));
    job->step_count = count;
    for (int i = 0; i < (int)count; i++) {
        struct job_step *step = &job->steps[i];
        char name[16];
        fields_set_defaults(step_fields, step);
        snprintf(name, sizeof(name), i % 3 ? "s_%d" : "No-%d", i);
        step->name = strdup(name);
        step->job = job_new();
        step->is_final = i >= (int)count - finals;
        random_after(dice, job->steps, i, step->is_final ? (int)count - finals : 0);
        random_each(dice, &step->each);
        step->when = roll(dice, 2) ? PICK(dice, conditions) : NULL;
        random_work(dice, step);
    }
    return job;
}

static void random_workflows_come_back_the_same(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct dice dice = {seed};
        struct job *job = random_workflow(&dice), *again;
        struct job_list jobs;
        struct job_error err = {0};
        struct strbuf yaml;
        char *text = job_encode_text(job);
        strbuf_init(&yaml);
        assert_int_equal(job_encode_yaml(job, &yaml), OK);
        if (jobs_decode_text(yaml.text, yaml.length, "UTC", zones, &jobs, &err) != OK)
            fail_msg("seed %llu: %d:%d: %s\n%s", (unsigned long long)seed, err.line, err.column,
                     err.message, yaml.text);
        char *from_yaml = job_encode_text(jobs.items[0]);
        if (strcmp(text, from_yaml) != 0)
            fail_msg("seed %llu:\n%s\nwas  %s\nis   %s", (unsigned long long)seed, yaml.text, text,
                     from_yaml);
        if (job_decode_stored(text, zones, &again, &err) != OK)
            fail_msg("seed %llu: %s\n%s", (unsigned long long)seed, err.message, text);
        char *from_text = job_encode_text(again);
        assert_string_equal(text, from_text);
        job_list_release(&jobs);
        job_free(again);
        job_free(job);
        free(from_text);
        free(from_yaml);
        free(text);
        strbuf_release(&yaml);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_workflows_come_back_the_same)};
    return cmocka_run_group_tests(tests, open_zones, close_zones);
}
