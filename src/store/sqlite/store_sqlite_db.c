/* The connection that writes: its statements and its transactions. */
#include <stdlib.h>

#include "sqlite/store_sqlite.h"
#include "words.h"

/* Unknown states of a newer version count as open (rules.h), and are queried separately, so that
 * the index over the known ones can be used. */
#define NEWER_STATE "state BETWEEN 12 AND 4095"
_Static_assert(RUN_STATES == 12 && WORD_NUMBERS == 4096, "as in NEWER_STATE");

/* run_row_is_queued */
#define IS_QUEUED "state = 0 AND parts = 0 AND step = ''"

#define NEXT_RUN(which)                                                                            \
    "SELECT #runs, kill_reason, kill_by, seq FROM runs WHERE job = ?1 AND " which                  \
    " AND seq > ?2 ORDER BY seq LIMIT 1"

static const char *const texts[SQL_STATEMENTS] = {
    [SQL_BEGIN] = "BEGIN IMMEDIATE",
    [SQL_COMMIT] = "COMMIT",
    [SQL_ROLLBACK] = "ROLLBACK",
    [SQL_PROBE] = "UPDATE counters SET value = value + 1 WHERE name = 'probe'",
    [SQL_GET_JOB] = "SELECT #jobs, gaps FROM jobs WHERE uid = ?1",
    [SQL_FIND_NAME] = "SELECT uid FROM jobs WHERE name = ?1 AND deleted = 0",
    [SQL_PUT_JOB] =
        "INSERT INTO jobs (#jobs, gaps, name) VALUES (%jobs, ?, ?) ON CONFLICT (uid) DO UPDATE"
        " SET ^jobs, gaps = excluded.gaps, name = excluded.name",
    [SQL_ADD_JOB] = "INSERT INTO jobs (#jobs, gaps, name) VALUES (%jobs, ?, ?)"
                    " ON CONFLICT DO NOTHING",
    [SQL_PUT_DEFINITION] = "INSERT INTO definitions (uid, json) VALUES (?1, ?2)"
                           " ON CONFLICT (uid) DO UPDATE SET json = ?2",
    [SQL_MOVE_JOB] = "UPDATE jobs SET ~jobs, gaps = ? WHERE uid = ?",
    [SQL_REMOVE_JOB] = "DELETE FROM jobs WHERE uid = ?1",
    [SQL_REMOVE_DEFINITION] = "DELETE FROM definitions WHERE uid = ?1",
    [SQL_GET_RUN] = "SELECT #runs, kill_reason, kill_by, seq FROM runs WHERE id = ?1",
    [SQL_FIND_RUN] = "SELECT id FROM runs WHERE job = ?1 AND tick_ms = ?2 AND attempt = ?3"
                     " AND ?4 IN (part, -1) ORDER BY part",
    [SQL_COUNT_OPEN] = "SELECT count(*), count(*) FILTER (WHERE " IS_QUEUED ") FROM ("
                       "SELECT state, parts, step FROM runs WHERE job = ?1 AND state < 5 UNION ALL"
                       " SELECT state, parts, step FROM runs WHERE job = ?1 AND " NEWER_STATE ")",
    [SQL_NEXT_OPEN] = "SELECT * FROM (SELECT * FROM (" NEXT_RUN(
        "state < 5") ") UNION ALL"
                     " SELECT * FROM (" NEXT_RUN(NEWER_STATE) ")) ORDER BY seq LIMIT 1",
    [SQL_OLDEST_QUEUED] = "SELECT #runs, kill_reason, kill_by, seq FROM runs"
                          " WHERE job = ?1 AND state < 5 AND " IS_QUEUED " ORDER BY seq LIMIT 1",
    [SQL_ADD_RUN] = "INSERT INTO runs (#runs, kill_reason, kill_by) VALUES (%runs, 0, '')",
    [SQL_SET_RUN] = "UPDATE runs SET ~runs, kill_reason = ?, kill_by = ? WHERE seq = ?",
    [SQL_REMOVE_ENDED_RUN] = "DELETE FROM runs WHERE id = ?1 AND state BETWEEN 5 AND 11",
    [SQL_ADD_ENTRY] = "INSERT OR IGNORE INTO entries (#entries) VALUES (%entries)",
    [SQL_REMOVE_ENTRY] = "DELETE FROM entries WHERE id = ?1",
    [SQL_NEXT_FENCE] = "UPDATE counters SET value = value + 1 WHERE name = 'fence' RETURNING value",
    [SQL_SET_META] = "INSERT OR REPLACE INTO metas (key, value) VALUES (?1, ?2)",
    [SQL_ADD_DRAIN] = "INSERT OR REPLACE INTO drains (node, asked_by) VALUES (?1, ?2)",
    [SQL_REMOVE_DRAIN] = "DELETE FROM drains WHERE node = ?1",
    [SQL_GET_DOC] = "SELECT revision FROM docs WHERE kind = ?1 AND name = ?2",
    [SQL_PUT_DOC] = "INSERT OR REPLACE INTO docs (kind, name, revision, json)"
                    " VALUES (?1, ?2, ?3, ?4)",
    [SQL_REMOVE_DOC] = "DELETE FROM docs WHERE kind = ?1 AND name = ?2",
    [SQL_RUNS_OF_JOB] = "SELECT #runs, kill_reason, kill_by, seq FROM runs"
                        " WHERE job = ?1",
    [SQL_GROUPED] = "SELECT #runs, kill_reason, kill_by, seq FROM runs"
                    " WHERE in_groups <> '' AND state < 5 ORDER BY state DESC",
    [SQL_SET_FENCE] = "UPDATE counters SET value = ?1 WHERE name = 'fence'",
};

