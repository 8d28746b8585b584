#include "history_world.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

enum { WAIT_MS = 30 * 1000 };

static void wake(void *context)
{
    struct history_world *world = context;
    uint64_t one = 1;
    assert_int_equal(write(world->wake_fd, &one, sizeof(one)), sizeof(one));
}

struct history_wake history_world_wake(struct history_world *world)
{
    return (struct history_wake){wake, world};
}

void world_open(struct history_world *world)
{
    struct history_wake how = history_world_wake(world);
    assert_int_equal(world->backend->open(world->place, how, &world->history), OK);
}

void world_close(struct history_world *world)
{
    world->history = history_free(world->history);
    assert_null(world->history);
}

int history_world_wake_init(struct history_world *world)
{
    world->wake_fd = eventfd(0, EFD_CLOEXEC);
    return world->wake_fd >= 0 ? 0 : -1;
}

void history_world_wake_release(struct history_world *world)
{
    close(world->wake_fd);
}

int history_world_setup(void **state)
{
    struct history_world *world = calloc(1, sizeof(*world));
    assert_non_null(world);
    world->backend = *state;
    world->backend->make_place(world->place);
    assert_int_equal(history_world_wake_init(world), 0);
    world_open(world);
    *state = world;
    return 0;
}

int history_world_teardown(void **state)
{
    struct history_world *world = *state;
    history_free(world->history);
    close(world->wake_fd);
    world->backend->remove_place(world->place);
    free(world);
    return 0;
}

void world_wait(struct history_world *world, const bool *done)
{
    while (!*done) {
        struct pollfd ready = {.fd = world->wake_fd, .events = POLLIN};
        uint64_t count;
        assert_int_equal(poll(&ready, 1, WAIT_MS), 1);
        assert_int_equal(read(world->wake_fd, &count, sizeof(count)), sizeof(count));
        history_dispatch(world->history);
    }
}

/* ---- requests that wait ---- */

struct answer {
    bool done;
    enum status st;
};

static void take_answer(void *context, enum status st)
{
    struct answer *answer = context;
    assert_false(answer->done);
    *answer = (struct answer){true, st};
}

static void append_done(struct history_append *append, enum status st)
{
    take_answer(append->context, st);
}

static void read_done(struct history_read *read, enum status st)
{
    take_answer(read->context, st);
}

static void log_done(struct history_log *log, enum status st)
{
    take_answer(log->context, st);
}

static void stats_done(struct history_stats *stats, enum status st)
{
    take_answer(stats->context, st);
}

static void changes_done(struct history_changes *changes, enum status st)
{
    take_answer(changes->context, st);
}

static void prune_done(struct history_prune *prune, enum status st)
{
    take_answer(prune->context, st);
}

enum status world_append(struct history_world *world, struct history_record *records, size_t count)
{
    struct answer answer = {0};
    struct history_append append = {
        .records = records, .count = count, .done = append_done, .context = &answer};
    history_append(world->history, &append);
    world_wait(world, &answer.done);
    return answer.st;
}

enum status world_append_run(struct history_world *world, const struct run *run)
{
    return world_append(world, &(struct history_record){.run = run}, 1);
}

enum status world_append_entry(struct history_world *world, const struct ledger_entry *entry)
{
    return world_append(world, &(struct history_record){.entry = entry}, 1);
}

enum status world_read(struct history_world *world, struct history_read *read)
{
    struct answer answer = {0};
    read->done = read_done;
    read->context = &answer;
    history_read(world->history, read);
    world_wait(world, &answer.done);
    return answer.st;
}

enum status world_log(struct history_world *world, struct history_log *log)
{
    struct answer answer = {0};
    log->done = log_done;
    log->context = &answer;
    history_log(world->history, log);
    world_wait(world, &answer.done);
    return answer.st;
}

enum status world_stats(struct history_world *world, struct history_stats *stats)
{
    struct answer answer = {0};
    stats->done = stats_done;
    stats->context = &answer;
    history_stats(world->history, stats);
    world_wait(world, &answer.done);
    return answer.st;
}

enum status world_append_change(struct history_world *world, const struct change_record *change)
{
    return world_append(world, &(struct history_record){.change = change}, 1);
}

enum status world_changes(struct history_world *world, struct history_changes *changes)
{
    struct answer answer = {0};
    changes->done = changes_done;
    changes->context = &answer;
    history_changes(world->history, changes);
    world_wait(world, &answer.done);
    return answer.st;
}

enum status world_prune_as(struct history_world *world, struct history_prune *prune)
{
    struct answer answer = {0};
    prune->done = prune_done;
    prune->context = &answer;
    history_prune(world->history, prune);
    world_wait(world, &answer.done);
    return answer.st;
}

int64_t world_prune(struct history_world *world, const struct id *job_uid, int64_t keep_runs,
                    int64_t before_ms)
{
    struct history_prune prune = {.keep_runs = keep_runs, .before_ms = before_ms, .removed = -1};
    if (job_uid)
        prune.job_uid = *job_uid;
    assert_int_equal(world_prune_as(world, &prune), OK);
    return prune.removed;
}

size_t world_count(struct history_world *world, struct history_query query)
{
    size_t count = 0;
    struct history_read read = {.query = query, .more = true};
    read.query.limit = 1000;
    while (read.more) {
        assert_int_equal(world_read(world, &read), OK);
        count += read.count;
        read.query.before = read.next;
        history_read_release(&read);
    }
    return count;
}

