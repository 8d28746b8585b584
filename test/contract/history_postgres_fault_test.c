/* What histories in a server go through, and what only one in PostgreSQL does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <libpq-fe.h>

#include "history_open.h"
#include "history_server_contract.h"
#include "postgres/history_postgres.h"
#include "postgres_place.h"
#include "spool/history_spool.h"

enum {
    READ_MS = 60000, /* that a read may take */
    HANG_MS = 60000, /* that a test waits for what comes */
};

/* A history at another URL, in the world's place. */
static void open_url(struct history_world *world, const char *url)
{
    static const struct history_server_limits limits = {
        .connect_s = 2, .read_ms = READ_MS, .retry_first_ms = 20, .retry_last_ms = 50};
    struct strbuf why;
    strbuf_init(&why);
    world_close(world);
    struct history_wake none = {0};
    assert_int_equal(history_postgres_open(url, &limits, none, &world->history, &why), OK);
    strbuf_release(&why);
}

/* ---- the server goes and comes ---- */

static void ignore_answer(struct history_read *read, enum status st)
{
    (void)read;
    assert_int_equal(st, E_UNREACHABLE);
}

/* Freeing does not wait for a server that does not answer. */
static void test_free_while_stopped(void **state)
{
    struct history_world *world = *state;
    struct run run = sample_run(1, 1);
    struct history_read read = {.query.limit = 1, .done = ignore_answer};
    assert_int_equal(world_append_run(world, &run), OK);
    char url[256];
    postgres_place_url(world->place, url);
    open_url(world, url);
    wait_for_health(world, OK);
    postgres_server_pause(&postgres_server);
    history_read(world->history, &read);
    int64_t start_ms = now_ms();
    world_close(world);
    assert_true(now_ms() - start_ms < READ_MS / 2);
    postgres_server_resume(&postgres_server);
    world_open(world);
    assert_true(world_has_run(world, &run.id, NULL));
}

/* Behind a spool nobody notices, but for the words. */
static void test_spooled(void **state)
{
    enum { AWAY = 100 };
    struct history_world *world = *state;
    char url[256], dir[] = "/tmp/peal-history-XXXXXX", command[64];
    struct strbuf why;
    struct history_spool_stats stats;
    strbuf_init(&why);
    assert_non_null(mkdtemp(dir));
    postgres_place_url(world->place, url);
    world_close(world);
    struct history_wake wake = history_world_wake(world);
    assert_int_equal(history_open(url, dir, wake, &world->history, &why), OK);
    struct run run = sample_run(1, 0);
    assert_int_equal(world_append_run(world, &run), OK);
    postgres_server_kill(&postgres_server);
    for (uint32_t i = 1; i <= AWAY; i++) {
        run = sample_run(1, i);
        assert_int_equal(world_append_run(world, &run), OK);
    }
    assert_health(world, E_UNREACHABLE, "100 records wait on disk for the database.");
    postgres_server_restart(&postgres_server);
    int64_t end_ms = now_ms() + HANG_MS;
    do {
        struct history_read read = {.query.limit = 1};
        (void)world_read(world, &read);
        history_read_release(&read);
        wait_a_little();
        history_spool_stats(world->history, &stats);
        assert_true(now_ms() < end_ms);
    } while (stats.waiting_records);
    assert_health(world, OK, NULL);
    assert_int_equal(stats.delivered_records, AWAY);
    assert_int_equal(world_count(world, (struct history_query){0}), AWAY + 1);
    world_close(world);
    world_open(world);
    strbuf_release(&why);
    snprintf(command, sizeof(command), "rm -rf %s", dir);
    assert_int_equal(system(command), 0);
}

/* ---- refusals ---- */

static void test_refused(void **state)
{
    static const struct {
        int line;
        const char *url; /* the port is put in */
        const char *words;
    } cases[] = {
        {__LINE__, "postgresql://peal:wrong-horse@127.0.0.1:%d/postgres", "~/.pgpass"},
        {__LINE__, "postgresql://peal@127.0.0.1:%d/postgres", "no password supplied"},
        {__LINE__, "postgresql://peal:correct%%20horse@127.0.0.1:%d/none", "CREATE DATABASE"},
        {__LINE__, "postgresql://nobody:horse@127.0.0.1:%d/postgres", "nobody@127.0.0.1"},
    };
    struct history_world *world = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char url[256];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(url, sizeof(url), cases[i].url, postgres_server.port);
#pragma GCC diagnostic pop
        open_url(world, url);
        wait_for_health(world, E_UNREACHABLE);
        struct strbuf why;
        strbuf_init(&why);
        history_health(world->history, &why);
        if (!strstr(why.text, cases[i].words) || strstr(why.text, "horse"))
            fail_msg("line %d: %s", cases[i].line, why.text);
        strbuf_release(&why);
    }
}

