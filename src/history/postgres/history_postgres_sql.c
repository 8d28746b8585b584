/* The SQL statements, generated from the tables' columns, and loading of result rows. */
#include <string.h>

#include "postgres/history_postgres_internal.h"

/* Every state that is stored: RUN_OK to RUN_MISSED. */
#define ALL_STATES "unnest('{5, 6, 7, 8, 9, 10, 11}'::smallint[]) AS s"

/* Ids below $2 of job k and state s: a range of the index by job, state and id. */
#define OF_JOB_AND_STATE "job = k AND state = s AND id < $2"

/* The size of the kept output of each run in w. */
#define WITH_KEPT_BYTES                                                                            \
    " LEFT JOIN LATERAL (SELECT start + length(bytes) AS kept FROM output"                         \
    " WHERE run_id = w.id ORDER BY start DESC, seq DESC LIMIT 1) o ON true ORDER BY w.id DESC"

/* `@` is the table, `#` its columns, `%` their values from the parameter arrays, `~` assignments of
 * those values, `$` the arrays; each column has a comma before it. */
static const char *const sql[STATEMENTS] = {
    [SQL_INSERT] = "INSERT INTO @ (id, job, ended_ms, stray#)"
                   " SELECT u.id, jobs.key, u.ended_ms, u.stray%"
                   " FROM unnest($) JOIN jobs ON jobs.uid = u.uid AND jobs.name = u.name"
                   " ORDER BY u.id ON CONFLICT DO NOTHING RETURNING id",
    [SQL_UPDATE] = "UPDATE @ SET job = jobs.key, ended_ms = u.ended_ms, stray = u.stray~"
                   " FROM unnest($) JOIN jobs ON jobs.uid = u.uid AND jobs.name = u.name"
                   " WHERE @.id = u.id",
    [SQL_SELECT] = "SELECT id, uid, name# FROM @ JOIN jobs ON jobs.key = @.job WHERE id = $1",
    [SQL_SELECT_OLD] = "SELECT id, uid, name# FROM @ JOIN jobs ON jobs.key = @.job"
                       " WHERE id = ANY ($1) ORDER BY id FOR UPDATE OF @",
    [SQL_DELETE] = "DELETE FROM @ WHERE id = ANY ($1)",
    [SQL_OLDEST_KEPT] =
        "SELECT w.id FROM unnest($1) AS k, " ALL_STATES ","
        " LATERAL (SELECT id FROM @ WHERE " OF_JOB_AND_STATE "  ORDER BY id DESC LIMIT $3) w"
        " ORDER BY w.id DESC OFFSET $3 - 1 LIMIT 1",
    [SQL_OLDER] = "SELECT w.id FROM unnest($1) AS k, " ALL_STATES ","
                  " LATERAL (SELECT id FROM @ WHERE " OF_JOB_AND_STATE " LIMIT $3) w LIMIT $3",
    [SQL_ENDED] = "SELECT w.id FROM unnest($1) AS k, " ALL_STATES ","
                  " LATERAL (SELECT id FROM @ WHERE " OF_JOB_AND_STATE " AND ended_ms < $4"
                  "  LIMIT $3) w LIMIT $3",
    [SQL_ENDED_ALL] = "SELECT id FROM @ WHERE id < $1 AND ended_ms < $3 ORDER BY id LIMIT $2",
    [SQL_BYTES] =
        "SELECT w.id, o.kept FROM (SELECT w.id FROM unnest($1) AS k, " ALL_STATES ","
        " LATERAL (SELECT id FROM @ WHERE " OF_JOB_AND_STATE "  ORDER BY id DESC LIMIT $3) w"
        " ORDER BY w.id DESC LIMIT $3) w" WITH_KEPT_BYTES,
    [SQL_BYTES_ALL] = "SELECT w.id, o.kept FROM (SELECT id FROM @ WHERE id < $1"
                      " ORDER BY id DESC LIMIT $2) w" WITH_KEPT_BYTES,
    [SQL_KINDS] = "SELECT w.id, w.is_step FROM unnest($1) AS k, " ALL_STATES ","
                  " LATERAL (SELECT id, (step <> '')::int AS is_step FROM @"
                  "  WHERE " OF_JOB_AND_STATE " ORDER BY id DESC LIMIT $3) w"
                  " ORDER BY w.id DESC LIMIT $3",
    [SQL_ADD_JOBS] = "INSERT INTO jobs (uid, name) SELECT DISTINCT u.uid, u.name"
                     " FROM unnest($1, $2) AS u(uid, name) WHERE NOT EXISTS (SELECT FROM jobs"
                     "  WHERE jobs.uid = u.uid AND jobs.name = u.name)"
                     " ORDER BY u.uid, u.name ON CONFLICT DO NOTHING",
    [SQL_KEYS_BY_UID] = "SELECT key FROM jobs WHERE uid = $1 AND ($2 IS NULL OR name = $2)",
    [SQL_KEYS_BY_NAME] = "SELECT key FROM jobs WHERE name = $1",
    [SQL_KEYS_BY_TEXT] = "SELECT key FROM jobs WHERE strpos(lower(name), $1) > 0 LIMIT $2",
    [SQL_NEXT_JOB_UID] = "SELECT uid FROM jobs WHERE uid > $1 ORDER BY uid LIMIT 1",
    [SQL_DROP_JOBS] = "WITH looked_at AS MATERIALIZED"
                      " (SELECT key, uid FROM jobs WHERE uid > $1 ORDER BY uid LIMIT $2),"
                      " gone AS (DELETE FROM jobs WHERE key IN (SELECT key FROM looked_at)"
                      "  AND NOT EXISTS (SELECT FROM runs WHERE job = key)"
                      "  AND NOT EXISTS (SELECT FROM entries WHERE job = key))"
                      " SELECT uid FROM looked_at ORDER BY uid DESC LIMIT 1",
    [SQL_DROP_JOB] = "DELETE FROM jobs WHERE uid = $1"
                     " AND NOT EXISTS (SELECT FROM runs WHERE job = key)"
                     " AND NOT EXISTS (SELECT FROM entries WHERE job = key)",
    [SQL_ADD_OUTPUT] = "INSERT INTO output (run_id, start, seq, stream, at_ms, gap_bytes, bytes)"
                       " SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7)",
    [SQL_DELETE_OUTPUT] = "DELETE FROM output WHERE run_id = ANY ($1)",
    [SQL_REPLACE_OUTPUT] = "DELETE FROM output WHERE run_id = ANY ($1) AND start >= 0",
    [SQL_READ_OUTPUT] =
        "SELECT start, stream, at_ms, gap_bytes, bytes, kept FROM (SELECT start + length(bytes)"
        " AS kept FROM output WHERE run_id = $1 ORDER BY start DESC, seq DESC LIMIT 1) k"
        " LEFT JOIN output ON run_id = $1 AND start <= least($2 + $3, kept)"
        "  AND start >= coalesce((SELECT max(start) FROM output WHERE run_id = $1 AND start <= $2),"
        "   $2) AND $3 > 0 ORDER BY start, seq",
    [SQL_ADD_STATS] =
        "INSERT INTO stats AS old SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, "
        "$11)"
        " AS u(uid, hour, state, bucket, slot) ORDER BY uid, hour, state, bucket, slot"
        " ON CONFLICT (job_uid, hour, state, bucket, slot) DO UPDATE"
        " SET count = old.count + excluded.count, sum_ms = old.sum_ms + excluded.sum_ms,"
        " min_ms = least(old.min_ms, excluded.min_ms), max_ms = greatest(old.max_ms,"
        " excluded.max_ms), punctual = old.punctual + excluded.punctual,"
        " late_sum_ms = old.late_sum_ms + excluded.late_sum_ms",
    [SQL_READ_STATS] =
        "SELECT hour, state, bucket, sum(count)::bigint, sum(sum_ms)::bigint, min(min_ms),"
        " max(max_ms), sum(punctual)::bigint, sum(late_sum_ms)::bigint FROM stats"
        " WHERE job_uid = $1 AND hour >= $2 AND hour < $3 GROUP BY hour, state, bucket"
        " ORDER BY hour",
    [SQL_DELETE_STATS] = "DELETE FROM stats WHERE ctid = ANY (ARRAY"
                         " (SELECT ctid FROM stats WHERE hour < $1 LIMIT $2))",
    [SQL_DELETE_JOB_STATS] = "DELETE FROM stats WHERE ctid = ANY (ARRAY"
                             " (SELECT ctid FROM stats WHERE job_uid = $3 AND hour < $1 LIMIT $2))",
    [SQL_ADD_CHANGES] = "INSERT INTO @ (id, job_uid, before, after#)"
                        " SELECT u.id, u.job_uid, u.before, u.after% FROM unnest($)"
                        " ORDER BY u.id ON CONFLICT DO NOTHING",
    [SQL_DEFINITIONS] = "SELECT before, after FROM @ WHERE id = ANY ($1) ORDER BY id DESC",
    [SQL_DELETE_CHANGES] =
        "DELETE FROM @ WHERE id = ANY (ARRAY"
        " (SELECT id FROM @ WHERE id < $1 ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED))",
    [SQL_MONTHS] = "SELECT month FROM (SELECT substring(relname from '[0-9]+$')::bigint AS month"
                   "  FROM pg_inherits JOIN pg_class ON oid = inhrelid"
                   "  WHERE inhparent = 'runs'::regclass) m WHERE month > $1 ORDER BY 1 LIMIT 1",
};

