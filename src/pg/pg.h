/* A client of PostgreSQL (12 and later) that implements the contract of kv.h: keys and values in a
 * schema of their own, which is made when it is not there. README.md has the tables. */
#ifndef PEAL_PG_H
#define PEAL_PG_H

#include "kv_server.h"

/* A kv_opener. The URL is postgresql://..., as libpq takes it, and schema=NAME (peal). */
MUST_CHECK enum status pg_client_new(struct loop *loop, const struct kv_server *server,
                                     struct kv_client **ret, struct parse_error *reterr);

#endif
