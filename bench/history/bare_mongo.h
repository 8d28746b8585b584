/* MongoDB's own driver, with nothing around it. */
#ifndef PEAL_BENCH_HISTORY_BARE_MONGO_H
#define PEAL_BENCH_HISTORY_BARE_MONGO_H

#include "driver.h"

struct bare_mongo;

/* Inserts go to the collection `bare` of the history's database, finds to its `runs`. */
struct bare_mongo *bare_mongo_new(const char *url, const char *database);
void bare_mongo_free(struct bare_mongo *bare);

/* As struct bare_side has them. */
void bare_mongo_insert(void *context, const struct run *runs, size_t count);
size_t bare_mongo_query(void *context, const void *key, const struct history_query *query,
                        struct id *ret_last);

#endif