/* ---- rows in arrays ---- */

/* The arrays before those of table_columns. */
static const struct {
    int count;
    const char *names;
} heads[] = {
    [TABLE_RUNS] = {5, "id, uid, name, ended_ms, stray"},
    [TABLE_ENTRIES] = {5, "id, uid, name, ended_ms, stray"},
    [TABLE_CHANGES] = {4, "id, job_uid, before, after"},
};

/* Adds `#`, `%` or `~` of the list above. */
static void add_columns(enum record_table table, char how, struct strbuf *text)
{
    const struct column_set columns = table_columns(table);
    for (const struct column *column = NULL; (column = column_next(&columns, column));) {
        const char *as_bool = column->kind == COLUMN_BOOL ? " <> 0" : "";
        if (how == '#')
            strbuf_addf(text, ", \"%s\"", column->name);
        else if (how == '%')
            strbuf_addf(text, ", u.\"%s\"%s", column->name, as_bool);
        else
            strbuf_addf(text, ", \"%s\" = u.\"%s\"%s", column->name, column->name, as_bool);
    }
}

/* The inner part of "unnest($1, $2, ...) AS u(id, uid, ...)": parameters and column names. */
static void add_arrays(enum record_table table, struct strbuf *text)
{
    const struct column_set columns = table_columns(table);
    int count = heads[table].count + (int)column_count(&columns);
    for (int i = 0; i < count; i++)
        strbuf_addf(text, "%s$%d", i ? ", " : "", i + 1);
    strbuf_addf(text, ") AS u(%s", heads[table].names);
    add_columns(table, '#', text);
}

