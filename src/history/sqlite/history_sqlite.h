/* The parts of the SQLite backend. A `struct database` is one connection, used by one thread; its
 * statements are prepared once. */
#ifndef PEAL_HISTORY_SQLITE_H
#define PEAL_HISTORY_SQLITE_H

#include <sqlite3.h>

#include "history_stats.h"
#include "history_worker.h"

/* ---- rows: history_sqlite_row.c ---- */

enum statement {
    SQL_INSERT,
    SQL_UPDATE,
    SQL_SELECT,
    SQL_DELETE,
    SQL_OLDER,     /* a job's rows below an id */
    SQL_ENDED,     /* a job's rows below an id that ended before a time */
    SQL_ALL_ENDED, /* the same of all jobs */
    PER_TABLE,     /* the statements above exist for runs and for entries */
    SQL_BEGIN_WRITE = PER_TABLE,
    SQL_BEGIN_READ,
    SQL_COMMIT,
    SQL_FIND_JOB,
    SQL_ADD_JOB,
    SQL_NEXT_JOB_UID,
    SQL_DROP_JOB,
    SQL_KEYS_BY_UID,
    SQL_KEYS_BY_NAME,
    SQL_KEYS_BY_TEXT,
    SQL_ADD_OUTPUT,
    SQL_DELETE_OUTPUT,
    SQL_REPLACE_OUTPUT,
    SQL_KEPT_BYTES,
    SQL_IS_STEP,
    SQL_OUTPUT_FROM,
    SQL_ADD_STATS,
    SQL_READ_STATS,
    SQL_DELETE_STATS,
    SQL_NEXT_STATS_UID,
    SQL_ADD_CHANGE,
    SQL_READ_CHANGES, /* by id; then by job uid, job name and actor */
    SQL_READ_CHANGES_LAST = SQL_READ_CHANGES + 3,
    SQL_DELETE_CHANGES,
    SQL_FREE_PAGES,
    SQL_VACUUM,
    STATEMENTS,
};

/* Index walks over a table, newest id first; history_sqlite_walk.c has their SQL. */
enum walk_shape {
    WALK_ALL,
    WALK_STATE,
    WALK_JOB_STATE,
    WALK_NODE_STATE,
    WALK_LASTING,
    WALK_REASON,
    WALK_DETAIL,
    WALK_STRAY,
    WALK_SHAPES
};

/* The duration class of a run (lasting_class) and the condition that it has one, written exactly as
 * in the index: else SQLite does not use the index. */
#define SQLITE_DURATION "(finished_ms - started_ms)"
#define SQLITE_LASTS    "started_ms <> 0 AND finished_ms <> 0 AND " SQLITE_DURATION " >= 1000"
#define SQLITE_LASTING                                                                             \
    "((" SQLITE_DURATION " >= 4000) + (" SQLITE_DURATION " >= 16000) +"                            \
    " (" SQLITE_DURATION " >= 64000) + (" SQLITE_DURATION " >= 256000) +"                          \
    " (" SQLITE_DURATION " >= 1024000) + (" SQLITE_DURATION " >= 4096000) +"                       \
    " (" SQLITE_DURATION " >= 16384000) + (" SQLITE_DURATION " >= 65536000) +"                     \
    " (" SQLITE_DURATION " >= 262144000))"

enum { WALK_IDLE_MAX = 64 };

struct walk_pool {
    sqlite3_stmt *idle[WALK_IDLE_MAX];
    size_t count;
};

struct database {
    sqlite3 *db;
    sqlite3_stmt *statements[ALL_TABLES][STATEMENTS];
    struct walk_pool walks[TABLES][WALK_SHAPES];
};

/* A connection as history_worker.c sees it. */
struct sqlite_link {
    struct history_link base;
    const char *path;
    struct database database;
};

static inline struct database *database_of(struct history_link *link)
{
    return &((struct sqlite_link *)link)->database;
}

/* OK for SQLITE_OK, ROW and DONE. */
enum status sqlite_status(int rc);

/* The statement, reset and without bindings. `table` is TABLE_CHANGES for statements on changes,
 * TABLE_RUNS for other statements from PER_TABLE on. */
MUST_CHECK enum status database_statement(struct database *database, enum record_table table,
                                          enum statement which, sqlite3_stmt **ret);

/* bind_columns binds table_columns to the parameters from `place` on. read_record reads
 * table_record from the first columns of a row, and returns the number of the next column. */
void bind_columns(sqlite3_stmt *stmt, int place, enum record_table table, const void *record);
int read_record(sqlite3_stmt *stmt, enum record_table table, void *record);

/* Runs a statement without parameters and result. */
MUST_CHECK enum status database_do(struct database *database, enum statement which);

