/* What a PostgreSQL says of itself, as far as a store depends on it: for `peal doctor`. */
#ifndef PEAL_PG_SERVER_H
#define PEAL_PG_SERVER_H

#include "status.h"
#include "strbuf.h"

struct pg_server {
    char version[32];
    char fsync[16], synchronous_commit[16], autovacuum[16]; /* as they are set */
    char standbys[128];                                     /* synchronous_standby_names */
    int64_t replicas;                                       /* that stream now */
    int64_t connections, most_connections; /* for users, of this and all other clients */
    int64_t bytes;                         /* of the tables, indexes and all */
    int64_t dead_rows;                     /* that no vacuum has removed yet */
    int64_t oldest_s;      /* age of the oldest transaction that may be seen; 0: none */
    int64_t clock_ms;      /* its clock minus this machine's, give or take half of ... */
    int64_t round_trip_us; /* ... the time of that question */
    int64_t format;        /* of the tables */
    char schema[64];
};

/* On a connection of its own, to the server that takes writes, and after the store was opened.
 * E_UNREACHABLE, E_INVALID: *why says why. */
MUST_CHECK enum status pg_server_look(const char *url, struct pg_server *ret, struct strbuf *why);

#endif
