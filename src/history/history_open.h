/* Opens the history that a URL names: the one place that knows every backend. */
#ifndef PEAL_HISTORY_OPEN_H
#define PEAL_HISTORY_OPEN_H

#include "history.h"

/* `url` is
 *     NULL or ""                          SQLite in DIR/history.db
 *     postgresql://... or postgres://...  PostgreSQL (history_postgres.h), behind a spool in
 *                                         DIR/spool (history_spool.h)
 *     mongodb://... or mongodb+srv://...  MongoDB (history_mongo.h), likewise
 * Records left in DIR/spool are delivered to whichever backend is opened. DIR must exist.
 *
 * E_INVALID: the URL is wrong; else as the backends say. *why holds the reason and a next step,
 * never a password. */
MUST_CHECK enum status history_open(const char *url, const char *dir, struct history_wake wake,
                                    struct history **ret, struct strbuf *why);

/* The same, with a limit for DIR/spool; 0: that of history_spool.h. */
MUST_CHECK enum status history_open_limited(const char *url, const char *dir, int64_t spool_bytes,
                                            struct history_wake wake, struct history **ret,
                                            struct strbuf *why);

/* Whether the URL has the scheme of a backend. */
bool history_is_known(const char *url);

#endif
