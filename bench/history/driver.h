/* The measured side: a history is written to and read from, in turns with the same done without it,
 * so that what else the machine does hits both. */
#ifndef PEAL_BENCH_HISTORY_DRIVER_H
#define PEAL_BENCH_HISTORY_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history.h"

enum { BATCH = 500, PAGE = 50 };

/* What a page is filtered by. */
struct filter {
    const char *title;
    bool by_job, by_state, by_time;
};

/* The same rows in the same tables, with plain SQL and nothing around it. */
struct bare_side {
    const char *name;
    /* One transaction. */
    void (*insert)(void *bare, const struct run *runs, size_t count);
    /* Reads one row more than a page, all columns; how many there were. */
    size_t (*query)(void *bare, const struct filter *filter, const char *job, int64_t from_ms,
                    int64_t to_ms);
    void *bare;
};

struct bench {
    struct history *history;
    struct bare_side bare;
    int wake_fd;
    bool answered;
    uint32_t runs;
};

_Noreturn void bench_fail(const char *what, const char *why);

/* Its wake, for opening the history. */
struct history_wake bench_init(struct bench *bench, uint32_t runs);
void bench_release(struct bench *bench);

/* Until the history has answered something. */
void bench_ready(struct bench *bench);

void bench_appends(struct bench *bench);
void bench_pages(struct bench *bench);

#endif
