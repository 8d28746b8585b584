/* The table of settings: what is derived from it has no clashes and no gaps. */
#include "config/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/agent_config.h"

static void every_row_is_whole(void **state)
{
    (void)state;
    for (const struct setting *each = settings; each->name; each++) {
        if (!each->sample || !each->help[LANGUAGE_EN] || !each->help[LANGUAGE_ZH])
            fail_msg("%s lacks a sample or a help", each->name);
        if (setting_find(each->name) != each)
            fail_msg("%s is there twice", each->name);
        if ((each->kind == SETTING_OWN || each->kind == SETTING_PAIRS) != (each->set != NULL))
            fail_msg("%s has no function, or one too many", each->name);
    }
}

/* Variables that mean something else: of the command line, and of runs. */
static void a_variable_is_of_one_thing(void **state)
{
    char variable[SETTING_VARIABLE_SIZE];
    (void)state;
    for (const char *const *other = variables_besides; *other; other++)
        assert_null(setting_of_variable(*other));
    for (const struct setting *each = settings; each->name; each++) {
        setting_variable(each, variable);
        if (setting_of_variable(variable) != each)
            fail_msg("%s is of two settings", variable);
    }
}

static void pairs_are_put_together(void **state)
{
    static const struct {
        const char *setting, *give[4], *want;
    } rows[] = {
        {"labels", {"zone=eu", "disk=ssd"}, "zone=eu,disk=ssd"},
        {"labels", {"zone=eu", "disk=ssd", "zone=us"}, "disk=ssd,zone=us"},
        {"labels", {"zone", "zones=3", "zone=us"}, "zones=3,zone=us"},
        {"quotas.namespaces", {"a=1", "a/b=2", "a=3"}, "a/b=2,a=3"},
        {"max_running", {"1", "2"}, "2"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct setting *setting = setting_find(rows[i].setting);
        struct agent_config config;
        agent_config_init(&config);
        assert_null(agent_config_origin(&config, setting));
        for (int k = 0; rows[i].give[k]; k++) {
            struct parse_error err = {0};
            assert_int_equal(agent_config_give(&config, setting, rows[i].give[k], "--option", &err),
                             OK);
        }
        assert_string_equal(agent_config_value(&config, setting), rows[i].want);
        assert_string_equal(agent_config_origin(&config, setting), "--option");
        agent_config_release(&config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_whole),
        cmocka_unit_test(a_variable_is_of_one_thing),
        cmocka_unit_test(pairs_are_put_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
