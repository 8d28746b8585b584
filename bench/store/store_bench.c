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

#include "store.h"

enum { SECONDS = 3, JOBS = 100000, STEPS = 4, LANES = 8 };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void die(const char *what)
{
    fprintf(stderr, "store_bench: %s failed\n", what);
    exit(1);
}

static struct id numbered_id(int kind, uint64_t number)
{
    struct id id = {{(uint8_t)kind}};
    for (int i = 15; i > 7; i--, number >>= 8)
        id.bytes[i] = (uint8_t)number;
    return id;
}

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
    double rate = (double)rows / STEPS / (now_s() - start);
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

static struct store *open_store(const char *dir, int *wake_fd)
{
    struct store *store = NULL;
    struct strbuf why;
    strbuf_init(&why);
    if (store_sqlite_open(dir, (struct store_wake){on_wake, wake_fd}, &store, &why) != OK)
        die(why.text);
    strbuf_release(&why);
    return store;
}

static void turn(struct store *store, int wake_fd)
{
    uint64_t count;
    struct store_change change;
    if (read(wake_fd, &count, sizeof(count)) < 0)
        die("read");
    store_dispatch(store);
    while (store_next_change(store, &change))
        ;
}

static void on_put(struct store_request *request, enum status st)
{
    if (st != OK)
        die("put");
    *(bool *)request->context = true;
}

static void put_jobs(struct store *store, int wake_fd)
{
    enum { BATCH = 5000 };
    static struct store_put_job puts[BATCH];
    static char names[BATCH][24];
    for (int first = 0; first < JOBS; first += BATCH) {
        bool done = false;
        for (int i = 0; i < BATCH; i++) {
            snprintf(names[i], sizeof(names[i]), "job-%d", first + i);
            puts[i] = (struct store_put_job){
                .uid = numbered_id(1, (uint64_t)(first + i)),
                .name = names[i],
                .json = "{\"schedule\": \"*/5 * * * *\", \"timezone\": \"Europe/Berlin\", "
                        "\"command\": [\"/usr/local/bin/report\", \"--daily\"], "
                        "\"overlap\": \"skip\", \"timeout\": \"10m\", \"owner\": \"ops\"}"};
        }
        struct store_request request = {.op = STORE_PUT_JOB,
                                        .count = BATCH,
                                        .items.puts = puts,
                                        .done = on_put,
                                        .context = &done};
        store_submit(store, &request);
        while (!done)
            turn(store, wake_fd);
    }
}

/* Jobs that go through their ticks together, one request at a time. */
struct lane {
    struct store_request request; /* first */
    struct store *store;
    int first_job, batch, step;
    int64_t *cursors, runs;
    bool stop, idle;
    struct store_claim *claims;
    struct store_begin *begins;
    struct store_finish *finishes;
    struct store_forget *forgets;
};

static void fill_claims(struct lane *lane)
{
    for (int i = 0; i < lane->batch; i++) {
        int job = lane->first_job + i;
        int64_t cursor_ms = lane->cursors[job], tick_ms = cursor_ms + 1;
        struct id uid = numbered_id(1, (uint64_t)job);
        uint64_t number = (uint64_t)tick_ms * JOBS + (uint64_t)job;
        lane->cursors[job] = tick_ms;
        lane->claims[i] = (struct store_claim){.job_uid = uid,
                                               .job_revision = 1,
                                               .cursor_ms = cursor_ms,
                                               .tick_ms = tick_ms,
                                               .overlap = OVERLAP_SKIP};
        lane->claims[i].run = (struct run){.id = numbered_id(2, number),
                                           .job_uid = uid,
                                           .job_name = "reports/daily",
                                           .tick_ms = tick_ms,
                                           .attempt = 1,
                                           .nonce = number,
                                           .node = "node-1",
                                           .job_revision = 1};
        lane->begins[i] = (struct store_begin){.run_id = lane->claims[i].run.id, .nonce = number};
        lane->finishes[i].run = lane->claims[i].run;
        lane->finishes[i].run.state = RUN_OK;
        lane->finishes[i].run.finished_ms = tick_ms;
        lane->forgets[i] = (struct store_forget){.id = lane->claims[i].run.id};
    }
}

