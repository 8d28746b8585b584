/* Jobs as CronJobs: what they say, and that Kubernetes' rules give them the job's ticks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "foreign/cronjob.h"
#include "foreign/cronjob_export.h"
#include "random_cron.h"

static struct zone_db *zones;
static const int64_t from_s = 1798761600; /* 2027 */

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

static struct job *decode(const char *yaml)
{
    struct job_list list;
    struct job_error err = {0};
    job_list_init(&list);
    if (jobs_decode_text(yaml, strlen(yaml), "UTC", zones, &list, &err) != OK)
        fail_msg("%s: %s", yaml, err.message);
    struct job *job = list.items[0];
    list.items[0] = NULL;
    job_list_release(&list);
    return job;
}

/* A line of the document, or the reason why there is none. */
static const struct {
    int line;
    const char *job, *image, *want;
} exports[] = {
    {__LINE__, "name: Team/A_b\nschedule: 5 4 * * 1\ncommand: [a, b]", "i", "  name: team-a-b\n"},
    {__LINE__, "name: a\nschedule: 5 4 * * 1\ncommand: [a, $(X)]", "i",
     "command: [\"a\", \"$$(X)\"]\n"},
    {__LINE__, "name: a\nschedule: '@daily'\ntimezone: Asia/Tokyo\ncommand: [a]", "i",
     "  schedule: \"0 0 * * *\"\n  timeZone: \"Asia/Tokyo\"\n"},
    {__LINE__, "name: a\nschedules: ['@daily', '@weekly']\ncommand: [a]", "i", "  name: a-2\n"},
    {__LINE__, "name: a\nschedule: '@daily'\nshell: echo\noverlap: replace\npaused: true", "i",
     "  concurrencyPolicy: Replace\n  suspend: true\n"},
    {__LINE__, "name: a\nschedule: '@daily'\nshell: echo \"a\"", "i",
     "command: [\"/bin/sh\", \"-c\", \"echo \\\"a\\\"\"]\n"},
    {__LINE__, "name: a\nschedule: '@daily'\ncommand: [a]\nretries: 3\ntimeout: 5m\ndeadline: 90s",
     "i", "  startingDeadlineSeconds: 90\n"},
    {__LINE__, "name: a\nschedule: '@daily'\ncommand: [a]\nretries: 3\ntimeout: 5m", "i",
     "      backoffLimit: 3\n      activeDeadlineSeconds: 300\n"},
    {__LINE__, "name: a\nschedule: '@daily'\ncommand: [a]\nuser: u\nwhere: x", "i",
     "# not in Kubernetes: where: x\n# not in Kubernetes: user\n"},
    {__LINE__,
     "name: a\nschedule: '@daily'\ncommand: [peal-container, podman, run, --rm, --env, A, "
     "--workdir, "
     "/w, --memory, 128m, --cpus, '0.5', --entrypoint, sh, img, -c, x]\nenv: {A: b}",
     NULL,
     "              image: \"img\"\n              command: [\"sh\"]\n              args: [\"-c\", "
     "\"x\"]\n              workingDir: \"/w\"\n              resources:\n                limits: "
     "{memory: \"128Mi\", cpu: \"0.5\"}\n              env:\n                - {name: \"A\", "
     "value: "
     "\"b\"}\n"},
    {__LINE__, "name: a\nschedule: '@daily'\ncommand: [a]", NULL,
     "# left out: it is no container; name an image to run it in with --image\n# @daily\n"},
    {__LINE__, "name: a\nschedule: 0 0 1 * +1\ncommand: [a]", "i",
     "# left out: Kubernetes takes either of both day fields, where here both must match\n"},
    {__LINE__, "name: a\nschedule: 0 0 1-7 * */7\ncommand: [a]", "i",
     "# left out: Kubernetes takes either of both day fields, where here both must match\n"},
    {__LINE__, "name: a\nschedule: 0 0 L * *\ncommand: [a]", "i",
     "# left out: Kubernetes has no L, W and #\n"},
    {__LINE__, "name: a\nschedule: 1 0 0 1 * *\ncommand: [a]", "i",
     "# left out: Kubernetes has neither seconds nor years\n"},
    {__LINE__, "name: a\nschedule: '@every 5m'\ncommand: [a]", "i",
     "# left out: Kubernetes has no fixed rate\n"},
    {__LINE__, "name: a\nschedule: '@manual'\ncommand: [a]", "i",
     "# left out: it runs only when asked\n"},
    {__LINE__, "name: a\nafter: b\ncommand: [a]", "i", "# left out: it waits for other jobs\n"},
};

