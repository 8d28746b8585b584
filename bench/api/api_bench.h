/* The API under load: a server with many jobs, and subscribers that only listen. */
#ifndef PEAL_API_BENCH_H
#define PEAL_API_BENCH_H

/* What the clients of the server have to show. */
#define BENCH_TOKEN "bench"

/* serve DIR JOBS DUE: prints its port, then serves until it is killed. JOBS are never due, DUE are
 * due every second, spread over it, and end at once. The token may look. */
int serve(char **argv);

/* subscribe PORT COUNT TOPICS: opens COUNT streams of events, prints "ready", and listens until its
 * standard input ends. */
int subscribe(char **argv);

/* timer SECONDS: how late a timer of its own process is, 100 times a second; prints the p99 in ms.
 * What the machine does to anybody who waits for an instant. */
int timer(char **argv);

#endif
