/* Plays lives on all processors until it is enough: so many node-hours, lives or seconds in each
 * world. Goes on after a failure, and lists all of them at the end.
 *
 *   sim_drive (--hours N | --seeds N | --seconds N) [--first-seed N] [--workers N] [--shrink-s N]
 *             [--again FILE] --logs FOLDER WORLD=PROGRAM...
 *
 * Status 0: nothing failed; 1: something did; 2: it is called in a wrong way. */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "failures.h"

enum { WORKERS_MAX = 256, LIFE_LIMIT_S = 900, LINE_EVERY_S = 30, AGAIN_MAX = 100 };

struct options {
    double hours, seconds; /* in each world; 0: no matter */
    uint64_t seeds, first_seed;
    int workers;
    double shrink_s;
    const char *logs;
    const char *again; /* seeds that failed are kept there, and tried first the next time */
};

/* What is done in one world. */
struct round {
    const struct options *options;
    struct failures *failures;
    const char *world, *program;
    double began_s, told_s;
    uint64_t handed, again_handed;
    uint64_t again[AGAIN_MAX];
    size_t again_count;
    size_t failed_before;
    struct tally kinds[LIFE_KINDS];
    double hours; /* sum of them */
    struct worker workers[WORKERS_MAX];
};

static volatile sig_atomic_t is_interrupted;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    is_interrupted = 1;
}

