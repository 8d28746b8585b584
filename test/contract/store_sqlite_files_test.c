/* SQLite only: the data folder, its lock, and files that are not what they should be. */
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sqlite_place.h"
#include "store_world.h"

static const struct store_wake no_wake = {NULL, NULL};

static enum status try_open(const char *dir, struct store **ret, struct strbuf *why)
{
    strbuf_reset(why);
    return store_sqlite_open(dir, no_wake, ret, why);
}

static void assert_says(const struct strbuf *why, const char *text)
{
    if (!strstr(why->text, text))
        fail_msg("\"%s\" does not say \"%s\"", why->text, text);
}

static int setup(void **state)
{
    *state = malloc(128);
    sqlite_backend.make_place(*state);
    return 0;
}

static int teardown(void **state)
{
    remove_folder(*state);
    free(*state);
    return 0;
}

/* ---- the folder ---- */

static void files_are_the_owners_alone(void **state)
{
    char dir[160], path[200];
    struct store *store = NULL;
    struct strbuf why;
    struct stat st;
    static const char *const names[] = {"peal.db", "peal.db-wal", "peal.lock"};
    strbuf_init(&why);
    snprintf(dir, sizeof(dir), "%s/data", (char *)*state);
    mode_t before = umask(0);
    assert_int_equal(try_open(dir, &store, &why), OK);
    assert_int_equal(stat(dir, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
        if (stat(path, &st) == 0)
            assert_int_equal(st.st_mode & 07777, 0600);
        else
            assert_int_equal(i, 1);
    }
    store_free(store);
    umask(before);
    remove_folder(dir);
    strbuf_release(&why);
}

static void one_store_per_folder(void **state)
{
    struct store *first = NULL, *second = NULL;
    struct strbuf why;
    char text[64];
    strbuf_init(&why);
    assert_int_equal(try_open(*state, &first, &why), OK);
    assert_int_equal(try_open(*state, &second, &why), E_BUSY);
    snprintf(text, sizeof(text), "another peal (pid %ld) uses %s", (long)getpid(), (char *)*state);
    assert_says(&why, text);
    pid_t child = fork();
    if (child == 0)
        _exit(try_open(*state, &second, &why) == E_BUSY && strstr(why.text, text) ? 0 : 1);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    first = store_free(first);
    assert_int_equal(try_open(*state, &second, &why), OK);
    store_free(second);
    strbuf_release(&why);
}

static void a_dead_owner_holds_no_lock(void **state)
{
    struct store *store = NULL;
    struct strbuf why;
    int status;
    strbuf_init(&why);
    pid_t child = fork();
    if (child == 0) {
        if (try_open(*state, &store, &why) == OK)
            raise(SIGKILL);
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(try_open(*state, &store, &why), OK);
    store_free(store);
    strbuf_release(&why);
}

/* Opens as a plain user, since root may write everywhere. */
static void check_as_nobody(const char *dir, const char *text)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        struct store *store = NULL;
        struct strbuf why;
        strbuf_init(&why);
        if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
            _exit(2);
        enum status st = try_open(dir, &store, &why);
        if (st == E_IO && strstr(why.text, text))
            _exit(0);
        printf("%s: %s\n", status_text(st), why.text);
        fflush(stdout);
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void folders_that_can_not_be_used(void **state)
{
    char path[200];
    struct store *store = NULL;
    struct strbuf why;
    strbuf_init(&why);
    snprintf(path, sizeof(path), "%s/none/data", (char *)*state);
    assert_int_equal(try_open(path, &store, &why), E_IO);
    assert_says(&why, "does not exist");

    snprintf(path, sizeof(path), "%s/file", (char *)*state);
    close(open(path, O_CREAT | O_WRONLY, 0644));
    assert_int_equal(try_open(path, &store, &why), E_IO);
    assert_says(&why, "not a folder");

    chmod(*state, 0555);
    snprintf(path, sizeof(path), "%s/peal.lock: Permission denied", (char *)*state);
    check_as_nobody(*state, path);
    snprintf(path, sizeof(path), "%s/data", (char *)*state);
    check_as_nobody(path, "can't make the data folder");

    chmod(*state, 0777);
    assert_int_equal(try_open(*state, &store, &why), E_IO);
    assert_says(&why, "others may write");

    chmod(*state, 0755); /* a database of somebody else's */
    assert_int_equal(try_open(*state, &store, &why), OK);
    store = store_free(store);
    snprintf(path, sizeof(path), "%s/peal.lock", (char *)*state);
    chmod(path, 0666);
    if (geteuid() == 0)
        check_as_nobody(*state, "can't write");
    strbuf_release(&why);
}

/* ---- the database ---- */

static void run_sql(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void write_garbage(const char *path)
{
    FILE *file = fopen(path, "r+");
    for (int i = 0; i < 3000; i++)
        fputs("garbage ", file);
    fclose(file);
}

static void write_garbage_in_the_middle(const char *path)
{
    FILE *file = fopen(path, "r+");
    fseek(file, 4096, SEEK_SET);
    for (int i = 0; i < 3000; i++)
        fputs("garbage ", file);
    fclose(file);
    char wal[200];
    snprintf(wal, sizeof(wal), "%s-wal", path); /* as if it had crashed */
    close(open(wal, O_CREAT | O_WRONLY, 0600));
}

static void cut_in_half(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(truncate(path, st.st_size / 2), 0);
}

static void cut_to_nothing(const char *path)
{
    assert_int_equal(truncate(path, 0), 0);
}

static void make_another_database(const char *path)
{
    unlink(path);
    run_sql(path, "CREATE TABLE jobs (name)");
}

static void make_a_newer_version(const char *path)
{
    run_sql(path, "PRAGMA user_version = 99");
}

static void remove_but_leave_the_log(const char *path)
{
    char wal[200];
    snprintf(wal, sizeof(wal), "%s-wal", path);
    assert_int_equal(rename(path, wal), 0);
}

static uint64_t checksum(const char *path)
{
    FILE *file = fopen(path, "r");
    uint64_t sum = 14695981039346656037u;
    for (int c; file && (c = getc(file)) != EOF;)
        sum = (sum ^ (uint64_t)c) * 1099511628211u;
    if (file)
        fclose(file);
    return sum;
}

static void damaged_files_are_refused_and_kept(void **state)
{
    static const struct {
        int line;
        void (*damage)(const char *path);
        enum status want;
        const char *says;
    } cases[] = {
        {__LINE__, write_garbage, E_CORRUPT, "peal.db is damaged"},
        {__LINE__, write_garbage_in_the_middle, E_CORRUPT, "peal.db is damaged"},
        {__LINE__, cut_in_half, E_CORRUPT, "restore a backup"},
        {__LINE__, cut_to_nothing, E_CORRUPT, "peal.db is damaged"},
        {__LINE__, make_another_database, E_CORRUPT, "not a database of peal's"},
        {__LINE__, make_a_newer_version, E_VERSION, "written by a newer peal (format 99"},
        {__LINE__, remove_but_leave_the_log, E_CORRUPT, "peal.db is missing"},
    };
    char path[160];
    struct strbuf why;
    strbuf_init(&why);
    snprintf(path, sizeof(path), "%s/peal.db", (char *)*state);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct store *store = NULL;
        remove_folder(*state);
        assert_int_equal(try_open(*state, &store, &why), OK);
        store = store_free(store);
        cases[i].damage(path);
        uint64_t before = checksum(path);
        for (int again = 0; again < 2; again++) {
            enum status st = try_open(*state, &store, &why);
            if (st != cases[i].want || !strstr(why.text, cases[i].says))
                fail_msg("line %d: %s: %s", cases[i].line, status_text(st), why.text);
        }
        if (checksum(path) != before)
            fail_msg("line %d: the file was written to", cases[i].line);
    }
    strbuf_release(&why);
}

static void a_creation_that_was_cut_short_is_begun_again(void **state)
{
    char path[160];
    struct store *store = NULL;
    struct strbuf why;
    strbuf_init(&why);
    snprintf(path, sizeof(path), "%s/peal.db.new", (char *)*state);
    FILE *file = fopen(path, "w");
    fputs("half", file);
    fclose(file);
    assert_int_equal(try_open(*state, &store, &why), OK);
    assert_int_equal(access(path, F_OK), -1);
    store_free(store);
    strbuf_release(&why);
}

/* As it was before the last success was kept; the job's last run is as in the row. */
static void make_older(const char *path, int last_state)
{
    char sql[2000];
    snprintf(sql, sizeof(sql),
             "DROP INDEX runs_by_tick; CREATE UNIQUE INDEX runs_by_tick ON runs (job, tick_ms,"
             " attempt); ALTER TABLE runs DROP COLUMN retried; ALTER TABLE runs DROP COLUMN"
             " attempts; ALTER TABLE runs DROP COLUMN part; ALTER TABLE runs DROP COLUMN parts;"
             "ALTER TABLE runs DROP COLUMN pinned; ALTER TABLE runs DROP COLUMN failed_on;"
             "ALTER TABLE runs DROP COLUMN input; ALTER TABLE runs DROP COLUMN outcome;"
             "ALTER TABLE runs DROP COLUMN rolling; ALTER TABLE runs DROP COLUMN workflow_run;"
             "ALTER TABLE runs DROP COLUMN step; ALTER TABLE runs DROP COLUMN met;"
             "ALTER TABLE runs DROP COLUMN unmet; ALTER TABLE runs DROP COLUMN made;"
             "ALTER TABLE runs DROP COLUMN expected; ALTER TABLE runs DROP COLUMN is_final;"
             "DROP INDEX runs_grouped; ALTER TABLE runs DROP COLUMN in_groups;"
             "ALTER TABLE runs DROP COLUMN priority;"
             " ALTER TABLE jobs DROP COLUMN last_retried;"
             "ALTER TABLE jobs DROP COLUMN succeeded_ms; ALTER TABLE jobs DROP COLUMN rewinds;"
             "ALTER TABLE jobs DROP COLUMN high_ms; ALTER TABLE jobs DROP COLUMN gaps;"
             "ALTER TABLE runs DROP COLUMN instance; ALTER TABLE runs DROP COLUMN home;"
             "ALTER TABLE entries DROP COLUMN instance; ALTER TABLE entries DROP COLUMN home;"
             "PRAGMA user_version = 4;"
             "UPDATE jobs SET last_ended_ms = 7000, last_state = %d",
             last_state);
    run_sql(path, sql);
}

static void an_older_database_tells_the_last_success_that_it_knows(void **state)
{
    static const struct {
        int line;
        int last_state;
        int64_t want_ms;
    } cases[] = {{__LINE__, RUN_OK, 7000}, {__LINE__, RUN_FAILED, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world *world = world_new(&sqlite_backend);
        char path[160];
        world_open(world);
        struct id job = make_job(world, "backup");
        world->store = store_free(world->store);
        snprintf(path, sizeof(path), "%s/peal.db", world->place);
        make_older(path, cases[i].last_state);
        assert_int_equal(sqlite_backend.open(world->place, world_wake(world), &world->store), OK);
        struct store_change change = {.kind = STORE_CHANGE_LOADED};
        while (store_next_change(world->store, &change) && change.kind != STORE_CHANGE_JOB)
            continue;
        assert_int_equal(id_compare(&change.job_uid, &job), 0);
        if (change.last.ended_ms != 7000 || change.last.succeeded_ms != cases[i].want_ms)
            fail_msg("line %d: %lld", cases[i].line, (long long)change.last.succeeded_ms);
        world_free(world);
    }
}

/* ---- rows ---- */

/* What is loaded, of each kind; the last run and the last job of them. */
struct loaded {
    size_t jobs, runs, entries, asides;
    struct run run;
    struct id job_uid;
};

/* Does something to the database behind the store's back, and opens it again. */
static void tamper(struct world *world, const char *sql, struct loaded *ret)
{
    struct store_change change = {.kind = STORE_CHANGE_META};
    char path[160];
    world->store = store_free(world->store);
    snprintf(path, sizeof(path), "%s/peal.db", world->place);
    run_sql(path, sql);
    world->without_picture = true;
    assert_int_equal(sqlite_backend.open(world->place, world_wake(world), &world->store), OK);
    *ret = (struct loaded){.jobs = 0};
    while (change.kind != STORE_CHANGE_LOADED) {
        assert_true(store_next_change(world->store, &change));
        ret->jobs += change.kind == STORE_CHANGE_JOB;
        ret->runs += change.kind == STORE_CHANGE_RUN;
        ret->entries += change.kind == STORE_CHANGE_ENTRY;
        ret->asides += change.kind == STORE_CHANGE_ASIDE;
        if (change.kind == STORE_CHANGE_JOB)
            ret->job_uid = change.job_uid;
        if (change.kind == STORE_CHANGE_RUN)
            ret->run = *change.run;
    }
}

static void count_aside(void *context, const struct store_aside *aside)
{
    assert_int_equal(aside->why, E_CORRUPT);
    *(size_t *)context +=
        strncmp(aside->key, "jobs/", 5) == 0 || strncmp(aside->key, "runs/", 5) == 0;
}

static void rows_that_can_not_be_read_are_set_aside(void **state)
{
    struct world *world = world_new(&sqlite_backend);
    struct loaded loaded;
    size_t seen = 0;
    (void)state;
    world_open(world);
    struct id bad = make_job(world, "bad"), good = make_job(world, "good");
    struct run run = claim_run(world, good, 5000);
    tamper(world,
           "UPDATE jobs SET last_state = 1000000 WHERE name = 'bad';"
           "UPDATE runs SET reason = 1000000",
           &loaded);
    assert_int_equal(loaded.jobs, 1);
    assert_int_equal(id_compare(&loaded.job_uid, &good), 0);
    assert_int_equal(loaded.runs, 0);
    assert_int_equal(loaded.asides, 2);
    assert_int_equal(store_each_aside(world->store, count_aside, &seen), 2);
    assert_int_equal(seen, 2);

    /* Nothing is decided on them, and the rest of a request goes on. */
    struct store_claim claims[] = {a_claim(world, bad, 5000, OVERLAP_ALLOW),
                                   a_claim(world, good, 6000, OVERLAP_ALLOW)};
    claims[0].job_revision = claims[1].job_revision = 1;
    claims[0].cursor_ms = CURSOR_MS;
    claims[1].cursor_ms = 5000;
    assert_int_equal(world_do(world, STORE_CLAIM, claims, 2), OK);
    assert_int_equal(claims[0].result, CLAIM_STALE);
    assert_int_equal(claims[1].result, CLAIM_WON);
    struct store_begin begin = {.run_id = run.id, .nonce = run.nonce};
    world_do_one(world, STORE_BEGIN, &begin);
    assert_false(begin.begun);
    struct store_put_job put = a_put(world_id(world), "bad", 0);
    world_do_one(world, STORE_PUT_JOB, &put);
    assert_int_equal(put.result, PUT_EXISTS);
    put = a_put(bad, "bad", -1);
    world_do_one(world, STORE_PUT_JOB, &put);
    assert_int_equal(put.result, PUT_MISSING);

    /* They are as they were: put right, they are there again. */
    tamper(world,
           "UPDATE jobs SET last_state = last_state - 999995 WHERE name = 'bad';"
           "UPDATE runs SET reason = reason - 1000000 WHERE reason",
           &loaded);
    assert_int_equal(loaded.jobs, 2);
    assert_int_equal(loaded.runs, 2);
    assert_int_equal(loaded.asides, 0);
    assert_int_equal(store_each_aside(world->store, NULL, NULL), 0);
    world_free(world);
}

/* A downgrade finds what a newer peal has left. */
static void a_run_in_a_newer_state_is_nobodys(void **state)
{
    struct world *world = world_new(&sqlite_backend);
    struct loaded loaded;
    (void)state;
    world_open(world);
    struct id job = make_job(world, "backup");
    struct run run = claim_run(world, job, 5000);
    assert_true(begin_run(world, &run).begun);
    tamper(world, "UPDATE runs SET state = 12, reason = 1000, cause = 77", &loaded);
    assert_int_equal(loaded.runs, 1);
    assert_string_equal(run_state_name(loaded.run.state), "state-12");
    assert_string_equal(run_reason_name(loaded.run.reason), "reason-1000");
    assert_string_equal(run_cause_name(loaded.run.cause), "cause-77");

    struct store_take take = {
        .run_id = run.id, .node = "n2", .nonce = 9, .from_nonce = run.nonce, .now_ms = 9000};
    world_do_one(world, STORE_TAKE, &take);
    assert_false(take.taken);
    struct store_begin begin = {.run_id = run.id, .nonce = run.nonce};
    world_do_one(world, STORE_BEGIN, &begin);
    assert_false(begin.begun);
    struct store_finish finish = {.run = run};
    finish.run.state = RUN_OK;
    world_do_one(world, STORE_FINISH, &finish);
    assert_false(finish.accepted);
    struct store_order order = {.run_id = run.id, .reason = REASON_USER};
    world_do_one(world, STORE_ORDER, &order);
    assert_false(order.known);
    struct store_forget forget = {.id = run.id};
    world_do_one(world, STORE_FORGET, &forget);

    /* It is in the way of others, as an open one. */
    static const struct {
        enum overlap_policy overlap;
        enum claim_result want;
    } cases[] = {
        {OVERLAP_SKIP, CLAIM_SKIPPED}, {OVERLAP_REPLACE, CLAIM_QUEUED}, {OVERLAP_ALLOW, CLAIM_WON}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct store_claim claim = a_claim(world, job, 6000 + 1000 * (int64_t)i, cases[i].overlap);
        claim.job_revision = 1;
        claim.cursor_ms = 5000 + 1000 * (int64_t)i;
        world_do_one(world, STORE_CLAIM, &claim);
        assert_int_equal(claim.result, cases[i].want);
    }
    tamper(world, "DELETE FROM runs WHERE state < 12", &loaded);
    assert_int_equal(loaded.runs, 1);
    assert_int_equal(loaded.run.state, 12);
    assert_int_equal(loaded.run.reason, 1000);
    world_free(world);
}

/* Damage that only shows while it is in use: refused from then on, and said so. */
static void damage_in_use_stops_the_store(void **state)
{
    struct world *world = world_new(&sqlite_backend);
    char path[160];
    struct strbuf why;
    (void)state;
    strbuf_init(&why);
    world_open(world);
    char name[32];
    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof(name), "job-%d", i);
        struct store_put_job put = a_put(world_id(world), name, 0);
        world_do_one(world, STORE_PUT_JOB, &put);
    }
    world->store = store_free(world->store);
    snprintf(path, sizeof(path), "%s/peal.db", world->place);
    int fd = open(path, O_WRONLY);
    char garbage[4096];
    memset(garbage, 0x5a, sizeof(garbage));
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    for (off_t at = 4096 * 12; at < st.st_size; at += 4096) /* all but the schema's pages */
        assert_int_equal(pwrite(fd, garbage, sizeof(garbage), at), sizeof(garbage));
    close(fd);
    assert_int_equal(sqlite_backend.open(world->place, world_wake(world), &world->store), OK);
    struct store_change change;
    while (store_next_change(world->store, &change))
        assert_int_not_equal(change.kind, STORE_CHANGE_LOADED);
    assert_int_equal(store_health(world->store, &why), E_CORRUPT);
    assert_says(&why, "peal.db is damaged");
    struct store_set_meta meta = {"key", "value"};
    assert_int_equal(world_do(world, STORE_SET_META, &meta, 1), E_CORRUPT);
    world_free(world);
    strbuf_release(&why);
}

int main(void)
{
#define FILE_TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
    const struct CMUnitTest tests[] = {
        FILE_TEST(files_are_the_owners_alone),
        FILE_TEST(one_store_per_folder),
        FILE_TEST(a_dead_owner_holds_no_lock),
        FILE_TEST(folders_that_can_not_be_used),
        FILE_TEST(damaged_files_are_refused_and_kept),
        FILE_TEST(a_creation_that_was_cut_short_is_begun_again),
        FILE_TEST(an_older_database_tells_the_last_success_that_it_knows),
        FILE_TEST(rows_that_can_not_be_read_are_set_aside),
        FILE_TEST(a_run_in_a_newer_state_is_nobodys),
        FILE_TEST(damage_in_use_stops_the_store),
    };
    return cmocka_run_group_tests_name("sqlite files", tests, NULL, NULL);
}
