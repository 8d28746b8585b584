/* Backends in a shared object of their own, because their library has side effects when loaded
 * (libmongoc makes a file in shared memory) or is not installed on every machine. */
#ifndef PEAL_HISTORY_MODULE_H
#define PEAL_HISTORY_MODULE_H

#include "history_worker.h"

/* The signature of history_mongo_open. */
typedef enum status history_opener(const char *url, const struct history_server_limits *limits,
                                   struct history_wake wake, struct history **ret,
                                   struct strbuf *why);

/* Loads PREFIX/lib/peal/NAME.so, for a program in PREFIX/bin, and looks up its function `symbol`.
 * The module stays loaded until the process ends. `what` names the backend to the user: "MongoDB".
 * E_NOT_FOUND: it was not built, or cannot be loaded; *why names the file and what to do. */
MUST_CHECK enum status history_module_load(const char *name, const char *what, const char *symbol,
                                           history_opener **ret, struct strbuf *why);

#endif
