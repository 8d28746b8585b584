/* How fast HTTP calls are made through peal-call, beside a bare loop of libcurl in the same run,
 * alternately. Then 5,000 calls in flight at once, again and again: the memory of peal-call. */
#include "call_bench.h"

#include <curl/curl.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "call_request.h"
#include "pack/spawn_packs.h"
#include "spawn_client.h"

enum {
    CALLS = 20000,
    AT_ONCE = 64,
    ROUNDS = 3,
    HELD = 5000,
    HELD_ROUNDS = 8,
};

struct bench {
    struct loop *loop;
    struct spawn_client *client;
    struct call_words words;
    struct spawn_packs *packs;
    bool is_ready;
    uint32_t pid;
    int round, started, ended, want, failed;
};

double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

_Noreturn void die(const char *what)
{
    fprintf(stderr, "call_bench: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double cpu_s(uint32_t pid)
{
    char path[64], text[1024] = "";
    unsigned long long user, system;
    snprintf(path, sizeof(path), "/proc/%u/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file || !fgets(text, sizeof(text), file))
        die(path);
    fclose(file);
    const char *after_name = strrchr(text, ')');
    if (!after_name ||
        sscanf(after_name + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user,
               &system) != 2)
        die(path);
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static long resident_kib(uint32_t pid)
{
    char path[64], line[256];
    long kib = 0;
    snprintf(path, sizeof(path), "/proc/%u/status", pid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file))
        sscanf(line, "VmRSS: %ld", &kib);
    if (file)
        fclose(file);
    return kib;
}

static void start_one(struct bench *b)
{
    static char *const no_variables[] = {NULL};
    char id[SPAWN_ID_MAX + 1];
    struct spawn_request request;
    spawn_request_init(&request);
    snprintf(id, sizeof(id), "bench-%d-%d", b->round, b->started++);
    request.id = id;
    request.argv = b->words.argv;
    request.env = no_variables;
    request.timeout_ms = 60000;
    if (spawn_client_start(b->client, &request) != OK)
        die("start");
}

/* Reads the whole answer and gives it up, as an agent does. */
static void take_output(struct bench *b, const struct spawn_run *run)
{
    struct spawn_pack_entry entry;
    char bytes[SPAWN_PACK_BYTES];
    if (!spawn_packs_read(b->packs, run->id, &entry, bytes) || entry.length != run->output_bytes)
        die("output");
    spawn_packs_take(b->packs, run->id);
}

static void on_wake(void *context)
{
    struct bench *b = context;
    struct spawn_event event;
    while (spawn_client_next_event(b->client, &event)) {
        if (event.kind == SPAWN_EVENT_READY) {
            b->is_ready = true;
            b->pid = event.hello.pid;
        }
        if (event.kind != SPAWN_EVENT_RUN || event.run.change != SPAWN_CHANGE_ENDED)
            continue;
        b->failed += event.run.reason != SPAWN_EXITED || event.run.wait_status != 0;
        b->ended++;
        if (spawn_client_ack(b->client, event.run.id) != OK)
            die("ack");
        take_output(b, &event.run);
        if (b->started < b->want)
            start_one(b);
    }
}

static double through_peal(struct bench *b, const char *url, int count, int at_once)
{
    call_words_init(&b->words);
    call_words_add(&b->words, "url", url);
    call_words_add(&b->words, "allow", "127.0.0.1");
    b->round++;
    b->started = b->ended = 0;
    b->want = count;
    double start = now_s();
    while (b->started < at_once)
        start_one(b);
    while (b->ended < count)
        loop_run_once(b->loop);
    double took = now_s() - start;
    call_words_release(&b->words);
    return took;
}

static void compare_rates(struct bench *b, const char *url)
{
    double bare = 1e9, reusing = 1e9, peal = 1e9, bare_cpu = 1e9, peal_cpu = 1e9;
    for (int i = 0; i < ROUNDS; i++) { /* the best of each, since others use the machine too */
        double before = cpu_s((uint32_t)getpid());
        double took = bare_calls(url, CALLS, AT_ONCE, false);
        double used = cpu_s((uint32_t)getpid()) - before;
        bare = took < bare ? took : bare;
        bare_cpu = used < bare_cpu ? used : bare_cpu;
        took = bare_calls(url, CALLS, AT_ONCE, true);
        reusing = took < reusing ? took : reusing;
        before = cpu_s(b->pid);
        took = through_peal(b, url, CALLS, AT_ONCE);
        used = cpu_s(b->pid) - before;
        peal = took < peal ? took : peal;
        peal_cpu = used < peal_cpu ? used : peal_cpu;
        fprintf(stderr, "round %d: bare %.2f s, peal-call %.2f s\n", i + 1, bare, took);
    }
    printf(
        "calls: bare libcurl %.0f/s (%.0f/s where connections are used again), peal-call %.0f/s, "
        "%.0f %% (budget 80 %%) %s\n",
        CALLS / bare, CALLS / reusing, CALLS / peal, 100 * bare / peal,
        bare / peal >= 0.8 ? "ok" : "MISSED");
    printf("processor time of a call: bare %.0f us, peal-call %.0f us\n", 1e6 * bare_cpu / CALLS,
           1e6 * peal_cpu / CALLS);
}

/* While all wait for their answer, the memory is at its highest. */
static void hold_many(struct bench *b, const char *url)
{
    long idle = resident_kib(b->pid), first = 0, last = 0;
    for (int i = 0; i < HELD_ROUNDS; i++) {
        long most = 0;
        call_words_init(&b->words);
        call_words_add(&b->words, "url", url);
        call_words_add(&b->words, "allow", "127.0.0.1");
        b->round++;
        b->started = b->ended = 0;
        b->want = HELD;
        while (b->started < HELD)
            start_one(b);
        while (b->ended < HELD) {
            loop_run_once(b->loop);
            long now = resident_kib(b->pid);
            most = now > most ? now : most;
        }
        call_words_release(&b->words);
        first = i == HELD_ROUNDS / 2 - 1 ? most : first;
        last = most;
        fprintf(stderr, "%d in flight, round %d: %ld KiB\n", HELD, i + 1, most);
    }
    printf(
        "%d in flight: %ld KiB resident at most, %.1f KiB for each; idle %ld KiB; the last round "
        "%+.1f %% of the one in the middle (budget 5 %%) %s\n",
        HELD, last, (double)(last - idle) / HELD, idle,
        100.0 * (double)(last - first) / (double)first,
        (double)last <= 1.05 * (double)first ? "ok" : "MISSED");
}

/* Of this process and its children: each call in flight has a connection. */
static void raise_limit(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        die("getrlimit");
    files.rlim_cur = files.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &files) != 0)
        die("setrlimit");
}

int main(int argc, char **argv)
{
    char base[] = "/tmp/peal-call-bench-XXXXXX", folder[64], url[64], hold[64];
    struct bench b = {0};
    int port;
    if (!mkdtemp(base) || curl_global_init(CURL_GLOBAL_ALL) != CURLE_OK || loop_new(&b.loop) != OK)
        die("set-up");
    raise_limit();
    pid_t responder = responder_start(HELD, &port);
    snprintf(folder, sizeof(folder), "%s/call", base);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/", port);
    snprintf(hold, sizeof(hold), "http://127.0.0.1:%d/hold", port);
    struct spawn_client_config config = {
        .folder = folder,
        .program = argc > 1 ? argv[1] : PEAL_CALL,
        .idle_ms = 500,
        .is_call = true,
        .call_user = geteuid() == 0 ? "nobody" : NULL,
    };
    b.packs = spawn_packs_new(folder);
    if (!b.packs || spawn_client_new(b.loop, &config, on_wake, &b, &b.client) != OK)
        die("client");
    while (!b.is_ready)
        loop_run_once(b.loop);
    compare_rates(&b, url);
    hold_many(&b, hold);
    if (b.failed)
        printf("%d calls failed\n", b.failed);
    spawn_client_free(b.client);
    spawn_packs_free(b.packs);
    loop_free(b.loop);
    kill(responder, SIGKILL);
    waitpid(responder, NULL, 0);
    char remove[64];
    snprintf(remove, sizeof(remove), "rm -rf %s", base);
    return b.failed || system(remove) != 0;
}
