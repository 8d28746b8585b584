/* The rule of quotas, over a catalog of the test's own. */
#include "jobs/quota.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
/* cmocka wants the four above first */
#include <cmocka.h>
#include <string.h>

#include "state/catalog.h"

struct fixture {
    struct catalog catalog;
    struct quotas quotas;
    struct quota_sum held;
    uint8_t last_id;
};

static void put(struct fixture *fixture, uint8_t id, const char *name, bool deleted)
{
    char json[256];
    struct catalog_job *job;
    struct parse_error error;
    snprintf(json, sizeof(json), "{\"name\":\"%s\",\"schedule\":\"@manual\",\"command\":[\"x\"]}",
             name);
    struct store_change change = {.kind = STORE_CHANGE_JOB,
                                  .job_uid.bytes = {id},
                                  .job_revision = 1,
                                  .job_name = name,
                                  .job_json = json,
                                  .job_deleted = deleted};
    assert_int_equal(catalog_put(&fixture->catalog, &change, NULL, &job, &error), OK);
}

static void own(struct fixture *fixture, const char *name, int64_t jobs)
{
    struct parse_error error;
    assert_int_equal(quotas_set_namespace(&fixture->quotas, name, jobs, &error), OK);
    assert_int_equal(catalog_watch_namespace(&fixture->catalog, name), OK);
    assert_int_equal(namespaces_watch(&fixture->held.namespaces, name, 0), OK);
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    catalog_init(&fixture->catalog);
    assert_int_equal(quota_sum_init(&fixture->held, &fixture->quotas), OK);
    put(fixture, 1, "a", false);
    put(fixture, 2, "team/a", false);
    put(fixture, 3, "team/db/a", false);
    put(fixture, 4, "team/old", true);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    catalog_release(&fixture->catalog);
    quota_sum_release(&fixture->held);
    quotas_release(&fixture->quotas);
    free(fixture);
    return 0;
}

static void expect(const struct fixture *fixture, int line, const char *name, int64_t jobs,
                   int64_t bytes, const char *key, int64_t used)
{
    struct quota_item item = {.name = name, .jobs = jobs, .bytes = bytes};
    struct quota_excess excess = {0};
    bool allowed =
        quota_allows(&fixture->quotas, &fixture->catalog, &fixture->held, NULL, &item, &excess);
    if (allowed != !key)
        fail_msg("line %d: %s is %s", line, name, allowed ? "allowed" : quota_key(&excess));
    if (key && (strcmp(quota_key(&excess), key) != 0 || excess.used != used))
        fail_msg("line %d: %s: %s with %lld", line, name, quota_key(&excess),
                 (long long)excess.used);
}

static void test_jobs(void **state)
{
    struct fixture *fixture = *state;
    expect(fixture, __LINE__, "b", 1, 100, NULL, 0); /* 0 is no limit */
    fixture->quotas.jobs = 4;                        /* deleted jobs do not count */
    expect(fixture, __LINE__, "b", 1, 100, NULL, 0);
    fixture->quotas.jobs = 3;
    expect(fixture, __LINE__, "b", 1, 100, "jobs", 3);
    fixture->quotas.jobs = 1; /* lowered: what is there stays */
    expect(fixture, __LINE__, "a", 0, 10, NULL, 0);
    expect(fixture, __LINE__, "a", -1, 0, NULL, 0);
    expect(fixture, __LINE__, "b", 1, 0, "jobs", 3);
}

static void test_bytes(void **state)
{
    struct fixture *fixture = *state;
    int64_t there = (int64_t)fixture->catalog.json_bytes;
    fixture->quotas.bytes = there + 10;
    expect(fixture, __LINE__, "b", 1, 10, NULL, 0);
    expect(fixture, __LINE__, "b", 1, 11, "definitions", there);
    expect(fixture, __LINE__, "a", 0, 11, "definitions", there); /* a change may grow, too */
    fixture->quotas.bytes = 1;
    expect(fixture, __LINE__, "a", 0, 0, NULL, 0);
    expect(fixture, __LINE__, "a", 0, -5, NULL, 0);
}

