/* The history in a MongoDB database (4.4 or newer, or a server of the same protocol), which several
 * nodes may share. */
#ifndef PEAL_HISTORY_MONGO_H
#define PEAL_HISTORY_MONGO_H

#include "history_worker.h"

/* `url` is libmongoc's, "mongodb://USER@HOST,HOST/DATABASE?replicaSet=...&tls=true" or
 * "mongodb+srv://...", and may have two parameters of peal's own:
 *     password_file=PATH  whose first line is the password
 *     expire_days=DAYS    the server itself removes what ended so long ago; 0: no longer
 * The database is "peal" unless one is named. Collections and indexes are made when they are
 * needed. `limits` may be NULL.
 *
 * An append is several writes, as not every server has transactions: a run, then its output, then
 * the statistics. One that fails may have done some of them; recording it again, which is harmless,
 * does the rest. If the process dies in between, the statistics may lack the runs of that append.
 *
 * Opening does not wait for the server, see history_postgres.h. E_INVALID: the URL is wrong, *why
 * says how, without any password that is in it. */
MUST_CHECK enum status history_mongo_open(const char *url,
                                          const struct history_server_limits *limits,
                                          struct history_wake wake, struct history **ret,
                                          struct strbuf *why);

#endif
