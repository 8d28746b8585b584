/* Spawners are killed at random moments while runs start, write and end, on a machine that has more
 * to do: whatever a run has written is kept, and secrets in it are masked. PEAL_SEED repeats a run,
 * PEAL_ROUNDS makes it longer.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "clock.h"
#include "harness.h"

#define ROUNDS      20
#define RUNS_MAX    48
#define BUSY        4
#define BEFORE_US   2000 /* a kill comes up to so long after the starts, or some times as long */
#define LIFETIME_MS 1050 /* after a shorter life of a spawner its guard takes a pause */

#define SECRET "s3cret/value+of 26 bytes:)"

/* Of runs whose variable S is a secret: it is written in two pieces, cut at each of its bytes, with
 * a pause that a kill may come into; and all of it but its last byte, which is no secret. */
#define CUTS                                                                                       \
    "p=?; while a=${S%$p}; [ -n \"$a\" ]; do printf %s \"$a\"; printf '%s\\n' \"${S#\"$a\"}\"; "   \
    "printf '%s.' \"$S\" >&2; p=$p?; done"
#define SLOW_CUTS                                                                                  \
    "p=?; while a=${S%$p}; [ -n \"$a\" ]; do printf %s \"$a\"; sleep 0.001; "                      \
    "printf '%s\\n' \"${S#\"$a\"}\"; p=$p?????; done"
#define FIVE(text) text text text text text

static const struct {
    const char *script, *out, *err;
    bool has_secret;
} kinds[] = {
    {"echo one", "one\n", "", false},
    {"echo one; echo two >&2", "one\n", "two\n", false},
    {"echo one; sleep 0.01; echo two", "one\ntwo\n", "", false},
    {"printf %020000d 7; echo; echo two >&2", NULL, "two\n", false},
    {"echo \"<$S>\"; echo \"$S$S\" >&2", "<********>\n", "********\n", true},
    {CUTS, FIVE(FIVE("********\n")), FIVE(FIVE("********.")), true},
    {SLOW_CUTS, FIVE("********\n"), "", true},
    {"printf %s \"${S%?}\"; printf %s \"${S%????}\" >&2; sleep 0.001",
     "s3cret/value+of 26 bytes:", "s3cret/value+of 26 byt", true},
};

struct count {
    size_t ended, unseen, lost, marked, clear;
};

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static uint32_t number_of(const char *name, uint32_t otherwise)
{
    const char *text = getenv(name);
    return text ? (uint32_t)strtoul(text, NULL, 10) : otherwise;
}

static void keep_busy(pid_t pids[BUSY])
{
    for (int i = 0; i < BUSY; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (pids[i] > 0)
            continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (volatile unsigned turns = 0;; turns++)
            ;
    }
}

static void end_busy(const pid_t pids[BUSY])
{
    for (int i = 0; i < BUSY; i++) {
        kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
    }
}

static void start_one(struct harness *h, const char *id, uint32_t kind, bool is_early)
{
    struct shell shell;
    shell_init(&shell, id, kinds[kind].script);
    if (kinds[kind].has_secret) {
        shell.env[2] = (char *)"S=" SECRET;
        shell.request.secret_count = 1;
    }
    if (is_early)
        shell.request.at_boot_us = clock_boot_us() + 3000;
    harness_start(h, &shell.request);
}

/* Did the stream keep all that was written to it? */
static bool is_whole(struct harness *h, const char *id, int stream, const char *want)
{
    uint64_t gap;
    size_t length;
    char *text = harness_output(h, id, stream, &length, &gap);
    bool is = want ? strcmp(text, want) == 0 : length == 20001;
    free(text);
    return is && gap == 0;
}

static void check_one(struct harness *h, const char *id, uint32_t kind, struct count *count)
{
    const struct spawn_run *run = harness_ended(h, id);
    char *text = harness_output(h, id, 0, NULL, NULL);
    bool is_marked = strstr(text, "the spawner was killed");
    count->ended++;
    count->marked += is_marked;
    count->clear += strstr(text, SECRET) != NULL;
    if (run->reason != SPAWN_EXITED) {
        count->unseen++;
    } else if (!is_whole(h, id, SPAWN_STDOUT, kinds[kind].out) ||
               !is_whole(h, id, SPAWN_STDERR, kinds[kind].err)) {
        count->lost++;
        printf("%s%s: kind %u, reported bytes %llu, kept \"%.60s\"\n", is_marked ? "" : "SILENT ",
               id, kind, (unsigned long long)run->output_bytes, text);
    }
    free(text);
    harness_ack(h, id);
}

/* Another process does so, for this one serves the client meanwhile. */
static void kill_later(pid_t spawner, uint32_t wait_us)
{
    pid_t killer = fork();
    assert_true(killer >= 0);
    if (killer > 0) {
        waitpid(killer, NULL, 0);
        return;
    }
    if (fork() == 0) {
        usleep(wait_us);
        kill(spawner, SIGKILL);
    }
    _exit(0);
}

static void output_outlives_killed_spawners(void **state)
{
    struct harness *h = *state;
    pid_t busy[BUSY];
    struct count count = {0};
    uint32_t seed = number_of("PEAL_SEED", (uint32_t)clock_boot_us());
    uint32_t rounds = number_of("PEAL_ROUNDS", ROUNDS);
    printf("PEAL_SEED=%u PEAL_ROUNDS=%u\n", seed, rounds);
    keep_busy(busy);
    int64_t since = clock_now().boot.ms;
    for (uint32_t round = 0; round < rounds; round++) {
        char ids[RUNS_MAX][32];
        uint32_t kind[RUNS_MAX];
        uint32_t runs = 1 + next_random(&seed) % RUNS_MAX;
        uint32_t wait_us = next_random(&seed) % ((uint32_t)BEFORE_US << next_random(&seed) % 5);
        int gone = h->gone;
        harness_wait(h, clock_now().boot.ms - since > LIFETIME_MS);
        kill_later((pid_t)h->hello.pid, wait_us);
        for (uint32_t i = 0; i < runs; i++) {
            snprintf(ids[i], sizeof(ids[i]), "r%u-%u", round, i);
            kind[i] = next_random(&seed) % ROWS(kinds);
            start_one(h, ids[i], kind[i], next_random(&seed) % 2);
        }
        harness_wait(h, h->gone > gone && h->is_ready);
        since = clock_now().boot.ms;
        for (uint32_t i = 0; i < runs; i++)
            check_one(h, ids[i], kind[i], &count);
    }
    end_busy(busy);
    printf("%zu runs: %zu marked, %zu not seen, %zu lost output\n", count.ended, count.marked,
           count.unseen, count.lost);
    assert_int_equal(count.lost, 0);
    assert_int_equal(count.clear, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, harness_setup, harness_teardown)
    const struct CMUnitTest tests[] = {
        TEST(output_outlives_killed_spawners),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
