/* Opens a connection in a thread of its own, since libpq looks names up, and there are a dozen
 * questions on the way: until it can carry statements in a pipeline. */
#ifndef PEAL_PG_CONNECT_H
#define PEAL_PG_CONNECT_H

#include "pg_wire.h"

enum { PG_FORMAT = 2 }; /* of the tables */

struct pg_connecting; /* a thread */

/* The descriptor is readable when it is over. */
MUST_CHECK enum status pg_connecting_new(const struct pg_target *target, struct pg_connecting **ret,
                                         int *ret_fd);
/* To be called then, once. Not OK: *why says why; E_VERSION and E_INVALID do not pass. */
enum status pg_connecting_take(struct pg_connecting *connecting, PGconn **ret, struct strbuf *why);
struct pg_connecting *pg_connecting_free(struct pg_connecting *connecting); /* accepts NULL */

#endif
