/* usage: history_bench DIR [RUNS]
 * Records runs in batches of 500 and reads filtered pages of 50 out of RUNS (a million), through
 * the history in SQLite and with bare SQL of the same effect. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "bare_sqlite.h"
#include "driver.h"

enum { APPENDS = 200 * 1000 };

static void open_history(struct bench *bench, const char *dir, struct history_wake wake)
{
    struct strbuf why;
    strbuf_init(&why);
    if (history_sqlite_open(dir, wake, &bench->history, &why) != OK)
        bench_fail("open", why.text);
    strbuf_release(&why);
}

static void measure_appends(const char *dir, uint32_t runs)
{
    char folder[512], path[600], bare_path[600];
    struct bench bench;
    struct history_wake wake = bench_init(&bench, runs);
    snprintf(folder, sizeof(folder), "%s/appends", dir);
    snprintf(path, sizeof(path), "%s/history.db", folder);
    snprintf(bare_path, sizeof(bare_path), "%s/bare.db", folder);
    if (mkdir(folder, 0700) != 0)
        bench_fail("mkdir", folder);
    open_history(&bench, folder, wake);
    struct bare_sqlite *bare = bare_sqlite_new(bare_path, path);
    bench.bare = (struct bare_side){"bare SQLite", bare_sqlite_insert, bare_sqlite_query, bare};
    bench_appends(&bench, runs < APPENDS ? runs : APPENDS);
    bare_sqlite_free(bare);
    bench_release(&bench);
}

static void measure_pages(const char *dir, uint32_t runs)
{
    char path[600];
    struct bench bench;
    struct history_wake wake = bench_init(&bench, runs);
    snprintf(path, sizeof(path), "%s/history.db", dir);
    struct stat there;
    if (stat(path, &there) != 0) { /* else it is there from last time */
        int64_t start_ns = bench_now_ns();
        open_history(&bench, dir, wake);
        history_free(bench.history);
        bare_sqlite_fill(path, runs);
        fprintf(stderr, "filled in %.0f s\n", (double)(bench_now_ns() - start_ns) / 1e9);
    }
    open_history(&bench, dir, wake);
    struct bare_sqlite *bare = bare_sqlite_open(path);
    bench.bare = (struct bare_side){"bare SQLite", bare_sqlite_insert, bare_sqlite_query, bare};
    bench_pages(&bench);
    bare_sqlite_free(bare);
    bench_release(&bench);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        bench_fail("usage", "history_bench DIR [RUNS]");
    uint32_t runs = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1000000;
    if (!getenv("BENCH_NO_APPENDS"))
        measure_appends(argv[1], runs);
    measure_pages(argv[1], runs);
    return 0;
}
