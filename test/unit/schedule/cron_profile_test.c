/* The dialects that schedules are imported from: what each accepts and refuses, and what its texts
 * mean, shown as the same schedule in peal's own words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cron/cron_profile.h"
#include "schedule.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static const struct {
    int line;
    enum cron_profile profile;
    const char *text, *meaning;
} accepted[] = {
    {__LINE__, CRON_QUARTZ, "0 0 12 * * ?", "0 12 * * *"},
    {__LINE__, CRON_QUARTZ, "0 0 12 ? * 1", "0 12 * * 0"},
    {__LINE__, CRON_QUARTZ, "0 0 12 ? * L", "0 12 * * 6"},
    {__LINE__, CRON_QUARTZ, "0 0 12 ? * 6L", "0 12 * * 5L"},
    {__LINE__, CRON_QUARTZ, "0 0 12 ? * 6#3", "0 12 * * 5#3"},
    {__LINE__, CRON_QUARTZ, "0 0 12 ? * MON-FRI", "0 12 * * 1-5"},
    {__LINE__, CRON_QUARTZ, "0 0 12 ? * 2/2", "0 12 * * 1-5/2"},
    {__LINE__, CRON_QUARTZ, "0 0 12 LW * ?", "0 12 LW * *"},
    {__LINE__, CRON_QUARTZ, "0 0 12 L-3 * ? 2030-2040", "0 0 12 L-3 * * 2030-2040"},
    {__LINE__, CRON_QUARTZ, "0 0 12 1 * ? *", "0 12 1 * *"},
    {__LINE__, CRON_QUARTZ, "0 0 12 1 * ? 2020/2", "0 0 12 1 * * 2020-9998/2"},
    {__LINE__, CRON_QUARTZ, "0 0 22-2 ? * 7-2", "0 0-2,22,23 * * 0,1,6"},
    {__LINE__, CRON_QUARTZ, "0 0 12 15W * ?", "0 12 15W * *"},
    {__LINE__, CRON_QUARTZ, "0 0 12 ? JAN-MAR 2#1", "0 12 * 1-3 1#1"},
    {__LINE__, CRON_QUARTZ, "0 0 12 ? * 1-7", "0 12 * * 0-6"},
    {__LINE__, CRON_QUARTZ, "0 0 12 ? * SUN,SAT", "0 12 * * 0,6"},
    {__LINE__, CRON_QUARTZ, "0 0/5 14,18 * * ?", "0-55/5 14,18 * * *"},
    {__LINE__, CRON_QUARTZ, "0 0 12 1/5 * ?", "0 12 1-31/5 * *"},
    {__LINE__, CRON_AWS, "0 12 ? * SUN *", "0 12 * * 0"},
    {__LINE__, CRON_AWS, "0 12 ? * 1 2199", "0 0 12 * * 0 2199"},
    {__LINE__, CRON_AWS, "rate(1 hour)", "@every 1h"},
    {__LINE__, CRON_AWS, "0/15 * * * ? *", "0-45/15 * * * *"},
    {__LINE__, CRON_AWS, "0 18 ? * MON-FRI *", "0 18 * * 1-5"},
    {__LINE__, CRON_AWS, "0 10 ? * 6L 2030-2032", "0 0 10 * * 5L 2030-2032"},
    {__LINE__, CRON_AWS, "0 10 ? * 6#1 *", "0 10 * * 5#1"},
    {__LINE__, CRON_AWS, "0 10 ? * L *", "0 10 * * 6"},
    {__LINE__, CRON_AWS, "15 10 L * ? *", "15 10 L * *"},
    {__LINE__, CRON_JENKINS, "H H * * *", "6 2 * * *"},
    {__LINE__, CRON_JENKINS, "@daily", "6 2 * * *"},
    {__LINE__, CRON_JENKINS, "@midnight", "6 0 * * *"},
    {__LINE__, CRON_JENKINS, "@weekly", "6 2 * * 2"},
    {__LINE__, CRON_JENKINS, "H(0-29)/10 * * * *", "1-21/10 * * * *"},
    {__LINE__, CRON_JENKINS, "0 0 13 * 5", "0 0 13 * +5"},
    {__LINE__, CRON_JENKINS, "TZ=Europe/Berlin H 8 * * *", "CRON_TZ=Europe/Berlin 6 8 * * *"},
    {__LINE__, CRON_JENKINS, "0 0 * * 7", "0 0 * * 0"},
    {__LINE__, CRON_JENKINS, "0 0 */2 * MON", "0 0 1-31/2 * +1"},
    {__LINE__, CRON_K8S, "0 0 1-7 * */7", "0 0 1-7 * 0"},
    {__LINE__, CRON_K8S, "0 0 */2 * 1", "0 0 1-31/2 * 1"},
    {__LINE__, CRON_K8S, "0 0 ? * 1", "0 0 * * 1"},
    {__LINE__, CRON_K8S, "5/15 * * * *", "5-50/15 * * * *"},
    {__LINE__, CRON_K8S, "@every 1h", "@every 1h"},
    {__LINE__, CRON_K8S, "@daily", "0 0 * * *"},
    {__LINE__, CRON_K8S, "? * * * *", "* * * * *"},
    {__LINE__, CRON_K8S, "0 ? ? * ?", "0 * * * *"},
    {__LINE__, CRON_OCPS_STRICT, "0 0 L * *", "0 0 L * *"},
    {__LINE__, CRON_OCPS_STRICT, "0 0 * * +5L", "0 0 * * 5L"},
    {__LINE__, CRON_OCPS_STRICT, "0 0 0 1 1 * 2030", "0 0 0 1 1 * 2030"},
    {__LINE__, CRON_OCPS_STRICT, "@hourly", "0 * * * *"},
    {__LINE__, CRON_OCPS_STRICT, "0 0 * * FRI-SUN", "0 0 * * 0,5,6"},
    {__LINE__, CRON_OCPS_STRICT, "0 0 13 * FRI", "0 0 13 * 5"},
    {__LINE__, CRON_OCPS_STRICT, "0 0 13 * +FRI", "0 0 13 * +5"},
    {__LINE__, CRON_OCPS_STRICT, "0 0 * * 1#2", "0 0 * * 1#2"},
    {__LINE__, CRON_OCPS_STRICT, "0 0 */2 * MON", "0 0 */2 * 1"},
    {__LINE__, CRON_OCPS_STRICT, "* * * * * *", "* * * * * *"},
};