bool world_has_run(struct history_world *world, const struct id *id, struct run *ret)
{
    struct history_log log = {.run_id = *id};
    assert_int_equal(world_log(world, &log), OK);
    assert_int_equal(log.count, 0); /* the limit is 0 */
    if (log.found && ret)
        *ret = log.run;
    history_log_release(&log);
    return log.found;
}

/* ---- samples ---- */

struct id sample_id(int64_t made_ms, uint32_t number)
{
    uint8_t random[10] = {0};
    memcpy(random, &number, sizeof(number));
    return id_make((struct wall_ms){made_ms}, random);
}

struct id sample_uid(uint32_t job)
{
    return sample_id(SAMPLE_MS - 1000, 1000 + job);
}

struct run sample_run(uint32_t job, uint32_t number)
{
    int64_t tick_ms = SAMPLE_MS + number * INT64_C(1000);
    struct run run = {
        .id = sample_id(tick_ms, job),
        .job_uid = sample_uid(job),
        .tick_ms = tick_ms,
        .attempt = 2,
        .cause = CAUSE_CATCH_UP,
        .state = RUN_OK,
        .node = "node-a",
        .nonce = UINT64_C(0xfedcba9876543210),
        .fence = 77,
        .job_revision = 5,
        .not_before_ms = tick_ms + 1,
        .claimed_ms = tick_ms + 2,
        .started_ms = tick_ms + 3,
        .finished_ms = tick_ms + 103,
        .exit_code = -1,
        .term_signal = 9,
        .user_ms = 11,
        .system_ms = 12,
        .max_rss_kb = 13,
        .output_bytes = INT64_C(1) << 40,
        .output_truncated = true,
        .by = "Ann",
        .detail = "caf\xc3\xa9 % _ \\ '",
        .traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    };
    snprintf(run.job_name, sizeof(run.job_name), "job-%u", (unsigned)job);
    return run;
}

struct ledger_entry sample_entry(uint32_t job, uint32_t number)
{
    int64_t tick_ms = SAMPLE_MS + number * INT64_C(1000);
    struct ledger_entry entry = {
        .id = sample_id(tick_ms, 100000 + job),
        .job_uid = sample_uid(job),
        .from_ms = tick_ms - 5000,
        .to_ms = tick_ms,
        .count = 6,
        .state = RUN_SKIPPED,
        .reason = REASON_OVERLAP,
        .detail = "was busy",
        .recorded_ms = tick_ms + 10,
    };
    snprintf(entry.job_name, sizeof(entry.job_name), "job-%u", (unsigned)job);
    return entry;
}

struct change_record sample_change(uint32_t job, uint32_t number)
{
    int64_t at_ms = SAMPLE_MS + number * INT64_C(1000);
    struct change_record change = {
        .id = sample_id(at_ms, 200000 + job),
        .at_ms = at_ms,
        .via = VIA_TOKEN,
        .action = CHANGE_CHANGE,
        .target_kind = TARGET_JOB,
        .actor = "Ann",
        .address = "192.0.2.7",
        .request_id = "request-1",
        .job_uid = sample_uid(job),
        .revision = 10 + number,
        .detail = "caf\xc3\xa9 % _ \\ '",
        .before = "{\"name\":\"caf\xc3\xa9\"}",
        .after = "{\"name\":\"b\"}",
    };
    snprintf(change.job_name, sizeof(change.job_name), "job-%u", (unsigned)job);
    snprintf(change.target, sizeof(change.target), "job-%u", (unsigned)job);
    return change;
}

void assert_same_run(const struct run *a, const struct run *b)
{
    assert_memory_equal(&a->id, &b->id, sizeof(a->id));
    assert_memory_equal(&a->job_uid, &b->job_uid, sizeof(a->job_uid));
    assert_string_equal(a->job_name, b->job_name);
    assert_int_equal(a->tick_ms, b->tick_ms);
    assert_int_equal(a->attempt, b->attempt);
    assert_int_equal(a->cause, b->cause);
    assert_int_equal(a->state, b->state);
    assert_int_equal(a->reason, b->reason);
    assert_string_equal(a->node, b->node);
    assert_true(a->nonce == b->nonce);
    assert_int_equal(a->fence, b->fence);
    assert_int_equal(a->job_revision, b->job_revision);
    assert_int_equal(a->not_before_ms, b->not_before_ms);
    assert_int_equal(a->claimed_ms, b->claimed_ms);
    assert_int_equal(a->started_ms, b->started_ms);
    assert_int_equal(a->finished_ms, b->finished_ms);
    assert_int_equal(a->exit_code, b->exit_code);
    assert_int_equal(a->term_signal, b->term_signal);
    assert_int_equal(a->user_ms, b->user_ms);
    assert_int_equal(a->system_ms, b->system_ms);
    assert_int_equal(a->max_rss_kb, b->max_rss_kb);
    assert_int_equal(a->output_bytes, b->output_bytes);
    assert_int_equal(a->output_truncated, b->output_truncated);
    assert_string_equal(a->by, b->by);
    assert_string_equal(a->detail, b->detail);
    assert_string_equal(a->traceparent, b->traceparent);
}
