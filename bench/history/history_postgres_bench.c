/* usage: history_postgres_bench [RUNS]
 * Writes RUNS (a million) runs in batches of 500 and reads filtered pages of 50, through the
 * history in PostgreSQL and with bare SQL of the same effect, in a server of its own that really
 * writes to the disk. */
#include <stdio.h>
#include <stdlib.h>

#include "bare_postgres.h"
#include "history_postgres.h"
#include "postgres_server.h"

static struct postgres_server server = {.is_durable = true};

int main(int argc, char **argv)
{
    char url[256];
    struct bench bench;
    struct strbuf why;
    if (!postgres_server_available()) {
        puts("no PostgreSQL server is installed: not measured");
        return 0;
    }
    strbuf_init(&why);
    struct history_wake wake =
        bench_init(&bench, argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000000);
    postgres_server_start(&server);
    postgres_server_url(&server, "", url);
    if (history_postgres_open(url, NULL, wake, &bench.history, &why) != OK)
        bench_fail("open", why.text);
    strbuf_release(&why);
    bench_ready(&bench); /* the tables are there */
    struct bare_postgres *bare = bare_postgres_new(url);
    bench.bare = (struct bare_side){"bare COPY", bare_postgres_insert, bare_postgres_query, bare};
    bench_appends(&bench);
    bare_postgres_read_peal(bare);
    bench_pages(&bench);
    bare_postgres_free(bare);
    bench_release(&bench);
    postgres_server_remove(&server);
    return 0;
}
