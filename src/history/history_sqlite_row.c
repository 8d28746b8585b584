/* How runs and ledger entries are columns. Numbers of states, reasons and causes are part of the
 * file's format. */
#include <assert.h>
#include <string.h>

#include "history_sqlite.h"

static_assert(RUN_OK == 5 && RUN_LOST == 9 && RUN_MISSED == 11, "states are stored as numbers");
static_assert(REASON_EXIT_CODE == 1 && REASON_SHUTDOWN == 19, "reasons are stored as numbers");
static_assert(CAUSE_TICK == 0 && CAUSE_REBOOT == 4, "causes are stored as numbers");

enum column_kind { COLUMN_INT64, COLUMN_INT32, COLUMN_BOOL, COLUMN_TEXT };

struct column {
    const char *name;
    enum column_kind kind;
    size_t offset, size;
};

#define COLUMN(type, field, kind)                                                                  \
    {                                                                                              \
#field, kind, offsetof(struct type, field), sizeof(((struct type *)0)->field)              \
    }
#define RUN(field, kind)   COLUMN(run, field, kind)
#define ENTRY(field, kind) COLUMN(ledger_entry, field, kind)

/* `state` is first: statements know its place. */
static const struct column run_columns[] = {
    RUN(state, COLUMN_INT32),
    RUN(reason, COLUMN_INT32),
    RUN(cause, COLUMN_INT32),
    RUN(tick_ms, COLUMN_INT64),
    RUN(attempt, COLUMN_INT32),
    RUN(node, COLUMN_TEXT),
    RUN(nonce, COLUMN_INT64),
    RUN(fence, COLUMN_INT64),
    RUN(job_revision, COLUMN_INT64),
    RUN(not_before_ms, COLUMN_INT64),
    RUN(claimed_ms, COLUMN_INT64),
    RUN(started_ms, COLUMN_INT64),
    RUN(finished_ms, COLUMN_INT64),
    RUN(exit_code, COLUMN_INT32),
    RUN(term_signal, COLUMN_INT32),
    RUN(user_ms, COLUMN_INT64),
    RUN(system_ms, COLUMN_INT64),
    RUN(max_rss_kb, COLUMN_INT64),
    RUN(output_bytes, COLUMN_INT64),
    RUN(output_truncated, COLUMN_BOOL),
    RUN(by, COLUMN_TEXT),
    RUN(detail, COLUMN_TEXT),
};

static const struct column entry_columns[] = {
    ENTRY(state, COLUMN_INT32),       ENTRY(reason, COLUMN_INT32), ENTRY(from_ms, COLUMN_INT64),
    ENTRY(to_ms, COLUMN_INT64),       ENTRY(count, COLUMN_INT64),  ENTRY(detail, COLUMN_TEXT),
    ENTRY(recorded_ms, COLUMN_INT64),
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
    const char *name;
    const struct column *columns;
    size_t count;
} tables[] = {
    [TABLE_RUNS] = {"runs", run_columns, COUNT(run_columns)},
    [TABLE_ENTRIES] = {"entries", entry_columns, COUNT(entry_columns)},
};

/* Before the columns come id, job, ended_ms and stray. */
enum { FIRST_COLUMN = 5 };

/* Of what the history holds: RUN_OK to RUN_MISSED. */
#define ALL_STATES "(5, 6, 7, 8, 9, 10, 11)"

/* `@` is the table, `#` its columns, `%` their parameters, `~` their assignments; each with a comma
 * before it. */
static const char *const sql[] = {
    [SQL_INSERT] = "INSERT INTO @ (id, job, ended_ms, stray#) VALUES (?1, ?2, ?3, ?4%)"
                   " ON CONFLICT DO NOTHING",
    /* A known end is not replaced by LOST, which is 9. */
    [SQL_UPDATE] = "UPDATE @ SET job = ?2, ended_ms = ?3, stray = ?4~"
                   " WHERE id = ?1 AND (?5 <> 9 OR state = 9)",
    [SQL_SELECT] = "SELECT id, uid, name#"
                   " FROM @ JOIN jobs ON jobs.key = @.job WHERE id = ?1",
    [SQL_DELETE] = "DELETE FROM @ WHERE id = ?1",
    /* All states are named so that the index by job, state and id serves the id, too. */
    [SQL_OLDER] = "SELECT id FROM @ WHERE job IN (SELECT key FROM jobs WHERE uid = ?1)"
                  " AND state IN " ALL_STATES " AND id < ?2 LIMIT ?3",
    [SQL_ENDED] = "SELECT id FROM @ WHERE job IN (SELECT key FROM jobs WHERE uid = ?1)"
                  " AND state IN " ALL_STATES " AND id < ?2 AND ended_ms < ?4 LIMIT ?3",
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
    [SQL_ADD_OUTPUT] = "INSERT INTO output (run_id, start, seq, stream, at_ms, gap_bytes, bytes)"
                       " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    [SQL_DELETE_OUTPUT] = "DELETE FROM output WHERE run_id = ?1",
    [SQL_KEPT_BYTES] = "SELECT start + length(bytes) FROM output WHERE run_id = ?1"
                       " ORDER BY start DESC, seq DESC LIMIT 1",
    [SQL_OUTPUT_FROM] = "SELECT start, stream, at_ms, gap_bytes, length(bytes), rowid FROM output"
                        " WHERE run_id = ?1 AND start >= coalesce((SELECT max(start) FROM output"
                        "     WHERE run_id = ?1 AND start <= ?2), 0) AND start <= ?3"
                        " ORDER BY start, seq",
    [SQL_FREE_PAGES] = "PRAGMA freelist_count",
    [SQL_VACUUM] = "PRAGMA incremental_vacuum(256)",
};

