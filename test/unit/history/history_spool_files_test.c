/* The files of the spool: cut off at any byte, or with any byte changed, they give what is whole.
 */
#include "spool/history_spool_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

enum { RECORDS = 6, OUTPUT = 40 };

static int setup(void **state)
{
    char *dir = strdup("/tmp/peal-spool-XXXXXX");
    assert_non_null(dir);
    assert_non_null(mkdtemp(dir));
    *state = dir;
    return 0;
}

static void empty_spool(const char *dir)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/spool", dir);
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        snprintf(path, sizeof(path), "%s/spool/%s", dir, entry->d_name);
        unlink(path);
    }
    if (folder)
        closedir(folder);
}

static int teardown(void **state)
{
    char path[512];
    empty_spool(*state);
    snprintf(path, sizeof(path), "%s/spool", (char *)*state);
    rmdir(path);
    assert_int_equal(rmdir(*state), 0);
    free(*state);
    return 0;
}

/* ---- records ---- */

static struct run run_of(int number)
{
    struct run run = {.state = RUN_OK,
                      .tick_ms = 1800000000000 + number,
                      .attempt = 1,
                      .output_bytes = number,
                      .exit_code = -1};
    run.id.bytes[0] = 1;
    run.id.bytes[15] = (uint8_t)number;
    snprintf(run.job_name, sizeof(run.job_name), "job-%d", number);
    snprintf(run.detail, sizeof(run.detail), "caf\xc3\xa9 \xff");
    return run;
}

static void open_files(const char *dir, int64_t max_bytes, struct spool_files *files)
{
    struct strbuf why;
    strbuf_init(&why);
    enum status st = spool_files_open(dir, max_bytes, files, &why);
    if (st != OK)
        fail_msg("%s", why.text);
    strbuf_release(&why);
}

static enum status write_unsynced(struct spool_files *files, int number, size_t output_length)
{
    struct run run = run_of(number);
    char *bytes = malloc(output_length + 1);
    assert_non_null(bytes);
    memset(bytes, number, output_length);
    struct output_chunk chunks[] = {
        {OUTPUT_STDOUT, 1, 0, bytes, output_length / 2},
        {OUTPUT_STDERR, 2, 3, bytes, output_length - output_length / 2},
    };
    struct history_record record = {.run = &run, .chunks = chunks, .chunk_count = 2};
    struct history_append append = {.records = &record, .count = 1};
    enum status st = spool_files_write(files, &append);
    free(bytes);
    return st;
}

static enum status write_one(struct spool_files *files, int number, size_t output_length)
{
    enum status st = write_unsynced(files, number, output_length);
    return st == OK ? spool_files_sync(files) : st;
}

static void fill(const char *dir)
{
    struct spool_files files;
    open_files(dir, 1 << 20, &files);
    for (int i = 0; i < RECORDS; i++)
        assert_int_equal(write_one(&files, i, OUTPUT), OK);
    spool_files_close(&files);
}

/* Takes all records out. Each must be one that was put in, in order; how many, and with output. */
static int drain(const char *dir, int *ret_whole)
{
    struct spool_files files;
    struct spool_batch batch;
    int count = 0, last = -1;
    *ret_whole = 0;
    open_files(dir, 1 << 20, &files);
    while (spool_files_load(&files, 4, &batch) == OK) {
        for (size_t i = 0; i < batch.count; i++, count++) {
            const struct run *run = batch.records[i].run;
            struct run want = run_of(run->id.bytes[15]);
            assert_true(run->id.bytes[15] > last);
            last = run->id.bytes[15];
            assert_string_equal(run->job_name, want.job_name);
            assert_string_equal(run->detail, want.detail);
            assert_int_equal(run->tick_ms, want.tick_ms);
            if (batch.records[i].chunk_count == 2) {
                assert_int_equal(batch.records[i].chunks[1].length, OUTPUT / 2);
                assert_int_equal(batch.records[i].chunks[1].gap_bytes, 3);
                assert_memory_equal(batch.records[i].chunks[1].bytes, &(char){(char)last}, 1);
                (*ret_whole)++;
            } else { /* the output is gone, and says so */
                assert_int_equal(batch.records[i].chunk_count, 1);
                assert_int_equal(batch.records[i].chunks[0].gap_bytes, OUTPUT + 3);
                assert_true(run->output_truncated);
            }
        }
        spool_files_remove(&files, &batch);
        spool_batch_release(&batch);
    }
    assert_int_equal(files.stats.waiting_records, 0);
    assert_int_equal(files.stats.waiting_bytes, 0);
    spool_files_close(&files);
    return count;
}