/* Steps to the next row; E_NOT_FOUND: there are no more rows. */
MUST_CHECK enum status statement_row(sqlite3_stmt *stmt);

/* Steps to the end of the statement and ignores any rows. */
MUST_CHECK enum status statement_done(sqlite3_stmt *stmt);

void bind_id(sqlite3_stmt *stmt, int place, const struct id *id);
struct id column_id(sqlite3_stmt *stmt, int place);

/* Binds a run or an entry for SQL_INSERT or SQL_UPDATE; `job` is the key in the table jobs. */
void bind_row(sqlite3_stmt *stmt, const struct history_row *row, int64_t job);

/* E_NOT_FOUND: no such id. */
MUST_CHECK enum status load_row(struct database *database, enum record_table table,
                                const struct id *id, struct history_row *ret);

/* ---- the file: history_sqlite_file.c ---- */

/* Opens the file for writing; creates or migrates it if needed. *why is set unless OK. */
MUST_CHECK enum status database_open_writer(const char *path, struct database *ret,
                                            struct strbuf *why);

/* To be called after database_open_writer, which creates the tables. */
MUST_CHECK enum status database_open_reader(const char *path, struct database *ret,
                                            struct strbuf *why);

/* Checks read-only whether the file can be opened. E_NOT_FOUND: there is no such file. */
MUST_CHECK enum status database_look(const char *path, struct strbuf *why);

void database_close(struct database *database);

/* Adds the reason and a next step for a call that failed with `st`. */
void database_explain(const char *path, enum status st, const char *error, struct strbuf *why);

/* ---- walks: history_sqlite_walk.c ---- */

/* A walk over run or entry ids, newest first, merged from several index ranges. */
struct walk {
    struct database *database;
    const struct history_query *query; /* stays valid until the walk is closed */
    struct walk_stream *streams;
    size_t count;
    struct id last; /* last id returned that can match: its duplicates are skipped */
};

/* One index range: ids in a span that share one value of the indexed column. */
struct walk_part {
    enum record_table table;
    enum walk_shape shape;
    struct id_span span;
    int value;   /* a state, a class or a reason */
    int64_t job; /* key of the job, for WALK_JOB_STATE */
};

/* Adds the part of the index range that is below the query's cursor. */
MUST_CHECK enum status walk_add(struct walk *walk, const struct walk_part *part);

/* The next id; E_NOT_FOUND: the end. If not *ret_can_match, the index shows that the row does not
 * match, but the id may follow once more from a range in which it can. */
MUST_CHECK enum status walk_next(struct walk *walk, enum record_table *ret_table, struct id *ret_id,
                                 bool *ret_can_match);

void walk_close(struct walk *walk);

/* ---- choice of the walk: history_sqlite_ways.c ---- */

/* Opens a walk over every row that matches the query and some that do not. */
MUST_CHECK enum status walk_open(struct walk *walk, struct database *database,
                                 const struct history_query *query);

/* The same over the runs alone or the entries alone. */
MUST_CHECK enum status walk_open_table(struct walk *walk, struct database *database,
                                       const struct history_query *query, enum record_table table);

/* ---- what the requests do ---- */

/* Rolls back the transaction, if there is one. */
void database_roll_back(struct database *database);

/* Unless OK, this and sqlite_read_request may leave a transaction open. */
MUST_CHECK enum status sqlite_append(struct history_link *link,
                                     const struct history_append *append);

/* HISTORY_READ, HISTORY_LOG, HISTORY_STATS and HISTORY_CHANGES. */
MUST_CHECK enum status sqlite_read_request(struct history_link *link,
                                           struct history_request *request);

extern const struct prune_driver sqlite_prune_driver; /* history_sqlite_prune.c */

/* The size of a run's kept output. */
MUST_CHECK enum status read_kept_bytes(struct database *database, const struct id *run_id,
                                       int64_t *ret);

/* ---- statistics: history_sqlite_stats.c ---- */

/* Adds SQL functions for migrations: bucket_of(ms) and hour_of(id) to fill the statistics from
 * existing runs, stray_of(id, from_ms, to_ms) to class strays. */
MUST_CHECK enum status stats_add_functions(struct database *database);

/* Within the append's transaction. */
MUST_CHECK enum status stats_write(struct database *database, const struct stats_changes *changes);
MUST_CHECK enum status stats_read(struct database *database, struct history_stats *answer);

/* ---- changes: history_sqlite_changes.c ---- */

/* Within the append's transaction. */
MUST_CHECK enum status changes_write(struct database *database, const struct change_record *change);
MUST_CHECK enum status changes_read(struct database *database, struct history_changes *changes);

#endif
