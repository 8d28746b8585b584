/* The field `after`: its forms, what they are written as, and every mistake in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "definition/job_codec.h"

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

static const struct {
    int line;
    const char *text; /* what stands in the file */
    const char *yaml; /* as it is written again */
    const char *json; /* as it is stored and answered */
} forms[] = {
    {__LINE__, "after: b\n", "after: [b]\n", "[{\"job\":\"b\"}]"},
    {__LINE__, "after: [c/d, b]\n", "after: [c/d, b]\n", "[{\"job\":\"c/d\"},{\"job\":\"b\"}]"},
    {__LINE__, "after: {job: b}\n", "after: [b]\n", "[{\"job\":\"b\"}]"},
    {__LINE__, "after: {jobs: b, on: success}\n", "after: [b]\n", "[{\"job\":\"b\"}]"},
    {__LINE__, "after: {jobs: [b, c], on: failure}\n",
     "after: [{job: b, \"on\": failure}, {job: c, \"on\": failure}]\n",
     "[{\"job\":\"b\",\"on\":\"failure\"},{\"job\":\"c\",\"on\":\"failure\"}]"},
    {__LINE__, "after: [b, {\"on\": always, job: \"1\"}]\n",
     "after: [b, {job: \"1\", \"on\": always}]\n",
     "[{\"job\":\"b\"},{\"job\":\"1\",\"on\":\"always\"}]"},
    {__LINE__, "after:\n  - b\n  - {jobs: [c, d], on: always}\n",
     "after: [b, {job: c, \"on\": always}, {job: d, \"on\": always}]\n",
     "[{\"job\":\"b\"},{\"job\":\"c\",\"on\":\"always\"},{\"job\":\"d\",\"on\":\"always\"}]"},
};

static struct job *read_job(int line, const char *text)
{
    struct job_list jobs;
    struct job_error err = {0};
    if (jobs_decode_text(text, strlen(text), "Europe/Berlin", zones, &jobs, &err) != OK)
        fail_msg("line %d: %d:%d: %s\n%s", line, err.line, err.column, err.message, text);
    assert_int_equal(jobs.count, 1);
    struct job *job = jobs.items[0];
    jobs.count = 0;
    job_list_release(&jobs);
    return job;
}

/* One without ticks has neither schedules nor a zone of its own. */
static void check_form(int line, const char *after, const char *yaml, const char *json)
{
    char text[256], want[256];
    struct strbuf out;
    snprintf(text, sizeof(text), "name: a\n%scommand: [x]\n", after);
    struct job *job = read_job(line, text);
    assert_int_equal(job->schedule_count, 0);
    assert_string_equal(job->timezone, "UTC");

    strbuf_init(&out);
    assert_int_equal(job_encode_yaml(job, &out), OK);
    snprintf(want, sizeof(want), "name: a\n%scommand: [x]\n", yaml);
    if (strcmp(out.text, want) != 0)
        fail_msg("line %d: written as\n%swanted\n%s", line, out.text, want);
    struct job *again = read_job(line, out.text);
    char *stored = job_encode_text(again);
    snprintf(want, sizeof(want), "{\"name\":\"a\",\"after\":%s,\"command\":[\"x\"]}", json);
    if (strcmp(stored, want) != 0)
        fail_msg("line %d: stored as %s, wanted %s", line, stored, want);
    job_free(again);
    assert_int_equal(job_decode_stored(stored, zones, &again, NULL), OK);
    assert_int_equal(again->after_count, job->after_count);
    assert_memory_equal(again->after, job->after, job->after_count * sizeof(*job->after));
    free(stored);
    strbuf_release(&out);
    job_free(again);
    job_free(job);
}

static void all_forms_mean_a_list(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        check_form(forms[i].line, forms[i].text, forms[i].yaml, forms[i].json);
}

