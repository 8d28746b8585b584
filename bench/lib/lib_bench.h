/* The benchmark of the library: calls of a function that only notes when it was called. */
#ifndef PEAL_LIB_BENCH_H
#define PEAL_LIB_BENCH_H

#include <stdbool.h>
#include <stdint.h>

/* What every contender is given to do: its command line is COUNT each|UNIX_S FILE. */
struct work {
    int count;
    int64_t at_s; /* all at this instant; 0: each second; -1: each once a minute, spread over it */
    bool
        is_local; /* functions of this process alone: of them, as of a library's, nothing is kept */
    const char *file; /* gets the noted times, 8 bytes each, at the end */
};

/* ---- noted.c ---- */

void noted_add(void); /* from any thread */
void noted_write(const char *file);
int64_t now_ns(void);

/* "CALLS P50 P99 LAST EARLY": late, in ms, of the calls that were due in `seconds` from `from_s`
 * on; `at_s`: all were due then. */
int noted_figures(const char *file, int64_t from_s, int64_t seconds, int64_t at_s);

/* "CALLS": how many were made in that time. */
int noted_count(const char *file, int64_t from_s, int64_t seconds);

/* ---- peal_side.c ---- */

/* Until SIGTERM, as every contender. */
int do_with_peal(const struct work *work);

#endif
