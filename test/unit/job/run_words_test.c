/* Every state, cause and reason has words in both languages, and the console has the same ones. */
#include "run_words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the above first */
#include <cmocka.h>

#define WORDS "web/src/i18n/common.ts"

static const char *state_name(int number)
{
    return run_state_name((enum run_state)number);
}

static const char *state_text(int number, enum language language)
{
    return run_state_text((enum run_state)number, language);
}

static const char *cause_name(int number)
{
    return run_cause_name((enum run_cause)number);
}

static const char *cause_text(int number, enum language language)
{
    return run_cause_text((enum run_cause)number, language);
}

static const char *reason_name(int number)
{
    return run_reason_name((enum run_reason)number);
}

static const char *reason_text(int number, enum language language)
{
    return run_reason_text((enum run_reason)number, language);
}

static const struct {
    const char *kind;
    int first, end;
    const char *(*name)(int number);
    const char *(*text)(int number, enum language language);
} tables[] = {
    {"state", 0, RUN_STATES, state_name, state_text},
    {"cause", 0, CAUSES, cause_name, cause_text},
    {"reason", REASON_NONE + 1, REASONS, reason_name, reason_text},
};

enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

static bool is_chinese(const char *text)
{
    return strpbrk(text, "\xe4\xe5\xe6\xe7\xe8\xe9") != NULL;
}

static void every_one_has_words(void **state)
{
    (void)state;
    for (int i = 0; i < TABLES; i++) {
        for (int k = tables[i].first; k < tables[i].end; k++) {
            if (!*tables[i].text(k, LANGUAGE_EN) || is_chinese(tables[i].text(k, LANGUAGE_EN)) ||
                !is_chinese(tables[i].text(k, LANGUAGE_ZH)))
                fail_msg("%s %s", tables[i].kind, tables[i].name(k));
        }
    }
    for (int k = REASON_NONE + 1; k < REASONS; k++) {
        enum run_reason reason = (enum run_reason)k;
        assert_true(is_chinese(run_reason_brief(reason, LANGUAGE_ZH)));
        assert_string_equal(run_reason_brief(reason, LANGUAGE_EN), run_reason_name(reason));
    }
}

static void newer_ones_have_their_names(void **state)
{
    (void)state;
    assert_string_equal(run_state_text((enum run_state)1000, LANGUAGE_ZH), "state-1000");
    assert_string_equal(run_cause_text((enum run_cause)1000, LANGUAGE_ZH), "cause-1000");
    assert_string_equal(run_reason_brief((enum run_reason)1000, LANGUAGE_ZH), "reason-1000");
    assert_true(is_chinese(run_reason_text((enum run_reason)1000, LANGUAGE_ZH)));
}

/* The console begins states with a capital, or has them in capitals. */
static void the_console_says_the_same(void **state)
{
    char path[4096], *text = NULL;
    size_t size = 0;
    const char *source = getenv("PEAL_SOURCE");
    (void)state;
    snprintf(path, sizeof(path), "%s/" WORDS, source ? source : ".");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(getdelim(&text, &size, '\0', file) > 0);
    fclose(file);
    for (int i = 0; i < TABLES; i++) {
        for (int k = tables[i].first; k < tables[i].end; k++) {
            char line[400];
            for (enum language language = LANGUAGE_EN; language < LANGUAGES; language++) {
                snprintf(line, sizeof(line), "\"%s.%s\": \"%s\"", tables[i].kind, tables[i].name(k),
                         tables[i].text(k, language));
                if (!strcasestr(text, line))
                    fail_msg(WORDS " has no %s", line);
            }
        }
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_one_has_words),
        cmocka_unit_test(newer_ones_have_their_names),
        cmocka_unit_test(the_console_says_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
