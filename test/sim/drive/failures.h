/* Lives that failed: what is printed of them when all is done, and kept of them in files. */
#ifndef PEAL_SIM_FAILURES_H
#define PEAL_SIM_FAILURES_H

#include "worker.h"

enum { FAILURES_MAX = 100, FAILURE_WORDS = 400 };

struct failure {
    const char *world, *program;
    uint64_t seed;
    enum life_kind kind;
    char mix[16];
    char words[FAILURE_WORDS];
    char log[WORKER_PATH]; /* what its process had printed */
    pid_t shrinks;         /* 0: it is not shrunk */
};

struct failures {
    const char *folder; /* of the logs */
    struct failure items[FAILURES_MAX];
    size_t count;
};

/* The worker has ended with this status (waitpid's) in the middle of its life, or afterwards; `why`
 * may say more about it. Keeps its log under the name of the world and the seed. */
void failures_add(struct failures *failures, const char *world, const char *program,
                  const struct worker *worker, int status, const char *why);

/* Shrinks the first few that differ in their words, so many at a time, each for so long (0: none).
 * Then prints all of them, each with the way to repeat it alone. */
void failures_explain(struct failures *failures, int at_a_time, double shrink_s);

#endif
