/* The measured side: a history is written to and read from, in turns with the same done without it,
 * so that what else the machine does hits both. */
#ifndef PEAL_BENCH_HISTORY_DRIVER_H
#define PEAL_BENCH_HISTORY_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history.h"

enum { BATCH = 500, PAGE = 50 };

/* The same rows in the same tables, with what the database itself has and nothing around it. */
struct bare_side {
    const char *name;
    /* One transaction. */
    void (*insert)(void *bare, const struct run *runs, size_t count);
    /* A page of query->limit rows at most, with all columns; how many there were, and the last of
     * them; SIZE_MAX if it took so long that it was given up. What was prepared for `key` is used
     * again while that stays the same. */
    size_t (*query)(void *bare, const void *key, const struct history_query *query,
                    struct id *ret_last);
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
int64_t bench_now_ns(void);

/* Its wake, for opening the history. */
struct history_wake bench_init(struct bench *bench, uint32_t runs);
void bench_release(struct bench *bench);

/* Until the history has answered something. */
void bench_ready(struct bench *bench);

/* Records runs, BATCH at most, through the history. */
void bench_record(struct bench *bench, const struct run *runs, size_t count);

/* Submitted and answered: the rows are read->rows. */
void bench_read(struct bench *bench, struct history_read *read);

/* The first `count` rows, through the history and barely. */
void bench_appends(struct bench *bench, uint32_t count);

/* ---- pages.c ---- */

/* Every kind of question that the API has, of bench->runs rows. */
void bench_pages(struct bench *bench);

#endif
