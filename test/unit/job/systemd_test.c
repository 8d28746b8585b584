/* Timers of systemd as jobs, jobs as timers, and both in a row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "random_cron.h"
#include "systemd/systemd.h"

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

static enum status import(const char *text, struct foreign *ret, struct parse_error *err)
{
    const struct systemd_file file = {"units", text, strlen(text)};
    const struct systemd_options options = {.foreign = {.default_tz = "Europe/Berlin"}};
    return systemd_import(&file, 1, &options, zones, ret, err);
}

/* The jobs as JSON and the notes, a line each; or what is wrong with the files. */
static void show_import(const char *text, struct strbuf *got)
{
    struct foreign foreign;
    struct parse_error err = {0};
    foreign_init(&foreign);
    enum status st = import(text, &foreign, &err);
    if (st != OK)
        strbuf_addf(got, "%s\n", err.message);
    for (size_t i = 0; i < foreign.jobs.count && st == OK; i++) {
        char *job = job_encode_definition(foreign.jobs.items[i]);
        strbuf_addf(got, "%s\n", job);
        free(job);
    }
    for (size_t i = 0; i < foreign.note_count && st == OK; i++) {
        const struct foreign_note *note = &foreign.notes[i];
        strbuf_addf(got, "%d %s %s %s\n", note->line, foreign_severity_name(note->severity),
                    note->name, note->text);
    }
    if (st == OK && foreign.lost)
        strbuf_addf(got, "lost %zu\n", foreign.lost);
    foreign_release(&foreign);
}

#define TIMER(lines)   "# /etc/systemd/system/a.timer\n[Timer]\n" lines
#define SERVICE(lines) "# /etc/systemd/system/a.service\n[Service]\n" lines
#define RUNS           SERVICE("ExecStart=/bin/true\n")
#define DAILY          TIMER("OnCalendar=daily\nPersistent=true\n")
#define JOB(when)      "{\"name\":\"a\"," when ",\"timezone\":\"Europe/Berlin\","
#define A_DAY          JOB("\"schedule\":\"0 0 * * *\"")
#define TRUE           "\"command\":[\"/bin/true\"],\"cwd\":\"/\""

