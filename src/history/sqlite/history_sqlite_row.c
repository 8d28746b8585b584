/* The SQL statements; binding and reading rows. */
#include <string.h>

#include "sqlite/history_sqlite.h"

/* table_columns start here: after id, job, ended_ms, stray; or id, job_uid, before, after. */
enum { FIRST_COLUMN = 5 };

/* Every state that is stored: RUN_OK to RUN_MISSED. */
#define ALL_STATES "(5, 6, 7, 8, 9, 10, 11)"

/* Newest first. The definitions are the last columns: SQLite reads them only if they are used. */
#define READ_CHANGES(from, where)                                                                  \
    "SELECT id, job_uid#, before, after FROM " from " WHERE " where                                \
    " id < ?1 AND id >= ?2 ORDER BY id DESC"

/* `@` is the table, `#` its columns, `%` their parameters, `~` their assignments; each column,
 * parameter and assignment has a comma before it. */
static const char *const sql[] = {
    [SQL_INSERT] = "INSERT INTO @ (id, job, ended_ms, stray#) VALUES (?1, ?2, ?3, ?4%)"
                   " ON CONFLICT DO NOTHING",
    [SQL_UPDATE] = "UPDATE @ SET job = ?2, ended_ms = ?3, stray = ?4~ WHERE id = ?1",
    [SQL_SELECT] = "SELECT id, uid, name#"
                   " FROM @ JOIN jobs ON jobs.key = @.job WHERE id = ?1",
    [SQL_DELETE] = "DELETE FROM @ WHERE id = ?1",
    /* Naming all states lets the index by job, state and id also bound the id. */
    [SQL_OLDER] = "SELECT id FROM @ WHERE job IN (SELECT key FROM jobs WHERE uid = ?1)"
                  " AND state IN " ALL_STATES " AND id < ?2 LIMIT ?3",
    [SQL_ENDED] = "SELECT id FROM @ WHERE job IN (SELECT key FROM jobs WHERE uid = ?1)"
                  " AND state IN " ALL_STATES " AND id < ?2 AND ended_ms < ?4 LIMIT ?3",
    [SQL_ALL_ENDED] = "SELECT id FROM @ WHERE id < ?2 AND ended_ms < ?4 ORDER BY id LIMIT ?3",
    [SQL_BEGIN_WRITE] = "BEGIN IMMEDIATE",
    [SQL_BEGIN_READ] = "BEGIN",
    [SQL_COMMIT] = "COMMIT",
    [SQL_FIND_JOB] = "SELECT key FROM jobs WHERE uid = ?1 AND name = ?2",
    [SQL_ADD_JOB] = "INSERT INTO jobs (uid, name) VALUES (?1, ?2)",
    [SQL_NEXT_JOB_UID] = "SELECT uid FROM jobs WHERE uid > ?1 ORDER BY uid LIMIT 1",
    [SQL_DROP_JOB] = "DELETE FROM jobs WHERE uid = ?1"
                     " AND NOT EXISTS (SELECT 1 FROM runs WHERE job = key)"
                     " AND NOT EXISTS (SELECT 1 FROM entries WHERE job = key)",
    [SQL_KEYS_BY_UID] = "SELECT key, uid, name FROM jobs WHERE uid = ?1",
    [SQL_KEYS_BY_NAME] = "SELECT key, uid, name FROM jobs WHERE name = ?1",
    [SQL_KEYS_BY_TEXT] = "SELECT key, uid, name FROM jobs"
                         " WHERE instr(lower(name), lower(?1)) > 0 LIMIT ?2",
    [SQL_ADD_OUTPUT] = "INSERT INTO output (run_id, start, seq, stream, at_ms, gap_bytes, bytes)"
                       " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    [SQL_DELETE_OUTPUT] = "DELETE FROM output WHERE run_id = ?1",
    [SQL_REPLACE_OUTPUT] = "DELETE FROM output WHERE run_id = ?1 AND start >= 0",
    [SQL_KEPT_BYTES] = "SELECT start + length(bytes) FROM output WHERE run_id = ?1"
                       " ORDER BY start DESC, seq DESC LIMIT 1",
    [SQL_IS_STEP] = "SELECT step <> '' FROM runs WHERE id = ?1",
    [SQL_OUTPUT_FROM] = "SELECT start, stream, at_ms, gap_bytes, length(bytes), rowid FROM output"
                        " WHERE run_id = ?1 AND start >= coalesce((SELECT max(start) FROM output"
                        "     WHERE run_id = ?1 AND start <= ?2), ?2) AND start <= ?3"
                        " ORDER BY start, seq",
    [SQL_ADD_STATS] =
        "INSERT INTO stats VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT DO UPDATE"
        " SET count = count + ?5, sum_ms = sum_ms + ?6, min_ms = min(min_ms, ?7),"
        " max_ms = max(max_ms, ?8), punctual = punctual + ?9, late_sum_ms = late_sum_ms + ?10",
    [SQL_READ_STATS] = "SELECT hour, state, bucket, count, sum_ms, min_ms, max_ms, punctual,"
                       " late_sum_ms FROM stats WHERE job_uid = ?1 AND hour >= ?2 AND hour < ?3",
    [SQL_DELETE_STATS] = "DELETE FROM stats WHERE (job_uid, hour, state, bucket) IN"
                         " (SELECT job_uid, hour, state, bucket FROM stats"
                         "  WHERE job_uid = ?1 AND hour < ?2 LIMIT ?3)",
    [SQL_NEXT_STATS_UID] = "SELECT job_uid FROM stats WHERE job_uid > ?1 ORDER BY job_uid LIMIT 1",
    [SQL_ADD_CHANGE] = "INSERT INTO @ (id, job_uid, before, after#) VALUES (?1, ?2, ?3, ?4%)"
                       " ON CONFLICT DO NOTHING",
    [SQL_READ_CHANGES] = READ_CHANGES("@", ""),
    [SQL_READ_CHANGES + 1] = READ_CHANGES("@ INDEXED BY @_job", "job_uid = ?3 AND"),
    [SQL_READ_CHANGES + 2] = READ_CHANGES("@ INDEXED BY @_job_name", "job_name = ?3 AND"),
    [SQL_READ_CHANGES + 3] = READ_CHANGES("@ INDEXED BY @_actor", "actor = ?3 AND"),
    [SQL_DELETE_CHANGES] =
        "DELETE FROM @ WHERE id IN (SELECT id FROM @ WHERE id < ?1 ORDER BY id LIMIT ?2)",
    [SQL_FREE_PAGES] = "PRAGMA freelist_count",
    [SQL_VACUUM] = "PRAGMA incremental_vacuum(256)",
};

