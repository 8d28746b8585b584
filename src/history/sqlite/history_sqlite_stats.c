/* Statistics: adds to cells, and reads cells in the order of hours. */
#include "sqlite/history_sqlite.h"

/* ---- SQL functions for migrations ---- */

static void bucket_of(sqlite3_context *context, int count, sqlite3_value **values)
{
    (void)count;
    if (sqlite3_value_type(values[0]) != SQLITE_NULL)
        sqlite3_result_int(context, history_bucket(sqlite3_value_int64(values[0])));
}

static void hour_of(sqlite3_context *context, int count, sqlite3_value **values)
{
    const struct id *id = sqlite3_value_blob(values[0]);
    (void)count;
    if (id && sqlite3_value_bytes(values[0]) == sizeof(*id))
        sqlite3_result_int64(context, history_id_made_ms(id) / (3600 * 1000));
}

static void stray_of(sqlite3_context *context, int count, sqlite3_value **values)
{
    const struct id *id = sqlite3_value_blob(values[0]);
    (void)count;
    if (id && sqlite3_value_bytes(values[0]) == sizeof(*id))
        sqlite3_result_int(context,
                           stray_class(history_id_made_ms(id), sqlite3_value_int64(values[1]),
                                       sqlite3_value_int64(values[2])));
}

enum status stats_add_functions(struct database *database)
{
    const int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    int rc =
        sqlite3_create_function(database->db, "bucket_of", 1, flags, NULL, bucket_of, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_create_function(database->db, "hour_of", 1, flags, NULL, hour_of, NULL, NULL);
    if (rc == SQLITE_OK)
        rc =
            sqlite3_create_function(database->db, "stray_of", 3, flags, NULL, stray_of, NULL, NULL);
    return sqlite_status(rc);
}

/* ---- requests ---- */

static enum status write_cell(struct database *database, const struct stats_cell *cell)
{
    const int64_t numbers[] = {cell->hour,   cell->state,    cell->bucket,
                               cell->count,  cell->sum_ms,   cell->min_ms,
                               cell->max_ms, cell->punctual, cell->late_sum_ms};
    sqlite3_stmt *stmt;
    enum status st = database_statement(database, TABLE_RUNS, SQL_ADD_STATS, &stmt);
    if (st != OK)
        return st;
    bind_id(stmt, 1, &cell->job_uid);
    for (int i = 0; i < (int)(sizeof(numbers) / sizeof(numbers[0])); i++)
        sqlite3_bind_int64(stmt, 2 + i, numbers[i]);
    return statement_done(stmt);
}

enum status stats_write(struct database *database, const struct stats_changes *changes)
{
    enum status st = OK;
    for (size_t i = 0; i < changes->count && st == OK; i++)
        st = write_cell(database, &changes->cells[i]);
    return st;
}

enum status stats_read(struct database *database, struct history_stats *answer)
{
    int64_t from, to;
    sqlite3_stmt *stmt;
    enum status st = database_statement(database, TABLE_RUNS, SQL_READ_STATS, &stmt);
    if (st != OK)
        return st;
    stats_request_hours(answer, &from, &to);
    bind_id(stmt, 1, &answer->job_uid);
    sqlite3_bind_int64(stmt, 2, from);
    sqlite3_bind_int64(stmt, 3, to);
    while ((st = statement_row(stmt)) == OK) {
        struct stats_cell cell = {
            .job_uid = answer->job_uid,
            .hour = sqlite3_column_int64(stmt, 0),
            .state = sqlite3_column_int(stmt, 1),
            .bucket = sqlite3_column_int(stmt, 2),
            .count = sqlite3_column_int64(stmt, 3),
            .sum_ms = sqlite3_column_int64(stmt, 4),
            .min_ms = sqlite3_column_int64(stmt, 5),
            .max_ms = sqlite3_column_int64(stmt, 6),
            .punctual = sqlite3_column_int64(stmt, 7),
            .late_sum_ms = sqlite3_column_int64(stmt, 8),
        };
        st = stats_answer_add(answer, &cell);
        if (st != OK)
            break;
    }
    sqlite3_reset(stmt);
    return st == E_NOT_FOUND ? OK : st;
}