static void export(const struct job *job, const char *image, struct strbuf *out)
{
    const struct cronjob_options options = {.image = image, .from_s = from_s, .zones = zones};
    struct strbuf name;
    strbuf_init(&name);
    cronjob_name(job->name, &name);
    assert_int_equal(cronjob_export(job, name.text, &options, out), OK);
    strbuf_release(&name);
}

static void a_job_becomes_a_cronjob(void **state)
{
    bool failed = false;
    (void)state;
    for (size_t i = 0; i < sizeof(exports) / sizeof(exports[0]); i++) {
        struct strbuf got;
        struct job *job = decode(exports[i].job);
        strbuf_init(&got);
        export(job, exports[i].image, &got);
        if (!strstr(got.text, exports[i].want)) {
            print_error("line %d: got\n%swithout\n%s", exports[i].line, got.text, exports[i].want);
            failed = true;
        }
        strbuf_release(&got);
        job_free(job);
    }
    assert_false(failed);
}

/* Random expressions: the CronJob is read back, and has the ticks of a year by Kubernetes' rules.
 */
static bool goes_there_and_back(const char *schedule)
{
    enum { TICKS_MAX = 2000 };
    struct foreign foreign;
    struct parse_error err = {0};
    struct strbuf yaml, text;
    const struct foreign_options options = {.default_tz = "UTC"};
    strbuf_init(&yaml);
    strbuf_init(&text);
    strbuf_addf(&text, "name: a\nschedule: \"%s\"\ntimezone: UTC\ncommand: [a]", schedule);
    struct job *job = decode(text.text);
    export(job, "i", &yaml);
    bool is_there = strstr(yaml.text, "kind: CronJob") != NULL;
    foreign_init(&foreign);
    if (is_there) {
        struct schedule_options as_k8s = schedule_options_default();
        struct schedule *theirs = NULL;
        struct schedule_set ours;
        schedule_set_init(&ours);
        if (cronjob_import(yaml.text, yaml.length, &options, zones, &foreign, &err) != OK ||
            foreign.jobs.count != 1)
            fail_msg("%s: %s\n%s", schedule, err.message, yaml.text);
        as_k8s.profile = CRON_K8S;
        assert_int_equal(job_schedules(job, zones, &ours, NULL), OK);
        assert_int_equal(
            schedule_parse(foreign.jobs.items[0]->schedules[0], &as_k8s, zones, &theirs, &err), OK);
        int64_t at_s = from_s;
        for (int i = 0; i < TICKS_MAX && at_s < from_s + INT64_C(366) * 86400; i++) {
            int64_t next_s = schedule_set_next(&ours, at_s, NULL);
            if (schedule_next(theirs, at_s) != next_s)
                fail_msg("%s is %s: other ticks after %lld", schedule,
                         foreign.jobs.items[0]->schedules[0], (long long)at_s);
            at_s = next_s;
        }
        schedule_free(theirs);
        schedule_set_release(&ours);
    }
    foreign_release(&foreign);
    strbuf_release(&yaml);
    strbuf_release(&text);
    job_free(job);
    return is_there;
}

static void its_ticks_are_the_same(void **state)
{
    enum { JOBS = 1500 };
    struct random random = random_new(random_seed());
    int carried = 0;
    (void)state;
    print_message("PEAL_SEED=%llu\n", (unsigned long long)random.state);
    for (int i = 0; i < JOBS * random_rounds(); i++) {
        struct random_cron cron;
        random_cron_make(&random, RANDOM_CRON_MINUTE, &cron);
        carried += goes_there_and_back(cron.text);
    }
    print_message("%d of %d jobs could be CronJobs\n", carried, JOBS * random_rounds());
    assert_true(carried > JOBS / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_becomes_a_cronjob),
        cmocka_unit_test(its_ticks_are_the_same),
    };
    return cmocka_run_group_tests(tests, open_zones, close_zones);
}
