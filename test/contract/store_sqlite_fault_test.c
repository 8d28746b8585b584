/* SQLite only: writes and flushes that fail, a disk that is full, a database that must not grow. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fault_vfs.h"
#include "sqlite_place.h"
#include "store_world.h"

static void forget_picture(struct world *world)
{
    free(world->picture.jobs);
    free(world->picture.runs);
    free(world->picture.entries);
    memset(&world->picture, 0, sizeof(world->picture));
}

static void copy_file(const char *from_dir, const char *to_dir, const char *name)
{
    char path[256], bytes[65536];
    ssize_t length;
    snprintf(path, sizeof(path), "%s/%s", from_dir, name);
    int from = open(path, O_RDONLY);
    if (from < 0)
        return;
    snprintf(path, sizeof(path), "%s/%s", to_dir, name);
    int to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    while ((length = read(from, bytes, sizeof(bytes))) > 0)
        assert_int_equal(write(to, bytes, (size_t)length), length);
    close(from);
    close(to);
}

/* ---- one failure after the other ---- */

enum { PUTS = 12 };

/* Whether the job of each put is there, against what its answer was. */
static void check_puts(struct world *world, const enum status answers[PUTS], const char *when)
{
    for (int i = 0; i < PUTS; i++) {
        bool there = false;
        for (size_t j = 0; j < world->picture.job_count; j++) {
            char name[16];
            snprintf(name, sizeof(name), "job-%d", i);
            there |= strcmp(world->picture.jobs[j].name, name) == 0;
        }
        if (answers[i] == OK && !there)
            fail_msg("%s: job-%d was acknowledged and is gone", when, i);
        if (answers[i] != OK && answers[i] != E_UNKNOWN && there)
            fail_msg("%s: job-%d was refused (%s) and is there", when, i, status_text(answers[i]));
    }
}

/* What a crash right now would leave. */
static void check_copy(const char *place, const enum status answers[PUTS], const char *when)
{
    struct world *copy = world_new(&sqlite_backend);
    copy_file(place, copy->place, "peal.db");
    copy_file(place, copy->place, "peal.db-wal");
    world_open(copy);
    check_puts(copy, answers, when);
    world_free(copy);
}

/* False: the plan found nothing to fail any more. */
static bool fail_once(enum fault fault, int n, bool stays)
{
    char when[80];
    enum status answers[PUTS];
    struct world *world = world_new(&sqlite_backend);
    struct strbuf why;
    strbuf_init(&why);
    snprintf(when, sizeof(when), "fault %d, call %d, stays %d", (int)fault, n, stays);
    for (int i = 0; i < PUTS; i++)
        answers[i] = E_IO;
    fault_vfs_plan(fault, n, stays);
    enum status st = store_sqlite_open(world->place, world_wake(world), &world->store, &why);
    if (st == OK) {
        world_read_feed(world);
        for (int i = 0; i < PUTS; i++) {
            char name[16], json[6000];
            snprintf(name, sizeof(name), "job-%d", i);
            memset(json, 'x', sizeof(json) - 1); /* several pages */
            json[sizeof(json) - 1] = '\0';
            struct store_put_job put = a_put(world_id(world), name, 0);
            put.json = json;
            answers[i] = world_do(world, STORE_PUT_JOB, &put, 1);
            if (answers[i] == OK)
                assert_false(fault_vfs_log_is_dirty()); /* acknowledged is flushed */
        }
        bool failed = fault_vfs_failed() > 0;
        fault_vfs_plan(FAULT_WRITE, 0, false);
        check_copy(world->place, answers, when);
        fault_vfs_plan(fault, stays && failed ? 1 : 0, stays); /* also while it is closed */
        world->store = store_free(world->store);
        fault_vfs_plan(FAULT_WRITE, 0, false);
        forget_picture(world);
        world_open(world);
        check_puts(world, answers, when);
        world_free(world);
        strbuf_release(&why);
        return failed;
    }
    if (st != E_IO || !why.length)
        fail_msg("%s: opening: %s: %s", when, status_text(st), why.text);
    fault_vfs_plan(FAULT_WRITE, 0, false);
    world_open(world); /* nothing that was left behind is in the way */
    world_free(world);
    strbuf_release(&why);
    return true;
}

