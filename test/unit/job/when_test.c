#include "workflow/when.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "workflow/steps.h"

/* ---- what references are, and have ---- */

static const struct {
    const char *name, *value;
} known[] = {
    {"params.mode", "full"},
    {"params.strict", "false"},
    {"params.ten", "10"},
    {"params.zero", "0"},
    {"params.big", "9007199254740993"},
    {"params.empty", ""},
    {"steps.a.rows", "10"},
    {"steps.a.files", "x.csv y.csv"},
    {"steps.a.state", "ok"},
    {"steps.a.exit_code", "0"},
    {"steps.b-c.state", "failed"},
    {"steps.b-c.exit_code", "3"},
    {"steps.o/i.n", "1e3"},
    {"steps.a.trick", "\" or true"},
    {"item", "it"},
    {"index", "7"},
    {"instance", "id"},
    {"steps.a.zh", "中文"},
};

static const char *find(const struct ref *ref)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        struct ref each;
        assert_null(ref_read(known[i].name, strlen(known[i].name), &each));
        if (each.kind == ref->kind && strcmp(each.step, ref->step) == 0 &&
            strcmp(each.name, ref->name) == 0)
            return known[i].value;
    }
    return NULL;
}

static int asked; /* how many values were looked up */

static enum status get(void *context, const struct ref *ref, struct strbuf *out)
{
    (void)context;
    asked++;
    if (find(ref))
        strbuf_adds(out, find(ref));
    return OK;
}

static const char *complain(void *context, const struct ref *ref)
{
    (void)context;
    return find(ref) ? NULL : "is not known here";
}

/* ---- values ---- */

static const struct {
    int line;
    bool want;
    const char *text;
} values[] = {
    {__LINE__, true, "true"},
    {__LINE__, false, "false"},
    {__LINE__, false, "0"},
    {__LINE__, false, "0.0"},
    {__LINE__, true, "-1"},
    {__LINE__, false, "''"},
    {__LINE__, true, "'0'"}, /* a text, no number */
    {__LINE__, false, "'false'"},
    {__LINE__, true, "params.mode"},
    {__LINE__, false, "params.strict"},
    {__LINE__, false, "params.zero"},
    {__LINE__, false, "params.empty"},
    {__LINE__, true, "not params.strict"},
    {__LINE__, false, "not not params.strict"},
    {__LINE__, true, "not true or true"}, /* binds more tightly than or */
    {__LINE__, false, "not (true or true)"},
    {__LINE__, true, "not 1 == 2"}, /* and less than a comparison */
    {__LINE__, true, "steps.a.rows > 0"},
    {__LINE__, true, "steps.a.rows>9"}, /* as numbers: "10" < "9" as texts */
    {__LINE__, false, "steps.a.rows > \"9\""},
    {__LINE__, true, "steps.a.rows == 10.0"},
    {__LINE__, false, "steps.a.rows == '10.0'"},
    {__LINE__, true, "steps.a.rows == 1e1"},
    {__LINE__, true, "steps.a.rows == 1e+1"},
    {__LINE__, true, "steps.a.rows >= 10 and steps.a.rows <= 10"},
    {__LINE__, false, "steps.a.rows < 10"},
    {__LINE__, false, "steps.a.rows != 10"},
    {__LINE__, true, "steps.a.rows == params.ten"},
    {__LINE__, false, "params.big == 9007199254740992"}, /* whole numbers are exact */
    {__LINE__, true, "-2 < -1"},
    {__LINE__, true, "steps.o/i.n == 1000"},
    {__LINE__, true, "params.mode == \"full\""},
    {__LINE__, true, "params.mode == 'full'"},
    {__LINE__, false, "params.mode == 'Full'"},
    {__LINE__, true, "params.mode < 'g'"},
    {__LINE__, true, "steps.a.zh == '中文'"},
    {__LINE__, true, "'a\\'b\\\\' == \"a'b\\\\\""},
    {__LINE__, true, "'a\\n' == 'a\\\\n'"}, /* no other escapes */
    {__LINE__, true, "steps.a.trick == '\" or true'"},
    {__LINE__, false, "steps.a.trick == 'x'"}, /* a value is never read as an expression */
    {__LINE__, true, "steps.a.state == 'ok' and steps.b-c.state == 'failed'"},
    {__LINE__, true, "steps.b-c.exit_code in [1, 2, 3]"},
    {__LINE__, true, "params.mode in ['a','full']"},
    {__LINE__, false, "params.mode in ['a']"},
    {__LINE__, true, "not params.mode in ['a']"},
    {__LINE__, true, "10 in [steps.a.rows]"},
    {__LINE__, true, "steps.a.files contains 'y.csv'"},
    {__LINE__, false, "steps.a.files contains 'z'"},
    {__LINE__, true, "steps.a.files starts_with \"x.\""},
    {__LINE__, false, "steps.a.files starts_with 'y'"},
    {__LINE__, true, "true or false and false"},
    {__LINE__, false, "(true or false) and false"},
    {__LINE__, true, "(params.mode) == true"}, /* parentheses yield a truth */
    {__LINE__, true, "item == 'it' and index == 7 and instance == 'id'"},
    {__LINE__, false, "steps.a.missing"},
    {__LINE__, true, "steps.a.missing == ''"},
    {__LINE__, false, "steps.none.state == 'ok'"},
    {__LINE__, false, "steps.a.missing > 0"},
    {__LINE__, true, "steps.a.missing < 0"}, /* the empty text is no number, and before all */
    {__LINE__, true, " \t true \n"},
    {__LINE__, true, "((((true))))"},
};

