/* The parts of agent_bench, which run.sh calls one by one: each prints its figures as words on one
 * line and answers 0, or dies with a word about what failed. */
#ifndef PEAL_AGENT_BENCH_H
#define PEAL_AGENT_BENCH_H

#include <stddef.h>
#include <stdint.h>

/* main.c */
_Noreturn void die(const char *what);
double now_s(void);  /* of the monotonic clock */
double wall_s(void); /* since 1970 */
void sort_doubles(double *values, size_t count);
double percentile(const double *sorted, size_t count, double percent);

/* make_jobs.c: DIR PREFIX COUNT SCHEDULE JITTER_S: adds jobs that run /bin/true to a data folder,
 * which is made if need be. Prints nothing. */
int make_jobs(char **argv);

/* machine.c: what the machine itself can do.
 *   spawn COUNT      seconds for COUNT posix_spawns of /bin/true with two pipes and a wait each
 *   timer SECONDS    p50 and p99 in ms by which a timerfd wakes late, 100 times a second
 *   burst SECONDS    p50 and p99 in ms by which 100 spawns at each full second are late
 *   read FILE        seconds to read every job out of a store's database */
int measure_spawns(char **argv);
int measure_timer(char **argv);
int measure_burst(char **argv);
int measure_read(char **argv);

/* pages.c: SOCKET PATH COUNT: p50 and p99 in ms of COUNT requests over one connection. */
int measure_pages(char **argv);

/* starts.c: HISTORY FROM_S TO_S: of the runs whose time to start was in that span: how many there
 * are, how many (job, tick) twice, how many not ok; p50 and p99 in ms by which they were late; the
 * latest, in seconds after its time. */
int measure_starts(char **argv);

/* HISTORY FROM_S TO_S: runs that started per second of that span, and how many of all runs are
 * there twice or not ok. */
int measure_rate(char **argv);

#endif