static const struct {
    int line;
    const char *text, *want;
} imports[] = {
    {__LINE__, DAILY RUNS, A_DAY TRUE "}\n"},
    {__LINE__, TIMER("OnCalendar=daily\n") RUNS, A_DAY TRUE ",\"catch_up\":\"skip\"}\n"},
    /* several times, zones, resets, a gap of the clock */
    {__LINE__,
     TIMER("OnCalendar=Mon 3:00\nOnCalendar=\nOnCalendar=*:0/15 UTC\nOnCalendar=12:00 UTC\n") RUNS,
     "{\"name\":\"a\",\"schedules\":[\"0-45/15 * * * *\",\"0 12 * * *\"],\"timezone\":\"UTC\"," TRUE
     ",\"catch_up\":\"skip\"}\n"},
    {__LINE__, TIMER("Persistent=yes\nOnCalendar=8:00 Asia/Tokyo\nOnCalendar=9:00\n") RUNS,
     "{\"name\":\"a\",\"schedules\":[\"CRON_TZ=Asia/Tokyo 0 8 * * *\",\"CRON_TZ=Europe/Berlin 0 9 "
     "* "
     "* *\"]," TRUE "}\n"},
    {__LINE__, TIMER("Persistent=1\nOnCalendar=2:30\n") RUNS,
     JOB("\"schedule\":\"30 2 * * *\"") "\"dst\":\"skip\"," TRUE "}\n"},
    /* monotonic times */
    {__LINE__, TIMER("OnBootSec=15min\nOnUnitActiveSec=1d\n") RUNS,
     "{\"name\":\"a\",\"schedule\":\"@every 1d\",\"timezone\":\"Europe/Berlin\"," TRUE
     ",\"catch_up\":\"skip\"}\n"
     "3 warning a.timer OnBootSec=15min is left out: the job repeats anyway, at times that do not "
     "depend on the boot\n"
     "4 info a.timer OnUnitActiveSec=1d is counted from 1970, the same on all nodes, and not from "
     "the last start\n"},
    {__LINE__, TIMER("OnUnitInactiveSec=1h 30min\n") RUNS,
     "{\"name\":\"a\",\"schedule\":\"@after 1h30m\",\"timezone\":\"Europe/Berlin\"," TRUE
     ",\"catch_up\":\"skip\"}\n"},
    {__LINE__, TIMER("OnBootSec=5min\n") RUNS,
     "{\"name\":\"a\",\"schedule\":\"@reboot\",\"timezone\":\"Europe/Berlin\"," TRUE
     ",\"catch_up\":\"skip\"}\n"
     "3 warning a.timer OnBootSec=5min: the job runs as soon as the node's agent has started after "
     "a "
     "boot, without that delay\n"},
    {__LINE__, TIMER("OnActiveSec=5min\n") RUNS,
     "3 warning a.timer OnActiveSec=5min is left out: a job has no time after its activation\n"
     "3 error a.timer it has no time at which a job could run\n"
     "lost 1\n"},
    /* delays, and what a timer has beside */
    {__LINE__,
     TIMER("OnCalendar=daily\nPersistent=true\nRandomizedDelaySec=2h\nWakeSystem=true\n"
           "AccuracySec=1us\nRemainAfterElapse=no\nColour=blue\n") RUNS,
     JOB("\"schedule\":\"0 0 * * *\"") "\"jitter\":\"2h\"," TRUE "}\n"
                                       "5 info a.timer RandomizedDelaySec: systemd draws the delay "
                                       "anew each time, a jitter stays the "
                                       "same for the job\n"
                                       "6 warning a.timer WakeSystem=true is not converted\n"
                                       "9 warning a.timer Colour=blue is not converted\n"},
    {__LINE__,
     TIMER("OnCalendar=daily\nPersistent=true\nRandomizedDelaySec=2d\n"
           "FixedRandomDelay=true\n") RUNS,
     JOB("\"schedule\":\"0 0 * * *\"") "\"jitter\":\"1d\"," TRUE "}\n"
                                       "5 warning a.timer RandomizedDelaySec=2d: a jitter is a day "
                                       "at most\n"},
    /* commands: words, escapes, specifiers, variables, several of them */
    {__LINE__, DAILY SERVICE("ExecStart=/bin/echo a 'b c' \"d\\te\" \\x41 100%% %n \\; $$5\n"),
     A_DAY "\"command\":[\"/bin/echo\",\"a\",\"b c\",\"d\\te\",\"A\",\"100%\",\"a.service\",\";\","
           "\"$5\"],\"cwd\":\"/\"}\n"},
    {__LINE__, DAILY SERVICE("Environment=\"A=b c\" D=e\nExecStart=/bin/echo ${A}x $D 'it''s'\n"),
     A_DAY
     "\"shell\":\"set -f\\n/bin/echo \\\"${A}\\\"x $D its\\n\",\"cwd\":\"/\",\"env\":{\"A\":\"b "
     "c\",\"D\":\"e\"}}\n"},
    {__LINE__, DAILY SERVICE("ExecStart=:/bin/echo ${A} $B\n"),
     A_DAY "\"command\":[\"/bin/echo\",\"${A}\",\"$B\"],\"cwd\":\"/\"}\n"},
    {__LINE__,
     DAILY SERVICE("Type=oneshot\nExecStartPre=-/bin/mkdir /x\nExecStart=/bin/a ; /bin/b 1 \\\n 2\n"
                   "ExecStart=/bin/c\n"),
     A_DAY "\"shell\":\"set -e\\n/bin/mkdir /x || :\\n/bin/a\\n/bin/b 1 "
           "2\\n/bin/c\\n\",\"cwd\":\"/\"}\n"},
    {__LINE__, DAILY SERVICE("User=u\nExecStart=@+/bin/a b c\n"),
     A_DAY "\"command\":[\"/bin/a\",\"c\"],\"cwd\":\"/\",\"user\":\"u\"}\n"
           "8 warning a.timer '+' and '!' are left out: it runs as the user of the job\n"
           "8 warning a.timer the name of the process after '@' is left out\n"},
    {__LINE__, DAILY SERVICE("ExecStart=/bin/a \"b\n"),
     "7 error a.timer ExecStart: the quote that starts here has no end (at column 8 of the text)\n"
     "lost 1\n"},
    {__LINE__, DAILY SERVICE("ExecStart=/bin/a %H\n"),
     "7 error a.timer ExecStart: what %H stands for is not known here: write it out (at column 8 "
     "of "
     "the text)\nlost 1\n"},
    {__LINE__, DAILY SERVICE("User=u\n"), "3 error a.timer a.service has no ExecStart=\nlost 1\n"},
    /* how it runs */
    {__LINE__,
     DAILY SERVICE("Type=oneshot\nExecStart=/bin/true\nWorkingDirectory=/srv\nNice=5\nUMask=0027\n"
                   "TimeoutStartSec=10min\nTimeoutStopSec=45\nLimitNOFILE=1024:2048\nLimitAS=1G\n"
                   "LimitCPU=30s\nSuccessExitStatus=3 SIGKILL\n[Unit]\nDescription=Do it\n"),
     A_DAY "\"command\":[\"/bin/true\"],\"cwd\":\"/srv\",\"umask\":\"027\",\"nice\":5,\"limits\":{"
           "\"open_files\":1024,\"memory\":\"1GiB\",\"cpu_time\":\"30s\"},\"timeout\":\"10m\","
           "\"grace\":\"45s\",\"expect\":{\"exit\":[\"0\",\"3\"]},\"notes\":\"Do it\"}\n"
           "17 warning a.timer SuccessExitStatus=SIGKILL is not converted\n"},
    {__LINE__,
     DAILY SERVICE("ExecStart=/bin/true\nRuntimeMaxSec=90\nEnvironmentFile=-/etc/default/a\n"
                   "StandardOutput=append:/var/log/a\nRestart=on-failure\nType=forking\n"
                   "RemainAfterExit=yes\nExecStopPost=/bin/x\nPrivateTmp=yes\n[Unit]\n"
                   "ConditionACPower=true\nAfter=network.target\n"),
     A_DAY TRUE
     ",\"timeout\":\"1m30s\"}\n"
     "9 warning a.timer EnvironmentFile=-/etc/default/a is not read: give the job its variables as "
     "env, or as secrets\n"
     "10 warning a.timer StandardOutput=append:/var/log/a: output is kept with each run instead\n"
     "11 warning a.timer Restart=on-failure is not converted: set the job's retries\n"
     "12 warning a.timer Type=forking: a run ends with its first process, and what that leaves "
     "behind is killed; start the program in the foreground\n"
     "13 warning a.timer RemainAfterExit=yes: systemd runs it once only, peal at every tick\n"
     "14 warning a.timer ExecStopPost= is not converted: make it part of the command\n"
     "15 warning a.timer PrivateTmp=yes is not converted\n"
     "17 warning a.timer ConditionACPower=true is not converted\n"},
    /* units: drop-ins, templates, other services, lines that are none */
    {__LINE__,
     DAILY RUNS "# /etc/systemd/system/a.timer.d/local.conf\n[Timer]\nOnCalendar=\nOnCalendar=3:00 "
                "UTC\n",
     "{\"name\":\"a\",\"schedule\":\"0 3 * * *\",\"timezone\":\"UTC\"," TRUE "}\n"},
    {__LINE__,
     "# /x/b@home.timer\n[Timer]\nOnCalendar=daily\nPersistent=on\n# /x/b@.service\n[Service]\n"
     "ExecStart=/bin/b %i\n",
     "{\"name\":\"b-home\",\"schedule\":\"0 0 * * *\",\"timezone\":\"Europe/Berlin\","
     "\"command\":[\"/bin/b\",\"home\"],\"cwd\":\"/\"}\n"
     "3 info b@home.timer the job is named \"b-home\"\n"},
    {__LINE__, TIMER("OnCalendar=daily\nUnit=other.service\n") RUNS,
     "4 error a.timer its service other.service is not among the files\nlost 1\n"},
    {__LINE__, DAILY "nonsense\n" RUNS,
     A_DAY TRUE "}\n5 warning  the line is left out: expected NAME=value\n"},
    /* what can't be read */
    {__LINE__, TIMER("OnCalendar=25:00\n") RUNS,
     "3 error a.timer OnCalendar: hour 25 is out of range 0-23 (at column 1 of the text)\nlost "
     "1\n"},
    {__LINE__, TIMER("OnUnitActiveSec=1 x\n") RUNS,
     "3 error a.timer OnUnitActiveSec: unknown unit \"x\"; known: us, ms, s, min, h, d, w, month, "
     "y "
     "(at column 3 of the text)\nlost 1\n"},
    {__LINE__, TIMER("OnUnitActiveSec=1ms\nOnUnitActiveSec=0\n") RUNS,
     "3 info a.timer OnUnitActiveSec=1ms is counted from 1970, the same on all nodes, and not from "
     "the last start\n"
     "4 error a.timer an interval is 1s or more\nlost 1\n"},
    {__LINE__, DAILY SERVICE("ExecStart=/bin/true\nUMask=x\n"),
     "7 error a.timer umask: \"x\" is not an octal number like \"022\"\nlost 1\n"},
    {__LINE__, RUNS, "no timer is among the files\n"},
    {__LINE__, "hello\n",
     "expected units of systemd: *.timer and *.service files, or what `systemctl cat` prints\n"},
};