/* ---- damage ---- */

/* The path of the only file of a kind; its size. */
static off_t find_file(const char *dir, const char *kind, char path[512])
{
    struct stat info;
    char name[300] = "";
    snprintf(path, 512, "%s/spool", dir);
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (strncmp(entry->d_name, kind, strlen(kind)) == 0)
            snprintf(name, sizeof(name), "%s", entry->d_name);
    }
    closedir(folder);
    snprintf(path, 512, "%.100s/spool/%s", dir, name);
    assert_int_equal(stat(path, &info), 0);
    return info.st_size;
}

/* The two files of a spool that was filled, to be put there again and again without waiting for the
 * disk. */
struct copy {
    char path[512];
    char bytes[8192];
    size_t length;
};

static void take_copies(const char *dir, struct copy copies[2])
{
    static const char *const kinds[] = {"state", "output"};
    fill(dir);
    for (size_t i = 0; i < 2; i++) {
        copies[i].length = (size_t)find_file(dir, kinds[i], copies[i].path);
        int fd = open(copies[i].path, O_RDONLY);
        assert_int_equal(read(fd, copies[i].bytes, sizeof(copies[i].bytes)), copies[i].length);
        close(fd);
    }
}

static void put_copies(const struct copy copies[2])
{
    for (size_t i = 0; i < 2; i++) {
        int fd = open(copies[i].path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        assert_int_equal(write(fd, copies[i].bytes, copies[i].length), copies[i].length);
        close(fd);
    }
}

static void test_round_trip(void **state)
{
    int whole;
    fill(*state);
    assert_int_equal(drain(*state, &whole), RECORDS);
    assert_int_equal(whole, RECORDS);
    assert_int_equal(drain(*state, &whole), 0);
}

static void test_cut_anywhere(void **state)
{
    static struct copy copies[2];
    take_copies(*state, copies);
    for (size_t kind = 0; kind < 2; kind++) {
        int whole, previous = RECORDS;
        for (size_t length = copies[kind].length; length-- > 0;) {
            empty_spool(*state);
            put_copies(copies);
            assert_int_equal(truncate(copies[kind].path, (off_t)length), 0);
            int count = drain(*state, &whole);
            if (count != (kind ? RECORDS : whole) || whole > previous)
                fail_msg("%s cut at %zu: %d records, %d whole", copies[kind].path, length, count,
                         whole);
            previous = whole;
        }
        assert_int_equal(previous, 0);
    }
}

static void test_change_anywhere(void **state)
{
    static struct copy copies[2];
    take_copies(*state, copies);
    for (size_t kind = 0; kind < 2; kind++) {
        for (size_t at = 8; at < copies[kind].length; at++) {
            int whole;
            empty_spool(*state);
            copies[kind].bytes[at] ^= 0x10;
            put_copies(copies);
            copies[kind].bytes[at] ^= 0x10;
            int count = drain(*state, &whole);
            assert_true(whole < RECORDS); /* it was noticed */
            assert_true(kind ? count == RECORDS : count < RECORDS);
        }
    }
}

static void test_newer_version(void **state)
{
    char path[512];
    struct spool_files files;
    struct strbuf why;
    strbuf_init(&why);
    fill(*state);
    find_file(*state, "state", path);
    int fd = open(path, O_RDWR);
    assert_int_equal(pwrite(fd, "PEALSP99", 8, 0), 8);
    close(fd);
    assert_int_equal(spool_files_open(*state, 1 << 20, &files, &why), E_VERSION);
    assert_non_null(strstr(why.text, "newer peal"));
    strbuf_release(&why);
}

/* ---- the limit ---- */

static void test_output_goes_first(void **state)
{
    enum { MANY = 60, LARGE = 100 * 1000, LIMIT = 1 << 20 };
    struct spool_files files;
    struct spool_batch batch;
    int count = 0, first_whole = -1;
    open_files(*state, LIMIT, &files);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(write_one(&files, i, LARGE), OK);
        assert_true(files.stats.waiting_bytes <= LIMIT);
    }
    assert_int_equal(files.stats.waiting_records, MANY); /* every end is there */
    assert_true(files.stats.dropped_bytes > 40 * LARGE);
    assert_true(files.stats.dropped_chunks > 80);
    while (spool_files_load(&files, 7, &batch) == OK) {
        for (size_t i = 0; i < batch.count; i++, count++) {
            assert_int_equal(batch.records[i].run->id.bytes[15], count);
            if (batch.records[i].chunk_count == 2 && first_whole < 0)
                first_whole = count;
            assert_int_equal(batch.records[i].chunk_count, first_whole < 0 ? 1 : 2);
        }
        spool_files_remove(&files, &batch);
        spool_batch_release(&batch);
    }
    assert_int_equal(count, MANY);
    assert_true(first_whole > 40 && first_whole < MANY - 3); /* the newest are whole */
    spool_files_close(&files);
}