static enum status fail(struct sqlite_db *db, int rc)
{
    strbuf_reset(&db->why);
    return sqlite_explain(db->handle, rc, db->path, &db->why);
}

enum status sqlite_finish(struct sqlite_db *db, enum sql which)
{
    int rc = sqlite3_step(db->stmts[which]);
    enum status st = rc == SQLITE_DONE ? OK : fail(db, rc);
    sqlite3_reset(db->stmts[which]);
    return st;
}

enum status sqlite_first_row(struct sqlite_db *db, enum sql which)
{
    int rc = sqlite3_step(db->stmts[which]);
    if (rc == SQLITE_ROW)
        return OK;
    enum status st = rc == SQLITE_DONE ? E_NOT_FOUND : fail(db, rc);
    sqlite3_reset(db->stmts[which]);
    return st;
}

enum status sqlite_db_begin(struct sqlite_db *db)
{
    sqlite_cache_trim(&db->cache);
    return sqlite_finish(db, SQL_BEGIN);
}

/* Some failures have rolled back already. */
void sqlite_db_rollback(struct sqlite_db *db)
{
    sqlite_cache_clear(&db->cache);
    if (sqlite3_get_autocommit(db->handle))
        return;
    sqlite3_step(db->stmts[SQL_ROLLBACK]);
    sqlite3_reset(db->stmts[SQL_ROLLBACK]);
}

/* One commit. *ret_rc is SQLite's result. */
static enum status commit_once(struct sqlite_db *db, int *ret_rc)
{
    *ret_rc = sqlite3_step(db->stmts[SQL_COMMIT]);
    enum status st = *ret_rc == SQLITE_DONE ? OK : fail(db, *ret_rc);
    sqlite3_reset(db->stmts[SQL_COMMIT]);
    if (st != OK)
        sqlite_db_rollback(db);
    return st;
}

enum status sqlite_db_probe(struct sqlite_db *db)
{
    int rc;
    enum status st = sqlite_db_begin(db);
    if (st == OK)
        st = sqlite_finish(db, SQL_PROBE);
    if (st == OK)
        return commit_once(db, &rc);
    sqlite_db_rollback(db);
    return st;
}

/* When the flush of a commit fails, its last frame may still be on disk, and a restart would find
 * it there. The next successful commit overwrites it, so one is made at once. */
enum status sqlite_db_commit(struct sqlite_db *db)
{
    int rc;
    enum status st = sqlite_cache_write(db);
    if (st != OK) {
        sqlite_db_rollback(db);
        return st;
    }
    st = commit_once(db, &rc);
    if (st == OK || (rc & 0xff) != SQLITE_IOERR)
        return st;
    struct strbuf first = db->why;
    strbuf_init(&db->why);
    bool settled = sqlite_db_probe(db) == OK;
    strbuf_release(&db->why);
    db->why = first;
    return settled ? st : E_UNKNOWN;
}

/* Only this connection writes, so this is the length of the log after each commit. */
static int note_log_pages(void *context, sqlite3 *handle, const char *name, int pages)
{
    struct sqlite_db *db = context;
    (void)handle;
    (void)name;
    db->log_pages = pages;
    return SQLITE_OK;
}

void sqlite_db_rest(struct sqlite_db *db)
{
    sqlite_cache_clear(&db->cache);
    sqlite3_db_release_memory(db->handle);
}

void sqlite_db_checkpoint(struct sqlite_db *db, bool is_busy)
{
    enum { LONG_PAGES = 2000, LONGEST_PAGES = 8000 };
    if (db->log_pages < (is_busy ? LONGEST_PAGES : LONG_PAGES))
        return;
    int rc = sqlite3_wal_checkpoint_v2(db->handle, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    if (rc == SQLITE_OK)
        db->log_pages = 0;
}

enum status sqlite_db_new(sqlite3 *handle, const char *path, struct sqlite_db **ret,
                          struct strbuf *why)
{
    struct sqlite_db *db = calloc(1, sizeof(*db));
    if (!db) {
        sqlite3_close(handle);
        return E_NOMEM;
    }
    db->tables.ops = &sqlite_cached_ops;
    sqlite_cache_init(&db->cache);
    db->handle = handle;
    db->path = path;
    strbuf_init(&db->why);
    sqlite3_wal_hook(handle, note_log_pages, db);
    for (int i = 0; i < SQL_STATEMENTS; i++) {
        int rc = sqlite_prepare(handle, texts[i], &db->stmts[i]);
        if (rc != SQLITE_OK) {
            enum status st = sqlite_explain(handle, rc, path, why);
            sqlite_db_free(db);
            return st;
        }
    }
    *ret = db;
    return OK;
}

struct sqlite_db *sqlite_db_free(struct sqlite_db *db)
{
    if (!db)
        return NULL;
    for (int i = 0; i < SQL_STATEMENTS; i++)
        sqlite3_finalize(db->stmts[i]);
    sqlite_cache_clear(&db->cache);
    sqlite3_close(db->handle);
    strbuf_release(&db->why);
    free(db);
    return NULL;
}
