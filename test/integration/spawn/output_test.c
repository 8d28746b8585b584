/* Output: complete, in its order, marked by stream, bounded on disk and in memory. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "clock.h"
#include "harness.h"

static long rss_kib(uint32_t pid)
{
    char path[64], line[128];
    long kib = -1;
    snprintf(path, sizeof(path), "/proc/%u/status", pid);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file))
        sscanf(line, "VmRSS: %ld", &kib);
    fclose(file);
    return kib;
}

static int64_t disk_bytes(const struct harness *h, const char *id)
{
    static const char *const suffixes[] = {"", ".0", ".1"};
    int64_t sum = 0;
    for (size_t i = 0; i < ROWS(suffixes); i++) {
        char path[256];
        struct stat st;
        snprintf(path, sizeof(path), "%s/out/%s%s", h->folder, id, suffixes[i]);
        if (stat(path, &st) == 0)
            sum += st.st_size;
    }
    return sum;
}

static void streams_are_kept_apart(void **state)
{
    struct harness *h = *state;
    harness_sh(h, "two",
               "for i in 1 2 3; do echo out$i; sleep 0.15; echo err$i >&2; sleep 0.15; "
               "done; printf last");
    const struct spawn_run *run = harness_ended(h, "two");
    assert_int_equal(run->output_bytes, 3 * 5 + 3 * 5 + 4);
    assert_int_equal(run->dropped_bytes, 0);
    char *out = harness_output(h, "two", SPAWN_STDOUT, NULL, NULL);
    char *err = harness_output(h, "two", SPAWN_STDERR, NULL, NULL);
    char *both = harness_output(h, "two", 0, NULL, NULL);
    assert_string_equal(out, "out1\nout2\nout3\nlast");
    assert_string_equal(err, "err1\nerr2\nerr3\n");
    assert_string_equal(both, "out1\nerr1\nout2\nerr2\nout3\nerr3\nlast");
    free(out);
    free(err);
    free(both);
}

static void chunks_have_times_and_positions(void **state)
{
    struct harness *h = *state;
    int64_t before = clock_now().wall.ms;
    harness_sh(h, "times", "echo a; sleep 0.3; echo b; sleep 0.3; echo c");
    harness_ended(h, "times");
    struct spawn_output *output;
    struct spawn_chunk chunk;
    int64_t last = before;
    assert_int_equal(spawn_output_open(h->folder, "times", 2, &output), OK); /* from "b" on */
    for (int i = 1; i < 3; i++) {
        assert_int_equal(spawn_output_next(output, &chunk), OK);
        assert_int_equal(chunk.position, i * 2);
        assert_int_equal(chunk.gap_bytes, 0);
        assert_int_equal(chunk.bytes[0], 'a' + i);
        assert_in_range(chunk.wall_ms, last + 50, before + 20000);
        last = chunk.wall_ms;
    }
    assert_int_equal(spawn_output_next(output, &chunk), E_NOT_FOUND);
    spawn_output_free(output);
    assert_in_range(harness_seen(h, "times")->grew, 1, 4); /* told while it ran, but not often */
    spawn_output_remove(h->folder, "times");
    assert_int_equal(disk_bytes(h, "times"), 0);
}

static void bytes_are_bytes(void **state)
{
    struct harness *h = *state;
    size_t length;
    harness_sh(h, "binary",
               "i=0; while [ $i -lt 256 ]; do printf \"\\\\$(printf %o $i)\"; "
               "i=$((i+1)); done");
    harness_ended(h, "binary");
    char *bytes = harness_output(h, "binary", SPAWN_STDOUT, &length, NULL);
    assert_int_equal(length, 256);
    for (int i = 0; i < 256; i++)
        assert_int_equal((unsigned char)bytes[i], i);
    free(bytes);
}

/* What the headers of the records may take, above the output itself. */
#define HEADERS_MAX 65536

