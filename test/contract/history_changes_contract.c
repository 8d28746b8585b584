/* The trail of changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "history_tests.h"
#include "history_world.h"

static void assert_same_text(const char *a, const char *b)
{
    assert_int_equal(!a, !b);
    if (a)
        assert_string_equal(a, b);
}

static void assert_same_change(const struct change_record *a, const struct change_record *b)
{
    assert_memory_equal(&a->id, &b->id, sizeof(a->id));
    assert_memory_equal(&a->job_uid, &b->job_uid, sizeof(a->job_uid));
    assert_int_equal(a->at_ms, b->at_ms);
    assert_int_equal(a->via, b->via);
    assert_int_equal(a->action, b->action);
    assert_int_equal(a->target_kind, b->target_kind);
    assert_int_equal(a->revision, b->revision);
    assert_string_equal(a->actor, b->actor);
    assert_string_equal(a->address, b->address);
    assert_string_equal(a->request_id, b->request_id);
    assert_string_equal(a->target, b->target);
    assert_string_equal(a->job_name, b->job_name);
    assert_string_equal(a->detail, b->detail);
    assert_same_text(a->before, b->before);
    assert_same_text(a->after, b->after);
}

/* How many the query has, all pages of it. */
static size_t count_changes(struct history_world *world, struct change_query query)
{
    size_t count = 0;
    struct history_changes changes = {.query = query, .more = true};
    changes.query.limit = query.limit ? query.limit : 1000;
    while (changes.more) {
        assert_int_equal(world_changes(world, &changes), OK);
        count += changes.count;
        changes.query.before = changes.next;
        history_changes_release(&changes);
    }
    return count;
}

void test_changes_are_whole(void **state)
{
    struct history_world *world = *state;
    struct change_record all = sample_change(1, 1);
    struct change_record few = {.id = sample_id(SAMPLE_MS, 7), .at_ms = SAMPLE_MS};
    assert_int_equal(world_append_change(world, &all), OK);
    assert_int_equal(world_append_change(world, &few), OK);
    if (world->backend->durable) {
        world_close(world);
        world_open(world);
    }
    struct history_changes changes = {.query = {.with_definitions = true, .limit = 10}};
    assert_int_equal(world_changes(world, &changes), OK);
    assert_int_equal(changes.count, 2);
    assert_false(changes.more);
    assert_same_change(&changes.items[0], &all); /* newest first */
    assert_same_change(&changes.items[1], &few);
    history_changes_release(&changes);

    changes.query.with_definitions = false;
    assert_int_equal(world_changes(world, &changes), OK);
    assert_null(changes.items[0].before);
    assert_null(changes.items[0].after);
    history_changes_release(&changes);
}

void test_changes_once(void **state)
{
    struct history_world *world = *state;
    struct change_record first = sample_change(1, 1), again = first;
    struct run run = sample_run(1, 1);
    snprintf(again.actor, sizeof(again.actor), "Bob");
    struct history_record records[] = {{.change = &first}, {.change = &again}, {.run = &run}};
    assert_int_equal(world_append(world, records, 3), OK);
    assert_int_equal(world_append_change(world, &again), OK);
    struct history_changes changes = {.query = {.with_definitions = true, .limit = 10}};
    assert_int_equal(world_changes(world, &changes), OK);
    assert_int_equal(changes.count, 1);
    assert_same_change(&changes.items[0], &first);
    history_changes_release(&changes);
    assert_true(world_has_run(world, &run.id, NULL));
    assert_int_equal(world_count(world, (struct history_query){.with_entries = true}), 1);
}

/* Jobs 1 and 2, ten changes each, n seconds after SAMPLE_MS; even ones by Ann, odd ones by Bob. */
static void fill(struct history_world *world)
{
    enum { JOBS = 2, NUMBERS = 10 };
    for (uint32_t job = 1; job <= JOBS; job++) {
        for (uint32_t number = 0; number < NUMBERS; number++) {
            struct change_record change = sample_change(job, number);
            if (number % 2)
                snprintf(change.actor, sizeof(change.actor), "Bob");
            change.action = number < 3 ? CHANGE_SKIP_NEXT : CHANGE_LOGIN_FAILED;
            assert_int_equal(world_append_change(world, &change), OK);
        }
    }
}

