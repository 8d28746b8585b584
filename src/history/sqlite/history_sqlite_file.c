/* Creates, migrates or rejects the database file. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "sqlite/history_sqlite.h"

enum {
    APPLICATION_ID = 0x7065616c, /* "peal" */
    BUSY_MS = 5000,
};

/* migrations[v] leads from version v to v + 1. Never edit a released migration: append one. */
static const char *const migrations[] = {
    /* A row of `jobs` is a uid and a name of a job; runs and entries refer to its short key. */
    "CREATE TABLE jobs ("
    " key INTEGER PRIMARY KEY, uid BLOB NOT NULL, name TEXT NOT NULL, UNIQUE (uid, name));"
    "CREATE INDEX jobs_name ON jobs (name);"

    "CREATE TABLE runs ("
    " id BLOB PRIMARY KEY, job INTEGER NOT NULL, state INTEGER NOT NULL,"
    " ended_ms INTEGER NOT NULL, stray INTEGER NOT NULL, reason INTEGER NOT NULL,"
    " cause INTEGER NOT NULL, tick_ms INTEGER NOT NULL, attempt INTEGER NOT NULL,"
    " node TEXT NOT NULL, nonce INTEGER NOT NULL, fence INTEGER NOT NULL,"
    " job_revision INTEGER NOT NULL, not_before_ms INTEGER NOT NULL,"
    " claimed_ms INTEGER NOT NULL, started_ms INTEGER NOT NULL, finished_ms INTEGER NOT NULL,"
    " exit_code INTEGER NOT NULL, term_signal INTEGER NOT NULL, user_ms INTEGER NOT NULL,"
    " system_ms INTEGER NOT NULL, max_rss_kb INTEGER NOT NULL, output_bytes INTEGER NOT NULL,"
    " output_truncated INTEGER NOT NULL, \"by\" TEXT NOT NULL, detail TEXT NOT NULL"
    ") WITHOUT ROWID;"
    "CREATE INDEX runs_job ON runs (job, state, id);"
    "CREATE INDEX runs_state ON runs (state, id);"
    "CREATE INDEX runs_stray ON runs (tick_ms) WHERE stray = 1;"

    "CREATE TABLE entries ("
    " id BLOB PRIMARY KEY, job INTEGER NOT NULL, state INTEGER NOT NULL,"
    " ended_ms INTEGER NOT NULL, stray INTEGER NOT NULL, reason INTEGER NOT NULL,"
    " from_ms INTEGER NOT NULL, to_ms INTEGER NOT NULL, count INTEGER NOT NULL,"
    " detail TEXT NOT NULL, recorded_ms INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE INDEX entries_job ON entries (job, state, id);"
    "CREATE INDEX entries_state ON entries (state, id);"
    "CREATE INDEX entries_stray ON entries (to_ms) WHERE stray = 1;"

    /* `start` is the offset of the first byte in the run's kept output. */
    "CREATE TABLE output ("
    " key INTEGER PRIMARY KEY, run_id BLOB NOT NULL, start INTEGER NOT NULL, seq INTEGER NOT NULL,"
    " stream INTEGER NOT NULL, at_ms INTEGER NOT NULL, gap_bytes INTEGER NOT NULL,"
    " bytes BLOB NOT NULL);"
    "CREATE UNIQUE INDEX output_run ON output (run_id, start, seq);",

    /* Statistics, filled from existing rows; those of all jobs together have the zero uid.
     * Durations and start delays are computed as in history_stats.c: 9 is LOST, 0 is CAUSE_TICK. */
    "CREATE TABLE stats ("
    " job_uid BLOB NOT NULL, hour INTEGER NOT NULL, state INTEGER NOT NULL,"
    " bucket INTEGER NOT NULL, count INTEGER NOT NULL, sum_ms INTEGER NOT NULL,"
    " min_ms INTEGER NOT NULL, max_ms INTEGER NOT NULL, punctual INTEGER NOT NULL,"
    " late_sum_ms INTEGER NOT NULL, PRIMARY KEY (job_uid, hour, state, bucket)) WITHOUT ROWID;"
    "CREATE TEMP TABLE cells AS SELECT uid, hour_of(id) AS hour, state, ms, count, punctual, late"
    " FROM (SELECT job, id, state, 1 AS count,"
    "  iif(started_ms AND finished_ms AND state <> 9, max(finished_ms - started_ms, 0), NULL) AS "
    "ms,"
    "  started_ms AND cause = 0 AND attempt = 1 AS punctual,"
    "  iif(started_ms AND cause = 0 AND attempt = 1, max(started_ms - tick_ms, 0), 0) AS late"
    "  FROM runs UNION ALL SELECT job, id, state, count, NULL, 0, 0 FROM entries)"
    " JOIN jobs ON key = job;"
    "INSERT INTO stats SELECT uid, hour, state, coalesce(bucket_of(ms), -1) AS bucket, sum(count),"
    " coalesce(sum(ms), 0), coalesce(min(ms), 9223372036854775807),"
    " coalesce(max(ms), -9223372036854775807 - 1), sum(punctual), sum(late)"
    " FROM cells GROUP BY 1, 2, 3, 4;"
    "INSERT INTO stats SELECT zeroblob(16), hour, state, bucket, sum(count), sum(sum_ms),"
    " min(min_ms), max(max_ms), sum(punctual), sum(late_sum_ms) FROM stats GROUP BY 2, 3, 4;"
    "DROP TABLE cells;",

    /* The trail of changes. An absent definition is an empty text. */
    "CREATE TABLE changes ("
    " key INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, job_uid BLOB NOT NULL,"
    " via INTEGER NOT NULL, action INTEGER NOT NULL, target_kind INTEGER NOT NULL,"
    " revision INTEGER NOT NULL, actor TEXT NOT NULL, address TEXT NOT NULL,"
    " request_id TEXT NOT NULL, target TEXT NOT NULL, job_name TEXT NOT NULL,"
    " detail TEXT NOT NULL, before TEXT NOT NULL, after TEXT NOT NULL);"
    "CREATE INDEX changes_job ON changes (job_uid, id);"
    "CREATE INDEX changes_job_name ON changes (job_name, id);"
    "CREATE INDEX changes_actor ON changes (actor, id);"
    "ALTER TABLE runs ADD COLUMN traceparent TEXT NOT NULL DEFAULT '';",

    /* An index for each filter; classes of strays. The columns after the id let a walk skip rows
     * that do not match without reading them from the table. */
    "UPDATE runs SET stray = stray_of(id, tick_ms, tick_ms) WHERE stray = 1;"
    "UPDATE entries SET stray = stray_of(id, from_ms, to_ms) WHERE stray = 1;"
    "DROP INDEX runs_stray; CREATE INDEX runs_stray ON runs (stray, id) WHERE stray <> 0;"
    "DROP INDEX entries_stray; CREATE INDEX entries_stray ON entries (stray, id) WHERE stray <> 0;"
    "CREATE INDEX runs_node ON runs (node, state, id);"
    "CREATE INDEX runs_lasting ON runs (" SQLITE_LASTING ", id, started_ms, finished_ms)"
    " WHERE " SQLITE_LASTS ";"
    "CREATE INDEX runs_reason ON runs (reason, id) WHERE reason <> 0;"
    "CREATE INDEX entries_reason ON entries (reason, id) WHERE reason <> 0;"
    "CREATE INDEX runs_detail ON runs (id, detail) WHERE detail <> '';"
    "CREATE INDEX entries_detail ON entries (id, detail) WHERE detail <> '';",

    /* Further attempts, and several runs of one tick. */
    "ALTER TABLE runs ADD COLUMN retried INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE runs ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE runs ADD COLUMN part INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE runs ADD COLUMN parts INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE runs ADD COLUMN pinned TEXT NOT NULL DEFAULT '';",

    /* Workflows. */
    ("ALTER TABLE runs ADD COLUMN instance BLOB NOT NULL DEFAULT x'';"
     "ALTER TABLE runs ADD COLUMN step TEXT NOT NULL DEFAULT '';"),
};