static const struct {
    int line;
    enum cron_profile profile;
    const char *text;
    int column;
    const char *message;
} refused[] = {
    {__LINE__, CRON_QUARTZ, "0 0 12 * * *", 8,
     "Quartz wants '?' in one of day of month and day of week, and in one only"},
    {__LINE__, CRON_QUARTZ, "0 0 12 ? * ?", 12,
     "Quartz wants '?' in one of day of month and day of week, and in one only"},
    {__LINE__, CRON_QUARTZ, "0 0 12 ? * 0", 12, "day of week 0 is out of range 1-7"},
    {__LINE__, CRON_QUARTZ, "0 0 12 ? * 8", 12, "day of week 8 is out of range 1-7"},
    {__LINE__, CRON_QUARTZ, "0 0 12 1 * ? 2100", 14, "year 2100 is out of range 1970-2099"},
    {__LINE__, CRON_QUARTZ, "0 12 1 * ?", 11, "expected 6 or 7 fields, found 5"},
    {__LINE__, CRON_QUARTZ, "@daily", 1, "@daily is not part of Quartz schedules"},
    {__LINE__, CRON_QUARTZ, "H 0 0 ? * 1", 1, "H is not part of Quartz cron expressions"},
    {__LINE__, CRON_QUARTZ, "TZ=UTC 0 0 12 * * ?", 1,
     "a time zone prefix is not part of Quartz schedules"},
    {__LINE__, CRON_QUARTZ, "0 0 12 ? * +2", 12, "'+' is not part of Quartz cron expressions"},
    {__LINE__, CRON_QUARTZ, "0 0 12 ? * 6#6", 14, "ordinal is 1..5, -1..-5 or L"},
    {__LINE__, CRON_QUARTZ, "? 0 12 ? * 1", 1, "'?' is for the two day fields"},
    {__LINE__, CRON_AWS, "0 12 ? * 1 2200", 12, "year 2200 is out of range 1970-2199"},
    {__LINE__, CRON_AWS, "0 12 * * ?", 11, "expected 6 fields, found 5"},
    {__LINE__, CRON_JENKINS, "5/15 * * * *", 2,
     "a step after a single value is not part of Jenkins; write 5-59/n"},
    {__LINE__, CRON_JENKINS, "22-2 * * * *", 1, "ranges go from low to high in the minute field"},
    {__LINE__, CRON_JENKINS, "0 0 L * *", 5, "L is not part of Jenkins cron expressions"},
    {__LINE__, CRON_JENKINS, "0 0 ? * *", 5, "'?' is not part of Jenkins cron expressions"},
    {__LINE__, CRON_JENKINS, "@every 5m", 1, "@every is not part of Jenkins schedules"},
    {__LINE__, CRON_JENKINS, "@reboot", 1, "@reboot is not part of Jenkins schedules"},
    {__LINE__, CRON_JENKINS, "0 0 * * * *", 11, "expected 5 fields, found 6"},
    {__LINE__, CRON_JENKINS, "0 0 * * 5-1", 9,
     "ranges go from low to high in the day of week field"},
    {__LINE__, CRON_JENKINS, "0 0 * * +5", 9, "'+' is not part of Jenkins cron expressions"},
    {__LINE__, CRON_K8S, "0 0 * * 7", 9, "day of week 7 is out of range 0-6"},
    {__LINE__, CRON_K8S, "22-2 * * * *", 1, "ranges go from low to high in the minute field"},
    {__LINE__, CRON_K8S, "TZ=UTC * * * * *", 1,
     "a time zone prefix is not part of Kubernetes schedules"},
    {__LINE__, CRON_K8S, "0 0 L * *", 5, "L is not part of Kubernetes cron expressions"},
    {__LINE__, CRON_K8S, "H * * * *", 1, "H is not part of Kubernetes cron expressions"},
    {__LINE__, CRON_K8S, "0 0 * * 5L", 10, "L is not part of Kubernetes cron expressions"},
    {__LINE__, CRON_K8S, "0 0 * * 5#2", 10, "'#' is not part of Kubernetes cron expressions"},
    {__LINE__, CRON_K8S, "0 0 15W * *", 7, "W is not part of Kubernetes cron expressions"},
    {__LINE__, CRON_K8S, "~ * * * *", 1, "'~' is not part of Kubernetes cron expressions"},
    {__LINE__, CRON_K8S, "R * * * *", 1, "R is not part of Kubernetes cron expressions"},
    {__LINE__, CRON_K8S, "@minutely", 1, "@minutely is not part of Kubernetes schedules"},
    {__LINE__, CRON_K8S, "0 0 * * 6-0", 9, "ranges go from low to high in the day of week field"},
    {__LINE__, CRON_OCPS_STRICT, "22-2 * * * *", 1,
     "ranges go from low to high in the minute field"},
    {__LINE__, CRON_OCPS_STRICT, "5/15 * * * *", 2,
     "a step after a single value is not part of OCPS; write 5-59/n"},
    {__LINE__, CRON_OCPS_STRICT, "H * * * *", 1, "H is not part of OCPS cron expressions"},
    {__LINE__, CRON_OCPS_STRICT, "@every 5m", 1, "@every is not part of OCPS schedules"},
    {__LINE__, CRON_OCPS_STRICT, "CRON_TZ=UTC * * * * *", 1,
     "a time zone prefix is not part of OCPS schedules"},
    {__LINE__, CRON_OCPS_STRICT, "~ * * * *", 1, "'~' is not part of OCPS cron expressions"},
};

