/* The same rows in the same tables, with plain SQL and nothing around it. */
#ifndef PEAL_BENCH_HISTORY_BARE_H
#define PEAL_BENCH_HISTORY_BARE_H

#include <stddef.h>

#include "run.h"

struct bare;

/* A database at `path` with the tables of the one at `like`; NULL: a message was printed. */
struct bare *bare_new(const char *path, const char *like);

/* Any database, for reading. */
struct bare *bare_open(const char *path);

void bare_free(struct bare *bare);

/* One transaction. */
void bare_insert(struct bare *bare, const struct run *runs, size_t count);

/* Runs a query (kept prepared while it is the same text) and reads all columns; how many rows. */
size_t bare_query(struct bare *bare, const char *sql, const char *name, int64_t from, int64_t to);

#endif
