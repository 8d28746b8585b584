/* Calls of functions, as the engine asks for them, on threads and on the program's own. */
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

enum { WINDOW_MS = 5000, PATIENCE_MS = 60000 };

struct bench {
    struct call_pool *pool;
    struct calls *calls;
    int woken; /* an eventfd */
    peal_function *function;
    atomic_int called, at_once, most_at_once;
    atomic_bool is_open;
    struct job *job;
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
    if (strcmp(order->name, "unknown") == 0)
        return false;
    *ret = (struct call_target){.function = bench->function, .arg = bench};
    return true;
}

static struct bench *set_up_bench(int threads, peal_function *function)
{
    struct bench *bench = calloc(1, sizeof(*bench));
    assert_non_null(bench);
    bench->woken = eventfd(0, EFD_CLOEXEC);
    bench->function = function;
    bench->job = job_new();
    assert_non_null(bench->job);
    bench->job->name = strdup("sweep");
    assert_int_equal(call_pool_new(threads, &bench->pool), OK);
    struct calls_config config = {
        .pool = bench->pool, .wake = wake, .context = bench, .find = find, .functions = bench};
    assert_int_equal(calls_new(&config, &bench->calls), OK);
    return bench;
}

static void tear_down_bench(struct bench *bench)
{
    bench->pool = call_pool_free(bench->pool);
    bench->calls = calls_free(bench->calls);
    job_free(bench->job);
    close(bench->woken);
    free(bench);
}

static struct id ask(struct bench *bench, int64_t in_ms, int64_t window_ms)
{
    struct now now = clock_now();
    struct run run = {.id = {{1, ++bench->next_id}}, .attempt = 2, .fence = 77, .tick_ms = 1234};
    snprintf(run.job_name, sizeof(run.job_name), "sweep");
    struct executor *executor = calls_executor(bench->calls);
    assert_int_equal(executor->ops->start(executor, &run, bench->job,
                                          (struct boot_ms){now.boot.ms + in_ms},
                                          (struct boot_ms){now.boot.ms + in_ms + window_ms}),
                     OK);
    return run.id;
}

/* Waits for the next event, however long that takes. */
static struct executor_event next_event(struct bench *bench)
{
    struct executor *executor = calls_executor(bench->calls);
    struct executor_event event;
    struct pollfd ready = {.fd = bench->woken, .events = POLLIN};
    uint64_t count;
    while (!executor->ops->next_event(executor, &event)) {
        assert_int_equal(poll(&ready, 1, PATIENCE_MS), 1);
        assert_int_equal(read(bench->woken, &count, sizeof(count)), sizeof(count));
    }
    return event;
}

static void expect(struct bench *bench, enum executor_event_kind kind, struct executor_event *ret)
{
    *ret = next_event(bench);
    assert_int_equal(ret->kind, kind);
}

/* ---- functions ---- */

static int talks(peal_run *run, void *arg)
{
    struct bench *bench = arg;
    bench->called++;
    assert_string_equal(peal_run_job(run), "sweep");
    assert_int_equal(peal_run_attempt(run), 2);
    assert_int_equal(peal_run_fence(run), 77);
    assert_int_equal(strncmp(peal_run_traceparent(run), "00-", 3), 0);
    assert_int_equal(strlen(peal_run_traceparent(run)), 55);
    assert_int_equal(peal_run_tick(run), 1234);
    assert_null(peal_param(run, "day"));
    peal_log(run, "line %d", 1);
    peal_log(run, "line %d\n", 2);
    return 0;
}

static int fails(peal_run *run, void *arg)
{
    (void)run;
    (void)arg;
    return 7;
}

static int sleeps_until_told(peal_run *run, void *arg)
{
    (void)arg;
    while (peal_sleep(run, 10) == PEAL_OK)
        ;
    return peal_cancelled(run) ? 1 : 0;
}

static int counts(peal_run *run, void *arg)
{
    struct bench *bench = arg;
    int now = ++bench->at_once;
    int most = bench->most_at_once;
    while (now > most && !atomic_compare_exchange_weak(&bench->most_at_once, &most, now))
        ;
    peal_sleep(run, 5);
    bench->at_once--;
    bench->called++;
    return 0;
}

/* ---- tests ---- */

static void a_call_has_its_run_and_leaves_its_lines(void **state)
{
    struct bench *bench = set_up_bench(2, talks);
    struct executor_event event;
    struct output_source output = calls_output(bench->calls);
    struct output_chunk *chunks;
    size_t count;
    (void)state;
    expect(bench, EXECUTOR_READY, &event);
    struct id id = ask(bench, 0, WINDOW_MS);
    expect(bench, EXECUTOR_STARTED, &event);
    assert_true(event.end.started_ms > 0);
    expect(bench, EXECUTOR_ENDED, &event);
    assert_int_equal(event.end.state, RUN_OK);
    assert_int_equal(event.end.exit_code, 0);
    assert_int_equal(event.end.output_bytes, 14);
    assert_int_equal(output.read(output.context, &id, &chunks, &count), OK);
    assert_int_equal(count, 2);
    assert_memory_equal(chunks[1].bytes, "line 2\n", 7);
    output.release(output.context, chunks, count);
    struct executor *executor = calls_executor(bench->calls);
    executor->ops->acknowledge(executor, &id);
    output.remove(output.context, &id);
    assert_int_equal(output.read(output.context, &id, &chunks, &count), E_NOT_FOUND);
    assert_int_equal(bench->called, 1);
    tear_down_bench(bench);
}

