/* The parts of agent_bench, which run.sh calls one by one: each prints its figures as words on one
 * line and answers 0, or dies with a word about what failed. */
#ifndef PEAL_AGENT_BENCH_H
#define PEAL_AGENT_BENCH_H

#include <stddef.h>
#include <stdint.h>

/* main.c */
_Noreturn void die(const char *what);
char **split_words(char *text); /* at spaces; NULL-terminated, never freed */
double now_s(void);             /* of the monotonic clock */
double wall_s(void);            /* since 1970 */
void sort_doubles(double *values, size_t count);
double percentile(const double *sorted, size_t count, double percent);

/* make_jobs.c: DIR PREFIX COUNT SCHEDULE JITTER_S COMMAND: adds jobs that run the command, words
 * with spaces between them, to a data folder, which is made if need be. Prints nothing. */
int make_jobs(char **argv);

/* machine.c: what the machine itself can do.
 *   timer SECONDS    p50 and p99 in ms by which a timerfd wakes late, 100 times a second
 *   read FILE        seconds to read every job out of a store's database */
int measure_timer(char **argv);
int measure_read(char **argv);
void sleep_until(int timer_fd, double at_s); /* of the wall clock, as the agent does */

/* bare.c: both print the first of these seconds, and the processor time of a run in microseconds.
 *   bare PROCESSES COUNT SECONDS COMMAND
 *                    starts the command COUNT times at each of so many full seconds, with a timerfd
 *                    and posix_spawn in each of the processes, which share the work
 *   kept COUNT SECONDS COMMAND FILE
 *                    the same in one process; both outputs are read, and there is a record of each
 *                    on disk, in the file, before it starts and after its end */
int measure_bare(char **argv);
int measure_kept(char **argv);

/* noted.c: what the tiny jobs (tiny.c) have noted.
 *   noted FILE FROM_S SECONDS       of the runs that were due at FROM_S, or at each of so many full
 *                                   seconds from then on: how many there are, p50 and p99 in ms by
 *                                   which they were late, and the latest in seconds after FROM_S
 *   noted_rate FILE FROM_S TO_S     runs in each second of that span */
int measure_noted(char **argv);
int measure_noted_rate(char **argv);

/* pages.c: SOCKET PATH COUNT: p50 and p99 in ms of COUNT requests over one connection. */
int measure_pages(char **argv);
int connect_to(const char *path);
/* The length of the whole answer; 0: its head is not complete yet. */
size_t answer_length(const char *answer);

/* creates.c: SOCKET CLIENTS SECONDS: jobs that so many clients create per second, one by one, each
 * over a connection of its own. */
int measure_creates(char **argv);

/* DIR CLIENTS SECONDS: the same through the store of a new data folder alone. */
int measure_puts(char **argv);

/* starts.c: HISTORY FROM_S TO_S: of the runs whose time to start was in that span: how many there
 * are, how many (job, tick) twice, how many not ok; p50 and p99 in ms by which they were late; the
 * latest, in seconds after its time. */
int measure_starts(char **argv);

/* HISTORY FROM_S TO_S: runs that started per second of that span, and how many of all runs are
 * there twice or not ok. */
int measure_rate(char **argv);

#endif
