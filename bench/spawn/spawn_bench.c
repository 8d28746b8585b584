/* How fast processes start through the spawner, beside what the machine itself can do: the rate of
 * posix_spawn with two pipes and a wait for each, measured in the same run, alternately. The
 * processor time of a start, with that of the command itself, is what a busy machine blurs least.
 * Then the output of one run, beside a pipe whose content is read and dropped. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "spawn_client.h"

enum {
    AT_ONCE = 5000,
    ROUNDS = 3,
    SUSTAINED = 5000,
    IN_FLIGHT = 32, /* sustained: a new start for each end */
    OUTPUT_MIB = 1024,
};

static char *const nothing[] = {(char *)"/bin/true", NULL};
static char *const loud[] = {(char *)"/usr/bin/head", (char *)"-c", (char *)"1G",
                             (char *)"/dev/zero", NULL};
static char *const no_variables[] = {NULL};

struct bench {
    char *const *command;
    struct loop *loop;
    struct spawn_client *client;
    bool is_ready;
    uint32_t spawner_pid;
    int round, started, ended, want, failed;
    bool refill; /* a start for each end */
};

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "spawn_bench: %s: %s\n", what, strerror(errno));
    exit(1);
}

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

/* Of this process and of the children it has waited for. */
static double own_processor_s(void)
{
    struct rusage self, children;
    getrusage(RUSAGE_SELF, &self);
    getrusage(RUSAGE_CHILDREN, &children);
    return seconds(self.ru_utime) + seconds(self.ru_stime) + seconds(children.ru_utime) +
           seconds(children.ru_stime);
}

/* The same of the spawner. */
static double spawner_processor_s(const struct bench *b)
{
    char path[64], text[1024] = "";
    unsigned long long user, system;
    long long children_user, children_system;
    snprintf(path, sizeof(path), "/proc/%u/stat", b->spawner_pid);
    FILE *file = fopen(path, "re");
    if (!file || !fgets(text, sizeof(text), file))
        die(path);
    fclose(file);
    const char *after_name = strrchr(text, ')');
    if (!after_name ||
        sscanf(after_name + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %lld %lld",
               &user, &system, &children_user, &children_system) != 4)
        die(path);
    return (double)(user + system + (unsigned long long)(children_user + children_system)) /
           (double)sysconf(_SC_CLK_TCK);
}

/* Starts one and closes its ends of the pipes, as whoever keeps output would after it. */
static void bare_start(char *const *command, int *ret_out)
{
    int out[2], err[2];
    pid_t pid;
    posix_spawn_file_actions_t files;
    if (pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0)
        die("pipe2");
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, out[1], 1);
    posix_spawn_file_actions_adddup2(&files, err[1], 2);
    if (posix_spawn(&pid, command[0], &files, NULL, command, no_variables) != 0)
        die("posix_spawn");
    posix_spawn_file_actions_destroy(&files);
    if (ret_out)
        *ret_out = out[0];
    else
        close(out[0]);
    close(out[1]);
    close(err[0]);
    close(err[1]);
}

static double bare(int count)
{
    double start = now_s();
    int ended = 0;
    for (int i = 0; i < count; i++) {
        bare_start(nothing, NULL);
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ended++;
    }
    while (ended < count && wait(NULL) > 0)
        ended++;
    return now_s() - start;
}

static void start_one(struct bench *b)
{
    char id[SPAWN_ID_MAX + 1];
    struct spawn_request request;
    spawn_request_init(&request);
    snprintf(id, sizeof(id), "bench-%d-%d", b->round, b->started++);
    request.id = id;
    request.argv = b->command;
    request.env = no_variables;
    request.user = geteuid() == 0 ? "root" : "";
    request.is_default_user = true;
    if (spawn_client_start(b->client, &request) != OK)
        die("start");
}

static void on_wake(void *context)
{
    struct bench *b = context;
    struct spawn_event event;
    while (spawn_client_next_event(b->client, &event)) {
        if (event.kind == SPAWN_EVENT_READY) {
            b->is_ready = true;
            b->spawner_pid = event.hello.pid;
        }
        if (event.kind != SPAWN_EVENT_RUN || event.run.change != SPAWN_CHANGE_ENDED)
            continue;
        b->failed += event.run.reason != SPAWN_EXITED || event.run.wait_status != 0;
        b->ended++;
        if (spawn_client_ack(b->client, event.run.id) != OK)
            die("ack");
        if (b->refill && b->started < b->want)
            start_one(b);
    }
}