static const struct {
    int line;
    const char *text; /* behind `name: a` and a script */
    const char *want; /* line:column path message */
} bad[] = {
    {__LINE__, "after:\n", "3:7 /after after: expected a text, found nothing"},
    {__LINE__, "after: []\n",
     "3:8 /after after: names no job; leave it out, or name one to wait for"},
    {__LINE__, "after: {jobs: []}\n",
     "3:8 /after after: names no job; leave it out, or name one to wait for"},
    {__LINE__, "after: [b, a]\n", "3:12 /after/1 after[1]: a job can't wait for itself"},
    {__LINE__, "after: {job: a}\n", "3:14 /after/job after.job: a job can't wait for itself"},
    {__LINE__, "after: [b, c, b]\n", "3:15 /after/2 after[2]: \"b\" is named twice"},
    {__LINE__, "after: [b, {jobs: [c, b], on: always}]\n",
     "3:23 /after/1/jobs/1 after[1].jobs[1]: \"b\" is named twice"},
    {__LINE__, "after: [b c]\n",
     "3:9 /after/0 after[0]: \"b c\" may hold letters, digits and . _ / - only"},
    {__LINE__, "after: 5\n",
     "3:8 /after after: 5 is a number in YAML; for a text put it in quotes: \"5\""},
    {__LINE__, "after: [[b]]\n", "3:9 /after/0 after[0]: expected a text, found a list"},
    {__LINE__, "after: {on: failure}\n", "3:8 /after after: needs a \"job\" to wait for"},
    {__LINE__, "after: {job: b, jobs: [c]}\n",
     "3:23 /after/jobs after.jobs: has \"job\" and \"jobs\"; one of them is enough"},
    {__LINE__, "after: [{job: b, when: failure}]\n",
     "3:18 /after/0/when after[0].when: unknown field; \"job\" and \"on\" may stand here"},
    {__LINE__, "after: {job: b, on: fail}\n",
     "3:21 /after/on after.on: \"fail\" is not one of success, failure or always; did you mean "
     "\"failure\"?"},
    {__LINE__, "after: b\nschedule: '@daily'\n",
     "4:11 /schedule schedule: job \"a\" has \"after\" too; it runs by a schedule or after other "
     "jobs, not both"},
    {__LINE__, "after: b\nschedules: ['@daily', '@hourly']\n",
     "4:12 /schedules schedules: job \"a\" has \"after\" too; it runs by a schedule or after "
     "other jobs, not both"},
    {__LINE__, "after: b\ntimezone: Europe/Berlin\n",
     "4:11 /timezone timezone: is for jobs with a schedule; one with \"after\" has no ticks"},
    {__LINE__, "after: b\nstart: 2027-01-01\n",
     "4:8 /start start: is for jobs with a schedule; one with \"after\" has no ticks"},
    {__LINE__, "after: b\nend: 2027-01-01\n",
     "4:6 /end end: is for jobs with a schedule; one with \"after\" has no ticks"},
    {__LINE__, "after: b\njitter: 5s\n",
     "4:9 /jitter jitter: is for jobs with a schedule; one with \"after\" has no ticks"},
    {__LINE__, "after: b\ndst: skip\n",
     "4:6 /dst dst: is for jobs with a schedule; one with \"after\" has no ticks"},
    {__LINE__, "after: b\ncalendars: [x]\n",
     "4:12 /calendars calendars: is for jobs with a schedule; one with \"after\" has no ticks"},
    {__LINE__, "after: b\ncatch_up: all\n",
     "4:11 /catch_up catch_up: is for jobs with a schedule; one with \"after\" has no ticks"},
    {__LINE__, "after: b\ndeadline: 5m\n",
     "4:11 /deadline deadline: is for jobs with a schedule; one with \"after\" has no ticks"},
    {__LINE__, "depends_on: b\n",
     "3:1 /depends_on unknown field \"depends_on\"; did you mean \"after\"?"},
};

static void mistakes_are_explained(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char text[256], found[400];
        struct job_list jobs;
        struct job_error err = {0};
        snprintf(text, sizeof(text), "name: a\nshell: x\n%s", bad[i].text);
        enum status st = jobs_decode_text(text, strlen(text), "UTC", zones, &jobs, &err);
        if (st != E_INVALID)
            fail_msg("line %d: %s", bad[i].line, status_text(st));
        snprintf(found, sizeof(found), "%d:%d %s %s", err.line, err.column, err.path, err.message);
        if (strcmp(found, bad[i].want) != 0)
            fail_msg("line %d: says\n%s\nwanted\n%s", bad[i].line, found, bad[i].want);
    }
}

/* 32 are taken, one more is not. */
static void there_is_a_limit(void **state)
{
    (void)state;
    for (int count = JOB_AFTER_MAX; count <= JOB_AFTER_MAX + 1; count++) {
        struct strbuf text;
        struct job_list jobs;
        struct job_error err = {0};
        strbuf_init(&text);
        strbuf_adds(&text, "name: a\nshell: x\nafter:\n");
        for (int i = 0; i < count; i++)
            strbuf_addf(&text, "  - job%d\n", i);
        enum status st = jobs_decode_text(text.text, text.length, "UTC", zones, &jobs, &err);
        assert_int_equal(st, count > JOB_AFTER_MAX ? E_INVALID : OK);
        if (st == OK)
            job_list_release(&jobs);
        else
            assert_string_equal(err.message, "after[32]: a job can wait for 32 others, not more");
        strbuf_release(&text);
    }
}

static void only_ends_of_runs_count(void **state)
{
    (void)state;
    static const struct {
        int line;
        enum run_state state;
        bool success, failure, always;
    } cases[] = {
        {__LINE__, RUN_OK, true, false, true},        {__LINE__, RUN_FAILED, false, true, true},
        {__LINE__, RUN_TIMED_OUT, false, true, true}, {__LINE__, RUN_LOST, false, true, true},
        {__LINE__, RUN_KILLED, false, false, true},   {__LINE__, RUN_SKIPPED, false, false, false},
        {__LINE__, RUN_MISSED, false, false, false},  {__LINE__, RUN_RUNNING, false, false, false},
        {__LINE__, RUN_QUEUED, false, false, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (after_wants(AFTER_SUCCESS, cases[i].state) != cases[i].success ||
            after_wants(AFTER_FAILURE, cases[i].state) != cases[i].failure ||
            after_wants(AFTER_ALWAYS, cases[i].state) != cases[i].always)
            fail_msg("line %d: %s", cases[i].line, run_state_name(cases[i].state));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_forms_mean_a_list),
        cmocka_unit_test(mistakes_are_explained),
        cmocka_unit_test(there_is_a_limit),
        cmocka_unit_test(only_ends_of_runs_count),
    };
    return cmocka_run_group_tests(tests, open_zones, close_zones);
}
