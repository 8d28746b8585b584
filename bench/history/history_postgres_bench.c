/* usage: history_postgres_bench [RUNS [URL]]
 * Records runs in batches of 500 and reads filtered pages of 50 out of RUNS (a million), through
 * the history in PostgreSQL and with bare SQL of the same effect, in a server of its own that
 * really writes to the disk; or, with a URL, in one that was filled before. */
#include <stdio.h>
#include <stdlib.h>

#include "bare_postgres.h"
#include "postgres/history_postgres.h"
#include "postgres_server.h"
#include "rows.h"

enum {
    APPENDS = 100 * 1000,
    EVERY_MONTH = 20 * 86400 / (STEP_MS / 1000), /* each has one of these rows at least */
};

static struct postgres_server server = {.is_durable = true};

static void open_history(struct bench *bench, const char *url, struct history_wake wake)
{
    struct strbuf why;
    strbuf_init(&why);
    if (history_postgres_open(url, NULL, wake, &bench->history, &why) != OK)
        bench_fail("open", why.text);
    strbuf_release(&why);
    bench_ready(bench); /* the tables are there */
}

static struct bare_side bare_side(struct bare_postgres *bare)
{
    return (struct bare_side){"bare COPY", bare_postgres_insert, bare_postgres_query, bare};
}

/* A row of each month is recorded, so that the history makes the partitions; the rest is filled in.
 */
static void fill(struct bench *bench, struct bare_postgres *bare, uint32_t first)
{
    int64_t start_ns = bench_now_ns();
    for (uint32_t n = (first + EVERY_MONTH - 1) / EVERY_MONTH * EVERY_MONTH; n < bench->runs;
         n += EVERY_MONTH) {
        struct run run = row_make(n);
        bench_record(bench, &run, 1);
    }
    struct run last = row_make(bench->runs - 1);
    bench_record(bench, &last, 1);
    bare_postgres_fill(bare, first, bench->runs - 1, EVERY_MONTH);
    fprintf(stderr, "filled in %.0f s\n", (double)(bench_now_ns() - start_ns) / 1e9);
}

/* A server of our own, with the rows in it. */
static struct bare_postgres *start(struct bench *bench, struct history_wake wake, char url[256])
{
    uint32_t appends = bench->runs < APPENDS ? bench->runs : APPENDS;
    postgres_server_start(&server);
    postgres_server_url(&server, "", url);
    open_history(bench, url, wake);
    struct bare_postgres *bare = bare_postgres_new(url);
    bench->bare = bare_side(bare);
    bench_appends(bench, appends);
    bare_postgres_use_peal(bare);
    if (appends < bench->runs)
        fill(bench, bare, appends);
    return bare;
}

int main(int argc, char **argv)
{
    char url[256];
    struct bench bench;
    struct bare_postgres *bare;
    if (!postgres_server_available()) {
        puts("no PostgreSQL server is installed: not measured");
        return 0;
    }
    struct history_wake wake =
        bench_init(&bench, argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000000);
    if (argc > 2) {
        open_history(&bench, argv[2], wake);
        bare = bare_postgres_open(argv[2]);
        bench.bare = bare_side(bare);
    } else {
        bare = start(&bench, wake, url);
    }
    bench_pages(&bench);
    bare_postgres_free(bare);
    bench_release(&bench);
    postgres_server_remove(&server);
    return 0;
}