static void head_and_tail_are_kept(void **state)
{
    static const struct {
        int line;
        uint64_t head, tail;
        unsigned lines; /* of 10 bytes */
        bool whole;     /* nothing is dropped */
        const char *first, *last;
    } cases[] = {
        {__LINE__, 1 << 20, 1 << 20, 10000, true, "000000001\n", "000010000\n"},
        {__LINE__, 4096, 4096, 100000, false, "000000001\n", "000100000\n"},
        {__LINE__, 0, 4096, 100000, false, NULL, "000100000\n"},
        {__LINE__, 4096, 0, 100000, false, "000000001\n", NULL},
        {__LINE__, 0, 0, 1000, false, NULL, NULL},
        {__LINE__, 100, 100, 1000, false, "000000001\n", "000001000\n"}, /* less than a chunk */
    };
    struct harness *h = *state;
    for (size_t i = 0; i < ROWS(cases); i++) {
        char id[32], script[64];
        struct shell shell;
        snprintf(id, sizeof(id), "ends-%zu", i);
        snprintf(script, sizeof(script), "seq -f %%09.0f %u", cases[i].lines);
        shell_init(&shell, id, script);
        shell.request.head_bytes = cases[i].head;
        shell.request.tail_bytes = cases[i].tail;
        harness_start(h, &shell.request);
        const struct spawn_run run = *harness_ended(h, id);
        size_t length;
        uint64_t gap;
        char *text = harness_output(h, id, 0, &length, &gap);
        bool fits = run.output_bytes == cases[i].lines * 10u &&
                    run.output_bytes - run.dropped_bytes == length &&
                    (run.dropped_bytes == 0) == cases[i].whole &&
                    (cases[i].whole || length >= cases[i].head + cases[i].tail) &&
                    length <= cases[i].head + 2 * cases[i].tail &&
                    disk_bytes(h, id) <= (int64_t)length + HEADERS_MAX &&
                    (!cases[i].last || gap == run.dropped_bytes);
        if (cases[i].first)
            fits = fits && strncmp(text, cases[i].first, 10) == 0;
        if (cases[i].last)
            fits = fits && length >= 10 && strcmp(text + length - 10, cases[i].last) == 0;
        if (!fits)
            fail_msg("line %d: %llu came, %llu dropped, %zu kept, gap %llu", cases[i].line,
                     (unsigned long long)run.output_bytes, (unsigned long long)run.dropped_bytes,
                     length, (unsigned long long)gap);
        free(text);
    }
}

/* Each comes as a chunk of its own: that must not cost them a place. */
static void short_lines_count_by_their_bytes(void **state)
{
    struct harness *h = *state;
    struct shell shell;
    size_t length;
    shell_init(&shell, "short", "i=1000; while [ $i -lt 3000 ]; do echo $i; i=$((i + 1)); done");
    shell.request.head_bytes = 1000;
    shell.request.tail_bytes = 1000;
    harness_start(h, &shell.request);
    harness_ended(h, "short");
    char *text = harness_output(h, "short", 0, &length, NULL);
    assert_in_range(length, 2000, 3000);
    for (int i = 0; i < 200; i++) {
        assert_int_equal(atoi(text + (size_t)i * 5), 1000 + i);
        assert_int_equal(atoi(text + length - (size_t)(i + 1) * 5), 2999 - i);
    }
    free(text);
}

static void a_gigabyte_leaves_memory_and_disk_flat(void **state)
{
    struct harness *h = *state;
    harness_sh(h, "warm", "head -c 4M /dev/zero");
    harness_ended(h, "warm");
    long before = rss_kib(h->hello.pid);
    harness_sh(h, "gigabyte", "head -c 1G /dev/zero; echo end");
    harness_wait(h, harness_seen(h, "gigabyte")->grew > 3);
    const struct spawn_run *run = harness_ended(h, "gigabyte");
    assert_int_equal(run->output_bytes, (1 << 30) + 4);
    assert_in_range(run->dropped_bytes, (1 << 30) - (3 << 20), 1 << 30);
    assert_in_range(disk_bytes(h, "gigabyte"), 2 << 20, (3 << 20) + HEADERS_MAX);
    assert_true(rss_kib(h->hello.pid) - before < 2048);
    size_t length;
    char *text = harness_output(h, "gigabyte", 0, &length, NULL);
    assert_string_equal(text + length - 4, "end\n");
    free(text);
}

