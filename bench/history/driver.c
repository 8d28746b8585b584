#include "driver.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "rows.h"

void bench_fail(const char *what, const char *why)
{
    fprintf(stderr, "history_bench: %s: %s\n", what, why);
    exit(1);
}

int64_t bench_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- answers ---- */

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
    struct strbuf why;
    strbuf_init(&why);
    if (st != OK) {
        (void)history_health(bench->history, &why);
        bench_fail(status_text(st), why.text ? why.text : "");
    }
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

void bench_read(struct bench *bench, struct history_read *read)
{
    read->done = read_done;
    read->context = bench;
    history_read(bench->history, read);
    wait_for_answer(bench);
}

void bench_ready(struct bench *bench)
{
    struct history_read read = {.query.limit = 1};
    bench_read(bench, &read);
    history_read_release(&read);
}

/* ---- writing ---- */

void bench_record(struct bench *bench, const struct run *runs, size_t count)
{
    struct history_record records[BATCH];
    for (size_t i = 0; i < count; i++)
        records[i] = (struct history_record){.run = &runs[i]};
    struct history_append append = {
        .records = records, .count = count, .done = append_done, .context = bench};
    history_append(bench->history, &append);
    wait_for_answer(bench);
}

void bench_appends(struct bench *bench, uint32_t count)
{
    static struct run runs[BATCH];
    int64_t peal_ns = 0, bare_ns = 0;
    for (uint32_t n = 0; n < count; n += BATCH) {
        for (uint32_t i = 0; i < BATCH; i++)
            runs[i] = row_make(n + i);
        int64_t start_ns = bench_now_ns();
        bench_record(bench, runs, BATCH);
        int64_t middle_ns = bench_now_ns();
        bench->bare.insert(bench->bare.bare, runs, BATCH);
        peal_ns += middle_ns - start_ns;
        bare_ns += bench_now_ns() - middle_ns;
    }
    printf("%-34s %12s %12s %8s\n", "runs recorded per second", "peal", bench->bare.name, "ratio");
    printf("batches of %d, %-20" PRIu32 " %12.0f %12.0f %8.2f\n\n", BATCH, count,
           count * 1e9 / (double)peal_ns, count * 1e9 / (double)bare_ns,
           (double)bare_ns / (double)peal_ns);
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
