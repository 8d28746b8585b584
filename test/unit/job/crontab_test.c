#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "crontab/crontab.h"
#include "export/crontab_export.h"

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

/* What every imported job has, because cron does it so. */
#define AS_CRON ",\"overlap\":\"allow\",\"catch_up\":\"skip\"}\n"

static const struct {
    int line;
    bool system;
    const char *text;
    const char *want; /* jobs as JSON and notes, a line each */
} imports[] = {
    {__LINE__, false, "", ""},
    {__LINE__, false, "# only\n   # comments\n\n \t\n", ""},
    {__LINE__, false, "*/5 * * * * /opt/backup.sh --full\n",
     "{\"name\":\"backup\",\"schedule\":\"*/5 * * * *\",\"timezone\":\"UTC\","
     "\"shell\":\"/opt/backup.sh --full\"" AS_CRON},
    {__LINE__, false, "  @daily\tx  \r\n-0 0 1-7 * */7 x",
     "{\"name\":\"x\",\"schedule\":\"@daily\",\"timezone\":\"UTC\",\"shell\":\"x  \"" AS_CRON
     "{\"name\":\"x-2\",\"schedule\":\"0 0 1-7 * */7\",\"timezone\":\"UTC\","
     "\"shell\":\"x\"" AS_CRON},
    {__LINE__, true, "17 *\t* * *\troot    cd / && run-parts /etc/cron.hourly\n@reboot www up\n",
     "{\"name\":\"run-parts\",\"schedule\":\"17 *\\t* * *\",\"timezone\":\"UTC\","
     "\"shell\":\"cd / && run-parts /etc/cron.hourly\",\"user\":\"root\"" AS_CRON
     "{\"name\":\"up\",\"schedule\":\"@reboot\",\"timezone\":\"UTC\",\"shell\":\"up\","
     "\"user\":\"www\"" AS_CRON},
    /* Variables: blanks, quotes, and from which line on they count. */
    {__LINE__, false, "0 0 * * * a\nA=1\n B = \" x \"\n'C'='it''s'\nD=\"x'\nA=2\n0 0 * * * b\n",
     "{\"name\":\"a\",\"schedule\":\"0 0 * * *\",\"timezone\":\"UTC\",\"shell\":\"a\"" AS_CRON
     "{\"name\":\"b\",\"schedule\":\"0 0 * * *\",\"timezone\":\"UTC\",\"shell\":\"b\",\"env\":{"
     "\"A\":\"2\",\"B\":\" x \",\"C\":\"it''s\",\"D\":\"\\\"x'\"}" AS_CRON},
    {__LINE__, false, "HOME=/srv\nSHELL=/bin/zsh\nRANDOM_DELAY=5\n0 0 * * * a b\n",
     "{\"name\":\"a\",\"schedule\":\"0 0 * * "
     "*\",\"timezone\":\"UTC\",\"jitter\":\"5m\",\"command\":"
     "[\"/bin/zsh\",\"-c\",\"a b\"],\"cwd\":\"/srv\",\"env\":{\"HOME\":\"/srv\"}" AS_CRON},
    {__LINE__, false, "CRON_TZ=Asia/Tokyo\n0 0 * * * a\nTZ=Europe/Paris\n0 0 * * * b\n",
     "{\"name\":\"a\",\"schedule\":\"0 0 * * "
     "*\",\"timezone\":\"Asia/Tokyo\",\"shell\":\"a\"" AS_CRON
     "{\"name\":\"b\",\"schedule\":\"0 0 * * *\",\"timezone\":\"Europe/Paris\",\"shell\":\"b\","
     "\"env\":{\"TZ\":\"Europe/Paris\"}" AS_CRON},
    {__LINE__, false, "MAILTO=ops\nMAILTO=\"\"\nLOGNAME=x\nRANDOM_DELAY=x\nCRON_TZ=Mars/X\n",
     "1:0 warning MAILTO=ops: output is kept with each run, not mailed\n"
     "3:0 info LOGNAME can't be changed, here as in cron\n"
     "4:0 error RANDOM_DELAY: \"x\" is not 0 to 1440 minutes\n"
     "5:0 error CRON_TZ: unknown time zone \"Mars/X\"; the lines below keep the zone before it\n"},
    /* Percent signs */
    {__LINE__, false, "0 9 * * 1 mail -s 5\\% me%Dear me,%%100\\%\n",
     "{\"name\":\"mail\",\"schedule\":\"0 9 * * 1\",\"timezone\":\"UTC\",\"shell\":"
     "\"mail -s 5% me\",\"stdin\":\"Dear me,\\n\\n100%\\n\"" AS_CRON},
    {__LINE__, false, "0 0 * * * a%\n0 0 * * * b%x%\n0 0 * * * c\\d\n",
     "{\"name\":\"a\",\"schedule\":\"0 0 * * *\",\"timezone\":\"UTC\",\"shell\":\"a\","
     "\"stdin\":\"\"" AS_CRON
     "{\"name\":\"b\",\"schedule\":\"0 0 * * *\",\"timezone\":\"UTC\",\"shell\":\"b\","
     "\"stdin\":\"x\\n\"" AS_CRON
     "{\"name\":\"c-d\",\"schedule\":\"0 0 * * *\",\"timezone\":\"UTC\","
     "\"shell\":\"c\\\\d\"" AS_CRON},
    /* Lines that can't be read do not stop the others. */
    {__LINE__, false,
     "60 * * * * a\n  0 0 * * MONX a\n* * *\n0 0 * * *\n@daily\n@nope a\n\"\"=x\n0 0 * * * ok\n",
     "{\"name\":\"ok\",\"schedule\":\"0 0 * * *\",\"timezone\":\"UTC\",\"shell\":\"ok\"" AS_CRON
     "1:1 error minute 60 is out of range 0-59\n"
     "2:11 error unknown weekday \"MONX\"; did you mean MON?\n"
     "3:6 error expected five fields of time and a command\n"
     "4:10 error expected a command after the time\n"
     "5:7 error expected a command after the time\n"
     "6:1 error unknown macro; @hourly, @daily, @weekly, @monthly, @yearly, @every 90s and others "
     "are known\n"
     "7:1 error the name of a variable is missing before '='\n"},
    {__LINE__, true, "0 0 * * *\n0 0 * * * root\n0 0 * * * a:b c\n",
     "1:10 error expected a user and a command after the time\n"
     "2:15 error expected a command after the user; is this a user's crontab?\n"
     "3:0 error user: \"a:b\" is not the name of a user\n"},
    {__LINE__, false, "0 0 * * * %x\n", "1:0 error shell: is empty\n"},
    {__LINE__, false, "0 \r~\r0 9 * * 1 x\n",
     "1:3 error a control character; only blanks and tabs separate the fields\n"},
};

