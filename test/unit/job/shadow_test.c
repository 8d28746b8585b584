/* cron's log, and the ticks of a job beside what cron has started. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "crontab/crontab.h"
#include "crontab/shadow.h"
#include "random_cron.h"
#include "timestamp.h"

static struct zone_db *zones;
static const int64_t now_s = 1798761600; /* 2027-01-01 */

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
    const char *text, *want; /* "" if it is no start of cron's */
} lines[] = {
    {__LINE__, "Dec 31 18:37:01 web-1 CRON[123]: (root) CMD (run-parts x)",
     "2026-12-31T18:37:01Z root run-parts x"},
    {__LINE__, "Jan  1 00:00:01 h CROND[1]: (u) CMD (a) b ) )", "2027-01-01T00:00:01Z u a) b )"},
    {__LINE__, "Jan  3 00:00:01 h CRON[1]: (u) CMD (x)", "2026-01-03T00:00:01Z u x"},
    {__LINE__, "Feb 29 00:00:01 h CRON[1]: (u) CMD (x)", "2024-02-29T00:00:01Z u x"},
    {__LINE__, "2026-11-19T18:37:01.123456+01:00 h CRON[9]: (u) CMD (x)",
     "2026-11-19T17:37:01Z u x"},
    {__LINE__, "2026-11-19T18:37:01+0530 h CRON[9]: (u) CMD (x)", "2026-11-19T13:07:01Z u x"},
    {__LINE__, "2026-11-19T18:37:01-0500 h CRON[9]: (u) CMD ( x y  )",
     "2026-11-19T23:37:01Z u  x y"},
    {__LINE__, "Dec 31 18:37:01 h CRON[123]: pam_unix(cron:session): session opened", ""},
    {__LINE__, "Dec 31 18:37:01 h CRON[123]: (root) MAIL (mailed 1 byte)", ""},
    {__LINE__, "Dec 31 18:37:01 h CRON[123]: (root) CMD (x", ""},
    {__LINE__, "Dex 31 18:37:01 h CRON[123]: (root) CMD (x)", ""},
    {__LINE__, "Dec 41 18:37:01 h CRON[123]: (root) CMD (x)", ""},
    {__LINE__, "2026-11-19T18:37:01+ h CRON[123]: (root) CMD (x)", ""},
    {__LINE__, "CRON[1]: (root) CMD (x)", ""},
    {__LINE__, "sshd[1]: (root) CMD (x)", ""},
    {__LINE__, "", ""},
};

static void a_line_is_a_start(void **state)
{
    bool failed = false;
    (void)state;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct cron_log log;
        struct strbuf got;
        strbuf_init(&got);
        cron_log_init(&log);
        assert_int_equal(
            cron_log_read(lines[i].text, strlen(lines[i].text), zone_utc(), now_s, &log), OK);
        if (log.count) {
            timestamp_print_utc(log.starts[0].at_s, &got);
            strbuf_addf(&got, " %s %s", log.starts[0].user, log.starts[0].command);
        }
        if (strcmp(got.text, lines[i].want) != 0) {
            print_error("line %d: got \"%s\"\nwanted \"%s\"\n", lines[i].line, got.text,
                        lines[i].want);
            failed = true;
        }
        strbuf_release(&got);
        cron_log_release(&log);
    }
    assert_false(failed);
}

/* A crontab of root's, its log from 03:00 to 04:00, and what the report says of its first job. */
static const struct {
    int line;
    const char *crontab, *log, *want;
} reports[] = {
    {__LINE__, "*/20 * * * * a", "03:00:01 a,03:20:01 a,03:40:02 a,04:00:01 a", "4 0 0"},
    {__LINE__, "*/20 * * * * a", "03:00:01 a,03:20:01 a,04:00:01 a", "3 0 1 peal 03:40:00 silent"},
    {__LINE__, "*/20 * * * * a", "03:00:01 a,03:20:01 a,03:40:30 b,04:00:01 a",
     "3 0 1 peal 03:40:00 others"},
    {__LINE__, "*/20 * * * * a", "03:00:01 a,03:20:01 a,03:33:00 a,03:40:01 a,04:00:01 a",
     "4 1 0 cron 03:33:00 no_tick"},
    {__LINE__, "*/20 * * * * a", "03:00:01 a,03:00:02 a,03:20:01 a,03:40:01 a,04:00:01 a",
     "4 1 0 cron 03:00:02 no_tick"},
    {__LINE__, "0 4 * * * a%x\\%", "03:00:00 b,04:00:01 a", "1 0 0"},
    {__LINE__, "RANDOM_DELAY=10\n0,30 * * * * a", "03:00:00 b,03:07:01 a,03:39:59 a,04:08:00 a",
     "3 0 0"},
    {__LINE__, "@reboot a", "03:00:00 b,03:12:00 a", "0 1 0 cron 03:12:00 reboot"},
    {__LINE__, "SHELL=/bin/zsh\n0 4 * * * a", "03:00:00 b,04:00:01 a", "1 0 0"},
};

static struct job *import_line(struct crontab *crontab, const char *text)
{
    const struct crontab_options options = {.system = true, .default_tz = "UTC"};
    struct parse_error err = {0};
    crontab_init(crontab);
    assert_int_equal(crontab_import(text, strlen(text), &options, zones, crontab, &err), OK);
    assert_int_equal(crontab->jobs.count, 1);
    return crontab->jobs.items[0];
}

