/* The bare client for a test that is a script: ../support/etcd_retry.h.
 *
 *     etcd_retry 127.0.0.1:2379,127.0.0.1:2380    until its input ends
 *     > 1234 1774706523000 812    the longest gap in ms, its beginning in Unix ms, transactions */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "etcd_retry.h"

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: etcd_retry HOST:PORT,...\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    struct etcd_retry_gap gap = etcd_retry_until_eof(argv[1]);
    printf("%" PRId64 " %" PRId64 " %ld\n", gap.gap_ms, gap.from_ms, gap.done);
    return 0;
}