/* MAILTO with the agreement of the user. */
static void mail_becomes_a_channel(void **state)
{
    (void)state;
    static const char text[] = "0 0 * * * before\nMAILTO=ops@a.example\n0 0 * * * first\n"
                               "MAILTO=\"\"\n0 0 * * * silent\nMAILTO=dev@a.example\n"
                               "0 0 * * * other\nMAILTO=ops@a.example\n0 0 * * * again\n";
    static const struct {
        const char *name;
        const char *channel; /* "": nobody; NULL: as usual */
    } wanted[] = {
        {"before", NULL}, {"first", "ops"}, {"silent", ""}, {"other", NULL}, {"again", "ops"},
    };
    struct crontab_options options = {.mail_channel = "ops"};
    struct crontab crontab;
    struct parse_error err;
    assert_int_equal(crontab_import(text, strlen(text), &options, zones, &crontab, &err), OK);
    assert_int_equal(crontab.jobs.count, 5);
    for (size_t i = 0; i < 5; i++) {
        char **to = crontab.jobs.items[i]->notify.to;
        const char *got = !to ? NULL : !to[0] ? "" : to[0];
        assert_string_equal(crontab.jobs.items[i]->name, wanted[i].name);
        assert_string_equal(got ? got : "-", wanted[i].channel ? wanted[i].channel : "-");
    }
    assert_int_equal(crontab.note_count, 2);
    assert_int_equal(crontab.notes[0].severity, CRONTAB_INFO);
    assert_non_null(strstr(crontab.notes[0].text, "peal channel set ops --type mail"));
    assert_int_equal(crontab.notes[1].severity, CRONTAB_WARNING);
    crontab_release(&crontab);
}

