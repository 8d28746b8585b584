#include "bare_sql.h"

#include <stdlib.h>
#include <string.h>

bool bare_asks_entries(const struct history_query *query)
{
    return query->with_entries && !query->node && !query->min_duration_ms;
}

/* " AND column IN (1, 2)" for the bits that are set. */
static void add_numbers(struct strbuf *sql, const char *column, uint64_t bits)
{
    const char *before = "";
    strbuf_addf(sql, "%s IN (", column);
    for (int i = 0; i < 64; i++) {
        if (bits >> i & 1) {
            strbuf_addf(sql, "%s%d", before, i);
            before = ", ";
        }
    }
    strbuf_adds(sql, ")");
}

static void add_text(const struct history_query *query, const char *like, struct strbuf *sql)
{
    uint64_t reasons = 0;
    for (int reason = 0; reason < REASONS; reason++) {
        if (strcasestr(run_reason_name((enum run_reason)reason), query->text))
            reasons |= UINT64_C(1) << reason;
    }
    strbuf_addf(sql, " AND (name %s $3 OR detail %s $3", like, like);
    if (reasons) {
        strbuf_adds(sql, " OR ");
        add_numbers(sql, "reason", reasons);
    }
    strbuf_adds(sql, ")");
}

void bare_sql(const struct history_query *query, const char *table, const char *like,
              struct strbuf *sql)
{
    bool runs = strcmp(table, "runs") == 0;
    strbuf_addf(sql, "SELECT id, uid, name, %s.* FROM %s JOIN jobs ON key = job WHERE 1 = 1", table,
                table);
    if (query->job_name)
        strbuf_adds(sql, " AND job = (SELECT key FROM jobs WHERE name = $1)");
    if (query->node)
        strbuf_adds(sql, " AND node = $2");
    if (query->text)
        add_text(query, like, sql);
    if (query->since_ms)
        strbuf_addf(sql, " AND %s >= $4", runs ? "tick_ms" : "to_ms");
    if (query->until_ms)
        strbuf_addf(sql, " AND %s < $5", runs ? "tick_ms" : "from_ms");
    if (query->min_duration_ms)
        strbuf_adds(sql, " AND finished_ms - started_ms >= $6");
    if (query->states) {
        strbuf_adds(sql, " AND ");
        add_numbers(sql, "state", query->states);
    }
    if (!id_is_zero(&query->before))
        strbuf_adds(sql, " AND id < $7");
    strbuf_addf(sql, " ORDER BY id DESC LIMIT %d", PAGE);
}

static int newest_first(const void *a, const void *b)
{
    return id_compare(b, a);
}

size_t bare_page_end(struct bare_page *page, size_t limit, struct id *ret_last)
{
    qsort(page->ids, page->count, sizeof(page->ids[0]), newest_first);
    size_t count = page->count < limit ? page->count : limit;
    if (count)
        *ret_last = page->ids[count - 1];
    return count;
}
