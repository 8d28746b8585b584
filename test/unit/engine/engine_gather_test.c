/* Ends of runs, and what the store can forget, wait a moment for more of them and share requests:
 * how long, what does not wait, and that nothing is lost by it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "outbox.h"
#include "world.h"

enum {
    SECOND = 1000,
    MINUTE = 60 * SECOND,
    ENDS_MS = 50,
    FORGETS_MS = 1500,
    APPENDS_MS = 2000 /* after a large one */
};

static struct id add_job(struct world *world, size_t number, const char *schedule, const char *more)
{
    char yaml[256];
    snprintf(yaml, sizeof(yaml), "name: j%zu\nschedule: '%s'\ncommand: [/bin/true]\n%s", number,
             schedule, more);
    return world_add(world, yaml);
}

static void add_dependent(struct world *world, const char *after)
{
    char yaml[256];
    snprintf(yaml, sizeof(yaml), "name: d\ncommand: [/bin/true]\nafter: [%s]\n", after);
    world_add(world, yaml);
}

/* So many runs of one minute's tick are under way; a first end, which nothing waited for, was sent
 * a moment ago. */
static void set_up_runs(struct world *world, size_t count, const char *more)
{
    world->duration_ms = 10 * SECOND;
    for (size_t i = 0; i <= count; i++)
        add_job(world, i, "* * * * *", i < count ? more : "");
    world_pass(world, MINUTE + SECOND);
    assert_int_equal(world->process_count, count + 1);
    for (size_t i = 0; i < world->process_count; i++) {
        bool is_last = strtol(world->processes[i].job_name + 1, NULL, 10) == (long)count;
        world->processes[i].ends_ms = is_last ? world->now.boot.ms : INT64_MAX;
    }
    world_pass(world, 1);
    assert_int_equal(world->sent[STORE_FINISH].requests, 1);
    memset(world->sent, 0, sizeof(world->sent));
}

/* Of the processes that are left, one after the other ends, so long apart. */
static void end_runs(struct world *world, int64_t apart_ms)
{
    int64_t at_ms = world->now.boot.ms;
    for (size_t i = 0; i < world->process_count; i++)
        if (!world->processes[i].ended)
            world->processes[i].ends_ms = at_ms += apart_ms;
}

static size_t count_ok(const struct world *world)
{
    size_t count = 0;
    for (size_t i = 0; i < world->run_count; i++)
        count += world->runs[i].state == RUN_OK;
    return count;
}

/* How many requests the ends of some runs need. */
static void test_ends_share_requests(void **state)
{
    static const struct {
        int line;
        size_t runs;
        int64_t apart_ms;
        size_t least, most; /* requests */
    } rows[] = {
        {__LINE__, 1, 1, 1, 1},   {__LINE__, 10, 4, 1, 1},     {__LINE__, 10, 0, 1, 1},
        {__LINE__, 20, 10, 3, 5}, {__LINE__, 10, 100, 10, 10}, /* each by itself, and at once */
        {__LINE__, 63, 0, 1, 1},  {__LINE__, 64, 0, 1, 1},     {__LINE__, 100, 0, 1, 1},
        {__LINE__, 600, 0, 3, 3}, /* a request has an end */
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world *world = world_new();
        set_up_runs(world, rows[i].runs, "");
        end_runs(world, rows[i].apart_ms);
        world_pass(world, (int64_t)rows[i].runs * rows[i].apart_ms + ENDS_MS + APPENDS_MS);
        const struct world_sent *sent = &world->sent[STORE_FINISH];
        if (sent->requests < rows[i].least || sent->requests > rows[i].most)
            fail_msg("line %d: %zu requests", rows[i].line, sent->requests);
        assert_int_equal(sent->items, rows[i].runs);
        assert_true(sent->most <= OUTBOX_MAX);
        assert_int_equal(count_ok(world), rows[i].runs + 1);
        world_check(world);
        world_free(world);
    }
}

