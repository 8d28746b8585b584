/* Parameters: what may be declared, which values are taken, where they may stand in a command, and
 * what a request makes of them. */
#include "params/params.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "definition/job_codec.h"
#include "params/run_input.h"

#define BEGIN "name: a\nschedule: \"@manual\"\ncommand: [\"true\"]\n"

static struct job *decode(const char *text, struct job_error *err)
{
    struct job_list list;
    struct job *job = NULL;
    job_list_init(&list);
    if (jobs_decode_text(text, strlen(text), "UTC", NULL, &list, err) == OK) {
        job = list.items[0];
        list.items[0] = NULL;
    }
    job_list_release(&list);
    return job;
}

static struct job *a_job(const char *text)
{
    struct job_error err = {0};
    struct job *job = decode(text, &err);
    if (!job)
        fail_msg("%s", err.message);
    return job;
}

static void declarations_are_checked(void **state)
{
    static const struct {
        int line;
        const char *text, *error; /* NULL: taken */
    } cases[] = {
        {__LINE__, BEGIN "params: {day: {}}", NULL},
        {__LINE__, BEGIN "params: {day: }", NULL},
        {__LINE__, BEGIN "params: {a: {type: integer, default: -5, allowed: [-5, 6], help: Text}}",
         NULL},
        {__LINE__, BEGIN "params: {a: {default: 1.10}}", NULL},
        {__LINE__, BEGIN "params: [day]", "params: expected a map of parameters, found a list"},
        {__LINE__, BEGIN "params: {day: 5}", "params.day: expected a map like"},
        {__LINE__, BEGIN "params: {9a: {}}", "begins with a letter"},
        {__LINE__, BEGIN "params: {a-b: {}}", "digits and _ only"},
        {__LINE__, BEGIN "params: {PEAL_x: {}}", "peal's own"},
        {__LINE__, BEGIN "params: {a: {kind: x}}", "unknown field; type, default"},
        {__LINE__, BEGIN "params: {a: {type: date}}", "is not one of string, integer"},
        {__LINE__, BEGIN "params: {a: {type: integer, default: x}}",
         "params.a.default: \"x\" is not a whole number"},
        {__LINE__, BEGIN "params: {a: {allowed: [x, z], default: y}}",
         "is not allowed; choose x, z"},
        {__LINE__, BEGIN "params: {a: {type: boolean, allowed: [on]}}", "is not true or false"},
        {__LINE__, BEGIN "params: {a: {allowed: []}}", "expected a list of 1 to 100 values"},
        {__LINE__, "name: a\nschedule: \"@daily\"\ncommand: [\"true\"]\nparams: {a: {}}",
         "needs a \"default\""},
        {__LINE__, "name: a\nafter: b\ncommand: [\"true\"]\nparams: {a: {}}",
         "needs a \"default\""},
        {__LINE__, "name: a\nschedules: [\"@manual\", \"@daily\"]\ncommand: [x]\nparams: {a: {}}",
         "needs a \"default\""},
        {__LINE__, "name: a\nschedule: \"@manual\"\nshell: echo ${a}\nparams: {a: {}}",
         "use \"$PEAL_PARAM_a\""},
        {__LINE__, "name: a\nschedule: \"@manual\"\nshell: echo ${b} $a\nparams: {a: {}}", NULL},
        {__LINE__, "name: a\nschedule: \"@manual\"\ncommand: [\"${a}\"]\nparams: {a: {}}",
         "the program can't be a parameter"},
        {__LINE__,
         "name: a\nschedule: \"@manual\"\nhttp: \"https://h/${a}/${PEAL_PARAM_a}\"\n"
         "params: {a: {}}",
         NULL},
        {__LINE__,
         "name: a\nschedule: \"@manual\"\nhttp: \"https://h/${PEAL_PARAM_b}\"\n"
         "params: {a: {}}",
         "there is no variable PEAL_PARAM_b"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct job_error err = {0};
        struct job *job = decode(cases[i].text, &err);
        if (!job != !!cases[i].error || (cases[i].error && !strstr(err.message, cases[i].error)))
            fail_msg("line %d: \"%s\"", cases[i].line, err.message);
        char *text = job ? job_encode_text(job) : NULL;
        struct job *again = text ? a_job(text) : NULL;
        char *same = again ? job_encode_text(again) : NULL;
        if (text)
            assert_string_equal(text, same);
        free(text);
        free(same);
        job_free(job);
        job_free(again);
    }
}

static void code_is_known(void **state)
{
    static const struct {
        int line;
        const char *words[8];
        size_t at;
        bool is_code;
    } cases[] = {
        {__LINE__, {"echo", "x"}, 1, false},
        {__LINE__, {"sh", "-c", "x"}, 2, true},
        {__LINE__, {"/bin/bash", "-c", "x"}, 2, true},
        {__LINE__, {"bash", "-euxc", "x"}, 2, true},
        {__LINE__, {"bash", "-o", "pipefail", "-c", "x"}, 4, true},
        {__LINE__, {"sh", "-c", "echo $1", "sh", "x"}, 4, false},
        {__LINE__, {"sh", "script", "x"}, 2, false},
        {__LINE__, {"env", "A=1", "sh", "-c", "x"}, 4, true},
        {__LINE__, {"nice", "-n", "5", "dash", "-c", "x"}, 5, true},
        {__LINE__, {"sudo", "-u", "x", "sh", "-c", "y"}, 2, false},
        {__LINE__, {"su", "joe", "-c", "x"}, 3, true},
        {__LINE__, {"su", "--command=x"}, 1, true},
        {__LINE__, {"python3.11", "-c", "x"}, 2, true},
        {__LINE__, {"python3", "-cx"}, 1, true},
        {__LINE__, {"perl", "-e", "x"}, 2, true},
        {__LINE__, {"perl", "-c", "x"}, 2, false},
        {__LINE__, {"php", "-r", "x"}, 2, true},
        {__LINE__, {"ssh", "host", "x"}, 2, true},
        {__LINE__, {"rsync", "-e", "ssh", "x"}, 3, false},
        {__LINE__, {"shred", "-c", "x"}, 2, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (argv_word_is_code((char *const *)cases[i].words, cases[i].at) != cases[i].is_code)
            fail_msg("line %d", cases[i].line);
    }
}

static void words_get_their_values(void **state)
{
    static const struct {
        int line;
        const char *word, *want;
    } cases[] = {
        {__LINE__, "${a}", "1 ${b}"},
        {__LINE__, "x${a}y${b}z", "x1 ${b}ytwoz"},
        {__LINE__, "$${a}", "${a}"},
        {__LINE__, "$$${a}", "$${a}"},
        {__LINE__, "$${c} ${c} ${c:-x} ${", "$${c} ${c} ${c:-x} ${"},
        {__LINE__, "$a {a} ${ a} ${A}", "$a {a} ${ a} ${A}"},
        {__LINE__, "", ""},
    };
    (void)state;
    struct job *job = a_job(BEGIN "params: {a: {default: '1 ${b}'}, b: {default: two}}");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char *own[] = {(char *)cases[i].word, NULL}, **kept = job->command, **argv;
        job->command = own;
        assert_int_equal(params_expand_argv(job, &argv), OK);
        if (strcmp(argv[0], cases[i].want) != 0)
            fail_msg("line %d: \"%s\"", cases[i].line, argv[0]);
        job_names_free(argv);
        job->command = kept;
    }
    job_free(job);
}

static void values_are_checked(void **state)
{
    static const struct {
        int line;
        const char *given, *want; /* the values, or what is wrong */
    } cases[] = {
        {__LINE__, "{\"s\":\"x\"}", "{\"s\":\"x\",\"i\":\"5\",\"n\":\"1.5\",\"b\":\"true\"}"},
        {__LINE__, "{\"s\":\"\",\"i\":-9223372036854775808,\"n\":-1.25,\"b\":false}",
         "{\"s\":\"\",\"i\":\"-9223372036854775808\",\"n\":\"-1.25\",\"b\":\"false\"}"},
        {__LINE__, "{\"s\":7}", "{\"s\":\"7\",\"i\":\"5\",\"n\":\"1.5\",\"b\":\"true\"}"},
        {__LINE__, "{}", "s: has no default; give a value"},
        {__LINE__, "{\"s\":null}", "s: expected a text"},
        {__LINE__, "{\"s\":[\"a\"]}", "s: expected a text"},
        {__LINE__, "{\"s\":\"x\",\"t\":\"y\"}",
         "t: is no parameter of this job; it has s, i, n, b"},
        {__LINE__, "{\"s\":\"x\",\"i\":\"1.0\"}", "i: \"1.0\" is not a whole number"},
        {__LINE__, "{\"s\":\"x\",\"i\":\"007\"}", "i: \"007\" is not a whole number"},
        {__LINE__, "{\"s\":\"x\",\"i\":\" 7\"}", "i: \" 7\" is not a whole number"},
        {__LINE__, "{\"s\":\"x\",\"i\":\"9223372036854775808\"}", "i: \"9223372036854775808\""},
        {__LINE__, "{\"s\":\"x\",\"n\":\"0x10\"}", "n: \"0x10\" is not a number"},
        {__LINE__, "{\"s\":\"x\",\"n\":\"nan\"}", "n: \"nan\" is not a number"},
        {__LINE__, "{\"s\":\"x\",\"b\":\"TRUE\"}", "b: \"TRUE\" is not true or false"},
        {__LINE__, "{\"s\":\"-rf\"}", "s: begins with a dash"},
    };
    (void)state;
    struct job *job =
        a_job("name: a\nschedule: \"@manual\"\ncommand: [rm, \"${s}\"]\n"
              "params:\n  s: {}\n  i: {type: integer, default: 5}\n"
              "  n: {type: number, default: 1.5}\n  b: {type: boolean, default: true}");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct input_error why = {0};
        char told[300];
        json_t *given = json_loads(cases[i].given, 0, NULL), *values = NULL;
        enum status st = input_choose_params(job, given, &values, &why);
        char *text = values ? json_dumps(values, JSON_COMPACT) : NULL;
        snprintf(told, sizeof(told), "%s: %s", why.name, why.why);
        if (st == OK ? strcmp(text, cases[i].want) != 0
                     : strncmp(told, cases[i].want, strlen(cases[i].want)) != 0)
            fail_msg("line %d: %s", cases[i].line, st == OK ? text : told);
        free(text);
        json_decref(values);
        json_decref(given);
    }
    job_free(job);
}

