/* A client of PostgreSQL (12 and later) that implements the contract of kv.h: keys and values in a
 * schema of their own, which is made when it is not there. README.md has the tables. */
#ifndef PEAL_PG_H
#define PEAL_PG_H

#include "kv.h"

struct pg_client_config {
    const char *url;      /* postgresql://..., as libpq takes it, and schema=NAME (peal) */
    const char *password; /* NULL: as libpq finds it */
    int64_t deadline_ms;  /* default of requests; 0: 2000 */
};

/* Begins to connect. Free it with kv_client_free. E_INVALID: *reterr says what is wrong with the
 * URL, without a password that is in it. */
MUST_CHECK enum status pg_client_new(struct loop *loop, const struct pg_client_config *config,
                                     struct kv_client **ret, struct parse_error *reterr);

#endif
