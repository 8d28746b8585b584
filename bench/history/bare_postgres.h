/* Plain PostgreSQL, with nothing around it: COPY for writing, which is the fastest it has, and
 * prepared statements for reading. */
#ifndef PEAL_BENCH_HISTORY_BARE_POSTGRES_H
#define PEAL_BENCH_HISTORY_BARE_POSTGRES_H

#include "driver.h"

struct bare_postgres;

/* A schema `bare` with tables like those of the schema `peal`. */
struct bare_postgres *bare_postgres_new(const char *url);
void bare_postgres_free(struct bare_postgres *bare);

/* From now on the tables of the history itself are read. */
void bare_postgres_read_peal(struct bare_postgres *bare);

/* As struct bare_side has them. */
void bare_postgres_insert(void *bare, const struct run *runs, size_t count);
size_t bare_postgres_query(void *bare, const struct filter *filter, const char *job,
                           int64_t from_ms, int64_t to_ms);

#endif
