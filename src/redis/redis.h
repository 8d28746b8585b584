/* A client of Redis (7.0 and later) or Valkey that implements the contract of kv.h: keys and values
 * below a prefix of their own. README.md has the data, and what a server has to be. */
#ifndef PEAL_REDIS_H
#define PEAL_REDIS_H

#include "kv_server.h"

/* A kv_opener. The URL is redis://..., see redis_place.h. */
MUST_CHECK enum status redis_client_new(struct loop *loop, const struct kv_server *server,
                                        struct kv_client **ret, struct parse_error *reterr);

#endif