static void a_full_disk_drops_output_and_says_so(void **state)
{
    struct harness *h = *state;
    char folder[128];
    if (geteuid() != 0) {
        print_message("only root can mount a small disk\n");
        skip();
    }
    snprintf(folder, sizeof(folder), "%s/out", h->folder);
    /* The spawner has its folder open already: it must be in place before it starts. */
    harness_detach(h);
    kill((pid_t)h->hello.pid, SIGTERM);
    harness_wait(h, !process_lives((int)h->hello.pid));
    if (mount("tmpfs", folder, "tmpfs", 0, "size=256k,mode=700") < 0) {
        print_message("a small disk can't be mounted here\n");
        skip();
    }
    harness_attach(h);
    harness_sh(h, "full", "seq 100000; echo done >&2; exit 5");
    const struct spawn_run run = *harness_ended(h, "full");
    harness_detach(h);
    kill((pid_t)h->hello.pid, SIGTERM);
    harness_wait(h, !process_lives((int)h->hello.pid));
    uint64_t gap;
    char *text = harness_output(h, "full", 0, NULL, &gap);
    assert_int_equal(umount2(folder, MNT_DETACH), 0);
    assert_int_equal(run.reason, SPAWN_EXITED);
    assert_int_equal(run.wait_status >> 8, 5);
    assert_int_equal(run.output_bytes, 588895 + 5);
    assert_int_equal(run.disk_full, 1);
    assert_true(run.dropped_bytes > 100000);
    assert_memory_equal(text, "1\n2\n3\n", 6);
    free(text);
}

/* The lines o1, e1, o2, ... of a script that writes to both streams in turn. */
static void expect_in_turn(const char *text, int count)
{
    char want[32];
    const char *at = text;
    for (int i = 1; i <= count; i++) {
        int length = snprintf(want, sizeof(want), "o%d\ne%d\n", i, i);
        if (strncmp(at, want, (size_t)length) != 0)
            fail_msg("not %.*s but %.40s", length - 1, want, at);
        at += length;
    }
    assert_string_equal(at, "");
}

/* No matter how fast they are written, and by whom: a shell, and other programs that it starts. */
static void merged_streams_are_in_the_order_of_their_writing(void **state)
{
    static const char *const scripts[] = {
        "i=0; while [ $((i += 1)) -le 200 ]; do echo o$i; echo e$i >&2; done",
        "i=0; while [ $((i += 1)) -le 50 ]; do /bin/echo o$i; /bin/echo e$i >/dev/stderr; done",
    };
    static const int counts[] = {200, 50};
    struct harness *h = *state;
    for (size_t i = 0; i < ROWS(scripts); i++) {
        struct shell shell;
        char id[32];
        snprintf(id, sizeof(id), "merged-%zu", i);
        shell_init(&shell, id, scripts[i]);
        shell.request.is_merged = true;
        harness_start(h, &shell.request);
        assert_int_equal(harness_ended(h, id)->reason, SPAWN_EXITED);
        char *text = harness_output(h, id, SPAWN_STDOUT, NULL, NULL);
        expect_in_turn(text, counts[i]);
        free(text);
    }
}

/* What comes before the spawner looks at the pipes is read in the order in which each got its first
 * byte. */
static void the_first_writer_comes_first(void **state)
{
    struct harness *h = *state;
    char script[1024], ready[256], go[256], text[8];
    harness_path(h, "ready", ready, sizeof(ready));
    harness_path(h, "go", go, sizeof(go));
    snprintf(script, sizeof(script),
             "echo > %s; until [ -e %s ]; do sleep 0.02; done; echo err >&2; echo out", ready, go);
    harness_sh(h, "order", script);
    harness_file(h, "ready", text, sizeof(text));
    kill((pid_t)h->hello.pid, SIGSTOP);
    int pid = harness_seen(h, "order")->run.pid;
    harness_touch(h, "go");
    harness_wait(h, !process_lives(pid));
    kill((pid_t)h->hello.pid, SIGCONT);
    harness_ended(h, "order");
    char *both = harness_output(h, "order", 0, NULL, NULL);
    assert_string_equal(both, "err\nout\n");
    free(both);
}

