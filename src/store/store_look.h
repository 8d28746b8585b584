/* Reads DIR/peal.db without writing to it, while an agent may be using it. */
#ifndef PEAL_STORE_LOOK_H
#define PEAL_STORE_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "strbuf.h"

struct store_look {
    int64_t jobs; /* without deleted ones */
    int64_t open_runs;
    int64_t bytes; /* of the database, without its log */
};

/* `check`: also reads every page, which takes a while. E_NOT_FOUND: no database; E_VERSION:
 * of a newer peal; E_CORRUPT, E_IO; *why (may be NULL) says more. */
MUST_CHECK enum status store_sqlite_look(const char *dir, bool check, struct store_look *ret,
                                         struct strbuf *why);

#endif