static void expand(enum record_table table, const char *pattern, struct strbuf *text)
{
    for (const char *p = pattern; *p; p++) {
        if (*p == '@')
            strbuf_adds(text, table_names[table]);
        else if (strchr("#%~", *p))
            add_columns(table, *p, text);
        else if (*p == '$' && p[1] == ')')
            add_arrays(table, text);
        else
            strbuf_addc(text, *p);
    }
}

/* ---- changes ---- */

/* Walks over at most $3 changes, newest first, and returns those that match, without definitions.
 * $1: ids below, $2: ids from, $3: rows to examine, $4: rows of the page, $5: value of the index
 * column; filters: $6: job, $7: job name, $8: actor, $9: actions, $10: revision, $11: text,
 * $12: actions with the text in their names. */
static void changes_text(enum change_scope scope, struct strbuf *text)
{
    static const struct {
        const char *bounds, *order;
    } walks[] = {
        [CHANGES_ALL] = {"id < $1 AND id >= $2 AND $5 IS NULL", "id DESC"},
        [CHANGES_JOB] = {"(job_uid, id) < ($5, $1) AND (job_uid, id) >= ($5, $2)",
                         "job_uid DESC, id DESC"},
        [CHANGES_JOB_NAME] = {"(job_name, id) < ($5, $1) AND (job_name, id) >= ($5, $2)",
                              "job_name DESC, id DESC"},
        [CHANGES_ACTOR] = {"(actor, id) < ($5, $1) AND (actor, id) >= ($5, $2)",
                           "actor DESC, id DESC"},
    };
    strbuf_adds(text, "WITH walk AS MATERIALIZED (SELECT id, job_uid");
    add_columns(TABLE_CHANGES, '#', text);
    strbuf_addf(text, " FROM changes WHERE %s ORDER BY %s LIMIT $3), page AS (SELECT * FROM walk",
                walks[scope].bounds, walks[scope].order);
    strbuf_adds(text, " WHERE ($6 IS NULL OR job_uid = $6) AND ($7 IS NULL OR job_name = $7)"
                      " AND ($8 IS NULL OR actor = $8) AND ($9 IS NULL OR action = ANY ($9))"
                      " AND ($10 IS NULL OR revision = $10)"
                      " AND ($11 IS NULL OR action = ANY ($12) OR strpos(lower(actor), $11) > 0"
                      "  OR strpos(lower(target), $11) > 0 OR strpos(lower(job_name), $11) > 0"
                      "  OR strpos(lower(address), $11) > 0 OR strpos(lower(detail), $11) > 0)"
                      " ORDER BY id DESC LIMIT $4) SELECT looked_at, last, id, job_uid");
    add_columns(TABLE_CHANGES, '#', text);
    strbuf_adds(text, " FROM (SELECT count(*) AS looked_at, (SELECT id FROM walk ORDER BY id"
                      " LIMIT 1) AS last FROM walk) w LEFT JOIN page ON true ORDER BY id DESC");
}