static void a_failure_has_its_code(void **state)
{
    struct bench *bench = set_up_bench(1, fails);
    struct executor_event event;
    (void)state;
    expect(bench, EXECUTOR_READY, &event);
    ask(bench, 0, WINDOW_MS);
    expect(bench, EXECUTOR_STARTED, &event);
    expect(bench, EXECUTOR_ENDED, &event);
    assert_int_equal(event.end.state, RUN_FAILED);
    assert_int_equal(event.end.reason, REASON_EXIT_CODE);
    assert_int_equal(event.end.exit_code, 7);
    tear_down_bench(bench);
}

static void a_kill_is_told_to_the_function(void **state)
{
    static const struct {
        enum run_reason reason;
        enum run_state state;
    } cases[] = {{REASON_USER, RUN_KILLED}, {REASON_TIMEOUT, RUN_TIMED_OUT}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench *bench = set_up_bench(1, sleeps_until_told);
        struct executor_event event;
        expect(bench, EXECUTOR_READY, &event);
        struct id id = ask(bench, 0, WINDOW_MS);
        expect(bench, EXECUTOR_STARTED, &event);
        struct executor *executor = calls_executor(bench->calls);
        executor->ops->kill(executor, &id, cases[i].reason);
        executor->ops->kill(executor, &id, REASON_SHUTDOWN); /* the first reason stands */
        expect(bench, EXECUTOR_ENDED, &event);
        assert_int_equal(event.end.state, cases[i].state);
        assert_int_equal(event.end.reason, cases[i].reason);
        tear_down_bench(bench);
    }
}

static void no_more_than_its_threads_are_called_at_once(void **state)
{
    enum { CALLS = 60, THREADS = 3 };
    struct bench *bench = set_up_bench(THREADS, counts);
    struct executor_event event;
    int ended = 0;
    (void)state;
    expect(bench, EXECUTOR_READY, &event);
    for (int i = 0; i < CALLS; i++)
        ask(bench, 0, PATIENCE_MS);
    while (ended < CALLS) {
        event = next_event(bench);
        ended += event.kind == EXECUTOR_ENDED;
    }
    assert_int_equal(bench->called, CALLS);
    assert_in_range(bench->most_at_once, 1, THREADS);
    tear_down_bench(bench);
}

static void a_call_that_comes_too_late_is_not_made(void **state)
{
    struct bench *bench = set_up_bench(1, talks);
    struct executor_event event;
    (void)state;
    expect(bench, EXECUTOR_READY, &event);
    ask(bench, -10, 5);
    expect(bench, EXECUTOR_EXPIRED, &event);
    assert_int_equal(bench->called, 0);
    tear_down_bench(bench);
}

static void a_call_waits_for_its_time_and_is_made_once(void **state)
{
    struct bench *bench = set_up_bench(1, talks);
    struct executor_event event;
    int64_t due = clock_now().boot.ms + 30;
    (void)state;
    expect(bench, EXECUTOR_READY, &event);
    ask(bench, 30, WINDOW_MS);
    bench->next_id--; /* the same run again */
    ask(bench, 30, WINDOW_MS);
    expect(bench, EXECUTOR_STARTED, &event);
    assert_true(clock_now().boot.ms >= due);
    expect(bench, EXECUTOR_ENDED, &event);
    tear_down_bench(bench);
}

static void the_program_calls_on_its_own_thread(void **state)
{
    struct bench *bench = set_up_bench(0, talks);
    struct executor_event event;
    struct pollfd ready = {.fd = call_pool_fd(bench->pool), .events = POLLIN};
    (void)state;
    expect(bench, EXECUTOR_READY, &event);
    assert_int_equal(poll(&ready, 1, 0), 0);
    ask(bench, 0, WINDOW_MS);
    ask(bench, 0, WINDOW_MS);
    assert_int_equal(poll(&ready, 1, PATIENCE_MS), 1);
    assert_int_equal(bench->called, 0);
    assert_int_equal(call_pool_step(bench->pool), 2);
    assert_int_equal(bench->called, 2);
    assert_int_equal(poll(&ready, 1, 0), 0);
    tear_down_bench(bench);
}

static int writes_much(peal_run *run, void *arg)
{
    (void)arg;
    for (int i = 0; i < 1000; i++)
        peal_log(run, "%09d", i);
    return 0;
}