enum { VERSION = sizeof(migrations) / sizeof(migrations[0]) };

/* ---- words ---- */

void database_explain(const char *path, enum status st, const char *error, struct strbuf *why)
{
    if (st == E_CORRUPT)
        strbuf_addf(why,
                    "%s is damaged (%s). Stop peal, move the file away together with those that "
                    "end in -wal and -shm, and put a backup in its place; without one, peal starts "
                    "a new history. Jobs are not affected.",
                    path, error);
    else if (st == E_BUSY)
        strbuf_addf(why, "%s is locked by another program (%s). Close that program.", path, error);
    else if (st == E_NOMEM)
        strbuf_addf(why, "%s: out of memory", path);
    else
        strbuf_addf(why,
                    "%s cannot be used: %s. Check the room on its disk, the limit on the size of "
                    "files (ulimit -f) and the permissions of its folder; what is to be recorded "
                    "waits meanwhile.",
                    path, error);
}

static enum status fail(const struct database *database, const char *path, enum status st,
                        struct strbuf *why)
{
    database_explain(path, st, database->db ? sqlite3_errmsg(database->db) : status_text(st), why);
    return st;
}

/* ---- versions ---- */

static enum status run_sql(struct database *database, const char *text)
{
    return sqlite_status(sqlite3_exec(database->db, text, NULL, NULL, NULL));
}

static enum status read_number(struct database *database, const char *text, int64_t *ret)
{
    sqlite3_stmt *stmt = NULL;
    enum status st = sqlite_status(sqlite3_prepare_v2(database->db, text, -1, &stmt, NULL));
    if (st == OK)
        st = statement_row(stmt);
    if (st == OK)
        *ret = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    return st;
}

