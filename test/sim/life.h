/* A life: a cluster of some size, with jobs, for some hours, in which things happen that are all
 * laid down beforehand, so that one of them can be left out and the others stay as they are. */
#ifndef PEAL_SIM_LIFE_H
#define PEAL_SIM_LIFE_H

#include "tally.h"
#include "world.h"

enum { STEPS_MAX = 600 };

enum step_kind { STEP_PERSON, STEP_FAULT, STEP_REST, STEP_KINDS };

struct step {
    int64_t at_ms;
    enum step_kind kind;
    uint64_t random;
    bool is_left_out;
};

struct life {
    uint64_t seed;
    int node_count, job_count;
    int64_t begins_ms; /* wall */
    int64_t latency_ms;
    bool with_gone; /* at the end a node goes for good */
    bool is_quiet;  /* its nodes seldom say that nothing is new */
    enum life_kind kind;
    enum fault_mix mix;
    bool is_wanted; /* the mix was named: planted mistakes are found by drills that are known */
    struct step steps[STEPS_MAX];
    size_t step_count;
    char expected[STAGE_LOG_TEXT]; /* how it has failed, while it is shrunk */
};

/* MIX_COUNT: of any sort; else a drill with this one. */
void life_lay_down(struct life *life, uint64_t seed, enum fault_mix mix);

/* Lives it, and ends the program where something does not hold, after `failed`. Returns the hash
 * over all that happened; adds it up in `tally`, which may be NULL. Quietly nothing is written down
 * of what happens: it is quicker, the hash says nothing, and where it fails nothing is printed. */
uint64_t life_live(const struct life *life, struct tally *tally, bool is_quiet,
                   void (*failed)(void *life, const char *what));

size_t life_steps_left(const struct life *life);

/* ---- life_shrink.c ---- */

/* Leaves out what it can of a life that has failed like that, and lowers the number of its jobs,
 * for at most so long, while it fails in the same words (numbers may be others). */
void life_shrink(struct life *life, const char *what, double limit_s);
void life_print(const struct life *life);

/* The steps that are left and the number of jobs, as PEAL_SIM_ONLY wants them: "5j 0,7,12". */
void life_print_only(const struct life *life);
/* Leaves out all others. False: nonsense. */
MUST_CHECK bool life_set_only(struct life *life, const char *only);

#endif
