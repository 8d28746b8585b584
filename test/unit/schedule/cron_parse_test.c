/* What the grammar refuses, where it points to, and what it says; and what it lets pass. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cron/cron_expr.h"
#include "cron_check.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

static const struct {
    int line;
    const char *text;
    int column;
    const char *message;
} refused[] = {
    /* The errors that the specification promises, word by word. */
    {__LINE__, "60 * * * *", 1, "minute 60 is out of range 0-59"},
    {__LINE__, "*/0 * * * *", 3, "a step is 1 or more"},
    {__LINE__, "*/61 * * * *", 3, "step 61 is larger than the field (0-59)"},
    {__LINE__, "0,, * * * *", 3, "empty list element"},
    {__LINE__, "5* * * * *", 2, "unexpected '*' after a number"},
    {__LINE__, "4294967301 * * * *", 1, "number too large"},
    {__LINE__, "0 0 * * 8", 9, "day of week 8 is out of range 0-7"},
    {__LINE__, "0 0 * * MONX", 9, "unknown weekday \"MONX\"; did you mean MON?"},
    {__LINE__, "0 0 * * 5#6", 11, "ordinal is 1..5, -1..-5 or L"},
    {__LINE__, "30 8 1 1 * 2030", 12,
     "day of week 2030; six fields are seconds-first, a year needs seven"},
    {__LINE__, "* * * *", 8, "expected 5 to 7 fields, found 4"},
    /* Number of fields */
    {__LINE__, "", 1, "the schedule is empty"},
    {__LINE__, "   ", 1, "the schedule is empty"},
    {__LINE__, "*", 2, "expected 5 to 7 fields, found 1"},
    {__LINE__, "* * * * * * * *", 15, "expected 5 to 7 fields, found 8"},
    /* Numbers, ranges and lists */
    {__LINE__, "- * * * *", 1, "unexpected '-' in the minute field; 0-59 is allowed"},
    {__LINE__, "-5 * * * *", 1, "unexpected '-' in the minute field; 0-59 is allowed"},
    {__LINE__, "5- * * * *", 3, "a value is missing after '-'"},
    {__LINE__, "5-, * * * *", 3, "a value is missing after '-'"},
    {__LINE__, "5-10- * * * *", 5, "unexpected '-' after a range"},
    {__LINE__, "5-10-15 * * * *", 5, "unexpected '-' after a range"},
    {__LINE__, "*5 * * * *", 2, "unexpected '5' after '*'"},
    {__LINE__, "** * * * *", 2, "unexpected '*' after '*'"},
    {__LINE__, "*-5 * * * *", 2, "unexpected '-' after '*'"},
    {__LINE__, "1.5 * * * *", 2, "unexpected '.' after a number"},
    {__LINE__, ",5 * * * *", 1, "empty list element"},
    {__LINE__, "5, * * * *", 3, "empty list element"},
    {__LINE__, "; * * * *", 1, "unexpected ';' in the minute field; 0-59 is allowed"},
    {__LINE__, "é * * * *", 1, "unexpected 'é' in the minute field; 0-59 is allowed"},
    {__LINE__, "0 24 * * *", 3, "hour 24 is out of range 0-23"},
    {__LINE__, "0 0 0 * *", 5, "day of month 0 is out of range 1-31"},
    {__LINE__, "0 0 32 * *", 5, "day of month 32 is out of range 1-31"},
    {__LINE__, "0 0 * 0 *", 7, "month 0 is out of range 1-12"},
    {__LINE__, "0 0 * 13 *", 7, "month 13 is out of range 1-12"},
    {__LINE__, "60 0 0 1 1 * 2030", 1, "second 60 is out of range 0-59"},
    {__LINE__, "99999999999999999999 * * * *", 1, "number too large"},
    {__LINE__, "1-4294967301 * * * *", 3, "number too large"},
    {__LINE__, "1-60 * * * *", 3, "minute 60 is out of range 0-59"},
    {__LINE__, "60-1 * * * *", 1, "minute 60 is out of range 0-59"},
    {__LINE__, "0 0 * * 1-8", 11, "day of week 8 is out of range 0-7"},
    {__LINE__, "0 0 * * 6-9", 11, "day of week 9 is out of range 0-7"},
    {__LINE__, "0 0 1,2,3,,4 * *", 11, "empty list element"},
    {__LINE__, "0 0 1 * *,", 11, "empty list element"},
    {__LINE__, "(0-5) * * * *", 1, "unexpected '(' in the minute field; 0-59 is allowed"},
    {__LINE__, "0 0 -5 * *", 5, "unexpected '-' in the day of month field; 1-31 is allowed"},
    {__LINE__, "0 0 * * -1", 9, "unexpected '-' in the day of week field; 0-7 is allowed"},
    /* Steps */
    {__LINE__, "1-2/ * * * *", 5, "a step is missing after '/'"},
    {__LINE__, "1-2/x * * * *", 5, "a step is a number, 1 or more"},
    {__LINE__, "1-2/3/4 * * * *", 6, "unexpected '/' after a step"},
    {__LINE__, "*/ * * * *", 3, "a step is missing after '/'"},
    {__LINE__, "*/-5 * * * *", 3, "a step is 1 or more"},
    {__LINE__, "*/5.5 * * * *", 4, "unexpected '.' after a step"},
    {__LINE__, "0 0 0 1 1 * */8031", 15, "step 8031 is larger than the field (1970-9999)"},
    {__LINE__, "*/4294967301 * * * *", 3, "number too large"},
    {__LINE__, "5/ * * * *", 3, "a step is missing after '/'"},
    {__LINE__, "5/0 * * * *", 3, "a step is 1 or more"},
    {__LINE__, "5/61 * * * *", 3, "step 61 is larger than the field (0-59)"},
    {__LINE__, "0 0 * * 1/8", 11, "step 8 is larger than the field (0-7)"},
    {__LINE__, "0 0 */32 * *", 7, "step 32 is larger than the field (1-31)"},
    {__LINE__, "0 0 * */13 *", 9, "step 13 is larger than the field (1-12)"},
    {__LINE__, "0 0 * * */8", 11, "step 8 is larger than the field (0-7)"},
    {__LINE__, "0 */25 * * *", 5, "step 25 is larger than the field (0-23)"},
    /* Names */
    {__LINE__, "a * * * *", 1, "unexpected \"a\"; minute is a number 0-59"},
    {__LINE__, "0 0 * JAM *", 7, "unknown month \"JAM\"; did you mean JAN?"},
    {__LINE__, "0 0 * JANUARY *", 7, "unknown month \"JANUARY\"; did you mean JAN?"},
    {__LINE__, "0 0 * MON *", 7, "\"MON\" is a weekday; this is the month field"},
    {__LINE__, "0 0 * * JAN", 9, "\"JAN\" is a month; this is the day of week field"},
    {__LINE__, "MON * * * *", 1, "\"MON\" is a weekday; this is the minute field"},
    {__LINE__, "0 0 * * MO", 9, "unknown weekday \"MO\"; did you mean MON?"},
    {__LINE__, "0 0 * * M", 9, "unknown weekday \"M\""},
    {__LINE__, "0 0 * * XYZ", 9, "unknown weekday \"XYZ\""},
    {__LINE__, "0 0 * * MON-FRIX", 13, "unknown weekday \"FRIX\"; did you mean FRI?"},
    {__LINE__, "0 0 * * MON-", 13, "a value is missing after '-'"},
    {__LINE__, "0 0 * * MON-FRI-SUN", 16, "unexpected '-' after a range"},
    {__LINE__, "0 0 * JAN-QQQ *", 11, "unknown month \"QQQ\""},
    {__LINE__, "0 0 * * MONDAY", 9, "unknown weekday \"MONDAY\"; did you mean MON?"},
    {__LINE__, "0 0 * * TEU", 9, "unknown weekday \"TEU\"; did you mean THU?"},
    {__LINE__, "0 0 JAN * *", 5, "\"JAN\" is a month; this is the day of month field"},
    {__LINE__, "0 0 * * 0x1", 10, "unexpected 'x' after a number"},
    /* Last, nearest and nth days */
    {__LINE__, "0 0 * * L", 9, "L alone does not say which day; 6L is the last Saturday"},
    {__LINE__, "0 0 L * L", 9, "L alone does not say which day; 6L is the last Saturday"},
    {__LINE__, "L * * * *", 1, "unexpected \"L\"; minute is a number 0-59"},
    {__LINE__, "0 0 L-0 * *", 7, "L-0 is out of range: L-1 to L-30 count back from the last day"},
    {__LINE__, "0 0 L-31 * *", 7, "L-31 is out of range: L-1 to L-30 count back from the last day"},
    {__LINE__, "0 0 L-x * *", 7, "unexpected 'x' after L-"},
    {__LINE__, "0 0 L- * *", 7, "a value is missing after L-"},
    {__LINE__, "0 0 LL * *", 5, "unexpected \"LL\"; day of month is a number 1-31"},
    {__LINE__, "0 0 LWW * *", 5, "unexpected \"LWW\"; day of month is a number 1-31"},
    {__LINE__, "0 0 W * *", 5, "W needs a day before it: 15W is the workday nearest to the 15th"},
    {__LINE__, "0 0 32W * *", 5, "day of month 32 is out of range 1-31"},
    {__LINE__, "0 0 0W * *", 5, "day of month 0 is out of range 1-31"},
    {__LINE__, "0 0 1-5W * *", 8, "unexpected 'W' after a range"},
    {__LINE__, "0 0 15WL * *", 8,
     "unexpected 'L' in the day of month field; it is for the day of week"},
    {__LINE__, "0 0 * * 5W", 10,
     "unexpected 'W' in the day of week field; it is for the day of month"},
    {__LINE__, "0 0 5L * *", 6,
     "unexpected 'L' in the day of month field; it is for the day of week"},
    {__LINE__, "0 0 5#2 * *", 6,
     "unexpected '#' in the day of month field; it is for the day of week"},
    {__LINE__, "0 0 * * 5#0", 11, "ordinal is 1..5, -1..-5 or L"},
    {__LINE__, "0 0 * * 5#", 11, "ordinal is 1..5, -1..-5 or L"},
    {__LINE__, "0 0 * * 5#-6", 11, "ordinal is 1..5, -1..-5 or L"},
    {__LINE__, "0 0 * * 5##2", 11, "ordinal is 1..5, -1..-5 or L"},
    {__LINE__, "0 0 * * #2", 9, "unexpected '#' in the day of week field; 0-7 is allowed"},
    {__LINE__, "0 0 * * 8#1", 9, "day of week 8 is out of range 0-7"},
    {__LINE__, "0 0 * * 5#2-3", 12, "unexpected '-' after an ordinal"},
    {__LINE__, "0 0 * * 1-5#2", 12, "unexpected '#' after a range"},
    {__LINE__, "0 0 * * 5L-6", 11, "unexpected '-' after L"},
    {__LINE__, "0 0 * * 5#4294967301", 11, "ordinal is 1..5, -1..-5 or L"},
    {__LINE__, "0 0 L-4294967301 * *", 7, "number too large"},
    {__LINE__, "0 0 * * SATL,XL", 14, "unknown weekday \"XL\""},
    {__LINE__, "0 0 * * MONLL", 9, "unknown weekday \"MONLL\"; did you mean MON?"},
    {__LINE__, "0 0 1W-5 * *", 7, "unexpected '-' after W"},
    {__LINE__, "0 0 W15 * *", 5, "W needs a day before it: 15W is the workday nearest to the 15th"},
    {__LINE__, "0 0 * * 5#-", 11, "ordinal is 1..5, -1..-5 or L"},
    {__LINE__, "0 0 * * 5#1#2", 12, "unexpected '#' after an ordinal"},
    {__LINE__, "0 0 * * 5#LL", 11, "ordinal is 1..5, -1..-5 or L"},
    {__LINE__, "0 0 * * #", 9, "unexpected '#' in the day of week field; 0-7 is allowed"},
    /* ? */
    {__LINE__, "? * * * *", 1,
     "'?' is for the two day fields; use H to spread jobs by their names"},
    {__LINE__, "0 ? * * *", 3,
     "'?' is for the two day fields; use H to spread jobs by their names"},
    {__LINE__, "0 0 ?,5 * *", 5, "'?' stands alone in its field"},
    {__LINE__, "0 0 5,? * *", 7, "'?' stands alone in its field"},
    {__LINE__, "0 0 ?/2 * *", 5, "'?' stands alone in its field"},
    {__LINE__, "0 0 * ? *", 7,
     "'?' is for the two day fields; use H to spread jobs by their names"},
    {__LINE__, "0 0 0 1 1 * ?", 13, "'?' is for the two day fields"},
    {__LINE__, "0 0 ?\? * *", 5, "'?' stands alone in its field"},
    {__LINE__, "0 0 * * ?L", 9, "'?' stands alone in its field"},
    {__LINE__, "* * * * * ? ?", 13, "'?' is for the two day fields"},
    {__LINE__, "!?* * * * *", 1, "unexpected '!' in the minute field; 0-59 is allowed"},
    /* A leading + */
    {__LINE__, "0 0 * * +", 10, "a day of week is missing after '+'"},
    {__LINE__, "0 0 * * +8", 10, "day of week 8 is out of range 0-7"},
    {__LINE__, "0 0 + * *", 5,
     "unexpected '+' in the day of month field; it is for the day of week"},
    {__LINE__, "0 0 +5 * 1", 5,
     "unexpected '+' in the day of month field; it is for the day of week"},
    {__LINE__, "0 0 * * ++1", 10, "'+' stands once, first in the day of week field"},
    {__LINE__, "0 0 * * MON,+TUE", 13, "'+' stands once, first in the day of week field"},
    /* H, ~ and R */
    {__LINE__, "H(5) * * * *", 4, "unexpected ')' after a number"},
    {__LINE__, "H(5-) * * * *", 5, "unexpected ')' after '-'"},
    {__LINE__, "H(10-5) * * * *", 3, "a range inside H(...) goes from low to high"},
    {__LINE__, "H(0-60) * * * *", 5, "minute 60 is out of range 0-59"},
    {__LINE__, "H(0-5 * * * *", 6, "')' is missing"},
    {__LINE__, "H() * * * *", 3, "unexpected ')' after '('"},
    {__LINE__, "H5 * * * *", 2, "unexpected '5' after H"},
    {__LINE__, "HH * * * *", 1, "unexpected \"HH\"; minute is a number 0-59"},
    {__LINE__, "H/0 * * * *", 3, "a step is 1 or more"},
    {__LINE__, "H/61 * * * *", 3, "step 61 is larger than the field (0-59)"},
    {__LINE__, "H-5 * * * *", 2, "unexpected '-' after H"},
    {__LINE__, "10~5 * * * *", 1, "a range around '~' goes from low to high"},
    {__LINE__, "1~2~3 * * * *", 4, "unexpected '~' after a range"},
    {__LINE__, "~~ * * * *", 2, "unexpected '~' after '~'"},
    {__LINE__, "~* * * * *", 2, "unexpected '*' after '~'"},
    {__LINE__, "R5 * * * *", 2, "unexpected '5' after R"},
    {__LINE__, "R/5 * * * *", 2, "unexpected '/' after R"},
    {__LINE__, "5-R * * * *", 3, "unexpected \"R\"; minute is a number 0-59"},
    {__LINE__, "0 0 0 1 1 * H", 13, "H can't choose a year"},
    {__LINE__, "0 0 0 1 1 * ~", 13, "'~' can't choose a year"},
    {__LINE__, "0 0 0 1 1 * R", 13, "R can't choose a year"},
    {__LINE__, "0 0 0 1 1 * 2020~2030", 13, "'~' can't choose a year"},
    {__LINE__, "H(0-5)) * * * *", 7, "unexpected ')' after H(...)"},
    {__LINE__, "H(0~5) * * * *", 4, "unexpected '~' after a number"},
    {__LINE__, "H(0-5)/ * * * *", 8, "a step is missing after '/'"},
    {__LINE__, "H(a-b) * * * *", 3, "unexpected \"a\"; minute is a number 0-59"},
    {__LINE__, "1,H(0-5)x * * * *", 9, "unexpected 'x' after H(...)"},
    {__LINE__, "~/0 * * * *", 3, "a step is 1 or more"},
    {__LINE__, "0~59/ * * * *", 6, "a step is missing after '/'"},
    {__LINE__, "0~60 * * * *", 3, "minute 60 is out of range 0-59"},
    {__LINE__, "0 0 * * FRI~MON", 9, "a range around '~' goes from low to high"},
    /* Years */
    {__LINE__, "0 0 0 1 1 * 1969", 13, "year 1969 is out of range 1970-9999"},
    {__LINE__, "0 0 0 1 1 * 10000", 13, "year 10000 is out of range 1970-9999"},
    {__LINE__, "0 0 0 1 1 * 2030-2020", 13, "ranges go from low to high in the year field"},
    {__LINE__, "0 8 1 1 * 2030-2035", 11,
     "day of week 2030; six fields are seconds-first, a year needs seven"},
};

