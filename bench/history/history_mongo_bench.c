/* usage: history_mongo_bench [RUNS]
 * Records RUNS (1,000) runs in batches of 500 and reads filtered pages of 50 of them, through the
 * history in MongoDB and with the bare driver: mongod if it is there, else FerretDB, which looks at
 * every document for most questions, so that there must be few. */
#include <stdio.h>
#include <stdlib.h>

#include "bare_mongo.h"
#include "mongo/history_mongo.h"
#include "mongo_server.h"

int main(int argc, char **argv)
{
    /* FerretDB takes its time. */
    static const struct history_server_limits limits = {.write_ms = 120000, .read_ms = 120000};
    static struct mongo_server server;
    char url[512];
    struct bench bench;
    struct strbuf why;
    if (!mongo_server_available()) {
        puts("no server of MongoDB's protocol is here: see tools/ferretdb.sh; not measured");
        return 0;
    }
    strbuf_init(&why);
    struct history_wake wake =
        bench_init(&bench, argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1000);
    mongo_server_start(&server);
    printf("%s\n", server.is_mongod ? "mongod" : "FerretDB");
    mongo_server_url(&server, "bench", "", url);
    if (history_mongo_open(url, &limits, wake, &bench.history, &why) != OK)
        bench_fail("open", why.text);
    strbuf_release(&why);
    bench_ready(&bench); /* the collections are there */
    struct bare_mongo *bare = bare_mongo_new(url, "bench");
    bench.bare = (struct bare_side){"bare insert", bare_mongo_insert, bare_mongo_query, bare};
    bench_appends(&bench, bench.runs);
    bench_pages(&bench);
    bare_mongo_free(bare);
    bench_release(&bench);
    mongo_server_remove(&server);
    return 0;
}