void statement_add_columns(enum record_table table, struct strbuf *text)
{
    add_columns(table, '#', text);
}

void statement_text(enum record_table table, enum statement which, struct strbuf *text)
{
    if (which >= SQL_PAGE && which <= SQL_PAGE_LAST)
        page_text(table, (enum page_scope)(which - SQL_PAGE), text);
    else if (which >= SQL_HORIZON && which <= SQL_HORIZON_LAST)
        horizon_text(table, (enum page_scope)(which - SQL_HORIZON), text);
    else if (which == SQL_STRAYS)
        strays_text(table, text);
    else if (which >= SQL_FIND_CHANGES && which <= SQL_FIND_CHANGES_LAST)
        changes_text((enum change_scope)(which - SQL_FIND_CHANGES), text);
    else
        expand(table, sql[which], text);
}

/* ---- columns of records ---- */

void params_add_column(struct params *params, const struct column *column, const void *record)
{
    size_t length;
    if (column_is_text(column)) {
        const char *text = column_read_text(column, record, &length);
        params_add_text(params, text, length);
    } else if (column->kind == COLUMN_ID) {
        params_add_id(params, column_field(column, record));
    } else {
        params_add_int(params, column_read_int(column, record));
    }
}

void postgres_load_record(const PGresult *result, int row, int place, enum record_table table,
                          void *record)
{
    const struct column_set columns = table_record(table);
    for (const struct column *column = NULL; (column = column_next(&columns, column)); place++) {
        size_t length;
        if (column_is_text(column)) {
            const char *text = result_bytes(result, row, place, &length);
            column_write_text(column, record, text, length);
        } else if (column->kind == COLUMN_ID) {
            struct id id = result_id(result, row, place);
            column_write_id(column, record, &id);
        } else {
            column_write_int(column, record, result_int(result, row, place));
        }
    }
}

void postgres_load_row(const PGresult *result, int row, int first, enum record_table table,
                       struct history_row *ret)
{
    ret->is_entry = table == TABLE_ENTRIES;
    postgres_load_record(result, row, first, table, row_record(ret));
}
