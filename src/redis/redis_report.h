/* What is known of the server that a client is connected to: for `peal doctor`. */
#ifndef PEAL_REDIS_REPORT_H
#define PEAL_REDIS_REPORT_H

#include "kv.h"
#include "redis_info.h"

struct redis_report {
    struct redis_info server; /* as it was when the connection was opened */
    int waits;                /* how many replicas must have a change before it counts */
    int64_t clock_ms;         /* its clock minus this machine's then, give or take a round trip */
};

/* False: it is not connected (any more). */
bool redis_client_report(const struct kv_client *client, struct redis_report *ret);

#endif
