/* The parts of the benchmark of HTTP calls. */
#ifndef PEAL_CALL_BENCH_H
#define PEAL_CALL_BENCH_H

#include <stdbool.h>
#include <sys/types.h>

/* responder.c: a child that answers every request with a few bytes, or, if its path begins with
 * /hold, when `held` of them wait. *ret_port is where it listens. It ends with its parent. */
pid_t responder_start(int held, int *ret_port);

/* bare.c: seconds that a bare loop of libcurl needs for `count` requests, `at_once` of them in
 * flight, each on a connection of its own unless `reuses`. */
double bare_calls(const char *url, int count, int at_once, bool reuses);

double now_s(void);
_Noreturn void die(const char *what);

#endif
