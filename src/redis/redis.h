/* A client of Redis (7.0 and later) or Valkey that implements the contract of kv.h: keys and values
 * below a prefix of their own. README.md has the data, and what a server has to be. */
#ifndef PEAL_REDIS_H
#define PEAL_REDIS_H

#include "kv.h"

struct redis_client_config {
    const char *url;                            /* redis://..., see redis_place.c */
    const char *user;                           /* NULL: that of the URL, if any */
    const char *password;                       /* NULL: none */
    const char *ca_file, *cert_file, *key_file; /* PEM, for rediss:// */
    bool accepts_loss;   /* also of a server that may lose what it has acknowledged */
    int64_t deadline_ms; /* default of requests; 0: 2000 */
};

/* Begins to connect. Free it with kv_client_free. E_INVALID: *reterr says what is wrong with the
 * URL, and where. */
MUST_CHECK enum status redis_client_new(struct loop *loop, const struct redis_client_config *config,
                                        struct kv_client **ret, struct parse_error *reterr);

#endif
