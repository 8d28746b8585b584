/* Whole files: what is read, and what is said about what is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "definition/job_codec.h"
#include "definition/job_places.h"

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
    const char *want; /* each job as the store holds it, a line each */
} good[] = {
    {__LINE__, "", ""},
    {__LINE__, "# nothing but a comment\n", ""},
    {__LINE__, "---\n---\n", ""},
    {__LINE__, "null\n", ""},
    {__LINE__, "[]", ""},
    {__LINE__, JOB,
     "{\"name\":\"a\",\"schedule\":\"0 3 * * "
     "*\",\"timezone\":\"Europe/Berlin\",\"shell\":\"x\"}\n"},
    {__LINE__, "\xEF\xBB\xBF{\"name\": \"a\", \"schedule\": \"@manual\",\n\t\"shell\":\"x\"}",
     "{\"name\":\"a\",\"schedule\":\"@manual\",\"timezone\":\"Europe/Berlin\",\"shell\":\"x\"}\n"},
    {__LINE__, "name: a\r\nschedule: '@daily'\r\ncommand: [sleep, 60, 1.10, 0x1F, -n, \"\"]\r\n",
     "{\"name\":\"a\",\"schedule\":\"@daily\",\"timezone\":\"Europe/Berlin\","
     "\"command\":[\"sleep\",\"60\",\"1.10\",\"0x1F\",\"-n\",\"\"]}\n"},
    {__LINE__,
     " {\"name\":\"a\",\"schedule\":\"@daily\",\"timezone\":\"UTC\",\"shell\":"
     "\"\\ud83d\\uDE00 \\\\ud83d \\u00e9 \\/\"}",
     "{\"name\":\"a\",\"schedule\":\"@daily\",\"timezone\":\"UTC\","
     "\"shell\":\"😀 \\\\ud83d é /\"}\n"},
    {__LINE__, "name: a\nschedules: ['@daily', 0 12 * * MON-FRI]\nshell: x\n",
     "{\"name\":\"a\",\"schedules\":[\"@daily\",\"0 12 * * MON-FRI\"],"
     "\"timezone\":\"Europe/Berlin\",\"shell\":\"x\"}\n"},
    {__LINE__, "name: a\nschedules: ['@daily']\nshell: x\ntimezone: UTC\n",
     "{\"name\":\"a\",\"schedule\":\"@daily\",\"timezone\":\"UTC\",\"shell\":\"x\"}\n"},
    /* A schedule's own zone is the job's: local times are read in it. */
    {__LINE__, "name: a\nschedule: CRON_TZ=Asia/Tokyo 0 3 * * *\nstart: 2027-01-01\nshell: x\n",
     "{\"name\":\"a\",\"schedule\":\"CRON_TZ=Asia/Tokyo 0 3 * * *\","
     "\"start\":\"2026-12-31T15:00:00Z\",\"shell\":\"x\"}\n"},
    {__LINE__, JOB "start: 2027-07-01 08:00\nend: 2027-07-01T08:00:00Z\n",
     "{\"name\":\"a\",\"schedule\":\"0 3 * * *\",\"timezone\":\"Europe/Berlin\","
     "\"start\":\"2027-07-01T06:00:00Z\",\"end\":\"2027-07-01T08:00:00Z\",\"shell\":\"x\"}\n"},
    /* Defaults, written out, are not written back. */
    {__LINE__,
     JOB "overlap: {policy: skip, queue: 10}\ncatch_up: {policy: last, window: 24h, limit: 100}\n"
         "grace: 10s\noutput_limit: 1MiB\npaused: false\nnice: 0\ntimeout: 0s\ndst: default\n"
         "jitter: 0s\nenv: {}\nlabels: {}\nlimits: {}\nretention: {runs: 0, age: 0s}\n",
     "{\"name\":\"a\",\"schedule\":\"0 3 * * "
     "*\",\"timezone\":\"Europe/Berlin\",\"shell\":\"x\"}\n"},
    {__LINE__,
     JOB
     "overlap: queue\ncatch_up: {window: 2d}\nlimits: {memory: 1500KB, core: 0, cpu_time: 90m}\n",
     "{\"name\":\"a\",\"schedule\":\"0 3 * * *\",\"timezone\":\"Europe/Berlin\",\"shell\":\"x\","
     "\"limits\":{\"core\":0,\"memory\":1500000,\"cpu_time\":\"1h30m\"},\"overlap\":\"queue\","
     "\"catch_up\":{\"window\":\"2d\"}}\n"},
    {__LINE__, JOB "umask: '7'\nenv: {A: 5, B: '', c.d: !!str yes}\nstdin: \"\"\n",
     "{\"name\":\"a\",\"schedule\":\"0 3 * * *\",\"timezone\":\"Europe/Berlin\",\"shell\":\"x\","
     "\"env\":{\"A\":\"5\",\"B\":\"\",\"c.d\":\"yes\"},\"stdin\":\"\",\"umask\":\"007\"}\n"},
    {__LINE__,
     "- &a {name: a, schedule: '@daily', shell: x, env: &e {K: v}}\n"
     "- {name: b, schedule: '@daily', shell: x, env: *e}\n---\n"
     "name: c\nschedule: '@daily'\nshell: x\ntimezone: UTC\n",
     "{\"name\":\"a\",\"schedule\":\"@daily\",\"timezone\":\"Europe/Berlin\",\"shell\":\"x\","
     "\"env\":{\"K\":\"v\"}}\n"
     "{\"name\":\"b\",\"schedule\":\"@daily\",\"timezone\":\"Europe/Berlin\",\"shell\":\"x\","
     "\"env\":{\"K\":\"v\"}}\n"
     "{\"name\":\"c\",\"schedule\":\"@daily\",\"timezone\":\"UTC\",\"shell\":\"x\"}\n"},
};