static void the_first_and_the_last_lines_are_kept(void **state)
{
    struct bench *bench = set_up_bench(1, writes_much);
    struct executor_event event;
    struct output_source output = calls_output(bench->calls);
    struct output_chunk *chunks;
    size_t count;
    int64_t gap = 0;
    (void)state;
    bench->job->output_limit = 100; /* ten lines at the head, and as many at the tail */
    expect(bench, EXECUTOR_READY, &event);
    struct id id = ask(bench, 0, WINDOW_MS);
    expect(bench, EXECUTOR_STARTED, &event);
    expect(bench, EXECUTOR_ENDED, &event);
    assert_true(event.end.output_truncated);
    assert_int_equal(event.end.output_bytes, 10000);
    assert_int_equal(output.read(output.context, &id, &chunks, &count), OK);
    assert_int_equal(count, 20);
    assert_memory_equal(chunks[9].bytes, "000000009\n", 10);
    assert_memory_equal(chunks[10].bytes, "000000990\n", 10);
    for (size_t i = 0; i < count; i++)
        gap += chunks[i].gap_bytes;
    assert_int_equal(gap, 9800);
    output.release(output.context, chunks, count);
    tear_down_bench(bench);
}

/* ---- how many are begun ahead ---- */

static int waits_for_the_gate(peal_run *run, void *arg)
{
    struct bench *bench = arg;
    bench->called++;
    while (!bench->is_open && peal_sleep(run, 1) == PEAL_OK)
        ;
    return 0;
}

static size_t starts_ahead(struct bench *bench, int threads)
{
    struct executor *executor = calls_executor(bench->calls);
    calls_wanted(bench->calls, threads, false);
    return executor->ops->starts_ahead(executor);
}

static void make_calls(struct bench *bench, int calls)
{
    for (int i = 0; i < calls; i++)
        ask(bench, 0, PATIENCE_MS);
    for (int ended = 0; ended < calls;)
        ended += next_event(bench).kind == EXECUTOR_ENDED;
}

static void wait_until_called(const struct bench *bench, int calls)
{
    while (bench->called < calls)
        poll(NULL, 0, 1);
}

/* Nothing is known of the functions at first; then they are brisk; then they hold all threads. */
static void what_is_begun_ahead_is_what_threads_take_soon(void **state)
{
    enum { THREADS = 3, BRISK = 64 };
    struct bench *bench = set_up_bench(THREADS, talks);
    struct executor_event event;
    (void)state;
    expect(bench, EXECUTOR_READY, &event);
    assert_int_equal(starts_ahead(bench, THREADS), THREADS);
    make_calls(bench, BRISK);
    assert_in_range(starts_ahead(bench, THREADS), 2 * THREADS, SIZE_MAX);

    bench->called = 0;
    bench->function = waits_for_the_gate;
    ask(bench, 0, PATIENCE_MS);
    wait_until_called(bench, 1); /* one thread is held, and the others are not */
    assert_in_range(starts_ahead(bench, THREADS), 2 * THREADS, SIZE_MAX);
    ask(bench, 0, PATIENCE_MS);
    ask(bench, 0, PATIENCE_MS);
    wait_until_called(bench, THREADS);
    while (starts_ahead(bench, THREADS) > 0) /* until it is seen that they are held */
        poll(NULL, 0, 1);
    poll(NULL, 0, 101); /* so long that they are not brisk, however slow the machine */
    bench->is_open = true;
    for (int ended = 0; ended < THREADS;)
        ended += next_event(bench).kind == EXECUTOR_ENDED;
    assert_int_equal(starts_ahead(bench, THREADS), THREADS);
    tear_down_bench(bench);
}

static int lasts_longer_than_brisk(peal_run *run, void *arg)
{
    (void)arg;
    peal_sleep(run, 150);
    return 0;
}

/* What is claimed ahead is there for the tick; who has others beside it leaves them their part. */
static void a_process_alone_claims_ahead_until_calls_are_long(void **state)
{
    enum { THREADS = 3 };
    struct bench *bench = set_up_bench(THREADS, lasts_longer_than_brisk);
    struct executor_event event;
    (void)state;
    expect(bench, EXECUTOR_READY, &event);
    int of_others = calls_wanted(bench->calls, THREADS, false);
    assert_in_range(calls_wanted(bench->calls, THREADS, true), 8 * of_others, INT32_MAX);
    assert_int_equal(starts_ahead(bench, THREADS), THREADS);
    make_calls(bench, 1);
    assert_int_equal(calls_wanted(bench->calls, THREADS, true), THREADS);
    tear_down_bench(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_has_its_run_and_leaves_its_lines),
        cmocka_unit_test(a_failure_has_its_code),
        cmocka_unit_test(a_kill_is_told_to_the_function),
        cmocka_unit_test(no_more_than_its_threads_are_called_at_once),
        cmocka_unit_test(a_call_that_comes_too_late_is_not_made),
        cmocka_unit_test(a_call_waits_for_its_time_and_is_made_once),
        cmocka_unit_test(the_program_calls_on_its_own_thread),
        cmocka_unit_test(the_first_and_the_last_lines_are_kept),
        cmocka_unit_test(what_is_begun_ahead_is_what_threads_take_soon),
        cmocka_unit_test(a_process_alone_claims_ahead_until_calls_are_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
