/* Many lives, each from a number; and of one that fails, the shortest list of what it takes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "life.h"

enum { SHRINK_S = 60, QUICK_S = 20 };

static double seconds(clockid_t clock)
{
    struct timespec ts;
    clock_gettime(clock, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static long number_of(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtol(text, NULL, 10) : otherwise;
}

/* PEAL_SIM_MIX names one, for drills; MIX_COUNT: none. */
static enum fault_mix mix_wanted(void)
{
    const char *name = getenv("PEAL_SIM_MIX");
    enum fault_mix mix = MIX_ANY;
    while (name && mix < MIX_COUNT && strcmp(fault_mix_name(mix), name) != 0)
        mix++;
    return name ? mix : MIX_COUNT;
}

static void print_seed(const struct life *life)
{
    const char *mix =
        life->kind == LIFE_DRILL && mix_wanted() != MIX_COUNT ? fault_mix_name(life->mix) : "";
    printf("PEAL_SIM_FIRST_SEED=%llu PEAL_SIM_SEEDS=1%s%s", (unsigned long long)life->seed,
           *mix ? " PEAL_SIM_MIX=" : "", mix);
}

static void explain(void *context, const char *what)
{
    static struct life fewer;
    fewer = *(const struct life *)context;
    printf("All of it again: ");
    print_seed(&fewer);
    printf(" (PEAL_SIM_LOG=1 shows it)\n");
    fflush(stdout);
    long limit_s = number_of("PEAL_SIM_SHRINK_S", SHRINK_S);
    if (limit_s > 0) {
        life_shrink(&fewer, what, (double)limit_s);
        life_print(&fewer);
        printf("Only these again: ");
        print_seed(&fewer);
        life_print_only(&fewer);
    }
    fflush(stdout);
    _Exit(1);
}

/* All of it again, and now it is written down. */
static void failed(void *context, const char *what)
{
    const struct life *life = context;
    life_live(life, NULL, false, explain);
    printf("FAILED with seed %llu, and not when it was lived again: %s\n",
           (unsigned long long)life->seed, what);
    fflush(stdout);
    _Exit(1);
}

/* What came of one kind of lives, and how quickly: by what they took of a processor. */
struct kind_tally {
    struct tally tally;
    double cpu_s;
};

static void print_kind(const char *what, const struct kind_tally *of)
{
    const struct tally *tally = &of->tally;
    double hours = (double)tally->node_ms / HOUR;
    if (tally->lives)
        printf("  %-6s %4zu lives %8.1f node-hours in %6.2f s of a processor: %5.0f/s, with %.0f "
               "starts and %.1f faults an hour\n",
               what, tally->lives, hours, of->cpu_s, hours / of->cpu_s,
               (double)tally->starts / hours, (double)tally->faults / hours);
}

static void add(struct kind_tally *sum, const struct kind_tally *one)
{
    const struct tally *from = &one->tally;
    struct tally *to = &sum->tally;
    to->lives += from->lives;
    to->starts += from->starts;
    to->faults += from->faults;
    to->losses += from->losses;
    to->amended += from->amended;
    to->takeovers += from->takeovers;
    to->messages += from->messages;
    to->turns += from->turns;
    to->node_ms += from->node_ms;
    sum->cpu_s += one->cpu_s;
}

static void print_tallies(const struct kind_tally *kinds, long first, double took_s)
{
    static const char *const names[] = {
        [LIFE_DAYS] = "days", [LIFE_HOUR] = "hours", [LIFE_DRILL] = "drills"};
    struct kind_tally sum = {0};
    for (int i = 0; i < LIFE_KINDS; i++)
        add(&sum, &kinds[i]);
    const struct tally *all = &sum.tally;
    printf("%s: %zu seeds from %ld in %.1f s: %zu turns, %zu starts, %zu faults, %zu lost, %zu "
           "amended, %zu taken over, %zu messages\n",
           world_name(), all->lives, first, took_s, all->turns, all->starts, all->faults,
           all->losses, all->amended, all->takeovers, all->messages);
    for (int i = 0; i < LIFE_KINDS; i++)
        print_kind(names[i], &kinds[i]);
    print_kind("all", &sum);
}

static uint64_t live(const struct life *life, struct kind_tally *of, bool is_quiet)
{
    double began = seconds(CLOCK_PROCESS_CPUTIME_ID);
    uint64_t hash = life_live(life, &of->tally, is_quiet, is_quiet ? failed : explain);
    of->cpu_s += seconds(CLOCK_PROCESS_CPUTIME_ID) - began;
    return hash;
}

int main(void)
{
    static struct life life;
    long first = number_of("PEAL_SIM_FIRST_SEED", 1), seeds = number_of("PEAL_SIM_SEEDS", 0);
    const char *only = getenv("PEAL_SIM_ONLY");
    bool is_shown = getenv("PEAL_SIM_LOG") != NULL;
    double began = seconds(CLOCK_MONOTONIC), limit = seeds ? 1e9 : QUICK_S;
    struct kind_tally kinds[LIFE_KINDS] = {0};
    for (long done = 0; seconds(CLOCK_MONOTONIC) - began < limit && (!seeds || done < seeds);
         done++) {
        bool is_compared = done % 16 == 0 && !is_shown;
        life_lay_down(&life, (uint64_t)(first + done), mix_wanted());
        if (only && !life_set_only(&life, only)) {
            printf("PEAL_SIM_ONLY is a number of jobs and of steps, like 5j 0,7,12: %s\n", only);
            return 2;
        }
        uint64_t hash = live(&life, &kinds[life.kind], !is_compared && !is_shown);
        if (is_compared && life_live(&life, NULL, false, explain) != hash) {
            printf("FAILED: seed %ld gives two different lives\n", first + done);
            return 1;
        }
    }
    print_tallies(kinds, first, seconds(CLOCK_MONOTONIC) - began);
    return 0;
}
