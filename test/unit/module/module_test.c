#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "module.h"

/* The folder has peal-own.so of this build, peal-other.so of another version, peal-build.so of
 * this version and another build, and peal-none.so, which is no module. */
static void loads_only_its_own(void **state)
{
    static const struct {
        int line;
        const char *folder, *name;
        enum status want;
        const char *words; /* in the message */
    } cases[] = {
        {__LINE__, MODULES, "peal-own", OK, ""},
        {__LINE__, MODULES, "peal-own", OK, ""}, /* again */
        {__LINE__, MODULES, "peal-other", E_VERSION, "peal-other.so is of peal 0.0.1 old, and"},
        {__LINE__, MODULES, "peal-build", E_VERSION, " build 0123456789ab, and this is "},
        {__LINE__, MODULES, "peal-build", E_VERSION, ": install both from one build"},
        {__LINE__, MODULES, "peal-none", E_NOT_FOUND, "peal's part for Things can't be loaded"},
        {__LINE__, MODULES, "peal-missing", E_NOT_FOUND, "without Things: there is no " MODULES},
        {__LINE__, NULL, "peal-own", E_NOT_FOUND, "/lib/peal/peal-own.so"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        void (*open)(void) = NULL;
        struct strbuf why;
        strbuf_init(&why);
        enum status st = module_load(cases[i].folder, cases[i].name, "Things", &open, &why);
        if (st != cases[i].want || !strstr(why.length ? why.text : "", cases[i].words) ||
            (st == OK) != (open != NULL))
            fail_msg("line %d: %s: %s", cases[i].line, status_text(st), why.length ? why.text : "");
        strbuf_release(&why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(loads_only_its_own)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