static void reads_good_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct job_list jobs;
        struct job_error err = {0};
        job_list_init(&jobs);
        enum status st = jobs_decode_text(good[i].text, strlen(good[i].text), "Europe/Berlin",
                                          zones, &jobs, &err);
        if (st != OK)
            fail_msg("line %d: %d:%d: %s", good[i].line, err.line, err.column, err.message);
        struct strbuf got;
        strbuf_init(&got);
        for (size_t k = 0; k < jobs.count; k++) {
            char *text = job_encode_text(jobs.items[k]);
            strbuf_addf(&got, "%s\n", text);
            free(text);
        }
        if (strcmp(got.text, good[i].want) != 0)
            fail_msg("line %d:\ngot  %swant %s", good[i].line, got.text, good[i].want);
        strbuf_release(&got);
        job_list_release(&jobs);
    }
}

/* No file makes the reader build more than it may. */
static void refuses_what_is_too_large(void **state)
{
    (void)state;
    struct job_list jobs;
    struct job_error err;
    struct strbuf text;
    strbuf_init(&text);
    strbuf_adds(&text, "- &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 12; i++) { /* a billion laughs */
        strbuf_addf(&text, "- &a%d [", i);
        for (int k = 0; k < 10; k++)
            strbuf_addf(&text, "%s*a%d", k ? ", " : "", i - 1);
        strbuf_adds(&text, "]\n");
    }
    assert_int_equal(jobs_decode_text(text.text, text.length, NULL, zones, &jobs, &err),
                     E_TOO_LARGE);
    assert_int_equal(err.line, 6);
    assert_string_equal(err.message,
                        "more than 1000000 values, aliases counted each time they are used");
    strbuf_reset(&text);
    strbuf_adds(&text, "- &a \"");
    for (int i = 0; i < 100000; i++)
        strbuf_adds(&text, "0123456789");
    strbuf_adds(&text, "\"\n- [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\n");
    assert_int_equal(jobs_decode_text(text.text, text.length, NULL, zones, &jobs, &err),
                     E_TOO_LARGE);
    strbuf_reset(&text);
    for (int i = 0; i < 1024 * 1024 + 1; i++)
        strbuf_adds(&text, "# padding\n");
    assert_int_equal(jobs_decode_text(text.text, text.length, NULL, zones, &jobs, &err),
                     E_TOO_LARGE);
    assert_string_equal(err.message, "the file is larger than 10 MiB");
    strbuf_reset(&text);
    for (int i = 0; i < 100000; i++)
        strbuf_addc(&text, '[');
    assert_int_equal(jobs_decode_text(text.text, text.length, NULL, zones, &jobs, &err), E_INVALID);
    assert_string_equal(err.message, "nested more than 16 deep");
    strbuf_release(&text);
}

static const char several[] =
    "name: a\nschedule: 0 25 * * *\nshel: x\nnice: 99\n---\n"
    "- {name: b, shell: x, schedule: '@daily', calendars: [x, y]}\n"
    "- {name: c, after: {jobs: [a, b], on: always}, shell: x}\n"
    "- {name: d, shell: x, schedule: '@daily', limits: {memory: 1XB, cpu: 1}}\n";