/* Background processes are listened to, and the run's end is that of its main process. */
static void late_output_is_kept(void **state)
{
    struct harness *h = *state;
    harness_sh(h, "late",
               "(while kill -0 $$ 2>/dev/null; do sleep 0.02; done; echo late; sleep 0.1; "
               "echo later >&2) & echo early; exit 6");
    const struct spawn_run *run = harness_ended(h, "late");
    assert_int_equal(run->reason, SPAWN_EXITED);
    assert_int_equal(run->wait_status >> 8, 6);
    char *text = harness_output(h, "late", 0, NULL, NULL);
    assert_string_equal(text, "early\nlate\nlater\n");
    free(text);
    struct spawn_output *output;
    struct spawn_chunk chunk;
    assert_int_equal(spawn_output_open(h->folder, "late", 6, &output), OK);
    assert_int_equal(spawn_output_next(output, &chunk), OK);
    assert_true(run->ended_wall_ms <= chunk.wall_ms);
    spawn_output_free(output);
}

/* A kill ends what is left of it, and its main process has ended as it did. */
static void a_run_that_lingers_can_be_killed(void **state)
{
    struct harness *h = *state;
    struct shell shell;
    char text[32];
    char script[512], path[256];
    harness_path(h, "left", path, sizeof(path));
    snprintf(script, sizeof(script), "sleep 100 & echo $! > %s; exit 5", path);
    shell_init(&shell, "lingers", script);
    shell.request.linger_s = SPAWN_LINGER_S_MAX;
    harness_start(h, &shell.request);
    harness_file(h, "left", text, sizeof(text));
    harness_wait(h, harness_seen(h, "lingers")->started == 1);
    int pid = harness_seen(h, "lingers")->run.pid;
    harness_wait(h, kill(pid, 0) < 0); /* no zombie either: the spawner has seen its end */
    assert_int_equal(harness_seen(h, "lingers")->ended, 0);
    assert_int_equal(spawn_client_kill(h->client, "lingers", 0, -1), OK);
    const struct spawn_run *run = harness_ended(h, "lingers");
    assert_int_equal(run->reason, SPAWN_EXITED);
    assert_int_equal(run->wait_status >> 8, 5);
    assert_int_equal(run->output_bytes, 0);
    assert_false(process_lives(atoi(text)));
}

/* Its end is known already, and no killed spawner takes that away, nor what comes later. */
static void a_run_that_lingers_is_not_lost(void **state)
{
    struct harness *h = *state;
    struct shell shell;
    char go[256], script[512];
    harness_path(h, "go", go, sizeof(go));
    snprintf(script, sizeof(script),
             "echo early; (until [ -e %s ]; do sleep 0.02; done; echo late) & exit 5", go);
    shell_init(&shell, "lingers", script);
    shell.request.linger_s = SPAWN_LINGER_S_MAX;
    harness_start(h, &shell.request);
    harness_wait(h, harness_seen(h, "lingers")->started == 1);
    int pid = harness_seen(h, "lingers")->run.pid;
    /* Gone, and no zombie: the spawner has seen its end, and has written it down in the same turn,
     * before it answers anything else. */
    harness_wait(h, kill(pid, 0) < 0);
    harness_sh(h, "barrier", "exit 0");
    harness_ended(h, "barrier");
    kill((pid_t)h->hello.pid, SIGKILL);
    h->seen_count = 0;
    harness_wait(h, h->gone == 1);
    harness_wait(h, h->is_ready);
    harness_touch(h, "go");
    const struct spawn_run *run = harness_ended(h, "lingers");
    assert_int_equal(run->reason, SPAWN_EXITED);
    assert_int_equal(run->wait_status >> 8, 5);
    char *text = harness_output(h, "lingers", 0, NULL, NULL);
    assert_string_equal(text, "early\nlate\n");
    free(text);
}