static void write_columns(enum record_table table, char how, struct strbuf *text)
{
    const struct column_set columns = table_columns(table);
    int place = FIRST_COLUMN;
    for (const struct column *column = NULL; (column = column_next(&columns, column)); place++) {
        if (how == '#')
            strbuf_addf(text, ", \"%s\"", column->name);
        else if (how == '%')
            strbuf_addf(text, ", ?%d", place);
        else
            strbuf_addf(text, ", \"%s\" = ?%d", column->name, place);
    }
}

static void write_sql(enum record_table table, const char *pattern, struct strbuf *text)
{
    for (const char *p = pattern; *p; p++) {
        if (*p == '@')
            strbuf_adds(text, table_names[table]);
        else if (strchr("#%~", *p))
            write_columns(table, *p, text);
        else
            strbuf_addc(text, *p);
    }
}

enum status database_statement(struct database *database, enum record_table table,
                               enum statement which, sqlite3_stmt **ret)
{
    sqlite3_stmt **stmt = &database->statements[table][which];
    if (!*stmt) {
        struct strbuf text;
        strbuf_init(&text);
        write_sql(table, sql[which], &text);
        enum status st = strbuf_status(&text);
        if (st == OK)
            st = sqlite_status(sqlite3_prepare_v3(database->db, text.text, -1,
                                                  SQLITE_PREPARE_PERSISTENT, stmt, NULL));
        strbuf_release(&text);
        if (st != OK)
            return st;
    }
    sqlite3_reset(*stmt);
    sqlite3_clear_bindings(*stmt);
    *ret = *stmt;
    return OK;
}