static void imports_crontabs(void **state)
{
    (void)state;
    int failed = 0;
    for (size_t i = 0; i < sizeof(imports) / sizeof(imports[0]); i++) {
        struct crontab crontab;
        struct parse_error err;
        struct crontab_options options = {.system = imports[i].system};
        struct strbuf got;
        strbuf_init(&got);
        assert_int_equal(crontab_import(imports[i].text, strlen(imports[i].text), &options, zones,
                                        &crontab, &err),
                         OK);
        for (size_t k = 0; k < crontab.jobs.count; k++) {
            char *text = job_encode_text(crontab.jobs.items[k]);
            strbuf_addf(&got, "%s\n", text);
            free(text);
        }
        for (size_t k = 0; k < crontab.note_count; k++)
            strbuf_addf(&got, "%d:%d %s %s\n", crontab.notes[k].line, crontab.notes[k].column,
                        crontab_severity_name(crontab.notes[k].severity), crontab.notes[k].text);
        if (strcmp(got.text, imports[i].want) != 0) {
            print_error("line %d:\ngot  %swant %s", imports[i].line, got.text, imports[i].want);
            failed++;
        }
        strbuf_release(&got);
        crontab_release(&crontab);
    }
    assert_int_equal(failed, 0);
}

static const struct {
    int line;
    const char *command, *want;
} names[] = {
    {__LINE__, "backup.sh", "backup"},
    {__LINE__, "/opt/x/backup.sh --full", "backup"},
    {__LINE__, "cd /srv && ./report.py >/dev/null 2>&1", "report"},
    {__LINE__, "test -x /usr/sbin/anacron || run-parts /etc/cron.daily", "run-parts"},
    {__LINE__, "[ -x /usr/bin/certbot ] && certbot renew", "certbot"},
    {__LINE__, "A=1 B=2 job", "job"},
    {__LINE__, "sudo -u www php /srv/cron.php", "cron"},
    {__LINE__, "nice -n 10 /usr/bin/updatedb", "updatedb"},
    {__LINE__, "/usr/bin/python3 -u /srv/etl/load.py", "load"},
    {__LINE__, "bash -c 'date > /tmp/x'", "date"},
    {__LINE__, "(cd /x; make)", "make"},
    {__LINE__, "_under", "under"},
    {__LINE__, "été", "t--"},
    {__LINE__, "sleep 5", "sleep"},
    {__LINE__, "", "job"},
    {__LINE__, "'", "job"},
};

static void names_jobs_by_their_command(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct strbuf got;
        strbuf_init(&got);
        crontab_job_name(names[i].command, &got);
        if (strcmp(got.text, names[i].want) != 0)
            fail_msg("line %d: got %s, want %s", names[i].line, got.text, names[i].want);
        strbuf_release(&got);
    }
}

#define HEAD                                                                                       \
    "# Written by peal. cron starts a job also while its last run is under way,\n"                 \
    "# and never makes good what it missed. CRON_TZ needs cronie.\n"                               \
    "SHELL=/bin/bash\n\n"

