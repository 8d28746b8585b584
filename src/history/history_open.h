/* The history that a user names: the one place that knows every kind. */
#ifndef PEAL_HISTORY_OPEN_H
#define PEAL_HISTORY_OPEN_H

#include "history.h"

/* `url` is
 *     NULL or ""                          SQLite in DIR/history.db
 *     postgresql://... or postgres://...  PostgreSQL (history_postgres.h), behind a spool in
 *                                         DIR/spool (history_spool.h)
 *     mongodb://... or mongodb+srv://...  MongoDB (history_mongo.h), likewise
 * What still waits in DIR/spool is delivered to whichever it is. DIR must be there.
 *
 * E_INVALID: the URL is wrong; else as the backends say. *why has words with a next step, and never
 * a password. */
MUST_CHECK enum status history_open(const char *url, const char *dir, struct history_wake wake,
                                    struct history **ret, struct strbuf *why);

/* Does it start like one of those that are not SQLite? */
bool history_is_known(const char *url);

#endif
