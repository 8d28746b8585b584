/* Rows of the database as values. What is beyond the range of its column makes a row unreadable. */
#include <string.h>

#include "rules/row_columns.h"
#include "sqlite/store_sqlite.h"
#include "words.h"

/* Those of a run that stay are left alone, so that the indexes over them need no work; of a job
 * only the cursor moves. */
static struct column_set columns_of(enum sqlite_table table, bool only_changes)
{
    if (table == STORED_JOBS)
        return job_row_columns(IN_SQLITE, only_changes ? IDENTITY | IN_DEFINITION : 0);
    if (table == STORED_RUNS)
        return run_columns(IN_SQLITE, only_changes ? IDENTITY : 0);
    return entry_columns(IN_SQLITE, 0);
}

/* ---- statements ---- */

static void add_columns(enum sqlite_table table, char how, struct strbuf *text)
{
    struct column_set columns = columns_of(table, how == '~');
    const char *comma = "";
    columns.without |= how == '^' ? IDENTITY : 0;
    for (const struct column *column = NULL; (column = column_next(&columns, column));) {
        strbuf_adds(text, comma);
        if (how == '%')
            strbuf_addc(text, '?');
        else if (how == '^')
            strbuf_addf(text, "%s = excluded.%s", column->name, column->name);
        else
            strbuf_addf(text, how == '~' ? "%s = ?" : "%s", column->name);
        comma = ", ";
    }
}

/* Of "#runs, seq" the columns, and the length of "#runs". */
static size_t expand(const char *pattern, struct strbuf *text)
{
    static const char *const names[STORED_TABLES] = {
        [STORED_JOBS] = "jobs", [STORED_RUNS] = "runs", [STORED_ENTRIES] = "entries"};
    int table = 0;
    while (table < STORED_TABLES - 1 &&
           strncmp(pattern + 1, names[table], strlen(names[table])) != 0)
        table++;
    add_columns((enum sqlite_table)table, *pattern, text);
    return 1 + strlen(names[table]);
}

int sqlite_prepare(sqlite3 *db, const char *pattern, sqlite3_stmt **ret)
{
    struct strbuf text;
    int rc = SQLITE_NOMEM;
    strbuf_init(&text);
    while (*pattern) {
        size_t plain = strcspn(pattern, "#%~^");
        strbuf_add(&text, pattern, plain);
        pattern += plain;
        if (*pattern)
            pattern += expand(pattern, &text);
    }
    if (strbuf_status(&text) == OK)
        rc = sqlite3_prepare_v3(db, text.text, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL);
    strbuf_release(&text);
    return rc;
}

/* ---- parameters ---- */

/* Binding can only fail for want of memory, and SQLite's own copies are not asked for. */
static int bind_columns(sqlite3_stmt *stmt, const struct column_set *columns, const void *record)
{
    int place = 1;
    for (const struct column *column = NULL; (column = column_next(columns, column)); place++) {
        const void *field = column_field(column, record);
        if (column->kind == COLUMN_ID)
            sqlite3_bind_blob(stmt, place, field, sizeof(struct id), SQLITE_STATIC);
        else if (column_is_text(column))
            sqlite3_bind_text(stmt, place, field, -1, SQLITE_STATIC);
        else
            sqlite3_bind_int64(stmt, place, column_read_int(column, record));
    }
    return place;
}

int sqlite_bind_row(sqlite3_stmt *stmt, enum sqlite_table table, const void *record)
{
    const struct column_set columns = columns_of(table, false);
    return bind_columns(stmt, &columns, record);
}

int sqlite_bind_changes(sqlite3_stmt *stmt, enum sqlite_table table, const void *record)
{
    const struct column_set columns = columns_of(table, true);
    return bind_columns(stmt, &columns, record);
}

/* ---- rows ---- */

void sqlite_read_id(sqlite3_stmt *stmt, int column, struct id *ret)
{
    const void *bytes = sqlite3_column_blob(stmt, column);
    *ret = (struct id){{0}};
    if (bytes && sqlite3_column_bytes(stmt, column) == (int)sizeof(ret->bytes))
        memcpy(ret->bytes, bytes, sizeof(ret->bytes));
}

void sqlite_read_text(sqlite3_stmt *stmt, int column, char *text, size_t size)
{
    const char *value = (const char *)sqlite3_column_text(stmt, column);
    size_t length = value ? strnlen(value, size - 1) : 0;
    if (length)
        memcpy(text, value, length);
    text[length] = '\0';
}

/* False: it is beyond its range, or an id that tells what the row is has another length. */
static bool read_column(sqlite3_stmt *stmt, int place, const struct column *column, void *record)
{
    char *field = (char *)record + column->offset;
    if (column->kind == COLUMN_ID) {
        sqlite_read_id(stmt, place, (struct id *)field);
        return !(column->uses & IDENTITY) ||
               sqlite3_column_bytes(stmt, place) == (int)sizeof(struct id);
    }
    if (!column_is_text(column))
        return column_take_int(column, record, sqlite3_column_int64(stmt, place));
    sqlite_read_text(stmt, place, field, column->size);
    return true;
}

/* Reads all of them, whatever is in one; *ret_next is the place after the last. */
static bool read_row(sqlite3_stmt *stmt, enum sqlite_table table, void *record, int *ret_next)
{
    const struct column_set columns = columns_of(table, false);
    bool is_good = true;
    int place = 0;
    for (const struct column *column = NULL; (column = column_next(&columns, column)); place++)
        is_good &= read_column(stmt, place, column, record);
    *ret_next = place;
    return is_good;
}

bool sqlite_read_job(sqlite3_stmt *stmt, struct job_row *ret, int *ret_next)
{
    char gaps[REWIND_GAPS_TEXT];
    int next;
    ret->last_node = 0;
    bool is_good = read_row(stmt, STORED_JOBS, ret, &next);
    sqlite_read_text(stmt, next, gaps, sizeof(gaps));
    if (ret_next)
        *ret_next = next + 1;
    return rewinds_read_gaps(&ret->rewinds, gaps) && is_good;
}

bool sqlite_read_run(sqlite3_stmt *stmt, struct run_row *ret)
{
    int next;
    *ret = (struct run_row){.seq = 0};
    bool is_good = read_row(stmt, STORED_RUNS, &ret->run, &next);
    int64_t kill_reason = sqlite3_column_int64(stmt, next);
    ret->kill_reason = (enum run_reason)kill_reason;
    sqlite_read_text(stmt, next + 1, ret->kill_by, sizeof(ret->kill_by));
    ret->seq = sqlite3_column_int64(stmt, next + 2);
    return is_good && word_can_be(kill_reason);
}

bool sqlite_read_entry(sqlite3_stmt *stmt, struct ledger_entry *ret)
{
    int next;
    return read_row(stmt, STORED_ENTRIES, ret, &next);
}
