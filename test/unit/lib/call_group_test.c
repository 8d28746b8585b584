/* Functions that are called together: a run of the engine is a call of each. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "calls/calls.h"

enum { MEMBERS = 300, THREADS = 3, WINDOW_MS = 60000 };

struct bench;

/* What a function has seen. */
struct member {
    struct bench *bench;
    struct group_member *place;
    char name[32];
    atomic_int called, passed, ended, gone;
};

struct bench {
    struct call_pool *pool;
    struct calls *calls;
    struct call_group group;
    struct member members[MEMBERS];
    struct job *job;
    int woken; /* an eventfd */
    atomic_int in_calls, rest;
    atomic_bool is_open; /* the gate */
    _Atomic enum run_reason reason;
    _Atomic enum run_state end;
    uint8_t next_id;
};

static void wake(void *context)
{
    const struct bench *bench = context;
    uint64_t one = 1;
    assert_int_equal(write(bench->woken, &one, sizeof(one)), sizeof(one));
}

static bool find(void *context, const struct call_order *order, struct call_target *ret)
{
    struct bench *bench = context;
    (void)order;
    *ret = (struct call_target){.group = &bench->group};
    return true;
}

static struct member *of_name(struct bench *bench, const char *name)
{
    return &bench->members[strtol(name, NULL, 10)];
}

static void on_end(void *context, const struct run *end, const struct output_chunk *chunks,
                   size_t count)
{
    struct bench *bench = context;
    (void)chunks;
    bench->end = end->state;
    of_name(bench, end->job_name)->ended += 1 + (int)count;
}

static void on_passed(void *context, const char *name, size_t more, enum run_reason reason)
{
    struct bench *bench = context;
    of_name(bench, name)->passed++;
    bench->reason = reason;
    bench->rest += (int)more;
}

static void on_gone(void *owner)
{
    ((struct member *)owner)->gone++;
}

static int counts(peal_run *run, void *arg)
{
    struct member *member = arg;
    assert_string_equal(peal_run_job(run), member->name);
    member->called++;
    return 0;
}

static int waits_for_the_gate(peal_run *run, void *arg)
{
    struct member *member = arg;
    member->called++;
    member->bench->in_calls++;
    int code = 0;
    while (!member->bench->is_open && !code)
        code = peal_sleep(run, 1) == PEAL_OK ? 0 : 3;
    member->bench->in_calls--;
    return code;
}

static void put(struct bench *bench, int i, peal_function *function)
{
    struct member *member = &bench->members[i];
    member->bench = bench;
    snprintf(member->name, sizeof(member->name), "%d", i);
    assert_int_equal(
        call_group_add(&bench->group, function, member, member->name, member, &member->place), OK);
    member->place->added_ms = 0; /* long before the ticks of the test */
}

/* The function of the first member; the others count. */
static struct bench *set_up_bench(int threads, peal_function *first)
{
    struct bench *bench = calloc(1, sizeof(*bench));
    assert_non_null(bench);
    bench->woken = eventfd(0, EFD_CLOEXEC);
    bench->job = job_new();
    assert_non_null(bench->job);
    assert_int_equal(job_set_text(&bench->job->name, "all"), OK);
    call_group_init(&bench->group);
    bench->group.gone = on_gone;
    bench->group.skips_overlap = true;
    for (int i = 0; i < MEMBERS; i++)
        put(bench, i, i ? counts : first);
    assert_int_equal(call_pool_new(threads, &bench->pool), OK);
    struct calls_config config = {.pool = bench->pool,
                                  .wake = wake,
                                  .context = bench,
                                  .find = find,
                                  .functions = bench,
                                  .ended = on_end,
                                  .passed = on_passed};
    assert_int_equal(calls_new(&config, &bench->calls), OK);
    return bench;
}

static void tear_down_bench(struct bench *bench)
{
    bench->pool = call_pool_free(bench->pool);
    bench->calls = calls_free(bench->calls);
    call_group_release(&bench->group);
    job_free(bench->job);
    close(bench->woken);
    free(bench);
}