static void errors_say_where_and_why(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS(refused); i++) {
        struct parse_error err = {0};
        struct cron_expr expr, untouched;
        memset(&expr, 0x5a, sizeof(expr));
        memset(&untouched, 0x5a, sizeof(untouched));
        enum status st = cron_expr_parse(&expr, refused[i].text, CRON_PEAL, NULL, &err);
        if (st != E_INVALID)
            fail_msg("line %d: \"%s\" gives status %d", refused[i].line, refused[i].text, st);
        if (err.column != refused[i].column || strcmp(err.message, refused[i].message) != 0)
            fail_msg("line %d: \"%s\" says :%d %s", refused[i].line, refused[i].text, err.column,
                     err.message);
        if (memcmp(&expr, &untouched, sizeof(expr)) != 0)
            fail_msg("line %d: \"%s\" wrote to its output", refused[i].line, refused[i].text);
        /* Whoever does not care for the reason passes NULL. */
        assert_int_equal(cron_expr_parse(&expr, refused[i].text, CRON_PEAL, NULL, NULL), E_INVALID);
    }
}

/* A message must stay valid UTF-8 whatever bytes it quotes: it travels in JSON. */
static void odd_bytes_are_shown_safely(void **state)
{
    (void)state;
    static const struct {
        int line;
        const char *text, *shown;
    } cases[] = {
        {__LINE__, "\xc3\xa9 * * * *", "'\xc3\xa9'"},
        {__LINE__, "\xe2\x88\x97 * * * *", "'\xe2\x88\x97'"},
        {__LINE__, "\xf0\x9f\x98\x80 * * * *", "'\xf0\x9f\x98\x80'"},
        {__LINE__, "\xc3 * * * *", "\\xc3"},
        {__LINE__, "\xa9 * * * *", "\\xa9"},
        {__LINE__, "\xc0\xaf * * * *", "\\xc0"},
        {__LINE__, "\xe0\x80\xaf * * * *", "\\xe0"},
        {__LINE__, "\xed\xa0\x80 * * * *", "\\xed"},
        {__LINE__, "\xf4\x90\x80\x80 * * * *", "\\xf4"},
        {__LINE__, "\xf8\x88\x80\x80 * * * *", "\\xf8"},
        {__LINE__, "\xe2\x88", "\\xe2"},
        {__LINE__, "\x01 * * * *", "\\x01"},
        {__LINE__, "\x7f * * * *", "\\x7f"},
        {__LINE__, "5\xc2\xa0 * * * *", "'\xc2\xa0'"},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct parse_error err = {0};
        struct cron_expr expr;
        char text[64];
        strcpy(text, cases[i].text);
        if (!strchr(text, ' '))
            strcat(text, "\t* * * *");
        assert_int_equal(cron_expr_parse(&expr, text, CRON_PEAL, NULL, &err), E_INVALID);
        char wanted[64] = "unexpected ";
        strcat(wanted, cases[i].shown);
        if (strncmp(err.message, wanted, strlen(wanted)) != 0)
            fail_msg("line %d: says %s", cases[i].line, err.message);
    }
}

