/* The history in a PostgreSQL database (12 or newer), which several nodes may share. */
#ifndef PEAL_HISTORY_POSTGRES_H
#define PEAL_HISTORY_POSTGRES_H

#include "history_worker.h"

/* `url` is a libpq URL, "postgresql://USER@HOST:PORT/DATABASE?sslmode=verify-full", with an
 * additional parameter "schema=NAME" (default "peal"). The schema and its tables are created or
 * migrated on connection. `limits` may be NULL.
 *
 * Opening does not wait for the server; requests wait for the first attempt to connect. While the
 * server is away requests fail at once, history_health says why, and the worker reconnects.
 * E_INVALID: the URL is wrong; *why says how, without any password that the URL holds. */
MUST_CHECK enum status history_postgres_open(const char *url,
                                             const struct history_server_limits *limits,
                                             struct history_wake wake, struct history **ret,
                                             struct strbuf *why);

#endif
