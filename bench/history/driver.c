#include "driver.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "hash.h"
#include "rows.h"

enum { QUERIES = 500 };

void bench_fail(const char *what, const char *why)
{
    fprintf(stderr, "history_bench: %s: %s\n", what, why);
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void wake(void *context)
{
    struct bench *bench = context;
    uint64_t one = 1;
    if (write(bench->wake_fd, &one, sizeof(one)) != sizeof(one))
        abort();
}

static void wait_for_answer(struct bench *bench)
{
    while (!bench->answered) {
        struct pollfd ready = {.fd = bench->wake_fd, .events = POLLIN};
        uint64_t count;
        poll(&ready, 1, -1);
        if (read(bench->wake_fd, &count, sizeof(count)) == sizeof(count))
            history_dispatch(bench->history);
    }
    bench->answered = false;
}

static void answered(struct bench *bench, enum status st)
{
    if (st != OK)
        bench_fail("a request failed", status_text(st));
    bench->answered = true;
}

static void append_done(struct history_append *append, enum status st)
{
    answered(append->context, st);
}

static void read_done(struct history_read *read, enum status st)
{
    answered(read->context, st);
}

/* ---- writing ---- */

static void append_batch(struct bench *bench, const struct run *runs)
{
    struct history_record records[BATCH];
    for (size_t i = 0; i < BATCH; i++)
        records[i] = (struct history_record){.run = &runs[i]};
    struct history_append append = {
        .records = records, .count = BATCH, .done = append_done, .context = bench};
    history_append(bench->history, &append);
    wait_for_answer(bench);
}

void bench_appends(struct bench *bench)
{
    static struct run runs[BATCH];
    int64_t peal_ns = 0, bare_ns = 0;
    for (uint32_t n = 0; n < bench->runs; n += BATCH) {
        for (uint32_t i = 0; i < BATCH; i++)
            runs[i] = row_make(n + i);
        int64_t start_ns = now_ns();
        append_batch(bench, runs);
        int64_t middle_ns = now_ns();
        bench->bare.insert(bench->bare.bare, runs, BATCH);
        peal_ns += middle_ns - start_ns;
        bare_ns += now_ns() - middle_ns;
    }
    printf("%-34s %12s %12s %8s\n", "runs recorded per second", "peal", bench->bare.name, "ratio");
    printf("%-34s %12.0f %12.0f %8.2f\n\n", "batches of 500, each on disk",
           bench->runs * 1e9 / (double)peal_ns, bench->runs * 1e9 / (double)bare_ns,
           (double)bare_ns / (double)peal_ns);
}

/* ---- reading ---- */

static const struct filter filters[] = {
    {"all", false, false, false},           {"of a job", true, false, false},
    {"failed", false, true, false},         {"of a job, failed", true, true, false},
    {"in a past hour", false, false, true}, {"failed, in a past hour", false, true, true},
};

static int compare_ns(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static size_t read_page(struct bench *bench, const struct history_query *query)
{
    struct history_read read = {.query = *query, .done = read_done, .context = bench};
    history_read(bench->history, &read);
    wait_for_answer(bench);
    size_t rows = read.count + read.more;
    history_read_release(&read);
    return rows;
}

/* A scan of everything is measured, too, but not that often. */
enum { SLOW_NS = 20 * 1000 * 1000, SLOW_QUERIES = 30 };

void bench_ready(struct bench *bench)
{
    const struct history_query query = {.limit = 1};
    read_page(bench, &query);
}

static void bench_filter(struct bench *bench, size_t f)
{
    static int64_t peal_ns[QUERIES], bare_ns[QUERIES];
    uint32_t count = QUERIES;
    for (uint32_t i = 0; i < count; i++) {
        char name[64];
        uint64_t random = hash_bytes(5, &i, sizeof(i));
        int64_t span_ms = (int64_t)bench->runs * STEP_MS;
        int64_t from_ms = FIRST_MS + (int64_t)hash_below(random, (uint64_t)span_ms);
        snprintf(name, sizeof(name), "nightly-report-%u", (unsigned)hash_below(random, JOBS));
        struct history_query query = {.limit = PAGE};
        if (filters[f].by_job)
            query.job_name = name;
        if (filters[f].by_state)
            query.states = 1u << RUN_FAILED;
        if (filters[f].by_time) {
            query.since_ms = from_ms;
            query.until_ms = from_ms + 3600 * 1000;
        }
        int64_t start_ns = now_ns();
        size_t rows = read_page(bench, &query);
        int64_t middle_ns = now_ns();
        size_t bare_rows =
            bench->bare.query(bench->bare.bare, &filters[f], name, query.since_ms, query.until_ms);
        peal_ns[i] = middle_ns - start_ns;
        bare_ns[i] = now_ns() - middle_ns;
        if (rows != bare_rows)
            bench_fail(filters[f].title, "the two answers differ");
        if (i == 0 && bare_ns[0] > SLOW_NS)
            count = SLOW_QUERIES;
    }
    qsort(peal_ns, count, sizeof(peal_ns[0]), compare_ns);
    qsort(bare_ns, count, sizeof(bare_ns[0]), compare_ns);
    size_t p99 = count - 1 - count / 100;
    printf("%-34s %8.0f %8.0f %10.0f %10.0f %8.2f %8.2f\n", filters[f].title,
           (double)peal_ns[count / 2] / 1e3, (double)peal_ns[p99] / 1e3,
           (double)bare_ns[count / 2] / 1e3, (double)bare_ns[p99] / 1e3,
           (double)bare_ns[count / 2] / (double)peal_ns[count / 2],
           (double)bare_ns[p99] / (double)peal_ns[p99]);
}

void bench_pages(struct bench *bench)
{
    printf("a page of %d out of %" PRIu32 " runs, us\n", PAGE, bench->runs);
    printf("%-34s %8s %8s %10s %10s %8s %8s\n", "", "peal p50", "p99", "bare p50", "p99", "ratio",
           "p99");
    for (size_t f = 0; f < sizeof(filters) / sizeof(filters[0]); f++)
        bench_filter(bench, f);
}

/* ---- from init to release ---- */

struct history_wake bench_init(struct bench *bench, uint32_t runs)
{
    *bench = (struct bench){.runs = runs, .wake_fd = eventfd(0, EFD_CLOEXEC)};
    return (struct history_wake){wake, bench};
}

void bench_release(struct bench *bench)
{
    history_free(bench->history);
    close(bench->wake_fd);
}