static const struct {
    int line;
    bool system;
    const char *file, *want;
} exports[] = {
    {__LINE__, false, "{name: a, schedule: '@hourly', command: [echo, \"it's\", a%b, '']}",
     HEAD "# a\nCRON_TZ=UTC\n0 * * * * echo 'it'\\''s' 'a\\%b' ''\n"},
    {__LINE__, true, "{name: a, schedule: '@reboot', shell: x, user: www}",
     HEAD "# a\n@reboot www x\n"},
    {__LINE__, false,
     "[{name: a, schedule: 0 3 * * *, shell: x, timezone: Asia/Tokyo, timeout: 90s,"
     " overlap: queue, user: me},"
     " {name: b, schedules: [H 3 * * *, 0 4 L * *, '*/5 * * * * *', '@every 5m'], shell: x,"
     " timezone: Asia/Tokyo}]",
     HEAD "# a\n# not in cron: overlap: queue\n# not in cron: timeout: 1m30s\n"
          "# not in a user's crontab: user me\nCRON_TZ=Asia/Tokyo\n0 3 * * * x\n\n"
          "# b\n1 3 * * * x\n# left out: cron has no L, W, # and +\n# 0 4 L * * x\n"
          "# left out: cron has neither seconds nor years\n# */5 * * * * * x\n"
          "# left out: cron has no fixed rate\n# @every 5m x\n"},
    {__LINE__, false,
     "{name: a, schedule: 0 3 * * *, shell: \"a | b\\n\", cwd: /a b, umask: '027', nice: 5,"
     " env: {A: b c}, stdin: \"x\\n50%\\n\"}",
     HEAD "# a\nCRON_TZ=UTC\n0 3 * * * export A='b c'; umask 027; cd '/a b' && nice -n 5 "
          "bash -c 'a | b'%x%50\\%\n"},
    {__LINE__, false, "{name: a, schedule: 0 3 * * *, shell: \"a\\nb\\n\"}",
     HEAD "# a\n# left out: its script has several lines; put it into a file\n"
          "# 0 3 * * * a\n"},
    {__LINE__, false, "{name: a, schedule: 0 3 * * *, steps: [{name: b, shell: x}]}",
     HEAD "# a\n# left out: it is a workflow\n# 0 3 * * * \n"},
    {__LINE__, true, "{name: a, schedule: 0 3 * * *, shell: a}",
     HEAD "# a\n# left out: it names no user\n# 0 3 * * * - a\n"},
    {__LINE__, false, "{name: a, schedule: 0 3 * * *, shell: \" \\n\"}",
     HEAD "# a\n# left out: its script is empty\n# 0 3 * * *  \n"},
    {__LINE__, false, "{name: a, schedule: 0 3 * * *, shell: a, paused: true}",
     HEAD "# a\n# left out: it is paused\n# 0 3 * * * a\n"},
    {__LINE__, false, "{name: a, after: [b, c], shell: a, timeout: 5m}",
     HEAD "# a\n# not in cron: timeout: 5m\n# left out: cron can't wait for b, c\n"},
};

static void exports_crontabs(void **state)
{
    (void)state;
    int failed = 0;
    for (size_t i = 0; i < sizeof(exports) / sizeof(exports[0]); i++) {
        struct job_list jobs;
        struct job_error err = {0};
        struct strbuf got;
        strbuf_init(&got);
        if (jobs_decode_text(exports[i].file, strlen(exports[i].file), "UTC", zones, &jobs, &err))
            fail_msg("line %d: %s", exports[i].line, err.message);
        assert_int_equal(crontab_export(jobs.items, jobs.count, exports[i].system, zones, &got),
                         OK);
        if (strcmp(got.text, exports[i].want) != 0) {
            print_error("line %d:\ngot  %swant %s", exports[i].line, got.text, exports[i].want);
            failed++;
        }
        strbuf_release(&got);
        job_list_release(&jobs);
    }
    assert_int_equal(failed, 0);
}

static void refuses_what_is_no_crontab(void **state)
{
    (void)state;
    struct crontab crontab;
    struct parse_error err;
    struct crontab_options options = {0};
    assert_int_equal(crontab_import("a\n\xff", 3, &options, zones, &crontab, &err), E_INVALID);
    assert_int_equal(err.line, 2);
    assert_int_equal(crontab_import("a\0b", 3, &options, zones, &crontab, &err), E_INVALID);
    char *large = calloc(1, 1024 * 1024 + 1);
    assert_int_equal(crontab_import(large, 1024 * 1024 + 1, &options, zones, &crontab, &err),
                     E_TOO_LARGE);
    free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(imports_crontabs),
        cmocka_unit_test(mail_becomes_a_channel),
        cmocka_unit_test(names_jobs_by_their_command),
        cmocka_unit_test(exports_crontabs),
        cmocka_unit_test(refuses_what_is_no_crontab),
    };
    return cmocka_run_group_tests(tests, open_zones, close_zones);
}