static void a_timer_becomes_a_job(void **state)
{
    bool failed = false;
    (void)state;
    for (size_t i = 0; i < sizeof(imports) / sizeof(imports[0]); i++) {
        struct strbuf got;
        strbuf_init(&got);
        show_import(imports[i].text, &got);
        if (strcmp(got.text, imports[i].want) != 0) {
            print_error("line %d: got\n%swanted\n%s", imports[i].line, got.text, imports[i].want);
            failed = true;
        }
        strbuf_release(&got);
    }
    assert_false(failed);
}

/* ---- jobs as timers ---- */

static const int64_t from_s = 1798761600; /* 2027 */

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

/* The times of the timer and the settings of the service; or why there are none. */
static const struct {
    int line;
    const char *job, *want;
} exports[] = {
    {__LINE__, "name: a\nschedule: 30 8-18/2 * * MON-FRI\ncommand: [x]",
     "OnCalendar=Mon,Tue,Wed,Thu,Fri *-*-* 08,10,12,14,16,18:30:00 UTC\n"},
    {__LINE__, "name: a\nschedule: 0 0 13 * 5\ncommand: [x]",
     "OnCalendar=*-*-13 00:00:00 UTC\nOnCalendar=Fri *-*-* 00:00:00 UTC\n"},
    {__LINE__, "name: a\nschedule: 0 0 13 * +5\ncommand: [x]",
     "OnCalendar=Fri *-*-13 00:00:00 UTC\n"},
    {__LINE__, "name: a\nschedule: 0 0 L,L-3 2 *\ncommand: [x]",
     "OnCalendar=*-02~01,04 00:00:00 UTC\n"},
    {__LINE__, "name: a\nschedule: 0 0 LW * *\ncommand: [x]",
     "OnCalendar=Mon,Tue,Wed,Thu,Fri *-*~01 00:00:00 UTC\nOnCalendar=Fri *-*~02 00:00:00 UTC\n"
     "OnCalendar=Fri *-*~03 00:00:00 UTC\n"},
    {__LINE__, "name: a\nschedule: 0 0 1W * *\ncommand: [x]",
     "OnCalendar=Mon,Tue,Wed,Thu,Fri *-*-01 00:00:00 UTC\nOnCalendar=Mon *-*-03 00:00:00 UTC\n"
     "OnCalendar=Mon *-*-02 00:00:00 UTC\n"},
    {__LINE__, "name: a\nschedule: 0 0 * * MON#2,FRIL\ncommand: [x]",
     "OnCalendar=Fri *-*~01..07 00:00:00 UTC\nOnCalendar=Mon *-*-08..14 00:00:00 UTC\n"},
    {__LINE__, "name: a\nschedule: 5,35 30 2 * * * 2027-2029\ntimezone: Asia/Tokyo\ncommand: [x]",
     "OnCalendar=2027..2029-*-* 02:30:05,35 Asia/Tokyo\n"},
    {__LINE__, "name: a\nschedule: 30 2 * * *\ntimezone: Europe/Berlin\ncommand: [x]",
     "# differs where the clock is changed, first at 2027-03-28T03:00:00+02:00: systemd passes "
     "over "
     "a time that does not exist, and takes a time that comes twice once\n"
     "OnCalendar=*-*-* 02:30:00 Europe/Berlin\n"},
    {__LINE__, "name: a\nschedule: 30 2 * * *\ntimezone: Europe/Berlin\ndst: skip\ncommand: [x]",
     "# not in systemd: dst\nOnCalendar=*-*-* 02:30:00 Europe/Berlin\n"},
    {__LINE__, "name: a\nschedules: [\"@every 15m\", \"@every 1w\", \"@reboot\"]\ncommand: [x]",
     "# systemd starts it also when the timer is started again\n"
     "OnCalendar=*-*-* *:00/15:00 UTC\nOnCalendar=Thu *-*-* 00:00:00 UTC\nOnBootSec=1\n"},
    {__LINE__, "name: a\nschedule: \"@after 10m\"\ncommand: [x]",
     "OnBootSec=600\nOnUnitInactiveSec=600\n"},
    {__LINE__, "name: a\nschedule: \"@manual\"\ncommand: [x]", ""},
    {__LINE__, "name: a\nschedule: \"@every 7m\"\ncommand: [x]",
     "systemd has no fixed rate but parts of a minute, an hour or a day\n"},
    {__LINE__, "name: a\nschedule: 0 0 29W * *\ncommand: [x]",
     "systemd can't say which workday is nearest to the end of a month\n"},
    {__LINE__, "name: a\nschedule: 0 0 31 2 *\ncommand: [x]", "it never fires\n"},
    {__LINE__, "name: a\nschedule: 0 0 * * *\nhttp: http://x", "it is an HTTP call\n"},
    {__LINE__, "name: a\nafter: b\ncommand: [x]", "it waits for other jobs\n"},
    {__LINE__, "name: a\nschedule: 0 0 * * *\ncommand: [./x]",
     "its program is neither a path from / nor a plain name\n"},
};

