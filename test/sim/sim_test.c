#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hash.h"
#include "sim.h"

/* ---- randomness and the log ---- */

uint64_t sim_random(struct sim *sim)
{
    return any_random(&sim->random);
}

int64_t sim_below(struct sim *sim, int64_t limit)
{
    return any_below(&sim->random, limit);
}

bool sim_chance(struct sim *sim, int percent)
{
    return any_chance(&sim->random, percent);
}

void sim_log(struct sim *sim, const char *format, ...)
{
    char *line = sim->log[sim->log_count++ % SIM_LOG_LINES];
    int length = snprintf(line, sizeof(sim->log[0]), "%10lld %lld ", (long long)sim->time_ms,
                          (long long)sim_now(sim).wall.ms / 1000);
    va_list args;
    va_start(args, format);
    vsnprintf(line + length, sizeof(sim->log[0]) - (size_t)length, format, args);
    va_end(args);
    sim->hash = hash_text(sim->hash, line);
}

void sim_fail(struct sim *sim, const char *format, ...)
{
    size_t first = sim->log_count > SIM_LOG_LINES ? sim->log_count - SIM_LOG_LINES : 0;
    for (size_t i = first; i < sim->log_count; i++)
        printf("%s\n", sim->log[i % SIM_LOG_LINES]);
    printf("FAILED with seed %llu after %lld ms: ", (unsigned long long)sim->seed,
           (long long)sim->time_ms);
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\nAgain: PEAL_SIM_FIRST_SEED=%llu PEAL_SIM_SEEDS=1\n", (unsigned long long)sim->seed);
    fflush(stdout);
    _Exit(1);
}

/* ---- a life ---- */

/* Starts of lives; most are an hour before clocks change somewhere. */
static const int64_t beginnings_s[] = {
    1767225600, /* 2026-01-01T00:00:00Z */
    1772949600, /* New York springs forward at 2026-03-08T07:00:00Z */
    1793494800, /* New York falls back at 2026-11-01T06:00:00Z */
    1774742400, /* Berlin springs forward at 2026-03-29T01:00:00Z */
    1792886400, /* Berlin falls back at 2026-10-25T01:00:00Z */
    1775311200, /* Lord Howe falls back at 2026-04-04T15:00:00Z */
};

static void release_jobs(struct sim *sim)
{
    for (size_t i = 0; i < sim->job_count; i++) {
        struct sim_job *job = &sim->jobs[i];
        for (size_t k = 0; k < job->epoch_count; k++)
            ledger_epoch_release(&job->epochs[k]);
        free(job->epochs);
        job_free(job->definition);
    }
}

struct tally {
    size_t turns, starts, faults;
    int64_t simulated_ms;
};

/* Nothing happens for a while: all that was broken must have come right by itself. */
static void rest(struct sim *sim)
{
    int64_t store_latency_ms = sim->store_latency_ms, history_latency_ms = sim->history_latency_ms;
    sim_heal(sim);
    sim->store_latency_ms = sim->history_latency_ms = 0;
    sim_pass(sim, 3 * SIM_MINUTE);
    sim_check_caught_up(sim);
    sim->store_latency_ms = store_latency_ms;
    sim->history_latency_ms = history_latency_ms;
}

static void wind_down(struct sim *sim)
{
    rest(sim);
    sim->store_latency_ms = sim->history_latency_ms = 0;
    sim_delete_all(sim);
    sim_pass(sim, 30 * SIM_MINUTE); /* longer than the longest process */
    sim_check_records(sim);
}

/* How long until something happens: any time, or when much is on its way: right behind the last
 * event, or around the full minute. */
static int64_t wait_ms(struct sim *sim, int64_t pace_ms)
{
    int64_t into_minute_ms = sim_now(sim).wall.ms % SIM_MINUTE;
    if (sim_chance(sim, 15))
        return sim_below(sim, 40);
    if (sim_chance(sim, 25))
        return SIM_MINUTE - into_minute_ms - 500 + sim_below(sim, 1000);
    return sim_below(sim, 2 * pace_ms);
}

/* They seldom come alone. */
static void several_faults(struct sim *sim)
{
    do
        sim_fault(sim);
    while (sim_chance(sim, 30));
}

static uint64_t live(uint64_t seed, struct tally *tally)
{
    struct sim *sim = calloc(1, sizeof(*sim));
    if (!sim)
        abort();
    sim->seed = sim->random = seed;
    size_t beginnings = sizeof(beginnings_s) / sizeof(beginnings_s[0]);
    sim_machine_init(sim, beginnings_s[sim_below(sim, (int64_t)beginnings)] * 1000);
    int64_t end_ms = SIM_HOUR + sim_below(sim, 4 * SIM_HOUR);
    int64_t pace_ms = sim_chance(sim, 50) ? SIM_MINUTE : 8 * SIM_MINUTE;
    int faulty = sim_chance(sim, 10) ? 0 : 40; /* percent of what happens */
    if (sim_chance(sim, 50))
        sim->store_latency_ms = 1 + sim_below(sim, 400);
    for (int64_t jobs = 1 + sim_below(sim, SIM_JOBS - 3); jobs > 0; jobs--)
        sim_add_job(sim);
    while (sim->time_ms < end_ms) {
        int64_t wait = wait_ms(sim, pace_ms);
        sim_pass(sim, wait > 0 ? wait : 1);
        if (sim_chance(sim, 4))
            rest(sim);
        else if (sim_chance(sim, faulty))
            several_faults(sim);
        else
            sim_person(sim);
    }
    wind_down(sim);
    uint64_t hash = sim->hash;
    tally->turns += sim->turns;
    tally->starts += sim->starts;
    tally->faults += sim->faults;
    tally->simulated_ms += sim->time_ms;
    sim_machine_release(sim);
    release_jobs(sim);
    free(sim);
    return hash;
}

/* ---- many of them ---- */

static long number_of(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtol(text, NULL, 10) : otherwise;
}

static double seconds(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

int main(void)
{
    long first = number_of("PEAL_SIM_FIRST_SEED", 1), seeds = number_of("PEAL_SIM_SEEDS", 0);
    double began = seconds(), limit = seeds ? 1e9 : 20;
    struct tally tally = {0}, again = {0};
    long done = 0;
    for (; seconds() - began < limit && (!seeds || done < seeds); done++) {
        uint64_t seed = (uint64_t)(first + done);
        uint64_t hash = live(seed, &tally);
        if (done % 16 == 0 && live(seed, &again) != hash) {
            printf("FAILED: seed %llu gives two different lives\n", (unsigned long long)seed);
            return 1;
        }
    }
    double took = seconds() - began;
    printf(
        "%ld seeds from %ld in %.1f s: %.0f simulated hours, %zu starts, %zu faults, %zu turns\n",
        done, first, took, (double)tally.simulated_ms / SIM_HOUR, tally.starts, tally.faults,
        tally.turns);
    return 0;
}