static void start(struct bench *bench)
{
    struct now now = clock_now();
    struct run run = {.id = {{1, ++bench->next_id}}, .attempt = 1, .tick_ms = now.wall.ms};
    struct executor *executor = calls_executor(bench->calls);
    snprintf(run.job_name, sizeof(run.job_name), "all");
    assert_int_equal(executor->ops->start(executor, &run, bench->job, now.boot,
                                          (struct boot_ms){now.boot.ms + WINDOW_MS}),
                     OK);
}

/* Waits until that many of its runs have ended. */
static void await_ends(struct bench *bench, int runs)
{
    struct executor *executor = calls_executor(bench->calls);
    struct executor_event event;
    struct pollfd ready = {.fd = bench->woken, .events = POLLIN};
    uint64_t count;
    while (runs > 0) {
        while (executor->ops->next_event(executor, &event))
            runs -= event.kind == EXECUTOR_ENDED && event.end.state == RUN_OK;
        if (runs > 0 && poll(&ready, 1, 60000) == 1)
            assert_int_equal(read(bench->woken, &count, sizeof(count)), sizeof(count));
    }
}

static void await(const atomic_int *what, int count)
{
    while (atomic_load(what) < count)
        poll(NULL, 0, 1);
}

static void each_is_called_once_in_a_run(void **state)
{
    (void)state;
    for (int threads = 0; threads <= THREADS; threads += THREADS) {
        struct bench *bench = set_up_bench(threads, counts);
        bench->group.skips_overlap = false;
        start(bench);
        start(bench);
        if (!threads)
            assert_int_equal(call_pool_step(bench->pool), 2 * MEMBERS);
        await_ends(bench, 2);
        for (int i = 0; i < MEMBERS; i++)
            assert_int_equal(bench->members[i].called, 2);
        tear_down_bench(bench);
    }
}

static void who_came_after_the_tick_is_not_called(void **state)
{
    struct bench *bench = set_up_bench(1, counts);
    (void)state;
    bench->members[5].place->added_ms = clock_now().boot.ms + 60000;
    start(bench);
    await_ends(bench, 1);
    assert_int_equal(bench->members[5].called + bench->members[5].passed, 0);
    assert_int_equal(bench->members[6].called, 1);
    tear_down_bench(bench);
}

/* A slow one holds one thread, and its own ticks; the others' are made by the other threads. */
static void a_slow_one_skips_its_own_ticks_alone(void **state)
{
    struct bench *bench = set_up_bench(THREADS, waits_for_the_gate);
    (void)state;
    start(bench);
    await(&bench->in_calls, 1);
    for (int i = 1; i < MEMBERS; i++)
        await(&bench->members[i].called, 1);
    start(bench);
    await(&bench->members[0].passed, 1);
    for (int i = 1; i < MEMBERS; i++)
        await(&bench->members[i].called, 2);
    assert_int_equal(bench->reason, REASON_OVERLAP);
    assert_int_equal(bench->members[0].called, 1);
    assert_true(call_group_is_open(&bench->group, bench->members[0].place));
    bench->is_open = true;
    await_ends(bench, 2);
    assert_false(call_group_is_open(&bench->group, bench->members[0].place));
    tear_down_bench(bench);
}

/* One thread, which is held: the calls behind it are still to come at the next tick, which begins
 * late. Where calls may overlap, they are made all the same. */
static void what_was_still_to_come_at_a_tick_skips_it(void **state)
{
    struct bench *bench = set_up_bench(1, waits_for_the_gate);
    (void)state;
    start(bench);
    await(&bench->in_calls, 1);
    assert_true(call_group_is_open(&bench->group, bench->members[MEMBERS - 1].place));
    start(bench);
    poll(NULL, 0, 10);
    bench->is_open = true;
    await_ends(bench, 2);
    for (int i = 0; i < MEMBERS; i++) {
        assert_int_equal(bench->members[i].called, 1);
        assert_int_equal(bench->members[i].passed, 1);
    }
    bench->group.skips_overlap = false; /* now it is made twice */
    bench->is_open = false;
    start(bench);
    await(&bench->in_calls, 1);
    start(bench);
    bench->is_open = true;
    await_ends(bench, 2);
    assert_int_equal(bench->members[0].called, 3);
    assert_int_equal(bench->members[MEMBERS - 1].called, 3);
    tear_down_bench(bench);
}

