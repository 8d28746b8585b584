/* The history in a PostgreSQL database (12 or newer), which several nodes may share. */
#ifndef PEAL_HISTORY_POSTGRES_H
#define PEAL_HISTORY_POSTGRES_H

#include "history.h"

/* How long to wait for the server; 0: as said here. */
struct history_postgres_limits {
    int connect_s;      /* 5: for each address of the server; not less than 2 */
    int write_ms;       /* 10,000: for a statement of an append or of retention */
    int read_ms;        /* 10,000: for a statement of a read */
    int retry_first_ms; /* 500: before it is tried again; doubles each time */
    int retry_last_ms;  /* 15,000: but not longer than this */
};

/* `url` is libpq's, "postgresql://USER@HOST:PORT/DATABASE?sslmode=verify-full", and may have
 * "schema=NAME" among its parameters, else it is "peal". The schema and its tables are made or
 * migrated when they are needed. `limits` may be NULL.
 *
 * Opening does not wait for the server: requests do, until the first attempt to reach it is over.
 * While it is away they fail at once, history_health says why, and it is tried again by itself.
 * E_INVALID: the URL is wrong, *why says how, without any password that is in it. */
MUST_CHECK enum status history_postgres_open(const char *url,
                                             const struct history_postgres_limits *limits,
                                             struct history_wake wake, struct history **ret,
                                             struct strbuf *why);

#endif