static void long_words_are_cut(void **state)
{
    (void)state;
    struct parse_error err = {0};
    struct cron_expr expr;
    char text[1000] = "0 0 * * ";
    memset(text + 8, 'x', sizeof(text) - 9);
    assert_int_equal(cron_expr_parse(&expr, text, CRON_PEAL, NULL, &err), E_INVALID);
    assert_int_equal(err.column, 9);
    assert_string_equal(err.message, "unknown weekday \"xxxxxxxxxxxxxxxxxxxx\"");
}

/* Any white space between the fields, and around them. */
static void white_space_may_repeat(void **state)
{
    (void)state;
    static const char *const texts[] = {"1 2 3 4 5", "  1  2  3  4  5  ", "\t1\t2 3 \t4 5\n",
                                        "1\r\n2 3 4 5"};
    struct cron_expr first, other;
    assert_int_equal(cron_expr_parse(&first, texts[0], CRON_PEAL, NULL, NULL), OK);
    for (size_t i = 0; i < ROWS(texts); i++) {
        assert_int_equal(cron_expr_parse(&other, texts[i], CRON_PEAL, NULL, NULL), OK);
        if (!cron_expr_equal(&first, &other))
            fail_msg("\"%s\" differs", texts[i]);
    }
}

/* `a/n` and what is drawn leave a note for the warnings; "fixed" decides about DST. */
static void notes_and_the_dst_rule(void **state)
{
    (void)state;
    static const struct {
        int line;
        const char *text;
        unsigned notes;
        bool fixed;
    } cases[] = {
        {__LINE__, "0 0 * * *", 0, true},
        {__LINE__, "30 2 * * SUN", 0, true},
        {__LINE__, "5/15 2 * * *", CRON_NOTE_OPEN_STEP, true},
        {__LINE__, "H H * * *", CRON_NOTE_SEEDED_NAME, true},
        {__LINE__, "~ 2 * * *", CRON_NOTE_SEEDED_UID, true},
        {__LINE__, "R H * * *", CRON_NOTE_SEEDED_UID | CRON_NOTE_SEEDED_NAME, true},
        {__LINE__, "0-58 0-22 * * *", 0, true},
        {__LINE__, "0-59 2 * * *", 0, false},
        {__LINE__, "0-29,30-59 2 * * *", 0, false},
        {__LINE__, "0 0-23 * * *", 0, false},
        {__LINE__, "0 */24 * * *", 0, false},
        {__LINE__, "*/60 2 * * *", 0, false},
        {__LINE__, "5,*/30 2 * * *", 0, false},
        {__LINE__, "* 0 2 * * *", 0, false},
        {__LINE__, "0-59 0 2 * * *", 0, false},
        {__LINE__, "30 0 2 * * *", 0, true},
        {__LINE__, "50-49 2 * * *", 0, false},
    };
    for (size_t i = 0; i < ROWS(cases); i++) {
        struct cron_expr expr;
        assert_int_equal(cron_expr_parse(&expr, cases[i].text, CRON_PEAL, NULL, NULL), OK);
        if (expr.notes != cases[i].notes || cron_expr_is_fixed(&expr) != cases[i].fixed)
            fail_msg("line %d: \"%s\" has notes %u, fixed %d", cases[i].line, cases[i].text,
                     expr.notes, cron_expr_is_fixed(&expr));
        cron_expr_release(&expr);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_say_where_and_why), cmocka_unit_test(odd_bytes_are_shown_safely),
        cmocka_unit_test(long_words_are_cut),       cmocka_unit_test(white_space_may_repeat),
        cmocka_unit_test(notes_and_the_dst_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
