/* The statements of pages. A walk goes down from the newest id along an index that ends in the id,
 * once for each value of the columns before the id. Bounds on the id limit the scan to the span and
 * exclude partitions outside it; row comparisons such as (state, id) < (...) would not, since
 * PostgreSQL ends such a scan by its first column alone.
 *
 * $1: ids below, $2: ids from, $3: number of rows, $4: keys of the requested jobs, or NULL,
 * $5: states, $6, $7: ticks from and below, $8: text, or NULL, $9: reasons with the text in their
 * names, $10: keys of jobs with the text in their names, NULL if there are many, $11: node, or
 * NULL, $12: duration, or NULL, $13: duration classes. */
#include "postgres/history_postgres_internal.h"

#define BOUNDS " AND id < $1 AND id >= $2"

struct walk {
    const char *from, *bounds;
};

#define OF_JOBS(keys)                                                                              \
    {                                                                                              \
        "unnest(" keys ") AS k, unnest($5::smallint[]) AS s, ", "job = k AND state = s" BOUNDS     \
    }

static const struct walk walks[] = {
    [PAGE_ALL] = {"", "true" BOUNDS},
    [PAGE_STATES] = {"unnest($5::smallint[]) AS s, ", "state = s" BOUNDS},
    [PAGE_LASTING] = {"unnest($13::integer[]) AS c, ",
                      POSTGRES_LASTING " = c AND " POSTGRES_LASTS BOUNDS},
    [PAGE_NODE] = {"unnest($5::smallint[]) AS s, ", "node = $11 AND state = s" BOUNDS},
    [PAGE_JOBS] = OF_JOBS("$4"),
};

enum { DETAILS = 2 };

/* A text may be in the job's name, in the reason's name or in the detail. */
static const struct walk text_walks[] = {
    OF_JOBS("$10"),
    {"unnest($9::smallint[]) AS r, ", "reason = r AND reason <> 0" BOUNDS},
    [DETAILS] = {"", "detail <> ''" BOUNDS},
};

/* Conditions that exclude the rows of the earlier text walks. */
static const char *const text_rests[] = {
    "",
    " AND NOT job = ANY ($10)",
    " AND NOT job = ANY ($10) AND NOT reason = ANY ($9)",
};

/* ---- filters ---- */

/* `key > 0` lets the subquery scan jobs by the index on key. With seqscan disabled, a scan without
 * an index costs so much that all plans would look equal to the planner. */
static void add_filters(enum record_table table, struct strbuf *text)
{
    strbuf_adds(text, table == TABLE_RUNS
                          ? " AND tick_ms >= $6 AND tick_ms < $7 AND ($11 IS NULL OR node = $11)"
                            " AND ($12 IS NULL OR (started_ms <> 0 AND finished_ms <> 0"
                            "  AND finished_ms - started_ms >= $12))"
                          : " AND to_ms >= $6 AND from_ms < $7");
    strbuf_adds(text, " AND ($4 IS NULL OR job = ANY ($4)) AND ($5 IS NULL OR state = ANY ($5))"
                      " AND ($8 IS NULL OR reason = ANY ($9) OR job = ANY ($10)"
                      "  OR strpos(lower(detail), $8) > 0 OR ($10 IS NULL AND job IN"
                      "   (SELECT key FROM jobs WHERE key > 0 AND strpos(lower(name), $8) > 0)))");
}

/* ---- statements ---- */

static void add_walk(enum record_table table, const struct walk *walk, const char *columns,
                     const char *rest, struct strbuf *text)
{
    strbuf_addf(text, "SELECT w.* FROM %sLATERAL (SELECT %s FROM %s WHERE %s%s", walk->from,
                columns, table_names[table], walk->bounds, rest);
    if (columns[0] == '*')
        add_filters(table, text);
    strbuf_adds(text, " ORDER BY id DESC LIMIT $3) w");
}

/* The index includes the details: only rows whose detail has the text are fetched. */
static void add_details(enum record_table table, struct strbuf *text)
{
    const char *name = table_names[table];
    strbuf_addf(text,
                "SELECT w.* FROM (SELECT id AS i FROM %s WHERE %s"
                "  AND strpos(lower(detail), $8) > 0) d,"
                " LATERAL (SELECT * FROM %s WHERE id = d.i%s",
                name, text_walks[DETAILS].bounds, name, text_rests[DETAILS]);
    add_filters(table, text);
    strbuf_adds(text, ") w");
}

static void add_walks(enum record_table table, enum page_scope scope, const char *columns,
                      struct strbuf *text)
{
    if (scope != PAGE_TEXT) {
        add_walk(table, &walks[scope], columns, "", text);
        return;
    }
    for (size_t i = 0; i < sizeof(text_walks) / sizeof(text_walks[0]); i++) {
        strbuf_adds(text, i ? " UNION ALL " : "");
        if (columns[0] == '*' && i == DETAILS)
            add_details(table, text);
        else
            add_walk(table, &text_walks[i], columns, columns[0] == '*' ? text_rests[i] : "", text);
    }
}

static void add_page_columns(enum record_table table, struct strbuf *text)
{
    strbuf_adds(text, "SELECT id, uid, name");
    statement_add_columns(table, text);
}

void page_text(enum record_table table, enum page_scope scope, struct strbuf *text)
{
    add_page_columns(table, text);
    strbuf_adds(text, " FROM (SELECT * FROM (");
    add_walks(table, scope, "*", text);
    strbuf_adds(text, ") u ORDER BY id DESC LIMIT $3) p JOIN jobs ON key = job ORDER BY id DESC");
}

void horizon_text(enum record_table table, enum page_scope scope, struct strbuf *text)
{
    strbuf_adds(text, "SELECT id FROM (");
    add_walks(table, scope, "id", text);
    strbuf_adds(text, ") u ORDER BY id DESC OFFSET $3 - 1 LIMIT 1");
}

/* $14: classes of strays, $15, $16: ids from and below for each class. */
void strays_text(enum record_table table, struct strbuf *text)
{
    add_page_columns(table, text);
    strbuf_addf(text,
                " FROM (SELECT w.* FROM unnest($14::smallint[], $15, $16) AS c(class, low, high),"
                " LATERAL (SELECT * FROM %s WHERE stray = class AND stray <> 0"
                "  AND id < least(high, $1) AND id >= low",
                table_names[table]);
    add_filters(table, text);
    strbuf_adds(text, " ORDER BY id DESC LIMIT $3) w ORDER BY id DESC LIMIT $3) p"
                      " JOIN jobs ON key = job ORDER BY id DESC");
}
