/* The canonical spelling: every form of the grammar as peal prints it, and that the print of an
 * expression is that expression. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cron/cron_expr.h"
#include "cron_check.h"
#include "random_cron.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static const struct {
    int line;
    const char *text, *canonical;
} cases[] = {
    {__LINE__, "0 0 * * SUN-SUN", "0 0 * * 0-6"},
    {__LINE__, "0 0 * * FRI-SUN", "0 0 * * 0,5,6"},
    {__LINE__, "* * * * * * */2", "* * * * * * 1970-9998/2"},
    {__LINE__, "0 0 0 29 2 * 2000-2100", "0 0 0 29 2 * 2000-2096/4"},
    {__LINE__, "0 0 0 1 1 * *", "0 0 1 1 *"},
    {__LINE__, "0000000001 * * * *", "1 * * * *"},
    {__LINE__, "* * * * *", "* * * * *"},
    {__LINE__, "  *	*  * * *  ", "* * * * *"},
    {__LINE__, "0 0 1 1 0", "0 0 1 1 0"},
    {__LINE__, "1,2,3,10 * * * *", "1-3,10 * * * *"},
    {__LINE__, "1,2 * * * *", "1,2 * * * *"},
    {__LINE__, "3,1,2 * * * *", "1-3 * * * *"},
    {__LINE__, "0-59 0-23 1-31 1-12 0-6", "0-59 0-23 1-31 1-12 0-6"},
    {__LINE__, "0-59/5 * * * *", "0-55/5 * * * *"},
    {__LINE__, "*/5 * * * *", "*/5 * * * *"},
    {__LINE__, "*/1 * * * *", "* * * * *"},
    {__LINE__, "*/7 * * * *", "*/7 * * * *"},
    {__LINE__, "*/60 * * * *", "*/60 * * * *"},
    {__LINE__, "*/30,15 * * * *", "*/30,15 * * * *"},
    {__LINE__, "*/2,*/3 * * * *", "*/2,3-57/6 * * * *"},
    {__LINE__, "1-59/2 * * * *", "1-59/2 * * * *"},
    {__LINE__, "5/15 * * * *", "5-50/15 * * * *"},
    {__LINE__, "50-10 * * * *", "0-10,50-59 * * * *"},
    {__LINE__, "50-10/5 * * * *", "0,5,10,50,55 * * * *"},
    {__LINE__, "0 22-2 * * *", "0 0-2,22,23 * * *"},
    {__LINE__, "0 0 * NOV-FEB *", "0 0 * 1,2,11,12 *"},
    {__LINE__, "0 0 * nov-Feb *", "0 0 * 1,2,11,12 *"},
    {__LINE__, "0 0 * JAN,3,mar *", "0 0 * 1,3 *"},
    {__LINE__, "0 0 28-3 * *", "0 0 1-3,28-31 * *"},
    {__LINE__, "0 0 * * 0-7", "0 0 * * 0-6"},
    {__LINE__, "0 0 * * 7", "0 0 * * 0"},
    {__LINE__, "0 0 * * 5-7", "0 0 * * 0,5,6"},
    {__LINE__, "0 0 * * 6-1", "0 0 * * 0,1,6"},
    {__LINE__, "0 0 * * SAT-MON", "0 0 * * 0,1,6"},
    {__LINE__, "0 0 * * SUN-TUE", "0 0 * * 0-2"},
    {__LINE__, "0 0 * * MON-SUN", "0 0 * * 0-6"},
    {__LINE__, "0 0 * * 7-2", "0 0 * * 0-2"},
    {__LINE__, "0 0 * * 1-7/2", "0 0 * * 0,1,3,5"},
    {__LINE__, "0 0 * * */7", "0 0 * * */7"},
    {__LINE__, "0 0 * * 1/2", "0 0 * * 1-5/2"},
    {__LINE__, "0 0 * * 7/2", "0 0 * * 0-6/2"},
    {__LINE__, "0 0 L * *", "0 0 L * *"},
    {__LINE__, "0 0 l * *", "0 0 L * *"},
    {__LINE__, "0 0 L-1 * *", "0 0 L-1 * *"},
    {__LINE__, "0 0 L-30,L,L-1 * *", "0 0 L,L-1,L-30 * *"},
    {__LINE__, "0 0 LW * *", "0 0 LW * *"},
    {__LINE__, "0 0 lw,15w,1W * *", "0 0 1W,15W,LW * *"},
    {__LINE__, "0 0 5,LW,1-3 * *", "0 0 1-3,5,LW * *"},
    {__LINE__, "0 0 */31,L * *", "0 0 */31,L * *"},
    {__LINE__, "0 0 * * 5L", "0 0 * * 5L"},
    {__LINE__, "0 0 * * FRIL", "0 0 * * 5L"},
    {__LINE__, "0 0 * * fril", "0 0 * * 5L"},
    {__LINE__, "0 0 * * fri#l", "0 0 * * 5L"},
    {__LINE__, "0 0 * * FRI#L", "0 0 * * 5L"},
    {__LINE__, "0 0 * * FRI#-1", "0 0 * * 5L"},
    {__LINE__, "0 0 * * 7#1", "0 0 * * 0#1"},
    {__LINE__, "0 0 * * 1#1,1#3", "0 0 * * 1#1,1#3"},
    {__LINE__, "0 0 * * 3,1#5,2#-5,0L", "0 0 * * 3,1#5,0L,2#-5"},
    {__LINE__, "0 0 ? * ?", "0 0 * * *"},
    {__LINE__, "0 0 13 * FRI", "0 0 13 * 5"},
    {__LINE__, "0 0 13 * +FRI", "0 0 13 * +5"},
    {__LINE__, "0 0 13 * +*", "0 0 13 * *"},
    {__LINE__, "0 0 * * +FRI", "0 0 * * 5"},
    {__LINE__, "0 0 */2 * +FRI", "0 0 */2 * 5"},
    {__LINE__, "0 0 1-31 * 0-6", "0 0 1-31 * 0-6"},
    {__LINE__, "0 0 L * FRI#1", "0 0 L * 5#1"},
    {__LINE__, "0 * * * * *", "* * * * *"},
    {__LINE__, "1 * * * * *", "1 * * * * *"},
    {__LINE__, "0-59 * * * * *", "0-59 * * * * *"},
    {__LINE__, "*/15 30 8 * * *", "*/15 30 8 * * *"},
    {__LINE__, "0 0 0 * * * 2030", "0 0 0 * * * 2030"},
    {__LINE__, "0 0 0 * * * 2030,2031", "0 0 0 * * * 2030,2031"},
    {__LINE__, "0 0 0 * * * 2030-2032,2040", "0 0 0 * * * 2030-2032,2040"},
    {__LINE__, "0 0 0 * * * 1970-9999", "0 0 * * *"},
    {__LINE__, "0 0 0 * * * */1", "0 0 * * *"},
    {__LINE__, "0 0 0 * * * 2030/1", "0 0 0 * * * 2030-9999"},
    {__LINE__, "0 0 0 29 2 * 2026-2040", "0 0 0 29 2 * 2028-2040/4"},
    {__LINE__, "0 0 0 29 2 * 2025-2027", "0 0 0 29 2 * 2025-2027"},
    {__LINE__, "0 0 31 2 *", "0 0 31 2 *"},
    {__LINE__, "00 09 01 01 *", "0 9 1 1 *"},
};

