/* Jobs that are functions of a program: what is refused, where, and which nodes may run a job. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "definition/job_codec.h"
#include "function/eligible.h"
#include "function/job_function.h"
#include "function/lacks.h"
#include "peer.h"
#include "strbuf.h"

#define BEGIN "name: a\nschedule: '@manual'\n"
#define NONE  "is for jobs with a process of their own; a function has none"

static const struct {
    int line;
    const char *yaml, *want; /* "LINE:COLUMN PATH MESSAGE", from the beginning */
} mistakes[] = {
    {__LINE__, BEGIN "function: {}\n", "3:11 /function function: needs a \"program\""},
    {__LINE__, BEGIN "function: {name: b}\n", "3:11 /function function: needs a \"program\""},
    {__LINE__, BEGIN "function: {program: 'a b'}\n", "3:21 /function/program function.program: "},
    {__LINE__, BEGIN "function: '@billing'\n", "3:11 /function function: "},
    {__LINE__, BEGIN "function: {program: b, name: 'x y'}\n", "3:30 /function/name function.name"},
    {__LINE__, BEGIN "function: {program: b, version: -1}\n", "3:33 /function/version"},
    {__LINE__, BEGIN "function: {program: b, digest: xyz}\n", "3:32 /function/digest"},
    {__LINE__, BEGIN "function: {program: b, more: 1}\n", "3:24 /function/more function: unknown"},
    {__LINE__, BEGIN "function: b\nshell: x\n",
     "1:1  job \"a\" has both \"shell\" and \"function\""},
    {__LINE__, BEGIN "function: b\ncommand: [x]\n",
     "1:1  job \"a\" has both \"command\" and \"function\""},
    {__LINE__, BEGIN "function: b\nhttp: https://h\n",
     "1:1  job \"a\" has both \"http\" and \"function\""},
    {__LINE__, BEGIN "function: b\nuser: me\n", "4:7 /user user: " NONE},
    {__LINE__, BEGIN "function: b\ncwd: /srv\n", "4:6 /cwd cwd: " NONE},
    {__LINE__, BEGIN "function: b\nenv: {A: b}\n", "4:6 /env env: " NONE},
    {__LINE__, BEGIN "function: b\nstdin: x\n", "4:8 /stdin stdin: " NONE},
    {__LINE__, BEGIN "function: b\numask: '022'\n", "4:8 /umask umask: " NONE},
    {__LINE__, BEGIN "function: b\nnice: 3\n", "4:7 /nice nice: " NONE},
    {__LINE__, BEGIN "function: b\nlimits: {processes: 3}\n", "4:9 /limits limits: " NONE},
    {__LINE__, BEGIN "function: b\nlinger: 3s\n", "4:9 /linger linger: " NONE},
    {__LINE__, BEGIN "function: b\noutput: merged\n", "4:9 /output output: " NONE},
    {__LINE__, "name: a\nschedule: '@reboot'\nfunction: b\n", "2:11 /schedule schedule: @reboot"},
    {__LINE__, "name: a\nschedules: ['@daily', '@reboot']\nfunction: b\n",
     "2:12 /schedules schedules: @reboot"},
};

static void mistakes_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
        struct job_list jobs;
        struct job_error err = {0};
        char got[600];
        if (jobs_decode_text(mistakes[i].yaml, strlen(mistakes[i].yaml), "UTC", NULL, &jobs,
                             &err) == OK)
            fail_msg("line %d: was taken", mistakes[i].line);
        snprintf(got, sizeof(got), "%d:%d %s %s", err.line, err.column, err.path, err.message);
        if (strncmp(got, mistakes[i].want, strlen(mistakes[i].want)) != 0)
            fail_msg("line %d: %s", mistakes[i].line, got);
    }
}