static void one_that_is_removed_goes_with_its_last_call(void **state)
{
    struct bench *bench = set_up_bench(THREADS, waits_for_the_gate);
    (void)state;
    call_group_remove(&bench->group, bench->members[9].place);
    assert_int_equal(bench->members[9].gone, 1);
    start(bench);
    await(&bench->in_calls, 1);
    call_group_remove(&bench->group, bench->members[0].place);
    assert_int_equal(bench->members[0].gone, 0);
    bench->is_open = true;
    await_ends(bench, 1);
    assert_int_equal(bench->members[0].gone, 1);
    assert_int_equal(bench->members[9].called, 0);
    char name[32];
    assert_int_equal(call_group_print(&bench->group, name, sizeof(name)), MEMBERS - 2);
    assert_string_equal(name, "1");
    put(bench, 9, counts); /* in a place that is free */
    assert_in_range(bench->members[9].place->index, 0, MEMBERS - 1);
    start(bench);
    await_ends(bench, 1);
    assert_int_equal(bench->members[9].called, 1);
    tear_down_bench(bench);
}

static void only_what_takes_too_long_is_told(void **state)
{
    struct bench *bench = set_up_bench(THREADS, waits_for_the_gate);
    (void)state;
    bench->job->timeout_s = 1;
    bench->group.timeout_ms = 1000;
    start(bench);
    await(&bench->in_calls, 1);
    while (atomic_load(&bench->in_calls)) {
        struct boot_ms next = calls_time_out(bench->calls, clock_now().boot);
        assert_true(next.ms < INT64_MAX);
        poll(NULL, 0, 1);
    }
    await_ends(bench, 1);
    assert_int_equal(bench->end, RUN_TIMED_OUT);
    assert_int_equal(bench->members[0].ended, 1);
    assert_int_equal(bench->members[1].ended, 0); /* nothing to be told */
    tear_down_bench(bench);
}

static void a_stop_tells_who_is_called_and_calls_no_others(void **state)
{
    struct bench *bench = set_up_bench(1, waits_for_the_gate);
    (void)state;
    start(bench);
    await(&bench->in_calls, 1);
    calls_shut_down(bench->calls);
    await_ends(bench, 1);
    assert_int_equal(bench->end, RUN_KILLED);
    assert_int_equal(bench->members[1].passed, 1);
    assert_int_equal(bench->rest, MEMBERS - 2);
    assert_int_equal(bench->reason, REASON_SHUTDOWN);
    tear_down_bench(bench);
}

static void one_that_is_past_its_deadline_is_passed_over(void **state)
{
    struct bench *bench = set_up_bench(1, waits_for_the_gate);
    (void)state;
    bench->group.deadline_ms = 50;
    start(bench);
    await(&bench->in_calls, 1);
    poll(NULL, 0, 60);
    bench->is_open = true;
    await_ends(bench, 1);
    assert_int_equal(bench->members[1].called, 0);
    assert_int_equal(bench->members[1].passed, 1);
    assert_int_equal(bench->reason, REASON_DEADLINE);
    tear_down_bench(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_called_once_in_a_run),
        cmocka_unit_test(who_came_after_the_tick_is_not_called),
        cmocka_unit_test(a_slow_one_skips_its_own_ticks_alone),
        cmocka_unit_test(what_was_still_to_come_at_a_tick_skips_it),
        cmocka_unit_test(one_that_is_removed_goes_with_its_last_call),
        cmocka_unit_test(only_what_takes_too_long_is_told),
        cmocka_unit_test(a_stop_tells_who_is_called_and_calls_no_others),
        cmocka_unit_test(one_that_is_past_its_deadline_is_passed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