static int open_zones(void **state)
{
    struct zone_db *zones = NULL;
    enum status st = zone_db_new(NULL, &zones);
    *state = zones;
    return st;
}

static int close_zones(void **state)
{
    zone_db_free(*state);
    return 0;
}

static struct schedule_options options_of(enum cron_profile profile)
{
    struct schedule_options options = schedule_options_default();
    options.profile = profile;
    options.job_name = "backup";
    options.job_uid = "01HZX4";
    return options;
}

static void meanings_are_carried_over(void **state)
{
    struct strbuf out;
    strbuf_init(&out);
    for (size_t i = 0; i < ROWS(accepted); i++) {
        struct schedule_options options = options_of(accepted[i].profile);
        struct schedule *schedule = NULL;
        struct parse_error err;
        if (schedule_parse(accepted[i].text, &options, *state, &schedule, &err) != OK)
            fail_msg("line %d: \"%s\" is refused at %d: %s", accepted[i].line, accepted[i].text,
                     err.column, err.message);
        strbuf_reset(&out);
        schedule_print(schedule, &out);
        if (strcmp(out.text, accepted[i].meaning) != 0)
            fail_msg("line %d: \"%s\" means \"%s\"", accepted[i].line, accepted[i].text, out.text);
        schedule_free(schedule);
    }
    strbuf_release(&out);
}

static void what_is_foreign_is_refused(void **state)
{
    for (size_t i = 0; i < ROWS(refused); i++) {
        struct schedule_options options = options_of(refused[i].profile);
        struct schedule *schedule = NULL;
        struct parse_error err;
        if (schedule_parse(refused[i].text, &options, *state, &schedule, &err) != E_INVALID)
            fail_msg("line %d: \"%s\" is not refused", refused[i].line, refused[i].text);
        if (err.column != refused[i].column || strcmp(err.message, refused[i].message) != 0)
            fail_msg("line %d: \"%s\" says :%d %s", refused[i].line, refused[i].text, err.column,
                     err.message);
        assert_null(schedule);
    }
}

static void profiles_have_names(void **state)
{
    (void)state;
    static const char *const names[] = {"peal", "quartz", "aws", "jenkins", "k8s", "ocps-strict"};
    for (size_t i = 0; i < ROWS(names); i++) {
        assert_string_equal(cron_dialect((enum cron_profile)i)->name, names[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meanings_are_carried_over),
        cmocka_unit_test(what_is_foreign_is_refused),
        cmocka_unit_test(profiles_have_names),
    };
    return cmocka_run_group_tests(tests, open_zones, close_zones);
}