static double clock_s(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* ---- which life is next, and whether there is one ---- */

static bool is_enough(const struct round *round)
{
    const struct options *options = round->options;
    return is_interrupted || round->failures->count == FAILURES_MAX ||
           (options->seeds && round->handed >= options->seeds) ||
           (options->hours > 0 && round->hours >= options->hours) ||
           (options->seconds > 0 && clock_s() - round->began_s >= options->seconds);
}

static bool next_seed(struct round *round, uint64_t *ret)
{
    if (is_interrupted)
        return false;
    if (round->again_handed < round->again_count) {
        *ret = round->again[round->again_handed++];
        return true;
    }
    if (is_enough(round))
        return false;
    *ret = round->options->first_seed + round->handed++;
    return true;
}

/* ---- progress ---- */

static size_t lives_done(const struct round *round)
{
    size_t lives = 0;
    for (int i = 0; i < LIFE_KINDS; i++)
        lives += round->kinds[i].lives;
    return lives;
}

static void tell_progress(struct round *round, double now_s)
{
    const struct options *options = round->options;
    bool is_terminal = isatty(STDOUT_FILENO);
    double passed_s = now_s - round->began_s, rate = round->hours / passed_s;
    if (now_s - round->told_s < (is_terminal ? 1 : LINE_EVERY_S))
        return;
    round->told_s = now_s;
    size_t failed = round->failures->count - round->failed_before;
    double left_s = options->hours > 0 ? (options->hours - round->hours) / rate
                    : options->seconds > 0
                        ? options->seconds - passed_s
                        : passed_s / (double)(lives_done(round) + failed) *
                              (double)(options->seeds - lives_done(round) - failed);
    printf("%s%s: %.0f node-hours", is_terminal ? "\r" : "", round->world, round->hours);
    if (options->hours > 0)
        printf(" of %.0f", options->hours);
    printf(", %.0f/s, %.0f s left, %zu lives, %zu failed%s", rate, left_s > 0 ? left_s : 0,
           lives_done(round), failed, is_terminal ? "\033[K" : "\n");
    fflush(stdout);
}

static void end_progress(void)
{
    if (isatty(STDOUT_FILENO))
        printf("\r\033[K");
}

/* ---- workers ---- */

static void employ(struct round *round, int number)
{
    struct worker *worker = &round->workers[number];
    char log[WORKER_PATH];
    uint64_t seed;
    if (worker->is_busy || !next_seed(round, &seed))
        return;
    if (!worker->pid) {
        snprintf(log, sizeof(log), "%s/%s-worker-%d.log", round->options->logs, round->world,
                 number);
        worker_start(worker, round->program, log, clock_s());
    }
    worker_hand(worker, seed, clock_s());
}

static void dismiss(struct round *round, struct worker *worker, const char *why)
{
    if (!worker->pid)
        return;
    int status = worker_end(worker, why != NULL || is_interrupted);
    if (status != 0 && !is_interrupted)
        failures_add(round->failures, round->world, round->program, worker, status, why);
    else
        unlink(worker->log);
}

static void hear(struct round *round, struct worker *worker)
{
    if (!worker_hear(worker)) {
        dismiss(round, worker, NULL);
        return;
    }
    if (worker->is_busy)
        return;
    tally_add(&round->kinds[worker->life.kind], &worker->life.tally);
    round->hours += tally_node_hours(&worker->life.tally);
}

/* Returns false when nobody is busy any more. */
static bool turn(struct round *round)
{
    struct pollfd polled[WORKERS_MAX];
    int busy[WORKERS_MAX], count = 0;
    for (int i = 0; i < round->options->workers; i++) {
        employ(round, i);
        if (!round->workers[i].is_busy)
            continue;
        polled[count] = (struct pollfd){.fd = round->workers[i].reports, .events = POLLIN};
        busy[count++] = i;
    }
    if (count == 0)
        return false;
    int ready = poll(polled, (nfds_t)count, 1000);
    if (is_interrupted)
        return false;
    double now_s = clock_s();
    for (int i = 0; i < count; i++) {
        struct worker *worker = &round->workers[busy[i]];
        if (ready > 0 && polled[i].revents)
            hear(round, worker);
        else if (now_s - worker->since_s > LIFE_LIMIT_S)
            dismiss(round, worker, "the life is not over after 15 minutes");
    }
    tell_progress(round, now_s);
    return true;
}

/* ---- a world ---- */

static void read_again(struct round *round)
{
    const char *path = round->options->again;
    unsigned long long seed;
    FILE *file = path ? fopen(path, "r") : NULL;
    while (file && round->again_count < AGAIN_MAX && fscanf(file, "%llu", &seed) == 1)
        round->again[round->again_count++] = seed;
    if (file)
        fclose(file);
    if (round->again_count)
        printf("%s: first the %zu seeds that failed the last time\n", round->world,
               round->again_count);
}

static void write_again(const struct options *options, const struct failures *failures)
{
    if (!options->again)
        return;
    unlink(options->again);
    FILE *file = failures->count ? fopen(options->again, "w") : NULL;
    for (size_t i = 0; file && i < failures->count; i++)
        fprintf(file, "%llu\n", (unsigned long long)failures->items[i].seed);
    if (file)
        fclose(file);
}

static void play(struct round *round)
{
    double now_s = clock_s();
    round->began_s = now_s;
    round->told_s = now_s;
    round->failed_before = round->failures->count;
    read_again(round);
    printf("%s: seeds from %llu, %d at a time\n", round->world,
           (unsigned long long)round->options->first_seed, round->options->workers);
    fflush(stdout);
    while (turn(round))
        continue;
    for (int i = 0; i < round->options->workers; i++)
        dismiss(round, &round->workers[i], NULL);
    end_progress();
    double took_s = clock_s() - round->began_s;
    tally_print(round->kinds, round->world, round->options->first_seed, took_s);
    printf("%s: %.1f node-hours in %.1f s, %.0f/s, %zu failed\n", round->world, round->hours,
           took_s, round->hours / took_s, round->failures->count - round->failed_before);
}

/* "memory=build/sim/test/sim_memory_test", which is cut in two */
static bool set_world(struct round *round, char *text)
{
    char *equals = strchr(text, '=');
    if (!equals || access(equals + 1, X_OK) != 0) {
        fprintf(stderr, "there is no such world: %s\n", text);
        return false;
    }
    *equals = '\0';
    round->world = text;
    round->program = equals + 1;
    return true;
}

/* ---- all of it ---- */

/* Lives are played at less than one in a millisecond: the seeds of two runs do not meet. */
static uint64_t fresh_seed(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_REALTIME, &ts);
    return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static bool read_options(int argc, char **argv, struct options *options)
{
    static const struct option known[] = {{"hours", required_argument, NULL, 'h'},
                                          {"seeds", required_argument, NULL, 'n'},
                                          {"seconds", required_argument, NULL, 's'},
                                          {"first-seed", required_argument, NULL, 'f'},
                                          {"workers", required_argument, NULL, 'w'},
                                          {"shrink-s", required_argument, NULL, 'k'},
                                          {"again", required_argument, NULL, 'a'},
                                          {"logs", required_argument, NULL, 'l'},
                                          {NULL, 0, NULL, 0}};
    *options = (struct options){.workers = (int)sysconf(_SC_NPROCESSORS_ONLN), .shrink_s = 60};
    for (int letter; (letter = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        double number = optarg ? strtod(optarg, NULL) : 0;
        switch (letter) {
        case 'h':
            options->hours = number;
            break;
        case 'n':
            options->seeds = strtoull(optarg, NULL, 10);
            break;
        case 's':
            options->seconds = number;
            break;
        case 'f':
            options->first_seed = strtoull(optarg, NULL, 10);
            break;
        case 'w':
            options->workers = (int)number;
            break;
        case 'k':
            options->shrink_s = number;
            break;
        case 'a':
            options->again = optarg;
            break;
        case 'l':
            options->logs = optarg;
            break;
        default:
            return false;
        }
    }
    if (!options->first_seed)
        options->first_seed = fresh_seed();
    if (options->workers > WORKERS_MAX)
        options->workers = WORKERS_MAX;
    bool has_end = options->hours > 0 || options->seeds || options->seconds > 0;
    return has_end && options->workers > 0 && options->logs && optind < argc;
}

int main(int argc, char **argv)
{
    static struct failures failures;
    struct options options;
    if (!read_options(argc, argv, &options)) {
        fputs("sim_drive (--hours N | --seeds N | --seconds N) [--first-seed N] [--workers N] "
              "[--shrink-s N] [--again FILE] --logs FOLDER WORLD=PROGRAM...\n",
              stderr);
        return 2;
    }
    struct sigaction interrupt = {.sa_handler = on_interrupt};
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGTERM, &interrupt, NULL);
    signal(SIGPIPE, SIG_IGN);
    failures.folder = options.logs;
    if (mkdir(options.logs, 0777) != 0 && errno != EEXIST) {
        perror(options.logs);
        return 2;
    }
    for (int i = optind; i < argc && !is_interrupted; i++) {
        static struct round round;
        round = (struct round){.options = &options, .failures = &failures};
        if (!set_world(&round, argv[i]))
            return 2;
        play(&round);
    }
    write_again(&options, &failures);
    failures_explain(&failures, options.workers, is_interrupted ? 0 : options.shrink_s);
    return failures.count || is_interrupted;
}