static void every_form_has_one_spelling(void **state)
{
    (void)state;
    struct strbuf out;
    strbuf_init(&out);
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct cron_expr expr, again;
        struct parse_error err;
        if (cron_expr_parse(&expr, cases[i].text, CRON_PEAL, NULL, &err) != OK)
            fail_msg("line %d: \"%s\" is refused at %d: %s", cases[i].line, cases[i].text,
                     err.column, err.message);
        strbuf_reset(&out);
        cron_expr_print(&expr, &out);
        if (strcmp(out.text, cases[i].canonical) != 0)
            fail_msg("line %d: \"%s\" prints \"%s\"", cases[i].line, cases[i].text, out.text);
        assert_int_equal(cron_expr_parse(&again, out.text, CRON_PEAL, NULL, &err), OK);
        if (!cron_expr_equal(&expr, &again))
            fail_msg("line %d: \"%s\" is not what \"%s\" means", cases[i].line, out.text,
                     cases[i].text);
        cron_expr_release(&expr);
        cron_expr_release(&again);
    }
    strbuf_release(&out);
}

/* Printing forgets nothing, and prints its own output unchanged. */
static void random_expressions_survive_printing(void **state)
{
    (void)state;
    uint64_t seed = random_seed();
    struct random random = random_new(seed);
    struct strbuf first, second;
    strbuf_init(&first);
    strbuf_init(&second);
    for (int i = 0; i < 5000 * random_rounds(); i++) {
        struct random_cron cron;
        struct cron_expr expr, again;
        random_cron_make(&random, RANDOM_CRON_ANY, &cron);
        assert_int_equal(cron_expr_parse(&expr, cron.text, CRON_PEAL, NULL, NULL), OK);
        strbuf_reset(&first);
        cron_expr_print(&expr, &first);
        if (cron_expr_parse(&again, first.text, CRON_PEAL, NULL, NULL) != OK)
            fail_msg("PEAL_SEED=%llu: \"%s\" prints as \"%s\", which is refused",
                     (unsigned long long)seed, cron.text, first.text);
        strbuf_reset(&second);
        cron_expr_print(&again, &second);
        if (!cron_expr_equal(&expr, &again) || strcmp(first.text, second.text) != 0)
            fail_msg("PEAL_SEED=%llu: \"%s\" prints as \"%s\", then as \"%s\"",
                     (unsigned long long)seed, cron.text, first.text, second.text);
        cron_expr_release(&expr);
        cron_expr_release(&again);
    }
    strbuf_release(&first);
    strbuf_release(&second);
}