static void test_newer_schema(void **state)
{
    struct history_world *world = *state;
    struct run run = sample_run(1, 1);
    assert_int_equal(world_append_run(world, &run), OK);
    postgres_place_sql(world->place, "INSERT INTO migrations (version) VALUES (999)", NULL);
    world_close(world);
    world_open(world);
    assert_int_equal(world_append_run(world, &run), E_VERSION);
    assert_health(world, E_VERSION, "newer peal");
    struct history_read read = {.query.limit = 1};
    assert_int_equal(world_read(world, &read), E_VERSION);
    postgres_place_sql(world->place, "DELETE FROM migrations WHERE version = 999", NULL);
    append_until_ok(world, &run);
}

/* Format 2 had other indexes, and strays without a class; format 3 no further attempts and parts,
 * and format 4 no workflows. */
static void test_older_schema(void **state)
{
    static const int64_t distances_ms[] = {0, -60000, -3 * 86400000LL, 40000, -400 * 86400000LL};
    enum { RUNS = sizeof(distances_ms) / sizeof(distances_ms[0]) };
    struct history_world *world = *state;
    struct run runs[RUNS];
    char class[128];
    for (uint32_t i = 0; i < RUNS; i++) {
        runs[i] = sample_run(1, i);
        runs[i].tick_ms += distances_ms[i];
        assert_int_equal(world_append_run(world, &runs[i]), OK);
    }
    world_close(world);
    postgres_place_sql(world->place,
                       "DROP INDEX runs_far, entries_far, runs_node, runs_lasting, runs_reason,"
                       " entries_reason, runs_detail, entries_detail;"
                       "ALTER TABLE runs ALTER stray DROP DEFAULT, ALTER stray TYPE boolean"
                       " USING stray <> 0; ALTER TABLE entries ALTER stray DROP DEFAULT,"
                       " ALTER stray TYPE boolean USING stray <> 0;"
                       "CREATE INDEX runs_stray ON runs (tick_ms) WHERE stray;"
                       "CREATE INDEX entries_stray ON entries (to_ms) WHERE stray;"
                       "ALTER TABLE runs DROP COLUMN retried, DROP COLUMN attempts,"
                       " DROP COLUMN part, DROP COLUMN parts, DROP COLUMN pinned,"
                       " DROP COLUMN instance, DROP COLUMN step;"
                       "DELETE FROM migrations WHERE version >= 3",
                       NULL);
    world_open(world);
    for (uint32_t i = 0; i < RUNS; i++) {
        struct history_query query = {.since_ms = runs[i].tick_ms, .until_ms = runs[i].tick_ms + 1};
        assert_int_equal(world_count(world, query), 1);
    }
    assert_int_equal(world_append_run(world, &runs[0]), OK);
    postgres_place_sql(world->place, "SELECT string_agg(stray::text, ' ' ORDER BY id) FROM runs",
                       class);
    assert_string_equal(class, "0 1 5 -1 8");
}

static void test_read_only(void **state)
{
    struct history_world *world = *state;
    struct run run = sample_run(1, 1), second = sample_run(1, 2);
    assert_int_equal(world_append_run(world, &run), OK);
    world_close(world);
    postgres_place_sql("public", "ALTER ROLE peal SET default_transaction_read_only = on", NULL);
    world_open(world);
    assert_int_equal(world_append_run(world, &second), E_IO);
    assert_health(world, E_IO, "read-only");
    assert_true(world_has_run(world, &run.id, NULL)); /* it can still be read */
    postgres_place_sql("public",
                       "BEGIN READ WRITE; ALTER ROLE peal RESET default_transaction_read_only;"
                       "COMMIT",
                       NULL);
    append_until_ok(world, &second);
    assert_health(world, OK, NULL);
}

/* A role that may not make the schema; then somebody makes it. That is all it needs. */
static void test_no_rights(void **state)
{
    struct history_world *world = *state;
    struct run run = sample_run(1, 1);
    char url[256];
    postgres_place_sql("public",
                       "DROP ROLE IF EXISTS small; CREATE ROLE small LOGIN PASSWORD 'small'", NULL);
    snprintf(url, sizeof(url), "postgresql://small:small@127.0.0.1:%d/postgres?schema=%s",
             postgres_server.port, world->place);
    world_close(world);
    world->backend->remove_place(world->place);
    open_url(world, url);
    wait_for_health(world, E_IO);
    assert_health(world, E_IO, "permission denied");
    char sql[192];
    snprintf(sql, sizeof(sql), "CREATE SCHEMA %s AUTHORIZATION small", world->place);
    postgres_place_sql("public", sql, NULL);
    wait_for_health(world, OK);
    world_close(world);
    world_open(world);
    wait_for_health(world, OK);
    assert_int_equal(world_append_run(world, &run), OK);
    world_close(world);
    world->backend->remove_place(world->place);
    postgres_place_sql("public", "DROP ROLE small", NULL);
    world_open(world);
}

/* ---- months ---- */

static void count_partitions(struct history_world *world, char answer[128])
{
    postgres_place_sql(world->place,
                       "SELECT count(*) FROM pg_inherits WHERE inhparent = 'runs'::regclass",
                       answer);
}

