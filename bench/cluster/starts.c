/* When runs started, as the histories of several nodes have it together. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster_bench.h"

struct start {
    uint8_t uid[16];
    int64_t tick_ms;
    int64_t late_ms; /* -1: never */
    bool is_ok;
};

struct starts {
    struct start *all;
    size_t count, room;
};

static void add(struct starts *starts, sqlite3_stmt *row)
{
    if (starts->count == starts->room) {
        starts->room = starts->room ? 2 * starts->room : 4096;
        starts->all = realloc(starts->all, starts->room * sizeof(*starts->all));
        if (!starts->all)
            die("memory");
    }
    struct start *start = &starts->all[starts->count++];
    memcpy(start->uid, sqlite3_column_blob(row, 0), sizeof(start->uid));
    start->tick_ms = sqlite3_column_int64(row, 1);
    start->late_ms = sqlite3_column_int64(row, 2);
    start->is_ok = sqlite3_column_int(row, 3);
}

static void read_history(struct starts *starts, const char *path, char **span)
{
    sqlite3 *db;
    sqlite3_stmt *stmt;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        die(path);
    if (sqlite3_prepare_v2(db,
                           "SELECT uid, tick_ms, max(started_ms - not_before_ms, -1),"
                           " exit_code = 0 AND started_ms > 0 FROM runs JOIN jobs ON job = key"
                           " WHERE not_before_ms BETWEEN ?1 AND ?2",
                           -1, &stmt, NULL) != SQLITE_OK)
        die(sqlite3_errmsg(db));
    sqlite3_bind_int64(stmt, 1, atoll(span[0]) * 1000);
    sqlite3_bind_int64(stmt, 2, atoll(span[1]) * 1000);
    while (sqlite3_step(stmt) == SQLITE_ROW)
        add(starts, stmt);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
}

static int by_tick(const void *a, const void *b)
{
    const struct start *one = a, *other = b;
    if (one->tick_ms != other->tick_ms)
        return one->tick_ms < other->tick_ms ? -1 : 1;
    return memcmp(one->uid, other->uid, sizeof(one->uid));
}

static int by_lateness(const void *a, const void *b)
{
    const struct start *one = a, *other = b;
    return (one->late_ms > other->late_ms) - (one->late_ms < other->late_ms);
}

static double late_ms(const struct starts *starts, double percent)
{
    size_t place = (size_t)((double)(starts->count - 1) * percent / 100);
    return starts->count ? (double)starts->all[place].late_ms : 0;
}

int measure_starts(char **argv)
{
    struct starts starts = {0};
    size_t twice = 0, bad = 0;
    for (char **path = argv + 2; *path; path++)
        read_history(&starts, *path, argv);
    if (starts.count)
        qsort(starts.all, starts.count, sizeof(*starts.all), by_tick);
    for (size_t i = 0; i < starts.count; i++) {
        twice += i && by_tick(&starts.all[i - 1], &starts.all[i]) == 0;
        bad += !starts.all[i].is_ok;
    }
    if (starts.count)
        qsort(starts.all, starts.count, sizeof(*starts.all), by_lateness);
    printf("%zu %zu %zu %.0f %.0f %.3f\n", starts.count, twice, bad, late_ms(&starts, 50),
           late_ms(&starts, 99), late_ms(&starts, 100) / 1000);
    free(starts.all);
    return 0;
}

static int64_t first_start(const char *path, const char *from_ms)
{
    sqlite3 *db;
    sqlite3_stmt *stmt;
    int64_t first_ms = INT64_MAX;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        die(path);
    if (sqlite3_prepare_v2(db, "SELECT started_ms FROM runs WHERE started_ms >= ?1", -1, &stmt,
                           NULL) != SQLITE_OK)
        die(sqlite3_errmsg(db));
    sqlite3_bind_int64(stmt, 1, atoll(from_ms));
    while (sqlite3_step(stmt) == SQLITE_ROW)
        if (sqlite3_column_int64(stmt, 0) < first_ms)
            first_ms = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return first_ms;
}

int measure_first(char **argv)
{
    int64_t first_ms = INT64_MAX;
    for (char **path = argv + 1; *path; path++) {
        int64_t ms = first_start(*path, argv[0]);
        first_ms = ms < first_ms ? ms : first_ms;
    }
    if (first_ms == INT64_MAX)
        die("nothing has started since");
    printf("%lld\n", (long long)first_ms);
    return 0;
}
