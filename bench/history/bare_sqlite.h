/* Plain SQLite, with nothing around it. */
#ifndef PEAL_BENCH_HISTORY_BARE_SQLITE_H
#define PEAL_BENCH_HISTORY_BARE_SQLITE_H

#include "driver.h"

struct bare_sqlite;

/* A database at `path` with the tables of the one at `like`. */
struct bare_sqlite *bare_sqlite_new(const char *path, const char *like);

/* Any database, for reading. */
struct bare_sqlite *bare_sqlite_open(const char *path);

void bare_sqlite_free(struct bare_sqlite *bare);

/* Puts the first `runs` rows, and the entries between them, into an empty history that nobody has
 * open; without statistics, which no page looks at. */
void bare_sqlite_fill(const char *path, uint32_t runs);

/* As struct bare_side has them. */
void bare_sqlite_insert(void *context, const struct run *runs, size_t count);
size_t bare_sqlite_query(void *context, const void *key, const struct history_query *query,
                         struct id *ret_last);

#endif