/* Ends are never dropped: when even they do not fit, it says so. */
static void test_full(void **state)
{
    struct spool_files files;
    struct spool_batch batch;
    int written = 0, whole;
    open_files(*state, 40 * 1000, &files);
    while (write_one(&files, written % 200, 0) == OK)
        written++;
    assert_true(written > 100);
    assert_int_equal(files.stats.waiting_records, written);
    assert_true(files.stats.waiting_bytes <= 40 * 1000);
    assert_int_equal(write_one(&files, 1, 0), E_TOO_LARGE);
    assert_int_equal(spool_files_load(&files, 1000, &batch), OK);
    assert_int_equal(batch.count, written);
    spool_files_remove(&files, &batch);
    spool_batch_release(&batch);
    assert_int_equal(write_one(&files, 1, OUTPUT), OK); /* there is room again */
    spool_files_close(&files);
    assert_int_equal(drain(*state, &whole), 1);
}

/* ---- a disk that fails, a process without descriptors ---- */

static struct {
    ino_t watched; /* how often it is synced is counted */
    int count;
    int to_fail; /* so many syncs of it */
} syncs;

/* In place of libc's. */
int fsync(int fd)
{
    struct stat info;
    if (syncs.watched && fstat(fd, &info) == 0 && info.st_ino == syncs.watched) {
        syncs.count++;
        if (syncs.to_fail > 0) {
            syncs.to_fail--;
            errno = EIO;
            return -1;
        }
    }
    return (int)syscall(SYS_fsync, fd);
}

static void watch_syncs(int fd, int to_fail)
{
    struct stat info;
    assert_int_equal(fstat(fd, &info), 0);
    syncs.watched = info.st_ino;
    syncs.count = 0;
    syncs.to_fail = to_fail;
}

/* The first sync after a restart fails: what was on disk before is still there. */
static void test_sync_fails_after_restart(void **state)
{
    struct spool_files files;
    int whole;
    fill(*state);
    open_files(*state, 1 << 20, &files);
    assert_int_equal(write_unsynced(&files, RECORDS, OUTPUT), OK);
    watch_syncs(files.states.fd, 1);
    assert_int_equal(spool_files_sync(&files), E_IO);
    assert_int_equal(files.stats.waiting_records, RECORDS);
    spool_files_close(&files);
    assert_int_equal(drain(*state, &whole), RECORDS);
    assert_int_equal(whole, RECORDS);
}

/* What is undone does not take the sync of what was written before it along. */
static void test_sync_behind_a_refusal(void **state)
{
    static const struct {
        int to_fail;
        enum status want;
    } rows[] = {{0, OK}, {1, E_IO}};
    for (size_t i = 0; i < 2; i++) {
        struct spool_files files;
        open_files(*state, 400, &files);
        assert_int_equal(write_unsynced(&files, 1, 0), OK);
        watch_syncs(files.states.fd, rows[i].to_fail);
        assert_int_equal(write_unsynced(&files, 2, 0), E_TOO_LARGE);
        enum status st = spool_files_sync(&files);
        if (syncs.count != 1 || st != rows[i].want)
            fail_msg("row %zu: %d syncs, %s", i, syncs.count, status_text(st));
        assert_int_equal(files.stats.waiting_records, st == OK);
        spool_files_close(&files);
        empty_spool(*state);
    }
}

