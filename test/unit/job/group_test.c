#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "group/group.h"

static void a_definition_comes_back(void **state)
{
    static const struct {
        int line;
        const char *json, *back; /* NULL: the same */
        const char *complaint;   /* instead */
    } rows[] = {
        {__LINE__, "{\"cluster\":3,\"node\":1,\"notes\":\"x\"}", NULL, NULL},
        {__LINE__, "{\"labels\":{\"zone\":2}}", NULL, NULL},
        {__LINE__, "{\"labels\":{\"zone\":2,\"zone=eu\":4,\"rack\":1}}",
         "{\"labels\":{\"rack\":1,\"zone\":2,\"zone=eu\":4}}", NULL},
        {__LINE__, "{\"name\":\"db\",\"cluster\":3}", "{\"cluster\":3}", NULL},
        {__LINE__, "{}", NULL, "a group needs a limit: \"cluster\", \"node\" or \"labels\""},
        {__LINE__, "{\"labels\":{}}", NULL, "a group needs a limit"},
        {__LINE__, "{\"notes\":\"x\"}", NULL, "a group needs a limit"},
        {__LINE__, "{\"cluster\":0}", NULL, "cluster: "},
        {__LINE__, "{\"labels\":2}", NULL, "labels: expected a map of labels"},
        {__LINE__, "{\"labels\":{\"zone\":0}}", NULL, "labels.zone: expected a number from 1"},
        {__LINE__, "{\"labels\":{\"zone\":\"2\"}}", NULL, "labels.zone: expected a number"},
        {__LINE__, "{\"labels\":{\"zone=\":2}}", NULL, "labels.zone=: expected a label"},
        {__LINE__, "{\"labels\":{\"=eu\":2}}", NULL, "labels.=eu: expected a label"},
        {__LINE__, "{\"labels\":{\"zone eu\":2}}", NULL, "labels.zone eu: expected a label"},
        {__LINE__, "{\"name\":\"other\",\"cluster\":3}", NULL, "name: is \"other\""},
        {__LINE__, "{\"clusters\":3}", NULL, "clusters"},
        {__LINE__, "[]", NULL, "expected a group (a map with cluster, node or labels)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct group group;
        struct job_error error = {0};
        enum status st = group_decode_text(rows[i].json, "db", &group, &error);
        if ((st == OK) != !rows[i].complaint ||
            (st != OK && !strstr(error.message, rows[i].complaint)))
            fail_msg("row of line %d: %s", rows[i].line, error.message);
        if (st != OK)
            continue;
        char *back = group_encode_text(&group);
        if (strcmp(back, rows[i].back ? rows[i].back : rows[i].json) != 0)
            fail_msg("row of line %d: %s", rows[i].line, back);
        free(back);
        group_release(&group);
    }
}

static void a_node_has_the_limits_of_its_labels(void **state)
{
    static const struct {
        int line;
        const char *limits, *node, *want;
    } rows[] = {
        {__LINE__, "{\"zone\":2}", "zone=eu", "zone=eu:2"},
        {__LINE__, "{\"zone\":2}", "disk=ssd,zone=eu,zones=x", "zone=eu:2"},
        {__LINE__, "{\"zone\":2}", "", "zone=!:2"}, /* those without it together */
        {__LINE__, "{\"zone\":2}", "zones=eu,azone=eu", "zone=!:2"},
        {__LINE__, "{\"gpu\":2}", "gpu", "gpu=:2"},
        {__LINE__, "{\"gpu\":2}", "gpu,zone=eu", "gpu=:2"},
        {__LINE__, "{\"zone=eu\":4}", "zone=eu", "zone=eu:4"},
        {__LINE__, "{\"zone=eu\":4}", "zone=us", ""},
        {__LINE__, "{\"zone=eu\":4}", "", ""},
        {__LINE__, "{\"zone\":2,\"zone=eu\":4}", "zone=eu", "zone=eu:4"}, /* in place of it */
        {__LINE__, "{\"zone\":2,\"zone=eu\":4}", "zone=us", "zone=us:2"},
        {__LINE__, "{\"rack\":1,\"zone\":2}", "rack=7,zone=eu", "rack=7:1 zone=eu:2"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct group group;
        struct group_label labels[GROUP_LABELS_MAX];
        struct job_error error;
        char json[200], text[200] = "";
        snprintf(json, sizeof(json), "{\"labels\":%s}", rows[i].limits);
        assert_int_equal(group_decode_text(json, "db", &group, &error), OK);
        size_t count = group_labels_of(&group.limits, rows[i].node, labels), length = 0;
        for (size_t k = 0; k < count; k++)
            length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s:%d",
                                       k ? " " : "", labels[k].label, labels[k].most);
        if (strcmp(text, rows[i].want) != 0)
            fail_msg("row of line %d: %s", rows[i].line, text);
        group_release(&group);
    }
}

static void namespaces_end_with_a_slash(void **state)
{
    static const struct {
        int line;
        const char *name;
        bool is_right;
    } rows[] = {
        {__LINE__, "db", true},        {__LINE__, "shop/", true},   {__LINE__, "shop/eu/", true},
        {__LINE__, "shop/eu", false},  {__LINE__, "/", false},      {__LINE__, "", false},
        {__LINE__, "shop//", false},   {__LINE__, "/shop/", false}, {__LINE__, "a/b/c/", false},
        {__LINE__, "shop eu/", false}, {__LINE__, "d=b", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (!group_any_name_complaint(rows[i].name) != rows[i].is_right)
            fail_msg("row of line %d", rows[i].line);
    assert_true(group_space_has("shop/", "shop/a"));
    assert_true(group_space_has("shop/", "shop/eu/a"));
    assert_false(group_space_has("shop/", "shop"));
    assert_false(group_space_has("shop/", "shops/a"));
    assert_false(group_space_has("shop", "shop/a"));
}

static void labels_stand_behind_the_names(void **state)
{
    char text[RUN_GROUPS_SIZE] = "", name[GROUP_NAME_MAX + 1], label[GROUP_LABEL_SIZE];
    size_t at = 0;
    (void)state;
    assert_true(groups_add(text, "db"));
    assert_true(groups_add(text, "shop/"));
    groups_set_labels(text, "rack=7 zone=!");
    assert_string_equal(text, "db shop/ rack=7 zone=!");
    assert_true(groups_next(text, &at, name));
    assert_string_equal(name, "db");
    assert_true(groups_next(text, &at, name));
    assert_string_equal(name, "shop/");
    assert_false(groups_next(text, &at, name));
    at = 0;
    assert_true(groups_next_label(text, &at, label));
    assert_string_equal(label, "rack=7");
    assert_true(groups_next_label(text, &at, label));
    assert_string_equal(label, "zone=!");
    assert_false(groups_next_label(text, &at, label));
    assert_true(groups_have(text, "db"));
    assert_true(groups_have(text, "shop/"));
    assert_false(groups_have(text, "shop"));
    assert_true(groups_count_for(text, "rack=7"));
    assert_false(groups_count_for(text, "rack=8"));
    assert_false(groups_count_for(text, "zone=eu"));
    assert_true(groups_count_for(text, "disk=ssd")); /* not looked at then */
    groups_set_labels(text, "zone=eu");
    assert_string_equal(text, "db shop/ zone=eu");
    groups_set_labels(text, "");
    assert_string_equal(text, "db shop/");
    groups_set_labels(text, "");
    assert_string_equal(text, "db shop/");
    assert_true(groups_meet("a db", text));
    assert_false(groups_meet("a zone=eu", "b zone=eu"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_definition_comes_back),
        cmocka_unit_test(a_node_has_the_limits_of_its_labels),
        cmocka_unit_test(namespaces_end_with_a_slash),
        cmocka_unit_test(labels_stand_behind_the_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
