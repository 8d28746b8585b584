/* The servers in order of preference, with their recent failures. A failed endpoint is not tried
 * for a while (exponential backoff), so that a dead one costs little and one that comes back is
 * soon used again. */
#ifndef PEAL_ETCD_ENDPOINTS_H
#define PEAL_ETCD_ENDPOINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "status.h"
#include "strbuf.h"

struct endpoint {
    char *name; /* "host:port", an IPv6 address in brackets: for messages and :authority */
    char *host; /* without brackets */
    int port;
    bool use_tls;
    int failures;          /* in a row */
    int64_t rest_until_ms; /* boot clock */
    char error[200];       /* the last one; "" : none since it worked */
};

struct endpoints {
    struct endpoint *items;
    size_t count;
    uint64_t jitter; /* state of a small generator */
};

/* "http://host:port", "https://host:port", "host:port": then `default_tls` decides. */
MUST_CHECK enum status endpoints_init(struct endpoints *endpoints, const char *const *texts,
                                      size_t count, bool default_tls, uint64_t seed,
                                      struct parse_error *reterr);
void endpoints_release(struct endpoints *endpoints);

/* The first endpoint that is not resting. NULL: all are; the first is ready at *ret_at_ms. That is
 * soon: when all have failed, a member that has a leader again must be found early. */
struct endpoint *endpoints_pick(struct endpoints *endpoints, int64_t now_ms, int64_t *ret_at_ms);

/* A preferred endpoint: before `current`, and not resting; NULL: none. */
struct endpoint *endpoints_better(struct endpoints *endpoints, const struct endpoint *current,
                                  int64_t now_ms);

void endpoints_failed(struct endpoints *endpoints, struct endpoint *endpoint, int64_t now_ms,
                      const char *error);
void endpoints_worked(struct endpoint *endpoint);

/* "a:1 (Connection refused), b:2 (time-out)" */
void endpoints_describe(const struct endpoints *endpoints, struct strbuf *out);

#endif
