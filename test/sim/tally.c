#include "tally.h"

#include <stdio.h>

enum { HOUR_MS = 3600 * 1000 };

const char *life_kind_name(enum life_kind kind)
{
    static const char *const names[] = {
        [LIFE_DAYS] = "days", [LIFE_HOUR] = "hours", [LIFE_DRILL] = "drills"};
    return names[kind];
}

void tally_add(struct tally *sum, const struct tally *one)
{
    sum->lives += one->lives;
    sum->starts += one->starts;
    sum->faults += one->faults;
    sum->losses += one->losses;
    sum->amended += one->amended;
    sum->takeovers += one->takeovers;
    sum->messages += one->messages;
    sum->turns += one->turns;
    sum->node_ms += one->node_ms;
    sum->cpu_s += one->cpu_s;
}

double tally_node_hours(const struct tally *tally)
{
    return (double)tally->node_ms / HOUR_MS;
}

static void print_kind(const char *what, const struct tally *tally)
{
    double hours = tally_node_hours(tally);
    if (tally->lives)
        printf("  %-6s %4zu lives %8.1f node-hours in %6.2f s of a processor: %5.0f/s, with %.0f "
               "starts and %.1f faults an hour\n",
               what, tally->lives, hours, tally->cpu_s, hours / tally->cpu_s,
               (double)tally->starts / hours, (double)tally->faults / hours);
}

void tally_print(const struct tally kinds[LIFE_KINDS], const char *world, uint64_t first_seed,
                 double took_s)
{
    struct tally all = {0};
    for (int i = 0; i < LIFE_KINDS; i++)
        tally_add(&all, &kinds[i]);
    printf("%s: %zu seeds from %llu in %.1f s: %zu turns, %zu starts, %zu faults, %zu lost, %zu "
           "amended, %zu taken over, %zu messages\n",
           world, all.lives, (unsigned long long)first_seed, took_s, all.turns, all.starts,
           all.faults, all.losses, all.amended, all.takeovers, all.messages);
    for (int i = 0; i < LIFE_KINDS; i++)
        print_kind(life_kind_name((enum life_kind)i), &kinds[i]);
    print_kind("all", &all);
}
