/* How far calls of functions are, as peal_progress says: in the heartbeats of their program while
 * they run, and afterwards in the detail of the run. Pure. */
#ifndef PEAL_PROGRESS_H
#define PEAL_PROGRESS_H

#include "run.h"

enum { PROGRESS_WORDS = 48, PROGRESS_SIZE = 512 };

struct progress {
    int percent;                    /* 0-100; -1: none was told */
    char words[PROGRESS_WORDS + 1]; /* "rows"; may be empty */
};

/* With words that have no control characters and no ';', cut at PROGRESS_WORDS bytes, not within a
 * character. `words` may be NULL. */
struct progress progress_make(int percent, const char *words);

/* Adds one to the text of several runs. False: it is full. */
bool progress_add(char text[PROGRESS_SIZE], const struct id *run_id,
                  const struct progress *progress);

/* That of a run, in such a text. False: there is none. */
bool progress_find(const char *text, const struct id *run_id, struct progress *ret);

/* "40% rows", in the detail of an ended run; and that of a run which has one. */
void progress_print(const struct progress *progress, char *to, size_t size);
bool progress_of_run(const struct run *run, struct progress *ret);

#endif
