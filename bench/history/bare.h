/* Plain SQLite, with nothing around it. */
#ifndef PEAL_BENCH_HISTORY_BARE_H
#define PEAL_BENCH_HISTORY_BARE_H

#include "driver.h"

struct bare;

/* A database at `path` with the tables of the one at `like`; NULL: a message was printed. */
struct bare *bare_new(const char *path, const char *like);

/* Any database, for reading. */
struct bare *bare_open(const char *path);

void bare_free(struct bare *bare);

/* As struct bare_side has them. */
void bare_insert(void *bare, const struct run *runs, size_t count);
size_t bare_query(void *bare, const struct filter *filter, const char *job, int64_t from_ms,
                  int64_t to_ms);

#endif
