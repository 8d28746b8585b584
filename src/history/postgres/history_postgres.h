/* The history in a PostgreSQL database (12 or newer), which several nodes may share. */
#ifndef PEAL_HISTORY_POSTGRES_H
#define PEAL_HISTORY_POSTGRES_H

#include "history_worker.h"

/* `url` is libpq's, "postgresql://USER@HOST:PORT/DATABASE?sslmode=verify-full", and may have
 * "schema=NAME" among its parameters, else it is "peal". The schema and its tables are made or
 * migrated when they are needed. `limits` may be NULL.
 *
 * Opening does not wait for the server: requests do, until the first attempt to reach it is over.
 * While it is away they fail at once, history_health says why, and it is tried again by itself.
 * E_INVALID: the URL is wrong, *why says how, without any password that is in it. */
MUST_CHECK enum status history_postgres_open(const char *url,
                                             const struct history_server_limits *limits,
                                             struct history_wake wake, struct history **ret,
                                             struct strbuf *why);

#endif
