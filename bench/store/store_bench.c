/* Runs per second through the SQLite store, beside what the disk and bare SQLite can do in the same
 * minute. A run is a claim, a begin, a finish and a forget, each in its own request, as the engine
 * sends them. Also how long a start takes with many jobs.
 *
 * usage: store_bench DIR   (a new folder is made in it, and removed) */
#include <fcntl.h>
#include <poll.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "lanes.h"

enum { SECONDS = 3, JOBS = 100000 };

static const struct lanes_end round_end = {SECONDS, INT64_MAX};

/* ---- the machine's own limits ---- */

static double measure_flushes(const char *dir)
{
    char path[256], page[4096] = {1};
    snprintf(path, sizeof(path), "%s/flush", dir);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), count = 0;
    double start = now_s();
    while (now_s() - start < SECONDS) {
        if (pwrite(fd, page, sizeof(page), count % 1000 * 4096L) < 0 || fdatasync(fd) < 0)
            die("fdatasync");
        count++;
    }
    double rate = count / (now_s() - start);
    close(fd);
    unlink(path);
    return rate;
}

static void run_sql(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        die(sqlite3_errmsg(db));
}

static void remove_database(const char *path)
{
    char file[300];
    static const char *const ends[] = {"", "-wal", "-shm"};
    for (int i = 0; i < 3; i++) {
        snprintf(file, sizeof(file), "%s%s", path, ends[i]);
        unlink(file);
    }
}

/* As many transactions as the store's, each inserting `batch` rows of a run's size by number: what
 * SQLite can do when nothing is looked up and nothing is decided. */
static double measure_bare(const char *dir, int batch)
{
    char path[256];
    static const char row[200] = {1};
    sqlite3 *db = NULL;
    sqlite3_stmt *insert = NULL;
    int64_t rows = 0;
    snprintf(path, sizeof(path), "%s/bare.db", dir);
    if (sqlite3_open(path, &db) != SQLITE_OK)
        die("sqlite3_open");
    run_sql(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                "CREATE TABLE t (id INTEGER PRIMARY KEY, row BLOB)");
    sqlite3_prepare_v2(db, "INSERT INTO t (row) VALUES (?1)", -1, &insert, NULL);
    sqlite3_bind_blob(insert, 1, row, sizeof(row), SQLITE_STATIC);
    double start = now_s();
    while (now_s() - start < SECONDS) {
        run_sql(db, "BEGIN IMMEDIATE");
        for (int i = 0; i < batch; i++, rows++) {
            sqlite3_step(insert);
            sqlite3_reset(insert);
        }
        run_sql(db, "COMMIT");
    }
    double rate = (double)rows / LANE_STEPS / (now_s() - start);
    sqlite3_finalize(insert);
    sqlite3_close(db);
    remove_database(path);
    return rate;
}

/* ---- the store ---- */

static void on_wake(void *context)
{
    uint64_t one = 1;
    if (write(*(int *)context, &one, sizeof(one)) < 0)
        die("wake");
}

static struct store *open_store(const char *dir, bool is_shared, int *wake_fd)
{
    struct store *store = NULL;
    struct strbuf why;
    struct store_wake wake = {on_wake, wake_fd};
    strbuf_init(&why);
    if ((is_shared ? store_shared_open(dir, NULL, wake, &store, &why)
                   : store_sqlite_open(dir, wake, &store, &why)) != OK)
        die(why.text);
    strbuf_release(&why);
    return store;
}

static void wait_for_wake(void *context)
{
    uint64_t count;
    if (read(*(int *)context, &count, sizeof(count)) < 0)
        die("read");
}

static void remove_nodes(const char *dir)
{
    static const char *const names[] = {"bell", "beats", "leader", ""};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[256];
        snprintf(path, sizeof(path), "%s/nodes/%s", dir, names[i]);
        remove(path);
    }
}

static double measure_start(const char *dir, int *wake_fd)
{
    double start = now_s();
    struct store *store = open_store(dir, false, wake_fd);
    struct store_change change;
    int jobs = 0;
    while (store_next_change(store, &change) && change.kind != STORE_CHANGE_LOADED)
        jobs += change.kind == STORE_CHANGE_JOB;
    double elapsed = now_s() - start;
    if (jobs != JOBS)
        die("loading");
    store_free(store);
    return elapsed;
}

int main(int argc, char **argv)
{
    char dir[200], path[256];
    snprintf(dir, sizeof(dir), "%s/store-bench-XXXXXX", argc > 1 ? argv[1] : ".");
    if (!mkdtemp(dir))
        die("mkdtemp");
    int wake_fd = eventfd(0, EFD_CLOEXEC);
    struct store *store = open_store(dir, false, &wake_fd);
    struct lanes lanes = {.store = store, .wait = wait_for_wake, .context = &wake_fd};
    lanes_put_jobs(&lanes, JOBS);

    double flushes = measure_flushes(dir);
    printf("%-34s %12.0f /s\n", "fdatasync of a page", flushes);
    static const struct {
        const char *name, *shared;
        int batch, lanes;
    } rows[] = {
        {"runs, one by one", "shared, one by one", 1, 1},
        {"runs, 100 at a time", "shared, 100 at a time", 100, 1},
        {"runs, 100 at a time, 8 in flight", "shared, 100, 8 in flight", 100, LANES_MAX},
    };
    double alone[sizeof(rows) / sizeof(rows[0])];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double bare = measure_bare(dir, rows[i].batch);
        double ours = lanes_measure(&lanes, rows[i].batch, rows[i].lanes, LANE_STEPS, round_end);
        alone[i] = ours;
        printf("%-34s %12.0f /s   bare SQLite %8.0f /s   ratio %.2f\n", rows[i].name, ours, bare,
               ours / bare);
    }
    store_free(store);
    lanes.store = open_store(dir, true, &wake_fd); /* the mode for several processes, with one */
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double shared = lanes_measure(&lanes, rows[i].batch, rows[i].lanes, LANE_STEPS, round_end);
        printf("%-34s %12.0f /s   alone       %8.0f /s   ratio %.2f\n", rows[i].shared, shared,
               alone[i], shared / alone[i]);
    }
    store_free(lanes.store);
    lanes_release(&lanes);
    printf("%-34s %12.3f s\n", "start with 100,000 jobs", measure_start(dir, &wake_fd));
    snprintf(path, sizeof(path), "%s/peal.db", dir);
    remove_database(path);
    snprintf(path, sizeof(path), "%s/peal.lock", dir);
    unlink(path);
    remove_nodes(dir);
    rmdir(dir);
    return 0;
}
