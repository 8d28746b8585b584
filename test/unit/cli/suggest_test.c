#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/suggest.h"

static void finds_the_nearest(void **state)
{
    static const char *const names[] = {"next", "explain", "validate", "version"};
    static const struct {
        int line;
        const char *word, *want; /* NULL: none is near */
    } cases[] = {
        {__LINE__, "next", "next"},
        {__LINE__, "nxt", "next"},
        {__LINE__, "nexxt", "next"},
        {__LINE__, "enxt", "next"}, /* two letters swapped count as one mistake */
        {__LINE__, "explian", "explain"},
        {__LINE__, "exlpian", "explain"},
        {__LINE__, "vresion", "version"},
        {__LINE__, "validat", "validate"},
        {__LINE__, "ver", "version"}, /* cut short */
        {__LINE__, "expl", "explain"},
        {__LINE__, "ve", NULL},
        {__LINE__, "n", NULL},
        {__LINE__, "", NULL},
        {__LINE__, "delete", NULL},
        {__LINE__, "validatevalidatevalidatevalidatevalidate", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct suggestion best = suggest_start(cases[i].word, strlen(cases[i].word));
        for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
            suggest_offer(&best, names[n]);
        const char *got = best.name ? best.name : "none";
        const char *want = cases[i].want ? cases[i].want : "none";
        if (strcmp(got, want) != 0)
            fail_msg("line %d: %s: got %s, want %s", cases[i].line, cases[i].word, got, want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_nearest),
    };
    return cmocka_run_group_tests_name("suggest", tests, NULL, NULL);
}
