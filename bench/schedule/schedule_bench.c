/* Nanoseconds per parse and per next() of the schedules in cases.tsv. For each case one line:
 *   parse <TAB> next, fed with its own result <TAB> next, from random instants
 *   <TAB> the answer from the first instant, -1 for never
 *   <TAB> the worst of the random instants
 * Each figure is the least of several rounds, so that what else the machine does does not count.
 * Peers print the same, without the last column. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "civil.h"
#include "schedule.h"

enum {
    ROUNDS = 9,
    ROUND_NS = 10 * 1000 * 1000,
    INSTANTS = 1024,
    WORST_CALLS = 32, /* of one instant: a clock's reading costs as much as a call */
};

struct bench_case {
    char zone[64], text[128];
    int64_t from_s, to_s;
    struct schedule_options options;
    struct zone_db *zones;
    struct schedule *schedule;
    int64_t instants[INSTANTS];
};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Keeps the compiler from dropping a call whose result nobody uses. */
static void use(int64_t value)
{
    __asm__ volatile("" : : "r"(value) : "memory");
}

static void run_parse(const struct bench_case *c, size_t calls)
{
    for (size_t i = 0; i < calls; i++) {
        struct schedule *schedule;
        struct parse_error err;
        if (schedule_parse(c->text, &c->options, c->zones, &schedule, &err) == OK)
            schedule_free(schedule);
    }
}

static void run_sequential(const struct bench_case *c, size_t calls)
{
    int64_t at_s = c->from_s;
    for (size_t i = 0; i < calls; i++) {
        at_s = schedule_next(c->schedule, at_s);
        if (at_s >= c->to_s)
            at_s = c->from_s;
    }
    use(at_s);
}

static void run_random(const struct bench_case *c, size_t calls)
{
    for (size_t i = 0; i < calls; i++)
        use(schedule_next(c->schedule, c->instants[i % INSTANTS]));
}

/* A round is long enough for the clock, and the shortest round counts. */
static double measure(const struct bench_case *c, void (*run)(const struct bench_case *, size_t))
{
    size_t calls = INSTANTS;
    double best = 1e18;
    for (int round = 0; round < ROUNDS;) {
        int64_t start_ns = now_ns();
        run(c, calls);
        int64_t took_ns = now_ns() - start_ns;
        if (took_ns < ROUND_NS) {
            calls *= 2;
            continue;
        }
        if ((double)took_ns / (double)calls < best)
            best = (double)took_ns / (double)calls;
        round++;
    }
    return best;
}

static double measure_worst(const struct bench_case *c)
{
    double worst = 0;
    for (size_t i = 0; i < INSTANTS; i++) {
        double best = 1e18;
        for (int round = 0; round < ROUNDS; round++) {
            int64_t start_ns = now_ns();
            for (int call = 0; call < WORST_CALLS; call++)
                use(schedule_next(c->schedule, c->instants[i]));
            double took = (double)(now_ns() - start_ns) / WORST_CALLS;
            if (took < best)
                best = took;
        }
        if (best > worst)
            worst = best;
    }
    return worst;
}

/* The peers draw the same instants. */
static void draw_instants(struct bench_case *c)
{
    uint32_t state = 1;
    for (size_t i = 0; i < INSTANTS; i++) {
        state = state * 1664525 + 1013904223;
        c->instants[i] =
            c->from_s + (int64_t)((double)state / 4294967296.0 * (double)(c->to_s - c->from_s));
    }
}

static bool read_case(const char *line, struct zone_db *zones, struct bench_case *c)
{
    int from_year, to_year;
    if (sscanf(line, "%63[^\t]\t%d\t%d\t%127[^\n]", c->zone, &from_year, &to_year, c->text) != 4)
        return false;
    c->from_s = civil_to_days(from_year, 1, 1) * DAY_S;
    c->to_s = civil_to_days(to_year, 1, 1) * DAY_S;
    c->options = schedule_options_default();
    c->options.tz = c->zone;
    c->zones = zones;
    draw_instants(c);
    return true;
}

static bool run_case(struct bench_case *c)
{
    struct parse_error err;
    if (schedule_parse(c->text, &c->options, c->zones, &c->schedule, &err) != OK) {
        fprintf(stderr, "schedule_bench: %s: %s\n", c->text, err.message);
        return false;
    }
    double parse = measure(c, run_parse);
    double sequential = measure(c, run_sequential);
    double random = measure(c, run_random);
    double worst = measure_worst(c);
    int64_t answer_s = schedule_next(c->schedule, c->from_s);
    printf("%.1f\t%.1f\t%.1f\t%" PRId64 "\t%.1f\n", parse, sequential, random,
           answer_s == NEVER ? -1 : answer_s, worst);
    schedule_free(c->schedule);
    return true;
}

int main(int argc, char **argv)
{
    char line[512];
    struct zone_db *zones = NULL;
    struct bench_case c;
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    int failed = 0;
    if (!file || zone_db_new(NULL, &zones) != OK) {
        fprintf(stderr, "usage: schedule_bench cases.tsv\n");
        return 2;
    }
    while (fgets(line, sizeof(line), file)) {
        if (line[0] != '#')
            failed |= !read_case(line, zones, &c) || !run_case(&c);
    }
    zone_db_free(zones);
    fclose(file);
    return failed;
}
