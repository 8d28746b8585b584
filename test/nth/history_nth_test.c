/* A history whose n-th allocation, or n-th write, fails, for n = 1, 2, 3 ...: every request ends
 * with a status that says so, what was acknowledged is there, and afterwards everything works. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fault_vfs.h"
#include "history_world.h"
#include "nth_alloc.h"
#include "spool/history_spool.h"

enum { MORE_THAN_EVER = 5000 };

/* What is opened: a file, or a spool in front of it. */
struct place {
    struct history_world world; /* without a backend */
    bool has_spool;
};

static enum status open_place(struct place *place)
{
    static const struct history_spool_limits limits = {0};
    struct history_wake wake = history_world_wake(&place->world);
    struct history *history = NULL;
    struct strbuf why;
    strbuf_init(&why);
    enum status st = history_sqlite_open(place->world.place, wake, &history, &why);
    if (st == OK && place->has_spool) {
        struct history *inner = history;
        st = history_spool_open(place->world.place, &limits, inner, wake, &history, &why);
    }
    strbuf_release(&why);
    if (st == OK)
        place->world.history = history;
    return st;
}

static void set_up_place(struct place *place, bool has_spool)
{
    *place = (struct place){.has_spool = has_spool};
    snprintf(place->world.place, sizeof(place->world.place), "/tmp/peal-nth-XXXXXX");
    assert_non_null(mkdtemp(place->world.place));
    assert_int_equal(history_world_wake_init(&place->world), 0);
}

static void close_place(struct place *place)
{
    place->world.history = history_free(place->world.history);
}

static void remove_place(struct place *place)
{
    char command[160];
    close_place(place);
    history_world_wake_release(&place->world);
    snprintf(command, sizeof(command), "rm -rf %s", place->world.place);
    assert_int_equal(system(command), 0);
}

/* ---- what is done to it ---- */

struct outcome {
    enum status opened, appended, entered, read, logged, counted, pruned;
};

static void use(struct place *place, struct outcome *outcome)
{
    struct history_world *world = &place->world;
    struct run run = sample_run(1, 1);
    struct ledger_entry entry = sample_entry(1, 2);
    struct output_chunk chunk = {.at_ms = 5, .bytes = "begin\n", .length = 6};
    struct history_record record = {.run = &run, .chunks = &chunk, .chunk_count = 1};
    struct history_read read = {.query = {.limit = 10, .with_entries = true}};
    struct history_log log = {.run_id = run.id, .limit = 100};
    struct history_stats stats = {.from_ms = SAMPLE_MS, .to_ms = SAMPLE_MS + 3600000};
    struct history_prune prune = {.keep_runs = 5};
    *outcome = (struct outcome){.opened = open_place(place)};
    if (outcome->opened != OK)
        return;
    outcome->appended = world_append(world, &record, 1);
    outcome->entered = world_append_entry(world, &entry);
    outcome->read = world_read(world, &read);
    outcome->logged = world_log(world, &log);
    outcome->counted = world_stats(world, &stats);
    outcome->pruned = world_prune_as(world, &prune);
    history_read_release(&read);
    history_log_release(&log);
    history_stats_release(&stats);
}

static void check(const struct outcome *outcome, enum status allowed, const char *when)
{
    const enum status *each = (const enum status *)outcome;
    for (size_t i = 0; i < sizeof(*outcome) / sizeof(*each); i++) {
        if (each[i] != OK && each[i] != allowed)
            fail_msg("%s: step %zu: %s", when, i, status_text(each[i]));
    }
}

/* What waits in a spool is delivered a little later. */
static bool has_run_soon(struct place *place, const struct id *id)
{
    struct run found;
    bool has = world_has_run(&place->world, id, &found);
    for (int i = 0; !has && place->has_spool && i < 1000; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        has = world_has_run(&place->world, id, &found);
    }
    return has;
}

/* Everything works again, and what was acknowledged before is there. */
static void check_afterwards(struct place *place, const struct outcome *before, const char *when)
{
    struct run found, run = sample_run(1, 1);
    struct outcome after;
    close_place(place);
    assert_int_equal(open_place(place), OK);
    if (before->opened == OK && before->appended == OK && !has_run_soon(place, &run.id))
        fail_msg("%s: what was acknowledged is gone", when);
    close_place(place);
    use(place, &after);
    check(&after, OK, when);
    assert_true(has_run_soon(place, &run.id));
    assert_true(world_has_run(&place->world, &run.id, &found));
    assert_same_run(&found, &run);
}

/* ---- one after the other ---- */

static void fail_allocations(bool has_spool)
{
    bool failed = true;
    for (int n = 1; failed; n++) {
        struct place place;
        struct outcome outcome;
        char when[64];
        assert_true(n < MORE_THAN_EVER);
        snprintf(when, sizeof(when), "allocation %d", n);
        set_up_place(&place, has_spool);
        nth_alloc_plan(n);
        use(&place, &outcome);
        failed = nth_alloc_failed();
        nth_alloc_plan(0);
        check(&outcome, E_NOMEM, when);
        check_afterwards(&place, &outcome, when);
        remove_place(&place);
        if (!failed)
            print_message("%d allocations\n", n - 1);
    }
}

static void test_allocations(void **state)
{
    (void)state;
    fail_allocations(false);
}

static void test_allocations_with_a_spool(void **state)
{
    (void)state;
    fail_allocations(true);
}

static void test_writes(void **state)
{
    (void)state;
    for (int fault = 0; fault < FAULTS; fault++) {
        bool failed = true;
        for (int n = 1; failed; n++) {
            struct place place;
            struct outcome outcome;
            char when[64];
            assert_true(n < MORE_THAN_EVER);
            snprintf(when, sizeof(when), "fault %d, call %d", fault, n);
            set_up_place(&place, false);
            fault_vfs_plan((enum fault)fault, n, false);
            use(&place, &outcome);
            failed = fault_vfs_failed() > 0;
            fault_vfs_plan(FAULT_WRITE, 0, false);
            check(&outcome, E_IO, when);
            check_afterwards(&place, &outcome, when);
            remove_place(&place);
            if (!failed)
                print_message("fault %d: %d calls\n", fault, n - 1);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_allocations_with_a_spool),
        cmocka_unit_test(test_writes),
    };
    fault_vfs_install();
    return cmocka_run_group_tests_name("history, n-th failure", tests, NULL, NULL);
}