/* Every mistake, in the order of the file; the jobs without one are read. */
static void finds_every_mistake(void **state)
{
    static const int want[][2] = {{2, 13}, {3, 1}, {4, 7}, {8, 60}, {8, 65}};
    struct job_list jobs;
    struct job_errors errors;
    (void)state;
    job_list_init(&jobs);
    job_errors_init(&errors);
    assert_int_equal(
        jobs_decode_file(several, strlen(several), "UTC", zones, NULL, NULL, &jobs, &errors),
        E_INVALID);
    assert_int_equal(jobs.count, 2);
    assert_int_equal(errors.count, sizeof(want) / sizeof(want[0]));
    for (size_t i = 0; i < errors.count; i++) {
        assert_int_equal(errors.items[i].line, want[i][0]);
        assert_int_equal(errors.items[i].column, want[i][1]);
    }
    job_list_release(&jobs);
    job_errors_release(&errors);
}

static void finds_places(void **state)
{
    static const struct {
        int line;
        const char *job, *field, *value;
        int want_line, want_column; /* 0: none */
    } cases[] = {
        {__LINE__, "a", NULL, NULL, 1, 7},        {__LINE__, "a", "nice", NULL, 4, 7},
        {__LINE__, "b", "calendars", "y", 6, 58}, {__LINE__, "b", "calendars", "z", 6, 54},
        {__LINE__, "c", "after", "b", 7, 31},     {__LINE__, "c", "notify", "b", 7, 10},
        {__LINE__, "e", NULL, NULL, 0, 0},
    };
    struct job_places *places;
    int failed = 0;
    (void)state;
    assert_int_equal(job_places_new(several, strlen(several), &places), OK);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int line = 0, column = 0;
        bool found =
            job_places_find(places, cases[i].job, cases[i].field, cases[i].value, &line, &column);
        if (found == (cases[i].want_line > 0) && line == cases[i].want_line &&
            column == cases[i].want_column)
            continue;
        print_error("line %d: %d:%d\n", cases[i].line, line, column);
        failed++;
    }
    job_places_free(places);
    assert_int_equal(failed, 0);
    assert_int_equal(job_places_new("a: [", 4, &places), E_INVALID);
}

static void refuses_nul_bytes(void **state)
{
    (void)state;
    struct job_list jobs;
    struct job_error err;
    assert_int_equal(jobs_decode_text("name: a\0b\n", 10, NULL, zones, &jobs, &err), E_INVALID);
    assert_string_equal(err.message, "a NUL byte: this is not a text file");
    assert_int_equal(err.column, 8);
}

/* Fields that peal keeps are known to the store alone. */
static void reads_what_it_stored(void **state)
{
    (void)state;
    static const char text[] =
        "{\"uid\":\"01ARZ3NDEKTSV4RRFFQ69G5FAV\",\"revision\":7,\"name\":\"a\",\"schedule\":"
        "\"@daily\",\"timezone\":\"UTC\",\"shell\":\"x\",\"created_ms\":1700000000000,"
        "\"updated_ms\":1700000000001,\"paused_ms\":2,\"resumed_ms\":3,\"skip_until_ms\":4,"
        "\"deleted_ms\":5,\"former_names\":{\"c\":\"6\",\"b/d\":\"1700000000000\"},"
        "\"hash_name\":\"c\"}";
    struct job *job;
    struct job_error err;
    assert_int_equal(job_decode_stored(text, zones, &job, &err), OK);
    assert_int_equal(job->revision, 7);
    assert_int_equal(job->deleted_ms, 5);
    assert_int_equal(job->former_names.count, 2);
    assert_string_equal(job->former_names.items[1].name, "b/d");
    char *again = job_encode_text(job);
    assert_string_equal(again, text);
    free(again);
    json_t *shown = job_encode_json(job, false);
    assert_null(json_object_get(shown, "uid"));
    assert_null(json_object_get(shown, "former_names"));
    job_free(job);
    json_object_set_new(shown, "uid", json_string("01ARZ3NDEKTSV4RRFFQ69G5FAV"));
    assert_int_equal(job_decode_json(shown, false, NULL, zones, &job, &err), E_INVALID);
    assert_string_equal(err.message, "unknown field \"uid\"");
    json_decref(shown);
    assert_int_equal(job_decode_stored("{\"name\":", zones, &job, &err), E_INVALID);
    assert_int_equal(err.line, 1);
}

static void gives_all_schedules_of_a_job(void **state)
{
    (void)state;
    static const char text[] = "name: a\nschedules: [0 3 * * *, '@every 1h']\nshell: x\n";
    struct job_list jobs;
    struct job_error err;
    struct schedule_set set;
    struct parse_error inside;
    assert_int_equal(jobs_decode_text(text, strlen(text), "UTC", zones, &jobs, &err), OK);
    schedule_set_init(&set);
    assert_int_equal(job_schedules(jobs.items[0], zones, &set, &inside), OK);
    assert_int_equal(set.count, 2);
    assert_int_equal(schedule_set_next(&set, 0, NULL), 3600);
    free(jobs.items[0]->schedules[1]);
    jobs.items[0]->schedules[1] = strdup("@every x");
    assert_int_equal(job_schedules(jobs.items[0], zones, &set, &inside), E_INVALID);
    assert_string_equal(inside.message,
                        "schedule 2: a duration is numbers with units, like 90s or 1h30m");
    assert_int_equal(inside.column, 8);
    assert_int_equal(set.count, 2); /* untouched */
    schedule_set_release(&set);
    job_list_release(&jobs);
}