/* The sync of a full segment fails when the next one is begun: nothing in it is called written. */
static void test_sync_of_a_full_segment_fails(void **state)
{
    struct spool_files files;
    enum status st = OK;
    open_files(*state, 4 << 20, &files);
    assert_int_equal(write_unsynced(&files, 0, 0), OK);
    watch_syncs(files.states.fd, 1);
    for (int i = 1; i < 2000 && st == OK; i++)
        st = write_unsynced(&files, i % 200, 0);
    assert_int_equal(st, E_IO);
    assert_int_equal(spool_files_sync(&files), E_IO);
    assert_int_equal(files.stats.waiting_records, 0);
    assert_int_equal(files.stats.waiting_bytes, 0);
    assert_int_equal(write_one(&files, 1, 0), OK);
    assert_int_equal(files.stats.waiting_records, 1);
    spool_files_close(&files);
}

/* With no descriptor left, or one, there is nothing to deliver for now; and nothing is lost. */
static void test_no_descriptors(void **state)
{
    fill(*state);
    for (rlim_t left = 0; left < 2; left++) {
        struct spool_files files;
        struct spool_batch batch;
        struct rlimit before, few;
        open_files(*state, 1 << 20, &files);
        int next = dup(STDERR_FILENO);
        close(next);
        assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
        few = (struct rlimit){.rlim_cur = (rlim_t)next + left, .rlim_max = before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        enum status st = spool_files_load(&files, 4, &batch);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        if (st != E_IO)
            fail_msg("%d left: %s", (int)left, status_text(st));
        assert_int_equal(spool_files_load(&files, 4, &batch), OK);
        assert_int_equal(batch.count, 4);
        for (size_t i = 0; i < batch.count; i++)
            assert_int_equal(batch.records[i].chunk_count, 2);
        spool_batch_release(&batch);
        spool_files_close(&files);
    }
}

/* A run of the first format has no traceparent, and nothing of what came later. */
static void test_first_format(void **state)
{
    enum { REF = 4 * 8, LATER_BYTES = 2 + 4 * 8 + 2 }; /* an empty text, four numbers, a text */
    struct run run = run_of(3);
    const struct history_record record = {.run = &run};
    const struct output_ref ref = {.segment = 7, .at = 8, .chunks = 9, .bytes = 10};
    struct spooled item;
    struct strbuf payload;
    (void)state;
    strbuf_init(&payload);
    payload_of_state(&record, &ref, &payload);
    assert_int_equal(strbuf_status(&payload), OK);
    memmove(payload.text + payload.length - REF - LATER_BYTES, payload.text + payload.length - REF,
            REF);
    payload.text[0] = 0;
    assert_int_equal(state_of_payload(payload.text, payload.length - LATER_BYTES, &item), OK);
    assert_false(item.is_change);
    assert_memory_equal(&item.row.run.id, &run.id, sizeof(run.id));
    assert_int_equal(item.row.run.output_bytes, 3);
    assert_string_equal(item.row.run.traceparent, "");
    assert_int_equal(item.ref.bytes, 10);
    for (size_t length = 0; length < payload.length - LATER_BYTES; length++)
        assert_int_equal(state_of_payload(payload.text, length, &item), E_CORRUPT);
    strbuf_release(&payload);
}

int main(void)
{
#define WITH_DIR(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH_DIR(test_round_trip),
        WITH_DIR(test_cut_anywhere),
        WITH_DIR(test_change_anywhere),
        WITH_DIR(test_newer_version),
        WITH_DIR(test_output_goes_first),
        WITH_DIR(test_full),
        WITH_DIR(test_sync_fails_after_restart),
        WITH_DIR(test_sync_behind_a_refusal),
        WITH_DIR(test_sync_of_a_full_segment_fails),
        WITH_DIR(test_no_descriptors),
        cmocka_unit_test(test_first_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