static const struct {
    int line;
    const char *yaml, *function, *eligible, *text;
} good[] = {
    {__LINE__, BEGIN "function: billing\n", "a", "@billing", "\"function\":\"billing\"}"},
    {__LINE__, BEGIN "function: {program: billing, name: clean/up}\nwhere: zone=eu\n", "clean/up",
     "@billing,zone=eu",
     "\"function\":{\"program\":\"billing\",\"name\":\"clean/up\"},\"where\":\"zone=eu\"}"},
    {__LINE__,
     BEGIN "function: {program: b.c-d_9, digest: 00ff, version: 3}\ntimeout: 1m\noutput: separate\n"
           "params: {day: {}}\nretries: 2\nspread: all\n",
     "a", "@b.c-d_9",
     "\"function\":{\"program\":\"b.c-d_9\",\"digest\":\"00ff\",\"version\":3},\"params\":{\"day\":"
     "{}},\"timeout\":\"1m\",\"retries\":2,\"spread\":\"all\"}"},
};

static void good_ones_are_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        struct job_list jobs;
        struct job_error err = {0};
        struct strbuf eligible;
        strbuf_init(&eligible);
        if (jobs_decode_text(good[i].yaml, strlen(good[i].yaml), "UTC", NULL, &jobs, &err) != OK)
            fail_msg("line %d: %s", good[i].line, err.message);
        const struct job *job = jobs.items[0];
        char *text = job_encode_definition(job);
        eligible_print(job, &eligible);
        assert_int_equal(job->kind, JOB_FUNCTION);
        assert_string_equal(job_function_name(job), good[i].function);
        assert_string_equal(eligible.text, good[i].eligible);
        if (!strstr(text, good[i].text))
            fail_msg("line %d: %s", good[i].line, text);
        free(text);
        strbuf_release(&eligible);
        job_list_release(&jobs);
    }
}

static const struct {
    int line;
    const char *eligible, *program, *labels;
    bool is_kind, matches;
} nodes[] = {
    {__LINE__, NULL, "", "", true, true},
    {__LINE__, NULL, "", "zone=eu", true, true},
    {__LINE__, NULL, "billing", "", false, false},
    {__LINE__, "zone=eu", "", "zone=eu", true, true},
    {__LINE__, "zone=eu", "", "zone=us", true, false},
    {__LINE__, "zone=eu", "billing", "zone=eu", false, false},
    {__LINE__, "@billing", "", "", false, false},
    {__LINE__, "@billing", "billing", "", true, true},
    {__LINE__, "@billing", "bill", "", false, false},
    {__LINE__, "@billing", "billings", "", false, false},
    {__LINE__, "@billing,zone=eu", "billing", "zone=eu", true, true},
    {__LINE__, "@billing,zone=eu", "billing", "", true, false},
    {__LINE__, "@billing,!gpu", "billing", "zone=eu", true, true},
};

static void nodes_are_eligible(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
        if (eligible_is_kind(nodes[i].eligible, nodes[i].program) != nodes[i].is_kind ||
            eligible_matches(nodes[i].eligible, nodes[i].program, nodes[i].labels) !=
                nodes[i].matches)
            fail_msg("line %d", nodes[i].line);
    }
}

static void what_a_process_lacks(void **state)
{
    (void)state;
    struct strbuf text;
    char name[32];
    strbuf_init(&text);
    assert_false(lacks_has("", "refund") || lacks_more(""));
    for (int i = 0; i < LACKS_MAX; i++) {
        snprintf(name, sizeof(name), "function-%d", i);
        assert_false(lacks_has(text.text, name));
        lacks_add(lacks_hash(name), &text);
    }
    for (int i = 0; i < LACKS_MAX + 5; i++) {
        snprintf(name, sizeof(name), "function-%d", i);
        assert_int_equal(lacks_has(text.text, name), i < LACKS_MAX);
    }
    assert_false(lacks_more(text.text));
    strbuf_addc(&text, '+');
    assert_true(lacks_more(text.text) && lacks_has(text.text, "function-30"));
    assert_true(text.length < sizeof(((struct peer *)NULL)->lacks));
    assert_false(lacks_has("0123", "refund")); /* cut off */
    strbuf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(good_ones_are_read),
        cmocka_unit_test(nodes_are_eligible),
        cmocka_unit_test(what_a_process_lacks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
