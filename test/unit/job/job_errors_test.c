/* Every mistake that a job file can have: where it is, and what is said about it. */
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

/* A job in all but the line under test. */
#define JOB "name: a\nschedule: 0 3 * * *\nshell: x\n"

static const struct {
    int line;
    const char *text;
    const char *want; /* line:column path message */
} bad[] = {
    {__LINE__, "name: a\nschedule: */5 * * * *\nshell: x\n",
     "2:11  in YAML a text that starts with '*' must be in quotes: schedule: \"*/5 * * * *\""},
    {__LINE__, "name: a\nschedule: * * * * *\nshell: x\n",
     "2:11  in YAML a text that starts with '*' must be in quotes: schedule: \"*/5 * * * *\""},
    {__LINE__, "name: a\nschedule: *x\nshell: x\n",
     "2:11  *x is an alias in YAML, and no &x stands before it; a text that starts with '*' must "
     "be in quotes"},
    {__LINE__, "name: a\nschedule: @daily\nshell: x\n",
     "2:11  in YAML a text that starts with '@' must be in quotes: schedule: \"@daily\""},
    {__LINE__, "name: a\nschedule: %x\nshell: x\n",
     "2:11  in YAML a text that starts with '%' must be in quotes"},
    {__LINE__, "name: a\nschedule: `x\nshell: x\n",
     "2:11  in YAML a text that starts with '`' must be in quotes"},
    {__LINE__, "name: a\n\tschedule: x\n", "2:1  a tab can't indent in YAML; use spaces"},
    {__LINE__, "name: a\nschedule:\n\t- x\n", "3:1  a tab can't indent in YAML; use spaces"},
    {__LINE__, "name: a\nschedule: \"0 3 * * *\nshell: x\n",
     "2:11  the quote that starts here has no end"},
    {__LINE__, "name: a\nshell: echo a: b\n",
     "2:14  a ':' is not allowed here; put a text that holds \": \" in quotes, and check the "
     "indentation"},
    {__LINE__, "name: a\n  schedule: x\n",
     "2:11  a ':' is not allowed here; put a text that holds \": \" in quotes, and check the "
     "indentation"},
    {__LINE__, "name: a\n b\n",
     "1:7 /name name: \"a b\" may hold letters, digits and . _ / - only"},
    {__LINE__, "name: [a, b\n", "2:1  expected ',' or ']' in this list"},
    {__LINE__, "{\"name\": \"a\"", "2:1  expected ',' or '}' in this map"},
    {__LINE__, "{\"name\": \"\\ud83d\"}",
     "1:13  this \\u escape is half a character; write the character itself"},
    {__LINE__, "name: \"\\d\"\n",
     "1:8  unknown escape in double quotes; write \\\\ for a backslash, or use single quotes"},
    {__LINE__, "name: \"a\\0b\"\n", "1:7  a NUL character (\\0) can't be part of a text"},
    {__LINE__, "name: \377\n", "1:7  not UTF-8 text: byte 0xFF"},
    {__LINE__, "name: a\001\n", "1:8  control character U+0001; this is not a text file"},
    {__LINE__, "hello\n",
     "1:1  expected a job (a map with name, schedule and command), found a text"},
    {__LINE__, "- a\n",
     "1:3  expected a job (a map with name, schedule and command), found a text"},
    {__LINE__, "- [x]\n",
     "1:3  expected a job (a map with name, schedule and command), found a list"},
    {__LINE__, "? [a]\n: b\n", "1:3  the name of a field can't be a list"},
    {__LINE__, "name: !foo a\n",
     "1:7  tags have no meaning here; put a text that starts with '!' in quotes"},
    {__LINE__, "name: &a x\n<<: *a\n",
     "2:1  merge keys (<<) are not read; repeat the fields, or use an alias for a whole value"},
    {__LINE__, "name: a\nname: b\n", "2:1  \"name\" is given twice; the first is in line 1"},
    {__LINE__, "shedule: x\n",
     "1:1 /shedule unknown field \"shedule\"; did you mean \"schedule\"?"},
    {__LINE__, "cron: x\n", "1:1 /cron unknown field \"cron\"; did you mean \"schedule\"?"},
    {__LINE__, "zzz: x\n", "1:1 /zzz unknown field \"zzz\""},
    {__LINE__, "grpc: {url: x}\n", "1:1 /grpc unknown field \"grpc\""},
    {__LINE__, "uid: x\n", "1:1 /uid unknown field \"uid\""},
    {__LINE__, "schedule: x\n", "1:1  a job needs a \"name\""},
    {__LINE__, "name:\n", "1:6 /name name: expected a text, found nothing"},
    {__LINE__, "name: 123\n",
     "1:7 /name name: 123 is a number in YAML; for a text put it in quotes: \"123\""},
    {__LINE__, "name: yes\n",
     "1:7 /name name: yes means true or false in YAML; for a text put it in quotes: \"yes\""},
    {__LINE__, "name: \"\"\n", "1:7 /name name: \"\" is empty"},
    {__LINE__, "name: -a\n", "1:7 /name name: \"-a\" must start with a letter or a digit"},
    {__LINE__, "name: a b\n", "1:7 /name name: \"a b\" may hold letters, digits and . _ / - only"},
    {__LINE__, "name: \342\202\254\n",
     "1:7 /name name: \"\342\202\254\" must start with a letter or a digit"},
    {__LINE__,
     "name: "
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
     "1:7 /name name: \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\" is longer "
     "than 128 bytes"},
    {__LINE__, "name: [a]\n", "1:7 /name name: expected a text, found a list"},
    {__LINE__, "name: a\nshell: x\n",
     "1:1  job \"a\" needs a \"schedule\"; \"@manual\" is for one that runs only when asked"},
    {__LINE__, "name: a\nschedule: 0 3 * * *\n",
     "1:1  job \"a\" needs a \"command\" (a list), a \"shell\" (a script), an \"http\" (a URL), a "
     "\"function\" (of a program) or \"steps\" (of a workflow)"},
    {__LINE__, JOB "command: [x]\n", "1:1  job \"a\" has both \"command\" and \"shell\""},
    {__LINE__, "name: a\nschedule: 0 3 * * *\nschedules: ['@daily']\nshell: x\n",
     "1:1  job \"a\" has both \"schedule\" and \"schedules\""},
    {__LINE__, "name: a\nschedule: ['@daily']\nshell: x\n",
     "2:11 /schedule schedule: expected one schedule, found a list; a list is \"schedules\""},
    {__LINE__, "name: a\nschedules: '@daily'\nshell: x\n",
     "2:12 /schedules schedules: expected a list of schedules, found a text"},
    {__LINE__, "name: a\nschedules: []\nshell: x\n",
     "2:12 /schedules schedules: expected 1 to 100 schedules, found 0"},
    {__LINE__, "name: a\nschedules: [[x]]\nshell: x\n",
     "2:13 /schedules/0 schedules[0]: expected a schedule, found a list"},
    {__LINE__, "name: a\nschedules: ['@daily', {}]\nshell: x\n",
     "2:23 /schedules/1 schedules[1]: expected a schedule like \"0 3 * * *\", found a map"},
    {__LINE__, "name: a\nschedule:\nshell: x\n",
     "2:10 /schedule schedule: expected a schedule like \"0 3 * * *\", found nothing"},
    {__LINE__, "name: a\nschedule: 60 * * * *\nshell: x\n",
     "2:11 /schedule schedule: minute 60 is out of range 0-59"},
    {__LINE__, "name: a\nschedule:   '0 0 * * MONX'\nshell: x\n",
     "2:22 /schedule schedule: unknown weekday \"MONX\"; did you mean MON?"},
    {__LINE__, "name: a\nschedules:\n  - '@daily'\n  - \"0 25 * * *\"\nshell: x\n",
     "4:8 /schedules/1 schedules[1]: hour 25 is out of range 0-23"},
    {__LINE__, "name: a\nschedule: |\n  0 0 32 * *\nshell: x\n",
     "2:11 /schedule schedule: day of month 32 is out of range 1-31 (at column 5 of the text)"},
    {__LINE__, "name: a\nschedule: \"\\x30 25 * * *\"\nshell: x\n",
     "2:11 /schedule schedule: hour 25 is out of range 0-23 (at column 3 of the text)"},
    {__LINE__, "{\"name\": \"a\",\n \"schedule\": \"@Hourly\", \"shell\": \"x\"}",
     "2:15 /schedule schedule: unknown macro; did you mean @hourly?"},
    {__LINE__, "name: a\nschedule: 5 * * *\nshell: x\n",
     "2:18 /schedule schedule: expected 5 to 7 fields, found 4"},
    {__LINE__, "name: a\nschedule: ''\nshell: x\n",
     "2:12 /schedule schedule: the schedule is empty"},
    {__LINE__, "name: a\nschedule: CRON_TZ=Mars/X 0 0 * * *\nshell: x\n",
     "2:19 /schedule schedule: unknown time zone \"Mars/X\""},
    {__LINE__, "name: a\nschedule: CRON_TZ=UTC 0 0 * * *\ntimezone: UTC\nshell: x\n",
     "2:11 /schedule schedule: time zone given twice: in the schedule and as \"UTC\" beside it"},
    {__LINE__, "name: a\nschedules: [CRON_TZ=UTC 0 0 * * *, '@daily']\nshell: x\n",
     "2:36 /schedules/1 schedules[1]: name a time zone in all schedules or in none, or use "
     "\"timezone\""},
    {__LINE__, JOB "timezone: Europe/Berln\n",
     "4:11 /timezone timezone: unknown time zone \"Europe/Berln\"; did you mean "
     "\"Europe/Berlin\"?"},
    {__LINE__, JOB "timezone: ''\n", "4:11 /timezone timezone: is empty"},
    {__LINE__, JOB "start: tomorrow\n",
     "4:8 /start start: not a time; write it like 2027-01-31T08:00:00Z"},
    {__LINE__, JOB "start: 2027-02-30\n", "4:16 /start start: day 30 is out of range 1-28"},
    {__LINE__, JOB "start: [2027]\n",
     "4:8 /start start: expected a time like 2027-01-31T08:00:00Z, found a list"},
    {__LINE__, JOB "start: 2027-01-02\nend: 2027-01-01\n", "5:6 /end end: is not after \"start\""},
    {__LINE__, JOB "jitter: 25h\n", "4:9 /jitter jitter: 25h is out of range 0s to 1d"},
    {__LINE__, JOB "jitter: 5\n", "4:10 /jitter jitter: a unit is missing; use w, d, h, m or s"},
    {__LINE__, JOB "dst: never\n", "4:6 /dst dst: \"never\" is not one of default, skip or both"},
    {__LINE__, JOB "dst: skpi\n",
     "4:6 /dst dst: \"skpi\" is not one of default, skip or both; did you mean \"skip\"?"},
    {__LINE__, JOB "calendars: holidays\n",
     "4:12 /calendars calendars: expected a list of calendars like [holidays], found a text"},
    {__LINE__, JOB "calendars: [a b]\n",
     "4:13 /calendars/0 calendars[0]: \"a b\" may hold letters, digits and . _ - only"},
    {__LINE__, JOB "calendars: [a, b, a]\n",
     "4:19 /calendars/2 calendars[2]: \"a\" is named twice"},
    {__LINE__, JOB "calendars: [a, b, c, d, e, f, g, h, i, j, k]\n",
     "4:12 /calendars calendars: expected at most 10 calendars, found 11"},
    {__LINE__, JOB "calendar: [a]\n",
     "4:1 /calendar unknown field \"calendar\"; did you mean \"calendars\"?"},
    {__LINE__, "name: a\nschedule: 0 3 * * *\ncommand: rm -rf /\n",
     "3:10 /command command: expected a list like [backup, --full]; for a line of shell use "
     "\"shell\" instead of \"command\""},
    {__LINE__, "name: a\nschedule: 0 3 * * *\ncommand: []\n",
     "3:10 /command command: expected a list of 1 to 4096 words, found 0"},
    {__LINE__, "name: a\nschedule: 0 3 * * *\ncommand: {a: b}\n",
     "3:10 /command command: expected a list like [backup, --full], found a map"},
    {__LINE__, "name: a\nschedule: 0 3 * * *\ncommand: ['']\n",
     "3:11 /command/0 command[0]: the program to run is empty"},
    {__LINE__, "name: a\nschedule: 0 3 * * *\ncommand: [echo, on]\n",
     "3:17 /command/1 command[1]: on means true or false in YAML; for a text put it in quotes: "
     "\"on\""},
    {__LINE__, "name: a\nschedule: 0 3 * * *\ncommand: [echo, ~]\n",
     "3:17 /command/1 command[1]: expected a text, found nothing"},
    {__LINE__, "name: a\nschedule: 0 3 * * *\ncommand: [echo, [x]]\n",
     "3:17 /command/1 command[1]: expected a text, found a list"},
    {__LINE__, "name: a\nschedule: 0 3 * * *\nshell: [x]\n",
     "3:8 /shell shell: expected a script as one text, found a list; a list is a \"command\""},
    {__LINE__, "name: a\nschedule: 0 3 * * *\nshell: ''\n", "3:8 /shell shell: is empty"},
    {__LINE__, "name: a\nschedule: 0 3 * * *\nshell: true\n",
     "3:8 /shell shell: true means true or false in YAML; for a text put it in quotes: \"true\""},
    {__LINE__, JOB "cwd: srv\n", "4:6 /cwd cwd: \"srv\" must be an absolute path, like /srv/app"},
    {__LINE__, JOB "user: a:b\n", "4:7 /user user: \"a:b\" is not the name of a user"},
    {__LINE__, JOB "user: 1000\n",
     "4:7 /user user: 1000 is a number in YAML; for a text put it in quotes: \"1000\""},
    {__LINE__, JOB "env: [A=b]\n",
     "4:6 /env env: expected a map of names and values, found a list"},
    {__LINE__, JOB "env: {A: }\n", "4:10 /env/A env.A: has no value; for an empty text write \"\""},
    {__LINE__, JOB "env: {A: yes}\n",
     "4:10 /env/A env.A: yes means true or false in YAML; for a text put it in quotes: \"yes\""},
    {__LINE__, JOB "env: {A: [1]}\n", "4:10 /env/A env.A: expected a text, found a list"},
    {__LINE__, JOB "env: {A=: 1}\n", "4:7 /env/A= env.A=: the name of a variable can't hold '='"},
    {__LINE__, JOB "env: {'': 1}\n", "4:7 /env/ env.: the name of a variable is empty"},
    {__LINE__, JOB "umask: 022\n",
     "4:8 /umask umask: put it in quotes: \"022\"; without them, 022 is the number 18 to some "
     "readers of YAML and 22 to others"},
    {__LINE__, JOB "umask: '8'\n", "4:8 /umask umask: \"8\" is not an octal number like \"022\""},
    {__LINE__, JOB "umask: '1000'\n", "4:8 /umask umask: \"1000\" is larger than \"0777\""},
    {__LINE__, JOB "nice: 20\n", "4:7 /nice nice: 20 is out of range -20 to 19"},
    {__LINE__, JOB "nice: '5'\n",
     "4:7 /nice nice: expected a number, found a text; leave out the quotes"},
    {__LINE__, JOB "nice: 'five'\n", "4:7 /nice nice: \"five\" is not a whole number"},
    {__LINE__, JOB "nice: 010\n",
     "4:7 /nice nice: 010 is octal to some readers; leave out the leading 0"},
    {__LINE__, JOB "nice: 1.5\n", "4:7 /nice nice: \"1.5\" is not a whole number"},
    {__LINE__, JOB "nice: high\n", "4:7 /nice nice: \"high\" is not a whole number"},
    {__LINE__, JOB "limits: 5\n", "4:9 /limits limits: expected a map of fields, found a number"},
    {__LINE__, JOB "limits: {mem: 5}\n",
     "4:10 /limits/mem limits: unknown field \"mem\"; did you mean \"memory\"?"},
    {__LINE__, JOB "limits: {memory: lots}\n",
     "4:18 /limits/memory limits.memory: \"lots\" is not a size like 65536, 512KiB, 1MiB or 2GiB"},
    {__LINE__, JOB "limits: {memory: 5XB}\n",
     "4:18 /limits/memory limits.memory: unknown unit \"XB\"; use KiB, MiB, GiB, KB, MB or GB"},
    {__LINE__, JOB "limits: {memory: -1}\n",
     "4:18 /limits/memory limits.memory: \"-1\" is not a size like 65536, 512KiB, 1MiB or 2GiB"},
    {__LINE__, JOB "limits: {memory: 99999999999999999999}\n",
     "4:18 /limits/memory limits.memory: 99999999999999999999 is too large"},
    {__LINE__, JOB "limits: {memory: 9999999999GiB}\n",
     "4:18 /limits/memory limits.memory: 9999999999GiB is out of range 0 to 1125899906842624 "
     "bytes"},
    {__LINE__, JOB "limits: {open_files: 99999999999999999999}\n",
     "4:22 /limits/open_files limits.open_files: 99999999999999999999 is out of range 0 to "
     "1000000000"},
    {__LINE__, JOB "limits: {cpu_time: 0s}\n",
     "4:20 /limits/cpu_time limits.cpu_time: 0s is out of range 1s to 36500d"},
    {__LINE__, JOB "overlap: never\n",
     "4:10 /overlap overlap: \"never\" is not one of skip, allow, queue or replace"},
    {__LINE__, JOB "overlap: [skip]\n",
     "4:10 /overlap overlap: expected skip, allow, queue or replace, found a list"},
    {__LINE__, JOB "overlap: {policy: skip, limit: 5}\n",
     "4:25 /overlap/limit overlap: unknown field \"limit\"; known: policy, queue, at_once"},
    {__LINE__, JOB "overlap: {policy: queue, queue: 0}\n",
     "4:33 /overlap/queue overlap.queue: 0 is out of range 1 to 10000"},
    {__LINE__, JOB "catch_up: {policy: on}\n",
     "4:20 /catch_up/policy catch_up.policy: \"on\" is not one of last, skip or all"},
    {__LINE__, JOB "catch_up: {window: 1y}\n",
     "4:21 /catch_up/window catch_up.window: unknown unit; use w, d, h, m or s"},
    {__LINE__, JOB "timeout: [1]\n",
     "4:10 /timeout timeout: expected a duration like 90s, found a list"},
    {__LINE__, JOB "timeout: 90\n",
     "4:12 /timeout timeout: a unit is missing; use w, d, h, m or s"},
    {__LINE__, JOB "timeout: 1.5h\n",
     "4:11 /timeout timeout: a duration has no fractions; write 1h30m for 1.5h"},
    {__LINE__, JOB "timeout: \"\"\n",
     "4:11 /timeout timeout: a duration is missing, like 90s or 1h30m"},
    {__LINE__, JOB "timeout:\n",
     "4:9 /timeout timeout: expected a duration like 90s, found nothing"},
    {__LINE__, JOB "timeout: -5s\n",
     "4:10 /timeout timeout: a duration is numbers with units, like 90s or 1h30m"},
    {__LINE__, JOB "grace: 2d\n", "4:8 /grace grace: 2d is out of range 0s to 1d"},
    {__LINE__, JOB "paused: yes\n",
     "4:9 /paused paused: write true or false, not \"yes\", which readers of YAML take "
     "differently"},
    {__LINE__, JOB "paused: maybe\n", "4:9 /paused paused: write true or false, not \"maybe\""},
    {__LINE__, JOB "paused: 'true'\n",
     "4:9 /paused paused: expected true or false without quotes, found a text"},
    {__LINE__, JOB "paused: 1\n", "4:9 /paused paused: write true or false, not \"1\""},
    {__LINE__, JOB "output_limit: 2GiB\n",
     "4:15 /output_limit output_limit: 2GiB is out of range 0 to 1073741824 bytes"},
    {__LINE__, JOB "output_limit: 1.5MiB\n",
     "4:15 /output_limit output_limit: a size has no fractions; write 1536KiB for 1.5MiB"},
    {__LINE__, JOB "retention: {runs: -1}\n",
     "4:19 /retention/runs retention.runs: -1 is out of range 0 to 1000000000"},
    {__LINE__, JOB "notify: {title: '${job}: ${stat}'}\n",
     "4:26 /notify/title notify.title: there is no field ${stat}; did you mean ${state}?"},
    {__LINE__, JOB "notify: {text: '${job'}\n",
     "4:17 /notify/text notify.text: \"${job\" has no }"},
    {__LINE__, JOB "notify: {title: \"a\\nb\"}\n",
     "4:17 /notify/title notify.title: \"a\nb\" must be a single line"},
    {__LINE__, JOB "limits: {cpus: 0}\n",
     "4:16 /limits/cpus limits.cpus: \"0\" is not a number of processors from 0.01 to 1024, like "
     "1.5"},
    {__LINE__, JOB "limits: {cpus: 1.555}\n",
     "4:16 /limits/cpus limits.cpus: \"1.555\" is not a number of processors from 0.01 to 1024, "
     "like 1.5"},
    {__LINE__, JOB "limits: {total_memory: 1MiB}\n",
     "4:24 /limits/total_memory limits.total_memory: 1MiB is out of range 4194304 to "
     "1125899906842624 bytes"},
    {__LINE__, JOB "ionice: {class: idle, level: 3}\n",
     "4:30 /ionice/level ionice.level: is for the class best-effort"},
    {__LINE__, JOB "ionice: {level: 8}\n",
     "4:17 /ionice/level ionice.level: 8 is out of range 0 to 7"},
    {__LINE__, JOB "ionice: realtime\n",
     "4:9 /ionice ionice: \"realtime\" is not one of default, best-effort or idle"},
    {__LINE__, JOB "expect: {duration: auto, min_duration: 1s, max_duration: 2s}\n",
     "4:20 /expect/duration expect.duration: has nothing to learn: both \"min_duration\" and "
     "\"max_duration\" are given"},
    {__LINE__, JOB "notify: {too: ops}\n",
     "4:10 /notify/too notify: unknown field \"too\"; did you mean \"to\"?"},
    {__LINE__, JOB "notify: {on: [failure, sucess]}\n",
     "4:24 /notify/on/1 notify.on[1]: \"sucess\" is not one of failure, lost, recovery, late, "
     "success, too_long, too_short or overdue; did you mean \"success\"?"},
    {__LINE__, JOB "notify: [ops, a/b]\n",
     "4:15 /notify/1 notify[1]: \"a/b\" may hold letters, digits and . _ - only"},
    {__LINE__, JOB "notify: 5\n",
     "4:9 /notify notify: 5 is a number in YAML; for a text put it in quotes: \"5\""},
    {__LINE__, JOB "notify: {to: {a: b}}\n",
     "4:14 /notify/to notify.to: expected a name, or a list of them, found a map"},
    {__LINE__, JOB "notify: {late: 0s}\n",
     "4:16 /notify/late notify.late: 0s is out of range 1s to 36500d"},
    {__LINE__, JOB "mailto: ops\n",
     "4:1 /mailto unknown field \"mailto\"; did you mean \"notify\"?"},
    {__LINE__, JOB "labels: {a b: x}\n",
     "4:10 /labels/a b labels.a b: a label's name may hold letters, digits and . _ / - only"},
    {__LINE__,
     JOB "labels: {kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk: x}\n",
     "4:10 /labels/kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk "
     "labels.kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk: a label's name has 1 to "
     "63 characters"},
    {__LINE__,
     JOB "labels: {k: "
         "vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv"
         "vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv"
         "vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv}\n",
     "4:13 /labels/k labels.k: is longer than 255 bytes"},
    {__LINE__, JOB "labels: {k: true}\n",
     "4:13 /labels/k labels.k: true means true or false in YAML; for a text put it in quotes: "
     "\"true\""},
    {__LINE__, JOB "where: zone=eu,,gpu\n",
     "4:16 /where where: expected the name of a label, like zone"},
    {__LINE__, JOB "where: \"\"\n", "4:8 /where where: is empty"},
    {__LINE__, JOB "selector: gpu\n",
     "4:1 /selector unknown field \"selector\"; did you mean \"where\"?"},
    {__LINE__, JOB "owner: 5\n",
     "4:8 /owner owner: 5 is a number in YAML; for a text put it in quotes: \"5\""},
    {__LINE__, JOB "notes: {}\n", "4:8 /notes notes: expected a text, found a map"},
    {__LINE__,
     "- name: a\n  schedule: 0 3 * * *\n  shell: x\n- name: b\n  schedule: 0 3 * * *\n  shell: "
     "x\n- name: a\n  schedule: 0 3 * * *\n  shell: x\n",
     "7:9 /name name: \"a\" is already the name of the job in line 1"},
    {__LINE__, JOB "---\n" JOB, "5:7 /name name: \"a\" is already the name of the job in line 1"},
};