void test_changes_filters(void **state)
{
    const uint64_t skips = UINT64_C(1) << CHANGE_SKIP_NEXT;
    const struct {
        int line;
        struct change_query query;
        size_t want;
    } cases[] = {
        {__LINE__, {.limit = 3}, 20},
        {__LINE__, {.job_uid = sample_uid(1)}, 10},
        {__LINE__, {.job_uid = sample_uid(3)}, 0},
        {__LINE__, {.job_name = "job-2"}, 10},
        {__LINE__, {.job_name = "job-"}, 0}, /* exact */
        {__LINE__, {.job_uid = sample_uid(1), .job_name = "job-2"}, 0},
        {__LINE__, {.actor = "Ann"}, 10},
        {__LINE__, {.actor = "ann"}, 0}, /* exact */
        {__LINE__, {.job_uid = sample_uid(1), .actor = "Bob", .limit = 2}, 5},
        {__LINE__, {.job_name = "job-1", .actor = "Bob"}, 5},
        {__LINE__, {.actions = skips}, 6},
        {__LINE__, {.actions = ~skips, .actor = "Ann"}, 6},
        {__LINE__, {.actions = UINT64_C(1) << CHANGE_LOGOUT}, 0},
        {__LINE__, {.revision = 14}, 2},
        {__LINE__, {.revision = 14, .job_uid = sample_uid(2)}, 1},
        {__LINE__, {.since_ms = SAMPLE_MS + 8000}, 4}, /* inclusive */
        {__LINE__, {.until_ms = SAMPLE_MS + 2000}, 4}, /* exclusive */
        {__LINE__, {.since_ms = SAMPLE_MS + 1, .until_ms = SAMPLE_MS + 3000, .limit = 1}, 4},
        {__LINE__, {.since_ms = SAMPLE_MS + 3000, .until_ms = SAMPLE_MS + 3000}, 0},
        {__LINE__, {.text = "boB"}, 10},
        {__LINE__, {.text = "JOB-1"}, 10},
        {__LINE__, {.text = "login_"}, 14},
        {__LINE__, {.text = "2.0.2", .limit = 7}, 20},
        {__LINE__, {.text = "% _ \\ '"}, 20},
        {__LINE__, {.text = "\"name\""}, 0}, /* not in definitions */
        {__LINE__, {.text = "ann", .job_name = "job-2", .actions = skips}, 2},
    };
    struct history_world *world = *state;
    fill(world);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t count = count_changes(world, cases[i].query);
        if (count != cases[i].want)
            fail_msg("line %d: %zu, not %zu", cases[i].line, count, cases[i].want);
    }
}

void test_changes_pages(void **state)
{
    struct history_world *world = *state;
    struct id last;
    size_t seen = 0;
    fill(world);
    memset(&last, 255, sizeof(last));
    struct history_changes changes = {.query = {.limit = 7}, .more = true};
    while (changes.more) {
        assert_int_equal(world_changes(world, &changes), OK);
        for (size_t i = 0; i < changes.count; i++) {
            assert_true(id_compare(&changes.items[i].id, &last) < 0);
            last = changes.items[i].id;
        }
        seen += changes.count;
        changes.query.before = changes.next;
        history_changes_release(&changes);
    }
    assert_int_equal(seen, 20);
    changes.query = (struct change_query){.limit = 20};
    assert_int_equal(world_changes(world, &changes), OK);
    assert_false(changes.more); /* just full */
    history_changes_release(&changes);
    changes.query.limit = 0;
    assert_int_equal(world_changes(world, &changes), E_INVALID);
    changes.query.limit = 1001;
    assert_int_equal(world_changes(world, &changes), E_INVALID);
}

/* Definitions that do not fit on one page, and one that alone is too large for any. */
void test_changes_large(void **state)
{
    enum { COUNT = 12, EACH = 1024 * 1024 };
    struct history_world *world = *state;
    char *text = malloc(9 * EACH + 1);
    assert_non_null(text);
    for (uint32_t i = 0; i <= COUNT; i++) {
        size_t length = i == COUNT ? 9 * EACH : EACH;
        struct change_record change = sample_change(1, i);
        memset(text, 'x', length);
        text[length] = '\0';
        change.before = NULL;
        change.after = text;
        assert_int_equal(world_append_change(world, &change), OK);
    }
    free(text);
    struct history_changes changes = {.query = {.with_definitions = true, .limit = 1000}};
    assert_int_equal(world_changes(world, &changes), OK);
    assert_int_equal(changes.count, 1);
    assert_int_equal(strlen(changes.items[0].after), 9 * EACH);
    assert_true(changes.more);
    changes.query.before = changes.next;
    history_changes_release(&changes);
    assert_int_equal(world_changes(world, &changes), OK);
    assert_int_equal(changes.count, 8);
    assert_true(changes.more);
    history_changes_release(&changes);
    assert_int_equal(count_changes(world, (struct change_query){.with_definitions = true}), 13);
}

void test_changes_pruned(void **state)
{
    enum { MANY = 500 };
    struct history_world *world = *state;
    static struct change_record all[MANY];
    static struct history_record records[MANY];
    struct run run = sample_run(1, 1);
    for (uint32_t i = 0; i < MANY; i++) {
        all[i] = sample_change(1, i);
        records[i] = (struct history_record){.change = &all[i]};
    }
    assert_int_equal(world_append(world, records, MANY), OK);
    assert_int_equal(world_append_run(world, &run), OK);

    struct history_prune prune = {.job_uid = sample_uid(1), .changes_before_ms = INT64_MAX};
    assert_int_equal(world_prune_as(world, &prune), OK); /* not of one job */
    assert_int_equal(prune.removed, 0);
    assert_int_equal(world_prune(world, NULL, 0, INT64_MAX), 1); /* nor by the age of runs */
    assert_int_equal(count_changes(world, (struct change_query){0}), MANY);

    prune = (struct history_prune){.changes_before_ms = SAMPLE_MS + (MANY - 10) * INT64_C(1000)};
    assert_int_equal(world_prune_as(world, &prune), OK);
    assert_int_equal(prune.removed, MANY - 10);
    assert_int_equal(count_changes(world, (struct change_query){0}), 10);
}