/* Months that are too old go as a whole; one with a run that ended later stays. */
static void test_months(void **state)
{
    static const int64_t month_ms = INT64_C(31) * 86400 * 1000;
    struct history_world *world = *state;
    char count[128];
    for (uint32_t month = 0; month < 6; month++) {
        for (uint32_t i = 0; i < 10; i++) {
            struct run run = sample_run(1, i);
            run.tick_ms += month * month_ms;
            run.id = sample_id(run.tick_ms, i);
            run.finished_ms = run.tick_ms + 10;
            if (month == 1 && i == 5)
                run.finished_ms += 4 * month_ms;
            assert_int_equal(world_append_run(world, &run), OK);
        }
    }
    count_partitions(world, count);
    assert_int_equal(atoi(count), 6);
    assert_int_equal(world_prune(world, NULL, 0, SAMPLE_MS + 3 * month_ms - 86400000), 29);
    assert_int_equal(world_count(world, (struct history_query){0}), 31);
    count_partitions(world, count);
    assert_int_equal(atoi(count), 5 - 1); /* 0 and 2 are gone */
    struct run early = sample_run(1, 1);  /* a partition that was dropped is made again */
    early.detail[0] = '\xff';             /* no text: it must not be refused for ever */
    assert_int_equal(world_append_run(world, &early), OK);
    assert_int_equal(world_count(world, (struct history_query){0}), 32);

    struct run odd = sample_run(1, 2);
    odd.id = sample_id(0, 1);
    assert_int_equal(world_append_run(world, &odd), OK);
    odd.id = sample_id((INT64_C(1) << 48) - 1, 1);
    assert_int_equal(world_append_run(world, &odd), OK);
    assert_true(world_has_run(world, &odd.id, NULL));
    assert_int_equal(world_prune(world, NULL, 0, SAMPLE_MS + 100 * month_ms), 33);
    count_partitions(world, count);
    assert_int_equal(atoi(count), 1); /* of the year 10889 */
    assert_int_equal(world_prune(world, NULL, 0, INT64_MAX), 1);
}

struct pruned {
    bool is_done;
    enum status status;
};

static void note_pruned(struct history_prune *prune, enum status st)
{
    *(struct pruned *)prune->context = (struct pruned){true, st};
}

/* A month whose rows take too long to count: they go one by one. Here it waits for somebody's lock,
 * and is cancelled as the server does when the time is over. */
static void test_month_takes_too_long(void **state)
{
    struct history_world *world = *state;
    struct pruned pruned = {.is_done = false};
    struct history_prune prune = {
        .before_ms = SAMPLE_MS + 86400000 * INT64_C(40), .done = note_pruned, .context = &pruned};
    char url[256], sql[192], cancelled[128] = "0";
    for (uint32_t i = 0; i < 10; i++) {
        struct run run = sample_run(1, i);
        assert_int_equal(world_append_run(world, &run), OK);
    }
    postgres_server_url(&postgres_server, "", url);
    PGconn *other = PQconnectdb(url);
    snprintf(sql, sizeof(sql), "BEGIN; LOCK TABLE %s.runs_202701 IN ROW EXCLUSIVE MODE",
             world->place);
    PQclear(PQexec(other, sql));
    assert_int_equal(PQtransactionStatus(other), PQTRANS_INTRANS);
    history_prune(world->history, &prune);
    while (!pruned.is_done && atoi(cancelled) == 0) {
        postgres_place_sql("public",
                           "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity"
                           " WHERE wait_event_type = 'Lock' AND query LIKE '%LOCK TABLE runs_%'",
                           cancelled);
        history_dispatch(world->history);
    }
    world_wait(world, &pruned.is_done);
    PQfinish(other);
    assert_int_equal(pruned.status, OK);
    assert_int_equal(prune.removed, 10);
}

int main(void)
{
#define WITH_WORLD(test)                                                                           \
    cmocka_unit_test_prestate_setup_teardown(test, history_world_setup, history_world_teardown,    \
                                             (void *)&postgres_backend)
    const struct CMUnitTest tests[] = {
        WITH_WORLD(test_server_restart),
        WITH_WORLD(test_server_killed),
        WITH_WORLD(test_server_stopped),
        WITH_WORLD(test_server_dropped),
        WITH_WORLD(test_server_many_writers),
        WITH_WORLD(test_free_while_stopped),
        WITH_WORLD(test_spooled),
        WITH_WORLD(test_refused),
        WITH_WORLD(test_newer_schema),
        WITH_WORLD(test_older_schema),
        WITH_WORLD(test_read_only),
        WITH_WORLD(test_no_rights),
        WITH_WORLD(test_months),
        WITH_WORLD(test_month_takes_too_long),
    };
    if (!postgres_server_available()) {
        puts("there is no PostgreSQL server here");
        return 77;
    }
    postgres_server_start(&postgres_server);
    int failed = cmocka_run_group_tests_name("a server", tests, NULL, NULL);
    postgres_server_remove(&postgres_server);
    return failed;
}
