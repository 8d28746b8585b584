/* The parts of the SQLite backend. Private to it; store.h is the contract. */
#ifndef PEAL_STORE_SQLITE_H
#define PEAL_STORE_SQLITE_H

#include <sqlite3.h>

#include "rules/rules.h"
#include "store.h"
#include "table.h"

/* ---- store_sqlite_file.c: messages for failures of the database file ---- */

/* Explains an SQLite result other than OK, ROW and DONE to the user in *why (may be NULL), with
 * what to do. Returns its status. `db` may be NULL. */
enum status sqlite_explain(sqlite3 *db, int rc, const char *path, struct strbuf *why);

/* ---- store_sqlite_schema.c ---- */

/* The first column of the first row, as a text of at most 63 bytes. */
MUST_CHECK enum status sqlite_ask(sqlite3 *db, const char *sql, char answer[64], const char *path,
                                  struct strbuf *why);

/* E_CORRUPT: the file is damaged. */
/* Is the file peal's, and of which format? E_CORRUPT: of something else; E_VERSION: of a newer
 * peal. */
MUST_CHECK enum status sqlite_check_kind(sqlite3 *db, const char *path, int *ret_version,
                                         struct strbuf *why);
MUST_CHECK enum status sqlite_check_whole(sqlite3 *db, const char *path, struct strbuf *why);

/* Opens the database for writing; creates it, or migrates an old one, if need be. E_VERSION,
 * E_CORRUPT, E_IO. */
MUST_CHECK enum status sqlite_open_database(const char *path, sqlite3 **ret, struct strbuf *why);

/* Opens a database that other processes have open: neither creates nor migrates it. E_VERSION: its
 * format is not exactly this one. */
MUST_CHECK enum status sqlite_join_database(const char *path, sqlite3 **ret, struct strbuf *why);

/* ---- store_sqlite_db.c: the connection that writes ---- */

enum sql {
    SQL_BEGIN,
    SQL_COMMIT,
    SQL_ROLLBACK,
    SQL_PROBE,
    SQL_GET_JOB,
    SQL_FIND_NAME,
    SQL_PUT_JOB,
    SQL_ADD_JOB,
    SQL_PUT_DEFINITION,
    SQL_MOVE_JOB,
    SQL_REMOVE_JOB,
    SQL_REMOVE_DEFINITION,
    SQL_GET_RUN,
    SQL_FIND_RUN,
    SQL_COUNT_OPEN,
    SQL_NEXT_OPEN,
    SQL_OLDEST_QUEUED,
    SQL_ADD_RUN,
    SQL_SET_RUN,
    SQL_REMOVE_ENDED_RUN,
    SQL_ADD_ENTRY,
    SQL_REMOVE_ENTRY,
    SQL_NEXT_FENCE,
    SQL_SET_META,
    SQL_ADD_DRAIN,
    SQL_REMOVE_DRAIN,
    SQL_GET_DOC,
    SQL_PUT_DOC,
    SQL_REMOVE_DOC,
    SQL_RUNS_OF_JOB,
    SQL_GROUPED,
    SQL_SET_FENCE,
    SQL_STATEMENTS,
};

/* Of store_sqlite_cache.c. */
struct sqlite_cache {
    struct table jobs, runs; /* by their ids */
    int64_t fence;           /* the last one ... */
    bool has_fence;          /* ... if it is known here */
    bool is_fence_ahead;     /* of the database: to be written with the transaction */
};

struct sqlite_db {
    struct tables tables; /* the tables of rules.h, see store_sqlite_cache.c */
    struct sqlite_cache cache;
    sqlite3 *handle;
    const char *path;
    sqlite3_stmt *stmts[SQL_STATEMENTS];
    int log_pages;     /* length of the write-ahead log */
    struct strbuf why; /* explains the last failure */
    void *context;     /* of who has put operations around its own */
};

/* Takes over `handle`, also on failure. `path` is the caller's. */
MUST_CHECK enum status sqlite_db_new(sqlite3 *handle, const char *path, struct sqlite_db **ret,
                                     struct strbuf *why);
struct sqlite_db *sqlite_db_free(struct sqlite_db *db);

/* Runs a statement that gives no rows. */
MUST_CHECK enum status sqlite_finish(struct sqlite_db *db, enum sql which);

/* Runs a statement up to its first row, or on to the next one. OK: read it, then sqlite3_reset.
 * E_NOT_FOUND: there is none, and it is reset. */
MUST_CHECK enum status sqlite_first_row(struct sqlite_db *db, enum sql which);

MUST_CHECK enum status sqlite_db_begin(struct sqlite_db *db);

