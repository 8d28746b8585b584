/* The contract, and what only a file can go through: other versions, damage, a full disk, a killed
 * process. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "history_contract.h"
#include "history_world.h"

static void make_place(char place[128])
{
    const char *tmp = getenv("TMPDIR");
    snprintf(place, 128, "%.100s/peal-history-XXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(place));
}

static void remove_place(const char *place)
{
    static const char *const names[] = {"history.db", "history.db-wal", "history.db-shm"};
    char path[256];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", place, names[i]);
        unlink(path);
    }
    assert_int_equal(rmdir(place), 0);
}

static enum status open_sqlite(const char *place, struct history_wake wake, struct history **ret)
{
    struct strbuf why;
    strbuf_init(&why);
    enum status st = history_sqlite_open(place, wake, ret, &why);
    if (st != OK)
        print_message("%s\n", why.text);
    strbuf_release(&why);
    return st;
}

static const struct history_backend backend = {
    .name = "history in SQLite",
    .make_place = make_place,
    .open = open_sqlite,
    .remove_place = remove_place,
    .durable = true,
};

static void path_of(const struct history_world *world, const char *name, char path[256])
{
    snprintf(path, 256, "%s/%s", world->place, name);
}

/* ---- the file ---- */

static void test_reopen(void **state)
{
    static const char *const names[] = {"history.db", "history.db-wal", "history.db-shm"};
    struct history_world *world = *state;
    struct run run = sample_run(1, 1), found;
    char path[256];
    assert_int_equal(world_append_run(world, &run), OK);
    for (size_t i = 0; i < 3; i++) {
        struct stat info;
        path_of(world, names[i], path);
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(info.st_mode & 0777, 0600);
    }
    world_close(world);
    world_open(world);
    assert_true(world_has_run(world, &run.id, &found));
    assert_same_run(&found, &run);
    run.detail[0] = '!';
    assert_int_equal(world_append_run(world, &run), OK);
    assert_int_equal(world_count(world, (struct history_query){.job_name = "job-1"}), 1);
}

static int64_t size_of_file(const struct history_world *world)
{
    struct stat info;
    char path[256];
    path_of(world, "history.db", path);
    assert_int_equal(stat(path, &info), 0);
    return info.st_size;
}

/* Room that retention frees goes back to the disk. */
static void test_prune_shrinks(void **state)
{
    struct history_world *world = *state;
    struct run run = sample_run(1, 1);
    static char bytes[8 << 20];
    const struct output_chunk chunk = {OUTPUT_STDOUT, SAMPLE_MS, 0, bytes, sizeof(bytes)};
    struct history_record record = {.run = &run, .chunks = &chunk, .chunk_count = 1};
    assert_int_equal(world_append(world, &record, 1), OK);
    world_close(world); /* the file has all that is in the log */
    assert_true(size_of_file(world) > (int64_t)sizeof(bytes));
    world_open(world);
    assert_int_equal(world_prune(world, NULL, 0, INT64_MAX), 1);
    world_close(world);
    assert_true(size_of_file(world) < (int64_t)sizeof(bytes) / 2);
    world_open(world);
}

/* Opening is refused with these words, and leaves the file as it was. */
static void assert_refused(struct history_world *world, enum status want, const char *words)
{
    struct history *history = NULL;
    struct strbuf why;
    strbuf_init(&why);
    assert_int_equal(history_sqlite_open(world->place, (struct history_wake){0}, &history, &why),
                     want);
    assert_null(history);
    if (!strstr(why.text, words) || !strstr(why.text, world->place))
        fail_msg("\"%s\" is not in: %s", words, why.text);
    strbuf_release(&why);
}

