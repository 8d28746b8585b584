/* The parts of cluster_bench, which run.sh calls one by one: each prints its figures as words on
 * one line and answers 0, or dies with a word about what failed. An ETCD is host:port. */
#ifndef PEAL_CLUSTER_BENCH_H
#define PEAL_CLUSTER_BENCH_H

#include <stddef.h>
#include <stdint.h>

#include "loop.h"
#include "store.h"

/* main.c */
_Noreturn void die(const char *what);
double now_s(void); /* of the monotonic clock */
/* Below "/PREFIX". Whoever uses it runs the loop. */
struct store *open_store(const char *etcd, const char *prefix, const char *node, struct loop *loop,
                         struct store_wake wake);

/* main.c: an etcd of one member, whose writes reach the disk; prints its ETCD, and ends with the
 * input. */
int run_etcd(char **argv);

/* members.c: an etcd of three; prints their ETCD, with commas; kills its leader for every byte of
 * input, and ends with it. */
int run_members(char **argv);

/* members.c: ETCD,...: the bare client (test/support/etcd_retry.h) until the input ends: for how
 * many seconds nothing could be written, at most. */
int measure_retry(char **argv);

/* jobs.c: ETCD PREFIX NAME COUNT SCHEDULE JITTER_S: adds jobs NAME-0000001... that run /bin/true.
 * Prints nothing. */
int make_jobs(char **argv);
void put_jobs(struct store *store, struct loop *loop,
              char **argv); /* NAME COUNT SCHEDULE JITTER_S */

/* engine.c: ETCD PREFIX JOBS SECONDS: an engine with an executor that does nothing, and more jobs
 * due in each second than can be run: runs per second, all told; doubled ones; and how many runs
 * a second a bare loop over the client could make, which sends four transactions for each run. */
int measure_engine(char **argv);

/* soak.c: RUNS JOBS FOLDER: so many runs, of so many jobs that are due every second, with an etcd
 * and a history of its own in FOLDER. Prints a table of what is held after a tenth, half and all of
 * them; 1 if it grows, 77 if there is no etcd. */
int soak_node(char **argv);

/* bare.c: one compare and two puts each, a hundred in a request, four requests under way; per
 * second, for so many seconds. */
double bare_transactions(const char *etcd, double seconds);

/* bare.c: ETCD PREFIX: seconds to list all there is below a prefix, over the client alone. */
int measure_list(char **argv);

/* starts.c: FROM_S TO_S HISTORY...: of the runs in these histories together whose time to start was
 * in that span: how many there are, how many (job, tick) twice, how many not ok; p50 and p99 in ms
 * by which they were late; the latest, in seconds after its time. */
int measure_starts(char **argv);

/* starts.c: FROM_MS HISTORY...: when the first run since then was started, in ms. */
int measure_first(char **argv);

#endif
