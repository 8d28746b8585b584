/* A process that plays lives in one world, one seed at a time; a life that fails ends it. */
#ifndef PEAL_SIM_WORKER_H
#define PEAL_SIM_WORKER_H

#include <sys/types.h>

#include "tally.h"

enum { WORKER_PATH = 512 };

struct worker {
    pid_t pid;               /* 0: there is none */
    int seeds, reports;      /* pipes to it and from it */
    char log[WORKER_PATH];   /* where all that it prints goes */
    bool is_busy;            /* with a life: */
    struct life_report life; /* as far as it has told of it */
    double since_s;
};

/* Exits where the system has no room for it. A life that fails is written down, but not shrunk:
 * that is what worker_explain is for. */
void worker_start(struct worker *worker, const char *program, const char *log, double now_s);

/* The next life, while it is not busy. */
void worker_hand(struct worker *worker, uint64_t seed, double now_s);

/* Waits for its next word. True: ->life is new. False: the process has ended. */
bool worker_hear(struct worker *worker);

/* It gets no more seeds and ends by itself, or is killed; returns its status as waitpid does. */
int worker_end(struct worker *worker, bool by_force);

/* Plays one life alone, and shrinks it for so long, with all that it prints in `log`. */
pid_t worker_explain(const char *program, uint64_t seed, double shrink_s, const char *log);

#endif