static enum status migrate(struct database *database, int64_t version)
{
    enum status st = stats_add_functions(database);
    for (; version < VERSION && st == OK; version++) {
        struct strbuf text;
        strbuf_init(&text);
        strbuf_addf(&text, "BEGIN IMMEDIATE; %s PRAGMA application_id = %d;", migrations[version],
                    APPLICATION_ID);
        strbuf_addf(&text, "PRAGMA user_version = %d; COMMIT;", (int)version + 1);
        st = strbuf_status(&text);
        if (st == OK)
            st = run_sql(database, text.text);
        strbuf_release(&text);
    }
    return st;
}

/* A database with content but without peal's application_id belongs to another program. */
static enum status check_version(struct database *database, const char *path, int64_t *ret,
                                 struct strbuf *why)
{
    int64_t application, tables, version;
    enum status st = read_number(database, "PRAGMA application_id", &application);
    if (st == OK)
        st = read_number(database, "SELECT count(*) FROM sqlite_master", &tables);
    if (st == OK)
        st = read_number(database, "PRAGMA user_version", &version);
    if (st != OK)
        return fail(database, path, st, why);
    if (application != APPLICATION_ID && (application || tables || version)) {
        strbuf_addf(why, "%s is a database, but not a history of peal. Move it away.", path);
        return E_CORRUPT;
    }
    if (version > VERSION) {
        strbuf_addf(why,
                    "%s was written by a newer peal (its format is %d, this one knows %d). Install "
                    "that version again, or move the file away to start a new history.",
                    path, (int)version, VERSION);
        return E_VERSION;
    }
    *ret = version;
    return OK;
}

/* ---- opening ---- */

/* Creates the file with mode 0600, which SQLite copies to the -wal and -shm files. */
static enum status make_file(const char *path, struct strbuf *why)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        database_explain(path, E_IO, strerror(errno), why);
        return E_IO;
    }
    close(fd);
    return OK;
}

static enum status open_connection(const char *path, int flags, struct database *database)
{
    int rc = sqlite3_open_v2(path, &database->db, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc != SQLITE_OK)
        return sqlite_status(rc);
    sqlite3_extended_result_codes(database->db, 1);
    sqlite3_busy_timeout(database->db, BUSY_MS);
    return OK;
}

enum status database_open_writer(const char *path, struct database *ret, struct strbuf *why)
{
    struct database database = {0};
    int64_t version;
    enum status st = make_file(path, why);
    if (st != OK)
        return st;
    st = open_connection(path, SQLITE_OPEN_READWRITE, &database);
    if (st != OK) {
        fail(&database, path, st, why);
        goto out;
    }
    st = check_version(&database, path, &version, why);
    if (st != OK)
        goto out;
    /* auto_vacuum takes effect only before the first table. FULL: a commit waits for the disk. */
    st = run_sql(&database, "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;"
                            "PRAGMA synchronous = FULL; PRAGMA secure_delete = FAST;"
                            "PRAGMA cache_size = -4096; PRAGMA journal_size_limit = 16777216;");
    if (st == OK)
        st = migrate(&database, version);
    if (st != OK) {
        fail(&database, path, st, why);
        goto out;
    }
    *ret = database;
    database = (struct database){0};
out:
    database_close(&database);
    return st;
}

enum status database_open_reader(const char *path, struct database *ret, struct strbuf *why)
{
    struct database database = {0};
    enum status st = open_connection(path, SQLITE_OPEN_READONLY, &database);
    if (st == OK)
        st = run_sql(&database, "PRAGMA cache_size = -4096;");
    if (st != OK) {
        fail(&database, path, st, why);
        database_close(&database);
        return st;
    }
    *ret = database;
    return OK;
}

enum status database_look(const char *path, struct strbuf *why)
{
    struct database database = {0};
    int64_t version;
    if (access(path, F_OK) != 0)
        return E_NOT_FOUND;
    enum status st = open_connection(path, SQLITE_OPEN_READONLY, &database);
    if (st == OK)
        st = check_version(&database, path, &version, why);
    else
        fail(&database, path, st, why);
    database_close(&database);
    return st;
}

void database_close(struct database *database)
{
    for (int table = 0; table < ALL_TABLES; table++) {
        for (int i = 0; i < STATEMENTS; i++)
            sqlite3_finalize(database->statements[table][i]);
    }
    for (int table = 0; table < TABLES; table++) {
        for (int shape = 0; shape < WALK_SHAPES; shape++) {
            struct walk_pool *pool = &database->walks[table][shape];
            while (pool->count)
                sqlite3_finalize(pool->idle[--pool->count]);
        }
    }
    sqlite3_close(database->db);
    *database = (struct database){0};
}