enum status database_do(struct database *database, enum statement which)
{
    sqlite3_stmt *stmt;
    enum status st = database_statement(database, TABLE_RUNS, which, &stmt);
    return st == OK ? statement_done(stmt) : st;
}

void database_roll_back(struct database *database)
{
    if (!sqlite3_get_autocommit(database->db))
        (void)sqlite3_exec(database->db, "ROLLBACK", NULL, NULL, NULL);
}

enum status sqlite_status(int rc)
{
    switch (rc & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
        return OK;
    case SQLITE_NOMEM:
        return E_NOMEM;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return E_CORRUPT;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return E_BUSY;
    case SQLITE_INTERRUPT:
        return E_UNREACHABLE;
    case SQLITE_TOOBIG:
        return E_TOO_LARGE;
    default:
        return E_IO;
    }
}

enum status statement_row(sqlite3_stmt *stmt)
{
    int rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW)
        return OK;
    sqlite3_reset(stmt);
    return rc == SQLITE_DONE ? E_NOT_FOUND : sqlite_status(rc);
}

enum status statement_done(sqlite3_stmt *stmt)
{
    int rc = sqlite3_step(stmt);
    while (rc == SQLITE_ROW)
        rc = sqlite3_step(stmt);
    sqlite3_reset(stmt);
    return sqlite_status(rc);
}

void bind_id(sqlite3_stmt *stmt, int place, const struct id *id)
{
    sqlite3_bind_blob(stmt, place, id->bytes, sizeof(id->bytes), SQLITE_TRANSIENT);
}

struct id column_id(sqlite3_stmt *stmt, int place)
{
    struct id id = {{0}};
    const void *bytes = sqlite3_column_blob(stmt, place);
    if (bytes && sqlite3_column_bytes(stmt, place) == sizeof(id.bytes))
        memcpy(id.bytes, bytes, sizeof(id.bytes));
    return id;
}

/* ---- rows ---- */

void bind_columns(sqlite3_stmt *stmt, int place, enum record_table table, const void *record)
{
    const struct column_set columns = table_columns(table);
    for (const struct column *column = NULL; (column = column_next(&columns, column)); place++) {
        size_t length;
        if (column_is_text(column)) {
            const char *text = column_read_text(column, record, &length);
            sqlite3_bind_text(stmt, place, text, (int)length, SQLITE_STATIC);
        } else if (column->kind == COLUMN_ID) {
            bind_id(stmt, place, column_field(column, record));
        } else {
            sqlite3_bind_int64(stmt, place, column_read_int(column, record));
        }
    }
}

int read_record(sqlite3_stmt *stmt, enum record_table table, void *record)
{
    const struct column_set columns = table_record(table);
    int place = 0;
    for (const struct column *column = NULL; (column = column_next(&columns, column)); place++) {
        if (column_is_text(column)) {
            const void *text = sqlite3_column_text(stmt, place);
            column_write_text(column, record, text, (size_t)sqlite3_column_bytes(stmt, place));
        } else if (column->kind == COLUMN_ID) {
            struct id id = column_id(stmt, place);
            column_write_id(column, record, &id);
        } else {
            column_write_int(column, record, sqlite3_column_int64(stmt, place));
        }
    }
    return place;
}

void bind_row(sqlite3_stmt *stmt, const struct history_row *row, int64_t job)
{
    const void *record = row->is_entry ? (const void *)&row->entry : (const void *)&row->run;
    bind_id(stmt, 1, history_row_id(row));
    sqlite3_bind_int64(stmt, 2, job);
    sqlite3_bind_int64(stmt, 3, history_row_ended_ms(row));
    sqlite3_bind_int(stmt, 4, row_stray(row));
    bind_columns(stmt, FIRST_COLUMN, row_table(row), record);
}

enum status load_row(struct database *database, enum record_table table, const struct id *id,
                     struct history_row *ret)
{
    sqlite3_stmt *stmt;
    enum status st = database_statement(database, table, SQL_SELECT, &stmt);
    if (st != OK)
        return st;
    bind_id(stmt, 1, id);
    st = statement_row(stmt);
    if (st != OK)
        return st;
    ret->is_entry = table == TABLE_ENTRIES;
    (void)read_record(stmt, table, row_record(ret));
    sqlite3_reset(stmt);
    return OK;
}