static void acknowledged_is_durable_whatever_fails(void **state)
{
    (void)state;
    int total = 0;
    for (int fault = 0; fault < FAULTS; fault++) {
        for (int stays = 0; stays < 2; stays++) {
            int n = 1; /* every call of the start, then every other */
            while (fail_once((enum fault)fault, n, stays)) {
                n += n < 20 ? 1 : 3;
                total++;
            }
        }
    }
    printf("%d failures\n", total);
    fault_vfs_plan(FAULT_WRITE, 0, false);
}

/* ---- trouble that ends ---- */

static void wait_for_health(struct world *world, enum status want, const char *says)
{
    struct strbuf why;
    strbuf_init(&why);
    enum status st;
    while ((st = store_health(world->store, &why)) != want) {
        strbuf_reset(&why);
        world_wait(world); /* it looks again by itself, every second */
    }
    if (!strstr(why.text, says))
        fail_msg("\"%s\" does not say \"%s\"", why.text, says);
    strbuf_release(&why);
}

static void it_recovers_by_itself(void **state)
{
    (void)state;
    static const struct {
        enum fault fault;
        const char *says;
        enum status want;
    } cases[] = {
        {FAULT_FULL, "the disk is full", E_IO},
        {FAULT_WRITE, "disk I/O error", E_UNKNOWN}, /* it may be there after a crash */
        {FAULT_SYNC, "disk I/O error", E_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world *world = world_new(&sqlite_backend);
        struct store_set_meta meta = {"key", "value"};
        world_open(world);
        fault_vfs_plan(cases[i].fault, 1, true);
        assert_int_equal(world_do(world, STORE_SET_META, &meta, 1), cases[i].want);
        wait_for_health(world, E_IO, cases[i].says);
        wait_for_health(world, E_IO, "peal.db");
        fault_vfs_plan(FAULT_WRITE, 0, false);
        wait_for_health(world, OK, "");
        assert_int_equal(world_do(world, STORE_SET_META, &meta, 1), OK);
        world_free(world);
    }
}

/* Leaves about so many bytes free in the folder. */
static void fill_up(const char *dir, int64_t leave)
{
    char path[160];
    static const char zeros[65536];
    snprintf(path, sizeof(path), "%s/filler", dir);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    for (;;) {
        struct stat st;
        assert_int_equal(fstat(fd, &st), 0);
        if (st.st_size >= (24 << 20) - leave || write(fd, zeros, sizeof(zeros)) <= 0)
            break;
    }
    close(fd);
}

static void a_full_disk_is_survived(void **state)
{
    (void)state;
    struct world *world = world_new(&sqlite_backend);
    if (mount("tmpfs", world->place, "tmpfs", 0, "size=24m,mode=700") < 0) {
        printf("SKIPPED: a small disk can't be mounted here; this test needs root\n");
        world_free(world);
        skip();
    }
    char path[160];
    snprintf(path, sizeof(path), "%s/filler", world->place);
    world_open(world);
    struct id job = make_job(world, "backup");
    struct run run = claim_run(world, job, 5000);
    wait_for_health(world, OK, "");
    fill_up(world->place, 10 << 20);
    wait_for_health(world, E_IO, "nearly full"); /* nothing new, but what runs can end: */
    assert_true(end_run(world, &run, RUN_OK, 6000).accepted);

    fill_up(world->place, 0);
    char *json = malloc(4 << 20);
    memset(json, 'x', (4 << 20) - 1);
    json[(4 << 20) - 1] = '\0';
    struct store_put_job put = a_put(world_id(world), "large", 0);
    put.json = json;
    assert_int_equal(world_do(world, STORE_PUT_JOB, &put, 1), E_IO);
    wait_for_health(world, E_IO, "full");
    unlink(path);
    wait_for_health(world, OK, "");
    assert_int_equal(world_do(world, STORE_PUT_JOB, &put, 1), OK);
    free(json);
    world_reopen(world);
    world->store = store_free(world->store);
    remove_folder(world->place); /* its files; the folder itself is in use */
    umount(world->place);
    world_free(world);
}

/* ---- no growth ---- */

static int64_t file_bytes(const char *dir, const char *name)
{
    char path[160];
    struct stat st;
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return stat(path, &st) == 0 ? st.st_size : 0;
}

enum { BATCH = 400 };

/* A tick of every job, from claim to forgotten; every other job has an entry too. */
static void one_cycle(struct world *world, const struct id jobs[BATCH], int64_t tick_ms)
{
    static struct store_claim claims[BATCH];
    static struct store_begin begins[BATCH];
    static struct store_finish finishes[BATCH];
    static struct store_forget forgets[2 * BATCH];
    static struct ledger_entry entries[BATCH];
    for (int i = 0; i < BATCH; i++) {
        entries[i] = (struct ledger_entry){.id = world_id(world), .job_uid = jobs[i], .count = 1};
        claims[i] = (struct store_claim){.job_uid = jobs[i],
                                         .job_revision = 1,
                                         .cursor_ms = tick_ms - 1,
                                         .tick_ms = tick_ms,
                                         .passed = &entries[i],
                                         .passed_count = (size_t)(i % 2)};
        claims[i].run = (struct run){.id = world_id(world),
                                     .job_uid = jobs[i],
                                     .tick_ms = tick_ms,
                                     .attempt = 1,
                                     .nonce = 1};
        begins[i] = (struct store_begin){.run_id = claims[i].run.id, .nonce = 1};
        finishes[i].run = claims[i].run;
        finishes[i].run.state = RUN_OK;
        finishes[i].run.finished_ms = tick_ms;
        forgets[2 * i] = (struct store_forget){.id = claims[i].run.id};
        forgets[2 * i + 1] = (struct store_forget){.id = entries[i].id, .is_entry = true};
    }
    assert_int_equal(world_do(world, STORE_CLAIM, claims, BATCH), OK);
    assert_int_equal(world_do(world, STORE_BEGIN, begins, BATCH), OK);
    assert_int_equal(world_do(world, STORE_FINISH, finishes, BATCH), OK);
    assert_int_equal(world_do(world, STORE_FORGET, forgets, 2 * BATCH), OK);
    assert_int_equal(claims[0].result, CLAIM_WON);
    assert_true(begins[BATCH - 1].begun && finishes[BATCH - 1].accepted);
}

static void it_does_not_grow_with_time(void **state)
{
    (void)state;
    enum { CYCLES = 100 }; /* a row left behind by each run would be many times the file */
    struct world *world = world_new(&sqlite_backend);
    static struct id jobs[BATCH];
    static struct store_put_job puts[BATCH];
    static char names[BATCH][16];
    int64_t early_db = 0, early_log = 0;
    world_open(world);
    world->without_picture = true;
    for (int i = 0; i < BATCH; i++) {
        snprintf(names[i], sizeof(names[i]), "job-%d", i);
        jobs[i] = world_id(world);
        puts[i] = a_put(jobs[i], names[i], 0);
        puts[i].cursor_ms = CURSOR_MS;
    }
    assert_int_equal(world_do(world, STORE_PUT_JOB, puts, BATCH), OK);
    for (int cycle = 1; cycle <= CYCLES; cycle++) {
        one_cycle(world, jobs, CURSOR_MS + cycle);
        if (cycle == CYCLES / 2) { /* the log has been copied to the file twice */
            early_db = file_bytes(world->place, "peal.db");
            early_log = file_bytes(world->place, "peal.db-wal");
        }
    }
    int64_t late_db = file_bytes(world->place, "peal.db");
    int64_t late_log = file_bytes(world->place, "peal.db-wal");
    printf("after %d and %d runs: %lld and %lld bytes, log %lld and %lld\n", CYCLES / 2 * BATCH,
           CYCLES * BATCH, (long long)early_db, (long long)late_db, (long long)early_log,
           (long long)late_log);
    assert_true(late_db <= early_db + early_db / 20);
    assert_true(late_log <= 32 << 20);
    world_free(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(acknowledged_is_durable_whatever_fails),
        cmocka_unit_test(it_recovers_by_itself),
        cmocka_unit_test(a_full_disk_is_survived),
        cmocka_unit_test(it_does_not_grow_with_time),
    };
    fault_vfs_install();
    return cmocka_run_group_tests_name("sqlite faults", tests, NULL, NULL);
}
