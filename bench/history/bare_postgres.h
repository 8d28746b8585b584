/* Plain PostgreSQL, with nothing around it: COPY for writing, which is the fastest it has, and
 * prepared statements for reading. */
#ifndef PEAL_BENCH_HISTORY_BARE_POSTGRES_H
#define PEAL_BENCH_HISTORY_BARE_POSTGRES_H

#include "driver.h"

struct bare_postgres;

/* A schema `bare` with tables like those of the schema `peal`, which is there and empty; and the
 * jobs of all rows, in both. */
struct bare_postgres *bare_postgres_new(const char *url);
/* The schema `peal` as it is, for reading. */
struct bare_postgres *bare_postgres_open(const char *url);

void bare_postgres_free(struct bare_postgres *bare);

/* From now on the tables of the history itself are used. */
void bare_postgres_use_peal(struct bare_postgres *bare);

/* Puts rows from `first` on until there are `runs`, but for every `but`-th, into the history's
 * tables, and the entries between them; without statistics, which no page looks at. */
void bare_postgres_fill(struct bare_postgres *bare, uint32_t first, uint32_t runs, uint32_t but);

/* As struct bare_side has them. */
void bare_postgres_insert(void *context, const struct run *runs, size_t count);
size_t bare_postgres_query(void *context, const void *key, const struct history_query *query,
                           struct id *ret_last);

#endif