static double through_spawner(struct bench *b, int count, int first, bool refill)
{
    double start = now_s();
    b->round++;
    b->started = b->ended = 0;
    b->want = count;
    b->refill = refill;
    while (b->started < first)
        start_one(b);
    while (b->ended < count)
        loop_run_once(b->loop);
    return now_s() - start;
}

struct result {
    double took_s, processor_s;
};

static void keep_best(struct result *best, double took_s, double processor_s)
{
    best->took_s = took_s < best->took_s ? took_s : best->took_s;
    best->processor_s = processor_s < best->processor_s ? processor_s : best->processor_s;
}

static void compare(struct bench *b, const char *name, int count, int first, bool refill,
                    struct result *ret_bare, struct result *ret_spawner)
{
    *ret_bare = *ret_spawner = (struct result){1e9, 1e9};
    for (int i = 0; i < ROUNDS; i++) { /* the best of each, since others use the machine too */
        double machine_before = own_processor_s();
        double machine = bare(count);
        keep_best(ret_bare, machine, own_processor_s() - machine_before);
        double spawner_before = spawner_processor_s(b);
        double spawner = through_spawner(b, count, first, refill);
        keep_best(ret_spawner, spawner, spawner_processor_s(b) - spawner_before);
        fprintf(stderr, "%s: round %d: bare %.3f s, peal-spawn %.3f s\n", name, i + 1, machine,
                spawner);
    }
    printf("%s: processor time of a start: posix_spawn %.3f ms, peal-spawn %.3f ms\n", name,
           1000 * ret_bare->processor_s / count, 1000 * ret_spawner->processor_s / count);
}

static double bare_output(void)
{
    static char bytes[65536];
    double start = now_s();
    int out;
    ssize_t length;
    bare_start(loud, &out);
    while ((length = read(out, bytes, sizeof(bytes))) > 0 || (length < 0 && errno == EINTR))
        ;
    close(out);
    wait(NULL);
    return now_s() - start;
}

static void compare_output(struct bench *b)
{
    struct result machine = {1e9, 1e9}, spawner = {1e9, 1e9};
    b->command = loud;
    for (int i = 0; i < ROUNDS; i++) {
        double before = own_processor_s();
        double took = bare_output();
        keep_best(&machine, took, own_processor_s() - before);
        before = spawner_processor_s(b);
        took = through_spawner(b, 1, 1, false);
        keep_best(&spawner, took, spawner_processor_s(b) - before);
    }
    printf("output: a pipe %.0f MiB/s, peal-spawn %.0f MiB/s, ratio %.2f; processor time %.2f\n",
           OUTPUT_MIB / machine.took_s, OUTPUT_MIB / spawner.took_s,
           spawner.took_s / machine.took_s, spawner.processor_s / machine.processor_s);
}

static void compare_starts(struct bench *b)
{
    struct result machine, spawner;
    compare(b, "at once", AT_ONCE, AT_ONCE, false, &machine, &spawner);
    printf("%d at once: posix_spawn %.3f s, peal-spawn %.3f s, ratio %.2f (budget 1.25) %s\n",
           AT_ONCE, machine.took_s, spawner.took_s, spawner.took_s / machine.took_s,
           spawner.took_s <= machine.took_s * 1.25 ? "ok" : "MISSED");
    compare(b, "sustained", SUSTAINED, IN_FLIGHT, true, &machine, &spawner);
    printf("sustained: posix_spawn %.0f/s, peal-spawn %.0f/s, %.0f %% (budget 80 %%) %s\n",
           SUSTAINED / machine.took_s, SUSTAINED / spawner.took_s,
           100 * machine.took_s / spawner.took_s,
           machine.took_s / spawner.took_s >= 0.8 ? "ok" : "MISSED");
}

/* With a file: the spawner to measure. */
int main(int argc, char **argv)
{
    char folder[] = "/tmp/peal-spawn-bench-XXXXXX";
    struct bench b = {.command = nothing};
    if (!mkdtemp(folder) || loop_new(&b.loop) != OK)
        die("set-up");
    struct spawn_client_config config = {
        .folder = folder,
        .program = argc > 1 ? argv[1] : PEAL_SPAWN,
        .idle_ms = 500,
    };
    if (spawn_client_new(b.loop, &config, on_wake, &b, &b.client) != OK)
        die("client");
    while (!b.is_ready)
        loop_run_once(b.loop);

    compare_starts(&b);
    compare_output(&b);
    if (b.failed)
        printf("%d runs failed\n", b.failed);
    spawn_client_free(b.client);
    loop_free(b.loop);
    char remove[64];
    snprintf(remove, sizeof(remove), "rm -rf %s", folder);
    return b.failed || system(remove) != 0;
}