static void a_background_process_does_not_hold_the_run(void **state)
{
    struct harness *h = *state;
    char text[32];
    /* It goes on printing far more than a pipe holds, when it is told to, and must neither die nor
     * block. */
    char script[1024], path[256], go[256];
    harness_path(h, "survivor", path, sizeof(path));
    harness_path(h, "go", go, sizeof(go));
    snprintf(script, sizeof(script),
             "echo before; (until [ -e %s ]; do sleep 0.02; done; head -c 300000 /dev/zero;"
             " echo $? > %s) & exit 4",
             go, path);
    struct shell shell;
    shell_init(&shell, "parent", script);
    shell.request.linger_s = 1;
    harness_start(h, &shell.request);
    const struct spawn_run *run = harness_ended(h, "parent");
    assert_int_equal(run->reason, SPAWN_EXITED);
    assert_int_equal(run->wait_status >> 8, 4);
    char *out = harness_output(h, "parent", SPAWN_STDOUT, NULL, NULL);
    char *mark = harness_output(h, "parent", SPAWN_STDERR, NULL, NULL);
    assert_string_equal(out, "before\n");
    assert_non_null(strstr(mark, "the output ends here"));
    assert_non_null(strstr(mark, "after 1 s\n"));
    free(out);
    free(mark);
    harness_ack(h, "parent");
    harness_touch(h, "go");
    harness_file(h, "survivor", text, sizeof(text));
    assert_string_equal(text, "0\n");
}

/* Pipes are used again: what a run has left in the background is not in those of the next ones.
 */
static void outputs_of_many_are_not_mixed(void **state)
{
    struct harness *h = *state;
    char id[32], script[128], want[32];
    harness_sh(h, "noisy",
               "(for i in 1 2 3 4 5 6 7 8 9; do echo noise; echo noise >&2; sleep 0.1; done) &");
    for (int i = 0; i < 80; i++) {
        snprintf(id, sizeof(id), "quiet-%d", i);
        snprintf(script, sizeof(script), "echo out-%d; echo err-%d >&2", i, i);
        harness_sh(h, id, i % 3 ? script : "exit 0");
        if (i % 20 == 19)
            harness_ended(h, id);
    }
    for (int i = 0; i < 80; i++) {
        snprintf(id, sizeof(id), "quiet-%d", i);
        harness_ended(h, id);
        for (int stream = SPAWN_STDOUT; stream <= SPAWN_STDERR; stream++) {
            snprintf(want, sizeof(want), "%s-%d\n", stream == SPAWN_STDOUT ? "out" : "err", i);
            char *text = i % 3 ? harness_output(h, id, stream, NULL, NULL) : NULL;
            if (text)
                assert_string_equal(text, want);
            free(text);
        }
        assert_int_equal(harness_seen(h, id)->run.output_bytes, i % 3 ? 2 * strlen(want) : 0);
    }
    harness_ended(h, "noisy");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, harness_setup, harness_teardown)
    const struct CMUnitTest tests[] = {
        TEST(streams_are_kept_apart),
        TEST(chunks_have_times_and_positions),
        TEST(bytes_are_bytes),
        TEST(outputs_of_many_are_not_mixed),
        TEST(head_and_tail_are_kept),
        TEST(short_lines_count_by_their_bytes),
        TEST(a_gigabyte_leaves_memory_and_disk_flat),
        TEST(a_full_disk_drops_output_and_says_so),
        TEST(merged_streams_are_in_the_order_of_their_writing),
        TEST(the_first_writer_comes_first),
        TEST(late_output_is_kept),
        TEST(a_run_that_lingers_can_be_killed),
        TEST(a_run_that_lingers_is_not_lost),
        TEST(a_background_process_does_not_hold_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