/* An end waits for others only if nothing waits for it. */
static void test_who_waits_is_not_kept_waiting(void **state)
{
    static const struct {
        int line;
        const char *schedule, *more, *dependent;
        bool is_asked_for, is_twice;
        bool waits;
    } rows[] = {
        {__LINE__, "* * * * *", "", "", false, false, true},
        {__LINE__, "* * * * *", "", "j0", false, false, false},
        {__LINE__, "* * * * *", "", "{job: j0, on: failure}", false, false, false},
        {__LINE__, "* * * * *", "", "j9", false, false, true},
        {__LINE__, "* * * * *", "", "", true, false, false}, /* a person waits */
        {__LINE__, "*/2 * * * * *", "overlap: allow\n", "", false, true,
         false}, /* another run of its job */
        {__LINE__, "* * * * *", "", "", false, false, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world *world = world_new();
        world->duration_ms = 10 * SECOND;
        struct id uid =
            add_job(world, 0, rows[i].is_asked_for ? "@manual" : rows[i].schedule, rows[i].more);
        add_job(world, 1, "* * * * *", "");
        add_job(world, 9, "0 0 1 1 *", "");
        if (*rows[i].dependent)
            add_dependent(world, rows[i].dependent);
        world_pass(world, MINUTE - SECOND);
        if (rows[i].is_asked_for)
            assert_true(world_trigger(world, &uid));
        world_pass(world, rows[i].is_twice ? 2 * SECOND + 500 : 2 * SECOND);
        size_t other = SIZE_MAX, own = SIZE_MAX;
        for (size_t k = 0; k < world->process_count; k++) {
            struct world_process *process = &world->processes[k];
            if (process->ended)
                continue;
            if (strcmp(process->job_name, "j1") == 0)
                other = k;
            else if (strcmp(process->job_name, "j0") == 0)
                own = k;
            process->ends_ms = INT64_MAX;
        }
        assert_true(other != SIZE_MAX && own != SIZE_MAX);
        world->processes[other].ends_ms = world->now.boot.ms;
        world_pass(world, 1); /* from now on ends are gathered for a while */
        memset(world->sent, 0, sizeof(world->sent));
        world->processes[own].ends_ms = world->now.boot.ms + 1;
        world_pass(world, 2);
        bool waits = world->sent[STORE_FINISH].requests == 0;
        if (waits != rows[i].waits)
            fail_msg("line %d: it %s", rows[i].line, waits ? "waits" : "does not wait");
        world_pass(world, ENDS_MS);
        assert_int_equal(world->sent[STORE_FINISH].items, 1);
        world_free(world);
    }
}

/* A tick of the job is about to be claimed: its last run must not be in the way. */
static void test_before_the_next_tick(void **state)
{
    struct world *world = *state;
    world->duration_ms = 10 * SECOND;
    add_job(world, 0, "* * * * *", "");
    add_job(world, 1, "* * * * *", "");
    world_pass(world, MINUTE + SECOND);
    world->processes[0].ends_ms = INT64_MAX;
    world->processes[1].ends_ms = INT64_MAX;
    world_pass(world, MINUTE - SECOND - 400);
    world->processes[0].ends_ms = world->now.boot.ms;
    world_pass(world, 1);
    world->processes[1].ends_ms = world->now.boot.ms + 1;
    world_pass(world, 2);
    assert_int_equal(world->sent[STORE_FINISH].items, 2);
}

/* What the history has leaves the store with others: runs and entries alike. */
static void test_forgets_share_requests(void **state)
{
    struct world *world = *state;
    world->duration_ms = 2500; /* every second tick is skipped */
    for (size_t i = 0; i < 10; i++)
        add_job(world, i, "*/2 * * * * *", "overlap: skip\n");
    world_pass(world, 20 * SECOND);
    memset(world->sent, 0, sizeof(world->sent));
    size_t runs = world->run_count, entries = world->entry_count;
    world_pass(world, 20 * SECOND);
    runs = world->run_count - runs;
    entries = world->entry_count - entries;
    assert_in_range(runs, 40, 60);
    assert_in_range(entries, 40, 60);
    const struct world_sent *forgets = &world->sent[STORE_FORGET];
    assert_in_range(forgets->items, runs + entries - 20, runs + entries + 20);
    assert_true(forgets->requests <= 20 * SECOND / FORGETS_MS);
    assert_true(forgets->requests * 4 <= forgets->items);
    world_check(world);
}

/* Many at once do not wait, and no request is larger than a batch may be. */
static void test_many_forgets_do_not_wait(void **state)
{
    struct world *world = *state;
    set_up_runs(world, 600, "");
    world_pass(world, FORGETS_MS);
    memset(world->sent, 0, sizeof(world->sent));
    end_runs(world, 0);
    world_pass(world, ENDS_MS + 1);
    assert_true(world->sent[STORE_FORGET].items >= 500); /* what one append has */
    assert_true(world->sent[STORE_FORGET].most <= OUTBOX_MAX);
    world_pass(world, APPENDS_MS + FORGETS_MS);
    assert_int_equal(world->sent[STORE_FORGET].items, 600);
    assert_true(engine_is_idle(world->engine));
}

/* One request of each kind in a second: what can be forgotten goes with the next claims. */
static void test_forgets_go_with_claims(void **state)
{
    struct world *world = *state;
    world->duration_ms = 10;
    for (size_t i = 0; i < 10; i++)
        add_job(world, i, "* * * * * *", "");
    world_pass(world, 10 * SECOND);
    memset(world->sent, 0, sizeof(world->sent));
    size_t runs = world->run_count;
    for (int64_t ms = 0; ms < 10 * SECOND; ms++) {
        size_t claims = world->sent[STORE_CLAIM].requests;
        size_t forgets = world->sent[STORE_FORGET].requests;
        world_pass(world, 1);
        if (world->sent[STORE_FORGET].requests > forgets)
            assert_true(world->sent[STORE_CLAIM].requests > claims);
    }
    runs = world->run_count - runs;
    assert_in_range(runs, 90, 110);
    assert_in_range(world->sent[STORE_FORGET].items, runs - 20, runs + 20);
    assert_in_range(world->sent[STORE_FORGET].requests, 9, 11);
}

/* The store fails while ends, or forgets, are gathered or under way: they go again, and each run is
 * on record once. */
static void test_failures(void **state)
{
    static const struct {
        int line;
        enum store_op op;
        enum door door;
        enum status status;
    } rows[] = {
        {__LINE__, STORE_FINISH, DOOR_BROKEN, E_UNREACHABLE},
        {__LINE__, STORE_FINISH, DOOR_BROKEN, E_UNKNOWN},
        {__LINE__, STORE_FINISH, DOOR_ONE_WAY, OK},
        {__LINE__, STORE_FINISH, DOOR_SLOW, OK},
        {__LINE__, STORE_FORGET, DOOR_BROKEN, E_UNREACHABLE},
        {__LINE__, STORE_FORGET, DOOR_ONE_WAY, OK},
        {__LINE__, STORE_FORGET, DOOR_SLOW, OK},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct world *world = world_new();
        set_up_runs(world, 30, "");
        world->door_op = rows[i].op;
        world->door = rows[i].door;
        world->door_status = rows[i].status;
        end_runs(world, 7);
        world_pass(world, 5 * SECOND);
        world->door = DOOR_OPEN;
        world_pass(world, 5 * SECOND);
        if (count_ok(world) != 31 || world->run_count != 31)
            fail_msg("line %d: %zu of %zu runs", rows[i].line, count_ok(world), world->run_count);
        assert_true(engine_is_idle(world->engine));
        for (size_t k = 0; k < world->process_count; k++)
            assert_true(world->processes[k].acknowledged);
        world_check(world);
        world_free(world);
    }
}

/* The agent is killed at every moment of the gathering: the next one has all the ends. */
static void test_killed_while_gathering(void **state)
{
    (void)state;
    for (int64_t at_ms = 1; at_ms < ENDS_MS + FORGETS_MS + 100; at_ms += at_ms < 70 ? 7 : 90) {
        struct world *world = world_new();
        set_up_runs(world, 20, "");
        end_runs(world, 2);
        world_pass(world, at_ms);
        world_restart(world);
        world_pass(world, 5 * SECOND);
        if (count_ok(world) != 21)
            fail_msg("killed after %lld ms: %zu", (long long)at_ms, count_ok(world));
        assert_true(engine_is_idle(world->engine));
        world_check(world);
        world_free(world);
    }
}

/* An agent that is told to stop has nothing gathered left when it says that it is done. */
static void test_stopped_while_gathering(void **state)
{
    struct world *world = *state;
    set_up_runs(world, 20, "");
    end_runs(world, 2);
    world_pass(world, 15);
    engine_drain(world->engine);
    assert_false(engine_is_idle(world->engine));
    int64_t waited_ms = 0;
    for (; !engine_is_idle(world->engine); waited_ms++)
        world_pass(world, 1);
    assert_true(waited_ms <= 40 + ENDS_MS + FORGETS_MS);
    assert_int_equal(count_ok(world), 21);
    assert_int_equal(world->sent[STORE_FORGET].items, 20); /* the first one went at once */
}

/* Nor does a large append before make it wait. */
static void test_stopped_after_many(void **state)
{
    struct world *world = *state;
    set_up_runs(world, 101, "");
    size_t late = 0;
    while (world->processes[late].ended)
        late++;
    end_runs(world, 0);
    world->processes[late].ends_ms = INT64_MAX;
    world_pass(world, ENDS_MS + 10);
    assert_int_equal(world->run_count, 101);
    end_runs(world, 0);
    world_pass(world, ENDS_MS + 10);
    engine_drain(world->engine);
    world_pass(world, 40 + ENDS_MS);
    assert_true(engine_is_idle(world->engine));
    assert_int_equal(count_ok(world), 102);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends_share_requests),
        cmocka_unit_test(test_who_waits_is_not_kept_waiting),
        WITH_WORLD(test_before_the_next_tick),
        WITH_WORLD(test_forgets_share_requests),
        WITH_WORLD(test_many_forgets_do_not_wait),
        WITH_WORLD(test_forgets_go_with_claims),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_killed_while_gathering),
        WITH_WORLD(test_stopped_while_gathering),
        WITH_WORLD(test_stopped_after_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
