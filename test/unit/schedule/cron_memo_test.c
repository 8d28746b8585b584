/* What is remembered is what parsing gives, and only what depends on the text alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cron/cron_memo.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static const struct cron_seed seeds[] = {{"a/job", "01M7PMVSNJ0000000000000001"},
                                         {"another", "01M7PMVSNJ0000000000000002"}};

static const struct {
    int line;
    const char *text;
    enum status want;
} cases[] = {
    {__LINE__, "* * * * *", OK},
    {__LINE__, "5 3 * * *", OK},
    {__LINE__, "5 3 * * 1", OK},
    {__LINE__, " 5  3 * * 1 ", OK},
    {__LINE__, "*/7 1-5,8 1,15 * 0-6/2", OK},
    {__LINE__, "0 */10 1-5 1,15 * 0", OK},              /* 23 bytes: the longest */
    {__LINE__, "0,1,2,3,4,5,6,7,8,9 1-5 1,15 * 0", OK}, /* is not kept */
    {__LINE__, "0 0 2 * * * 2030", OK},                 /* years own memory */
    {__LINE__, "H H * * *", OK},                        /* by the name */
    {__LINE__, "~ ~ * * *", OK},                        /* by the uid */
    {__LINE__, "0 0 * * MON", OK},
    {__LINE__, "0 0 L * *", OK},
    {__LINE__, "60 * * * *", E_INVALID},
    {__LINE__, "* * * *", E_INVALID},
    {__LINE__, "", E_INVALID},
    {__LINE__, "nonsense", E_INVALID},
};

/* Parses the text with the memo and without it, and compares. */
static void check(struct cron_memo *memo, const char *text, const struct cron_seed *seed,
                  enum status want, int line)
{
    struct cron_expr bare = {0}, known = {0};
    struct parse_error bare_error = {0}, error = {0};
    enum status bare_st = cron_expr_parse(&bare, text, CRON_PEAL, seed, &bare_error);
    enum status st = cron_memo_parse(memo, &known, text, seed, &error);
    if (bare_st != want || st != want)
        fail_msg("line %d: %d and %d", line, bare_st, st);
    if (st != OK &&
        (strcmp(bare_error.message, error.message) != 0 || bare_error.column != error.column))
        fail_msg("line %d: %s", line, error.message);
    if (st == OK && memcmp(&bare, &known, offsetof(struct cron_expr, years)) != 0)
        fail_msg("line %d: another expression", line);
    if (st == OK && !bare.years != !known.years)
        fail_msg("line %d: other years", line);
    if (bare_st == OK)
        cron_expr_release(&bare);
    if (st == OK)
        cron_expr_release(&known);
}

static void what_is_known_is_what_is_parsed(void **state)
{
    struct cron_memo *memo = cron_memo_new();
    (void)state;
    assert_non_null(memo);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < ROWS(cases); i++) {
            for (size_t seed = 0; seed < ROWS(seeds); seed++) {
                check(memo, cases[i].text, &seeds[seed], cases[i].want, cases[i].line);
                check(NULL, cases[i].text, &seeds[seed], cases[i].want, cases[i].line);
            }
        }
    }
    cron_memo_free(memo);
}

/* More than there are places: texts take each other's, and come back. */
static void many_texts_do_not_mix(void **state)
{
    struct cron_memo *memo = cron_memo_new();
    char text[24];
    (void)state;
    assert_non_null(memo);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 60 * 24 * 3; i++) {
            snprintf(text, sizeof(text), "%d %d %d * *", i % 60, i / 60 % 24, i / 1440 + 1);
            check(memo, text, &seeds[0], OK, i);
        }
    }
    cron_memo_free(memo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_known_is_what_is_parsed),
        cmocka_unit_test(many_texts_do_not_mix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