static void submit_step(struct lane *lane)
{
    static const enum store_op ops[STEPS] = {STORE_CLAIM, STORE_BEGIN, STORE_FINISH, STORE_FORGET};
    void *const items[STEPS] = {lane->claims, lane->begins, lane->finishes, lane->forgets};
    if (lane->step == 0)
        fill_claims(lane);
    lane->request.op = ops[lane->step];
    lane->request.count = (size_t)lane->batch;
    lane->request.items.claims = items[lane->step];
    store_submit(lane->store, &lane->request);
}

static void on_step(struct store_request *request, enum status st)
{
    struct lane *lane = (struct lane *)request;
    if (st != OK || lane->claims[0].result != CLAIM_WON)
        die("a step");
    lane->step = (lane->step + 1) % STEPS;
    if (lane->step == 0)
        lane->runs += lane->batch;
    if (lane->step == 0 && lane->stop)
        lane->idle = true;
    else
        submit_step(lane);
}

static double measure_store(struct store *store, int wake_fd, int64_t *cursors, int batch,
                            int lanes)
{
    struct lane all[LANES] = {0};
    int64_t runs = 0;
    double start = now_s();
    for (int i = 0; i < lanes; i++) {
        size_t count = (size_t)batch;
        all[i] = (struct lane){.store = store,
                               .first_job = JOBS / LANES * i,
                               .batch = batch,
                               .cursors = cursors,
                               .claims = calloc(count, sizeof(struct store_claim)),
                               .begins = calloc(count, sizeof(struct store_begin)),
                               .finishes = calloc(count, sizeof(struct store_finish)),
                               .forgets = calloc(count, sizeof(struct store_forget))};
        all[i].request.done = on_step;
        submit_step(&all[i]);
    }
    for (int idle = 0; idle < lanes;) {
        turn(store, wake_fd);
        idle = 0;
        for (int i = 0; i < lanes; i++) {
            all[i].stop = now_s() - start > SECONDS;
            idle += all[i].idle;
        }
    }
    double elapsed = now_s() - start;
    for (int i = 0; i < lanes; i++) {
        runs += all[i].runs;
        free(all[i].claims);
        free(all[i].begins);
        free(all[i].finishes);
        free(all[i].forgets);
    }
    return (double)runs / elapsed;
}

static double measure_start(const char *dir, int *wake_fd)
{
    double start = now_s();
    struct store *store = open_store(dir, wake_fd);
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
    int64_t *cursors = calloc(JOBS, sizeof(*cursors));
    struct store *store = open_store(dir, &wake_fd);
    put_jobs(store, wake_fd);

    double flushes = measure_flushes(dir);
    printf("%-34s %12.0f /s\n", "fdatasync of a page", flushes);
    static const struct {
        const char *name;
        int batch, lanes;
    } rows[] = {
        {"runs, one by one", 1, 1},
        {"runs, 100 at a time", 100, 1},
        {"runs, 100 at a time, 8 in flight", 100, LANES},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        double bare = measure_bare(dir, rows[i].batch);
        double ours = measure_store(store, wake_fd, cursors, rows[i].batch, rows[i].lanes);
        printf("%-34s %12.0f /s   bare SQLite %8.0f /s   ratio %.2f\n", rows[i].name, ours, bare,
               ours / bare);
    }
    store_free(store);
    printf("%-34s %12.3f s\n", "start with 100,000 jobs", measure_start(dir, &wake_fd));
    snprintf(path, sizeof(path), "%s/peal.db", dir);
    remove_database(path);
    snprintf(path, sizeof(path), "%s/peal.lock", dir);
    unlink(path);
    rmdir(dir);
    free(cursors);
    return 0;
}