const char *table_name(enum record_table table)
{
    return tables[table].name;
}

static void write_sql(enum record_table table, const char *pattern, struct strbuf *text)
{
    for (const char *p = pattern; *p; p++) {
        if (*p == '@')
            strbuf_adds(text, tables[table].name);
        else if (!strchr("#%~", *p))
            strbuf_addc(text, *p);
        for (size_t i = 0; strchr("#%~", *p) && i < tables[table].count; i++) {
            const char *name = tables[table].columns[i].name;
            size_t place = FIRST_COLUMN + i;
            if (*p == '#')
                strbuf_addf(text, ", \"%s\"", name);
            else if (*p == '%')
                strbuf_addf(text, ", ?%zu", place);
            else
                strbuf_addf(text, ", \"%s\" = ?%zu", name, place);
        }
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

static void bind_column(sqlite3_stmt *stmt, int place, const struct column *column,
                        const char *record)
{
    const char *field = record + column->offset;
    int64_t wide;
    int narrow;
    switch (column->kind) {
    case COLUMN_INT64:
        memcpy(&wide, field, sizeof(wide));
        sqlite3_bind_int64(stmt, place, wide);
        break;
    case COLUMN_INT32:
        memcpy(&narrow, field, sizeof(narrow));
        sqlite3_bind_int(stmt, place, narrow);
        break;
    case COLUMN_BOOL:
        sqlite3_bind_int(stmt, place, *(const bool *)field);
        break;
    case COLUMN_TEXT:
        sqlite3_bind_text(stmt, place, field, (int)strnlen(field, column->size - 1), SQLITE_STATIC);
        break;
    }
}

static void read_text(sqlite3_stmt *stmt, int place, char *ret, size_t size)
{
    const void *text = sqlite3_column_text(stmt, place);
    size_t length = (size_t)sqlite3_column_bytes(stmt, place);
    if (length >= size)
        length = size - 1;
    if (text)
        memcpy(ret, text, length);
    ret[text ? length : 0] = '\0';
}

static void read_column(sqlite3_stmt *stmt, int place, const struct column *column, char *record)
{
    char *field = record + column->offset;
    int64_t wide;
    int narrow;
    switch (column->kind) {
    case COLUMN_INT64:
        wide = sqlite3_column_int64(stmt, place);
        memcpy(field, &wide, sizeof(wide));
        break;
    case COLUMN_INT32:
        narrow = sqlite3_column_int(stmt, place);
        memcpy(field, &narrow, sizeof(narrow));
        break;
    case COLUMN_BOOL:
        *(bool *)field = sqlite3_column_int(stmt, place) != 0;
        break;
    case COLUMN_TEXT:
        read_text(stmt, place, field, column->size);
        break;
    }
}

bool row_is_stray(const struct history_row *row)
{
    int64_t made_ms = history_id_made_ms(history_row_id(row));
    int64_t from_ms = row->is_entry ? row->entry.from_ms : row->run.tick_ms;
    int64_t to_ms = row->is_entry ? row->entry.to_ms : row->run.tick_ms;
    return from_ms < made_ms - STRAY_MS || to_ms > made_ms + STRAY_MS;
}

void bind_row(sqlite3_stmt *stmt, const struct history_row *row, int64_t job)
{
    enum record_table table = row->is_entry ? TABLE_ENTRIES : TABLE_RUNS;
    const char *record = row->is_entry ? (const char *)&row->entry : (const char *)&row->run;
    bind_id(stmt, 1, history_row_id(row));
    sqlite3_bind_int64(stmt, 2, job);
    sqlite3_bind_int64(stmt, 3, history_row_ended_ms(row));
    sqlite3_bind_int(stmt, 4, row_is_stray(row));
    for (size_t i = 0; i < tables[table].count; i++)
        bind_column(stmt, FIRST_COLUMN + (int)i, &tables[table].columns[i], record);
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
    struct run *run = &ret->run;
    struct ledger_entry *entry = &ret->entry;
    ret->is_entry = table == TABLE_ENTRIES;
    *(ret->is_entry ? &entry->id : &run->id) = *id;
    *(ret->is_entry ? &entry->job_uid : &run->job_uid) = column_id(stmt, 1);
    read_text(stmt, 2, ret->is_entry ? entry->job_name : run->job_name, sizeof(run->job_name));
    for (size_t i = 0; i < tables[table].count; i++)
        read_column(stmt, 3 + (int)i, &tables[table].columns[i],
                    ret->is_entry ? (char *)entry : (char *)run);
    sqlite3_reset(stmt);
    return OK;
}