static void different_expressions_are_not_equal(void **state)
{
    (void)state;
    static const char *const different[] = {
        "* * * * *",
        "* * * * * *",
        "0 * * * *",
        "0 0 * * *",
        "0 0 1-31 * *",
        "0 0 1 * *",
        "0 0 * * 1",
        "0 0 1 * 1",
        "0 0 1 * +1",
        "0 0 L * *",
        "0 0 LW * *",
        "0 0 1W * *",
        "0 0 L-1 * *",
        "0 0 * * 1#1",
        "0 0 * * 1L",
        "0 0 * * 1#-2",
        "0 0 * 1 *",
        "0 0 0 * * * 2030",
        "0 0 0 * * * 2031",
        "*/60 0 * * *",
        "0 0 31 2 *",
        "0 0 * * 0-6",
        "0 0 0 * * * 2030,2031",
    };
    for (size_t i = 0; i < ROWS(different); i++) {
        for (size_t k = 0; k < ROWS(different); k++) {
            struct cron_expr a, b;
            assert_int_equal(cron_expr_parse(&a, different[i], CRON_PEAL, NULL, NULL), OK);
            assert_int_equal(cron_expr_parse(&b, different[k], CRON_PEAL, NULL, NULL), OK);
            if (cron_expr_equal(&a, &b) != (i == k))
                fail_msg("\"%s\" and \"%s\"", different[i], different[k]);
            cron_expr_release(&a);
            cron_expr_release(&b);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_has_one_spelling),
        cmocka_unit_test(random_expressions_survive_printing),
        cmocka_unit_test(different_expressions_are_not_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