static void expressions_have_values(void **state)
{
    (void)state;
    const struct ref_values from = {get, NULL};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct parse_error err = {0};
        bool got = !values[i].want;
        if (when_eval(values[i].text, &from, &got, &err) != OK)
            fail_msg("line %d: when:%d: %s", values[i].line, err.column, err.message);
        if (got != values[i].want)
            fail_msg("line %d: %d", values[i].line, got);
        assert_int_equal(when_check(values[i].text, NULL, &err), OK);
    }
}

static void what_does_not_count_is_not_looked_up(void **state)
{
    (void)state;
    const struct ref_values from = {get, NULL};
    struct parse_error err;
    bool got;
    asked = 0;
    assert_int_equal(when_eval("false and item == 1 or true or item", &from, &got, &err), OK);
    assert_true(got);
    assert_int_equal(asked, 0);
}

/* ---- mistakes ---- */

static const struct {
    int line;
    const char *text, *want;
} bad[] = {
    {__LINE__, "",
     "1: expected a value: params.NAME, steps.NAME.KEY, a number or a text in quotes"
     ", found the end"},
    {__LINE__, "  ", "3: expected a value"},
    {__LINE__, "steps.a.rows >", "15: expected a value"},
    {__LINE__, "steps.a.rows > and true", "16: \"and\" is unknown"},
    {__LINE__, "steps.a.rows = 1", "14: expected an operator, and, or, or the end, found ="},
    {__LINE__, "1 < 2 < 3", "7: expected an operator, and, or, or the end, found <"},
    {__LINE__, "true true", "6: expected an operator, and, or, or the end, found true"},
    {__LINE__, "(true", "6: expected an operator, and, or, or ), found the end"},
    {__LINE__, "true)", "5: expected an operator"},
    {__LINE__, "()", "2: expected a value"},
    {__LINE__, "params.mode == 'full", "16: the text that begins here has no end"},
    {__LINE__, "params.mode == 'full\\'", "16: the text that begins here has no end"},
    {__LINE__, "mode == 1", "1: \"mode\" is unknown; write params.NAME"},
    {__LINE__, "params.", "1: \"params.\" is no name of a parameter"},
    {__LINE__, "params.a-b", "1: \"params.a-b\" is no name of a parameter"},
    {__LINE__, "true and steps.a", "10: \"steps.a\" names a step, but no output of it"},
    {__LINE__, "steps.1.x", "1: \"steps.1.x\" is no reference to a step"},
    {__LINE__, "steps.a/.x", "1: \"steps.a/.x\" is no reference to a step"},
    {__LINE__, "steps.a.b.c", "1: \"steps.a.b.c\" has no key"},
    {__LINE__, "steps.a.9", "1: \"steps.a.9\" has no key"},
    {__LINE__, "steps.a.b-1", "1: \"steps.a.b-1\" has no key"},
    {__LINE__, "1.2.3 == 1", "1: \"1.2.3\" is unknown"},
    {__LINE__, "01 == 1", "1: \"01\" is unknown"},
    {__LINE__, "true in true", "9: expected [, the begin of a list, found true"},
    {__LINE__, "1 in []", "7: expected a value"},
    {__LINE__, "1 in [1", "8: expected , or ], found the end"},
    {__LINE__, "1 in [1 2]", "9: expected , or ], found 2"},
    {__LINE__, "1 in [1,]", "9: expected a value"},
    {__LINE__, "$(id)", "1: expected a value"},
    {__LINE__, "\x01", "1: expected a value"},
    {__LINE__, "params.none == 1", "1: \"params.none\" is not known here"},
    {__LINE__, "true or steps.z.state == 'ok'", "9: \"steps.z.state\" is not known here"},
};