static void test_namespaces(void **state)
{
    struct fixture *fixture = *state;
    fixture->quotas.namespace_jobs = 2;
    expect(fixture, __LINE__, "b", 1, 0, NULL, 0); /* in none */
    expect(fixture, __LINE__, "other/b", 1, 0, NULL, 0);
    expect(fixture, __LINE__, "team/b", 1, 0, "namespace_jobs", 2);
    expect(fixture, __LINE__, "team/db/b", 1, 0, "namespace_jobs", 2);
    expect(fixture, __LINE__, "teams/b", 1, 0, NULL, 0);
    own(fixture, "team", 5);
    expect(fixture, __LINE__, "team/db/b", 1, 0, NULL, 0);
    own(fixture, "team/db", 1);
    expect(fixture, __LINE__, "team/db/b", 1, 0, "namespaces", 1);
    expect(fixture, __LINE__, "team/b", 1, 0, NULL, 0);
    own(fixture, "team/db", 0); /* no limit of its own; that of team holds */
    expect(fixture, __LINE__, "team/db/b", 1, 0, NULL, 0);
}

/* Counts follow jobs that come, are deleted, come back and go. */
static void test_counts(void **state)
{
    struct fixture *fixture = *state;
    const struct namespaces *namespaces = &fixture->catalog.namespaces;
    size_t bytes = fixture->catalog.json_bytes;
    assert_int_equal(catalog_watch_namespace(&fixture->catalog, "team/db"), OK);
    assert_int_equal(namespaces_count(namespaces, "team", 4), 2);
    assert_int_equal(namespaces_count(namespaces, "team/db", 7), 1);
    put(fixture, 3, "team/db/a", true);
    assert_int_equal(namespaces_count(namespaces, "team", 4), 1);
    assert_int_equal(namespaces_count(namespaces, "team/db", 7), 0);
    put(fixture, 4, "team/old", false);
    assert_int_equal(namespaces_count(namespaces, "team", 4), 2);
    assert_int_equal(fixture->catalog.json_bytes, bytes);
    for (uint8_t id = 1; id <= 4; id++)
        catalog_remove(&fixture->catalog,
                       catalog_by_uid(&fixture->catalog, &(struct id){.bytes = {id}}));
    assert_int_equal(namespaces_count(namespaces, "team", 4), 0);
    assert_int_equal(fixture->catalog.json_bytes, 0);
    put(fixture, 5, "a/b/c/d/e", false); /* many slashes cost no more: a alone, and team/db */
    assert_int_equal(namespaces->by_name.count, 2);
}

/* What is on its way counts, until it is taken back. */
static void test_held(void **state)
{
    struct fixture *fixture = *state;
    const struct quota_item item = {.name = "team/b", .jobs = 1, .bytes = 50};
    fixture->quotas.namespace_jobs = 3;
    fixture->quotas.jobs = 5;
    assert_int_equal(quota_sum_add(&fixture->held, &item), OK);
    expect(fixture, __LINE__, "team/c", 1, 0, "namespace_jobs", 3);
    expect(fixture, __LINE__, "b", 1, 0, NULL, 0);
    assert_int_equal(quota_sum_add(&fixture->held, &item), OK);
    expect(fixture, __LINE__, "b", 1, 0, "jobs", 5);
    quota_sum_take_back(&fixture->held, &item);
    quota_sum_take_back(&fixture->held, &item);
    expect(fixture, __LINE__, "team/c", 1, 0, NULL, 0);
}

/* A renamed job counts in the namespaces of its new name alone. */
static void test_renames(void **state)
{
    struct fixture *fixture = *state;
    struct quota_excess excess;
    static const struct {
        int line;
        const char *to;
        bool is_allowed;
    } cases[] = {
        {__LINE__, "team/c", true}, /* team has two jobs, and this is one of them */
        {__LINE__, "team/db/b", true}, {__LINE__, "teams/b", true},
        {__LINE__, "b", true},         {__LINE__, "full/b", false},
    };
    fixture->quotas.namespace_jobs = 2;
    fixture->quotas.jobs = 3;
    own(fixture, "full", 1);
    own(fixture, "team/db", 1);
    put(fixture, 7, "full/a", false);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct store_put_job job = {
            .uid = {.bytes = {3}}, .name = cases[i].to, .json = "{}", .expected_revision = 1};
        struct quota_item item = quota_item_of(&fixture->catalog, &job);
        assert_string_equal(item.from, "team/db/a");
        assert_int_equal(item.jobs, 0);
        if (quota_allows(&fixture->quotas, &fixture->catalog, &fixture->held, NULL, &item,
                         &excess) != cases[i].is_allowed)
            fail_msg("line %d: %s", cases[i].line, cases[i].to);
        assert_int_equal(quota_sum_add(&fixture->held, &item), OK);
        quota_sum_take_back(&fixture->held, &item);
        assert_int_equal(fixture->held.jobs, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_jobs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_namespaces, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_counts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_held, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_renames, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
