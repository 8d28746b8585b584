/* usage: history_bench DIR [RUNS]
 * Writes RUNS (a million) runs in batches of 500 and reads filtered pages of 50, through the
 * history in SQLite and with bare SQL of the same effect. */
#include <stdio.h>
#include <stdlib.h>

#include "bare.h"
#include "driver.h"

int main(int argc, char **argv)
{
    char path[512], bare_path[512];
    struct bench bench;
    struct strbuf why;
    strbuf_init(&why);
    if (argc < 2)
        bench_fail("usage", "history_bench DIR [RUNS]");
    struct history_wake wake =
        bench_init(&bench, argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1000000);
    snprintf(path, sizeof(path), "%s/history.db", argv[1]);
    snprintf(bare_path, sizeof(bare_path), "%s/bare.db", argv[1]);
    if (history_sqlite_open(argv[1], wake, &bench.history, &why) != OK)
        bench_fail("open", why.text);
    strbuf_release(&why);
    bench.bare =
        (struct bare_side){"bare SQLite", bare_insert, bare_query, bare_new(bare_path, path)};
    bench_appends(&bench);
    bare_free(bench.bare.bare);

    bench.bare.bare = bare_open(path);
    bench_pages(&bench);
    bare_free(bench.bare.bare);
    bench_release(&bench);
    return 0;
}
