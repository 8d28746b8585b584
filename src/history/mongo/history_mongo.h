/* The history in a MongoDB database (4.4 or newer, or a server with the same protocol), which
 * several nodes may share. */
#ifndef PEAL_HISTORY_MONGO_H
#define PEAL_HISTORY_MONGO_H

#include "history_worker.h"

/* `url` is a libmongoc URL, "mongodb://USER@HOST,HOST/DATABASE?replicaSet=...&tls=true" or
 * "mongodb+srv://...", with two additional parameters:
 *     password_file=PATH  a file whose first line is the password
 *     expire_days=DAYS    the server removes rows this long after their end; 0: it stops that
 * The default database is "peal". Collections and indexes are created on connection. `limits` may
 * be NULL.
 *
 * An append is several writes, since not every server has transactions: runs, then output, then
 * statistics. A failed append may have done some of them; appending it again is harmless and does
 * the rest. If the process dies in between, the statistics may lack the runs of that append.
 *
 * Opening does not wait for the server, see history_postgres.h. E_INVALID: the URL is wrong; *why
 * says how, without any password that the URL holds. */
MUST_CHECK enum status history_mongo_open(const char *url,
                                          const struct history_server_limits *limits,
                                          struct history_wake wake, struct history **ret,
                                          struct strbuf *why);

#endif
