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
    SQL_OLDER, /* ids of a job that are smaller than one */
    SQL_ENDED, /* ids of a job that ended before a time */
    PER_TABLE, /* the ones above are there for each table */
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
    SQL_KEPT_BYTES,
    SQL_OUTPUT_FROM,
    SQL_ADD_STATS,
    SQL_READ_STATS,
    SQL_DELETE_STATS,
    SQL_NEXT_STATS_UID,
    SQL_ADD_CHANGE,
    SQL_READ_CHANGES, /* four ways to walk along them */
    SQL_READ_CHANGES_LAST = SQL_READ_CHANGES + 3,
    SQL_DELETE_CHANGES,
    SQL_FREE_PAGES,
    SQL_VACUUM,
    STATEMENTS,
};

/* Ways to walk a table from the newest id down; history_sqlite_walk.c has their SQL. */
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

/* The class of a run's duration (lasting_class), of those that have one; in the words of the index.
 */
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

/* What history_worker.c has of it. */
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

/* The statement, reset and without bindings. `table` is TABLE_RUNS for those that are not there for
 * each table; TABLE_CHANGES for those of changes. */
MUST_CHECK enum status database_statement(struct database *database, enum record_table table,
                                          enum statement which, sqlite3_stmt **ret);

/* Its parameters from `place` on are table_columns. Its row begins with table_record; read_record
 * answers the place behind that. */
void bind_columns(sqlite3_stmt *stmt, int place, enum record_table table, const void *record);
int read_record(sqlite3_stmt *stmt, enum record_table table, void *record);

/* Runs a statement that needs nothing and answers nothing. */
MUST_CHECK enum status database_do(struct database *database, enum statement which);

/* Steps to a row: OK, or E_NOT_FOUND when there is none (any more). */
MUST_CHECK enum status statement_row(sqlite3_stmt *stmt);

/* Steps to the end of a statement without rows. */
MUST_CHECK enum status statement_done(sqlite3_stmt *stmt);

void bind_id(sqlite3_stmt *stmt, int place, const struct id *id);
struct id column_id(sqlite3_stmt *stmt, int place);

/* For INSERT and UPDATE: all but the id of the run or entry is bound; `job` is the key of its job.
 */
void bind_row(sqlite3_stmt *stmt, const struct history_row *row, int64_t job);

/* E_NOT_FOUND: no such id. */
MUST_CHECK enum status load_row(struct database *database, enum record_table table,
                                const struct id *id, struct history_row *ret);

/* ---- the file: history_sqlite_file.c ---- */

/* Opens and, if need be, makes or migrates the file for writing. *why is set unless OK. */
MUST_CHECK enum status database_open_writer(const char *path, struct database *ret,
                                            struct strbuf *why);

/* After the writer. */
MUST_CHECK enum status database_open_reader(const char *path, struct database *ret,
                                            struct strbuf *why);

/* What would keep it from being opened. E_NOT_FOUND: there is no such file. */
MUST_CHECK enum status database_look(const char *path, struct strbuf *why);

void database_close(struct database *database);

/* Words with a next step, for a call that failed with `st`. */
void database_explain(const char *path, enum status st, const char *error, struct strbuf *why);

/* ---- walks: history_sqlite_walk.c ---- */

/* Ids from the newest down, merged from walks along indexes. */
struct walk {
    struct database *database;
    const struct history_query *query; /* the caller's until the walk is closed */
    struct walk_stream *streams;
    size_t count, capacity;
    struct id last;
};

/* One of those: ids of a span for one value of what its shape is by. */
struct walk_part {
    enum record_table table;
    enum walk_shape shape;
    struct id_span span;
    int value;   /* a state, a class or a reason */
    int64_t job; /* of WALK_JOB_STATE */
};

/* Adds it, as far as it is below the query's cursor. */
MUST_CHECK enum status walk_add(struct walk *walk, const struct walk_part *part);

/* E_NOT_FOUND: the end. *ret_can_match: else it need not be looked at; unless it comes once more.
 */
MUST_CHECK enum status walk_next(struct walk *walk, enum record_table *ret_table, struct id *ret_id,
                                 bool *ret_can_match);

void walk_close(struct walk *walk);

/* ---- which walk: history_sqlite_ways.c ---- */

/* Everything that the query can match is walked over, but not all of that matches. */
MUST_CHECK enum status walk_open(struct walk *walk, struct database *database,
                                 const struct history_query *query);

/* The same over one table. */
MUST_CHECK enum status walk_open_table(struct walk *walk, struct database *database,
                                       const struct history_query *query, enum record_table table);

/* ---- what the requests do ---- */

/* After a failure: back to no transaction. */
void database_roll_back(struct database *database);

/* Unless OK, both may leave a transaction. */
MUST_CHECK enum status sqlite_append(struct history_link *link,
                                     const struct history_append *append);

/* HISTORY_READ, HISTORY_LOG, HISTORY_STATS and HISTORY_CHANGES. */
MUST_CHECK enum status sqlite_read_request(struct history_link *link,
                                           struct history_request *request);

extern const struct prune_driver sqlite_prune_driver; /* history_sqlite_prune.c */

/* How much of a run's output there is. */
MUST_CHECK enum status read_kept_bytes(struct database *database, const struct id *run_id,
                                       int64_t *ret);

/* ---- statistics: history_sqlite_stats.c ---- */

/* For the migration that fills them from the runs that are there: bucket_of(ms), hour_of(id); and
 * for the one that classes strays: stray_of(id, from_ms, to_ms). */
MUST_CHECK enum status stats_add_functions(struct database *database);

/* Within the append's transaction. */
MUST_CHECK enum status stats_write(struct database *database, const struct stats_changes *changes);
MUST_CHECK enum status stats_read(struct database *database, struct history_stats *stats);

/* ---- changes: history_sqlite_changes.c ---- */

/* Within the append's transaction. */
MUST_CHECK enum status changes_write(struct database *database, const struct change_record *change);
MUST_CHECK enum status changes_read(struct database *database, struct history_changes *changes);

#endif
