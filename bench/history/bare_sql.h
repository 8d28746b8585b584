/* What both bare sides with SQL share: the plain words for a query. */
#ifndef PEAL_BENCH_HISTORY_BARE_SQL_H
#define PEAL_BENCH_HISTORY_BARE_SQL_H

#include "driver.h"

/* Parameters, of which a statement has those that it needs. */
enum bare_param {
    BARE_JOB = 1, /* $1: its name */
    BARE_NODE,
    BARE_TEXT, /* between wildcards */
    BARE_SINCE,
    BARE_UNTIL,
    BARE_DURATION,
    BARE_BEFORE,
    BARE_PARAMS = BARE_BEFORE,
};

/* A SELECT of all columns of "runs" or "entries", the id first; `like` is what ignores case. */
void bare_sql(const struct history_query *query, const char *table, const char *like,
              struct strbuf *sql);

/* Ids of a page, which may come from both tables. */
struct bare_page {
    struct id ids[2 * PAGE];
    size_t count;
};

/* How many are on it, and which is the last. */
size_t bare_page_end(struct bare_page *page, size_t limit, struct id *ret_last);

/* Has the table what the query asks for? Entries have no node and no duration. */
bool bare_asks_entries(const struct history_query *query);

#endif
