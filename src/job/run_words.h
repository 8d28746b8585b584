/* States, causes and reasons of runs in words, for people, in every language: of the API, the
 * notifications, the command line and the console. Their names (run.h) are for programs. */
#ifndef PEAL_RUN_WORDS_H
#define PEAL_RUN_WORDS_H

#include "language.h"
#include "run.h"

/* "timed out". Like all of these for any number; one of a newer peal is shown as its name. */
const char *run_state_text(enum run_state state, enum language language);

/* "catch-up". */
const char *run_cause_text(enum run_cause cause, enum language language);

/* A sentence: "the previous run was still running (overlap: skip)"; "" for NONE. */
const char *run_reason_text(enum run_reason reason, enum language language);

/* A word or two, for a cell of a table. In English the name, as in JSON: "overlap". */
const char *run_reason_brief(enum run_reason reason, enum language language);

#endif