static void keep_lines(const char *text, struct strbuf *got)
{
    while (*text) {
        size_t length = strcspn(text, "\n");
        if (strncmp(text, "On", 2) == 0 || strncmp(text, "# not", 5) == 0 ||
            strncmp(text, "# differs", 9) == 0 || strncmp(text, "# systemd", 9) == 0)
            strbuf_addf(got, "%.*s\n", (int)length, text);
        text += length + 1;
    }
}

static void a_job_becomes_a_timer(void **state)
{
    bool failed = false;
    (void)state;
    for (size_t i = 0; i < sizeof(exports) / sizeof(exports[0]); i++) {
        struct strbuf got;
        struct systemd_units units;
        const char *why = NULL;
        struct job *job = decode(exports[i].job);
        strbuf_init(&got);
        strbuf_init(&units.timer);
        strbuf_init(&units.service);
        assert_int_equal(systemd_export(job, from_s, zones, &units, &why), OK);
        if (why)
            strbuf_addf(&got, "%s\n", why);
        keep_lines(units.timer.text, &got);
        if (strcmp(got.text, exports[i].want) != 0) {
            print_error("line %d: got\n%swanted\n%s", exports[i].line, got.text, exports[i].want);
            failed = true;
        }
        strbuf_release(&units.timer);
        strbuf_release(&units.service);
        strbuf_release(&got);
        job_free(job);
    }
    assert_false(failed);
}

