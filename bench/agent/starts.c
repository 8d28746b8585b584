/* When runs started, as the history has it. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent_bench.h"

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql, char **argv)
{
    sqlite3_stmt *stmt;
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
        die(sqlite3_errmsg(db));
    sqlite3_bind_int64(stmt, 1, atoll(argv[1]) * 1000);
    sqlite3_bind_int64(stmt, 2, atoll(argv[2]) * 1000);
    return stmt;
}

static long count(sqlite3 *db, const char *sql, char **argv)
{
    sqlite3_stmt *stmt = prepare(db, sql, argv);
    long value = sqlite3_step(stmt) == SQLITE_ROW ? (long)sqlite3_column_int64(stmt, 0) : 0;
    sqlite3_finalize(stmt);
    return value;
}

static sqlite3 *open_history(const char *path)
{
    sqlite3 *db;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        die(path);
    return db;
}

int measure_starts(char **argv)
{
    sqlite3 *db = open_history(argv[0]);
    long runs = count(db, "SELECT count(*) FROM runs WHERE not_before_ms BETWEEN ?1 AND ?2", argv);
    long once = count(db,
                      "SELECT count(*) FROM (SELECT DISTINCT job, tick_ms FROM runs"
                      " WHERE not_before_ms BETWEEN ?1 AND ?2)",
                      argv);
    long bad = count(db,
                     "SELECT count(*) FROM runs WHERE not_before_ms BETWEEN ?1 AND ?2"
                     " AND (exit_code <> 0 OR started_ms = 0)",
                     argv);
    double *late_ms = calloc((size_t)runs + 1, sizeof(*late_ms));
    size_t started = 0;
    if (!late_ms)
        die("memory");
    sqlite3_stmt *stmt = prepare(db,
                                 "SELECT started_ms - not_before_ms FROM runs"
                                 " WHERE not_before_ms BETWEEN ?1 AND ?2 AND started_ms > 0",
                                 argv);
    while (started < (size_t)runs && sqlite3_step(stmt) == SQLITE_ROW)
        late_ms[started++] = sqlite3_column_double(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    sort_doubles(late_ms, started);
    printf("%ld %ld %ld %.0f %.0f %.3f\n", runs, runs - once, bad, percentile(late_ms, started, 50),
           percentile(late_ms, started, 99), percentile(late_ms, started, 100) / 1000);
    free(late_ms);
    return 0;
}

int measure_rate(char **argv)
{
    sqlite3 *db = open_history(argv[0]);
    long started =
        count(db, "SELECT count(*) FROM runs WHERE started_ms >= ?1 AND started_ms < ?2", argv);
    long twice = count(db,
                       "SELECT count(*) - (SELECT count(*) FROM (SELECT DISTINCT job, tick_ms"
                       " FROM runs)) FROM runs",
                       argv);
    long bad = count(db, "SELECT count(*) FROM runs WHERE exit_code <> 0 OR started_ms = 0", argv);
    sqlite3_close(db);
    printf("%.0f %ld %ld\n", (double)started / (atof(argv[2]) - atof(argv[1])), twice, bad);
    return 0;
}
