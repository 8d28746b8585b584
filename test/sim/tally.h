/* What happened in lives, added up by their kind, and how quickly they were played. Shared by the
 * program that plays lives and by the driver that hands out their seeds. */
#ifndef PEAL_SIM_TALLY_H
#define PEAL_SIM_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Days in which hours pass in peace; an hour in which something is due every few seconds; a few
 * minutes that are crowded with faults of one sort. */
enum life_kind { LIFE_DAYS, LIFE_HOUR, LIFE_DRILL, LIFE_KINDS };

struct tally {
    size_t lives, starts, faults, losses, amended, takeovers, messages, turns;
    int64_t node_ms;
    double cpu_s; /* of a processor */
};

/* What a program that is fed with seeds tells its driver, before a life and after it. */
struct life_report {
    uint64_t seed;
    enum life_kind kind;
    char mix[16];
    bool is_over;
    struct tally tally; /* of this life, when it is over */
};

void tally_add(struct tally *sum, const struct tally *one);
double tally_node_hours(const struct tally *tally);
const char *life_kind_name(enum life_kind kind);

/* A line for each kind, and one for all of them. */
void tally_print(const struct tally kinds[LIFE_KINDS], const char *world, uint64_t first_seed,
                 double took_s);

#endif