static void run_sql(const char *path, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void test_newer_version(void **state)
{
    struct history_world *world = *state;
    char path[256];
    path_of(world, "history.db", path);
    world_close(world);
    run_sql(path, "PRAGMA user_version = 999");
    assert_refused(world, E_VERSION, "newer peal");
    run_sql(path, "PRAGMA user_version = 6");
    world_open(world);
}

/* A file as an older peal made it. Format 1 had no statistics: they are made from the runs that are
 * there. Format 2 had no changes. Format 3 had other indexes, and strays without a class. Format 4
 * had no further attempts and parts, and format 5 no workflows. */
static void make_older(const char *path)
{
    run_sql(path, "ALTER TABLE runs DROP COLUMN retried; ALTER TABLE runs DROP COLUMN attempts;"
                  "ALTER TABLE runs DROP COLUMN part; ALTER TABLE runs DROP COLUMN parts;"
                  "ALTER TABLE runs DROP COLUMN pinned;"
                  "ALTER TABLE runs DROP COLUMN instance; ALTER TABLE runs DROP COLUMN step;"
                  "DROP TABLE changes; ALTER TABLE runs DROP COLUMN traceparent; DROP TABLE stats;"
                  "DROP INDEX runs_node; DROP INDEX runs_lasting; DROP INDEX runs_reason;"
                  "DROP INDEX entries_reason; DROP INDEX runs_detail; DROP INDEX entries_detail;"
                  "DROP INDEX runs_stray; DROP INDEX entries_stray;"
                  "UPDATE runs SET stray = stray <> 0; UPDATE entries SET stray = stray <> 0;"
                  "CREATE INDEX runs_stray ON runs (tick_ms) WHERE stray = 1;"
                  "CREATE INDEX entries_stray ON entries (to_ms) WHERE stray = 1;"
                  "PRAGMA user_version = 1");
}

/* Are two runs found by their ticks alone, which are far from when they were made? */
static bool finds_strays(struct history_world *world, const struct run *late,
                         const struct run *early)
{
    const struct run *const strays[] = {late, early};
    bool found = true;
    for (size_t i = 0; i < 2; i++) {
        struct history_read read = {.query = {.since_ms = strays[i]->tick_ms - 1000,
                                              .until_ms = strays[i]->tick_ms + 1000,
                                              .limit = 10}};
        assert_int_equal(world_read(world, &read), OK);
        found = found && read.count == 1 && memcmp(&read.rows[0].run.id, &strays[i]->id, 16) == 0;
        history_read_release(&read);
    }
    return found;
}

static void test_older_version(void **state)
{
    struct history_world *world = *state;
    struct history_stats before[2], after[2];
    struct ledger_entry entry = sample_entry(1, 70);
    struct change_record change = sample_change(1, 1);
    struct run migrated, late = sample_run(1, 90000), early = sample_run(1, 90001);
    struct id known = sample_run(1, 60).id;
    char path[256];
    for (uint32_t i = 0; i < 100; i++) {
        struct run run = sample_run(i % 3, i * 60);
        run.cause = i % 2 ? CAUSE_TICK : CAUSE_MANUAL;
        run.attempt = 1 + (int)(i % 5 == 4);
        run.state = i % 7 ? RUN_OK : RUN_LOST;
        run.finished_ms = i % 11 ? run.started_ms + (1 << i % 20) : 0;
        assert_int_equal(world_append_run(world, &run), OK);
    }
    late.tick_ms -= 3 * INT64_C(86400000);
    early.tick_ms += 40 * 1000;
    assert_int_equal(world_append_run(world, &late), OK);
    assert_int_equal(world_append_run(world, &early), OK);
    assert_int_equal(world_append_entry(world, &entry), OK);
    for (uint32_t i = 0; i < 2; i++) {
        before[i] = (struct history_stats){.from_ms = SAMPLE_MS - 3600000,
                                           .to_ms = SAMPLE_MS + 86400000,
                                           .job_uid = i ? sample_uid(1) : (struct id){{0}}};
        assert_int_equal(world_stats(world, &before[i]), OK);
    }
    path_of(world, "history.db", path);
    world_close(world);
    make_older(path);
    world_open(world);
    assert_true(finds_strays(world, &late, &early));
    assert_true(world_has_run(world, &known, &migrated));
    assert_string_equal(migrated.traceparent, "");
    assert_true(id_is_zero(&migrated.instance));
    assert_int_equal(world_append_change(world, &change), OK);
    for (size_t i = 0; i < 2; i++) {
        after[i] = before[i];
        assert_int_equal(world_stats(world, &after[i]), OK);
        assert_int_equal(after[i].count, before[i].count);
        assert_memory_equal(after[i].rows, before[i].rows,
                            before[i].count * sizeof(before[i].rows[0]));
        history_stats_release(&before[i]);
        history_stats_release(&after[i]);
    }
}

static void test_not_ours(void **state)
{
    struct history_world *world = *state;
    char path[256];
    path_of(world, "history.db", path);
    world_close(world);
    run_sql(path, "PRAGMA application_id = 1");
    assert_refused(world, E_CORRUPT, "not a history of peal");
}

static void test_garbage(void **state)
{
    struct history_world *world = *state;
    char path[256], garbage[8192], after[8192];
    path_of(world, "history.db", path);
    world_close(world);
    for (size_t i = 0; i < sizeof(garbage); i++)
        garbage[i] = (char)(i * 31);
    int fd = open(path, O_RDWR | O_TRUNC);
    assert_int_equal(write(fd, garbage, sizeof(garbage)), sizeof(garbage));
    assert_refused(world, E_CORRUPT, "put a backup in its place");
    assert_int_equal(pread(fd, after, sizeof(after), 0), sizeof(after));
    assert_memory_equal(garbage, after, sizeof(after)); /* never overwritten */
    close(fd);
}

static void test_no_folder(void **state)
{
    struct history_world *world = *state;
    char inside[128];
    snprintf(inside, sizeof(inside), "%.100s/none", world->place);
    struct history_world elsewhere = *world;
    memcpy(elsewhere.place, inside, sizeof(inside));
    assert_refused(&elsewhere, E_IO, "No such file");
}

/* In a child, because root has to become somebody else to be refused anything. */
static void test_read_only_folder(void **state)
{
    enum { NOBODY = 65534 };
    struct history_world *world = *state;
    char path[256];
    int status;
    path_of(world, "history.db", path);
    world_close(world);
    assert_int_equal(chmod(path, 0444), 0);
    assert_int_equal(chmod(world->place, 0555), 0);
    pid_t child = fork();
    if (child == 0) {
        struct history *history;
        struct strbuf why;
        strbuf_init(&why);
        if (geteuid() == 0 && setuid(NOBODY) != 0)
            _exit(2);
        enum status st =
            history_sqlite_open(world->place, (struct history_wake){0}, &history, &why);
        _exit(st == E_IO && strstr(why.text, "permissions of its folder") ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(chmod(world->place, 0700), 0);
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(status, 0);
}

/* ---- a full disk ---- */

/* Files may not grow: as good as a full disk, and needs no mount. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void test_disk_full(void **state)
{
    struct history_world *world = *state;
    struct run small = sample_run(1, 1), large = sample_run(1, 2);
    static char bytes[1 << 20];
    const struct output_chunk chunk = {OUTPUT_STDOUT, SAMPLE_MS, 0, bytes, sizeof(bytes)};
    struct history_record record = {.run = &large, .chunks = &chunk, .chunk_count = 1};
    struct strbuf why;
    strbuf_init(&why);
    assert_int_equal(world_append_run(world, &small), OK);
    signal(SIGXFSZ, SIG_IGN);
    limit_files(512 * 1024);
    assert_int_equal(world_append(world, &record, 1), E_IO);
    assert_int_equal(history_health(world->history, &why), E_IO);
    assert_non_null(strstr(why.text, "history.db"));
    assert_non_null(strstr(why.text, "room on its disk"));
    assert_true(world_has_run(world, &small.id, NULL));
    assert_false(world_has_run(world, &large.id, NULL)); /* nothing of it */
    limit_files(RLIM_INFINITY);
    assert_int_equal(world_append(world, &record, 1), OK); /* by itself */
    assert_int_equal(history_health(world->history, &why), OK);
    assert_true(world_has_run(world, &large.id, NULL));
    strbuf_release(&why);
}

/* ---- a killed process ---- */

enum { CRASH_BATCH = 20 };

/* Appends without end and tells the number of each batch once it is acknowledged. */
static void append_until_killed(struct history_world *world, uint32_t first, int fd)
{
    world_open(world);
    for (uint32_t batch = first;; batch++) {
        struct run runs[CRASH_BATCH];
        struct history_record records[CRASH_BATCH];
        for (uint32_t i = 0; i < CRASH_BATCH; i++) {
            runs[i] = sample_run(i, batch * CRASH_BATCH + i);
            records[i] = (struct history_record){.run = &runs[i]};
        }
        if (world_append(world, records, CRASH_BATCH) != OK ||
            write(fd, &batch, sizeof(batch)) != sizeof(batch))
            _exit(1);
    }
}

static uint32_t crash_once(struct history_world *world, uint32_t first)
{
    int fds[2];
    uint32_t batch, last = first;
    assert_int_equal(pipe(fds), 0);
    pid_t child = fork();
    if (child == 0) {
        close(fds[0]);
        append_until_killed(world, first, fds[1]);
    }
    assert_true(child > 0);
    close(fds[1]);
    for (int acknowledged = 0; read(fds[0], &batch, sizeof(batch)) == sizeof(batch);) {
        last = batch;
        if (++acknowledged == 10)
            assert_int_equal(kill(child, SIGKILL), 0);
    }
    close(fds[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    return last;
}

static void test_killed(void **state)
{
    struct history_world *world = *state;
    uint32_t first = 0;
    world_close(world);
    for (int round = 0; round < 3; round++) {
        uint32_t last = crash_once(world, first);
        assert_true(last >= first + 9);
        world_open(world);
        for (uint32_t n = 0; n < (last + 1) * CRASH_BATCH; n++) {
            struct run run = sample_run(n % CRASH_BATCH, n);
            assert_true(world_has_run(world, &run.id, NULL));
        }
        world_close(world);
        first = last + 1;
    }
    world_open(world);
}

int main(void)
{
#define WITH_WORLD(test)                                                                           \
    cmocka_unit_test_prestate_setup_teardown(test, history_world_setup, history_world_teardown,    \
                                             (void *)&backend)
    const struct CMUnitTest tests[] = {
        WITH_WORLD(test_reopen),        WITH_WORLD(test_newer_version),
        WITH_WORLD(test_not_ours),      WITH_WORLD(test_garbage),
        WITH_WORLD(test_no_folder),     WITH_WORLD(test_read_only_folder),
        WITH_WORLD(test_prune_shrinks), WITH_WORLD(test_disk_full),
        WITH_WORLD(test_killed),        WITH_WORLD(test_older_version),
    };
    int failed = history_contract_run(&backend);
    return failed + cmocka_run_group_tests_name("the file", tests, NULL, NULL);
}