static void a_job_is_a_line(void **state)
{
    static const struct {
        int line;
        const char *job, *of;
        bool want;
    } rows[] = {
        {__LINE__, "1 * * * * root a b", "1 * * * * root a b", true},
        {__LINE__, "1 * * * * root a b", "X=1\n1 * * * * root a b", true},
        {__LINE__, "SHELL=/bin/zsh\n1 * * * * root a", "SHELL=/usr/bin/zsh\n1 * * * * root a",
         true},
        {__LINE__, "SHELL=/bin/zsh\n1 * * * * root a", "SHELL=/bin/zsh\n1 * * * * root b", false},
        {__LINE__, "SHELL=/bin/zsh\n1 * * * * root a", "1 * * * * root a", false},
        {__LINE__, "1 * * * * root a b", "1 * * * * root a", false},
        {__LINE__, "1 * * * * root a b", "1 * * * * www a b", false},
        {__LINE__, "1 * * * * root a b", "2 * * * * root a b", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct crontab job, line;
        bool got = shadow_is_line(import_line(&job, rows[i].job), import_line(&line, rows[i].of));
        if (got != rows[i].want)
            fail_msg("line %d: %s", rows[i].line, got ? "it is" : "it is not");
        crontab_release(&job);
        crontab_release(&line);
    }
}

static void read_starts(const char *text, struct cron_log *log)
{
    struct strbuf lines_of_log;
    strbuf_init(&lines_of_log);
    while (*text) {
        size_t length = strcspn(text, ",");
        strbuf_addf(&lines_of_log, "2026-12-01T%.8s+0000 h CRON[1]: (root) CMD (%.*s)\n", text,
                    (int)length - 9, text + 9);
        text += length + (text[length] == ',');
    }
    assert_int_equal(cron_log_read(lines_of_log.text, lines_of_log.length, zone_utc(), now_s, log),
                     OK);
    cron_log_sort(log);
    strbuf_release(&lines_of_log);
}

static void show_report(const char *text, const char *starts, struct strbuf *got)
{
    static const char *const whys[] = {"no_tick", "reboot", "silent", "others", "clock"};
    const struct crontab_options options = {.user = "root", .default_tz = "UTC"};
    struct crontab crontab;
    struct cron_log log;
    struct schedule_set schedules;
    struct shadow_report report;
    crontab_init(&crontab);
    cron_log_init(&log);
    schedule_set_init(&schedules);
    assert_int_equal(crontab_import(text, strlen(text), &options, zones, &crontab, NULL), OK);
    assert_int_equal(crontab.jobs.count, 1);
    read_starts(starts, &log);
    const struct job *job = crontab.jobs.items[0];
    assert_int_equal(job_schedules(job, zones, &schedules, NULL), OK);
    shadow_compare(job, &schedules, &log, NULL, log.first_s - log.first_s % 60, log.last_s,
                   &report);
    strbuf_addf(got, "%zu %zu %zu", report.equal, report.only_cron, report.only_peal);
    for (size_t i = 0; i < report.count; i++) {
        struct strbuf at;
        strbuf_init(&at);
        timestamp_print_utc(report.items[i].at_s, &at);
        strbuf_addf(got, " %s %.8s %s", report.items[i].is_cron ? "cron" : "peal", at.text + 11,
                    whys[report.items[i].why]);
        strbuf_release(&at);
    }
    schedule_set_release(&schedules);
    cron_log_release(&log);
    crontab_release(&crontab);
}

static void ticks_are_compared(void **state)
{
    bool failed = false;
    (void)state;
    for (size_t i = 0; i < sizeof(reports) / sizeof(reports[0]); i++) {
        struct strbuf got;
        strbuf_init(&got);
        show_report(reports[i].crontab, reports[i].log, &got);
        if (strcmp(got.text, reports[i].want) != 0) {
            print_error("line %d: got \"%s\"\nwanted \"%s\"\n", reports[i].line, got.text,
                        reports[i].want);
            failed = true;
        }
        strbuf_release(&got);
    }
    assert_false(failed);
}

/* Any text is a log. */
static void any_text_is_read(void **state)
{
    enum { ROUNDS = 5000 };
    struct random random = random_new(random_seed());
    (void)state;
    print_message("PEAL_SEED=%llu\n", (unsigned long long)random.state);
    for (int i = 0; i < ROUNDS * random_rounds(); i++) {
        const char *text = lines[random_between(&random, 0, 7)].text;
        size_t length = strlen(text);
        char *copy = malloc(length); /* not terminated */
        for (size_t k = 0; k < length; k++)
            copy[k] = text[k];
        for (int k = random_between(&random, 1, 5); k > 0; k--)
            copy[random_between(&random, 0, (int)length - 1)] =
                (char)random_between(&random, 0, 255);
        struct cron_log log;
        cron_log_init(&log);
        assert_int_equal(cron_log_read(copy, (size_t)random_between(&random, 0, (int)length),
                                       zone_utc(), now_s, &log),
                         OK);
        cron_log_release(&log);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_a_start),
        cmocka_unit_test(a_job_is_a_line),
        cmocka_unit_test(ticks_are_compared),
        cmocka_unit_test(any_text_is_read),
    };
    return cmocka_run_group_tests(tests, open_zones, close_zones);
}