/* Reading on finds the first mistake, too, and whatever else. */
static bool is_among_all(const char *text, const struct job_error *err)
{
    struct job_list jobs;
    struct job_errors errors;
    bool found = false;
    job_list_init(&jobs);
    job_errors_init(&errors);
    enum status st =
        jobs_decode_file(text, strlen(text), "Europe/Berlin", zones, NULL, NULL, &jobs, &errors);
    for (size_t i = 0; i < errors.count; i++)
        found =
            found || (errors.items[i].line == err->line && errors.items[i].column == err->column &&
                      strcmp(errors.items[i].message, err->message) == 0);
    job_errors_release(&errors);
    job_list_release(&jobs);
    return found && st == E_INVALID;
}

static void explains_bad_files(void **state)
{
    (void)state;
    int failed = 0;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct job_list jobs;
        struct job_error err = {0};
        char got[512];
        job_list_init(&jobs);
        enum status st =
            jobs_decode_text(bad[i].text, strlen(bad[i].text), "Europe/Berlin", zones, &jobs, &err);
        snprintf(got, sizeof(got), "%d:%d %s %s", err.line, err.column, err.path, err.message);
        if (st == E_INVALID && strcmp(got, bad[i].want) == 0 && is_among_all(bad[i].text, &err))
            continue;
        print_error("line %d: %s\ngot  %s\nwant %s\n", bad[i].line, status_text(st), got,
                    bad[i].want);
        job_list_release(&jobs);
        failed++;
    }
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(explains_bad_files),
    };
    return cmocka_run_group_tests(tests, open_zones, close_zones);
}