/* The document of a request, applied to a definition that may have changed. */
static void an_input_is_applied(void **state)
{
    struct input_error why = {0};
    (void)state;
    struct job *job = a_job(BEGIN "params: {a: {}, b: {type: integer, default: 5}}");
    assert_int_equal(input_apply(job, "{\"params\":{\"a\":\"x\"}}", &why), OK);
    assert_string_equal(job_param_value(&job->params.items[0]), "x");
    assert_string_equal(job_param_value(&job->params.items[1]), "5");
    assert_int_equal(input_apply(job, "{\"params\":{\"a\":\"y\",\"b\":\"6\"},\"later\":1}", &why),
                     OK);
    assert_string_equal(job_param_value(&job->params.items[0]), "y");

    /* The environment and the time limit; twice is as good as once. */
    assert_int_equal(job_pairs_add(&job->env, "A", "job"), OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(
            input_apply(job,
                        "{\"params\":{\"a\":\"y\"},\"env\":{\"A\":\"1\",\"B\":\"2\",\"\":"
                        "\"x\",\"C=D\":\"x\",\"E\":5},\"timeout_s\":90}",
                        &why),
            OK);
    assert_int_equal(job->env.count, 2);
    assert_string_equal(job->env.items[0].value, "1");
    assert_string_equal(job->env.items[1].name, "B");
    assert_int_equal(job->timeout_s, 90);
    static const struct {
        int line;
        const char *text, *why;
    } cases[] = {
        {__LINE__, NULL, "a: has no default; give a value"},
        {__LINE__, "{}", "a: has no default; give a value"},
        {__LINE__, "{\"params\":{\"a\":\"x\",\"c\":\"1\"}}",
         "c: is no parameter of this job; it has a, b"},
        {__LINE__, "{\"params\":{\"a\":\"x\",\"b\":\"y\"}}", "b: \"y\" is not a whole number"},
        {__LINE__, "{\"params\":", ": what was handed over"},
        {__LINE__, "[]", ": what was handed over"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct job *fresh = a_job(BEGIN "params: {a: {}, b: {type: integer, default: 5}}");
        char told[300];
        assert_int_equal(input_apply(fresh, cases[i].text, &why), E_INVALID);
        snprintf(told, sizeof(told), "%s: %s", why.name, why.why);
        if (strncmp(told, cases[i].why, strlen(cases[i].why)) != 0)
            fail_msg("line %d: %s", cases[i].line, told);
        job_free(fresh);
    }
    job_free(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(declarations_are_checked), cmocka_unit_test(code_is_known),
        cmocka_unit_test(words_get_their_values),   cmocka_unit_test(values_are_checked),
        cmocka_unit_test(an_input_is_applied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
