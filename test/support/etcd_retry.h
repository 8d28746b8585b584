/* The bare client: what etcd itself takes to be written to again, with nothing of peal's store
 * above it. A client of its own for each member tries one small transaction after the other; one
 * that fails, or is not answered at once, is tried again. */
#ifndef PEAL_ETCD_RETRY_H
#define PEAL_ETCD_RETRY_H

#include <stdint.h>

struct etcd_retry_gap {
    int64_t gap_ms;  /* the longest time from one success to the next, through whichever member */
    int64_t from_ms; /* Unix time of its beginning */
    long done;       /* transactions */
};

/* `endpoints` is "host:port,host:port"; until the standard input ends. Ends the program when memory
 * is short. */
struct etcd_retry_gap etcd_retry_until_eof(const char *endpoints);

#endif