/* ---- there and back ---- */

static const char *some_word(struct random *random)
{
    static const char *const words[] = {"a",    "b c", "\"",    "'",    "$X", "${Y}", "%n",
                                        "100%", "\\",  "\\x41", "世界", ";",  "",     "-x",
                                        "a\nb", "\t",  "*",     "#",    "$$", "\\;",  "a=b"};
    return words[random_between(random, 0, (int)(sizeof(words) / sizeof(words[0])) - 1)];
}

static struct job *random_job(struct random *random, const char *schedule)
{
    struct strbuf text;
    json_t *words = json_array(), *definition = json_object();
    struct job *job = NULL;
    struct job_error err = {0};
    json_object_set_new(definition, "name", json_string("a"));
    json_object_set_new(definition, "schedule", json_string(schedule));
    json_object_set_new(definition, "timezone",
                        json_string(random_chance(random, 50) ? "UTC" : "Europe/Berlin"));
    json_object_set_new(definition, "dst", json_string("skip"));
    json_array_append_new(words, json_string("/bin/x"));
    for (int i = random_between(random, 0, 4); i > 0; i--)
        json_array_append_new(words, json_string(some_word(random)));
    json_object_set_new(definition, "command", words);
    if (random_chance(random, 50))
        json_object_set_new(definition, "env", json_pack("{s:s}", "V", some_word(random)));
    json_object_set_new(definition, "cwd", json_string(random_chance(random, 50) ? "/" : "/a %b"));
    if (random_chance(random, 50))
        json_object_set_new(definition, "timeout", json_string("90s"));
    if (random_chance(random, 30))
        json_object_set_new(definition, "catch_up", json_string("skip"));
    if (random_chance(random, 30))
        json_object_set_new(definition, "jitter", json_string("5m"));
    strbuf_init(&text);
    if (job_decode_json(definition, false, "UTC", zones, &job, &err) != OK)
        fail_msg("%s: %s", schedule, err.message);
    strbuf_release(&text);
    json_decref(definition);
    return job;
}