/* OK: durable. E_UNKNOWN: rolled back for this process, but after a crash the commit may turn out
 * to be done, until another commit has succeeded. Else: surely rolled back. */
MUST_CHECK enum status sqlite_db_commit(struct sqlite_db *db);
void sqlite_db_rollback(struct sqlite_db *db);

/* Commits a tiny change, to test whether commits work. */
MUST_CHECK enum status sqlite_db_probe(struct sqlite_db *db);

/* Gives back the memory of cached pages, after a while without requests. */
void sqlite_db_rest(struct sqlite_db *db);

/* Checkpoints the write-ahead log when it has grown long, or very long if requests wait meanwhile.
 * A failure loses nothing; it is retried. */
void sqlite_db_checkpoint(struct sqlite_db *db, bool is_busy);

/* ---- store_sqlite_tables.c: the tables of rules.h as SQL ---- */

extern const struct tables_ops sqlite_tables_ops;

/* ---- store_sqlite_cache.c: the same, with rows that were used lately in memory ---- */

extern const struct tables_ops sqlite_cached_ops;

void sqlite_cache_init(struct sqlite_cache *cache);
void sqlite_cache_clear(struct sqlite_cache *cache); /* and frees its memory */
void sqlite_cache_trim(struct sqlite_cache *cache);  /* between transactions */

/* What is to be written with the transaction. */
MUST_CHECK enum status sqlite_cache_write(struct sqlite_db *db);

/* ---- store_sqlite_row.c: rows by the tables of their columns ---- */

enum sqlite_table { STORED_JOBS, STORED_RUNS, STORED_ENTRIES, STORED_TABLES };

/* Prepares a statement. `#runs` in its text is the columns of the table, `%runs` a parameter for
 * each, `~runs` the assignments of those that sqlite_bind_changes binds, `^runs` those of a row
 * that was to be inserted. Columns that are in no struct are in the text. SQLite's own answer. */
MUST_CHECK int sqlite_prepare(sqlite3 *db, const char *pattern, sqlite3_stmt **ret);

/* What is bound stays the caller's, until the statement is done. Answers the next place. */
int sqlite_bind_row(sqlite3_stmt *stmt, enum sqlite_table table, const void *record);
int sqlite_bind_changes(sqlite3_stmt *stmt, enum sqlite_table table, const void *record);

void sqlite_read_id(sqlite3_stmt *stmt, int column, struct id *ret);
void sqlite_read_text(sqlite3_stmt *stmt, int column, char *text, size_t size);

/* False: a value is beyond its range, so that the row is to be set aside. Behind the columns of a
 * job come its gaps; *ret_next, unless NULL, is the place after them. */
MUST_CHECK bool sqlite_read_job(sqlite3_stmt *stmt, struct job_row *ret, int *ret_next);
/* Behind the columns come kill_reason, kill_by, and seq, which is always read. */
MUST_CHECK bool sqlite_read_run(sqlite3_stmt *stmt, struct run_row *ret);
MUST_CHECK bool sqlite_read_entry(sqlite3_stmt *stmt, struct ledger_entry *ret);

/* ---- store_sqlite_load.c: the initial state, one snapshot, row by row ---- */

struct sqlite_loader;

/* The snapshot is taken now. */
MUST_CHECK enum status sqlite_loader_new(const char *path, struct sqlite_loader **ret,
                                         struct strbuf *why);
struct sqlite_loader *sqlite_loader_free(struct sqlite_loader *loader);

/* Its connection, to read more of the snapshot before the first sqlite_loader_next. */
sqlite3 *sqlite_loader_handle(const struct sqlite_loader *loader);

/* OK: *ret is valid until the next call; the last one is LOADED. E_IO, E_CORRUPT: *why. */
MUST_CHECK enum status sqlite_loader_next(struct sqlite_loader *loader, struct store_change *ret,
                                          struct strbuf *why);

/* ---- store_sqlite_ahead.c: rows, read by a thread of its own while those before are taken ---- */

struct sqlite_ahead;

/* `next` is called by the thread: it answers SQLITE_ROW, with jobs and asides alone in *ret, or the
 * result after the last row. NULL: out of memory, or the thread can't be started. */
struct sqlite_ahead *sqlite_ahead_new(int (*next)(void *context, struct store_change *ret),
                                      void *context);
/* Ends the thread. */
struct sqlite_ahead *sqlite_ahead_free(struct sqlite_ahead *ahead);

/* The next answer of `next`; *ret is valid until the next call. */
int sqlite_ahead_next(struct sqlite_ahead *ahead, struct store_change *ret);

#endif