static void mistakes_are_located(void **state)
{
    (void)state;
    const struct ref_names names = {complain, NULL};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct parse_error err = {0};
        char got[300];
        enum status st = when_check(bad[i].text, &names, &err);
        snprintf(got, sizeof(got), "%d: %s", err.column, err.message);
        if (st != E_INVALID || strncmp(got, bad[i].want, strlen(bad[i].want)) != 0)
            fail_msg("line %d: %s", bad[i].line, got);
    }
}

static void depth_and_length_are_bounded(void **state)
{
    (void)state;
    char text[STEP_WHEN_MAX + 2];
    struct parse_error err = {0};
    const int depths[] = {WHEN_DEPTH_MAX, WHEN_DEPTH_MAX + 1};
    for (int i = 0; i < 2; i++) {
        int n = depths[i];
        memset(text, '(', (size_t)n);
        text[n] = '1';
        memset(text + n + 1, ')', (size_t)n);
        text[2 * n + 1] = '\0';
        assert_int_equal(when_check(text, NULL, &err), i ? E_INVALID : OK);
    }
    assert_int_equal(err.column, WHEN_DEPTH_MAX + 2);
    struct strbuf many;
    strbuf_init(&many);
    for (int i = 0; i <= WHEN_DEPTH_MAX; i++)
        strbuf_adds(&many, "not ");
    strbuf_adds(&many, "1");
    assert_int_equal(when_check(many.text, NULL, &err), E_INVALID);
    /* One after the other they do not count. */
    strbuf_reset(&many);
    for (int i = 0; i < 60; i++)
        strbuf_adds(&many, "(1) and not ");
    strbuf_adds(&many, "1");
    assert_int_equal(when_check(many.text, NULL, &err), OK);
    strbuf_release(&many);
    memset(text, ' ', STEP_WHEN_MAX + 1);
    text[0] = '1';
    text[STEP_WHEN_MAX + 1] = '\0';
    assert_int_equal(when_check(text, NULL, &err), E_INVALID);
    text[STEP_WHEN_MAX] = '\0';
    assert_int_equal(when_check(text, NULL, &err), OK);
}

/* ---- in texts ---- */

static const struct {
    int line;
    const char *text, *want; /* NULL: nothing is wrong */
} texts[] = {
    {__LINE__, "", NULL},
    {__LINE__, "${params.mode} ${steps.a.rows}${item}", NULL},
    {__LINE__, "${HOME} ${x:-y} ${} ${", NULL}, /* for others to read */
    {__LINE__, "$${steps.z.y}", NULL},
    {__LINE__, "${params.mode}${params.none}", "15: ${params.none} is not known here"},
    {__LINE__, "${steps.a}", "1: ${steps.a} names a step"},
    {__LINE__, "${steps.}", "1: ${steps.} is no reference to a step"},
    {__LINE__, "x ${params.a b}", "3: ${params.a b} is no name"},
};

static void references_in_texts_are_checked(void **state)
{
    (void)state;
    const struct ref_names names = {complain, NULL};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct parse_error err = {0};
        char got[300] = "";
        if (refs_check(texts[i].text, &names, &err) != OK)
            snprintf(got, sizeof(got), "%d: %s", err.column, err.message);
        const char *want = texts[i].want ? texts[i].want : "";
        if (strncmp(got, want, strlen(want)) != 0 || (!*want && *got))
            fail_msg("line %d: %s", texts[i].line, got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_have_values),
        cmocka_unit_test(what_does_not_count_is_not_looked_up),
        cmocka_unit_test(mistakes_are_located),
        cmocka_unit_test(depth_and_length_are_bounded),
        cmocka_unit_test(references_in_texts_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
