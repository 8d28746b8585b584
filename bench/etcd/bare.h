/* What the machine can do at best: prebuilt requests over a blocking socket, answers counted but
 * not looked at. */
#ifndef PEAL_BENCH_BARE_H
#define PEAL_BENCH_BARE_H

#include <stddef.h>
#include <stdint.h>

struct bare_request {
    uint8_t *bytes; /* with gRPC's prefix */
    size_t length;
};

/* Sends requests of the list, `in_flight` at a time, until `until_s` (CLOCK_MONOTONIC) or the end
 * of the list, and waits for what is under way. Returns how many were answered. */
size_t bare_run(int port, const struct bare_request *requests, size_t count, size_t in_flight,
                double until_s);

#endif
