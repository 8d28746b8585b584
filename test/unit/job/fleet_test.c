/* The crontabs of many machines put together, and anacrontabs as crontabs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "crontab/crontab.h"
#include "crontab/fleet.h"
#include "random_cron.h"

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
    const char *text, *want;
} anacrontabs[] = {
    {__LINE__, "1 5 cron.daily nice run-parts x\n", "5 3 * * * root nice run-parts x\n"},
    {__LINE__, "START_HOURS_RANGE=6-9\n7 70 w a%b\n", "\n10 7 * * 0 root a\\%b\n"},
    {__LINE__, "@monthly 45 m x y\n30 0 m2 z\n@yearly 0 y z\n@daily 1 d z",
     "45 3 1 * * root x y\n0 3 1 * * root z\n0 3 1 1 * root z\n1 3 * * * root z\n"},
    {__LINE__, "# c\n\nPATH=/bin\nRANDOM_DELAY=45\n", "# c\n\nPATH=/bin\nRANDOM_DELAY=45\n"},
    {__LINE__, "3 5 odd true\n1 -5 a b\n1 99999 a b\n1 5 a\nx\n",
     "3 5 odd true\n1 -5 a b\n1 99999 a b\n1 5 a\nx\n"},
    {__LINE__, "", ""},
};

static void an_anacrontab_is_a_crontab(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(anacrontabs) / sizeof(anacrontabs[0]); i++) {
        struct strbuf got;
        strbuf_init(&got);
        fleet_anacrontab(anacrontabs[i].text, strlen(anacrontabs[i].text), &got);
        if (strcmp(got.text, anacrontabs[i].want) != 0)
            fail_msg("line %d: got\n%swanted\n%s", anacrontabs[i].line, got.text,
                     anacrontabs[i].want);
        strbuf_release(&got);
    }
}

static void add_crontab(struct fleet *fleet, const char *host, const char *text, int *inout_twice)
{
    struct crontab crontab;
    const struct crontab_options options = {.user = "u", .default_tz = "UTC"};
    crontab_init(&crontab);
    assert_int_equal(crontab_import(text, strlen(text), &options, zones, &crontab, NULL), OK);
    for (size_t i = 0; i < crontab.jobs.count; i++) {
        bool is_twice;
        assert_int_equal(fleet_add(fleet, host, crontab.jobs.items[i], &is_twice), OK);
        crontab.jobs.items[i] = NULL;
        *inout_twice += is_twice;
    }
    crontab_release(&crontab);
}

static void note_label(void *context, const char *label, const char *hosts)
{
    strbuf_addf(context, "%s=%s ", label, hosts);
}

static void what_is_alike_is_one_job(void **state)
{
    static const char *const want[] = {"x/fleet/a fleet-1 all h1,h2", "x/h1/b host=h1 - h1",
                                       "x/fleet/c fleet-2 all h1,h3", "x/h1/a-2 host=h1 - h1",
                                       "x/fleet/d fleet-1 all h1,h2", "x/h2/b host=h2 - h2"};
    struct fleet fleet;
    struct job_list jobs;
    struct strbuf labels;
    int twice = 0;
    (void)state;
    fleet_init(&fleet);
    job_list_init(&jobs);
    strbuf_init(&labels);
    add_crontab(&fleet, "h1", "1 * * * * a\n1 * * * * b\n1 * * * * c\n2 * * * * a\n1 * * * * d\n",
                &twice);
    add_crontab(&fleet, "h2", "1 * * * * d\n1 * * * * a\nX=1\n1 * * * * b\n", &twice);
    add_crontab(&fleet, "h3", "1 * * * * c\n1 * * * * c\n", &twice);
    assert_int_equal(fleet_finish(&fleet, "x/", &jobs, note_label, &labels), OK);
    assert_int_equal(twice, 1);
    assert_string_equal(labels.text, "fleet-1=h1,h2 fleet-2=h1,h3 ");
    assert_int_equal(jobs.count, sizeof(want) / sizeof(want[0]));
    for (size_t i = 0; i < jobs.count; i++) {
        char got[100];
        const struct job *job = jobs.items[i];
        snprintf(got, sizeof(got), "%s %s %s %s", job->name, job->where,
                 job->spread ? job->spread : "-", fleet_hosts_of(&fleet, i));
        if (strcmp(got, want[i]) != 0)
            fail_msg("job %zu is %s, not %s", i, got, want[i]);
    }
    strbuf_release(&labels);
    job_list_release(&jobs);
    fleet_release(&fleet);
}

/* Any bytes: each line becomes one line. */
static void any_text_is_survived(void **state)
{
    enum { ROUNDS = 3000 };
    struct random random = random_new(random_seed());
    (void)state;
    print_message("PEAL_SEED=%llu\n", (unsigned long long)random.state);
    for (int i = 0; i < ROUNDS * random_rounds(); i++) {
        const char *text = anacrontabs[random_between(&random, 0, 4)].text;
        size_t length = strlen(text), lines = 0, found = 0;
        char *copy = malloc(length); /* not terminated */
        for (size_t k = 0; k < length; k++)
            copy[k] = random_chance(&random, 10) ? (char)random_between(&random, 1, 255) : text[k];
        for (size_t k = 0; k < length; k++)
            lines += copy[k] == '\n' || k + 1 == length;
        struct strbuf got;
        strbuf_init(&got);
        fleet_anacrontab(copy, length, &got);
        for (size_t k = 0; k < got.length; k++)
            found += got.text[k] == '\n';
        assert_int_equal(found, lines);
        strbuf_release(&got);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_anacrontab_is_a_crontab),
        cmocka_unit_test(what_is_alike_is_one_job),
        cmocka_unit_test(any_text_is_survived),
    };
    return cmocka_run_group_tests(tests, open_zones, close_zones);
}
