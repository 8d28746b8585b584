/* A look at DIR/peal.db from outside: nothing is written, and an agent may be using it. */
#ifndef PEAL_STORE_LOOK_H
#define PEAL_STORE_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "strbuf.h"

struct store_look {
    int64_t jobs; /* that are not deleted */
    int64_t open_runs;
    int64_t bytes; /* of the database, without its log */
};

/* `check`: also reads every page, which takes its time. E_NOT_FOUND: there is no database;
 * E_CORRUPT, E_IO: *why (which may be NULL) says more. */
MUST_CHECK enum status store_sqlite_look(const char *dir, bool check, struct store_look *ret,
                                         struct strbuf *why);

#endif