/* Where the clock is changed the timer's ticks are other ones, which it says. */
static int64_t next_plain(const struct schedule_set *set, int64_t at_s)
{
    enum { DAY = 86400 };
    for (;;) {
        at_s = schedule_set_next(set, at_s, NULL);
        struct zone_span span = zone_span_at(schedule_zone(set->items[0]), at_s);
        if (at_s == NEVER || ((span.start_s == INT64_MIN || at_s >= span.start_s + DAY) &&
                              (span.end_s == INT64_MAX || at_s < span.end_s - DAY)))
            return at_s;
    }
}

static void same_ticks(const struct job *a, const struct job *b, const char *units)
{
    enum { TICKS_MAX = 3000 };
    struct schedule_set x, y;
    int64_t at_s = from_s, until_s = from_s + INT64_C(366) * 86400;
    schedule_set_init(&x);
    schedule_set_init(&y);
    assert_int_equal(job_schedules(a, zones, &x, NULL), OK);
    assert_int_equal(job_schedules(b, zones, &y, NULL), OK);
    for (int i = 0; i < TICKS_MAX; i++) {
        int64_t ours = next_plain(&x, at_s), theirs = next_plain(&y, at_s);
        if (ours > until_s && theirs > until_s)
            break;
        if (ours != theirs)
            fail_msg("%s: %lld is not %lld:\n%s", a->schedules[0], (long long)theirs,
                     (long long)ours, units);
        at_s = ours;
    }
    schedule_set_release(&x);
    schedule_set_release(&y);
}

static void same_words(const struct job *a, const struct job *b, const char *units)
{
    for (size_t i = 0; a->command[i] || b->command[i]; i++) {
        if (!a->command[i] || !b->command[i] || strcmp(a->command[i], b->command[i]) != 0)
            fail_msg("word %zu of\n%s", i, units);
    }
    assert_string_equal(a->cwd, b->cwd);
    assert_int_equal(a->env.count, b->env.count);
    if (a->env.count)
        assert_string_equal(a->env.items[0].value, b->env.items[0].value);
    assert_int_equal(a->timeout_s, b->timeout_s);
    assert_int_equal(a->grace_s, b->grace_s);
    assert_int_equal(a->catch_up, b->catch_up);
    assert_int_equal(a->jitter_s, b->jitter_s);
}

/* True: the job could be a timer. */
static bool goes_there_and_back(const struct job *job)
{
    struct systemd_units units;
    struct foreign foreign;
    struct parse_error err = {0};
    struct strbuf both;
    const char *why = NULL;
    strbuf_init(&units.timer);
    strbuf_init(&units.service);
    strbuf_init(&both);
    foreign_init(&foreign);
    assert_int_equal(systemd_export(job, from_s, zones, &units, &why), OK);
    if (!why) {
        strbuf_addf(&both, "# /x/a.timer\n%s\n# /x/a.service\n%s", units.timer.text,
                    units.service.text);
        assert_int_equal(import(both.text, &foreign, &err), OK);
        if (foreign.jobs.count != 1)
            fail_msg("%s of\n%s", foreign.notes[0].text, both.text);
        same_ticks(job, foreign.jobs.items[0], both.text);
        same_words(job, foreign.jobs.items[0], both.text);
    } else if (strstr(why, "other ones")) {
        fail_msg("%s: %s", job->schedules[0], why);
    }
    foreign_release(&foreign);
    strbuf_release(&units.timer);
    strbuf_release(&units.service);
    strbuf_release(&both);
    return !why;
}

static void a_job_goes_there_and_back(void **state)
{
    enum { JOBS = 1500 };
    struct random random = random_new(random_seed());
    int carried = 0;
    (void)state;
    print_message("PEAL_SEED=%llu\n", (unsigned long long)random.state);
    for (int i = 0; i < JOBS * random_rounds(); i++) {
        struct random_cron cron;
        random_cron_make(&random, RANDOM_CRON_ANY, &cron);
        struct job *job = random_job(&random, cron.text);
        carried += goes_there_and_back(job);
        job_free(job);
    }
    print_message("%d of %d jobs could be timers\n", carried, JOBS * random_rounds());
    assert_true(carried > JOBS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_timer_becomes_a_job),
        cmocka_unit_test(a_job_becomes_a_timer),
        cmocka_unit_test(a_job_goes_there_and_back),
    };
    return cmocka_run_group_tests(tests, open_zones, close_zones);
}
