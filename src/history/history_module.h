/* Kinds of history that come in a file of their own, since the library behind them does things as
 * soon as it is loaded (libmongoc makes a file in shared memory), or is not on every machine. */
#ifndef PEAL_HISTORY_MODULE_H
#define PEAL_HISTORY_MODULE_H

#include "history_worker.h"

/* history_mongo_open and its like. */
typedef enum status history_opener(const char *url, const struct history_server_limits *limits,
                                   struct history_wake wake, struct history **ret,
                                   struct strbuf *why);

/* Loads NAME.so from lib/peal beside the folder that this program is in, and finds its function
 * SYMBOL. It stays loaded for as long as the process lives. `what` is what the user asked for,
 * "MongoDB". E_NOT_FOUND: it was not built, or can't be loaded here; *why says which file, and what
 * to do. */
MUST_CHECK enum status history_module_load(const char *name, const char *what, const char *symbol,
                                           history_opener **ret, struct strbuf *why);

#endif
