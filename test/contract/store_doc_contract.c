/* Documents: who was there first wins, deleted ones are gone, and every node hears of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store_world.h"

static struct store_put_doc a_doc(const char *name, const char *json, int64_t expected_revision)
{
    struct store_put_doc put = {
        .kind = "user", .json = json, .expected_revision = expected_revision};
    snprintf(put.name, sizeof(put.name), "%s", name);
    return put;
}

static struct store_put_doc put_doc(struct world *world, const char *name, const char *json,
                                    int64_t expected_revision)
{
    struct store_put_doc put = a_doc(name, json, expected_revision);
    world_do_one(world, STORE_PUT_DOC, &put);
    return put;
}

static void what_a_put_does_depends_on_the_revision(struct world *world)
{
    static const struct {
        int line;
        const char *json; /* NULL: delete */
        int64_t expected;
        enum put_result result;
        int64_t revision;
        const char *kept; /* NULL: nothing is there afterwards */
    } rows[] = {
        {__LINE__, "1", 5, PUT_MISSING, 0, NULL},   {__LINE__, NULL, 0, PUT_MISSING, 0, NULL},
        {__LINE__, NULL, -1, PUT_MISSING, 0, NULL}, {__LINE__, "1", 0, PUT_OK, 1, "1"},
        {__LINE__, "2", 0, PUT_CONFLICT, 1, "1"},   {__LINE__, "2", 2, PUT_CONFLICT, 1, "1"},
        {__LINE__, "2", 1, PUT_OK, 2, "2"},         {__LINE__, "2", 1, PUT_CONFLICT, 2, "2"},
        {__LINE__, "3", -1, PUT_OK, 3, "3"},        {__LINE__, NULL, 2, PUT_CONFLICT, 3, "3"},
        {__LINE__, NULL, 3, PUT_OK, 4, NULL},       {__LINE__, "4", -1, PUT_OK, 1, "4"},
        {__LINE__, NULL, -1, PUT_OK, 2, NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct store_put_doc put = put_doc(world, "anna", rows[i].json, rows[i].expected);
        const struct seen_doc *doc = look_for_doc(world, "user", "anna");
        if (put.result != rows[i].result || put.revision != rows[i].revision)
            fail_msg("line %d: result %d, revision %lld", rows[i].line, (int)put.result,
                     (long long)put.revision);
        if (!doc != !rows[i].kept || (doc && strcmp(doc->json, rows[i].kept) != 0))
            fail_msg("line %d: %s is kept", rows[i].line, doc ? doc->json : "nothing");
    }
}

static void a_document_is_there_again_after_a_restart(struct world *world)
{
    put_doc(world, "anna", "{\"role\":\"admin\"}", 0);
    put_doc(world, "otto", "{}", 0);
    put_doc(world, "otto", NULL, 1);
    world_reopen(world);
    assert_string_equal(look_for_doc(world, "user", "anna")->json, "{\"role\":\"admin\"}");
    assert_null(look_for_doc(world, "user", "otto"));
    assert_int_equal(put_doc(world, "anna", "{}", 1).revision, 2);
    assert_int_equal(put_doc(world, "otto", "{}", 0).revision, 1);
}

static void kinds_are_apart(struct world *world)
{
    struct store_put_doc token = a_doc("anna", "{\"of\":\"anna\"}", 0);
    snprintf(token.kind, sizeof(token.kind), "token");
    put_doc(world, "anna", "{}", 0);
    world_do_one(world, STORE_PUT_DOC, &token);
    assert_int_equal(token.result, PUT_OK);
    put_doc(world, "anna", NULL, -1);
    assert_non_null(look_for_doc(world, "token", "anna"));
    assert_null(look_for_doc(world, "user", "anna"));
}

static void a_change_is_fed_once(struct world *world)
{
    world_mark(world);
    put_doc(world, "anna", "{}", 0);
    put_doc(world, "anna", "{}", 7); /* nothing happens */
    assert_int_equal(world->picture.changes[STORE_CHANGE_DOC], 1);
    put_doc(world, "anna", NULL, 1);
    put_doc(world, "anna", NULL, 1);
    assert_int_equal(world->picture.changes[STORE_CHANGE_DOC], 2);
}

static void the_items_of_a_request_follow_each_other(struct world *world)
{
    struct store_put_doc puts[] = {a_doc("anna", "1", 0), a_doc("otto", "1", 0),
                                   a_doc("anna", "2", 1), a_doc("anna", "3", 1),
                                   a_doc("otto", NULL, 1)};
    assert_int_equal(world_do(world, STORE_PUT_DOC, puts, 5), OK);
    assert_int_equal(puts[2].result, PUT_OK);
    assert_int_equal(puts[3].result, PUT_CONFLICT);
    assert_int_equal(puts[3].revision, 2);
    assert_string_equal(look_for_doc(world, "user", "anna")->json, "2");
    assert_null(look_for_doc(world, "user", "otto"));
}

static void one_that_is_too_large_is_refused(struct world *world)
{
    char *json = malloc(DOC_JSON_MAX + 2);
    assert_non_null(json);
    memset(json, ' ', DOC_JSON_MAX + 1);
    json[DOC_JSON_MAX + 1] = '\0';
    struct store_put_doc put = a_doc("anna", json, 0);
    assert_int_equal(world_do(world, STORE_PUT_DOC, &put, 1), E_TOO_LARGE);
    json[DOC_JSON_MAX] = '\0';
    assert_int_equal(world_do(world, STORE_PUT_DOC, &put, 1), OK);
    assert_int_equal(put.result, PUT_OK);
    free(json);
}

static void another_node_hears_of_it(struct world *world)
{
    struct world *other = world_open_other(world);
    if (!other)
        return;
    put_doc(world, "anna", "1", 0);
    for (int64_t until_ms = soon_ms(); !look_for_doc(other, "user", "anna");)
        world_pass(other, until_ms);
    assert_int_equal(put_doc(other, "anna", "2", 1).result, PUT_OK);
    for (int64_t until_ms = soon_ms(); look_for_doc(world, "user", "anna")->revision != 2;)
        world_pass(world, until_ms);
    put_doc(world, "anna", NULL, 2);
    for (int64_t until_ms = soon_ms(); look_for_doc(other, "user", "anna");)
        world_pass(other, until_ms);
    world_free(other);
}

static void one_of_two_nodes_makes_it(struct world *world)
{
    struct world *other = world_open_other(world);
    if (!other)
        return;
    assert_int_equal(put_doc(world, "anna", "1", 0).result, PUT_OK);
    assert_int_equal(put_doc(other, "anna", "2", 0).result, PUT_CONFLICT);
    assert_string_equal(look_for_doc(other, "user", "anna")->json, "1");
    world_free(other);
}

const struct contract_test doc_tests[] = {
    CONTRACT_TEST(what_a_put_does_depends_on_the_revision),
    CONTRACT_TEST(a_document_is_there_again_after_a_restart),
    CONTRACT_TEST(kinds_are_apart),
    CONTRACT_TEST(a_change_is_fed_once),
    CONTRACT_TEST(the_items_of_a_request_follow_each_other),
    CONTRACT_TEST(one_that_is_too_large_is_refused),
    CONTRACT_TEST(another_node_hears_of_it),
    CONTRACT_TEST(one_of_two_nodes_makes_it),
    {NULL, NULL},
};