/* ---- for an editor ---- */

static const struct {
    int line;
    const char *text;
    const char *want;  /* what it says */
    const char *wrong; /* and what is wrong with it: its path; NULL: nothing */
} typed[] = {
    {__LINE__, JOB, "{\"name\":\"a\",\"schedule\":\"0 3 * * *\",\"shell\":\"x\"}", NULL},
    {__LINE__, JOB "nice: 5\nlimits: {core: 0}\npaused: true\n",
     "{\"name\":\"a\",\"schedule\":\"0 3 * * *\",\"shell\":\"x\",\"nice\":5,"
     "\"limits\":{\"core\":0},\"paused\":true}",
     NULL},
    {__LINE__, "{name: a, schedule: '@daily', command: [x, '5', 5, 007, 1e3, off, ~, \"true\"]}",
     "{\"name\":\"a\",\"schedule\":\"@daily\",\"command\":"
     "[\"x\",\"5\",5,\"007\",\"1e3\",\"off\",null,\"true\"]}",
     "/command/5"},
    {__LINE__, "name: &n a\nlabels: {team: *n}\n", "{\"name\":\"a\",\"labels\":{\"team\":\"a\"}}",
     ""},
    {__LINE__, "colour: red\n", "{\"colour\":\"red\"}", "/colour"},
    {__LINE__, "nice: 99999999999999999999\n", "{\"nice\":\"99999999999999999999\"}", "/nice"},
};

static void reads_what_is_typed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(typed) / sizeof(typed[0]); i++) {
        struct job_error wrong = {0};
        json_t *value = NULL;
        enum status st =
            job_read_text(typed[i].text, strlen(typed[i].text), "UTC", zones, &value, &wrong);
        char *said = st == OK ? json_dumps(value, JSON_COMPACT) : NULL;
        const char *path = wrong.message[0] ? wrong.path : NULL;
        if (!said || strcmp(said, typed[i].want) != 0 ||
            (path ? !typed[i].wrong || strcmp(path, typed[i].wrong) != 0 : typed[i].wrong != NULL))
            fail_msg("line %d: %s, wrong at %s: %s", typed[i].line, said, path, wrong.message);
        free(said);
        json_decref(value);
    }
}

static void refuses_what_is_no_job_at_all(void **state)
{
    static const struct {
        int line;
        const char *text;
        int want_line;
    } cases[] = {
        {__LINE__, "", 0},
        {__LINE__, "[1]\n", 1},
        {__LINE__, "a: 1\n b: [\n", 2},
        {__LINE__, "{a: 1}\n---\n{b: 1}\n", 3},
        {__LINE__, "only words\n", 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct job_error wrong = {0};
        json_t *value = NULL;
        enum status st =
            job_read_text(cases[i].text, strlen(cases[i].text), "UTC", zones, &value, &wrong);
        if (st != E_INVALID || value || !wrong.message[0] ||
            (cases[i].want_line && wrong.line != cases[i].want_line))
            fail_msg("line %d: %d, line %d: %s", cases[i].line, st, wrong.line, wrong.message);
    }
}

/* An alias counts as what it stands for. */
static void refuses_what_would_grow(void **state)
{
    static const char bomb[] = "a: &a [1,2,3,4,5,6,7,8,9,0]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
                               "c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n"
                               "d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n"
                               "e: &e [*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e]\n";
    struct job_error wrong = {0};
    json_t *value = NULL;
    (void)state;
    assert_int_equal(job_read_text(bomb, strlen(bomb), "UTC", zones, &value, &wrong), E_INVALID);
    assert_non_null(strstr(wrong.message, "more than 100000 values"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_good_files),
        cmocka_unit_test(refuses_what_is_too_large),
        cmocka_unit_test(finds_every_mistake),
        cmocka_unit_test(finds_places),
        cmocka_unit_test(refuses_nul_bytes),
        cmocka_unit_test(reads_what_it_stored),
        cmocka_unit_test(gives_all_schedules_of_a_job),
        cmocka_unit_test(reads_what_is_typed),
        cmocka_unit_test(refuses_what_is_no_job_at_all),
        cmocka_unit_test(refuses_what_would_grow),
    };
    return cmocka_run_group_tests(tests, open_zones, close_zones);
}
