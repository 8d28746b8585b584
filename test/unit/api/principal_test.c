/* Scopes: whose rights reach how far. */
#include "auth/principal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the four above first */
#include <cmocka.h>

static const struct scope everywhere = {.rights = ROLE_OPERATOR};
static const struct scope team = {.grant_count = 2,
                                  .grants = {{"team", ROLE_VIEWER}, {"team/db", ROLE_EDITOR}}};
static const struct scope both = {
    .rights = ROLE_VIEWER, .grant_count = 1, .grants = {{"team", ROLE_EDITOR}}};
static const struct scope nothing = {.rights = ROLE_NONE};

static void test_may(void **state)
{
    static const struct {
        int line;
        const struct scope *scope;
        enum right right;
        const char *job;
        bool may;
    } cases[] = {
        {__LINE__, &everywhere, RIGHT_OPERATE, "a", true},
        {__LINE__, &everywhere, RIGHT_OPERATE, "team/a", true},
        {__LINE__, &everywhere, RIGHT_OPERATE, NULL, true},
        {__LINE__, &everywhere, RIGHT_EDIT, "a", false},
        {__LINE__, &team, RIGHT_VIEW, "team/a", true},
        {__LINE__, &team, RIGHT_VIEW, "team/a/b", true},
        {__LINE__, &team, RIGHT_VIEW, "team", false}, /* is in no namespace */
        {__LINE__, &team, RIGHT_VIEW, "teams/a", false},
        {__LINE__, &team, RIGHT_VIEW, "a/team/a", false},
        {__LINE__, &team, RIGHT_VIEW, NULL, false},
        {__LINE__, &team, RIGHT_EDIT, "team/a", false},
        {__LINE__, &team, RIGHT_EDIT, "team/db/a", true},
        {__LINE__, &team, RIGHT_EDIT, "team/dba", false},
        {__LINE__, &both, RIGHT_VIEW, "other/a", true},
        {__LINE__, &both, RIGHT_DEFINE, "team/a", true},
        {__LINE__, &both, RIGHT_DEFINE, "other/a", false},
        {__LINE__, &nothing, RIGHT_VIEW, "team/a", false},
        {__LINE__, &nothing, RIGHT_PUBLIC, NULL, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (scope_may(cases[i].scope, cases[i].right, cases[i].job) != cases[i].may)
            fail_msg("line %d", cases[i].line);
    }
    assert_true(scope_may_somewhere(&team, RIGHT_DEFINE));
    assert_false(scope_may_somewhere(&team, RIGHT_ADMIN));
    assert_true(scope_is_whole(&both));
    assert_false(scope_is_whole(&team));
}

/* Both ways round it is the same, and never more than one of them. */
static void test_intersect(void **state)
{
    static const struct {
        int line;
        const struct scope *a, *b;
        enum right right;
        const char *job;
        bool may;
    } cases[] = {
        {__LINE__, &everywhere, &team, RIGHT_VIEW, "team/a", true},
        {__LINE__, &everywhere, &team, RIGHT_VIEW, "other/a", false},
        {__LINE__, &everywhere, &team, RIGHT_OPERATE, "team/db/a", true},
        {__LINE__, &everywhere, &team, RIGHT_EDIT, "team/db/a", false},
        {__LINE__, &both, &team, RIGHT_EDIT, "team/db/a", true},
        {__LINE__, &both, &team, RIGHT_EDIT, "team/a", false},
        {__LINE__, &both, &team, RIGHT_VIEW, NULL, false},
        {__LINE__, &both, &everywhere, RIGHT_OPERATE, "team/a", true},
        {__LINE__, &both, &everywhere, RIGHT_OPERATE, "a", false},
        {__LINE__, &both, &everywhere, RIGHT_VIEW, "a", true},
        {__LINE__, &both, &nothing, RIGHT_VIEW, "team/a", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct scope common, other;
        scope_intersect(cases[i].a, cases[i].b, &common);
        scope_intersect(cases[i].b, cases[i].a, &other);
        if (scope_may(&common, cases[i].right, cases[i].job) != cases[i].may ||
            scope_may(&other, cases[i].right, cases[i].job) != cases[i].may)
            fail_msg("line %d", cases[i].line);
        assert_true(scope_contains(cases[i].a, &common));
        assert_true(scope_contains(cases[i].b, &common));
    }
    assert_false(scope_contains(&team, &both));
    assert_false(scope_contains(&everywhere, &team));
    assert_true(scope_contains(&both, &nothing));
}

static void test_copy(void **state)
{
    struct principal principal = {.kind = PRINCIPAL_USER, .name = "anna", .scope = team};
    struct principal *copy = principal_copy(&principal);
    (void)state;
    assert_non_null(copy);
    assert_string_equal(copy->name, "anna");
    assert_true(scope_may(&copy->scope, RIGHT_EDIT, "team/db/a"));
    free(copy);
}

static void test_roles(void **state)
{
    unsigned rights = 77;
    (void)state;
    assert_true(role_by_name("editor", &rights));
    assert_int_equal(rights, ROLE_EDITOR);
    assert_true(role_by_name("none", &rights));
    assert_int_equal(rights, ROLE_NONE);
    assert_false(role_by_name("king", &rights));
    assert_string_equal(role_name(ROLE_EDITOR & ~(unsigned)RIGHT_DEFINE), "editor");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_may),
        cmocka_unit_test(test_intersect),
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_roles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
